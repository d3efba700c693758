//! `ralph verify`: the verify gate as a command (VERI-16).

use ralph_core::machine::VerifyReport;
use ralph_core::session::gate::failure_of;
use ralph_core::tr;
use ralph_engine::plan;
use ralph_engine::session::gate::Gate;
use ralph_store::layout::Layout;
use serde_json::{Value, json};

use super::config::warn_all;
use crate::app::App;
use crate::args::VerifyArgs;
use crate::settings;

/// Exit code of a verification that failed (LOOP-15).
const NOT_VERIFIED: u8 = 7;

pub fn run(app: &App, args: &VerifyArgs) -> u8 {
    let loaded = match settings::load(app, Vec::new()) {
        Ok(loaded) => loaded,
        Err(code) => return code,
    };
    if !args.json {
        warn_all(app, &loaded.warnings);
    }
    let layout = Layout::new(&app.root);
    let gate = Gate {
        layout: &layout,
        settings: &loaded.settings,
        verifier: plan::verifier(&loaded.settings, &app.root),
    };
    let report = gate.run();
    let passed = report.as_ref().is_some_and(VerifyReport::passed);
    if args.json {
        app.print(&as_json(report.as_ref(), passed).to_string());
    } else {
        tell(app, report.as_ref());
    }
    if passed { 0 } else { NOT_VERIFIED }
}

fn tell(app: &App, report: Option<&VerifyReport>) {
    let lang = app.lang();
    let Some(report) = report else {
        app.warn(&tr!(
            lang,
            "nothing is set up that could verify the work: set verify.commands in .ralph/config.toml, or `verify:` in .ideal/worktree.yaml",
            "沒有設定任何驗證：請在 .ralph/config.toml 設定 verify.commands，或在 .ideal/worktree.yaml 設定 `verify:`",
            "没有设置任何验证：请在 .ralph/config.toml 设置 verify.commands，或在 .ideal/worktree.yaml 设置 `verify:`",
        ));
        return;
    };
    for result in &report.results {
        let mark = if result.exit == Some(0) { "✅" } else { "❌" };
        app.tell(&format!(
            "{mark} {} ({} ms)",
            result.command, result.duration_ms
        ));
    }
    match failure_of(report) {
        Some(failure) => app.warn(&failure),
        None => app.tell(&tr!(
            lang,
            "All verify commands passed",
            "所有驗證命令都已通過",
            "所有验证命令都已通过",
        )),
    }
}

fn as_json(report: Option<&VerifyReport>, passed: bool) -> Value {
    let results = report.map_or(&[][..], |report| &report.results);
    let results = results.iter().map(|result| {
        json!({
            "command": result.command,
            "exit": result.exit,
            "duration_ms": result.duration_ms,
            "output": result.output,
        })
    });
    json!({
        "passed": passed,
        "configured": report.is_some(),
        "results": results.collect::<Vec<_>>(),
        "failure": report.and_then(failure_of),
    })
}

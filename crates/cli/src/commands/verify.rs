//! `ralph verify`: the verify gate as a command (VERI-16).

use ralph_core::lang::Lang;
use ralph_core::machine::{CommandResult, VerifyReport};
use ralph_core::proof::Baseline;
use ralph_core::session::gate::failure_of;
use ralph_core::tr;
use ralph_engine::session::gate::Gate;
use ralph_engine::worktree::WorkTree;
use ralph_engine::{baseline, plan};
use serde_json::{Value, json};

use super::config::warn_all;
use crate::app::{App, Exit, OrFail};
use crate::args::VerifyArgs;
use crate::{FAILED, around, settings, trust};

/// Exit code of a verification that failed (LOOP-15).
const NOT_VERIFIED: u8 = 7;

pub fn run(app: &App, args: &VerifyArgs) -> Exit {
    let loaded = settings::load(app, Vec::new())?;
    if !args.json {
        warn_all(app, &loaded.warnings);
    }
    let layout = app.layout();
    let mut gate = Gate {
        sandbox: None,
        layout: &layout,
        settings: &loaded.settings,
        verifier: plan::verifier(&loaded.settings, &app.layout()),
    };
    if args.forget_baseline {
        return forget_baseline(app);
    }
    trust::require(app, &trust::items(&app.root, Some(&loaded)))?;
    let broken = settings::broken_verify_files(&loaded, Lang::En);
    if loaded.settings.verify.strict && !broken.is_empty() {
        if args.json {
            let answer = json!({"passed": false, "error": broken.join("\n")});
            app.json(&answer);
        }
        return Err(NOT_VERIFIED);
    }
    if gate.verifier.is_some() {
        gate.sandbox = Some(around::checks(app, &loaded.settings, args.json)?);
    }
    if args.baseline {
        return note_baseline(app, &gate, args.json);
    }
    let report = gate.run();
    let passed = report.as_ref().is_some_and(VerifyReport::passed);
    if args.json {
        app.json(&as_json(report.as_ref(), passed));
    } else {
        tell(app, report.as_ref());
    }
    if passed { Ok(0) } else { Err(NOT_VERIFIED) }
}

fn tell(app: &App, report: Option<&VerifyReport>) {
    let lang = app.lang();
    let Some(report) = report else {
        app.warn(&tr!(lang, "nothing is set up that could verify the work: set verify.commands in .ralph/config.toml, or `verify:` in .ideal/worktree.yaml"));
        return;
    };
    for result in &report.results {
        show(app, result);
    }
    let known = report.results.iter().filter(|result| result.known).count();
    match failure_of(report) {
        Some(failure) => app.warn(&failure),
        None if known > 0 => app.tell(&tr!(
            lang,
            "No new failure; commands that failed before the work began and still do: {known}"
        )),
        None => app.tell(&tr!(lang, "All verify commands passed")),
    }
}

fn show(app: &App, result: &CommandResult) {
    let lang = app.lang();
    let (mark, known) = match result.exit {
        Some(0) => ("✅", String::new()),
        _ if result.known => ("⚠️", tr!(lang, " · failed before the work began, too")),
        _ => ("❌", String::new()),
    };
    let (command, ms) = (&result.command, result.duration_ms);
    app.tell(&format!("{mark} {command} ({ms} ms){known}"));
}

/// Notes what fails on these contents, so that only new failures count.
fn note_baseline(app: &App, gate: &Gate<'_>, json: bool) -> Exit {
    let lang = app.lang();
    let Some(verified) = gate.run_all() else {
        tell(app, None);
        return Err(FAILED);
    };
    let tree = WorkTree::new(&app.root, Vec::new()).scan().ok();
    let baseline = Baseline {
        tree: tree.map(|scan| scan.fingerprint.to_string()),
        failing: verified.failing,
    };
    let file = baseline::save(&app.layout(), &baseline).or_fail(app)?;
    let failing: Vec<&String> = baseline.failing.keys().collect();
    if json {
        let answer = json!({"baseline": file, "tree": baseline.tree, "failing": failing});
        app.json(&answer);
        return Ok(0);
    }
    for result in &verified.report.results {
        let result = CommandResult {
            known: result.exit != Some(0),
            ..result.clone()
        };
        show(app, &result);
    }
    let count = failing.len();
    app.done(&tr!(lang, "noted; failing commands: {count}. Only other failures count from now on; `ralph verify --forget-baseline` takes it back"))
}

fn forget_baseline(app: &App) -> Exit {
    let lang = app.lang();
    match baseline::forget(&app.layout()) {
        Ok(true) => app.tell(&tr!(
            lang,
            "the baseline is forgotten: every failure counts again"
        )),
        Ok(false) => app.tell(&tr!(lang, "there is no baseline")),
        Err(error) => return app.fail(&error),
    }
    Ok(0)
}

fn as_json(report: Option<&VerifyReport>, passed: bool) -> Value {
    let results = report.map_or(&[][..], |report| &report.results);
    let results = results.iter().map(|result| {
        json!({
            "command": result.command,
            "exit": result.exit,
            "duration_ms": result.duration_ms,
            "known": result.known,
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

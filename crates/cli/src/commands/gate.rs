//! `ralph gate`: runs the quality gate, and says what keeps it shut.

use ralph_core::config::{GateSettings, Settings};
use ralph_core::gate::{Finding, Phase};
use ralph_core::lang::{Lang, Say};
use ralph_core::tr;
use ralph_engine::agents::EnvFilter;
use ralph_engine::gate::{self, GateError, GateRun, RunStep};
use ralph_engine::trials::Armed;
use ralph_engine::{signals, wall};
use serde_json::json;
use tokio::sync::mpsc;

use crate::app::{App, Exit};
use crate::args::{GateArgs, GatePhase, GateVerb};
use crate::{FAILED, INTERRUPTED, SHUT, around, settings, trust};

pub fn run(app: &App, args: &GateArgs) -> Exit {
    match &args.verb {
        GateVerb::Run { json } => {
            let loaded = settings::load(app, Vec::new())?;
            trust::require(app, &trust::items(&app.root, Some(&loaded)))?;
            run_steps(app, &loaded.settings, *json)
        }
        GateVerb::Check { phase, json } => {
            let phase = match phase {
                GatePhase::P0 => Phase::P0,
                GatePhase::P1 => Phase::P1,
            };
            let settings = trust::settings_unasked(app, "gate.")?;
            check(app, &settings.gate, phase, *json)
        }
    }
}

fn check(app: &App, settings: &GateSettings, phase: Phase, json: bool) -> Exit {
    let lang = app.lang();
    let found = gate::check(&app.layout(), settings, phase);
    let name = phase.into_str();
    if json {
        let findings: Vec<_> = found.iter().map(to_json).collect();
        let answer = json!({"phase": name, "passed": found.is_empty(), "findings": findings});
        app.json(&answer);
    } else if found.is_empty() {
        app.tell(&tr!(lang, "the quality gate is open for {name}: audit report, gate file and evidence are good and of these contents"));
    } else {
        let count = found.len();
        app.tell(&tr!(
            lang,
            "the quality gate is shut for {name}; reasons: {count}"
        ));
        for (number, finding) in (1_usize..).zip(&found) {
            app.tell(&format!("  {number}. {}", finding.say(lang)));
        }
    }
    open(found.is_empty())
}

/// Programs read reasons in one language.
fn to_json(finding: &Finding) -> serde_json::Value {
    json!({
        "check": finding.check().into_str(),
        "code": finding.code(),
        "file": finding.file,
        "what": finding.what(Lang::En),
        "next": finding.next(Lang::En),
    })
}

fn run_steps(app: &App, settings: &Settings, json: bool) -> Exit {
    let layout = app.layout();
    let env_filter = EnvFilter::new(&settings.agent);
    let armed = Armed::here(&layout, &settings.verify.files);
    let sandbox = around::checks(app, settings, json)?;
    let ended = app.block_on(async {
        let wall = wall::around_checks(Some(&sandbox), &layout).await;
        let (sender, mut requests) = mpsc::unbounded_channel();
        if let Err(error) = signals::listen(sender) {
            app.warn(&error.to_string());
        }
        let shown = |step: &RunStep| {
            if !json {
                show_step(app, step);
            }
        };
        tokio::select! {
            // Dropping the gate kills the step that runs.
            Some(signals::Told::Request(_)) = requests.recv() => None,
            ran = gate::run(&layout, &settings.gate, &env_filter, armed.as_ref(), wall, shown) => Some(ran),
        }
    })?;
    match ended {
        None => Err(INTERRUPTED),
        Some(Ok(ran)) => show_run(app, &ran, json),
        Some(Err(error)) => {
            if json {
                let message = error.say(Lang::En);
                app.json(&json!({"passed": false, "error": message}));
            } else {
                app.warn(&error.say(app.lang()));
            }
            Err(match error {
                GateError::Changed { .. }
                | GateError::StepsGone { .. }
                | GateError::Blind { .. }
                | GateError::Unheld { .. } => SHUT,
                _ => FAILED,
            })
        }
    }
}

fn show_step(app: &App, step: &RunStep) {
    let (name, command) = (&step.step.name, &step.step.command);
    let seconds = step.result.duration_ms / 1000;
    if step.result.exit == Some(0) {
        app.tell(&format!("✅ {name}: {command} ({seconds} s)"));
        return;
    }
    let ended = match step.result.exit {
        Some(code) => format!("exit {code}"),
        None => "-".to_owned(),
    };
    app.tell(&format!("❌ {name}: {command} ({ended}, {seconds} s)"));
    if step.original {
        let lang = app.lang();
        app.tell(&tr!(
            lang,
            "with the checks as they were when the loop began; let these pass, and put new ones beside them"
        ));
    }
    app.tell(step.result.output.trim_end());
}

fn show_run(app: &App, ran: &GateRun, json: bool) -> Exit {
    let lang = app.lang();
    let relative = |path: &std::path::Path| {
        let path = path.strip_prefix(&app.root).unwrap_or(path);
        path.to_string_lossy().into_owned()
    };
    let log = relative(&ran.log);
    let file = ran.written.as_deref().map(relative);
    if json {
        let steps: Vec<_> = ran
            .steps
            .iter()
            .map(|s| {
                json!({
                    "name": s.step.name, "command": s.step.command,
                    "exit": s.result.exit, "duration_ms": s.result.duration_ms,
                    "original_checks": s.original,
                })
            })
            .collect();
        let passed = ran.passed;
        let answer = json!({"passed": passed, "steps": steps, "file": file, "log": log});
        app.json(&answer);
        return open(passed);
    }
    app.tell(&match &file {
        Some(file) => tr!(
            lang,
            "the gate passed; {file} says so for exactly these contents"
        ),
        None if ran.passed => tr!(
            lang,
            "the steps pass; Ralph runs them after the turn too, and writes the gate file then"
        ),
        None => tr!(lang, "the gate did not pass; the whole output is in {log}"),
    });
    open(ran.passed)
}

fn open(is_open: bool) -> Exit {
    if is_open { Ok(0) } else { Err(SHUT) }
}

//! `ralph prove`: the experiments of a task once more, by hand.

use ralph_core::lang::{Lang, Say};
use ralph_core::machine::VerifyReport;
use ralph_core::proof::{EvidenceLevel, Scale, Trial, Verdict};
use ralph_core::tr;
use ralph_engine::past::Past;
use ralph_engine::snapshots::live::Live;
use ralph_engine::{past, plan, trials};
use serde_json::json;

use crate::app::{App, Exit, OrFail};
use crate::args::ProveArgs;
use crate::{around, settings, trust};

/// Exit code of work that is not proven (LOOP-15).
const NOT_PROVEN: u8 = 7;

pub fn run(app: &App, args: &ProveArgs) -> Exit {
    let (lang, layout) = (app.lang(), app.layout());
    let loaded = settings::load(app, Vec::new())?;
    trust::require(app, &trust::items(&app.root, Some(&loaded)))?;
    let Some(run) = layout.latest_run().or_fail(app)? else {
        return app.refuse(&super::answer::no_run(app));
    };
    let past = past::read(&run).or_fail(app)?;
    if let Some(unknown) = args.tasks.iter().find(|id| !past.state.knows_task(id)) {
        return app.refuse(&tr!(
            lang,
            "no task {unknown} was worked on in this run; `ralph report` shows what was"
        ));
    }
    let verifier = plan::reproducer(&loaded.settings);
    let sandbox = around::checks(app, &loaded.settings, args.json)?;
    let world = super::undo::world(app, &run)?;
    let live = Live::open(&layout, world)
        .or_fail(app)?
        .look()
        .or_fail(app)?;
    let mut all_proven = true;
    let tasks: Vec<Option<&str>> = match args.tasks.is_empty() {
        true => vec![None],
        false => args.tasks.iter().map(|id| Some(id.as_str())).collect(),
    };
    for task in tasks {
        let report = trials::again(&layout, &verifier, &run, task, &live, &sandbox).or_fail(app)?;
        let Some(report) = report else {
            return app.refuse(&tr!(lang, "no experiment was made in this run: there is no check, or evidence.level asks for none"));
        };
        let verdict = weigh(&past, &report, task);
        // What is red now shows nothing, whatever the experiments say.
        let is_green = report.passed();
        let level = match is_green {
            true => verdict.level,
            false => EvidenceLevel::Refuted,
        };
        let why = |lang| match is_green {
            true => verdict.why.as_ref().map(|why| why.say(lang)),
            false => Some(tr!(lang, "its checks are red as it stands")),
        };
        all_proven &= is_green && verdict.why.is_none();
        let tree = report.weighed.as_ref().map(|weighed| weighed.now.as_str());
        let is_as_it_lies = tree == Some(live.to_string().as_str());
        match args.json {
            true => app.json(&json!({
                "task": task,
                "evidence": level,
                "reason": why(Lang::En),
                "results": report.results,
                "trials": report.trials,
                "trees": report.weighed,
                "is_as_it_lies": is_as_it_lies,
            })),
            false => {
                if !is_as_it_lies {
                    let turn = report.turn;
                    app.tell(&tr!(lang, "the work as it was after turn {turn}; what lies here by now differs from it"));
                }
                tell(app, task, &report, &level.say(lang), why(lang));
            }
        }
    }
    if all_proven { Ok(0) } else { Err(NOT_PROVEN) }
}

fn weigh(past: &Past, report: &VerifyReport, task: Option<&str>) -> Verdict {
    let results = report.results.iter();
    let commands: Vec<String> = results.map(|result| result.command.clone()).collect();
    let state = &past.state;
    let scale = Scale {
        report,
        commands: &commands,
        asked: task
            .and_then(|id| state.rules.checks.proofs.get(id))
            .copied(),
        red_before: &state.evidence.ground.red,
        ran_at_first: None,
        red_at_first: &state.evidence.ground.red_at_first,
    };
    scale.weigh()
}

fn tell(app: &App, task: Option<&str>, report: &VerifyReport, level: &str, why: Option<String>) {
    let lang = app.lang();
    let line = |name: &str, command: &str, exit: Option<i32>, ms: u64| {
        let colour = match exit {
            Some(0) => tr!(lang, "green"),
            Some(_) => tr!(lang, "red"),
            None => tr!(lang, "came to no end"),
        };
        app.tell(&format!("{name:<20} {colour:<8} {ms:>6} ms  {command}"));
    };
    if let Some(task) = task {
        app.tell(task);
    }
    for result in &report.results {
        line("now", &result.command, result.exit, result.duration_ms);
    }
    for Trial {
        experiment,
        results,
        ..
    } in &report.trials
    {
        for result in results {
            line(
                (*experiment).into(),
                &result.command,
                result.exit,
                result.duration_ms,
            );
        }
    }
    let why = why.map(|why| format!(": {why}")).unwrap_or_default();
    app.tell(&format!("{level}{why}"));
}

//! The three complaints about loops (PRCI-15), answered from the journals:
//! it did not start, it left early, it never ends.

use ralph_core::lang::Lang;
use ralph_core::machine::{BreakerRule, Limit, Notice, Outcome, PauseReason, Stage};
use ralph_core::text::duration::plural;
use ralph_core::tr;
use ralph_engine::past;
use ralph_store::layout::RunPaths;

use super::{Finding, Level};
use crate::app::App;

pub fn look(app: &App, is_installed: bool, findings: &mut Vec<Finding>) {
    let lang = app.lang();
    let runs = app.layout().runs().unwrap_or_default();
    let Some(latest) = runs.last() else {
        if is_installed {
            findings.push(never_started(lang));
        }
        return;
    };
    findings.extend(of_run(latest, lang));
}

fn never_started(lang: Lang) -> Finding {
    let text = tr!(lang, "no loop has run here yet");
    let next = tr!(
        lang,
        "type /ralph-loop \"TASK\" at the beginning of a prompt; if you did, its hook did not run: `ralph doctor --live`"
    );
    Finding::new(Level::Note, "loop.not_started", text).next(next)
}

/// What a run told that matters here.
#[derive(Default)]
struct Told {
    promises: usize,
    rejected: usize,
}

fn of_run(run: &RunPaths, lang: Lang) -> Option<Finding> {
    let mut told = Told::default();
    let past = past::listen(run, &mut |_, _, notices| {
        for notice in notices {
            match notice {
                Notice::PromiseDetected { .. } => told.promises += 1,
                Notice::PromiseRejected { .. } => told.rejected += 1,
                _ => {}
            }
        }
    });
    let id = &run.id;
    let state = match past {
        Ok(past) => past.state,
        Err(error) => {
            let error = ralph_core::lang::Say::say(&error, lang);
            let next = "ralph resume --list".to_owned();
            return Some(Finding::new(Level::Warning, "loop.journal", error).next(next));
        }
    };
    let turns = state.turn.number;
    match &state.stage {
        Stage::New => Some(not_begun(id.as_str(), lang)),
        Stage::Finished(Outcome::Paused {
            reason: PauseReason::Unproven,
        }) => Some(unproven(id.as_str(), lang)),
        Stage::Finished(
            Outcome::Paused {
                reason: PauseReason::Limit(Limit::Iterations),
            }
            | Outcome::CircuitBreak {
                rule: BreakerRule::MissingPromise,
            },
        ) if told.promises == 0 => Some(never_ends(id.as_str(), turns, lang)),
        _ if told.rejected > 0 => Some(too_soon(id.as_str(), told.rejected, lang)),
        _ => None,
    }
}

fn not_begun(run: &str, lang: Lang) -> Finding {
    let text = tr!(lang, "run {run} was started and has had no turn");
    let next = tr!(
        lang,
        "`ralph doctor --live` shows whether the agent's stop hook runs; `ralph resume` takes the run up"
    );
    Finding::new(Level::Warning, "loop.not_started", text).next(next)
}

fn unproven(run: &str, lang: Lang) -> Finding {
    let text = tr!(
        lang,
        "run {run} left early: the agent said that it was done, and nothing could prove it"
    );
    let next = tr!(
        lang,
        "give it something to prove: a task list, or verify.commands (--verify CMD)"
    );
    Finding::new(Level::Warning, "loop.left_early", text).next(next)
}

fn too_soon(run: &str, rejected: usize, lang: Lang) -> Finding {
    let times_en = plural(rejected, "time", "times");
    let text = tr!(
        lang,
        "run {run}: the agent promised too soon {rejected} {times_en}, and the evidence said no"
    );
    let next = format!("ralph events --run {run} --filter event=promise_rejected");
    Finding::new(Level::Note, "loop.left_early", text).next(next)
}

fn never_ends(run: &str, turns: u32, lang: Lang) -> Finding {
    let turns_en = plural(turns as usize, "turn", "turns");
    let text = tr!(
        lang,
        "run {run} had {turns} {turns_en} and never a promise: the agent was not asked for one, or did not print it"
    );
    let next = tr!(
        lang,
        "a prompt template of your own has to ask for the tag; name it with --completion-promise TEXT"
    );
    Finding::new(Level::Warning, "loop.never_ends", text).next(next)
}

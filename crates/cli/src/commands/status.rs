//! `ralph status`: where the loop stands.

use ralph_core::display;
use ralph_core::lang::{Lang, Say};
use ralph_core::machine::{Outcome, State, WaitReason};
use ralph_core::overview::{Overview, Standing, Waiting};
use ralph_core::report::{outcome_word, reason_words};
use ralph_core::tr;
use ralph_engine::clock;
use ralph_engine::record::Header;
use ralph_engine::watch::{Snapshot, Watch};
use serde_json::{Value, json};

use super::archive::unknown;
use crate::app::{App, Exit, OrFail};
use crate::args::StatusArgs;
use crate::tmux;

pub fn run(app: &App, args: &StatusArgs) -> Exit {
    let lang = app.lang();
    let Some(paths) = app.layout().last_written().or_fail(app)? else {
        return app.refuse(&super::answer::no_run(app));
    };
    let id = paths.id;
    let mut watch = Watch::new(&app.layout(), &id, lang);
    watch.refresh().or_fail(app)?;
    let (Some(state), Some(header)) = (watch.state(), watch.header()) else {
        return app.refuse(&unknown(id.as_str(), lang));
    };
    let snapshot = watch.snapshot();
    app.answer(
        args.json,
        || json(state, header, &snapshot.overview),
        || words(app, state, snapshot),
    )
}

/// What the run writes into `status.json`, and who drives it.
fn json(state: &State, header: &Header, overview: &Overview) -> Value {
    let mut status = state.status(&header.run_id, &header.tasks_file_text());
    // A process that died could not say so itself.
    if overview.standing == Standing::Dead {
        status["status"] = json!("dead");
    }
    status["pid"] = json!(overview.pid);
    status
}

/// The `status` of `status.json` in words (STAT-03).
pub fn state_words(overview: &Overview, lang: Lang) -> String {
    let Some(outcome) = &overview.outcome else {
        return match overview.standing {
            Standing::Dead => Standing::Dead.say(lang),
            _ => tr!(lang, "running"),
        };
    };
    match outcome.status() {
        "circuit_break" => tr!(lang, "circuit breaker open"),
        "max_iterations" => tr!(lang, "stopped at the iteration limit"),
        "error" if *outcome == Outcome::Errors => tr!(lang, "stopped by errors"),
        "error" => outcome_word(lang, outcome.into_str()),
        other => outcome_word(lang, other),
    }
}

/// What goes on with it, where nothing does by itself.
fn next(state: &State, overview: &Overview) -> Option<String> {
    match (&overview.outcome, overview.standing) {
        (Some(Outcome::Complete | Outcome::Cancelled), _) => None,
        (Some(outcome), _) => Some(display::next_command(state, outcome)),
        (None, Standing::Dead) => Some("ralph resume".into()),
        (None, _) => None,
    }
}

fn words(app: &App, state: &State, snapshot: &Snapshot) -> String {
    let lang = app.lang();
    let Snapshot {
        run: facts,
        overview,
        ..
    } = snapshot;
    let next = next(state, overview);
    let resets_at = state.paused_until().map(clock::zoned_time);
    let state = state_words(overview, lang);
    let (run, time) = (&facts.id, clock::zoned_time(overview.updated_ms));
    let iteration = overview.iteration;
    let max = match overview.max_iterations {
        0 => "∞".to_owned(),
        n => n.to_string(),
    };
    let mut out = tr!(
        lang,
        "{state} · run {run} · iteration {iteration} / {max} · {time}\n"
    );
    if let Some((progress, way)) = overview.way(lang) {
        let (goal, bar) = (&facts.goal, display::bar(&app.screen, progress.percent()));
        out.push_str(&format!("{way} · {goal}\n{bar}\n"));
    }
    let reason = overview.outcome.as_ref();
    let reason = reason.map(|outcome| reason_words(lang, outcome));
    // What an open breaker makes of it is no promise (BRKR-05).
    let is_stuck = matches!(overview.outcome, Some(Outcome::CircuitBreak { .. }));
    let promise = Some(&overview.last_promise).filter(|_| !is_stuck);
    for (label, value) in [
        (tr!(lang, "phase"), overview.phase.as_ref()),
        (tr!(lang, "last promise"), promise),
        (tr!(lang, "reason"), reason.as_ref()),
        (tr!(lang, "limit resets at"), resets_at.as_ref()),
    ] {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            out.push_str(&format!("{label}: {value}\n"));
        }
    }
    let holds = |wait: &&Waiting| {
        matches!(
            wait.why,
            WaitReason::Limit | WaitReason::Rate | WaitReason::Answer | WaitReason::Cooldown
        )
    };
    if let Some(wait) = overview.waiting.as_ref().filter(holds) {
        let until = clock::zoned_time(wait.until_ms);
        out.push_str(&tr!(lang, "sleeping until {until}; wake: `ralph wake`\n"));
    }
    if let Some(forecast) = overview.forecast(lang) {
        out.push_str(&format!("{forecast}\n"));
    }
    for line in overview.steering(lang) {
        out.push_str(&format!("{line}\n"));
    }
    for question in overview.open_questions() {
        let (id, words) = (question.id, question.words(lang));
        out.push_str(&tr!(
            lang,
            "question {id}: {words}; answer: `ralph answer {id} …`\n"
        ));
    }
    if overview.bill.calls > 0 {
        out.push_str(&format!("{}\n", overview.spent().line(lang)));
    }
    if let Some(pid) = overview.pid {
        out.push_str(&tr!(lang, "process: {pid}\n"));
        if let Some(look) = tmux::way_back(&app.layout()) {
            out.push_str(&tr!(lang, "it stands in tmux: `{look}`\n"));
        }
    }
    if let Some(next) = next {
        out.push_str(&tr!(lang, "next: `{next}`\n"));
    }
    out
}

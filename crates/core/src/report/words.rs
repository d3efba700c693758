//! How a run ended, in one word, in one sentence, and what to do next.

use super::{Report, SHORT_ID, TaskProof, TaskStory};
use crate::display;
use crate::lang::{Lang, Say};
use crate::machine::{BreakerRule, Limit, Outcome, PauseReason, Sign, State};
use crate::proof::level::counted;
use crate::text::{excerpt, one_line, redact, sanitize};
use crate::tr;

/// The lists of a report, by their headings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Say)]
pub(super) enum Part {
    #[say("Proven")]
    Proven,
    #[say("Not proven")]
    NotProven,
    #[say("Questions")]
    Questions,
    #[say("Accepted by a person")]
    Accepted,
    #[say("Rejected claims")]
    Rejected,
    #[say("Sent back")]
    SentBack,
    #[say("Blocked by the guard")]
    Blocked,
    #[say("Closed by the sandbox")]
    Denied,
    #[say("Errors")]
    Errors,
    #[say("Waits")]
    Waits,
    #[say("Tasks")]
    Tasks,
    #[say("Commits")]
    Commits,
    #[say("Changed files")]
    Files,
}

/// What comes from outside, as one harmless line.
pub(super) fn plain(text: &str) -> String {
    one_line(&redact(&sanitize(text)))
}

/// What proves a task, in a few words.
pub(super) fn task_proof(lang: Lang, proof: TaskProof) -> String {
    match proof {
        TaskProof::Open => tr!(lang, "open"),
        TaskProof::Skipped => tr!(lang, "left out"),
        TaskProof::Before => tr!(lang, "ticked, by no turn of its own"),
        TaskProof::Ticked { turn } => tr!(lang, "ticked in turn {turn}; no check has passed since"),
        TaskProof::Shown { turn: None, level } => {
            let level = level.say(lang);
            tr!(lang, "{level}; ticked, by no turn of its own")
        }
        TaskProof::Shown {
            turn: Some(turn),
            level,
        } => {
            let level = level.say(lang);
            tr!(lang, "{level}; ticked in turn {turn}")
        }
        TaskProof::Checked { turn, checked } => tr!(
            lang,
            "ticked in turn {turn}, checks passed after turn {checked}"
        ),
    }
}

/// How well the tasks of a run are shown: `7 proven, 2 unrefuted`.
pub(super) fn evidence(lang: Lang, stories: &[TaskStory]) -> Option<String> {
    let levels = stories.iter().filter_map(|story| match story.proof {
        TaskProof::Shown { level, .. } => Some(level),
        _ => None,
    });
    counted(lang, levels)
}

/// One word for the name of an outcome; a name that is not known stays.
pub fn outcome_word(lang: Lang, name: &str) -> String {
    match name {
        "complete" => tr!(lang, "complete"),
        "unproven" => tr!(lang, "unproven"),
        "no_check" => tr!(lang, "no check"),
        "paused" => tr!(lang, "paused"),
        "blocked" => tr!(lang, "blocked"),
        "circuit_break" => tr!(lang, "stuck"),
        "errors" => tr!(lang, "errors"),
        "gate_failed" => tr!(lang, "rejected"),
        "budget" => tr!(lang, "budget"),
        "limit" => tr!(lang, "limit"),
        "cancelled" => tr!(lang, "cancelled"),
        "interrupted" => tr!(lang, "interrupted"),
        "unfinished" => tr!(lang, "unfinished"),
        "running" => tr!(lang, "running"),
        other => other.to_owned(),
    }
}

/// The outcome of a run in one word that programs read, too.
pub fn outcome_name(outcome: Option<&Outcome>) -> &'static str {
    outcome.map_or("unfinished", Outcome::into_str)
}

pub(super) fn sentence(lang: Lang, report: &Report) -> String {
    if report.is_alive() {
        let standing = report.standing.say(lang);
        return tr!(
            lang,
            "It is not over yet ({standing}); this is how far it has come."
        );
    }
    let errors = report.story.errors.len();
    let said = outcome_sentence(lang, report.outcome.as_ref(), errors);
    let resets = report.facts.resets_at.as_ref();
    let resets = resets.map(|at| tr!(lang, "(The limit resets at {at}.)"));
    let same = Some(&Outcome::CircuitBreak {
        rule: BreakerRule::SameError,
    });
    let failure = report.story.breaker.first().map(|sign| failure(lang, sign));
    let failure = failure.filter(|_| report.outcome.as_ref() == same);
    let parts = [Some(said), resets, failure];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// What came again and again, in one line: of an output its last words.
fn failure(lang: Lang, sign: &Sign) -> String {
    match sign {
        Sign::Output { of, text } => {
            let mut lines = text.lines().rev().map(str::trim);
            let last = lines.find(|line| !line.is_empty()).unwrap_or_default();
            format!("{of}: {}", excerpt(last, LONGEST_FAILURE))
        }
        other => excerpt(&one_line(&other.say(lang)), LONGEST_FAILURE).into_owned(),
    }
}

/// A sentence holds no whole output.
const LONGEST_FAILURE: usize = 200;

/// The machine's own reasons in words; what an agent said stays as it is.
pub fn reason_words(lang: Lang, outcome: &Outcome) -> String {
    match outcome {
        // The state says it already.
        _ if outcome.reason() == outcome.status() => String::new(),
        Outcome::Paused { reason } => match reason {
            PauseReason::Limit(Limit::Duration) => tr!(lang, "time limit"),
            PauseReason::Requested => tr!(lang, "asked for"),
            PauseReason::Undone => tr!(lang, "undone, to be verified again"),
            PauseReason::Unproven => tr!(lang, "done, says the agent; not proven"),
            PauseReason::Disk => tr!(
                lang,
                "the disk took no more; make room, then `ralph resume`"
            ),
            PauseReason::Unguarded => tr!(
                lang,
                "the client does not ask the guard; `ralph doctor` says why"
            ),
            PauseReason::Agent(need) => need.say(lang),
            PauseReason::Escalated(why) => why.say(lang),
            PauseReason::Forge(need) => need.say(lang),
            PauseReason::Question => tr!(lang, "a question waits for an answer: `ralph answer`"),
            PauseReason::Depends => tr!(lang, "no open task can be started: see their `depends`"),
            PauseReason::Limit(_) => outcome.reason().to_owned(),
        },
        Outcome::CircuitBreak { rule } => match rule {
            BreakerRule::Stalled => tr!(lang, "no progress"),
            BreakerRule::MissingPromise => tr!(lang, "no promise in the answers"),
            BreakerRule::SameError => tr!(lang, "the same error again and again"),
            BreakerRule::FalsePromise => tr!(lang, "false promises"),
        },
        Outcome::Limit {
            limit: Limit::Duration,
        } => tr!(lang, "time limit"),
        Outcome::Budget { limit } => match limit.as_str() {
            "max_tokens" => tr!(lang, "token limit"),
            _ => tr!(lang, "cost limit"),
        },
        Outcome::GateFailed { reason } => failing(lang, reason),
        Outcome::NoCheck { command } => tr!(lang, "`{command}` can't be run"),
        _ => outcome.reason().to_owned(),
    }
}

/// A command is no reason by itself; what CI says is one.
fn failing(lang: Lang, reason: &str) -> String {
    match reason.starts_with("CI: ") {
        true => reason.to_owned(),
        false => tr!(lang, "`{reason}` does not pass"),
    }
}

/// How a run ended, in one sentence; `count` is of its errors.
pub fn outcome_sentence(lang: Lang, outcome: Option<&Outcome>, count: usize) -> String {
    match outcome {
        Some(Outcome::Complete) => tr!(
            lang,
            "Everything that was asked for is done, as far as it could be checked."
        ),
        Some(Outcome::Paused { reason }) => paused(lang, *reason),
        Some(Outcome::Unproven { tasks }) => {
            let count = tasks.len();
            tr!(
                lang,
                "Everything is done as far as the checks can see; not proven: {count}."
            )
        }
        Some(Outcome::NoCheck { command }) => {
            tr!(
                lang,
                "The check can't be run, so nothing was begun: {command}"
            )
        }
        Some(Outcome::Blocked { reason }) if reason.trim().is_empty() => {
            tr!(
                lang,
                "The agent says that it can't go on, without a reason."
            )
        }
        Some(Outcome::Blocked { reason }) => {
            tr!(lang, "The agent says that it can't go on: {reason}")
        }
        Some(Outcome::CircuitBreak { rule }) => stuck(lang, *rule),
        Some(Outcome::Errors) => tr!(
            lang,
            "Too many errors in a row ended the run ({count} in all)."
        ),
        Some(Outcome::GateFailed { reason }) => {
            let reason = failing(lang, reason);
            tr!(lang, "Verification kept failing: {reason}")
        }
        Some(Outcome::Budget { limit }) => tr!(lang, "The budget is spent: {limit}"),
        Some(Outcome::Limit { limit }) => {
            let limit = limit.into_str();
            tr!(lang, "The run ended at a limit: {limit}")
        }
        Some(Outcome::Cancelled) => tr!(lang, "A person gave the run up (USER_ABORT)."),
        Some(Outcome::Interrupted) => tr!(
            lang,
            "A person or the system stopped the run; everything is saved."
        ),
        None => tr!(
            lang,
            "Its process ended without saying how; the journal has everything up to there."
        ),
    }
}

fn paused(lang: Lang, reason: PauseReason) -> String {
    match reason {
        PauseReason::Requested => tr!(lang, "A person asked for a pause; everything is saved."),
        PauseReason::Undone => tr!(
            lang,
            "It was complete, and a person took work back (`ralph undo`); what stands there now is verified when it goes on (`ralph resume`)."
        ),
        PauseReason::Unproven => tr!(
            lang,
            "The agent says that it is done, and nothing could prove it."
        ),
        PauseReason::Disk => tr!(lang, "The disk did not take what had to be written."),
        PauseReason::Unguarded => tr!(
            lang,
            "The client ran a tool without asking the guard, so the turn was ended."
        ),
        PauseReason::Agent(need) => need.say(lang),
        PauseReason::Escalated(why) => why.say(lang),
        PauseReason::Limit(Limit::Dispatches) => tr!(lang, "The limit of agent calls was reached."),
        PauseReason::Forge(need) => need.say(lang),
        PauseReason::Question => tr!(
            lang,
            "Everything that is left waits for an answer to the agent's question."
        ),
        PauseReason::Depends => tr!(
            lang,
            "No open task can be started: each waits for something that nobody does."
        ),
        PauseReason::Limit(Limit::Iterations) => tr!(lang, "The limit of iterations was reached."),
        PauseReason::Limit(Limit::Duration) => tr!(lang, "The limit of time was reached."),
    }
}

fn stuck(lang: Lang, rule: BreakerRule) -> String {
    match rule {
        BreakerRule::Stalled => tr!(
            lang,
            "The circuit breaker opened: turn after turn brought nothing that counts as progress."
        ),
        BreakerRule::MissingPromise => tr!(
            lang,
            "The circuit breaker opened: answer after answer had no promise in it."
        ),
        BreakerRule::SameError => tr!(
            lang,
            "The circuit breaker opened: the same failure came again and again."
        ),
        BreakerRule::FalsePromise => tr!(
            lang,
            "The circuit breaker opened: the agent kept claiming what was not true."
        ),
    }
}

/// What a person does next, each a label and one command; nothing where
/// nothing is left to do.
pub(super) fn next_steps(lang: Lang, report: &Report) -> Vec<(String, String)> {
    let go_on = next_command(report).map(|command| match report.is_alive() {
        true => (tr!(lang, "To watch it"), command),
        false => (tr!(lang, "To go on"), command),
    });
    let look = look_command(report).filter(|_| !report.is_alive());
    let look = look.map(|command| (tr!(lang, "To look at what was made"), command));
    go_on.into_iter().chain(look).collect()
}

/// Shows the work since the run began, committed or not.
pub(super) fn look_command(report: &Report) -> Option<String> {
    let git = report.facts.git.as_ref()?;
    let has_work = git.commits.is_some_and(|n| n > 0) || git.files.is_some_and(|n| n > 0);
    let (from, to) = (git.from.as_deref()?, git.to.as_deref()?);
    has_work.then(|| match git.is_open {
        true => format!("git diff {}", short(from)),
        false => format!("git diff {}..{}", short(from), short(to)),
    })
}

fn short(commit: &str) -> &str {
    commit.get(..SHORT_ID).unwrap_or(commit)
}

pub(super) fn next_command(report: &Report) -> Option<String> {
    match report.is_alive() {
        true => Some("ralph monitor".into()),
        false => report.next.clone(),
    }
}

/// What helps after this end, with the run that it is about.
pub(super) fn next_of(state: &State, id: &str) -> Option<String> {
    let resume = format!("ralph resume {id}");
    match state.outcome() {
        Some(Outcome::Complete) => None,
        None
        | Some(Outcome::Paused {
            reason: PauseReason::Unproven,
        }) => Some(resume),
        Some(outcome) => {
            let next = display::next_command(state, outcome);
            Some(next.replacen("ralph resume", &resume, 1))
        }
    }
}

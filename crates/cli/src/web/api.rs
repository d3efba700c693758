//! What the page and programs are told, as JSON. Keys are stable and English;
//! what is for people stands beside them in the person's language.

use ralph_core::lang::{Lang, Say};
use ralph_core::machine::{GuardBlock, Outcome, Question};
use ralph_core::overview::{Overview, Standing};
use ralph_core::report::{self, Call};
use ralph_core::text::{redact, sanitize};
use ralph_core::tr;
use ralph_core::usage::{Tokens, Usd};
use ralph_engine::clock;
use ralph_engine::watch::{Brief, Snapshot};
use serde_json::{Value, json};

/// Older checks and blocks are in the event log.
const MOST_CHECKS: usize = 50;
const MOST_BLOCKS: usize = 200;

/// Takes secrets and control characters out of every text, whoever put them
/// there: whatever is sent has been through here.
pub fn safe(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(redact(&sanitize(&text)).into_owned()),
        Value::Array(items) => items.into_iter().map(safe).collect(),
        Value::Object(fields) => Value::Object(
            fields
                .into_iter()
                .map(|(key, value)| (key, safe(value)))
                .collect(),
        ),
        other => other,
    }
}

/// Where a run stands.
pub fn head(snapshot: &Snapshot, lang: Lang) -> Value {
    let (run, overview) = (&snapshot.run, &snapshot.overview);
    let errors = || {
        snapshot
            .events
            .iter()
            .filter(|told| told.event == "error")
            .count()
    };
    let checks = snapshot.checks.iter().rev().take(MOST_CHECKS).rev();
    let blocks = snapshot.guard.iter().rev().take(MOST_BLOCKS).rev();
    json!({
        "revision": snapshot.revision,
        "id": run.id,
        "goal": run.goal,
        "branch": run.branch,
        "agents": run.agents,
        "verifies": run.verifies,
        "started_ms": run.started_ms,
        "updated_ms": overview.updated_ms,
        "standing": overview.standing.into_str(),
        "outcome": overview.outcome.as_ref().map(Outcome::into_str),
        "reason": overview.outcome.as_ref().map(Outcome::reason),
        "pid": overview.pid,
        "iteration": overview.iteration,
        "max_iterations": overview.max_iterations,
        "total": overview.total,
        "completed": overview.completed,
        "pending": overview.pending,
        "phase": overview.phase,
        "phases": overview.phases.iter().map(|p| json!({
            "key": p.key, "title": p.title, "completed": p.done, "total": p.total,
        })).collect::<Value>(),
        "task": overview.task,
        "role": overview.role,
        "roles": overview.roles,
        "agent": overview.agent,
        "last_promise": overview.last_promise,
        "usage": overview.bill.to_json(),
        "worked_ms": overview.elapsed_ms(clock::now().wall_ms),
        "goes_on": overview.goes_on(),
        "waiting": overview.waiting.map(|w| json!({"until_ms": w.until_ms, "why": w.why.into_str()})),
        "questions": overview.questions.iter().map(|asked| question(asked, lang)).collect::<Value>(),
        "checks": checks.collect::<Vec<_>>(),
        "guard": blocks.map(|(turn, block)| guard_block(*turn, block)).collect::<Value>(),
        "guard_count": snapshot.guard.len(),
        "calls": snapshot.turns.len(),
        "events_count": snapshot.events.last().map_or(0, |told| told.number),
        "can": can(snapshot),
        "word": overview.word(lang),
        "evidence": overview.evidence(lang),
        "lanes": overview.lanes.iter().map(|lane| lane.line(lang)).collect::<Value>(),
        "tone": tone(overview),
        "now": doing(overview, lang),
        "sentence": overview.outcome.as_ref().map(|outcome| {
            report::outcome_sentence(lang, Some(outcome), errors())
        }),
    })
}

/// What can be done about it now.
fn can(snapshot: &Snapshot) -> Value {
    let overview = &snapshot.overview;
    let alive = overview.pid.is_some() && overview.outcome.is_none();
    let over = matches!(
        overview.outcome,
        Some(Outcome::Complete | Outcome::Cancelled)
    );
    json!({
        "pause": alive,
        "stop": alive,
        "wake": alive && overview.standing == Standing::Waiting,
        "extend": alive && overview.max_iterations > 0,
        "resume": overview.pid.is_none() && !over && snapshot.run.started_ms > 0,
    })
}

/// How it looks.
fn tone(overview: &Overview) -> &'static str {
    match (&overview.outcome, overview.standing) {
        (Some(outcome), _) => outcome_tone(outcome.into_str()),
        (None, Standing::New | Standing::Working | Standing::Verifying) => "busy",
        (None, Standing::Waiting | Standing::Frozen | Standing::Ended) => "calm",
        (None, Standing::Asking) => "warn",
        (None, Standing::Dead) => "bad",
    }
}

fn outcome_tone(outcome: &str) -> &'static str {
    match outcome {
        "complete" => "good",
        "errors" | "circuit_break" | "gate_failed" => "bad",
        _ => "warn",
    }
}

/// What goes on, in a line; nothing where the outcome says it all.
fn doing(overview: &Overview, lang: Lang) -> String {
    let turn = overview.iteration;
    match overview.standing {
        Standing::Working => {
            let agent = match &overview.role {
                Some(role) => format!("{} ({role})", overview.agent),
                None => overview.agent.clone(),
            };
            tr!(lang, "turn {turn}: {agent} works")
        }
        Standing::Verifying => tr!(lang, "turn {turn} is being verified"),
        Standing::Asking => tr!(
            lang,
            "a limit was reached; the terminal of the run asks what to do"
        ),
        Standing::Dead => tr!(lang, "its process is gone; everything up to there is saved"),
        Standing::New | Standing::Waiting | Standing::Frozen | Standing::Ended => String::new(),
    }
}

pub fn turn(turn: &Call) -> Value {
    json!({
        "turn": turn.turn,
        "attempt": turn.attempt,
        "agent": turn.agent,
        "role": turn.role,
        "phase": turn.phase,
        "task": turn.task,
        "started_ms": turn.started_ms,
        "duration_ms": turn.duration_ms,
        "cost_usd": turn.spent.cost.map(Usd::dollars),
        "tokens": turn.spent.tokens.map(Tokens::total),
        "promise": turn.promise,
        "verdict": turn.verdict.into_str(),
        "newly_done": turn.newly_done,
        "completed": turn.completed,
    })
}

fn question(question: &Question, lang: Lang) -> Value {
    json!({
        "id": question.id,
        "turn": question.turn,
        "task": question.task,
        "text": question.words(lang),
        "options": question.options,
        "default": question.default,
        "asked_ms": question.asked_ms,
        "deadline_ms": question.deadline_ms,
        "reply": question.reply.as_ref().map(|reply| json!({"text": reply.text, "at_ms": reply.at_ms})),
    })
}

fn guard_block(turn: u32, block: &GuardBlock) -> Value {
    json!({
        "turn": turn,
        "tool": block.tool,
        "rule": block.rule,
        "detail": block.detail,
        "shadow": block.shadow,
    })
}

/// A run in the list of all.
pub fn brief(brief: &Brief, lang: Lang) -> Value {
    let tone = match (brief.pid, &brief.outcome) {
        (Some(_), _) => "busy",
        (None, None) => "bad",
        (None, Some(outcome)) => outcome_tone(outcome),
    };
    json!({
        "id": brief.id.as_str(),
        "pid": brief.pid,
        "outcome": brief.outcome,
        "reason": brief.reason,
        "iterations": brief.iterations,
        "completed": brief.completed,
        "total": brief.total,
        "cost_usd": brief.cost_usd,
        "updated": brief.updated,
        "word": brief.word(lang),
        "tone": tone,
    })
}

/// What is wrong, for whoever asked.
pub fn said(problem: &dyn Say, lang: Lang) -> String {
    redact(&problem.say(lang)).into_owned()
}

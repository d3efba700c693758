//! What ticks and claims are proven with, and what is told about it.

use serde::{Serialize, Serializer};
use serde_json::json;

use super::{CommandResult, Level, TaskRef};
use crate::integrity::Weakening;
use crate::lang::{Lang, Say, said};
use crate::proof::{EvidenceLevel, TaskProof, Unshown};
use crate::tr;
use crate::wire;

/// Which checks are to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All of them, as at the end.
    Everything,
    /// What these tasks need; `project`: and the commands of the project,
    /// whether they need them or not.
    Tasks { ids: Vec<String>, project: bool },
}

/// What is told about ticks, weakened checks and end-to-end tests.
#[derive(Clone, Debug, PartialEq, Serialize, strum::IntoStaticStr, Say)]
#[serde(untagged)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum CheckNotice {
    #[say("proven: {tasks}", tasks = tasks.join(", "))]
    TickProven {
        iteration: u32,
        tasks: Vec<String>,
        #[serde(flatten, serialize_with = "proven")]
        proof: TaskProof,
    },
    #[say("tick turned back: {tasks} ({why})", (tasks, why) = (ids(tasks).join(", "), why.say(lang)))]
    TickRejected {
        iteration: u32,
        #[serde(serialize_with = "task_ids")]
        tasks: Vec<TaskRef>,
        #[serde(rename = "reason", serialize_with = "wire::english")]
        why: NoProof,
    },
    /// A tick stands, and nothing shows the work as well as was asked.
    #[say("not proven, {level}: {tasks} ({why})", (level, tasks, why) = (level.say(lang), named(tasks, lang), why.say(lang)))]
    TickUnproven {
        iteration: u32,
        tasks: Vec<String>,
        #[serde(rename = "evidence")]
        level: EvidenceLevel,
        #[serde(rename = "reason", serialize_with = "wire::english")]
        why: Unshown,
    },
    /// Every role said yes, and nothing shows it.
    #[say("sent back: {task} ({why})", (task, why) = (named(std::slice::from_ref(task), lang), why.say(lang)))]
    SentBack {
        iteration: u32,
        task: String,
        #[serde(rename = "reason", serialize_with = "wire::english")]
        why: NoProof,
    },
    /// Tests that were green before say something else now.
    #[say("{task} changed what old tests expect; look at {files}", files = files.join(", "))]
    ExpectationsChanged {
        iteration: u32,
        task: String,
        files: Vec<String>,
    },
    /// It is red without the work, and no test said why.
    #[say(
        "{task} is bound by name only: without the work the checks can't be built or loaded, and no test fails"
    )]
    BoundByName { iteration: u32, task: String },
    #[say(if why.is_empty(), "accepted by a person: {tasks}", tasks = tasks.join(", "))]
    #[say("accepted by a person: {tasks} ({why})", tasks = tasks.join(", "))]
    #[strum(to_string = "tick_accepted")]
    Accepted { tasks: Vec<String>, why: String },
    /// What the checks say before anything is changed.
    #[say(preflight(results, lang))]
    Preflight {
        #[serde(rename = "commands", serialize_with = "all_results")]
        results: Vec<CommandResult>,
    },
    #[strum(to_string = "checks_weakened")]
    #[say(if *strict, "checks were weakened, nothing counts as done until they are restored: {found}", found = said(found, "; ", lang))]
    #[say("checks were weakened: {found}", found = said(found, "; ", lang))]
    Weakened {
        iteration: u32,
        strict: bool,
        found: Vec<Weakening>,
    },
    /// The agent speaks of a phase or of such tests, and none were run (E2E-03).
    #[say("nobody ran end-to-end tests: e2e.command is not set")]
    E2eSkipped { iteration: u32 },
    #[say("running the end-to-end tests")]
    E2eStart { iteration: u32 },
    #[say(if let Some(0) = result.exit, "end-to-end tests passed: `{command}`", command = &result.command)]
    #[say(if let Some(code) = result.exit, "end-to-end tests failed: `{command}` → {code}", command = &result.command)]
    #[say("end-to-end tests did not come to an end: `{command}`", command = &result.command)]
    E2eComplete {
        iteration: u32,
        #[serde(flatten, serialize_with = "e2e_result")]
        result: CommandResult,
    },
}

/// Why a tick does not stand.
#[derive(Clone, Debug, PartialEq, Eq, Say)]
pub enum NoProof {
    #[say(if let Some(code) = exit, "`{command}` failed with exit code {code}")]
    #[say("`{command}` did not come to an end")]
    Failing { command: String, exit: Option<i32> },
    /// The check did not run, because another failed before it.
    #[say("no check of it passed")]
    NotRun,
    #[say("checks were weakened: {files}", files = files.join(", "))]
    Weakened { files: Vec<String> },
    /// An experiment says no.
    #[say(_0.say(lang))]
    Unshown(Unshown),
}

impl CheckNotice {
    pub fn level(&self) -> Level {
        match self {
            CheckNotice::TickRejected { .. }
            | CheckNotice::TickUnproven { .. }
            | CheckNotice::SentBack { .. }
            | CheckNotice::ExpectationsChanged { .. }
            | CheckNotice::Weakened { .. } => Level::Warn,
            CheckNotice::E2eComplete { result, .. } if result.exit != Some(0) => Level::Warn,
            _ => Level::Info,
        }
    }
}

/// One sentence for each check: what its state before the work means.
fn preflight(results: &[CommandResult], lang: Lang) -> String {
    let one = |result: &CommandResult| {
        let command = &result.command;
        match result.exit {
            Some(0) => tr!(
                lang,
                "`{command}` is green already: a tick will count when a test fails without it"
            ),
            Some(126 | 127) => {
                let output = result.output.trim();
                tr!(lang, "`{command}` can't be run, or not yet: {output}")
            }
            Some(_) => tr!(
                lang,
                "`{command}` is red: making it green becomes the proof"
            ),
            None => tr!(
                lang,
                "`{command}` came to no end: raise verify.command_timeout, or give a quicker check"
            ),
        }
    };
    results.iter().map(one).collect::<Vec<_>>().join("; ")
}

fn all_results<S: Serializer>(results: &[CommandResult], to: S) -> Result<S::Ok, S::Error> {
    let all: Vec<_> = results.iter().map(CommandResult::to_json).collect();
    all.serialize(to)
}

fn proven<S: Serializer>(proof: &TaskProof, to: S) -> Result<S::Ok, S::Error> {
    let mut fields = json!({"tree": proof.tree, "commands": proof.commands});
    if let Some(level) = proof.level {
        fields["evidence"] = json!(level);
    }
    fields.serialize(to)
}

fn e2e_result<S: Serializer>(result: &CommandResult, to: S) -> Result<S::Ok, S::Error> {
    json!({
        "passed": result.exit == Some(0), "command": result.command, "exit": result.exit,
        "duration_ms": result.duration_ms,
    })
    .serialize(to)
}

fn task_ids<S: Serializer>(tasks: &[TaskRef], to: S) -> Result<S::Ok, S::Error> {
    ids(tasks).serialize(to)
}

/// The whole work has no name.
fn named(tasks: &[String], lang: Lang) -> String {
    let name = |task: &String| match task.is_empty() {
        true => tr!(lang, "the whole work"),
        false => task.clone(),
    };
    tasks.iter().map(name).collect::<Vec<_>>().join(", ")
}

fn ids(tasks: &[TaskRef]) -> Vec<&str> {
    tasks.iter().map(|task| task.id.as_str()).collect()
}

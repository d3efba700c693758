//! What is doubtful about a task file, as data.

use super::markdown::Unclosed;
use crate::lang::{Lang, Say};
use crate::tr;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// 1-based.
    pub line: usize,
    pub kind: FindingKind,
}

/// Each carries what its message needs.
#[derive(Clone, Debug, PartialEq, Eq, Say, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum FindingKind {
    #[say(
        "task {id} is a box outside a task section; it counts, but belongs to no phase: move it below a phase heading, or make it a plain bullet"
    )]
    OutsideSection { id: String },
    #[say("id {id} is already used on line {first_line}; give this task another one")]
    DuplicateId { id: String, first_line: usize },
    #[say(cycle(lang, ids))]
    Cycle { ids: Vec<String> },
    #[say("{id} depends on {on}, which is not in this file; correct the id or take it out")]
    UnknownDependency { id: String, on: String },
    #[say(
        "task {id} has a field \"{key}\" that Ralph does not know; use agent, files, output, depends, risk, verify, proof or may-change"
    )]
    UnknownField { id: String, key: String },
    #[say(
        "task {id} names the agent \"{agent}\"; use developer, reviewer, tester, designer or debugger"
    )]
    UnknownAgent { id: String, agent: String },
    /// Part of the sentence, and a check that never runs.
    #[say("task {id} has \"{key}:\", which means nothing; did you mean {nearest}?")]
    MisspeltField {
        id: String,
        key: String,
        nearest: &'static str,
    },
    /// It would be shown by less than was asked for.
    #[say(
        "task {id} asks for the proof \"{word}\", which nobody knows; use change, person, tests or preserved"
    )]
    UnknownProof { id: String, word: String },
    #[say("task {id} has a \"verify:\" without a command; write the command, or take it out")]
    EmptyCheck { id: String },
    /// Without effect, and so less thorough than a person meant it to be.
    #[say(if let Some(nearest) = nearest, "task {id} names the risk \"{risk}\"; did you mean {nearest}?")]
    #[say("task {id} names the risk \"{risk}\"; use low, medium or high")]
    UnknownRisk {
        id: String,
        risk: String,
        nearest: Option<&'static str>,
    },
    #[say(
        "task {id} asks for a person (\"{word}\") and would stop an unattended run; reword it, make it optional, or do it first"
    )]
    HumanOnly { id: String, word: String },
    #[say("task {child} is open, but task {id} above it is ticked; untick {id} or finish {child}")]
    OpenBelowDone { id: String, child: String },
    /// Nothing has to be done (TASK-14).
    #[say(
        "every task here is optional, so a run has nothing to do; move what has to be done to another section, or change tasks.optional_sections"
    )]
    OnlyOptional,
    #[say("task {id} is a box without a text; write what is to be done, or delete the line")]
    EmptyText { id: String },
    #[say(
        "story {id} has no \"passes\" that is true or false, so it can never be ticked; add \"passes\": false"
    )]
    NoPassesField { id: String },
    /// A line that looks like a box and is none.
    #[say(
        "this looks like a task and is not counted: {text}; write it as `- [ ] text` or `- [x] text`"
    )]
    NotABox { text: String },
    /// A fence or comment that is never closed, so its content counts.
    #[say(if let Unclosed::Fence = _0, "this code fence is never closed, so boxes below it count as tasks; close it with the same marks on a line of their own")]
    #[say("this comment is never closed, so boxes below it count as tasks; close it with `-->`")]
    Unclosed(Unclosed),
}

/// Whether a run can go wrong because of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    Warning,
    Error,
}

impl FindingKind {
    /// The name in machine output.
    pub fn name(&self) -> &'static str {
        match self {
            FindingKind::Unclosed(Unclosed::Fence) => "unclosed_fence",
            FindingKind::Unclosed(Unclosed::Comment) => "unclosed_comment",
            other => other.into(),
        }
    }

    pub fn severity(&self) -> Severity {
        match self {
            FindingKind::DuplicateId { .. }
            | FindingKind::Cycle { .. }
            | FindingKind::UnknownDependency { .. }
            | FindingKind::UnknownRisk { .. }
            | FindingKind::MisspeltField { .. }
            | FindingKind::UnknownProof { .. }
            | FindingKind::EmptyCheck { .. }
            | FindingKind::OnlyOptional
            | FindingKind::NoPassesField { .. } => Severity::Error,
            _ => Severity::Warning,
        }
    }
}

impl Say for Finding {
    fn say(&self, lang: Lang) -> String {
        self.kind.say(lang)
    }
}

pub(super) fn cycle(lang: Lang, ids: &[String]) -> String {
    let circle: Vec<&str> = ids.iter().chain(ids.first()).map(String::as_str).collect();
    let circle = circle.join(" → ");
    tr!(
        lang,
        "these wait for each other: {circle}; take one of the dependencies out"
    )
}

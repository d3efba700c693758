//! What is wrong with a flow file, and where.

use crate::lang::{Lang, Say};
use crate::tr;

use super::ROLES;

/// One mistake in a flow file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowError {
    pub file: String,
    /// Counted from 1; none where the whole file is meant.
    pub line: Option<usize>,
    /// The key that it is about, such as `step.reviewer.on.reject`.
    pub key: String,
    pub problem: Problem,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// The file can't be read as TOML, or has a key that no flow has.
    Syntax {
        message: String,
    },
    Unreadable {
        message: String,
    },
    BadName {
        name: String,
    },
    /// The name in the file is not that of the file.
    OtherName {
        name: String,
        file: String,
    },
    NoSteps,
    NoPrompt,
    DuplicateStep {
        id: String,
    },
    /// `done` and `escalate` are ends, not steps.
    ReservedId {
        id: String,
    },
    UnknownRole {
        role: String,
    },
    UnknownStep {
        id: String,
    },
    /// An answer that a step of this kind does not give.
    WrongAnswer {
        answer: &'static str,
    },
    MissingAnswer {
        answer: &'static str,
    },
    Unreachable {
        id: String,
    },
    /// From here no way leads to `done`.
    NoEnd {
        id: String,
    },
    Endless {
        steps: Vec<String>,
    },
    BadPermissions {
        word: String,
    },
    BadOutput {
        name: String,
    },
    /// A step for each subtask, and no step before it plans any.
    NoPlan,
    SkippedStart {
        id: String,
    },
    BadPercent {
        percent: u8,
    },
    UnknownVariable {
        name: String,
    },
}

impl Say for FlowError {
    fn say(&self, lang: Lang) -> String {
        let file = &self.file;
        let place = match (self.line, self.key.as_str()) {
            (Some(line), "") => format!("{file}:{line}"),
            (Some(line), key) => format!("{file}:{line}: {key}"),
            (None, "") => file.clone(),
            (None, key) => format!("{file}: {key}"),
        };
        let problem = self.problem.say(lang);
        tr!(lang, "{place}: {problem}")
    }
}

impl Say for Problem {
    fn say(&self, lang: Lang) -> String {
        match self {
            Problem::Syntax { message } => tr!(lang, "this is no flow: {message}"),
            Problem::Unreadable { message } => tr!(
                lang,
                "can't be read ({message}); make it readable, or remove it"
            ),
            Problem::BadName { name } => tr!(
                lang,
                "\"{name}\" can't be a name; use small letters, digits, - and _"
            ),
            Problem::OtherName { name, file } => tr!(
                lang,
                "the flow is called \"{name}\" and its file {file}.toml; give both the same name"
            ),
            Problem::NoSteps => tr!(lang, "there is no step; write at least one [[step]]"),
            Problem::NoPrompt => tr!(lang, "the prompt is empty; say what the agent has to do"),
            Problem::DuplicateStep { id } => tr!(lang, "there are two steps \"{id}\"; rename one"),
            Problem::ReservedId { id } => {
                tr!(lang, "\"{id}\" is an end and can't be a step; rename it")
            }
            Problem::UnknownRole { role } => {
                let known = ROLES.join(", ");
                tr!(lang, "unknown role \"{role}\"; write one of {known}")
            }
            Problem::UnknownStep { id } => tr!(
                lang,
                "there is no step \"{id}\"; name a step, \"done\" or \"escalate\""
            ),
            Problem::WrongAnswer { answer } => tr!(
                lang,
                "a step with this verdict never answers \"{answer}\"; remove the line or change the verdict"
            ),
            Problem::MissingAnswer { answer } => tr!(
                lang,
                "nothing says where \"{answer}\" leads; add on.{answer}"
            ),
            Problem::Unreachable { id } => tr!(
                lang,
                "no way leads to step \"{id}\"; let an answer lead there, or remove it"
            ),
            Problem::NoEnd { id } => tr!(
                lang,
                "from step \"{id}\" no way leads to \"done\"; let an answer lead there"
            ),
            Problem::Endless { steps } => {
                let steps = steps.join(" → ");
                tr!(
                    lang,
                    "{steps} can go round for ever; set a limit for an answer in it, as in limit.reject = 5"
                )
            }
            Problem::BadPermissions { word } => tr!(
                lang,
                "unknown permissions \"{word}\"; write one of auto, default, edit, plan"
            ),
            Problem::BadOutput { name } => tr!(
                lang,
                "\"{name}\" can't be an output file; write a plain file name, with {{n}} in it exactly where the step has each"
            ),
            Problem::NoPlan => tr!(
                lang,
                "each = \"subtask\" needs an earlier step with plans = true and an output file"
            ),
            Problem::SkippedStart { id } => tr!(lang, "the first step \"{id}\" can't be skipped"),
            Problem::BadPercent { percent } => tr!(
                lang,
                "{percent} is no percentage that grows from step to step up to 100"
            ),
            Problem::UnknownVariable { name } => {
                let known = crate::template::Variables::NAMES.join(", ");
                tr!(
                    lang,
                    "unknown variable {{{{{name}}}}}; write one of {known}"
                )
            }
        }
    }
}

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

#[derive(Clone, Debug, PartialEq, Eq, Say)]
pub enum Problem {
    /// The file can't be read as TOML, or has a key that no flow has.
    #[say("this is no flow: {message}")]
    Syntax { message: String },
    #[say("can't be read ({message}); make it readable, or remove it")]
    Unreadable { message: String },
    #[say("\"{name}\" can't be a name; use small letters, digits, - and _")]
    BadName { name: String },
    /// The name in the file is not that of the file.
    #[say("the flow is called \"{name}\" and its file {file}.toml; give both the same name")]
    OtherName { name: String, file: String },
    #[say("there is no step; write at least one [[step]]")]
    NoSteps,
    #[say("the prompt is empty; say what the agent has to do")]
    NoPrompt,
    #[say("there are two steps \"{id}\"; rename one")]
    DuplicateStep { id: String },
    /// `done` and `escalate` are ends, not steps.
    #[say("\"{id}\" is an end and can't be a step; rename it")]
    ReservedId { id: String },
    #[say("unknown role \"{role}\"; write one of {known}", known = ROLES.join(", "))]
    UnknownRole { role: String },
    #[say("there is no step \"{id}\"; name a step, \"done\" or \"escalate\"")]
    UnknownStep { id: String },
    /// An answer that a step of this kind does not give.
    #[say(
        "a step with this verdict never answers \"{answer}\"; remove the line or change the verdict"
    )]
    WrongAnswer { answer: &'static str },
    #[say("nothing says where \"{answer}\" leads; add on.{answer}")]
    MissingAnswer { answer: &'static str },
    #[say("no way leads to step \"{id}\"; let an answer lead there, or remove it")]
    Unreachable { id: String },
    /// From here no way leads to `done`.
    #[say("from step \"{id}\" no way leads to \"done\"; let an answer lead there")]
    NoEnd { id: String },
    #[say("{steps} can go round for ever; set a limit for an answer in it, as in limit.reject = 5", steps = steps.join(" → "))]
    Endless { steps: Vec<String> },
    #[say("unknown permissions \"{word}\"; write one of auto, default, edit, plan")]
    BadPermissions { word: String },
    #[say(
        "\"{name}\" can't be an output file; write a plain file name, with {{n}} in it exactly where the step has each"
    )]
    BadOutput { name: String },
    /// A step for each subtask, and no step before it plans any.
    #[say("each = \"subtask\" needs an earlier step with plans = true and an output file")]
    NoPlan,
    #[say("the first step \"{id}\" can't be skipped")]
    SkippedStart { id: String },
    #[say("{percent} is no percentage that grows from step to step up to 100")]
    BadPercent { percent: u8 },
    #[say("unknown variable {{{{{name}}}}}; write one of {known}", known = crate::template::Variables::NAMES.join(", "))]
    UnknownVariable { name: String },
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

//! Reasons, as data: what a claim lacks, what a breaker saw, how a turn went
//! wrong. The agent and programs read them in English, people in their own
//! language.

use super::TaskRef;
use crate::lang::{Lang, Say, Spoken};
use crate::proof::Unshown;
use crate::tr;

/// What the evidence lacks for a claim.
#[derive(Clone, Debug, PartialEq, Say)]
pub enum Missing {
    #[say("open tasks ({count}): {first}", first = names(first))]
    OpenTasks {
        count: usize,
        /// The first of them.
        first: Vec<TaskRef>,
    },
    #[say("open tasks in phase {phase}: {count}")]
    OpenInPhase { phase: String, count: usize },
    /// Phases and subtasks that the state file does not call done.
    #[say("open in the state file (.claude/ralph-delta.local.md): {open}", open = open.join(", "))]
    OpenInStateFile { open: Vec<String> },
    /// Tasks that stood in the file and are gone, or say something else.
    #[say("tasks removed from the task file, or with other words: {count}")]
    LostTasks { count: usize },
    #[say("`{command}` does not pass")]
    Failing { command: String },
    /// An experiment says no.
    #[say(_0.say(lang))]
    Unshown(Unshown),
    /// Checks are weaker than they were when the loop was armed.
    #[say("checks were weakened; restore them: {files}", files = files.join(", "))]
    Weakened { files: Vec<String> },
    /// The task file can't be read, so nothing is known.
    #[say("the task file can't be read")]
    Unreadable,
    #[say("no task was found in the task file")]
    NoTasks,
}

fn names(tasks: &[TaskRef]) -> String {
    tasks
        .iter()
        .map(TaskRef::name)
        .collect::<Vec<_>>()
        .join("; ")
}

/// What a rule of the circuit breaker saw.
#[derive(Clone, Debug, PartialEq, Say)]
pub enum Sign {
    #[say("iterations {from} to {to}")]
    Iterations { from: u32, to: u32 },
    #[say("tasks: {completed}/{total}")]
    Tasks { completed: usize, total: usize },
    /// Neither a commit nor a tree that was not there before.
    #[say("no commit with new content, and no content that was not seen before")]
    NothingNew,
    #[say("no commit with new content")]
    NoCommit,
    #[say("no content that was not seen before")]
    NoContent,
    #[say("promised: {text}")]
    Promised { text: String },
    #[say("open: {task}", task = task.name())]
    Open { task: TaskRef },
    /// What a command or the agent said again and again.
    #[say(format!("{of}: {text}"))]
    Output { of: String, text: String },
    /// What went wrong again and again.
    #[say(format!("{of}: {}", text.say(lang)))]
    Error { of: String, text: Spoken },
    #[say("the phase left no {file}")]
    NoFile { file: String },
}

/// How a turn went wrong.
#[derive(Clone, Debug, PartialEq, Eq, Say)]
pub enum Detail {
    #[say(with(tr!(lang, "exit code {code}"), words))]
    Exit { code: i32, words: String },
    #[say(with(tr!(lang, "ended by signal {signal}"), words))]
    Signal { signal: i32, words: String },
    #[say("ended after {seconds} s without a result")]
    Timeout { seconds: u64 },
    #[say(with(tr!(lang, "command not found"), words))]
    NotFound { words: String },
    #[say(with(tr!(lang, "could not be started"), words))]
    NotStarted { words: String },
    /// What is wrong with the task file, in English and in the person's
    /// language, where that is another.
    #[say(in_language(words, said, lang))]
    File { words: String, said: String },
    /// The task that was worked on is not in the list any more.
    #[say("{task} is no longer in the task file; put it back")]
    Gone { task: String },
    #[say("a box of the task file could not be set")]
    NotMarked,
    /// The agent's own words.
    #[say(if _0.is_empty(), "the agent reported an error")]
    #[say(_0.clone())]
    Words(String),
}

fn in_language(english: &str, said: &str, lang: Lang) -> String {
    match lang == Lang::En || said.is_empty() {
        true => english.to_owned(),
        false => said.to_owned(),
    }
}

fn with(fact: String, words: &str) -> String {
    if words.is_empty() {
        fact
    } else {
        format!("{fact}: {words}")
    }
}

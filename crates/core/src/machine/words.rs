//! Reasons, as data: what a claim lacks, what a breaker saw, how a turn went
//! wrong. The agent and programs read them in English, people in their own
//! language.

use super::TaskRef;
use crate::lang::{Lang, Say};
use crate::tr;

/// What the evidence lacks for a claim.
#[derive(Clone, Debug, PartialEq)]
pub enum Missing {
    OpenTasks {
        count: usize,
        /// The first of them.
        first: Vec<TaskRef>,
    },
    OpenInPhase {
        phase: String,
        count: usize,
    },
    /// Tasks that stood in the file and are gone.
    LostTasks {
        count: usize,
    },
    Failing {
        command: String,
    },
    /// Checks are weaker than they were when the loop was armed.
    Weakened {
        files: Vec<String>,
    },
    /// The task file can't be read, so nothing is known.
    Unreadable,
    NoTasks,
}

impl Say for Missing {
    fn say(&self, lang: Lang) -> String {
        match self {
            Missing::OpenTasks { count, first } => {
                let first = names(first);
                tr!(lang, "open tasks ({count}): {first}")
            }
            Missing::OpenInPhase { phase, count } => {
                tr!(lang, "open tasks in phase {phase}: {count}")
            }
            Missing::LostTasks { count } => tr!(lang, "tasks removed from the task file: {count}"),
            Missing::Unreadable => tr!(lang, "the task file can't be read"),
            Missing::NoTasks => tr!(lang, "no task was found in the task file"),
            Missing::Weakened { files } => {
                let files = files.join(", ");
                tr!(lang, "checks were weakened; restore them: {files}")
            }
            Missing::Failing { command } => tr!(lang, "`{command}` does not pass"),
        }
    }
}

fn names(tasks: &[TaskRef]) -> String {
    tasks
        .iter()
        .map(TaskRef::name)
        .collect::<Vec<_>>()
        .join("; ")
}

/// What a rule of the circuit breaker saw.
#[derive(Clone, Debug, PartialEq)]
pub enum Sign {
    Iterations {
        from: u32,
        to: u32,
    },
    Tasks {
        completed: usize,
        total: usize,
    },
    /// Neither a commit nor a tree that was not there before.
    NothingNew,
    Promised {
        text: String,
    },
    Open {
        task: TaskRef,
    },
    /// What a command or the agent said again and again.
    Output {
        of: String,
        text: String,
    },
}

impl Say for Sign {
    fn say(&self, lang: Lang) -> String {
        match self {
            Sign::Iterations { from, to } => {
                tr!(lang, "iterations {from} to {to}")
            }
            Sign::Tasks { completed, total } => {
                tr!(lang, "tasks: {completed}/{total}")
            }
            Sign::NothingNew => tr!(
                lang,
                "no new commit, and no content that was not seen before"
            ),
            Sign::Promised { text } => {
                tr!(lang, "promised: {text}")
            }
            Sign::Open { task } => {
                let task = task.name();
                tr!(lang, "open: {task}")
            }
            Sign::Output { of, text } => format!("{of}: {text}"),
        }
    }
}

/// How a turn went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Detail {
    Exit {
        code: i32,
        words: String,
    },
    Signal {
        signal: i32,
        words: String,
    },
    Timeout {
        seconds: u64,
    },
    NotFound {
        words: String,
    },
    NotStarted {
        words: String,
    },
    /// The agent's or the file's own words.
    Words(String),
}

impl Say for Detail {
    fn say(&self, lang: Lang) -> String {
        match self {
            Detail::Exit { code, words } => with(tr!(lang, "exit code {code}"), words),
            Detail::Signal { signal, words } => with(tr!(lang, "ended by signal {signal}"), words),
            Detail::Timeout { seconds } => tr!(lang, "ended after {seconds} s without a result"),
            Detail::NotFound { words } => with(tr!(lang, "command not found"), words),
            Detail::NotStarted { words } => with(tr!(lang, "could not be started"), words),
            Detail::Words(words) if words.is_empty() => {
                tr!(lang, "the agent reported an error")
            }
            Detail::Words(words) => words.clone(),
        }
    }
}

fn with(fact: String, words: &str) -> String {
    if words.is_empty() {
        fact
    } else {
        format!("{fact}: {words}")
    }
}

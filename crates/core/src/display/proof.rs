//! What Ralph knows about the end of a run, what it does not know, and what an
//! agent's claim lacked.

use super::screen::{Screen, Symbol, Tone};
use crate::forge::ForgeProof;
use crate::lang::Say;
use crate::machine::Missing;
use crate::proof::EvidenceLevel;
use crate::text::duration::{human, plural};
use crate::tr;
use std::time::Duration;

/// Something that Ralph saw itself.
#[derive(Clone, Debug, PartialEq)]
pub enum Proof {
    Tasks {
        file: String,
        done: usize,
        total: usize,
    },
    /// How well the tasks of a run are shown, the best first.
    Shown { counts: Vec<(EvidenceLevel, usize)> },
    Command {
        command: String,
        exit_code: i32,
        duration: Duration,
    },
    /// Phases of a flow that left their files.
    Phases { done: usize, total: usize },
    Commits {
        count: usize,
        /// The short hash of the last one.
        last: Option<String>,
    },
    /// The forge showed it.
    Forge(ForgeProof),
}

/// Something that was not checked.
#[derive(Clone, Debug, PartialEq)]
pub enum Gap {
    /// Phases left their files, and nobody checked what is in them.
    OnlyFiles {
        total: usize,
    },
    NoVerifyCommand,
    NoTaskList,
    NoGit,
    SkippedTasks {
        ids: Vec<String>,
    },
    /// They are open, and nobody had to do them.
    OptionalTasks {
        count: usize,
    },
    /// The agent put words to them, or took lines out below them.
    Remarked {
        tasks: Vec<String>,
    },
    /// Not shown as well as was asked for.
    ShortOfProof {
        tasks: Vec<(String, EvidenceLevel)>,
    },
    /// A person switched the reviews off.
    NotReviewed {
        reason: String,
    },
}

/// The list of proofs, each with a tick, below its heading; nothing for none.
pub(super) fn proven(screen: &Screen, proofs: &[Proof]) -> String {
    let heading = tr!(screen.lang, "Proven:");
    let bullet = screen.paint(Tone::Good, screen.symbol(Symbol::Check));
    list(
        screen,
        &heading,
        &bullet,
        proofs.iter().map(|p| proof_line(screen, p)),
    )
}

/// The list of gaps below its heading; nothing for none.
pub(super) fn not_proven(screen: &Screen, gaps: &[Gap]) -> String {
    let heading = tr!(screen.lang, "Not proven:");
    let bullet = screen.paint(Tone::Warning, "-");
    list(
        screen,
        &heading,
        &bullet,
        gaps.iter().map(|g| gap_line(screen, g)),
    )
}

/// What is missing, one line or more each.
pub(super) fn missing(screen: &Screen, missing: &[Missing]) -> String {
    let heading = tr!(screen.lang, "Missing:");
    let bullet = screen.paint(Tone::Bad, "-");
    list(
        screen,
        &heading,
        &bullet,
        missing.iter().map(|m| screen.value(&m.say(screen.lang))),
    )
}

fn list(
    screen: &Screen,
    heading: &str,
    bullet: &str,
    items: impl ExactSizeIterator<Item = String>,
) -> String {
    if items.len() == 0 {
        return String::new();
    }
    let mut out = format!("{heading}\n");
    for item in items {
        out.push_str(&screen.paragraph(&format!("{bullet} "), &item));
    }
    out
}

/// What was seen, as one line.
pub fn proof_line(screen: &Screen, proof: &Proof) -> String {
    match proof {
        Proof::Tasks { file, done, total } => {
            let file = screen.value(file);
            let tasks_en = plural(*total, "task", "tasks");
            tr!(screen.lang, "{done}/{total} {tasks_en} ticked in {file}")
        }
        Proof::Shown { counts } => {
            let one = |(level, count): &(EvidenceLevel, usize)| {
                format!("{count} {}", level.say(screen.lang))
            };
            let counts = counts.iter().map(one).collect::<Vec<_>>().join(", ");
            tr!(screen.lang, "evidence of the tasks: {counts}")
        }
        Proof::Command {
            command,
            exit_code,
            duration,
        } => {
            let command = screen.value(command);
            let duration = human(screen.lang, *duration);
            tr!(
                screen.lang,
                "`{command}`: exit code {exit_code} after {duration}"
            )
        }
        Proof::Phases { done, total } => tr!(screen.lang, "{done}/{total} phases left their files"),
        Proof::Commits { count, last } => commits(screen, *count, last.as_deref()),
        Proof::Forge(proof) => screen.value(&proof.say(screen.lang)),
    }
}

fn commits(screen: &Screen, count: usize, last: Option<&str>) -> String {
    let noun_en = plural(count, "commit", "commits");
    match last {
        Some(last) => {
            let last = screen.value(last);
            tr!(screen.lang, "{count} new {noun_en}, the last is {last}")
        }
        None => tr!(screen.lang, "{count} new {noun_en}"),
    }
}

/// What was not checked, as one line.
pub fn gap_line(screen: &Screen, gap: &Gap) -> String {
    match gap {
        Gap::OnlyFiles { total } => tr!(
            screen.lang,
            "{total}/{total} phases left their files, and nothing checked what is in them"
        ),
        Gap::NoVerifyCommand => tr!(
            screen.lang,
            "no verify command is configured: the ticks are the agent's own claims"
        ),
        Gap::NoTaskList => tr!(
            screen.lang,
            "there is no task list: nothing could be counted"
        ),
        Gap::NoGit => tr!(
            screen.lang,
            "this is no Git project: there are no commits to look at"
        ),
        Gap::ShortOfProof { tasks } => {
            let lang = screen.lang;
            let one = |(id, level): &(String, EvidenceLevel)| match id.is_empty() {
                true => level.say(lang),
                false => format!("{} ({})", screen.value(id), level.say(lang)),
            };
            let tasks = tasks.iter().map(one).collect::<Vec<_>>().join(", ");
            tr!(
                lang,
                "not shown as well as was asked for: {tasks}; `ralph accept`"
            )
        }
        Gap::Remarked { tasks } => {
            let tasks = screen.value(&tasks.join("; "));
            tr!(
                screen.lang,
                "the agent put words to these tasks, or took lines out below them: {tasks}"
            )
        }
        Gap::NotReviewed { reason } => {
            let reason = screen.value(reason);
            tr!(
                screen.lang,
                "nobody reviewed, as `--no-review` asked for: {reason}"
            )
        }
        Gap::OptionalTasks { count } => {
            let tasks_en = plural(*count, "task is", "tasks are");
            tr!(
                screen.lang,
                "{count} optional {tasks_en} open: `ralph tasks` shows them"
            )
        }
        Gap::SkippedTasks { ids } => {
            let count = ids.len();
            let noun_en = plural(count, "task was", "tasks were");
            let ids = screen.value(&ids.join(", "));
            tr!(screen.lang, "{count} {noun_en} left out: {ids}")
        }
    }
}

//! The state file of a delta loop, `.claude/ralph-delta.local.md`: an exact
//! writer and a tolerant reader (DELT-01 to DELT-07, DELT-10 to DELT-12).
//!
//! People, agents and other tools edit this file. Whatever this version does
//! not know (lines, sections) is kept; what it must know and can't read is an
//! error that names its line.

mod brief;
mod list;
mod over;
mod read;
#[cfg(test)]
mod tests;
mod work;
mod write;

use strum::{EnumString, IntoStaticStr, VariantNames};

use crate::lang::Say;
use crate::markdown::Fence;
pub use brief::brief;
pub use list::{PhaseWork, Subtask, items_of};
pub use write::{duration, one_line, template};

/// Where the file stands, relative to the project.
pub const PATH: &str = ".claude/ralph-delta.local.md";
/// The promise of a finished loop.
pub const TASK_COMPLETE: &str = "TASK_COMPLETE";

const TITLE: &str = "Delta Loop State";
const NONE: &str = "(none)";
const NOT_DONE: &str = "<!-- 未完成 -->";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeltaState {
    pub meta: Meta,
    pub iteration: Iteration,
    pub progress: Progress,
    /// Markdown; empty where nothing is left.
    pub pending_work: String,
    /// Markdown; may hold `### Phase N: …` blocks with boxes.
    pub completed_work: String,
    /// The body of the section: a tag, a comment, or both. See
    /// [`DeltaState::promise`].
    pub promise_text: String,
    pub summary: Option<Summary>,
    /// What stands between the title and the first section.
    pub preamble: String,
    /// Sections that this version does not know.
    pub other: Vec<Section>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Meta {
    pub task_id: String,
    pub route: String,
    /// `YYYY-MM-DD HH:MM:SS`.
    pub started: String,
    pub last_updated: String,
    /// Lines that this version does not know, such as `- Session: …`.
    pub extra: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Iteration {
    pub current: u32,
    pub max_allowed: u32,
    pub status: Status,
    pub extra: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, IntoStaticStr, EnumString, VariantNames)]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE", const_into_str)]
pub enum Status {
    #[default]
    InProgress,
    Completed,
    Failed,
    UserAbort,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    pub current_phase: u32,
    pub completed_phases: Vec<u32>,
    pub subtasks_done: u32,
    pub subtasks_total: u32,
    pub extra: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    pub total_iterations: Option<u32>,
    /// `1h 20m`; see [`duration`].
    pub total_duration: Option<String>,
    pub files_modified: Option<u32>,
    /// Out of 100.
    pub review_score: Option<u32>,
    pub extra: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Section {
    pub heading: String,
    pub body: String,
}

/// Why a file can't be used as a state; lines count from 1.
#[derive(Clone, Debug, PartialEq, Eq, Say)]
pub enum DeltaError {
    #[say("line {line} is not UTF-8 text")]
    NotUtf8 { line: usize },
    /// There is no section of a state file in it.
    #[say("it has no section of a delta loop state (`## Meta`, `## Iteration`)")]
    NotAState,
    /// It ends in the middle of a line, and what every writer puts last is not
    /// there.
    #[say("it is cut off in line {line}, before its `## Promise`")]
    CutOff { line: usize },
    /// `line` is where the field or its section should stand.
    #[say("line {line}: `- {field}:` is missing")]
    Missing { field: &'static str, line: usize },
    #[say("line {line}: `- {field}:` can't be `{value}`")]
    Bad {
        field: &'static str,
        value: String,
        line: usize,
    },
}

impl DeltaState {
    /// A loop that begins (DELT-07).
    pub fn new(task_id: &str, route: &str, started: &str, max_allowed: u32) -> DeltaState {
        DeltaState {
            meta: Meta {
                task_id: task_id.into(),
                route: route.into(),
                started: started.into(),
                last_updated: started.into(),
                extra: Vec::new(),
            },
            iteration: Iteration {
                current: 1,
                max_allowed,
                ..Iteration::default()
            },
            progress: Progress {
                current_phase: 1,
                ..Progress::default()
            },
            ..DeltaState::default()
        }
    }

    /// What is promised; a tag inside a comment is not set (DELT-06).
    pub fn promise(&self) -> Option<String> {
        let text = without_comments(&self.promise_text);
        let (_, rest) = text.rsplit_once("<promise>")?;
        let (promise, _) = rest.split_once("</promise>")?;
        Some(promise.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    pub fn set_promise(&mut self, promise: Option<&str>) {
        self.promise_text = promise.map_or_else(String::new, |promise| {
            format!("<promise>{promise}</promise>")
        });
    }
}

/// A comment that nobody closes hides everything behind it.
fn without_comments(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, comment)) = rest.split_once("<!--") {
        out.push_str(before);
        rest = comment.split_once("-->").map_or("", |(_, after)| after);
    }
    out.push_str(rest);
    out
}

/// For each line whether it stands in a code block. A fence that nobody
/// closes opens none: it must not swallow the sections behind it.
fn fenced(lines: &[&str]) -> Vec<bool> {
    let mut inside = vec![false; lines.len()];
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let close = Fence::at(line.trim_start()).and_then(|fence| {
            let rest = lines.iter().skip(at + 1);
            let mut rest = rest.map(|line| Fence::at(line.trim_start()));
            rest.position(|other| other.is_some_and(|other| fence.is_closed_by(other)))
        });
        let end = close.map_or(at, |length| at + 1 + length);
        if end > at {
            for line in inside.iter_mut().take(end + 1).skip(at) {
                *line = true;
            }
        }
        at = end + 1;
    }
    inside
}

/// The text of a `##` heading.
fn heading_of(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches(' ').strip_prefix("##")?;
    (!rest.starts_with('#')).then(|| rest.trim())
}

/// The text of a `#` heading.
fn title_of(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches(' ').strip_prefix('#')?;
    (!rest.starts_with('#')).then(|| rest.trim())
}

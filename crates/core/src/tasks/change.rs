//! A person's change of a task list: one task comes, is reworded, moves or
//! goes, and every other byte stays.
//!
//! Each change is made on the text and read again; one that would do more to
//! the list than was meant is refused.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::compare::{Changes, compare};
use super::error::{TaskError, Unfit};
use super::format::Format;
use super::model::{Task, TaskList};
use super::prd_json;

/// What is to become of the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum ListChange {
    /// A new task, behind `after`, else at the end of `phase`, else at the end.
    Add {
        text: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        verify: Vec<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        phase: Option<String>,
    },
    /// Other words for a task; its fields stay.
    Edit { task: String, text: String },
    /// The task goes behind another, or to the front.
    Move {
        task: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<String>,
    },
    /// The task goes, with what is nested under it.
    Remove { task: String },
}

/// A list as it is after a change.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangedList {
    pub bytes: Vec<u8>,
    pub list: TaskList,
    /// The task that the change was about, as it is called now.
    pub task: String,
}

impl ListChange {
    /// Makes the change. `list` has to be read from exactly these bytes by
    /// `read`.
    pub fn apply(
        &self,
        bytes: &[u8],
        list: &TaskList,
        read: impl Fn(&[u8]) -> Result<TaskList, TaskError>,
    ) -> Result<ChangedList, TaskError> {
        let text = std::str::from_utf8(bytes).map_err(|_| TaskError::NotText {
            file: list.file.clone(),
        })?;
        let editor = Editor { text, list };
        if let ListChange::Add { text, .. } | ListChange::Edit { text, .. } = self
            && (text.trim().is_empty() || text.contains(['\n', '\r']))
        {
            return Err(editor.refused(Unfit::MoreThanMeant));
        }
        let (after, id) = match self {
            ListChange::Add {
                text,
                verify,
                after,
                phase,
            } => editor.add(text, verify, after.as_deref(), phase.as_deref())?,
            ListChange::Edit { task, text } => (editor.edit(task, text)?, Some(task.clone())),
            ListChange::Move { task, after } => {
                (editor.moved(task, after.as_deref())?, Some(task.clone()))
            }
            ListChange::Remove { task } => (editor.without(task)?, Some(task.clone())),
        };
        let bytes = after.into_bytes();
        let now = read(&bytes)?;
        let changes = compare(list, &now);
        match self.is_what_was_meant(&changes, list, &now) {
            true => Ok(ChangedList {
                task: id
                    .or_else(|| changes.added.first().cloned())
                    .unwrap_or_default(),
                bytes,
                list: now,
            }),
            false => Err(editor.refused(Unfit::MoreThanMeant)),
        }
    }

    fn is_what_was_meant(&self, changes: &Changes, before: &TaskList, now: &TaskList) -> bool {
        let nothing = Changes::default();
        match self {
            ListChange::Add { text, verify, .. } => {
                let added = changes.added.first().and_then(|id| now.find(id));
                let added = added.and_then(|index| now.tasks.get(index));
                let as_told = added.is_some_and(|task| {
                    task.text == text.trim() && !task.done && task.verify == *verify
                });
                let only = Changes {
                    added: changes.added.clone(),
                    ..nothing
                };
                as_told && *changes == only && now.tasks.len() == before.tasks.len() + 1
            }
            ListChange::Edit { task, text } => {
                let reworded = now.find(task).and_then(|index| now.tasks.get(index));
                let was = before.find(task).and_then(|index| before.tasks.get(index));
                let fields = |task: &Task| (task.done, task.verify.clone(), task.depends.clone());
                reworded.is_some_and(|task| task.text == text.trim())
                    && reworded.map(fields) == was.map(fields)
                    && now.tasks.len() == before.tasks.len()
            }
            ListChange::Move { .. } => *changes == nothing,
            ListChange::Remove { task } => {
                let only = Changes {
                    removed: changes.removed.clone(),
                    ..nothing
                };
                *changes == only && changes.removed.contains(task)
            }
        }
    }
}

struct Editor<'a> {
    text: &'a str,
    list: &'a TaskList,
}

impl Editor<'_> {
    fn refused(&self, why: Unfit) -> TaskError {
        let file = self.list.file.clone();
        TaskError::Unchangeable { file, why }
    }

    fn task(&self, id: &str) -> Result<&Task, TaskError> {
        let index = self.list.require(id)?;
        let missing = || self.refused(Unfit::MoreThanMeant);
        self.list.tasks.get(index).ok_or_else(missing)
    }

    /// Where a task stands decides its name where it has no id: only the last
    /// place is free.
    fn need_ids(&self) -> Result<(), TaskError> {
        match self.list.tasks.iter().all(|task| task.has_own_id) {
            true => Ok(()),
            false => Err(self.refused(Unfit::NoIds)),
        }
    }

    fn add(
        &self,
        text: &str,
        verify: &[String],
        after: Option<&str>,
        phase: Option<&str>,
    ) -> Result<(String, Option<String>), TaskError> {
        let anchor = self.anchor(after, phase)?;
        let id = anchor.has_own_id.then(|| self.free_id(&anchor.id));
        let id = id.flatten();
        if self.list.format == Format::PrdJson {
            let added = self.add_story(text, verify, id.as_deref());
            let added = added.ok_or_else(|| self.refused(Unfit::MoreThanMeant))?;
            return Ok((added, id));
        }
        if self.list.tasks.last().map(|task| task.line) != Some(anchor.line) {
            self.need_ids()?;
        }
        let lines = self.lines();
        let line = lines.get(anchor.line - 1).copied().unwrap_or_default();
        let (bullet, _) = line
            .split_once('[')
            .ok_or_else(|| self.refused(Unfit::MoreThanMeant))?;
        let id_word = id.as_ref().map_or(String::new(), |id| format!("{id} "));
        let verify: String = verify.iter().map(|command| field(command)).collect();
        let text = text.trim();
        let new = format!("{bullet}[ ] {id_word}{text}{verify}{}", newline(self.text));
        Ok((insert(&lines, self.end_of(anchor), &new), id))
    }

    /// The task behind which a new one goes.
    fn anchor(&self, after: Option<&str>, phase: Option<&str>) -> Result<&Task, TaskError> {
        if let Some(id) = after {
            return self.task(id);
        }
        let in_phase = |task: &&Task| match phase {
            None => task.depth == 0 && !task.optional,
            Some(wanted) => {
                let of = task.phase.and_then(|phase| self.list.phases.get(phase));
                task.depth == 0 && of.is_some_and(|phase| phase.key == wanted)
            }
        };
        let last = self.list.tasks.iter().rfind(in_phase);
        last.ok_or_else(|| {
            self.refused(match phase {
                Some(_) => Unfit::NoSuchPhase,
                None => Unfit::MoreThanMeant,
            })
        })
    }

    /// The next number behind an id that no task has: `T008` behind `T007`.
    fn free_id(&self, id: &str) -> Option<String> {
        let digits = id.len() - id.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let (head, number) = id.split_at(id.len() - digits);
        let number: u64 = number.parse().ok()?;
        let ids = (1..=10_000).map(|more| format!("{head}{:0digits$}", number + more));
        ids.into_iter().find(|id| self.list.find(id).is_none())
    }

    fn add_story(&self, text: &str, verify: &[String], id: Option<&str>) -> Option<String> {
        let stories = prd_json::story_spans(self.text)?;
        let last = stories.last()?;
        let start = self.text.get(..last.start)?;
        let line = start.rsplit('\n').next().unwrap_or_default();
        let indent: String = line.chars().take_while(|c| c.is_whitespace()).collect();
        let priorities = self.list.tasks.iter().filter_map(|task| task.priority);
        let priority = priorities.fold(0.0, f64::max) + 1.0;
        let mut story = json!({"id": id.unwrap_or(""), "title": text.trim()});
        if id.is_none() {
            story.as_object_mut()?.remove("id");
        }
        if !verify.is_empty() {
            story["verify"] = json!(verify);
        }
        if self.list.tasks.iter().any(|task| task.priority.is_some()) {
            let whole = priority as i64;
            story["priority"] = json!(whole);
        }
        story["passes"] = json!(false);
        let pretty = format!("{story:#}").replace('\n', &format!("\n{indent}"));
        let (before, rest) = self.text.split_at_checked(last.end)?;
        Some(format!("{before},\n{indent}{pretty}{rest}"))
    }

    fn edit(&self, id: &str, words: &str) -> Result<String, TaskError> {
        let task = self.task(id)?;
        let refused = || self.refused(Unfit::MoreThanMeant);
        if self.list.format == Format::PrdJson {
            let span = prd_json::title_span(self.text, self.list.require(id)?);
            let span = span.ok_or_else(refused)?;
            let title = json!(words.trim()).to_string();
            let (before, after) = (self.text.get(..span.start), self.text.get(span.end..));
            let (before, after) = before.zip(after).ok_or_else(refused)?;
            return Ok(format!("{before}{title}{after}"));
        }
        let mut lines: Vec<String> = self.lines().iter().map(|l| (*l).to_owned()).collect();
        let line = lines.get_mut(task.line - 1).ok_or_else(refused)?;
        // Behind the box and the id, and ahead of the fields.
        let mut from = line.find(']').ok_or_else(refused)?;
        if task.has_own_id {
            let rest = line.get(from..).unwrap_or_default();
            from += rest.find(&task.id).ok_or_else(refused)? + task.id.len();
        }
        let rest = line.get(from..).unwrap_or_default();
        let at = from + rest.find(&task.text).ok_or_else(refused)?;
        line.replace_range(at..at + task.text.len(), words.trim());
        Ok(lines.concat())
    }

    fn moved(&self, id: &str, after: Option<&str>) -> Result<String, TaskError> {
        self.by_lines()?;
        let task = self.task(id)?;
        let (lines, from) = (self.lines(), self.block(task));
        let to = match after {
            Some(other) => self.end_of(self.task(other)?),
            None => self
                .list
                .tasks
                .iter()
                .map(|t| t.line - 1)
                .min()
                .unwrap_or(0),
        };
        // Behind itself, or behind what is nested under it.
        if from.start < to && to <= from.end {
            return Err(self.refused(Unfit::MoreThanMeant));
        }
        let mut block = lines.get(from.clone()).unwrap_or_default().concat();
        if !block.ends_with('\n') {
            block.push_str(newline(self.text));
        }
        let kept: Vec<&str> = lines
            .iter()
            .enumerate()
            .filter(|(index, _)| !from.contains(index))
            .map(|(_, line)| *line)
            .collect();
        let to = if to >= from.end { to - from.len() } else { to };
        Ok(insert(&kept, to, &block))
    }

    fn without(&self, id: &str) -> Result<String, TaskError> {
        self.by_lines()?;
        let block = self.block(self.task(id)?);
        let lines = self.lines();
        let kept = lines.iter().enumerate();
        Ok(kept
            .filter(|(index, _)| !block.contains(index))
            .map(|(_, line)| *line)
            .collect())
    }

    fn by_lines(&self) -> Result<(), TaskError> {
        match self.list.format {
            Format::PrdJson => Err(self.refused(Unfit::ByPriority)),
            _ => self.need_ids(),
        }
    }

    fn lines(&self) -> Vec<&str> {
        self.text.split_inclusive('\n').collect()
    }

    /// The lines of a task: its own, and what is indented under it.
    fn block(&self, task: &Task) -> std::ops::Range<usize> {
        let lines = self.lines();
        let indent = |line: &str| line.len() - line.trim_start().len();
        let own = lines.get(task.line - 1).map_or(0, |line| indent(line));
        let below = lines.iter().skip(task.line);
        let count = below
            .take_while(|line| !line.trim().is_empty() && indent(line) > own)
            .count();
        task.line - 1..task.line + count
    }

    fn end_of(&self, task: &Task) -> usize {
        self.block(task).end
    }
}

fn newline(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// A command as a field of its task; one with a bar has to be code.
fn field(command: &str) -> String {
    match command.contains('|') {
        true => format!(" | verify: `{command}`"),
        false => format!(" | verify: {command}"),
    }
}

fn insert(lines: &[&str], at: usize, new: &str) -> String {
    let (before, after) = lines.split_at(at.min(lines.len()));
    let mut text = before.concat();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push_str(newline(&text));
    }
    text.push_str(new);
    text.push_str(&after.concat());
    text
}

//! From bytes to a [`TaskList`].

use std::hash::{DefaultHasher, Hasher};

use super::error::TaskError;
use super::fields;
use super::finding::{Finding, FindingKind};
use super::format::Format;
use super::markdown::{self, Checkbox, Line};
use super::model::{Task, TaskList};
use super::prd_json;
use super::sections::{self, Sections};

/// Task files are written by people and agents; anything larger is a mistake.
pub const MAX_BYTES: usize = 8 * 1024 * 1024;

const BOM: &str = "\u{feff}";

/// What may be configured about reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadOptions {
    /// Sections of a fix_plan whose open boxes do not block completion.
    pub optional_sections: Vec<String>,
    pub max_bytes: usize,
}

impl Default for ReadOptions {
    fn default() -> Self {
        let names = ["Optional", "Future", "Future Enhancements", "Nice to Have"];
        ReadOptions {
            optional_sections: names.map(str::to_owned).to_vec(),
            max_bytes: MAX_BYTES,
        }
    }
}

/// Reads a task file. `name` is its path: it decides the format first, the
/// content second, and stands in every error.
pub fn read(name: &str, bytes: &[u8], options: &ReadOptions) -> Result<TaskList, TaskError> {
    let text = text_of(name, bytes, options.max_bytes)?;
    let content = text.strip_prefix(BOM).unwrap_or(text);
    if content.trim().is_empty() {
        return Err(TaskError::Empty {
            file: name.to_owned(),
        });
    }
    let mut list = match format_of_name(name) {
        Some(Format::PrdJson) => prd_json::read(name, content)?,
        by_name => read_markdown(name, content, by_name, options),
    };
    if list.tasks.is_empty() {
        return Err(TaskError::NoTasks {
            file: name.to_owned(),
            format: list.format,
        });
    }
    let bom_length = text.len() - content.len();
    for mark in list.tasks.iter_mut().filter_map(|task| task.mark.as_mut()) {
        *mark = mark.start + bom_length..mark.end + bom_length;
    }
    list.fingerprint = fingerprint(bytes);
    Ok(list)
}

pub(super) fn fingerprint(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}

fn text_of<'a>(name: &str, bytes: &'a [u8], limit: usize) -> Result<&'a str, TaskError> {
    let file = || name.to_owned();
    if bytes.len() > limit {
        return Err(TaskError::TooLarge {
            file: file(),
            bytes: bytes.len(),
            limit,
        });
    }
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Ok(text),
        _ => Err(TaskError::NotText { file: file() }),
    }
}

fn format_of_name(path: &str) -> Option<Format> {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let name = name.to_ascii_lowercase();
    if name.ends_with(".json") {
        Some(Format::PrdJson)
    } else if name.trim_start_matches('@') == "fix_plan.md" {
        Some(Format::FixPlan)
    } else {
        None
    }
}

fn read_markdown(
    name: &str,
    text: &str,
    by_name: Option<Format>,
    options: &ReadOptions,
) -> TaskList {
    let visible = markdown::visible_lines(text);
    let format = by_name.unwrap_or_else(|| {
        let headings = visible.lines.iter();
        sections::format_of(headings.filter_map(|line| markdown::heading(line.text)))
    });
    let mut reader = Reader {
        format,
        sections: Sections::new(format, &options.optional_sections),
        tasks: Vec::new(),
        doubts: Vec::new(),
        open_items: Vec::new(),
    };
    for line in &visible.lines {
        reader.read_line(line);
    }
    let unclosed = visible.unclosed.iter().map(|&(line, what)| Finding {
        line,
        kind: FindingKind::Unclosed(what),
    });
    reader.doubts.extend(unclosed);
    TaskList {
        format,
        tasks: reader.tasks,
        phases: reader.sections.into_phases(),
        file: name.to_owned(),
        doubts: reader.doubts,
        fingerprint: 0,
    }
}

struct Reader<'a> {
    format: Format,
    sections: Sections<'a>,
    tasks: Vec<Task>,
    doubts: Vec<Finding>,
    /// The list items that the next line may be nested in: column of the
    /// marker, and the task if it is one.
    open_items: Vec<(usize, Option<usize>)>,
}

impl Reader<'_> {
    fn read_line(&mut self, line: &Line<'_>) {
        if let Some(heading) = markdown::heading(line.text) {
            self.open_items.clear();
            self.sections.enter(&heading, line.number, self.tasks.len());
        } else if let Some(checkbox) = markdown::checkbox(line.text) {
            self.add_task(line, &checkbox);
        } else if markdown::looks_like_checkbox(line.text) {
            self.doubts.push(Finding {
                line: line.number,
                kind: FindingKind::NotABox {
                    text: line.text.trim().to_owned(),
                },
            });
        } else if let Some(command) = fields::check_line(line.text) {
            self.add_check(line.text, command);
        } else if self.format == Format::SpecKit && is_checkpoint(line.text) {
            self.sections.leave();
        } else {
            self.enter_item(line.text, None);
            self.add_detail(line.text);
        }
    }

    fn add_task(&mut self, line: &Line<'_>, checkbox: &Checkbox<'_>) {
        let index = self.tasks.len();
        self.enter_item(line.text, Some(index));
        let enclosing = || self.open_items.iter().rev().skip(1);
        let parent = enclosing().find_map(|(_, task)| *task);
        let (phase, optional) = self.sections.place(index);
        let mark = line.start + checkbox.mark;
        let mut task = Task {
            done: checkbox.done,
            optional,
            phase,
            line: line.number,
            depth: parent
                .and_then(|parent| self.tasks.get(parent))
                .map_or(0, |parent| parent.depth + 1),
            parent,
            mark: Some(mark..mark + 1),
            ..Task::default()
        };
        fields::describe(&mut task, self.format, checkbox.text);
        if !task.has_own_id {
            task.id = format!("#{}", index + 1);
        }
        self.tasks.push(task);
    }

    /// A `verify:` line belongs to the task that it is indented under, else
    /// to the phase.
    fn add_check(&mut self, line: &str, command: String) {
        match self.enclosing_task(line) {
            Some(task) => task.verify.push(command),
            None => self.sections.add_check(command),
        }
    }

    fn add_detail(&mut self, line: &str) {
        let text = line.trim();
        let text = markdown::list_marker(text).map_or(text, |(_, rest)| rest.trim());
        if let Some(task) = self.enclosing_task(line).filter(|_| !text.is_empty()) {
            task.details.push(text.to_owned());
        }
    }

    /// The task that a line is indented under.
    fn enclosing_task(&mut self, line: &str) -> Option<&mut Task> {
        let indent = markdown::indent(line);
        let enclosing = self.open_items.iter().rev();
        let task = enclosing
            .filter(|(marker, _)| indent > *marker)
            .find_map(|(_, task)| *task)?;
        self.tasks.get_mut(task)
    }

    /// Notes a list item. It lies in another one when its marker stands at
    /// least two columns further right.
    fn enter_item(&mut self, line: &str, task: Option<usize>) {
        let Some(item) = markdown::list_item(line) else {
            return;
        };
        while self
            .open_items
            .pop_if(|(indent, _)| item.indent < *indent + 2)
            .is_some()
        {}
        self.open_items.push((item.indent, task));
    }
}

/// `**Checkpoint**: …`, which ends a spec-kit phase (TASK-05).
fn is_checkpoint(line: &str) -> bool {
    const WORD: &str = "**checkpoint";
    line.trim_start_matches(|c: char| c.is_whitespace() || c == '>')
        .get(..WORD.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(WORD))
}

//! Headings: which format they speak of, where phases begin and end, which
//! sections are optional.

use super::format::Format;
use super::markdown::Heading;
use super::model::{Mode, Phase};

/// What a heading says about the phase that it opens.
struct Opening {
    key: String,
    title: String,
    mode: Mode,
    depends: Vec<String>,
}

/// Walks along the headings of a file and knows the phase of the next task.
pub(super) struct Sections<'a> {
    format: Format,
    optional_names: &'a [String],
    phases: Vec<Phase>,
    current: Option<usize>,
    /// A section that becomes a phase with its first task.
    waiting: Option<Phase>,
    /// Level of the optional heading that we are below.
    optional_level: Option<usize>,
    /// `##` headings so far.
    ordinal: usize,
}

impl<'a> Sections<'a> {
    pub fn new(format: Format, optional_names: &'a [String]) -> Sections<'a> {
        Sections {
            format,
            optional_names,
            phases: Vec::new(),
            current: None,
            waiting: None,
            optional_level: None,
            ordinal: 0,
        }
    }

    pub fn enter(&mut self, heading: &Heading<'_>, line: usize, next_task: usize) {
        let is_optional = self.note_optional(heading);
        if heading.level > 2 {
            return;
        }
        self.leave();
        if heading.level < 2 {
            return;
        }
        self.ordinal += 1;
        let Some(opening) = self.opening(heading.title) else {
            return;
        };
        let phase = Phase {
            key: opening.key,
            title: opening.title,
            line,
            mode: opening.mode,
            depends: opening.depends,
            optional: is_optional,
            verify: Vec::new(),
            tasks: next_task..next_task,
        };
        if self.sections_may_be_prose() {
            self.waiting = Some(phase);
        } else {
            self.open(phase);
        }
    }

    pub fn leave(&mut self) {
        self.current = None;
        self.waiting = None;
    }

    /// The phase of a task that stands here, and whether it is optional.
    pub fn place(&mut self, task: usize) -> (Option<usize>, bool) {
        if let Some(phase) = self.waiting.take() {
            self.open(phase);
        }
        if let Some(phase) = self.current.and_then(|index| self.phases.get_mut(index)) {
            phase.tasks.end = task + 1;
        }
        (self.current, self.optional_level.is_some())
    }

    /// A command that proves every task of the section that we are in.
    pub fn add_check(&mut self, command: String) {
        let open = self.current.and_then(|index| self.phases.get_mut(index));
        if let Some(phase) = self.waiting.as_mut().or(open) {
            phase.verify.push(command);
        }
    }

    pub fn into_phases(self) -> Vec<Phase> {
        self.phases
    }

    fn open(&mut self, phase: Phase) {
        self.current = Some(self.phases.len());
        self.phases.push(phase);
    }

    /// In free-form files a section without a single box is just text.
    fn sections_may_be_prose(&self) -> bool {
        matches!(self.format, Format::FixPlan | Format::Plain)
    }

    fn opening(&self, title: &str) -> Option<Opening> {
        let ordinal = self.ordinal.to_string();
        let (key, title) = match self.format {
            Format::SpecKit => spec_kit_phase(title)?,
            Format::OpenSpec => open_spec_group(title)?,
            Format::FixPlan | Format::Plain => (ordinal.as_str(), title),
            Format::PrdJson => return None,
        };
        Some(numbered(key, title))
    }

    fn note_optional(&mut self, heading: &Heading<'_>) -> bool {
        if self
            .optional_level
            .is_some_and(|level| heading.level <= level)
        {
            self.optional_level = None;
        }
        let is_optional = self.format == Format::FixPlan
            && self
                .optional_names
                .iter()
                .any(|name| bare(name) == bare(heading.title));
        if is_optional && self.optional_level.is_none() {
            self.optional_level = Some(heading.level);
        }
        is_optional
    }
}

/// A name without case and without decoration such as `:` or `**`.
fn bare(name: &str) -> String {
    name.trim_matches(|c: char| !c.is_alphanumeric())
        .to_lowercase()
}

/// The format of a Markdown file, by its level-2 headings.
pub(super) fn format_of<'a>(headings: impl Iterator<Item = Heading<'a>>) -> Format {
    let mut format = Format::Plain;
    for heading in headings.filter(|heading| heading.level == 2) {
        if spec_kit_phase(heading.title).is_some() {
            return Format::SpecKit;
        }
        if open_spec_group(heading.title).is_some() {
            format = Format::OpenSpec;
        }
    }
    format
}

/// `Phase 3: Title` gives `("3", "Title")`.
fn spec_kit_phase(title: &str) -> Option<(&str, &str)> {
    let (word, rest) = title.split_at_checked("phase".len())?;
    if !word.eq_ignore_ascii_case("phase") || !rest.starts_with(char::is_whitespace) {
        return None;
    }
    let rest = rest.trim_start();
    let (key, title) = leading_number(rest)?;
    let title = title.trim_start_matches(|c: char| c.is_whitespace() || ":：-–—.".contains(c));
    Some((key, title))
}

/// `1. Title` gives `("1", "Title")`.
fn open_spec_group(title: &str) -> Option<(&str, &str)> {
    let digits = title.bytes().take_while(u8::is_ascii_digit).count();
    let (key, rest) = title.split_at_checked(digits)?;
    let title = rest.strip_prefix('.')?;
    let stands_alone = title.is_empty() || title.starts_with(char::is_whitespace);
    (digits > 0 && stands_alone).then(|| (key, title.trim_start()))
}

/// `3` or `3.1` at the beginning.
fn leading_number(text: &str) -> Option<(&str, &str)> {
    let length = text
        .bytes()
        .take_while(|byte| byte.is_ascii_digit() || *byte == b'.')
        .count();
    let (number, _) = text.split_at_checked(length)?;
    let number = number.trim_end_matches('.');
    (number.starts_with(|c: char| c.is_ascii_digit()))
        .then(|| text.split_at_checked(number.len()))
        .flatten()
}

fn numbered(key: &str, title: &str) -> Opening {
    let (title, mode, depends) = mode_in(title);
    let key = key.trim_start_matches('0');
    Opening {
        key: if key.is_empty() { "0" } else { key }.to_owned(),
        title,
        mode,
        depends,
    }
}

/// Takes `(parallel)` or `(sequential, depends: 1, 2)` out of a heading
/// (TASK-09); other parentheses belong to the title.
fn mode_in(title: &str) -> (String, Mode, Vec<String>) {
    for (open, parenthesis) in title.match_indices(['(', '（']) {
        let Some((before, rest)) = title.split_at_checked(open) else {
            continue;
        };
        let inside = rest.get(parenthesis.len()..).unwrap_or_default();
        let Some((inside, after)) = inside.split_once([')', '）']) else {
            continue;
        };
        if let Some((mode, depends)) = mode(inside) {
            let title = format!("{} {}", before.trim_end(), after.trim_start());
            return (title.trim().to_owned(), mode, depends);
        }
    }
    (title.to_owned(), Mode::Sequential, Vec::new())
}

fn mode(inside: &str) -> Option<(Mode, Vec<String>)> {
    let (word, rest) = inside.split_once([',', '，']).unwrap_or((inside, ""));
    let mode = match word.trim().to_ascii_lowercase().as_str() {
        "sequential" => Mode::Sequential,
        "parallel" => Mode::Parallel,
        _ => return None,
    };
    let depends = match rest.trim().split_once([':', '：']) {
        Some((key, names)) if key.trim().eq_ignore_ascii_case("depends") => {
            super::fields::names_in(names)
        }
        _ => Vec::new(),
    };
    Some((mode, depends))
}

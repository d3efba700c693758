//! What stands in the history, whoever put it there.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::MANIFEST;
use crate::error::{Action, At, FileError};

/// One folder of the history.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub name: String,
    pub path: PathBuf,
    /// What its name tells.
    pub named: Named,
    /// `None`: Ralph did not write it.
    pub manifest: Option<Manifest>,
}

impl Entry {
    /// Whether it is about this run or task.
    pub fn is_about(&self, id: &str) -> bool {
        match &self.manifest {
            Some(manifest) => manifest.text("run_id") == id || manifest.text("task_id") == id,
            None => self.named.id.as_deref() == Some(id),
        }
    }

    /// When it ended: `2026-01-18 10:30:00`, or as much of it as is known.
    /// Such texts sort by time.
    pub fn when(&self) -> &str {
        match &self.manifest {
            Some(manifest) => manifest.text("ended_local"),
            None => self.named.when.as_deref().unwrap_or_default(),
        }
    }

    /// Sorts by time. Runs that ended in the same second are told apart by
    /// their ids, which tell when they began.
    pub(super) fn age(&self) -> (&str, &str, &str) {
        let run = self.manifest.as_ref().map(|m| m.text("run_id"));
        (self.when(), run.unwrap_or_default(), &self.name)
    }
}

/// The `manifest.json` of a run that Ralph archived.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest(Value);

impl Manifest {
    /// The version that this program writes.
    pub const VERSION: u64 = 1;

    /// `None` for what another program wrote. A later version only adds keys.
    fn parse(text: &[u8]) -> Option<Manifest> {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        let value: Value = serde_json::from_slice(text).ok()?;
        let ours = value["program"] == "ralph" && value["run_id"].is_string();
        ours.then_some(Manifest(value))
    }

    pub fn json(&self) -> &Value {
        &self.0
    }

    /// Empty where the key is missing or no text.
    pub fn text(&self, key: &str) -> &str {
        self.0[key].as_str().unwrap_or_default()
    }

    pub fn number(&self, key: &str) -> u64 {
        self.0[key].as_u64().unwrap_or(0)
    }

    /// Whether somebody may still want to take the run up: it only waits.
    pub fn can_go_on(&self) -> bool {
        self.0["can_go_on"].as_bool().unwrap_or(true)
    }
}

/// What the name of a folder tells. Three forms are in use (HIST-02):
/// `2026-01-18_abc123`, `2026-01-18_103000_RALPH_name`, and a timestamp.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Named {
    pub when: Option<String>,
    pub id: Option<String>,
    pub route: Option<String>,
}

impl Named {
    pub fn parse(name: &str) -> Named {
        let Some((date, rest)) = date(name) else {
            return Named {
                id: Some(name.to_owned()),
                ..Named::default()
            };
        };
        let rest = rest.trim_start_matches(['_', '-', 'T', ' ']);
        let (clock, rest) = match clock(rest) {
            Some((clock, rest)) => (format!(" {clock}"), rest),
            None => (String::new(), rest),
        };
        let has_clock = !clock.is_empty();
        let rest = rest.trim_start_matches('_');
        let (route, id) = match rest.split_once('_') {
            Some((route, id)) if has_clock && is_route(route) => (Some(route), id),
            _ => (None, rest),
        };
        Named {
            when: Some(format!("{date}{clock}")),
            id: Some(id.to_owned()).filter(|id| !id.is_empty() && id != "Z"),
            route: route.map(str::to_owned),
        }
    }
}

fn is_route(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_uppercase())
}

/// `2026-01-18` or `20260118` at the beginning.
fn date(text: &str) -> Option<(String, &str)> {
    let (digits, rest) = digits(text, 8, '-')?;
    let (month, day) = (number(&digits[4..6]), number(&digits[6..8]));
    let sound = (1..=12).contains(&month) && (1..=31).contains(&day);
    sound.then(|| {
        let date = format!("{}-{}-{}", &digits[..4], &digits[4..6], &digits[6..8]);
        (date, rest)
    })
}

/// `103000`, `10-30-00` or `10:30:00` at the beginning, and nothing glued to
/// it, which would make it a part of a name.
fn clock(text: &str) -> Option<(String, &str)> {
    let (digits, rest) = digits(text, 6, '-').or_else(|| digits(text, 6, ':'))?;
    let sound = number(&digits[..2]) < 24
        && number(&digits[2..4]) < 60
        && number(&digits[4..6]) < 60
        && (rest.is_empty() || rest.starts_with(['_', 'Z', '.']));
    sound.then(|| {
        let clock = format!("{}:{}:{}", &digits[..2], &digits[2..4], &digits[4..6]);
        (clock, rest)
    })
}

/// `count` digits, with or without a separator between their groups, and what
/// comes after them.
fn digits(text: &str, count: usize, separator: char) -> Option<(String, &str)> {
    let mut digits = String::new();
    for (at, c) in text.char_indices() {
        if digits.len() == count {
            return (!c.is_ascii_digit()).then(|| (digits, &text[at..]));
        }
        match c {
            c if c.is_ascii_digit() => digits.push(c),
            c if c == separator && digits.len() >= count - 4 && digits.len().is_multiple_of(2) => {}
            _ => return None,
        }
    }
    (digits.len() == count).then_some((digits, ""))
}

fn number(digits: &str) -> u32 {
    digits.parse().unwrap_or(u32::MAX)
}

/// Every folder that is not hidden, the newest first.
pub(super) fn list(dir: &Path) -> Result<Vec<Entry>, FileError> {
    let found = match fs::read_dir(dir) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        found => found.at(dir, Action::Read)?,
    };
    let mut entries = Vec::new();
    for entry in found {
        let entry = entry.at(dir, Action::Read)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        // A link leads to what is not ours to show or to delete.
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && !name.starts_with('.') {
            entries.push(read(name, entry.path()));
        }
    }
    entries.sort_by(|a, b| b.age().cmp(&a.age()));
    Ok(entries)
}

fn read(name: String, path: PathBuf) -> Entry {
    let manifest = crate::regular::read(path.join(MANIFEST)).ok();
    Entry {
        named: Named::parse(&name),
        manifest: manifest.as_deref().and_then(Manifest::parse),
        name,
        path,
    }
}

//! Finds the task file of a project (TASK-01).

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use ralph_core::config::TaskSource;
use ralph_core::tasks::{DETECTION_ORDER, Format, ReadOptions, Scope};

use super::PlanError;
use crate::look::TaskFile;

const OPENSPEC_CHANGES: &str = "openspec/changes";

#[derive(Debug)]
pub struct Found {
    pub path: PathBuf,
    pub name: String,
    /// Candidates that were not taken.
    pub others: Vec<String>,
}

/// A file that could be meant.
struct Candidate {
    file: TaskFile,
    modified: SystemTime,
    unfinished: bool,
}

/// The first place of the detection order that has an unfinished list; where
/// a place has several, the newest, if somebody is there to be told.
pub fn task_file(
    root: &Path,
    source: TaskSource,
    options: &ReadOptions,
    interactive: bool,
) -> Result<Found, PlanError> {
    let mut finished = None;
    for pattern in DETECTION_ORDER {
        let mut candidates = candidates(root, pattern, options);
        candidates.retain(|c| fits(source, pattern, &c.file));
        let (mut open, done): (Vec<_>, Vec<_>) = candidates.into_iter().partition(|c| c.unfinished);
        if finished.is_none() {
            finished = done.into_iter().next();
        }
        open.sort_by_key(|c| std::cmp::Reverse(c.modified));
        if open.len() > 1 && !interactive {
            return Err(PlanError::Ambiguous {
                files: open.into_iter().map(|c| c.file.name).collect(),
            });
        }
        let mut open = open.into_iter();
        if let Some(newest) = open.next() {
            let others = open.map(|c| c.file.name).collect();
            return Ok(Found {
                path: newest.file.path,
                name: newest.file.name,
                others,
            });
        }
    }
    match finished {
        Some(done) => Ok(Found {
            path: done.file.path,
            name: done.file.name,
            others: Vec::new(),
        }),
        None => Err(PlanError::NoTaskFile { root: root.into() }),
    }
}

fn candidates(root: &Path, pattern: &str, options: &ReadOptions) -> Vec<Candidate> {
    let mut paths = match pattern.split_once("/*/") {
        Some((dir, name)) => below(&root.join(dir))
            .into_iter()
            .map(|d| d.join(name))
            .collect(),
        None => vec![root.join(pattern)],
    };
    paths.sort();
    let candidate = |path: PathBuf| {
        let modified = path.metadata().ok()?.modified().ok()?;
        let file = TaskFile::new(root, path, options.clone());
        // A file that can't be read is a candidate too: its error must be
        // shown, not hidden behind the next one.
        let unfinished = file
            .read()
            .map_or(true, |(_, list)| list.counts(&Scope::default()).pending > 0);
        Some(Candidate {
            file,
            modified,
            unfinished,
        })
    };
    paths.into_iter().filter_map(candidate).collect()
}

fn below(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    entries
        .map(|e| e.path())
        .filter(|p| p.is_dir() && !p.ends_with("archive"))
        .collect()
}

/// Whether a file may serve the source that the settings ask for.
fn fits(source: TaskSource, pattern: &str, file: &TaskFile) -> bool {
    let format = || file.read().ok().map(|(_, list)| list.format);
    match source {
        TaskSource::SpecKit => format() == Some(Format::SpecKit),
        TaskSource::OpenSpec => {
            pattern.starts_with(OPENSPEC_CHANGES) || format() == Some(Format::OpenSpec)
        }
        TaskSource::Prd => pattern.ends_with(".json"),
        TaskSource::FixPlan => pattern.ends_with("fix_plan.md"),
        TaskSource::Plain => format() == Some(Format::Plain),
        _ => true,
    }
}

/// The task file of one OpenSpec change.
pub fn openspec_change(root: &Path, id: &str) -> Result<PathBuf, PlanError> {
    let changes = root.join(OPENSPEC_CHANGES);
    let known = || {
        let mut ids: Vec<String> = below(&changes)
            .iter()
            .filter_map(|p| Some(p.file_name()?.to_string_lossy().into_owned()))
            .collect();
        ids.sort();
        ids
    };
    let path = changes.join(id).join("tasks.md");
    let plain = !id.is_empty() && !id.contains(['/', '\\']) && id != "archive" && id != "..";
    if plain && path.is_file() {
        Ok(path)
    } else {
        Err(PlanError::NoSuchChange {
            id: id.into(),
            known: known(),
        })
    }
}

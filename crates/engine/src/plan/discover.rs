//! Finds the task file of a project (TASK-01).

use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

use ralph_core::config::TaskSource;
use ralph_core::delta::{self, DeltaState};
use ralph_core::tasks::{DETECTION_ORDER, Format, ReadOptions, Scope};

use super::PlanError;
use crate::look::{OpenTaskFile, ReadError, TaskFile};
use crate::task_file::OPENSPEC_CHANGES;

/// Where OpenSpec keeps finished changes, beside the open ones.
const ARCHIVE: &str = "archive";

#[derive(Debug)]
pub struct Found {
    pub tasks: OpenTaskFile,
    /// Candidates that were not taken.
    pub others: Vec<String>,
}

/// A file that could be meant. One that can't be read is a candidate too: its
/// error must be shown, not hidden behind the next one.
struct Candidate {
    name: String,
    modified: SystemTime,
    tasks: Result<OpenTaskFile, ReadError>,
}

impl Candidate {
    fn read(root: &Path, path: PathBuf, options: &ReadOptions) -> Option<Candidate> {
        let modified = path.metadata().ok()?.modified().ok()?;
        let file = TaskFile::new(root, path, options.clone());
        Some(Candidate {
            name: file.name.clone(),
            modified,
            tasks: file.open(),
        })
    }

    fn is_unfinished(&self) -> bool {
        let pending = |tasks: &OpenTaskFile| tasks.list.counts(&Scope::default()).pending;
        self.tasks.as_ref().map_or(true, |tasks| pending(tasks) > 0)
    }

    fn take(self, others: Vec<String>) -> Result<Found, PlanError> {
        let tasks = self.tasks.map_err(PlanError::Tasks)?;
        Ok(Found { tasks, others })
    }
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
    let mut passed_over = Vec::new();
    for pattern in DETECTION_ORDER {
        let mut candidates = candidates(root, pattern, options);
        candidates.retain(|candidate| {
            let fits = fits(source, pattern, candidate);
            passed_over.extend((!fits).then(|| candidate.name.clone()));
            fits
        });
        let (mut open, done): (Vec<_>, Vec<_>) =
            candidates.into_iter().partition(Candidate::is_unfinished);
        finished = finished.or(done.into_iter().next());
        open.sort_by_key(|candidate| std::cmp::Reverse(candidate.modified));
        if open.len() > 1 && !interactive {
            return Err(PlanError::Ambiguous {
                files: open.into_iter().map(|c| c.name).collect(),
            });
        }
        let mut open = open.into_iter();
        if let Some(newest) = open.next() {
            return newest.take(open.map(|c| c.name).collect());
        }
    }
    match finished {
        Some(done) => done.take(Vec::new()),
        None if !passed_over.is_empty() => Err(PlanError::OtherSource {
            files: passed_over,
            source: source.into_str(),
        }),
        None if source == TaskSource::Delta => {
            let text = ralph_store::regular::read(root.join(delta::PATH));
            Err(match text.map(|text| DeltaState::read(&text)) {
                Err(_) => PlanError::NoDeltaFile,
                Ok(Err(torn)) => PlanError::TornDeltaFile(torn),
                Ok(Ok(state)) => PlanError::TakenDeltaFile {
                    status: state.iteration.status,
                },
            })
        }
        None => Err(PlanError::NoTaskFile { root: root.into() }),
    }
}

fn candidates(root: &Path, pattern: &str, options: &ReadOptions) -> Vec<Candidate> {
    let mut paths = match pattern.split_once("/*/") {
        Some((dir, name)) => below(root, dir).map(|d| d.join(name)).collect(),
        None => vec![root.join(pattern)],
    };
    paths.sort();
    let candidate = |path| Candidate::read(root, path, options);
    paths.into_iter().filter_map(candidate).collect()
}

/// The directories in a directory of the project.
fn below(root: &Path, dir: &str) -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir(root.join(dir));
    let has_archive = dir == OPENSPEC_CHANGES;
    entries
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(move |path| path.is_dir() && !(has_archive && path.ends_with(ARCHIVE)))
}

/// Whether a file may serve the source that the settings ask for. Where it
/// can't be read, its place decides.
fn fits(source: TaskSource, pattern: &str, candidate: &Candidate) -> bool {
    let format = candidate.tasks.as_ref().ok().map(|tasks| tasks.list.format);
    let is = |wanted, place: bool| format.map_or(place, |format| format == wanted);
    let in_openspec = pattern.starts_with(OPENSPEC_CHANGES);
    let of_spec_kit = pattern.ends_with("tasks.md") && !in_openspec;
    match source {
        // A short list has no phases, and is spec-kit's by its place.
        TaskSource::SpecKit => {
            is(Format::SpecKit, of_spec_kit) || (of_spec_kit && is(Format::Plain, false))
        }
        TaskSource::OpenSpec => in_openspec || is(Format::OpenSpec, false),
        TaskSource::Prd => pattern.ends_with(".json"),
        TaskSource::FixPlan => pattern.ends_with("fix_plan.md"),
        TaskSource::Plain => is(Format::Plain, pattern == "tasks.md"),
        TaskSource::Auto | TaskSource::Prompt | TaskSource::Delta | TaskSource::None => true,
    }
}

/// The task file of one OpenSpec change.
pub fn openspec_change(root: &Path, id: &str) -> Result<PathBuf, PlanError> {
    let path = root.join(OPENSPEC_CHANGES).join(id).join("tasks.md");
    if is_one_name(id) && id != ARCHIVE && path.is_file() {
        return Ok(path);
    }
    let mut known: Vec<String> = below(root, OPENSPEC_CHANGES)
        .filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
        .collect();
    known.sort();
    Err(PlanError::NoSuchChange {
        id: id.into(),
        known,
    })
}

/// A name that stays in its directory when it is taken as a path.
fn is_one_name(id: &str) -> bool {
    let mut parts = Path::new(id).components();
    let only = (parts.next(), parts.next());
    matches!(only, (Some(Component::Normal(name)), None) if name == id) && !id.contains('\\')
}

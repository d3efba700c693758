//! Puts runs that are over into the history, brings them back, and deletes
//! the oldest.
//!
//! An archive is made from the journal, like everything but the journal
//! itself: a failure here is told, and stops nothing. Everything here happens
//! under the lock of the project.

use std::collections::BTreeSet;
use std::fs::Metadata;
use std::path::{Path, PathBuf};

use ralph_core::checkpoint::Checkpoint;
use ralph_core::delta::DeltaState;
use ralph_core::flow;
use ralph_core::gate::{Key, sign};
use ralph_core::lang::{Lang, Say};
use ralph_core::machine::{Effect, Event, Kind, Outcome, State, iso_utc, step};
use ralph_core::report::{Report, Story, outcome_name};
use ralph_core::text::digest::hex_sha256;
use ralph_store::FileError;
use ralph_store::atomic::remove_stale_temps;
use ralph_store::checkpoint::DeltaFile;
use ralph_store::history::{self, Bundle, Entry, Manifest};
use ralph_store::journal::Journal;
use ralph_store::layout::{Layout, RunId, RunPaths};
use ralph_store::lock::LockError;
use serde_json::{Map, Value, json};

use crate::announcement::{Announcement, Pruned};
use crate::git::{self, Head};
pub use crate::keeping::Keeping;
use crate::past::{self, Past, PastError};
use crate::plan::Plan;
use crate::projections::roles;
use crate::record::{self, RecordError, Recorder};
use crate::supervise::{Tag, orphans};
use crate::{clock, gate, opening, phase_file, report, session, snapshots};

/// One run that is to be archived.
#[derive(Clone, Debug)]
pub struct Job<'a> {
    pub layout: &'a Layout,
    pub keeping: &'a Keeping,
    pub run: &'a RunPaths,
    /// The language of the report.
    pub lang: Lang,
    /// Where HEAD stood when the run ended; `None` where nobody looked then.
    pub head: Option<Head>,
}

/// A run in the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Archived {
    pub path: PathBuf,
    /// It was there before.
    pub already: bool,
}

#[derive(Clone, Debug, Say)]
pub enum ArchiveError {
    #[say(_0.say(lang))]
    Past(PastError),
    #[say(_0.say(lang))]
    File(FileError),
    #[say(_0.say(lang))]
    Locked(LockError),
    #[say(_0.say(lang))]
    Record(RecordError),
}

impl From<PastError> for ArchiveError {
    fn from(error: PastError) -> Self {
        ArchiveError::Past(error)
    }
}

impl From<FileError> for ArchiveError {
    fn from(error: FileError) -> Self {
        ArchiveError::File(error)
    }
}

impl From<RecordError> for ArchiveError {
    fn from(error: RecordError) -> Self {
        ArchiveError::Record(error)
    }
}

/// Archives a run that its own driver ends, and deletes the oldest; gives what
/// there is to tell. The history is a projection: what fails here is told, and
/// that is all.
pub fn at_the_end(
    plan: &Plan,
    run: &RunPaths,
    recorder: &mut Recorder,
    state: &mut State,
) -> Vec<Announcement> {
    let layout = &plan.layout.clone();
    let job = Job {
        layout,
        keeping: &plan.keeping,
        run,
        lang: plan.lang,
        head: Some(git::head(plan.layout.root())),
    };
    let archived = archive(&job, &mut |event| {
        recorder.event(event)?;
        for effect in step(state, event) {
            if let Effect::Emit(notice) = effect {
                recorder.notice(&notice, event.at);
            }
        }
        Ok(())
    });
    let archived = match archived {
        Ok(archived) => {
            let to = archived.path.strip_prefix(plan.layout.root());
            let to = to.unwrap_or(&archived.path).to_owned();
            Announcement::Archived { to }
        }
        Err(error) => Announcement::NotArchived {
            message: error.say(plan.lang),
        },
    };
    let pruned = match prune(layout, &plan.keeping, plan.keeping.keep) {
        Ok(runs) => (!runs.is_empty()).then_some(Announcement::Pruned { runs }),
        Err(error) => Some(Announcement::NotPruned {
            message: error.say(plan.lang),
        }),
    };
    let shrunk = match shrink(layout, plan.keeping.state_max) {
        Ok(runs) => (!runs.is_empty()).then_some(Announcement::Shrunk { runs }),
        Err(error) => Some(Announcement::NotPruned {
            message: error.say(plan.lang),
        }),
    };
    let all = std::iter::once(archived).chain(pruned);
    all.chain(shrunk).collect()
}

/// Deletes the oldest runs that are over until the state folder is within its
/// bounds. The newest stays, and so does what can be gone on with.
fn shrink(layout: &Layout, most: u64) -> Result<Vec<Pruned>, FileError> {
    let mut size = size_below(layout.state_dir());
    let mut deleted = Vec::new();
    if most == 0 || size <= most {
        return Ok(deleted);
    }
    let living = layout.current_run()?.map(|run| run.id);
    let mut runs = layout.runs()?;
    runs.pop();
    for run in runs {
        if size <= most {
            break;
        }
        if Some(&run.id) == living.as_ref() || can_go_on(layout, &run.id) {
            continue;
        }
        let bytes = size_below(&run.dir);
        history::delete_folder(&layout.runs_dir(), run.id.as_str())?;
        size = size.saturating_sub(bytes);
        deleted.push(Pruned {
            name: run.id.to_string(),
            run: Some(run.id),
            bytes,
        });
    }
    Ok(deleted)
}

/// Of everything below a folder; links are not followed.
fn size_below(dir: &Path) -> u64 {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let size = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(found) if found.is_dir() => size_below(&entry.path()),
        Ok(found) => found.len(),
        Err(_) => 0,
    };
    entries.map(size).sum()
}

/// Archives a run, if it is not archived as it stands now. `write` puts it
/// into the journal before anything moves (EVNT-04). Doing it again after a
/// crash at any moment finishes what was begun.
pub fn archive(
    job: &Job<'_>,
    write: &mut dyn FnMut(&Event) -> Result<(), RecordError>,
) -> Result<Archived, ArchiveError> {
    let mut story = Story::default();
    let past = past::listen(job.run, &mut |event, state, told| {
        story.hear(event, state, told)
    })?;
    let working = match is_of_run(&job.keeping.current, job.run) {
        true => {
            let is_foreign = past.header.asked.adopted.is_some() && past.state.rules.flow.is_none();
            let outputs = match is_foreign {
                true => adopted_files(job.layout, &job.keeping.current),
                false => phase_files(&past.state, &job.keeping.current),
            };
            let mut ours = history::working_files(&job.keeping.current)?;
            // Backups of a state file that another loop may need.
            let is_own = |state: DeltaState| state.meta.task_id == past.header.task_id();
            ours.retain(|(_, path)| DeltaFile::new(path).peek().is_none_or(is_own));
            let tasks = past.header.tasks_file.as_deref().unwrap_or(Path::new(""));
            let tasks = tasks.strip_prefix(job.layout.root()).unwrap_or(tasks);
            let role = roles::file_of(&job.keeping.current, &tasks.to_string_lossy());
            // The checkpoint says whose the others are, so that it goes last.
            outputs.into_iter().chain(role).chain(ours).collect()
        }
        false => Vec::new(),
    };
    let aside = phase_file::aside(job.run);
    let state_file = state_file(job.layout, &past);
    let kept = &job.keeping.history;
    let archived = match find_archive(&kept.entries()?, job.run, past.records) {
        Some(entry) => Archived {
            path: entry.path.clone(),
            already: true,
        },
        None => {
            let task_id = past.header.task_id();
            let ended = clock::local_time(past.state.now().wall_ms);
            let date = ended.get(..10).unwrap_or(&ended);
            let name = kept.free_name(&format!("{date}_{}", one_name(&task_id)));
            if past.archive.as_ref() != Some(&name) {
                write(&Event {
                    at: clock::now(),
                    kind: Kind::Archived { name: name.clone() },
                })?;
            }
            let copies = working.iter().chain(&aside).chain(&state_file);
            let bundle = bundle(job, &past, story, copies, &task_id);
            Archived {
                path: kept.put(&name, &bundle)?,
                already: false,
            }
        }
    };
    // Only now: what is deleted stands in the history (HIST-06).
    history::clear(&working)?;
    phase_file::leave_place(job.layout, job.run)?;
    // One that may be tried again goes on with it.
    let is_over = matches!(
        past.state.outcome(),
        Some(Outcome::Complete | Outcome::Cancelled)
    );
    history::clear(state_file.filter(|_| is_over).as_slice())?;
    let _ = remove_stale_temps(&job.keeping.current, None);
    // Only if nothing is left in it.
    let _ = std::fs::remove_dir(job.keeping.current.join(roles::FOLDER));
    Ok(archived)
}

/// The state file of a delta loop, where it is that of this run (HIST-03).
fn state_file(layout: &Layout, past: &Past) -> Option<(String, PathBuf)> {
    let path = layout.delta_state();
    let is_own = DeltaFile::new(&path).peek()?.meta.task_id == past.header.task_id();
    is_own.then(|| (history::STATE.to_owned(), path))
}

/// A name that another tool gave, as the name of a folder.
fn one_name(task_id: &str) -> String {
    let is_safe = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    let safe = task_id.chars().map(|c| if is_safe(c) { c } else { '-' });
    safe.take(64).collect()
}

/// What the phases of a route left in the working directory.
fn phase_files(state: &State, current: &Path) -> Vec<(String, PathBuf)> {
    let files = state
        .phase_outputs()
        .map(|name| (name.to_owned(), current.join(name)));
    files.filter(|(_, path)| path.is_file()).collect()
}

/// What the phases of a loop that another tool began left there: its route
/// stands in the state file (HIST-01).
fn adopted_files(layout: &Layout, current: &Path) -> Vec<(String, PathBuf)> {
    const MOST_SUBTASKS: u32 = 100;
    let state = DeltaFile::new(layout.delta_state()).peek();
    let flow = |state: &DeltaState| flow::built_in(&state.meta.route.to_lowercase());
    let Some((state, flow)) = state.and_then(|state| Some((state.clone(), flow(&state)?))) else {
        return Vec::new();
    };
    let subtasks = state.progress.subtasks_total.clamp(1, MOST_SUBTASKS);
    let names = flow.steps.iter().flat_map(|step| {
        let numbers = (1..=subtasks).filter_map(|n| usize::try_from(n).ok());
        numbers.filter_map(|n| step.output_for(n))
    });
    let names: BTreeSet<String> = names.collect();
    let files = names.into_iter().map(|name| {
        let path = current.join(&name);
        (name, path)
    });
    files.filter(|(_, path)| path.is_file()).collect()
}

/// The archive of a run in this very state. A run that was taken up again has
/// more records than the archive that was made before.
fn find_archive<'a>(entries: &'a [Entry], run: &RunPaths, records: u64) -> Option<&'a Entry> {
    entries.iter().find(|entry| {
        entry.manifest.as_ref().is_some_and(|manifest| {
            manifest.text("run_id") == run.id.as_str() && manifest.number("records") == records
        })
    })
}

/// Whether the working directory is that of this run, as its checkpoint says:
/// what another run or another tool keeps there is not ours to move.
fn is_of_run(current: &Path, run: &RunPaths) -> bool {
    let text = ralph_store::regular::read(current.join("checkpoint.json")).unwrap_or_default();
    Checkpoint::read(&text).is_ok_and(|(found, _)| found.run_id() == Some(run.id.as_str()))
}

fn bundle<'a>(
    job: &Job<'_>,
    past: &Past,
    story: Story,
    files: impl Iterator<Item = &'a (String, PathBuf)>,
    task_id: &str,
) -> Bundle {
    let head = job.head.as_ref().and_then(|head| head.commit.as_deref());
    let facts = report::facts(job.layout, job.run, past, head);
    let report = Report::new(facts, &past.state, story);
    let mut copies = vec![
        (history::JOURNAL.to_owned(), job.run.journal()),
        (history::EVENTS.to_owned(), job.run.events()),
    ];
    let others = files.filter(|(name, _)| name != history::EVENTS && !name.contains(".tmp."));
    copies.extend(others.cloned());
    let mut manifest = manifest(&report, past, task_id);
    let signed = gate::key_or_new(job.layout).ok();
    let signed = signed.and_then(|key| signature(&key, &job.run.journal()));
    manifest.extend(signed.map(|signed| (SIGNATURE.to_owned(), signed.into())));
    Bundle {
        manifest,
        texts: vec![(history::REPORT.to_owned(), report.markdown(job.lang))],
        copies,
    }
}

fn manifest(report: &Report, past: &Past, task_id: &str) -> Map<String, Value> {
    let facts = &report.facts;
    let outcome = report.outcome.as_ref();
    let git = facts.git.clone().unwrap_or_default();
    let (completed, total) = report.tasks.unzip();
    let manifest = json!({
        "version": Manifest::VERSION,
        "program": "ralph",
        "run_id": facts.run_id,
        "task_id": task_id,
        "work": facts.what,
        "outcome": outcome_name(outcome),
        "reason": outcome.map(Outcome::reason).filter(|reason| !reason.is_empty()),
        "can_go_on": outcome.is_none_or(Outcome::can_go_on),
        "started": iso_utc(past.header.started_ms),
        "ended": iso_utc(past.state.now().wall_ms),
        "ended_local": facts.ended,
        "duration_ms": past.state.elapsed_ms(),
        "turns": report.turns,
        "tasks": completed.map(|_| json!({"completed": completed, "total": total})),
        "branch": git.branch,
        "commits": git.from.as_ref().map(|from| json!({
            "from": from,
            "to": git.to,
            "count": git.commits,
        })),
        "files_changed": git.files,
        "records": past.records,
    });
    match manifest {
        Value::Object(manifest) => manifest.into_iter().filter(|(_, v)| !v.is_null()).collect(),
        _ => Map::new(),
    }
}

/// Archives the run before `newest`, where a crash came between its end and
/// its archive.
pub fn catch_up(layout: &Layout, keeping: &Keeping, newest: &RunId, lang: Lang) {
    let Ok(runs) = layout.runs() else { return };
    let Some(run) = runs.iter().rev().find(|run| run.id < *newest) else {
        return;
    };
    let is_over = || {
        let past = past::read(run).ok()?;
        Some(past.state.is_final())
    };
    let is_archived = match keeping.history.find(run.id.as_str()) {
        Ok(found) => found.is_some(),
        Err(_) => return,
    };
    if !is_archived && is_over() == Some(true) {
        let job = Job {
            layout,
            keeping,
            run,
            lang,
            head: None,
        };
        let _ = archive(&job, &mut |event| write_down(run, event));
        let _ = opening::settle(layout, run);
    }
}

/// Archives a run that no process drives, whatever its state.
pub fn archive_by_hand(
    layout: &Layout,
    keeping: &Keeping,
    run: &RunPaths,
    lang: Lang,
) -> Result<Archived, ArchiveError> {
    let _lock = take_lock(layout, &run.id)?;
    let job = Job {
        layout,
        keeping,
        run,
        lang,
        head: None,
    };
    let archived = archive(&job, &mut |event| write_down(run, event))?;
    // The event log is told with the next look at the run, if not now.
    let _ = opening::settle(layout, run);
    Ok(archived)
}

/// Adds an event to the journal of a run that no process drives, and brings
/// what is made from it in step.
pub fn add_event(layout: &Layout, run: &RunPaths, kind: Kind) -> Result<(), ArchiveError> {
    let in_session = past::read(run)?.header.session.is_some();
    let _lock = match in_session {
        // Its hooks write under a lock of the run's own.
        true => session::lock_run(run).map_err(ArchiveError::Locked)?,
        false => take_lock(layout, &run.id)?,
    };
    let at = clock::now();
    write_down(run, &Event { at, kind })?;
    let _ = opening::settle(layout, run);
    Ok(())
}

/// Adds to the journal of a run that no process drives.
fn write_down(run: &RunPaths, event: &Event) -> Result<(), RecordError> {
    let (mut journal, ..) = Journal::open(&run.journal())?;
    record::append(&mut journal, event)
}

/// A run that died with the lock may have left processes behind: whoever takes
/// its lock ends them, since nobody will find its name there again.
fn take_lock(layout: &Layout, id: &RunId) -> Result<ralph_store::lock::Lock, ArchiveError> {
    let lock = opening::lock(layout, id).map_err(ArchiveError::Locked)?;
    if let Some(dead) = &lock.took_over {
        orphans::end_tagged(&Tag::of_run(&layout.runs_dir(), &dead.run_id));
    }
    Ok(lock)
}

/// Which archived runs are beyond the newest `keep` (HIST-04).
pub fn surplus(
    layout: &Layout,
    keeping: &Keeping,
    keep: usize,
) -> Result<Vec<(Entry, Pruned)>, FileError> {
    let entries = keeping.history.entries()?;
    let living = layout.current_run()?.map(|run| run.id);
    let too_many = history::surplus(&entries, keep, |entry| {
        run_of(entry).is_some_and(|id| Some(&id) == living.as_ref() || can_go_on(layout, &id))
    });
    let mut left = entries;
    let mut pruned = Vec::new();
    for entry in too_many {
        left.retain(|other| other.name != entry.name);
        // A run that was archived twice keeps its folder for the other one.
        let run = run_of(&entry)
            .filter(|id| !left.iter().any(|other| other.is_about(id.as_str())))
            .filter(|id| layout.run(id).dir.is_dir());
        let folder = run.as_ref().map_or(0, |id| size_of(&layout.run(id).dir));
        let name = entry.name.clone();
        let bytes = folder + size_of(&entry.path);
        pruned.push((entry, Pruned { name, run, bytes }));
    }
    Ok(pruned)
}

/// Deletes what [`surplus`] names. The folder of a run goes first: an archive
/// whose run is gone is found and deleted by the next call, the other way
/// round the run would be forgotten.
pub fn prune(layout: &Layout, keeping: &Keeping, keep: usize) -> Result<Vec<Pruned>, FileError> {
    let mut deleted = Vec::new();
    for (entry, pruned) in surplus(layout, keeping, keep)? {
        if let Some(run) = &pruned.run {
            history::delete_folder(&layout.runs_dir(), run.as_str())?;
        }
        keeping.history.delete(&entry)?;
        deleted.push(pruned);
    }
    if !deleted.is_empty() {
        // What can't be deleted now goes with the next run that is.
        let _ = snapshots::sweep(layout);
    }
    Ok(deleted)
}

/// [`prune`], while no run is alive.
pub fn prune_by_hand(
    layout: &Layout,
    keeping: &Keeping,
    keep: usize,
) -> Result<Vec<Pruned>, ArchiveError> {
    let Some(newest) = layout.latest_run()? else {
        return Ok(prune(layout, keeping, keep)?);
    };
    let _lock = take_lock(layout, &newest.id)?;
    Ok(prune(layout, keeping, keep)?)
}

fn run_of(entry: &Entry) -> Option<RunId> {
    RunId::parse(entry.manifest.as_ref()?.text("run_id"))
}

/// The run before this one, where it only waits to be taken up again.
pub fn paused(layout: &Layout, own: Option<&RunId>) -> Option<RunId> {
    let runs = layout.runs().ok()?;
    let before = runs.iter().rev().find(|run| Some(&run.id) != own)?;
    can_go_on(layout, &before.id).then(|| before.id.clone())
}

/// Whether a run was taken up after it was archived. One that can't be read
/// is not known to be over.
fn can_go_on(layout: &Layout, id: &RunId) -> bool {
    let run = layout.run(id);
    if !run.journal().exists() {
        return false;
    }
    match past::read(&run) {
        Ok(past) => past.state.outcome().is_none_or(Outcome::can_go_on),
        Err(_) => true,
    }
}

/// Of the files that stand directly in a folder.
fn size_of(dir: &Path) -> u64 {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let sizes = entries.filter_map(|entry| entry.metadata().ok());
    sizes.filter(Metadata::is_file).map(|m| m.len()).sum()
}

/// What became of the wish to have a run back (RESM-05).
#[derive(Clone, Debug, PartialEq)]
pub enum Restored {
    /// Its folder is there.
    There(RunPaths),
    /// Its folder was made anew from the history.
    Back(RunPaths),
    /// The history knows it, and has no journal of it.
    NoJournal(Entry),
    Unknown,
}

/// What a manifest says of the journal beside it.
const SIGNATURE: &str = "journal_signature";

fn signature(key: &Key, journal: &Path) -> Option<String> {
    let bytes = ralph_store::regular::read(journal).ok()?;
    Some(sign(key, &hex_sha256(&bytes)))
}

/// Whether an archive in the project holds the journal that Ralph put there:
/// anybody can put another one there, with commands in it (S-05).
fn is_ours(layout: &Layout, entry: &Entry) -> bool {
    let said = entry
        .manifest
        .as_ref()
        .map(|manifest| manifest.text(SIGNATURE));
    let key = gate::key(layout);
    let signed = key.and_then(|key| signature(&key, &entry.path.join(history::JOURNAL)));
    signed.is_some() && signed.as_deref() == said
}

/// Finds a run by its name, or by the name of its archive.
pub fn restore(layout: &Layout, keeping: &Keeping, id: &str) -> Result<Restored, FileError> {
    let there = |id: &RunId| Some(layout.run(id)).filter(|run| run.dir.is_dir());
    if let Some(run) = RunId::parse(id).as_ref().and_then(there) {
        return Ok(Restored::There(run));
    }
    let Some(entry) = keeping.history.find(id)? else {
        return Ok(Restored::Unknown);
    };
    let Some(id) = run_of(&entry) else {
        return Ok(Restored::NoJournal(entry));
    };
    if let Some(run) = there(&id) {
        return Ok(Restored::There(run));
    }
    if !is_ours(layout, &entry) {
        return Ok(Restored::NoJournal(entry));
    }
    layout.prepare()?;
    history::restore(&entry, &layout.runs_dir(), id.as_str())?;
    Ok(Restored::Back(layout.run(&id)))
}

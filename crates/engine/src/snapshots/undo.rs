//! Brings the work back to an earlier snapshot: only the paths that differ,
//! and none that somebody else changed since.

use std::path::{Path, PathBuf};

use ralph_core::lang::{Lang, Say};
use ralph_core::machine::{BranchMove, Event, Kind, Observation, Undone};
use ralph_core::tasks::Scope;
use ralph_store::FileError;
use ralph_store::journal::{Durability, Journal};
use ralph_store::layout::{Layout, RunPaths};
use ralph_store::lock::LockError;

use super::branch;
use super::entry::{Entry, Mode, TreeId, Why};
use super::files::on_disk;
use super::timeline::Timeline;
use super::{Caps, Changed, SnapshotError, Snapshots};
use crate::clock;
use crate::error::DriveError;
use crate::look::{Looker, TaskFile};
use crate::opening;
use crate::past::{Past, PastError};

/// What the world consists of, as the run saw it.
#[derive(Debug)]
pub struct World {
    pub tasks: Option<TaskFile>,
    pub scope: Scope,
    /// Files of Ralph's own within the project.
    pub own: Vec<PathBuf>,
    pub caps: Caps,
    pub lang: Lang,
}

/// What is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wish {
    /// The work as it was before a turn; before the last one where none is
    /// named.
    Undo {
        turn: Option<u32>,
    },
    Redo,
}

/// What would be done.
#[derive(Debug)]
pub struct Plan {
    pub wish: Wish,
    /// The work stands as after this turn then.
    pub turn: u32,
    /// The paths that become what they were: as they are, and as they were.
    pub paths: Vec<Changed>,
    /// What was not kept stays as it is.
    pub left_out: Vec<(PathBuf, Why)>,
    /// How the branch moves with it.
    pub moved: Option<BranchMove>,
    target: TreeId,
    now: TreeId,
}

#[derive(Clone, Debug, Say)]
pub enum UndoError {
    #[say(_0.say(lang))]
    Snapshot(SnapshotError),
    #[say(_0.say(lang))]
    Past(PastError),
    #[say(_0.say(lang))]
    Drive(Box<DriveError>),
    #[say("run {run} is not over; pause it first with `ralph pause`, or end it with `ralph stop`")]
    Living { run: String },
    #[say("run {run} has no turn that could be undone")]
    NoTurn { run: String },
    #[say("turn {turn} of run {run} has no snapshot; `ralph snapshots` lists those that there are")]
    NoSnapshot { run: String, turn: u32 },
    #[say("nothing was undone that could be taken back")]
    NothingToRedo,
    #[say("there is no branch that could go back: HEAD is detached, or nothing was committed")]
    NoBranch,
    #[say("the journal does not know a commit of before turn {turn} that is still there; without --commits the work alone goes back", turn = turn + 1)]
    NoCommit { turn: u32 },
    #[say(
        "the branch {branch} does not stand where the run left it; it stays there. Without --commits the work alone goes back"
    )]
    BranchMoved { branch: String },
    #[say(
        "the index holds changes that are not committed; commit or unstage them first, or leave --commits out"
    )]
    Staged,
    #[say(
        "somebody else changed since: {names}; nothing was touched. Name other paths, put these back as the run left them, or look at the old state in a directory of its own: `ralph restore {turn} --to DIR`",
        names = names(paths)
    )]
    Foreign { paths: Vec<PathBuf>, turn: u32 },
    #[say("changed meanwhile: {name}; what was done so far can be finished by the same command, or taken back with `ralph redo`", name = names(std::slice::from_ref(path)))]
    Moved { path: PathBuf },
}

impl From<SnapshotError> for UndoError {
    fn from(error: SnapshotError) -> UndoError {
        UndoError::Snapshot(error)
    }
}

impl From<PastError> for UndoError {
    fn from(error: PastError) -> UndoError {
        UndoError::Past(error)
    }
}

impl From<DriveError> for UndoError {
    fn from(error: DriveError) -> UndoError {
        UndoError::Drive(Box::new(error))
    }
}

impl From<FileError> for UndoError {
    fn from(error: FileError) -> UndoError {
        UndoError::Snapshot(error.into())
    }
}

/// So many paths are named.
const NAMED: usize = 20;

fn names(paths: &[PathBuf]) -> String {
    let name = |path: &PathBuf| {
        ralph_core::text::one_line(&ralph_core::text::sanitize(&path.to_string_lossy()))
    };
    let more = (paths.len() > NAMED).then(|| "…".to_owned());
    let named = paths.iter().take(NAMED).map(name);
    named.chain(more).collect::<Vec<_>>().join(", ")
}

/// An undo under the project's lock, from its plan to its end.
#[derive(Debug)]
pub struct Undo {
    layout: Layout,
    paths: RunPaths,
    past: Past,
    timeline: Timeline,
    looker: Looker,
    snapshots: Snapshots,
    largest: u64,
    _lock: ralph_store::lock::Lock,
}

impl Undo {
    /// Takes the lock, and a snapshot of the work as it is.
    pub fn open(layout: &Layout, paths: &RunPaths, world: World) -> Result<Undo, UndoError> {
        layout.prepare()?;
        let lock = opening::lock(layout, &paths.id).map_err(|error| match error {
            LockError::Held {
                holder: Some(holder),
                ..
            } if holder.run_id == paths.id.as_str() => UndoError::Living {
                run: holder.run_id.clone(),
            },
            error => DriveError::Locked(error).into(),
        })?;
        let (timeline, past) = Timeline::read(paths)?;
        if past.state.outcome().is_none() && past.state.session.is_some() {
            let run = paths.id.to_string();
            return Err(UndoError::Living { run });
        }
        let scope = Scope {
            skipped: past.skipped.clone(),
            ..world.scope
        };
        let mut looker = Looker::new(layout.root(), world.tasks, scope, world.lang);
        looker.exclude(world.own);
        looker.keep(Snapshots::create(layout, world.caps.clone(), false)?, true);
        Ok(Undo {
            layout: layout.clone(),
            paths: paths.clone(),
            past,
            timeline,
            looker,
            snapshots: Snapshots::open(layout)?,
            largest: world.caps.file,
            _lock: lock,
        })
    }

    pub fn snapshots(&self) -> &Snapshots {
        &self.snapshots
    }

    /// What the wish comes to; nothing is touched. `only` names files and
    /// folders relative to the root; none are all.
    pub fn plan(&mut self, wish: Wish, only: &[PathBuf]) -> Result<Plan, UndoError> {
        let (target, turn) = self.target(&wish)?;
        let now = self.look()?;
        let last = self.timeline.last.clone().unwrap_or_else(|| now.clone());
        let wanted = |path: &Path| only.is_empty() || only.iter().any(|o| path.starts_with(o));
        let (mut paths, mut left_out, mut foreign) = (Vec::new(), Vec::new(), Vec::new());
        for changed in self.snapshots.changes(&now, &target)? {
            let (path, is, was) = (&changed.path, changed.before, changed.after);
            let known = self.snapshots.entry(&last, path)?;
            // What differs from the snapshot, and the run has not changed,
            // is no part of what is undone.
            let begun = is != known && self.was_begun(path, is)?;
            if !wanted(path) || (known == was && !begun) {
                continue;
            }
            let above = self.why_above(&now, path)?;
            match above.or_else(|| [is, was].into_iter().flatten().find_map(why_left_out)) {
                Some(why) => left_out.push((path.clone(), why)),
                None if is != known && !begun => foreign.push(path.clone()),
                None => paths.push(changed),
            }
        }
        let root = self.layout.root();
        let in_the_way = paths.iter().filter(|c| {
            on_disk(root, &c.path, self.largest) != c.before || !has_room(root, c, &paths)
        });
        foreign.extend(in_the_way.map(|c| c.path.clone()).collect::<Vec<_>>());
        if !foreign.is_empty() {
            return Err(UndoError::Foreign {
                paths: foreign,
                turn,
            });
        }
        Ok(Plan {
            wish,
            turn,
            paths,
            left_out,
            moved: None,
            target,
            now,
        })
    }

    /// Lets the branch go back with the work; with a redo, where the undo
    /// moved it.
    pub fn with_branch(&self, plan: &mut Plan) -> Result<(), UndoError> {
        let run = self.paths.id.to_string();
        let (timeline, wish) = (&self.timeline, &plan.wish);
        plan.moved = branch::plan(&self.layout, &run, timeline, wish, plan.turn)?;
        Ok(())
    }

    /// Whether a path lies in something that is not kept.
    fn why_above(&self, now: &TreeId, path: &Path) -> Result<Option<Why>, UndoError> {
        for above in path.ancestors().skip(1) {
            let entry = self.snapshots.entry(now, above)?;
            if let Some(why) = entry.and_then(why_left_out) {
                return Ok(Some(why));
            }
        }
        Ok(None)
    }

    /// Whether an undo that did not live to its end made a path what it is.
    fn was_begun(&self, path: &Path, is: Option<Entry>) -> Result<bool, UndoError> {
        let Some(begun) = &self.timeline.begun else {
            return Ok(false);
        };
        for tree in [&begun.before, &begun.after] {
            let tree = TreeId::parse(tree)?;
            if self.snapshots.entry(&tree, path)? == is {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn target(&self, wish: &Wish) -> Result<(TreeId, u32), UndoError> {
        let run = self.paths.id.to_string();
        let turn = match wish {
            Wish::Redo => return self.timeline.to_redo().ok_or(UndoError::NothingToRedo),
            Wish::Undo { turn: Some(turn) } => *turn,
            Wish::Undo { turn: None } => self.timeline.standing,
        };
        if turn == 0 || !self.timeline.turns.contains_key(&turn) {
            return Err(UndoError::NoTurn { run });
        }
        let target = self.timeline.before(turn).cloned();
        let target = target.ok_or(UndoError::NoSnapshot { run, turn })?;
        Ok((target, turn - 1))
    }

    fn look(&mut self) -> Result<TreeId, UndoError> {
        let seen = self.looker.look();
        self.snapshot_of(&seen)
    }

    fn snapshot_of(&mut self, seen: &Observation) -> Result<TreeId, UndoError> {
        self.snapshots.refresh()?;
        match &seen.snapshot {
            Some(tree) => Ok(TreeId::parse(tree)?),
            None => {
                let told = self.looker.told();
                let error = told.into_iter().find_map(|told| match told {
                    crate::announcement::Announcement::NoSnapshot { error } => Some(error),
                    _ => None,
                });
                let root = self.layout.root().to_owned();
                Err(error.unwrap_or(SnapshotError::Refused { root }).into())
            }
        }
    }

    /// Writes down what is going to be done, does it, and writes down what
    /// came of it.
    pub fn perform(&mut self, plan: &Plan) -> Result<usize, UndoError> {
        let mut undone = Undone {
            turn: plan.turn,
            before: plan.now.to_string(),
            after: plan.target.to_string(),
            files: plan.paths.len(),
            redo: plan.wish == Wish::Redo,
            moved: plan.moved.clone(),
            seen: None,
        };
        self.write_down(undone.clone())?;
        let root = self.layout.root().to_owned();
        // A file may stand where a folder has to be, and the other way round.
        let (gone, there): (Vec<_>, Vec<_>) = plan.paths.iter().partition(|c| c.after.is_none());
        for changed in gone.into_iter().chain(there) {
            if on_disk(&root, &changed.path, self.largest) != changed.before {
                let path = changed.path.clone();
                return Err(UndoError::Moved { path });
            }
            self.snapshots
                .put_back(&root, &changed.path, changed.after.as_ref())?;
        }
        if let Some(moved) = &plan.moved {
            branch::perform(&self.layout, moved)?;
        }
        let seen = self.looker.look();
        undone.after = self.snapshot_of(&seen)?.to_string();
        undone.seen = Some(Box::new(seen));
        self.write_down(undone)?;
        opening::settle(&self.layout, &self.paths)?;
        Ok(plan.paths.len())
    }

    fn write_down(&mut self, undone: Undone) -> Result<(), UndoError> {
        let (mut journal, ..) = Journal::open(&self.paths.journal()).map_err(PastError::from)?;
        let event = Event {
            at: clock::now(),
            kind: Kind::Undone(undone),
        };
        let record = serde_json::to_value(&event).unwrap_or_default();
        let appended = journal.append(&[record], Durability::Commit);
        appended.map_err(PastError::from)?;
        Ok(())
    }

    /// The run that is undone, as its journal had it.
    pub fn past(&self) -> &Past {
        &self.past
    }
}

/// Whether a path can become what it was once everything else is gone that
/// goes: a folder in its place is empty then, and those above it are folders.
fn has_room(root: &Path, changed: &Changed, all: &[Changed]) -> bool {
    if changed.after.is_none() {
        return true;
    }
    let goes = |path: &Path| {
        let is_it = |c: &Changed| c.path == path && c.after.is_none();
        all.iter().any(is_it)
    };
    let folders = changed.path.ancestors().skip(1);
    let mut folders = folders.filter(|folder| !folder.as_os_str().is_empty());
    let open = folders.all(|folder| match root.join(folder).symlink_metadata() {
        Ok(found) => found.is_dir() || goes(folder),
        Err(_) => true,
    });
    open && is_emptied(root, &changed.path, &goes)
}

fn is_emptied(root: &Path, path: &Path, goes: &dyn Fn(&Path) -> bool) -> bool {
    let is_folder = |path: &Path| {
        let found = root.join(path).symlink_metadata();
        found.is_ok_and(|found| found.is_dir())
    };
    if !is_folder(path) {
        return true;
    }
    let entries = std::fs::read_dir(root.join(path)).into_iter().flatten();
    entries.flatten().all(|entry| {
        let below = path.join(entry.file_name());
        match is_folder(&below) {
            true => is_emptied(root, &below, goes),
            false => goes(&below),
        }
    })
}

fn why_left_out(entry: Entry) -> Option<Why> {
    match entry.mode {
        Mode::LeftOut(why) => Some(why),
        _ => None,
    }
}

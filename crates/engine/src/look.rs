//! Looks at the world between turns: the task file, the work tree, the
//! commit. What the agent says plays no part here.

mod facts;
mod signs;

use std::collections::{BTreeMap, HashMap};
use std::io::Read;
use std::path::{Path, PathBuf};

use ralph_core::flow::Flow;
use ralph_core::lang::{Lang, Say};
use ralph_core::machine::{Checks, Integrity, Observation, SteeredTask, TaskFacts, TaskRef, Tasks};
use ralph_core::tasks::{
    self, ChangedList, Changes, ListChange, Moved, Scope, Task, TaskError, TaskList,
};
use ralph_core::text;

use sha2::{Digest, Sha256};

use ralph_store::FileError;
use ralph_store::atomic::{AtomicOptions, write_through};
use ralph_store::layout::{Layout, RunPaths};

use crate::announcement::Announcement;
use crate::git;
use crate::integrity::Watch;
use crate::plan::Plan;
use crate::snapshots::{Keeper, Snapshots, TreeId};
use crate::steer::{self, SteerError};
pub use crate::task_file::{OpenTaskFile, ReadError, TaskFile};
use crate::worktree::{Change, Scan, WorkTree};
pub use facts::facts;
use facts::{OPEN_SHOWN, TEXT_COLUMNS, as_it_was, facts_for, remarked, task_ref, ticked};
pub use signs::Signs;

/// What the checks consisted of when the loop was armed, beside its journal.
const ARMED: &str = "checks.json";

/// A task and whether its box is ticked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskMark {
    pub id: String,
    pub text: String,
    pub done: bool,
    /// Key of its phase.
    pub phase: Option<String>,
}

impl TaskMark {
    pub fn name(&self) -> String {
        format!("{} {}", self.id, self.text)
    }
}

/// Keeps what was seen last, so that a look costs what changed.
#[derive(Debug)]
pub struct Looker {
    root: PathBuf,
    lang: Lang,
    tasks: Option<TaskFile>,
    pub scope: Scope,
    work_tree: WorkTree,
    last_tree: Option<String>,
    /// What the last look saw that the one before did not.
    last_changes: Vec<Change>,
    last: Option<LastRead>,
    /// What the checks consist of, where that is watched.
    watch: Option<Watch>,
    /// The last list in which no task was missing.
    whole: Option<TaskList>,
    /// A person went on with the list as it was.
    pub(crate) is_asked_anew: bool,
    /// The list when the run began: what a person wrote about risks.
    armed: Option<TaskList>,
    /// The list that another process of this run saw last.
    earlier: Option<TaskList>,
    trees: HashMap<String, Option<String>>,
    /// Where the phases of a flow leave their files, and how those are called.
    outputs: Option<(PathBuf, Vec<String>)>,
    /// A flow decides which ticks count.
    follows_flow: bool,
    /// Keeps what was seen, where that is wanted.
    keeper: Option<Keeper>,
}

/// The task file as it was when it could be read last.
#[derive(Debug)]
struct LastRead {
    bytes: Vec<u8>,
    list: TaskList,
    scope: Scope,
    /// Without what had changed then: that is told once.
    facts: TaskFacts,
}

/// A task file in which boxes were set.
struct Marked {
    before: Vec<u8>,
    after: Vec<u8>,
    list: TaskList,
}

/// The task file is read by itself: it does not count as work.
fn work_tree(root: &Path, tasks: Option<&TaskFile>) -> WorkTree {
    WorkTree::new(root, tasks.iter().map(|t| t.path.clone()).collect())
}

impl Looker {
    pub fn new(root: &Path, tasks: Option<TaskFile>, scope: Scope, lang: Lang) -> Looker {
        Looker {
            root: root.into(),
            lang,
            work_tree: work_tree(root, tasks.as_ref()),
            last_tree: None,
            last_changes: Vec::new(),
            tasks,
            scope,
            last: None,
            watch: None,
            whole: None,
            is_asked_anew: false,
            armed: None,
            earlier: None,
            trees: HashMap::new(),
            outputs: None,
            follows_flow: false,
            keeper: None,
        }
    }

    /// From now on every look keeps what it saw. It has to be said last of
    /// what is said before the first look. `quiet`: a process before this one
    /// has told what is left out.
    pub fn keep(&mut self, mut snapshots: Snapshots, quiet: bool) {
        if let Some(tasks) = &self.tasks {
            snapshots.also(&tasks.path);
        }
        self.work_tree.name_contents();
        self.keeper = Some(Keeper::new(snapshots, quiet));
    }

    /// What the snapshots since the last time have to tell.
    pub fn told(&mut self) -> Vec<Announcement> {
        self.keeper.as_mut().map(Keeper::told).unwrap_or_default()
    }

    /// From now on also looks at what a flow needs to know. It has to be said
    /// before the first look.
    pub fn follow(&mut self, flow: &Flow, output_dir: &Path) {
        self.follows_flow = true;
        let names = flow.steps.iter().filter_map(|step| step.output.clone());
        let names: Vec<String> = names.collect();
        self.outputs = (!names.is_empty()).then(|| (output_dir.to_owned(), names));
    }

    /// Leaves files or folders out that are no work of the agent. It has to be
    /// said before the first look.
    pub fn exclude(&mut self, paths: Vec<PathBuf>) {
        let tasks = self.tasks.iter().map(|tasks| tasks.path.clone());
        self.work_tree = WorkTree::new(&self.root, tasks.chain(paths).collect());
    }

    /// Watches the checks of a run, where it wants that.
    pub fn arm(&mut self, plan: &Plan, checks: &Checks, run: &RunPaths) -> Result<(), FileError> {
        if checks.integrity == Integrity::Off {
            return Ok(());
        }
        let file = run.dir.join(ARMED);
        let (watch, kept) = Watch::arm(&self.root, plan.commands(), plan.list.as_ref(), &file);
        self.watch = Some(watch);
        kept
    }

    /// Fingerprint of the work tree, as it was at the last look.
    pub fn tree(&self) -> Option<String> {
        self.last_tree.clone()
    }

    /// The first files that the last look found other than the one before;
    /// none where that was in another process.
    pub fn changed(&self, most: usize) -> Vec<String> {
        let changes = self.last_changes.iter().take(most);
        changes
            .map(|change| change.path.to_string_lossy().into_owned())
            .collect()
    }

    pub fn look(&mut self) -> Observation {
        let mut scan = self.work_tree.scan().ok();
        let snapshot = self.take_snapshot(scan.as_mut());
        self.last_tree = scan.as_ref().map(|scan| scan.fingerprint.to_string());
        let head = git::head(&self.root);
        let tasks = self.look_at_tasks();
        let list = self.last.as_ref().map(|last| &last.list);
        let weakened = match &mut self.watch {
            Some(watch) => watch.look(scan.as_ref(), list),
            None => Vec::new(),
        };
        self.last_changes = scan.map(|scan| scan.changed).unwrap_or_default();
        Observation {
            tasks,
            weakened,
            tree: self.last_tree.clone(),
            commit: head.commit.clone(),
            commit_tree: head.commit.and_then(|commit| self.tree_of(commit)),
            branch: head.branch,
            outputs: self.look_at_outputs(),
            claims: None,
            changed: Vec::new(),
            snapshot,
            doubted: BTreeMap::new(),
        }
    }

    fn take_snapshot(&mut self, scan: Option<&mut Scan>) -> Option<String> {
        let keeper = self.keeper.as_mut()?;
        let found = std::mem::take(&mut scan?.found);
        keeper.take(found, || self.work_tree.contents())
    }

    /// What an agent that begins now will be held against, should it fall
    /// silent.
    pub fn signs(&self) -> Signs {
        let tasks = self.tasks.as_ref().map(|t| t.path.clone());
        let work_tree = work_tree(&self.root, self.tasks.as_ref());
        Signs::new(work_tree, self.last_tree.clone(), tasks)
    }

    /// The open tasks in scope, as the file said when it was read last.
    pub fn open_tasks(&self) -> Vec<TaskRef> {
        let last = self.last.iter();
        last.flat_map(|last| {
            let pending = last.list.pending(&self.scope);
            pending.map(|task| task_ref(&last.list, task))
        })
        .collect()
    }

    /// Every task in scope, as the file said when it was read last.
    pub fn task_marks(&self) -> Vec<TaskMark> {
        let last = self.last.iter();
        last.flat_map(|last| {
            let phases = &last.list.phases;
            last.list.required(&self.scope).map(|task| TaskMark {
                id: task.id.clone(),
                text: text::width::truncate(&task.text, TEXT_COLUMNS),
                done: task.done,
                phase: task
                    .phase
                    .and_then(|phase| phases.get(phase))
                    .map(|phase| phase.key.clone()),
            })
        })
        .collect()
    }

    fn look_at_tasks(&mut self) -> Tasks {
        let Some(file) = self.tasks.clone() else {
            return Tasks::None;
        };
        match self.read_tasks(&file) {
            Ok(facts) => Tasks::Read(facts),
            Err(
                ReadError::Missing { .. }
                | ReadError::Task(TaskError::NoTasks { .. } | TaskError::TaskNotFound { .. }),
            ) if file.may_be_missing => Tasks::None,
            Err(error) => Tasks::Trouble {
                class: error.class(),
                message: error.say(Lang::En),
                said: match self.lang {
                    Lang::En => String::new(),
                    lang => error.say(lang),
                },
            },
        }
    }

    /// A file that did not change is not understood anew, and counted anew
    /// only for another scope.
    fn read_tasks(&mut self, file: &TaskFile) -> Result<TaskFacts, ReadError> {
        let bytes = file.read_bounded()?;
        match self.last.take_if(|last| last.bytes == bytes) {
            Some(last) if last.scope == self.scope => {
                let facts = last.facts.clone();
                self.last = Some(last);
                Ok(facts)
            }
            Some(last) => Ok(self.remember(last.bytes, last.list, last.facts.lost)),
            None => self.read_anew(bytes, file),
        }
    }

    /// Counts a list, and keeps it to compare with. What is gone is not done
    /// (TASK-17).
    fn remember(&mut self, bytes: Vec<u8>, list: TaskList, lost: Vec<String>) -> TaskFacts {
        let gone = self.gone(&lost, &list);
        let facts = facts_for(&list, &self.scope, self.follows_flow, self.armed.as_ref());
        let open = facts.open.into_iter().chain(gone.iter().cloned());
        let facts = TaskFacts {
            lost,
            total: facts.total + gone.len(),
            pending: facts.pending + gone.len(),
            open: open.take(OPEN_SHOWN).collect(),
            ..facts
        };
        self.last = Some(LastRead {
            bytes,
            list,
            scope: self.scope.clone(),
            facts: facts.clone(),
        });
        facts
    }

    fn read_anew(&mut self, bytes: Vec<u8>, file: &TaskFile) -> Result<TaskFacts, ReadError> {
        let list = file.parse(&bytes)?;
        let moved = self.follow_moved(&list);
        let since = self.lost(&list);
        let remarked = remarked(&list, &since, self.last_list());
        let (mut lost, replaced) = (since.removed, since.replaced);
        let known = self.last.as_ref().map(|last| &last.facts.lost);
        let is_new = |id: &String| known.is_none_or(|known| !known.contains(id));
        let reworded = replaced.iter().filter(|(id, _)| is_new(id)).cloned();
        let reworded = reworded.map(as_it_was).collect();
        lost.extend(replaced.into_iter().map(|(id, _)| id));
        self.armed.get_or_insert_with(|| list.clone());
        let changes = self.last_list().map(|last| tasks::compare(last, &list));
        let ticked = ticked(&list, &self.scope, changes.as_ref(), self.armed.as_ref());
        let changes = changes.unwrap_or_default();
        let facts = self.remember(bytes, list, lost);
        Ok(TaskFacts {
            moved,
            removed: changes.removed,
            reworded,
            remarked,
            thinned: changes.thinned.into_iter().map(as_it_was).collect(),
            unticked: changes.unticked,
            ticked,
            ..facts
        })
    }

    /// Tasks without ids are known by their places: a person's wishes for them
    /// go along.
    fn follow_moved(&mut self, list: &TaskList) -> Vec<Moved> {
        let before = self.last_list().or(self.earlier.as_ref());
        let whole = self.whole.as_ref().or(self.armed.as_ref());
        let moved = before.map_or_else(Vec::new, |before| tasks::moved(before, list, whole));
        let now = |id: &String| Moved::now(&moved, id);
        let scope = &mut self.scope;
        scope.skipped = scope.skipped.iter().map(now).collect();
        scope.focus = scope.focus.as_ref().map(now);
        moved
    }

    /// Those that are not there any more and that the run is about.
    fn gone(&self, lost: &[String], list: &TaskList) -> Vec<TaskRef> {
        let whole = self.whole.as_ref().filter(|_| !lost.is_empty());
        // A place in the list is no name: another task may have it now.
        let is_there = |task: &Task| !task.id.starts_with('#') && list.find(&task.id).is_some();
        let is_gone = |task: &&Task| lost.contains(&task.id) && !is_there(task);
        let gone = whole.map(|whole| {
            let gone = whole.required(&self.scope).filter(is_gone);
            gone.map(|task| task_ref(whole, task)).collect()
        });
        gone.unwrap_or_default()
    }

    /// Tasks that were there in this run and are not there now, or say
    /// something else.
    fn lost(&mut self, list: &TaskList) -> Changes {
        let whole = self.whole.as_ref();
        let changes = whole.map(|whole| tasks::compare(whole, list));
        let changes = changes.unwrap_or_default();
        if changes.removed.is_empty() && changes.replaced.is_empty() {
            let mut now = list.clone();
            if let Some(before) = self.whole.take() {
                now.keep_words(&before);
            }
            self.whole = Some(now);
        }
        changes
    }

    /// The files that phases left, by their names; empty ones are none.
    fn look_at_outputs(&self) -> BTreeMap<String, String> {
        let Some((dir, names)) = &self.outputs else {
            return BTreeMap::new();
        };
        let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
        let found = entries.filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let wanted = names.iter().any(|pattern| is_output(pattern, &name));
            let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
            Some((digest(&entry.path())?, name)).filter(|_| wanted && is_file)
        });
        found.map(|(digest, name)| (name, digest)).collect()
    }

    /// Ticks and unticks exactly these boxes. What can't be set stays as it
    /// is, and is seen to.
    pub fn mark(&mut self, tick: &[String], untick: &[String]) -> Result<(), FileError> {
        self.set_marks(tick, untick).map(drop)
    }

    /// Empties the boxes of tasks whose ticks were turned back. That is no
    /// change of the agent's, so that the next look does not tell of it.
    pub fn untick(&mut self, ids: &[String]) -> Result<(), FileError> {
        let Some(change) = self.set_marks(&[], ids)? else {
            return Ok(());
        };
        if let Some(last) = self.last.take_if(|last| last.bytes == change.before) {
            self.remember(change.after, change.list, last.facts.lost);
        }
        Ok(())
    }

    /// Sets boxes, each by exactly its bytes and all in one write (TASK-12);
    /// `None` where nothing had to be changed.
    fn set_marks(&self, tick: &[String], untick: &[String]) -> Result<Option<Marked>, FileError> {
        let Some(file) = &self.tasks else {
            return Ok(None);
        };
        let Ok(OpenTaskFile { bytes, list, .. }) = file.clone().open() else {
            return Ok(None);
        };
        let wanted = tick.iter().map(|id| (id, true));
        let wanted = wanted.chain(untick.iter().map(|id| (id, false)));
        let wanted = wanted.filter_map(|(id, done)| {
            let task = list.find(id)?;
            list.tasks.get(task)?.has_box().then_some((task, done))
        });
        let Ok(after) = tasks::set_marks(&bytes, &list, wanted) else {
            return Ok(None);
        };
        if after == bytes {
            return Ok(None);
        }
        let Ok(list) = file.parse(&after) else {
            return Ok(None);
        };
        write_through(&file.path, &after, AtomicOptions { durable: true })?;
        Ok(Some(Marked {
            before: bytes,
            after,
            list,
        }))
    }

    /// Makes a person's change of the list. That is no change of the agent's,
    /// so that the next look does not tell of it.
    pub fn change(&mut self, change: &ListChange) -> Result<SteeredTask, SteerError> {
        let file = self.tasks.clone().ok_or(SteerError::NoList)?;
        let changed = steer::change_file(&file, change)?;
        let task = steer::steered(&changed, &self.scope);
        // What the agent did to the file since the last look is its own.
        let remembered = self.last.as_ref().map(|last| {
            let read = |bytes: &[u8]| tasks::read(&file.name, bytes, &file.options);
            change.apply(&last.bytes, &last.list, read)
        });
        if let Some(Ok(ChangedList { bytes, list, .. })) = remembered {
            let last = self.last.take();
            let (lost, before) = last.map(|last| (last.facts.lost, last.list)).unzip();
            let lost = lost.unwrap_or_default();
            match (&mut self.whole, before) {
                (Some(whole), Some(before)) if !lost.is_empty() => whole.take_words(&before, &list),
                (whole, _) => *whole = Some(list.clone()),
            }
            self.remember(bytes, list, lost);
        }
        Ok(task)
    }

    /// A person goes on with the list as it is now.
    pub fn ask_anew(&mut self) {
        self.whole = None;
        self.is_asked_anew = true;
    }

    pub fn task_file(&self) -> Option<&TaskFile> {
        self.tasks.as_ref()
    }

    pub fn last_list(&self) -> Option<&TaskList> {
        self.last.as_ref().map(|last| &last.list)
    }

    /// Which of these tasks were ticked at the last look.
    pub fn ticked_among(&self, ids: &[String]) -> Vec<String> {
        let last = self.last.as_ref().map(|last| &last.list);
        let is_ticked = |id: &&String| {
            let task = last.and_then(|list| list.tasks.get(list.find(id)?));
            task.is_some_and(|task| task.done)
        };
        ids.iter().filter(is_ticked).cloned().collect()
    }

    /// What the task file held when it was read last.
    pub fn last_bytes(&self) -> Option<&[u8]> {
        self.last.as_ref().map(|last| last.bytes.as_slice())
    }

    /// Remembers what another process of this run saw: the file as it was
    /// when the run began, and as it was last.
    pub fn recall(&mut self, begun: Vec<u8>, last: Vec<u8>) {
        if let Some(file) = self.tasks.clone() {
            // It is of after those looks.
            let scope = self.scope.clone();
            for bytes in [begun, last] {
                let _ = self.read_anew(bytes, &file);
            }
            self.scope = scope;
        }
    }

    /// Remembers the task file as it was when the loop was armed, and when it
    /// was looked at last.
    pub fn recall_from(&mut self, layout: &Layout, armed: Option<&str>, last: Option<&str>) {
        let (Some(file), Some(armed)) = (&self.tasks, armed) else {
            return;
        };
        let Ok(snapshots) = Snapshots::open(layout) else {
            return;
        };
        let [armed, earlier] = [Some(armed), last].map(|tree| {
            let inside = file.path.strip_prefix(&self.root).ok()?;
            let entry = snapshots.entry(&TreeId::parse(tree?).ok()?, inside);
            let bytes = snapshots.read(&entry.ok()??).ok()?;
            file.parse(&bytes).ok()
        });
        (self.armed, self.earlier) = (armed, earlier);
    }

    /// Brings the progress block of the task file in step with its boxes,
    /// where it has one (TASK-11). A file that can't be written stays as it is.
    pub fn keep_in_step(&mut self) -> Result<(), FileError> {
        let (Some(file), Some(last)) = (&self.tasks, &self.last) else {
            return Ok(());
        };
        let Some(bytes) = tasks::sync_progress_block(&last.bytes, &last.list) else {
            return Ok(());
        };
        // Somebody's edit since the look is worth more than our counts.
        if ralph_store::regular::read(&file.path).is_ok_and(|now| now == last.bytes) {
            write_through(&file.path, &bytes, AtomicOptions { durable: false })?;
        }
        Ok(())
    }

    /// The tree of a commit; git is asked only about commits that are new.
    fn tree_of(&mut self, commit: String) -> Option<String> {
        if let Some(tree) = self.trees.get(&commit) {
            return tree.clone();
        }
        let tree = git::tree_of_commit(&self.root, &commit);
        self.trees.insert(commit, tree.clone());
        tree
    }
}

/// Whether a file is called as the pattern says, `{n}` for any number.
fn is_output(pattern: &str, name: &str) -> bool {
    match pattern.split_once("{n}") {
        None => pattern == name,
        Some((before, after)) => name
            .strip_prefix(before)
            .and_then(|rest| rest.strip_suffix(after))
            .is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit())),
    }
}

/// The most of an output file that is looked at.
const OUTPUT_BYTES: u64 = 4 * 1024 * 1024;

/// None for a file that is empty or can't be read.
fn digest(path: &Path) -> Option<String> {
    let file = ralph_store::regular::open(path).ok()?;
    let mut bytes = Vec::new();
    file.take(OUTPUT_BYTES).read_to_end(&mut bytes).ok()?;
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return None;
    }
    let hash = Sha256::digest(&bytes);
    Some(
        hash.iter()
            .take(8)
            .map(|byte| format!("{byte:02x}"))
            .collect(),
    )
}

#[cfg(test)]
mod tests;

//! What other tools of the delta loop read of a run: the checkpoint, its
//! event log and, under preset `delta`, the state file (CKPT-03, CKPT-08,
//! CKPT-10, DELT-11, EVNT-06).
//!
//! All of it is made from the journal, which is the truth: a file that can't
//! be written is announced once and stops nothing.

mod checkpoint;
mod delta;
pub mod roles;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use ralph_core::checkpoint::Checkpoint;
use ralph_core::delta::DeltaState;
use ralph_core::flow::FlowNotice;
use ralph_core::lang::Lang;
use ralph_core::machine::{Effect, FileClaims, Notice, State, iso_utc};
use ralph_core::promise::{self, Promise, PromiseRules};
use ralph_store::FileError;
use ralph_store::atomic::remove_stale_temps;
use ralph_store::checkpoint::{
    Care, CheckpointDir, DeltaFile, LoadError, LoadedDelta, set_aside, take_back,
};
use ralph_store::history::{self, History};
use ralph_store::layout::RunPaths;

use crate::announcement::Announcement;
pub use crate::keeping::CheckpointPlan;
use crate::look::TaskMark;
use crate::plan::Plan;
use crate::record::Header;
use crate::session::tracker;
use crate::touched::{self, Touched};

/// A checkpoint is never older than this while the run lives (CKPT-08).
pub const LONGEST_MS: u64 = 5 * 60 * 1000;

#[derive(Debug)]
pub struct Projector {
    dir: CheckpointDir,
    interval: usize,
    delta: Option<DeltaFile>,
    run: Run,
    last: Option<Checkpoint>,
    last_delta: Option<DeltaState>,
    /// The promise in the state file was heard, and is judged.
    heard: bool,
    /// Tasks that were done when it was last saved durably.
    completed: usize,
    phases_done: usize,
    saved_at_ms: u64,
    has_failed: bool,
}

/// What has to be saved.
#[derive(Clone, Copy, Debug)]
pub struct Due {
    care: Care,
    /// With the files that were changed: Git is asked for them, which takes
    /// its time, and so not before every call of the agent.
    files: bool,
}

impl Due {
    pub fn is_cheap(self) -> bool {
        self.care == Care::Cheap && !self.files
    }
}

/// What never changes in a run.
#[derive(Debug)]
struct Run {
    header: Header,
    /// The task file as people know it, or the prompt.
    description: String,
    tasks_file: Option<String>,
    root: PathBuf,
    /// Relative to the project.
    journal: String,
    events: PathBuf,
    lang: Lang,
    /// Where the phases of a route leave their files, as people name it.
    outputs: String,
    paths: RunPaths,
    history: History,
}

impl Run {
    fn touched(&self) -> Option<Touched> {
        let commit = self.header.commit.as_deref();
        touched::since(&self.root, &self.paths, commit)
    }

    /// As Git counts them since the run began, else as the tracker does
    /// (DELT-09, TRAK-05).
    fn files_modified(&self, touched: Option<&Touched>) -> Option<u32> {
        let changed = touched.and_then(|touched| u32::try_from(touched.count()).ok());
        changed.or_else(|| tracker::count(&self.root))
    }

    /// The state file as it went into the history, where the run did.
    fn archived_delta(&self) -> Option<(PathBuf, DeltaState)> {
        let entry = self.history.find(self.header.run_id.as_str()).ok()??;
        let path = entry.path.join(history::STATE);
        let state = DeltaState::read(&ralph_store::regular::read(&path).ok()?).ok()?;
        Some((path, state))
    }
}

impl Projector {
    /// `None` where checkpoints are switched off.
    pub fn new(plan: &Plan, paths: &RunPaths, header: &Header) -> Option<Projector> {
        let wanted = &plan.checkpoint;
        if !wanted.enabled {
            return None;
        }
        let layout = plan.layout.clone();
        let tasks_file = plan.tasks.as_ref().map(|tasks| tasks.name.clone());
        let journal = paths.journal();
        let journal = journal.strip_prefix(layout.state_dir()).unwrap_or(&journal);
        Some(Projector {
            dir: CheckpointDir::new(&wanted.dir, wanted.backups).with_scratch(layout.ralph_dir()),
            interval: usize::try_from(wanted.interval).unwrap_or(usize::MAX),
            delta: wanted.delta.then(|| DeltaFile::new(layout.delta_state())),
            run: Run {
                header: header.clone(),
                description: checkpoint::description(header, tasks_file.as_deref()),
                tasks_file,
                root: plan.layout.root().to_owned(),
                journal: journal.display().to_string(),
                events: paths.events(),
                lang: plan.lang,
                outputs: plan.prompter.output_dir.clone(),
                paths: paths.clone(),
                history: plan.keeping.history.clone(),
            },
            last: None,
            last_delta: None,
            heard: false,
            completed: 0,
            phases_done: 0,
            saved_at_ms: 0,
            has_failed: false,
        })
    }

    /// The state file of this run as it stood when it was read or written
    /// last, where there is one.
    pub fn delta_state(&self) -> Option<&DeltaState> {
        let id = self.run.header.task_id();
        let state = self.last_delta.as_ref();
        state.filter(|state| self.delta.is_some() && state.meta.task_id == id)
    }

    /// Looks at what an earlier process or another tool left there.
    pub fn begin(&mut self) -> Vec<Announcement> {
        let mut announcements = Vec::new();
        if let Err(error) = self.dir.prepare() {
            announcements.extend(self.failed(error));
            return announcements;
        }
        for dir in [Some(self.dir.dir()), self.dir.dir().parent()] {
            let _ = dir.map(|dir| remove_stale_temps(dir, None));
        }
        let (damaged, other) = self.take_checkpoint();
        announcements.extend(damaged);
        announcements.extend(self.take_delta());
        announcements.extend(self.make_room(other));
        announcements.extend(self.take_back());
        announcements
    }

    /// What another task left in the places of this run's files is set aside:
    /// nothing of it can be had from any journal of ours. `other` is the task
    /// of its checkpoint.
    fn make_room(&mut self, other: Option<String>) -> Vec<Announcement> {
        let own = self.run.header.task_id();
        let runs = self.run.paths.dir.parent().map(std::fs::read_dir);
        let runs = runs.and_then(Result::ok).into_iter().flatten().flatten();
        let name = self.run.events.file_name().map(ToOwned::to_owned);
        let logs = runs.filter_map(|run| Some(run.path().join(name.as_ref()?)));
        let log = self.dir.foreign_events(logs);
        let task_of_log = other.clone().unwrap_or_else(|| "other".into());
        let state = self.last_delta.as_ref().map(|state| &state.meta.task_id);
        let state = state.filter(|task| **task != own && self.delta.is_some());
        let state = state.cloned().zip(self.delta.as_ref());
        let foreign = [
            other.map(|task| (self.dir.checkpoint(), task)),
            log.map(|log| (log, task_of_log)),
            state.map(|(task, file)| (file.path().to_owned(), task)),
        ];
        let has_state = foreign[2].is_some();
        if has_state {
            self.last_delta = None;
        }
        let mut announcements = Vec::new();
        for (from, task) in foreign.into_iter().flatten() {
            match set_aside(&from, &task) {
                Ok(to) => announcements.push(Announcement::SetAside { from, to }),
                Err(error) => {
                    // Nothing is written over what stays in its place.
                    self.delta = self.delta.take().filter(|_| !has_state);
                    announcements.extend(self.failed(error));
                }
            }
        }
        announcements
    }

    /// What others added to the checkpoint of this run is kept; that of
    /// another run becomes a backup. Where it is no run of ours, its task is
    /// told too.
    fn take_checkpoint(&mut self) -> (Option<Announcement>, Option<String>) {
        match self.dir.load() {
            Ok(loaded) => {
                let own = self.run.header.run_id.as_str();
                let mut other = None;
                match loaded.checkpoint.run_id() {
                    Some(run) if run == own => self.last = Some(loaded.checkpoint),
                    Some(_) => {}
                    None => other = Some(loaded.checkpoint.task_id),
                }
                let damaged = Announcement::CheckpointDamaged {
                    dir: self.dir.dir().into(),
                    refused: loaded.refused.clone(),
                };
                let damaged = Some(damaged).filter(|_| !loaded.refused.is_empty());
                (
                    damaged,
                    other.filter(|task| *task != self.run.header.task_id()),
                )
            }
            Err(LoadError::Nothing { .. }) => (None, None),
            Err(LoadError::AllRefused { dir, refused }) => {
                (Some(Announcement::CheckpointDamaged { dir, refused }), None)
            }
        }
    }

    /// The state file of this run stood aside while another one had its place.
    fn take_back(&mut self) -> Option<Announcement> {
        let file = self.delta.as_ref()?;
        if file.peek().is_some() {
            return None;
        }
        let path = file.path().to_owned();
        match take_back(&path, &self.run.header.task_id()) {
            Ok(None) => None,
            Ok(Some(backup)) => {
                self.last_delta = self.delta.as_ref().and_then(DeltaFile::peek);
                Some(Announcement::DeltaGone { path, backup })
            }
            Err(error) => self.failed(error),
        }
    }

    /// A state file that somebody deleted while its loop goes on comes back
    /// from its newest backup (CKPT-10).
    fn take_backup(&mut self) -> Option<Announcement> {
        let back = self.take_back();
        if back.is_some() {
            return back;
        }
        let own = self.run.header.task_id();
        let file = self
            .delta
            .as_ref()
            .filter(|_| self.delta_state().is_none())?;
        let (backup, state) = file.backup(&self.dir)?;
        let path = file.path().to_owned();
        (state.meta.task_id == own).then(|| {
            self.last_delta = Some(state);
            Announcement::DeltaGone { path, backup }
        })
    }

    /// Reads the state file, which nobody but us writes at this moment. One
    /// that can't be read stands aside: what was known of it last, else its
    /// newest backup, is written in its place (CKPT-10, DELT-11).
    pub fn take_delta(&mut self) -> Option<Announcement> {
        let file = self.delta.as_ref()?;
        let (from, to, error) = match file.load() {
            Ok(LoadedDelta::Nothing) => return self.take_backup(),
            Ok(LoadedDelta::State(state)) => {
                self.last_delta = Some(*state);
                return None;
            }
            Ok(LoadedDelta::MovedAside { from, to, error }) => (from, to, error),
            Err(error) => return self.failed(error),
        };
        let backup = match self.delta_state() {
            Some(_) => None,
            None => file.backup(&self.dir).or_else(|| self.run.archived_delta()),
        };
        let (backup, state) = backup.unzip();
        self.last_delta = state.or(self.last_delta.take());
        Some(Announcement::DeltaMovedAside {
            from,
            to,
            backup,
            error,
        })
    }

    /// What the state file says of the work.
    pub fn claims(&self) -> Option<FileClaims> {
        Some(self.delta_state()?.claims())
    }

    /// The same where the machine did not look at it: a loop may be given up
    /// before it begins.
    fn known_claims(&self, state: &State) -> FileClaims {
        let seen = &state.claims.file;
        match *seen == FileClaims::default() {
            true => self.claims().unwrap_or_default(),
            false => seen.clone(),
        }
    }

    /// The promise that the agent set inside the state file (PROM-04). It is
    /// judged with the turn, and does not stand there any more afterwards.
    pub fn hear(&mut self, rules: &PromiseRules) -> Option<Promise> {
        let text = self.delta_state()?.promise()?;
        self.heard = true;
        let tag = format!("<promise>{text}</promise>");
        promise::detect(&tag, rules, None)
            .promise
            .filter(Promise::stops)
    }

    /// Nothing happened for long: says that the run is still there at
    /// `wall_ms`.
    pub fn again(
        &mut self,
        state: &State,
        tasks: &[TaskMark],
        wall_ms: i64,
    ) -> Option<Announcement> {
        let due = Due {
            care: Care::Cheap,
            files: false,
        };
        let saved = self.try_save(due, state, tasks, wall_ms);
        saved.err().and_then(|error| self.failed(error))
    }

    /// A log that had to be copied misses the last lines.
    pub fn finish(&mut self) -> Option<Announcement> {
        let shown = self.dir.show_events(&self.run.events);
        shown.err().and_then(|error| self.failed(error))
    }

    /// Whether something has to be saved now, and with how much care.
    ///
    /// An agent call follows in nearly every turn. What it needs of a
    /// checkpoint is that a reader finds the state of the call, and that is
    /// what a cheap save gives; that it outlives a crash of the machine is not
    /// needed, since the journal was synced before, and a run is taken up from
    /// the journal.
    pub fn due(&self, effects: &[Effect], state: &State) -> Option<Due> {
        let facts = state.tasks.facts.as_ref();
        let completed = facts.map_or(0, |facts| facts.completed);
        let is_first = self.saved_at_ms == 0;
        let is_late = state.now().steady_ms.saturating_sub(self.saved_at_ms) >= LONGEST_MS;
        let has_more = match self.interval {
            0 => false,
            interval => completed / interval > self.completed / interval,
        };
        let has_phase = checkpoint::phases_done(state, self.run.lang) > self.phases_done;
        // Each answer of a role is for others to see.
        let is_answer = effects.iter().any(|effect| {
            matches!(
                effect,
                Effect::Emit(Notice::Flow(FlowNotice::Answered { .. }))
            )
        });
        let is_turning_point = effects.iter().any(|effect| {
            matches!(
                effect,
                Effect::Finish(_) | Effect::Ask(_) | Effect::Emit(Notice::Error { .. })
            )
        });
        if is_first || is_late || has_more || has_phase || is_turning_point {
            return Some(Due {
                care: Care::Durable,
                files: is_turning_point || !is_first,
            });
        }
        let calls = effects.iter().any(|e| matches!(e, Effect::RunAgent(_)));
        (calls || is_answer).then_some(Due {
            care: Care::Cheap,
            files: false,
        })
    }

    pub fn save(&mut self, due: Due, state: &State, tasks: &[TaskMark]) -> Option<Announcement> {
        let now = checkpoint::time_of(&self.run, state);
        let saved = self.try_save(due, state, tasks, now);
        if due.care == Care::Durable {
            let facts = state.tasks.facts.as_ref();
            self.completed = facts.map_or(0, |facts| facts.completed);
            self.phases_done = checkpoint::phases_done(state, self.run.lang);
        }
        self.saved_at_ms = state.now().steady_ms.max(1);
        saved.err().and_then(|error| self.failed(error))
    }

    /// Writes the state file, where one is kept: before the agent is called,
    /// which reads it and edits it while it works.
    pub fn save_delta(
        &mut self,
        due: Due,
        state: &State,
        tasks: &[TaskMark],
    ) -> Option<Announcement> {
        let saved = self.try_save_delta(due, state, tasks);
        saved.err().and_then(|error| self.failed(error))
    }

    fn try_save(
        &mut self,
        due: Due,
        state: &State,
        tasks: &[TaskMark],
        wall_ms: i64,
    ) -> Result<(), FileError> {
        let Due { care, files } = due;
        self.make_dir()?;
        let claims = self.known_claims(state);
        let last = self.last.as_ref();
        let mut checkpoint = checkpoint::project(&self.run, last, state, &claims, tasks);
        checkpoint.timestamps.updated = iso_utc(wall_ms);
        if let Some(touched) = files.then(|| self.run.touched()).flatten() {
            checkpoint::put_files(&mut checkpoint, &touched);
        }
        self.dir.save(&checkpoint, care)?;
        self.dir.show_events(&self.run.events)?;
        self.last = Some(checkpoint);
        roles::save(&self.run, &self.dir, state)
    }

    fn try_save_delta(
        &mut self,
        due: Due,
        state: &State,
        tasks: &[TaskMark],
    ) -> Result<(), FileError> {
        let Some(file) = self.delta.clone() else {
            return Ok(());
        };
        self.make_dir()?;
        let claims = self.known_claims(state);
        let now = file.peek().or(self.last_delta.take());
        let last = self.last.as_ref();
        let checkpoint = checkpoint::project(&self.run, last, state, &claims, tasks);
        let heard = std::mem::take(&mut self.heard);
        let place = delta::Place {
            lang: self.run.lang,
            outputs: self.dir.dir(),
            started_ms: self.run.header.started_ms,
        };
        let mut delta = delta::project(&checkpoint, now.as_ref(), state, tasks, place);
        let is_complete = delta.summary.is_some();
        // What the agent wrote there was a claim, and it has been judged; one
        // that nothing refuted is left to the person who looks (STOP-02).
        if heard && !is_complete && !delta::is_unproven(state.outcome()) {
            delta.set_promise(None);
        }
        if let Some(summary) = &mut delta.summary {
            summary.files_modified = self.run.files_modified(self.run.touched().as_ref());
        }
        // Progress that only the agent knows, and no backup yet, is kept there.
        let is_new = delta::is_the_agents(state) && {
            let kept = file.backup(&self.dir).map(|(_, state)| state.progress);
            now.is_some_and(|now| Some(now.progress) != kept)
        };
        let care = if is_new { Care::Durable } else { due.care };
        file.save(&delta, &self.dir, care)?;
        self.last_delta = Some(delta);
        Ok(())
    }

    /// Somebody may have cleaned up while the run was at work.
    fn make_dir(&self) -> Result<(), FileError> {
        match self.dir.dir().is_dir() {
            true => Ok(()),
            false => self.dir.prepare(),
        }
    }

    /// One message is enough for a disk that stays full.
    fn failed(&mut self, error: FileError) -> Option<Announcement> {
        let is_first = !std::mem::replace(&mut self.has_failed, true);
        is_first.then_some(Announcement::NotProjected { error })
    }
}

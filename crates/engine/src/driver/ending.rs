//! The end of a run: proven, archived, told.

use std::time::Duration;

use ralph_core::machine::{Now, Outcome, PauseReason, Stage};

use super::Driver;
use crate::announcement::Announcement;
use crate::error::DriveError;
use crate::notify::{LAST_WAIT, SILENT_WAIT};
use crate::perform::Host;
use crate::record::RecordError;
use crate::supervise::orphans;
use crate::{archive, clock, openspec};

impl Driver<'_> {
    pub(super) async fn leave(&mut self, outcome: &Outcome) {
        self.leave_lanes(outcome);
        if !outcome.can_go_on() {
            self.archive();
        }
        if *outcome == Outcome::Complete {
            self.archive_change().await;
        }
        self.tell_the_rest().await;
    }

    pub(super) fn archive(&mut self) {
        let run = &mut self.run;
        for told in archive::at_the_end(&run.plan, &run.paths, &mut run.recorder, &mut run.state) {
            match told {
                // The log says it already: the journal has it.
                Announcement::Archived { .. } => self.observer.announce(&told),
                _ => self.announce(told),
            }
        }
    }

    /// Only on request: these are files of the project.
    pub(super) async fn archive_change(&mut self) {
        let plan = &self.run.plan;
        let tasks = plan.tasks.as_ref().filter(|_| plan.keeping.openspec);
        let id = tasks.and_then(|tasks| openspec::change_of(plan.layout.root(), &tasks.path));
        let Some(id) = id else {
            return;
        };
        let now = clock::local_time(self.run.state.now().wall_ms);
        let date = now.get(..10).unwrap_or(&now);
        match openspec::archive(self.run.plan.layout.root(), &id, date).await {
            Ok(to) => self.announce(Announcement::Archived { to }),
            Err(message) => self.announce(Announcement::ChangeStays { id, message }),
        }
    }

    /// The end is what people want to know most. Whoever presses Ctrl+C does
    /// not want to wait for it.
    pub(super) async fn tell_the_rest(&mut self) {
        if self.courier.is_idle() {
            return;
        }
        if self.tell_within(SILENT_WAIT).await && !self.courier.is_idle() {
            if let Some(way) = self.courier.trying().cloned() {
                let seconds = LAST_WAIT.as_secs();
                self.announce(Announcement::Telling { way, seconds });
            }
            self.tell_within(LAST_WAIT).await;
        }
        for undelivered in self.courier.give_up() {
            self.announce(Announcement::NotTold { undelivered });
        }
    }

    /// Whether nobody wanted it to stop.
    async fn tell_within(&mut self, time: Duration) -> bool {
        let failures = tokio::select! {
            biased;
            Some(_) = self.requests.recv() => return false,
            failures = self.courier.finish(time) => failures,
        };
        for undelivered in failures {
            self.announce(Announcement::NotTold { undelivered });
        }
        true
    }

    /// At the end nobody carries the tag of this run.
    pub(super) fn prove_that_nobody_is_left(&mut self) {
        let ended = orphans::end_tagged(&self.run.tag);
        self.tell_of(&ended, |count| Announcement::SurvivorsEnded { count });
    }

    /// What can't be written down must not go on. The journal stays as it is:
    /// whoever takes the run up again begins where it ends.
    pub(super) fn give_up(&mut self, error: RecordError, at: Now) -> DriveError {
        self.child = None;
        self.beside = None;
        orphans::end_all();
        let outcome = Outcome::Paused {
            reason: PauseReason::Disk,
        };
        self.run.state.stage = Stage::Finished(outcome.clone());
        self.run.recorder.status(&self.run.state);
        let end = self.run.state.end_notice(outcome);
        self.observer.notice(&end, &self.run.state, at);
        DriveError::Unsaved(error)
    }
}

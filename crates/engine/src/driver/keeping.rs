//! Puts a run that is over where it is kept.

use ralph_core::lang::Say;
use ralph_core::machine::{Effect, step};

use super::Driver;
use crate::plan::Announcement;
use crate::{archive, clock, git, openspec};

impl Driver<'_> {
    /// The history is a projection: what fails here is told, and that is all.
    pub(super) fn archive(&mut self) {
        let job = archive::Job {
            layout: &self.layout,
            keeping: &self.plan.keeping,
            run: &self.paths,
            lang: self.plan.lang,
            head: Some(git::head(&self.plan.root)),
        };
        let (recorder, state) = (&mut self.recorder, &mut self.state);
        let archived = archive::archive(&job, &mut |event| {
            recorder.event(event)?;
            for effect in step(state, event) {
                if let Effect::Emit(notice) = effect {
                    recorder.notice(&notice, event.at);
                }
            }
            Ok(())
        });
        match archived {
            Ok(archived) => {
                let to = archived.path.strip_prefix(&self.plan.root);
                let to = to.unwrap_or(&archived.path).to_owned();
                self.observer.announce(&Announcement::Archived { to });
            }
            Err(error) => self.announce(&Announcement::NotArchived {
                message: error.say(self.plan.lang),
            }),
        }
        match archive::prune(&self.layout, &self.plan.keeping, self.plan.keeping.keep) {
            Ok(runs) if runs.is_empty() => {}
            Ok(runs) => self.announce(&Announcement::Pruned { runs }),
            Err(error) => self.announce(&Announcement::NotPruned {
                message: error.say(self.plan.lang),
            }),
        }
    }

    /// Only on request: these are files of the project.
    pub(super) async fn archive_change(&mut self) {
        let tasks = self
            .plan
            .tasks
            .as_ref()
            .filter(|_| self.plan.keeping.openspec);
        let id = tasks.and_then(|tasks| openspec::change_of(&self.plan.root, &tasks.path));
        let Some(id) = id else {
            return;
        };
        let now = clock::local_time(self.state.now().wall_ms);
        let date = now.get(..10).unwrap_or(&now);
        match openspec::archive(&self.plan.root, &id, date).await {
            Ok(to) => self.announce(&Announcement::Archived { to }),
            Err(message) => self.announce(&Announcement::ChangeStays { id, message }),
        }
    }
}

//! A person steers all lanes at once: their agents hear it, and the list that
//! they are made from changes.

use std::sync::Arc;

use ralph_core::lang::{Lang, Say};
use ralph_core::machine::{LaneEvent, LaneHint, Steer};
use ralph_core::tasks::{self, ListChange, ReadOptions};

use super::runner::{Heard, Lanes, Shared};
use crate::control;
use crate::mailbox::Wish;
use crate::steer::{self, SteerError};
use crate::supervise::orphans;
use crate::task_file::TaskFile;

impl Lanes {
    /// One that is only beginning can't be spoken to before it asks.
    pub(super) fn tell(&mut self, lane: u32, hint: u32, said: LaneHint) {
        match self.alive.get_mut(&lane) {
            Some(alive) if !alive.has_asked => alive.unsaid.push((hint, said)),
            Some(_) => self.say(lane, hint, said),
            None => {}
        }
    }

    pub(super) fn tell_unsaid(&mut self, lane: u32) {
        let Some(alive) = self.alive.get_mut(&lane) else {
            return;
        };
        alive.has_asked = true;
        for (hint, said) in std::mem::take(&mut alive.unsaid) {
            self.say(lane, hint, said);
        }
    }

    fn say(&self, lane: u32, hint: u32, said: LaneHint) {
        let shared = Arc::clone(&self.shared);
        tokio::task::spawn_blocking(move || shared.say(lane, hint, said));
    }

    pub fn change_list(
        &self,
        change: &ListChange,
        options: &ReadOptions,
    ) -> Result<(), SteerError> {
        self.shared.change_list(change, options)
    }
}

impl Shared {
    /// Says something to a lane as a person would.
    fn say(&self, lane: u32, hint: u32, said: LaneHint) {
        let LaneHint { text, keep } = said;
        let wish = Wish::Steer(Steer::Hint { text, keep });
        if control::tell(&self.layout_of(lane), wish, false).is_ok() {
            let heard = LaneEvent::Heard { lane, hint };
            let _ = self.tell.send(Heard::Told(heard));
        }
    }

    /// A person's change of the list goes onto the branch: every tree is made
    /// from there. One that Git ignores lies where the person has it.
    fn change_list(&self, change: &ListChange, options: &ReadOptions) -> Result<(), SteerError> {
        let name = &self.plan.tasks_file;
        let Some(path) = &self.plan.tracked else {
            let place = self.repo.root.join(name);
            let file = TaskFile::new(&self.repo.root, place, options.clone());
            return steer::change_file(&file, change).map(drop);
        };
        let _held = orphans::hold_off();
        let tip = self.tip();
        let bytes = self.repo.file_of(&tip, path).map_err(|e| failed(&e))?;
        let read = |bytes: &[u8]| tasks::read(name, bytes, options);
        let list = read(&bytes).map_err(|error| failed(&error.say(Lang::En)))?;
        let changed = change.apply(&bytes, &list, read)?;
        let message = format!("Change the list: {}\n", changed.task);
        let moved = self.repo.tree_of(&tip).and_then(|tree| {
            let tree = self.repo.with_file(&tree, path, &changed.bytes)?;
            let commit = self.repo.commit(&tree, &tip, &message)?;
            Ok(self.advance(&tip, &commit))
        });
        match moved.map_err(|e| failed(&e))? {
            true => Ok(()),
            false => Err(failed(&"the branch moved meanwhile")),
        }
    }
}

fn failed(error: &dyn std::fmt::Display) -> SteerError {
    SteerError::Failed {
        message: error.to_string(),
    }
}

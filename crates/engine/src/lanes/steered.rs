//! A person steers all lanes at once: their agents hear it, and the list that
//! they are made from changes.

use std::time::Duration;

use ralph_core::lang::{Lang, Say};
use ralph_core::machine::{LaneEvent, LaneHint, Steer};
use ralph_core::tasks::{self, ListChange, ReadOptions};

use super::runner::{Heard, Lanes, Shared};
use crate::control;
use crate::mailbox::Wish;
use crate::steer::{self, SteerError};
use crate::supervise::orphans;
use crate::task_file::TaskFile;

/// How often a lane that can't be spoken to yet is tried.
const TRIES: u32 = 50;
const BETWEEN_TRIES: Duration = Duration::from_millis(100);

impl Lanes {
    pub fn change_list(
        &self,
        change: &ListChange,
        options: &ReadOptions,
    ) -> Result<(), SteerError> {
        self.shared.change_list(change, options)
    }
}

impl Shared {
    /// Says something to a lane as a person would; one that is only beginning
    /// hears it as soon as it can.
    pub fn say(&self, lane: u32, hint: u32, said: LaneHint) {
        let LaneHint { text, keep } = said;
        let wish = Wish::Steer(Steer::Hint { text, keep });
        let layout = self.layout_of(lane);
        for _ in 0..TRIES {
            if control::tell(&layout, wish.clone(), false).is_ok() {
                let heard = LaneEvent::Heard { lane, hint };
                let _ = self.tell.send(Heard::Told(heard));
                return;
            }
            std::thread::sleep(BETWEEN_TRIES);
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

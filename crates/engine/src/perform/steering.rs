//! A person's wish becomes an event of the run that is driven here.

use ralph_core::machine::{Kind, Stage, Steer};

use super::OpenRun;
use crate::mailbox::reply_text;
use crate::steer::check;

impl OpenRun {
    /// The event that a wish becomes; `None` where it does not fit. What runs
    /// now is judged by its own look at the world: nobody looks in its place.
    pub fn steer(&mut self, steer: Steer) -> Option<Kind> {
        check(&steer, &self.state, self.looker.last_list()).ok()?;
        let mut task = None;
        let steer = match steer {
            Steer::Hint { text, keep } => Steer::Hint {
                text: reply_text(&text)?,
                keep,
            },
            steer => steer,
        };
        let scope = &mut self.looker.scope;
        match &steer {
            Steer::Hint { .. } | Steer::DropHint { .. } => {}
            Steer::Skip { tasks } => scope.skipped.extend(tasks.iter().cloned()),
            Steer::Unskip { tasks } => scope.skipped.retain(|id| !tasks.contains(id)),
            Steer::Focus { task } => scope.focus.clone_from(task),
            Steer::Retry { task } => {
                scope.skipped.remove(task);
                scope.focus = Some(task.clone());
                self.looker.untick(std::slice::from_ref(task)).ok()?;
            }
            Steer::List(change) => task = Some(Box::new(self.looker.change(change).ok()?)),
        }
        let rests = matches!(self.state.stage, Stage::Waiting | Stage::Asking(_));
        let seen = rests.then(|| Box::new(self.look()));
        Some(Kind::Steered { steer, task, seen })
    }
}

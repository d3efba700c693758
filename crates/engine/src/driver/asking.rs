//! Asks the forge, and lets a review be reproduced, as children beside the loop.

use ralph_core::forge::ForgeAsk;

use super::{ChildDone, Driver};
use crate::reproduce::Reproduction;
use crate::turn::run_env;

impl Driver<'_> {
    pub(super) fn ask_forge(&mut self, ask: ForgeAsk) {
        let Some(forge) = self.plan.forge.clone() else {
            return;
        };
        let env = run_env(&self.run_id, self.state.turns, None);
        let stop = self.fresh_stop();
        self.child = Some(Box::pin(async move {
            ChildDone::Forge(forge.perform(&ask, &env, stop).await)
        }));
    }

    /// Runs what a review says will show its findings.
    pub(super) fn start_check(&mut self, turn: u32, commands: Vec<String>) {
        let job = Reproduction {
            verifier: self.plan.reproducer.clone(),
            permit: self.plan.permit,
            root: self.plan.root.clone(),
            env: run_env(
                &self.run_id,
                turn,
                self.plan.tasks.as_ref().map(|t| t.path.as_path()),
            ),
            log: self.paths.turn_verification(turn),
        };
        let stop = self.fresh_stop();
        self.child = Some(Box::pin(async move {
            ChildDone::Checked(job.run(turn, commands, stop).await)
        }));
    }
}

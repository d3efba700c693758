//! Asks the forge, as a child beside the loop.

use ralph_core::forge::ForgeAsk;

use super::{ChildDone, Driver};
use crate::turn::run_env;

impl Driver<'_> {
    pub(super) fn ask_forge(&mut self, ask: ForgeAsk) {
        let Some(forge) = self.plan.forge.clone() else {
            return;
        };
        let env = run_env(&self.run_id, self.state.turn.number, None);
        let stop = self.fresh_stop();
        self.child = Some(Box::pin(async move {
            ChildDone::Forge(forge.perform(&ask, &env, stop).await)
        }));
    }
}

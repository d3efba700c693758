//! What the driver does about checks: runs them, empties the boxes of ticks
//! that were turned back, runs the end-to-end tests.

use ralph_core::machine::{CheckScope, CommandResult, Kind, VerifyReport};

use super::{ChildDone, Driver};
use crate::record::Made;
use crate::turn::run_env;
use crate::verify::Order;

impl Driver<'_> {
    pub(super) fn start_verification(&mut self, turn: u32, scope: &CheckScope) {
        let Some(verifier) = self.plan.verifier.clone() else {
            // The configuration that the run goes on with has no command.
            self.queue.push_back(Kind::Verified(VerifyReport {
                turn,
                tree: None,
                results: Vec::new(),
            }));
            return;
        };
        let order = Order::new(&self.state.rules.checks, &verifier.commands, scope);
        let root = self.plan.root.clone();
        let log = self.paths.turn_verification(turn);
        let env = self.env(turn);
        let tree = self.looker.tree();
        let stop = self.fresh_stop();
        self.child = Some(Box::pin(async move {
            let mut verified = verifier
                .run_order(&order, turn, &root, &env, log, stop)
                .await;
            verified.report.tree = tree;
            ChildDone::Verified(verified)
        }));
    }

    pub(super) fn start_e2e(&mut self, turn: u32) {
        let Some(e2e) = self.plan.e2e.clone() else {
            // As above: nothing runs, so that nothing passes.
            let result = CommandResult {
                output: "no command ran".into(),
                ..CommandResult::default()
            };
            self.queue.push_back(Kind::E2eEnded { turn, result });
            return;
        };
        let root = self.plan.root.clone();
        let log = self.paths.turn_verification(turn);
        let env = self.env(turn);
        let stop = self.fresh_stop();
        self.child = Some(Box::pin(async move {
            ChildDone::E2e(e2e.run(turn, &root, &env, log, stop).await)
        }));
    }

    pub(super) fn untick(&mut self, ids: &[String]) {
        let unticked = self.looker.untick(ids);
        self.recorder.note(Made::Tasks, unticked);
        let seen = self.looker.look();
        let left = self.looker.ticked_among(ids);
        self.queue.push_back(Kind::Unticked { seen, left });
    }

    fn env(&self, turn: u32) -> Vec<(String, String)> {
        let tasks = self.plan.tasks.as_ref().map(|tasks| tasks.path.as_path());
        run_env(&self.run_id, turn, tasks)
    }
}

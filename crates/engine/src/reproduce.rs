//! Runs the commands that shall show what a review found. Their words are an
//! agent's: what the guard would not let an agent run is not run for it.

use std::path::PathBuf;

use ralph_core::machine::{CommandResult, VerifyReport};
use tokio::sync::watch;

use crate::plan::Permit;
use crate::supervise::Stop;
use crate::verify::Verifier;

/// Everything that it takes; it owns all of it, so that it can run beside the
/// driver.
#[derive(Debug)]
pub(crate) struct Reproduction {
    pub verifier: Verifier,
    pub permit: Option<Permit>,
    pub root: PathBuf,
    pub env: Vec<(String, String)>,
    pub log: PathBuf,
}

impl Reproduction {
    /// Each command is run, whatever became of the one before.
    pub(crate) async fn run(
        self,
        turn: u32,
        commands: Vec<String>,
        stop: watch::Receiver<Stop>,
    ) -> VerifyReport {
        let mut results = Vec::new();
        for command in commands {
            let permit = self.permit;
            if let Some(reason) = permit.and_then(|permit| permit(&self.root, &command)) {
                results.push(CommandResult {
                    command,
                    output: format!("[not run: {reason}]"),
                    ..CommandResult::default()
                });
                continue;
            }
            let one = Verifier {
                commands: vec![command],
                ..self.verifier.clone()
            };
            let log = self.log.clone();
            let ran = one
                .run(turn, &self.root, &self.env, log, stop.clone())
                .await;
            results.extend(ran.report.results);
        }
        VerifyReport {
            turn,
            tree: None,
            results,
        }
    }
}

//! Sees one job through: its run, its lease, its events, and its one result.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::{Notify, mpsc, watch};
use tokio::time::MissedTickBehavior;

use crate::board::{Board, JobEvent};
use crate::hold::{Held, Holding};
use crate::job::{self, Outcome, Release, Spec, State};
use crate::worker::{Ask, Assignment, Ended, Runner, Said, now_ms};

/// How long the last events may take to be sent on.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// An upload that the server did not take is tried again after this.
const AGAIN: Duration = Duration::from_millis(500);
/// Events on their way to the server.
const EVENTS: usize = 1024;

/// Also where it was said before anybody listened.
async fn told_to_leave(ask: &mut watch::Receiver<Ask>) {
    if ask.wait_for(|ask| *ask == Ask::Leave).await.is_err() {
        std::future::pending().await
    }
}

/// Who does it, and for whom.
pub(crate) struct Keeper<R> {
    pub runner: Arc<R>,
    pub account: Option<String>,
    pub worker: String,
    pub ask: watch::Receiver<Ask>,
    /// Look at the lease at once.
    pub nudge: Arc<Notify>,
}

impl<R: Runner> Keeper<R> {
    pub async fn see_through(mut self, mut holding: Holding) -> Said {
        let job = holding.id.clone();
        let ended = match holding.board.spec(&job).await {
            Ok(spec) => self.run(&mut holding, spec).await,
            Err(error) => Some(Ended::Failed(format!("{error:?}"))),
        };
        let said = match ended {
            None => Said::Lost { job },
            Some(ended) => self.finish(&mut holding, ended).await,
        };
        self.runner.clear(&holding.token);
        said
    }

    /// `None` where the lease was lost.
    async fn run(&mut self, holding: &mut Holding, spec: Spec) -> Option<Ended> {
        let (stop, stopped) = watch::channel(false);
        let (events, heard) = mpsc::channel(EVENTS);
        let assignment = Assignment {
            id: holding.id.clone(),
            token: holding.token.clone(),
            attempt: holding.state.attempt,
            spec,
            board: holding.board.clone(),
            events,
            stop: stopped.clone(),
        };
        let relay = Relay {
            board: holding.board.clone(),
            job: holding.id.clone(),
            attempt: holding.state.attempt,
            worker: self.worker.clone(),
            account: self.account.clone(),
        };
        let relay = tokio::spawn(relay.run(heard));
        let runner = Arc::clone(&self.runner);
        let (board, token) = (holding.board.clone(), holding.token.clone());
        let mut task = tokio::spawn(async move {
            let ended = runner.run(assignment).await;
            upload(&board, &token, &ended, stopped).await;
            ended
        });
        let mut renewal = tokio::time::interval(holding.holds / 3);
        renewal.set_missed_tick_behavior(MissedTickBehavior::Delay);
        renewal.tick().await;
        let (mut is_lost, mut is_leaving) = (false, false);
        let ended = loop {
            let held = tokio::select! {
                ended = &mut task => break ended,
                () = told_to_leave(&mut self.ask), if !is_leaving => {
                    is_leaving = true;
                    stop.send_replace(true);
                    continue;
                }
                _ = renewal.tick(), if !is_lost => holding.renew().await,
                () = self.nudge.notified(), if !is_lost => holding.renew().await,
            };
            if held == Held::Lost {
                is_lost = true;
                stop.send_replace(true);
            }
        };
        // What was said is on its way before the end is told; but a server
        // that is gone must not cost the lease.
        let aborted = relay.abort_handle();
        if tokio::time::timeout(LAST_WORDS, relay).await.is_err() {
            aborted.abort();
        }
        let ended = ended.unwrap_or_else(|error| Ended::Failed(error.to_string()));
        (!is_lost).then_some(ended)
    }

    async fn finish(&self, holding: &mut Holding, ended: Ended) -> Said {
        let (job, token) = (holding.id.clone(), holding.token.clone());
        let (release, why) = match ended {
            Ended::Result(result) => {
                let outcome = Outcome {
                    worker: self.worker.clone(),
                    token: token.clone(),
                    exit: result.exit,
                    outcome: result.outcome.clone(),
                    commit: result.commit,
                    has_bundle: result.bundle.is_some(),
                    duration_ms: result.duration_ms,
                };
                let next = |state: &State| state.done(outcome.clone());
                let counts = holding
                    .finish(next, |state| state.was_done_by(&token))
                    .await;
                return match counts {
                    true => Said::Done {
                        job,
                        outcome: result.outcome,
                    },
                    false => Said::Lost { job },
                };
            }
            Ended::Declined(why) => (Release::Declined(why.clone()), why),
            Ended::Failed(why) => (Release::Failed(why.clone()), why),
            Ended::Stopped => (Release::Leaving, String::new()),
        };
        let next = |state: &State| state.released(&token, release.clone());
        let is_free = |state: &State| !state.is_held_by(&token);
        match holding.finish(next, is_free).await {
            true => Said::Released { job, why },
            false => Said::Lost { job },
        }
    }
}

/// Puts what a run made there, under the name of the attempt. Only the state
/// of the job says whether it counts.
async fn upload(board: &Board, token: &str, ended: &Ended, stop: watch::Receiver<bool>) {
    let Ended::Result(result) = ended else { return };
    let report = job::report_of(token);
    while !*stop.borrow() {
        let bundle = match &result.bundle {
            Some(file) => board.put_result(&job::bundle_of(token), file).await,
            None => Ok(()),
        };
        let report = match bundle {
            Ok(()) => board.put_report(&report, &result.report).await,
            Err(error) => Err(error),
        };
        if report.is_ok() {
            return;
        }
        tokio::time::sleep(AGAIN).await;
    }
}

/// Sends the events of a run on, and sees a usage limit among them.
struct Relay {
    board: Board,
    job: String,
    attempt: u32,
    worker: String,
    account: Option<String>,
}

impl Relay {
    async fn run(self, mut heard: mpsc::Receiver<Value>) {
        while let Some(event) = heard.recv().await {
            if let (Some(account), Some(left)) = (&self.account, limit_in(&event)) {
                // The run waits by itself; others hear of it here.
                let _ = self
                    .board
                    .hold(account, now_ms().saturating_add(left))
                    .await;
            }
            let event = JobEvent {
                attempt: self.attempt,
                worker: self.worker.clone(),
                event,
            };
            self.board.tell(&self.job, &event).await;
        }
    }
}

/// How long the account of a run can't be used, in milliseconds, where this
/// event says so.
pub fn limit_in(event: &Value) -> Option<u64> {
    let is_limit = event["event"] == "wait" && event["reason"] == "usage_limit";
    is_limit.then(|| event["duration_ms"].as_u64()).flatten()
}

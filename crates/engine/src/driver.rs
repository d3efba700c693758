//! The outer loop: everything that wakes it becomes one event, the machine
//! decides, the journal is written, and what was decided is done.

use std::collections::{BTreeSet, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use ralph_core::machine::{
    Answer, Effect, Event, Kind, Limit, Notice, Now, Outcome, Request, State, TaskRef, Turn,
    TurnReport, VerifyReport, WaitReason, step,
};
use ralph_core::promise::{self, Promise, PromiseWarning};
use ralph_core::tasks::Scope;
use ralph_core::text;
use ralph_store::layout::RunPaths;
use ralph_store::lock::{Lock, LockInfo};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, sleep_until};

use crate::error::DriveError;
use crate::look::Looker;
use crate::opening::Opening;
use crate::plan::{Announcement, Plan};
use crate::record::Recorder;
use crate::supervise::{Stop, orphans};
use crate::turn::{Call, Called, Echo, run_env};
use crate::{clock, git};

/// Somebody who watches a run, and may be asked.
pub trait Observer {
    fn begin(&mut self, run: &Beginning<'_>);
    fn notice(&mut self, notice: &Notice, state: &State, at: Now);
    /// A doubt about what the agent said; it changes no decision.
    fn doubt(&mut self, doubt: &PromiseWarning);
    fn announce(&mut self, announcement: &Announcement);
    /// Where the agent's output is shown while it comes.
    fn echo(&self) -> Option<Echo>;
    /// Shows the menu of a limit; `None` where nobody can choose.
    fn menu(
        &mut self,
        limit: Limit,
        state: &State,
        open: Vec<TaskRef>,
    ) -> Option<oneshot::Receiver<Choice>>;
}

/// What an observer learns first.
#[derive(Debug)]
pub struct Beginning<'a> {
    pub run_id: &'a str,
    pub plan: &'a Plan,
    /// A run that died with the lock in its hands.
    pub took_over: Option<&'a LockInfo>,
}

/// What a person chose from the menu of a limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    Extend,
    /// Leave these tasks out (VALV-12).
    Skip(BTreeSet<String>),
    SaveAndExit,
    Abandon,
}

/// Runs a plan to its end.
pub async fn drive(
    plan: Plan,
    opening: &Opening,
    observer: &mut dyn Observer,
    requests: mpsc::UnboundedReceiver<Request>,
) -> Result<Outcome, DriveError> {
    let mut driver = Driver::begin(plan, opening, observer, requests)?;
    driver.run().await
}

type Child = Pin<Box<dyn Future<Output = ChildDone>>>;

enum ChildDone {
    Turn(Called),
    Verified(VerifyReport),
}

struct Driver<'a> {
    plan: Plan,
    state: State,
    looker: Looker,
    recorder: Recorder,
    paths: RunPaths,
    run_id: String,
    observer: &'a mut dyn Observer,
    requests: mpsc::UnboundedReceiver<Request>,
    /// Events that are known already.
    queue: VecDeque<Kind>,
    child: Option<Child>,
    stop: watch::Sender<Stop>,
    wake_at: Option<Instant>,
    menu: Option<oneshot::Receiver<Choice>>,
    known_unknowns: BTreeSet<String>,
    /// Held to the end of the run.
    _lock: Lock,
}

impl<'a> Driver<'a> {
    fn begin(
        plan: Plan,
        opening: &Opening,
        observer: &'a mut dyn Observer,
        requests: mpsc::UnboundedReceiver<Request>,
    ) -> Result<Driver<'a>, DriveError> {
        let open = opening.open(&plan)?;
        observer.begin(&Beginning {
            run_id: open.id.as_str(),
            plan: &plan,
            took_over: open.lock.took_over.as_ref(),
        });
        orphans::adopt();
        let mut announcements = plan.announcements.clone();
        announcements.extend(reap(open.lock.took_over.as_ref()));
        let scope = Scope {
            skipped: open.skipped,
            ..plan.scope.clone()
        };
        let mut looker = Looker::new(&plan.root, plan.tasks.clone(), scope, plan.lang);
        let seen = looker.look();
        if let Some(change) = open
            .before
            .as_ref()
            .and_then(|before| Announcement::since(before, &seen))
        {
            announcements.push(change);
        }
        let first = opening.first_event(seen);
        let mut driver = Driver {
            state: open.state,
            looker,
            recorder: open.recorder,
            paths: open.paths,
            run_id: open.id.as_str().into(),
            observer,
            requests,
            queue: VecDeque::from([first]),
            child: None,
            stop: watch::Sender::new(Stop::No),
            wake_at: None,
            menu: None,
            known_unknowns: BTreeSet::new(),
            plan,
            _lock: open.lock,
        };
        for announcement in announcements {
            driver.announce(&announcement);
        }
        Ok(driver)
    }

    async fn run(&mut self) -> Result<Outcome, DriveError> {
        loop {
            let kind = match self.queue.pop_front() {
                Some(kind) => kind,
                None => self.wake().await,
            };
            let event = Event {
                at: clock::now(),
                kind,
            };
            let effects = step(&mut self.state, &event);
            self.recorder.event(&event)?;
            let told = self.recorder.status(&self.state);
            // Later it can be made again from the journal; a run that nobody
            // can ever look at should not begin.
            if matches!(event.kind, Kind::Started { .. }) {
                told?;
            }
            for effect in effects {
                if let Some(outcome) = self.perform(effect, event.at) {
                    return Ok(outcome);
                }
            }
        }
    }

    /// The one place where the loop sleeps.
    async fn wake(&mut self) -> Kind {
        tokio::select! {
            biased;
            Some(request) = self.requests.recv() => Kind::Requested { request },
            done = finished(&mut self.child) => {
                self.child = None;
                let count = orphans::end_all();
                if count > 0 {
                    self.announce(&Announcement::OrphansEnded { count });
                }
                match done {
                    ChildDone::Turn(called) => Kind::TurnEnded(self.judge(called)),
                    ChildDone::Verified(report) => Kind::Verified(report),
                }
            }
            () = at(self.wake_at) => {
                self.wake_at = None;
                Kind::Woke { seen: self.looker.look() }
            }
            choice = chosen(&mut self.menu) => {
                self.menu = None;
                Kind::Answered { answer: self.answer(choice) }
            }
        }
    }

    fn perform(&mut self, effect: Effect, at: Now) -> Option<Outcome> {
        match effect {
            Effect::Emit(notice) => {
                self.recorder.notice(&notice, at);
                self.observer.notice(&notice, &self.state, at);
            }
            Effect::RunAgent(turn) => self.start_turn(turn),
            Effect::Verify { turn } => self.start_verification(turn),
            Effect::KeepInStep => self.looker.keep_in_step(),
            Effect::Wait { ms, why } => {
                let ms = if why == WaitReason::Backoff {
                    with_jitter(ms)
                } else {
                    ms
                };
                self.wake_at = Some(Instant::now() + Duration::from_millis(ms));
            }
            Effect::StopChild { kill } => {
                self.stop
                    .send_replace(if kill { Stop::Now } else { Stop::Gracefully });
            }
            Effect::Ask(limit) => {
                self.menu = self
                    .observer
                    .menu(limit, &self.state, self.looker.open_tasks());
                if self.menu.is_none() {
                    self.queue.push_back(Kind::Answered {
                        answer: Answer::SaveAndExit,
                    });
                }
            }
            Effect::Finish(outcome) => return Some(outcome),
        }
        None
    }

    fn start_turn(&mut self, turn: Turn) {
        let branch = git::head(&self.plan.root).branch.unwrap_or_default();
        let rendered = self.plan.prompter.prompt(&turn, &self.state, &branch);
        self.announce_unknown(rendered.unknown);
        let number = u64::from(turn.turn);
        let mut env = run_env(
            &self.run_id,
            turn.turn,
            self.plan.tasks.as_ref().map(|t| t.path.as_path()),
        );
        env.extend(self.plan.agent_env.iter().cloned());
        let call = Call {
            agent: self.plan.agent.clone(),
            root: self.plan.root.clone(),
            prompt: rendered.text,
            prompt_file: self.paths.turn_prompt(number),
            output_file: self.paths.turn_output(number),
            env,
            env_filter: self.plan.env_filter.clone(),
            linger: crate::turn::LINGER,
            idle: self.plan.idle,
            grace: self.plan.grace,
            echo: self.observer.echo(),
            turn,
        };
        let stop = self.fresh_stop();
        self.child = Some(Box::pin(
            async move { ChildDone::Turn(call.make(stop).await) },
        ));
    }

    fn start_verification(&mut self, turn: u32) {
        let Some(verifier) = self.plan.verifier.clone() else {
            return;
        };
        let root = self.plan.root.clone();
        let log = self.paths.turn_verification(u64::from(turn));
        let env = run_env(
            &self.run_id,
            turn,
            self.plan.tasks.as_ref().map(|t| t.path.as_path()),
        );
        let stop = self.fresh_stop();
        self.child = Some(Box::pin(async move {
            ChildDone::Verified(verifier.run(turn, &root, &env, log, stop).await)
        }));
    }

    /// A stop that was meant for one child must not reach the next.
    fn fresh_stop(&mut self) -> watch::Receiver<Stop> {
        self.stop = watch::Sender::new(Stop::No);
        self.stop.subscribe()
    }

    fn judge(&mut self, called: Called) -> TurnReport {
        for trouble in &called.troubles {
            self.announce(trouble);
        }
        let detection = promise::detect(&called.text, &self.plan.promise, Some(&called.prompt));
        for doubt in &detection.warnings {
            self.observer.doubt(doubt);
        }
        TurnReport {
            turn: called.turn,
            end: called.end,
            duration_ms: called.duration_ms,
            mentioned: detection.warnings.iter().find_map(|doubt| match doubt {
                PromiseWarning::OnlyMentioned { text } => Some(text.clone()),
                _ => None,
            }),
            promise: detection.promise.map(without_secrets),
            failure: called.failure,
            seen: self.looker.look(),
        }
    }

    fn answer(&mut self, choice: Option<Choice>) -> Answer {
        match choice {
            Some(Choice::Extend) => Answer::Extend,
            Some(Choice::Skip(ids)) => {
                self.looker.scope.skipped.extend(ids.iter().cloned());
                Answer::Simplify {
                    skipped: ids.into_iter().collect(),
                    seen: Box::new(self.looker.look()),
                }
            }
            Some(Choice::Abandon) => Answer::Abandon,
            Some(Choice::SaveAndExit) | None => Answer::SaveAndExit,
        }
    }

    fn announce_unknown(&mut self, names: Vec<String>) {
        for name in names {
            if self.known_unknowns.insert(name.clone()) {
                let template = self.plan.prompter.template.path.clone();
                let template = template.unwrap_or_default();
                self.announce(&Announcement::UnknownVariable { name, template });
            }
        }
    }

    fn announce(&mut self, announcement: &Announcement) {
        self.recorder.announce(announcement);
        self.observer.announce(announcement);
    }
}

/// A promise goes into logs, state and prompts in the agent's own words.
fn without_secrets(promise: Promise) -> Promise {
    let hide = |words: String| text::redact(&words).into_owned();
    match promise {
        Promise::Blocked(reason) => Promise::Blocked(hide(reason)),
        Promise::E2eFailed(reason) => Promise::E2eFailed(hide(reason)),
        Promise::Unknown(words) => Promise::Unknown(hide(words)),
        agreed => agreed,
    }
}

/// A dead engine could not end its agent; nobody may edit beside us.
fn reap(dead: Option<&LockInfo>) -> Option<Announcement> {
    let run = dead?.run_id.clone();
    let count = orphans::end_tagged(&run);
    (count > 0).then_some(Announcement::Reaped { run, count })
}

async fn finished(child: &mut Option<Child>) -> ChildDone {
    match child {
        Some(child) => child.await,
        None => std::future::pending().await,
    }
}

async fn at(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

async fn chosen(menu: &mut Option<oneshot::Receiver<Choice>>) -> Option<Choice> {
    match menu {
        Some(menu) => menu.await.ok(),
        None => std::future::pending().await,
    }
}

/// Up to a fifth more, so that many loops do not come back at once.
fn with_jitter(ms: u64) -> u64 {
    ms + u64::from(clock::random()) % (ms / 5 + 1)
}

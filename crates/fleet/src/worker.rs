//! A worker: takes jobs that it may take, keeps its leases, and gives each
//! job's work to a [`Runner`].

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use async_nats::jetstream::kv::{Entry, Operation, Watch};
use futures_util::StreamExt;
use serde_json::Value;
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;

use crate::board::{Board, Hold, JobEvent, Presence, Swap, Word};
use crate::error::FleetError;
use crate::hold::Holding;
use crate::job::{self, Lease, Me, Spec, State};
use crate::keeper::Keeper;
use crate::view::{Rests, Seen, View};

/// How often leases of others are looked at.
const TICK: Duration = Duration::from_millis(250);
/// A watch that is silent for so long while there is nothing to do may be one
/// that the server has forgotten.
const STALE: Duration = Duration::from_secs(15);
/// Who works on what is told this often at most.
const NEWS: Duration = Duration::from_secs(1);

/// What a worker is told to do from outside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ask {
    #[default]
    Work,
    /// Finish what is in hand.
    Drain,
    /// Give back what is in hand.
    Leave,
}

#[derive(Clone, Debug)]
pub struct Options {
    pub me: Me,
    pub host: String,
    pub version: String,
    pub capacity: usize,
    /// Whoever shares it shares its usage limit.
    pub account: Option<String>,
    /// How long a lease holds without renewal.
    pub holds: Duration,
    /// Goes when nothing is left to do.
    pub until_empty: bool,
}

/// One job for a runner.
#[derive(Debug)]
pub struct Assignment {
    pub id: String,
    pub token: String,
    pub attempt: u32,
    pub spec: Spec,
    pub board: Board,
    /// What the run says, event by event.
    pub events: mpsc::Sender<Value>,
    /// True once the run has to end, and to leave nothing behind.
    pub stop: watch::Receiver<bool>,
}

/// How a run ended.
#[derive(Debug)]
pub enum Ended {
    Result(RunResult),
    /// This worker will never run it.
    Declined(String),
    Failed(String),
    /// It was asked to.
    Stopped,
}

#[derive(Debug, Default)]
pub struct RunResult {
    pub exit: i32,
    pub outcome: String,
    pub commit: Option<String>,
    pub bundle: Option<PathBuf>,
    pub report: Vec<u8>,
    pub duration_ms: u64,
}

pub trait Runner: Send + Sync + 'static {
    fn run(&self, job: Assignment) -> impl Future<Output = Ended> + Send;

    /// Passes a word of a person on to the run of an attempt; gives what came
    /// of it.
    fn tell(&self, token: &str, word: &Word) -> impl Future<Output = Value> + Send;

    /// Takes away what a job left here.
    fn clear(&self, token: &str);
}

/// What a worker tells whoever looks on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    Took {
        job: String,
        attempt: u32,
    },
    Done {
        job: String,
        outcome: String,
    },
    /// Somebody else has it, or it was cancelled: nothing was written.
    Lost {
        job: String,
    },
    Released {
        job: String,
        why: String,
    },
    GaveUp {
        job: String,
    },
    Held {
        until_ms: u64,
    },
}

pub fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(0))
}

/// An attempt of ours.
struct Running {
    token: String,
    attempt: u32,
    /// Has it look at its lease at once.
    nudge: Arc<Notify>,
}

struct Worker<R> {
    board: Board,
    options: Options,
    runner: Arc<R>,
    view: View,
    rests: Rests,
    /// By job.
    running: BTreeMap<String, Running>,
    /// The last revision of a word that was heard.
    heard_words: u64,
    jobs: JoinSet<Said>,
    tell: mpsc::UnboundedSender<Said>,
    ask: watch::Receiver<Ask>,
    draining: bool,
    held_until_ms: u64,
    taken: u64,
    states: Option<Watch>,
    control: Option<Watch>,
    heard: Instant,
    /// Everything that was there at the beginning has been seen.
    is_loaded: bool,
    told_presence: Instant,
    told_running: usize,
}

/// Works until it is told to go, or, if that was wanted, until nothing is left.
pub async fn work<R: Runner>(
    board: Board,
    options: Options,
    runner: R,
    tell: mpsc::UnboundedSender<Said>,
    ask: watch::Receiver<Ask>,
) -> Result<(), FleetError> {
    let mut worker = Worker {
        board,
        options,
        runner: Arc::new(runner),
        view: View::default(),
        rests: Rests::default(),
        running: BTreeMap::new(),
        heard_words: 0,
        jobs: JoinSet::new(),
        tell,
        ask,
        draining: false,
        held_until_ms: 0,
        taken: 0,
        states: None,
        control: None,
        heard: Instant::now(),
        is_loaded: false,
        told_presence: Instant::now(),
        told_running: 0,
    };
    worker.run().await;
    let id = worker.options.me.id.clone();
    worker.board.forget_presence(&id).await;
    worker.board.close().await;
    Ok(())
}

/// Whoever can't tell us anything any more keeps nobody awake.
async fn changed(ask: &mut watch::Receiver<Ask>) {
    if ask.changed().await.is_err() {
        std::future::pending().await
    }
}

async fn next(watch: &mut Option<Watch>) -> Option<Entry> {
    match watch {
        Some(entries) => match entries.next().await {
            Some(Ok(entry)) => Some(entry),
            // It is made anew with the next tick.
            _ => {
                *watch = None;
                None
            }
        },
        None => std::future::pending().await,
    }
}

impl<R: Runner> Worker<R> {
    async fn run(&mut self) {
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        self.tell_presence().await;
        while !self.is_over().await {
            self.take_all().await;
            tokio::select! {
                entry = next(&mut self.states) => self.see(entry),
                entry = next(&mut self.control) => self.obey(entry),
                Some(said) = self.jobs.join_next() => self.ended(said),
                () = changed(&mut self.ask) => {}
                _ = tick.tick() => self.tick().await,
            }
        }
    }

    async fn is_over(&mut self) -> bool {
        if !self.running.is_empty() {
            return false;
        }
        let asked = if self.draining { Ask::Drain } else { Ask::Work };
        if (*self.ask.borrow()).max(asked) > Ask::Work {
            return true;
        }
        let me = &self.options.me;
        let seems_done = self.options.until_empty && self.is_loaded && !self.view.holds_any(me);
        if !seems_done || !self.board.is_connected() {
            return false;
        }
        // Somebody else may have been quicker with a job, and may be dead.
        let Ok(all) = self.board.states().await else {
            return false;
        };
        let is_done = all.iter().all(|(_, state)| !state.is_for(me));
        if !is_done {
            self.states = None;
            tokio::time::sleep(TICK).await;
        }
        is_done
    }

    async fn tick(&mut self) {
        let is_idle = self.running.len() < self.options.capacity;
        if is_idle && self.heard.elapsed() > STALE {
            (self.states, self.control) = (None, None);
            self.heard = Instant::now();
        }
        if self.states.is_none() {
            self.states = self.board.states.watch_with_history(">").await.ok();
            let values = match self.states {
                Some(_) => self
                    .board
                    .states
                    .status()
                    .await
                    .map(|status| status.values()),
                None => return,
            };
            self.is_loaded |= values.is_ok_and(|count| count == 0);
        }
        if self.control.is_none() {
            self.control = self.board.control.watch_with_history(">").await.ok();
        }
        let since = self.told_presence.elapsed();
        let is_news = self.told_running != self.running.len() && since > NEWS;
        if is_news || since > crate::board::PRESENCE / 4 {
            self.tell_presence().await;
        }
    }

    async fn tell_presence(&mut self) {
        self.told_presence = Instant::now();
        self.told_running = self.running.len();
        let options = &self.options;
        let presence = Presence {
            host: options.host.clone(),
            pid: std::process::id(),
            version: options.version.clone(),
            capacity: options.capacity,
            labels: options.me.labels.iter().cloned().collect(),
            account: options.account.clone(),
            jobs: self.running.keys().cloned().collect(),
            draining: self.draining || *self.ask.borrow() > Ask::Work,
            held_until_ms: Some(self.held_until_ms).filter(|until| *until > now_ms()),
        };
        self.board.tell_presence(&options.me.id, &presence).await;
    }

    fn see(&mut self, entry: Option<Entry>) {
        let Some(entry) = entry else { return };
        self.heard = Instant::now();
        self.is_loaded |= entry.delta == 0;
        if entry.operation != Operation::Put || !job::is_name(&entry.key) {
            return self.view.forget(&entry.key);
        }
        // Written by another version: not for us.
        let Ok(state) = serde_json::from_slice::<State>(&entry.value) else {
            return self.view.forget(&entry.key);
        };
        if let Some(running) = self.running.get(&entry.key)
            && !state.is_held_by(&running.token)
        {
            running.nudge.notify_one();
        }
        let (revision, now) = (entry.revision, Instant::now());
        self.view.see(&entry.key, revision, state, now);
    }

    fn obey(&mut self, entry: Option<Entry>) {
        let Some(entry) = entry.filter(|entry| entry.operation == Operation::Put) else {
            return;
        };
        match entry.key.split_once('.') {
            Some(("drain", worker)) if worker == self.options.me.id => self.draining = true,
            Some(("limit", account)) if Some(account) == self.options.account.as_deref() => {
                let Ok(hold) = serde_json::from_slice::<Hold>(&entry.value) else {
                    return;
                };
                if hold.until_ms > now_ms().max(self.held_until_ms) {
                    let until_ms = hold.until_ms;
                    let _ = self.tell.send(Said::Held { until_ms });
                }
                self.held_until_ms = hold.until_ms;
            }
            // A watch that is made anew brings old words once more.
            Some(("word", word)) if entry.revision > self.heard_words => {
                self.heard_words = entry.revision;
                if let Some((job, name)) = word.split_once('.') {
                    self.pass_on(job, name, &entry.value);
                }
            }
            _ => {}
        }
    }

    /// Words for attempts of others, or for one that is over, are nobody's.
    fn pass_on(&self, job: &str, name: &str, value: &[u8]) {
        let (Some(running), Ok(word)) =
            (self.running.get(job), serde_json::from_slice::<Word>(value))
        else {
            return;
        };
        if word.attempt != running.attempt {
            return;
        }
        let (board, runner) = (self.board.clone(), Arc::clone(&self.runner));
        let (job, name) = (job.to_owned(), name.to_owned());
        let (token, worker) = (running.token.clone(), self.options.me.id.clone());
        tokio::spawn(async move {
            let mut event = runner.tell(&token, &word).await;
            event["event"] = "told".into();
            event["word"] = name.into();
            event["verb"] = word.verb.into();
            let event = JobEvent {
                attempt: word.attempt,
                worker,
                event,
            };
            board.tell(&job, &event).await;
        });
    }

    fn ended(&mut self, said: Result<Said, tokio::task::JoinError>) {
        if let Ok(said) = said {
            if let Said::Done { job, .. }
            | Said::Lost { job }
            | Said::Released { job, .. }
            | Said::GaveUp { job } = &said
            {
                self.running.remove(job);
            }
            if let Said::Released { job, .. } = &said {
                self.rests.failed(job, Instant::now());
            }
            let _ = self.tell.send(said);
        } else {
            // A runner that fell took its job along: the lease tells others.
            let lost: Vec<String> = self.running.keys().cloned().collect();
            if self.jobs.is_empty() {
                lost.iter().for_each(|job| drop(self.running.remove(job)));
            }
        }
    }

    async fn take_all(&mut self) {
        let may = |worker: &Self| {
            worker.is_loaded
                && !worker.draining
                && *worker.ask.borrow() == Ask::Work
                && worker.running.len() < worker.options.capacity
                && worker.held_until_ms <= now_ms()
        };
        while may(self) {
            let Some((id, seen)) = self.next_job() else {
                return;
            };
            self.take(id, &seen.state, seen.revision).await;
        }
    }

    fn next_job(&self) -> Option<(String, Seen)> {
        self.view
            .choose(&self.options.me, &self.rests, Instant::now())
    }

    async fn take(&mut self, id: String, state: &State, revision: u64) {
        // Whatever comes of it is heard from the server.
        self.view.forget(&id);
        self.taken += 1;
        let me = &self.options.me;
        let token = format!("{id}-{}-{}", me.id, self.taken);
        let holds_ms = u64::try_from(self.options.holds.as_millis()).unwrap_or(u64::MAX);
        let next = state.taken(Lease {
            worker: me.id.clone(),
            token: token.clone(),
            holds_ms,
        });
        let Some(next) = next else { return };
        let held = match self.board.swap(&id, revision, &next).await {
            Swap::Done(revision) => Some((next, revision)),
            Swap::Lost => None,
            Swap::Unknown(_) => self.board.state(&id).await.ok(),
        };
        let Some((state, revision)) = held else {
            return;
        };
        if !state.is_held_by(&token) {
            if state.is_over() {
                let _ = self.tell.send(Said::GaveUp { job: id });
            }
            return;
        }
        let attempt = state.attempt;
        let _ = self.tell.send(Said::Took {
            job: id.clone(),
            attempt,
        });
        let nudge = Arc::new(Notify::new());
        let running = Running {
            token: token.clone(),
            attempt,
            nudge: Arc::clone(&nudge),
        };
        self.running.insert(id.clone(), running);
        let keeper = Keeper {
            runner: Arc::clone(&self.runner),
            account: self.options.account.clone(),
            worker: self.options.me.id.clone(),
            ask: self.ask.clone(),
            nudge,
        };
        let holds = self.options.holds;
        let holding = Holding::new(self.board.clone(), id, token, (state, revision), holds);
        self.jobs.spawn(keeper.see_through(holding));
    }
}

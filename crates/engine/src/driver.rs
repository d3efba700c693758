//! The outer loop: everything that wakes it becomes one event, the machine
//! decides, the journal is written, and what was decided is done.

mod aftermath;
mod ending;
mod host;
mod lanes;
mod moments;
mod turns;
mod waking;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use ralph_core::config::SandboxMode;
use ralph_core::flow::FlowTurn;
use ralph_core::machine::{
    Effect, Event, Goal, Kind, Limit, Notice, Now, Outcome, State, TaskRef, WallFacts, WallKind,
};
use ralph_core::promise::PromiseWarning;
use ralph_store::lock::{Lock, LockInfo};
use tokio::sync::{mpsc, oneshot, watch};

pub(crate) use self::aftermath::without_secrets;
use self::aftermath::{announcements_of, reap};
use crate::agents::Session;
use crate::announcement::Announcement;
use crate::clock::WakeAt;
use crate::doubt::doubt;
use crate::error::DriveError;
use crate::index_lock::LockWatch;
use crate::lanes::{Lanes, fit, get_ready, set_up};
use crate::mailbox::Mailbox;
use crate::notify::Courier;
use crate::opening::{Open, Opening};
use crate::perform::{Host, Job, JobDone, OpenRun, perform};
use crate::plan::Plan;
use crate::signals::Told;
use crate::supervise::Stop;
use crate::supervise::orphans::{self, Ended};
use crate::turn::{Called, Echo};
use crate::{archive, before, clock, phase_file, wall};

/// Somebody who watches a run, and may be asked.
pub trait Observer {
    fn begin(&mut self, _run: &Beginning<'_>) {}
    fn notice(&mut self, notice: &Notice, state: &State, at: Now);
    /// A doubt about what the agent said; it changes no decision.
    fn doubt(&mut self, _doubt: &PromiseWarning) {}
    fn announce(&mut self, _announcement: &Announcement) {}
    /// Whether a wait is shown as it passes.
    fn counts_down(&self) -> bool {
        false
    }
    /// A wait goes on for so long.
    fn count_down(&mut self, _left_ms: u64) {}
    /// Whether it wants to be called again and again while nothing happens.
    fn ticks(&self) -> bool {
        false
    }
    /// A little time has passed.
    fn tick(&mut self) {}
    /// Everything is about to stand still: somebody pressed Ctrl+Z.
    fn stand_still(&mut self) {}
    /// Where the agent's output is shown while it comes.
    fn echo(&self) -> Option<Echo> {
        None
    }
    /// The menu is answered from elsewhere.
    fn menu_is_over(&mut self) {}
    /// Shows the menu of a limit, and how long it waits for somebody; `None`
    /// where nobody can choose.
    fn menu(
        &mut self,
        _limit: Limit,
        _state: &State,
        _open: Vec<TaskRef>,
        _wait: Option<Duration>,
    ) -> Option<oneshot::Receiver<Choice>> {
        None
    }
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
    requests: mpsc::UnboundedReceiver<Told>,
) -> Result<Outcome, DriveError> {
    let mut plan = plan;
    let project = plan.layout.clone();
    let repo = set_up(&mut plan, opening)?;
    let (facts, wall) = wall::raise(&plan.sandbox, &plan.layout).await;
    let is_needed = plan.sandbox.settings.mode == SandboxMode::Strict;
    match wall {
        Some(wall) => plan.stand_behind(wall),
        None if is_needed => return Err(DriveError::NoWall { why: facts.why }),
        None => {}
    }
    get_ready(&plan).await?;
    fit(&mut plan)?;
    let mut driver = Driver::begin(plan, opening, observer, requests)?;
    if let (Some(repo), Some(lanes)) = (repo, driver.run.plan.lanes.clone()) {
        let program = driver.run.plan.sandbox.own_program.clone();
        let run = driver.run.id().to_owned();
        driver.lanes = Some(Lanes::new(repo, lanes, project, program, run));
    }
    if opening.calls_agents() {
        driver.stand_behind(facts);
    }
    driver.run_to_its_end().await
}

type Child = Pin<Box<dyn Future<Output = ChildDone>>>;

enum ChildDone {
    Turn(Box<Called>),
    /// The same that was never begun, since whoever we belong to has enough.
    NoLeave(Box<Called>),
    Job(JobDone),
}

/// What there is to tell before anything is done.
fn first_words(plan: &Plan, opening: &Opening, open: &mut Open) -> Vec<Announcement> {
    let mut told = match opening.calls_agents() {
        true => plan.announcements.clone(),
        false => Vec::new(),
    };
    told.extend(reap(&plan.layout, open.lock.took_over.as_ref(), &open.id));
    if *opening == Opening::New {
        told.extend(before::warnings(plan, Some(&open.id)));
    }
    told.extend(open.is_torn.then_some(Announcement::RecordTorn));
    if let Some(projector) = &mut open.projector {
        told.extend(projector.begin());
    }
    told
}

struct Driver<'a> {
    run: OpenRun,
    observer: &'a mut dyn Observer,
    requests: mpsc::UnboundedReceiver<Told>,
    mailbox: Mailbox,
    /// Events that are known already.
    queue: VecDeque<Kind>,
    child: Option<Child>,
    stop: watch::Sender<Stop>,
    /// A verification that runs beside the child.
    beside: Option<Job>,
    stop_beside: watch::Sender<Stop>,
    wake_at: Option<WakeAt>,
    /// The sessions to go on with, by the place of their agent.
    sessions: BTreeMap<usize, Session>,
    menu: Option<oneshot::Receiver<Choice>>,
    /// Nothing waits for a person for ever.
    menu_until: Option<WakeAt>,
    known_unknowns: BTreeSet<String>,
    index_lock: LockWatch,
    /// The role of the call that runs.
    role: Option<FlowTurn>,
    /// Tells people who are not looking.
    courier: Courier,
    /// Who works on what, where several do at once.
    lanes: Option<Lanes>,
    /// Once is enough: the run is stopping.
    stop_file_seen: bool,
    stop_told: bool,
    /// Somebody pressed Ctrl+Z.
    freezes: bool,
    end: Option<Outcome>,
    /// Held to the end of the run.
    _lock: Lock,
}

impl<'a> Driver<'a> {
    fn begin(
        plan: Plan,
        opening: &Opening,
        observer: &'a mut dyn Observer,
        requests: mpsc::UnboundedReceiver<Told>,
    ) -> Result<Driver<'a>, DriveError> {
        let mut open = opening.open(&plan)?;
        observer.begin(&Beginning {
            run_id: open.id.as_str(),
            plan: &plan,
            took_over: open.lock.took_over.as_ref(),
        });
        orphans::adopt();
        let layout = plan.layout.clone();
        if *opening == Opening::New {
            archive::catch_up(&layout, &plan.keeping, &open.id, plan.lang);
        }
        let (mailbox, listens) = Mailbox::open(&layout, open.id.as_str());
        let is_new = *opening == Opening::New;
        let place = phase_file::take_place(&plan, &open.paths, &open.state, is_new)?;
        let mut announcements = first_words(&plan, opening, &mut open);
        announcements.extend(place);
        announcements.extend(listens.err().map(Announcement::deaf));
        let id = open.id.clone();
        let mut run = OpenRun::new(
            plan, layout, open.paths, open.state, open.recorder, open.projector, open.skipped,
        );
        let mut seen = run.look();
        if *opening == Opening::New {
            announcements.extend(doubt(&run, &mut seen));
        }
        if let Some(change) = open
            .before
            .as_ref()
            .and_then(|before| Announcement::since(before, &seen))
        {
            announcements.push(change);
        }
        let first_number = run.recorder.records();
        let courier = Courier::new(
            run.plan.notifier.clone(),
            id.as_str(),
            run.plan.lang,
            first_number,
        );
        let mut driver = Driver {
            run,
            observer,
            requests,
            mailbox,
            queue: VecDeque::from([opening.first_event(seen)]),
            child: None,
            stop: watch::Sender::new(Stop::No),
            beside: None,
            stop_beside: watch::Sender::new(Stop::No),
            wake_at: None,
            sessions: BTreeMap::new(),
            menu: None,
            menu_until: None,
            known_unknowns: BTreeSet::new(),
            index_lock: LockWatch::default(),
            role: None,
            courier,
            lanes: None,
            stop_file_seen: false,
            stop_told: false,
            freezes: false,
            end: None,
            _lock: open.lock,
        };
        driver.announce_all(announcements);
        Ok(driver)
    }

    /// Notes what stands around the children of the run.
    fn stand_behind(&mut self, wall: WallFacts) {
        if let Some(wall) = &self.run.plan.wall {
            wall.belongs_to(self.run.layout.clone(), self.run.paths.clone());
        }
        let rules = &self.run.plan.rules;
        if self.run.plan.wall.is_some()
            && rules.goal == Goal::PullRequest
            && rules.outward().is_empty()
        {
            self.announce(Announcement::NoLoginForForge);
        }
        // A record of its own is for what holds.
        if wall.kind == WallKind::Off {
            self.announce(Announcement::NoSandbox);
        } else if self.run.state.wall.as_ref() != Some(&wall) {
            self.queue.push_front(Kind::Walled { wall });
        }
    }

    async fn run_to_its_end(&mut self) -> Result<Outcome, DriveError> {
        loop {
            let kind = match self.queue.pop_front() {
                Some(kind) => kind,
                None => self.wake_and_save().await,
            };
            // Whatever came first, the next event finds nothing owed.
            self.settle();
            let event = Event {
                at: clock::now(),
                kind,
            };
            let effects = match self.run.write_down(std::slice::from_ref(&event)) {
                Ok(effects) => effects,
                Err(error) => return Err(self.give_up(error, event.at)),
            };
            if self.run.owes_first() {
                self.settle();
            }
            self.forget_what_is_over();
            if effects.iter().any(|e| matches!(e, Effect::Finish(_))) {
                self.beside = None;
                self.prove_that_nobody_is_left();
            }
            for effect in effects {
                perform(self, effect, event.at);
            }
            if std::mem::take(&mut self.freezes) {
                self.freeze().await;
            }
            self.tell_troubles();
            if let Some(outcome) = self.end.take() {
                self.leave(&outcome).await;
                return Ok(outcome);
            }
        }
    }

    /// Brings every file that is made from the journal in step with it.
    fn settle(&mut self) {
        let troubled = self.run.settle();
        self.announce_all(troubled);
    }

    fn tell_troubles(&mut self) {
        for error in self.run.recorder.troubles() {
            self.announce(Announcement::NotKept { error });
        }
    }

    fn announce_all(&mut self, announcements: impl IntoIterator<Item = Announcement>) {
        for announcement in announcements {
            self.announce(announcement);
        }
    }

    fn tell_of(&mut self, ended: &Ended, as_what: impl FnOnce(usize) -> Announcement) {
        self.announce_all(announcements_of(ended, as_what));
    }
}

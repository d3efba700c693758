//! The outer loop: everything that wakes it becomes one event, the machine
//! decides, the journal is written, and what was decided is done.

mod aftermath;
mod asking;
mod checks;
mod moments;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::time::{Duration, SystemTime};

use ralph_core::flow::{self, FlowTurn};
use ralph_core::forge::ForgeAnswer;
use ralph_core::lang::Say;
use ralph_core::machine::{
    Effect, Event, Kind, Limit, MenuAnswer, Notice, Now, Outcome, PauseReason, Request, Stage,
    State, TaskRef, Turn, TurnReport, VerifyReport, step,
};
use ralph_core::promise::{self, PromiseWarning};
use ralph_core::tasks::Scope;
use ralph_store::layout::{Layout, RunPaths};
use ralph_store::lock::{Lock, LockInfo};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::sleep;

pub(crate) use self::aftermath::without_secrets;
use self::aftermath::{announcements_of, reap};
use self::moments::{COUNTDOWN, at, chosen, finished, polled_once, stop_file, wake_at};
use crate::agents::Session;
use crate::clock::WakeAt;
use crate::error::DriveError;
use crate::index_lock::LockWatch;
use crate::look::Looker;
use crate::notify::Courier;
use crate::opening::Opening;
use crate::plan::{Announcement, Plan};
use crate::projections::{self, Projector};
use crate::record::{Made, RecordError, Recorder};
use crate::signals::Told;
use crate::supervise::orphans::{self, Ended};
use crate::supervise::{Stop, stop_ourselves};
use crate::turn::{Call, Called, Echo, run_env};
use crate::verify::Verified;
use crate::{archive, clock, git, guarded, inbox, openspec};

/// Somebody who watches a run, and may be asked.
pub trait Observer {
    fn begin(&mut self, run: &Beginning<'_>);
    fn notice(&mut self, notice: &Notice, state: &State, at: Now);
    /// A doubt about what the agent said; it changes no decision.
    fn doubt(&mut self, doubt: &PromiseWarning);
    fn announce(&mut self, announcement: &Announcement);
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
    fn echo(&self) -> Option<Echo>;
    /// The menu is answered from elsewhere.
    fn menu_is_over(&mut self) {}
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
    requests: mpsc::UnboundedReceiver<Told>,
) -> Result<Outcome, DriveError> {
    let mut driver = Driver::begin(plan, opening, observer, requests)?;
    driver.run().await
}

type Child = Pin<Box<dyn Future<Output = ChildDone>>>;

enum ChildDone {
    Turn(Box<Called>),
    Verified(Verified),
    Checked(VerifyReport),
    E2e(Verified),
    Forge(ForgeAnswer),
}

struct Driver<'a> {
    plan: Plan,
    state: State,
    looker: Looker,
    recorder: Recorder,
    projector: Option<Projector>,
    paths: RunPaths,
    run_id: String,
    observer: &'a mut dyn Observer,
    requests: mpsc::UnboundedReceiver<Told>,
    /// Events that are known already.
    queue: VecDeque<Kind>,
    child: Option<Child>,
    stop: watch::Sender<Stop>,
    wake_at: Option<WakeAt>,
    /// The sessions to go on with, by the place of their agent.
    sessions: BTreeMap<usize, Session>,
    menu: Option<oneshot::Receiver<Choice>>,
    known_unknowns: BTreeSet<String>,
    index_lock: LockWatch,
    /// The role of the call that runs.
    role: Option<FlowTurn>,
    layout: Layout,
    /// Tells people who are not looking.
    courier: Courier,
    /// Once is enough: the run is stopping.
    stop_file_seen: bool,
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
        let layout = Layout::new(&plan.root);
        if *opening == Opening::New {
            archive::catch_up(&layout, &plan.keeping, &open.id, plan.lang);
        }
        let mut announcements = plan.announcements.clone();
        announcements.extend(reap(open.lock.took_over.as_ref(), open.id.as_str()));
        announcements.extend(open.is_torn.then_some(Announcement::RecordTorn));
        if let Some(projector) = &mut open.projector {
            announcements.extend(projector.begin());
        }
        let scope = Scope {
            skipped: open.skipped,
            ..plan.scope.clone()
        };
        let mut looker = Looker::new(&plan.root, plan.tasks.clone(), scope, plan.lang);
        looker.exclude(&plan.checkpoint.dir);
        if let Some(rules) = &open.state.rules.flow {
            looker.follow(&rules.flow, &plan.checkpoint.dir);
        }
        let armed = looker.arm(&plan, &open.state.rules.checks, &open.paths);
        open.recorder.note(Made::Checks, armed);
        let seen = looker.look();
        if let Some(change) = open
            .before
            .as_ref()
            .and_then(|before| Announcement::since(before, &seen))
        {
            announcements.push(change);
        }
        let first = opening.first_event(seen);
        let first_number = open.recorder.records();
        let mut driver = Driver {
            state: open.state,
            looker,
            recorder: open.recorder,
            projector: open.projector,
            paths: open.paths,
            run_id: open.id.as_str().into(),
            observer,
            requests,
            queue: VecDeque::from([first]),
            child: None,
            stop: watch::Sender::new(Stop::No),
            wake_at: None,
            sessions: BTreeMap::new(),
            menu: None,
            known_unknowns: BTreeSet::new(),
            index_lock: LockWatch::default(),
            role: None,
            courier: Courier::new(
                plan.notifier.clone(),
                open.id.as_str(),
                plan.lang,
                first_number,
            ),
            layout,
            stop_file_seen: false,
            plan,
            _lock: open.lock,
        };
        driver.announce_all(announcements);
        Ok(driver)
    }

    async fn run(&mut self) -> Result<Outcome, DriveError> {
        loop {
            let kind = match self.queue.pop_front() {
                Some(kind) => kind,
                None => self.wake_and_save().await,
            };
            let event = Event {
                at: clock::now(),
                kind,
            };
            let effects = step(&mut self.state, &event);
            if let Err(error) = self.recorder.event(&event) {
                return Err(self.give_up(error, event.at));
            }
            self.recorder.status(&self.state);
            self.forget_what_is_over();
            if effects.iter().any(|e| matches!(e, Effect::Finish(_))) {
                self.prove_that_nobody_is_left();
            }
            self.project(&effects);
            let mut end = None;
            for effect in effects {
                if effect == Effect::Freeze {
                    self.freeze().await;
                } else {
                    end = end.or(self.perform(effect, event.at));
                }
            }
            self.tell_troubles();
            if let Some(outcome) = end {
                if !outcome.can_go_on() {
                    self.archive();
                }
                if outcome == Outcome::Complete {
                    self.archive_change().await;
                }
                self.tell_the_rest().await;
                return Ok(outcome);
            }
        }
    }

    /// What can't be written down must not go on. The journal stays as it is:
    /// whoever takes the run up again begins where it ends.
    fn give_up(&mut self, error: RecordError, at: Now) -> DriveError {
        self.child = None;
        orphans::end_all();
        let outcome = Outcome::Paused {
            reason: PauseReason::Disk,
        };
        self.state.stage = Stage::Finished(outcome.clone());
        self.recorder.status(&self.state);
        let end = self.state.end_notice(outcome);
        self.observer.notice(&end, &self.state, at);
        DriveError::Unsaved(error)
    }

    /// An answer or a longer limit ends a wait or a menu that somebody else
    /// was to end.
    fn forget_what_is_over(&mut self) {
        if self.state.stage != Stage::Waiting {
            self.wake_at = None;
        }
        if !matches!(self.state.stage, Stage::Asking(_)) && self.menu.take().is_some() {
            self.observer.menu_is_over();
        }
    }

    /// Takes in what other processes wrote; `true` where they wrote anything.
    fn read_letters(&mut self) -> bool {
        let letters = inbox::take(&self.layout, &self.run_id, &self.state);
        let came = !letters.is_empty();
        self.queue.extend(letters);
        came
    }

    /// The end is what people want to know most. Whoever presses Ctrl+C does
    /// not want to wait for it.
    async fn tell_the_rest(&mut self) {
        if self.courier.is_idle() {
            return;
        }
        let failures = tokio::select! {
            biased;
            Some(_) = self.requests.recv() => Vec::new(),
            failures = self.courier.finish() => failures,
        };
        for undelivered in failures {
            self.announce(&Announcement::NotTold { undelivered });
        }
    }

    fn tell_troubles(&mut self) {
        for error in self.recorder.troubles() {
            self.announce(&Announcement::NotKept { error });
        }
    }

    /// A turn may take hours, in which those who read the checkpoint should
    /// see that the run lives (CKPT-08).
    async fn wake_and_save(&mut self) -> Kind {
        loop {
            tokio::select! {
                biased;
                kind = self.wake() => return kind,
                () = sleep(Duration::from_millis(projections::LONGEST_MS)) => {}
            }
            if let Some(projector) = &mut self.projector {
                let troubled = projector.again(&self.state, &self.looker.task_marks());
                self.announce_all(troubled);
            }
        }
    }

    fn project(&mut self, effects: &[Effect]) {
        if let Some(projector) = &mut self.projector {
            let looker = &self.looker;
            let troubled = projector.before(effects, &self.state, || looker.task_marks());
            self.announce_all(troubled);
        }
    }

    fn announce_all(&mut self, announcements: impl IntoIterator<Item = Announcement>) {
        for announcement in announcements {
            self.announce(&announcement);
        }
    }

    async fn wake(&mut self) -> Kind {
        loop {
            if let Some(kind) = self.sleep().await {
                return kind;
            }
        }
    }

    /// The one place where the loop sleeps; `None` where nothing happened that
    /// the machine has to know.
    async fn sleep(&mut self) -> Option<Kind> {
        let waits = self.wake_at;
        let counts = waits.is_some() && self.observer.counts_down();
        let ticks = counts || self.observer.ticks();
        Some(tokio::select! {
            biased;
            Some(told) = self.requests.recv() => match told {
                Told::Request(request) => Kind::Requested { request },
                Told::Freeze => Kind::Frozen,
                // A letter came, or nobody sleeps whom it could wake.
                Told::Wake if self.read_letters() => return self.queue.pop_front(),
                Told::Wake if self.wake_at.take().is_none() => return None,
                Told::Wake => Kind::Nudged { seen: self.looker.look() },
            },
            () = inbox::came(&self.layout) => {
                self.read_letters();
                return self.queue.pop_front();
            }
            taken = stop_file(&self.layout, self.stop_file_seen) => {
                self.stop_file_seen = true;
                self.announce(&Announcement::StopFile {
                    path: self.layout.stop_file(),
                    stays: taken.err().map(|error| error.say(self.plan.lang)),
                });
                Kind::Requested { request: Request::Interrupt }
            }
            done = finished(&mut self.child) => self.take_in(done),
            () = at(waits) => {
                self.wake_at = None;
                Kind::Woke { seen: self.looker.look() }
            }
            choice = chosen(&mut self.menu) => {
                self.menu = None;
                Kind::Answered { answer: self.answer(choice) }
            }
            undelivered = self.courier.work() => {
                self.announce(&Announcement::NotTold { undelivered });
                return None;
            }
            () = sleep(COUNTDOWN), if ticks => {
                if counts {
                    let left = waits.map_or(0, |wake| wake.left_ms(clock::now()));
                    self.observer.count_down(left);
                }
                self.observer.tick();
                return None;
            }
        })
    }

    /// What a child that is gone left to be judged, and nobody beside it.
    fn take_in(&mut self, done: ChildDone) -> Kind {
        self.child = None;
        let ended = orphans::end_all();
        self.index_lock.turn_is_over(SystemTime::now());
        self.tell_of(&ended, |count| Announcement::OrphansEnded { count });
        match done {
            ChildDone::Turn(called) => {
                let ended = Kind::TurnEnded(self.judge(*called));
                let known = self.state.guard_lines;
                match guarded::blocked_since(&self.paths.guard_log(), known) {
                    Some(blocked) => {
                        self.queue.push_back(ended);
                        blocked
                    }
                    None => ended,
                }
            }
            ChildDone::Checked(report) => Kind::Checked(report),
            ChildDone::Verified(verified) => {
                self.tell_lost_output(&verified);
                Kind::Verified(verified.report)
            }
            ChildDone::E2e(verified) => {
                self.tell_lost_output(&verified);
                let turn = verified.report.turn;
                let result = verified.report.results.into_iter().next();
                let result = result.unwrap_or_default();
                Kind::E2eEnded { turn, result }
            }
            ChildDone::Forge(answer) => Kind::Forge { answer },
        }
    }

    fn tell_lost_output(&mut self, verified: &Verified) {
        if let Some(kind) = verified.lost {
            self.announce(&Announcement::OutputLost {
                file: self.paths.turn_verification(verified.report.turn),
                message: kind.to_string(),
            });
        }
    }

    /// At the end nobody carries the tag of this run.
    fn prove_that_nobody_is_left(&mut self) {
        let ended = orphans::end_tagged(&self.run_id);
        self.tell_of(&ended, |count| Announcement::SurvivorsEnded { count });
    }

    fn tell_of(&mut self, ended: &Ended, as_what: impl FnOnce(usize) -> Announcement) {
        for announcement in announcements_of(ended, as_what) {
            self.announce(&announcement);
        }
    }

    /// Ctrl+Z: first the child stands still, then we do; it goes on with us.
    async fn freeze(&mut self) {
        let wanted = self.stop.send_replace(Stop::Freeze);
        let done = polled_once(&mut self.child).await;
        self.observer.stand_still();
        stop_ourselves();
        self.stop.send_replace(wanted);
        self.queue.push_back(Kind::Thawed);
        if let Some(done) = done {
            match self.take_in(done) {
                // What was blocked is told before the turn is judged.
                blocked @ Kind::GuardBlocked { .. } => self.queue.push_front(blocked),
                kind => self.queue.push_back(kind),
            }
        }
    }

    fn perform(&mut self, effect: Effect, at: Now) -> Option<Outcome> {
        match effect {
            Effect::Emit(notice) => {
                self.recorder.notice(&notice, at);
                self.observer.notice(&notice, &self.state, at);
                self.courier.take(&notice, at);
            }
            Effect::RunAgent(turn) => self.start_turn(turn),
            Effect::Mark { tick, untick } => self.mark(&tick, &untick),
            Effect::Check { turn, commands } => self.start_check(turn, commands),
            Effect::Verify { turn, scope } => self.start_verification(turn, &scope),
            Effect::Untick { ids } => self.untick(&ids),
            Effect::RunE2e { turn } => self.start_e2e(turn),
            Effect::Forge(ask) => self.ask_forge(ask),
            Effect::KeepInStep => {
                let kept = self.looker.keep_in_step();
                self.recorder.note(Made::Tasks, kept);
            }
            Effect::Wait { ms, why } => self.wake_at = Some(wake_at(ms, why, at)),
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
                        answer: MenuAnswer::SaveAndExit,
                    });
                }
            }
            // Takes time, so that the loop itself does it.
            Effect::Freeze => {}
            Effect::Finish(outcome) => {
                let troubled = self.projector.as_mut().and_then(Projector::finish);
                self.announce_all(troubled);
                return Some(outcome);
            }
        }
        None
    }

    fn start_turn(&mut self, turn: Turn) {
        let branch = git::head(&self.plan.root).branch.unwrap_or_default();
        let rendered = self.plan.prompter.prompt(&turn, &self.state, &branch);
        self.announce_unknown(rendered.unknown);
        let locked = self.index_lock.look(&self.plan.root, SystemTime::now());
        self.announce_all(locked);
        let mut env = run_env(
            &self.run_id,
            turn.turn,
            self.plan.tasks.as_ref().map(|t| t.path.as_path()),
        );
        env.extend(self.plan.agent_env.iter().cloned());
        let session = self.sessions.remove(&turn.agent);
        let session = session.filter(|_| self.plan.resume_session);
        let Some(agent) = self.plan.agent_for(&turn, &self.state) else {
            return;
        };
        self.role.clone_from(&turn.flow);
        let call = Call {
            agent: agent.for_call(turn.allowance, session),
            root: self.plan.root.clone(),
            prompt: rendered.text,
            prompt_file: self.paths.turn_prompt(turn.turn, turn.attempt),
            output_file: self.paths.turn_output(turn.turn, turn.attempt),
            env,
            env_filter: self.plan.env_filter.clone(),
            output_max: self.plan.output_max,
            signs: self.plan.idle.map(|_| self.looker.signs()),
            linger: crate::turn::LINGER,
            idle: self.plan.idle,
            grace: self.plan.grace,
            echo: self.observer.echo(),
            turn,
        };
        let stop = self.fresh_stop();
        self.child = Some(Box::pin(async move {
            ChildDone::Turn(Box::new(call.make(stop).await))
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
        if let Some(session) = called.session {
            self.sessions.insert(called.agent, session);
        }
        let detection = promise::detect(&called.text, &self.plan.promise, Some(&called.prompt));
        for doubt in &detection.warnings {
            self.observer.doubt(doubt);
        }
        TurnReport {
            turn: called.turn,
            attempt: called.attempt,
            spent: called.spent,
            refusal: called.refusal,
            end: called.end,
            duration_ms: called.duration_ms,
            mentioned: detection.warnings.iter().find_map(|doubt| match doubt {
                PromiseWarning::OnlyMentioned { text } => Some(text.clone()),
                _ => None,
            }),
            promise: detection.promise.map(without_secrets),
            failure: called.failure,
            role: self
                .role
                .take()
                .map(|role| flow::hear(&called.text, &called.prompt, role.verdict))
                .map(Box::new),
            seen: self.looker.look(),
        }
    }

    fn answer(&mut self, choice: Option<Choice>) -> MenuAnswer {
        match choice {
            Some(Choice::Extend) => MenuAnswer::Extend,
            Some(Choice::Skip(ids)) => {
                self.looker.scope.skipped.extend(ids.iter().cloned());
                MenuAnswer::Simplify {
                    skipped: ids.into_iter().collect(),
                    seen: Box::new(self.looker.look()),
                }
            }
            Some(Choice::Abandon) => MenuAnswer::Abandon,
            Some(Choice::SaveAndExit) | None => MenuAnswer::SaveAndExit,
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

    fn archive(&mut self) {
        let (recorder, state) = (&mut self.recorder, &mut self.state);
        for told in archive::at_the_end(&self.plan, &self.paths, recorder, state) {
            match told {
                // The log says it already: the journal has it.
                Announcement::Archived { .. } => self.observer.announce(&told),
                _ => self.announce(&told),
            }
        }
    }

    /// Only on request: these are files of the project.
    async fn archive_change(&mut self) {
        let tasks = self
            .plan
            .tasks
            .as_ref()
            .filter(|_| self.plan.keeping.openspec);
        let id = tasks.and_then(|tasks| openspec::change_of(&self.plan.root, &tasks.path));
        let Some(id) = id else {
            return;
        };
        let now = clock::local_time(self.state.now().wall_ms);
        let date = now.get(..10).unwrap_or(&now);
        match openspec::archive(&self.plan.root, &id, date).await {
            Ok(to) => self.announce(&Announcement::Archived { to }),
            Err(message) => self.announce(&Announcement::ChangeStays { id, message }),
        }
    }

    fn announce(&mut self, announcement: &Announcement) {
        self.recorder.announce(announcement);
        self.observer.announce(announcement);
    }
}

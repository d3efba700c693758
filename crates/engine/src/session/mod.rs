//! The second driver of the machine: a loop inside a session of the agent's
//! own client. Every call of a hook opens the run, feeds one event, performs
//! what was decided and is gone; blocking a stop is what running the agent
//! again is for `ralph run`.
//!
//! Nothing here sleeps (a wait for CI is left to the hook, which lets go of the
//! run first), and no runtime is started unless a command has to be run. A run has a lock of its own, so that the sessions of a project do not
//! wait for each other.

pub mod adopt;
pub mod gate;
pub mod index;
mod perform;
pub mod roles;
mod standing;
pub mod tracker;
pub mod transcript;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::Duration;

use ralph_core::flow::{self, RoleReport};
use ralph_core::lang::Say;
use ralph_core::machine::{
    Budget, End, Kind, Notice, Observation, Outcome, PauseReason, Request, SessionEvent, Stage,
    State, TurnReport, iso_utc,
};
use ralph_core::promise::{self, PromiseWarning};
use ralph_core::usage::Usage;
use ralph_store::journal::Journal;
use ralph_store::layout::{Layout, RunId, RunPaths, new_run_id};
use ralph_store::lock::{self, Lock, LockError, LockInfo};
use tokio::sync::watch;

use self::perform::{TASKS_BEGUN, TASKS_LAST};
use crate::announcement::Announcement;
use crate::doubt::doubt;
use crate::error::DriveError;
use crate::header::Header;
pub use crate::header::{InSession, StateFile};
use crate::past::{self, Past};
use crate::perform::OpenRun;
use crate::plan::Plan;
use crate::projections::Projector;
use crate::record::Recorder;
use crate::supervise::Stop;
use crate::{clock, git, guarded, opening, phase_file};

/// How long a hook waits for another one of its run (STOP-12).
const PATIENCE: Duration = Duration::from_secs(2);

/// What a stop leads to.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    Answer(Verdict),
    /// CI runs. Whoever asked lets go of the run, sleeps, opens it again and
    /// calls [`SessionLoop::wake`]: nothing is held meanwhile, and one that is
    /// killed in its sleep has lost nothing.
    Sleep(Duration),
}

/// What a hook has to answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The agent works on, and is told this.
    GoOn(GoOn),
    /// The run is over, or waits for a person.
    Ended(Box<Ended>),
}

#[derive(Clone, Debug, PartialEq)]
pub struct GoOn {
    pub turn: u32,
    pub text: String,
    /// A line for people (REIN-02).
    pub banner: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    pub outcome: Outcome,
    /// The notice of the end, with everything that belongs to it.
    pub end: Notice,
    /// What was told on the way, for the blocks that people are shown.
    pub notices: Vec<Notice>,
    pub state: State,
}

/// Why the loop of a session can't be driven.
#[derive(Clone, Debug, Say)]
pub enum SessionError {
    #[say(_0.say(lang))]
    Drive(DriveError),
    /// `ralph run` is at work on this very run.
    #[say(
        "run {run} is driven by process {pid} outside of this session; watch it with `ralph status`"
    )]
    DrivenFromOutside { run: String, pid: u32 },
    /// Neither a last message nor a transcript says what the agent said.
    #[say("what the agent said can't be read: there is no last message, and no transcript at {transcript}; the loop is interrupted with everything saved: say \"continue\" to go on", transcript = transcript.display())]
    NothingHeard { transcript: PathBuf },
}

impl<E: Into<DriveError>> From<E> for SessionError {
    fn from(error: E) -> Self {
        SessionError::Drive(error.into())
    }
}

/// The agent's stop, as the hook heard of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stopped {
    /// What the agent said last.
    pub said: String,
    /// How many blocks in a row the client obeys.
    pub cap: Option<u32>,
    /// How long the hook may still wait for CI.
    pub patience: Duration,
}

/// An open run of a session, under its lock.
#[derive(Debug)]
pub struct SessionLoop {
    run: OpenRun,
    pub header: Header,
    notices: Vec<Notice>,
    /// Events that are known already; those of one entry belong together.
    queue: VecDeque<Vec<Kind>>,
    /// What the hook has to answer, once that is known.
    verdict: Option<Verdict>,
    stop: watch::Sender<Stop>,
    /// How long this hook may still wait for CI, and how long it has to.
    patience: Duration,
    sleep: Option<Duration>,
    /// What people should be told, beside the verdict.
    pub announcements: Vec<Announcement>,
    /// What was seen last, before this hook was called.
    before: Option<Observation>,
    _lock: Lock,
}

impl SessionLoop {
    /// Begins a new run for a session and gives what its first turn is told.
    pub fn start(plan: Plan, session: &InSession) -> Result<(SessionLoop, Verdict), SessionError> {
        let layout = plan.layout.clone();
        let state = State::new(plan.rules.clone()).map_err(|_| DriveError::NoLimit)?;
        if let Some(info) = lock::holder(&layout.lock())? {
            let held = LockError::Held {
                path: layout.lock(),
                holder: Some(info),
            };
            return Err(DriveError::Locked(held).into());
        }
        opening::refuse_neighbour(&plan, None)?;
        opening::refuse_links(&plan)?;
        layout.prepare()?;
        let started = clock::now();
        let id = new_run_id(started.wall_ms, clock::random());
        let paths = layout.create_run(&id)?;
        let lock = lock_run(&paths).map_err(locked)?;
        let head = git::head(plan.layout.root());
        let header = Header {
            run_id: id.as_str().into(),
            started_ms: started.wall_ms,
            rules: plan.rules.clone(),
            asked: plan.asked.clone(),
            tasks_file: plan.tasks.as_ref().map(|t| t.path.clone()),
            commit: head.commit,
            branch: head.branch,
            session: Some(session.clone()),
        };
        let recorder = Recorder::begin(&plan, &paths, &header)?;
        let mut opened = SessionLoop::new(plan, layout, paths, header, state, recorder, lock);
        index::put(&opened.run.layout, &session.id, &opened.run.paths.id)?;
        if let Some(task) = &session.task_id {
            let name = adopt::adopted_name(task);
            index::put(&opened.run.layout, &name, &opened.run.paths.id)?;
        }
        // What else a plan announces is about agents that are started.
        let planned = opened.run.plan.announcements.iter();
        let outside = planned.filter(|told| {
            matches!(
                told,
                Announcement::RolesOutside | Announcement::Untrusted { .. }
            )
        });
        opened
            .announcements
            .extend(outside.cloned().collect::<Vec<_>>());
        opened.take_place(true)?;
        let mut seen = opened.run.look();
        let doubted = doubt(&opened.run, &mut seen);
        opened.announcements.extend(doubted);
        let verdict = opened.feed(vec![joined(session), Kind::Started { seen }])?;
        Ok((opened, verdict))
    }

    /// Opens a run for one event. `plan` is made from what the header says.
    pub fn open<E: From<SessionError>>(
        id: &RunId,
        layout: Layout,
        plan: impl FnOnce(&Header) -> Result<Plan, E>,
    ) -> Result<SessionLoop, E> {
        let paths = layout.run(id);
        let lock = lock_run(&paths).map_err(locked)?;
        let (journal, past) = take_up(&layout, &paths)?;
        let plan = plan(&past.header)?;
        // What a dead hook did not live to tell is told when the run ends.
        let recorder = Recorder::open(&plan, &paths, journal, &past.header, Vec::new());
        let mut opened =
            SessionLoop::new(plan, layout, paths, past.header, past.state, recorder, lock);
        opened.before = past.last_seen;
        opened.run.looker.scope.skipped.extend(past.skipped);
        opened.run.looker.scope.focus = opened.run.state.tasks.focus.clone();
        let seen = |name: &str| ralph_store::regular::read(opened.run.paths.dir.join(name)).ok();
        if let (Some(begun), Some(last)) = (seen(TASKS_BEGUN), seen(TASKS_LAST)) {
            opened.run.looker.recall(begun, last);
        }
        Ok(opened)
    }

    fn new(
        plan: Plan,
        layout: Layout,
        paths: RunPaths,
        header: Header,
        state: State,
        recorder: Recorder,
        lock: Lock,
    ) -> SessionLoop {
        let mut projector = opening::projector(&plan, &paths, &header);
        let announcements = projector.as_mut().map(Projector::begin).unwrap_or_default();
        let skipped = plan.scope.skipped.clone();
        SessionLoop {
            run: OpenRun::new(plan, layout, paths, state, recorder, projector, skipped),
            header,
            notices: Vec::new(),
            queue: VecDeque::new(),
            verdict: None,
            stop: watch::Sender::new(Stop::No),
            patience: Duration::ZERO,
            sleep: None,
            announcements,
            before: None,
            _lock: lock,
        }
    }

    pub fn state(&self) -> &State {
        &self.run.state
    }

    pub fn paths(&self) -> &RunPaths {
        &self.run.paths
    }

    /// The session that drives it now; empty where none does yet.
    pub fn session_id(&self) -> &str {
        let joined = self.run.state.session.as_ref().map(|s| s.id.as_str());
        let begun = self.header.session.as_ref().map(|s| s.id.as_str());
        joined.or(begun).unwrap_or_default()
    }

    pub fn plan(&self) -> &Plan {
        &self.run.plan
    }

    /// The agent wants to stop.
    pub fn stop(&mut self, stopped: &Stopped) -> Result<Next, SessionError> {
        if let Some(outcome) = self.run.state.outcome().cloned() {
            return Ok(Next::Answer(self.ended(outcome)));
        }
        self.patience = stopped.patience;
        let acted = index::take_acted(&self.run.paths);
        let stopping = Kind::Session(SessionEvent::Stopping {
            acted,
            cap: stopped.cap,
        });
        let next = match &self.run.state.stage {
            Stage::Running => {
                let played = !roles::is_played(&self.run.state);
                Some(Kind::TurnEnded(self.report(&stopped.said, played)))
            }
            _ => None,
        };
        let kinds = std::iter::once(stopping).chain(self.guarded()).chain(next);
        let kinds: Vec<Kind> = kinds.collect();
        self.feed_or_sleep(kinds)
    }

    /// What the guard blocked since it was told last (EVNT-04).
    fn guarded(&self) -> Option<Kind> {
        let known = self.run.state.guard_lines;
        guarded::blocked_since(&self.run.paths.guard_log(), known)
    }

    /// A sleep is over, in which anything may have happened to the run.
    pub fn wake(&mut self, patience: Duration) -> Result<Next, SessionError> {
        if let Some(outcome) = self.run.state.outcome().cloned() {
            return Ok(Next::Answer(self.ended(outcome)));
        }
        self.patience = patience;
        self.unstuck();
        match self.queue.pop_front() {
            Some(kinds) => self.feed_or_sleep(kinds),
            None => Ok(Next::Answer(self.say_again())),
        }
    }

    fn feed_or_sleep(&mut self, kinds: Vec<Kind>) -> Result<Next, SessionError> {
        let verdict = self.feed(kinds)?;
        Ok(match self.sleep.take() {
            Some(sleep) => Next::Sleep(sleep),
            None => Next::Answer(verdict),
        })
    }

    /// A session takes the run up, where it is not its own already.
    pub fn join(&mut self, session: &InSession) -> Result<(), SessionError> {
        if self.session_id() == session.id {
            return Ok(());
        }
        self.note(joined(session))?;
        // It was another's, and is not any more (STOP-07).
        index::forget_run(&self.run.layout, &self.run.paths.id);
        index::put(&self.run.layout, &session.id, &self.run.paths.id)?;
        Ok(())
    }

    /// A person lets a run go on that waits or was left.
    pub fn resume(&mut self, budget: Option<Budget>) -> Result<Verdict, SessionError> {
        opening::refuse_neighbour(&self.run.plan, Some(&self.run.paths.id))?;
        self.take_place(false)?;
        self.run.looker.ask_anew();
        let seen = self.run.look();
        let before = self.before.take();
        let change = before.and_then(|before| Announcement::since(&before, &seen));
        self.announcements.extend(change);
        self.feed(vec![Kind::Resumed {
            seen,
            budget,
            rules: None,
        }])
    }

    fn take_place(&mut self, is_new: bool) -> Result<(), SessionError> {
        let run = &self.run;
        let told = phase_file::take_place(&run.plan, &run.paths, &run.state, is_new)?;
        self.announcements.extend(told);
        Ok(())
    }

    /// A person answers a question: a run that rests goes on with it. `None`
    /// where the agent is at work, and is told with its next turn.
    pub fn reply(&mut self, question: u32, text: &str) -> Result<Option<Verdict>, SessionError> {
        let text = text.into();
        let replied = Kind::Replied { question, text };
        if self.run.state.outcome().is_none() {
            self.note(replied)?;
            return Ok(None);
        }
        let seen = self.run.look();
        let resumed = Kind::Resumed {
            seen,
            budget: None,
            rules: None,
        };
        self.feed(vec![replied, resumed]).map(Some)
    }

    /// Whether it rests because of a question that was answered meanwhile.
    pub fn is_answered(&self) -> bool {
        let asked = Outcome::Paused {
            reason: PauseReason::Question,
        };
        self.run.state.outcome() == Some(&asked) && !self.run.state.is_held_up()
    }

    /// A person, or the end of the session, takes the run out of it. `None`
    /// where it had ended before.
    pub fn leave(&mut self, request: Request) -> Result<Option<Verdict>, SessionError> {
        let kind = match (self.run.state.outcome(), request) {
            (None, _) => Kind::Session(SessionEvent::Left { request }),
            (Some(outcome), Request::Cancel) if outcome.can_go_on() => Kind::Abandoned,
            _ => return Ok(None),
        };
        self.feed(vec![kind]).map(Some)
    }

    /// What the turn that runs was told, once more.
    pub fn say_again(&self) -> Verdict {
        Verdict::GoOn(GoOn {
            turn: self.run.state.turn.number,
            text: self.told_now(),
            banner: String::new(),
        })
    }

    fn told_now(&self) -> String {
        let turn = self.run.state.turn.number;
        if let Some(dispatch) = self.dispatch() {
            return self.phase_text(dispatch, &[], turn);
        }
        let told = ralph_store::regular::read_to_string(self.run.paths.turn_prompt(turn, 1));
        told.unwrap_or_else(|_| self.standing_text(&[], turn))
    }

    /// What the session is told again after its client made its context
    /// shorter; `None` where the run does not go on by itself.
    pub fn remind(&self) -> Option<String> {
        if self.run.state.outcome().is_some() {
            return None;
        }
        // A phase of a flow is told by its own prompt.
        let told = self
            .run
            .state
            .flow
            .position
            .as_ref()
            .map(|_| self.told_now());
        Some(told.unwrap_or_else(|| self.standing_text(&[], self.run.state.turn.number)))
    }

    /// `played`: it was said in the role of a flow, where the run follows one.
    fn report(&mut self, said: &str, played: bool) -> TurnReport {
        let turn = self.run.state.turn.number;
        let prompt = ralph_store::regular::read_to_string(self.run.paths.turn_prompt(turn, 1)).ok();
        let detection = promise::detect(said, &self.run.plan.promise, prompt.as_deref());
        let seen = self.run.look();
        let promise = self.run.hear(detection.promise);
        let mentioned = detection.warnings.iter().find_map(|doubt| match doubt {
            PromiseWarning::OnlyMentioned { text } => Some(text.clone()),
            _ => None,
        });
        let began = self.run.state.now().wall_ms;
        TurnReport {
            turn,
            attempt: self.run.state.turn.attempt,
            end: End::Exit(0),
            duration_ms: u64::try_from(clock::now().wall_ms - began).unwrap_or(0),
            mentioned: mentioned.filter(|_| promise.is_none()),
            promise,
            failure: String::new(),
            spent: Usage::default(),
            refusal: None,
            role: match played {
                true => self.heard_in_role(said, prompt.as_deref()),
                false => None,
            },
            seen,
        }
    }

    /// What was said in the role of a flow, where the run follows one.
    fn heard_in_role(&self, said: &str, prompt: Option<&str>) -> Option<Box<RoleReport>> {
        let flow = &self.run.state.rules.flow.as_ref()?.flow;
        let step = flow.step(self.run.state.flow.position.as_ref()?.step)?;
        let file = phase_file::read(&self.run.plan.checkpoint.dir, step.output.as_deref());
        let prompt = prompt.unwrap_or_default();
        let heard = flow::hear(said, prompt, step.verdict, file.as_deref());
        Some(Box::new(heard))
    }
}

/// Under the lock of the run, where nobody drives it from outside.
fn take_up(layout: &Layout, paths: &RunPaths) -> Result<(Journal, Past), SessionError> {
    if let Some(info) = lock::holder(&layout.lock())?
        && info.run_id == paths.id.as_str()
    {
        return Err(SessionError::DrivenFromOutside {
            run: info.run_id,
            pid: info.pid,
        });
    }
    let (journal, past, _) = past::take_up(paths, &mut |_, _, _| {})?;
    Ok((journal, past))
}

fn joined(session: &InSession) -> Kind {
    Kind::Session(SessionEvent::Joined {
        id: session.id.clone(),
        host: session.host.clone(),
    })
}

/// Waits a moment for another hook of the same run.
pub(crate) fn lock_run(paths: &RunPaths) -> Result<Lock, LockError> {
    let info = LockInfo {
        pid: std::process::id(),
        started_at: iso_utc(clock::now().wall_ms),
        run_id: paths.id.as_str().into(),
        host: None,
    };
    lock::acquire_within(&paths.dir.join("lock"), &info, PATIENCE)
}

fn locked(error: LockError) -> SessionError {
    SessionError::Drive(DriveError::Locked(error))
}

//! Where a run stands. It is rebuilt by replaying the journal, never saved.

mod groups;
mod moved;
mod status;

pub use self::groups::{
    Agents, Beside, Claims, Counters, ErrorNote, EvidenceState, Failures, FlowState, Ground,
    TaskState, TickState, TurnState,
};
pub(super) use self::groups::{E2eState, Failing, LimitSteps, Notes};
use super::clock::Clock;
use super::refusal::Hold;
use super::{
    Board, CheckScope, Goal, Hint, Limit, Need, NoLimit, Now, Outcome, PauseReason, Question,
    Refusal, Request, Rules, SessionState, TaskRef, VerifyWhen, WaitReason, WallFacts,
};
use crate::flow::{Flow, FlowRules, Position, Scope, Writes};
use crate::forecast::{Forecast, Pace, Point};
use crate::forge::{self, ForgeAsk};
use crate::proof::EvidenceLevel;

#[derive(Clone, Debug, PartialEq)]
pub struct State {
    pub rules: Rules,
    pub stage: Stage,
    pub turn: TurnState,
    pub tasks: TaskState,
    pub ticks: TickState,
    pub evidence: EvidenceState,
    pub claims: Claims,
    pub counters: Counters,
    pub failures: Failures,
    pub agents: Agents,
    pub flow: FlowState,
    pub(super) e2e: E2eState,
    pub(super) notes: Notes,
    pub(super) steps: LimitSteps,
    /// The session that drives it, where one does.
    pub session: Option<SessionState>,
    /// Everything that the agent asked, in its order.
    pub questions: Vec<Question>,
    /// What a person wants the agent to know, in its order.
    pub hints: Vec<Hint>,
    /// What is known about the pull request.
    pub pull: forge::Memory,
    /// Lines of the guard's log that the journal knows.
    pub guard_lines: u64,
    /// What stands around its children, once that is known.
    pub wall: Option<WallFacts>,
    /// Who works at the same time, where several do.
    pub lanes: Board,
    /// How it came along, for the forecast.
    pub(super) pace: Pace,
    pub(super) clock: Clock,
    pub(super) stopping: Option<Request>,
    /// What the wait that goes on is for.
    pub(super) waits_for: Option<WaitReason>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Stage {
    /// Nothing has happened yet.
    New,
    Running,
    /// Every check runs once, before the first turn.
    Preflight,
    /// `completes`: a pass ends the run.
    Verifying {
        completes: bool,
    },
    /// Boxes are emptied; `ends`: how the run ends behind that, if it does.
    Unticking {
        ends: Option<Outcome>,
    },
    /// End-to-end tests run; `completes`: a pass ends the run.
    Trying {
        completes: bool,
    },
    Waiting,
    /// Ralph ticks or unticks boxes.
    Marking,
    /// The reproducers of a review run.
    Checking,
    Asking(Limit),
    /// The lanes come to their end, and the run behind them.
    Closing(Outcome),
    Finished(Outcome),
    /// What a lane brought becomes the tip; `ends`: how the run ends behind
    /// that, if it does.
    Landing {
        ends: Option<Outcome>,
    },
    /// The forge, or Git, was asked.
    Forge(ForgeAsk),
}

impl State {
    /// A run that has not begun. Rules that could go on for ever are refused.
    pub fn new(rules: Rules) -> Result<State, NoLimit> {
        rules.check()?;
        let steps = LimitSteps {
            duration_ms: rules.limits.max_duration_ms,
            dispatches: rules.limits.max_dispatches,
        };
        let hints = (1..).zip(rules.hints.iter().cloned());
        let hints = hints.map(|(id, said)| Hint::new(id, said)).collect();
        Ok(State {
            stage: Stage::New,
            turn: TurnState {
                number: rules.turns_before,
                ..TurnState::default()
            },
            rules,
            tasks: TaskState::default(),
            ticks: TickState::default(),
            evidence: EvidenceState::default(),
            claims: Claims::default(),
            counters: Counters::default(),
            failures: Failures::default(),
            agents: Agents::default(),
            flow: FlowState::default(),
            e2e: E2eState::default(),
            notes: Notes::default(),
            steps,
            session: None,
            questions: Vec::new(),
            hints,
            pull: forge::Memory::default(),
            guard_lines: 0,
            wall: None,
            lanes: Board::default(),
            pace: Pace::default(),
            clock: Clock::default(),
            stopping: None,
            waits_for: None,
        })
    }

    /// What is verified in this stage, for a driver that has to begin again.
    pub fn verifying(&self) -> Option<CheckScope> {
        match self.stage {
            Stage::Verifying { completes: true } => Some(CheckScope::Everything),
            Stage::Verifying { completes: false } => Some(
                self.ticks
                    .scope(self.rules.verify == Some(VerifyWhen::Each)),
            ),
            _ => None,
        }
    }

    /// Boxes that were ticked without the flow.
    pub(super) fn early_ticks(&self) -> Vec<String> {
        if self.rules.flow.is_none() || !self.tasks.is_known {
            return Vec::new();
        }
        let is_early = |id: &&String| !self.flow.accepted.contains(*id);
        self.tasks.done().iter().filter(is_early).cloned().collect()
    }

    /// The flow that is followed, and the place in it.
    pub(super) fn place(&self) -> Option<(&Flow, &Position)> {
        let rules = self.rules.flow.as_ref()?;
        Some((&rules.flow, self.flow.position.as_ref()?))
    }

    /// Whether the whole run is one way through a flow.
    pub(super) fn is_one_flow(&self) -> bool {
        let rules = self.rules.flow.as_ref();
        rules.is_some_and(|rules| rules.flow.scope == Scope::Run)
    }

    /// Whether each task goes its own way through a flow.
    pub(super) fn has_flow_of_tasks(&self) -> bool {
        self.rules.flow.is_some() && !self.is_one_flow()
    }

    /// Whether the files that this turn leaves changed decide the risk of its
    /// task (ROLE-04); nobody is asked where a person has decided it.
    pub fn is_judged_by_files(&self) -> bool {
        let open = |rules: &FlowRules| rules.risk.is_none();
        let step = self.place().and_then(|(flow, at)| flow.step(at.step));
        self.has_flow_of_tasks()
            && self.stage == Stage::Running
            && self.rules.flow.as_ref().is_some_and(open)
            && step.is_some_and(|step| step.writes == Writes::Yes)
    }

    /// Whether the turn that runs is that of a role that may only look.
    pub fn is_looking(&self) -> bool {
        let step = self.place().and_then(|(flow, at)| flow.step(at.step));
        self.stage == Stage::Running && step.is_some_and(|step| step.writes == Writes::No)
    }

    /// The tree of the commit at which the task began that goes through its
    /// flow.
    pub fn task_base(&self) -> Option<&str> {
        self.flow.position.as_ref()?.base.as_deref()
    }

    /// Ticks that were turned back and still stand in the file.
    pub fn turned_back(&self) -> &[String] {
        &self.ticks.turned_back
    }

    /// The tasks that are done and whose ticks nothing has proven.
    pub fn unproven(&self) -> Vec<&str> {
        let ticks = &self.ticks;
        let unproven = ticks
            .done
            .iter()
            .filter(|id| !ticks.proofs.contains_key(*id));
        unproven.map(String::as_str).collect()
    }

    /// The tasks of this run that are done and not shown as well as was asked,
    /// each with its level; the whole work without a name.
    pub fn short_of_proof(&self) -> Vec<(String, EvidenceLevel)> {
        let level = |id: &String| self.ticks.levels.get(id).copied().unwrap_or_default();
        let ids = super::step::short_of_proof(self);
        ids.into_iter().map(|id| (id.clone(), level(&id))).collect()
    }

    /// Whether a person can say something of this task.
    pub fn knows_task(&self, id: &str) -> bool {
        let ticks = &self.ticks;
        let is_named = |task: &TaskRef| task.id == id;
        let facts = self.tasks.facts.as_ref();
        ticks.levels.contains_key(id)
            || ticks.done.contains(id)
            || super::step::short_of_proof(self)
                .iter()
                .any(|short| short == id)
            || facts.is_some_and(|facts| facts.open.iter().chain(&facts.ready).any(is_named))
    }

    pub fn outcome(&self) -> Option<&Outcome> {
        match &self.stage {
            Stage::Finished(outcome) => Some(outcome),
            _ => None,
        }
    }

    /// Whether it ended, and nothing takes it up again.
    pub fn is_final(&self) -> bool {
        self.outcome().is_some_and(|outcome| !outcome.can_go_on())
    }

    /// Turns that count: a refused one is not counted until it was made again.
    pub fn counted_turns(&self) -> u32 {
        self.turn.number - u32::from(self.turn.repeat.is_some())
    }

    /// Everything that waits for a person's answer.
    pub fn open_questions(&self) -> impl Iterator<Item = &Question> {
        self.questions.iter().filter(|question| question.is_open())
    }

    /// Whether everything that is left waits for an answer.
    pub fn is_held_up(&self) -> bool {
        self.open_questions().next().is_some() && self.next_task().is_none()
    }

    /// The task to work on: the first that can be worked on and does not wait
    /// for an answer.
    pub fn next_task(&self) -> Option<&TaskRef> {
        let facts = self.tasks.facts.as_ref()?;
        let first = facts.next.as_ref().filter(|_| facts.ready.is_empty());
        let mut ready = facts.ready.iter().chain(first);
        ready.find(|task| !self.is_parked(&task.id))
    }

    /// The task that a person wants first, for as long as it is open.
    pub fn focus(&self) -> Option<&str> {
        let focus = self.tasks.focus.as_ref();
        focus
            .filter(|id| !self.ticks.done.contains(*id))
            .map(String::as_str)
    }

    /// The task that goes through the flow, else the next one.
    pub fn current_task(&self) -> Option<&TaskRef> {
        self.flow.task().or_else(|| self.next_task())
    }

    pub fn is_parked(&self, task: &str) -> bool {
        let waits = |question: &Question| question.task.as_ref().is_some_and(|t| t.id == task);
        self.open_questions().any(waits)
    }

    /// The name of an agent of the chain.
    pub fn agent_name(&self, agent: usize) -> &str {
        self.rules.agents.get(agent).map_or("agent", String::as_str)
    }

    /// The name of the agent that was called last.
    pub fn called_agent(&self) -> &str {
        self.agent_name(self.agents.current)
    }

    /// By how many agent calls a person extends a reached limit.
    pub fn dispatch_step(&self) -> u32 {
        self.steps.dispatches
    }

    /// The files that the phases of the flow have left in this run.
    pub fn phase_outputs(&self) -> impl Iterator<Item = &str> {
        let names = self.flow.outputs.keys().map(String::as_str);
        names.filter(|name| self.flow.has_left(name))
    }

    /// When the run goes on by itself, on the wall clock, where it waits for
    /// the limit of an agent or for an answer.
    pub fn held_until(&self) -> Option<i64> {
        let now = self.now().wall_ms;
        if self.stage == Stage::Waiting && self.waits_for == Some(WaitReason::Answer) {
            let deadlines = self.open_questions().map(|question| question.deadline_ms);
            return deadlines.filter(|&deadline| deadline > now).min();
        }
        let ahead = |hold: &Hold| hold.until.filter(|&until| until > now);
        let waits = self.stage == Stage::Waiting && self.free_agent().is_none();
        let times = self.agents.holds.values().filter_map(ahead);
        times.min().filter(|_| waits)
    }

    /// When the limit that holds the agents resets, on the wall clock, where
    /// their service said so.
    pub fn limit_resets_at(&self) -> Option<i64> {
        let held = self
            .agents
            .holds
            .values()
            .filter(|hold| hold.until.is_some());
        let soonest = held.min_by_key(|hold| hold.until)?;
        match soonest.why {
            Refusal::Usage { resets_at } => resets_at.filter(|_| resets_at == soonest.until),
            _ => None,
        }
    }

    /// When a run that does not wait so long can go on, on the wall clock.
    pub fn paused_until(&self) -> Option<i64> {
        let reason = PauseReason::Agent(Need::LongWait);
        let is_long = self.outcome() == Some(&Outcome::Paused { reason });
        let until = self.agents.holds.values().filter_map(|hold| hold.until);
        until.min().filter(|_| is_long)
    }

    /// The first choice among the agents that can be called now.
    pub(super) fn free_agent(&self) -> Option<usize> {
        let now = self.now().wall_ms;
        (0..self.rules.agents.len().max(1)).find(|&agent| self.agents.is_free(agent, now))
    }

    /// When it will be done, and what that will cost, by its own turns; `None`
    /// where nothing can be said, or nothing is left.
    pub fn forecast(&self) -> Option<Forecast> {
        let goes_on = self.outcome().is_none();
        self.pace.forecast(self.tasks.pending()).filter(|_| goes_on)
    }

    /// A turn has ended: so far has it come.
    pub(super) fn note_pace(&mut self) {
        let bill = &self.agents.bill;
        let is_whole = bill.unpriced == 0 && bill.partial == 0;
        self.pace.note(Point {
            elapsed_ms: self.elapsed_ms(),
            completed: self.tasks.completed(),
            cost: is_whole.then_some(bill.cost),
        });
    }

    pub fn elapsed_ms(&self) -> u64 {
        self.clock.elapsed_ms()
    }

    pub fn now(&self) -> Now {
        self.clock.now()
    }

    /// The phase that is worked on: that of its route, the one that was asked
    /// for, that of the task, else the first with open tasks.
    pub fn phase(&self) -> Option<String> {
        match &self.rules.goal {
            _ if self.is_one_flow() => self.phase_of_route().map(|number| number.to_string()),
            Goal::Tasks { phase: Some(phase) } => Some(phase.clone()),
            _ => {
                let of_task = self.current_task().and_then(|task| task.phase.clone());
                match &self.tasks.facts {
                    Some(facts) => of_task.or_else(|| facts.phase.clone()),
                    // Without a list only the state file of the loop knows.
                    None => of_task.or(self.claims.file.current.map(|n| n.to_string())),
                }
            }
        }
    }

    /// The number of the phase that a route stands at. A step beside the
    /// phases belongs to the one before it.
    pub fn phase_of_route(&self) -> Option<usize> {
        let (flow, position) = self.place().filter(|_| self.is_one_flow())?;
        let begun = flow.phases().filter(|(index, _)| *index <= position.step);
        Some(begun.count().max(1))
    }
}

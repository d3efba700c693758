//! Where a run stands. It is rebuilt by replaying the journal, never saved.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::clock::Clock;
use super::progress::Progress;
use super::refusal::Hold;
use super::{
    Bill, CheckScope, Detail, ErrorClass, Goal, Limit, NoLimit, Notice, Now, Outcome, Question,
    Request, Rules, SessionState, TaskFacts, TaskRef, Tasks, VerifyWhen, WaitReason,
};
use crate::display::RoleView;
use crate::flow::{LastAnswer, Position, Scope};
use crate::forge::{self, ForgeAsk, ForgeProof};
use crate::integrity::Weakening;
use crate::proof::TaskProof;
use crate::template::PromptNote;

#[derive(Clone, Debug, PartialEq)]
pub struct State {
    pub rules: Rules,
    pub stage: Stage,
    /// Turns that were begun. Never decreases.
    pub turns: u32,
    /// Calls of the turn that was begun last.
    pub attempt: u32,
    pub counters: Counters,
    /// The errors in a row that count, newest last.
    pub errors: Vec<ErrorNote>,
    /// What the task file said last.
    pub tasks: Option<TaskFacts>,
    /// Whether the last look could read the task file, so that `tasks` is
    /// evidence and no memory.
    pub(super) tasks_known: bool,
    /// Tasks that a person took out of this run: they are not done (VALV-12).
    pub skipped: BTreeSet<String>,
    pub last_promise: String,
    pub proven: Vec<Proof>,
    /// What all calls of the agent used.
    pub bill: Bill,
    /// Lines of the guard's log that the journal knows.
    pub guard_lines: u64,
    /// Calls of agents, in whatever role (VALV-03).
    pub dispatches: u32,
    /// The place in the flow that the run follows.
    pub flow: Option<Position>,
    /// What a role of the flow said last.
    pub answered: Option<LastAnswer>,
    /// Tasks whose ticks count: the others have not been through the flow.
    pub(super) accepted: BTreeSet<String>,
    /// Outputs of phases that were there before the run.
    pub(super) old_outputs: BTreeMap<String, String>,
    pub(super) outputs: BTreeMap<String, String>,
    pub(super) tree: Option<String>,
    pub(super) commit: Option<String>,
    /// By how much reached dispatches are extended.
    pub(super) dispatch_step: u32,
    /// What was seen of each task whose tick stands.
    pub proofs: BTreeMap<String, TaskProof>,
    /// Tasks that are done, as far as they were seen.
    pub(super) done: BTreeSet<String>,
    /// Ticks that wait for a judgement.
    pub(super) unchecked: Vec<TaskRef>,
    /// Ticks that were turned back and still stand in the file.
    pub(super) turned_back: Vec<String>,
    /// Checks that are weaker than they were when the loop was armed.
    pub weakened: Vec<Weakening>,
    /// The end-to-end tests failed, and nobody repaired anything yet.
    pub(super) e2e_broken: bool,
    /// The end-to-end tests have to show whether the repair helped.
    pub(super) e2e_due: bool,
    /// It was told that there are no end-to-end tests.
    pub(super) e2e_skipped: bool,
    /// The session that drives it, where one does.
    pub session: Option<SessionState>,
    /// Everything that the agent asked, in its order.
    pub questions: Vec<Question>,
    pub(super) progress: Progress,
    pub(super) clock: Clock,
    /// What the next prompt has to say first.
    pub(super) notes: Vec<PromptNote>,
    /// What the call that runs was told: said again where the call came to
    /// nothing.
    pub(super) told: Vec<PromptNote>,
    /// The turn that was begun last has to be called again.
    pub(super) repeat: bool,
    /// The agents that can't be called now, by their place in the chain.
    pub(super) holds: BTreeMap<usize, Hold>,
    /// The agent that was called last.
    pub(super) agent: usize,
    pub(super) stopping: Option<Request>,
    /// The claim that verification is about to judge.
    pub(super) claim: Option<String>,
    /// What the wait that goes on is for.
    pub(super) waits_for: Option<WaitReason>,
    /// The task of the turn that was begun last.
    pub(super) turn_task: Option<TaskRef>,
    /// Phase that was current when the running turn began.
    pub(super) turn_phase: Option<String>,
    /// What failed last, and a hash of what it said.
    pub(super) last_failure: Option<(Failing, u64)>,
    /// The most tasks that the file ever held: below it, tasks were lost.
    pub(super) most_tasks: usize,
    /// By how much a reached duration is extended.
    pub(super) duration_step: u64,
    /// Starts of the turns of the last hour, on the steady clock of the run.
    pub(super) recent_calls: Vec<u64>,
    /// What is known about the pull request.
    pub pull: forge::Memory,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Stage {
    /// Nothing has happened yet.
    New,
    Running,
    /// `completes`: a pass ends the run.
    Verifying {
        completes: bool,
    },
    /// Boxes are emptied.
    Unticking,
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
    Finished(Outcome),
    /// The forge, or Git, was asked.
    Forge(ForgeAsk),
}

/// Everything that is counted in a row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    pub errors: u32,
    pub missing_promise: u32,
    pub stalled: u32,
    pub same_error: u32,
    pub false_promise: u32,
    pub e2e_failed: u32,
}

/// What can fail again and again. A turn that goes well ends a row of failed
/// turns, but says nothing about the checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failing {
    Turn,
    Check,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorNote {
    pub class: ErrorClass,
    pub detail: Detail,
}

/// Something that Ralph saw with its own eyes.
#[derive(Clone, Debug, PartialEq)]
pub enum Proof {
    /// Counted in the task file.
    Tasks { completed: usize, total: usize },
    /// A command that Ralph ran ended with 0.
    Command { command: String, duration_ms: u64 },
    /// Phases of a flow whose files are there, and whose review passed.
    Phases { completed: usize, total: usize },
    /// The forge showed it.
    Forge(ForgeProof),
}

impl Proof {
    pub fn to_json(&self) -> Value {
        match self {
            Proof::Tasks { completed, total } => {
                json!({"kind": "tasks", "completed": completed, "total": total})
            }
            Proof::Phases { completed, total } => {
                json!({"kind": "phases", "completed": completed, "total": total})
            }
            Proof::Command {
                command,
                duration_ms,
            } => {
                json!({"kind": "command", "command": command, "exit": 0, "duration_ms": duration_ms})
            }
            Proof::Forge(proof) => proof.to_json(),
        }
    }
}

impl State {
    /// A run that has not begun. Rules that could go on for ever are refused.
    pub fn new(rules: Rules) -> Result<State, NoLimit> {
        rules.limits.check()?;
        let duration_step = rules.limits.max_duration_ms;
        let dispatch_step = rules.limits.max_dispatches;
        Ok(State {
            stage: Stage::New,
            turns: rules.turns_before,
            rules,
            attempt: 0,
            counters: Counters::default(),
            errors: Vec::new(),
            tasks: None,
            tasks_known: false,
            skipped: BTreeSet::new(),
            last_promise: String::new(),
            proven: Vec::new(),
            bill: Bill::default(),
            guard_lines: 0,
            dispatches: 0,
            flow: None,
            answered: None,
            accepted: BTreeSet::new(),
            old_outputs: BTreeMap::new(),
            outputs: BTreeMap::new(),
            tree: None,
            commit: None,
            dispatch_step,
            proofs: BTreeMap::new(),
            done: BTreeSet::new(),
            unchecked: Vec::new(),
            turned_back: Vec::new(),
            weakened: Vec::new(),
            e2e_broken: false,
            e2e_due: false,
            e2e_skipped: false,
            session: None,
            questions: Vec::new(),
            progress: Progress::default(),
            clock: Clock::default(),
            notes: Vec::new(),
            told: Vec::new(),
            repeat: false,
            holds: BTreeMap::new(),
            agent: 0,
            stopping: None,
            claim: None,
            waits_for: None,
            turn_task: None,
            turn_phase: None,
            last_failure: None,
            most_tasks: 0,
            duration_step,
            recent_calls: Vec::new(),
            pull: forge::Memory::default(),
        })
    }

    /// What is verified in this stage, for a driver that has to begin again.
    pub fn verifying(&self) -> Option<CheckScope> {
        match self.stage {
            Stage::Verifying { completes: true } => Some(CheckScope::Everything),
            Stage::Verifying { completes: false } => {
                Some(self.unchecked_ticks(self.rules.verify == Some(VerifyWhen::Each)))
            }
            _ => None,
        }
    }

    /// The checks of the ticks that wait for a judgement, and with `project`
    /// those of the project.
    pub(super) fn unchecked_ticks(&self, project: bool) -> CheckScope {
        let ids = self.unchecked.iter().map(|task| task.id.clone()).collect();
        CheckScope::Tasks { ids, project }
    }

    /// Every task that is done, where a flow decides which may be.
    pub(super) fn done_tasks(&self) -> Vec<String> {
        let facts = self.tasks.as_ref().and_then(|facts| facts.flow.as_ref());
        facts.map(|facts| facts.done.clone()).unwrap_or_default()
    }

    /// Boxes that were ticked without the flow.
    pub(super) fn early_ticks(&self) -> Vec<String> {
        if self.rules.flow.is_none() || !self.tasks_known {
            return Vec::new();
        }
        let mut done = self.done_tasks();
        done.retain(|id| !self.accepted.contains(id));
        done
    }

    /// Ticks that were turned back and still stand in the file.
    pub fn turned_back(&self) -> &[String] {
        &self.turned_back
    }

    /// The tasks that are done and whose ticks nothing has proven.
    pub fn unproven(&self) -> Vec<&str> {
        let unproven = self.done.iter().filter(|id| !self.proofs.contains_key(*id));
        unproven.map(String::as_str).collect()
    }

    pub fn outcome(&self) -> Option<&Outcome> {
        match &self.stage {
            Stage::Finished(outcome) => Some(outcome),
            _ => None,
        }
    }

    /// Turns that count: a refused one is not counted until it was made again.
    pub fn counted_turns(&self) -> u32 {
        self.turns - u32::from(self.repeat)
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
        let facts = self.tasks.as_ref()?;
        let first = facts.next.as_ref().filter(|_| facts.ready.is_empty());
        let mut ready = facts.ready.iter().chain(first);
        ready.find(|task| !self.is_parked(&task.id))
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
        self.agent_name(self.agent)
    }

    /// By how many agent calls a person extends a reached limit.
    pub fn dispatch_step(&self) -> u32 {
        self.dispatch_step
    }

    /// The files that the phases of the flow have left in this run.
    pub fn phase_outputs(&self) -> impl Iterator<Item = &str> {
        let is_new = |name: &&String| self.old_outputs.get(*name) != self.outputs.get(*name);
        self.outputs.keys().filter(is_new).map(String::as_str)
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
        let times = self.holds.values().filter_map(ahead);
        times.min().filter(|_| waits)
    }

    /// The first choice among the agents that can be called now.
    pub(super) fn free_agent(&self) -> Option<usize> {
        let now = self.now().wall_ms;
        let is_free = |agent: &usize| self.holds.get(agent).is_none_or(|hold| hold.is_over(now));
        (0..self.rules.agents.len().max(1)).find(is_free)
    }

    /// The call that was made came to nothing: what it was told has to be
    /// told again.
    pub(super) fn untell(&mut self) {
        let later = std::mem::replace(&mut self.notes, std::mem::take(&mut self.told));
        self.notes.extend(later);
    }

    pub fn elapsed_ms(&self) -> u64 {
        self.clock.elapsed_ms()
    }

    pub fn now(&self) -> Now {
        self.clock.now()
    }

    /// The phase that is worked on: the one that was asked for, else the
    /// first with open tasks.
    pub fn phase(&self) -> Option<&str> {
        match &self.rules.goal {
            Goal::Tasks { phase: Some(phase) } => Some(phase),
            _ => self.tasks.as_ref().and_then(|t| t.phase.as_deref()),
        }
    }

    /// What is told at the end of a run.
    pub fn end_notice(&self, outcome: Outcome) -> Notice {
        let facts = self.tasks.clone().unwrap_or_default();
        Notice::LoopEnd {
            outcome,
            iterations: self.turns,
            total: facts.total,
            completed: facts.completed,
            pending: facts.pending,
            duration_ms: self.elapsed_ms(),
            proven: self.proven.clone(),
            bill: self.bill,
        }
    }

    /// The content of `status.json` (STAT-02, STAT-04).
    pub fn status(&self, run_id: &str, tasks_file: &str) -> Value {
        let facts = self.tasks.clone().unwrap_or_default();
        let percent = (facts.completed * 100)
            .checked_div(facts.total)
            .unwrap_or(0);
        let mut status = json!({
            "schema_version": 1,
            "timestamp": super::notice::iso_utc(self.now().wall_ms),
            "run_id": run_id,
            "iteration": self.turns,
            "max_iterations": self.rules.limits.max_iterations,
            "phase": self.phase().unwrap_or(""),
            "status": self.outcome().map_or("running", Outcome::status),
            "last_promise": self.status_promise(),
            "tasks": {
                "total": facts.total,
                "completed": facts.completed,
                "pending": facts.pending,
                "progress_percent": percent,
            },
            "tasks_file": tasks_file,
            "reason": self.outcome().map_or("", Outcome::reason),
            "elapsed_ms": self.elapsed_ms(),
            "dispatches": self.dispatches,
            "flow": self.flow_status(),
            "waiting_until": self.held_until().map(super::notice::iso_utc),
            "usage": self.bill.to_json(),
            "questions": self.open_questions().map(Question::to_json).collect::<Vec<_>>(),
            "counters": {
                "errors": self.counters.errors,
                "missing_promise": self.counters.missing_promise,
                "stalled": self.counters.stalled,
                "same_error": self.counters.same_error,
                "false_promise": self.counters.false_promise,
            },
        });
        if !self.proofs.is_empty() {
            status["proven_tasks"] = self.proofs.keys().cloned().collect();
        }
        if !self.weakened.is_empty() {
            status["weakened_checks"] = json!(self.weakened);
        }
        if let (Some(session), Some(fields)) = (&self.session, status.as_object_mut()) {
            let session = json!({"id": session.id, "host": session.host});
            fields.insert("session".into(), session);
        }
        status
    }

    /// The roles of the task that goes through the flow; none where the flow
    /// is the way of the whole run.
    pub fn roles(&self) -> Vec<RoleView> {
        let flow = self.rules.flow.as_ref().map(|rules| &rules.flow);
        let of_a_task = flow.filter(|flow| flow.scope != Scope::Run);
        match of_a_task.zip(self.flow.as_ref()) {
            Some((flow, position)) => position.roles(flow),
            None => Vec::new(),
        }
    }

    /// Where the run stands in its flow; null where it follows none.
    fn flow_status(&self) -> Value {
        let Some((rules, position)) = self.rules.flow.as_ref().zip(self.flow.as_ref()) else {
            return Value::Null;
        };
        let step = rules.flow.step(position.step);
        json!({
            "name": rules.flow.name,
            "step": step.map(|step| step.id.as_str()),
            "role": step.map(|step| step.role.as_str()),
            "task": position.task.as_ref().map(|task| task.id.as_str()),
            "risk": position.risk.name(),
            "round": position.round,
            "reject_count": position.rejects,
            "fail_count": position.fails,
        })
    }

    fn status_promise(&self) -> &str {
        match self.outcome() {
            Some(Outcome::CircuitBreak { .. }) => "NO_PROGRESS",
            _ => &self.last_promise,
        }
    }

    pub(super) fn take_tasks(&mut self, tasks: &Tasks) {
        self.tasks_known = matches!(tasks, Tasks::Read(_));
        if let Tasks::Read(facts) = tasks {
            self.tasks = Some(facts.clone());
            self.most_tasks = self.most_tasks.max(facts.total);
        }
    }

    pub(super) fn pending(&self) -> usize {
        self.tasks.as_ref().map_or(0, |t| t.pending)
    }
}

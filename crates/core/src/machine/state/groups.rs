//! What belongs together in a state, group by group.

use std::collections::{BTreeMap, BTreeSet};

use crate::flow::{Doing, LastAnswer, Position};
use crate::integrity::Weakening;
use crate::machine::progress::Progress;
use crate::machine::refusal::Hold;
use crate::machine::{
    Bill, CheckScope, Detail, ErrorClass, FileClaims, FlowFacts, Now, Observation, Proof,
    TaskFacts, TaskRef, Tasks, VerifyReport,
};
use crate::proof::{EvidenceLevel, TaskProof};
use crate::tasks::Waiting;
use crate::template::PromptNote;

/// The turn that was begun last.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TurnState {
    /// Turns that were begun. Never decreases.
    pub number: u32,
    /// Calls of the turn that was begun last.
    pub attempt: u32,
    /// It has to be called again, and why.
    pub(in crate::machine) repeat: Option<ErrorClass>,
    /// How often its agent did not start.
    pub(in crate::machine) failed_starts: u32,
    pub(in crate::machine) task: Option<TaskRef>,
    /// Phase that was current when it began.
    pub(in crate::machine) phase: Option<String>,
}

/// The task file, as it was seen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TaskState {
    /// What it said last.
    pub facts: Option<TaskFacts>,
    /// Whether the last look could read it, so that `facts` is evidence and no
    /// memory.
    pub(in crate::machine) is_known: bool,
    /// A person asked for more since the list was looked at.
    pub(in crate::machine) more_asked: bool,
    /// Tasks that a person took out of this run: they are not done (VALV-12).
    pub skipped: BTreeSet<String>,
    /// What those ask for, so that they can come back.
    pub(in crate::machine) set_aside: BTreeMap<String, Vec<String>>,
    /// Tasks that a person added in this run.
    pub added: BTreeSet<String>,
    /// Tasks that read otherwise than a person wrote them, by what was put to
    /// their words or taken out below them.
    pub remarked: BTreeMap<String, String>,
    /// The task that a person wants done before the others.
    pub focus: Option<String>,
    /// The most tasks that it ever held: below it, tasks were lost.
    pub(in crate::machine) most: usize,
    /// What was told of tasks that wait for others.
    pub(in crate::machine) told_waiting: Vec<Waiting>,
}

impl TaskState {
    pub(in crate::machine) fn take(&mut self, tasks: &Tasks) {
        self.is_known = matches!(tasks, Tasks::Read(_));
        self.more_asked = false;
        if let Tasks::Read(facts) = tasks {
            let said = facts.remarked.iter().chain(&facts.thinned);
            let said = said.map(|task| (task.id.clone(), task.text.clone()));
            self.remarked.extend(said);
            self.facts = Some(facts.clone());
            self.most = self.most.max(facts.total);
        }
    }

    /// A person took so many out: they are not lost.
    pub(in crate::machine) fn expect_fewer(&mut self, by: usize) {
        self.most = self.most.saturating_sub(by);
    }

    /// From here on the file must not lose tasks.
    pub(in crate::machine) fn rebase(&mut self) {
        self.most = self.facts.as_ref().map_or(0, |t| t.total);
    }

    /// What a flow has to know of it.
    pub(in crate::machine) fn flow(&self) -> Option<&FlowFacts> {
        self.facts.as_ref()?.flow.as_deref()
    }

    /// Every task that is done, where a flow decides which may be.
    pub(in crate::machine) fn done(&self) -> &[String] {
        self.flow().map_or(&[], |facts| &facts.done)
    }

    pub(in crate::machine) fn pending(&self) -> usize {
        self.facts.as_ref().map_or(0, |t| t.pending)
    }

    /// One is open again before anybody looks: it is counted as it stands
    /// (U-08).
    pub(in crate::machine) fn take_one_back(&mut self) {
        if let Some(facts) = &mut self.facts {
            facts.completed = facts.completed.saturating_sub(1);
            facts.pending += 1;
        }
    }

    pub(in crate::machine) fn completed(&self) -> usize {
        self.facts.as_ref().map_or(0, |t| t.completed)
    }
}

/// Ticks are claims: what became of each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TickState {
    /// What was seen of each task whose tick stands.
    pub proofs: BTreeMap<String, TaskProof>,
    /// Tasks that are done, as far as they were seen.
    pub(crate) done: BTreeSet<String>,
    /// Ticks that wait for a judgement.
    pub(in crate::machine) unchecked: Vec<TaskRef>,
    /// How well each task is shown whose tick stands.
    pub levels: BTreeMap<String, EvidenceLevel>,
    /// What was known of ticks before a person took them back.
    pub(in crate::machine) remembered: BTreeMap<String, EvidenceLevel>,
    /// Ticks that were there when the run began: they are the person's.
    pub(crate) before: BTreeSet<String>,
    /// Ticks that were turned back and still stand in the file.
    pub(in crate::machine) turned_back: Vec<String>,
    /// A tick was turned back: whoever ticks again has to work first.
    pub(in crate::machine) rests: bool,
}

impl TickState {
    /// A person brought ticks back that were judged before.
    pub(in crate::machine) fn recall(&mut self) {
        for (id, level) in std::mem::take(&mut self.remembered) {
            if self.done.contains(&id) {
                self.unchecked.retain(|task| task.id != id);
                self.levels.insert(id, level);
            }
        }
    }

    /// The checks of the ticks that wait for a judgement, and with `project`
    /// those of the project.
    pub(in crate::machine) fn scope(&self, project: bool) -> CheckScope {
        let ids = self.unchecked.iter().map(|task| task.id.clone()).collect();
        CheckScope::Tasks { ids, project }
    }
}

/// What Ralph saw with its own eyes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EvidenceState {
    pub proven: Vec<Proof>,
    /// Checks that are weaker than they were when the loop was armed.
    pub weakened: Vec<Weakening>,
    /// How many phases left their files, where nothing was checked.
    pub left_by_phases: Option<usize>,
    pub(in crate::machine) progress: Progress,
    pub ground: Ground,
    pub beside: Option<Beside>,
    /// What was judged beside a turn did not stand: the next verification is
    /// waited for.
    pub(in crate::machine) in_order: bool,
}

/// The work of a turn that is judged while the next one is under way.
#[derive(Clone, Debug, PartialEq)]
pub struct Beside {
    pub turn: u32,
    /// The ticks that wait for it.
    pub(in crate::machine) tasks: Vec<TaskRef>,
    /// What it is made on.
    pub(in crate::machine) now: Option<String>,
    pub(in crate::machine) now_tree: Option<String>,
    /// What came of it, until the turn has ended.
    pub report: Option<Box<VerifyReport>>,
}

/// What experiments are made on, and what they said so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ground {
    /// Snapshots: when the loop was armed, when a tick stood last, and now.
    pub armed: Option<String>,
    /// When that was.
    pub armed_at_ms: i64,
    pub base: Option<String>,
    pub now: Option<String>,
    /// Fingerprints of the same, where nothing can be checked.
    pub(in crate::machine) armed_tree: Option<String>,
    pub(in crate::machine) base_tree: Option<String>,
    pub(in crate::machine) now_tree: Option<String>,
    /// The fingerprint of the work that a person took their word for.
    pub(in crate::machine) accepted_tree: Option<String>,
    /// The checks, as they ran before the first turn.
    pub(in crate::machine) checks: Vec<String>,
    /// Check files that Git ignores, as they lay there before the first turn;
    /// `None` where nobody looked.
    pub strays: Option<Vec<String>>,
    /// Commands that were red before the first turn.
    pub red_at_first: BTreeSet<String>,
    /// How many tests ran then, where their runner says it.
    pub ran_at_first: BTreeMap<String, u32>,
    /// Commands that are red on the base.
    pub red: BTreeSet<String>,
    /// How often work was sent back because no experiment shows it, by check.
    pub(in crate::machine) sent_back: BTreeMap<String, u32>,
    /// Tests that went red without the work, beyond the tasks that they showed.
    pub(in crate::machine) spare: usize,
}

impl Ground {
    pub(in crate::machine) fn see(&mut self, seen: &Observation) {
        self.now_tree.clone_from(&seen.tree);
        self.now.clone_from(&seen.snapshot);
    }

    /// The loop is armed: from here on checks are what they are now.
    pub(in crate::machine) fn arm(&mut self, now: Now) {
        self.armed_at_ms = now.wall_ms;
        self.armed.clone_from(&self.now);
        self.armed_tree.clone_from(&self.now_tree);
        self.rebase();
    }

    /// What is there now is shown: the next work begins here.
    pub(in crate::machine) fn rebase(&mut self) {
        self.base.clone_from(&self.now);
        self.base_tree.clone_from(&self.now_tree);
    }

    /// Whether anything changed since a tick stood last, and is not as if
    /// nothing had been done; what can't be seen may have.
    pub(in crate::machine) fn has_changed(&self) -> bool {
        let is_other = |then: &Option<String>| self.now_tree != *then;
        self.now_tree.is_none() || is_other(&self.base_tree) && is_other(&self.armed_tree)
    }
}

/// What the agent says about its work.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Claims {
    pub last_promise: String,
    /// The claim that verification is about to judge.
    pub(in crate::machine) open: Option<String>,
    /// What the state file of a delta loop says.
    pub file: FileClaims,
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
    /// How often in a row the agent called them failed, and they passed.
    pub e2e_disputed: u32,
    /// The turn after which the breaker opened, where one more is tried: it is
    /// half open (BRKR-06).
    pub opened_after: Option<u32>,
}

/// What went wrong.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Failures {
    /// The errors in a row that count, newest last.
    pub errors: Vec<ErrorNote>,
    /// What failed last, and a hash of what it said.
    pub(in crate::machine) last: Option<(Failing, u64)>,
}

/// What can fail again and again. A turn that goes well ends a row of failed
/// turns, but says nothing about the checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::machine) enum Failing {
    Turn,
    Check,
    /// The phase left no file, or not the one that it has to leave.
    Phase,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorNote {
    pub class: ErrorClass,
    pub detail: Detail,
}

/// The chain of agents, and what it was called for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Agents {
    /// What all calls used.
    pub bill: Bill,
    /// Calls, in whatever role (VALV-03).
    pub dispatches: u32,
    /// Those that can't be called now, by their place in the chain.
    pub(in crate::machine) holds: BTreeMap<usize, Hold>,
    /// The one that was called last.
    pub(in crate::machine) current: usize,
    /// Starts of the turns of the last hour, on the steady clock of the run.
    pub(in crate::machine) recent_calls: Vec<u64>,
}

impl Agents {
    pub(in crate::machine) fn is_free(&self, agent: usize, now: i64) -> bool {
        let hold = self.holds.get(&agent);
        hold.is_none_or(|hold| hold.is_over(now))
    }

    /// Somebody knows better than the limits of the agents.
    pub(in crate::machine) fn release(&mut self, now: i64) {
        for hold in self.holds.values_mut() {
            hold.until = Some(now);
        }
    }
}

/// The flow that the run follows, where it follows one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowState {
    pub position: Option<Position>,
    /// What a role said last.
    pub answered: Option<LastAnswer>,
    /// Tasks whose ticks count: the others have not been through the flow.
    pub(in crate::machine) accepted: BTreeSet<String>,
    /// Outputs of phases that were there before the run.
    pub(in crate::machine) old_outputs: BTreeMap<String, String>,
    pub(in crate::machine) outputs: BTreeMap<String, String>,
    pub(in crate::machine) tree: Option<String>,
    pub(in crate::machine) commit: Option<String>,
}

impl FlowState {
    /// The task that goes through the flow.
    pub(crate) fn task(&self) -> Option<&TaskRef> {
        self.position.as_ref()?.task.as_ref()
    }

    pub(in crate::machine) fn is_doing(&self, doing: &Doing) -> bool {
        self.position.as_ref().is_some_and(|p| p.doing == *doing)
    }

    pub(in crate::machine) fn set_doing(&mut self, doing: Doing) {
        if let Some(position) = &mut self.position {
            position.doing = doing;
        }
    }

    pub(in crate::machine) fn see(&mut self, seen: &Observation) {
        self.tree.clone_from(&seen.tree);
        self.commit.clone_from(&seen.commit_tree);
        self.outputs.clone_from(&seen.outputs);
    }

    /// Whether a phase left the file in this run: one that was there before is
    /// not its work.
    pub(in crate::machine) fn has_left(&self, output: &str) -> bool {
        let there = self.outputs.get(output);
        there.is_some() && there != self.old_outputs.get(output)
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::machine) struct E2eState {
    /// The end-to-end tests failed, and nobody repaired anything yet.
    pub broken: bool,
    /// They have to show whether the repair helped.
    pub due: bool,
    /// It was told that there are none.
    pub skipped: bool,
    /// The agent called them failed; what Ralph sees of them is still to come.
    pub disputed: bool,
}

/// What the agent is told before its prompt.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::machine) struct Notes {
    /// What the next prompt has to say first.
    pub next: Vec<PromptNote>,
    /// What the call that runs was told.
    told: Vec<PromptNote>,
}

impl Notes {
    pub fn push(&mut self, note: PromptNote) {
        self.next.push(note);
    }

    pub fn extend(&mut self, notes: impl IntoIterator<Item = PromptNote>) {
        self.next.extend(notes);
    }

    /// A call is made: it is told everything.
    pub fn tell(&mut self) -> Vec<PromptNote> {
        self.told = std::mem::take(&mut self.next);
        self.told.clone()
    }

    /// The call that was made came to nothing: what it was told has to be told
    /// again.
    pub fn untell(&mut self) {
        let later = std::mem::replace(&mut self.next, std::mem::take(&mut self.told));
        self.next.extend(later);
    }
}

/// By how much a person extends a reached limit.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::machine) struct LimitSteps {
    pub duration_ms: u64,
    pub dispatches: u32,
}

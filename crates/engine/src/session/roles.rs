//! Roles in a session: the client's subagents play them, one call each, and
//! each call is a turn of the machine. A call begins with what `PreToolUse`
//! is asked, and ends with what `PostToolUse` is told.

use ralph_core::flow::{Flow, FlowTurn, Position, Risk, Scope, Step, Writes};
use ralph_core::machine::{Kind, Limit, Outcome, PauseReason, Stage, State, TaskRef};
use ralph_core::session::roles;
use ralph_store::layout::{Layout, RunId};
use ralph_store::regular;

use super::{SessionError, SessionLoop, Verdict};
use crate::past;

/// Whose turn it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Due {
    pub role: String,
    pub task: String,
    pub risk: Risk,
    pub may_write: bool,
    /// Whether somebody else's approval was needed for the role after it.
    pub is_review: bool,
    /// What the role is told, whole.
    pub prompt: String,
    /// That of its risk, where the flow names one.
    pub model: Option<String>,
}

/// What a look at a run's journal says about its roles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Roles {
    Due(Due),
    /// It waits for a person.
    Resting,
}

/// Who is to be called in the run of a session; `None` where subagents play no
/// roles in it. It only looks, and takes no lock.
pub fn look(layout: &Layout, run: &RunId) -> Option<Roles> {
    let paths = layout.run(run);
    let state = past::read(&paths).ok()?.state;
    if let Some(outcome) = state.outcome() {
        let waits = matches!(
            outcome,
            Outcome::Paused {
                reason: PauseReason::Escalated(_) | PauseReason::Limit(Limit::Iterations)
            }
        );
        return (waits && is_played(&state)).then_some(Roles::Resting);
    }
    let (flow, position, step) = playing(&state)?;
    Some(Roles::Due(Due {
        role: step.role.clone(),
        task: position
            .task
            .as_ref()
            .map(TaskRef::name)
            .unwrap_or_default(),
        risk: position.risk,
        may_write: step.writes != Writes::No,
        is_review: flow
            .steps
            .iter()
            .any(|other| other.needs.as_ref() == Some(&step.id)),
        prompt: regular::read_to_string(paths.turn_prompt(state.turn.number, 1)).ok()?,
        model: flow.model_for(step, position.risk).map(str::to_owned),
    }))
}

/// Whether subagents play the roles of each task.
pub(super) fn is_played(state: &State) -> bool {
    let flow = state.rules.flow.as_ref();
    state.session.is_some() && flow.is_some_and(|rules| rules.flow.scope == Scope::Task)
}

fn playing(state: &State) -> Option<(&Flow, &Position, &Step)> {
    let flow = &state.rules.flow.as_ref().filter(|_| is_played(state))?.flow;
    let position = state.flow.position.as_ref()?;
    Some((flow, position, flow.step(position.step)?))
}

impl SessionLoop {
    /// A subagent has answered in a role. `None` where it was not its turn:
    /// nothing came of it.
    pub fn role_ended(&mut self, role: &str, said: &str) -> Result<Option<Verdict>, SessionError> {
        let state = &self.run.state;
        let is_due = playing(state).is_some_and(|(_, _, step)| step.role == role);
        if state.stage != Stage::Running || !is_due {
            return Ok(None);
        }
        let report = self.report(said, true);
        let kinds = self.guarded().into_iter().chain([Kind::TurnEnded(report)]);
        self.feed(kinds.collect()).map(Some)
    }

    /// What the agent of the session has to do now.
    pub(super) fn dispatch(&self) -> Option<String> {
        let (_, position, step) = playing(&self.run.state)?;
        let task = position
            .task
            .as_ref()
            .map(TaskRef::name)
            .unwrap_or_default();
        Some(roles::dispatch(&step.role, &task, self.run.plan.lang))
    }

    /// `T001 · DEVELOPER ✅ → REVIEWER 🔄 → TESTER ⏳`.
    pub(super) fn role_line(&self, turn: &FlowTurn) -> String {
        use ralph_core::display::{Screen, role_line};
        let screen = Screen {
            lang: self.run.plan.lang,
            width: usize::MAX,
            ..Screen::default()
        };
        let task = self.run.state.flow.position.as_ref();
        let task = task.and_then(|position| position.task.as_ref());
        let line = role_line(&screen, &self.run.state.roles());
        let id = task.map_or("", |task| task.id.as_str());
        match line.split_once(": ") {
            Some((_, line)) => format!("{id} · {}", line.trim()),
            None => format!("{id} · {}", turn.role.to_uppercase()),
        }
    }
}

//! The phases of a run: those of its task file, or those of its route.

use crate::flow::{Flow, Position, Scope};
use crate::lang::Lang;
use crate::machine::{PhaseFacts, State};

/// The flow of a route and the place in it.
pub fn route(state: &State) -> Option<(&Flow, &Position)> {
    let flow = &state.rules.flow.as_ref()?.flow;
    let position = state.flow.position.as_ref()?;
    (flow.scope == Scope::Run).then_some((flow, position))
}

/// Each with how far it has come.
pub fn of(state: &State, lang: Lang) -> Vec<PhaseFacts> {
    let facts = state.tasks.facts.as_ref();
    let Some((flow, position)) = route(state) else {
        return facts.map(|facts| facts.phases.clone()).unwrap_or_default();
    };
    let phase = |(number, (index, step)): (usize, (usize, &crate::flow::Step))| {
        let subtasks = facts.filter(|facts| step.each.is_some() && facts.total > 0);
        let total = subtasks.map_or(1, |facts| facts.total);
        let completed = match position.reached.contains(&index) {
            true => total,
            false => subtasks.map_or(0, |facts| facts.completed.min(total)),
        };
        PhaseFacts {
            key: number.to_string(),
            title: step.title.say(lang).to_owned(),
            completed,
            total,
        }
    };
    (1..).zip(flow.phases()).map(phase).collect()
}

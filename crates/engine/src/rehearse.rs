//! What a run would begin with, without beginning it.

use ralph_core::machine::{Effect, Event, Kind, State, step};

use crate::look::Looker;
use crate::plan::Plan;
use crate::{clock, git};

/// The prompt of the first turn; none where the run would not begin with one.
pub fn first_prompt(plan: &Plan) -> Option<String> {
    let mut looker = Looker::new(
        plan.layout.root(),
        plan.tasks.clone(),
        plan.scope.clone(),
        plan.lang,
    );
    looker.exclude(plan.own_files());
    if let Some(rules) = &plan.rules.flow {
        looker.follow(&rules.flow, &plan.checkpoint.dir);
    }
    let mut state = State::new(plan.rules.clone()).ok()?;
    let begins = Event {
        at: clock::now(),
        kind: Kind::Started {
            seen: looker.look(),
        },
    };
    let turn = step(&mut state, &begins)
        .into_iter()
        .find_map(|effect| match effect {
            Effect::RunAgent(turn) => Some(turn),
            _ => None,
        })?;
    let branch = git::head(plan.layout.root()).branch.unwrap_or_default();
    Some(plan.prompter.prompt(&turn, &state, &branch).text)
}

//! What a run would begin with, without beginning it.

use ralph_core::machine::{Effect, Event, Kind, State, VerifyReport, step};

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
    let begins = Kind::Started {
        seen: looker.look(),
    };
    // The checks are not run here, and the first turn is told nothing of them.
    let checked = Kind::Preflighted(VerifyReport::default());
    let turn = [begins, checked].into_iter().find_map(|kind| {
        let at = clock::now();
        let effects = step(&mut state, &Event { at, kind });
        effects.into_iter().find_map(|effect| match effect {
            Effect::RunAgent(turn) => Some(turn),
            _ => None,
        })
    })?;
    let branch = git::head(plan.layout.root()).branch.unwrap_or_default();
    Some(plan.prompter.prompt(&turn, &state, &branch).text)
}

//! The one command to go on with after an end, for those who read it
//! elsewhere than on the screen.

use super::endings::BudgetKind;
use crate::machine::{Outcome, PauseReason, State};

/// What a budget that is used up has used.
pub fn budget_kind(state: &State, limit: &str) -> BudgetKind {
    let (allowed, bill) = (state.rules.budget.run, &state.agents.bill);
    match limit {
        "max_tokens" => BudgetKind::Tokens {
            limit: allowed.tokens,
            spent: bill.tokens.total(),
        },
        _ => BudgetKind::Cost {
            limit: allowed.cost,
            spent: bill.cost,
        },
    }
}

/// Typed in a terminal of the project, it works.
pub fn next_command(state: &State, outcome: &Outcome) -> String {
    let usual = match outcome {
        Outcome::Complete
        | Outcome::Paused {
            reason: PauseReason::Unproven,
        } => "ralph report",
        Outcome::Paused {
            reason: PauseReason::Question,
        } => {
            let first = state.open_questions().next().map_or(1, |open| open.id);
            return format!("ralph answer {first} TEXT; ralph resume");
        }
        Outcome::Budget { limit } => {
            let raise = budget_kind(state, limit).raise();
            return raise.unwrap_or_else(|| "ralph resume".to_owned());
        }
        Outcome::Unproven { .. } => "ralph accept",
        Outcome::NoCheck { .. } => "ralph run",
        Outcome::Cancelled => "ralph resume --restart",
        _ => "ralph resume",
    };
    usual.to_owned()
}

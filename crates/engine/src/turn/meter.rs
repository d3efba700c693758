//! What a call uses while it runs, held against what it may use (VALV-11).

use ralph_core::machine::Allowance;
use ralph_core::usage::{Tokens, Usd};

use crate::agents::AgentEvent;

/// Adds up what the stream tells, as it tells it.
#[derive(Debug)]
pub(super) struct Meter {
    allowance: Allowance,
    tokens: Tokens,
    cost: Usd,
    over: bool,
}

impl Meter {
    pub(super) fn new(allowance: Allowance) -> Meter {
        Meter {
            allowance,
            tokens: Tokens::default(),
            cost: Usd::ZERO,
            over: false,
        }
    }

    pub(super) fn take(&mut self, event: &AgentEvent) {
        let AgentEvent::Usage(used) = event else {
            return;
        };
        self.tokens = self.tokens.plus(used.tokens.unwrap_or_default());
        self.cost = self.cost.plus(used.cost.unwrap_or_default());
        if self.allowance.used_up(self.cost, self.tokens).is_some() {
            self.over = true;
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.over
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ralph_core::usage::Usage;

    fn used(tokens: u64, micros: u64) -> AgentEvent {
        AgentEvent::Usage(Usage {
            tokens: Some(Tokens {
                output: tokens,
                ..Tokens::default()
            }),
            cost: Some(Usd::from_micros(micros)),
            at_least: false,
        })
    }

    #[test]
    fn what_is_told_is_added_up_until_it_is_too_much() {
        for (allowed_tokens, allowed_micros, over) in [
            (0, 0, false),
            (61, 0, false),
            (60, 0, true),
            (0, 31, false),
            (0, 30, true),
        ] {
            let mut meter = Meter::new(Allowance {
                cost: Usd::from_micros(allowed_micros),
                tokens: allowed_tokens,
            });
            for _ in 0..3 {
                assert!(!meter.is_over());
                meter.take(&used(20, 10));
            }
            assert_eq!(meter.is_over(), over, "{allowed_tokens} {allowed_micros}");
        }
    }
}

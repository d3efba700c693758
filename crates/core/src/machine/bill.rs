//! What calls of the agent cost, and what they may cost.
//!
//! Money is counted in millionths of a dollar, so that sums are exact. What
//! an agent does not tell stays unknown; it is never taken for zero.

use serde::{Deserialize, Serialize};

/// What one call used, as far as the agent tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Tokens>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub micro_usd: Option<u64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    pub input: u64,
    pub output: u64,
    #[serde(default)]
    pub cache_read: u64,
    #[serde(default)]
    pub cache_write: u64,
}

impl Tokens {
    pub fn total(self) -> u64 {
        [self.input, self.output, self.cache_read, self.cache_write]
            .into_iter()
            .fold(0, u64::saturating_add)
    }

    fn add(&mut self, more: Tokens) {
        self.input = self.input.saturating_add(more.input);
        self.output = self.output.saturating_add(more.output);
        self.cache_read = self.cache_read.saturating_add(more.cache_read);
        self.cache_write = self.cache_write.saturating_add(more.cache_write);
    }
}

/// What many calls used. The sums are what is known: where calls did not tell
/// theirs, the truth is at least that much.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bill {
    pub calls: u32,
    pub tokens: Tokens,
    pub micro_usd: u64,
    /// Calls that did not tell their tokens.
    pub uncounted: u32,
    /// Calls that did not tell their price.
    pub unpriced: u32,
}

impl Bill {
    pub fn add(&mut self, spent: Spent) {
        self.calls += 1;
        match spent.tokens {
            Some(tokens) => self.tokens.add(tokens),
            None => self.uncounted += 1,
        }
        match spent.micro_usd {
            Some(price) => self.micro_usd = self.micro_usd.saturating_add(price),
            None => self.unpriced += 1,
        }
    }

    /// The price of all calls; `None` where no call told one.
    pub fn known_micro_usd(&self) -> Option<u64> {
        (self.unpriced < self.calls).then_some(self.micro_usd)
    }

    pub fn known_tokens(&self) -> Option<Tokens> {
        (self.uncounted < self.calls).then_some(self.tokens)
    }
}

/// What a run or a turn may use; zero switches a bound off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allowance {
    #[serde(default)]
    pub micro_usd: u64,
    #[serde(default)]
    pub tokens: u64,
}

impl Allowance {
    pub const NONE: Allowance = Allowance {
        micro_usd: 0,
        tokens: 0,
    };

    /// The bound that is used up.
    pub fn used_up(self, micro_usd: u64, tokens: u64) -> Option<BudgetKind> {
        if self.micro_usd > 0 && micro_usd >= self.micro_usd {
            Some(BudgetKind::Cost)
        } else if self.tokens > 0 && tokens >= self.tokens {
            Some(BudgetKind::Tokens)
        } else {
            None
        }
    }

    /// What is left of it, and never nothing: zero would mean no bound.
    fn less(self, bill: &Bill) -> Allowance {
        let left = |bound: u64, used: u64| match bound {
            0 => 0,
            bound => bound.saturating_sub(used).max(1),
        };
        Allowance {
            micro_usd: left(self.micro_usd, bill.micro_usd),
            tokens: left(self.tokens, bill.tokens.total()),
        }
    }

    fn tighter(self, other: Allowance) -> Allowance {
        let tighter = |a: u64, b: u64| match (a, b) {
            (0, bound) | (bound, 0) => bound,
            (a, b) => a.min(b),
        };
        Allowance {
            micro_usd: tighter(self.micro_usd, other.micro_usd),
            tokens: tighter(self.tokens, other.tokens),
        }
    }
}

/// The budgets of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    #[serde(default)]
    pub run: Allowance,
    #[serde(default)]
    pub turn: Allowance,
}

impl Budget {
    pub fn used_up(&self, bill: &Bill) -> Option<BudgetKind> {
        self.run.used_up(bill.micro_usd, bill.tokens.total())
    }

    /// What the next call may use.
    pub fn for_call(&self, bill: &Bill) -> Allowance {
        self.turn.tighter(self.run.less(bill))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BudgetKind {
    Cost,
    Tokens,
}

impl BudgetKind {
    pub fn name(self) -> &'static str {
        match self {
            BudgetKind::Cost => "max_cost",
            BudgetKind::Tokens => "max_tokens",
        }
    }
}

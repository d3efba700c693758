//! What the calls of a run used together, and what they may use.
//!
//! What an agent does not tell stays unknown; it is never taken for zero.

use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};

use crate::usage::{Tokens, Usage, Usd};

/// What many calls used. The sums are what is known: where calls did not tell
/// theirs, the truth is at least that much.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bill {
    pub calls: u32,
    pub tokens: Tokens,
    pub cost: Usd,
    /// Calls that did not tell their tokens.
    pub uncounted: u32,
    /// Calls that did not tell their price.
    pub unpriced: u32,
    /// Calls that told a part only.
    pub partial: u32,
}

impl Bill {
    pub fn add(&mut self, used: Usage) {
        self.calls += 1;
        match used.tokens {
            Some(tokens) => self.tokens = self.tokens.plus(tokens),
            None => self.uncounted += 1,
        }
        match used.cost {
            Some(cost) => self.cost = self.cost.plus(cost),
            None => self.unpriced += 1,
        }
        self.partial += u32::from(used.at_least);
    }

    /// The price of all calls; `None` where no call told one.
    pub fn known_cost(&self) -> Option<Usd> {
        (self.unpriced < self.calls).then_some(self.cost)
    }

    pub fn known_tokens(&self) -> Option<Tokens> {
        (self.uncounted < self.calls).then_some(self.tokens)
    }

    /// For programs; what no call told is null.
    pub fn to_json(&self) -> Value {
        let tokens = self.known_tokens();
        json!({
            "calls": self.calls,
            "cost_usd": self.known_cost().map(Usd::dollars),
            "tokens": tokens.map(Tokens::total),
            "input_tokens": tokens.map(|t| t.input),
            "output_tokens": tokens.map(|t| t.output),
            "cache_read_tokens": tokens.map(|t| t.cache_read),
            "cache_write_tokens": tokens.map(|t| t.cache_write),
            "unpriced_calls": self.unpriced,
            "uncounted_calls": self.uncounted,
            "partial_calls": self.partial,
        })
    }

    /// Whether the true price is more than is known.
    pub fn cost_is_partial(&self) -> bool {
        self.unpriced > 0 || self.partial > 0
    }

    pub fn tokens_are_partial(&self) -> bool {
        self.uncounted > 0 || self.partial > 0
    }
}

impl Serialize for Bill {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.to_json().serialize(to)
    }
}

/// What a run or a turn may use; zero switches a bound off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allowance {
    #[serde(default, rename = "nano_usd")]
    pub cost: Usd,
    #[serde(default)]
    pub tokens: u64,
}

impl Allowance {
    pub const NONE: Allowance = Allowance {
        cost: Usd::ZERO,
        tokens: 0,
    };

    /// The bound that is used up, by what is known.
    pub fn used_up(self, cost: Usd, tokens: Tokens) -> Option<BudgetKind> {
        if !self.cost.is_zero() && cost >= self.cost {
            Some(BudgetKind::Cost)
        } else if self.tokens > 0 && tokens.total() >= self.tokens {
            Some(BudgetKind::Tokens)
        } else {
            None
        }
    }

    /// What is left of it, and never nothing: zero would mean no bound.
    fn less(self, bill: &Bill) -> Allowance {
        Allowance {
            cost: match self.cost {
                Usd::ZERO => Usd::ZERO,
                bound => bound.minus(bill.cost).max(Usd::LEAST),
            },
            tokens: match self.tokens {
                0 => 0,
                bound => bound.saturating_sub(bill.tokens.total()).max(1),
            },
        }
    }

    fn tighter(self, other: Allowance) -> Allowance {
        Allowance {
            cost: tighter(self.cost, other.cost, Usd::ZERO),
            tokens: tighter(self.tokens, other.tokens, 0),
        }
    }
}

fn tighter<T: Ord + Copy>(a: T, b: T, off: T) -> T {
    if a == off {
        b
    } else if b == off {
        a
    } else {
        a.min(b)
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
        self.run.used_up(bill.cost, bill.tokens)
    }

    /// What the next call may use.
    pub fn for_call(&self, bill: &Bill) -> Allowance {
        self.turn.tighter(self.run.less(bill))
    }

    /// What the next call of a lane may use beside the calls that run: a fair
    /// share of what none of them can use. `None` where nothing is left.
    pub fn for_lane(&self, bill: &Bill, running: &[Allowance], sharers: u64) -> Option<Allowance> {
        let free = self.run.cost.minus(bill.cost);
        let free = running.iter().fold(free, |free, a| free.minus(a.cost));
        let cost = free.share(1, sharers).unwrap_or(Usd::ZERO);
        let tokens = self.run.tokens.saturating_sub(bill.tokens.total());
        let tokens = running
            .iter()
            .fold(tokens, |left, a| left.saturating_sub(a.tokens));
        let tokens = tokens / sharers.max(1);
        if (!self.run.cost.is_zero() && cost.is_zero()) || (self.run.tokens > 0 && tokens == 0) {
            return None;
        }
        let share = Allowance {
            cost: if self.run.cost.is_zero() {
                Usd::ZERO
            } else {
                cost
            },
            tokens: if self.run.tokens == 0 { 0 } else { tokens },
        };
        Some(self.turn.tighter(share))
    }

    /// Whether anything is bounded in this unit.
    pub fn bounds(&self, kind: BudgetKind) -> bool {
        [self.run, self.turn].iter().any(|allowed| match kind {
            BudgetKind::Cost => !allowed.cost.is_zero(),
            BudgetKind::Tokens => allowed.tokens > 0,
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum BudgetKind {
    #[strum(to_string = "max_cost")]
    Cost,
    #[strum(to_string = "max_tokens")]
    Tokens,
}

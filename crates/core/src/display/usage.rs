//! What the calls of a run used. What no call told is shown as unknown, never
//! as zero.

use crate::lang::Lang;
use crate::machine::Bill;
use crate::tr;
use crate::usage::{Tokens, Usd};

/// What is known of a number of calls.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct UsageView {
    pub calls: u32,
    pub cost: Option<Usd>,
    pub tokens: Option<u64>,
    /// The true cost is more than that.
    pub more_cost: bool,
    pub more_tokens: bool,
}

impl From<&Bill> for UsageView {
    fn from(bill: &Bill) -> UsageView {
        UsageView {
            calls: bill.calls,
            cost: bill.known_cost(),
            tokens: bill.known_tokens().map(Tokens::total),
            more_cost: bill.cost_is_partial(),
            more_tokens: bill.tokens_are_partial(),
        }
    }
}

impl UsageView {
    pub fn cost(&self, lang: Lang) -> String {
        let told = self.cost.map(dollars);
        known(told, self.more_cost, lang)
    }

    pub fn tokens(&self, lang: Lang) -> String {
        let told = self.tokens.map(|tokens| tokens.to_string());
        known(told, self.more_tokens, lang)
    }

    /// In one line.
    pub fn line(&self, lang: Lang) -> String {
        let (cost, tokens) = (self.cost(lang), self.tokens(lang));
        tr!(lang, "cost: {cost} · tokens: {tokens}")
    }
}

fn known(told: Option<String>, more: bool, lang: Lang) -> String {
    match told {
        None => tr!(lang, "unknown"),
        Some(text) if more => format!("≥ {text}"),
        Some(text) => text,
    }
}

/// `$1.25`; four digits where two would show nothing.
pub fn dollars(amount: Usd) -> String {
    let dollars = amount.dollars();
    if !amount.is_zero() && dollars < 0.01 {
        format!("${dollars:.4}")
    } else {
        format!("${dollars:.2}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usage::Usage;

    fn check(calls: &[(Option<u64>, Option<u64>, bool)], want: &str) {
        let mut bill = Bill::default();
        for &(micros, output, at_least) in calls {
            let tokens = output.map(|output| Tokens {
                output,
                ..Tokens::default()
            });
            let cost = micros.map(Usd::from_micros);
            bill.add(Usage {
                tokens,
                cost,
                at_least,
            });
        }
        assert_eq!(UsageView::from(&bill).line(Lang::En), want);
    }

    #[test]
    fn unknown_is_shown_as_unknown_and_never_as_zero() {
        check(&[], "cost: unknown · tokens: unknown");
        check(&[(None, None, false)], "cost: unknown · tokens: unknown");
        check(&[(Some(0), Some(0), false)], "cost: $0.00 · tokens: 0");
        check(
            &[(Some(1_250_000), Some(7), false), (None, Some(3), false)],
            "cost: ≥ $1.25 · tokens: 10",
        );
        check(
            &[(Some(2_400), None, false)],
            "cost: $0.0024 · tokens: unknown",
        );
        check(
            &[(Some(20_000_000), Some(5), true)],
            "cost: ≥ $20.00 · tokens: ≥ 5",
        );
    }
}

//! What a turn used up: tokens and money. What a client does not report is
//! unknown, and unknown is never zero.

use serde::{Deserialize, Serialize};

/// An amount of US dollars in whole billionths, so that sums are exact.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Usd {
    nanos: u64,
}

const NANOS: f64 = 1e9;

impl Usd {
    pub const ZERO: Usd = Usd { nanos: 0 };
    /// The smallest amount that is not nothing.
    pub const LEAST: Usd = Usd { nanos: 1 };

    pub const fn from_micros(micros: u64) -> Usd {
        Usd {
            nanos: micros.saturating_mul(1000),
        }
    }

    /// Nothing where it is no amount: negative, not finite, beyond reason.
    pub fn from_dollars(dollars: f64) -> Option<Usd> {
        let nanos = (dollars * NANOS).round();
        (nanos >= 0.0 && nanos < u64::MAX as f64).then_some(Usd {
            nanos: nanos as u64,
        })
    }

    pub fn dollars(self) -> f64 {
        self.nanos as f64 / NANOS
    }

    pub fn is_zero(self) -> bool {
        self.nanos == 0
    }

    pub fn plus(self, other: Usd) -> Usd {
        Usd {
            nanos: self.nanos.saturating_add(other.nanos),
        }
    }

    pub fn minus(self, other: Usd) -> Usd {
        Usd {
            nanos: self.nanos.saturating_sub(other.nanos),
        }
    }

    /// What `parts` of `of` equal parts come to.
    pub fn share(self, parts: u64, of: u64) -> Option<Usd> {
        let nanos = u128::from(self.nanos) * u128::from(parts) / u128::from(of.max(1));
        u64::try_from(nanos).ok().map(|nanos| Usd { nanos })
    }
}

/// Tokens of the four kinds that are paid for; none is counted in another.
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
        let parts = [self.output, self.cache_read, self.cache_write];
        parts.into_iter().fold(self.input, u64::saturating_add)
    }

    pub fn plus(self, other: Tokens) -> Tokens {
        self.each(other, u64::saturating_add)
    }

    pub fn minus(self, other: Tokens) -> Tokens {
        self.each(other, u64::saturating_sub)
    }

    fn each(self, other: Tokens, count: impl Fn(u64, u64) -> u64) -> Tokens {
        Tokens {
            input: count(self.input, other.input),
            output: count(self.output, other.output),
            cache_read: count(self.cache_read, other.cache_read),
            cache_write: count(self.cache_write, other.cache_write),
        }
    }
}

/// What is known about what was used up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Tokens>,
    #[serde(default, rename = "nano_usd", skip_serializing_if = "Option::is_none")]
    pub cost: Option<Usd>,
    /// Only a part was reported, so that the truth is more: the client was cut
    /// off before its own account, or leaves its subagents out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_least: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_exact_to_the_nano_dollar() {
        let usd = |dollars| Usd::from_dollars(dollars).unwrap();
        assert_eq!(usd(0.002_400_000_000_000_000_2), usd(0.0024));
        assert_eq!(usd(0.1).plus(usd(0.2)), usd(0.3));
        assert_eq!(usd(0.1).minus(usd(0.2)), Usd::default());
        assert!(usd(0.0).is_zero() && !usd(1e-9).is_zero());
        for nothing in [-0.01, f64::NAN, f64::INFINITY, 1e30] {
            assert_eq!(Usd::from_dollars(nothing), None, "{nothing}");
        }
    }

    #[test]
    fn usage_is_written_as_it_is_known() {
        let json = |usage: &Usage| serde_json::to_string(usage).unwrap();
        assert_eq!(json(&Usage::default()), "{}");
        let known = Usage {
            tokens: Some(Tokens {
                input: 3,
                output: 2,
                ..Tokens::default()
            }),
            cost: Usd::from_dollars(0.0024),
            at_least: true,
        };
        assert_eq!(
            json(&known),
            r#"{"tokens":{"input":3,"output":2,"cache_read":0,"cache_write":0},"nano_usd":2400000,"at_least":true}"#
        );
        assert_eq!(serde_json::from_str::<Usage>(&json(&known)).unwrap(), known);
        assert!(serde_json::from_str::<Usage>(r#"{"nano_usd":-1}"#).is_err());
    }

    #[test]
    fn tokens_never_overflow() {
        let many = Tokens {
            input: u64::MAX,
            output: 1,
            ..Tokens::default()
        };
        assert_eq!(many.total(), u64::MAX);
        assert_eq!(many.plus(many).input, u64::MAX);
        assert_eq!(Tokens::default().minus(many), Tokens::default());
    }
}

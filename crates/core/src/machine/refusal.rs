//! Why an agent does not work although nothing is wrong with the work: its
//! limits, its outages, and what only a person can settle.

use crate::lang::Say;
use serde::{Deserialize, Serialize};

const MINUTE_MS: u64 = 60 * 1000;

/// Why the agent's service refused a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr, Say)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Refusal {
    /// The usage limit is reached; `resets_at` is on the wall clock.
    #[strum(to_string = "usage_limit")]
    #[say("usage limit reached")]
    Usage { resets_at: Option<i64> },
    /// Too much to do for it at the moment, or out of order.
    #[say("the service is overloaded or out of order")]
    Overload { retry_after_ms: Option<u64> },
    /// Waiting does not help.
    #[strum(transparent)]
    #[say(_0.say(lang))]
    Person(Need),
}

/// What a person has to see to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr, Say)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Need {
    /// The account's money or spend limit.
    #[strum(to_string = "spend_limit")]
    #[say(
        "the account's spend limit or credit is used up: raise it at the provider, then `ralph resume`"
    )]
    Spend,
    /// An administrator of the organisation.
    #[strum(to_string = "admin_limit")]
    #[say("an administrator has limited this account: ask them, then `ralph resume`")]
    Admin,
    /// To log in, or a valid key.
    #[say(
        "the agent is not logged in: log in with the agent's own command or set its key, then `ralph resume`"
    )]
    Login,
    /// A plan or a right that the account lacks.
    #[say(
        "the account may not use this model or service: choose another model or plan, then `ralph resume`"
    )]
    Plan,
    /// A request that the service would refuse again just so (ERRC-05).
    #[strum(to_string = "invalid_request")]
    #[say(
        "the service calls the request invalid: correct the model, the settings or the prompt, then `ralph resume`"
    )]
    Request,
    /// The limit resets later than `limits.max_wait` allows to wait.
    #[strum(to_string = "max_wait")]
    #[say(
        "the limit resets later than limits.max_wait allows to wait: `ralph resume` then, or now to try"
    )]
    LongWait,
    /// The client would not obey another block of its stop.
    #[say(
        "the client sends its agent on only so often in a row (for Claude Code: CLAUDE_CODE_STOP_HOOK_BLOCK_CAP, which `ralph init` raises); everything is saved: say \"continue\" in the session, or run `ralph resume`"
    )]
    BlockCap,
}

/// An agent of the chain that can't be called for the time being.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hold {
    pub why: Refusal,
    /// On the wall clock, which holds over a suspended machine; `None` until a
    /// person acts.
    pub until: Option<i64>,
    /// Refusals in a row.
    pub count: u32,
}

impl Hold {
    pub fn new(why: Refusal, wall_ms: i64, count: u32) -> Hold {
        let after = |ms: u64| Some(wall_ms.saturating_add(i64::try_from(ms).unwrap_or(i64::MAX)));
        let until = match why {
            // A time that is over has no meaning but "now or soon".
            Refusal::Usage {
                resets_at: Some(at),
            } if at > wall_ms => Some(at),
            Refusal::Usage { .. } => after(doubling(5 * MINUTE_MS, count, 60 * MINUTE_MS)),
            Refusal::Overload {
                retry_after_ms: Some(ms),
            } => {
                let longer = match count {
                    0 | 1 => 1000,
                    _ => doubling(MINUTE_MS, count - 1, 30 * MINUTE_MS),
                };
                after(ms.max(longer))
            }
            Refusal::Overload { .. } => after(doubling(MINUTE_MS, count, 30 * MINUTE_MS)),
            Refusal::Person(_) => None,
        };
        Hold { why, until, count }
    }

    pub fn is_over(&self, wall_ms: i64) -> bool {
        self.until.is_some_and(|until| until <= wall_ms)
    }
}

fn doubling(first_ms: u64, count: u32, most_ms: u64) -> u64 {
    let growth = 1u64 << count.saturating_sub(1).min(20);
    first_ms.saturating_mul(growth).min(most_ms)
}

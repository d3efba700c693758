//! The forge, or Git, could not do what it was asked for.

use super::moves::{begin_waiting, need, rules, send_back, sleep, tell, waited};
use super::red::judge_red;
use crate::forge::{ForgeAsk, ForgeNeed, ForgeNote, ForgeNotice, Trouble, TroubleKind};
use crate::machine::State;
use crate::machine::state::Failing;
use crate::machine::step::failures::count_failure;
use crate::machine::step::next::Next;
use crate::machine::step::out::Out;

/// The longest pause between two tries to reach a forge.
const LONGEST_BACKOFF_MS: u64 = 15 * 60 * 1000;

pub(super) fn judge_trouble(
    state: &mut State,
    asked: &ForgeAsk,
    trouble: &Trouble,
    out: &mut Out,
) -> Next {
    let notice = ForgeNotice::Trouble {
        trouble: trouble.clone(),
    };
    tell(state, notice, out);
    if let ForgeAsk::Delete { .. } = asked {
        // What was asked for is merged, with or without its branch.
        state.pull.deleted = true;
        return Next::Look;
    }
    if trouble.kind.passes() {
        return try_later(state, trouble.kind);
    }
    match asked {
        ForgeAsk::Look { .. } => need(ForgeNeed::after(trouble.kind)),
        // Without a log the checks still have names.
        ForgeAsk::Examine { failed, .. } => judge_red(state, failed, &trouble.words, &[], out),
        ForgeAsk::Push | ForgeAsk::Create if trouble.kind == TroubleKind::Refused => {
            count_failure(state, Failing::Check, &trouble.words);
            let command = match asked {
                ForgeAsk::Push => "git push",
                _ => "creating the pull request",
            };
            let note = ForgeNote::Refused {
                command: command.into(),
                words: trouble.words.clone(),
            };
            send_back(state, vec![note], out)
        }
        ForgeAsk::Push | ForgeAsk::Create => need(ForgeNeed::after(trouble.kind)),
        // It stays counted as run again, so that the next look decides.
        ForgeAsk::Rerun { .. } => {
            state.pull.lost_jobs.clear();
            Next::Look
        }
        ForgeAsk::Merge { .. } if is_conflict(&trouble.words) => {
            count_failure(state, Failing::Check, &trouble.words);
            let note = ForgeNote::Refused {
                command: "merging the pull request".into(),
                words: trouble.words.clone(),
            };
            send_back(state, vec![note], out)
        }
        ForgeAsk::Merge { .. } => need(ForgeNeed::MergeRefused),
        ForgeAsk::Delete { .. } => Next::Look,
    }
}

/// What the agent can do something about.
fn is_conflict(words: &str) -> bool {
    let words = words.to_ascii_lowercase();
    ["conflict", "cannot be cleanly created", "not up to date"]
        .iter()
        .any(|word| words.contains(word))
}

/// The forge may be back later: longer and longer pauses, within the time that
/// CI is waited for.
fn try_later(state: &mut State, kind: TroubleKind) -> Next {
    begin_waiting(state);
    let timeout = rules(state).timeout_ms;
    if timeout > 0 && waited(state) >= timeout {
        return need(ForgeNeed::Unreachable);
    }
    state.pull.troubles += 1;
    let doubled = state.pull.troubles.min(10) - 1;
    let first = match kind {
        TroubleKind::RateLimited => rules(state).poll_ms.saturating_mul(2),
        _ => rules(state).poll_ms,
    };
    let ms = first.saturating_mul(1 << doubled).min(LONGEST_BACKOFF_MS);
    sleep(state, ms)
}

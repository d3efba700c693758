//! What can be done about a pull request: ask, wait, call the agent, or pause
//! for a person.

use crate::forge::{Check, ForgeAsk, ForgeNeed, ForgeNote, ForgeNotice, ForgeRules, Sight};
use crate::machine::step::evidence::reject;
use crate::machine::step::limits::is_used_up;
use crate::machine::step::next::Next;
use crate::machine::step::out::Out;
use crate::machine::{Effect, Limit, Missing, Notice, PauseReason, Stage, State, WaitReason};
use crate::template::PromptNote;

pub(super) fn ask(state: &mut State, what: ForgeAsk, out: &mut Out) -> Next {
    state.stage = Stage::Forge(what.clone());
    out.push(Effect::Forge(what));
    Next::Rest
}

pub(super) fn tell(state: &State, notice: ForgeNotice, out: &mut Out) {
    out.tell(Notice::Forge {
        iteration: state.turn.number,
        notice,
    });
}

pub(super) fn need(need: ForgeNeed) -> Next {
    Next::pause(PauseReason::Forge(need))
}

pub(super) fn rules(state: &State) -> ForgeRules {
    state.rules.forge.clone().unwrap_or_default()
}

/// Whether the commit had no time yet to get checks.
pub(super) fn is_new(state: &State) -> bool {
    waited(state) < rules(state).grace_ms
}

pub(super) fn begin_waiting(state: &mut State) {
    let now = state.now().wall_ms;
    state.pull.since.get_or_insert(now);
}

pub(super) fn waited(state: &State) -> u64 {
    let now = state.now().wall_ms;
    let since = state.pull.since.unwrap_or(now);
    u64::try_from(now.saturating_sub(since)).unwrap_or(0)
}

/// Sleeps until the next look; not for ever (PRCI-07, BRKR-08).
pub(super) fn wait_for_ci(state: &mut State, checks: &[Check], out: &mut Out) -> Next {
    begin_waiting(state);
    let (poll, timeout) = (rules(state).poll_ms, rules(state).timeout_ms);
    let left = timeout.saturating_sub(waited(state));
    if timeout > 0 && left == 0 {
        return need(ForgeNeed::CiTimeout);
    }
    let left_ms = (timeout > 0).then_some(left);
    let notice = ForgeNotice::Poll {
        number: state.pull.number.unwrap_or_default(),
        commit: state.pull.commit.clone().unwrap_or_default(),
        checks: checks.to_vec(),
        merging: state.pull.merge_ordered,
        left_ms,
    };
    tell(state, notice, out);
    sleep(state, left_ms.map_or(poll, |left| left.min(poll)))
}

pub(super) fn sleep(state: &mut State, ms: u64) -> Next {
    state.pull.waits = true;
    if is_used_up(state, Limit::Duration) {
        return Next::Limit(Limit::Duration);
    }
    Next::Wait {
        ms: ms.max(1),
        why: WaitReason::Ci,
    }
}

pub(super) fn send_back_for_gate(state: &mut State, sight: &Sight, out: &mut Out) -> Next {
    let findings = sight.gate.clone();
    let notice = ForgeNotice::GateOpen {
        findings: findings.clone(),
    };
    tell(state, notice, out);
    send_back(state, vec![ForgeNote::Gate { findings }], out)
}

/// What was judged has to be what is committed (T-08).
pub(super) fn uncommitted(sight: &Sight) -> Option<ForgeNote> {
    let files = sight.local.uncommitted;
    let names = sight.local.unlike.clone();
    (files > 0).then_some(ForgeNote::Uncommitted { files, names })
}

/// The agent has to do something: its claim, if it made one, was not true.
pub(super) fn send_back(state: &mut State, notes: Vec<ForgeNote>, out: &mut Out) -> Next {
    if let Some(claim) = state.pull.claim.take() {
        let told = notes.iter().filter_map(lack).collect();
        reject(state, claim, told, out);
    }
    state.notes.extend(notes.into_iter().map(PromptNote::Forge));
    Next::Decide
}

/// What a note says about a claim, in one line.
pub(super) fn lack(note: &ForgeNote) -> Option<Missing> {
    let command = match note {
        ForgeNote::Gate { findings } => findings
            .first()
            .map_or_else(|| "the quality gate".into(), |f| f.text.clone()),
        ForgeNote::NoPull { .. } => "gh pr create".into(),
        ForgeNote::CiFailed { checks, .. } => format!("CI ({})", checks.join(", ")),
        ForgeNote::Uncommitted { .. } => "git commit".into(),
        ForgeNote::Unpushed { .. } | ForgeNote::Behind { .. } => "git push".into(),
        ForgeNote::Refused { command, .. } => command.clone(),
        ForgeNote::NothingPushed { .. }
        | ForgeNote::CiPassed { .. }
        | ForgeNote::CiPending { .. }
        | ForgeNote::ForgeAway => return None,
    };
    Some(Missing::Failing { command })
}

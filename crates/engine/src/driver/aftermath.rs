//! What is left of a turn or of a dead engine, made fit to be told.

use std::collections::BTreeSet;

use ralph_core::promise::Promise;
use ralph_core::text;
use ralph_store::layout::{Layout, RunId};
use ralph_store::lock::LockInfo;

use crate::announcement::Announcement;
use crate::supervise::Tag;
use crate::supervise::orphans::{self, Ended};

/// A promise goes into logs, state and prompts in the agent's own words.
pub(crate) fn without_secrets(promise: Promise) -> Promise {
    let hide = |words: String| text::redact(&words).into_owned();
    match promise {
        Promise::Blocked(reason) => Promise::Blocked(hide(reason)),
        Promise::E2eFailed(reason) => Promise::E2eFailed(hide(reason)),
        Promise::Question(words) => Promise::Question(hide(words)),
        Promise::Unknown(words) => Promise::Unknown(hide(words)),
        agreed => agreed,
    }
}

/// A dead engine could not end its agent; nobody may edit beside us. The run
/// itself is looked for as well: the lock names only the last that died.
pub(super) fn reap(layout: &Layout, dead: Option<&LockInfo>, run: &RunId) -> Vec<Announcement> {
    let dead = dead.map(|info| info.run_id.clone());
    let own = run.as_str().to_owned();
    let runs: BTreeSet<String> = dead.into_iter().chain([own]).collect();
    let reaped = |run: String| {
        let ended = orphans::end_tagged(&Tag::of_run(&layout.runs_dir(), &run));
        announcements_of(&ended, |count| Announcement::Reaped { run, count })
    };
    runs.into_iter().flat_map(reaped).collect()
}

pub(super) fn announcements_of(
    ended: &Ended,
    as_what: impl FnOnce(usize) -> Announcement,
) -> Vec<Announcement> {
    let told = (ended.count > 0).then(|| as_what(ended.count));
    let left = (!ended.left.is_empty()).then(|| Announcement::StillAlive {
        pids: ended.left.clone(),
    });
    told.into_iter().chain(left).collect()
}

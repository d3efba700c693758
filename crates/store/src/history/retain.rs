//! Which archived runs are too many (HIST-04).

use super::{Entry, Manifest};

/// The entries beyond the newest `keep`, the oldest first. Never among them:
/// the newest, a run that can go on, what `is_needed` says, and what Ralph did
/// not write itself, which does not count either.
pub fn surplus(entries: &[Entry], keep: usize, is_needed: impl Fn(&Entry) -> bool) -> Vec<Entry> {
    let mut own: Vec<&Entry> = entries
        .iter()
        .filter(|entry| entry.manifest.is_some())
        .collect();
    own.sort_by(|a, b| b.age().cmp(&a.age()));
    let can_go_on = |entry: &Entry| entry.manifest.as_ref().is_some_and(Manifest::can_go_on);
    own.into_iter()
        .skip(keep.max(1))
        .rev()
        .filter(|entry| !can_go_on(entry) && !is_needed(entry))
        .cloned()
        .collect()
}

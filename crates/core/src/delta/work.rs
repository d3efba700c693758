//! What the file says of its work: claims, and what it calls open itself.

use std::collections::BTreeSet;

use super::{DeltaState, fenced};
use crate::machine::FileClaims;

/// More phases than any task has.
const MOST_PHASES: u32 = 100;
/// A name is for a message.
const LONGEST_NAME: usize = 80;

impl DeltaState {
    pub fn claims(&self) -> FileClaims {
        let text = format!("{}\n{}", self.pending_work, self.completed_work);
        let lines: Vec<&str> = text.lines().collect();
        let code = fenced(&lines);
        let lines = lines.iter().zip(code).filter(|(_, in_code)| !in_code);
        let lines: Vec<&str> = lines.map(|(line, _)| line.trim()).collect();
        let completed: BTreeSet<u32> = self.progress.completed_phases.iter().copied().collect();
        let named = lines.iter().flat_map(|line| phases_of(line));
        FileClaims {
            phases: named.chain(completed.iter().copied()).collect(),
            completed,
            subtasks: (self.progress.subtasks_done, self.progress.subtasks_total),
            open: lines.iter().filter_map(|line| open_box(line)).collect(),
            current: Some(self.progress.current_phase),
        }
    }
}

/// `3. Phase 3: …`, `### Phase 1-4 …`.
pub(super) fn phases_of(line: &str) -> impl Iterator<Item = u32> + use<> {
    let text = line.trim_start_matches(|c: char| c.is_ascii_digit() || "#-*+.) ".contains(c));
    let number = |text: &str| -> Option<(u32, usize)> {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let number = text.get(..digits)?.parse().ok()?;
        (number <= MOST_PHASES).then_some((number, digits))
    };
    let rest = text.strip_prefix("Phase ").unwrap_or_default();
    let range = number(rest).map(|(first, digits)| {
        let rest = rest.get(digits..).unwrap_or_default();
        let last = rest.strip_prefix('-').and_then(number);
        first..=last.map_or(first, |(last, _)| last)
    });
    range.into_iter().flatten()
}

/// The text behind an empty box.
fn open_box(line: &str) -> Option<String> {
    let text = line.trim_start_matches(['-', '*', '+']).trim_start();
    let text = text.strip_prefix("[ ]")?.trim();
    Some(crate::text::width::truncate(text, LONGEST_NAME))
}

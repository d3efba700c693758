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
            open: boxes(&lines, false),
            done: boxes(&lines, true),
            titles: titles(&lines),
            current: Some(self.progress.current_phase),
            route: self.meta.route.clone(),
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

/// What stands behind `Phase 3:`.
pub(super) fn title_of(line: &str) -> &str {
    line.split_once(':').map_or("", |(_, title)| title.trim())
}

/// What the file calls its phases first.
fn titles(lines: &[&str]) -> Vec<(u32, String)> {
    let mut titles: Vec<(u32, String)> = Vec::new();
    for line in lines {
        let title = title_of(line);
        let number = phases_of(line).next().filter(|_| !title.is_empty());
        if let Some(number) = number
            && !titles.iter().any(|(named, _)| *named == number)
        {
            titles.push((number, short(title)));
        }
    }
    titles
}

fn boxes(lines: &[&str], done: bool) -> Vec<String> {
    let boxes = lines.iter().filter_map(|line| boxed(line));
    let boxes = boxes.filter(|(_, ticked)| *ticked == done);
    boxes.map(|(text, _)| short(text)).collect()
}

fn short(name: &str) -> String {
    crate::text::width::truncate(name, LONGEST_NAME)
}

/// The text behind a box, and whether it is ticked.
pub(super) fn boxed(line: &str) -> Option<(&str, bool)> {
    let text = line.trim_start_matches(['-', '*', '+']).trim_start();
    let (mark, text) = text.strip_prefix('[')?.split_once(']')?;
    let done = match mark {
        " " => false,
        "x" | "X" => true,
        _ => return None,
    };
    Some((text.trim(), done))
}

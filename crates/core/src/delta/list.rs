//! The work of a state file as a list: its phases, and the subtasks in them
//! (CONF-05).

use super::work::{boxed, phases_of, title_of};
use super::{DeltaState, fenced, one_line};

/// A phase that the file names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhaseWork {
    pub number: u32,
    /// Empty where the file gives it only a number.
    pub title: String,
    /// As the file says.
    pub done: bool,
    pub subtasks: Vec<Subtask>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subtask {
    pub text: String,
    pub done: bool,
}

impl DeltaState {
    /// Every phase that the file names, by its number.
    pub fn phases(&self) -> Vec<PhaseWork> {
        let claims = self.claims();
        let mut phases: Vec<PhaseWork> = claims
            .phases
            .iter()
            .map(|&number| PhaseWork {
                number,
                title: String::new(),
                done: claims.completed.contains(&number),
                subtasks: Vec::new(),
            })
            .collect();
        for text in [&self.pending_work, &self.completed_work] {
            read_into(&mut phases, text);
        }
        phases
    }
}

impl DeltaState {
    /// All that the file is about, as if nothing of it were done yet; empty
    /// where it names no phase.
    pub fn whole_work(&self) -> String {
        let mut out = String::new();
        for phase in self.phases() {
            out.push_str(&format!("Phase {}: {}\n", phase.number, phase.title));
            for task in &phase.subtasks {
                out.push_str(&format!("- {}\n", task.text));
            }
        }
        out
    }
}

/// A task as work that is left: each line that begins an item stays one,
/// anything else belongs to the item before.
pub fn items_of(task: &str) -> String {
    let mut items: Vec<(Vec<String>, String)> = Vec::new();
    let mut is_numbered = false;
    for line in task.lines().filter(|line| !line.trim().is_empty()) {
        let (mark, rest) = mark_of(line);
        let rest = one_line(rest);
        match (mark, items.last_mut()) {
            (Some(Mark::Bullet), Some((below, _))) if is_numbered => below.push(rest),
            (None, Some((below, item))) => {
                let text = below.last_mut().unwrap_or(item);
                text.push_str(&format!(" {rest}"));
            }
            _ => items.push((Vec::new(), rest)),
        }
        is_numbered |= matches!(mark, Some(Mark::Number));
    }
    let lines = (1..).zip(items).flat_map(|(n, (below, item))| {
        let below = below.into_iter().map(|text| format!("   - {text}"));
        std::iter::once(format!("{n}. {item}")).chain(below)
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[derive(Clone, Copy)]
enum Mark {
    /// Of a list with numbers, or of a phase, which has its own.
    Number,
    Bullet,
}

/// What makes a line an item, and the line without it.
fn mark_of(line: &str) -> (Option<Mark>, &str) {
    let line = line.trim();
    let is_blank = |text: &&str| text.starts_with(char::is_whitespace);
    if let Some(rest) = line.strip_prefix(['-', '*', '+']).filter(is_blank) {
        return (Some(Mark::Bullet), rest);
    }
    let behind = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let wide = behind.strip_prefix(['、', '．']);
    match behind.strip_prefix(['.', ')']).filter(is_blank).or(wide) {
        Some(rest) if behind.len() < line.len() => (Some(Mark::Number), rest),
        _ if phases_of(line).next().is_some() => {
            (Some(Mark::Number), line.trim_start_matches(['#', ' ']))
        }
        _ => (None, line),
    }
}

fn read_into(phases: &mut [PhaseWork], text: &str) {
    let lines: Vec<&str> = text.lines().collect();
    let code = fenced(&lines);
    let mut at = None;
    for (line, _) in lines.iter().zip(code).filter(|(_, in_code)| !in_code) {
        if let Some(number) = phases_of(line.trim()).next() {
            at = phases.iter().position(|phase| phase.number == number);
            if let Some(phase) = at.and_then(|at| phases.get_mut(at))
                && phase.title.is_empty()
            {
                title_of(line).clone_into(&mut phase.title);
            }
        } else if let Some((text, done)) = boxed(line.trim())
            && let Some(phase) = at.and_then(|at| phases.get_mut(at))
        {
            let text = text.to_owned();
            phase.subtasks.push(Subtask { text, done });
        }
    }
}

//! The work of a state file as a list: its phases, and the subtasks in them
//! (CONF-05).

use super::work::{boxed, phases_of, title_of};
use super::{DeltaState, fenced};

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

//! What the state file of a delta loop says of the work.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::TaskRef;

/// What a state file says, which the agent may edit: nothing of it proves
/// anything, but what it calls open is not done.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FileClaims {
    /// Every phase that it names.
    #[serde(default)]
    pub phases: BTreeSet<u32>,
    #[serde(default)]
    pub completed: BTreeSet<u32>,
    /// Done, and in total.
    #[serde(default)]
    pub subtasks: (u32, u32),
    /// The boxes that are empty.
    #[serde(default)]
    pub open: Vec<String>,
    /// The boxes that are ticked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub done: Vec<String>,
    /// What it calls its phases.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub titles: Vec<(u32, String)>,
    /// The phase that it calls the current one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current: Option<u32>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub route: String,
}

impl FileClaims {
    /// Takes in what the file says now. What it named once is not done because
    /// it is not named any more.
    pub(super) fn take(&mut self, now: &FileClaims) {
        self.phases.extend(&now.phases);
        self.completed.clone_from(&now.completed);
        self.subtasks = (now.subtasks.0, self.subtasks.1.max(now.subtasks.1));
        self.open.clone_from(&now.open);
        self.done.clone_from(&now.done);
        let is_named = |number: u32| now.titles.iter().any(|(named, _)| *named == number);
        self.titles.retain(|(number, _)| !is_named(*number));
        self.titles.extend_from_slice(&now.titles);
        self.current = now.current.or(self.current);
        self.route.clone_from(&now.route);
    }

    /// What the phase is called; empty where the file gives it only a number.
    pub fn title(&self, phase: u32) -> &str {
        let named = self.titles.iter().find(|(number, _)| *number == phase);
        named.map_or("", |(_, title)| title)
    }

    /// Everything that is open and asked for, in a few words each.
    pub fn left(&self, skipped: &BTreeSet<String>) -> Vec<String> {
        let is_asked = |name: &String| !skipped.contains(name);
        let phases = self.open_phases().map(phase_name).filter(is_asked);
        let boxes = self.open.iter().filter(|name| is_asked(name)).cloned();
        let (done, total) = self.subtasks;
        let left_out = self.open.iter().filter(|name| skipped.contains(*name));
        let is_short = (done as usize).saturating_add(left_out.count()) < total as usize;
        let count = is_short && !skipped.contains(SUBTASKS);
        let count = count.then(|| format!("{done} / {total}"));
        phases.chain(count).chain(boxes).collect()
    }

    /// The open parts that a person can leave out.
    pub fn parts(&self) -> Vec<TaskRef> {
        let part = |id: String, text: String| TaskRef {
            id,
            text,
            phase: None,
        };
        let phases = self.open_phases();
        let phases = phases.map(|phase| part(phase_name(phase), self.title(phase).to_owned()));
        let boxes = self
            .open
            .iter()
            .map(|name| part(name.clone(), String::new()));
        let (done, total) = self.subtasks;
        let count = (self.open.is_empty() && done < total)
            .then(|| part(SUBTASKS.into(), format!("{done} / {total}")));
        phases.chain(count).chain(boxes).collect()
    }

    /// The part that a person means by a word: its name, the number of a
    /// phase, or words that only it has.
    pub fn named(&self, word: &str) -> Option<String> {
        let ids: Vec<String> = self.parts().into_iter().map(|part| part.id).collect();
        let phase = format!("Phase {word}");
        let exact = ids.iter().find(|id| *id == word || **id == phase);
        let mut like = ids.iter().filter(|id| id.contains(word));
        let only = || like.next().filter(|_| like.next().is_none());
        exact.or_else(only).cloned()
    }

    /// What goes with these parts: the subtasks are those of the current phase.
    pub fn with_their_own(&self, mut parts: Vec<String>) -> Vec<String> {
        let current = self.current.map(phase_name);
        if current.is_some_and(|current| parts.contains(&current)) {
            let open = self.parts().into_iter().map(|part| part.id);
            let of_it = open.filter(|id| self.open.contains(id) || id == SUBTASKS);
            parts.extend(of_it);
        }
        parts
    }

    fn open_phases(&self) -> impl Iterator<Item = u32> + '_ {
        self.phases.difference(&self.completed).copied()
    }
}

/// The subtasks of a state file that only counts them.
const SUBTASKS: &str = "Subtasks";

fn phase_name(phase: u32) -> String {
    format!("Phase {phase}")
}

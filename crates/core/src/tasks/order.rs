//! What may be worked on at the same time: every open task with those that
//! come before it, and the files that it says it changes.

use std::collections::BTreeSet;

use crate::config::LaneFiles;

use super::depends::{Dependencies, Target};
use super::model::{Mode, Scope, Task, TaskList};

/// A task with all that is nested under it: one piece of work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Piece {
    pub id: String,
    pub text: String,
    /// Open tasks that are nested under it, by id.
    pub nested: Vec<String>,
    /// What has to be done before.
    pub after: Vec<Before>,
    /// What it says that it changes.
    pub files: Vec<String>,
    /// Key of its phase.
    pub phase: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Before {
    pub id: String,
    pub why: Why,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Why {
    /// `depends` says so.
    Depends,
    /// It belongs to an earlier phase.
    Phase,
    /// One of the two is not marked `[P]`, in a list that marks others.
    Order,
}

/// Paths among the words of a task: with a folder or an ending, and no address
/// of the network.
fn named_files(text: &str) -> Vec<String> {
    let bare = |word: &str| {
        let around = |c: char| "`'\"()[]{}<>,;:!?*_".contains(c);
        let word = word.trim_matches(around).trim_end_matches('.');
        word.trim_start_matches("./").to_owned()
    };
    let is_path = |word: &String| {
        let (folders, name) = word.rsplit_once('/').unwrap_or(("", word));
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        let is_name = |c: char| c.is_alphanumeric() || "._-+@".contains(c);
        let has_ending = (1..=5).contains(&ending.len())
            && ending.chars().all(|c| c.is_ascii_alphanumeric())
            && ending.chars().any(|c| c.is_ascii_alphabetic());
        has_ending
            && name.len() > ending.len() + 1
            && name.chars().all(is_name)
            && folders.split('/').all(|part| part.chars().all(is_name))
            && !name.starts_with("e.g")
            && !name.starts_with("i.e")
    };
    let mut files: Vec<String> = text.split_whitespace().map(bare).filter(is_path).collect();
    files.dedup();
    files
}

impl TaskList {
    /// The open tasks in scope, as pieces of work, in their order.
    ///
    /// Phases are borders, unless a phase says itself what it depends on. In a
    /// list that marks tasks with `[P]`, those without it go one by one; a list
    /// that marks none leaves it to whoever asks for several at once.
    pub fn pieces(&self, scope: &Scope, files: LaneFiles) -> Vec<Piece> {
        let files_of = |task: &Task| match files {
            LaneFiles::Declared => task.files.clone(),
            LaneFiles::Named => [task.files.clone(), named_files(&task.text)].concat(),
        };
        let open: Vec<usize> = self.candidates(scope);
        let is_open: BTreeSet<usize> = open.iter().copied().collect();
        let marks = self.tasks.iter().any(|task| task.parallel);
        let dependencies = Dependencies::of(self);
        let mut pieces: Vec<(usize, Piece)> = Vec::new();
        for &index in &open {
            let Some(task) = self.tasks.get(index) else {
                continue;
            };
            if let Some(top) = self.top_of(task, &is_open) {
                if let Some((_, piece)) = pieces.iter_mut().find(|(at, _)| *at == top) {
                    piece.nested.push(task.id.clone());
                    piece.files.extend(files_of(task));
                }
                continue;
            }
            let mut after = Vec::new();
            if let Some(dependencies) = &dependencies {
                self.add_dependencies(dependencies, task, &mut after);
            }
            for (other, piece) in &pieces {
                let Some(other) = self.tasks.get(*other) else {
                    continue;
                };
                if let Some(why) = self.goes_before(other, task, marks) {
                    let id = piece.id.clone();
                    after.push(Before { id, why });
                }
            }
            let mut seen = BTreeSet::new();
            after.retain(|before: &Before| seen.insert(before.id.clone()));
            let phase = task.phase.and_then(|phase| self.phases.get(phase));
            let piece = Piece {
                id: task.id.clone(),
                text: task.text.clone(),
                nested: Vec::new(),
                after,
                files: files_of(task),
                phase: phase.map(|phase| phase.key.clone()),
            };
            pieces.push((index, piece));
        }
        pieces.into_iter().map(|(_, piece)| piece).collect()
    }

    /// The open task at the top of those that this one is nested under.
    fn top_of(&self, task: &Task, open: &BTreeSet<usize>) -> Option<usize> {
        let mut top = None;
        let mut parent = task.parent;
        while let Some(index) = parent {
            if open.contains(&index) {
                top = Some(index);
            }
            parent = self.tasks.get(index).and_then(|task| task.parent);
        }
        top
    }

    /// Why the earlier one of two has to be done first.
    fn goes_before(&self, earlier: &Task, later: &Task, marks: bool) -> Option<Why> {
        let phase = later.phase.and_then(|phase| self.phases.get(phase));
        if earlier.phase != later.phase {
            let speaks = phase.is_some_and(|phase| !phase.depends.is_empty());
            return (!speaks).then_some(Why::Phase);
        }
        let side_by_side = phase.is_some_and(|phase| phase.mode == Mode::Parallel);
        let alone = !earlier.parallel || !later.parallel;
        (marks && alone && !side_by_side).then_some(Why::Order)
    }

    fn add_dependencies(
        &self,
        dependencies: &Dependencies<'_>,
        task: &Task,
        after: &mut Vec<Before>,
    ) {
        let phase = task.phase.and_then(|phase| self.phases.get(phase));
        let of_phase = phase.into_iter().flat_map(|phase| &phase.depends);
        let own = task.depends.iter();
        let targets = own
            .map(|name| (name, dependencies.of_task(name)))
            .chain(of_phase.map(|name| (name, dependencies.of_phase(name))));
        let mut wait = |id: &str| {
            after.push(Before {
                id: id.to_owned(),
                why: Why::Depends,
            });
        };
        for (name, target) in targets {
            match target {
                // Nothing will ever do it: it waits for good, and that is told.
                Target::Unknown => wait(name),
                Target::Task(index) => {
                    let open = self.tasks.get(index).filter(|task| holds(task));
                    open.iter().for_each(|task| wait(&task.id));
                }
                Target::Phases(phases) => {
                    let tasks = phases.iter().flat_map(|&phase| self.phase_tasks(phase));
                    tasks
                        .filter(|task| holds(task))
                        .for_each(|task| wait(&task.id));
                }
            }
        }
    }
}

fn holds(task: &Task) -> bool {
    !task.done && !task.optional
}

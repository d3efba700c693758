//! Who waits for whom: unmet dependencies and cycles (TASK-10).
//!
//! One rule holds everywhere: a task holds others up while it is open, unless
//! it is optional or the person took it out of scope.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::model::{Scope, Task, TaskList};
use crate::lang::Say;

/// Something in `depends` that is not there yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Say)]
#[serde(rename_all = "snake_case")]
pub enum Unmet {
    /// The task is still open.
    #[say("task {id}", id = _0)]
    Task(String),
    /// The phase has open tasks.
    #[say("phase {key}", key = _0)]
    Phase(String),
    /// Nothing in the file has this name.
    #[say("{name} (not in this file)", name = _0)]
    Unknown(String),
}

/// What the name in a `depends` means.
#[derive(Clone, Copy)]
pub(super) enum Target<'a> {
    Task(usize),
    /// All phases that answer to the name.
    Phases(&'a [usize]),
    Unknown,
}

/// Dependencies of one list, with every name looked up only once.
pub(super) struct Dependencies<'a> {
    list: &'a TaskList,
    tasks: HashMap<&'a str, usize>,
    phases: HashMap<&'a str, Vec<usize>>,
}

impl<'a> Dependencies<'a> {
    /// `None` where nothing depends on anything, which is the usual file.
    pub fn of(list: &'a TaskList) -> Option<Dependencies<'a>> {
        let any = list.tasks.iter().any(|task| !task.depends.is_empty())
            || list.phases.iter().any(|phase| !phase.depends.is_empty());
        any.then(|| {
            let mut phases: HashMap<&str, Vec<usize>> = HashMap::new();
            for (index, phase) in list.phases.iter().enumerate() {
                phases.entry(&phase.key).or_default().push(index);
            }
            let mut tasks = HashMap::with_capacity(list.tasks.len());
            for (index, task) in list.tasks.iter().enumerate() {
                tasks.entry(task.id.as_str()).or_insert(index);
            }
            Dependencies {
                list,
                tasks,
                phases,
            }
        })
    }

    /// What a task's own `depends` means: a task before a phase.
    pub fn of_task(&self, name: &str) -> Target<'_> {
        match (self.tasks.get(name), self.phases.get(name)) {
            (Some(&task), _) => Target::Task(task),
            (None, Some(phases)) => Target::Phases(phases),
            (None, None) => Target::Unknown,
        }
    }

    /// What the `depends` of a heading means: a phase before a task.
    pub fn of_phase(&self, name: &str) -> Target<'_> {
        match self.phases.get(name) {
            Some(phases) => Target::Phases(phases),
            None => self.of_task(name),
        }
    }

    /// The cycles that can be reached from the given tasks over tasks that
    /// hold others up, at most `limit` of them.
    pub fn cycles(
        &self,
        starts: impl IntoIterator<Item = usize>,
        holds_up: impl Fn(&Task) -> bool,
        limit: usize,
    ) -> Vec<Vec<String>> {
        let mut search = CycleSearch {
            dependencies: self,
            holds_up,
            limit,
            state: HashMap::new(),
            found: Vec::new(),
        };
        for start in starts {
            search.from(Node::Task(start));
        }
        search.found
    }

    fn edges(&self, node: Node) -> Vec<Node> {
        let list = self.list;
        match node {
            Node::Task(index) => {
                let Some(task) = list.tasks.get(index) else {
                    return Vec::new();
                };
                let own = task.depends.iter().map(|name| self.of_task(name));
                let gate = task.phase.filter(|&phase| {
                    let phase = list.phases.get(phase);
                    phase.is_some_and(|phase| !phase.depends.is_empty())
                });
                own.flat_map(nodes).chain(gate.map(Node::Gate)).collect()
            }
            Node::Gate(index) => {
                let names = list.phases.get(index).map(|phase| phase.depends.iter());
                names
                    .into_iter()
                    .flatten()
                    .flat_map(|name| nodes(self.of_phase(name)))
                    .collect()
            }
            Node::Phase(index) => {
                let tasks = list.phases.get(index).map(|phase| phase.tasks.clone());
                tasks.unwrap_or_default().map(Node::Task).collect()
            }
        }
    }

    fn name(&self, node: Node) -> Option<String> {
        match node {
            Node::Task(index) => self.list.tasks.get(index).map(|task| task.id.clone()),
            Node::Phase(index) => {
                let phase = self.list.phases.get(index)?;
                Some(format!("Phase {}", phase.key))
            }
            Node::Gate(_) => None,
        }
    }
}

fn nodes(target: Target<'_>) -> Vec<Node> {
    match target {
        Target::Task(index) => vec![Node::Task(index)],
        Target::Phases(phases) => phases.iter().copied().map(Node::Phase).collect(),
        Target::Unknown => Vec::new(),
    }
}

/// A point of the dependency graph. Phases have two, so that a phase of many
/// tasks that depends on a phase of many tasks costs their sum of edges, not
/// their product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Node {
    Task(usize),
    /// Done when all tasks of the phase are done.
    Phase(usize),
    /// Open when everything is done that the heading depends on.
    Gate(usize),
}

#[derive(Clone, Copy, PartialEq)]
enum Visit {
    OnPath,
    Finished,
}

struct CycleSearch<'a, F> {
    dependencies: &'a Dependencies<'a>,
    holds_up: F,
    limit: usize,
    state: HashMap<Node, Visit>,
    found: Vec<Vec<String>>,
}

impl<F: Fn(&Task) -> bool> CycleSearch<'_, F> {
    /// Depth first, with a path of our own: files can nest deeper than the
    /// stack allows.
    fn from(&mut self, start: Node) {
        let mut path: Vec<(Node, std::vec::IntoIter<Node>)> = Vec::new();
        self.enter(start, &mut path);
        while let Some((node, edges)) = path.last_mut() {
            let Some(next) = edges.next() else {
                self.state.insert(*node, Visit::Finished);
                path.pop();
                continue;
            };
            if self.state.get(&next) == Some(&Visit::OnPath) {
                self.report(next, &path);
            } else {
                self.enter(next, &mut path);
            }
        }
    }

    fn enter(&mut self, node: Node, path: &mut Vec<(Node, std::vec::IntoIter<Node>)>) {
        if self.state.contains_key(&node) || !self.is_passable(node) {
            return;
        }
        self.state.insert(node, Visit::OnPath);
        path.push((node, self.dependencies.edges(node).into_iter()));
    }

    fn is_passable(&self, node: Node) -> bool {
        match node {
            Node::Task(index) => self
                .dependencies
                .list
                .tasks
                .get(index)
                .is_some_and(&self.holds_up),
            Node::Phase(_) | Node::Gate(_) => true,
        }
    }

    fn report(&mut self, back_to: Node, path: &[(Node, std::vec::IntoIter<Node>)]) {
        if self.found.len() >= self.limit {
            return;
        }
        let cycle = path
            .iter()
            .skip_while(|(node, _)| *node != back_to)
            .filter_map(|(node, _)| self.dependencies.name(*node))
            .collect();
        self.found.push(cycle);
    }
}

/// Answers for many tasks what each of them still waits for.
pub(super) struct Waits<'a> {
    dependencies: &'a Dependencies<'a>,
    skipped: &'a Scope,
    /// Per phase: whether a task in it still holds others up.
    phase_is_open: Vec<bool>,
}

impl<'a> Waits<'a> {
    pub fn new(dependencies: &'a Dependencies<'a>, scope: &'a Scope) -> Waits<'a> {
        let list = dependencies.list;
        let phase_is_open = (0..list.phases.len())
            .map(|phase| {
                let tasks = list.phase_tasks(phase).iter();
                tasks.into_iter().any(|task| holds_up(task, scope))
            })
            .collect();
        Waits {
            dependencies,
            skipped: scope,
            phase_is_open,
        }
    }

    pub fn of(&self, task: &Task) -> Vec<Unmet> {
        let mut unmet = Vec::new();
        for name in &task.depends {
            self.check(name, self.dependencies.of_task(name), &mut unmet);
        }
        let phase = task
            .phase
            .and_then(|phase| self.dependencies.list.phases.get(phase));
        for name in phase.map_or(&[][..], |phase| &phase.depends) {
            self.check(name, self.dependencies.of_phase(name), &mut unmet);
        }
        unmet
    }

    fn check(&self, name: &str, target: Target<'_>, unmet: &mut Vec<Unmet>) {
        let list = self.dependencies.list;
        match target {
            Target::Unknown => unmet.push(Unmet::Unknown(name.to_owned())),
            Target::Task(index) => {
                let task = list.tasks.get(index);
                if task.is_some_and(|task| holds_up(task, self.skipped)) {
                    unmet.push(Unmet::Task(name.to_owned()));
                }
            }
            Target::Phases(phases) => {
                let is_open = |phase: &usize| self.phase_is_open.get(*phase) == Some(&true);
                if phases.iter().any(is_open) {
                    unmet.push(Unmet::Phase(name.to_owned()));
                }
            }
        }
    }
}

/// Deliberately blind to `scope.phase`: working on one phase does not make
/// the others done.
pub(super) fn holds_up(task: &Task, scope: &Scope) -> bool {
    !task.done && !task.optional && !scope.skipped.contains(&task.id)
}

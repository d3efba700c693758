//! Choosing what to work on next (TASK-10, TASK-13).

use serde::{Deserialize, Serialize};

use super::depends::{Dependencies, Unmet, Waits, holds_up};
use super::format::Format;
use super::model::{Mode, Scope, Task, TaskList};

/// The answer to "what now?". Tasks are indices into [`TaskList::tasks`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pick {
    /// Work on these: one, or several that may go side by side. The first is
    /// the one to take where only one can be worked on.
    Next {
        tasks: Vec<usize>,
        /// Tasks that were passed over on the way.
        waiting: Vec<Waiting>,
    },
    /// Open tasks are left and each of them waits for something.
    Blocked { waiting: Vec<Waiting> },
    /// Tasks that wait for each other.
    Cycle { ids: Vec<String> },
    /// Every task in scope is done, and there is at least one.
    Done,
    /// The scope holds no task at all, which is never a success.
    NothingInScope {
        phase: Option<String>,
        /// The phases that could have been named.
        known: Vec<String>,
    },
}

/// A task that cannot be worked on yet, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    #[serde(skip)]
    pub task: usize,
    pub id: String,
    pub on: Vec<Unmet>,
}

impl TaskList {
    pub fn pick(&self, scope: &Scope) -> Pick {
        let counts = self.counts(scope);
        if counts.total == 0 {
            return Pick::NothingInScope {
                phase: scope.phase.clone(),
                known: self.phases.iter().map(|phase| phase.key.clone()).collect(),
            };
        }
        if counts.pending == 0 {
            return Pick::Done;
        }
        let candidates = self.candidates(scope);
        let dependencies = Dependencies::of(self);
        if let Some(dependencies) = &dependencies {
            let holds_up = |task: &Task| holds_up(task, scope);
            let cycles = dependencies.cycles(candidates.iter().copied(), holds_up, 1);
            if let Some(ids) = cycles.into_iter().next() {
                return Pick::Cycle { ids };
            }
        }
        let waits = dependencies
            .as_ref()
            .map(|dependencies| Waits::new(dependencies, scope));
        self.first_ready(&candidates, waits.as_ref())
    }

    /// The first tasks that could be worked on now, in their order. A task
    /// that is nested under an open one goes with that.
    pub fn ready(&self, scope: &Scope, most: usize) -> Vec<usize> {
        let candidates = self.candidates(scope);
        let open: std::collections::HashSet<usize> = candidates.iter().copied().collect();
        let dependencies = Dependencies::of(self);
        let waits = dependencies
            .as_ref()
            .map(|dependencies| Waits::new(dependencies, scope));
        let parent_is_open = |index: &usize| {
            let parent = self.tasks.get(*index).and_then(|task| task.parent);
            parent.is_some_and(|parent| open.contains(&parent))
        };
        candidates
            .into_iter()
            .filter(|index| !parent_is_open(index))
            .filter(|&index| self.why_waiting(index, waits.as_ref()).is_none())
            .take(most)
            .collect()
    }

    /// The open tasks in scope, in the order in which they are to be done.
    pub(super) fn candidates(&self, scope: &Scope) -> Vec<usize> {
        let open = |(_, task): &(usize, &Task)| !task.done && self.is_required(task, scope);
        let open_tasks = self.tasks.iter().enumerate().filter(open);
        let mut candidates: Vec<usize> = open_tasks.map(|(index, _)| index).collect();
        let task = |index: &usize| self.tasks.get(*index);
        if self.format == Format::PrdJson {
            // Stories without a priority come last; equal ones in file order.
            let priority = |index: &usize| task(index).and_then(|task| task.priority);
            candidates.sort_by(|a, b| {
                let (a, b) = (priority(a), priority(b));
                a.unwrap_or(f64::INFINITY)
                    .total_cmp(&b.unwrap_or(f64::INFINITY))
            });
        } else {
            let first_heading = self.phases.first().map_or(0, |phase| phase.line);
            candidates.sort_by_key(|index| {
                task(index).map(|task| match task.phase {
                    None if task.line < first_heading => 0,
                    Some(phase) => phase + 1,
                    // Boxes outside the phases come after them.
                    None => self.phases.len() + 1,
                })
            });
        }
        candidates
    }

    fn first_ready(&self, candidates: &[usize], waits: Option<&Waits<'_>>) -> Pick {
        let mut waiting = Vec::new();
        let mut open = candidates.iter();
        while let Some(&index) = open.next() {
            let Some(task) = self.tasks.get(index) else {
                continue;
            };
            match self.why_waiting(index, waits) {
                Some(reason) => waiting.push(reason),
                None => {
                    let mut tasks = vec![index];
                    self.add_company(task, open.as_slice(), waits, &mut tasks, &mut waiting);
                    return Pick::Next { tasks, waiting };
                }
            }
        }
        Pick::Blocked { waiting }
    }

    fn why_waiting(&self, index: usize, waits: Option<&Waits<'_>>) -> Option<Waiting> {
        let task = self.tasks.get(index)?;
        let on = waits?.of(task);
        (!on.is_empty()).then(|| Waiting {
            task: index,
            id: task.id.clone(),
            on,
        })
    }

    /// Adds what may go beside the first task: the rest of a parallel phase,
    /// or the `[P]` tasks that follow a `[P]` task without a break. A nested
    /// task goes with the task that it is nested under.
    fn add_company(
        &self,
        first: &Task,
        rest: &[usize],
        waits: Option<&Waits<'_>>,
        tasks: &mut Vec<usize>,
        waiting: &mut Vec<Waiting>,
    ) {
        let phase_mode = first.phase.and_then(|phase| self.phases.get(phase));
        let whole_phase = phase_mode.is_some_and(|phase| phase.mode == Mode::Parallel);
        if !whole_phase && !first.parallel {
            return;
        }
        let mut covered: std::collections::HashSet<usize> = tasks.iter().copied().collect();
        for &index in rest {
            let Some(task) = self.tasks.get(index) else {
                continue;
            };
            if task.phase != first.phase || !(whole_phase || task.parallel) {
                break;
            }
            if task.parent.is_some_and(|parent| covered.contains(&parent)) {
                covered.insert(index);
            } else if let Some(reason) = self.why_waiting(index, waits) {
                waiting.push(reason);
            } else {
                covered.insert(index);
                tasks.push(index);
            }
        }
    }
}

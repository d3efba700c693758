//! Tasks without ids are known by their places: what is known of them goes
//! along when those change.

use std::collections::{BTreeMap, BTreeSet};

use super::State;
use crate::machine::{Observation, TaskRef, Tasks};
use crate::tasks::Moved;

impl State {
    /// Whatever was said of a task is said of where it stands now.
    pub(in crate::machine) fn follow_moved(&mut self, seen: &Observation) {
        let Tasks::Read(facts) = &seen.tasks else {
            return;
        };
        if facts.moved.is_empty() {
            return;
        }
        let names = Names::of(&facts.moved);
        let tasks = &mut self.tasks;
        names.in_set(&mut tasks.skipped);
        names.in_map(&mut tasks.set_aside);
        names.in_set(&mut tasks.added);
        names.in_map(&mut tasks.remarked);
        tasks.focus.iter_mut().for_each(|id| names.in_id(id));
        let ticks = &mut self.ticks;
        names.in_map(&mut ticks.proofs);
        names.in_set(&mut ticks.done);
        names.in_refs(&mut ticks.unchecked);
        names.in_map(&mut ticks.levels);
        names.in_map(&mut ticks.remembered);
        names.in_set(&mut ticks.before);
        ticks.turned_back.iter_mut().for_each(|id| names.in_id(id));
        if let Some(beside) = &mut self.evidence.beside {
            names.in_refs(&mut beside.tasks);
        }
        names.in_map(&mut self.rules.checks.tasks);
        names.in_map(&mut self.rules.checks.proofs);
        names.in_set(&mut self.flow.accepted);
        let position = self.flow.position.as_mut();
        let in_flow = position.and_then(|position| position.task.as_mut());
        let asked = self.questions.iter_mut();
        let asked = asked.filter_map(|question| question.task.as_mut());
        let others = self.turn.task.iter_mut().chain(in_flow).chain(asked);
        others.for_each(|task| names.in_id(&mut task.id));
    }
}

/// What tasks were called, and what they are called now.
struct Names<'a>(BTreeMap<&'a str, &'a str>);

impl<'a> Names<'a> {
    fn of(moved: &'a [Moved]) -> Names<'a> {
        let names = moved.iter().map(|m| (m.from.as_str(), m.to.as_str()));
        Names(names.collect())
    }

    fn in_id(&self, id: &mut String) {
        if let Some(now) = self.0.get(id.as_str()) {
            *id = (*now).to_owned();
        }
    }

    fn in_set(&self, ids: &mut BTreeSet<String>) {
        let before = std::mem::take(ids);
        ids.extend(before.into_iter().map(|id| self.renamed(id)));
    }

    fn in_map<T>(&self, by_id: &mut BTreeMap<String, T>) {
        let before = std::mem::take(by_id);
        by_id.extend(before.into_iter().map(|(id, of)| (self.renamed(id), of)));
    }

    fn in_refs(&self, tasks: &mut [TaskRef]) {
        tasks.iter_mut().for_each(|task| self.in_id(&mut task.id));
    }

    fn renamed(&self, mut id: String) -> String {
        self.in_id(&mut id);
        id
    }
}

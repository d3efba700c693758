//! Ticks that an earlier run left without proof: another one takes nothing for
//! shown that was not.

use std::collections::{BTreeMap, BTreeSet};

use ralph_core::machine::{Observation, TaskFacts, Tasks};
use ralph_core::proof::EvidenceLevel;
use ralph_store::layout::RunPaths;

use crate::announcement::Announcement;
use crate::past::{self, Past};
use crate::perform::OpenRun;

/// Runs that are looked through for the last one of a list.
const LOOKED_THROUGH: usize = 20;

/// Adds to what is seen when a run begins which ticks an earlier one left
/// without proof.
pub(crate) fn doubt(run: &OpenRun, seen: &mut Observation) -> Option<Announcement> {
    let Tasks::Read(facts) = &seen.tasks else {
        return None;
    };
    if facts.ticked.is_empty() {
        return None;
    }
    let runs = run.layout.runs().unwrap_or_default().into_iter().rev();
    let others = runs.filter(|other| other.id != run.paths.id);
    let mut others = others
        .take(LOOKED_THROUGH)
        .filter_map(|run| Earlier::of(&run));
    let last = others.find(|earlier| earlier.is_about(facts))?;
    seen.doubted = last.doubts(facts);
    let tasks: Vec<String> = seen.doubted.keys().cloned().collect();
    (!tasks.is_empty()).then_some(Announcement::Doubted { tasks })
}

/// A run, and the tasks that it knew by their words: a list may have another
/// name by now, and its tasks other places.
struct Earlier {
    past: Past,
    ticked: BTreeMap<String, String>,
    known: BTreeSet<String>,
}

impl Earlier {
    fn of(run: &RunPaths) -> Option<Earlier> {
        let (mut ticked, mut known) = (BTreeMap::new(), BTreeSet::new());
        let past = past::listen(run, &mut |event, _, _| {
            let Some(Tasks::Read(facts)) = past::seen_in(event).map(|seen| &seen.tasks) else {
                return;
            };
            let tasks = facts.ticked.iter();
            ticked.extend(tasks.map(|task| (task.id.clone(), task.text.clone())));
            let all = facts.ticked.iter().chain(&facts.open).chain(&facts.next);
            known.extend(all.map(|task| task.text.clone()));
        });
        let past = past.ok()?;
        Some(Earlier {
            past,
            ticked,
            known,
        })
    }

    fn is_about(&self, facts: &TaskFacts) -> bool {
        let mut ticked = facts.ticked.iter();
        ticked.any(|task| self.known.contains(&task.text))
    }

    fn doubts(&self, facts: &TaskFacts) -> BTreeMap<String, EvidenceLevel> {
        let short = self.past.state.short_of_proof().into_iter();
        let short = short.filter_map(|(id, level)| Some((self.ticked.get(&id)?, level)));
        let short: BTreeMap<&String, EvidenceLevel> = short.collect();
        // It died before it could look at what its agent had ticked.
        let died = self.past.state.outcome().is_none();
        let seen: BTreeSet<&String> = self.ticked.values().collect();
        let level = |text: &String| match short.get(text) {
            Some(level) => Some(*level),
            None if died && !seen.contains(text) => Some(EvidenceLevel::Claimed),
            None => None,
        };
        let doubted = facts.ticked.iter();
        doubted
            .filter_map(|task| Some((task.id.clone(), level(&task.text)?)))
            .collect()
    }
}

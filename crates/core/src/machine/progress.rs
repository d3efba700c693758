//! Progress by content: what counts is a state of the work that was never
//! seen before (BRKR-03).

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{EvidenceKinds, Seen, Tasks};

/// One reason to call a turn productive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// More tasks are done than ever before.
    Tasks {
        completed: usize,
    },
    Phase {
        phase: String,
    },
    Commit,
    Tree,
}

impl Evidence {
    pub fn name(&self) -> &'static str {
        match self {
            Evidence::Tasks { .. } => "tasks",
            Evidence::Phase { .. } => "phase",
            Evidence::Commit => "commit",
            Evidence::Tree => "tree",
        }
    }
}

/// All that was ever seen. A tree that comes back (A→B→A) is in here and so
/// is no progress; a box that is unticked and ticked again is below the mark.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Progress {
    most_completed: usize,
    /// How many phases the furthest current phase had behind it, plus one.
    furthest_phase: usize,
    trees: BTreeSet<String>,
    commit_trees: BTreeSet<String>,
}

impl Progress {
    /// Takes in what was seen and says what of it is new.
    pub fn observe(&mut self, seen: &Seen, kinds: EvidenceKinds) -> Vec<Evidence> {
        let mut new = Vec::new();
        if let Tasks::Read(facts) = &seen.tasks {
            if facts.completed > self.most_completed {
                self.most_completed = facts.completed;
                if kinds.tasks {
                    new.push(Evidence::Tasks {
                        completed: facts.completed,
                    });
                }
            }
            if let Some(phase) = &facts.phase {
                let place = facts
                    .phases
                    .iter()
                    .position(|p| p.key == *phase)
                    .map_or(0, |i| i + 1);
                if place > self.furthest_phase {
                    self.furthest_phase = place;
                    if kinds.phase {
                        new.push(Evidence::Phase {
                            phase: phase.clone(),
                        });
                    }
                }
            }
        }
        if insert_new(&mut self.commit_trees, seen.commit_tree.as_ref()) && kinds.commit {
            new.push(Evidence::Commit);
        }
        if insert_new(&mut self.trees, seen.tree.as_ref()) && kinds.tree {
            new.push(Evidence::Tree);
        }
        new
    }
}

fn insert_new(known: &mut BTreeSet<String>, value: Option<&String>) -> bool {
    value.is_some_and(|v| known.insert(v.clone()))
}

/// A hash of what a failure says, without what changes from run to run:
/// numbers, case and white space.
pub(super) fn failure_hash(output: &str) -> u64 {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    let mut hash = OFFSET;
    let mut last = ' ';
    for c in output.trim_end().chars() {
        let c = match c {
            c if c.is_ascii_digit() => '#',
            c if c.is_whitespace() => ' ',
            c => c.to_ascii_lowercase(),
        };
        if (c == '#' || c == ' ') && c == last {
            continue;
        }
        last = c;
        hash = (hash ^ u64::from(u32::from(c))).wrapping_mul(PRIME);
    }
    hash
}

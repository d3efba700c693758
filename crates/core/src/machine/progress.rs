//! Progress by content: what counts is a state of the work that was never
//! seen before (BRKR-03).

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{EvidenceKinds, FileClaims, Observation, Tasks};

/// One reason to call a turn productive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
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

/// All that was ever seen. A tree that comes back (A→B→A) is in here and so
/// is no progress; a box that is unticked and ticked again is below the mark.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Progress {
    most_completed: usize,
    /// How many phases the furthest current phase had behind it, plus one.
    furthest_phase: usize,
    /// The same of what the state file of a delta loop says.
    most_claimed: usize,
    most_claimed_phases: usize,
    trees: BTreeSet<String>,
    commit_trees: BTreeSet<String>,
}

impl Progress {
    /// Takes in what was seen and says what of it is new.
    pub fn observe(
        &mut self,
        seen: &Observation,
        claims: Option<&FileClaims>,
        kinds: EvidenceKinds,
    ) -> Vec<Evidence> {
        let mut new = Vec::new();
        if let Tasks::Read(facts) = &seen.tasks {
            let completed = facts.completed;
            if raise(&mut self.most_completed, completed) && kinds.tasks {
                new.push(Evidence::Tasks { completed });
            }
            if let Some(phase) = &facts.phase {
                let place = facts
                    .phases
                    .iter()
                    .position(|p| p.key == *phase)
                    .map_or(0, |i| i + 1);
                if raise(&mut self.furthest_phase, place) && kinds.phase {
                    new.push(Evidence::Phase {
                        phase: phase.clone(),
                    });
                }
            }
        }
        if let Some(claims) = claims {
            let completed = claims.done.len().max(claims.subtasks.0 as usize);
            if raise(&mut self.most_claimed, completed) && kinds.tasks {
                new.push(Evidence::Tasks { completed });
            }
            if raise(&mut self.most_claimed_phases, claims.completed.len()) && kinds.phase {
                let last = claims.completed.last().map(u32::to_string);
                let phase = last.unwrap_or_default();
                new.push(Evidence::Phase { phase });
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

/// Whether it is higher than ever.
fn raise(mark: &mut usize, to: usize) -> bool {
    let is_higher = to > *mark;
    *mark = to.max(*mark);
    is_higher
}

fn insert_new(known: &mut BTreeSet<String>, value: Option<&String>) -> bool {
    value.is_some_and(|v| known.insert(v.clone()))
}

/// A hash of what a failure says, without what changes from run to run:
/// numbers, long names with digits in them (ids, addresses, temporary paths),
/// case and white space.
pub(super) fn failure_hash(output: &str) -> u64 {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    let mut hash = OFFSET;
    let mut last = ' ';
    let mut take = |c: char| {
        if (c == '#' || c == ' ') && c == last {
            return;
        }
        last = c;
        hash = (hash ^ u64::from(u32::from(c))).wrapping_mul(PRIME);
    };
    for word in output
        .trim_end()
        .split_inclusive(|c: char| !c.is_ascii_alphanumeric())
    {
        let name = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        let varies = name.len() >= VARYING_NAME && name.contains(|c: char| c.is_ascii_digit());
        for c in word.chars() {
            take(match c {
                c if c.is_ascii_digit() || (varies && c.is_ascii_alphanumeric()) => '#',
                c if c.is_whitespace() => ' ',
                c => c.to_ascii_lowercase(),
            });
        }
    }
    hash
}

/// A name of this length with a digit in it is taken for a random one.
const VARYING_NAME: usize = 8;

#[cfg(test)]
mod tests {
    use super::failure_hash;

    #[test]
    fn failures_are_compared_without_what_changes_from_run_to_run() {
        let same = [
            ("exit code 1 after 12.5 s", "exit code 1 after 9.25 s"),
            ("at 0x7ffe09aa80a0", "at 0x55ee12cc0010"),
            ("/tmp/pytest-a81hf93k2/x", "/tmp/pytest-9cc0e12ff/x"),
            ("Error:  FAILED\n", "error: failed"),
        ];
        for (a, b) in same {
            assert_eq!(failure_hash(a), failure_hash(b), "{a} / {b}");
        }
        let different = [
            ("no such table: users", "no such table: orders"),
            ("expected ;", "expected )"),
            ("", "x"),
        ];
        for (a, b) in different {
            assert_ne!(failure_hash(a), failure_hash(b), "{a} / {b}");
        }
    }
}

//! The jobs that are not over, as one worker has heard of them.

use std::collections::BTreeMap;
use std::time::Instant;

use crate::job::{Me, Standing, State, choose};

#[derive(Debug, Default)]
pub(crate) struct View {
    jobs: BTreeMap<String, Seen>,
}

#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub state: State,
    pub revision: u64,
    /// When this revision was first seen.
    since: Instant,
}

impl View {
    /// What is heard again, or late, makes nothing younger.
    pub fn see(&mut self, id: &str, revision: u64, state: State, now: Instant) {
        let known = self.jobs.get(id).map(|seen| seen.revision);
        if known.is_some_and(|known| known >= revision) {
            return;
        }
        if state.is_over() {
            self.jobs.remove(id);
            return;
        }
        let seen = Seen {
            state,
            revision,
            since: now,
        };
        self.jobs.insert(id.to_owned(), seen);
    }

    /// Until it is heard of again.
    pub fn forget(&mut self, id: &str) {
        self.jobs.remove(id);
    }

    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    pub fn choose(&self, me: &Me, now: Instant) -> Option<(String, Seen)> {
        let standing = self.jobs.iter().map(|(id, seen)| Standing {
            id,
            state: &seen.state,
            unchanged: now.saturating_duration_since(seen.since),
        });
        let id = choose(standing, me)?;
        let seen = self.jobs.get(id)?;
        Some((id.to_owned(), seen.clone()))
    }
}

//! Plays events into a snapshot: the machine decides again as it did, and
//! what it decides is what there is to see.

use ralph_core::lang::Lang;
use ralph_core::machine::{Effect, Event, Kind, Notice, Now, State, step};
use ralph_core::overview::Standing;
use ralph_core::text;

use super::snapshot::{Snapshot, Told};
use crate::record::Header;

/// Of a run that tells more than this the oldest is no longer shown; the
/// event log has it all.
const MOST_EVENTS: usize = 120_000;
const MOST_BLOCKS: usize = 10_000;
/// Longer texts are cut: whoever wants it all reads the log.
const LONGEST_TEXT: usize = 500;

impl Snapshot {
    pub(super) fn begin(&mut self, header: &Header) {
        self.revision += 1;
        let goal = match (&header.asked.prompt, &header.tasks_file) {
            (_, Some(file)) => {
                let below = file.strip_prefix(&self.run.root).unwrap_or(file);
                below.display().to_string()
            }
            (Some(prompt), None) => prompt.clone(),
            (None, None) => String::new(),
        };
        self.run.goal = text::one_line(&text::redact(&text::sanitize(&goal)));
        self.run.started_ms = header.started_ms;
        self.run.tasks_file = header.tasks_file.clone();
        self.run.branch = header.branch.clone();
        self.run.commit = header.commit.clone();
        self.run.agents = header.rules.agents.clone();
        self.run.verifies = header.rules.verify.is_some();
        self.overview.updated_ms = header.started_ms;
    }

    /// Plays one event; `true` where a turn began.
    pub(super) fn play(&mut self, state: &mut State, event: &Event, lang: Lang) -> bool {
        self.revision += 1;
        self.frozen = matches!(event.kind, Kind::Frozen);
        // What is told before the next turn begins is about the turn before.
        let mut iteration = state.turn.number;
        let mut notices = Vec::new();
        for effect in step(state, event) {
            if let Effect::Emit(notice) = effect {
                if let Notice::IterationStart { .. } = &notice {
                    iteration = state.turn.number;
                }
                self.hear(&notice, iteration, event.at, lang);
                notices.push(notice);
            }
        }
        // Turns tell the revision that changed them.
        self.turns.heard = self.revision - 1;
        self.turns.hear(event, state, &notices)
    }

    /// Takes in where the machine stands after what was played, and who
    /// drives it.
    pub(super) fn settle(&mut self, state: Option<&State>, pid: Option<u32>, lang: Lang) {
        let overview = &mut self.overview;
        let before = (overview.standing, overview.pid);
        if let Some(state) = state {
            overview.take(state, lang);
        }
        if self.frozen && overview.outcome.is_none() {
            overview.standing = Standing::Frozen;
        }
        overview.driven_by(pid);
        if (overview.standing, overview.pid) != before {
            self.revision += 1;
        }
    }

    fn hear(&mut self, notice: &Notice, iteration: u32, at: Now, lang: Lang) {
        self.overview.hear(notice, at);
        if let (Notice::GateResult { .. }, Some(run)) = (notice, &self.overview.checks) {
            self.checks.push(run.clone());
        }
        if let Notice::GuardBlock { iteration, block } = notice {
            if self.guard.len() >= MOST_BLOCKS {
                self.guard.drain(..MOST_BLOCKS / 10);
            }
            self.guard.push((*iteration, block.clone()));
        }
        let number = self.events.last().map_or(0, |told| told.number) + 1;
        if self.events.len() >= MOST_EVENTS {
            self.events.drain(..MOST_EVENTS / 10);
        }
        let text = notice.words(lang);
        let text = text::one_line(&text::sanitize(&text));
        self.events.push(Told {
            number,
            at_ms: at.wall_ms,
            level: notice.level(),
            event: notice.event(),
            iteration,
            text: text::redact(&text::excerpt(&text, LONGEST_TEXT)).into(),
        });
    }
}

//! Plays events into a snapshot: the machine decides again as it did, and
//! what it decides is what there is to see.

use ralph_core::lang::{Lang, Say};
use ralph_core::machine::{Effect, Event, Kind, Notice, Now, Stage, State, VerifyReport, step};
use ralph_core::text;

use super::snapshot::{Check, CheckRun, Snapshot, Standing, Told, Waiting};
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
        self.updated_ms = header.started_ms;
    }

    /// Plays one event; `true` where a turn began.
    pub(super) fn play(&mut self, state: &mut State, event: &Event, lang: Lang) -> bool {
        self.revision += 1;
        self.waiting = None;
        if let Kind::Verified(report) = &event.kind {
            self.checked(report, event.at);
        }
        // What is told before the next turn begins is about the turn before.
        let mut iteration = state.turn.number;
        let mut notices = Vec::new();
        for effect in step(state, event) {
            match effect {
                Effect::Emit(notice) => {
                    if let Notice::IterationStart { .. } = &notice {
                        iteration = state.turn.number;
                    }
                    self.hear(&notice, iteration, event.at, lang);
                    notices.push(notice);
                }
                Effect::Wait { ms, why } => {
                    let ahead = i64::try_from(ms).unwrap_or(i64::MAX);
                    let until_ms = event.at.wall_ms.saturating_add(ahead);
                    self.waiting = Some(Waiting { until_ms, why });
                }
                _ => {}
            }
        }
        // Turns tell the revision that changed them.
        self.turns.heard = self.revision - 1;
        let begun = self.turns.hear(event, state, &notices);
        if let Some(call) = self.turns.last().filter(|_| begun) {
            self.task.clone_from(&call.task);
            self.role.clone_from(&call.role);
        }
        self.take_state(state, event);
        begun
    }

    fn take_state(&mut self, state: &State, event: &Event) {
        let facts = state.tasks.facts.as_ref();
        self.iteration = state.turn.number;
        self.max_iterations = state.rules.limits.max_iterations;
        self.max_duration_ms = state.rules.limits.max_duration_ms;
        self.total = facts.map_or(0, |t| t.total);
        self.completed = facts.map_or(0, |t| t.completed);
        self.pending = facts.map_or(0, |t| t.pending);
        self.phase = state.phase().map(str::to_owned);
        let phases = facts.map_or(&[][..], |t| &t.phases);
        if self.phases != phases {
            self.phases = phases.to_vec();
        }
        self.roles = state.roles();
        if self.questions != state.questions {
            self.questions.clone_from(&state.questions);
        }
        self.agent = state.called_agent().into();
        self.last_promise.clone_from(&state.claims.last_promise);
        self.bill = state.agents.bill;
        self.outcome = state.outcome().cloned();
        self.worked_ms = state.elapsed_ms();
        self.updated_ms = event.at.wall_ms;
        self.standing = match (&state.stage, &event.kind) {
            (Stage::Finished(_), _) => Standing::Ended,
            (_, Kind::Frozen) => Standing::Frozen,
            (Stage::New, _) => Standing::New,
            (Stage::Running, _) => Standing::Working,
            (Stage::Verifying { .. }, _) => Standing::Verifying,
            (Stage::Asking(_), _) => Standing::Asking,
            _ => Standing::Waiting,
        };
    }

    /// A run that did not end and that nobody drives is dead.
    pub(super) fn driven_by(&mut self, pid: Option<u32>) {
        let over = matches!(self.standing, Standing::Ended | Standing::Dead);
        if self.pid != pid || (pid.is_none() && !over) {
            self.revision += 1;
        }
        self.pid = pid;
        if pid.is_none() && !over {
            self.standing = Standing::Dead;
        }
    }

    fn checked(&mut self, report: &VerifyReport, at: Now) {
        let check = |result: &ralph_core::machine::CommandResult| Check {
            command: text::redact(&result.command).into_owned(),
            exit: result.exit,
            duration_ms: result.duration_ms,
        };
        self.checks.push(CheckRun {
            turn: report.turn,
            at_ms: at.wall_ms,
            passed: report.passed(),
            checks: report.results.iter().map(check).collect(),
        });
    }

    fn hear(&mut self, notice: &Notice, iteration: u32, at: Now, lang: Lang) {
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
        let text = notice.say(lang);
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

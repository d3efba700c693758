//! Plays events into a snapshot: the machine decides again as it did, and
//! what it decides is what there is to see.

use ralph_core::lang::{Lang, Say};
use ralph_core::machine::{
    Effect, End, Event, Kind, Notice, Now, QuestionNotice, Stage, State, Turn, TurnReport,
    VerifyReport, step,
};
use ralph_core::promise::Promise;
use ralph_core::text;

use super::snapshot::{Check, CheckRun, Snapshot, Standing, Told, TurnView, Verdict, Waiting};
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
        let turns = self.turns.len();
        if let Kind::TurnEnded(report) = &event.kind
            && (report.turn, report.attempt) == (state.turns, state.attempt)
            && state.stage == Stage::Running
        {
            self.end_turn(report);
        }
        if let Kind::Verified(report) = &event.kind {
            self.checked(report, event.at);
        }
        // What is told before the next turn begins is about the turn before.
        let mut iteration = state.turns;
        for effect in step(state, event) {
            match effect {
                Effect::Emit(notice) => {
                    if let Notice::IterationStart { .. } = &notice {
                        iteration = state.turns;
                    }
                    self.hear(&notice, iteration, event.at, lang);
                }
                Effect::RunAgent(turn) => self.start_turn(&turn, state, event.at),
                Effect::Wait { ms, why } => {
                    let ahead = i64::try_from(ms).unwrap_or(i64::MAX);
                    let until_ms = event.at.wall_ms.saturating_add(ahead);
                    self.waiting = Some(Waiting { until_ms, why });
                }
                _ => {}
            }
        }
        self.take_state(state, event);
        self.turns.len() > turns
    }

    fn take_state(&mut self, state: &State, event: &Event) {
        let facts = state.tasks.as_ref();
        self.iteration = state.turns;
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
        self.last_promise.clone_from(&state.last_promise);
        self.bill = state.bill;
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

    fn start_turn(&mut self, turn: &Turn, state: &State, at: Now) {
        self.task.clone_from(&turn.task);
        self.role = turn.flow.as_ref().map(|flow| flow.role.clone());
        self.turns.push(TurnView {
            revision: self.revision,
            turn: turn.turn,
            attempt: turn.attempt,
            agent: state.agent_name(turn.agent).into(),
            role: self.role.clone(),
            phase: turn.phase.clone(),
            task: turn.task.clone(),
            started_ms: at.wall_ms,
            duration_ms: None,
            spent: Default::default(),
            promise: None,
            verdict: Verdict::Running,
            newly_done: 0,
            completed: self.completed,
        });
    }

    fn end_turn(&mut self, report: &TurnReport) {
        let revision = self.revision;
        if let Some(turn) = self.turns.last_mut() {
            turn.revision = revision;
            turn.duration_ms = Some(report.duration_ms);
            turn.spent = report.spent;
            turn.promise = report.promise.as_ref().map(Promise::to_string);
            turn.verdict = match report.end {
                End::Stopped | End::Lost | End::OverBudget => Verdict::Cut,
                _ => Verdict::Idle,
            };
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
        match notice {
            Notice::IterationComplete {
                newly_done,
                completed,
                evidence,
                ..
            } => {
                if let Some(turn) = self.turns.last_mut() {
                    turn.newly_done = *newly_done;
                    turn.completed = *completed;
                }
                if !evidence.is_empty() {
                    self.judge(Verdict::Progress);
                }
            }
            Notice::Error { .. } => self.judge(Verdict::Failed),
            Notice::AgentRefused { .. } => self.judge(Verdict::Refused),
            // The check that failed says more than that the claim fell with it.
            Notice::PromiseRejected { .. } if self.last_verdict() == Some(Verdict::CheckFailed) => {
            }
            Notice::PromiseRejected { .. } => self.judge(Verdict::Rejected),
            Notice::PromiseDetected {
                promise: Promise::Blocked(_),
                ..
            } => self.judge(Verdict::Blocked),
            Notice::Question(QuestionNotice::Asked { .. }) => self.judge(Verdict::Asked),
            Notice::GateResult { passed: true, .. } => self.judge(Verdict::Proven),
            Notice::GateResult { passed: false, .. } => self.judge(Verdict::CheckFailed),
            Notice::GuardBlock { iteration, block } => {
                if self.guard.len() >= MOST_BLOCKS {
                    self.guard.drain(..MOST_BLOCKS / 10);
                }
                self.guard.push((*iteration, block.clone()));
            }
            _ => {}
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

    fn last_verdict(&self) -> Option<Verdict> {
        self.turns.last().map(|turn| turn.verdict)
    }

    fn judge(&mut self, verdict: Verdict) {
        let revision = self.revision;
        if let Some(turn) = self.turns.last_mut() {
            turn.verdict = verdict;
            turn.revision = revision;
        }
    }
}

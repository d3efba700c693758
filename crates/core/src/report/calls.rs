//! Every call of an agent, and what became of it: the one place that judges,
//! for the report and for whoever watches a run.

use std::ops::Deref;

use crate::flow::FlowNotice;
use crate::lang::Say;
use crate::machine::{
    CheckNotice, End, Event, Kind, Notice, QuestionNotice, Stage, State, TaskRef, TurnReport,
};
use crate::promise::Promise;
use crate::usage::Usage;

/// One call of an agent.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Which [`Calls::heard`] changed it last.
    pub changed: u64,
    pub turn: u32,
    /// A refused call is made again within its turn.
    pub attempt: u32,
    pub agent: String,
    /// Whom the agent played, where a flow is followed.
    pub role: Option<String>,
    pub phase: Option<String>,
    /// `None` without a task list.
    pub task: Option<TaskRef>,
    /// On the wall clock.
    pub started_ms: i64,
    /// `None` while it runs.
    pub duration_ms: Option<u64>,
    pub spent: Usage,
    /// What it promised, in its own words.
    pub promise: Option<String>,
    pub verdict: Verdict,
    /// Whether the checks that followed it passed.
    pub verified: Option<bool>,
    /// Tasks that were open before and done after it.
    pub newly_done: usize,
    /// Tasks that were done after it.
    pub completed: usize,
}

/// What became of a call, the latest word on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr, Say)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Verdict {
    #[say("running")]
    Running,
    /// It left something new.
    #[say("progress")]
    Progress,
    /// It left nothing new.
    #[say("nothing new")]
    Idle,
    /// Its promise was contradicted by the evidence.
    #[say("claim rejected")]
    Rejected,
    #[say("checks failed")]
    CheckFailed,
    /// Which proves nothing yet.
    #[say("checks passed")]
    Passed,
    /// A tick stands as proven.
    #[say("proven")]
    Proven,
    #[say("failed")]
    Failed,
    /// The agent's service would not do the work.
    #[say("refused")]
    Refused,
    #[say("blocked")]
    Blocked,
    #[say("asked")]
    Asked,
    /// It was ended from outside.
    #[say("cut short")]
    Cut,
}

impl Verdict {
    /// The good ones first.
    pub const ALL: [Verdict; 12] = [
        Verdict::Progress,
        Verdict::Proven,
        Verdict::Passed,
        Verdict::Idle,
        Verdict::Rejected,
        Verdict::CheckFailed,
        Verdict::Failed,
        Verdict::Refused,
        Verdict::Blocked,
        Verdict::Asked,
        Verdict::Cut,
        Verdict::Running,
    ];
}

/// All calls of a run, the oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Calls {
    all: Vec<Call>,
    /// Counts the events that were heard, unless whoever hears counts.
    pub heard: u64,
}

impl Deref for Calls {
    type Target = [Call];

    fn deref(&self) -> &[Call] {
        &self.all
    }
}

impl FromIterator<Call> for Calls {
    fn from_iter<I: IntoIterator<Item = Call>>(calls: I) -> Calls {
        Calls {
            all: calls.into_iter().collect(),
            heard: 0,
        }
    }
}

impl Calls {
    /// Takes in one event: `state` is what it led to, `notices` what was told
    /// of it. `true` where a call began.
    pub fn hear(&mut self, event: &Event, state: &State, notices: &[Notice]) -> bool {
        self.heard += 1;
        if let Kind::TurnEnded(report) = &event.kind {
            self.end(report);
        }
        for notice in notices {
            self.take(notice);
        }
        self.begin(event, state, notices)
    }

    pub(super) fn take(&mut self, notice: &Notice) {
        match notice {
            Notice::IterationComplete {
                iteration,
                newly_done,
                tasks,
                evidence,
                ..
            } => {
                if let Some(call) = self.of_turn(*iteration) {
                    call.newly_done = *newly_done;
                    call.completed = tasks.completed;
                }
                if !evidence.is_empty() {
                    self.judge(*iteration, Verdict::Progress);
                }
            }
            Notice::Error { iteration, .. } => self.judge(*iteration, Verdict::Failed),
            Notice::AgentRefused { iteration, .. } => self.judge(*iteration, Verdict::Refused),
            Notice::PromiseRejected { iteration, .. } => {
                // The check that failed says more than that the claim fell
                // with it.
                let says_more = |call: &mut Call| call.verdict == Verdict::CheckFailed;
                if !self.of_turn(*iteration).is_some_and(says_more) {
                    self.judge(*iteration, Verdict::Rejected);
                }
            }
            Notice::PromiseDetected {
                iteration,
                promise: Promise::Blocked(_),
            } => self.judge(*iteration, Verdict::Blocked),
            Notice::Question(QuestionNotice::Asked { iteration, .. }) => {
                self.judge(*iteration, Verdict::Asked);
            }
            Notice::GateResult {
                iteration, passed, ..
            } => {
                if let Some(call) = self.of_turn(*iteration) {
                    call.verified = Some(*passed);
                }
                let verdict = match passed {
                    true => Verdict::Passed,
                    false => Verdict::CheckFailed,
                };
                self.judge(*iteration, verdict);
            }
            Notice::Check(CheckNotice::TickProven { iteration, .. }) => {
                self.judge(*iteration, Verdict::Proven);
            }
            Notice::Check(
                CheckNotice::TickRejected { iteration, .. }
                | CheckNotice::SentBack { iteration, .. },
            ) => {
                // A check that failed, or another tick that stands, says more.
                let passed = |call: &mut Call| call.verdict == Verdict::Passed;
                if self.of_turn(*iteration).is_some_and(passed) {
                    self.judge(*iteration, Verdict::Rejected);
                }
            }
            _ => {}
        }
    }

    /// The last call of a turn, which is changed.
    fn of_turn(&mut self, turn: u32) -> Option<&mut Call> {
        let call = self.all.iter_mut().rev().find(|call| call.turn == turn)?;
        call.changed = self.heard;
        Some(call)
    }

    fn judge(&mut self, turn: u32, verdict: Verdict) {
        if let Some(call) = self.of_turn(turn) {
            call.verdict = verdict;
        }
    }

    fn end(&mut self, report: &TurnReport) {
        let runs = |call: &&mut Call| {
            (call.turn, call.attempt) == (report.turn, report.attempt) && call.duration_ms.is_none()
        };
        let Some(call) = self.all.last_mut().filter(runs) else {
            return;
        };
        call.changed = self.heard;
        call.duration_ms = Some(report.duration_ms);
        call.spent = report.spent;
        call.promise = report.promise.as_ref().map(Promise::to_string);
        call.verdict = match report.end {
            End::Stopped | End::NotStarted | End::Lost | End::OverBudget | End::Unguarded => {
                Verdict::Cut
            }
            End::SpawnFailed { .. } => Verdict::Failed,
            _ => Verdict::Idle,
        };
    }

    /// A call has begun where the machine says that one runs which is not
    /// known yet.
    fn begin(&mut self, event: &Event, state: &State, notices: &[Notice]) -> bool {
        let running = (state.turn.number, state.turn.attempt);
        let last = self.all.last();
        if state.stage != Stage::Running
            || last.is_some_and(|call| (call.turn, call.attempt) == running)
        {
            return false;
        }
        let (mut phase, mut task, mut role) = (None, None, None);
        for notice in notices {
            match notice {
                Notice::IterationStart {
                    phase: in_phase,
                    task: on_task,
                    ..
                } => {
                    phase.clone_from(in_phase);
                    task.clone_from(on_task);
                }
                Notice::Flow(FlowNotice::RoleBegins { role: played, .. }) => {
                    role = Some(played.clone());
                }
                _ => {}
            }
        }
        self.all.push(Call {
            changed: self.heard,
            turn: state.turn.number,
            attempt: state.turn.attempt,
            agent: state.called_agent().to_owned(),
            role,
            phase,
            task,
            started_ms: event.at.wall_ms,
            duration_ms: None,
            spent: Usage::default(),
            promise: None,
            verdict: Verdict::Running,
            verified: None,
            newly_done: 0,
            completed: state
                .tasks
                .facts
                .as_ref()
                .map_or(0, |tasks| tasks.completed),
        });
        true
    }
}

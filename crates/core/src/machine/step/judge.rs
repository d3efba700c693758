//! How a turn went: what it left behind, its errors, stalls and lost tasks.

use super::claims::judge_promise;
use super::decide::{decide, duration_used_up, finish, finish_or};
use super::ticks::{note_weakened, take_ticks};
use super::{forge, go_on, roles};
use crate::lang::{Lang, Say};
use crate::machine::progress::failure_hash;
use crate::machine::refusal::Hold;
use crate::machine::state::Failing;
use crate::machine::step::out::Out;
use crate::machine::{
    Detail, Effect, End, ErrorClass, ErrorNote, Notice, Outcome, PauseReason, Refusal, State,
    Tasks, TurnReport,
};
use crate::template::PromptNote;

/// How a turn went, before its promise is looked at.
enum Turned {
    Normal,
    /// It was ended from outside and is judged by what it left.
    Cut,
    Failed(ErrorNote),
    /// A full disk gets no better by trying again at once.
    Unwritable(ErrorNote),
}

pub(super) fn judge_turn(state: &mut State, report: &TurnReport, out: &mut Out) {
    let done_before = state.tasks.as_ref().map_or(0, |t| t.completed);
    if !matches!(report.end, End::SpawnFailed { .. }) {
        state.bill.add(report.spent);
    }
    state.take_tasks(&report.seen.tasks);
    roles::observe(state, &report.seen);
    take_ticks(state, &report.seen.tasks);
    let kinds = state.rules.evidence;
    let evidence = state.progress.observe(&report.seen, kinds);
    let facts = state.tasks.clone().unwrap_or_default();

    // The run's own time was up: that is no failure of the turn.
    let out_of_time = report.end == End::TimedOut && duration_used_up(state);
    let turned = if out_of_time {
        Turned::Cut
    } else {
        how_it_went(report, !evidence.is_empty())
    };
    if let (Turned::Failed(_), Some(refusal)) = (&turned, report.refusal) {
        hold_agent(state, report, refusal, out);
        if facts.completed != done_before {
            out.push(Effect::KeepInStep);
        }
        note_lost_tasks(state, &report.seen.tasks, out);
        note_weakened(state, &report.seen, out);
        return finish_or(state, out, after_failure);
    }
    state.holds.remove(&state.agent);
    if report.end == End::OverBudget {
        out.tell(Notice::OverBudget {
            iteration: report.turn,
        });
    }
    out.tell(Notice::IterationComplete {
        iteration: report.turn,
        phase: state.turn_phase.clone(),
        completed: facts.completed,
        total: facts.total,
        newly_done: facts.completed.saturating_sub(done_before),
        evidence: evidence.clone(),
        duration_ms: report.duration_ms,
    });
    if facts.completed != done_before {
        out.push(Effect::KeepInStep);
    }
    note_lost_tasks(state, &report.seen.tasks, out);
    note_weakened(state, &report.seen, out);
    if !(out_of_time && evidence.is_empty()) && roles::expects_work(state) {
        count_stall(state, report, evidence.is_empty(), out);
    }
    match turned {
        Turned::Failed(error) => {
            state.last_promise.clear();
            count_error(state, report.turn, error, out);
            finish_or(state, out, after_failure);
        }
        Turned::Unwritable(error) => {
            count_error(state, report.turn, error, out);
            let reason = PauseReason::Disk;
            finish_or(state, out, |state, out| {
                finish(state, Outcome::Paused { reason }, out);
            });
        }
        Turned::Cut => {
            forget_errors(state);
            finish_or(state, out, go_on);
        }
        Turned::Normal => {
            forget_errors(state);
            if state.flow.is_some() {
                roles::judge(state, report, out);
            } else {
                judge_promise(state, report, out);
            }
        }
    }
}

/// A turn that failed left nothing that a forge would have to be asked about.
fn after_failure(state: &mut State, out: &mut Out) {
    if forge::is_goal(state) {
        decide(state, out);
    } else {
        go_on(state, out);
    }
}

fn how_it_went(report: &TurnReport, productive: bool) -> Turned {
    let failed = |class, detail| Turned::Failed(ErrorNote { class, detail });
    let words = report.failure.clone();
    match &report.end {
        End::Exit(0) => match &report.seen.tasks {
            Tasks::Trouble { class, message } => failed(*class, Detail::Words(message.clone())),
            _ => Turned::Normal,
        },
        End::Exit(code) => failed(ErrorClass::AgentExec, Detail::Exit { code: *code, words }),
        End::Signal(signal) => failed(
            ErrorClass::AgentExec,
            Detail::Signal {
                signal: *signal,
                words,
            },
        ),
        End::ResultError => failed(ErrorClass::AgentExec, Detail::Words(words)),
        End::SpawnFailed { missing: true } => {
            failed(ErrorClass::AgentMissing, Detail::NotFound { words })
        }
        End::SpawnFailed { missing: false } => {
            failed(ErrorClass::AgentExec, Detail::NotStarted { words })
        }
        End::Unwritable => Turned::Unwritable(ErrorNote {
            class: ErrorClass::FileOp,
            detail: Detail::Words(words),
        }),
        End::TimedOut if productive => Turned::Cut,
        End::TimedOut => failed(
            ErrorClass::AgentTimeout,
            Detail::Timeout {
                seconds: report.duration_ms / 1000,
            },
        ),
        End::OverBudget | End::Stopped | End::Lost => Turned::Cut,
    }
}

/// A refused call is nobody's failure: it is not counted, and made again once
/// an agent can be called.
fn hold_agent(state: &mut State, report: &TurnReport, refusal: Refusal, out: &mut Out) {
    let agent = state.agent;
    let before = state.holds.get(&agent).map_or(0, |hold| hold.count);
    let hold = Hold::new(refusal, state.now().wall_ms, before + 1);
    state.holds.insert(agent, hold);
    state.repeat = true;
    state.untell();
    out.tell(Notice::AgentRefused {
        iteration: report.turn,
        agent: state.agent_name(agent).into(),
        refusal,
        until: hold.until,
        words: report.failure.clone(),
    });
}

pub(super) fn note_lost_tasks(state: &mut State, tasks: &Tasks, out: &mut Out) {
    let Tasks::Read(facts) = tasks else {
        return;
    };
    let iteration = state.turns;
    if !facts.removed.is_empty() {
        state.notes.push(PromptNote::TasksShrank {
            removed: facts.removed.clone(),
        });
        out.tell(Notice::TasksRemoved {
            iteration,
            ids: facts.removed.clone(),
        });
    }
    if !facts.unticked.is_empty() {
        state.notes.push(PromptNote::Unticked {
            ids: facts.unticked.clone(),
        });
        out.tell(Notice::TasksUnticked {
            iteration,
            ids: facts.unticked.clone(),
        });
    }
}

fn count_stall(state: &mut State, report: &TurnReport, stalled: bool, out: &mut Out) {
    if std::mem::take(&mut state.pull.idle) && stalled {
        return;
    }
    if !stalled {
        state.counters.stalled = 0;
    } else if !matches!(report.end, End::Stopped | End::Lost | End::Unwritable) {
        state.counters.stalled += 1;
        let in_a_row = state.counters.stalled;
        out.tell(Notice::Stalled {
            iteration: report.turn,
            in_a_row,
        });
    }
}

pub(super) fn count_error(state: &mut State, turn: u32, error: ErrorNote, out: &mut Out) {
    let message = error.detail.say(Lang::En);
    count_failure(state, Failing::Turn, &message);
    if error.class.counts() {
        state.counters.errors += 1;
        state.errors.push(error.clone());
    }
    state.notes.push(PromptNote::LastError {
        class: error.class.name().into(),
        message,
    });
    out.tell(Notice::Error {
        iteration: turn,
        class: error.class,
        detail: error.detail,
        in_a_row: state.counters.errors,
    });
}

fn forget_errors(state: &mut State) {
    state.counters.errors = 0;
    state.errors.clear();
    if matches!(state.last_failure, Some((Failing::Turn, _))) {
        forget_failure(state);
    }
}

/// The same failure again and again is a loop of its own kind (BRKR-07).
pub(super) fn count_failure(state: &mut State, what: Failing, output: &str) {
    let failure = Some((what, failure_hash(output)));
    if state.last_failure == failure {
        state.counters.same_error += 1;
    } else {
        state.counters.same_error = 1;
        state.last_failure = failure;
    }
}

pub(super) fn forget_failure(state: &mut State) {
    state.counters.same_error = 0;
    state.last_failure = None;
}

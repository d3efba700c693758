//! How a turn went: what it left behind, its errors, stalls and lost tasks.

use super::claims::take_promise;
use super::failures::{count_error, forget_errors};
use super::limits::is_used_up;
use super::looks::{look, note_lost_tasks, note_weakened};
use super::next::Next;
use super::out::Out;
use super::roles;
use crate::machine::refusal::Hold;
use crate::machine::{
    Detail, Effect, End, ErrorClass, ErrorNote, Evidence, EvidenceKinds, Limit, Need, Notice,
    PauseReason, Refusal, State, Tasks, TurnReport,
};

/// How a turn went, before its promise is looked at.
enum TurnVerdict {
    Normal,
    /// It was ended from outside and is judged by what it left.
    Cut,
    Failed(ErrorNote),
    /// Its client does not ask the guard: no other turn of it may begin.
    Unguarded,
    /// A full disk gets no better by trying again at once.
    Unwritable(ErrorNote),
}

pub(super) fn judge_turn(state: &mut State, report: &TurnReport, out: &mut Out) -> Next {
    let done_before = state.tasks.completed();
    let claimed_before = state.claims.file.subtasks.0;
    // Lanes are billed call by call.
    if report.end.is_of_a_call() && state.rules.lanes.is_none() {
        state.agents.bill.add(report.spent);
    }
    let mut evidence = look(state, &report.seen);
    evidence.splice(..0, roles::reached(state, report));

    // The run's own time was up: that is no failure of the turn.
    let out_of_time = report.end == End::TimedOut && is_used_up(state, Limit::Duration);
    let verdict = if out_of_time {
        TurnVerdict::Cut
    } else {
        how_it_went(report, !evidence.is_empty())
    };
    if let (TurnVerdict::Failed(_), Some(refusal)) = (&verdict, report.refusal)
        && is_believed(refusal, &evidence)
    {
        hold_agent(state, report, refusal, out);
        note_changes(state, report, done_before, out);
        return after_failure(state);
    }
    if let TurnVerdict::Failed(error) = &verdict
        && is_to_be_started_again(state, report)
    {
        state.turn.failed_starts += 1;
        state.turn.repeat = Some(error.class);
        out.tell(Notice::AgentNotStarted {
            iteration: report.turn,
            class: error.class,
            detail: error.detail.clone(),
        });
        state.notes.untell();
        // What was seen was seen, whoever changed it.
        note_changes(state, report, done_before, out);
        return after_failure(state);
    }
    state.turn.failed_starts = 0;
    state.agents.holds.remove(&state.agents.current);
    let stalled = evidence.is_empty();
    let newly_done = match state.tasks.facts.is_some() || state.flow.position.is_some() {
        true => state.tasks.completed().saturating_sub(done_before),
        // Without a list, the state file of the loop says how far it is.
        false => {
            let claimed = state.claims.file.subtasks.0;
            claimed.saturating_sub(claimed_before) as usize
        }
    };
    tell_turn(state, report, newly_done, evidence, out);
    note_changes(state, report, done_before, out);
    if !(out_of_time && stalled) && roles::expects_work(state) {
        count_stall(state, report, stalled, out);
    }
    match verdict {
        TurnVerdict::Failed(error) => {
            state.claims.last_promise.clear();
            count_error(state, report.turn, error, out);
            after_failure(state)
        }
        TurnVerdict::Unwritable(error) => {
            count_error(state, report.turn, error, out);
            Next::pause(PauseReason::Disk).unless_stopped(state)
        }
        TurnVerdict::Unguarded => Next::pause(PauseReason::Unguarded).unless_stopped(state),
        TurnVerdict::Cut => {
            forget_errors(state);
            Next::GoOn.unless_stopped(state)
        }
        TurnVerdict::Normal => {
            forget_errors(state);
            match state.flow.position {
                Some(_) => roles::take_turn(state, report, out),
                None => take_promise(state, report, out),
            }
        }
    }
}

fn tell_turn(
    state: &State,
    report: &TurnReport,
    newly_done: usize,
    evidence: Vec<Evidence>,
    out: &mut Out,
) {
    let iteration = report.turn;
    if report.end == End::OverBudget {
        out.tell(Notice::OverBudget { iteration });
    }
    if report.end == End::Unguarded {
        let tool = report.failure.clone();
        out.tell(Notice::Unguarded { iteration, tool });
    }
    let facts = state.tasks.facts.clone().unwrap_or_default();
    out.tell(Notice::IterationComplete {
        iteration,
        phase: state.turn.phase.clone(),
        tasks: facts.counts(),
        newly_done: match newly_done {
            0 => usize::from(roles::ends_subtask(state, report)),
            ticked => ticked,
        },
        evidence,
        duration_ms: report.duration_ms,
    });
}

fn note_changes(state: &mut State, report: &TurnReport, done_before: usize, out: &mut Out) {
    if state.tasks.completed() != done_before {
        out.push(Effect::KeepInStep);
    }
    note_lost_tasks(state, &report.seen.tasks, out);
    note_weakened(state, &report.seen, out);
}

/// A turn that failed left nothing that a forge would have to be asked about.
fn after_failure(state: &State) -> Next {
    let next = match state.rules.goal.is_on_forge() {
        true => Next::Decide,
        false => Next::GoOn,
    };
    next.unless_stopped(state)
}

fn how_it_went(report: &TurnReport, productive: bool) -> TurnVerdict {
    let failed = |class, detail| TurnVerdict::Failed(ErrorNote { class, detail });
    let words = report.failure.clone();
    match &report.end {
        End::Exit(0) => match &report.seen.tasks {
            Tasks::Trouble {
                class,
                message,
                said,
            } => failed(
                *class,
                Detail::File {
                    words: message.clone(),
                    said: said.clone(),
                },
            ),
            _ => TurnVerdict::Normal,
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
        End::Unwritable => TurnVerdict::Unwritable(ErrorNote {
            class: ErrorClass::FileOp,
            detail: Detail::Words(words),
        }),
        End::Unguarded => TurnVerdict::Unguarded,
        End::TimedOut if productive => TurnVerdict::Cut,
        End::TimedOut => failed(
            ErrorClass::AgentTimeout,
            Detail::Timeout {
                seconds: report.duration_ms / 1000,
            },
        ),
        End::OverBudget | End::Stopped | End::NotStarted | End::Lost => TurnVerdict::Cut,
    }
}

/// A session that got somewhere before the service called its request invalid
/// may have spoiled its own context: the next turn begins with a fresh one.
fn is_believed(refusal: Refusal, evidence: &[Evidence]) -> bool {
    refusal != Refusal::Person(Need::Request) || evidence.is_empty()
}

/// An agent that did not start did nothing wrong yet: it is started again
/// within the turn before that counts as an error (ERRC-04, ERRC-06).
fn is_to_be_started_again(state: &State, report: &TurnReport) -> bool {
    let attempts = state.rules.limits.retry.attempts;
    matches!(report.end, End::SpawnFailed { .. }) && state.turn.failed_starts + 1 < attempts
}

/// A refused call is nobody's failure: it is not counted, and made again once
/// an agent can be called.
fn hold_agent(state: &mut State, report: &TurnReport, refusal: Refusal, out: &mut Out) {
    let agent = state.agents.current;
    let before = state.agents.holds.get(&agent).map_or(0, |hold| hold.count);
    let now = state.now().wall_ms;
    let hold = Hold::new(refusal, now, before + 1);
    state.agents.holds.insert(agent, hold);
    state.turn.repeat = Some(match refusal {
        Refusal::Overload { .. } => ErrorClass::Unavailable,
        Refusal::Usage { .. } | Refusal::Person(Need::Spend | Need::Admin) => {
            ErrorClass::RateLimited
        }
        Refusal::Person(_) => ErrorClass::AgentExec,
    });
    state.notes.untell();
    out.tell(Notice::AgentRefused {
        iteration: report.turn,
        agent: state.agent_name(agent).into(),
        refusal,
        until: hold.until,
        held_ms: hold.until.and_then(|until| u64::try_from(until - now).ok()),
        words: report.failure.clone(),
    });
}

fn count_stall(state: &mut State, report: &TurnReport, stalled: bool, out: &mut Out) {
    if std::mem::take(&mut state.pull.idle) && stalled {
        return;
    }
    if !stalled {
        state.counters.stalled = 0;
    } else if !matches!(
        report.end,
        End::Stopped | End::NotStarted | End::Lost | End::Unwritable
    ) {
        state.counters.stalled += 1;
        let in_a_row = state.counters.stalled;
        let has_list = state.tasks.facts.is_some();
        let kinds = state.rules.evidence;
        out.tell(Notice::Stalled {
            iteration: report.turn,
            in_a_row,
            looked: EvidenceKinds {
                tasks: kinds.tasks && has_list,
                phase: kinds.phase && has_list,
                ..kinds
            },
        });
    }
}

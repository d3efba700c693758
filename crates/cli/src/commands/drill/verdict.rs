//! What counts as caught. Everything here is judged from what the drill saw
//! itself: the journal, the processes, the files, the time.

use super::say::size;
use ralph_core::lang::{Say, said};
use std::time::Duration;

use ralph_core::machine::{
    BreakerRule, End, ErrorClass, Event, Kind, Limit, Outcome, PauseReason, Tasks,
};

use super::evidence::{Evidence, JournalSeen};
use super::faults::{Course, Fault};

/// The engine may take so much memory, however much its agent prints.
pub const MOST_MEMORY: u64 = 32 << 20;
/// Output may grow beyond its cap by what one rotation holds.
const CAP_SLACK: u64 = 1 << 20;

#[derive(Clone, Debug, PartialEq, Eq, Say, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Verdict {
    /// By what, in the order in which it happened.
    #[say(said(_0, " → ", lang))]
    Caught(Vec<Catch>),
    #[say(_0.say(lang))]
    NotCaught(Miss),
    #[say(_0.say(lang))]
    Skipped(Skip),
}

/// Something that held.
#[derive(Clone, Debug, PartialEq, Eq, Say)]
pub enum Catch {
    #[say("turn timeout")]
    TurnTimeout,
    #[say("idle timeout")]
    IdleTimeout,
    #[say("no result")]
    NoResult,
    #[say("no promise")]
    NoPromise,
    #[say("exit code {code}")]
    Exit { code: i32 },
    #[say("signal {signal}")]
    Signal { signal: i32 },
    #[say("task file: {class}", class = ralph_core::display::error_class(lang, class.into_str()))]
    TaskFile { class: ErrorClass },
    #[say("verification failed")]
    VerifyFailed,
    #[say("it kept failing")]
    GateFailed,
    #[say("{count} {errors_en} in a row", errors_en = if *count == 1 { "error" } else { "errors" })]
    Errors { count: u32 },
    #[say("circuit breaker: {rule}", rule = rule.into_str())]
    Breaker { rule: BreakerRule },
    #[say("limit: {name}", name = match limit {Limit::Iterations => "limits.max_iterations",Limit::Duration => "limits.max_duration",Limit::Dispatches => "limits.max_dispatches",})]
    Limit { limit: Limit },
    #[say("paused")]
    Paused,
    #[say("blocked")]
    Blocked,
    #[say("at most {most} of memory", most = size(*bytes))]
    PeakMemory { bytes: u64 },
    #[say("its answer was heard")]
    AnswerHeard,
    #[say("only text reached logs, prompts and screen")]
    OnlyText,
    #[say("the daemon ended with the turn")]
    DaemonEnded,
    #[say("written anew")]
    StatusWhole,
    #[say("journal checksum; resume refuses")]
    JournalChecksum,
    #[say("a second run was refused")]
    SecondRunRefused,
    #[say("the run ended with {exit}")]
    RunEnded { exit: i32 },
    #[say("with room again it went on")]
    Resumed,
}

/// Something that did not hold.
#[derive(Clone, Debug, PartialEq, Eq, Say)]
pub enum Miss {
    /// The drill itself had to end it.
    #[say(if *timeouts_off, "still running after {after}: set limits.iteration_timeout or limits.idle_timeout, both are off", after = ralph_core::text::duration::human(lang, *after))]
    #[say("still running after {after}: no limit ended it", after = ralph_core::text::duration::human(lang, *after))]
    NeverEnded { after: Duration, timeouts_off: bool },
    #[say("processes left alive: {count} ({names})", names = names.join(", "))]
    ProcessesLeft { count: usize, names: Vec<String> },
    #[say("the engine crashed: {words}")]
    Crashed { words: String },
    #[say(if !*has_verification, "the ticks were believed: set verify.commands, nothing else can prove them")]
    #[say(
        "the run ended as complete: verify.commands pass although nothing was done; add one that fails without the work"
    )]
    Completed { has_verification: bool },
    #[say("the run has no outcome: {words}")]
    NoOutcome { words: String },
    #[say("the run did not go on: {words}")]
    DidNotGoOn { words: String },
    /// What the agent said behind the fault was not heard.
    #[say("the answer behind it was not heard")]
    AnswerLost,
    #[say("the engine took {used} of memory, more than {most}", (used, most) = (size(*bytes), size(MOST_MEMORY)))]
    Memory { bytes: u64 },
    #[say("{kept} of output were kept, log.agent_output_max is {cap}", (kept, cap) = (size(*bytes), size(*cap)))]
    Output { bytes: u64, cap: u64 },
    /// Bytes that a terminal obeys, in a file or on the screen.
    #[say("bytes that a terminal obeys reached {place}")]
    Controls { place: String },
    #[say("status.json stayed broken")]
    StatusBroken,
    #[say("the damaged journal was believed")]
    JournalBelieved,
    #[say("a second run worked beside the first")]
    SecondRun,
    #[say("with room again it did not go on: {words}")]
    ResumeFailed { words: String },
    /// The drill could not do its own part.
    #[say("the drill itself failed: {words}")]
    Drill { words: String },
}

/// Why a fault was not tried.
#[derive(Clone, Debug, PartialEq, Eq, Say)]
pub enum Skip {
    #[say("needs Linux")]
    NeedsLinux,
    #[say("needs the program {name}")]
    NeedsProgram { name: &'static str },
    #[say("no small disk can be mounted here: {words}")]
    NoSmallDisk { words: String },
}

/// What decides beyond the evidence: how the run was set up.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    pub timeouts_off: bool,
    pub idle_first: bool,
    pub has_verification: bool,
    /// Bytes of output that are kept of a turn; 0 is all.
    pub output_cap: u64,
}

pub fn judge(fault: Fault, seen: &Evidence, setup: Setup) -> Verdict {
    match harm(fault, seen, setup) {
        Some(miss) => Verdict::NotCaught(miss),
        None => match caught_by(fault, seen, setup) {
            Ok(catches) => Verdict::Caught(catches),
            Err(miss) => Verdict::NotCaught(miss),
        },
    }
}

/// What may happen in no run.
fn harm(fault: Fault, seen: &Evidence, setup: Setup) -> Option<Miss> {
    if seen.ran_out_of_time {
        return Some(Miss::NeverEnded {
            after: seen.duration,
            timeouts_off: setup.timeouts_off && fault.course() == Course::Always,
        });
    }
    if seen.crashed() {
        let words = seen.last_words();
        return Some(Miss::Crashed { words });
    }
    if seen.survivors > 0 {
        let (count, names) = (seen.survivors, seen.names.clone());
        return Some(Miss::ProcessesLeft { count, names });
    }
    if let Some(bytes) = seen.peak_memory.filter(|&bytes| bytes > MOST_MEMORY) {
        return Some(Miss::Memory { bytes });
    }
    let cap = setup.output_cap;
    if cap > 0 && seen.output_bytes > 2 * cap + CAP_SLACK {
        let bytes = seen.output_bytes;
        return Some(Miss::Output { bytes, cap });
    }
    None
}

fn caught_by(fault: Fault, seen: &Evidence, setup: Setup) -> Result<Vec<Catch>, Miss> {
    match fault {
        Fault::CorruptJournal => return journal_checksum(seen),
        Fault::FullDisk => return full_disk(seen),
        _ => {}
    }
    let JournalSeen::Read { events, outcome } = &seen.journal else {
        let words = seen.last_words();
        return Err(Miss::NoOutcome { words });
    };
    let outcome = outcome.as_ref().ok_or_else(|| Miss::NoOutcome {
        words: seen.last_words(),
    })?;
    if *outcome == Outcome::Complete {
        let has_verification = setup.has_verification;
        return Err(Miss::Completed { has_verification });
    }
    if fault.course() == Course::Always {
        return Ok(chain(events, outcome, setup));
    }
    let went_on = seen.went_on || !matches!(outcome, Outcome::Paused { .. });
    if !went_on {
        let words = seen.last_words();
        return Err(Miss::DidNotGoOn { words });
    }
    once(fault, seen, events, outcome, setup)
}

/// What shows that a fault that came once did no harm.
fn once(
    fault: Fault,
    seen: &Evidence,
    events: &[Event],
    outcome: &Outcome,
    setup: Setup,
) -> Result<Vec<Catch>, Miss> {
    let mut catches = match fault {
        Fault::Flood | Fault::LongLine if seen.went_on && answer_heard(events).is_none() => {
            return Err(Miss::AnswerLost);
        }
        Fault::Flood | Fault::LongLine => {
            let peak = seen.peak_memory.map(|bytes| Catch::PeakMemory { bytes });
            peak.into_iter().collect()
        }
        Fault::RawBytes => match &seen.controls {
            Some(place) => {
                let place = place.clone();
                return Err(Miss::Controls { place });
            }
            None => vec![Catch::OnlyText],
        },
        Fault::Daemon => vec![Catch::DaemonEnded],
        Fault::CorruptStatus if !seen.status_is_whole => return Err(Miss::StatusBroken),
        Fault::CorruptStatus => vec![Catch::StatusWhole],
        Fault::CorruptLock if seen.second_agent_ran => return Err(Miss::SecondRun),
        Fault::CorruptLock => vec![Catch::SecondRunRefused],
        _ => Vec::new(),
    };
    if seen.went_on {
        catches.extend(answer_heard(events));
    } else {
        catches.extend(chain(events, outcome, setup));
    }
    Ok(catches)
}

/// The promise behind the fault arrived.
fn answer_heard(events: &[Event]) -> Option<Catch> {
    let first = events.iter().find_map(|event| match &event.kind {
        Kind::TurnEnded(report) => Some(report),
        _ => None,
    })?;
    first.promise.as_ref().map(|_| Catch::AnswerHeard)
}

fn journal_checksum(seen: &Evidence) -> Result<Vec<Catch>, Miss> {
    let resumed = seen.resume.as_ref();
    match &seen.journal {
        JournalSeen::Corrupt if resumed.is_some_and(|r| r.code == 1) => {
            Ok(vec![Catch::JournalChecksum])
        }
        _ => Err(Miss::JournalBelieved),
    }
}

fn full_disk(seen: &Evidence) -> Result<Vec<Catch>, Miss> {
    let resumed = seen.resume.as_ref().is_some_and(|_| seen.went_on);
    if !resumed && !seen.went_on {
        let words = seen.last_words();
        return Err(Miss::ResumeFailed { words });
    }
    let exit = seen.exit.unwrap_or(-1);
    Ok(vec![Catch::RunEnded { exit }, Catch::Resumed])
}

/// How a run that met a fault in every turn came to its end.
fn chain(events: &[Event], outcome: &Outcome, setup: Setup) -> Vec<Catch> {
    let mut catches = Vec::new();
    for event in events {
        let caught = match &event.kind {
            Kind::TurnEnded(report) => match (&report.end, &report.seen.tasks) {
                (End::TimedOut, _) if setup.idle_first => Some(Catch::IdleTimeout),
                (End::TimedOut, _) => Some(Catch::TurnTimeout),
                (End::ResultError, _) => Some(Catch::NoResult),
                (End::Exit(0), Tasks::Trouble { class, .. }) => {
                    Some(Catch::TaskFile { class: *class })
                }
                (End::Exit(0), _) if report.promise.is_none() => Some(Catch::NoPromise),
                (End::Exit(0), _) => None,
                (End::Exit(code), _) => Some(Catch::Exit { code: *code }),
                (End::Signal(signal), _) => Some(Catch::Signal { signal: *signal }),
                _ => None,
            },
            Kind::Verified(report) if !report.passed() => Some(Catch::VerifyFailed),
            _ => None,
        };
        catches.extend(caught.filter(|caught| !catches.contains(caught)));
    }
    catches.push(by_outcome(outcome, events));
    catches
}

fn by_outcome(outcome: &Outcome, events: &[Event]) -> Catch {
    match outcome {
        Outcome::Errors => {
            let turns = events
                .iter()
                .filter(|e| matches!(e.kind, Kind::TurnEnded(_)));
            let count = u32::try_from(turns.count()).unwrap_or(u32::MAX);
            Catch::Errors { count }
        }
        Outcome::CircuitBreak { rule } => Catch::Breaker { rule: *rule },
        Outcome::Paused {
            reason: PauseReason::Limit(limit),
        } => Catch::Limit { limit: *limit },
        Outcome::Blocked { .. } => Catch::Blocked,
        Outcome::GateFailed { .. } => Catch::GateFailed,
        _ => Catch::Paused,
    }
}

//! What goes wrong at a point: said by a test for its own thread ([`arm`]),
//! or by the environment for a whole process.
//!
//! `RALPH_FAULT` is a list, parted by `;`, of `POINT#PASS=WHAT`. The pass is
//! counted from 1 within the process; `#3+` is every pass from the third on.
//! What happens is one of
//!
//! | what | meaning |
//! |---|---|
//! | `kill` | SIGKILL to the process before the operation |
//! | `kill-after` | SIGKILL after it |
//! | `ENOSPC`, `EIO`, `EROFS` | the operation fails without being done |
//! | `short:N` | a write that takes N bytes, then fails for lack of space |
//! | `short:N:EIO` | the same with another error |
//! | `short:N:kill` | a write that takes N bytes, then SIGKILL |

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::process::Command;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use super::{Deed, POINTS};

/// How a point fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    pub os_error: i32,
    /// How many bytes reach the file before the error; only where bytes are
    /// written.
    pub written: usize,
}

impl Fault {
    pub const fn error(os_error: i32) -> Fault {
        Fault {
            os_error,
            written: 0,
        }
    }
}

/// What is due at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strike {
    Fail(Fault),
    Kill { written: usize },
    KillAfter,
}

struct Armed {
    point: &'static str,
    passes_left: usize,
    fault: Fault,
}

// One plan per thread: tests run side by side without seeing each other's.
thread_local! {
    static PLAN: RefCell<Vec<Armed>> = const { RefCell::new(Vec::new()) };
    #[cfg(test)]
    static PASSED: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
}

/// Makes `point` fail once in this thread, after `passes` successes.
pub fn arm(point: &'static str, passes: usize, fault: Fault) {
    PLAN.with_borrow_mut(|plan| {
        plan.push(Armed {
            point,
            passes_left: passes,
            fault,
        });
    });
}

/// The points that this thread has come through, in order.
#[cfg(test)]
pub fn passed() -> Vec<&'static str> {
    PASSED.with_borrow(Clone::clone)
}

/// Called once at each pass: what is due there, if anything is.
pub(super) fn due(point: &'static str, deed: Deed) -> Option<Strike> {
    debug_assert!(POINTS.contains(&point), "{point} is not listed");
    #[cfg(test)]
    PASSED.with_borrow_mut(|passed| passed.push(point));
    let armed = PLAN.with_borrow_mut(|plan| {
        let at = plan.iter().position(|armed| armed.point == point)?;
        let armed = plan.get_mut(at)?;
        if armed.passes_left > 0 {
            armed.passes_left -= 1;
            return None;
        }
        Some(Strike::Fail(plan.remove(at).fault))
    });
    armed.or_else(|| {
        let mut environment = environment()?
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        environment.pass(point, deed)
    })
}

/// What of a write reaches the file before its fault.
pub(super) fn short(due: Option<Strike>, bytes: &[u8]) -> Option<&[u8]> {
    let written = match due? {
        Strike::Fail(fault) => fault.written,
        Strike::Kill { written } => written,
        Strike::KillAfter => return None,
    };
    Some(bytes.get(..written).unwrap_or(bytes))
}

pub(super) fn before(due: Option<Strike>) -> io::Result<()> {
    match due {
        Some(Strike::Fail(fault)) => Err(io::Error::from_raw_os_error(fault.os_error)),
        Some(Strike::Kill { .. }) => die(),
        Some(Strike::KillAfter) | None => Ok(()),
    }
}

pub(super) fn after(due: Option<Strike>) {
    if due == Some(Strike::KillAfter) {
        die();
    }
}

/// SIGKILL, as a person or the kernel would send it. A shell sends it, since
/// this crate has no system calls of its own.
fn die() -> ! {
    let kill = format!("kill -KILL {}", std::process::id());
    let _ = Command::new("sh").args(["-c", &kill]).status();
    loop {
        std::thread::sleep(Duration::from_secs(1));
    }
}

/// One entry of `RALPH_FAULT`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Planned {
    point: &'static str,
    pass: u64,
    and_later: bool,
    strike: Strike,
}

struct Environment {
    plan: Vec<Planned>,
    passes: BTreeMap<&'static str, u64>,
    trace: Option<File>,
}

impl Environment {
    fn pass(&mut self, point: &'static str, deed: Deed) -> Option<Strike> {
        let count = self.passes.entry(point).or_default();
        *count += 1;
        let count = *count;
        if let Some(trace) = &mut self.trace {
            // One write, so that it stands there whole whatever follows.
            let _ = trace.write_all(format!("{point}#{count} {deed:?}\n").as_bytes());
        }
        let is_due = |planned: &&Planned| {
            planned.point == point
                && (planned.pass == count || planned.and_later && planned.pass < count)
        };
        self.plan.iter().find(is_due).map(|planned| planned.strike)
    }
}

/// Read once; `None` where the environment asks for nothing.
fn environment() -> Option<&'static Mutex<Environment>> {
    static ENVIRONMENT: OnceLock<Option<Mutex<Environment>>> = OnceLock::new();
    let read = || {
        let faults = std::env::var("RALPH_FAULT").ok();
        let trace = std::env::var_os("RALPH_FAULT_TRACE");
        if faults.is_none() && trace.is_none() {
            return None;
        }
        let faults = faults.unwrap_or_default();
        let plan = faults.split(';').filter(|entry| !entry.is_empty());
        Some(Mutex::new(Environment {
            // A fault that is not understood must not pass for a run without
            // one: whoever wrote it would believe that it was survived.
            plan: plan
                .map(|entry| parse(entry).unwrap_or_else(|| panic!("RALPH_FAULT: {entry}?")))
                .collect(),
            passes: BTreeMap::new(),
            trace: trace.map(|path| {
                let opened = OpenOptions::new().append(true).create(true).open(&path);
                opened.unwrap_or_else(|error| panic!("RALPH_FAULT_TRACE: {error}"))
            }),
        }))
    };
    ENVIRONMENT.get_or_init(read).as_ref()
}

fn parse(entry: &str) -> Option<Planned> {
    let (place, what) = entry.split_once('=')?;
    let (name, pass) = place.split_once('#')?;
    let (pass, and_later) = match pass.strip_suffix('+') {
        Some(pass) => (pass, true),
        None => (pass, false),
    };
    Some(Planned {
        point: POINTS.iter().find(|point| **point == name)?,
        pass: pass.parse().ok().filter(|&pass| pass > 0)?,
        and_later,
        strike: parse_strike(what)?,
    })
}

fn parse_strike(what: &str) -> Option<Strike> {
    let Some(short) = what.strip_prefix("short:") else {
        return match what {
            "kill" => Some(Strike::Kill { written: 0 }),
            "kill-after" => Some(Strike::KillAfter),
            name => Some(Strike::Fail(Fault::error(os_error(name)?))),
        };
    };
    let (written, then) = short.split_once(':').unwrap_or((short, "ENOSPC"));
    let written = written.parse().ok()?;
    match then {
        "kill" => Some(Strike::Kill { written }),
        name => {
            let os_error = os_error(name)?;
            Some(Strike::Fail(Fault { os_error, written }))
        }
    }
}

fn os_error(name: &str) -> Option<i32> {
    match name {
        "EIO" => Some(5),
        "ENOSPC" => Some(28),
        "EROFS" => Some(30),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_a_point_a_pass_and_what_happens() {
        let fail = |os_error, written| Strike::Fail(Fault { os_error, written });
        for (entry, pass, and_later, strike) in [
            ("log.write#1=kill", 1, false, Strike::Kill { written: 0 }),
            ("log.write#12=kill-after", 12, false, Strike::KillAfter),
            ("log.write#3+=ENOSPC", 3, true, fail(28, 0)),
            ("log.write#3=EIO", 3, false, fail(5, 0)),
            ("log.write#3=EROFS", 3, false, fail(30, 0)),
            ("log.write#2=short:7", 2, false, fail(28, 7)),
            ("log.write#2=short:7:EIO", 2, false, fail(5, 7)),
            (
                "log.write#2=short:7:kill",
                2,
                false,
                Strike::Kill { written: 7 },
            ),
        ] {
            let want = Planned {
                point: "log.write",
                pass,
                and_later,
                strike,
            };
            assert_eq!(parse(entry), Some(want), "{entry}");
        }
    }

    #[test]
    fn what_is_no_fault_is_not_taken_for_one() {
        for entry in [
            "", "log.write", "log.write=kill", "log.write#0=kill", "log.write#x=kill",
            "log.writes#1=kill", "log.write#1=", "log.write#1=EVERYTHING", "log.write#1=short",
            "log.write#1=short:x", "log.write#1=short:1:",
        ] {
            assert_eq!(parse(entry), None, "{entry}");
        }
    }

    #[test]
    fn the_environment_counts_passes_and_strikes_when_due() {
        let plan = ["log.write#2=EIO", "log.open#2+=kill-after"];
        let mut environment = Environment {
            plan: plan.iter().map(|entry| parse(entry).unwrap()).collect(),
            passes: BTreeMap::new(),
            trace: None,
        };
        let mut strikes = |point| {
            let mut pass = || environment.pass(point, Deed::Write).is_some();
            [pass(), pass(), pass()]
        };
        assert_eq!(strikes("log.write"), [false, true, false]);
        assert_eq!(strikes("log.open"), [false, true, true]);
        assert_eq!(strikes("log.rotate"), [false, false, false]);
    }
}

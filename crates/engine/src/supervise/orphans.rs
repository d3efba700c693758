//! Nobody is left behind: processes that escaped their group by making a
//! session of their own are found all the same, and ended.
//!
//! While the engine lives, it is the reaper of all its descendants, so that
//! whoever loses its parent becomes a child of the engine. After an engine
//! was killed, its processes are found by the tag in their environment.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};
use std::time::{Duration, Instant};

use ralph_store::fault::{self, point};
use rustix::process::{
    Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, waitpid,
};

use super::Tag;

/// Whoever ends by itself within this time was about to: a commit starts
/// Git's housekeeping in the background, which mostly finds nothing to do.
const SETTLE: Duration = Duration::from_millis(200);
/// How long, counted from the beginning, whoever was asked to end may take.
const GRACE: Duration = Duration::from_millis(700);
/// A killed process is gone at once, unless the kernel itself is waiting for
/// a device.
const PATIENCE: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(2);

/// Other threads of ours have children that they wait for.
static AT_WORK: RwLock<()> = RwLock::new(());

/// Until this goes, nobody takes the children of this thread for left ones.
pub fn hold_off() -> RwLockReadGuard<'static, ()> {
    AT_WORK.read().unwrap_or_else(PoisonError::into_inner)
}

/// What came of looking for processes that should be gone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// How many were still alive.
    pub count: usize,
    /// Those that even a kill did not end: the kernel holds them, or they
    /// belong to somebody else.
    pub left: Vec<i32>,
}

/// From now on every descendant that loses its parent becomes our child.
pub fn adopt() {
    // Without it only the group of the child is ended, as elsewhere.
    let _ = set_child_subreaper(Some(getpid()));
}

/// Children that are wanted beside the one that does the work.
static SPARED: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

fn spared() -> MutexGuard<'static, BTreeSet<u32>> {
    // Numbers are whole whatever became of the thread that held them.
    SPARED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps a child from [`end_all`] as long as it lives.
#[derive(Debug)]
pub struct Spared(u32);

pub fn spare(pid: u32) -> Spared {
    spared().insert(pid);
    Spared(pid)
}

impl Drop for Spared {
    fn drop(&mut self) {
        spared().remove(&self.0);
    }
}

/// Ends every child that is left and not spared. Must only be called while no
/// other child is wanted.
pub fn end_all() -> Ended {
    fault::pass(point::ENGINE_ORPHANS);
    let _nobody_else = AT_WORK.write().unwrap_or_else(PoisonError::into_inner);
    end(|| {
        let mut left = children();
        let spared = spared();
        left.retain(|pid| !u32::try_from(pid.as_raw_pid()).is_ok_and(|pid| spared.contains(&pid)));
        // Whoever is dead already only has to be buried.
        left.retain(|&pid| !matches!(waitpid(Some(pid), WaitOptions::NOHANG), Ok(Some(_))));
        left
    })
}

/// Ends every process, other than us, that carries the tag of a run: that is
/// the proof that nobody is left.
pub fn end_tagged(tag: &Tag) -> Ended {
    let entry = format!("{}={}", Tag::VARIABLE, tag.value());
    end(|| tagged(&entry))
}

/// The processes, other than us, in whose environment a variable has this
/// value. Nobody is ended.
pub fn carrying(variable: &str, value: &str) -> Vec<u32> {
    let found = tagged(&format!("{variable}={value}"));
    let number = |pid: Pid| u32::try_from(pid.as_raw_pid()).ok();
    found.into_iter().filter_map(number).collect()
}

/// Waits, asks, then kills, until none is left: each that dies may leave
/// others.
fn end(find: impl Fn() -> Vec<Pid>) -> Ended {
    let started = Instant::now();
    let mut asked = BTreeSet::new();
    // Most are dying already.
    let mut pause = LOOK / 8;
    loop {
        let left = find();
        let elapsed = started.elapsed();
        if left.is_empty() || elapsed >= PATIENCE {
            return Ended {
                count: asked.len(),
                left: left.into_iter().map(Pid::as_raw_pid).collect(),
            };
        }
        for pid in left.into_iter().filter(|_| elapsed >= SETTLE) {
            let is_new = asked.insert(pid.as_raw_pid());
            if elapsed >= GRACE {
                let _ = kill_process(pid, Signal::KILL);
            } else if is_new {
                let _ = kill_process(pid, Signal::TERM);
            }
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(LOOK);
    }
}

/// Our children, of all our threads.
fn children() -> Vec<Pid> {
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten();
    let listed = threads
        .flatten()
        .filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    listed
        .flat_map(|pids| pids.split_whitespace().filter_map(pid).collect::<Vec<_>>())
        .collect()
}

/// Processes, other than us, whose environment holds the tag.
fn tagged(tag: &str) -> Vec<Pid> {
    let holds = |pid: &Pid| {
        let path = format!("/proc/{}/environ", pid.as_raw_pid());
        let environ = std::fs::read(path).unwrap_or_default();
        environ
            .split(|&b| b == 0)
            .any(|entry| entry == tag.as_bytes())
    };
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = all.filter_map(|entry| pid(&entry.file_name().to_string_lossy()));
    pids.filter(|&pid| pid != getpid()).filter(holds).collect()
}

fn pid(text: &str) -> Option<Pid> {
    text.parse().ok().and_then(Pid::from_raw)
}

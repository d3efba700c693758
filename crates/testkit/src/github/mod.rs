//! A scripted GitHub: as much of its API as `gh` asks for, in plain HTTP on a
//! Unix socket (`http_unix_socket` in the configuration of `gh`).
//!
//! The head of a pull request is what stands in a bare repository, so that a
//! push moves it. What the checks of a commit say comes from a script: one
//! entry for each look, the last one stays.

mod answers;
mod zip;

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::http;

/// A client that is silent for so long is gone.
const READ_TIMEOUT: Duration = Duration::from_secs(30);

/// A scripted GitHub that answers until it is dropped.
#[derive(Debug)]
pub struct GitHub {
    socket: PathBuf,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    stopping: AtomicBool,
    world: Mutex<World>,
}

/// What the scripted GitHub knows.
#[derive(Debug, Default)]
pub struct World {
    /// The bare repository whose branches are the heads of pull requests.
    pub bare: PathBuf,
    pub pulls: Vec<PullRequest>,
    /// For each look at the checks of any commit that has no script of its own.
    pub looks: VecDeque<Vec<CheckRun>>,
    /// By commit: for each look at its checks.
    pub of_commit: BTreeMap<String, VecDeque<Vec<CheckRun>>>,
    /// What the looks say once something was run again.
    pub after_rerun: Option<VecDeque<Vec<CheckRun>>>,
    /// Checks at the head of the base branch.
    pub on_base: Vec<CheckRun>,
    /// The log of each run.
    pub logs: BTreeMap<u64, String>,
    /// Looks that a pull request still has to wait for, where the automatic
    /// merge was ordered; more than none makes it blocked until then.
    pub blocked: u32,
    /// Words with which a merge is refused.
    pub refuse_merge: Option<String>,
    /// A branch can't be deleted.
    pub refuse_delete: bool,
    /// Answers to the next requests, whatever they ask: status and body.
    pub faults: VecDeque<(u16, String)>,
    /// What was asked, in short: `merge squash`, `rerun 7`, `GET /…`.
    pub asked: Vec<String>,
}

#[derive(Clone, Debug, Default)]
pub struct PullRequest {
    pub number: u64,
    pub branch: String,
    pub draft: bool,
    /// `OPEN`, `MERGED` or `CLOSED`.
    pub state: String,
    pub title: String,
    pub body: String,
    /// It is merged as soon as nothing blocks it.
    pub auto: bool,
    /// The head where nothing is in the bare repository.
    pub head: String,
    pub updated_at: String,
}

impl PullRequest {
    pub fn open(number: u64, branch: &str) -> PullRequest {
        PullRequest {
            number,
            branch: branch.into(),
            state: "OPEN".into(),
            updated_at: "2026-01-01T00:00:00Z".into(),
            ..PullRequest::default()
        }
    }
}

/// A check run; `result` is its conclusion, or the status of one that is not
/// completed.
#[derive(Clone, Debug)]
pub struct CheckRun {
    pub name: String,
    pub result: &'static str,
    pub run: u64,
    pub job: u64,
    pub required: bool,
}

impl CheckRun {
    pub fn new(name: &str, result: &'static str, run: u64) -> CheckRun {
        CheckRun {
            name: name.into(),
            result,
            run,
            job: run * 10,
            required: false,
        }
    }

    pub fn required(mut self) -> CheckRun {
        self.required = true;
        self
    }

    /// As a later attempt of the same run.
    pub fn job(mut self, job: u64) -> CheckRun {
        self.job = job;
        self
    }
}

impl GitHub {
    pub fn start(socket: &Path, world: World) -> io::Result<GitHub> {
        let listener = UnixListener::bind(socket)?;
        let shared = Arc::new(Shared {
            stopping: AtomicBool::new(false),
            world: Mutex::new(world),
        });
        let accepting = {
            let shared = Arc::clone(&shared);
            std::thread::spawn(move || accept(&listener, &shared))
        };
        Ok(GitHub {
            socket: socket.into(),
            shared,
            accepting: Some(accepting),
        })
    }

    /// What it knows now, to look at or to change.
    pub fn world(&self) -> MutexGuard<'_, World> {
        self.shared.world()
    }

    /// Everything that was asked, in short.
    pub fn asked(&self) -> Vec<String> {
        self.world().asked.clone()
    }
}

impl Shared {
    fn world(&self) -> MutexGuard<'_, World> {
        // A panic elsewhere does not make the records wrong.
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for GitHub {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::SeqCst);
        // Wakes the listener up, so that it sees that it is to stop; where the
        // socket is gone, nobody can.
        let woken = UnixStream::connect(&self.socket).is_ok();
        if let Some(accepting) = self.accepting.take().filter(|_| woken) {
            let _ = accepting.join();
        }
    }
}

fn accept(listener: &UnixListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.stopping.load(Ordering::SeqCst) {
            return;
        }
        let Ok(stream) = stream else { continue };
        let shared = Arc::clone(shared);
        std::thread::spawn(move || talk(&stream, &shared));
    }
}

fn talk(stream: &UnixStream, shared: &Shared) {
    let _ = stream.set_read_timeout(Some(READ_TIMEOUT));
    let Ok(request) = http::read(stream) else {
        return;
    };
    let answer = answers::answer(&mut shared.world(), &request);
    let _ = http::write(&mut &*stream, &answer);
}

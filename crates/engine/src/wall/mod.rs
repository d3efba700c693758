//! The wall around the agent, the checks and all that they start: what they
//! see, where they can go, and that they end with Ralph.
//!
//! Bubblewrap makes it. The machine is there to be read, the work tree to be
//! changed, the person's home is another one (`lodging`), and the network leads
//! to one socket of ours (`door`). It is tried before it is relied upon. Where
//! nobody may make namespaces, Landlock holds at least the files.

#[cfg(target_os = "linux")]
mod door;
#[cfg(target_os = "linux")]
mod ground;
#[cfg(target_os = "linux")]
mod hosts;
#[cfg(target_os = "linux")]
mod inside;
#[cfg(target_os = "linux")]
mod landlock;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
mod lodging;
#[cfg(target_os = "linux")]
mod mounts;
mod overhear;
#[cfg(not(target_os = "linux"))]
#[path = "elsewhere.rs"]
mod platform;
#[cfg(target_os = "linux")]
mod table;
#[cfg(target_os = "linux")]
mod tries;
#[cfg(target_os = "linux")]
use linux as platform;

use std::path::PathBuf;
use std::sync::Arc;

use ralph_core::config::SandboxSettings;
use ralph_store::layout::Layout;
use tokio::sync::watch;

use crate::agents::{Agent, Client};
use crate::supervise::{self, Ending, Report, Sink, Spec, Stop};

use self::overhear::Overhearing;
pub use platform::{Held, Try, Wall, enter_mode, is_around_us, raise, tell};

/// The first word of the arguments of this program where it makes its first
/// steps behind the wall.
pub const INSIDE_MODE: &str = "behind-the-wall";

/// Where the door is, for those behind the wall.
pub const DOOR: &str = "/run/ralph/door";

/// The same where the door can't be put there.
pub const DOOR_VARIABLE: &str = "RALPH_DOOR";

/// The port on which they find the proxy.
pub const PROXY_PORT: u16 = 3129;

/// What a wall is to be like.
#[derive(Clone, Debug)]
pub struct Wanted {
    pub settings: SandboxSettings,
    /// This program, which makes the first steps.
    pub own_program: PathBuf,
    /// Whose services have to be reached.
    pub clients: Vec<Client>,
}

impl Wanted {
    pub fn new(settings: &SandboxSettings, own_program: PathBuf, agents: &[Agent]) -> Wanted {
        let client = |agent: &Agent| match agent {
            Agent::Known(client, _) => Some(*client),
            Agent::Custom(_) | Agent::Scripted { .. } => None,
        };
        Wanted {
            settings: settings.clone(),
            own_program,
            clients: agents.iter().filter_map(client).collect(),
        }
    }
}

/// What the checks of a single verb stand behind: the wall that the settings
/// ask for, unless one stands around all of us.
pub async fn around_checks(wanted: Option<&Wanted>, layout: &Layout) -> Option<Arc<Wall>> {
    match wanted.filter(|_| !is_around_us()) {
        Some(wanted) => raise(wanted, layout).await.1,
        None => None,
    }
}

/// Somebody who is started behind a wall.
#[derive(Clone, Debug)]
pub struct Behind {
    pub wall: Arc<Wall>,
    pub who: Who,
}

#[derive(Clone, Debug)]
pub enum Who {
    Agent {
        client: Option<Client>,
        /// Files of the run that it has to read.
        files: Vec<PathBuf>,
    },
    /// A check of its work, whose home nobody has lived in.
    Check,
}

/// Starts a child behind its wall, where it has one, and sees it through.
pub async fn run(
    behind: Option<&Behind>,
    spec: Spec,
    sink: &mut (dyn Sink + Send),
    stop: watch::Receiver<Stop>,
) -> Report {
    let Some(behind) = behind else {
        return supervise::run(spec, sink, stop).await;
    };
    let program = spec.program.clone();
    match behind.wall.dress(&behind.who, spec) {
        Ok((spec, _lodging)) => {
            let mut ear = Overhearing::new(sink);
            let report = supervise::run(spec, &mut ear, stop).await;
            for path in ear.paths {
                behind.wall.closed(path);
            }
            report
        }
        Err(error) => Report {
            ending: Ending::SpawnFailed {
                missing: error.kind() == std::io::ErrorKind::NotFound,
                message: format!("{}: {error}", program.display()),
            },
            duration: std::time::Duration::ZERO,
            leaked: false,
            sink_error: None,
        },
    }
}

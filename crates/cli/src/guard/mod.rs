//! The guard's surroundings: where the project is, what its configuration
//! says about the guard and how much of that counts, and the disk that the
//! guard looks at. Both the hook and `ralph guard` stand on it.

pub mod project;
pub mod settings;
pub mod trust;

use std::net::{IpAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::time::Duration;

use ralph_core::config::GuardSettings;
use ralph_core::lang::Lang;
use ralph_guard::{Context, Decision, ToolCall, World};

/// How long a name may take to be looked up.
const RESOLVER_PATIENCE: Duration = Duration::from_secs(2);

/// The disk, as far as links go, and the resolver of names.
#[derive(Debug, Clone, Copy)]
pub struct Disk;

impl World for Disk {
    fn link_target(&self, path: &str) -> Option<String> {
        let target = std::fs::read_link(path).ok()?;
        Some(target.to_string_lossy().into_owned())
    }

    /// A resolver may take longer than a client waits for its hook.
    fn addresses(&self, host: &str) -> Option<Vec<IpAddr>> {
        let (tell, told) = std::sync::mpsc::channel();
        let name = host.to_owned();
        std::thread::spawn(move || {
            let found = (name.as_str(), 0).to_socket_addrs();
            let found = found.into_iter().flatten().map(|at| at.ip()).collect();
            let _ = tell.send(found);
        });
        told.recv_timeout(RESOLVER_PATIENCE).ok()
    }
}

/// The machine around a project, as texts.
#[derive(Debug, Clone)]
pub struct Place {
    pub project: String,
    home: String,
    temporary: Vec<String>,
    binary: Option<String>,
}

/// Where nobody knows where `~` leads: outside of everything, in any case.
const UNKNOWN_HOME: &str = "/home/~";

impl Place {
    pub fn new(project: &Path) -> Place {
        let mut temporary: Vec<String> = std::env::var("TMPDIR")
            .ok()
            .filter(|dir| dir.starts_with('/') && dir.len() > 1)
            .map(|dir| dir.trim_end_matches('/').to_owned())
            .into_iter()
            .collect();
        temporary.extend(["/tmp".to_owned(), "/var/tmp".to_owned()]);
        if cfg!(windows) {
            temporary.push(text(&std::env::temp_dir()));
        }
        Place {
            project: text(project),
            home: home().map_or_else(|| UNKNOWN_HOME.to_owned(), |home| text(&home)),
            temporary,
            binary: std::env::current_exe().ok().map(|path| text(&path)),
        }
    }

    pub fn context<'a>(&'a self, settings: &'a GuardSettings) -> Context<'a> {
        Context {
            project: &self.project,
            home: &self.home,
            temporary: &self.temporary,
            binary: self.binary.as_deref(),
            ignore_case: cfg!(any(windows, target_os = "macos")),
            settings,
            world: &Disk,
        }
    }
}

/// Why a command that an agent wants Ralph to run must not be run; none where
/// it may. The built-in rules judge it, whatever the project's file says.
pub fn permit(root: &Path, command: &str) -> Option<String> {
    let settings = GuardSettings::default();
    let input = serde_json::json!({ "command": command });
    let place = Place::new(root);
    let call = ToolCall {
        tool: "Bash",
        input: &input,
        cwd: &place.project,
    };
    let verdict = ralph_guard::judge(&call, &place.context(&settings));
    match verdict.decision {
        Decision::Allow => None,
        Decision::Ask | Decision::Block => Some(verdict.reason(Lang::En)),
    }
}

/// The person's own directory: a shell that is told none looks it up among the
/// users of the machine, and so does this (S-09).
pub fn home() -> Option<PathBuf> {
    std::env::home_dir().filter(|home| home.is_absolute())
}

/// An absolute path without a slash at its end.
fn text(path: &Path) -> String {
    let path = path.to_string_lossy();
    match path.trim_end_matches(std::path::is_separator) {
        "" => "/".to_owned(),
        trimmed => trimmed.to_owned(),
    }
}

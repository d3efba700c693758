//! `ralph monitor`, and `ralph run --monitor`: loop and monitor side by side.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use ralph_core::tr;
use ralph_engine::agents::find_program;
use ralph_engine::terminal;
use ralph_engine::watch::{known_projects, registry};

use crate::FAILED;
use crate::app::own_program;
use crate::app::{self, App};
use crate::args::MonitorArgs;
use crate::monitor::{self, Looking};

/// A screen where no terminal says how many lines it has.
const LINES: usize = 24;

pub fn run(app: &App, args: &MonitorArgs) -> u8 {
    let mut roots = vec![app.root.clone()];
    if args.all {
        let list = registry(|name| std::env::var_os(name));
        let known = list.map(|list| known_projects(&list)).unwrap_or_default();
        roots.extend(known.into_iter().filter(|root| *root != app.root));
    }
    let looking = Looking { roots };
    if args.once {
        let lines = terminal::rows().map_or(LINES, |rows| rows.saturating_sub(1));
        let lines = u16::try_from(lines).unwrap_or(u16::MAX);
        return match monitor::once(app, looking, lines) {
            Ok(shown) => {
                app.print(&shown);
                0
            }
            Err(error) => failed_to_show(app, &error),
        };
    }
    if !app::is_interactive() {
        app.warn(&tr!(app.lang(), "the monitor needs a terminal; `ralph monitor --once` prints one screen, `ralph status --json` and `ralph events --json` are for programs"));
        return FAILED;
    }
    match monitor::run(app, looking) {
        Ok(()) => 0,
        Err(error) => failed_to_show(app, &error),
    }
}

fn failed_to_show(app: &App, error: &io::Error) -> u8 {
    app.warn(&error.to_string());
    FAILED
}

/// Starts the loop on the left and the monitor on the right of a tmux session
/// (MONI-01), and looks at it.
pub fn beside(app: &App, arguments: &[OsString]) -> u8 {
    let Some(tmux) = find_program(OsStr::new("tmux"), Path::new("/")) else {
        app.warn(&tr!(app.lang(), "--monitor needs tmux, which is not installed: `apt install tmux`, `brew install tmux`; or run `ralph monitor` in a second terminal"));
        return FAILED;
    };
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let session = format!("ralph-sdd-{}", since.map_or(0, |since| since.as_secs()));
    let program = own_program();
    let root = app.root.as_os_str();
    let command = |words: &[&OsStr]| {
        let mut line = OsString::from(quoted(program.as_os_str()));
        for word in words {
            line.push(" ");
            line.push(quoted(word));
        }
        line
    };
    let mut again: Vec<&OsStr> = arguments.iter().map(OsString::as_os_str).collect();
    again.retain(|word| *word != "--monitor");
    // What the loop said stays until somebody has read it.
    let mut loop_line = command(&again);
    loop_line.push("; echo; printf '[ralph: %s] ' $?; read -r _");
    let monitor_line = command(&["--root".as_ref(), root, "monitor".as_ref()]);
    let steps: [&[&OsStr]; 5] = [
        &[
            "new-session".as_ref(),
            "-d".as_ref(),
            "-s".as_ref(),
            session.as_ref(),
            "-n".as_ref(),
            "Ralph SDD".as_ref(),
            "-c".as_ref(),
            root,
            &loop_line,
        ],
        &[
            "set-option".as_ref(),
            "-t".as_ref(),
            session.as_ref(),
            "set-titles".as_ref(),
            "on".as_ref(),
        ],
        &[
            "set-option".as_ref(),
            "-t".as_ref(),
            session.as_ref(),
            "set-titles-string".as_ref(),
            "Ralph SDD".as_ref(),
        ],
        &[
            "split-window".as_ref(),
            "-h".as_ref(),
            "-t".as_ref(),
            session.as_ref(),
            "-c".as_ref(),
            root,
            &monitor_line,
        ],
        &[
            "select-pane".as_ref(),
            "-t".as_ref(),
            session.as_ref(),
            "-L".as_ref(),
        ],
    ];
    for step in steps {
        match Command::new(&tmux).args(step).status() {
            Ok(status) if status.success() => {}
            Ok(status) => return failed(app, &status.to_string()),
            Err(error) => return failed(app, &error.to_string()),
        }
    }
    let inside = std::env::var_os("TMUX").is_some();
    let verb = if inside {
        "switch-client"
    } else {
        "attach-session"
    };
    if !app::is_interactive() {
        app.print(&session);
        return 0;
    }
    match Command::new(&tmux).args([verb, "-t", &session]).status() {
        Ok(status) if status.success() => 0,
        Ok(status) => failed(app, &status.to_string()),
        Err(error) => failed(app, &error.to_string()),
    }
}

fn failed(app: &App, why: &str) -> u8 {
    app.warn(&tr!(app.lang(), "tmux could not show loop and monitor ({why}); run `ralph run` and `ralph monitor` in two terminals"));
    FAILED
}

/// A word for the shell that tmux starts.
fn quoted(word: &OsStr) -> String {
    format!("'{}'", word.to_string_lossy().replace('\'', "'\\''"))
}

//! The loop and its monitor side by side in a tmux session (MONI-01).

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use ralph_core::tr;
use ralph_engine::agents::find_program;

use crate::app::{self, App, Exit, own_program};

/// Starts the loop on the left and the monitor on the right, and looks at it.
pub fn beside(app: &App, arguments: &[OsString]) -> Exit {
    let Some(tmux) = find_program(OsStr::new("tmux"), Path::new("/")) else {
        return app.refuse(&tr!(app.lang(), "--monitor needs tmux, which is not installed: `apt install tmux`, `brew install tmux`; or run `ralph monitor` in a second terminal"));
    };
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let session = format!("ralph-sdd-{}", since.map_or(0, |since| since.as_secs()));
    let verb = match std::env::var_os("TMUX") {
        Some(_) => "switch-client",
        None => "attach-session",
    };
    let mut steps = windows(app.root.as_os_str(), &session, arguments);
    if app::is_interactive() {
        steps.push(words(&[verb, "-t", &session]));
    }
    for step in steps {
        let why = match Command::new(&tmux).args(step).status() {
            Ok(status) if status.success() => continue,
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        };
        return app.refuse(&tr!(app.lang(), "tmux could not show loop and monitor ({why}); run `ralph run` and `ralph monitor` in two terminals"));
    }
    if !app::is_interactive() {
        app.print(&session);
    }
    Ok(0)
}

/// The commands of tmux that put both beside each other.
fn windows(root: &OsStr, session: &str, arguments: &[OsString]) -> Vec<Vec<OsString>> {
    let again: Vec<&OsStr> = arguments
        .iter()
        .map(OsString::as_os_str)
        .filter(|word| *word != "--monitor")
        .collect();
    // What the loop said stays until somebody has read it.
    let mut loop_line = ourselves(&again);
    loop_line.push("; echo; printf '[ralph: %s] ' $?; read -r _");
    let monitor_line = ourselves(&["--root".as_ref(), root, "monitor".as_ref()]);
    let mut first = words(&["new-session", "-d", "-s", session, "-n", "Ralph SDD", "-c"]);
    first.extend([root.to_owned(), loop_line]);
    let mut second = words(&["split-window", "-h", "-t", session, "-c"]);
    second.extend([root.to_owned(), monitor_line]);
    vec![
        first,
        words(&["set-option", "-t", session, "set-titles", "on"]),
        words(&[
            "set-option",
            "-t",
            session,
            "set-titles-string",
            "Ralph SDD",
        ]),
        second,
        words(&["select-pane", "-t", session, "-L"]),
    ]
}

fn words(words: &[&str]) -> Vec<OsString> {
    words.iter().map(OsString::from).collect()
}

/// This program with these arguments, as a line for the shell of tmux.
fn ourselves(arguments: &[&OsStr]) -> OsString {
    let quoted = |word: &OsStr| format!("'{}'", word.to_string_lossy().replace('\'', "'\\''"));
    let mut line = OsString::from(quoted(own_program().as_os_str()));
    for word in arguments {
        line.push(" ");
        line.push(quoted(word));
    }
    line
}

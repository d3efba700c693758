//! The loop and its monitor side by side in a tmux session (MONI-01).

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use ralph_core::tr;
use ralph_engine::agents::find_program;

use crate::app::{self, App, own_program};

/// Where the loop is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loop {
    /// In this terminal, where it has not begun yet.
    Here,
    /// In a session of its own.
    Elsewhere,
}

/// Shows the monitor beside the loop. Somebody who is in tmux already keeps
/// the loop in this pane; for others both stand in a new session, on a server
/// of its own: one that runs already would start the loop with the environment
/// that it was started with itself, and without this one's keys.
pub fn beside(app: &App, arguments: &[OsString]) -> Result<Loop, u8> {
    let Some(tmux) = find_program(OsStr::new("tmux"), Path::new("/")) else {
        return app.refuse(&tr!(app.lang(), "--monitor needs tmux, which is not installed: `apt install tmux`, `brew install tmux`; or run `ralph monitor` in a second terminal"));
    };
    if std::env::var_os("TMUX").is_some() {
        if let Err(why) = run(&tmux, &pane(app.root.as_os_str())) {
            app.warn(&tr!(app.lang(), "tmux could not show the monitor ({why}); the loop runs here, and `ralph monitor` shows it in a second terminal"));
        }
        return Ok(Loop::Here);
    }
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let session = format!("ralph-sdd-{}", since.map_or(0, |since| since.as_secs()));
    let on_server = |step: Vec<OsString>| [words(&["-L", &session]), step].concat();
    for step in windows(app.root.as_os_str(), &session, arguments) {
        if let Err(why) = run(&tmux, &on_server(step)) {
            // Nothing goes on where nobody sees it.
            let _ = run(&tmux, &on_server(words(&["kill-server"])));
            return app.refuse(&tr!(app.lang(), "tmux could not show loop and monitor ({why}); run `ralph run` and `ralph monitor` in two terminals"));
        }
    }
    let look = format!("tmux -L {session} attach");
    if !app::is_interactive() {
        app.print(&session);
        app.warn(&tr!(app.lang(), "look at it with `{look}`"));
    } else if let Err(why) = run(
        &tmux,
        &on_server(words(&["attach-session", "-t", &session])),
    ) {
        return app.refuse(&tr!(app.lang(), "tmux could not show the session ({why}), in which the loop runs; look at it with `{look}`, stop it with `ralph stop`"));
    }
    Ok(Loop::Elsewhere)
}

fn run(tmux: &Path, arguments: &[OsString]) -> Result<(), String> {
    match Command::new(tmux).args(arguments).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(status.to_string()),
        Err(error) => Err(error.to_string()),
    }
}

/// The command of tmux that puts the monitor beside this pane.
fn pane(root: &OsStr) -> Vec<OsString> {
    let mut step = words(&["split-window", "-h", "-d"]);
    if let Some(here) = std::env::var_os("TMUX_PANE") {
        step.extend(["-t".into(), here]);
    }
    step.extend(["-c".into(), root.to_owned(), monitor_line(root)]);
    step
}

fn monitor_line(root: &OsStr) -> OsString {
    ourselves(&["--root".as_ref(), root, "monitor".as_ref()])
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
    let mut first = words(&["new-session", "-d", "-s", session, "-n", "Ralph SDD", "-c"]);
    first.extend([root.to_owned(), loop_line]);
    let mut second = words(&["split-window", "-h", "-t", session, "-c"]);
    second.extend([root.to_owned(), monitor_line(root)]);
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

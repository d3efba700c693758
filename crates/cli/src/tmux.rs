//! The loop and its monitor side by side in a tmux session (MONI-01).

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use ralph_core::machine::Outcome;
use ralph_core::tr;
use ralph_engine::agents::find_program;
use ralph_engine::past;
use ralph_store::atomic::{AtomicOptions, write_atomic};
use ralph_store::layout::{Layout, RunPaths};
use ralph_store::{FileError, regular};

use crate::app::{self, App, own_program};

const PREFIX: &str = "ralph-sdd-";
/// Which session it was, in the folder of the state.
const NOTE: &str = "tmux";

/// Where the loop is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loop {
    /// In this terminal, where it has not begun yet.
    Here,
    /// It was in a session of its own, and ended with this code.
    Elsewhere(u8),
}

/// Shows the monitor beside the loop. Somebody who is in tmux already keeps
/// the loop in this pane; for others both stand in a new session, on a server
/// of its own: one that runs already would start the loop with the environment
/// that it was started with itself, and without this one's keys.
pub fn beside(app: &App, arguments: &[OsString]) -> Result<Loop, u8> {
    let Some(tmux) = find_program(OsStr::new("tmux"), Path::new("/")) else {
        return app.refuse(&tr!(app.lang(), "--monitor needs tmux, which is not installed: `apt install tmux`, `brew install tmux`; or run `ralph monitor` in a second terminal"));
    };
    // Whoever waits for the exit code gets that of the loop.
    if !app::is_interactive() {
        app.warn(&tr!(app.lang(), "there is no terminal that could show the monitor; the loop runs here, and `ralph monitor` shows it in a terminal"));
        return Ok(Loop::Here);
    }
    if std::env::var_os("TMUX").is_some() {
        if let Err(why) = run(&tmux, &pane(app.root.as_os_str())) {
            app.warn(&tr!(app.lang(), "tmux could not show the monitor ({why}); the loop runs here, and `ralph monitor` shows it in a second terminal"));
        }
        return Ok(Loop::Here);
    }
    let before = app.layout().latest_run().ok().flatten();
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let session = format!("{PREFIX}{}", since.map_or(0, |since| since.as_secs()));
    let on_server = |step: Vec<OsString>| [words(&["-L", &session]), step].concat();
    for step in windows(&tmux, app.root.as_os_str(), &session, arguments) {
        if let Err(why) = run(&tmux, &on_server(step)) {
            // Nothing goes on where nobody sees it.
            let _ = run(&tmux, &on_server(words(&["kill-server"])));
            return app.refuse(&tr!(app.lang(), "tmux could not show loop and monitor ({why}); run `ralph run` and `ralph monitor` in two terminals"));
        }
    }
    let look = way_to(&session);
    // Without the note the session is there all the same.
    let _ = note(app, &session);
    app.tell(&tr!(
        app.lang(),
        "loop and monitor stand in tmux; whoever leaves comes back with `{look}`"
    ));
    let attach = on_server(words(&["attach-session", "-t", &session]));
    if let Err(why) = run(&tmux, &attach) {
        return app.refuse(&tr!(app.lang(), "tmux could not show the session ({why}), in which the loop runs; look at it with `{look}`, stop it with `ralph stop`"));
    }
    match ended(app, before.as_ref()) {
        Some(outcome) => Ok(Loop::Elsewhere(outcome.exit_code())),
        None => app.refuse(&tr!(app.lang(), "no run came to its end in that session: look at it with `{look}`, at the run with `ralph status`")),
    }
}

fn way_to(session: &str) -> String {
    format!("tmux -L {session} attach")
}

fn note(app: &App, session: &str) -> Result<(), FileError> {
    let layout = app.layout();
    layout.prepare_state()?;
    let path = layout.state_dir().join(NOTE);
    write_atomic(&path, session.as_bytes(), AtomicOptions { durable: false })
}

/// The command that shows the session in which loop and monitor of this
/// project stand, where they do.
pub fn way_back(layout: &Layout) -> Option<String> {
    let session = regular::read_to_string(layout.state_dir().join(NOTE)).ok()?;
    let is_ours = session.strip_prefix(PREFIX);
    is_ours.filter(|rest| rest.bytes().all(|b| b.is_ascii_digit()))?;
    let tmux = find_program(OsStr::new("tmux"), Path::new("/"))?;
    let mut asked = Command::new(tmux);
    asked.args(["-L", &session, "has-session"]);
    asked.stdin(Stdio::null());
    let answer = asked.output().ok()?;
    answer.status.success().then(|| way_to(&session))
}

/// How the run ended that began since then.
fn ended(app: &App, before: Option<&RunPaths>) -> Option<Outcome> {
    let latest = app.layout().latest_run().ok().flatten();
    let run = latest.filter(|run| before.is_none_or(|before| before.id != run.id))?;
    past::read(&run).ok()?.state.outcome().cloned()
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
fn windows(tmux: &Path, root: &OsStr, session: &str, arguments: &[OsString]) -> Vec<Vec<OsString>> {
    let again: Vec<&OsStr> = arguments
        .iter()
        .map(OsString::as_os_str)
        .filter(|word| *word != "--monitor")
        .collect();
    let mut loop_line = ourselves(&again);
    loop_line.push(after_the_loop(tmux));
    let mut first = words(&["new-session", "-d", "-s", session, "-n", "Ralph SDD", "-c"]);
    first.extend([root.to_owned(), loop_line]);
    let mut second = words(&["split-window", "-h", "-t", session, "-c"]);
    second.extend([root.to_owned(), monitor_line(root)]);
    vec![
        first,
        words(&["set-option", "-t", session, "set-titles", "on"]),
        words(&[
            "set-option", "-t", session, "set-titles-string", "Ralph SDD",
        ]),
        second,
        words(&["select-pane", "-t", session, "-L"]),
    ]
}

/// What the loop said stays until somebody has read it, and the server no
/// longer than anybody looks.
fn after_the_loop(tmux: &Path) -> String {
    let tmux = quoted(tmux.as_os_str());
    format!(
        "; code=$?; {tmux} set-option destroy-unattached on; \
         test -n \"$({tmux} list-clients)\" || exec {tmux} kill-server; \
         printf '\\n[ralph: %s] ' $code; read -r _"
    )
}

fn words(words: &[&str]) -> Vec<OsString> {
    words.iter().map(OsString::from).collect()
}

/// This program with these arguments, as a line for the shell of tmux.
fn ourselves(arguments: &[&OsStr]) -> OsString {
    let mut line = OsString::from(quoted(own_program().as_os_str()));
    for word in arguments {
        line.push(" ");
        line.push(quoted(word));
    }
    line
}

fn quoted(word: &OsStr) -> String {
    format!("'{}'", word.to_string_lossy().replace('\'', "'\\''"))
}

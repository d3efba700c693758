//! `ralph diff`: what a turn changed, from snapshots: new files included, and
//! whatever became of the work since.

use std::io::{IsTerminal, Write};
use std::process::{Command, Stdio};

use ralph_core::text::visible;
use ralph_core::tr;
use ralph_engine::git::{self, Shown};
use ralph_engine::snapshots::{self, TreeId};
use ralph_engine::supervise::SHELL;

use super::turns::{self, Turns};
use crate::app::{App, Exit, OrFail};
use crate::args::DiffArgs;

/// Nobody reads more.
const MOST_BYTES: usize = 64 * 1024 * 1024;

pub fn run(app: &App, args: &DiffArgs) -> Exit {
    let turns = Turns::read(app, args.run.as_deref())?;
    let (wanted, paths) = turns::split(&args.what);
    let (from, to) = match wanted {
        Some((from, Some(to))) => (turns.after(app, from)?, turns.after(app, to)?),
        Some((turn, None)) => (turns.before(app, turn)?, turns.after(app, turn)?),
        None => {
            let turn = turns.last(app)?;
            (turns.before(app, turn)?, turns.after(app, turn)?)
        }
    };
    let paths = turns::within(app, paths)?;
    if let Some(tool) = &args.tool {
        return in_tool(app, &turns, [&from, &to], &paths, tool.as_deref());
    }
    show(app, &turns, &from, &to, &paths, args.stat)
}

/// Never the repository's: the store that is shown has no configuration of it.
fn in_tool(
    app: &App,
    turns: &Turns,
    trees: [&TreeId; 2],
    paths: &[std::path::PathBuf],
    tool: Option<&str>,
) -> Exit {
    let store = snapshots::dir(&turns.layout);
    let places = (store.as_path(), app.root.as_path());
    let names: Vec<&str> = paths.iter().filter_map(|path| path.to_str()).collect();
    let [from, to] = trees.map(ToString::to_string);
    match git::difftool_in_store(places, [&from, &to], &names, tool) {
        Some(Ok(true)) => Ok(0),
        Some(Ok(false)) => Err(crate::FAILED),
        Some(Err(error)) => app.refuse(&error.to_string()),
        None => app.refuse(&tr!(
            app.lang(),
            "there is no Git here to ask for a difftool"
        )),
    }
}

fn show(
    app: &App,
    turns: &Turns,
    from: &TreeId,
    to: &TreeId,
    paths: &[std::path::PathBuf],
    stat: bool,
) -> Exit {
    let store = snapshots::dir(&turns.layout);
    let places = (store.as_path(), app.root.as_path());
    let color = app.screen.style.color;
    let shown = Shown {
        stat,
        color,
        plain: false,
    };
    let names: Vec<&str> = paths.iter().filter_map(|path| path.to_str()).collect();
    let trees = [from.to_string(), to.to_string()];
    let [from_id, to_id] = &trees;
    let made = git::diff_in_store(places, [from_id, to_id], &names, shown, MOST_BYTES);
    let Some(bytes) = made else {
        return list(app, turns, from, to, paths);
    };
    let text = String::from_utf8_lossy(&bytes);
    if !std::io::stdout().is_terminal() {
        crate::out::bytes(&bytes);
        return Ok(0);
    }
    let text = visible(&text, color);
    match git::pager(&store, &app.root) {
        Some(pager) if page(&pager, &text) => {}
        _ => app.tell(&text),
    }
    Ok(0)
}

/// Without Git: at least which files they are.
fn list(
    app: &App,
    turns: &Turns,
    from: &TreeId,
    to: &TreeId,
    paths: &[std::path::PathBuf],
) -> Exit {
    let changed = turns.snapshots.changes(from, to).or_fail(app)?;
    let wanted =
        |path: &std::path::Path| paths.is_empty() || paths.iter().any(|p| path.starts_with(p));
    let lines = changed.iter().filter(|changed| wanted(&changed.path));
    let lines: String = lines
        .map(|changed| turns::line(changed, app.lang()))
        .collect();
    app.done(&lines)
}

/// Whether the person's pager took it.
fn page(pager: &str, text: &str) -> bool {
    let (shell, flag) = SHELL;
    let mut command = Command::new(shell);
    command.arg(flag).arg(pager).stdin(Stdio::piped());
    // As Git has it.
    if std::env::var_os("LESS").is_none() {
        command.env("LESS", "FRX");
    }
    let Ok(mut child) = command.spawn() else {
        return false;
    };
    if let Some(mut input) = child.stdin.take() {
        // Whoever has read enough closes it.
        let _ = input.write_all(text.as_bytes());
    }
    child.wait().is_ok_and(|status| status.success())
}

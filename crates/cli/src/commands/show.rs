//! `ralph show`: one turn in words, from the journal and what stands beside
//! it.

use ralph_core::display::dollars;
use ralph_core::lang::Say;
use ralph_core::report::Call;
use ralph_core::text::duration::human;
use ralph_core::tr;
use ralph_engine::watch::{OutputLine, Watch};
use std::time::Duration;

use super::turns::{self, Turns};
use crate::app::{App, Exit, OrFail};
use crate::args::ShowArgs;

/// The end of what was printed; the whole stands in the files of the run.
const LINES: usize = 200;

pub fn run(app: &App, args: &ShowArgs) -> Exit {
    let lang = app.lang();
    let turns = Turns::read(app, args.run.as_deref())?;
    let turn = match args.turn {
        Some(turn) => turn,
        None => turns.last(app)?,
    };
    let mut watch = Watch::new(&turns.layout, &turns.paths.id, lang);
    watch.refresh().or_fail(app)?;
    let calls = watch
        .snapshot()
        .turns
        .iter()
        .filter(|call| call.turn == turn);
    let calls: Vec<&Call> = calls.collect();
    if calls.is_empty() {
        let run = turns.paths.id.as_str();
        return app.refuse(&tr!(lang, "run {run} has no turn {turn}"));
    }
    let mut out = String::new();
    for call in calls {
        out.push_str(&told(app, &watch, call));
    }
    out.push_str(&blocked(app, &watch, turn));
    out.push_str(&changed(app, &turns, turn));
    out.push_str(&checked(app, &watch, turn));
    app.done(&out)
}

/// Who worked on what, for how long, and what was said and called.
fn told(app: &App, watch: &Watch, call: &Call) -> String {
    let lang = app.lang();
    let (turn, run) = (call.turn, watch.paths().id.as_str());
    let (agent, verdict) = (&call.agent, call.verdict.say(lang));
    let mut out = tr!(lang, "turn {turn} of run {run} · {agent} · {verdict}");
    if call.attempt > 1 {
        let attempt = call.attempt;
        out.push_str(&tr!(lang, " · call {attempt}"));
    }
    if let Some(ms) = call.duration_ms {
        let took = human(lang, Duration::from_millis(ms));
        out.push_str(&format!(" · {took}"));
    }
    if let Some(cost) = call.spent.cost {
        out.push_str(&format!(" · {}", dollars(cost)));
    }
    out.push('\n');
    if let Some(task) = &call.task {
        let name = task.name();
        out.push_str(&tr!(lang, "task: {name}\n"));
    }
    if let Some(promise) = &call.promise {
        out.push_str(&tr!(lang, "promise: {promise}\n"));
    }
    let mut output = watch.output(call);
    let _ = output.refresh();
    let unicode = app.screen.style.unicode;
    let line = |line: &OutputLine| format!("{}{}", line.said.sign(unicode), line.text);
    let lines: Vec<String> = output.lines().iter().map(line).collect();
    out.push_str(&section(&tr!(lang, "said and called"), &lines));
    out
}

/// What the guard did not let through, each with the command that it was.
fn blocked(app: &App, watch: &Watch, turn: u32) -> String {
    let lang = app.lang();
    let blocks = watch.snapshot().guard.iter().filter(|(of, _)| *of == turn);
    let lines: Vec<String> = blocks
        .map(|(_, block)| {
            let (tool, rule, detail) = (&block.tool, &block.rule, &block.detail);
            match block.shadow {
                true => tr!(lang, "{tool}: {detail} ({rule}; only counted)"),
                false => format!("{tool}: {detail} ({rule})"),
            }
        })
        .collect();
    section(&tr!(lang, "blocked by the guard"), &lines)
}

fn changed(app: &App, turns: &Turns, turn: u32) -> String {
    let lang = app.lang();
    let timeline = &turns.timeline;
    let both = timeline.before(turn).zip(timeline.after(turn));
    let Some(changed) = both.and_then(|(from, to)| turns.snapshots.changes(from, to).ok()) else {
        return tr!(
            lang,
            "what changed is not known: there is no snapshot of this turn\n"
        );
    };
    let title = tr!(lang, "changed (`ralph diff {turn}` shows it)");
    let lines: Vec<String> = changed
        .iter()
        .map(|changed| turns::line(changed, lang).trim().to_owned())
        .collect();
    match lines.is_empty() {
        true => tr!(lang, "nothing changed\n"),
        false => section(&title, &lines),
    }
}

fn checked(app: &App, watch: &Watch, turn: u32) -> String {
    let lang = app.lang();
    let mut lines = Vec::new();
    for run in watch
        .snapshot()
        .checks
        .iter()
        .filter(|run| run.turn == turn)
    {
        for check in &run.checks {
            let mark = match (check.good, app.screen.style.unicode) {
                (true, true) => "✓",
                (true, false) => "ok",
                (false, true) => "✗",
                (false, false) => "!!",
            };
            let exit = check.exit.map(|code| code.to_string());
            let exit = exit.unwrap_or_else(|| "–".into());
            let command = &check.command;
            lines.push(tr!(lang, "{mark} {command}: exit code {exit}"));
        }
    }
    if lines.is_empty() {
        return String::new();
    }
    let mut output = watch.verification(turn);
    let _ = output.refresh();
    lines.extend(output.lines().iter().map(|line| line.text.clone()));
    section(&tr!(lang, "checks"), &lines)
}

fn section(title: &str, lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let mut out = format!("\n{title}:\n");
    if lines.len() > LINES {
        out.push_str("  …\n");
    }
    for line in lines.iter().skip(lines.len().saturating_sub(LINES)) {
        out.push_str(&format!("  {line}\n"));
    }
    out
}

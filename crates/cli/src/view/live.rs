//! The block at the bottom of a terminal that shows where a run stands while
//! it goes on. Everything that lasts is printed above it, so that nothing
//! that scrolls is lost. The terminal itself is left as it is (no raw mode, no
//! second screen, no hidden cursor): there is nothing to restore, however the
//! program ends.

use std::time::Duration;

use ralph_core::display::{self, PhaseView, Screen, StepState};
use ralph_core::lang::{Lang, Say};
use ralph_core::machine::{Notice, Now, State, TaskRef};
use ralph_core::overview::{Overview, Standing};
use ralph_core::text::{self, width};
use ralph_core::tr;
use ralph_core::usage::Usd;
use ralph_engine::clock;
use ralph_engine::terminal;

use crate::out;

/// What the block shows.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    pub overview: Overview,
    /// What the agent said or did last, or what the wait is for.
    pub doing: String,
    /// On the wall clock.
    pub now_ms: i64,
}

/// The lines of the block, none wider than the screen. Where there is little
/// room the phases go first.
pub fn block(screen: &Screen, facts: &Facts, height: usize) -> Vec<String> {
    let columns = screen.width.saturating_sub(1).max(10);
    let fit = |line: String| width::truncate_with(&line, columns, mark(screen));
    let mut lines: Vec<String> = vec![bar_line(screen, &facts.overview, columns)];
    lines.push(fit(counts(screen, facts)));
    lines.push(fit(current(screen, &facts.overview, columns)));
    let overview = &facts.overview;
    if !overview.roles.is_empty() && height > lines.len() + 2 {
        let chain = display::role_line(screen, &overview.roles);
        lines.push(fit(chain.trim_end().to_owned()));
    }
    if let Some(forecast) = overview.forecast(screen.lang)
        && height > lines.len() + 2
    {
        lines.push(fit(format!("  {forecast}")));
    }
    lines.push(fit(format!("  {}", doing(screen, facts))));
    let room = height.saturating_sub(lines.len() + 1);
    let mut out = vec![rule(screen).repeat(columns)];
    out.extend(phases(screen, &overview.phases, room).into_iter().map(fit));
    out.extend(lines);
    out.iter()
        .map(|line| screen.in_style(line).into_owned())
        .collect()
}

fn mark(screen: &Screen) -> &'static str {
    if screen.style.unicode { "…" } else { "..." }
}

fn rule(screen: &Screen) -> &'static str {
    if screen.style.unicode { "─" } else { "-" }
}

/// The phases around the one that is worked on.
fn phases(screen: &Screen, phases: &[PhaseView], room: usize) -> Vec<String> {
    let room = room.min(5);
    if phases.len() < 2 || room == 0 {
        return Vec::new();
    }
    let is_active = |phase: &PhaseView| phase.state == StepState::Active;
    let active = phases.iter().position(is_active).unwrap_or(0);
    let from = active.saturating_sub(room / 2);
    let from = from.min(phases.len().saturating_sub(room));
    let shown = phases
        .get(from..from + room.min(phases.len()))
        .unwrap_or_default();
    let tree = display::phase_tree(screen, shown);
    tree.lines().map(str::to_owned).collect()
}

/// The colours of the bar take no columns, so that it is never cut.
fn bar_line(screen: &Screen, overview: &Overview, columns: usize) -> String {
    let lang = screen.lang;
    let Some((progress, words)) = overview.way(lang) else {
        return String::new();
    };
    let percent = progress.percent();
    // 26 cells, two brackets, a blank and the percents.
    let bar_columns = 30 + percent.to_string().len();
    match columns.checked_sub(bar_columns + 3) {
        Some(left) => {
            let words = width::truncate_with(&words, left, mark(screen));
            format!("{} · {words}", display::bar(screen, percent))
        }
        None => width::truncate_with(&format!("{percent}% · {words}"), columns, mark(screen)),
    }
}

/// Turns, time, money and what is left of each.
fn counts(screen: &Screen, facts: &Facts) -> String {
    let (lang, overview) = (screen.lang, &facts.overview);
    let worked = overview.elapsed_ms(facts.now_ms);
    let mut parts = vec![overview.turns(), time(lang, worked)];
    if let Some(left) = overview.left_ms(facts.now_ms) {
        let left = time(lang, left);
        parts.push(tr!(lang, "{left} left"));
    }
    match overview.open_questions().count() {
        0 => {}
        count => parts.push(tr!(lang, "questions: {count} (`ralph answer`)")),
    }
    match overview.skipped.len() {
        0 => {}
        count => parts.push(tr!(lang, "skipped: {count}")),
    }
    match overview.hints.len() {
        0 => {}
        count => parts.push(tr!(lang, "hints: {count}")),
    }
    let (spent, max) = (overview.spent(), overview.max_cost);
    if spent.cost.is_some() || !max.is_zero() {
        let more = if spent.more_cost { "+" } else { "" };
        let spent = display::dollars(spent.cost.unwrap_or(Usd::ZERO));
        parts.push(match max.is_zero() {
            true => format!("{spent}{more}"),
            false => format!("{spent}{more} / {}", display::dollars(max)),
        });
    }
    let checks = overview.checks.as_ref();
    match checks.map(|run| (run.passed, run.failed())) {
        Some((true, _)) => parts.push(tr!(lang, "checks pass")),
        Some((false, Some(command))) => parts.push(tr!(lang, "failing: {command}")),
        Some((false, None)) | None => {}
    }
    parts.join(" · ")
}

/// The task and who works on it; a long task leaves room for the names.
fn current(screen: &Screen, overview: &Overview, columns: usize) -> String {
    let sign = if screen.style.unicode { "🔄" } else { "[>]" };
    let clean = |part: &str| text::one_line(&text::redact(&text::sanitize(part)));
    let who = [overview.role.as_deref(), Some(overview.agent.as_str())];
    let who = who.into_iter().flatten().filter(|part| !part.is_empty());
    let who = who.map(clean).collect::<Vec<_>>().join(" · ");
    match overview.task.as_ref().map(TaskRef::name) {
        None => format!("{sign} {who}"),
        Some(task) => {
            let taken = width::width(sign) + width::width(&who) + 4;
            let room = columns.saturating_sub(taken).max(12);
            let task = width::truncate_with(&clean(&task), room, mark(screen));
            format!("{sign} {task} · {who}")
        }
    }
}

fn doing(screen: &Screen, facts: &Facts) -> String {
    let standing = facts.overview.standing;
    match (standing, facts.doing.as_str()) {
        (Standing::Working, "") => tr!(screen.lang, "the agent works"),
        (Standing::Working | Standing::Waiting, words) if !words.is_empty() => {
            text::one_line(&text::redact(&text::sanitize(words)))
        }
        _ => standing.say(screen.lang),
    }
}

/// `42s`, `12m 03s`, `1h 02m`.
pub fn time(lang: Lang, ms: u64) -> String {
    let seconds = Duration::from_millis(ms).as_secs();
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    let rest = seconds % 60;
    match (hours, minutes) {
        (0, 0) => tr!(lang, "{rest}s"),
        (0, _) => tr!(lang, "{minutes}m {rest:02}s"),
        _ => tr!(lang, "{hours}h {minutes:02}m"),
    }
}

/// The block on a terminal.
#[derive(Debug)]
pub struct Live {
    screen: Screen,
    pub facts: Facts,
    /// Columns of each line that stands there.
    drawn: Vec<usize>,
    /// Somebody is being asked, or the run is over.
    hidden: bool,
}

impl Live {
    pub fn new(screen: Screen) -> Live {
        Live {
            screen,
            facts: Facts::default(),
            drawn: Vec::new(),
            hidden: true,
        }
    }

    /// Takes in where the run stands.
    pub fn take(&mut self, notice: &Notice, state: &State, at: Now) {
        let overview = &mut self.facts.overview;
        let before = overview.standing;
        overview.hear(notice, at);
        overview.take(state, self.screen.lang);
        overview.driven_by(Some(std::process::id()));
        // What was said is of what was done before.
        if overview.standing != before || matches!(notice, Notice::IterationStart { .. }) {
            self.facts.doing.clear();
        }
        self.hidden = matches!(overview.standing, Standing::Ended | Standing::Asking);
    }

    /// Prints what lasts, and the block below it again.
    pub fn print(&mut self, lasting: &str) {
        let columns = terminal::columns().unwrap_or(self.screen.width);
        let mut out = self.erased(columns);
        out.push_str(&text::visible(lasting, self.screen.style.color));
        out.push_str(&self.redrawn(columns));
        out::bytes(out.as_bytes());
    }

    /// Draws the block anew, since time has passed.
    pub fn refresh(&mut self) {
        self.print("");
    }

    /// Takes the block away until something is told again.
    pub fn hide(&mut self) {
        self.hidden = true;
        self.print("");
    }

    fn erased(&mut self, columns: usize) -> String {
        // A terminal that was made narrower has broken the lines.
        let rows = |wide: &usize| wide.div_ceil(columns.max(1)).max(1);
        match self.drawn.iter().map(rows).sum::<usize>() {
            0 => String::new(),
            rows => {
                self.drawn.clear();
                format!("\x1b[{rows}A\r\x1b[J")
            }
        }
    }

    fn redrawn(&mut self, columns: usize) -> String {
        if self.hidden {
            return String::new();
        }
        let screen = Screen {
            width: columns,
            ..self.screen
        };
        self.facts.now_ms = clock::now().wall_ms;
        let height = terminal::rows().map_or(10, |rows| rows / 2);
        let mut lines = block(&screen, &self.facts, height);
        for line in &mut lines {
            *line = text::visible(line, screen.style.color).into_owned();
        }
        self.drawn = lines
            .iter()
            .map(|line| width::width(&text::sanitize(line)))
            .collect();
        lines.iter().map(|line| format!("{line}\n")).collect()
    }
}

#[cfg(test)]
mod tests;

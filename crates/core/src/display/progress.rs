//! What is shown while a run goes on: the start of an iteration, the tree of
//! phases, and the box after every task (DISP-01, DISP-03).

use super::bar::{Progress, bar};
use super::boxes::title_box;
use super::endings::LoopKind;
use super::screen::{Screen, Symbol, Tone};
use crate::lang::Say;
use crate::text::duration::plural;
use crate::text::width;
use crate::tr;

/// How far a phase, or a role within a task, has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, Say)]
#[serde(rename_all = "snake_case")]
pub enum StepState {
    #[say("done")]
    Done,
    #[say("in progress")]
    Active,
    #[default]
    #[say("pending")]
    Pending,
    #[say("failed")]
    Failed,
}

impl StepState {
    fn symbol(self) -> Symbol {
        match self {
            StepState::Done => Symbol::Done,
            StepState::Active => Symbol::Running,
            StepState::Pending => Symbol::Pending,
            StepState::Failed => Symbol::Failed,
        }
    }
}

/// One phase of the task list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PhaseView {
    /// What stands behind the word "Phase": `1`, `2.1`.
    pub key: String,
    pub title: String,
    pub done: usize,
    pub total: usize,
    pub state: StepState,
}

/// How many phases are done; `None` where there are none.
pub fn phases_done(phases: &[PhaseView]) -> Option<Progress> {
    let done = phases.iter().filter(|phase| phase.state == StepState::Done);
    (!phases.is_empty()).then(|| Progress::new(done.count(), phases.len()))
}

/// One role of a task (`DEVELOPER`, `REVIEWER`, `TESTER`).
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct RoleView {
    pub name: String,
    pub state: StepState,
}

/// The state of a run between two iterations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProgressView {
    pub kind: LoopKind,
    /// `None`: the run has no task list.
    pub progress: Option<Progress>,
    pub phases: Vec<PhaseView>,
    pub current: Option<String>,
    pub roles: Vec<RoleView>,
    pub iteration: u32,
    /// `None`: unlimited.
    pub max_iterations: Option<u32>,
}

/// The start of an iteration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IterationView {
    pub iteration: u32,
    /// `None`: unlimited.
    pub max_iterations: Option<u32>,
    pub phase: Option<String>,
    pub task: Option<String>,
}

/// One line with the number of the iteration and what it is about.
pub fn iteration_header(screen: &Screen, view: &IterationView) -> String {
    let number = match view.max_iterations {
        Some(max) => format!("{}/{max}", view.iteration),
        None => view.iteration.to_string(),
    };
    let mut parts = vec![tr!(screen.lang, "Iteration {number}")];
    if let Some(phase) = &view.phase {
        parts.push(format!("Phase {}", screen.value(phase)));
    }
    if let Some(task) = &view.task {
        parts.push(screen.value(task));
    }
    screen.line(&format!(
        "{}{}",
        screen.mark(Symbol::Running),
        parts.join(" | ")
    ))
}

/// All phases below each other, with their state; titles are aligned.
pub fn phase_tree(screen: &Screen, phases: &[PhaseView]) -> String {
    /// Branch, symbol and count need this much beside the title.
    const BESIDE: usize = 34;
    let names: Vec<String> = phases.iter().map(|phase| name(screen, phase)).collect();
    let widest = names.iter().map(|name| width::width(name)).max();
    let cols = widest
        .unwrap_or(0)
        .min(screen.columns().saturating_sub(BESIDE).max(BESIDE / 2));
    let mut out = String::new();
    for (number, (phase, name)) in phases.iter().zip(&names).enumerate() {
        let is_last = number + 1 == phases.len();
        let branch = if is_last {
            screen.choose("└──", "`--")
        } else {
            screen.choose("├──", "|--")
        };
        let symbol = screen.symbol(phase.state.symbol());
        let name = width::pad_right(&screen.fit(name, cols), cols);
        let PhaseView { done, total, .. } = phase;
        let word = phase.state.say(screen.lang);
        out.push_str(&format!(
            "{branch} {symbol} {name} - {done}/{total} {word}\n"
        ));
    }
    out
}

fn name(screen: &Screen, phase: &PhaseView) -> String {
    let (key, title) = (screen.value(&phase.key), screen.value(&phase.title));
    match (key.as_str(), title.as_str()) {
        ("", _) => title,
        (_, "") => format!("Phase {key}"),
        _ => format!("Phase {key}: {title}"),
    }
}

/// The box after every task.
pub fn progress_box(screen: &Screen, view: &ProgressView) -> String {
    let mut out = title_box(screen, Tone::Good, &running_title(screen, &view.kind));
    out.push('\n');
    if let LoopKind::OpenSpec { change } = &view.kind {
        let (mark, change) = (screen.mark(Symbol::Folder), screen.value(change));
        out.push_str(&screen.line(&tr!(screen.lang, "{mark}Change: {change}")));
    }
    let phases = phases_done(&view.phases);
    if let Some(progress) = view.progress.or(phases) {
        out.push_str(&overall(screen, progress, view.progress.is_some()));
        out.push_str(&format!("{}\n", bar(screen, progress.percent())));
    }
    if !view.phases.is_empty() {
        out.push('\n');
        out.push_str(&phase_tree(screen, &view.phases));
    }
    if view.progress.is_some() || !view.phases.is_empty() {
        out.push('\n');
    }
    if let Some(current) = &view.current {
        let (mark, current) = (screen.mark(Symbol::Running), screen.value(current));
        out.push_str(&screen.line(&tr!(screen.lang, "{mark}Current: {current}")));
        if !view.roles.is_empty() {
            out.push_str(&screen.line(&roles(screen, &view.roles)));
        }
        out.push('\n');
    }
    out.push_str(&iteration_count(screen, view));
    out
}

fn running_title(screen: &Screen, kind: &LoopKind) -> String {
    let mark = screen.mark(Symbol::Loop);
    match kind {
        LoopKind::Plain => tr!(screen.lang, "{mark}Loop running"),
        LoopKind::OpenSpec { .. } => tr!(screen.lang, "{mark}Loop running (OpenSpec)"),
    }
}

/// `of_tasks`: else of the phases of a route.
fn overall(screen: &Screen, progress: Progress, of_tasks: bool) -> String {
    let (mark, percent) = (screen.mark(Symbol::Chart), progress.percent());
    let Progress { done, total } = progress;
    let (tasks_en, phases_en) = (
        plural(total, "task", "tasks"),
        plural(total, "phase", "phases"),
    );
    screen.line(&match of_tasks {
        true => tr!(
            screen.lang,
            "{mark}Overall progress: {done}/{total} {tasks_en} done ({percent}%)"
        ),
        false => tr!(
            screen.lang,
            "{mark}Overall progress: {done}/{total} {phases_en} done ({percent}%)"
        ),
    })
}

/// One line: who of a team has done their part, and whose turn it is.
pub fn role_line(screen: &Screen, all: &[RoleView]) -> String {
    screen.line(&roles(screen, all))
}

/// `   └── D→R→T: DEVELOPER ✅ → REVIEWER 🔄 → TESTER ⏳`, or
/// `   └── D ✅ → R 🔄 → T ⏳` where that is too wide.
fn roles(screen: &Screen, roles: &[RoleView]) -> String {
    let arrow = screen.arrow();
    let names: Vec<String> = roles.iter().map(|role| screen.value(&role.name)).collect();
    let initials: Vec<String> = names.iter().map(|n| n.chars().take(1).collect()).collect();
    let with_states = |names: &[String]| {
        let pairs = names.iter().zip(roles);
        let pairs =
            pairs.map(|(name, role)| format!("{name} {}", screen.symbol(role.state.symbol())));
        pairs.collect::<Vec<_>>().join(&format!(" {arrow} "))
    };
    let branch = screen.choose("└──", "`--");
    let whole = format!(
        "   {branch} {}: {}",
        initials.join(arrow),
        with_states(&names)
    );
    match width::width(&whole) < screen.width {
        true => whole,
        false => format!("   {branch} {}", with_states(&initials)),
    }
}

fn iteration_count(screen: &Screen, view: &ProgressView) -> String {
    let (mark, iteration) = (screen.mark(Symbol::Trend), view.iteration);
    let limit = match view.max_iterations {
        Some(max) => format!(" / {max}"),
        None => tr!(screen.lang, " (no limit)"),
    };
    screen.line(&tr!(screen.lang, "{mark}Iteration: #{iteration}{limit}"))
}

//! The ways in which a run ends without an error: complete, paused,
//! interrupted, cancelled, unproven, out of budget (DISP-04, INTR-04). Each
//! ends with the one command to go on with.

use super::bar::{Progress, bar};
use super::boxes::title_box;
use super::proof::{Gap, Proof, not_proven, proven};
use super::screen::{Screen, Symbol, Tone};
use super::usage::{UsageView, dollars};
use crate::lang::Say;
use crate::proof::EvidenceLevel;
use crate::text::duration::{human, iterations, plural};
use crate::tr;
use crate::usage::Usd;
use std::time::Duration;

/// What kind of task list a loop works off.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum LoopKind {
    #[default]
    Plain,
    OpenSpec {
        change: String,
    },
}

/// What every end of a run has in common.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ending {
    /// `None`: the run has no task list.
    pub progress: Option<Progress>,
    pub iterations: u32,
    pub duration: Duration,
    /// What the calls used; `None` where there were none.
    pub used: Option<UsageView>,
    /// The command to go on with, where it is not the usual one of this end.
    pub next: Option<String>,
    pub place: Place,
}

/// Where a person reads the end, and so what can be done from there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Place {
    #[default]
    Terminal,
    /// In the session of a client, whose slash commands may be installed.
    Session { has_commands: bool },
}

/// A run that did what it was asked to do.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CompleteView {
    pub ending: Ending,
    /// The phase that the run was limited to.
    pub phase: Option<String>,
    /// Of a route, which has phases and no task list.
    pub phases: Option<Progress>,
    pub proven: Vec<Proof>,
    pub not_proven: Vec<Gap>,
}

/// What ran out. A budget has to be raised before the run can go on.
#[derive(Clone, Debug, PartialEq)]
pub enum BudgetKind {
    Time { limit: Duration },
    Cost { limit: Usd, spent: Usd },
    Tokens { limit: u64, spent: u64 },
}

impl BudgetKind {
    /// The command that allows as much again; none where time is extended by
    /// itself.
    pub(super) fn raise(&self) -> Option<String> {
        match self {
            BudgetKind::Time { .. } => None,
            BudgetKind::Cost { limit, spent } => {
                let cents = (limit.plus(*spent).dollars() * 100.0).ceil() / 100.0;
                Some(format!("ralph resume --max-cost {cents}usd"))
            }
            BudgetKind::Tokens { limit, spent } => {
                let tokens = limit.saturating_add(*spent).min(u64::from(u32::MAX));
                Some(format!("ralph resume --max-tokens {tokens}"))
            }
        }
    }
}

/// The end that everyone wants, with what makes it true and what does not.
pub fn complete_box(screen: &Screen, view: &CompleteView) -> String {
    let lang = screen.lang;
    let done = screen.mark(Symbol::Done);
    let mut out = title_box(screen, Tone::Good, &tr!(lang, "{done}Loop complete!"));
    out.push('\n');
    for (progress, is_phases) in [(view.ending.progress, false), (view.phases, true)] {
        let Some(progress) = progress else { continue };
        let (mark, percent) = (screen.mark(Symbol::Chart), progress.percent());
        let Progress { done, total } = progress;
        let tasks_en = plural(total, "task", "tasks");
        let phases_en = plural(total, "phase", "phases");
        let line = match is_phases {
            false => tr!(
                lang,
                "{mark}Final progress: {done}/{total} {tasks_en} done ({percent}%)"
            ),
            true => tr!(
                lang,
                "{mark}Final progress: {done}/{total} {phases_en} done ({percent}%)"
            ),
        };
        out.push_str(&screen.line(&line));
        out.push_str(&format!("{}\n", bar(screen, percent)));
    }
    out.push_str(&effort(screen, &view.ending));
    out.push('\n');
    out.push_str(&celebration(screen, view));
    for section in [
        proven(screen, &view.proven),
        not_proven(screen, &view.not_proven),
    ] {
        if !section.is_empty() {
            out.push('\n');
            out.push_str(&section);
        }
    }
    out.push_str(&next_step(
        screen,
        view.ending.next.as_deref(),
        "ralph report",
        &tr!(lang, "shows the run"),
    ));
    out
}

/// Says no more than what is true: one phase is not all tasks, nor are those
/// that were not left out, and a run without a task list has none that could
/// be done.
fn celebration(screen: &Screen, view: &CompleteView) -> String {
    let mark = screen.mark(Symbol::Celebrate);
    let all_done = view.ending.progress.is_some_and(Progress::is_complete);
    let passed_a_check = view
        .proven
        .iter()
        .any(|proof| matches!(proof, Proof::Command { exit_code: 0, .. }));
    let left_out = view
        .not_proven
        .iter()
        .any(|gap| matches!(gap, Gap::SkippedTasks { .. }));
    let text = match &view.phase {
        Some(phase) => {
            let phase = screen.value(phase);
            tr!(screen.lang, "{mark}Phase {phase} is done! The loop ends.")
        }
        None if all_done && left_out => tr!(
            screen.lang,
            "{mark}All other tasks are done. The loop ends."
        ),
        None if all_done => tr!(screen.lang, "{mark}All tasks are done! The loop ends."),
        None if view.phases.is_some_and(Progress::is_complete) => {
            tr!(screen.lang, "{mark}All phases are done! The loop ends.")
        }
        None if passed_a_check => tr!(screen.lang, "{mark}Every check has passed. The loop ends."),
        None => tr!(screen.lang, "The loop ends."),
    };
    screen.line(&text)
}

/// Where a run that is over is kept, in one line that can be copied (DISP-04).
pub fn archived(screen: &Screen, words: &str) -> String {
    format!("{}{}\n", screen.mark(Symbol::Package), screen.value(words))
}

/// A pause that was asked for; the progress is saved.
pub fn pause_box(screen: &Screen, ending: &Ending) -> String {
    let (pause, disk) = (screen.mark(Symbol::Pause), screen.mark(Symbol::Disk));
    let title = tr!(screen.lang, "{pause}Loop paused");
    let saved = match ending.place {
        Place::Terminal => tr!(screen.lang, "{disk}Progress saved."),
        Place::Session {
            has_commands: false,
        } => tr!(
            screen.lang,
            "{disk}Progress saved. Say \"continue\" to resume."
        ),
        Place::Session { has_commands: true } => tr!(
            screen.lang,
            "{disk}Progress saved. Use \"continue\" or `/ralph-loop` to resume."
        ),
    };
    paused(screen, ending, &title, &saved)
}

/// The disk took no more; what was written before is there.
pub fn disk_box(screen: &Screen, ending: &Ending) -> String {
    let (pause, disk) = (screen.mark(Symbol::Pause), screen.mark(Symbol::Disk));
    let title = tr!(screen.lang, "{pause}Loop paused: the disk takes no more");
    let saved = tr!(
        screen.lang,
        "{disk}What was written before is intact. Make room (`df -h` shows where), then go on."
    );
    paused(screen, ending, &title, &saved)
}

/// The agent can't be called until a person has seen to something, which
/// `need` says.
pub fn needs_person(screen: &Screen, ending: &Ending, need: &str) -> String {
    let (pause, warning) = (screen.mark(Symbol::Pause), screen.mark(Symbol::Warning));
    let title = tr!(screen.lang, "{pause}Loop paused: the agent can't go on");
    let need = format!("{warning}{}", screen.value(need));
    paused(screen, ending, &title, &need)
}

/// The roles can't agree: a person has to look.
pub fn escalated(screen: &Screen, ending: &Ending, why: &str) -> String {
    let (pause, warning) = (screen.mark(Symbol::Pause), screen.mark(Symbol::Warning));
    let title = tr!(screen.lang, "{pause}Loop paused: a person is needed");
    let why = format!("{warning}{}", screen.value(why));
    paused(screen, ending, &title, &why)
}

/// The pull request or its CI waits for a person.
pub fn needs_forge(screen: &Screen, ending: &Ending, need: &str) -> String {
    let (pause, warning) = (screen.mark(Symbol::Pause), screen.mark(Symbol::Warning));
    let title = tr!(screen.lang, "{pause}Loop paused: pull request");
    let need = format!("{warning}{}", screen.value(need));
    paused(screen, ending, &title, &need)
}

fn paused(screen: &Screen, ending: &Ending, title: &str, saved: &str) -> String {
    let mut out = title_box(screen, Tone::Warning, title);
    out.push('\n');
    out.push_str(&progress_with_bar(screen, ending.progress));
    out.push_str(&screen.paragraph("", saved));
    out.push_str(&used(screen, ending));
    out.push_str(&resume_step(screen, ending));
    out
}

/// Ctrl+C or a signal: a safe stop.
pub fn interrupted(screen: &Screen, ending: &Ending) -> String {
    let lang = screen.lang;
    let pause = screen.mark(Symbol::Pause);
    let mut out = title_box(screen, Tone::Warning, &tr!(lang, "{pause}Loop interrupted"));
    out.push('\n');
    out.push_str(&progress_with_bar(screen, ending.progress));
    out.push_str(&effort(screen, ending));
    let disk = screen.mark(Symbol::Disk);
    out.push_str(&screen.line(&tr!(lang, "{disk}Stopped safely, the progress is saved.")));
    out.push_str(&resume_step(screen, ending));
    out
}

/// A loop that a person took back.
pub fn cancelled(screen: &Screen, ending: &Ending) -> String {
    let lang = screen.lang;
    let stop = screen.mark(Symbol::Stop);
    let mut out = title_box(screen, Tone::Warning, &tr!(lang, "{stop}Loop cancelled"));
    out.push('\n');
    out.push_str(&progress_with_bar(screen, ending.progress));
    out.push_str(&effort(screen, ending));
    out.push_str(&screen.line(&tr!(
        lang,
        "The changes of the agent stay in the work tree."
    )));
    out.push_str(&next_step(
        screen,
        ending.next.as_deref(),
        "ralph resume --restart",
        &tr!(lang, "starts the same loop anew"),
    ));
    out
}

/// The agent says that it is done, and nothing is configured that could show
/// whether this is true.
pub fn unproven(screen: &Screen, ending: &Ending) -> String {
    let lang = screen.lang;
    let question = screen.mark(Symbol::Question);
    let mut out = title_box(
        screen,
        Tone::Warning,
        &tr!(lang, "{question}Done, says the agent; not proven"),
    );
    out.push('\n');
    out.push_str(&current_progress(screen, ending.progress));
    out.push_str(&effort(screen, ending));
    out.push_str(&screen.paragraph("", &why_unproven(screen, ending)));
    out.push_str(&next_step(
        screen,
        ending.next.as_deref(),
        "ralph report",
        &tr!(lang, "shows the run"),
    ));
    out
}

fn why_unproven(screen: &Screen, ending: &Ending) -> String {
    let lang = screen.lang;
    let lacking = if ending.progress.is_some() {
        tr!(lang, "There is no verify command")
    } else {
        tr!(lang, "There is neither a task list nor a verify command")
    };
    tr!(
        lang,
        "The agent says that it is done. {lacking}, so Ralph cannot tell whether it is true. Look at the changes: `ralph accept --all` takes your word for them. Or name a command that fails while the work is not done as [verify] commands in .ralph/config.toml; `ralph resume` then has it checked."
    )
}

/// Everything is done as far as the checks can see, and some of it is not
/// shown as well as was asked.
pub fn unshown(screen: &Screen, ending: &Ending, tasks: &[(String, EvidenceLevel)]) -> String {
    let lang = screen.lang;
    let question = screen.mark(Symbol::Question);
    let mut out = title_box(
        screen,
        Tone::Warning,
        &tr!(lang, "{question}Done, and not all of it proven"),
    );
    out.push('\n');
    out.push_str(&current_progress(screen, ending.progress));
    out.push_str(&effort(screen, ending));
    for (task, level) in tasks {
        let (task, level) = (screen.value(task), level.say(lang));
        let line = match task.is_empty() {
            true => tr!(lang, "the work: {level}"),
            false => format!("{task}: {level}"),
        };
        out.push_str(&screen.paragraph("- ", &line));
    }
    // Without a check nothing passes.
    let is_checked = tasks
        .iter()
        .any(|(_, level)| *level >= EvidenceLevel::Unrefuted);
    let why = match is_checked {
        true => tr!(
            lang,
            "The checks pass, and no experiment shows that they would fail without this work. Look at it: `ralph accept` says that it is right, a test that fails without it proves it."
        ),
        false => tr!(
            lang,
            "No check shows this work. Look at it: `ralph accept` says that it is right, a test that fails without it proves it."
        ),
    };
    out.push_str(&screen.paragraph("", &why));
    out.push_str(&next_step(
        screen,
        ending.next.as_deref(),
        "ralph accept",
        &tr!(lang, "takes your word for it"),
    ));
    out
}

/// A check can't be run, so that nothing was begun.
pub fn no_check(screen: &Screen, ending: &Ending, command: &str) -> String {
    let lang = screen.lang;
    let mut out = title_box(screen, Tone::Bad, &tr!(lang, "The check can't be run"));
    out.push('\n');
    let command = screen.value(command);
    out.push_str(&screen.paragraph("", &tr!(lang, "`{command}` is not there or can't be executed. No agent was called. Correct verify.commands (or --verify), then start again.")));
    out.push_str(&next_step(
        screen,
        ending.next.as_deref(),
        "ralph run",
        &tr!(lang, "starts again"),
    ));
    out
}

/// The time or the money that was set for the run is used up.
pub fn budget(screen: &Screen, ending: &Ending, kind: &BudgetKind) -> String {
    let lang = screen.lang;
    let clock = screen.mark(Symbol::Clock);
    let mut out = title_box(
        screen,
        Tone::Warning,
        &tr!(lang, "{clock}Loop budget used up"),
    );
    let warning = screen.mark(Symbol::Warning);
    let fact = match kind {
        BudgetKind::Time { limit } => {
            let limit = human(lang, *limit);
            tr!(lang, "{warning}Time limit reached ({limit})")
        }
        BudgetKind::Cost { limit, spent } => {
            let (limit, spent) = (dollars(*limit), dollars(*spent));
            tr!(lang, "{warning}Cost limit reached ({spent} of {limit})")
        }
        BudgetKind::Tokens { limit, spent } => {
            tr!(lang, "{warning}Token limit reached ({spent} of {limit})")
        }
    };
    out.push('\n');
    out.push_str(&screen.line(&fact));
    out.push_str(&current_progress(screen, ending.progress));
    out.push_str(&effort(screen, ending));
    out.push_str(&match kind.raise() {
        None => resume_step(screen, ending),
        Some(raise) => {
            let does = tr!(lang, "allows as much again and goes on");
            next_step(screen, None, &raise, &does)
        }
    });
    out
}

/// `📊 當前進度: X/Y 任務完成`; nothing for a run without a task list.
pub(super) fn current_progress(screen: &Screen, progress: Option<Progress>) -> String {
    let Some(Progress { done, total }) = progress else {
        return String::new();
    };
    let mark = screen.mark(Symbol::Chart);
    let tasks_en = plural(total, "task", "tasks");
    screen.line(&tr!(
        screen.lang,
        "{mark}Progress: {done}/{total} {tasks_en} done"
    ))
}

/// The same with the percentage, and the bar below it.
fn progress_with_bar(screen: &Screen, progress: Option<Progress>) -> String {
    let Some(progress) = progress else {
        return String::new();
    };
    let percent = progress.percent();
    let line = current_progress(screen, Some(progress));
    let line = format!("{} ({percent}%)", line.trim_end());
    format!("{}{}\n\n", screen.line(&line), bar(screen, percent))
}

/// `📈 12 iterations, 2 h 13 min`.
pub(super) fn effort(screen: &Screen, ending: &Ending) -> String {
    let mark = screen.mark(Symbol::Trend);
    let count = iterations(screen.lang, ending.iterations as usize);
    let duration = human(screen.lang, ending.duration);
    let mut out = screen.line(&tr!(screen.lang, "{mark}{count}, {duration}"));
    out.push_str(&used(screen, ending));
    out
}

fn used(screen: &Screen, ending: &Ending) -> String {
    match &ending.used {
        Some(used) => {
            let (mark, line) = (screen.mark(Symbol::Trend), used.line(screen.lang));
            screen.line(&format!("{mark}{line}"))
        }
        None => String::new(),
    }
}

pub(super) fn resume_step(screen: &Screen, ending: &Ending) -> String {
    next_step(
        screen,
        ending.next.as_deref(),
        "ralph resume",
        &tr!(screen.lang, "goes on where it stopped"),
    )
}

/// The last line of every end: one command, and what the usual one does. A
/// command is never cut, because it is there to be copied. Where nothing of the
/// run is left, an empty one is given, and nothing is said.
pub(super) fn next_step(
    screen: &Screen,
    given: Option<&str>,
    usual: &str,
    usual_does: &str,
) -> String {
    let mark = screen.mark(Symbol::Next);
    let next = tr!(screen.lang, "Next");
    match given {
        Some("") => String::new(),
        Some(command) => format!("\n{mark}{next}: {}\n", screen.value(command)),
        None => format!("\n{mark}{next}: {usual}  ({usual_does})\n"),
    }
}

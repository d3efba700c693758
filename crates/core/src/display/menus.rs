//! Questions to the person at the terminal: at the limit, before a resume, and
//! what to leave out (VALV-05, VALV-12, RESM-04). Every menu ends with its
//! question and no line feed.

use super::boxes::menu_box;
use super::screen::{Screen, Symbol};
use crate::machine::TaskRef;
use crate::tr;

/// A run that has used up its iterations, with someone there to ask.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LimitMenuView {
    pub iteration: u32,
    pub max_iterations: u32,
    pub completed: String,
    pub pending: String,
    pub extend_by: u32,
}

/// An unfinished run that was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResumeView {
    pub task: String,
    /// The delta route (`RALPH`), where the run has one.
    pub route: Option<String>,
    /// The current phase and the number of phases, where the run has phases.
    pub phase: Option<(String, usize)>,
    pub iteration: u32,
    /// The time of the interruption as it is shown.
    pub interrupted_at: String,
}

/// The four choices at the iteration limit.
pub fn limit_menu(screen: &Screen, view: &LimitMenuView) -> String {
    let mut out = limit_notice(screen, view);
    out.push_str(&question(screen, 4));
    out
}

/// The same without the question, for where the answer comes some other way.
pub fn limit_notice(screen: &Screen, view: &LimitMenuView) -> String {
    let lang = screen.lang;
    let mark = |symbol| screen.mark(symbol);
    let warning = mark(Symbol::Warning);
    let LimitMenuView {
        iteration,
        max_iterations,
        extend_by,
        ..
    } = view;
    let completed = screen.value(&view.completed);
    let pending = screen.value(&view.pending);
    let (extend, shuffle) = (mark(Symbol::Extend), mark(Symbol::Shuffle));
    let (note, abandon) = (mark(Symbol::Note), mark(Symbol::Abandon));
    let facts = vec![
        tr!(lang, "Iteration: {iteration}/{max_iterations}"),
        tr!(lang, "Done: {completed}"),
        tr!(lang, "Not done: {pending}"),
    ];
    let choices = [
        tr!(lang, "{extend}Raise the iteration limit (+{extend_by})"),
        tr!(lang, "{shuffle}Simplify the scope"),
        tr!(lang, "{note}Save the progress and exit"),
        tr!(lang, "{abandon}Abandon this task"),
    ];
    let title = tr!(lang, "{warning}Iteration limit reached");
    menu_box(screen, &title, &[facts, numbered(screen, &choices)])
}

/// The four choices before an unfinished run goes on.
pub fn resume_menu(screen: &Screen, view: &ResumeView) -> String {
    resume_notice(screen, view) + &question(screen, 4)
}

/// The same where nobody is asked at once.
pub fn resume_notice(screen: &Screen, view: &ResumeView) -> String {
    let lang = screen.lang;
    let mark = |symbol| screen.mark(symbol);
    let (play, restart) = (mark(Symbol::Play), mark(Symbol::Restart));
    let (note, discard) = (mark(Symbol::Note), mark(Symbol::Discard));
    let choices = [
        tr!(lang, "{play}Continue"),
        tr!(lang, "{restart}Start over"),
        tr!(lang, "{note}Show the progress in detail"),
        tr!(lang, "{discard}Abandon this task"),
    ];
    let title = tr!(lang, "{restart}Unfinished task found");
    let sections = [resume_facts(screen, view), numbered(screen, &choices)];
    menu_box(screen, &title, &sections)
}

fn resume_facts(screen: &Screen, view: &ResumeView) -> Vec<String> {
    let lang = screen.lang;
    let task = screen.value(&view.task);
    let mut facts = vec![tr!(lang, "Task: {task}")];
    if let Some(route) = &view.route {
        let route = screen.value(route);
        facts.push(tr!(lang, "Route: {route}"));
    }
    let iteration = view.iteration;
    let iteration = tr!(lang, "iteration {iteration}");
    let place = match &view.phase {
        Some((current, total)) => {
            format!("Phase {}/{total}, {iteration}", screen.value(current))
        }
        None => iteration,
    };
    facts.push(tr!(lang, "Progress: {place}"));
    let time = screen.value(&view.interrupted_at);
    facts.push(tr!(lang, "Interrupted: {time}"));
    facts
}

/// What can be left out, numbered from 1 in the order given, and the phases
/// of it, of which one can be kept (VALV-12).
pub fn simplify_menu(screen: &Screen, tasks: &[TaskRef], phases: &[String]) -> String {
    let lang = screen.lang;
    let shuffle = screen.mark(Symbol::Shuffle);
    let title = tr!(lang, "{shuffle}Simplify the scope");
    let note = vec![
        tr!(lang, "What you choose is skipped in this run."),
        tr!(lang, "The task file stays as it is."),
    ];
    let lines = tasks
        .iter()
        .zip(1..)
        .map(|(task, number)| format!("[{number}] {}", screen.value(&task.name()).trim()))
        .collect();
    let mut sections = vec![note, lines];
    if phases.len() > 1 {
        let only = |phase: &String| {
            let phase = screen.value(phase);
            tr!(lang, "[p{phase}] only Phase {phase}")
        };
        sections.push(phases.iter().map(only).collect());
        let ask = tr!(
            lang,
            "Leave out which (e.g. 1 3), or keep one phase (e.g. p2); nothing = keep all: "
        );
        return menu_box(screen, &title, &sections) + &ask;
    }
    let ask = tr!(lang, "Leave out which (e.g. 1 3; nothing = keep all): ");
    menu_box(screen, &title, &sections) + &ask
}

/// The three choices where the journal of a run can't be read; `facts` says
/// what is wrong and what is left (RESM-07).
pub fn damaged_menu(screen: &Screen, facts: &[String]) -> String {
    let lang = screen.lang;
    let mark = |symbol| screen.mark(symbol);
    let (play, restart) = (mark(Symbol::Play), mark(Symbol::Restart));
    let (warning, note) = (mark(Symbol::Warning), mark(Symbol::Note));
    let choices = [
        tr!(lang, "{play}Restore from history"),
        tr!(lang, "{restart}Discard it and start over"),
        tr!(lang, "{note}Inspect it by hand"),
    ];
    let title = tr!(lang, "{warning}The run is damaged");
    let facts = facts.iter().map(|fact| screen.value(fact)).collect();
    let mut out = menu_box(screen, &title, &[facts, numbered(screen, &choices)]);
    out.push_str(&question(screen, choices.len()));
    out
}

fn numbered(screen: &Screen, choices: &[String]) -> Vec<String> {
    let options = screen.mark(Symbol::Options);
    let heading = tr!(screen.lang, "{options}Options:");
    let choices = choices
        .iter()
        .zip(1..)
        .map(|(choice, number)| format!("  [{number}] {choice}"));
    std::iter::once(heading).chain(choices).collect()
}

fn question(screen: &Screen, choices: usize) -> String {
    tr!(screen.lang, "Choose (1-{choices}): ")
}

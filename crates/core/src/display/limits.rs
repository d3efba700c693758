//! The limit of iterations: the warning before it and the valve at it
//! (VALV-04, VALV-07).

use super::bar::Progress;
use super::boxes::title_box;
use super::endings::{current_progress, next_step};
use super::screen::{Screen, Symbol, Tone};
use crate::text::duration::plural;
use crate::tr;

/// A run that has used up its iterations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LimitView {
    pub max_iterations: u32,
    /// How many more a person can grant at once.
    pub extend_by: u32,
    /// `None`: the run has no task list.
    pub progress: Option<Progress>,
    /// The command that goes on, where it is not `ralph resume`.
    pub next: Option<String>,
}

/// The valve, for where nobody can be asked.
pub fn limit_box(screen: &Screen, view: &LimitView) -> String {
    let lang = screen.lang;
    let warning = screen.mark(Symbol::Warning);
    let LimitView {
        max_iterations,
        extend_by,
        ..
    } = view;
    let noun_en = plural(*extend_by as usize, "iteration", "iterations");
    let mut out = title_box(
        screen,
        Tone::Warning,
        &tr!(lang, "{warning}Loop safety valve"),
    );
    out.push('\n');
    out.push_str(&screen.line(&tr!(
        lang,
        "{warning}Iteration limit reached ({max_iterations})"
    )));
    out.push_str(&current_progress(screen, view.progress));
    out.push('\n');
    out.push_str(&tr!(lang, "Please confirm whether to go on:\n- \"continue\" - run {extend_by} more {noun_en}\n- \"pause\" - stop the loop\n"));
    out.push_str(&next_step(
        screen,
        view.next.as_deref(),
        "ralph resume",
        &tr!(lang, "goes on with {extend_by} more {noun_en}"),
    ));
    out
}

/// One line from the warning threshold on.
pub fn limit_warning(screen: &Screen, iteration: u32, max_iterations: u32) -> String {
    let left = max_iterations.saturating_sub(iteration);
    let mark = screen.mark(Symbol::Warning);
    let noun_en = plural(left as usize, "iteration", "iterations");
    let text = screen.line(&tr!(
        screen.lang,
        "{mark}{left} {noun_en} left of {max_iterations}"
    ));
    format!("{}\n", screen.paint(Tone::Warning, text.trim_end()))
}

//! The valve at the limit of iterations (VALV-07).

use super::bar::Progress;
use super::boxes::title_box;
use super::endings::{Ending, current_progress, next_step};
use super::screen::{Screen, Symbol, Tone};
use crate::machine::Limit;
use crate::text::duration::plural;
use crate::tr;

/// The valve, for where nobody can be asked; `is_over` where the run does not
/// wait to be taken up.
pub fn limit_box(
    screen: &Screen,
    ending: &Ending,
    phases: Option<Progress>,
    limit: Limit,
    max: u32,
    extend_by: u32,
    is_over: bool,
) -> String {
    let lang = screen.lang;
    let warning = screen.mark(Symbol::Warning);
    let is_calls = limit == Limit::Dispatches;
    let noun_en = plural(extend_by as usize, "iteration", "iterations");
    let calls_en = plural(extend_by as usize, "call", "calls");
    let mut out = title_box(
        screen,
        Tone::Warning,
        &tr!(lang, "{warning}Loop safety valve"),
    );
    out.push('\n');
    out.push_str(&screen.line(&match is_calls {
        true => tr!(lang, "{warning}Limit of agent calls reached ({max})"),
        false => {
            let max_iterations = max;
            tr!(lang, "{warning}Iteration limit reached ({max_iterations})")
        }
    }));
    out.push_str(&match (ending.progress, phases) {
        (None, Some(phases)) => {
            let (mark, Progress { done, total }) = (screen.mark(Symbol::Chart), phases);
            let phases_en = plural(total, "phase", "phases");
            screen.line(&tr!(
                lang,
                "{mark}Progress: {done}/{total} {phases_en} done"
            ))
        }
        (progress, _) => current_progress(screen, progress),
    });
    if !is_over {
        out.push('\n');
        out.push_str(&match is_calls {
            true => tr!(lang, "Please confirm whether to go on:\n- `ralph resume` - make {extend_by} more agent {calls_en}\n- `ralph cancel` - give the loop up\n"),
            false => tr!(lang, "Please confirm whether to go on:\n- `ralph resume` - run {extend_by} more {noun_en}\n- `ralph cancel` - give the loop up\n"),
        });
    }
    out.push_str(&next_step(
        screen,
        ending.next.as_deref(),
        "ralph resume",
        &match is_calls {
            true => tr!(lang, "goes on with {extend_by} more agent {calls_en}"),
            false => tr!(lang, "goes on with {extend_by} more {noun_en}"),
        },
    ));
    out
}

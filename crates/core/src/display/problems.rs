//! The ends that need a person's judgement (errors in a row, an open breaker, a
//! block, a failed gate) and the rejection of a false claim (ERRC-03, BRKR).

use super::boxes::title_box;
use super::endings::{Ending, current_progress, effort, next_step, resume_step};
use super::proof;
use super::screen::{Screen, Symbol, Tone};
use crate::lang::Lang;
use crate::machine::{BreakerRule, Missing};
use crate::text::duration::plural;
use crate::tr;

/// One error of a row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ErrorView {
    /// The machine name of its class (`agent_exec`).
    pub class: String,
    pub description: String,
}

/// An open breaker with what it saw.
#[derive(Clone, Debug, PartialEq)]
pub struct BreakerView {
    pub ending: Ending,
    pub rule: BreakerRule,
    /// How many in a row.
    pub count: u32,
    pub evidence: Vec<String>,
}

/// Too many errors in a row: what each of them was.
pub fn error_report(screen: &Screen, errors: &[ErrorView], ending: &Ending) -> String {
    let lang = screen.lang;
    let (failed, warning) = (screen.mark(Symbol::Failed), screen.mark(Symbol::Warning));
    let count = errors.len();
    let noun_en = plural(count, "error", "errors");
    let mut out = title_box(
        screen,
        Tone::Bad,
        &tr!(lang, "{failed}Loop stopped by errors"),
    );
    out.push('\n');
    out.push_str(&screen.line(&tr!(lang, "{warning}{count} {noun_en} in a row")));
    out.push_str(&current_progress(screen, ending.progress));
    out.push('\n');
    out.push_str(&tr!(lang, "Errors:\n"));
    for (error, number) in errors.iter().zip(1..) {
        let lead = format!("{number}. ");
        let class = error_class(lang, &error.class);
        let description = screen.value(&error.description);
        let text = format!("{}: {description}", screen.value(&class));
        out.push_str(&screen.paragraph(&lead, &text));
    }
    out.push('\n');
    out.push_str(&tr!(lang, "What you can do:\n- find the cause and repair it (`ralph report` shows the run)\n- try again with `ralph resume`\n"));
    out.push_str(&next_step(
        screen,
        ending.next.as_deref(),
        "ralph resume",
        &tr!(lang, "tries again, the error count starts at 0"),
    ));
    out
}

/// The name of an error class for a person; an unknown class is its own name.
pub fn error_class(lang: Lang, class: &str) -> String {
    match class {
        "agent_exec" => tr!(lang, "Agent execution error"),
        "agent_timeout" => tr!(lang, "Agent timed out"),
        "agent_missing" => tr!(lang, "Agent not found"),
        "task_not_found" => tr!(lang, "Task not found"),
        "file_op" => tr!(lang, "File operation failed"),
        _ => class.to_owned(),
    }
}

/// Which rule opened the breaker, what it counts, and what it saw.
pub fn breaker_report(screen: &Screen, view: &BreakerView) -> String {
    let message = view.rule.opened(view.count, screen.lang);
    let mut out = format!("{}\n", screen.bold(Tone::Bad, &message));
    out.push_str(&screen.paragraph("", &breaker_counts(screen.lang, view.rule)));
    if !view.evidence.is_empty() {
        out.push('\n');
        out.push_str(&tr!(screen.lang, "Evidence:\n"));
        for line in &view.evidence {
            out.push_str(&screen.paragraph("- ", &screen.value(line)));
        }
    }
    out.push('\n');
    out.push_str(&current_progress(screen, view.ending.progress));
    out.push_str(&effort(screen, &view.ending));
    out.push_str(&next_step(
        screen,
        view.ending.next.as_deref(),
        "ralph resume",
        &tr!(screen.lang, "sets the counts to 0 and goes on"),
    ));
    out
}

fn breaker_counts(lang: Lang, rule: BreakerRule) -> String {
    match rule {
        BreakerRule::Stalled => tr!(
            lang,
            "Counted: iterations after which nothing was new of what counts as progress (progress.evidence)."
        ),
        BreakerRule::MissingPromise => tr!(
            lang,
            "Counted: iterations whose last answer had no <promise> tag of its own."
        ),
        BreakerRule::SameError => tr!(
            lang,
            "Counted: iterations that failed with the same output, apart from times and numbers."
        ),
        BreakerRule::FalsePromise => tr!(
            lang,
            "Counted: claims of completion that the task file or a check disproved."
        ),
    }
}

/// The agent cannot go on, and says why.
pub fn blocked_report(
    screen: &Screen,
    ending: &Ending,
    reason: &str,
    task: Option<&str>,
) -> String {
    let lang = screen.lang;
    let stop = screen.mark(Symbol::Stop);
    let mut out = title_box(screen, Tone::Bad, &tr!(lang, "{stop}Loop blocked"));
    out.push('\n');
    let reason = match reason.trim() {
        "" => tr!(lang, "the agent gave none"),
        reason => screen.value(reason),
    };
    out.push_str(&screen.paragraph(&tr!(lang, "Reason: "), &reason));
    if let Some(task) = task {
        let task = screen.value(task);
        out.push_str(&screen.line(&tr!(lang, "Task: {task}")));
    }
    out.push_str(&current_progress(screen, ending.progress));
    out.push_str(&effort(screen, ending));
    out.push_str(&next_step(
        screen,
        ending.next.as_deref(),
        "ralph resume",
        &tr!(lang, "once the reason is removed"),
    ));
    out
}

/// The work is claimed to be done, but a gate or a verification failed for good.
pub fn gate_failed(screen: &Screen, failed: &[Missing], ending: &Ending) -> String {
    let mark = screen.mark(Symbol::Failed);
    let mut out = title_box(
        screen,
        Tone::Bad,
        &tr!(screen.lang, "{mark}Loop verification failed"),
    );
    out.push('\n');
    out.push_str(&proof::missing(screen, failed));
    out.push('\n');
    out.push_str(&current_progress(screen, ending.progress));
    out.push_str(&effort(screen, ending));
    out.push_str(&resume_step(screen, ending));
    out
}

/// A claim of completion that does not hold. The run goes on.
pub fn rejected(screen: &Screen, claim: &str, missing: &[Missing]) -> String {
    const CLAIM_COLUMNS: usize = 40;
    let mark = screen.mark(Symbol::Failed);
    let claim = screen.fit(&screen.value(claim), CLAIM_COLUMNS);
    let line = screen.line(&tr!(
        screen.lang,
        "{mark}Rejected: the agent claims \"{claim}\""
    ));
    let mut out = format!("{}\n", screen.paint(Tone::Bad, line.trim_end()));
    out.push_str(&proof::missing(screen, missing));
    out.push_str(&screen.line(&tr!(
        screen.lang,
        "The next prompt tells the agent what is missing."
    )));
    out
}

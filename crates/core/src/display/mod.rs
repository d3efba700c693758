//! Whole blocks of text for a person (DISP): progress, menus, and every way in
//! which a run can end.
//!
//! Each block is a function from a [`Screen`] and a small plain view to a
//! `String`. Nothing is printed here. A block ends with a line feed; a menu
//! ends with its question, so that the answer is typed behind it. Text that
//! comes from outside (task titles, agent output, reasons) is made harmless,
//! freed of secrets and fitted to the width before it is shown.

mod bar;
mod boxes;
mod endings;
mod limits;
mod menus;
mod next;
mod problems;
mod progress;
mod proof;
mod screen;
mod usage;

#[cfg(test)]
mod tests;

pub use bar::{Progress, bar, narrowing_bar};
pub use endings::{
    BudgetKind, CompleteView, Ending, LoopKind, Place, archived, budget, cancelled, complete_box,
    disk_box, escalated, interrupted, needs_forge, needs_person, no_check, pause_box, unproven,
    unshown,
};
pub use limits::limit_box;
pub use menus::{
    LimitMenuView, ResumeView, damaged_menu, limit_menu, limit_notice, resume_menu, resume_notice,
    simplify_menu,
};
pub use next::{budget_kind, next_command};
pub use problems::{
    BreakerView, ErrorView, blocked_report, breaker_report, error_class, error_report, gate_failed,
    rejected,
};
pub use progress::{
    IterationView, PhaseView, ProgressView, RoleView, StepState, iteration_header, phase_tree,
    phases_done, progress_box, role_line,
};
pub use proof::{Gap, Proof, gap_line, proof_line};
pub use screen::{Screen, Style};
pub use usage::{UsageView, dollars};

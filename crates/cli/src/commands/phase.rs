//! `ralph phase`: where the branch stands, over all checks of the pushed
//! commit.

use ralph_core::forge::PhaseReport;
use ralph_engine::plan::forge_of;

use crate::app::{App, Exit};
use crate::args::PhaseArgs;
use crate::trust;

/// What can't be told is `unknown`, which is an answer: the exit code is 0.
pub fn run(app: &App, args: &PhaseArgs) -> Exit {
    let settings = trust::settings_unasked(app, "pr.")?;
    let forced = std::env::var("PHASE_OVERRIDE").ok();
    let report = match PhaseReport::forced(forced.as_deref()) {
        Some(report) => report,
        None => {
            let mut forge = forge_of(&settings, &app.layout(), "", app.lang());
            forge.required_only |= args.required;
            app.block_on(forge.phase(settings.pr.grace))?
        }
    };
    if args.json {
        app.json(&report.to_json());
    } else {
        show(app, &report);
    }
    Ok(0)
}

/// The keys are for programs and stay as they are.
fn show(app: &App, report: &PhaseReport) {
    let lang = app.lang();
    let line = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    app.tell(&format!(
        "PHASE: {}\nDESCRIPTION: {}\nACTION: {}",
        report.phase.into_str(),
        line(report.description(lang)),
        line(report.action(lang)),
    ));
}

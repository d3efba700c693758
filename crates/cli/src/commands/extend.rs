//! `ralph extend`: more turns or time for the run of this project, while it
//! goes on.

use ralph_core::config::duration;
use ralph_core::text::duration::plural;
use ralph_core::tr;
use ralph_engine::control::{self, ControlError};
use ralph_engine::inbox::Written;
use ralph_engine::past;

use crate::app::{App, Exit, OrFail};
use crate::args::ExtendArgs;

pub fn run(app: &App, args: &ExtendArgs) -> Exit {
    let lang = app.lang();
    super::answer::refuse_agents(app, None)?;
    let duration_ms = match args.time.as_deref().map(duration) {
        None => 0,
        Some(Some(time)) => u64::try_from(time.as_millis()).unwrap_or(u64::MAX),
        Some(None) => {
            let time = args.time.as_deref().unwrap_or_default();
            return app.refuse(&tr!(
                lang,
                "--time {time}: a duration looks like 90s, 30m, 12h"
            ));
        }
    };
    let layout = app.layout();
    let Some(current) = layout.current_run().or_fail(app)? else {
        return app.fail(&ControlError::NothingRuns);
    };
    let limits = past::read(&current).or_fail(app)?.state.rules.limits;
    let iterations = match args.iterations {
        Some(iterations) => iterations,
        None if duration_ms > 0 => 0,
        None => limits.extend_by.max(1),
    };
    let unlimited = (iterations == 0 || limits.max_iterations == 0)
        && (duration_ms == 0 || limits.max_duration_ms == 0);
    if unlimited {
        return app.refuse(&tr!(
            lang,
            "the run has no such limit; `ralph status` shows its limits"
        ));
    }
    let wish = Written::Extend {
        iterations,
        duration_ms,
    };
    match control::write(&layout, wish) {
        Ok(_) => {
            let run = current.id.as_str();
            let limits = past::read(&current).map(|past| past.state.rules.limits);
            let max = limits.map_or(0, |limits| limits.max_iterations);
            let iterations_en = plural(max as usize, "iteration", "iterations");
            app.print(&tr!(lang, "run {run} goes on, up to {max} {iterations_en}"));
            Ok(0)
        }
        Err(error) => app.fail(&error),
    }
}

//! `ralph extend`: more turns or time for the run of this project, while it
//! goes on.

use ralph_core::config::duration;
use ralph_core::tr;
use ralph_engine::control::{self, ControlError};
use ralph_engine::inbox::Written;
use ralph_engine::past;
use ralph_store::layout::Layout;

use crate::FAILED;
use crate::app::App;
use crate::args::ExtendArgs;

pub fn run(app: &App, args: &ExtendArgs) -> u8 {
    let lang = app.lang();
    if super::answer::is_an_agent(app, None) {
        return FAILED;
    }
    let duration_ms = match args.time.as_deref().map(duration) {
        None => 0,
        Some(Some(time)) => u64::try_from(time.as_millis()).unwrap_or(u64::MAX),
        Some(None) => {
            let time = args.time.as_deref().unwrap_or_default();
            app.warn(&tr!(
                lang,
                "--time {time}: a duration looks like 90s, 30m, 12h"
            ));
            return FAILED;
        }
    };
    let layout = Layout::new(&app.root);
    let current = match layout.current_run() {
        Ok(Some(paths)) => paths,
        Ok(None) => return app.fail(&ControlError::NothingRuns),
        Err(error) => return app.fail(&error),
    };
    let limits = match past::read(&current) {
        Ok(past) => past.state.rules.limits,
        Err(error) => return app.fail(&error),
    };
    let iterations = match args.iterations {
        Some(iterations) => iterations,
        None if duration_ms > 0 => 0,
        None => limits.extend_by.max(1),
    };
    let unlimited = (iterations == 0 || limits.max_iterations == 0)
        && (duration_ms == 0 || limits.max_duration_ms == 0);
    if unlimited {
        app.warn(&tr!(
            lang,
            "the run has no such limit; `ralph status` shows its limits"
        ));
        return FAILED;
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
            app.print(&tr!(lang, "run {run} goes on, up to {max} iterations"));
            0
        }
        Err(error) => app.fail(&error),
    }
}

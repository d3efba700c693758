//! `ralph report`: what became of a run.

use std::path::Path;

use ralph_core::report::Report;
use ralph_core::tr;
use ralph_engine::report;
use ralph_store::atomic::{AtomicOptions, write_through};

use super::answer::moved;
use super::history::keeping;
use crate::app::{App, Exit, OrFail};
use crate::args::ReportArgs;

pub fn run(app: &App, args: &ReportArgs) -> Exit {
    let keeping = keeping(app)?;
    let layout = app.layout();
    let Some(source) = report::find(&layout, &keeping, args.run.as_deref()).or_fail(app)? else {
        return nothing(app, args.run.as_deref());
    };
    let report = report::of(&layout, &source).or_fail(app)?;
    let text = rendered(app, args, &report);
    match &args.out {
        Some(path) => write(app, path, &text),
        None => {
            app.print(&text);
            Ok(0)
        }
    }
}

fn rendered(app: &App, args: &ReportArgs, report: &Report) -> String {
    match () {
        () if args.html => report.html(app.lang()),
        () if args.json => format!("{}\n", report.json()),
        () => report.markdown(app.lang()),
    }
}

/// Whole or not at all: somebody may have the old one open.
fn write(app: &App, path: &Path, text: &str) -> Exit {
    match write_through(path, text.as_bytes(), AtomicOptions::default()) {
        Ok(()) => {
            let path = path.display();
            app.done(&tr!(app.lang(), "report written to {path}"))
        }
        Err(error) => app.fail(&error),
    }
}

fn nothing(app: &App, run: Option<&str>) -> Exit {
    app.refuse(&match run {
        Some(run) => tr!(
            app.lang(),
            "there is no run {run}; `ralph resume --list` and `ralph history` show all"
        ),
        None => moved(app).unwrap_or_else(|| {
            tr!(
                app.lang(),
                "nothing has run here yet; `ralph run` starts a run, `ralph demo` shows one"
            )
        }),
    })
}

//! `ralph monitor`, and `ralph run --monitor`: loop and monitor side by side.

use std::io;

use ralph_core::tr;
use ralph_engine::terminal;
use ralph_engine::watch::known_projects;
use ralph_store::layout::Layout;

use crate::app::{self, App, Exit};
use crate::args::MonitorArgs;
use crate::monitor::{self, Looking};

/// A screen where no terminal says how many lines it has.
const LINES: usize = 24;

pub fn run(app: &App, args: &MonitorArgs) -> Exit {
    let mut projects = vec![app.layout()];
    if args.all {
        let known = known_projects(&app.home);
        let others = known.iter().map(|root| Layout::new(root, &app.home));
        projects.extend(others.filter(|other| other.state_dir() != app.layout().state_dir()));
    }
    let looking = Looking { projects };
    if args.once {
        let lines = terminal::rows().map_or(LINES, |rows| rows.saturating_sub(1));
        let lines = u16::try_from(lines).unwrap_or(u16::MAX);
        return match monitor::once(app, looking, lines) {
            Ok(shown) => {
                app.print(&shown);
                Ok(0)
            }
            Err(error) => failed_to_show(app, &error),
        };
    }
    if !app::is_interactive() {
        return app.refuse(&tr!(app.lang(), "the monitor needs a terminal; `ralph monitor --once` prints one screen, `ralph status --json` and `ralph events --json` are for programs"));
    }
    match monitor::run(app, looking) {
        Ok(()) => Ok(0),
        Err(error) => failed_to_show(app, &error),
    }
}

fn failed_to_show(app: &App, error: &io::Error) -> Exit {
    app.refuse(&error.to_string())
}

//! `ralph logs`: the log file, whole or as it grows.

use std::time::Duration;

use ralph_core::tr;
use ralph_store::lines::LineTail;

use crate::app::{App, Exit};
use crate::args::LogsArgs;
use crate::trust;

/// How often a growing file is looked at.
const LOOK: Duration = Duration::from_millis(200);

pub fn run(app: &App, args: &LogsArgs) -> Exit {
    let settings = trust::settings_unasked(app, "log.")?;
    // A run may have been started with another preset than the project's.
    let candidates = [
        settings.log.file.as_str(),
        ".ralph/ralph.log",
        ".ralph/ralph-sdd.log",
    ];
    let newest = candidates
        .iter()
        .map(|name| app.root.join(name))
        .filter_map(|path| Some((path.metadata().ok()?.modified().ok()?, path)))
        .max();
    let Some((_, path)) = newest else {
        return app.refuse(&tr!(
            app.lang(),
            "there is no log yet; start a loop with `ralph run`"
        ));
    };
    let mut tail = LineTail::new(&path);
    let mut shown = args.lines;
    loop {
        let mut lines = Vec::new();
        let polled = tail.poll(|line| lines.push(String::from_utf8_lossy(line.bytes).into_owned()));
        if let Err(error) = polled {
            return app.refuse(&format!("{}: {error}", path.display()));
        }
        // Only what was there before is cut to its end.
        let skip = match std::mem::take(&mut shown) {
            0 => 0,
            shown => lines.len().saturating_sub(shown),
        };
        if lines.len() > skip {
            app.tell(&lines[skip..].join("\n"));
        }
        if !args.follow {
            return Ok(0);
        }
        std::thread::sleep(LOOK);
    }
}

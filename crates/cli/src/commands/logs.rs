//! `ralph logs`: the log file, whole or as it grows.

use std::time::Duration;

use ralph_core::tr;
use ralph_store::lines::LineTail;

use crate::app::App;
use crate::args::LogsArgs;
use crate::{FAILED, settings};

/// How often a growing file is looked at.
const LOOK: Duration = Duration::from_millis(200);

pub fn run(app: &App, args: &LogsArgs) -> u8 {
    let settings = match settings::load(app, Vec::new()) {
        Ok(loaded) => loaded.settings,
        Err(code) => return code,
    };
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
        app.warn(&tr!(
            app.lang(),
            "there is no log yet; start a loop with `ralph run`"
        ));
        return FAILED;
    };
    let mut tail = LineTail::new(&path);
    let mut shown = args.lines;
    loop {
        let mut lines = Vec::new();
        let polled = tail.poll(|line| lines.push(String::from_utf8_lossy(line.bytes).into_owned()));
        if let Err(error) = polled {
            app.warn(&format!("{}: {error}", path.display()));
            return FAILED;
        }
        // Only what was there before is cut to its end.
        let skip = match std::mem::take(&mut shown) {
            0 => 0,
            shown => lines.len().saturating_sub(shown),
        };
        if lines.len() > skip {
            app.print(&lines[skip..].join("\n"));
        }
        if !args.follow {
            return 0;
        }
        std::thread::sleep(LOOK);
    }
}

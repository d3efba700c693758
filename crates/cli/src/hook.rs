//! `ralph hook [--host NAME] pre-tool-use`: what clients ask before each tool
//! call of a run that Ralph drives.
//!
//! Until the guard is here it objects to nothing. No client takes silence and
//! exit code 0 for anything else, and none of its own permission rules is
//! overruled by it.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::PathBuf;

use ralph_store::layout::{Layout, RunId};
use ralph_store::stats::{self, Decision};
use serde_json::Value;

use crate::FAILED;

/// The first argument that leads here.
pub const MODE: &str = "hook";

/// More of a call is not read: only its tool is of interest.
const MOST_BYTES: u64 = 16 * 1024 * 1024;

pub fn run(args: &[OsString]) -> u8 {
    let words: Vec<_> = args.iter().map(|arg| arg.to_string_lossy()).collect();
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    match words.as_slice() {
        ["pre-tool-use"] | ["--host", _, "pre-tool-use"] => {
            let tool = tool_that_is_called();
            // A hook that fails must not stop the work.
            if let Some(layout) = layout_of_the_run() {
                let _ = stats::count(&layout.safety_stats(), &tool, Decision::Allowed);
            }
            0
        }
        _ => {
            let usage = "usage: ralph hook [--host NAME] pre-tool-use";
            let _ = writeln!(std::io::stderr(), "ralph: {usage}");
            FAILED
        }
    }
}

fn tool_that_is_called() -> String {
    let mut text = Vec::new();
    let _ = std::io::stdin().take(MOST_BYTES).read_to_end(&mut text);
    let call: Value = serde_json::from_slice(&text).unwrap_or_default();
    let name = call["tool_name"].as_str().or(call["toolName"].as_str());
    name.unwrap_or("unknown").chars().take(100).collect()
}

/// The project that the run of this environment works in.
fn layout_of_the_run() -> Option<Layout> {
    let run = RunId::parse(&std::env::var("RALPH_RUN_ID").ok()?)?;
    let here: PathBuf = std::env::current_dir().ok()?;
    let layouts = here.ancestors().map(Layout::new);
    layouts
        .into_iter()
        .find(|layout| layout.run(&run).dir.is_dir())
}

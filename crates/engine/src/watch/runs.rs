//! The runs of a project in short, for a list. A run is only opened where
//! somebody looks at it: the end of its event log says how it went.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;

use ralph_core::lang::Lang;
use ralph_core::report::outcome_word;
use ralph_core::tr;
use ralph_store::FileError;
use ralph_store::layout::{Layout, RunId, RunPaths};
use ralph_store::lines::open_regular;
use ralph_store::{lock, old};
use serde_json::Value;

/// The last event stands within this of the end.
const TAIL_BYTES: u64 = 64 * 1024;

/// A run in short.
#[derive(Clone, Debug, PartialEq)]
pub struct Brief {
    pub root: PathBuf,
    pub id: RunId,
    /// The process that drives it.
    pub pid: Option<u32>,
    /// How it ended, by name; `None` while it has not.
    pub outcome: Option<String>,
    pub reason: Option<String>,
    pub iterations: u64,
    pub completed: u64,
    pub total: u64,
    /// In dollars, where it is known.
    pub cost_usd: Option<f64>,
    /// When it told something last, as the event log writes it.
    pub updated: String,
}

impl Brief {
    /// How it ended, or that it runs, in a word. An end that was told before
    /// it was taken up again is an old one.
    pub fn word(&self, lang: Lang) -> String {
        match (self.pid, &self.outcome) {
            (Some(_), _) => tr!(lang, "running"),
            (None, outcome) => outcome_word(lang, outcome.as_deref().unwrap_or("unfinished")),
        }
    }
}

/// The runs of a project, the newest first.
pub fn briefs(layout: &Layout, most: usize) -> Result<Vec<Brief>, FileError> {
    let holder = lock::holder(&layout.lock()).ok().flatten();
    let runs = layout.runs()?;
    let newest = runs.iter().rev().take(most);
    let pid = |run: &RunPaths| {
        let holder = holder.as_ref();
        holder
            .filter(|h| h.run_id == run.id.as_str())
            .map(|h| h.pid)
    };
    Ok(newest.map(|run| brief(layout, run, pid(run))).collect())
}

/// Those of earlier versions, the newest first: history, and no more.
pub fn old_briefs(layout: &Layout) -> Vec<Brief> {
    let runs = old::runs(layout);
    runs.iter()
        .rev()
        .map(|run| brief(layout, run, None))
        .collect()
}

fn brief(layout: &Layout, run: &RunPaths, pid: Option<u32>) -> Brief {
    let lines = last_lines(run).unwrap_or_default();
    let event = |name: &str| lines.iter().rev().find(|line| line["event"] == name);
    let last = lines.iter().rev().find(|line| line["event"] != "archive");
    let end = last.filter(|line| line["event"] == "loop_end");
    let counted = end
        .or_else(|| event("iteration_complete"))
        .or_else(|| event("loop_start"));
    let iterations = match end {
        Some(end) => end["iterations"].as_u64(),
        None => lines
            .iter()
            .rev()
            .find_map(|line| line["iteration"].as_u64()),
    };
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let tasks = |key: &str| {
        counted
            .and_then(|line| line["tasks"][key].as_u64())
            .unwrap_or(0)
    };
    Brief {
        root: layout.root().into(),
        id: run.id.clone(),
        pid,
        outcome: end.and_then(|end| text(&end["outcome"])),
        reason: end.and_then(|end| text(&end["reason"])),
        iterations: iterations.unwrap_or(0),
        completed: tasks("completed"),
        total: tasks("total"),
        cost_usd: end.and_then(|end| end["usage"]["cost_usd"].as_f64()),
        updated: last.and_then(|line| text(&line["ts"])).unwrap_or_default(),
    }
}

/// The whole lines at the end of the event log.
fn last_lines(run: &RunPaths) -> std::io::Result<Vec<Value>> {
    let mut file: File = open_regular(&run.events())?;
    let length = file.metadata()?.len();
    let from = length.saturating_sub(TAIL_BYTES);
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(TAIL_BYTES).read_to_end(&mut bytes)?;
    let skipped = match from {
        0 => 0,
        _ => bytes
            .iter()
            .position(|&byte| byte == b'\n')
            .map_or(bytes.len(), |at| at + 1),
    };
    let whole = bytes.get(skipped..).unwrap_or_default();
    let lines = whole.split(|&byte| byte == b'\n');
    Ok(lines
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect())
}

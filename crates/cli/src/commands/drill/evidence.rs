//! What the drill sees of a run from outside, once it is over.

use std::path::{Path, PathBuf};
use std::time::Duration;

use ralph_core::machine::{Event, Outcome};
use ralph_engine::past;
use ralph_store::layout::{Layout, RunPaths};
use ralph_store::lock;

use super::place::Place;

#[derive(Clone, Debug, Default)]
pub struct Evidence {
    pub duration: Duration,
    /// The drill had to end the run.
    pub ran_out_of_time: bool,
    /// `None` where a signal ended the engine.
    pub exit: Option<i32>,
    /// The beginning of what the engine printed.
    pub said: String,
    /// Processes of the run that outlived it.
    pub survivors: usize,
    /// Their numbers and command lines, as far as they are known.
    pub names: Vec<String>,
    pub peak_memory: Option<u64>,
    pub journal: JournalSeen,
    pub went_on: bool,
    /// The largest output file of a turn.
    pub output_bytes: u64,
    /// Everything that the run left in its folder.
    pub kept_bytes: u64,
    pub lock_is_held: bool,
    pub status_is_whole: bool,
    /// Where bytes stand that a terminal obeys.
    pub controls: Option<String>,
    pub second_agent_ran: bool,
    pub resume: Option<Resumed>,
}

#[derive(Clone, Debug, Default)]
pub enum JournalSeen {
    #[default]
    Missing,
    Corrupt,
    Read {
        events: Vec<Event>,
        outcome: Option<Outcome>,
    },
}

/// What came of `ralph resume`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resumed {
    pub code: i32,
}

/// How many characters of an engine's words are worth a message.
const LAST_WORDS: usize = 200;

impl Evidence {
    /// Looks at the files that a run left in a project.
    pub fn look_at_files(&mut self, place: &Place, log: &Path) {
        let layout = place.layout();
        self.went_on = place.went_on().exists();
        self.second_agent_ran = place.second_agent().exists();
        self.lock_is_held = lock::holder(&layout.lock()).is_ok_and(|holder| holder.is_some());
        let status = std::fs::read(layout.status()).unwrap_or_default();
        self.status_is_whole = serde_json::from_slice::<serde_json::Value>(&status)
            .is_ok_and(|status| status["run_id"].is_string());
        let Some(run) = first_run(&layout) else {
            return;
        };
        self.journal = read_journal(&run);
        self.output_bytes = size_of_files(&run.dir, |name| name.ends_with(".out")).1;
        self.kept_bytes = size_of_files(&run.dir, |_| true).0;
        let shown = [
            log.to_path_buf(),
            layout.status(),
            run.events(),
            run.journal(),
            run.turn_prompt(2, 1),
        ];
        self.controls = shown
            .iter()
            .find(|path| std::fs::read(path).is_ok_and(|bytes| has_controls(&bytes)))
            .map(|path| file_name(path))
            .or_else(|| has_controls(self.said.as_bytes()).then(|| "stdout".to_owned()));
    }

    /// An engine never ends like this by itself.
    pub fn crashed(&self) -> bool {
        !self.ran_out_of_time && (self.exit.is_none() || self.said.contains("panicked at"))
    }

    pub fn last_words(&self) -> String {
        let line = self.said.lines().rev().find(|line| !line.trim().is_empty());
        ralph_core::text::one_line(line.unwrap_or_default())
            .chars()
            .take(LAST_WORDS)
            .collect()
    }
}

/// A second run that should not be there began later.
pub fn first_run(layout: &Layout) -> Option<RunPaths> {
    layout.runs().ok()?.into_iter().next()
}

fn read_journal(run: &RunPaths) -> JournalSeen {
    let mut events = Vec::new();
    match past::listen(run, &mut |event, _, _| events.push(event.clone())) {
        Ok(past) => JournalSeen::Read {
            events,
            outcome: past.state.outcome().cloned(),
        },
        Err(_) => JournalSeen::Corrupt,
    }
}

/// The sum and the largest of the files of a folder.
fn size_of_files(dir: &Path, counts: impl Fn(&str) -> bool) -> (u64, u64) {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let sizes = entries
        .filter(|entry| counts(&entry.file_name().to_string_lossy()))
        .filter_map(|entry| entry.metadata().ok())
        .map(|metadata| metadata.len());
    sizes.fold((0, 0), |(sum, most), size| (sum + size, most.max(size)))
}

fn file_name(path: &Path) -> String {
    let name: PathBuf = path.file_name().unwrap_or_default().into();
    name.to_string_lossy().into_owned()
}

/// Whether it is no text, or holds characters that a terminal obeys.
fn has_controls(bytes: &[u8]) -> bool {
    match std::str::from_utf8(bytes) {
        Ok(text) => text
            .chars()
            .any(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t')),
        Err(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_seen() {
        for (bytes, want) in [
            (&b"plain\ttext\r\n"[..], false),
            ("已\n".as_bytes(), false),
            (b"\x1b[31m", true),
            ("\u{9b}0m".as_bytes(), true),
            (b"\x07", true),
            (b"\xff", true),
        ] {
            assert_eq!(has_controls(bytes), want, "{bytes:?}");
        }
    }
}

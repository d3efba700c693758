//! Writes down what happens: the journal first, then everything that is made
//! from it.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ralph_core::checkpoint::task_id_of;
use ralph_core::lang::{Lang, Say};
use ralph_core::machine::{Event, Level, Notice, Now, Outcome, State};
use ralph_core::text;
use ralph_store::FileError;
use ralph_store::atomic::{AtomicOptions, write_atomic};
use ralph_store::journal::{Durability, Journal, JournalError};
use ralph_store::layout::RunPaths;
use ralph_store::log::{LogFile, LogLevel, LogOptions};
use serde::Serialize;
use serde_json::Value;

use crate::announcement::Announcement;
use crate::clock;
pub use crate::header::Header;
use crate::plan::Plan;
use crate::told::Told;
use crate::touched;

#[derive(Debug)]
pub struct Recorder {
    journal: Journal,
    events: Told,
    log: Log,
    status: PathBuf,
    run_id: String,
    tasks_file: String,
    lang: Lang,
    troubled: BTreeSet<Made>,
    /// Not yet handed out by [`Recorder::troubles`].
    troubles: Vec<FileError>,
}

/// What a run writes beside its journal. A file of these that can't be
/// written stops nothing, and is told once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Made {
    Events,
    Log,
    Status,
    /// The counts and boxes in the task file.
    Tasks,
    /// What the checks consisted of when the loop was armed.
    Checks,
    /// What was not committed when the run began.
    Files,
}

/// The log file, which is opened again and again until that works.
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    options: LogOptions,
    file: Option<LogFile>,
}

impl Log {
    pub fn append(&mut self, now: &str, level: LogLevel, message: &str) -> Result<(), FileError> {
        let file = match &mut self.file {
            Some(file) => file,
            closed => {
                let started = format!("{now} ({})", clock::zone_name());
                closed.insert(LogFile::open(&self.path, &started, self.options)?)
            }
        };
        file.append(now, level, message)
    }
}

/// The run can't be written down, and so can't go on.
#[derive(Clone, Debug, Say)]
pub enum RecordError {
    #[say(_0.say(lang))]
    Journal(JournalError),
    #[say(_0.say(lang))]
    File(FileError),
}

impl From<JournalError> for RecordError {
    fn from(error: JournalError) -> Self {
        RecordError::Journal(error)
    }
}

impl From<FileError> for RecordError {
    fn from(error: FileError) -> Self {
        RecordError::File(error)
    }
}

impl Recorder {
    /// Opens every file of a new run and writes its header down.
    pub fn begin(plan: &Plan, paths: &RunPaths, header: &Header) -> Result<Recorder, RecordError> {
        let mut journal = Journal::create(&paths.journal())?;
        journal.append(&[to_json(header)], Durability::Commit)?;
        let mut recorder = Recorder::open(plan, paths, journal, header, Vec::new());
        let begun = touched::begin(plan.layout.root(), paths, header.commit.as_deref());
        recorder.note(Made::Files, begun);
        Ok(recorder)
    }

    /// Opens the files of a run whose journal is there already; `lines` is
    /// what it has told to the event log, as its journal says.
    pub fn open(
        plan: &Plan,
        paths: &RunPaths,
        journal: Journal,
        header: &Header,
        lines: Vec<Value>,
    ) -> Recorder {
        let options = LogOptions {
            style: plan.log_style,
            max_bytes: plan.log_max_bytes,
            keep: plan.log_keep,
            redact: redact_for_log,
        };
        let mut recorder = Recorder {
            journal,
            events: Told::new(&paths.events(), lines),
            log: Log {
                path: plan.log.clone(),
                options,
                file: None,
            },
            status: plan.layout.clone().status(),
            run_id: header.run_id.clone(),
            tasks_file: header.tasks_file_text(),
            lang: plan.lang,
            troubled: BTreeSet::new(),
            troubles: Vec::new(),
        };
        let caught_up = recorder.events.catch_up();
        recorder.note(Made::Events, caught_up);
        recorder
    }

    /// How many records the journal has.
    pub fn records(&self) -> u64 {
        self.journal.next_seq()
    }

    /// Writes an event down before anything is done about it.
    pub fn event(&mut self, event: &Event) -> Result<(), RecordError> {
        append(&mut self.journal, event)
    }

    /// Writes several events down that belong together, with one sync.
    pub fn events(&mut self, events: &[Event]) -> Result<(), RecordError> {
        let records: Vec<Value> = events.iter().map(to_json).collect();
        self.journal.append(&records, Durability::Commit)?;
        Ok(())
    }

    /// Tells the event log and the log file. Both can be made again from the
    /// journal, so that a failure here stops nothing.
    pub fn notice(&mut self, notice: &Notice, at: Now) {
        let told = self.events.add(notice.line(at));
        self.note(Made::Events, told);
        let message = notice.words(self.lang);
        self.log_line(&clock::local_time(at.wall_ms), log_level(notice), &message);
    }

    /// Something that people should find in the log, and that is no event.
    pub fn announce(&mut self, announcement: &Announcement) {
        let now = clock::local_time(clock::now().wall_ms);
        let message = announcement.say(self.lang);
        let level = match announcement {
            Announcement::Pruned { .. } => LogLevel::Info,
            _ => LogLevel::Warn,
        };
        self.log_line(&now, level, &message);
    }

    fn log_line(&mut self, now: &str, level: LogLevel, message: &str) {
        let logged = self.log.append(now, level, message);
        self.note(Made::Log, logged);
    }

    /// The log file once more, for another writer of this process.
    pub fn another_log(&self) -> Log {
        Log {
            path: self.log.path.clone(),
            options: self.log.options,
            file: None,
        }
    }

    /// Remembers what could not be written, the first time.
    pub fn note(&mut self, made: Made, result: Result<(), FileError>) {
        if let Err(error) = result
            && self.troubled.insert(made)
        {
            self.troubles.push(error);
        }
    }

    /// What could not be written since the last call and was not told yet.
    pub fn troubles(&mut self) -> Vec<FileError> {
        std::mem::take(&mut self.troubles)
    }

    /// `status.json`, whole at every instant (STAT-04).
    pub fn status(&mut self, state: &State) {
        let status = state.status(&self.run_id, &self.tasks_file);
        let durable = state.outcome().is_some();
        let written = write_status(&self.status, status, durable);
        self.note(Made::Status, written);
    }
}

impl Header {
    /// The name of the task in the files of the delta loop.
    pub fn task_id(&self) -> String {
        let in_session = self.session.as_ref().and_then(|s| s.task_id.clone());
        let adopted = self.asked.adopted.as_ref().map(|a| a.task_id.clone());
        in_session
            .or(adopted)
            .unwrap_or_else(|| task_id_of(&self.run_id))
    }

    /// The task file as `status.json` names it.
    pub fn tasks_file_text(&self) -> String {
        let path = self.tasks_file.as_deref().unwrap_or(Path::new(""));
        path.to_string_lossy().into_owned()
    }
}

pub fn write_status(path: &Path, mut status: Value, durable: bool) -> Result<(), FileError> {
    text::redact_values(&mut status);
    let mut json = serde_json::to_vec_pretty(&status).unwrap_or_default();
    json.push(b'\n');
    write_atomic(path, &json, AtomicOptions { durable })
}

/// Adds an event to a journal, on the disk before it returns.
pub fn append(journal: &mut Journal, event: &Event) -> Result<(), RecordError> {
    journal.append(&[to_json(event)], Durability::Commit)?;
    Ok(())
}

fn redact_for_log(line: &str) -> Cow<'_, str> {
    text::redact(line)
}

fn to_json(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or(Value::Null)
}

fn log_level(notice: &Notice) -> LogLevel {
    match notice {
        Notice::IterationStart { .. } => LogLevel::Loop,
        Notice::TaskComplete { .. }
        | Notice::LoopEnd {
            outcome: Outcome::Complete,
            ..
        } => LogLevel::Success,
        _ => match notice.level() {
            Level::Info => LogLevel::Info,
            Level::Warn => LogLevel::Warn,
            Level::Error => LogLevel::Error,
        },
    }
}

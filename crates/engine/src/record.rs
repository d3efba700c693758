//! Writes down what happens: the journal first, then everything that is made
//! from it.

use std::borrow::Cow;
use std::path::PathBuf;

use ralph_core::lang::{Lang, Say};
use ralph_core::machine::{Event, Level, Notice, Now, Outcome, Rules, State};
use ralph_core::text;
use ralph_store::FileError;
use ralph_store::atomic::{AtomicOptions, write_atomic};
use ralph_store::events::EventLog;
use ralph_store::journal::{Durability, Journal, JournalError};
use ralph_store::layout::{Layout, RunPaths};
use ralph_store::log::{LogFile, LogLevel, LogOptions};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::clock;
use crate::plan::{Announcement, Asked, Plan};

/// The first record of a journal: what the run was started with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    pub run_id: String,
    pub started_ms: i64,
    pub rules: Rules,
    /// What the person asked for, so that a resumed run is the same run.
    pub asked: Asked,
    #[serde(default)]
    pub tasks_file: Option<PathBuf>,
    #[serde(default)]
    pub commit: Option<String>,
    #[serde(default)]
    pub branch: Option<String>,
}

#[derive(Debug)]
pub struct Recorder {
    journal: Journal,
    events: EventLog,
    log: LogFile,
    status: PathBuf,
    run_id: String,
    tasks_file: String,
    lang: Lang,
}

/// The run can't be written down, and so can't go on.
#[derive(Clone, Debug)]
pub enum RecordError {
    Journal(JournalError),
    File(FileError),
}

impl Say for RecordError {
    fn say(&self, lang: Lang) -> String {
        match self {
            RecordError::Journal(error) => error.say(lang),
            RecordError::File(error) => error.say(lang),
        }
    }
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
        Recorder::open(plan, paths, journal, header)
    }

    /// Opens the files of a run whose journal is there already.
    pub fn open(
        plan: &Plan,
        paths: &RunPaths,
        journal: Journal,
        header: &Header,
    ) -> Result<Recorder, RecordError> {
        let options = LogOptions {
            style: plan.log_style,
            max_bytes: plan.log_max_bytes,
            keep: plan.log_keep,
            redact: redact_for_log,
        };
        let now = clock::local_time(clock::now().wall_ms);
        Ok(Recorder {
            journal,
            events: EventLog::open(&paths.events())?,
            log: LogFile::open(&plan.log, &now, options)?,
            status: Layout::new(&plan.root).status(),
            run_id: header.run_id.clone(),
            tasks_file: header
                .tasks_file
                .as_ref()
                .map(|path| path.to_string_lossy().into_owned())
                .unwrap_or_default(),
            lang: plan.lang,
        })
    }

    /// Writes an event down before anything is done about it.
    pub fn event(&mut self, event: &Event) -> Result<(), RecordError> {
        self.journal.append(&[to_json(event)], Durability::Commit)?;
        Ok(())
    }

    /// Tells the event log and the log file. Both can be made again from the
    /// journal, so that a failure here stops nothing.
    pub fn notice(&mut self, notice: &Notice, at: Now) {
        let _ = self.events.append_json(&notice.line(at));
        let message = notice.say(self.lang);
        let _ = self
            .log
            .append(&clock::local_time(at.wall_ms), log_level(notice), &message);
    }

    /// Something that people should find in the log, and that is no event.
    pub fn announce(&mut self, announcement: &Announcement) {
        let now = clock::local_time(clock::now().wall_ms);
        let message = announcement.say(self.lang);
        let level = match announcement {
            Announcement::Pruned { .. } => LogLevel::Info,
            _ => LogLevel::Warn,
        };
        let _ = self.log.append(&now, level, &message);
    }

    /// `status.json`, whole at every instant (STAT-04).
    pub fn status(&self, state: &State) -> Result<(), FileError> {
        let mut json = serde_json::to_vec_pretty(&state.status(&self.run_id, &self.tasks_file))
            .unwrap_or_default();
        json.push(b'\n');
        write_atomic(
            &self.status,
            &json,
            AtomicOptions {
                durable: state.outcome().is_some(),
            },
        )
    }
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

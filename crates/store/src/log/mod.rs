//! The log for people: `cat` and `tail -f` are enough to read it (STAT-06 to
//! STAT-08).
//!
//! Several processes may write one log: every line is one write to the end of
//! the file, and each writer notices when another has rotated it.

mod clean;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::error::{Action, At, FileError};
use crate::fault::point;
use crate::{private, sys};
use clean::fold_lines;
use ralph_core::text::sanitize;

/// Which of the two logs a project has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogStyle {
    #[default]
    Loop,
    /// As the preset `sdd` has it.
    Sdd,
}

impl LogStyle {
    pub fn file_name(self) -> &'static str {
        match self {
            LogStyle::Loop => "ralph.log",
            LogStyle::Sdd => "ralph-sdd.log",
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            LogStyle::Loop => "# Ralph Loop Log",
            LogStyle::Sdd => "# Ralph SDD Log",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "UPPERCASE", const_into_str)]
pub enum LogLevel {
    Info,
    Warn,
    Error,
    Success,
    Loop,
    Debug,
}

/// Hides what looks like a secret.
pub type Redact = fn(&str) -> Cow<'_, str>;

#[derive(Clone, Copy, Debug)]
pub struct LogOptions {
    pub style: LogStyle,
    /// A file that would grow beyond this is moved to `….1` first; 0 lets it
    /// grow for ever.
    pub max_bytes: u64,
    /// How many moved files are kept.
    pub keep: u32,
    pub redact: Redact,
}

/// A log open for appending.
#[derive(Debug)]
pub struct LogFile {
    path: PathBuf,
    options: LogOptions,
    file: File,
    /// Whether the last write broke off inside a line.
    is_torn: bool,
}

impl LogFile {
    /// Opens or creates the log; `now` is what its header gives as the start.
    pub fn open(path: &Path, now: &str, options: LogOptions) -> Result<LogFile, FileError> {
        if let Some(dir) = path.parent() {
            fs::create_dir_all(dir).at(dir, Action::Create)?;
        }
        let file = open_append(path).at(path, Action::Open)?;
        let mut log = LogFile {
            path: path.to_owned(),
            options,
            file,
            is_torn: false,
        };
        log.make_room(0, now)?;
        log.write_header_if_new(now)?;
        Ok(log)
    }

    /// Appends one line; `now` stands in it as given (`YYYY-MM-DD HH:MM:SS`).
    pub fn append(&mut self, now: &str, level: LogLevel, message: &str) -> Result<(), FileError> {
        // Colours go first: they could stand inside a secret and hide it.
        let plain = sanitize(message);
        let redacted = (self.options.redact)(&plain);
        let message = fold_lines(&redacted);
        let level = level.into_str();
        self.follow_rotation(now)?;
        let mut line = format!("[{now}] [{level}] {message}\n");
        self.make_room(line.len() as u64, now)?;
        if self.is_torn {
            line.insert(0, '\n');
        }
        self.write(&line)
    }

    fn write(&mut self, text: &str) -> Result<(), FileError> {
        let written = sys::write_all(&self.file, text.as_bytes(), point::LOG_WRITE);
        self.is_torn = written.is_err();
        written.at(&self.path, Action::Write)
    }

    /// Another process may have rotated the log, or a person removed it.
    fn follow_rotation(&mut self, now: &str) -> Result<(), FileError> {
        if self.is_current().at(&self.path, Action::Read)? {
            return Ok(());
        }
        self.file = open_append(&self.path).at(&self.path, Action::Open)?;
        self.write_header_if_new(now)
    }

    fn is_current(&self) -> io::Result<bool> {
        match fs::metadata(&self.path) {
            Ok(metadata) => Ok(sys::identity(&metadata) == sys::identity(&self.file.metadata()?)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn len(&self) -> Result<u64, FileError> {
        let metadata = self.file.metadata().at(&self.path, Action::Read)?;
        Ok(metadata.len())
    }

    fn write_header_if_new(&mut self, now: &str) -> Result<(), FileError> {
        if self.len()? > 0 {
            return Ok(());
        }
        // Of several processes that open a new log, one writes the header.
        // Where the file system has no locks, two headers are no harm.
        let _ = self.file.lock();
        let result = match self.len()? {
            0 => self.write(&self.header(now)),
            _ => Ok(()),
        };
        let _ = self.file.unlock();
        result
    }

    fn header(&self, now: &str) -> String {
        format!("{}\nStarted: {now}\n---\n", self.options.style.title())
    }

    /// Rotates if `more` bytes would make the file too long.
    fn make_room(&mut self, more: u64, now: &str) -> Result<(), FileError> {
        let LogOptions { max_bytes, .. } = self.options;
        let len = self.len()?;
        let has_lines = len > self.header(now).len() as u64;
        if max_bytes == 0 || !has_lines || len + more <= max_bytes {
            return Ok(());
        }
        // The lock on the old file lets one process rotate; who does not get
        // it goes on writing where it is, which loses nothing.
        if self.file.try_lock().is_err() {
            return Ok(());
        }
        if self.is_current().at(&self.path, Action::Read)? {
            self.shift_files()?;
        }
        self.file = open_append(&self.path).at(&self.path, Action::Open)?;
        self.write_header_if_new(now)
    }

    /// `.2` becomes `.3`, `.1` becomes `.2`, the log becomes `.1`; what would
    /// come after the last is overwritten.
    fn shift_files(&self) -> Result<(), FileError> {
        if self.options.keep == 0 {
            return fs::remove_file(&self.path).at(&self.path, Action::Remove);
        }
        for n in (0..self.options.keep).rev() {
            let from = numbered(&self.path, n);
            match sys::rename(&from, &numbered(&self.path, n + 1), point::LOG_ROTATE) {
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                result => result.at(&from, Action::Rename)?,
            }
        }
        Ok(())
    }
}

fn open_append(path: &Path) -> io::Result<File> {
    let mut options = private::options();
    options.append(true).create(true);
    sys::open(&options, path, point::LOG_OPEN)
}

/// The log itself is number 0.
fn numbered(path: &Path, n: u32) -> PathBuf {
    if n == 0 {
        return path.to_owned();
    }
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{n}"));
    PathBuf::from(name)
}

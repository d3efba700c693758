//! The task file of a run: reading and marking it.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use ralph_core::lang::Say;
use ralph_core::machine::ErrorClass;
use ralph_core::tasks::{self, ReadOptions, TaskError, TaskList};

/// Where OpenSpec keeps its changes.
pub(crate) const OPENSPEC_CHANGES: &str = "openspec/changes";

/// The task file of a run.
#[derive(Clone, Debug)]
pub struct TaskFile {
    pub path: PathBuf,
    /// As people know it: relative to the project where it lies below it.
    pub name: String,
    pub options: ReadOptions,
    /// It may not be there yet.
    pub may_be_missing: bool,
}

impl TaskFile {
    pub fn new(root: &Path, path: PathBuf, options: ReadOptions) -> TaskFile {
        let name = path
            .strip_prefix(root)
            .unwrap_or(&path)
            .to_string_lossy()
            .into_owned();
        TaskFile {
            path,
            name,
            options,
            may_be_missing: false,
        }
    }

    /// Reads the file whole, within the bounds of [`tasks::MAX_BYTES`].
    pub fn open(self) -> Result<OpenTaskFile, ReadError> {
        let bytes = self.read_bounded()?;
        let list = self.parse(&bytes)?;
        Ok(OpenTaskFile {
            file: self,
            bytes,
            list,
        })
    }

    pub fn parse(&self, bytes: &[u8]) -> Result<TaskList, ReadError> {
        tasks::read(&self.name, bytes, &self.options).map_err(ReadError::Task)
    }

    /// Looks before it opens: a pipe would never open, a device never end.
    pub(crate) fn read_bounded(&self) -> Result<Vec<u8>, ReadError> {
        let failed = |error: io::Error| ReadError::io(&self.name, &error);
        let metadata = std::fs::metadata(&self.path).map_err(failed)?;
        if !metadata.is_file() {
            return Err(ReadError::NotAFile {
                file: self.name.clone(),
            });
        }
        let size = usize::try_from(metadata.len()).unwrap_or(usize::MAX);
        if size > tasks::MAX_BYTES {
            return Err(ReadError::Task(TaskError::TooLarge {
                file: self.name.clone(),
                bytes: size,
                limit: tasks::MAX_BYTES,
            }));
        }
        let file = ralph_store::regular::open(&self.path).map_err(failed)?;
        let mut bytes = Vec::with_capacity(size);
        // It may grow in this moment; one byte more than is allowed is enough
        // to know that it is too large.
        file.take(tasks::MAX_BYTES as u64 + 1)
            .read_to_end(&mut bytes)
            .map_err(failed)?;
        Ok(bytes)
    }
}

/// A task file and what stood in it when it was read.
#[derive(Clone, Debug)]
pub struct OpenTaskFile {
    pub file: TaskFile,
    pub bytes: Vec<u8>,
    pub list: TaskList,
}

/// Why a task file can't be used.
#[derive(Clone, Debug, PartialEq, Eq, Say)]
pub enum ReadError {
    #[say(
        "{file}: there is no such task file; name one with --tasks FILE, or write one with `- [ ] …` lines"
    )]
    Missing { file: String },
    /// A directory, a pipe, a device.
    #[say(
        "{file} is a directory or a device, not a task file; move it away, or name a file with --tasks FILE"
    )]
    NotAFile { file: String },
    #[say(
        "{file}: can't be read ({message}); make it readable, or name another file with --tasks FILE"
    )]
    Unreadable { file: String, message: String },
    #[say(_0.say(lang))]
    Task(TaskError),
}

impl ReadError {
    fn io(file: &str, error: &io::Error) -> ReadError {
        match error.kind() {
            io::ErrorKind::NotFound => ReadError::Missing { file: file.into() },
            _ => ReadError::Unreadable {
                file: file.into(),
                message: error.to_string(),
            },
        }
    }

    pub(crate) fn class(&self) -> ErrorClass {
        match self {
            ReadError::Task(TaskError::TaskNotFound { .. } | TaskError::NoTasks { .. }) => {
                ErrorClass::TaskNotFound
            }
            _ => ErrorClass::FileOp,
        }
    }
}

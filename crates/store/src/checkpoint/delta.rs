//! The state file of a delta loop: replaced whole, with backups in the folder
//! of the checkpoint, and moved aside where it can't be read.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use ralph_core::delta::{DeltaError, DeltaState};

use super::{Care, CheckpointDir};
use crate::atomic::{AtomicOptions, write_atomic};
use crate::error::{Action, At, FileError};
use crate::fault::point;
use crate::sys;

const NAME: &str = "ralph-delta.local.md";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeltaFile {
    path: PathBuf,
}

/// What stood in the place of the state file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadedDelta {
    Nothing,
    State(Box<DeltaState>),
    /// It could not be read and stands aside now, untouched (DELT-11).
    MovedAside {
        from: PathBuf,
        to: PathBuf,
        error: DeltaError,
    },
}

impl DeltaFile {
    pub fn new(path: impl Into<PathBuf>) -> DeltaFile {
        DeltaFile { path: path.into() }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn load(&self) -> Result<LoadedDelta, FileError> {
        let bytes = match crate::regular::read(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(LoadedDelta::Nothing),
            bytes => bytes.at(&self.path, Action::Read)?,
        };
        match DeltaState::read(&bytes) {
            Ok(state) => Ok(LoadedDelta::State(Box::new(state))),
            Err(error) => {
                let to = self.free_name();
                sys::rename(&self.path, &to, point::DELTA_ASIDE).at(&to, Action::Rename)?;
                Ok(LoadedDelta::MovedAside {
                    from: self.path.clone(),
                    to,
                    error,
                })
            }
        }
    }

    /// Ends like the file itself, so that those who leave local files out of
    /// their sight leave this one out too.
    fn free_name(&self) -> PathBuf {
        let name = |n: u32| {
            self.path
                .with_file_name(format!("ralph-delta.corrupt-{n}.local.md"))
        };
        (1..)
            .map(name)
            .find(|path| !path.exists())
            .unwrap_or_else(|| name(0))
    }

    /// The state as it stands in the file now, for who writes it next; `None`
    /// where there is none, or somebody is just writing it.
    pub fn peek(&self) -> Option<DeltaState> {
        DeltaState::read(&crate::regular::read(&self.path).ok()?).ok()
    }

    /// The newest backup that can be read, where the file itself can't.
    pub fn backup(&self, backups: &CheckpointDir) -> Option<(PathBuf, DeltaState)> {
        let paths = (1..=backups.backups).map(|number| backups.backup(NAME, number));
        let mut read = paths.filter_map(|path| {
            let state = DeltaState::read(&crate::regular::read(&path).ok()?).ok()?;
            Some((path, state))
        });
        read.next()
    }

    /// What the state is written over: the file, else a backup in which others
    /// wrote the same as in what is known of the file.
    fn base(&self, state: &DeltaState, backups: &CheckpointDir) -> Option<String> {
        let read = |path: &Path| {
            let text = crate::regular::read_to_string(path).ok()?;
            let before = DeltaState::read(text.as_bytes()).ok()?;
            (before.meta.task_id == state.meta.task_id).then_some((text, before))
        };
        let kept = (1..=backups.backups).filter_map(|number| read(&backups.backup(NAME, number)));
        let own = |(_, before): &(String, DeltaState)| {
            before.other == state.other && before.preamble == state.preamble
        };
        let base = read(&self.path).or_else(|| kept.into_iter().find(own));
        base.map(|(text, _)| text)
    }

    /// Writes the state over the file, in which everything that others wrote
    /// stays. With care, the one before becomes its newest backup.
    pub fn save(
        &self,
        state: &DeltaState,
        backups: &CheckpointDir,
        care: Care,
    ) -> Result<(), FileError> {
        let dir = sys::parent(&self.path);
        if !dir.is_dir() {
            sys::create_dir(dir, point::DELTA_CREATE_DIR).at(dir, Action::Create)?;
        }
        let text = match self.base(state, backups) {
            Some(before) => state.write_over(&before),
            None => state.write(),
        };
        match care {
            Care::Cheap => backups.put(&self.path, text.as_bytes()),
            Care::Durable => {
                backups.rotate(&self.path, NAME)?;
                let options = AtomicOptions { durable: true };
                write_atomic(&self.path, text.as_bytes(), options)
            }
        }
    }
}

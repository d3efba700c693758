//! Checkpoints on disk: `checkpoint.json`, its `.sha256` and its backups
//! (CKPT-01, CKPT-06, CKPT-07), and the state file of a delta loop, whose
//! backups stand beside them (CKPT-10, DELT-11).
//!
//! All of it is made from the journal. A failure to write any of it costs
//! nobody a run; a failure to read it is told, never passed over.

mod delta;
mod say;
#[cfg(test)]
mod tests;

use ralph_core::lang::{Say, said};
use std::fs::{self, OpenOptions};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use ralph_core::checkpoint::{Checkpoint, CheckpointError, Trust};

pub use delta::{DeltaFile, LoadedDelta};

use crate::atomic::{AtomicOptions, Scratch, temp_name, write_atomic, write_atomic_by};
use crate::error::{Action, At, FileError};
use crate::fault::point;
use crate::sys;

const FILE: &str = "checkpoint.json";
const CHECKSUM_FILE: &str = "checkpoint.json.sha256";
const EVENTS_FILE: &str = "execution.log.jsonl";
/// Enough of a log to tell it from others.
const BEGINNING: u64 = 1000;
const TEMP_PREFIX: &str = "checkpoint.json.tmp.";

/// The folder that holds the checkpoint of a run and what belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointDir {
    dir: PathBuf,
    backups: u32,
    /// Where cheap saves are written before they take their names.
    scratch: Option<PathBuf>,
}

/// How much a save may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Care {
    /// Waits for the disk and keeps the checkpoint before as a backup.
    Durable,
    /// Whole at every instant, but a crash of the machine may take it: the
    /// backups are left alone, so that the last durable one stays.
    Cheap,
}

/// Which of the files a checkpoint was read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Say)]
pub enum Source {
    #[say("checkpoint")]
    Current,
    /// 1 is the newest.
    #[say("backup {n}", n = _0)]
    Backup(u32),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    pub checkpoint: Checkpoint,
    pub from: Source,
    pub trust: Trust,
    /// What came before it and could not be used.
    pub refused: Vec<Refused>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    pub from: Source,
    pub path: PathBuf,
    pub why: Unusable,
}

#[derive(Clone, Debug, PartialEq, Eq, Say)]
pub enum Unusable {
    #[say(_0.say(lang))]
    File(FileError),
    #[say(_0.say(lang))]
    Content(CheckpointError),
}

/// Why no checkpoint could be loaded.
#[derive(Clone, Debug, PartialEq, Eq, Say)]
pub enum LoadError {
    /// There is neither a checkpoint nor a backup.
    #[say("there is no checkpoint in {dir}", dir = dir.display())]
    Nothing { dir: PathBuf },
    /// Neither the checkpoint nor any backup can be used (CKPT-07).
    #[say("no checkpoint in {dir} can be used ({refused})", dir = dir.display(), refused = said(refused, "; ", lang))]
    AllRefused { dir: PathBuf, refused: Vec<Refused> },
}

impl CheckpointDir {
    pub fn new(dir: impl Into<PathBuf>, backups: u32) -> CheckpointDir {
        CheckpointDir {
            dir: dir.into(),
            backups,
            scratch: None,
        }
    }

    /// For saves while an agent works: the folder shows nothing but whole
    /// files under their names.
    pub fn with_scratch(self, dir: impl Into<PathBuf>) -> CheckpointDir {
        CheckpointDir {
            scratch: Some(dir.into()),
            ..self
        }
    }

    /// Replaces a file of this folder, or of its neighbours, at once.
    pub fn put(&self, path: &Path, bytes: &[u8]) -> Result<(), FileError> {
        write_atomic_by(
            self.scratch(),
            path,
            bytes,
            AtomicOptions { durable: false },
        )
    }

    fn scratch(&self) -> Scratch<'_> {
        self.scratch.as_deref().map_or(Scratch::Beside, Scratch::In)
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    pub fn file(&self) -> PathBuf {
        self.dir.join(FILE)
    }

    pub fn events(&self) -> PathBuf {
        self.dir.join(EVENTS_FILE)
    }

    pub fn checkpoint(&self) -> PathBuf {
        self.dir.join(FILE)
    }

    /// The event log here, where it is none of these: another tool's.
    pub fn foreign_events(&self, own: impl Iterator<Item = PathBuf>) -> Option<PathBuf> {
        let shown = self.events();
        let beginning = |path: &Path| {
            let mut bytes = Vec::new();
            let read = crate::regular::open(path).map(|file| file.take(BEGINNING));
            let _ = read.and_then(|mut file| file.read_to_end(&mut bytes));
            bytes
        };
        let began = beginning(&shown);
        let mut own = own.filter(|log| log.exists());
        let is_ours = |log: PathBuf| is_same_file(&log, &shown) || beginning(&log) == began;
        (!began.is_empty() && !own.any(is_ours)).then_some(shown)
    }

    /// Creates what is missing of the folder. The first folder that is new
    /// keeps itself out of Git, as `.ralph` does.
    pub fn prepare(&self) -> Result<(), FileError> {
        let missing: Vec<&Path> = self
            .dir
            .ancestors()
            .take_while(|dir| !dir.as_os_str().is_empty() && !dir.is_dir())
            .collect();
        for dir in missing.iter().rev() {
            sys::create_dir(dir, point::CHECKPOINT_CREATE_DIR).at(dir, Action::Create)?;
        }
        match missing.last() {
            Some(top) => self.ignore(top),
            None => Ok(()),
        }
    }

    fn ignore(&self, dir: &Path) -> Result<(), FileError> {
        let path = dir.join(".gitignore");
        write_atomic(&path, b"*\n", AtomicOptions { durable: false })
    }

    /// Saves in an order in which a crash at any point leaves a whole
    /// checkpoint under its name, or a whole one in a backup (CKPT-06). The
    /// text that others would call the old checkpoint is copied to its backup
    /// *before* the new one takes its name.
    pub fn save(&self, checkpoint: &Checkpoint, care: Care) -> Result<(), FileError> {
        let written = checkpoint.write();
        match care {
            Care::Cheap => self.put(&self.file(), written.text.as_bytes())?,
            Care::Durable => self.replace(written.text.as_bytes())?,
        }
        let checksum = format!("{}\n", written.checksum);
        // The checksum that counts stands inside the checkpoint; this file is
        // for others, and may be behind for the length of a crash.
        self.put(&self.dir.join(CHECKSUM_FILE), checksum.as_bytes())?;
        if care == Care::Durable {
            sys::sync_dir(&self.dir, point::CHECKPOINT_SYNC_DIR).at(&self.dir, Action::Sync)?;
            self.remove_stale_temps()?;
        }
        Ok(())
    }

    fn replace(&self, bytes: &[u8]) -> Result<(), FileError> {
        let temp = self.temp();
        let replaced = self.replace_by(&temp, bytes);
        if replaced.is_err() {
            // The error that led here is the one worth telling.
            let _ = fs::remove_file(&temp);
        }
        replaced
    }

    fn replace_by(&self, temp: &Path, bytes: &[u8]) -> Result<(), FileError> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        let file = sys::open(&options, temp, point::CHECKPOINT_OPEN).at(temp, Action::Write)?;
        sys::write_all(&file, bytes, point::CHECKPOINT_WRITE).at(temp, Action::Write)?;
        sys::sync_data(&file, point::CHECKPOINT_SYNC).at(temp, Action::Sync)?;
        self.rotate(&self.file(), FILE)?;
        sys::rename(temp, &self.file(), point::CHECKPOINT_RENAME).at(&self.file(), Action::Rename)
    }

    fn temp(&self) -> PathBuf {
        self.dir
            .join(format!("{TEMP_PREFIX}{:016x}", random_number()))
    }

    fn backup(&self, name: &str, number: u32) -> PathBuf {
        self.dir.join(format!("{name}.backup.{number}"))
    }

    /// The oldest backup goes, every other becomes one older, and `current` is
    /// copied to the newest. The copy is durable before it has its name, so
    /// that there is never a torn backup.
    fn rotate(&self, current: &Path, name: &str) -> Result<(), FileError> {
        if self.backups == 0 || !current.is_file() {
            return Ok(());
        }
        let oldest = self.backup(name, self.backups);
        if oldest.exists() {
            sys::remove_file(&oldest, point::CHECKPOINT_REMOVE).at(&oldest, Action::Remove)?;
        }
        for number in (1..self.backups).rev() {
            let (from, to) = (self.backup(name, number), self.backup(name, number + 1));
            if from.exists() {
                sys::rename(&from, &to, point::CHECKPOINT_ROTATE).at(&to, Action::Rename)?;
            }
        }
        let bytes = crate::regular::read(current).at(current, Action::Read)?;
        let newest = self.backup(name, 1);
        write_atomic(&newest, &bytes, AtomicOptions { durable: true })
    }

    /// One project has one run, so that every temporary file that is there
    /// after a save was left by somebody who died.
    fn remove_stale_temps(&self) -> Result<(), FileError> {
        for entry in fs::read_dir(&self.dir).at(&self.dir, Action::Read)? {
            let entry = entry.at(&self.dir, Action::Read)?;
            let name = entry.file_name();
            if name.as_encoded_bytes().starts_with(TEMP_PREFIX.as_bytes()) {
                let path = entry.path();
                sys::remove_file(&path, point::CHECKPOINT_REMOVE).at(&path, Action::Remove)?;
            }
        }
        Ok(())
    }

    /// The newest checkpoint that can be proven, with what had to be passed
    /// over for it.
    pub fn load(&self) -> Result<Loaded, LoadError> {
        let backups = (1..=self.backups).map(Source::Backup);
        let mut refused = Vec::new();
        let mut found_any = false;
        for from in std::iter::once(Source::Current).chain(backups) {
            let path = self.path_of(from);
            match read(&path) {
                Ok((checkpoint, trust)) => {
                    return Ok(Loaded {
                        checkpoint,
                        from,
                        trust,
                        refused,
                    });
                }
                Err(why) => {
                    let missing = is_missing(&why);
                    found_any |= !missing;
                    // A backup that was never made is nothing to tell.
                    if !missing || from == Source::Current {
                        refused.push(Refused { from, path, why });
                    }
                }
            }
        }
        let dir = self.dir.clone();
        if found_any {
            Err(LoadError::AllRefused { dir, refused })
        } else {
            Err(LoadError::Nothing { dir })
        }
    }

    fn path_of(&self, from: Source) -> PathBuf {
        match from {
            Source::Current => self.file(),
            Source::Backup(number) => self.backup(FILE, number),
        }
    }

    /// Shows the event log of a run here too (EVNT-06): as a second name of
    /// the same file, so that there is one log, whole at every instant, that
    /// costs nothing to keep. Where the file system has no such names it is a
    /// copy of this moment.
    pub fn show_events(&self, log: &Path) -> Result<(), FileError> {
        let shown = self.events();
        // A run that has told nothing yet has no log to show.
        if is_same_file(log, &shown) || !log.exists() {
            return Ok(());
        }
        let temp = temp_name(self.scratch(), &shown);
        let linked = sys::hard_link(log, &temp, point::CHECKPOINT_LINK)
            .and_then(|()| sys::rename(&temp, &shown, point::CHECKPOINT_LINK));
        if linked.is_ok() {
            return Ok(());
        }
        let _ = fs::remove_file(&temp);
        let bytes = crate::regular::read(log).at(log, Action::Read)?;
        self.put(&shown, &bytes)
    }
}

/// Gives a file of another task a name of its own, with that of the task in
/// it: it is neither written over nor deleted (DELT-11, EVNT-06).
pub fn set_aside(path: &Path, task: &str) -> Result<PathBuf, FileError> {
    let free = names_aside(path, task).find(|path| !path.exists());
    let to = free.unwrap_or_else(|| path.to_owned());
    sys::rename(path, &to, point::DELTA_ASIDE).at(&to, Action::Rename)?;
    Ok(to)
}

/// The newest file of a task that stands aside comes back to its place.
pub fn take_back(path: &Path, task: &str) -> Result<Option<PathBuf>, FileError> {
    let there = names_aside(path, task).take_while(|path| path.exists());
    let Some(from) = there.last() else {
        return Ok(None);
    };
    sys::rename(&from, path, point::DELTA_ASIDE).at(path, Action::Rename)?;
    Ok(Some(from))
}

fn names_aside(path: &Path, task: &str) -> impl Iterator<Item = PathBuf> {
    let safe = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let task: String = task.chars().filter(safe).take(40).collect();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let (stem, rest) = name.split_once('.').unwrap_or((&name, ""));
    let (stem, rest) = (stem.to_owned(), rest.to_owned());
    (0..u32::MAX).map(move |n| {
        let number = if n == 0 {
            String::new()
        } else {
            format!("-{n}")
        };
        path.with_file_name(format!("{stem}.{task}{number}.{rest}"))
    })
}

fn read(path: &Path) -> Result<(Checkpoint, Trust), Unusable> {
    let bytes = crate::regular::read(path)
        .at(path, Action::Read)
        .map_err(Unusable::File)?;
    Checkpoint::read(&bytes).map_err(Unusable::Content)
}

fn is_missing(why: &Unusable) -> bool {
    matches!(why, Unusable::File(error) if error.kind == ErrorKind::NotFound)
}

fn is_same_file(a: &Path, b: &Path) -> bool {
    let identity = |path: &Path| -> io::Result<_> { Ok(sys::identity(&fs::metadata(path)?)) };
    match (identity(a), identity(b)) {
        // Where files can't be told apart, both are (0, 0).
        (Ok(a), Ok(b)) => a == b && a != (0, 0),
        _ => false,
    }
}

/// Different in every process and every call; not for secrets.
fn random_number() -> u64 {
    RandomState::new().build_hasher().finish()
}

//! Where runs that are over are kept (HIST-01 to HIST-07): one folder per
//! run, made whole beside its place and then put there, so that a crash at
//! any moment leaves either nothing, or everything.
//!
//! Whoever changes the history holds the lock of the project.

mod entry;
mod retain;
#[cfg(test)]
mod tests;

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::error::{Action, At, FileError};
use crate::fault::point;
use crate::{private, sys};
pub use entry::{Entry, Manifest, Named};
pub use retain::surplus;

/// What an archived run consists of; [`MANIFEST`] is added.
pub const MANIFEST: &str = "manifest.json";
pub const REPORT: &str = "report.md";
pub const JOURNAL: &str = "journal.jsonl";
pub const EVENTS: &str = "execution.log.jsonl";
/// The state file of a delta loop, as seed 004 names it in the history.
pub const STATE: &str = "ralph-delta.state.md";

/// A folder that is being made, and one that is being deleted. Both are
/// hidden, and removed by whoever comes next.
const UNFINISHED: &str = ".unfinished-";
const DELETED: &str = ".deleted-";

/// What the names of files of ours in the working directory begin with. All
/// others in there belong to somebody else (HIST-07).
const WORKING_FILES: [&str; 3] = ["checkpoint.json", "ralph-delta.", EVENTS];

/// The folder of all archived runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History {
    dir: PathBuf,
}

/// A run that is to be archived.
#[derive(Clone, Debug, Default)]
pub struct Bundle {
    /// What the manifest says; the list of files is added to it.
    pub manifest: Map<String, Value>,
    pub texts: Vec<(String, String)>,
    /// Name in the archive, and the file that is copied. A file that is not
    /// there is left out.
    pub copies: Vec<(String, PathBuf)>,
}

impl History {
    pub fn new(dir: impl Into<PathBuf>) -> History {
        History { dir: dir.into() }
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// A name that nobody has yet: `base`, `base-2`, `base-3` (HIST-02).
    pub fn free_name(&self, base: &str) -> String {
        let taken = |name: &str| fs::symlink_metadata(self.dir.join(name)).is_ok();
        let numbered = (2u64..).map(|n| format!("{base}-{n}"));
        std::iter::once(base.to_owned())
            .chain(numbered)
            .find(|name| !taken(name))
            .unwrap_or_default()
    }

    /// Puts a run into the history under a name that is free.
    pub fn put(&self, name: &str, bundle: &Bundle) -> Result<PathBuf, FileError> {
        self.prepare()?;
        sweep(&self.dir)?;
        let place = self.dir.join(name);
        let unfinished = self.dir.join(format!("{UNFINISHED}{name}"));
        let made = fill(&unfinished, bundle).and_then(|()| {
            sys::rename(&unfinished, &place, point::HISTORY_RENAME).at(&place, Action::Rename)
        });
        if made.is_err() {
            // The error that led here is the one worth telling.
            let _ = fs::remove_dir_all(&unfinished);
        }
        made?;
        sync_dir(&self.dir)?;
        Ok(place)
    }

    /// Creates the folder. One that is new keeps itself out of Git, as
    /// `.ralph` does.
    fn prepare(&self) -> Result<(), FileError> {
        if self.dir.is_dir() {
            return Ok(());
        }
        create_dirs(&self.dir).at(&self.dir, Action::Create)?;
        write_file(&self.dir.join(".gitignore"), b"*\n")?;
        sync_dir(&self.dir)
    }

    /// Everything in the history, the newest first; also what other tools put
    /// there.
    pub fn entries(&self) -> Result<Vec<Entry>, FileError> {
        entry::list(&self.dir)
    }

    /// The entry with this name, else the newest that is about this run or
    /// task.
    pub fn find(&self, id: &str) -> Result<Option<Entry>, FileError> {
        let entries = self.entries()?;
        let named = entries.iter().find(|entry| entry.name == id);
        let found = named.or_else(|| entries.iter().find(|entry| entry.is_about(id)));
        Ok(found.cloned())
    }

    /// Deletes an entry. It is out of sight first, so that none is ever seen
    /// half deleted.
    pub fn delete(&self, entry: &Entry) -> Result<(), FileError> {
        delete_folder(&self.dir, &entry.name)
    }
}

/// Brings an archived run back as a folder of `runs`, for a run whose own
/// folder is gone (RESM-05). Without a journal there is nothing to bring back.
pub fn restore(entry: &Entry, runs: &Path, run: &str) -> Result<PathBuf, FileError> {
    sweep(runs)?;
    let unfinished = runs.join(format!("{UNFINISHED}{run}"));
    let place = runs.join(run);
    create_dir(&unfinished)?;
    copy(&entry.path.join(JOURNAL), &unfinished.join(JOURNAL))?;
    let events = entry.path.join(EVENTS);
    if events.is_file() {
        copy(&events, &unfinished.join(EVENTS))?;
    }
    sync_dir(&unfinished)?;
    sys::rename(&unfinished, &place, point::HISTORY_RENAME).at(&place, Action::Rename)?;
    sync_dir(runs)?;
    Ok(place)
}

/// The files of ours in the working directory of other tools, by name
/// (`.skillpack/current`); none where there is no such directory.
pub fn working_files(current: &Path) -> Result<Vec<(String, PathBuf)>, FileError> {
    let entries = match fs::read_dir(current) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.at(current, Action::Read)?,
    };
    let mut files = Vec::new();
    for entry in entries {
        let entry = entry.at(current, Action::Read)?;
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        if is_file && WORKING_FILES.iter().any(|own| name.starts_with(own)) {
            files.push((name, entry.path()));
        }
    }
    // The checkpoint says whose the others are, so that it goes last.
    files.sort_by_key(|(name, _)| (name == WORKING_FILES[0], name.clone()));
    Ok(files)
}

/// Removes working files that were archived, and nothing else (HIST-07).
pub fn clear(files: &[(String, PathBuf)]) -> Result<(), FileError> {
    for (_, path) in files {
        match sys::remove_file(path, point::HISTORY_REMOVE) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            removed => removed.at(path, Action::Remove)?,
        }
    }
    Ok(())
}

/// Deletes the folder `dir/name` with everything in it.
pub fn delete_folder(dir: &Path, name: &str) -> Result<(), FileError> {
    let (folder, hidden) = (dir.join(name), dir.join(format!("{DELETED}{name}")));
    sweep(dir)?;
    match sys::rename(&folder, &hidden, point::HISTORY_RENAME) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        renamed => renamed.at(&folder, Action::Remove)?,
    }
    remove_dir(&hidden)
}

/// Removes what a crash left half made or half deleted.
fn sweep(dir: &Path) -> Result<(), FileError> {
    for entry in fs::read_dir(dir).at(dir, Action::Read)? {
        let entry = entry.at(dir, Action::Read)?;
        let name = entry.file_name();
        let name = name.as_encoded_bytes();
        let is_ours = [UNFINISHED, DELETED]
            .iter()
            .any(|prefix| name.starts_with(prefix.as_bytes()));
        if is_ours && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove_dir(&entry.path())?;
        }
    }
    Ok(())
}

fn fill(dir: &Path, bundle: &Bundle) -> Result<(), FileError> {
    create_dir(dir)?;
    for (name, text) in &bundle.texts {
        write_file(&dir.join(name), text.as_bytes())?;
    }
    for (name, source) in &bundle.copies {
        let target = dir.join(name);
        match fs::metadata(source) {
            Ok(found) if found.is_file() => copy(source, &target)?,
            _ => {}
        }
    }
    let mut manifest = bundle.manifest.clone();
    manifest.insert("files".into(), files_of(dir)?);
    let mut text = serde_json::to_vec_pretty(&Value::Object(manifest)).unwrap_or_default();
    text.push(b'\n');
    // The manifest comes last: a folder with one is whole.
    write_file(&dir.join(MANIFEST), &text)?;
    sync_dir(dir)
}

fn files_of(dir: &Path) -> Result<Value, FileError> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).at(dir, Action::Read)? {
        let entry = entry.at(dir, Action::Read)?;
        let size = entry.metadata().at(&entry.path(), Action::Read)?.len();
        files.push((entry.file_name().to_string_lossy().into_owned(), size));
    }
    files.sort();
    let file = |(name, size): (String, u64)| json!({"name": name, "size": size});
    Ok(files.into_iter().map(file).collect())
}

/// Copies instead of moving, since the source may stand on another file
/// system, and must outlive a crash (HIST-06).
fn copy(source: &Path, target: &Path) -> Result<(), FileError> {
    let from = File::open(source).at(source, Action::Open)?;
    let to = create_file(target)?;
    sys::copy(&from, &to, point::HISTORY_COPY).at(target, Action::Write)?;
    sys::sync_data(&to, point::HISTORY_SYNC).at(target, Action::Sync)
}

fn write_file(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let file = create_file(path)?;
    sys::write_all(&file, bytes, point::HISTORY_WRITE).at(path, Action::Write)?;
    sys::sync_data(&file, point::HISTORY_SYNC).at(path, Action::Sync)
}

fn create_file(path: &Path) -> Result<File, FileError> {
    let mut options = private::options();
    options.write(true).create(true).truncate(true);
    sys::open(&options, path, point::HISTORY_OPEN).at(path, Action::Create)
}

fn create_dir(dir: &Path) -> Result<(), FileError> {
    sys::create_dir(dir, point::HISTORY_CREATE_DIR).at(dir, Action::Create)
}

/// Creates a directory and those above it.
fn create_dirs(dir: &Path) -> io::Result<()> {
    let parent = sys::parent(dir);
    if !parent.is_dir() {
        create_dirs(parent)?;
    }
    sys::create_dir(dir, point::HISTORY_CREATE_DIR)?;
    sys::sync_dir(parent, point::HISTORY_SYNC_DIR)
}

fn remove_dir(dir: &Path) -> Result<(), FileError> {
    sys::remove_dir_all(dir, point::HISTORY_REMOVE).at(dir, Action::Remove)
}

fn sync_dir(dir: &Path) -> Result<(), FileError> {
    sys::sync_dir(dir, point::HISTORY_SYNC_DIR).at(dir, Action::Sync)
}

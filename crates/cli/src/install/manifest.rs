//! What `ralph init` added to a project, so that exactly that can be taken
//! away: `.ralph/install.json`, and in `.ralph/install/` each changed file as
//! it was before.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use ralph_core::checkpoint::sha256;
use ralph_core::lang::Say;
use ralph_store::FileError;
use ralph_store::atomic::{AtomicOptions, write_atomic};
use ralph_store::error::Action;
use serde::{Deserialize, Serialize};

use super::change;
use super::merge::Edit;

const FILE: &str = ".ralph/install.json";
const BACKUPS: &str = ".ralph/install";

#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Manifest {
    pub version: u32,
    #[serde(default)]
    pub files: Vec<Installed>,
    /// Directories that were not there, the outermost first.
    #[serde(default)]
    pub directories: Vec<String>,
}

/// A file that was changed.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Installed {
    pub path: String,
    #[serde(flatten)]
    pub how: How,
    /// Its digest before; nothing where it was not there.
    pub before: Option<String>,
    pub after: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
#[serde(tag = "how", rename_all = "snake_case")]
pub enum How {
    /// Entries in settings that belong to a person.
    Merged { host: String, edits: Vec<Edit> },
    /// Lines at the end.
    Lines { lines: Vec<String> },
    /// The whole file is ours.
    Whole,
}

/// Why the manifest says nothing.
#[derive(Debug, Say)]
pub enum Unusable {
    #[say(_0.say(lang))]
    File(FileError),
    #[say("{path} is damaged ({message}); move it away, and Ralph's entries are found by their command lines", path = path.display())]
    Broken { path: PathBuf, message: String },
}

impl From<FileError> for Unusable {
    fn from(error: FileError) -> Unusable {
        Unusable::File(error)
    }
}

impl Manifest {
    pub fn load(root: &Path) -> Result<Option<Manifest>, Unusable> {
        let path = root.join(FILE);
        let Some(text) = change::read(&path)? else {
            return Ok(None);
        };
        match serde_json::from_str(&text) {
            Ok(manifest) => Ok(Some(manifest)),
            Err(error) => Err(Unusable::Broken {
                path,
                message: error.to_string(),
            }),
        }
    }

    pub fn save(&self, root: &Path) -> Result<(), FileError> {
        let text = serde_json::to_string_pretty(self).unwrap_or_default();
        write(&root.join(FILE), format!("{text}\n").as_bytes())
    }

    pub fn of(&self, path: &str) -> Option<&Installed> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Takes in what became of a file; what was known of it is forgotten.
    pub fn put(&mut self, file: Installed) {
        self.forget(&file.path);
        self.files.push(file);
    }

    pub fn forget(&mut self, path: &str) {
        self.files.retain(|file| file.path != path);
    }

    pub fn back_up(root: &Path, path: &str, text: &str) -> Result<(), FileError> {
        write(&backup(root, path), text.as_bytes())
    }

    /// The file as it was, if the copy is the right one.
    pub fn backed_up(root: &Path, file: &Installed) -> Option<String> {
        let text = ralph_store::regular::read_to_string(backup(root, &file.path)).ok()?;
        (file.before.as_deref() == Some(&sha256(text.as_bytes()))).then_some(text)
    }

    /// Forgets everything.
    pub fn remove(root: &Path) -> Result<(), FileError> {
        for path in [root.join(FILE), root.join(BACKUPS)] {
            let removed = match path.is_dir() {
                true => fs::remove_dir_all(&path),
                false => fs::remove_file(&path),
            };
            match removed {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(FileError::new(&path, Action::Remove, &error));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

fn backup(root: &Path, path: &str) -> PathBuf {
    root.join(BACKUPS).join(path)
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    if let Some(dir) = path.parent() {
        fs::create_dir_all(dir).map_err(|error| FileError::new(dir, Action::Create, &error))?;
    }
    write_atomic(path, bytes, AtomicOptions { durable: true })
}

//! The key that gate files are signed with. It stands in the person's state
//! directory, outside every project: who only writes into the project can't
//! forge a gate file. An agent that runs as the same person and reads the key
//! can; the guard keeps it away from there.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use ralph_core::gate::Key;
use ralph_store::layout::Layout;
use ralph_store::{Action, FileError, random};

/// Where the key is kept; `None` where there is no such place outside the
/// project.
pub fn key_file(layout: &Layout) -> Option<PathBuf> {
    let file = layout.home().dir().join("gate.key");
    (!layout.is_state_inside()).then_some(file)
}

/// The key, if there is one.
pub(super) fn find(layout: &Layout) -> Option<Key> {
    read(&key_file(layout)?)
}

/// The key, made if there is none yet.
pub(super) fn find_or_make(file: &Path) -> Result<Key, FileError> {
    if let Some(key) = read(file) {
        return Ok(key);
    }
    if let Some(dir) = file.parent() {
        fs::create_dir_all(dir).map_err(|error| FileError::new(dir, Action::Create, &error))?;
    }
    let key = random::bytes().map(Key);
    let key = key.map_err(|error| FileError::new(file, Action::Create, &error))?;
    let digits: String = key.0.iter().map(|byte| format!("{byte:02x}")).collect();
    match write(file, &digits) {
        Ok(()) => Ok(key),
        // Somebody else was first, or what is there is no key.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            read(file).ok_or_else(|| FileError::new(file, Action::Read, &error))
        }
        Err(error) => Err(FileError::new(file, Action::Create, &error)),
    }
}

fn write(file: &Path, digits: &str) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file)?.write_all(digits.as_bytes())
}

fn read(file: &Path) -> Option<Key> {
    let text = ralph_store::regular::read_to_string(file).ok()?;
    let digits = text.trim().as_bytes();
    let mut key = [0; 32];
    if digits.len() != key.len() * 2 {
        return None;
    }
    for (byte, pair) in key.iter_mut().zip(digits.chunks_exact(2)) {
        let pair = std::str::from_utf8(pair).ok()?;
        *byte = u8::from_str_radix(pair, 16).ok()?;
    }
    Some(Key(key))
}

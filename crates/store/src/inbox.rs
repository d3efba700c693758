//! Letters to a run: small files that other processes leave in a folder, each
//! whole from the moment its name is there. They are no state: whoever wrote
//! one looks into the journal to see that it was heard.

use std::fs;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::atomic::{AtomicOptions, write_atomic};
use crate::error::{Action, At, FileError};
use crate::lines::open_regular;

/// A longer letter is nobody's; more at once are left for the next time.
const LONGEST_LETTER: u64 = 64 * 1024;
const MOST_LETTERS: usize = 100;

/// Leaves a letter; `name` makes it different from all others and says their
/// order.
pub fn put(dir: &Path, name: &str, letter: &Value) -> Result<(), FileError> {
    match fs::create_dir(dir) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            return Err(FileError::new(dir, Action::Create, &error));
        }
        _ => {}
    }
    let path = dir.join(format!("{name}.json"));
    let text = letter.to_string();
    write_atomic(&path, text.as_bytes(), AtomicOptions { durable: false })
}

/// Whether anything that looks like a letter is there.
pub fn has_letters(dir: &Path) -> bool {
    !names(dir).is_empty()
}

/// Takes every letter out of the folder, the oldest first. What is none (too
/// long, no JSON, no file) is taken away unread.
pub fn take(dir: &Path) -> Vec<Value> {
    let mut letters = Vec::new();
    for path in names(dir).into_iter().take(MOST_LETTERS) {
        letters.extend(read(&path));
        let _ = fs::remove_file(&path);
    }
    letters
}

fn names(dir: &Path) -> Vec<PathBuf> {
    let is_folder = fs::symlink_metadata(dir).is_ok_and(|found| found.is_dir());
    let entries = is_folder.then(|| fs::read_dir(dir).ok()).flatten();
    let paths = entries.into_iter().flatten().flatten().map(|e| e.path());
    let mut names: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|end| end == "json") && !path.is_dir())
        .collect();
    names.sort();
    names
}

fn read(path: &Path) -> Option<Value> {
    let is_file = fs::symlink_metadata(path).is_ok_and(|found| found.is_file());
    let file = is_file.then(|| open_regular(path).at(path, Action::Open).ok());
    let mut text = Vec::new();
    let read = file
        .flatten()?
        .take(LONGEST_LETTER + 1)
        .read_to_end(&mut text);
    let fits = read.is_ok_and(|length| length as u64 <= LONGEST_LETTER);
    fits.then(|| serde_json::from_slice(&text).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn letters_are_taken_once_in_their_order_and_the_rest_is_cleared_away() {
        let dir = tempfile::tempdir().unwrap();
        let inbox = dir.path().join("inbox");
        assert!(!has_letters(&inbox));
        assert!(take(&inbox).is_empty());
        put(&inbox, "2", &json!({"n": 2})).unwrap();
        put(&inbox, "1", &json!({"n": 1})).unwrap();
        fs::write(inbox.join("0.json"), "garbage").unwrap();
        fs::write(inbox.join("long.json"), " ".repeat(70_000)).unwrap();
        fs::write(inbox.join("note.txt"), "no letter").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink("/dev/zero", inbox.join("3.json")).unwrap();
        assert!(has_letters(&inbox));
        assert_eq!(take(&inbox), [json!({"n": 1}), json!({"n": 2})]);
        assert!(!has_letters(&inbox));
        assert!(take(&inbox).is_empty());
        assert!(inbox.join("note.txt").exists());
    }

    #[test]
    fn a_file_in_the_place_of_the_folder_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let inbox = dir.path().join("inbox");
        fs::write(&inbox, "").unwrap();
        assert!(put(&inbox, "1", &json!({})).is_err());
        assert!(take(&inbox).is_empty());
    }
}

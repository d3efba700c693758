//! The translations of a crate: files in the format of gettext (PO), of which
//! `msgid`, `msgstr` and comments are used, so that any translation tool opens
//! them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The files of one language, in a fixed order.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<_> = entries.map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "po"));
    files.sort();
    files
}

/// English → translation, over all files of one language.
pub fn read_folder(folder: &Path) -> Result<HashMap<String, String>, String> {
    let mut all = HashMap::new();
    for file in files(folder) {
        let shown = file.display();
        let text = std::fs::read_to_string(&file).map_err(|e| format!("{shown}: {e}"))?;
        for (id, translation) in read(&text).map_err(|line| {
            format!(
                "{shown}:{line}: not understood: lines are msgid \"…\", msgstr \"…\", \"…\" or # …"
            )
        })? {
            if let Some(id) = all.insert(id.clone(), translation).map(|_| id) {
                return Err(format!("{shown}: two entries for {id:?}"));
            }
        }
    }
    Ok(all)
}

/// The entries of a file in their order, or the line that is not understood.
pub fn read(text: &str) -> Result<Vec<(String, String)>, usize> {
    let mut entries: Vec<(String, String)> = Vec::new();
    let mut in_translation = false;
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let quoted = if let Some(quoted) = line.strip_prefix("msgid ") {
            entries.push(Default::default());
            in_translation = false;
            quoted
        } else if let Some(quoted) = line.strip_prefix("msgstr ") {
            in_translation = true;
            quoted
        } else {
            line
        };
        let value = super::literal::value(quoted).ok_or(number + 1)?;
        let entry = entries.last_mut().ok_or(number + 1)?;
        match in_translation {
            true => entry.1.push_str(&value),
            false => entry.0.push_str(&value),
        }
    }
    // The header of a PO file translates the empty text.
    entries.retain(|(id, _)| !id.is_empty());
    Ok(entries)
}

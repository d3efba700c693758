//! What a turn changed, as Git tells it. Nothing is written.

use std::path::Path;

use ralph_core::text;

use crate::git;

/// Longer differences are cut.
const MOST_BYTES: usize = 512 * 1024;
/// More new files than this are only counted.
const MOST_FILES: usize = 500;

/// The difference between a tree and the files as they stand.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Diff {
    /// A unified diff, without secrets and control characters.
    pub text: String,
    /// Files that Git does not know yet.
    pub untracked: Vec<String>,
    /// It was longer.
    pub cut: bool,
}

/// Everything that differs from a tree, committed since or not; from `HEAD`
/// where no tree is known. `None` where Git can't tell.
pub fn diff_since(root: &Path, tree: Option<&str>) -> Option<Diff> {
    let raw = git::diff(root, tree, MOST_BYTES + 1)?;
    let cut = raw.len() > MOST_BYTES;
    let raw = raw.get(..raw.len().min(MOST_BYTES)).unwrap_or_default();
    let said = String::from_utf8_lossy(raw);
    let text = text::redact(&text::sanitize(&said)).into_owned();
    let untracked = git::untracked(root, MOST_FILES).unwrap_or_default();
    Some(Diff {
        text,
        untracked: untracked
            .iter()
            .map(|name| text::one_line(&text::sanitize(name)))
            .collect(),
        cut,
    })
}

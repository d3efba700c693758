//! What a turn changed, as Git tells it. Nothing is written.

use std::path::Path;

use ralph_core::text;

use ralph_store::layout::Layout;

use crate::git;
use crate::snapshots;

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

/// The difference that a turn made, before Git was asked.
#[derive(Clone, Debug)]
pub struct TurnDiff {
    pub(super) layout: Layout,
    /// The snapshots before and after it.
    pub(super) trees: Option<(String, String)>,
    /// The commit's tree before it, where the files still stand as it left
    /// them.
    pub(super) base: Option<Option<String>>,
}

impl TurnDiff {
    /// `None` where Git can't tell, or nothing was kept.
    pub fn make(&self) -> Option<Diff> {
        let kept = self.trees.as_ref().and_then(|(from, to)| {
            let store = snapshots::dir(&self.layout);
            let places = (store.as_path(), self.layout.root());
            let shown = git::Shown {
                plain: true,
                ..git::Shown::default()
            };
            git::diff_in_store(places, [from, to], &[], shown, MOST_BYTES + 1)
        });
        match kept {
            Some(raw) => Some(Diff::of(&raw, &[])),
            None => diff_since(self.layout.root(), self.base.as_ref()?.as_deref()),
        }
    }
}

/// Everything that differs from a tree, committed since or not; from `HEAD`
/// where no tree is known. `None` where Git can't tell.
pub fn diff_since(root: &Path, tree: Option<&str>) -> Option<Diff> {
    let raw = git::diff(root, tree, MOST_BYTES + 1)?;
    let untracked = git::untracked(root, MOST_FILES).unwrap_or_default();
    Some(Diff::of(&raw, &untracked))
}

impl Diff {
    fn of(raw: &[u8], untracked: &[String]) -> Diff {
        let cut = raw.len() > MOST_BYTES;
        let raw = raw.get(..raw.len().min(MOST_BYTES)).unwrap_or_default();
        let said = String::from_utf8_lossy(raw);
        let name = |name: &String| text::one_line(&text::sanitize(name));
        Diff {
            text: text::redact(&text::sanitize(&said)).into_owned(),
            untracked: untracked.iter().map(name).collect(),
            cut,
        }
    }
}

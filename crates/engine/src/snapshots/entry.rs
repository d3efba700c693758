//! What stands in a snapshot.

use std::fmt;
use std::path::PathBuf;

use ralph_core::lang::Say;
use ralph_store::objects::{self, ObjectId};

use super::SnapshotError;

/// The name of a snapshot: that of its tree.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TreeId(ObjectId);

impl TreeId {
    pub(super) fn new(id: ObjectId) -> TreeId {
        TreeId(id)
    }

    pub fn parse(text: &str) -> Result<TreeId, SnapshotError> {
        let text = text.to_owned();
        let id = ObjectId::parse(&text).map(TreeId);
        id.ok_or(SnapshotError::NoTree { text })
    }

    pub fn id(&self) -> ObjectId {
        self.0
    }
}

impl fmt::Display for TreeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    pub id: ObjectId,
    pub mode: Mode,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    File,
    Executable,
    /// Its content is where it leads.
    Link,
    /// It was there, and its content was not kept.
    LeftOut(Why),
}

/// Why something that was there is not in a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Say)]
pub enum Why {
    #[say("larger than snapshots.max_file")]
    TooLarge,
    #[say("its name is that of a secret, and Git does not know it")]
    Secret,
    #[say("a repository of its own")]
    Repository,
    #[say("a pipe, a socket or a device")]
    Special,
    #[say("it can't be read")]
    Unreadable,
}

impl Why {
    const ALL: [Why; 5] = [
        Why::TooLarge,
        Why::Secret,
        Why::Repository,
        Why::Special,
        Why::Unreadable,
    ];

    fn code(self) -> u8 {
        match self {
            Why::TooLarge => 1,
            Why::Secret => 2,
            Why::Repository => 3,
            Why::Special => 4,
            Why::Unreadable => 5,
        }
    }
}

impl Entry {
    /// Where the content is known, a change of it is a change of the entry.
    pub(super) fn left_out(why: Why, content: Option<ObjectId>) -> Entry {
        let mut id = content
            .filter(|_| why == Why::TooLarge)
            .map_or([0; 32], |id| id.0);
        id[0] = why.code();
        Entry {
            id: ObjectId(id),
            mode: Mode::LeftOut(why),
        }
    }

    pub(super) fn git_mode(&self) -> objects::Mode {
        match self.mode {
            Mode::File => objects::Mode::File,
            Mode::Executable => objects::Mode::Executable,
            Mode::Link => objects::Mode::Link,
            Mode::LeftOut(_) => objects::Mode::Elsewhere,
        }
    }

    /// `None` for a folder.
    pub(super) fn from_git(mode: objects::Mode, id: ObjectId) -> Option<Entry> {
        let mode = match mode {
            objects::Mode::File => Mode::File,
            objects::Mode::Executable => Mode::Executable,
            objects::Mode::Link => Mode::Link,
            objects::Mode::Folder => return None,
            objects::Mode::Elsewhere => {
                let known = Why::ALL.into_iter().find(|why| why.code() == id.0[0]);
                Mode::LeftOut(known.unwrap_or(Why::Repository))
            }
        };
        Some(Entry { id, mode })
    }

    pub fn is_kept(&self) -> bool {
        !matches!(self.mode, Mode::LeftOut(_))
    }
}

/// A name in a tree as part of a path; `None` where this system has no such
/// names.
#[cfg(unix)]
#[expect(
    clippy::unnecessary_wraps,
    reason = "other systems have names that are none"
)]
pub(super) fn name_to_path(name: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    Some(PathBuf::from(std::ffi::OsStr::from_bytes(name)))
}

#[cfg(not(unix))]
pub(super) fn name_to_path(name: &[u8]) -> Option<PathBuf> {
    let name = std::str::from_utf8(name).ok()?;
    let plain = !name.contains(['\\', ':']);
    plain.then(|| PathBuf::from(name))
}

/// The same for a whole path as Git writes it.
pub(crate) fn git_name_to_path(name: &[u8]) -> Option<PathBuf> {
    name.split(|&byte| byte == b'/').map(name_to_path).collect()
}

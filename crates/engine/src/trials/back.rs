//! What makes one tree of a project another, in a room.

use std::path::PathBuf;

use crate::room::Content;
use crate::snapshots::{Mode, SnapshotError, Snapshots, TreeId, Why};

/// The files that differ, and what can't be brought back since it was not
/// kept.
#[derive(Debug, Default)]
pub(crate) struct Back {
    pub files: Vec<(PathBuf, Content)>,
    pub left_out: Vec<(PathBuf, Why)>,
}

pub(crate) fn back(
    snapshots: &Snapshots,
    from: &TreeId,
    to: &TreeId,
) -> Result<Back, SnapshotError> {
    let mut back = Back::default();
    for changed in snapshots.changes(from, to)? {
        let (path, ends) = (changed.path, [changed.before, changed.after]);
        let why = ends.iter().flatten().find_map(|entry| match entry.mode {
            Mode::LeftOut(why) => Some(why),
            _ => None,
        });
        if let Some(why) = why {
            back.left_out.push((path, why));
            continue;
        }
        let content = match changed.after {
            None => Content::Gone,
            Some(entry) => content(entry.mode, snapshots.read(&entry)?),
        };
        back.files.push((path, content));
    }
    Ok(back)
}

/// What stands in a snapshot, as it is put into a room.
pub(super) fn content(mode: Mode, bytes: Vec<u8>) -> Content {
    match mode {
        Mode::Link => Content::Link(target(bytes)),
        _ => Content::File {
            bytes,
            executable: mode == Mode::Executable,
        },
    }
}

#[cfg(unix)]
fn target(bytes: Vec<u8>) -> PathBuf {
    let name: std::ffi::OsString = std::os::unix::ffi::OsStringExt::from_vec(bytes);
    name.into()
}

#[cfg(not(unix))]
fn target(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(&bytes).into_owned())
}

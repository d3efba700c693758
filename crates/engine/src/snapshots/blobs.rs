//! Brings the contents of files into the store, several at once where there
//! are many.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::thread;

use ralph_store::objects::{ObjectKind, Packed};

use super::entry::{Entry, Mode, Why};
use super::{SnapshotError, Snapshots, room};

/// So many are read before anything is written.
const AT_ONCE: usize = 512;
/// Fewer are not worth a thread.
const FEW: usize = 16;
const MOST_THREADS: usize = 4;
/// A pack is written at this size.
const PACK: usize = 64 * 1024 * 1024;

/// A file or a link as it stands on the disk.
#[derive(Debug)]
pub(super) enum Content {
    Kept(Packed, Mode),
    LeftOut(Why),
    /// It vanished, or is a folder by now.
    Gone,
}

impl Snapshots {
    /// Reads files and keeps what they hold. Says what each of them is.
    pub(super) fn keep(
        &mut self,
        paths: &[PathBuf],
    ) -> Result<Vec<(PathBuf, Option<Entry>)>, SnapshotError> {
        let mut kept = Vec::with_capacity(paths.len());
        for some in paths.chunks(AT_ONCE) {
            let contents = read_some(&self.root, some, self.caps.file);
            for (path, content) in some.iter().zip(contents) {
                let entry = match content {
                    Content::Gone => None,
                    Content::LeftOut(why) => Some(Entry::left_out(why, None)),
                    Content::Kept(packed, mode) => {
                        let id = packed.id;
                        if !self.objects.contains(&id) {
                            self.batch.add(&packed);
                        }
                        Some(Entry { id, mode })
                    }
                };
                kept.push((path.clone(), entry));
            }
            if self.batch.bytes() >= PACK {
                room(&self.objects, &self.caps)?;
                self.objects.write(&mut self.batch)?;
            }
        }
        Ok(kept)
    }
}

fn read_some(root: &Path, paths: &[PathBuf], largest: u64) -> Vec<Content> {
    let read = |path: &PathBuf| content(&root.join(path), largest);
    let threads = match paths.len() < FEW {
        true => 1,
        false => thread::available_parallelism().map_or(1, |n| n.get().min(MOST_THREADS)),
    };
    if threads == 1 {
        return paths.iter().map(read).collect();
    }
    thread::scope(|scope| {
        let share = paths.len().div_ceil(threads);
        let parts: Vec<_> = paths
            .chunks(share)
            .map(|part| {
                let work = move || part.iter().map(read).collect::<Vec<_>>();
                (part.len(), scope.spawn(work))
            })
            .collect();
        parts
            .into_iter()
            .flat_map(|(len, part)| {
                let unread = || {
                    (0..len)
                        .map(|_| Content::LeftOut(Why::Unreadable))
                        .collect()
                };
                part.join().unwrap_or_else(|_| unread())
            })
            .collect::<Vec<Content>>()
    })
}

pub(super) fn content(path: &Path, largest: u64) -> Content {
    match read_content(path, largest) {
        Ok(content) => content,
        Err(error) => match error.kind() {
            std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => Content::Gone,
            _ => Content::LeftOut(Why::Unreadable),
        },
    }
}

fn read_content(path: &Path, largest: u64) -> std::io::Result<Content> {
    let found = fs::symlink_metadata(path)?;
    if found.is_symlink() {
        let target = fs::read_link(path)?.into_os_string();
        let packed = Packed::new(ObjectKind::Blob, target.as_encoded_bytes())?;
        return Ok(Content::Kept(packed, Mode::Link));
    }
    if found.is_dir() {
        return Ok(Content::Gone);
    }
    if !found.is_file() {
        return Ok(Content::LeftOut(Why::Special));
    }
    let mut bytes = Vec::new();
    ralph_store::regular::open(path)?
        .take(largest.saturating_add(1))
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > largest {
        return Ok(Content::LeftOut(Why::TooLarge));
    }
    let packed = Packed::new(ObjectKind::Blob, &bytes)?;
    Ok(Content::Kept(packed, mode_of(&found)))
}

#[cfg(unix)]
fn mode_of(found: &fs::Metadata) -> Mode {
    use std::os::unix::fs::PermissionsExt;
    // As Git does, by the owner's bit.
    match found.permissions().mode() & 0o100 {
        0 => Mode::File,
        _ => Mode::Executable,
    }
}

#[cfg(not(unix))]
fn mode_of(_found: &fs::Metadata) -> Mode {
    Mode::File
}

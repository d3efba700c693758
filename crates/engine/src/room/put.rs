//! Puts files into a room: into an upper layer, or into a copy.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::Content;

/// A file takes as long as so many bytes, however small it is.
const SMALL: u64 = 8 * 1024;

/// `None` where it is more than `most`.
pub fn size_of(dir: &Path, without: &Path, most: u64) -> Option<u64> {
    let mut sum: u64 = 0;
    let mut dirs = vec![dir.to_owned()];
    while let Some(dir) = dirs.pop() {
        if dir == without {
            continue;
        }
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => dirs.push(entry.path()),
                Ok(kind) if kind.is_file() => {
                    sum += entry.metadata().map_or(0, |found| found.len().max(SMALL));
                }
                _ => {}
            }
        }
        if sum > most {
            return None;
        }
    }
    Some(sum)
}

/// Copies a folder without the one that the copy lies in. Times stay: build
/// tools go by them.
pub fn copy_all(from: &Path, to: &Path, without: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (there, kind) = (to.join(entry.file_name()), entry.file_type()?);
        if kind.is_dir() && entry.path() != without {
            copy_all(&entry.path(), &there, without)?;
        } else if kind.is_symlink() {
            link(&fs::read_link(entry.path())?, &there)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), &there)?;
            same_time(&entry.path(), &there)?;
        }
    }
    same_mode(from, to)
}

#[cfg(unix)]
fn same_time(from: &Path, to: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, utimensat};
    use std::os::unix::fs::MetadataExt;
    let found = fs::symlink_metadata(from)?;
    let modified = Timespec {
        tv_sec: found.mtime(),
        tv_nsec: found.mtime_nsec(),
    };
    let times = Timestamps {
        last_access: modified,
        last_modification: modified,
    };
    Ok(utimensat(CWD, to, &times, AtFlags::SYMLINK_NOFOLLOW)?)
}

#[cfg(not(unix))]
fn same_time(from: &Path, to: &Path) -> io::Result<()> {
    let modified = fs::metadata(from)?.modified()?;
    let file = fs::File::options().write(true).open(to)?;
    file.set_modified(modified)
}

/// A folder is for whom the other is, and always for its owner.
#[cfg(unix)]
fn same_mode(from: &Path, to: &Path) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
    let (like, is) = (fs::symlink_metadata(from)?, fs::symlink_metadata(to)?);
    if (like.uid(), like.gid()) != (is.uid(), is.gid()) {
        // Only root can, and nobody else needs it.
        let _ = chown(to, Some(like.uid()), Some(like.gid()));
    }
    let mode = like.mode() & 0o7777 | 0o700;
    fs::set_permissions(to, fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn same_mode(_from: &Path, _to: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn link(to: &Path, at: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(to, at)
}

#[cfg(not(unix))]
fn link(_to: &Path, _at: &Path) -> io::Result<()> {
    Ok(())
}

/// What goes first: a folder may take the place of a file.
fn in_order(files: &[(PathBuf, Content)]) -> io::Result<Vec<&(PathBuf, Content)>> {
    // A path that leads out of the tree is nobody's.
    let is_within = |path: &Path| {
        let mut parts = path.components();
        path.file_name().is_some() && parts.all(|part| matches!(part, Component::Normal(_)))
    };
    if !files.iter().all(|(path, _)| is_within(path)) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let goes = |file: &&(PathBuf, Content)| file.1 == Content::Gone;
    let (mut order, rest): (Vec<_>, Vec<_>) = files.iter().partition(goes);
    order.extend(rest);
    Ok(order)
}

/// The folders in which something goes, the deepest first.
fn emptied(files: &[(PathBuf, Content)]) -> Vec<&Path> {
    let gone = files.iter().filter(|file| file.1 == Content::Gone);
    let above = gone.flat_map(|(path, _)| path.ancestors().skip(1));
    let named: BTreeSet<&Path> = above.filter(|dir| dir.file_name().is_some()).collect();
    let mut dirs: Vec<&Path> = named.into_iter().collect();
    dirs.sort_by_key(|dir| std::cmp::Reverse(dir.components().count()));
    dirs
}

/// Into a new upper layer, which holds nothing but what we put there.
pub fn over(lower: &Path, upper: &Path, files: &[(PathBuf, Content)]) -> io::Result<()> {
    fs::create_dir(upper)?;
    same_mode(lower, upper)?;
    for (path, content) in in_order(files)? {
        put_over(lower, upper, path, content)?;
    }
    for dir in emptied(files) {
        if is_empty_below(&lower.join(dir), &upper.join(dir))? {
            fs::remove_dir_all(upper.join(dir))?;
            whiteout(&upper.join(dir))?;
        }
    }
    Ok(())
}

fn put_over(lower: &Path, upper: &Path, path: &Path, content: &Content) -> io::Result<()> {
    let mut dir = PathBuf::new();
    for part in path.parent().into_iter().flat_map(Path::components) {
        dir.push(part);
        let (below, at) = (lower.join(&dir), upper.join(&dir));
        let is_dir_below = fs::symlink_metadata(&below).is_ok_and(|found| found.is_dir());
        match fs::symlink_metadata(&at) {
            Ok(found) if found.is_dir() => continue,
            // What is below would show through.
            Ok(_) if is_dir_below => return Err(another_kind(&dir)),
            Ok(_) => fs::remove_file(&at)?,
            Err(_) => {}
        }
        fs::create_dir(&at)?;
        if is_dir_below {
            same_mode(&below, &at)?;
        }
    }
    let at = upper.join(path);
    if fs::symlink_metadata(&at).is_ok_and(|found| found.is_dir()) {
        fs::remove_dir_all(&at)?;
    }
    match content {
        Content::Gone => whiteout(&at),
        other => {
            let _ = fs::remove_file(&at);
            write(&at, other)
        }
    }
}

/// Whether nothing is left in a folder: all that is below is taken away, and
/// nothing was put there.
fn is_empty_below(lower: &Path, upper: &Path) -> io::Result<bool> {
    let is_dir = |dir: &Path| fs::symlink_metadata(dir).is_ok_and(|found| found.is_dir());
    if !is_dir(upper) || !is_dir(lower) {
        return Ok(false);
    }
    for entry in fs::read_dir(upper)? {
        if !is_whiteout(&entry?.path()) {
            return Ok(false);
        }
    }
    for entry in fs::read_dir(lower)? {
        if !is_whiteout(&upper.join(entry?.file_name())) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Into a copy, whose links lead anywhere.
pub fn into(root: &Path, files: &[(PathBuf, Content)]) -> io::Result<()> {
    for (path, content) in in_order(files)? {
        put_in(root, path, content)?;
    }
    for dir in emptied(files) {
        let at = root.join(dir);
        if fs::symlink_metadata(&at).is_ok_and(|found| found.is_dir()) {
            // Only where it is empty.
            let _ = fs::remove_dir(at);
        }
    }
    Ok(())
}

fn put_in(root: &Path, path: &Path, content: &Content) -> io::Result<()> {
    let mut at = root.to_owned();
    for part in path.parent().into_iter().flat_map(Path::components) {
        at.push(part);
        let found = fs::symlink_metadata(&at);
        if found.as_ref().is_ok_and(fs::Metadata::is_dir) {
            continue;
        }
        if *content == Content::Gone {
            return Ok(());
        }
        if found.is_ok() {
            fs::remove_file(&at)?;
        }
        fs::create_dir(&at)?;
    }
    let at = root.join(path);
    match fs::symlink_metadata(&at) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(&at)?,
        Ok(_) => fs::remove_file(&at)?,
        Err(_) => {}
    }
    match content {
        Content::Gone => Ok(()),
        other => write(&at, other),
    }
}

const OF_MESON: [&str; 3] = ["meson.build", "meson.options", "meson_options.txt"];

fn write(at: &Path, content: &Content) -> io::Result<()> {
    match content {
        Content::Gone => Ok(()),
        Content::Link(to) => link(to, at),
        Content::File { bytes, executable } => {
            fs::write(at, bytes)?;
            #[cfg(unix)]
            if *executable {
                use std::os::unix::fs::PermissionsExt;
                fs::set_permissions(at, fs::Permissions::from_mode(0o755))?;
            }
            #[cfg(not(unix))]
            let _ = executable;
            // Meson takes no file of the future.
            if at
                .file_name()
                .is_some_and(|name| OF_MESON.iter().any(|known| name == *known))
            {
                return Ok(());
            }
            // Build tools go by whole seconds, and what they built of the file
            // that stands here otherwise must not be taken for this one's.
            let later = SystemTime::now() + Duration::from_secs(2);
            fs::File::options()
                .write(true)
                .open(at)?
                .set_modified(later)
        }
    }
}

/// Nobody can lay a file over a folder that shows through.
fn another_kind(path: &Path) -> io::Error {
    let path = path.display();
    let words = format!("{path} is a folder where it was none, or the other way round");
    io::Error::new(io::ErrorKind::Unsupported, words)
}

/// What an overlay takes for "not there".
#[cfg(target_os = "linux")]
fn whiteout(at: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    mknodat(CWD, at, FileType::CharacterDevice, Mode::empty(), 0)?;
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn whiteout(_at: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(unix)]
fn is_whiteout(at: &Path) -> bool {
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    let found = fs::symlink_metadata(at);
    found.is_ok_and(|found| found.file_type().is_char_device() && found.rdev() == 0)
}

#[cfg(not(unix))]
fn is_whiteout(_at: &Path) -> bool {
    false
}

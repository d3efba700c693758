//! Whole-file writes that a reader sees entirely or not at all.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Action, At, FileError};
use crate::fault::point;
use crate::{private, process, sys};

/// How a file is replaced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AtomicOptions {
    /// Wait for the disk. Without it, a crash of the machine may bring back
    /// the old content, which is right for what can be projected anew.
    pub durable: bool,
}

/// Where a file is written before it takes its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scratch<'a> {
    Beside,
    /// In this folder. For what is replaced while an agent works: its
    /// `git add -A` fails when it meets a file that is gone a moment later.
    In(&'a Path),
}

/// More links in a row than any system follows.
const MAX_LINKS: usize = 40;

/// Replaces the content of `path`, keeping its permissions. Where `path` is a
/// link, the file behind it is replaced. On an error the old content stays.
pub fn write_atomic(path: &Path, bytes: &[u8], options: AtomicOptions) -> Result<(), FileError> {
    write_atomic_by(Scratch::Beside, path, bytes, options)
}

/// [`write_atomic`] with a place for the file while it has no name.
pub fn write_atomic_by(
    scratch: Scratch<'_>,
    path: &Path,
    bytes: &[u8],
    options: AtomicOptions,
) -> Result<(), FileError> {
    let target = follow_links(path).at(path, Action::Write)?;
    let permissions = permissions_of(&target).at(&target, Action::Write)?;
    let is_private = permissions.is_some() || private::is_closed(sys::parent(&target));
    let (temp, file) = create_temp(scratch, &target, is_private)?;
    // Errors name the file that is meant: nobody knows the temporary one.
    let result = fill(&file, bytes, permissions, options)
        .at(&target, Action::Write)
        .and_then(|()| {
            sys::rename(&temp, &target, point::ATOMIC_RENAME).at(&target, Action::Rename)
        });
    if result.is_err() {
        // The error that led here is the one worth telling.
        let _ = fs::remove_file(&temp);
        return match (&result, scratch) {
            (Err(error), Scratch::In(_)) if error.kind == ErrorKind::CrossesDevices => {
                write_atomic_by(Scratch::Beside, path, bytes, options)
            }
            _ => result,
        };
    }
    if options.durable {
        let dir = sys::parent(&target);
        sys::sync_dir(dir, point::ATOMIC_SYNC_DIR).at(dir, Action::Sync)?;
    }
    Ok(())
}

/// Follows links by hand, because the last one may point to a file that does
/// not exist yet.
fn follow_links(path: &Path) -> io::Result<PathBuf> {
    let mut target = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&target) {
            Ok(next) => target = sys::parent(&target).join(next),
            Err(_) => return Ok(target),
        }
    }
    Err(io::Error::new(ErrorKind::InvalidInput, "a circle of links"))
}

/// The permissions to keep; `None` for a new file. Only a regular file may be
/// replaced: a rename would do away with a device or a pipe.
fn permissions_of(target: &Path) -> io::Result<Option<Permissions>> {
    match fs::metadata(target) {
        Ok(metadata) if metadata.is_file() => Ok(Some(metadata.permissions())),
        Ok(metadata) if metadata.is_dir() => Err(ErrorKind::IsADirectory.into()),
        Ok(_) => Err(io::Error::new(
            ErrorKind::InvalidInput,
            "not a regular file",
        )),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// `.name.tmp.`, which the process number and a counter follow.
fn temp_prefix(name: &std::ffi::OsStr) -> OsString {
    let mut prefix = OsString::from(".");
    prefix.push(name);
    prefix.push(".tmp.");
    prefix
}

/// A name that no other file of this process has had.
pub(crate) fn temp_name(scratch: Scratch<'_>, target: &Path) -> PathBuf {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let mut name = temp_prefix(target.file_name().unwrap_or_default());
    let counter = COUNTER.fetch_add(1, Ordering::Relaxed);
    name.push(format!("{}.{counter}", std::process::id()));
    match scratch {
        Scratch::Beside => target.with_file_name(name),
        Scratch::In(dir) => dir.join(name),
    }
}

fn create_temp(
    scratch: Scratch<'_>,
    target: &Path,
    private: bool,
) -> Result<(PathBuf, File), FileError> {
    loop {
        let temp = temp_name(scratch, target);
        match sys::open(&temp_options(private), &temp, point::ATOMIC_OPEN) {
            Ok(file) => return Ok((temp, file)),
            // Left by an earlier process of the same number.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(FileError::new(target, Action::Write, &error)),
        }
    }
}

/// A replacement of an existing file is private until it has its permissions,
/// and a new file in a private folder stays so.
fn temp_options(private: bool) -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if private {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    #[cfg(not(unix))]
    let _ = private;
    options
}

fn fill(
    file: &File,
    bytes: &[u8],
    permissions: Option<Permissions>,
    options: AtomicOptions,
) -> io::Result<()> {
    if let Some(permissions) = permissions {
        file.set_permissions(permissions)?;
    }
    sys::write_all(file, bytes, point::ATOMIC_WRITE)?;
    if options.durable {
        sys::sync_data(file, point::ATOMIC_SYNC)?;
    }
    Ok(())
}

/// Removes what dead processes left of unfinished writes of `dir/name`, or
/// of any file of `dir` where no name is given, and gives the number of files.
/// A temporary file whose process lives, or of which nobody can tell, stays.
pub fn remove_stale_temps(dir: &Path, name: Option<&str>) -> Result<usize, FileError> {
    let prefix = name.map(|name| temp_prefix(name.as_ref()));
    let mut removed = 0;
    for entry in fs::read_dir(dir).at(dir, Action::Read)? {
        let entry = entry.at(dir, Action::Read)?;
        let is_dead = pid_of_temp(&entry.file_name(), prefix.as_deref())
            .is_some_and(|pid| process::is_alive(pid) == Some(false));
        if is_dead {
            fs::remove_file(entry.path()).at(&entry.path(), Action::Remove)?;
            removed += 1;
        }
    }
    Ok(removed)
}

fn pid_of_temp(file_name: &std::ffi::OsStr, prefix: Option<&std::ffi::OsStr>) -> Option<u32> {
    let name = file_name.to_str()?;
    let rest = match prefix {
        Some(prefix) => name.strip_prefix(prefix.to_str()?)?,
        None => name.strip_prefix('.')?.rsplit_once(".tmp.")?.1,
    };
    let (pid, counter) = rest.split_once('.')?;
    counter.parse::<u64>().ok()?;
    pid.parse().ok()
}

/// Reads a UTF-8 text, with or without a byte order mark.
pub fn read_text(path: &Path) -> Result<String, FileError> {
    let mut text = fs::read_to_string(path).at(path, Action::Read)?;
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::{self, Fault};
    use std::sync::atomic::AtomicBool;

    const DURABLE: AtomicOptions = AtomicOptions { durable: true };
    const FAST: AtomicOptions = AtomicOptions { durable: false };
    const ENOSPC: i32 = 28;

    fn names_in(dir: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(dir)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn writes_a_new_file_and_replaces_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("status.json");
        for options in [FAST, DURABLE] {
            write_atomic(&path, b"one", options).unwrap();
            write_atomic(&path, b"two", options).unwrap();
            assert_eq!(fs::read(&path).unwrap(), b"two");
        }
        assert_eq!(names_in(dir.path()), ["status.json"]);
    }

    #[cfg(unix)]
    #[test]
    fn keeps_the_permissions_of_the_target() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("status.json");
        for mode in [0o600, 0o640, 0o755] {
            fs::write(&path, "old").unwrap();
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            write_atomic(&path, b"new", FAST).unwrap();
            let kept = fs::metadata(&path).unwrap().permissions().mode() & 0o777;
            assert_eq!(kept, mode, "{mode:o}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn replaces_the_file_behind_a_link_and_keeps_the_link() {
        use std::os::unix::fs::symlink;
        let dir = tempfile::tempdir().unwrap();
        let real = dir.path().join("real");
        fs::create_dir(&real).unwrap();
        symlink("real/tasks.md", dir.path().join("first")).unwrap();
        let link = dir.path().join("second");
        symlink("first", &link).unwrap();
        for content in ["created", "replaced"] {
            write_atomic(&link, content.as_bytes(), FAST).unwrap();
            assert_eq!(fs::read_to_string(real.join("tasks.md")).unwrap(), content);
            assert!(link.is_symlink());
        }
        assert_eq!(names_in(dir.path()), ["first", "real", "second"]);
        assert_eq!(names_in(&real), ["tasks.md"]);
    }

    #[cfg(unix)]
    #[test]
    fn refuses_what_is_not_a_regular_file() {
        let dir = tempfile::tempdir().unwrap();
        let circle = dir.path().join("circle");
        std::os::unix::fs::symlink("circle", &circle).unwrap();
        for (path, kind) in [
            (dir.path(), ErrorKind::IsADirectory),
            (&circle, ErrorKind::InvalidInput),
            (Path::new("/dev/null"), ErrorKind::InvalidInput),
        ] {
            let error = write_atomic(path, b"x", FAST).unwrap_err();
            assert_eq!(error.kind, kind, "{path:?}");
        }
    }

    #[test]
    fn a_failure_at_any_point_leaves_the_old_content_and_no_debris() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("status.json");
        write_atomic(&path, b"old", DURABLE).unwrap();
        for point in [
            point::ATOMIC_OPEN,
            point::ATOMIC_WRITE,
            point::ATOMIC_SYNC,
            point::ATOMIC_RENAME,
        ] {
            let fault = Fault {
                os_error: ENOSPC,
                written: 2,
            };
            fault::arm(point, 0, fault);
            let error = write_atomic(&path, b"new", DURABLE).unwrap_err();
            assert_eq!(error.kind, ErrorKind::StorageFull, "{point}");
            assert_eq!(fs::read(&path).unwrap(), b"old", "{point}");
            assert_eq!(names_in(dir.path()), ["status.json"], "{point}");
        }
        write_atomic(&path, b"new", DURABLE).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }

    #[test]
    fn a_reader_never_sees_a_part() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("status.json");
        // Each content is one letter repeated, of a length that the letter
        // tells, so that any mixture or part is recognised.
        let content = |n: usize| vec![b'a' + (n % 26) as u8; 1000 + 997 * (n % 26)];
        write_atomic(&path, &content(0), FAST).unwrap();
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let mut reads = 0;
                while !stop.load(Ordering::Relaxed) || reads == 0 {
                    let seen = fs::read(&path).unwrap();
                    let n = usize::from(*seen.first().expect("never empty") - b'a');
                    assert!(seen == content(n), "torn content of {} bytes", seen.len());
                    reads += 1;
                }
            });
            for n in 0..2000 {
                write_atomic(&path, &content(n), FAST).unwrap();
            }
            stop.store(true, Ordering::Relaxed);
            reader.join().unwrap();
        });
    }

    #[test]
    fn concurrent_writers_do_not_share_a_temporary_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("status.json");
        std::thread::scope(|scope| {
            for writer in b'a'..b'i' {
                let path = &path;
                scope.spawn(move || {
                    for _ in 0..100 {
                        write_atomic(path, &[writer; 500], FAST).unwrap();
                    }
                });
            }
        });
        let content = fs::read(&path).unwrap();
        assert_eq!(content, [content[0]; 500]);
        assert_eq!(names_in(dir.path()), ["status.json"]);
    }

    #[test]
    fn only_the_leftovers_of_dead_processes_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let dead = child.id();
        child.wait().unwrap();
        let alive = std::process::id();
        let keep = [
            format!(".other.tmp.{dead}.0"),
            format!(".status.json.tmp.{alive}.7"),
            ".status.json.tmp.mine".to_owned(),
            "status.json".to_owned(),
        ];
        for name in &keep {
            fs::write(dir.path().join(name), "x").unwrap();
        }
        for counter in 0..3 {
            let stale = format!(".status.json.tmp.{dead}.{counter}");
            fs::write(dir.path().join(stale), "x").unwrap();
        }
        let expected = if process::is_alive(dead).is_some() {
            3
        } else {
            0
        };
        assert_eq!(
            remove_stale_temps(dir.path(), Some("status.json")).unwrap(),
            expected
        );
        if expected == 3 {
            assert_eq!(names_in(dir.path()), keep);
            assert_eq!(remove_stale_temps(dir.path(), None).unwrap(), 1);
            assert_eq!(names_in(dir.path()), keep[1..]);
        }
    }

    #[test]
    fn text_is_read_with_and_without_a_byte_order_mark() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("tasks.md");
        for (bytes, want) in [
            (&b"\xef\xbb\xbf# T\r\n"[..], Ok("# T\r\n")),
            (b"# T\n", Ok("# T\n")),
            (b"", Ok("")),
            (b"\xff\xfe#\0", Err(ErrorKind::InvalidData)),
        ] {
            fs::write(&path, bytes).unwrap();
            let got = read_text(&path).map_err(|error| error.kind);
            assert_eq!(got.as_deref().map_err(|kind| *kind), want, "{bytes:?}");
        }
        let missing = read_text(&dir.path().join("missing")).unwrap_err();
        assert_eq!(missing.kind, ErrorKind::NotFound);
    }
}

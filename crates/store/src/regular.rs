//! The one place that opens files which somebody else may have put there
//! (S-09). A pipe without a writer would hold a reader up for ever, a device
//! has no end, and a file may be larger than anybody means: a hook that waits
//! is a hook that its client passes over.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// Larger files are nothing that is read whole.
const LARGEST: u64 = 256 * 1024 * 1024;

/// Makes opening wait for nobody at the other end of a pipe.
fn waits_for_nobody(options: &mut OpenOptions) {
    #[cfg(unix)]
    set(options, rustix::fs::OFlags::NONBLOCK);
    #[cfg(not(unix))]
    let _ = options;
}

/// The same, and follow no link (S-07).
pub(crate) fn follows_and_waits_for_nobody(options: &mut OpenOptions) {
    #[cfg(unix)]
    set(
        options,
        rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW,
    );
    #[cfg(not(unix))]
    let _ = options;
}

#[cfg(unix)]
fn set(options: &mut OpenOptions, flags: rustix::fs::OFlags) {
    let flags = i32::try_from(flags.bits()).unwrap_or_default();
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, flags);
}

/// A file to read; anything but a file or a folder is refused.
pub fn open(path: impl AsRef<Path>) -> io::Result<File> {
    let mut options = OpenOptions::new();
    waits_for_nobody(options.read(true));
    let file = options.open(path)?;
    let kind = file.metadata()?.file_type();
    // Reading a folder says by itself that it is one.
    match kind.is_file() || kind.is_dir() {
        true => Ok(file),
        false => Err(not_regular()),
    }
}

pub(crate) fn not_regular() -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, "not a regular file")
}

/// All of a file.
pub fn read(path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    read_within(path, LARGEST)
}

/// All of a file that may be so large.
pub fn read_within(path: impl AsRef<Path>, largest: u64) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    let expected = file.metadata()?.len().min(largest);
    let mut bytes = Vec::with_capacity(usize::try_from(expected).unwrap_or(0) + 1);
    file.take(largest + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > largest {
        true => Err(io::Error::new(ErrorKind::FileTooLarge, "too large")),
        false => Ok(bytes),
    }
}

/// All of a file that is UTF-8.
pub fn read_to_string(path: impl AsRef<Path>) -> io::Result<String> {
    text(read(path)?)
}

/// All of a file that is UTF-8 and may be so large.
pub fn read_to_string_within(path: impl AsRef<Path>, largest: u64) -> io::Result<String> {
    text(read_within(path, largest)?)
}

fn text(bytes: Vec<u8>) -> io::Result<String> {
    let not_text = |_| io::Error::new(ErrorKind::InvalidData, "stream did not contain valid UTF-8");
    String::from_utf8(bytes).map_err(not_text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_whole_and_within_bounds() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        std::fs::write(&path, "some text").unwrap();
        assert_eq!(read_to_string(&path).unwrap(), "some text");
        assert_eq!(read_within(&path, 9).unwrap(), b"some text");
        let error = read_within(&path, 8).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::FileTooLarge);
        std::fs::write(&path, b"\xff").unwrap();
        let error = read_to_string(&path).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidData);
        let error = read(dir.path().join("none")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        let error = read(dir.path()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::IsADirectory);
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_and_a_device_are_refused_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        let link = dir.path().join("link");
        std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
        for path in [pipe, link, "/dev/zero".into(), "/dev/null".into()] {
            let error = read(&path).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidInput, "{}", path.display());
        }
    }
}

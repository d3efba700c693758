//! The digest of one file, and their sum, which is that of the tree.
//!
//! Adding the digests makes the fingerprint independent of the order in which
//! files are met, so that a tree that returns to an earlier content returns
//! to the earlier fingerprint.

use std::fmt;
use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest as _, Sha256};

/// What a work tree contains, in 32 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint(pub [u8; 32]);

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprint({self})")
    }
}

/// What stands at a path, told apart in the digest.
#[derive(Clone, Copy, Debug)]
pub(super) enum Content {
    File,
    Executable,
    Symlink,
    /// Something that could not be read.
    Unreadable,
}

impl Content {
    fn tag(self) -> u8 {
        match self {
            Content::File => b'f',
            Content::Executable => b'x',
            Content::Symlink => b'l',
            Content::Unreadable => b'?',
        }
    }
}

/// A SHA-256 digest as numbers that can be added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Digest([u64; 4]);

impl Digest {
    pub fn of_bytes(content: Content, path: &Path, bytes: &[u8]) -> Digest {
        let mut hasher = start(content, path);
        hasher.update(bytes);
        finish(hasher)
    }

    /// Digests a stream through `buffer`, which is never outgrown.
    pub fn of_stream(
        content: Content,
        path: &Path,
        mut stream: impl Read,
        buffer: &mut [u8],
    ) -> io::Result<Digest> {
        let mut hasher = start(content, path);
        loop {
            match stream.read(buffer) {
                Ok(0) => return Ok(finish(hasher)),
                Ok(read) => hasher.update(buffer.get(..read).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    pub fn add(&mut self, other: Digest) {
        for (sum, part) in self.0.iter_mut().zip(other.0) {
            *sum = sum.wrapping_add(part);
        }
    }

    pub fn fingerprint(self) -> Fingerprint {
        let mut bytes = [0; 32];
        for (place, part) in bytes.chunks_exact_mut(8).zip(self.0) {
            place.copy_from_slice(&part.to_be_bytes());
        }
        Fingerprint(bytes)
    }
}

fn start(content: Content, path: &Path) -> Sha256 {
    let path = path.as_os_str().as_encoded_bytes();
    let mut hasher = Sha256::new();
    hasher.update([content.tag()]);
    // The length keeps the end of the path and the start of the content apart.
    hasher.update((path.len() as u64).to_be_bytes());
    hasher.update(path);
    hasher
}

fn finish(hasher: Sha256) -> Digest {
    let mut parts = [0; 4];
    for (part, bytes) in parts.iter_mut().zip(hasher.finalize().chunks_exact(8)) {
        *part = bytes
            .iter()
            .fold(0, |number, byte| number << 8 | u64::from(*byte));
    }
    Digest(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stream_and_bytes_agree_whatever_the_buffer() {
        let path = Path::new("src/a.rs");
        let bytes = b"some content\r\nof several lines\n";
        let want = Digest::of_bytes(Content::File, path, bytes);
        for size in [1, 7, 31, 4096] {
            let got =
                Digest::of_stream(Content::File, path, &bytes[..], &mut vec![0; size]).unwrap();
            assert_eq!(got, want, "buffer of {size}");
        }
    }

    #[test]
    fn path_and_content_are_kept_apart() {
        let digest = |path: &str, bytes: &str| {
            Digest::of_bytes(Content::File, Path::new(path), bytes.as_bytes())
        };
        assert_ne!(digest("ab", "c"), digest("a", "bc"));
        assert_ne!(digest("a", ""), digest("", "a"));
    }

    #[test]
    fn fingerprint_is_written_in_hex() {
        let mut bytes = [0; 32];
        bytes[0] = 0xab;
        bytes[31] = 1;
        let text = Fingerprint(bytes).to_string();
        assert_eq!(text.len(), 64);
        assert!(text.starts_with("ab00") && text.ends_with("0001"), "{text}");
    }
}

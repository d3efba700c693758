//! Archives whose bytes depend on nothing but what is in them: `tar.gz`, `zip`
//! and the `ar` of Debian's packages. Times and owners are fixed, names sorted.

use std::io::Write;

use flate2::write::{DeflateEncoder, GzEncoder};
use flate2::{Compression, Crc, GzBuilder};

/// A file in an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub name: String,
    pub mode: u32,
    pub bytes: Vec<u8>,
}

impl Entry {
    pub fn new(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Entry {
        Entry {
            name: name.into(),
            mode: 0o644,
            bytes: bytes.into(),
        }
    }

    pub fn program(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Entry {
        Entry {
            mode: 0o755,
            ..Entry::new(name, bytes)
        }
    }

    pub fn named(self, name: impl Into<String>) -> Entry {
        Entry {
            name: name.into(),
            ..self
        }
    }

    /// The same below a folder.
    pub fn below(&self, folder: &str) -> Entry {
        Entry {
            name: format!("{folder}/{}", self.name),
            ..self.clone()
        }
    }
}

const BLOCK: usize = 512;

/// Entries at a moment in seconds since 1970, with their folders.
pub fn tar_gz(entries: &[Entry], time: u64) -> Result<Vec<u8>, String> {
    let mut tar = Vec::new();
    let mut sorted: Vec<&Entry> = entries.iter().collect();
    sorted.sort_by(|a, b| a.name.cmp(&b.name));
    let mut made: Vec<String> = Vec::new();
    for entry in sorted {
        for folder in folders(&entry.name) {
            if !made.contains(&folder) {
                tar.extend(header(&format!("{folder}/"), 0o755, 0, b'5', time)?);
                made.push(folder);
            }
        }
        let size = entry.bytes.len();
        tar.extend(header(&entry.name, entry.mode, size, b'0', time)?);
        tar.extend(&entry.bytes);
        tar.resize(tar.len().next_multiple_of(BLOCK), 0);
    }
    tar.resize(tar.len() + 2 * BLOCK, 0);
    gzip(&tar)
}

/// Without a name or a time of its own.
pub fn gzip(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let builder = GzBuilder::new().mtime(0).operating_system(255);
    let mut encoder: GzEncoder<Vec<u8>> = builder.write(Vec::new(), Compression::best());
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    written.map_err(|e| e.to_string())
}

/// Every folder above a name, the outermost first.
fn folders(name: &str) -> Vec<String> {
    let ends = name.match_indices('/').map(|(at, _)| at);
    ends.map(|end| name[..end].to_owned())
        .filter(|folder| folder != ".")
        .collect()
}

fn header(name: &str, mode: u32, size: usize, kind: u8, time: u64) -> Result<Vec<u8>, String> {
    if name.len() > 100 {
        return Err(format!("{name} is too long for an archive"));
    }
    let mut block = vec![0; BLOCK];
    let mut put =
        |at: usize, text: &str| block[at..at + text.len()].copy_from_slice(text.as_bytes());
    put(0, name);
    put(100, &format!("{mode:07o}"));
    put(108, "0000000");
    put(116, "0000000");
    put(124, &format!("{size:011o}"));
    put(136, &format!("{time:011o}"));
    put(148, "        ");
    put(257, "ustar");
    put(263, "00");
    put(265, "root");
    put(297, "root");
    block[156] = kind;
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    Ok(block)
}

/// For Windows, where nobody has `tar` at hand.
pub fn zip(entries: &[Entry]) -> Result<Vec<u8>, String> {
    let mut sorted: Vec<&Entry> = entries.iter().collect();
    sorted.sort_by(|a, b| a.name.cmp(&b.name));
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for entry in &sorted {
        let too_large = |_| format!("{} is too large", entry.name);
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
        let packed = encoder
            .write_all(&entry.bytes)
            .and_then(|()| encoder.finish());
        let packed = packed.map_err(|e| e.to_string())?;
        let mut crc = Crc::new();
        crc.update(&entry.bytes);
        let size = |len: usize| u32::try_from(len).map_err(too_large);
        let at = size(bytes.len())?;
        let mut common = Vec::new();
        // Version 2.0, UTF-8 names, deflated, at the first moment of 1980.
        for word in [20_u16, 0x800, 8, 0, 0x21] {
            common.extend(word.to_le_bytes());
        }
        for number in [crc.sum(), size(packed.len())?, size(entry.bytes.len())?] {
            common.extend(number.to_le_bytes());
        }
        let name = u16::try_from(entry.name.len()).map_err(too_large)?;
        common.extend(name.to_le_bytes());
        common.extend(0_u16.to_le_bytes());
        bytes.extend(b"PK\x03\x04");
        bytes.extend(&common);
        bytes.extend(entry.name.as_bytes());
        bytes.extend(packed);
        directory.extend(b"PK\x01\x02");
        directory.extend((3_u16 << 8 | 20).to_le_bytes());
        directory.extend(&common);
        directory.extend([0; 6]);
        directory.extend(((0o100_000 | entry.mode) << 16).to_le_bytes());
        directory.extend(at.to_le_bytes());
        directory.extend(entry.name.as_bytes());
    }
    let count = u16::try_from(sorted.len()).map_err(|e| e.to_string())?;
    let (at, len) = (bytes.len(), directory.len());
    bytes.extend(directory);
    bytes.extend(b"PK\x05\x06\0\0\0\0");
    bytes.extend([count.to_le_bytes(), count.to_le_bytes()].concat());
    for number in [len, at] {
        let number = u32::try_from(number).map_err(|e| e.to_string())?;
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend([0; 2]);
    Ok(bytes)
}

/// The outer form of a package of Debian.
pub fn ar(members: &[(&str, Vec<u8>)], time: u64) -> Vec<u8> {
    let mut bytes = b"!<arch>\n".to_vec();
    for (name, content) in members {
        let size = content.len();
        let header = format!(
            "{name:<16}{time:<12}{:<6}{:<6}{:<8}{size:<10}`\n",
            0, 0, 100_644
        );
        bytes.extend(header.as_bytes());
        bytes.extend(content);
        if size % 2 == 1 {
            bytes.push(b'\n');
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn entries() -> Vec<Entry> {
        vec![
            Entry::program("top/bin/ralph", "#!/bin/sh\necho hello\n"),
            Entry::new("top/README.md", "read me\n".repeat(1000)),
        ]
    }

    /// The tools that people have read what we write.
    #[test]
    fn tar_unpacks_it_with_its_modes() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.tar.gz");
        std::fs::write(&file, tar_gz(&entries(), 1_700_000_000).unwrap()).unwrap();
        let tar = Command::new("tar")
            .current_dir(dir.path())
            .args(["xzf", "a.tar.gz"])
            .status();
        assert!(tar.unwrap().success());
        let said = Command::new(dir.path().join("top/bin/ralph")).output();
        assert_eq!(said.unwrap().stdout, b"hello\n");
        let read = std::fs::read(dir.path().join("top/README.md")).unwrap();
        assert_eq!(read, entries()[1].bytes);
    }

    #[cfg_attr(
        not(target_os = "linux"),
        ignore = "another python may not be called python3"
    )]
    #[test]
    fn zip_is_read_by_another_reader() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.zip");
        std::fs::write(&file, zip(&entries()).unwrap()).unwrap();
        let test = "import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); \
                    assert z.testzip() is None; sys.stdout.buffer.write(z.read('top/README.md'))";
        let read = Command::new("python3")
            .args(["-c", test])
            .arg(&file)
            .output();
        assert_eq!(read.unwrap().stdout, entries()[1].bytes);
    }

    /// The order in which files come changes nothing.
    #[test]
    fn the_same_files_are_the_same_bytes() {
        let mut other = entries();
        other.reverse();
        assert_eq!(tar_gz(&entries(), 1), tar_gz(&other, 1));
        assert_eq!(zip(&entries()), zip(&other));
        assert_ne!(tar_gz(&entries(), 1), tar_gz(&other, 2));
    }

    #[test]
    fn an_ar_has_even_members() {
        let bytes = ar(&[("a", b"odd".to_vec()), ("b", b"even".to_vec())], 7);
        let text = String::from_utf8(bytes).unwrap();
        let want = "!<arch>\n\
            a               7           0     0     100644  3         `\nodd\n\
            b               7           0     0     100644  4         `\neven";
        assert_eq!(text, want);
    }

    #[test]
    fn a_name_that_does_not_fit_is_refused() {
        let long = Entry::new("x".repeat(101), "");
        tar_gz(&[long], 0).unwrap_err();
    }
}

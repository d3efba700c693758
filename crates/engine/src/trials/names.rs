//! Paths as the plans of experiments hold them: text, also where the bytes of
//! a name are none. A check file must not be overlooked for its name.

use std::path::{Path, PathBuf};

/// A byte that is no text becomes a character that nobody writes.
#[cfg(unix)]
const FIRST: u32 = 0x0010_F700;

#[cfg(unix)]
pub(crate) fn name_of(path: &Path) -> String {
    use std::os::unix::ffi::OsStrExt;
    let mut name = String::new();
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        name.push_str(chunk.valid());
        let strange = chunk.invalid().iter().copied();
        name.extend(strange.filter_map(|byte| char::from_u32(FIRST + u32::from(byte))));
    }
    name
}

#[cfg(unix)]
pub(crate) fn path_of(name: &str) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    let mut bytes = Vec::with_capacity(name.len());
    for c in name.chars() {
        match u32::from(c).checked_sub(FIRST).map(u8::try_from) {
            Some(Ok(byte)) => bytes.push(byte),
            _ => bytes.extend(c.encode_utf8(&mut [0; 4]).bytes()),
        }
    }
    std::ffi::OsString::from_vec(bytes).into()
}

#[cfg(not(unix))]
pub(crate) fn name_of(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[cfg(not(unix))]
pub(crate) fn path_of(name: &str) -> PathBuf {
    PathBuf::from(name)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn every_name_comes_back() {
        for bytes in [
            &b"tests/a.sh"[..],
            b"tests/\xff\xfe.sh",
            "tests/é.sh".as_bytes(),
        ] {
            let path = Path::new(OsStr::from_bytes(bytes));
            assert_eq!(path_of(&name_of(path)), path);
        }
        assert!(name_of(Path::new(OsStr::from_bytes(b"tests/\xff.sh"))).ends_with(".sh"));
    }
}

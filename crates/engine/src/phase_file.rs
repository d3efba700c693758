//! What a phase of a route left as its result: an agent's words, read as far
//! as a summary or a score needs.

use std::io::Read as _;
use std::path::Path;

use ralph_store::regular;

const LONGEST: u64 = 64 * 1024;

/// The beginning of the file of that name; nothing but a plain file is opened.
pub(crate) fn read(dir: &Path, name: Option<&str>) -> Option<String> {
    let path = dir.join(name?);
    if !path.symlink_metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    let file = regular::open(path).ok()?;
    file.take(LONGEST).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

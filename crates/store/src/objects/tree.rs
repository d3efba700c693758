//! The listing of one folder, as Git writes it.

use super::ObjectId;

/// What stands at a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    File,
    Executable,
    Link,
    Folder,
    /// Something whose content is not here, as Git notes a submodule.
    Elsewhere,
}

impl Mode {
    const ALL: [Mode; 5] = [
        Mode::File,
        Mode::Executable,
        Mode::Link,
        Mode::Folder,
        Mode::Elsewhere,
    ];

    fn octal(self) -> &'static [u8] {
        match self {
            Mode::File => b"100644",
            Mode::Executable => b"100755",
            Mode::Link => b"120000",
            Mode::Folder => b"40000",
            Mode::Elsewhere => b"160000",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeEntry<'a> {
    pub name: &'a [u8],
    pub mode: Mode,
    pub id: ObjectId,
}

/// Brings the entries into Git's order: a folder sorts as if its name ended
/// with a slash.
pub fn encode_tree(mut entries: Vec<TreeEntry<'_>>) -> Vec<u8> {
    entries.sort_unstable_by(|one, other| order(one).cmp(order(other)));
    let size = entries.iter().map(|e| e.name.len() + 40).sum();
    let mut bytes = Vec::with_capacity(size);
    for entry in entries {
        bytes.extend_from_slice(entry.mode.octal());
        bytes.push(b' ');
        bytes.extend_from_slice(entry.name);
        bytes.push(0);
        bytes.extend_from_slice(&entry.id.0);
    }
    bytes
}

fn order<'a>(entry: &TreeEntry<'a>) -> impl Iterator<Item = &'a u8> {
    let end: &[u8] = match entry.mode {
        Mode::Folder => b"/",
        _ => b"",
    };
    entry.name.iter().chain(end)
}

/// `None` where it is no listing, or one that leads out of its folder.
pub fn parse_tree(mut bytes: &[u8]) -> Option<Vec<TreeEntry<'_>>> {
    let mut entries = Vec::new();
    while !bytes.is_empty() {
        let space = bytes.iter().position(|&byte| byte == b' ')?;
        let mode = bytes.get(..space)?;
        let mode = Mode::ALL.into_iter().find(|known| known.octal() == mode)?;
        let rest = bytes.get(space + 1..)?;
        let end = rest.iter().position(|&byte| byte == 0)?;
        let name = rest.get(..end)?;
        let id = rest.get(end + 1..end + 33)?;
        if !is_plain(name) {
            return None;
        }
        entries.push(TreeEntry {
            name,
            mode,
            id: ObjectId(id.try_into().ok()?),
        });
        bytes = rest.get(end + 33..)?;
    }
    Some(entries)
}

fn is_plain(name: &[u8]) -> bool {
    !name.is_empty() && name != b"." && name != b".." && !name.contains(&b'/')
}

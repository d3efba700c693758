//! What holds where nobody may make namespaces: Landlock. Files alone are
//! held, by paths that are allowed; the network is open, other processes can be
//! seen, and what lies below a folder that can be written can be written,
//! settings and hooks among it. That is said wherever it stands.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreated,
    RulesetCreatedAttr, RulesetStatus, Scope, path_beneath_rules,
};

use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};

use super::mounts::{See, View};

/// The first word of what `Start` reads.
pub const MODE: &str = "landlock";

/// Without this one, no file can be moved from one folder to another.
const LEAST: ABI = ABI::V2;
/// What is taken where the kernel has it.
const BEST: ABI = ABI::V6;

/// The places that are open; all others are closed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fence {
    read: Vec<PathBuf>,
    write: Vec<PathBuf>,
}

impl Fence {
    /// The same views as bubblewrap gets. What comes from elsewhere cannot be
    /// shown in another place: it is linked there, in the home of its own.
    pub fn new(views: &[View], home: &Path, own: &Path) -> io::Result<Fence> {
        let mut fence = Fence::default();
        let mut hidden = Vec::new();
        for (path, see) in views {
            let (open, from) = match see {
                See::Hidden => {
                    hidden.push(path.as_path());
                    continue;
                }
                See::Read(from) => (&mut fence.read, from),
                See::Write(from) => (&mut fence.write, from),
            };
            open.push(from.clone().unwrap_or_else(|| path.clone()));
            if let (Some(from), Ok(name)) = (from, path.strip_prefix(home)) {
                link(from, &own.join(name), own)?;
            }
        }
        hidden.push(home);
        open_around(Path::new("/"), &hidden, &mut fence.read);
        fence.read.push("/proc".into());
        fence.write.push("/dev".into());
        Ok(fence)
    }

    pub fn open_to_write(&mut self, path: &Path) {
        self.write.push(path.to_owned());
    }

    /// As words on a command line.
    pub fn words(&self) -> Vec<OsString> {
        let mut words = Vec::new();
        for (mark, paths) in [("r", &self.read), ("w", &self.write)] {
            for path in paths {
                words.extend([OsString::from(mark), path.into()]);
            }
        }
        words.push("--".into());
        words
    }

    /// The same words, and what follows them.
    pub fn read(words: &[OsString]) -> Option<(Fence, &[OsString])> {
        let mut fence = Fence::default();
        let mut rest = words;
        loop {
            match rest {
                [end, command @ ..] if end == "--" => return Some((fence, command)),
                [mark, path, more @ ..] if mark == "r" => {
                    fence.read.push(path.into());
                    rest = more;
                }
                [mark, path, more @ ..] if mark == "w" => {
                    fence.write.push(path.into());
                    rest = more;
                }
                _ => return None,
            }
        }
    }

    /// From here on this process, and whatever it starts, is held.
    pub fn close(&self) -> io::Result<()> {
        let failed = |error: landlock::RulesetError| io::Error::other(error.to_string());
        let ruleset = Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::from_all(LEAST))
            .map_err(failed)?
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(BEST))
            .and_then(|ruleset| ruleset.scope(Scope::from_all(BEST)))
            .map_err(failed)?;
        let read = path_beneath_rules(&self.read, AccessFs::from_read(BEST));
        let write = path_beneath_rules(&self.write, AccessFs::from_all(BEST));
        let closed = ruleset
            .create()
            .and_then(|ruleset| ruleset.add_rules(read))
            .and_then(|ruleset| ruleset.add_rules(write))
            .and_then(RulesetCreated::restrict_self)
            .map_err(failed)?;
        match closed.ruleset {
            RulesetStatus::NotEnforced => Err(io::Error::other("Landlock is not enforced")),
            RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced => give_up_rights(),
        }
    }
}

/// Root has ways past Landlock: to read the memory of others, to mount. No
/// program that is started from here on gets them back.
fn give_up_rights() -> io::Result<()> {
    let none = CapabilitySet::empty();
    let sets = CapabilitySets {
        effective: none,
        permitted: none,
        inheritable: none,
    };
    set_capabilities(None, sets).map_err(io::Error::from)
}

/// Everything but what is hidden, as the folders that hold nothing of it.
fn open_around(dir: &Path, hidden: &[&Path], open: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_hidden = hidden.iter().any(|place| path.starts_with(place));
        let holds = hidden.iter().any(|place| place.starts_with(&path));
        match (is_hidden, holds) {
            (true, _) => {}
            (false, true) => open_around(&path, hidden, open),
            (false, false) if is_link(&path) => {}
            (false, false) => open.push(path),
        }
    }
}

/// A link opens what it leads to, and that has a place of its own.
fn is_link(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink())
}

/// Makes a link in the home of those behind it, where nothing is yet.
fn link(from: &Path, at: &Path, own: &Path) -> io::Result<()> {
    if at == own || fs::symlink_metadata(at).is_ok() {
        return Ok(());
    }
    if let Some(folder) = at.parent() {
        fs::create_dir_all(folder)?;
    }
    std::os::unix::fs::symlink(from, at)
}

/// Whether a word of the arguments asks for this.
pub fn is_asked_for(args: &[OsString]) -> bool {
    args.first().is_some_and(|word| word == OsStr::new(MODE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_read_as_it_was_written() {
        let fence = Fence {
            read: vec!["/usr".into(), "/a b".into()],
            write: vec!["--".into()],
        };
        let mut words = fence.words();
        words.extend(["r".into(), "x".into()]);
        let (read, rest) = Fence::read(&words).unwrap();
        assert_eq!(read, fence);
        assert_eq!(rest, ["r", "x"]);
        assert_eq!(Fence::read(&["x".into()]), None);
    }

    #[test]
    fn what_is_hidden_is_not_opened_nor_what_holds_it() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        for name in ["home/me", "home/you", "usr/bin", "etc"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        std::os::unix::fs::symlink("usr/bin", root.join("bin")).unwrap();
        let me = root.join("home/me");
        let mut open = Vec::new();
        open_around(root, &[&me], &mut open);
        open.sort();
        let want = ["etc", "home/you", "usr"].map(|name| root.join(name));
        assert_eq!(open, want);
    }
}

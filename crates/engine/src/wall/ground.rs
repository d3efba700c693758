//! What of this machine is hidden, shown and kept, for one project.

use std::fs;
use std::path::{Path, PathBuf};

use super::mounts::{See, View, between};

/// Everybody's homes, and where programs talk to each other or leave things
/// for a moment.
const HIDDEN: [&str; 6] = ["/home", "/root", "/run", "/tmp", "/var/tmp", "/run/ralph"];

/// Files that programs outside the wall execute or obey, in a repository.
const KEPT_OF_GIT: [&str; 4] = ["config", "config.worktree", "hooks", "info/attributes"];

/// The same in a work tree: our settings, and those of the clients.
const KEPT: [&str; 22] = [
    ".ralph/config.toml",
    ".ralph/flows",
    ".ralph/prompt-template.md",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".claude/hooks",
    ".claude/agents",
    ".claude/commands",
    ".claude/plugins",
    ".claude/skills",
    ".mcp.json",
    ".codex",
    ".gemini/settings.json",
    ".gemini/hooks",
    ".gemini/extensions",
    ".gemini/commands",
    ".opencode",
    "opencode.json",
    "opencode.jsonc",
    ".cursor/hooks.json",
    ".cursor/mcp.json",
    ".github/hooks",
];

/// What a project needs to be seen of the machine.
#[derive(Clone, Debug)]
pub struct Ground {
    pub root: PathBuf,
    pub home: PathBuf,
    /// What is the same for everybody behind the wall.
    views: Vec<View>,
    /// What the person opened.
    opened: Vec<View>,
    /// Folders that were made, so that they could be kept; they go again.
    pub made: Vec<PathBuf>,
    /// Where a file would tell Git to believe another repository.
    pub redirects: Vec<PathBuf>,
}

/// Why nothing can be hidden here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bad {
    NoHome,
    /// The home lies in the project, or is it.
    HomeInside,
}

impl Ground {
    pub fn new(
        root: &Path,
        home: &Path,
        state: &Path,
        read: &[PathBuf],
        write: &[PathBuf],
    ) -> Result<Ground, Bad> {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let (root, home) = (real(root), real(home));
        if home.parent().is_none() {
            return Err(Bad::NoHome);
        }
        if home.starts_with(&root) {
            return Err(Bad::HomeInside);
        }
        let mut ground = Ground {
            views: Vec::new(),
            opened: Vec::new(),
            made: Vec::new(),
            redirects: Vec::new(),
            root,
            home,
        };
        let hidden = HIDDEN.iter().map(PathBuf::from).chain([real(state)]);
        for path in hidden {
            // Where it is not there, there is nothing to hide.
            if path.is_dir() || path.starts_with("/run") {
                ground.views.push((path, See::Hidden));
            }
        }
        // With the network open, names are looked up as everywhere.
        let names = real(Path::new("/etc/resolv.conf"));
        if names.starts_with("/run") {
            ground.views.push((names, See::Read(None)));
        }
        ground.views.push((ground.root.clone(), See::Write(None)));
        ground.keep(&ground.root.clone(), &KEPT, write);
        ground.keep_git(write);
        let read = read.iter().map(|path| (path.clone(), See::Read(None)));
        let write = write.iter().map(|path| (path.clone(), See::Write(None)));
        let is_there = |(path, _): &View| fs::symlink_metadata(path).is_ok();
        ground.opened = read.chain(write).filter(is_there).collect();
        Ok(ground)
    }

    /// Whatever else is seen, what the person opened is open.
    pub fn with(&self, mut others: Vec<View>) -> Vec<View> {
        others.extend(self.views.iter().cloned());
        others.retain(|(path, _)| !self.opened.iter().any(|(opened, _)| opened == path));
        others.extend(self.opened.iter().cloned());
        others
    }

    /// What is there of these can only be read, and not be moved away.
    fn keep(&mut self, place: &Path, names: &[&str], write: &[PathBuf]) {
        for name in names {
            let path = place.join(name);
            let is_link = fs::symlink_metadata(&path).is_ok_and(|found| found.is_symlink());
            // A link leads elsewhere: to the work tree, or to what is hidden.
            if is_link || !path.exists() || write.contains(&path) {
                continue;
            }
            for folder in between(place, &path) {
                self.views.push((folder, See::Write(None)));
            }
            self.views.push((path, See::Read(None)));
        }
    }

    /// The repository can be written, as commits need it, but for what runs
    /// programs.
    fn keep_git(&mut self, write: &[PathBuf]) {
        let Some(top) = crate::git::find_root(&self.root) else {
            return;
        };
        let mark = top.join(".git");
        if mark.is_file() {
            self.views.push((mark, See::Read(None)));
        }
        for dir in git_dirs(&top) {
            self.views.push((dir.clone(), See::Write(None)));
            let hooks = dir.join("hooks");
            if dir.join("objects").is_dir() && !hooks.exists() && fs::create_dir(&hooks).is_ok() {
                self.made.push(hooks);
            }
            self.keep(&dir, &KEPT_OF_GIT, write);
            let redirect = dir.join("commondir");
            if !redirect.exists() {
                self.redirects.push(redirect);
            }
            let modules = dir.join("modules");
            for module in fs::read_dir(&modules).into_iter().flatten().flatten() {
                self.views.push((modules.clone(), See::Write(None)));
                self.views.push((module.path(), See::Write(None)));
                self.keep(&module.path(), &KEPT_OF_GIT, write);
            }
        }
    }
}

impl Ground {
    /// Whether a folder holds something that is hidden.
    pub fn hides_in(&self, folder: &Path) -> bool {
        let mut hidden = self.views.iter().filter(|(_, see)| *see == See::Hidden);
        hidden.any(|(place, _)| place.starts_with(folder))
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        for folder in &self.made {
            // Only what is empty still is ours.
            let _ = fs::remove_dir(folder);
        }
    }
}

/// The folders of a repository: its own, and the one that it shares with other
/// work trees.
fn git_dirs(top: &Path) -> Vec<PathBuf> {
    let mark = top.join(".git");
    let own = match mark.is_dir() {
        true => mark.canonicalize().ok(),
        false => ralph_store::regular::read_to_string_within(&mark, 4096)
            .ok()
            .and_then(|text| Some(text.trim().strip_prefix("gitdir: ")?.to_owned()))
            .and_then(|dir| top.join(dir).canonicalize().ok()),
    };
    let Some(own) = own.filter(|dir| is_git(dir)) else {
        return Vec::new();
    };
    let common = ralph_store::regular::read_to_string_within(own.join("commondir"), 4096).ok();
    let common = common.and_then(|text| own.join(text.trim()).canonicalize().ok());
    let common = common.filter(|dir| is_git(dir) && own.starts_with(dir.join("worktrees")));
    common.into_iter().chain([own]).collect()
}

/// A file that names a folder must not make a folder of the person's writable.
fn is_git(dir: &Path) -> bool {
    dir.join("HEAD").is_file() && (dir.join("objects").is_dir() || dir.join("commondir").is_file())
}

/// Who commits, in a configuration that says nothing else.
pub fn identity() -> String {
    const KEYS: &str = r"^(user\.(name|email)|init\.defaultbranch|core\.(autocrlf|eol))$";
    let said = crate::git::of_person(KEYS);
    let mut text = String::new();
    for entry in said.split('\0') {
        let Some((key, value)) = entry.split_once('\n') else {
            continue;
        };
        let Some((section, name)) = key.split_once('.') else {
            continue;
        };
        let value = value.replace('\\', "\\\\").replace('"', "\\\"");
        let value: String = value.chars().filter(|c| !c.is_control()).collect();
        text.push_str(&format!("[{section}]\n\t{name} = \"{value}\"\n"));
    }
    text
}

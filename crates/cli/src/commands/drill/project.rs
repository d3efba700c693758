//! The project as it is: what of it is copied, what it works on, and the
//! proof that it was only read.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use ralph_core::config::{FOREIGN_FILES, Settings, TaskSource};
use ralph_core::tasks::{ReadOptions, Scope};
use ralph_engine::look::{OpenTaskFile, TaskFile};
use ralph_engine::plan;
use ralph_engine::worktree::WorkTree;

use crate::demo;

/// Folders that are made from the rest, where no Git says so.
const MADE: [&str; 5] = [".git", ".ralph", "node_modules", "target", ".venv"];

/// Files of `.ralph` that are the person's own.
const OWN: [&str; 2] = [".ralph/config.toml", ".ralph/prompt-template.md"];

/// The name of the task list of the drill itself.
const TASKS: &str = "ralph-drill-tasks.md";

#[derive(Debug)]
pub struct Project {
    root: PathBuf,
    /// What is copied, relative to the root.
    files: BTreeSet<PathBuf>,
    pub tasks: Tasks,
    before: Print,
}

/// What the runs of the drill work on.
#[derive(Debug)]
pub enum Tasks {
    /// The project's task file, relative to its root.
    Own(PathBuf),
    /// There is none with open tasks: a list for the drill.
    Made { text: String },
}

impl Tasks {
    pub fn name(&self) -> &Path {
        match self {
            Tasks::Own(path) => path,
            Tasks::Made { .. } => Path::new(TASKS),
        }
    }
}

/// What a project holds: its contents, and when its state was written last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Print {
    pub contents: String,
    state: Vec<(PathBuf, u64, Option<SystemTime>)>,
}

impl Project {
    pub fn look(root: &Path, settings: &Settings) -> Project {
        let tasks = find_tasks(root, settings);
        let mut files = listed_by_git(root).unwrap_or_else(|| walked(root));
        files.retain(|path| !path.starts_with(".ralph"));
        // Git may ignore them, and they decide.
        files.extend(OWN.iter().chain(&FOREIGN_FILES).map(PathBuf::from));
        if let Tasks::Own(path) = &tasks {
            files.insert(path.clone());
        }
        Project {
            root: root.into(),
            files,
            tasks,
            before: Print::of(root),
        }
    }

    /// The fingerprint of the contents, if they are what they were.
    pub fn untouched(&self) -> Option<&str> {
        (Print::of(&self.root) == self.before).then_some(self.before.contents.as_str())
    }

    /// Copies the project; gives how many bytes its files take.
    pub fn copy_to(&self, target: &Path) -> io::Result<u64> {
        let mut bytes = 0;
        std::fs::create_dir_all(target)?;
        for path in &self.files {
            bytes += copy(&self.root.join(path), &target.join(path))?;
        }
        if let Tasks::Made { text } = &self.tasks {
            std::fs::write(target.join(TASKS), text)?;
        }
        // So that rules about ignored files hold; without Git it works too.
        let _ = demo::git(target, &["init", "-q"]);
        Ok(bytes)
    }
}

/// What package managers leave beside the sources, without which no check of
/// theirs runs.
const INSTALLED: [&str; 3] = ["node_modules", ".venv", "vendor"];

impl Project {
    pub fn copy_with_installed(&self, target: &Path) -> io::Result<()> {
        self.copy_to(target)?;
        for name in INSTALLED {
            let mut files = Vec::new();
            walk(&self.root.join(name), &mut |path| {
                files.push(path.to_owned());
                true
            });
            for from in files {
                if let Ok(inner) = from.strip_prefix(&self.root) {
                    copy(&from, &target.join(inner))?;
                }
            }
        }
        Ok(())
    }
}

/// A file that went away meanwhile, a folder, a pipe or a device is let be.
fn copy(from: &Path, to: &Path) -> io::Result<u64> {
    let Ok(metadata) = std::fs::symlink_metadata(from) else {
        return Ok(0);
    };
    if !metadata.is_file() && !metadata.is_symlink() {
        return Ok(0);
    }
    if let Some(dir) = to.parent() {
        std::fs::create_dir_all(dir)?;
    }
    if metadata.is_symlink() {
        copy_link(from, to)?;
        return Ok(0);
    }
    std::fs::copy(from, to)
}

#[cfg(unix)]
fn copy_link(from: &Path, to: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(std::fs::read_link(from)?, to)
}

#[cfg(not(unix))]
fn copy_link(_from: &Path, _to: &Path) -> io::Result<()> {
    Ok(())
}

/// Tracked files, and untracked ones that are not ignored.
fn listed_by_git(root: &Path) -> Option<BTreeSet<PathBuf>> {
    let names = ralph_engine::git::listed(root)?;
    Some(names.iter().map(|name| path_of(name)).collect())
}

#[cfg(unix)]
fn path_of(name: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    std::ffi::OsStr::from_bytes(name).into()
}

#[cfg(not(unix))]
fn path_of(name: &[u8]) -> PathBuf {
    String::from_utf8_lossy(name).into_owned().into()
}

fn walked(root: &Path) -> BTreeSet<PathBuf> {
    let mut files = BTreeSet::new();
    walk(root, &mut |path| {
        let name = path.file_name().unwrap_or_default();
        if MADE.iter().any(|made| name == *made) {
            return false;
        }
        if let Ok(inner) = path.strip_prefix(root) {
            files.insert(inner.into());
        }
        true
    });
    files
}

/// Visits everything below a folder; `visit` says whether to go into it.
fn walk(dir: &Path, visit: &mut dyn FnMut(&Path) -> bool) {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    for entry in entries {
        let path = entry.path();
        let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if visit(&path) && is_dir {
            walk(&path, visit);
        }
    }
}

impl Print {
    fn of(root: &Path) -> Print {
        let contents = match WorkTree::new(root, Vec::new()).scan() {
            Ok(scan) => scan.fingerprint.to_string(),
            Err(error) => error.kind.to_string(),
        };
        let mut state = Vec::new();
        walk(&root.join(".ralph"), &mut |path| {
            let metadata = std::fs::symlink_metadata(path).ok();
            let size = metadata.as_ref().map_or(0, std::fs::Metadata::len);
            let time = metadata.and_then(|m| m.modified().ok());
            state.push((path.to_owned(), size, time));
            true
        });
        state.sort();
        Print { contents, state }
    }
}

fn find_tasks(root: &Path, settings: &Settings) -> Tasks {
    let made = || Tasks::Made {
        text: made_tasks(&settings.tasks.phase),
    };
    let scope = Scope {
        phase: Some(settings.tasks.phase.clone()).filter(|p| !p.is_empty()),
        ..Scope::default()
    };
    let Some(OpenTaskFile { file, list, .. }) = open_tasks(root, settings) else {
        return made();
    };
    match file.path.strip_prefix(root) {
        Ok(inner) if list.counts(&scope).pending > 0 => Tasks::Own(inner.into()),
        _ => made(),
    }
}

fn open_tasks(root: &Path, settings: &Settings) -> Option<OpenTaskFile> {
    let options = ReadOptions {
        optional_sections: settings.tasks.optional_sections.clone(),
        ..ReadOptions::default()
    };
    let source = settings.tasks.source;
    if !settings.tasks.file.is_empty() {
        let path = root.join(&settings.tasks.file);
        return TaskFile::new(root, path, options).open().ok();
    }
    if matches!(source, TaskSource::Prompt | TaskSource::None) {
        return None;
    }
    plan::find_task_file(root, source, &options, true).ok()
}

fn made_tasks(phase: &str) -> String {
    let phase = if phase.is_empty() { "1" } else { phase };
    format!(
        "# Tasks\n\n## Phase {phase}: Drill\n\n- [ ] T001 Hold\n- [ ] T002 Keep holding\n- [ ] T003 Hold to the end\n"
    )
}

//! The quality gate of a project: collects its papers and lets
//! `ralph_core::gate` judge them. Plain blocking `std`, for hooks and CI.

mod inspector;
mod key;
mod run;
#[cfg(test)]
mod tests;
mod unheld;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use ralph_core::config::{Freshness, GateSettings};
use ralph_core::gate::{self, Finding, Key, Manifest, Paper, Papers, Phase, Problem, Step};

use ralph_store::layout::Layout;

use crate::git;
use crate::trials::Armed;
use crate::worktree::WorkTree;
pub use key::key_file;
pub use run::{Confirmed, Confirms, GateError, GateRun, RunStep, confirm, run, sign};

/// No paper of a project is longer.
const LONGEST_PAPER: u64 = 4 * 1024 * 1024;

/// Everything that keeps the gate of a project shut, in the order in which it
/// should be removed; nothing where it is open.
pub fn check(layout: &Layout, settings: &GateSettings, phase: Phase) -> Vec<Finding> {
    gate::judge(&papers(layout, settings), settings, phase)
}

/// Where a branch holds nothing but these papers beyond the one that it left
/// (`branch`, by its full name), there is nothing to open a pull request for.
pub fn lacks_work(root: &Path, settings: &GateSettings, branch: &str) -> Option<Finding> {
    let papers = own_papers(settings);
    let (base, head) = (git::refs::commit_of(root, branch)?, git::head(root).commit?);
    let committed = git::changed_since_fork(root, &base, &head)?;
    let uncommitted = git::uncommitted(root, &head)?;
    let is_paper = |file: &String| papers.contains(&file);
    let mut changed = committed.iter().chain(&uncommitted);
    changed.all(is_paper).then(|| Finding {
        file: branch.to_owned(),
        problem: Problem::NoWork,
    })
}

/// The key that Ralph signs what it saw with; `None` where there is none yet.
pub fn key(layout: &Layout) -> Option<Key> {
    key::find(layout)
}

/// The key, made if there is none yet.
pub fn key_or_new(layout: &Layout) -> Result<Key, GateError> {
    let file = key_file(layout).ok_or(GateError::NoPlaceForKey)?;
    Ok(key::find_or_make(&file)?)
}

/// The steps that the gate of a project consists of.
pub fn steps(root: &Path, settings: &GateSettings) -> Vec<Step> {
    if !settings.steps.is_empty() {
        return gate::configured(&settings.steps);
    }
    let files: Vec<String> = fs::read_dir(root)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    let text = |name: &str| match read(&root.join(name)) {
        Paper::Text(text) => Some(text),
        _ => None,
    };
    gate::detect(&Manifest {
        files: &files,
        package_json: text("package.json").as_deref(),
        pyproject: text("pyproject.toml").as_deref(),
    })
}

/// Steps that a loop began with and that its project has no more.
fn steps_gone(layout: &Layout, settings: &GateSettings, armed: &Armed) -> Vec<String> {
    let Some((files, texts)) = armed.top(layout).filter(|_| settings.steps.is_empty()) else {
        return Vec::new();
    };
    let text = |name: &str| texts.get(name).map(String::as_str);
    let then = gate::detect(&Manifest {
        files: &files,
        package_json: text("package.json"),
        pyproject: text("pyproject.toml"),
    });
    let now = steps(layout.root(), settings);
    let is_gone = |step: &Step| !now.iter().any(|other| other.name == step.name);
    let gone = then.into_iter().filter(is_gone);
    gone.map(|step| step.name).collect()
}

fn papers(layout: &Layout, settings: &GateSettings) -> Papers {
    let root = layout.root();
    let head = git::head(root);
    let at = |name: &str| read(&root.join(name));
    let gate_file = root.join(&settings.gate_file);
    let evidence = at(&settings.evidence_file);
    let shown = match &evidence {
        Paper::Text(text) => gate::shown_files(text),
        _ => Vec::new(),
    };
    Papers {
        branch: head.branch,
        commit: head.commit,
        audit: at(&settings.audit_report),
        gate: read(&gate_file),
        quality: at(&settings.quality_file),
        shown: shown
            .into_iter()
            .filter(|name| root.join(name).is_file())
            .collect(),
        evidence,
        key: key::find(layout),
        tree: match settings.freshness {
            Freshness::Content => tree(root, settings),
            _ => None,
        },
        newer: match settings.freshness {
            Freshness::Off => None,
            _ => newer_than(&gate_file, root, settings),
        },
        steps: steps(root, settings),
    }
}

fn own_papers(settings: &GateSettings) -> [&String; 4] {
    [
        &settings.audit_report, &settings.gate_file, &settings.quality_file,
        &settings.evidence_file,
    ]
}

/// What is no code: the papers themselves, and what the settings name.
fn excluded(root: &Path, settings: &GateSettings) -> Vec<PathBuf> {
    let names = own_papers(settings).into_iter().chain(&settings.docs);
    names.map(|name| root.join(name)).collect()
}

/// With what a commit holds although Git ignores it.
fn work_tree(root: &Path, settings: &GateSettings) -> Result<WorkTree, GateError> {
    let mut tree = WorkTree::new(root, excluded(root, settings));
    tree.count_also(git::held_though_ignored(root).ok_or(GateError::NoAnswer)?);
    Ok(tree)
}

fn tree(root: &Path, settings: &GateSettings) -> Option<String> {
    let scan = work_tree(root, settings).ok()?.scan().ok()?;
    Some(scan.fingerprint.to_string())
}

/// A file that was changed after the gate file, as far as times tell.
fn newer_than(gate_file: &Path, root: &Path, settings: &GateSettings) -> Option<String> {
    let written = modified(gate_file)?;
    let excluded = excluded(root, settings);
    let own = [".git", ".ralph", ".skillpack"].map(|name| root.join(name));
    let mut walk = ignore::WalkBuilder::new(root);
    walk.hidden(false).require_git(false);
    walk.filter_entry(move |entry| {
        let path = entry.path();
        !own.iter().chain(&excluded).any(|other| other == path)
    });
    walk.build()
        .flatten()
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
        .find(|entry| modified(entry.path()).is_some_and(|time| time > written))
        .map(|entry| {
            let path = entry.path().strip_prefix(root).unwrap_or(entry.path());
            path.to_string_lossy().into_owned()
        })
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).ok()?.modified().ok()
}

/// Looks before it opens: a pipe would never open, a device never end.
fn read(path: &Path) -> Paper {
    match fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Paper::Missing,
        Err(error) => return Paper::Unreadable(error.to_string()),
        Ok(found) if !found.is_file() => return Paper::Unreadable("not a file".into()),
        Ok(found) if found.len() > LONGEST_PAPER => {
            return Paper::Unreadable("more than 4 MiB".into());
        }
        Ok(_) => {}
    }
    match ralph_store::regular::read(path) {
        Ok(bytes) => Paper::Text(String::from_utf8_lossy(&bytes).into_owned()),
        Err(error) => Paper::Unreadable(error.to_string()),
    }
}

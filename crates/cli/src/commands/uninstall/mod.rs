//! `ralph uninstall`: takes away exactly what `ralph init` added.

use std::path::{Component, Path};

use ralph_core::checkpoint::sha256;
use ralph_core::lang::Lang;
use ralph_core::tr;
use ralph_engine::agents::Client;

use super::init::{is_empty, without_lines};
use crate::app::{App, Exit, OrFail, ask, is_interactive};
use crate::args::UninstallArgs;
use crate::install::change::{self, Change};
use crate::install::manifest::{How, Installed, Manifest};
use crate::install::merge;
use crate::install::problem::Problem;
use crate::install::templates;
use crate::{FAILED, PAUSED};

/// Keeps run state out of Git for as long as there is any.
const IGNORE_FILE: &str = ".ralph/.gitignore";

/// What in `.ralph` is no state of a run.
const NO_STATE: [&str; 5] = [
    ".gitignore", "install.json", "install", "config.toml", "prompt-template.md",
];

pub fn run(app: &App, args: &UninstallArgs) -> Exit {
    let root = match &args.dir {
        Some(dir) => std::path::absolute(dir).unwrap_or_else(|_| dir.clone()),
        None => app.root.clone(),
    };
    work(app, args, &root).or_fail(app)
}

fn work(app: &App, args: &UninstallArgs, root: &Path) -> Result<u8, Problem> {
    let lang = app.lang();
    let manifest = Manifest::load(root)?;
    let removal = match &manifest {
        Some(manifest) => Removal::of(root, manifest)?,
        None => Removal::without_manifest(root)?,
    };
    for path in &removal.kept {
        app.warn(&kept(path, lang));
    }
    if removal.changes.is_empty() && manifest.is_none() {
        app.tell(&tr!(lang, "nothing of Ralph is installed here"));
        return Ok(0);
    }
    for change in &removal.changes {
        app.tell(&change.shown(app.lang()));
    }
    if args.dry_run {
        return Ok(0);
    }
    if !args.yes {
        if !is_interactive() {
            app.warn(&tr!(lang, "nothing was changed: nobody can be asked here. Look at the changes above, then run the same with --yes"));
            return Ok(FAILED);
        }
        let question = tr!(lang, "Take this away? [y/N] ");
        if !matches!(ask(&question).as_deref(), Some("y" | "Y" | "yes")) {
            return Ok(PAUSED);
        }
    }
    for change in &removal.changes {
        change.make(root)?;
    }
    Manifest::remove(root)?;
    let directories = manifest.map(|manifest| manifest.directories);
    remove_directories(root, &directories.unwrap_or_default());
    app.tell(&tr!(lang, "Ralph is uninstalled."));
    Ok(0)
}

/// What goes, and what was ours and is a person's now.
#[derive(Debug, Default)]
struct Removal {
    changes: Vec<Change>,
    kept: Vec<String>,
}

impl Removal {
    fn of(root: &Path, manifest: &Manifest) -> Result<Removal, Problem> {
        let mut removal = Removal::default();
        let mut files: Vec<&Installed> = manifest.files.iter().collect();
        // It goes last: only with everything else.
        files.sort_by_key(|file| file.path == IGNORE_FILE);
        for file in files {
            if !is_inside(&file.path) {
                return Err(Problem::Outside {
                    path: file.path.clone(),
                });
            }
            removal.file(root, file)?;
        }
        Ok(removal)
    }

    fn file(&mut self, root: &Path, file: &Installed) -> Result<(), Problem> {
        let Some(current) = change::read(&root.join(&file.path))? else {
            return Ok(());
        };
        let digest = sha256(current.as_bytes());
        if file.before.as_ref() == Some(&digest) {
            return Ok(());
        }
        if file.path == IGNORE_FILE && self.leaves_state(root) {
            return Ok(());
        }
        let untouched = file.after == digest;
        let after = match (&file.how, untouched, &file.before) {
            (_, true, None) => None,
            (_, true, Some(_)) => match Manifest::backed_up(root, file) {
                Some(text) => Some(text),
                None => self.taken_out(&current, file)?,
            },
            _ => self.taken_out(&current, file)?,
        };
        self.push(&file.path, current, after);
        Ok(())
    }

    fn push(&mut self, path: &str, before: String, after: Option<String>) {
        let change = Change {
            path: path.to_owned(),
            before: Some(before),
            after,
        };
        if !change.is_none() {
            self.changes.push(change);
        }
    }

    /// Our part of a file that was changed since.
    fn taken_out(&mut self, current: &str, file: &Installed) -> Result<Option<String>, Problem> {
        let was_there = file.before.is_some();
        match &file.how {
            How::Merged { host, edits } => {
                let host = Client::host(host).unwrap_or_default();
                let text = merge::strip(current, host, edits).map_err(|error| {
                    let path = file.path.clone();
                    Problem::Settings { path, error }
                })?;
                Ok(Some(text).filter(|text| was_there || !is_empty(text)))
            }
            How::Lines { lines } => {
                let text = without_lines(current, lines);
                Ok(Some(text).filter(|text| was_there || !text.trim().is_empty()))
            }
            How::Whole => {
                self.kept.push(file.path.clone());
                Ok(Some(current.to_owned()))
            }
        }
    }

    /// Whether runs or logs stay in `.ralph`.
    fn leaves_state(&self, root: &Path) -> bool {
        let goes = |name: &str| {
            let path = format!(".ralph/{name}");
            NO_STATE.contains(&name)
                || self.changes.iter().any(|change| {
                    change.after.is_none()
                        && (change.path == path || change.path.starts_with(&format!("{path}/")))
                })
        };
        let entries = std::fs::read_dir(root.join(".ralph"));
        entries
            .into_iter()
            .flatten()
            .flatten()
            .any(|entry| !goes(&entry.file_name().to_string_lossy()))
    }

    /// The project came from elsewhere, its manifest did not: our entries are
    /// known by what they call.
    fn without_manifest(root: &Path) -> Result<Removal, Problem> {
        let mut removal = Removal::default();
        for &host in Client::HOSTS {
            for path in host.hooks().settings() {
                let Some(current) = change::read(&root.join(path))? else {
                    continue;
                };
                // A broken file has no entry that works.
                let after = merge::strip(&current, host, &[]).unwrap_or_else(|_| current.clone());
                let is_ours_alone = host == Client::Copilot && after != current;
                let after = Some(after).filter(|_| !is_ours_alone);
                removal.push(path, current, after);
            }
        }
        let written = |lang| templates::slash_commands(".claude/commands", lang);
        for (path, text) in Lang::ALL.into_iter().flat_map(written) {
            if change::read(&root.join(&path))?.as_ref() == Some(&text) {
                removal.push(&path, text, None);
            }
        }
        Ok(removal)
    }
}

/// A manifest says nothing about files outside of the project.
fn is_inside(path: &str) -> bool {
    let mut parts = Path::new(path).components();
    !path.is_empty() && parts.all(|part| matches!(part, Component::Normal(_)))
}

/// Those that we created, where nothing is left in them.
fn remove_directories(root: &Path, directories: &[String]) {
    for dir in directories.iter().rev().filter(|dir| is_inside(dir)) {
        // One that is not empty stays.
        let _ = std::fs::remove_dir(root.join(dir));
    }
}

fn kept(path: &str, lang: Lang) -> String {
    tr!(
        lang,
        "{path} was changed by hand and stays; remove it if you don't need it"
    )
}

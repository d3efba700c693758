//! What `ralph init` would change, and what it would leave alone.

use std::path::Path;

use ralph_core::checkpoint::sha256;
use ralph_core::json_schema;
use ralph_core::jsonc;
use ralph_core::lang::Lang;
use ralph_engine::agents::Client;
use ralph_engine::agents::hooks::Place;

use super::say::Note;
use crate::install::change::{self, Change, SCHEMA};
use crate::install::hosts::Wanted;
use crate::install::manifest::{How, Installed, Manifest};
use crate::install::merge::{self, MergeError, Merged};
use crate::install::problem::Problem;
use crate::install::templates;

const GITIGNORE: &str = ".gitignore";
/// Its own `.gitignore` hides what is not to be shared.
const OF_THE_TEAM: &str = ".ralph/";

/// Lines of ours that are not in the project's `.gitignore`. What a team
/// shares in `.ralph` is not hidden from it: the rest there hides itself.
fn not_ignored(root: &Path, is_shared: bool) -> Result<Vec<&'static str>, Problem> {
    let text = change::read(&root.join(GITIGNORE))?.unwrap_or_default();
    let is_missing = |line: &&&str| !text.lines().any(|there| there.trim() == **line);
    let is_meant = |line: &&&str| !is_shared || **line != OF_THE_TEAM;
    let lines = templates::IGNORED
        .iter()
        .filter(is_missing)
        .filter(is_meant);
    Ok(lines.copied().collect())
}

/// Whether a file that is meant for one person alone could be committed.
fn is_exposed(root: &Path, line: &str, is_shared: bool) -> bool {
    match line {
        OF_THE_TEAM => false,
        ".skillpack/" => {
            let dir = root.join(line);
            dir.exists() && !dir.join(GITIGNORE).exists()
        }
        ".claude/settings.local.json" => !is_shared,
        _ => true,
    }
}

/// Where the plugin is written.
pub const PLUGIN: &str = ".ralph/plugin";

/// What is to be installed.
#[derive(Clone, Debug)]
pub struct Wish {
    pub wanted: Wanted,
    pub cap: u32,
    pub hosts: Vec<Client>,
    pub plugin: bool,
    /// Into the settings of the team, where the client has others.
    pub shared: bool,
    pub gitignore: bool,
    pub preset: Option<String>,
    /// Lines of the configuration that ask for the project's checks.
    pub checks: String,
    pub templates: Templates,
    /// Of what people and agents read in these files.
    pub lang: Lang,
}

/// What happens to whole files that are there already, or missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Templates {
    /// Missing ones are added; what a person wrote or changed stays.
    Add,
    /// None is added: only entries and what we wrote ourselves is renewed.
    Keep,
    /// Ours take the place of a person's.
    Replace,
}

#[derive(Debug)]
pub struct Plan {
    pub files: Vec<Planned>,
    pub notes: Vec<Note>,
    pub manifest: Manifest,
}

#[derive(Debug)]
pub struct Planned {
    pub change: Change,
    /// Nothing where all of ours goes.
    pub installed: Option<Installed>,
    /// What the file will be again; nothing where it will be gone.
    pub backup: Option<String>,
}

impl Plan {
    pub fn make(root: &Path, wish: &Wish, manifest: Manifest) -> Result<Plan, Problem> {
        let mut plan = Plan {
            files: Vec::new(),
            notes: Vec::new(),
            manifest,
        };
        if wish.plugin {
            for (name, text) in templates::claude_plugin(&wish.wanted, wish.lang) {
                plan.whole(root, &format!("{PLUGIN}/{name}"), text, wish.templates)?;
            }
        } else {
            for host in &wish.hosts {
                plan.host(root, wish, *host)?;
            }
        }
        let first = wish.hosts.first().copied().unwrap_or_default();
        let config = templates::config(wish.preset.as_deref(), first, wish.lang) + &wish.checks;
        plan.config(root, wish, config)?;
        let schema = json_schema::File::Config.text();
        plan.whole(root, SCHEMA, schema, Templates::Add)?;
        let ignore = ralph_store::layout::IGNORED.to_owned();
        plan.whole(root, ".ralph/.gitignore", ignore, Templates::Add)?;
        let is_shared = wish.shared || is_shared_already(root, wish)?;
        if wish.gitignore {
            plan.gitignore(root, is_shared)?;
            return Ok(plan);
        }
        let mut lines = not_ignored(root, is_shared)?;
        lines.retain(|line| is_exposed(root, line, is_shared));
        if !lines.is_empty() && root.join(".git").exists() {
            plan.notes.push(Note::NotIgnored { lines });
        }
        Ok(plan)
    }

    fn host(&mut self, root: &Path, wish: &Wish, host: Client) -> Result<(), Problem> {
        match host.hooks().place {
            Place::Settings(shared) => self.one_of(root, shared, wish, host)?,
            Place::Plugin(path) if wish.wanted.guard => {
                self.whole(root, path, templates::opencode_plugin(), wish.templates)?;
            }
            Place::Plugin(_) | Place::Nowhere => {}
        }
        if host == Client::Claude {
            for (path, text) in templates::slash_commands(".claude/commands", wish.lang) {
                self.whole(root, &path, text, wish.templates)?;
            }
        }
        Ok(())
    }

    /// Into the person's own settings, unless the team is meant or has them
    /// already: in both places each hook would run twice (U-10).
    fn one_of(
        &mut self,
        root: &Path,
        shared: &'static str,
        wish: &Wish,
        host: Client,
    ) -> Result<(), Problem> {
        let Some(local) = host.hooks().local else {
            if !wish.shared {
                let path = shared.to_owned();
                self.notes.push(Note::OnlyShared { path, host });
            }
            return self.settings(root, shared, wish, host);
        };
        let text = change::read(&root.join(shared))?;
        let is_there = text.is_some_and(|text| merge::calls_us(&text, host));
        if !wish.shared && !is_there {
            return self.settings(root, local, wish, host);
        }
        if !wish.shared {
            let path = shared.to_owned();
            self.notes.push(Note::InShared { path });
        }
        self.settings(root, shared, wish, host)?;
        self.take_out(root, local, host)
    }

    /// Ours, out of the file that it stood in before.
    fn take_out(&mut self, root: &Path, path: &str, host: Client) -> Result<(), Problem> {
        let Some(current) = change::read(&root.join(path))? else {
            return Ok(());
        };
        let known = self.manifest.of(path);
        let edits = match known.map(|known| &known.how) {
            Some(How::Merged { edits, .. }) => edits.as_slice(),
            _ => &[],
        };
        // A broken file has no entry that works.
        let Ok(after) = merge::strip(&current, host, edits) else {
            return Ok(());
        };
        let was_there = known.is_none_or(|known| known.before.is_some());
        let change = Change {
            path: path.to_owned(),
            before: Some(current),
            after: Some(after).filter(|text| was_there || !is_empty(text)),
        };
        if !change.is_none() {
            self.files.push(Planned {
                change,
                installed: None,
                backup: None,
            });
        }
        Ok(())
    }

    fn settings(
        &mut self,
        root: &Path,
        path: &'static str,
        wish: &Wish,
        host: Client,
    ) -> Result<(), Problem> {
        let wanted = Wanted {
            shared: host.hooks().local != Some(path),
            ..wish.wanted.clone()
        };
        let current = change::read(&root.join(path))?;
        let cap = (host == Client::Claude).then_some(wish.cap);
        let refused = |error| Problem::Settings {
            path: path.to_owned(),
            error,
        };
        let text = current.as_deref().filter(|text| !text.trim().is_empty());
        if let Some(text) = text {
            let plain = text.strip_prefix('\u{feff}').unwrap_or(text);
            jsonc::parse(text).map_err(|error| refused(MergeError::Syntax(error)))?;
            let is_plain = serde_json::from_str::<serde_json::Value>(plain).is_ok();
            if !is_plain && !host.hooks().reads_comments {
                let path = path.to_owned();
                self.notes.push(Note::Comments { path, host });
            }
            if merge::is_current(text, host, &wanted, cap).map_err(refused)? {
                return Ok(());
            }
        }
        let known = self.manifest.of(path).cloned();
        let edits = match known.as_ref().map(|known| &known.how) {
            Some(How::Merged { edits, .. }) => edits.as_slice(),
            _ => &[],
        };
        let before = match text {
            Some(text) => Some(merge::strip(text, host, edits).map_err(refused)?),
            None => current.clone(),
        };
        // What we made ourselves is nobody's once it is empty again.
        let was_there = known.is_none_or(|known| known.before.is_some());
        let before = before.filter(|text| was_there || !is_empty(text));
        let basis = before.as_deref().filter(|text| !text.trim().is_empty());
        let Merged { text: after, edits } =
            merge::merge(basis.unwrap_or(merge::EMPTY), host, &wanted, cap).map_err(refused)?;
        let host = host.into_str().to_owned();
        let how = How::Merged { host, edits };
        self.add(path, current, after, before, how);
        Ok(())
    }

    fn whole(
        &mut self,
        root: &Path,
        path: &str,
        text: String,
        templates: Templates,
    ) -> Result<(), Problem> {
        let current = change::read(&root.join(path))?;
        let known = self.manifest.of(path).cloned();
        let before = match &current {
            None if templates == Templates::Keep => return Ok(()),
            None => None,
            Some(there) if *there == text => return Ok(()),
            Some(there) => {
                let digest = sha256(there.as_bytes());
                let ours = known.as_ref().is_some_and(|known| known.after == digest);
                if !ours && templates != Templates::Replace {
                    self.notes.push(Note::Kept {
                        path: path.to_owned(),
                    });
                    return Ok(());
                }
                match known.filter(|_| ours) {
                    Some(known) => known.before.and_then(|_| {
                        let known = self.manifest.of(path)?;
                        Manifest::backed_up(root, known)
                    }),
                    None => Some(there.clone()),
                }
            }
        };
        self.add(path, current, text, before, How::Whole);
        Ok(())
    }

    /// A configuration belongs to the person from its first line on.
    fn config(&mut self, root: &Path, wish: &Wish, text: String) -> Result<(), Problem> {
        const PATH: &str = ".ralph/config.toml";
        let is_there = change::read(&root.join(PATH))?.is_some();
        if !is_there {
            return self.whole(root, PATH, text, wish.templates);
        }
        if !wish.checks.is_empty() {
            let lines = wish.checks.trim().to_owned();
            self.notes.push(Note::Checks { lines });
        }
        if let Some(preset) = &wish.preset {
            let current = change::read(&root.join(PATH))?.unwrap_or_default();
            let line = format!("preset = \"{preset}\"");
            if !current.lines().any(|there| there.trim() == line) {
                self.notes.push(Note::Preset { line });
            }
        }
        Ok(())
    }

    fn gitignore(&mut self, root: &Path, is_shared: bool) -> Result<(), Problem> {
        const PATH: &str = GITIGNORE;
        let current = change::read(&root.join(PATH))?;
        let text = current.clone().unwrap_or_default();
        let lines = not_ignored(root, is_shared)?;
        if lines.is_empty() {
            return Ok(());
        }
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let mut after = text.clone();
        if !after.is_empty() && !after.ends_with('\n') {
            after.push_str(newline);
        }
        for line in &lines {
            after.push_str(line);
            after.push_str(newline);
        }
        let mut all: Vec<String> = lines.into_iter().map(str::to_owned).collect();
        let mut before = current.clone();
        // Lines of ours that are there already stay ours.
        if let Some(known) = self.manifest.of(PATH).cloned()
            && let How::Lines { lines } = known.how
        {
            before = known.before.as_ref().map(|_| without_lines(&text, &lines));
            all.extend(lines);
        }
        self.add(PATH, current, after, before, How::Lines { lines: all });
        Ok(())
    }

    fn add(
        &mut self,
        path: &str,
        current: Option<String>,
        after: String,
        before: Option<String>,
        how: How,
    ) {
        let installed = Installed {
            path: path.to_owned(),
            how,
            before: before.as_ref().map(|text| sha256(text.as_bytes())),
            after: sha256(after.as_bytes()),
        };
        let change = Change {
            path: path.to_owned(),
            before: current,
            after: Some(after),
        };
        if !change.is_none() {
            self.files.push(Planned {
                change,
                installed: Some(installed),
                backup: before,
            });
        }
    }
}

/// Whether the team has our hooks in its settings.
fn is_shared_already(root: &Path, wish: &Wish) -> Result<bool, Problem> {
    for host in &wish.hosts {
        let hooks = host.hooks();
        if let (Place::Settings(shared), Some(_)) = (hooks.place, hooks.local) {
            let text = change::read(&root.join(shared))?;
            if text.is_some_and(|text| merge::calls_us(&text, *host)) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Whether nothing is in settings.
pub fn is_empty(text: &str) -> bool {
    jsonc::parse(text).is_ok_and(|root| root.list().is_empty()) && text.trim().len() == 2
}

/// A text without the last of each of these lines.
pub fn without_lines(text: &str, lines: &[String]) -> String {
    let mut kept: Vec<&str> = text.split_inclusive('\n').collect();
    for line in lines {
        if let Some(at) = kept.iter().rposition(|there| there.trim() == line) {
            kept.remove(at);
        }
    }
    kept.concat()
}

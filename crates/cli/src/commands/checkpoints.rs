//! The checkpoints of a project: where they stand, what they say, and how far
//! they are proven (RESM-05, RESM-07).

use ralph_core::checkpoint::{Checkpoint, Trust};
use ralph_core::config::{self, Settings};
use ralph_core::lang::{Lang, Say};
use ralph_core::tr;
use ralph_engine::clock;
use ralph_store::checkpoint::{CheckpointDir, LoadError, Loaded, Source};
use serde_json::{Value, json};

use crate::app::App;
use crate::settings;

/// A folder in which a checkpoint stands, or stood.
#[derive(Debug)]
pub struct Entry {
    /// `current`, or the name of the folder in the history.
    pub place: String,
    pub dir: CheckpointDir,
    pub found: Result<Loaded, LoadError>,
}

/// The current checkpoint first, then the history, the newest last.
pub fn all(app: &App) -> Vec<Entry> {
    // What is left of a run must be found under a broken configuration too.
    let settings = config::load(&settings::sources(&app.root, Vec::new()))
        .map(|loaded| loaded.settings)
        .ok();
    let (dir, history, backups) = places(settings.as_ref());
    let layout = app.layout();
    let current = entry("current", layout.checkpoint_dir(&dir), backups);
    let folders = std::fs::read_dir(app.root.join(history));
    let mut names: Vec<_> = folders
        .into_iter()
        .flatten()
        .filter_map(|folder| Some(folder.ok()?.path()))
        .filter(|path| path.is_dir())
        .collect();
    names.sort();
    let history = names.into_iter().filter_map(|path| {
        let name = path.file_name()?.to_string_lossy().into_owned();
        entry(&name, path, backups)
    });
    current.into_iter().chain(history).collect()
}

/// The folder of the checkpoint and its backups.
pub fn current(app: &App) -> CheckpointDir {
    let loaded = config::load(&settings::sources(&app.root, Vec::new()));
    let settings = loaded.map(|loaded| loaded.settings).ok();
    let (dir, _, backups) = places(settings.as_ref());
    CheckpointDir::new(app.layout().checkpoint_dir(&dir), backups)
}

fn places(settings: Option<&Settings>) -> (String, String, u32) {
    match settings {
        Some(settings) => (
            settings.checkpoint.dir.clone(),
            settings.history.dir.clone(),
            settings.checkpoint.backups,
        ),
        None => (".skillpack/current".into(), ".skillpack/history".into(), 3),
    }
}

fn entry(place: &str, path: std::path::PathBuf, backups: u32) -> Option<Entry> {
    let dir = CheckpointDir::new(path, backups);
    let found = dir.load();
    match found {
        Err(LoadError::Nothing { .. }) => None,
        found => Some(Entry {
            place: place.into(),
            dir,
            found,
        }),
    }
}

impl Entry {
    pub fn checkpoint(&self) -> Option<&Checkpoint> {
        self.found.as_ref().ok().map(|loaded| &loaded.checkpoint)
    }

    pub fn is_current(&self) -> bool {
        self.place == "current"
    }

    /// Whether a person means this one: by task, by run or by folder.
    pub fn answers_to(&self, name: &str) -> bool {
        let named = self.checkpoint().is_some_and(|checkpoint| {
            checkpoint.task_id == name || checkpoint.run_id() == Some(name)
        });
        // A whole one in place is named by its task.
        named || (self.place == name && (name != "current" || self.found.is_err()))
    }

    /// What `ralph resume` takes for it.
    pub fn name(&self) -> &str {
        self.checkpoint()
            .map_or(&self.place, |checkpoint| &checkpoint.task_id)
    }

    pub fn line(&self, lang: Lang) -> String {
        let place = &self.place;
        let state = self.verification(lang);
        let Some(checkpoint) = self.checkpoint() else {
            return format!("{place}  {state}");
        };
        let Checkpoint {
            task_id,
            task_description,
            execution,
            timestamps,
            ..
        } = checkpoint;
        let (current, total) = (execution.current_phase, execution.total_phases);
        let percent = checkpoint.percent();
        let updated = clock::localised(&timestamps.updated);
        let task_description = task_description.lines().next().unwrap_or_default();
        format!(
            "{task_id}  {place}  phase {current}/{total}  {percent}%  {updated}  {state}  {task_description}"
        )
    }

    /// Verified, recovered from a backup, or damaged and why.
    pub fn verification(&self, lang: Lang) -> String {
        match &self.found {
            Ok(loaded) => match (loaded.from, loaded.trust) {
                (Source::Backup(n), _) => {
                    let why = reasons(&loaded.refused, lang);
                    tr!(lang, "recovered from backup {n} ({why})")
                }
                (Source::Current, Trust::Verified) => tr!(lang, "verified"),
                (Source::Current, Trust::Unchecked) => {
                    tr!(lang, "not verified (version 1 has no checksum)")
                }
            },
            Err(error) => {
                let why = error.say(lang);
                tr!(lang, "damaged: {why}")
            }
        }
    }

    pub fn to_json(&self) -> Value {
        let refused = match &self.found {
            Ok(loaded) => reasons(&loaded.refused, Lang::En),
            Err(error) => error.say(Lang::En),
        };
        let (state, backup) = match &self.found {
            Err(_) => ("damaged", None),
            Ok(loaded) => match (loaded.from, loaded.trust) {
                (Source::Backup(n), _) => ("recovered", Some(n)),
                (Source::Current, Trust::Verified) => ("verified", None),
                (Source::Current, Trust::Unchecked) => ("unchecked", None),
            },
        };
        let checkpoint = self.checkpoint();
        json!({
            "id": checkpoint.map(|c| c.task_id.as_str()),
            "run_id": checkpoint.and_then(Checkpoint::run_id),
            "place": self.place,
            "task": checkpoint.map(|c| c.task_description.as_str()),
            "phase": checkpoint.map(|c| c.execution.current_phase),
            "phases": checkpoint.map(|c| c.execution.total_phases),
            "percent": checkpoint.map(Checkpoint::percent),
            "updated": checkpoint.map(|c| c.timestamps.updated.as_str()),
            "state": state,
            "backup": backup,
            "why": Some(refused).filter(|why| !why.is_empty()),
        })
    }
}

fn reasons(refused: &[impl Say], lang: Lang) -> String {
    let reasons: Vec<String> = refused.iter().map(|reason| reason.say(lang)).collect();
    reasons.join("; ")
}

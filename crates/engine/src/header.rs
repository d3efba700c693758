//! What a run was started with: the first record of its journal.

use std::path::{Path, PathBuf};

use ralph_core::config;
use ralph_core::machine::Rules;
use ralph_core::route::Card;
use serde::{Deserialize, Serialize};

/// The first record of a journal: what the run was started with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    pub run_id: String,
    pub started_ms: i64,
    pub rules: Rules,
    /// What the person asked for, so that a resumed run is the same run.
    pub asked: Asked,
    #[serde(default)]
    pub tasks_file: Option<PathBuf>,
    #[serde(default)]
    pub commit: Option<String>,
    #[serde(default)]
    pub branch: Option<String>,
    /// The session of a client that it was started in, where it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<InSession>,
}

/// What a person typed, in the form in which it is kept with the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    /// The settings that flags stand for.
    #[serde(default)]
    pub flags: Vec<Flag>,
    /// The text of a plain prompt.
    #[serde(default)]
    pub prompt: Option<String>,
    /// The change of `--openspec ID`.
    #[serde(default)]
    pub openspec: Option<String>,
    #[serde(default)]
    pub template: Option<PathBuf>,
    /// The flow that the prompt goes through.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
    /// How its route was chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub card: Option<Card>,
    /// A loop of another tool, or a run whose journal is lost, that is gone on
    /// with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adopted: Option<Adopted>,
    /// Why nobody reviews, where a person does not want it (ROLE-09).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_review: Option<String>,
    /// Words for the agent from the first turn on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<String>,
    /// The tasks of the lane that it works in, which another run shared out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lane: Vec<String>,
}

impl Header {
    /// What was asked for, for a run that goes on: with the list that it was
    /// begun with, whatever other lists there are by now. Lanes work on one of
    /// their own, outside of the project.
    pub fn asked_again(&self, root: &Path) -> Asked {
        const KEY: &str = "tasks.file";
        let mut asked = self.asked.clone();
        let is_found = asked.openspec.is_none()
            && asked.prompt.is_none()
            && asked.flow.is_none()
            && asked.flags.iter().all(|flag| flag.key != KEY);
        let file = self.tasks_file.as_ref();
        if let Some(file) = file.filter(|file| is_found && file.starts_with(root)) {
            asked.flags.push(Flag {
                key: KEY.into(),
                value: file.to_string_lossy().into_owned().into(),
                name: "--tasks".into(),
            });
        }
        asked
    }
}

/// What is known of a loop that this run goes on with; its ticks are claims.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Adopted {
    pub task_id: String,
    /// Turns that were made of it before.
    #[serde(default)]
    pub turns: u32,
}

/// A setting that was given by a flag.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Flag {
    pub key: String,
    pub value: config::Value,
    pub name: String,
}

/// What the header of a run says of the session that it was started in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InSession {
    /// Empty until a session takes it up.
    pub id: String,
    /// The client, by its name.
    pub host: String,
    /// The state file of another tool that this run keeps in step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state_file: Option<StateFile>,
    /// The name of the task in a state file that was there before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StateFile {
    /// `.claude/ralph-loop.local.md`.
    Plugin,
    /// `.claude/ralph-delta.local.md`.
    Delta,
}

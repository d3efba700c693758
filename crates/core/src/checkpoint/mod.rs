//! A checkpoint: where a run stands, in the form that other tools of the
//! delta loop read and write (schema 2.0; CKPT-04, CKPT-05, CKPT-09).
//!
//! It is made from the journal and never decides over it. What others have
//! added to a checkpoint is kept.

mod canonical;
#[cfg(test)]
mod tests;

use crate::flow::{self, Flow, Step};
use crate::lang::{Lang, Say};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use canonical::{NotCanonical, checksum, sha256};

/// The version that is written.
pub const VERSION: &str = "2.0";
/// The newest version that is understood.
const NEWEST: (u32, u32) = (3, 0);

/// Fields that this version does not know.
pub type Extra = Map<String, Value>;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Checkpoint {
    pub task_id: String,
    pub task_description: String,
    pub route: String,
    pub complexity_score: Value,
    pub scoring_breakdown: Map<String, Value>,
    pub execution: Execution,
    pub subtasks: Subtasks,
    pub files: Files,
    pub context: Map<String, Value>,
    pub recovery: Recovery,
    pub timestamps: Timestamps,
    #[serde(flatten)]
    pub extra: Extra,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Execution {
    pub current_phase: u32,
    pub total_phases: u32,
    pub phases: Vec<Phase>,
    #[serde(flatten)]
    pub extra: Extra,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Phase {
    pub number: u32,
    pub name: String,
    pub status: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<String>,
    #[serde(flatten)]
    pub extra: Extra,
}

/// Names of subtasks; schema 3.0 has objects where 2.0 has strings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Subtasks {
    pub total: u32,
    pub completed: Vec<Value>,
    pub in_progress: Value,
    pub pending: Vec<Value>,
    #[serde(flatten)]
    pub extra: Extra,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Files {
    pub created: Vec<Value>,
    pub modified: Vec<Value>,
    pub outputs: Vec<Value>,
    #[serde(flatten)]
    pub extra: Extra,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Recovery {
    pub can_resume: bool,
    pub resume_point: String,
    pub notes: String,
    pub error_log: Vec<Value>,
    #[serde(flatten)]
    pub extra: Extra,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Timestamps {
    pub created: String,
    pub updated: String,
    #[serde(flatten)]
    pub extra: Extra,
}

/// How far the content of a checkpoint was proven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    Verified,
    /// Version 1 had no checksum yet.
    Unchecked,
}

/// Why a checkpoint is not used.
#[derive(Clone, Debug, PartialEq, Eq, Say)]
pub enum CheckpointError {
    #[say("it is not UTF-8 text")]
    NotUtf8,
    #[say(_0.say(lang))]
    Malformed(NotCanonical),
    #[say("its checksum is missing")]
    ChecksumMissing,
    #[say("its checksum is wrong (it says {stated}, its content has {found})")]
    ChecksumWrong { stated: String, found: String },
    #[say(
        "it has version {version}, which is newer than this ralph understands (3.0); update ralph"
    )]
    NewerVersion { version: String },
    #[say("its version {version} is unknown")]
    UnknownVersion { version: String },
    /// Its checksum is right, and yet it is no checkpoint.
    #[say("it is not a checkpoint ({message})")]
    NotACheckpoint { message: String },
}

/// A checkpoint as the text of its file, and the checksum that stands in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    pub text: String,
    pub checksum: String,
}

impl Checkpoint {
    /// The file, with its checksum as the last field.
    pub fn write(&self) -> Written {
        let mut fields = Map::new();
        fields.insert("version".into(), VERSION.into());
        if let Ok(Value::Object(own)) = serde_json::to_value(self) {
            fields.extend(own);
        }
        fields.shift_remove("checksum");
        let checksum = checksum(&Value::Object(fields.clone()).to_string()).unwrap_or_default();
        fields.insert("checksum".into(), checksum.clone().into());
        let mut text = serde_json::to_string_pretty(&fields).unwrap_or_default();
        text.push('\n');
        Written { text, checksum }
    }

    /// Reads a file and proves it by its own checksum.
    pub fn read(bytes: &[u8]) -> Result<(Checkpoint, Trust), CheckpointError> {
        let text = std::str::from_utf8(bytes).map_err(|_| CheckpointError::NotUtf8)?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let found = checksum(text).map_err(CheckpointError::Malformed)?;
        let mut fields: Map<String, Value> = serde_json::from_str(text)
            .map_err(|error| CheckpointError::Malformed(NotCanonical::from(error)))?;
        let version = take_version(&mut fields)?;
        let trust = match (fields.shift_remove("checksum"), version) {
            (None, (..=1, _)) => Trust::Unchecked,
            (None, _) => return Err(CheckpointError::ChecksumMissing),
            (Some(stated), _) if stated.as_str() == Some(&found) => Trust::Verified,
            (Some(stated), _) => {
                return Err(CheckpointError::ChecksumWrong {
                    stated: plain(&stated),
                    found,
                });
            }
        };
        let checkpoint: Checkpoint =
            serde_json::from_value(Value::Object(fields)).map_err(not_a_checkpoint)?;
        if checkpoint.task_id.trim().is_empty() {
            return Err(CheckpointError::NotACheckpoint {
                message: "no task_id".into(),
            });
        }
        Ok((checkpoint, trust))
    }

    /// Whole percent of what is done, rounded down: as its route counts its
    /// phases (ROUT-07), or else the share of the subtasks.
    pub fn percent(&self) -> usize {
        let subtasks = self.subtasks.percent();
        let Some(flow) = self.flow() else {
            return subtasks;
        };
        let done = self.phases_done();
        let behind = |(_, step): (usize, &Step)| step.percent.unwrap_or_default().into();
        let reached: usize = flow.phases().take(done).last().map_or(0, behind);
        match flow.phases().nth(done) {
            Some(phase) if phase.1.each.is_some() => {
                reached + behind(phase).saturating_sub(reached) * subtasks / 100
            }
            _ => reached,
        }
    }

    /// The route whose phases these are. The name alone says too little: a
    /// loop over a task file has its own phases and that name, too.
    fn flow(&self) -> Option<Flow> {
        let flow = flow::built_in(&self.route.to_lowercase())?;
        let Execution {
            phases,
            total_phases,
            ..
        } = &self.execution;
        let steps: Vec<&Step> = flow.phases().map(|(_, step)| step).collect();
        let is_its = |phase: &Phase| {
            let place = usize::try_from(phase.number).ok()?.checked_sub(1)?;
            Some(phase.is_of(steps.get(place)?))
        };
        let has_all = usize::try_from(*total_phases).is_ok_and(|total| total == steps.len());
        let are_its = !phases.is_empty() && phases.iter().all(|phase| is_its(phase) == Some(true));
        (has_all && are_its).then_some(flow)
    }

    /// Others list no more than some of the phases before the current one.
    fn phases_done(&self) -> usize {
        let completed = self.execution.phases.iter();
        let completed = completed.filter(|phase| phase.status == "completed");
        let before_current = self.execution.current_phase.saturating_sub(1);
        let done = completed.map(|phase| phase.number).max().unwrap_or(0);
        usize::try_from(done.max(before_current)).unwrap_or(usize::MAX)
    }

    /// Whether the two say the same, whenever they were written.
    pub fn says_the_same(&self, other: &Checkpoint) -> bool {
        let timeless = |checkpoint: &Checkpoint| Checkpoint {
            timestamps: Timestamps::default(),
            ..checkpoint.clone()
        };
        timeless(self) == timeless(other)
    }

    /// The run of Ralph that the checkpoint was made from.
    pub fn run_id(&self) -> Option<&str> {
        self.context.get("run_id").and_then(Value::as_str)
    }
}

impl Phase {
    /// Known by its name in any language, or by the file that it leaves.
    fn is_of(&self, step: &Step) -> bool {
        let mut titles = Lang::ALL.iter().map(|&lang| step.title.say(lang));
        let output = self.extra.get("output_file").and_then(Value::as_str);
        titles.any(|title| title == self.name)
            || (output.is_some() && output == step.output.as_deref())
    }
}

impl Subtasks {
    fn percent(&self) -> usize {
        let done = self.completed.len() * 100;
        let total = usize::try_from(self.total).unwrap_or(usize::MAX);
        done.checked_div(total).unwrap_or(0).min(100)
    }

    /// The subtask that is worked on, in whichever form it stands.
    pub fn in_progress_name(&self) -> Option<&str> {
        match &self.in_progress {
            Value::String(name) => Some(name),
            Value::Object(fields) => ["id", "name", "title"]
                .iter()
                .find_map(|key| fields.get(*key)?.as_str()),
            _ => None,
        }
    }
}

/// A UUID (version 4 in form) that always comes out the same for a run, so
/// that no second place has to remember it (DELT-05).
pub fn task_id_of(run_id: &str) -> String {
    let digest = canonical::sha256(run_id.as_bytes());
    let hex = digest.trim_start_matches("sha256:");
    let part = |range: std::ops::Range<usize>| hex.get(range).unwrap_or_default();
    let variant = match part(16..17) {
        "0" | "4" | "8" | "c" => '8',
        "1" | "5" | "9" | "d" => '9',
        "2" | "6" | "a" | "e" => 'a',
        _ => 'b',
    };
    format!(
        "{}-{}-4{}-{variant}{}-{}",
        part(0..8),
        part(8..12),
        part(13..16),
        part(17..20),
        part(20..32)
    )
}

fn take_version(fields: &mut Map<String, Value>) -> Result<(u32, u32), CheckpointError> {
    let Some(version) = fields.shift_remove("version") else {
        return Ok((1, 0));
    };
    let text = plain(&version);
    let (major, minor) = text.split_once('.').unwrap_or((&text, "0"));
    match (major.parse(), minor.parse()) {
        (Ok(major), Ok(minor)) if (major, minor) > NEWEST => {
            Err(CheckpointError::NewerVersion { version: text })
        }
        (Ok(major), Ok(minor)) => Ok((major, minor)),
        _ => Err(CheckpointError::UnknownVersion { version: text }),
    }
}

/// A text without its quotes, anything else as JSON.
fn plain(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "it is what map_err hands over"
)]
fn not_a_checkpoint(error: serde_json::Error) -> CheckpointError {
    CheckpointError::NotACheckpoint {
        message: error.to_string(),
    }
}

//! The settings as the program uses them: plain types. A field is a key of
//! the reference page, and each of its keys has a field.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize};

use crate::promise::{Conflict, PromiseRules};
use crate::usage::Usd;

pub use crate::machine::WarnAt;

/// Enums whose variants are the words of a `One of:` setting, in lower case
/// where none is given.
macro_rules! choices {
    ($($(#[$attribute:meta])* $name:ident {
        $($(#[$mark:meta])* $variant:ident $(= $word:literal)?),+
    })+) => {
        $($(#[$attribute])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        #[derive(strum::EnumString, strum::IntoStaticStr, strum::VariantNames)]
        #[serde(rename_all = "kebab-case")]
        #[strum(serialize_all = "kebab-case", const_into_str)]
        pub enum $name {
            $($(#[$mark])* $(#[serde(rename = $word)] #[strum(to_string = $word)])? $variant,)+
        })+
    };
}

choices! {
    /// What happens at the last iteration.
    OnLimit { Menu, Pause, Stop }
    /// Which of several promise tags decides.
    PromiseConflict { Last, FirstClass }
    /// Where the work comes from.
    TaskSource {
        Auto, SpecKit, OpenSpec = "openspec", Prd, FixPlan = "fix_plan", Plain, Prompt, Delta,
        None
    }
    /// What the verify gate does when its time is up.
    OnVerifyTimeout { Allow, Reset }
    /// Whether completion markers are asked for.
    Markers { Auto, Required, Off }
    /// When the loop verifies.
    VerifyWhen { Each, Complete }
    /// What a tick needs before it stands.
    TickProof { Proven, Agent }
    /// What happens where checks were weakened.
    IntegrityMode { Strict, Warn, Off }
    /// How well work has to be shown.
    AskedLevel { Auto, Claimed, Changed, Unrefuted, Preserved, Proven }
    /// What happens where green tests were rewritten.
    ChangedChecks { Tell, Ask }
    /// One kind of evidence of progress.
    Evidence { Tasks, Phase, Commit, Tree }
    /// How a gate file is compared with later changes.
    Freshness { Content, Time, Off }
    /// Which gate files are believed.
    GateTrust { Signed, File }
    /// Who merges a pull request.
    Merge { Off, Own = "self", Auto }
    /// What a run has to reach on a forge.
    PrGoal { None, P0, P1 }
    /// Where pull requests are made.
    ForgeName { Auto, GitHub = "github", GitLab = "gitlab" }
    /// How a pull request is merged.
    MergeMethod { Squash, Merge, Rebase }
    /// What a failure of the guard does to a call.
    GuardFailure { Closed, Open }
    /// What an agent may do without asking.
    Permissions { Auto, Default, Edit, Plan }
    /// What a turn begins with.
    AgentSession { Fresh, Resume }
    /// What a rule of the guard does when it matches; a warned call runs.
    #[derive(Default)]
    GuardMode { #[default] Block, Ask, Warn }
    /// Rules of the guard that are switched together.
    GuardPack { Publishing, Database, Container, Cloud }
    /// What a person who is not looking is told of.
    /// How the body of a webhook is made.
    NotifyForm { Json, Slack, Discord, Telegram, Ntfy }
    NotifyTopic { End, Question, Waiting, Limit, Error, Rejected, Guard, Start, Turn }
    /// Whether a wall stands around the agent and the checks.
    SandboxMode { Auto, Strict, Off }
    /// Where those behind the wall can go.
    SandboxNetwork { Agent, Allow, Off }
    /// Which files of a task keep others from being worked on beside it.
    LaneFiles { Named, Declared }
    /// How thorough the roles are.
    Risk { Auto, Low, Medium, High }
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    pub lang: String,
    #[serde(deserialize_with = "unless_empty")]
    pub preset: Option<String>,
    pub agents: Vec<String>,
    pub limits: Limits,
    pub budget: BudgetSettings,
    pub promise: PromiseSettings,
    pub tasks: TaskSettings,
    pub verify: VerifySettings,
    pub evidence: EvidenceSettings,
    pub agent: AgentSettings,
    pub progress: ProgressSettings,
    pub rate: RateSettings,
    pub log: LogSettings,
    pub e2e: E2eSettings,
    pub gate: GateSettings,
    pub pr: PrSettings,
    pub guard: GuardSettings,
    pub sandbox: SandboxSettings,
    pub lanes: LaneSettings,
    pub checkpoint: CheckpointSettings,
    pub history: HistorySettings,
    pub snapshots: SnapshotSettings,
    pub questions: QuestionSettings,
    pub tracker: TrackerSettings,
    pub notify: NotifySettings,
    pub roles: RoleSettings,
    pub routing: crate::route::Scale,
}

/// A number of 0 and a duration of zero mean that the limit is off.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    pub max_iterations: u32,
    pub extend_by: u32,
    pub warn_at: WarnAt,
    pub max_dispatches: u32,
    pub consecutive_errors: u32,
    pub missing_promise: u32,
    pub stalled: u32,
    pub same_error: u32,
    pub false_promise: u32,
    pub cooldown: Duration,
    pub max_duration: Duration,
    pub max_wait: Duration,
    pub iteration_timeout: Duration,
    pub idle_timeout: Duration,
    pub pause_between: Duration,
    pub on_limit: OnLimit,
    pub menu_timeout: Duration,
}

impl Limits {
    /// Whether something ends the loop even with unlimited iterations. A false
    /// promise or the same failure does not count: an agent that promises
    /// nothing, or fails in ever new ways, never gets there.
    pub(super) fn end_without_max_iterations(&self) -> bool {
        [self.consecutive_errors, self.missing_promise, self.stalled]
            .iter()
            .any(|limit| *limit > 0)
            || !self.max_duration.is_zero()
    }
}

/// Zero switches a budget off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BudgetSettings {
    pub max_cost: Usd,
    pub max_tokens: u64,
    pub turn_cost: Usd,
    pub turn_tokens: u64,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PromiseSettings {
    pub complete: Vec<String>,
    pub phase_complete: Vec<String>,
    #[serde(rename = "continue")]
    pub continue_word: String,
    pub blocked_prefix: String,
    pub e2e_passed: String,
    pub e2e_failed_prefix: String,
    pub required: bool,
    pub conflict: PromiseConflict,
}

impl PromiseSettings {
    /// The text to ask the agent for when its work is done; `None` where no
    /// promise is wanted.
    pub fn asked_for(&self) -> Option<&str> {
        let first = self.complete.first().or(self.phase_complete.first());
        first.map(String::as_str)
    }

    /// The agreed texts, as promises are read with them.
    pub fn rules(&self) -> PromiseRules {
        PromiseRules {
            complete: self.complete.clone(),
            phase_complete: self.phase_complete.clone(),
            continue_: self.continue_word.clone(),
            blocked_prefix: self.blocked_prefix.clone(),
            e2e_passed: self.e2e_passed.clone(),
            e2e_failed_prefix: self.e2e_failed_prefix.clone(),
            conflict: match self.conflict {
                PromiseConflict::Last => Conflict::LastWins,
                PromiseConflict::FirstClass => Conflict::FirstClass,
            },
        }
    }
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskSettings {
    pub source: TaskSource,
    pub file: String,
    pub phase: String,
    pub optional_sections: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VerifySettings {
    pub commands: Vec<String>,
    pub agents: Vec<String>,
    pub command_timeout: Duration,
    pub output_limit: u32,
    pub max_rounds: u32,
    pub max_minutes: u32,
    pub on_timeout: OnVerifyTimeout,
    pub strict: bool,
    pub markers: Markers,
    pub when: VerifyWhen,
    pub ticks: TickProof,
    pub integrity: IntegrityMode,
    pub files: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvidenceSettings {
    pub level: AskedLevel,
    pub asks: u32,
    pub max_time: Duration,
    pub beside: bool,
    pub changed_checks: ChangedChecks,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentSettings {
    pub name: String,
    pub command: String,
    pub args: Vec<String>,
    pub env: Vec<(String, String)>,
    pub env_allow: Vec<String>,
    pub env_exclude: Vec<String>,
    pub model: String,
    pub permissions: Permissions,
    pub session: AgentSession,
    pub user_config: bool,
    pub allow_unsafe: bool,
    pub retry: RetrySettings,
}

/// The size is in bytes.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SandboxSettings {
    pub mode: SandboxMode,
    pub network: SandboxNetwork,
    pub hosts: Vec<String>,
    pub read: Vec<String>,
    pub write: Vec<String>,
    pub memory: u64,
    pub processes: u32,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LaneSettings {
    pub count: u32,
    pub branch: String,
    pub land: bool,
    pub setup: String,
    pub include: Vec<String>,
    pub ports: u16,
    pub disk: u64,
    pub files: LaneFiles,
    pub fleet: bool,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RetrySettings {
    pub attempts: u32,
    pub initial: Duration,
    pub factor: u32,
    pub max: Duration,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProgressSettings {
    pub evidence: Vec<Evidence>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateSettings {
    pub max_calls_per_hour: u32,
}

/// Sizes are in bytes.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogSettings {
    pub file: String,
    pub max_size: u64,
    pub keep: u32,
    pub agent_output_max: u64,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct E2eSettings {
    pub command: String,
    pub timeout: Duration,
    pub max_repairs: u32,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateSettings {
    pub steps: Vec<String>,
    pub audit_report: String,
    pub gate_file: String,
    pub evidence_file: String,
    pub evidence_min: u32,
    pub freshness: Freshness,
    pub trust: GateTrust,
    pub quality_file: String,
    pub docs: Vec<String>,
    pub release: bool,
    pub step_timeout: Duration,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrSettings {
    pub goal: PrGoal,
    pub forge: ForgeName,
    pub remote: String,
    pub branches: Vec<String>,
    /// Zero for the open one of the branch.
    pub number: u32,
    pub create: bool,
    pub draft: bool,
    pub push: bool,
    pub required_only: bool,
    pub poll_interval: Duration,
    pub poll_timeout: Duration,
    pub grace: Duration,
    pub hook_wait: Duration,
    pub max_fixes: u32,
    pub max_reruns: u32,
    pub merge: Merge,
    pub merge_method: MergeMethod,
    pub delete_branch: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GuardSettings {
    pub enabled: bool,
    pub fail: GuardFailure,
    pub shadow: bool,
    pub packs: Vec<GuardPack>,
    pub enable: Vec<String>,
    pub disable: Vec<String>,
    #[serde(deserialize_with = "guard_modes")]
    pub modes: Vec<(String, GuardMode)>,
    pub allow_paths: Vec<String>,
    pub allow_hosts: Vec<String>,
    pub rules: Vec<GuardRule>,
}

impl Default for GuardSettings {
    /// The strictest settings, which are those of the reference.
    fn default() -> GuardSettings {
        GuardSettings {
            enabled: true,
            fail: GuardFailure::Closed,
            shadow: false,
            packs: vec![
                GuardPack::Publishing,
                GuardPack::Database,
                GuardPack::Container,
                GuardPack::Cloud,
            ],
            enable: Vec::new(),
            disable: Vec::new(),
            modes: Vec::new(),
            allow_paths: Vec::new(),
            allow_hosts: Vec::new(),
            rules: Vec::new(),
        }
    }
}

/// A rule that a person added, as data. Everything that is given must match.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GuardRule {
    pub id: String,
    /// The program, by name; a glob is allowed.
    pub program: String,
    /// Words of which each must be among the arguments.
    pub args: Vec<String>,
    /// Globs of which one operand must match one.
    pub paths: Vec<String>,
    pub reason: String,
    pub hint: String,
    pub mode: GuardMode,
    /// Commands that it must match, and that it must not.
    #[serde(rename = "match")]
    pub matches: Vec<String>,
    #[serde(rename = "not_match")]
    pub not_matches: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckpointSettings {
    pub enabled: bool,
    pub interval: u32,
    pub backups: u32,
    pub dir: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrackerSettings {
    pub enabled: bool,
    pub remind_above: u32,
    pub remind_every: Duration,
}

impl Default for TrackerSettings {
    /// Those of the reference, for a hook that has no time to read it.
    fn default() -> TrackerSettings {
        TrackerSettings {
            enabled: true,
            remind_above: 5,
            remind_every: Duration::from_secs(600),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HistorySettings {
    pub dir: String,
    pub keep: u32,
    pub state_max: u64,
    /// A finished OpenSpec change is archived as well (HIST-05).
    pub openspec: bool,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SnapshotSettings {
    pub enabled: bool,
    pub max_file: u64,
    pub max_files: u32,
    pub max_size: u64,
    pub min_free: u64,
}

/// Nobody is told where no way to a person is named.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NotifySettings {
    pub command: String,
    pub webhook: String,
    pub form: NotifyForm,
    pub chat: String,
    pub email: String,
    pub sendmail: String,
    pub link: String,
    pub desktop: bool,
    pub on: Vec<NotifyTopic>,
    pub attempts: u32,
    pub timeout: Duration,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuestionSettings {
    /// A question does not end the run.
    pub park: bool,
    pub deadline: Duration,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoleSettings {
    pub enabled: bool,
    pub flow: String,
    pub risk: Risk,
    pub high_model: String,
    pub reject_limit: u32,
}

fn unless_empty<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    Ok(Some(String::deserialize(from)?).filter(|text| !text.is_empty()))
}

/// Entries such as `git.reset-hard=ask`.
fn guard_modes<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<(String, GuardMode)>, D::Error> {
    let entries = Vec::<String>::deserialize(from)?;
    let modes = entries.iter().map(|entry| super::guard::mode_of(entry));
    let modes: Option<Vec<_>> = modes.collect();
    modes.ok_or_else(|| serde::de::Error::custom("a mode is written RULE=mode"))
}

//! Flows: who works on a task or a run, in which order, and what a verdict
//! leads to, as data.
//!
//! A flow is a TOML file ([`read`]). The team of developer, reviewer and
//! tester and the routes of `ralph do` are such files, compiled in; a project
//! keeps its own in `.ralph/flows`. The machine holds the [`Position`] in a
//! flow and moves it; nothing here decides.

mod check;
mod error;
mod notice;
mod position;
mod prompt;
mod read;
mod risk;
#[cfg(test)]
mod tests;
mod verdict;

use std::collections::BTreeMap;
use std::str::FromStr as _;

use serde::{Deserialize, Serialize};

pub use error::{FlowError, Problem};
pub use notice::{Escalation, FlowNotice, Void};
pub use position::{Doing, Given, LastAnswer, Position, STALE_AFTER_MS, Target};
pub use prompt::trailer;
pub use read::{BUILT_IN, Origin, built_in, in_language, read};
pub use risk::{Detected, RiskSign, detect};
pub use verdict::{Finding, Refused, RoleReport, SAID_CHARACTERS, Severity, first_reason, hear};

/// Where a project keeps its own flows, relative to its root.
pub const PROJECT_FLOWS: &str = ".ralph/flows";

/// One flow, as its file says. It is written into the journal with the rules
/// of the run, so that a replay moves as the run did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    pub name: String,
    /// What it is for, in one line.
    #[serde(default, deserialize_with = "one_or_each")]
    pub about: Title,
    pub scope: Scope,
    /// Works on its subtasks until all are done (ROUT-01).
    #[serde(default)]
    pub loops: bool,
    /// The first one is where it begins.
    #[serde(rename = "step")]
    pub steps: Vec<Step>,
    /// What is different at a risk.
    #[serde(default)]
    pub risk: BTreeMap<Risk, Variant>,
}

/// What goes through the flow from its beginning to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Scope {
    /// Each task of the task list.
    Task,
    /// The run, once.
    Run,
}

/// One call of an agent in a role.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    pub id: String,
    /// One of [`ROLES`].
    pub role: String,
    /// How people know the phase.
    #[serde(default)]
    pub title: Title,
    /// A template like any prompt.
    pub prompt: String,
    #[serde(default)]
    pub verdict: VerdictKind,
    #[serde(default)]
    pub writes: Writes,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permissions: Option<String>,
    /// The step whose fresh approval it needs (ROLE-05).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needs: Option<String>,
    /// The file that it leaves in the run's output folder; `{n}` is the
    /// number of the subtask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// A promise says as well as its file that the step is done, and a check
    /// needs neither.
    #[serde(default)]
    pub output_optional: bool,
    /// Its output file holds the boxes of the subtasks.
    #[serde(default)]
    pub plans: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub each: Option<Each>,
    /// How much of the work is done behind it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percent: Option<u8>,
    /// A step beside the phases: repairs, analyses.
    #[serde(default)]
    pub aside: bool,
    /// Where each answer leads: a step, `done` or `escalate`.
    pub on: BTreeMap<Answer, String>,
    /// How often an answer may come before a person is needed.
    #[serde(default)]
    pub limit: BTreeMap<Answer, u32>,
}

/// A text in three languages; empty where the file gives none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Title {
    pub en: String,
    #[serde(rename = "zh-TW")]
    pub zh_tw: String,
    #[serde(rename = "zh-CN")]
    pub zh_cn: String,
}

impl Title {
    pub fn say(&self, lang: crate::lang::Lang) -> &str {
        let own = match lang {
            crate::lang::Lang::En => &self.en,
            crate::lang::Lang::ZhTw => &self.zh_tw,
            crate::lang::Lang::ZhCn => &self.zh_cn,
        };
        if own.is_empty() { &self.en } else { own }
    }
}

/// Who writes a flow for people of one language gives one text.
fn one_or_each<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Title, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "a text, or a table of en, zh-TW and zh-CN")]
    enum Text {
        One(String),
        Each(Title),
    }
    Ok(match Text::deserialize(from)? {
        Text::One(en) => Title {
            en,
            ..Title::default()
        },
        Text::Each(each) => each,
    })
}

/// What the agent is asked to decide.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VerdictKind {
    #[default]
    None,
    /// `VERDICT: APPROVE` or `VERDICT: REJECT`.
    Review,
    /// `RESULT: PASS` or `RESULT: FAIL`.
    Test,
}

impl VerdictKind {
    /// The answers that a step of this kind can give.
    pub fn answers(self) -> &'static [Answer] {
        match self {
            VerdictKind::None => &[Answer::Done],
            VerdictKind::Review => &[Answer::Approve, Answer::Reject, Answer::Unclear],
            VerdictKind::Test => &[Answer::Pass, Answer::Fail, Answer::Unclear],
        }
    }

    /// The answer that lets the work go on.
    pub fn good(self) -> Answer {
        match self {
            VerdictKind::None => Answer::Done,
            VerdictKind::Review => Answer::Approve,
            VerdictKind::Test => Answer::Pass,
        }
    }

    /// The answer that sends the work back; a step that judges nothing has
    /// none.
    pub fn bad(self) -> Option<Answer> {
        match self {
            VerdictKind::None => None,
            VerdictKind::Review => Some(Answer::Reject),
            VerdictKind::Test => Some(Answer::Fail),
        }
    }
}

/// What a step ends with.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    strum::IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Answer {
    Done,
    Approve,
    Reject,
    Pass,
    Fail,
    /// It should have judged, and nobody can tell how (ERRC-08).
    Unclear,
}

/// Whether a step may change the work tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Writes {
    /// It is there to change something: a turn that does not is a stall.
    #[default]
    Yes,
    May,
    /// A changed tree makes its verdict void.
    No,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Each {
    Subtask,
}

/// How much can break (ROLE-03).
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    strum::IntoStaticStr,
    strum::EnumString,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "UPPERCASE", const_into_str, ascii_case_insensitive)]
pub enum Risk {
    Low,
    #[default]
    Medium,
    High,
}

impl Risk {
    pub fn from_word(word: &str) -> Option<Risk> {
        Risk::from_str(word.trim()).ok()
    }
}

/// What is different at a risk.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Variant {
    /// Steps that are passed over.
    pub skip: Vec<String>,
    pub limit: BTreeMap<Answer, u32>,
    /// At a limit the risk is raised, before a person is needed.
    pub raise: Option<Risk>,
    /// Other models, by step.
    pub model: BTreeMap<String, String>,
}

/// The roles that a step can have (ROLE-01).
pub const ROLES: [&str; 6] = [
    "developer", "reviewer", "tester", "debugger", "designer", "architect",
];

/// What a run does with a flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowRules {
    pub flow: Flow,
    /// The risk of every task, where the settings say one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk: Option<Risk>,
    /// Why nobody reviews, in the words of the person who wanted it (ROLE-09).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bypass: Option<String>,
    /// How the route was chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub card: Option<crate::route::Card>,
}

impl FlowRules {
    /// Lets nobody review; who tests stays (ROLE-05, ROLE-09).
    pub fn bypass_reviews(&mut self, reason: String) {
        self.bypass = Some(reason);
        let reviews = |step: &&Step| step.verdict == VerdictKind::Review;
        let reviews: Vec<_> = self.flow.steps.iter().filter(reviews).collect();
        for risk in [Risk::Low, Risk::Medium, Risk::High] {
            let variant = self.flow.risk.entry(risk).or_default();
            variant
                .skip
                .extend(reviews.iter().map(|step| step.id.clone()));
        }
    }
}

/// The part of a call of the agent that its role needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowTurn {
    /// Id of the step.
    pub step: String,
    pub role: String,
    pub verdict: VerdictKind,
    pub risk: Risk,
    /// Overrides the model of the step.
    pub model: Option<String>,
    /// Name of the file that it has to leave.
    pub output: Option<String>,
    /// Findings have to be reproducible from now on to block.
    pub strict: bool,
}

impl Flow {
    pub fn step(&self, index: usize) -> Option<&Step> {
        self.steps.get(index)
    }

    pub fn index_of(&self, id: &str) -> Option<usize> {
        self.steps.iter().position(|step| step.id == id)
    }

    /// The file whose boxes are the subtasks.
    pub fn plan_file(&self) -> Option<&str> {
        let step = self.steps.iter().find(|step| step.plans)?;
        step.output.as_deref()
    }

    /// The steps that are phases, in their order.
    pub fn phases(&self) -> impl Iterator<Item = (usize, &Step)> {
        self.steps
            .iter()
            .enumerate()
            .filter(|(_, step)| !step.aside)
    }

    fn variant(&self, risk: Risk) -> Option<&Variant> {
        self.risk.get(&risk)
    }

    pub fn skips(&self, step: &Step, risk: Risk) -> bool {
        self.variant(risk)
            .is_some_and(|variant| variant.skip.contains(&step.id))
    }

    pub fn model_for<'a>(&'a self, step: &'a Step, risk: Risk) -> Option<&'a str> {
        let own = self.variant(risk).and_then(|v| v.model.get(&step.id));
        own.or(step.model.as_ref()).map(String::as_str)
    }
}

impl Step {
    /// `3_subtask_{n}.md` with the number in its place.
    pub fn output_for(&self, subtask: usize) -> Option<String> {
        let name = self.output.as_ref()?;
        Some(name.replace("{n}", &subtask.to_string()))
    }
}

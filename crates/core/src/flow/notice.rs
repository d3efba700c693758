//! What there is to tell about roles and phases, as data.

use serde::{Deserialize, Serialize, Serializer};
use serde_json::json;

use super::{Answer, Detected, Risk, RiskSign, Title};
use crate::lang::{Lang, Say, Spoken};
use crate::machine::Level;
use crate::text::duration::plural;
use crate::tr;
use crate::wire;

#[derive(Clone, Debug, PartialEq, Serialize, strum::IntoStaticStr, Say)]
#[serde(untagged)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum FlowNotice {
    /// A task begins its way through the roles.
    #[say("task {task}: risk {risk} ({why})", (risk, why) = (detected.risk.into_str(), detected.sign.say(lang)))]
    #[strum(to_string = "task_start")]
    TaskBegins {
        task: String,
        #[serde(flatten, serialize_with = "because")]
        detected: Detected,
    },
    #[say("{role} begins, round {round}", role = role.to_uppercase())]
    #[strum(to_string = "role_start")]
    RoleBegins {
        iteration: u32,
        step: String,
        role: String,
        #[serde(serialize_with = "wire::name")]
        risk: Risk,
        round: u32,
        dispatch: u32,
    },
    #[say(verdict(role, *answer, *score) + &counts((*rejects, *fails), *unclear, lang))]
    #[strum(to_string = "role_answer")]
    Answered {
        iteration: u32,
        role: String,
        answer: Answer,
        #[serde(rename = "reject_count")]
        rejects: u32,
        #[serde(rename = "fail_count")]
        fails: u32,
        /// How many of each had no verdict that counts.
        #[serde(skip)]
        unclear: (u32, u32),
        score: Option<u32>,
        /// Why the work is sent back. There may be foreign words in it, so
        /// that only people are told them ([`Notice::words`]).
        ///
        /// [`Notice::words`]: crate::machine::Notice::words
        #[serde(skip)]
        why: Spoken,
    },
    /// Nobody can read the verdict; `again`: it is asked for once more.
    #[say(if *again, "{role} gave no verdict that can be read; asking once more", role = role.to_uppercase())]
    #[say("{role} gave no verdict that can be read again: counted as unclear", role = role.to_uppercase())]
    #[strum(to_string = "role_unclear")]
    #[serde(serialize_with = "unclear")]
    Unclear {
        iteration: u32,
        role: String,
        again: bool,
    },
    /// A role that may only look changed the work tree.
    #[say(if *again, "{role} may only look and changed {files}: what it says does not count; asking once more", role = role.to_uppercase(), files = some(files, lang))]
    #[say("{role} may only look and changed {files} again: what it says does not count", role = role.to_uppercase(), files = some(files, lang))]
    #[strum(to_string = "role_violation")]
    Violation {
        iteration: u32,
        role: String,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        files: Vec<String>,
        #[serde(rename = "asked_again")]
        again: bool,
    },
    /// Nothing shows what a review found; it stands all the same.
    #[say(if *findings == 0, "the review names no finding; the rejection stands, and at the limit a person decides")]
    #[say(if *findings == 1, "the one finding could not be reproduced; the rejection stands, and at the limit a person decides")]
    #[say(
        "none of the {findings} findings could be reproduced; the rejection stands, and at the limit a person decides"
    )]
    #[strum(to_string = "review_unshown")]
    Unshown { iteration: u32, findings: usize },
    /// A role was about to begin without the approval that it needs (ROLE-05).
    #[say("{role_en} without a fresh approval of {needs} breaks the D→R→T flow (risk: {risk})", (role_en, needs) = (role.to_uppercase(), needs.to_uppercase()), risk = risk.into_str())]
    #[strum(to_string = "role_refused")]
    #[serde(serialize_with = "refused")]
    Refused {
        iteration: u32,
        role: String,
        needs: String,
        risk: Risk,
    },
    #[say("risk raised from {from} to {to}", (from, to) = (from.into_str(), to.into_str()))]
    RiskRaised {
        iteration: u32,
        #[serde(serialize_with = "wire::name")]
        from: Risk,
        #[serde(serialize_with = "wire::name")]
        to: Risk,
    },
    /// The files that were changed say more than the task did.
    #[say("risk raised from {from} to {to} by what was changed: {sign}", (from, to, sign) = (from.into_str(), to.into_str(), sign.say(lang)))]
    RiskSeen {
        iteration: u32,
        #[serde(serialize_with = "wire::name")]
        from: Risk,
        #[serde(serialize_with = "wire::name")]
        to: Risk,
        #[serde(skip)]
        sign: RiskSign,
    },
    /// Boxes that were ticked before their time are open again.
    #[say("ticked too early and open again: {ids}", ids = ids.join(", "))]
    TicksHeld {
        iteration: u32,
        #[serde(rename = "tasks")]
        ids: Vec<String>,
    },
    #[say("task {task} has passed all roles")]
    TaskPassed { iteration: u32, task: String },
    #[say("phase {phase}/{of} done: {title}{percent}", (title, percent) = (title.say(lang), percent.map_or_else(String::new, |p| format!(" ({p}%)"))))]
    #[strum(to_string = "phase_complete")]
    PhaseDone {
        iteration: u32,
        phase: usize,
        #[serde(rename = "phases")]
        of: usize,
        #[serde(serialize_with = "in_english")]
        title: Title,
        percent: Option<u8>,
    },
    /// A phase ended without the file that it has to leave.
    #[say("the phase left no {file}; asking again")]
    OutputMissing { iteration: u32, file: String },
    #[say("{task}a person is needed ({role}, {count}): {why}", role = role.to_uppercase(), why = why.say(lang), task = before_colon(task))]
    Escalated {
        iteration: u32,
        #[serde(rename = "reason")]
        why: Escalation,
        task: String,
        role: String,
        count: u32,
    },
    /// A person switched the reviews off (ROLE-09).
    #[say("reviews are switched off for task {task}: {reason}")]
    #[strum(to_string = "review_bypassed")]
    Bypassed {
        iteration: u32,
        task: String,
        reason: String,
    },
}

/// Why a person is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr, Say)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Escalation {
    #[say(
        "the review sent the task back too often; look at the findings, change the task or the code, then `ralph resume`"
    )]
    Rejects,
    #[say(
        "the tests of the task failed too often; look at them, change the task or the code, then `ralph resume`"
    )]
    Fails,
    /// A role that judges gave no verdict (ERRC-08).
    #[say(
        "too often no verdict could be read in what the role said, or it did not count; look at its answers, change the task, the agent or the code, then `ralph resume`"
    )]
    Unclear,
    /// The flow itself says so.
    #[say(
        "the review did not pass, and this flow leaves the rest to you; see to it, then `ralph resume`"
    )]
    Flow,
    /// Everybody said yes, and nothing shows it.
    #[say(
        "all roles agree, and what the run can check does not show the work; look at it and say so with `ralph accept`, or change it, then `ralph resume`"
    )]
    Unshown,
}

/// Why the answer of a role that judges is no verdict.
#[derive(Clone, Debug, PartialEq, Eq, Say)]
pub enum Void {
    #[say(if words.is_empty(), "no verdict can be read in its answer")]
    #[say("no verdict can be read in its answer: {words}")]
    Unreadable { words: String },
    /// It may only look.
    #[say("its verdict does not count, because it changed {files}", files = some(files, lang))]
    Changed { files: Vec<String> },
}

/// The first few names; nobody may know any.
fn some(files: &[String], lang: Lang) -> String {
    const SHOWN: usize = 3;
    let shown: Vec<&str> = files.iter().take(SHOWN).map(String::as_str).collect();
    match files.len() {
        0 => tr!(lang, "files"),
        1..=SHOWN => shown.join(", "),
        _ => format!("{}, …", shown.join(", ")),
    }
}

fn because<S: Serializer>(detected: &Detected, to: S) -> Result<S::Ok, S::Error> {
    json!({"risk": detected.risk.into_str(), "because": detected.sign}).serialize(to)
}

fn unclear<S: Serializer>(
    iteration: &u32,
    role: &str,
    again: &bool,
    to: S,
) -> Result<S::Ok, S::Error> {
    json!({"iteration": iteration, "reason": "unclear", "role": role, "asked_again": again})
        .serialize(to)
}

/// The reason is what ROLE-05 shows, word for word.
fn refused<S: Serializer>(
    iteration: &u32,
    role: &str,
    needs: &str,
    risk: &Risk,
    to: S,
) -> Result<S::Ok, S::Error> {
    let refused = FlowNotice::Refused {
        iteration: *iteration,
        role: role.into(),
        needs: needs.into(),
        risk: *risk,
    };
    json!({
        "iteration": iteration, "decision": "block", "reason": refused.say(Lang::ZhTw),
        "role": role, "needs": needs,
    })
    .serialize(to)
}

fn verdict(role: &str, answer: Answer, score: Option<u32>) -> String {
    let (role, answer) = (role.to_uppercase(), answer.into_str().to_uppercase());
    let score = score.map_or_else(String::new, |score| format!(", Review Score: {score}/100"));
    format!("{role}: {answer}{score}")
}

/// Whoever gave no verdict has rejected nothing.
fn counts((rejects, fails): (u32, u32), (no, none): (u32, u32), lang: Lang) -> String {
    let (rejects, fails) = (rejects.saturating_sub(no), fails.saturating_sub(none));
    let rejections_en = plural(rejects as usize, "rejection", "rejections");
    let failures_en = plural(fails as usize, "failure", "failures");
    match (rejects, fails, no + none) {
        (0, 0, 0) => String::new(),
        (_, _, 0) => tr!(lang, " ({rejects} {rejections_en}, {fails} {failures_en})"),
        (_, _, unclear) => tr!(
            lang,
            " ({rejects} {rejections_en}, {fails} {failures_en}, {unclear} without a verdict)"
        ),
    }
}

fn before_colon(task: &str) -> String {
    match task {
        "" => String::new(),
        task => format!("{task}: "),
    }
}

/// Machines are told in one language.
fn in_english<S: Serializer>(title: &Title, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&title.en)
}

impl FlowNotice {
    pub fn level(&self) -> Level {
        match self {
            FlowNotice::TaskBegins { .. }
            | FlowNotice::RoleBegins { .. }
            | FlowNotice::TaskPassed { .. }
            | FlowNotice::PhaseDone { .. } => Level::Info,
            FlowNotice::Answered { answer, .. } => match answer {
                Answer::Reject | Answer::Fail | Answer::Unclear => Level::Warn,
                _ => Level::Info,
            },
            _ => Level::Warn,
        }
    }
}

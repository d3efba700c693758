//! The quality gate before a pull request: what the papers of a project must
//! say (QUAL), and what is wrong with them.
//!
//! Nothing is read here. The engine collects [`Papers`], [`judge`] holds them
//! against the settings and names every failure at once, in the order in
//! which a person would remove them (STOP-13).

mod audit;
mod evidence;
mod record;
mod say;
mod steps;
#[cfg(test)]
mod tests;

pub use record::{GateFile, GateRecord, Key, sign};
pub use steps::{Manifest, OWN_GATE, Step, configured, detect, names, steps_digest};

use crate::config::{Freshness, GateSettings, GateTrust};
use crate::lang::Say;

/// For which pull request phase the gate is asked: both ask for the same
/// papers, because p1 changes code too (QUAL-09).
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Phase {
    /// Before the pull request exists.
    P0,
    /// While CI judges it.
    P1,
}

/// A file as it was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Paper {
    #[default]
    Missing,
    Unreadable(String),
    Text(String),
}

impl Paper {
    fn text(&self) -> Option<&str> {
        match self {
            Paper::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// Everything that the gate looks at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Papers {
    pub branch: Option<String>,
    pub commit: Option<String>,
    pub audit: Paper,
    pub gate: Paper,
    /// `.quality-evidence.json`, which is optional (QUAL-06).
    pub quality: Paper,
    pub evidence: Paper,
    /// Files that the evidence names and that are there.
    pub shown: Vec<String>,
    /// The key that Ralph signs with; `None` where there is none yet.
    pub key: Option<Key>,
    /// Fingerprint of the work tree without the papers.
    pub tree: Option<String>,
    /// A file that changed after the gate file was written, by its time.
    pub newer: Option<String>,
    /// The steps that the gate consists of now.
    pub steps: Vec<Step>,
}

/// One thing that keeps the gate shut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The file that it is about, as people know it.
    pub file: String,
    pub problem: Problem,
}

#[derive(Clone, Debug, PartialEq, Eq, Say)]
pub enum Problem {
    #[say("there is no audit report")]
    AuditMissing,
    #[say("it can't be read: {detail}")]
    AuditUnreadable { detail: String },
    #[say("it has no line `Decision: PASS`")]
    AuditUndecided,
    #[say("its decision is \"{decision}\", not PASS")]
    AuditNotPassed { decision: String },
    /// It says PASS over errors that it counts itself (QUAL-03).
    #[say("it counts {count} findings of {layer}; with any of L1 or L2 it can't pass")]
    AuditContradictsItself { layer: String, count: u32 },
    #[say("findings of L1 or L2 are still pending: {ids}", ids = ids.join(", "))]
    AuditPending { ids: Vec<String> },
    #[say("it is about the branch {said}, and {is} is checked out")]
    AuditOtherBranch { said: String, is: String },
    #[say("the gate did not run, or did not pass")]
    GateMissing,
    #[say("it can't be read: {detail}")]
    GateUnreadable { detail: String },
    #[say("it does not say that these steps passed: {steps}", steps = steps.join(", "))]
    GateIncomplete { steps: Vec<String> },
    /// Ralph did not write it, or somebody changed it.
    #[say("it was not written by `ralph gate run` on this machine, or was changed since")]
    GateNotOurs,
    /// Other commands ran than the gate consists of.
    #[say("it was made with other commands than the gate consists of now")]
    GateOtherSteps,
    #[say("files have changed since the gate passed")]
    GateStale,
    #[say("it is older than {than}")]
    GateOlder { than: String },
    #[say("it can't be read: {detail}")]
    QualityUnreadable { detail: String },
    #[say("it is about the commit \"{said}\", and HEAD is {is}")]
    QualityOtherCommit { said: String, is: String },
    #[say("these fields do not say that it passed: {fields}", fields = fields.join(", "))]
    QualityNotPassed { fields: Vec<String> },
    #[say("there is no evidence of a try-out")]
    EvidenceMissing,
    #[say("it can't be read: {detail}")]
    EvidenceUnreadable { detail: String },
    #[say("it is empty")]
    EvidenceEmpty,
    #[say("the section `## {heading}` is missing")]
    EvidenceSection { heading: &'static str },
    #[say("it holds {found} items of evidence, and {wanted} are wanted")]
    EvidenceTooLittle { found: u32, wanted: u32 },
    #[say("{id} shows {path}, which is not there")]
    EvidenceNotShown { id: String, path: String },
    #[say("{id} shows nothing: neither a file nor an output")]
    EvidenceBare { id: String },
    #[say("{id} has no line `HTTP_STATUS: …`")]
    EvidenceNoStatus { id: String },
    #[say("{count} boxes below `## DoD` are not ticked")]
    EvidenceOpen { count: u32 },
    /// A pull request of papers about nothing.
    #[say("nothing but the gate's own papers differs from it")]
    NoWork,
}

/// Which of the four papers a problem is about, or what they are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Check {
    Audit,
    Gate,
    #[strum(to_string = "quality_evidence")]
    Quality,
    Evidence,
    Work,
}

/// Everything that is wrong, the first to be removed first; nothing where the
/// gate is open.
pub fn judge(papers: &Papers, settings: &GateSettings, phase: Phase) -> Vec<Finding> {
    // Both phases ask for the same: p1 repeats what p0 asked (QUAL-09).
    let (Phase::P0 | Phase::P1) = phase;
    let mut found = Vec::new();
    let of = |file: &str, problems: Vec<Problem>| {
        let file = file.to_owned();
        problems.into_iter().map(move |problem| Finding {
            file: file.clone(),
            problem,
        })
    };
    let branch = papers.branch.as_deref();
    found.extend(of(
        &settings.audit_report,
        audit::judge(&papers.audit, branch),
    ));
    found.extend(of(&settings.gate_file, judge_gate(papers, settings)));
    found.extend(of(
        &settings.quality_file,
        evidence::judge_quality(&papers.quality, papers.commit.as_deref()),
    ));
    found.extend(of(
        &settings.evidence_file,
        evidence::judge(&papers.evidence, &papers.shown, settings),
    ));
    found
}

/// The files that an evidence file shows, so that somebody can look whether
/// they are there.
pub fn shown_files(evidence: &str) -> Vec<String> {
    evidence::shown_files(evidence)
}

fn judge_gate(papers: &Papers, settings: &GateSettings) -> Vec<Problem> {
    let text = match &papers.gate {
        Paper::Missing => return vec![Problem::GateMissing],
        Paper::Unreadable(detail) => {
            let detail = detail.clone();
            return vec![Problem::GateUnreadable { detail }];
        }
        Paper::Text(text) => text,
    };
    let file = GateFile::read(text);
    let ours = papers.key.as_ref().is_some_and(|key| file.is_signed(key));
    let record = &file.record;
    if settings.trust == GateTrust::Signed && !ours {
        return vec![Problem::GateNotOurs];
    }
    let mut problems = Vec::new();
    let missing = record.not_passed(&steps::required(&papers.steps, ours));
    if !missing.is_empty() {
        problems.push(Problem::GateIncomplete { steps: missing });
    }
    let digest = steps_digest(&papers.steps);
    if ours && record.steps.as_deref() != Some(digest.as_str()) {
        problems.push(Problem::GateOtherSteps);
    }
    problems.extend(staleness(papers, settings, record));
    problems
}

/// A file without a fingerprint is nobody's but a foreign gate's: there only
/// its time is left.
fn staleness(papers: &Papers, settings: &GateSettings, record: &GateRecord) -> Option<Problem> {
    let by_content = settings.freshness == Freshness::Content && record.tree.is_some();
    match settings.freshness {
        Freshness::Off => None,
        _ if by_content => (record.tree != papers.tree).then_some(Problem::GateStale),
        _ => papers.newer.clone().map(|than| Problem::GateOlder { than }),
    }
}

impl Finding {
    pub fn check(&self) -> Check {
        use Problem::*;
        match self.problem {
            AuditMissing
            | AuditUnreadable { .. }
            | AuditUndecided
            | AuditNotPassed { .. }
            | AuditContradictsItself { .. }
            | AuditPending { .. }
            | AuditOtherBranch { .. } => Check::Audit,
            GateMissing
            | GateUnreadable { .. }
            | GateIncomplete { .. }
            | GateNotOurs
            | GateOtherSteps
            | GateStale
            | GateOlder { .. } => Check::Gate,
            QualityUnreadable { .. } | QualityOtherCommit { .. } | QualityNotPassed { .. } => {
                Check::Quality
            }
            EvidenceMissing
            | EvidenceUnreadable { .. }
            | EvidenceEmpty
            | EvidenceSection { .. }
            | EvidenceTooLittle { .. }
            | EvidenceNotShown { .. }
            | EvidenceBare { .. }
            | EvidenceNoStatus { .. }
            | EvidenceOpen { .. } => Check::Evidence,
            NoWork => Check::Work,
        }
    }

    /// The name of the problem for programs.
    pub fn code(&self) -> &'static str {
        use Problem::*;
        match self.problem {
            AuditMissing => "audit_missing",
            AuditUnreadable { .. } => "audit_unreadable",
            AuditUndecided => "audit_undecided",
            AuditNotPassed { .. } => "audit_not_passed",
            AuditContradictsItself { .. } => "audit_contradicts_itself",
            AuditPending { .. } => "audit_pending",
            AuditOtherBranch { .. } => "audit_other_branch",
            GateMissing => "gate_missing",
            GateUnreadable { .. } => "gate_unreadable",
            GateIncomplete { .. } => "gate_incomplete",
            GateNotOurs => "gate_not_ours",
            GateOtherSteps => "gate_other_steps",
            GateStale => "gate_stale",
            GateOlder { .. } => "gate_older",
            QualityUnreadable { .. } => "quality_evidence_unreadable",
            QualityOtherCommit { .. } => "quality_evidence_other_commit",
            QualityNotPassed { .. } => "quality_evidence_not_passed",
            EvidenceMissing => "evidence_missing",
            EvidenceUnreadable { .. } => "evidence_unreadable",
            EvidenceEmpty => "evidence_empty",
            EvidenceSection { .. } => "evidence_section_missing",
            EvidenceTooLittle { .. } => "evidence_too_little",
            EvidenceNotShown { .. } => "evidence_file_missing",
            EvidenceBare { .. } => "evidence_bare",
            EvidenceNoStatus { .. } => "evidence_no_status",
            EvidenceOpen { .. } => "evidence_open",
            NoWork => "no_work",
        }
    }
}

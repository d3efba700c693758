//! What a finding says to a person: what is wrong, where, and what to do next.

use super::{Check, Finding, Problem};
use crate::lang::{Lang, Say};
use crate::tr;

impl Finding {
    /// What is wrong, without the file.
    pub fn what(&self, lang: Lang) -> String {
        match &self.problem {
            Problem::AuditMissing => tr!(lang, "there is no audit report"),
            Problem::AuditUnreadable { detail }
            | Problem::GateUnreadable { detail }
            | Problem::QualityUnreadable { detail }
            | Problem::EvidenceUnreadable { detail } => tr!(lang, "it can't be read: {detail}"),
            Problem::AuditUndecided => tr!(lang, "it has no line `Decision: PASS`"),
            Problem::AuditNotPassed { decision } => {
                tr!(lang, "its decision is \"{decision}\", not PASS")
            }
            Problem::AuditContradictsItself { layer, count } => tr!(
                lang,
                "it counts {count} findings of {layer}; with any of L1 or L2 it can't pass"
            ),
            Problem::AuditPending { ids } => {
                let ids = ids.join(", ");
                tr!(lang, "findings of L1 or L2 are still pending: {ids}")
            }
            Problem::AuditOtherBranch { said, is } => tr!(
                lang,
                "it is about the branch {said}, and {is} is checked out"
            ),
            Problem::GateMissing => tr!(lang, "the gate did not run, or did not pass"),
            Problem::GateIncomplete { steps } => {
                let steps = steps.join(", ");
                tr!(lang, "it does not say that these steps passed: {steps}")
            }
            Problem::GateNotOurs => tr!(
                lang,
                "it was not written by `ralph gate run` on this machine, or was changed since"
            ),
            Problem::GateOtherSteps => tr!(
                lang,
                "it was made with other commands than the gate consists of now"
            ),
            Problem::GateStale => tr!(lang, "files have changed since the gate passed"),
            Problem::GateOlder { than } => tr!(lang, "it is older than {than}"),
            Problem::QualityOtherCommit { said, is } => {
                tr!(lang, "it is about the commit \"{said}\", and HEAD is {is}")
            }
            Problem::QualityNotPassed { fields } => {
                let fields = fields.join(", ");
                tr!(lang, "these fields do not say that it passed: {fields}")
            }
            Problem::EvidenceMissing => tr!(lang, "there is no evidence of a try-out"),
            Problem::EvidenceEmpty => tr!(lang, "it is empty"),
            Problem::EvidenceSection { heading } => {
                tr!(lang, "the section `## {heading}` is missing")
            }
            Problem::EvidenceTooLittle { found, wanted } => tr!(
                lang,
                "it holds {found} items of evidence, and {wanted} are wanted"
            ),
            Problem::EvidenceNotShown { id, path } => {
                tr!(lang, "{id} shows {path}, which is not there")
            }
            Problem::EvidenceBare { id } => {
                tr!(lang, "{id} shows nothing: neither a file nor an output")
            }
            Problem::EvidenceNoStatus { id } => tr!(lang, "{id} has no line `HTTP_STATUS: …`"),
            Problem::EvidenceOpen { count } => {
                tr!(lang, "{count} boxes below `## DoD` are not ticked")
            }
        }
    }

    /// What to do about it.
    pub fn next(&self, lang: Lang) -> String {
        let file = &self.file;
        match (self.check(), &self.problem) {
            (Check::Audit, Problem::AuditMissing | Problem::AuditUnreadable { .. }) => tr!(
                lang,
                "audit the changes (/audit) and write {file} with `Decision: PASS` or `Decision: FAIL`"
            ),
            (Check::Audit, _) => tr!(
                lang,
                "fix the findings of L1 and L2, then audit again (/audit) and update {file}"
            ),
            (Check::Gate, _) => tr!(lang, "run `ralph gate run`, and fix what fails"),
            (Check::Quality, _) => tr!(lang, "make {file} anew for this commit, or remove it"),
            (Check::Evidence, Problem::EvidenceNotShown { path, .. }) => {
                tr!(lang, "put {path} there, or correct {file}")
            }
            (Check::Evidence, _) => tr!(
                lang,
                "try the change out and write into {file} what you did and saw"
            ),
        }
    }
}

impl Say for Finding {
    fn say(&self, lang: Lang) -> String {
        let (what, next) = (self.what(lang), self.next(lang));
        let file = &self.file;
        tr!(lang, "{file}: {what}. Next: {next}.")
    }
}

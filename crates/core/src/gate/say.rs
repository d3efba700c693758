//! What a finding says to a person: what is wrong, where, and what to do next.

use super::{Check, Finding, Problem};
use crate::lang::{Lang, Say};
use crate::tr;

impl Finding {
    /// What is wrong, without the file.
    pub fn what(&self, lang: Lang) -> String {
        self.problem.say(lang)
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
            (Check::Work, _) => tr!(lang, "do the work that is asked for, and commit it"),
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

//! The module's texts for people, in all languages.

use crate::lang::{Lang, Say};
use crate::tr;

use super::compare::Changes;
use super::finding::cycle;
use super::pick::{Pick, Waiting};

fn separator(lang: Lang) -> &'static str {
    if lang == Lang::En { ", " } else { "、" }
}

impl Pick {
    /// Why there is no next task; `None` where there is one or all is done.
    pub fn problem(&self, lang: Lang) -> Option<String> {
        match self {
            Pick::Next { .. } | Pick::Done => None,
            Pick::Cycle { ids } => Some(cycle(lang, ids)),
            Pick::Blocked { waiting } => Some(blocked(lang, waiting)),
            Pick::NothingInScope { phase, known } => {
                Some(nothing_in_scope(lang, phase.as_deref(), known))
            }
        }
    }
}

fn blocked(lang: Lang, waiting: &[Waiting]) -> String {
    let joint = if lang == Lang::En { "; " } else { "；" };
    let reasons: Vec<String> = waiting.iter().map(|waiting| waiting.say(lang)).collect();
    let reasons = reasons.join(joint);
    tr!(
        lang,
        "no task can be started: {reasons}; finish what they wait for, or correct their `depends`"
    )
}

fn nothing_in_scope(lang: Lang, phase: Option<&str>, known: &[String]) -> String {
    let Some(phase) = phase else {
        return tr!(
            lang,
            "every task is optional or was skipped, so there is nothing to do; take one back into scope"
        );
    };
    if known.is_empty() {
        return tr!(
            lang,
            "there is no phase {phase}, because this file has no phases; run without --phase"
        );
    }
    let known = known.join(separator(lang));
    tr!(
        lang,
        "phase {phase} has no tasks; the phases of this file are: {known}"
    )
}

/// What happened to the file, one clause per kind of change.
impl Say for Changes {
    fn say(&self, lang: Lang) -> String {
        let clauses = [
            (&self.newly_done, tr!(lang, "ticked")),
            (&self.unticked, tr!(lang, "unticked")),
            (&self.removed, tr!(lang, "removed")),
            (&self.added, tr!(lang, "added")),
            (&self.reworded, tr!(lang, "reworded")),
        ];
        let joint = if lang == Lang::En { "; " } else { "；" };
        let clauses: Vec<String> = clauses
            .iter()
            .filter(|(ids, _)| !ids.is_empty())
            .map(|(ids, word)| {
                let ids = ids.join(separator(lang));
                tr!(lang, "{word}: {ids}")
            })
            .collect();
        clauses.join(joint)
    }
}

impl Say for Waiting {
    fn say(&self, lang: Lang) -> String {
        let id = &self.id;
        let reasons: Vec<String> = self.on.iter().map(|unmet| unmet.say(lang)).collect();
        let reasons = reasons.join(separator(lang));
        tr!(lang, "task {id} waits for {reasons}")
    }
}

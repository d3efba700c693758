//! The module's texts for people, in all languages.

use crate::lang::{Lang, Say};
use crate::tr;

use super::compare::Changes;
use super::lint::{Finding, FindingKind};
use super::markdown::Unclosed;
use super::pick::{Pick, Waiting};

impl Say for Finding {
    fn say(&self, lang: Lang) -> String {
        match &self.kind {
            FindingKind::OutsideSection { id } => tr!(
                lang,
                "task {id} is a box outside a task section; it counts, but belongs to no phase: move it below a phase heading, or make it a plain bullet"
            ),
            FindingKind::DuplicateId { id, first_line } => tr!(
                lang,
                "id {id} is already used on line {first_line}; give this task another one"
            ),
            FindingKind::Cycle { ids } => cycle(lang, ids),
            FindingKind::UnknownDependency { id, on } => tr!(
                lang,
                "{id} depends on {on}, which is not in this file; correct the id or take it out"
            ),
            FindingKind::UnknownField { id, key } => tr!(
                lang,
                "task {id} has a field \"{key}\" that Ralph does not know; use agent, files, output or depends"
            ),
            FindingKind::UnknownAgent { id, agent } => tr!(
                lang,
                "task {id} names the agent \"{agent}\"; use developer, reviewer, tester, designer or debugger"
            ),
            FindingKind::HumanOnly { id, word } => tr!(
                lang,
                "task {id} asks for a person (\"{word}\") and would stop an unattended run; reword it, make it optional, or do it first"
            ),
            FindingKind::OpenBelowDone { id, child } => tr!(
                lang,
                "task {child} is open, but task {id} above it is ticked; untick {id} or finish {child}"
            ),
            FindingKind::EmptyText { id } => tr!(
                lang,
                "task {id} is a box without a text; write what is to be done, or delete the line"
            ),
            FindingKind::NoPassesField { id } => tr!(
                lang,
                "story {id} has no \"passes\" that is true or false, so it can never be ticked; add \"passes\": false"
            ),
            FindingKind::NotABox { text } => tr!(
                lang,
                "this looks like a task and is not counted: {text}; write it as `- [ ] text` or `- [x] text`"
            ),
            FindingKind::Unclosed(what) => unclosed(lang, *what),
        }
    }
}

fn unclosed(lang: Lang, what: Unclosed) -> String {
    match what {
        Unclosed::Fence => tr!(
            lang,
            "this code fence is never closed, so boxes below it count as tasks; close it with the same marks on a line of their own"
        ),
        Unclosed::Comment => tr!(
            lang,
            "this comment is never closed, so boxes below it count as tasks; close it with `-->`"
        ),
    }
}

fn cycle(lang: Lang, ids: &[String]) -> String {
    let circle: Vec<&str> = ids.iter().chain(ids.first()).map(String::as_str).collect();
    let circle = circle.join(" → ");
    tr!(
        lang,
        "these wait for each other: {circle}; take one of the dependencies out"
    )
}

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

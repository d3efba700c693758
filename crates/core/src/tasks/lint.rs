//! What is doubtful about a task file, so that a person can mend it before an
//! unattended run trips over it.

use std::collections::HashMap;

use crate::config::nearest;
use crate::proof::AskedProof;

use super::depends::{Dependencies, Target};
use super::finding::{Finding, FindingKind};
use super::format::Format;
use super::human_only::human_words;
use super::model::{Task, TaskList};

/// Agents that a task may name (TASK-08).
const AGENTS: [&str; 5] = ["developer", "reviewer", "tester", "designer", "debugger"];

/// Risks that a task may have (ROLE-04).
pub(super) const RISKS: [&str; 3] = ["low", "medium", "high"];

/// More cycles than these help nobody.
const MOST_CYCLES: usize = 20;

impl TaskList {
    /// All findings, in the order of their lines.
    pub fn lint(&self) -> Vec<Finding> {
        let mut findings = self.doubts.clone();
        for task in &self.tasks {
            let found = self.doubts_about(task).into_iter();
            findings.extend(found.map(|kind| Finding {
                line: task.line,
                kind,
            }));
        }
        if self.is_all_optional() {
            findings.extend(self.tasks.first().map(|first| Finding {
                line: first.line,
                kind: FindingKind::OnlyOptional,
            }));
        }
        self.find_duplicates(&mut findings);
        self.find_bad_dependencies(&mut findings);
        findings.sort_by_key(|finding| finding.line);
        findings
    }

    /// The first id that two tasks have, with the lines of both.
    pub fn doubled_id(&self) -> Option<(String, usize, usize)> {
        let mut found = Vec::new();
        self.find_duplicates(&mut found);
        found.into_iter().find_map(|finding| match finding.kind {
            FindingKind::DuplicateId { id, first_line } => Some((id, first_line, finding.line)),
            _ => None,
        })
    }

    fn doubts_about(&self, task: &Task) -> Vec<FindingKind> {
        let id = || task.id.clone();
        let mut found = Vec::new();
        let has_sections = matches!(self.format, Format::SpecKit | Format::OpenSpec);
        if has_sections && task.phase.is_none() {
            found.push(FindingKind::OutsideSection { id: id() });
        }
        if task.text.is_empty() {
            found.push(FindingKind::EmptyText { id: id() });
        }
        if task.mark.is_none() {
            found.push(FindingKind::NoPassesField { id: id() });
        }
        // Some that are kept as they stand mean something all the same.
        let fields = task
            .fields
            .iter()
            .filter(|(key, _)| !super::fields::is_known(key));
        found.extend(fields.map(|(key, _)| FindingKind::UnknownField {
            id: id(),
            key: key.clone(),
        }));
        if task.field("verify").is_some() {
            found.push(FindingKind::EmptyCheck { id: id() });
        }
        found.extend(agent_doubt(task));
        found.extend(risk_doubt(task));
        found.extend(proof_doubt(task));
        let near = super::fields::misspelt(&task.text).into_iter();
        found.extend(near.map(|(key, nearest)| FindingKind::MisspeltField {
            id: id(),
            key,
            nearest,
        }));
        let parent = task.parent.and_then(|parent| self.tasks.get(parent));
        if let Some(parent) = parent.filter(|parent| parent.done && !task.done) {
            found.push(FindingKind::OpenBelowDone {
                id: parent.id.clone(),
                child: id(),
            });
        }
        found
    }

    fn find_duplicates(&self, findings: &mut Vec<Finding>) {
        let mut first_lines: HashMap<&str, usize> = HashMap::with_capacity(self.tasks.len());
        for task in self.tasks.iter().filter(|task| task.has_own_id) {
            match first_lines.get(task.id.as_str()) {
                None => {
                    first_lines.insert(&task.id, task.line);
                }
                Some(&first_line) => findings.push(Finding {
                    line: task.line,
                    kind: FindingKind::DuplicateId {
                        id: task.id.clone(),
                        first_line,
                    },
                }),
            }
        }
    }

    fn find_bad_dependencies(&self, findings: &mut Vec<Finding>) {
        let Some(dependencies) = Dependencies::of(self) else {
            return;
        };
        let mut note = |line: usize, id: &str, on: &str, target: Target<'_>| {
            if matches!(target, Target::Unknown) {
                findings.push(Finding {
                    line,
                    kind: FindingKind::UnknownDependency {
                        id: id.to_owned(),
                        on: on.to_owned(),
                    },
                });
            }
        };
        for task in &self.tasks {
            for name in &task.depends {
                note(task.line, &task.id, name, dependencies.of_task(name));
            }
        }
        for phase in &self.phases {
            let id = format!("Phase {}", phase.key);
            for name in &phase.depends {
                note(phase.line, &id, name, dependencies.of_phase(name));
            }
        }
        let cycles = dependencies.cycles(0..self.tasks.len(), |_| true, MOST_CYCLES);
        findings.extend(cycles.into_iter().map(|ids| {
            let first = ids.iter().find_map(|id| self.find(id));
            Finding {
                line: first
                    .and_then(|first| self.tasks.get(first))
                    .map_or(1, |task| task.line),
                kind: FindingKind::Cycle { ids },
            }
        }));
    }
}

fn agent_doubt(task: &Task) -> Option<FindingKind> {
    let id = || task.id.clone();
    let human_only = |word: &str| FindingKind::HumanOnly {
        id: id(),
        word: word.to_owned(),
    };
    match &task.agent {
        Some(agent) if agent.eq_ignore_ascii_case("human") => {
            (!task.done).then(|| human_only(&format!("agent: {agent}")))
        }
        Some(agent) if !AGENTS.iter().any(|known| agent.eq_ignore_ascii_case(known)) => {
            Some(FindingKind::UnknownAgent {
                id: id(),
                agent: agent.clone(),
            })
        }
        _ if task.done => None,
        _ => human_words(&task.text).map(human_only),
    }
}

/// A word that asks for nothing asks for less than a person meant.
fn proof_doubt(task: &Task) -> Option<FindingKind> {
    let word = task.field("proof").filter(|_| !task.done)?;
    let is_known = word.parse::<AskedProof>().is_ok();
    (!is_known).then(|| FindingKind::UnknownProof {
        id: task.id.clone(),
        word: word.to_owned(),
    })
}

/// The first risk counts, in any case.
fn risk_doubt(task: &Task) -> Option<FindingKind> {
    let mut fields = task.fields.iter();
    let (_, risk) = fields.find(|(key, _)| key.eq_ignore_ascii_case("risk"))?;
    let is_known = RISKS.iter().any(|known| risk.eq_ignore_ascii_case(known));
    (!is_known && !task.done).then(|| FindingKind::UnknownRisk {
        id: task.id.clone(),
        risk: risk.clone(),
        nearest: nearest(risk, RISKS),
    })
}

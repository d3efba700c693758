//! The evidence files: `.layer2-evidence.md` (QUAL-07) and, where it is there,
//! `.quality-evidence.json` (QUAL-06).

use serde_json::Value;

use super::{Paper, Problem};
use crate::config::GateSettings;
use crate::markdown::Fence;

const MANUAL: [&str; 3] = ["手动验证", "手動驗證", "manual verification"];
const AUTOMATIC: [&str; 3] = ["自动化测试", "自動化測試", "automated tests"];
const DONE: &str = "DoD";

pub(super) fn judge(evidence: &Paper, shown: &[String], settings: &GateSettings) -> Vec<Problem> {
    if settings.evidence_min == 0 && *evidence == Paper::Missing {
        return Vec::new();
    }
    let text = match evidence {
        Paper::Missing => return vec![Problem::EvidenceMissing],
        Paper::Unreadable(detail) => {
            let detail = detail.clone();
            return vec![Problem::EvidenceUnreadable { detail }];
        }
        Paper::Text(text) if text.trim().is_empty() => return vec![Problem::EvidenceEmpty],
        Paper::Text(text) => text,
    };
    let page = read(text);
    let mut problems = Vec::new();
    for headings in [&MANUAL, &AUTOMATIC] {
        if !page.has_section(headings) {
            let [heading, ..] = headings;
            problems.push(Problem::EvidenceSection { heading });
        }
    }
    let (found, wanted) = (page.items, settings.evidence_min);
    if found < wanted {
        problems.push(Problem::EvidenceTooLittle { found, wanted });
    }
    problems.extend(page.proofs.iter().filter_map(|proof| proof.problem(shown)));
    if settings.release {
        match page.open_in_done {
            None => problems.push(Problem::EvidenceSection { heading: DONE }),
            Some(0) => {}
            Some(count) => problems.push(Problem::EvidenceOpen { count }),
        }
    }
    problems
}

pub(super) fn shown_files(evidence: &str) -> Vec<String> {
    let proofs = read(evidence).proofs.into_iter();
    proofs.flat_map(|proof| proof.files).collect()
}

/// What an evidence file holds.
#[derive(Default)]
struct Page {
    sections: Vec<String>,
    /// Finished list items and blocks of code.
    items: u32,
    proofs: Vec<Proof>,
    /// Boxes that are not ticked below the heading `DoD`.
    open_in_done: Option<u32>,
}

/// `### S1: …` or `### C1: …` and what stands below it.
struct Proof {
    id: String,
    files: Vec<String>,
    has_status: bool,
    has_content: bool,
}

impl Proof {
    fn problem(&self, shown: &[String]) -> Option<Problem> {
        let id = self.id.clone();
        if self.id.starts_with('C') {
            return (!self.has_status).then_some(Problem::EvidenceNoStatus { id });
        }
        let absent = self.files.iter().find(|file| !shown.contains(file));
        if let Some(path) = absent {
            let path = path.clone();
            return Some(Problem::EvidenceNotShown { id, path });
        }
        let bare = self.files.is_empty() && !self.has_content;
        bare.then_some(Problem::EvidenceBare { id })
    }
}

impl Page {
    fn has_section(&self, headings: &[&str]) -> bool {
        self.sections
            .iter()
            .any(|section| headings.iter().any(|heading| section.starts_with(heading)))
    }

    fn note_item(&mut self) {
        self.items += 1;
        if let Some(proof) = self.proofs.last_mut() {
            proof.has_content = true;
        }
    }
}

fn read(text: &str) -> Page {
    let mut page = Page::default();
    let mut code: Option<Fence> = None;
    for line in text.lines() {
        let bare = line.trim();
        let fence = Fence::at(bare);
        let closes = code
            .zip(fence)
            .is_some_and(|(open, fence)| open.is_closed_by(fence));
        if closes {
            code = None;
        } else if fence.is_some() && code.is_none() {
            code = fence;
            page.note_item();
        } else if let Some(proof) = page.proofs.last_mut()
            && bare.contains("HTTP_STATUS:")
        {
            proof.has_status = true;
        } else if code.is_none() {
            read_prose(bare, &mut page);
        }
    }
    page
}

fn read_prose(line: &str, page: &mut Page) {
    if let Some(title) = line.strip_prefix("### ") {
        if let Some(id) = proof_id(title) {
            page.proofs.push(Proof {
                id,
                files: Vec::new(),
                has_status: false,
                has_content: false,
            });
        }
        return;
    }
    if let Some(title) = line.strip_prefix("## ") {
        let title = title.trim();
        if title.starts_with(DONE) {
            page.open_in_done = page.open_in_done.or(Some(0));
        }
        page.sections.push(title.to_lowercase());
        return;
    }
    let file = shown_file(line);
    if let (Some(file), Some(proof)) = (file, page.proofs.last_mut()) {
        proof.files.push(file);
    }
    let item = ["- ", "* ", "+ "].iter().find_map(|m| line.strip_prefix(m));
    match item.map(str::trim) {
        Some(open) if open.starts_with("[ ]") => {
            let in_done = page.sections.last().is_some_and(|s| s.starts_with("dod"));
            if let Some(count) = page.open_in_done.as_mut().filter(|_| in_done) {
                *count += 1;
            }
        }
        Some(item) if !item.is_empty() => page.note_item(),
        _ => {}
    }
}

/// `S1` of `S1: a screenshot`.
fn proof_id(title: &str) -> Option<String> {
    let (id, _) = title.split_once([':', '：'])?;
    let number = id.strip_prefix(['S', 'C'])?;
    let is_number = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| id.to_owned())
}

/// The path of `- 文件: `./a.png`` or of an image `![…](a.png)`.
fn shown_file(line: &str) -> Option<String> {
    if let Some((_, rest)) = line.split_once("![")
        && let Some((_, rest)) = rest.split_once("](")
        && let Some((path, _)) = rest.split_once(')')
    {
        return Some(path.to_owned());
    }
    let bare: String = line
        .trim_start_matches(['-', '*', ' '])
        .chars()
        .filter(|c| !matches!(c, '*' | '`'))
        .collect();
    let (key, path) = bare.split_once([':', '：'])?;
    let names = ["文件", "檔案", "file"];
    let is_file = names.contains(&key.trim().to_lowercase().as_str());
    (is_file && !path.trim().is_empty()).then(|| path.trim().to_owned())
}

pub(super) fn judge_quality(paper: &Paper, commit: Option<&str>) -> Vec<Problem> {
    let Some(text) = paper.text() else {
        return match paper {
            Paper::Unreadable(detail) => vec![Problem::QualityUnreadable {
                detail: detail.clone(),
            }],
            _ => Vec::new(),
        };
    };
    let value: Value = match serde_json::from_str(text) {
        Ok(value) => value,
        Err(error) => {
            let detail = error.to_string();
            return vec![Problem::QualityUnreadable { detail }];
        }
    };
    let mut problems = Vec::new();
    let said = value["sha"].as_str().unwrap_or_default().to_owned();
    if let Some(is) = commit
        && (said.len() < 7 || !is.starts_with(&said))
    {
        let is = is.to_owned();
        problems.push(Problem::QualityOtherCommit { said, is });
    }
    let fields = bad_fields(&value);
    if !fields.is_empty() {
        problems.push(Problem::QualityNotPassed { fields });
    }
    problems
}

fn bad_fields(value: &Value) -> Vec<String> {
    let evidence = &value["evidence"];
    let passed = |field: &Value, words: &[&str]| field.as_str().is_some_and(|w| words.contains(&w));
    let none = |field: &Value| field.is_null() || field == 0;
    let fields = [
        ("qa_gate_passed", value["qa_gate_passed"] == true),
        (
            "audit_decision",
            passed(&value["audit_decision"], &["PASS"]),
        ),
        (
            "evidence.typecheck",
            passed(&evidence["typecheck"], &["passed", "PASS", "success"]),
        ),
        (
            "evidence.tests",
            passed(&evidence["tests"], &["passed", "PASS", "success"]),
        ),
        (
            "evidence.build",
            passed(&evidence["build"], &["passed", "PASS", "success"]),
        ),
        ("evidence.audit_l1", none(&evidence["audit_l1"])),
        ("evidence.audit_l2", none(&evidence["audit_l2"])),
    ];
    let bad = fields.into_iter().filter(|(_, good)| !good);
    bad.map(|(name, _)| name.to_owned()).collect()
}

//! The audit report: its decision, and whether it contradicts itself.

use super::{Paper, Problem};

pub(super) fn judge(report: &Paper, branch: Option<&str>) -> Vec<Problem> {
    let text = match report {
        Paper::Missing => return vec![Problem::AuditMissing],
        Paper::Unreadable(detail) => {
            let detail = detail.clone();
            return vec![Problem::AuditUnreadable { detail }];
        }
        Paper::Text(text) => text,
    };
    let mut problems = Vec::new();
    let decisions: Vec<String> = fields(text, "decision").collect();
    match decisions.first() {
        None => problems.push(Problem::AuditUndecided),
        Some(first) => {
            let against = |said: &&String| !is_pass(said);
            let later = decisions.iter().skip(1).find(|said| is_fail(said));
            if let Some(decision) = Some(first).filter(against).or(later) {
                let decision = decision.clone();
                problems.push(Problem::AuditNotPassed { decision });
            }
        }
    }
    for layer in ["L1", "L2"] {
        let most = fields(text, layer)
            .filter_map(|count| count.parse::<u32>().ok())
            .max();
        if let Some(count) = most.filter(|count| *count > 0) {
            let layer = layer.to_owned();
            problems.push(Problem::AuditContradictsItself { layer, count });
        }
    }
    let ids = pending(text);
    if !ids.is_empty() {
        problems.push(Problem::AuditPending { ids });
    }
    if let (Some(said), Some(is)) = (fields(text, "branch").next(), branch)
        && said != is
    {
        let is = is.to_owned();
        problems.push(Problem::AuditOtherBranch { said, is });
    }
    problems
}

/// `PASS`, with what people add to it (`PASS ✅`), but not the template's
/// `PASS | FAIL`.
fn is_pass(decision: &str) -> bool {
    first_word(decision) == "PASS" && !decision.to_ascii_uppercase().contains("FAIL")
}

fn is_fail(decision: &str) -> bool {
    first_word(decision).starts_with("FAIL")
}

fn first_word(text: &str) -> String {
    let word = text.split(|c: char| !c.is_ascii_alphanumeric()).next();
    word.unwrap_or_default().to_ascii_uppercase()
}

/// The values of `Key: value` lines, also in bold, in a list and as the row of
/// a table.
fn fields<'a>(text: &'a str, key: &'a str) -> impl Iterator<Item = String> + 'a {
    text.lines().filter_map(move |line| field(line, key))
}

fn field(line: &str, key: &str) -> Option<String> {
    let bare = line.trim().trim_start_matches(['#', '-', '|', ' ']);
    let bare: String = bare.chars().filter(|c| !matches!(c, '*' | '`')).collect();
    let (name, value) = bare.trim_start().split_once([':', '：', '|'])?;
    if !name.trim().eq_ignore_ascii_case(key) {
        return None;
    }
    let value = value.trim().trim_end_matches('|').trim();
    Some(value.to_owned())
}

/// The findings of the layers L1 and L2 that are not fixed: items with `id`,
/// `layer` and `status`, or rows of a table.
fn pending(text: &str) -> Vec<String> {
    let mut ids = Vec::new();
    let mut item = Item::default();
    for line in text.lines() {
        if let Some(id) = field(line, "id") {
            item.end(&mut ids);
            item.id = id;
        } else if let Some(layer) = field(line, "layer") {
            item.layer = layer;
        } else if let Some(status) = field(line, "status") {
            item.status = status;
        } else if line.trim_start().starts_with('|') {
            row(line).end(&mut ids);
        }
    }
    item.end(&mut ids);
    ids
}

#[derive(Default)]
struct Item {
    id: String,
    layer: String,
    status: String,
}

impl Item {
    /// Notes the item where it counts, and makes room for the next.
    fn end(&mut self, ids: &mut Vec<String>) {
        let item = std::mem::take(self);
        let grave = matches!(item.layer.as_str(), "L1" | "L2");
        if grave && item.status.eq_ignore_ascii_case("pending") {
            ids.push(item.id);
        }
    }
}

fn row(line: &str) -> Item {
    let mut item = Item::default();
    for cell in line
        .split('|')
        .map(|cell| cell.trim_matches([' ', '*', '`']))
    {
        if matches!(cell, "L1" | "L2" | "L3" | "L4") {
            item.layer = cell.to_owned();
        } else if cell.eq_ignore_ascii_case("pending") {
            item.status = cell.to_owned();
        } else if item.id.is_empty() {
            item.id = cell.to_owned();
        }
    }
    item
}

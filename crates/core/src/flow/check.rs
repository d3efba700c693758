//! What a flow must be so that it can be followed: known names, every step
//! within reach, an end in sight, and no way round for ever.

use std::collections::BTreeSet;

use super::error::Problem;
use super::{Answer, Flow, ROLES, Step};
use crate::template;

/// Where in the file a problem stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Path {
    pub step: Option<usize>,
    pub keys: Vec<&'static str>,
}

impl Path {
    /// `step.reviewer.on.reject`
    pub(super) fn key(&self, flow: &Flow) -> String {
        let step = self.step.and_then(|index| flow.step(index));
        let head = step.map(|step| format!("step.{}", step.id));
        let keys = self.keys.iter().map(|key| (*key).to_owned());
        head.into_iter().chain(keys).collect::<Vec<_>>().join(".")
    }
}

fn at(step: usize, keys: &[&'static str]) -> Path {
    Path {
        step: Some(step),
        keys: keys.to_vec(),
    }
}

fn top(keys: &[&'static str]) -> Path {
    Path {
        step: None,
        keys: keys.to_vec(),
    }
}

pub(super) fn problems(flow: &Flow) -> Vec<(Path, Problem)> {
    let mut found = Vec::new();
    if !is_name(&flow.name) {
        let name = flow.name.clone();
        found.push((top(&["name"]), Problem::BadName { name }));
    }
    if flow.steps.is_empty() {
        found.push((Path::default(), Problem::NoSteps));
        return found;
    }
    for (index, step) in flow.steps.iter().enumerate() {
        check_step(flow, index, step, &mut found);
    }
    check_variants(flow, &mut found);
    check_percents(flow, &mut found);
    // Ways are only worth a look where all names lead somewhere.
    if found.is_empty() {
        check_ways(flow, &mut found);
    }
    found
}

fn is_name(name: &str) -> bool {
    let part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    !name.is_empty() && name.chars().all(part)
}

fn check_step(flow: &Flow, index: usize, step: &Step, found: &mut Vec<(Path, Problem)>) {
    let mut add = |keys: &[&'static str], problem| found.push((at(index, keys), problem));
    let id = step.id.clone();
    if !is_name(&id) {
        add(&["id"], Problem::BadName { name: id.clone() });
    } else if id == "done" || id == "escalate" {
        add(&["id"], Problem::ReservedId { id: id.clone() });
    }
    if flow.index_of(&id) != Some(index) {
        add(&["id"], Problem::DuplicateStep { id });
    }
    if !ROLES.contains(&step.role.as_str()) {
        let role = step.role.clone();
        add(&["role"], Problem::UnknownRole { role });
    }
    if step.prompt.trim().is_empty() {
        add(&["prompt"], Problem::NoPrompt);
    }
    let unknown = template::render(&step.prompt, &template::Variables::default()).unknown;
    for name in unknown {
        add(&["prompt"], Problem::UnknownVariable { name });
    }
    if let Some(word) = &step.permissions
        && word.parse::<crate::config::Permissions>().is_err()
    {
        let word = word.clone();
        add(&["permissions"], Problem::BadPermissions { word });
    }
    if let Some(id) = &step.needs
        && flow.index_of(id).is_none()
    {
        add(&["needs"], Problem::UnknownStep { id: id.clone() });
    }
    if let Some(name) = &step.output
        && !is_output(name, step.each.is_some())
    {
        let name = name.clone();
        add(&["output"], Problem::BadOutput { name });
    }
    let planned = |other: &Step| other.plans && other.output.is_some();
    if step.each.is_some() && !flow.steps.iter().take(index).any(planned) {
        add(&["each"], Problem::NoPlan);
    }
    for (answer, target) in &step.on {
        let keys = ["on", answer.into_str()];
        if !step.verdict.answers().contains(answer) {
            let answer = answer.into_str();
            add(&keys, Problem::WrongAnswer { answer });
        } else if !matches!(target.as_str(), "done" | "escalate") && flow.index_of(target).is_none()
        {
            add(&keys, Problem::UnknownStep { id: target.clone() });
        }
    }
    for answer in step.limit.keys() {
        if !step.verdict.answers().contains(answer) {
            let answer = answer.into_str();
            add(&["limit", answer], Problem::WrongAnswer { answer });
        }
    }
    for answer in step.verdict.answers() {
        if *answer != Answer::Unclear && !step.on.contains_key(answer) {
            let answer = answer.into_str();
            add(&["on"], Problem::MissingAnswer { answer });
        }
    }
}

fn is_output(name: &str, each: bool) -> bool {
    let plain = !name.is_empty()
        && !name.starts_with('.')
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "._-{}".contains(c));
    let marks = name.matches("{n}").count();
    let braces = name.matches(['{', '}']).count();
    plain && braces == 2 * marks && marks == usize::from(each)
}

fn check_variants(flow: &Flow, found: &mut Vec<(Path, Problem)>) {
    for (risk, variant) in &flow.risk {
        let word = match risk {
            super::Risk::Low => "low",
            super::Risk::Medium => "medium",
            super::Risk::High => "high",
        };
        for id in &variant.skip {
            match flow.index_of(id) {
                Some(0) => found.push((
                    top(&["risk", word, "skip"]),
                    Problem::SkippedStart { id: id.clone() },
                )),
                Some(_) => {}
                None => found.push((
                    top(&["risk", word, "skip"]),
                    Problem::UnknownStep { id: id.clone() },
                )),
            }
        }
        for id in variant.model.keys() {
            if flow.index_of(id).is_none() {
                let id = id.clone();
                found.push((top(&["risk", word, "model"]), Problem::UnknownStep { id }));
            }
        }
    }
}

fn check_percents(flow: &Flow, found: &mut Vec<(Path, Problem)>) {
    let mut before = 0;
    for (index, step) in flow.phases() {
        let Some(percent) = step.percent else {
            continue;
        };
        if percent <= before || percent > 100 {
            found.push((at(index, &["percent"]), Problem::BadPercent { percent }));
        }
        before = percent;
    }
}

/// An answer of a step that leads to another.
struct Way {
    from: usize,
    to: usize,
    limited: bool,
}

fn ways(flow: &Flow) -> Vec<Way> {
    let mut ways = Vec::new();
    for (from, step) in flow.steps.iter().enumerate() {
        for (answer, target) in &step.on {
            if let Some(to) = flow.index_of(target) {
                let limit = step.limit.get(answer).copied().unwrap_or(0);
                // An unclear answer counts with the bad ones.
                let with = step.verdict.bad().and_then(|bad| step.limit.get(&bad));
                let counted = *answer == Answer::Unclear && with.is_some_and(|limit| *limit > 0);
                ways.push(Way {
                    from,
                    to,
                    limited: limit > 0 || counted,
                });
            }
        }
    }
    ways
}

fn check_ways(flow: &Flow, found: &mut Vec<(Path, Problem)>) {
    let ways = ways(flow);
    let reached = closure(BTreeSet::from([0]), |from| {
        ways.iter()
            .filter(|w| w.from == from)
            .map(|w| w.to)
            .collect()
    });
    let ends = |step: &Step| step.on.values().any(|target| target == "done");
    let ending = flow.steps.iter().enumerate().filter(|(_, step)| ends(step));
    let leading = closure(ending.map(|(index, _)| index).collect(), |to| {
        ways.iter().filter(|w| w.to == to).map(|w| w.from).collect()
    });
    for (index, step) in flow.steps.iter().enumerate() {
        let id = step.id.clone();
        if !reached.contains(&index) {
            found.push((at(index, &["id"]), Problem::Unreachable { id }));
        } else if !leading.contains(&index) {
            found.push((at(index, &["on"]), Problem::NoEnd { id }));
        }
    }
    if let Some(round) = endless(flow, &ways) {
        let first = round.first().copied().unwrap_or(0);
        let steps = round.iter().chain(round.first());
        let steps = steps.filter_map(|&index| flow.step(index));
        let steps = steps.map(|step| step.id.clone()).collect();
        found.push((at(first, &["on"]), Problem::Endless { steps }));
    }
}

fn closure(start: BTreeSet<usize>, next: impl Fn(usize) -> Vec<usize>) -> BTreeSet<usize> {
    let mut all = start;
    let mut left: Vec<usize> = all.iter().copied().collect();
    while let Some(one) = left.pop() {
        for other in next(one) {
            if all.insert(other) {
                left.push(other);
            }
        }
    }
    all
}

/// A way round on which nothing is counted.
fn endless(flow: &Flow, ways: &[Way]) -> Option<Vec<usize>> {
    for start in 0..flow.steps.len() {
        // The shortest way back, by the steps before each.
        let mut before: Vec<Option<usize>> = vec![None; flow.steps.len()];
        let mut left = std::collections::VecDeque::from([start]);
        while let Some(one) = left.pop_front() {
            for way in ways.iter().filter(|w| w.from == one && !w.limited) {
                if way.to == start {
                    let mut round = vec![one];
                    let mut at = one;
                    while at != start
                        && let Some(previous) = before.get(at).copied().flatten()
                    {
                        round.push(previous);
                        at = previous;
                    }
                    round.reverse();
                    return Some(round);
                }
                if let Some(slot) = before.get_mut(way.to)
                    && slot.is_none()
                {
                    *slot = Some(one);
                    left.push_back(way.to);
                }
            }
        }
    }
    None
}

//! `ralph guard scan`: dangerous commands in files that will be run.

use std::io::Read;
use std::path::{Path, PathBuf};

use ralph_core::config::GuardSettings;
use ralph_core::lang::{Lang, Say};
use ralph_guard::{Decision, Explanation, ToolCall};
use serde_json::json;

use super::extract::{Script, scripts_in};
use super::{Unreadable, load};
use crate::FAILED;
use crate::app::{App, Exit};
use crate::guard::Place;

/// Something was found: the exit code of a failed verification.
const FOUND: u8 = 7;
/// A larger file is no script that a person wrote.
const MAX_FILE: u64 = 4 * 1024 * 1024;

struct Found {
    line: usize,
    rule: String,
    detail: String,
    reason: String,
    hint: String,
}

pub fn run(app: &App, files: &[PathBuf], as_json: bool) -> Exit {
    let (place, loaded) = load(app)?;
    let scanner = Scanner {
        place: &place,
        settings: &loaded.settings,
        lang: app.lang(),
    };
    let (mut any, mut failed) = (false, false);
    for file in files {
        let text = match read(file) {
            Ok(text) => text,
            Err(error) => {
                app.warn(&Unreadable { file, error }.say(app.lang()));
                failed = true;
                continue;
            }
        };
        for script in scripts_in(file, &text) {
            for found in scanner.scan(&script) {
                any = true;
                match as_json {
                    true => app.json(&as_value(file, &found)),
                    false => app.tell(&show(file, &found)),
                }
            }
        }
    }
    match (failed, any) {
        (true, _) => Err(FAILED),
        (false, true) => Err(FOUND),
        (false, false) => Ok(0),
    }
}

fn read(file: &Path) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    let opened = std::fs::File::open(file)?;
    opened.take(MAX_FILE).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn as_value(file: &Path, found: &Found) -> serde_json::Value {
    json!({
        "file": file.to_string_lossy(),
        "line": found.line,
        "rule": found.rule,
        "detail": found.detail,
        "reason": found.reason,
        "hint": found.hint,
    })
}

fn show(file: &Path, found: &Found) -> String {
    let (line, rule) = (found.line, &found.rule);
    let (detail, reason) = (&found.detail, &found.reason);
    format!("{}:{line}: {detail}: {reason} [{rule}]", file.display())
}

struct Scanner<'a> {
    place: &'a Place,
    settings: &'a GuardSettings,
    lang: Lang,
}

impl Scanner<'_> {
    /// One line may set what another uses, so the script is judged up to the
    /// end of each of its parts: what is new then stands in that part.
    fn scan(&self, script: &Script) -> Vec<Found> {
        let whole = self.explain(&script.text);
        if whole.verdict.decision == Decision::Allow {
            return Vec::new();
        }
        let mut found = Vec::new();
        let mut known: Vec<(String, String)> = Vec::new();
        let mut so_far = String::new();
        for (offset, part) in parts(&script.text) {
            so_far.push_str(&part);
            let matched = self.explain(&so_far).matched;
            for (rule, detail) in new_among(&matched, &known) {
                let line = script.line + offset + line_of(&part, detail);
                self.note(&mut found, line, rule, detail);
            }
            known = matched;
        }
        for (rule, detail) in new_among(&whole.matched, &known) {
            self.note(&mut found, script.line, rule, detail);
        }
        found
    }

    fn explain(&self, text: &str) -> Explanation {
        let input = json!({ "command": text });
        let call = ToolCall {
            tool: "Bash",
            input: &input,
            cwd: &self.place.project,
        };
        ralph_guard::explain(&call, &self.place.context(self.settings))
    }

    fn note(&self, found: &mut Vec<Found>, line: usize, rule: &str, detail: &str) {
        let (reason, hint) = match ralph_guard::rule(rule) {
            Some(built_in) => (built_in.reason.say(self.lang), built_in.hint.say(self.lang)),
            None => {
                let own = self.settings.rules.iter().find(|own| own.id == rule);
                own.map(|own| (own.reason.clone(), own.hint.clone()))
                    .unwrap_or_default()
            }
        };
        found.push(Found {
            line,
            rule: rule.to_owned(),
            detail: detail.lines().next().unwrap_or_default().to_owned(),
            reason,
            hint,
        });
    }
}

/// What stands more often in `now` than in `before`.
fn new_among<'a>(
    now: &'a [(String, String)],
    before: &[(String, String)],
) -> Vec<&'a (String, String)> {
    let mut old: Vec<&(String, String)> = before.iter().collect();
    let is_new = |found: &&(String, String)| match old.iter().position(|known| known == found) {
        Some(at) => {
            old.swap_remove(at);
            false
        }
        None => true,
    };
    now.iter().filter(is_new).collect()
}

/// The line of a part, counted from 0, that the detail most likely means.
fn line_of(part: &str, detail: &str) -> usize {
    let detail = detail.lines().next().unwrap_or_default();
    let holds = |line: &str| !detail.is_empty() && line.contains(detail);
    part.lines().position(holds).unwrap_or(0)
}

/// A compound command is rarely longer.
const MAX_PART: usize = 200;
/// Of a script with more parts than this, several count as one.
const MAX_PARTS: usize = 400;

/// The shortest runs of lines that can be read on their own, and how many
/// lines stand before each.
fn parts(text: &str) -> Vec<(usize, String)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut parts: Vec<(usize, String)> = Vec::new();
    let mut start = 0;
    while start < lines.len() {
        let mut part = String::new();
        let mut end = start;
        let mut whole = false;
        while end < lines.len() && end - start < MAX_PART && !whole {
            part.push_str(lines.get(end).copied().unwrap_or_default());
            part.push('\n');
            end += 1;
            whole = !part.trim_end().ends_with('\\') && ralph_guard::shell::check(&part).is_ok();
        }
        if whole {
            parts.push((start, part));
            start = end;
        } else {
            // No end was found: the line alone has to do.
            let line = lines.get(start).copied().unwrap_or_default();
            parts.push((start, format!("{line}\n")));
            start += 1;
        }
    }
    let at_once = parts.len().div_ceil(MAX_PARTS).max(1);
    parts
        .chunks(at_once)
        .filter_map(|chunk| {
            let text: String = chunk.iter().map(|(_, part)| part.as_str()).collect();
            Some((chunk.first()?.0, text))
        })
        .collect()
}

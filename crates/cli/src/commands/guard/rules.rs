//! `ralph guard rules` and `ralph guard check-rules`.

use std::collections::BTreeSet;

use ralph_core::config::GuardRule;
use ralph_core::lang::{Lang, Say};
use ralph_core::text::duration::plural;
use ralph_core::tr;
use ralph_guard::{Example, Rule, built_in_rules, check_rule};
use serde_json::json;

use super::load;
use crate::FAILED;
use crate::app::{App, Exit};
use crate::guard::Place;
use crate::guard::settings::Loaded;

/// Longer examples are cut in the reference.
const MAX_EXAMPLE: usize = 100;

pub fn list(app: &App, markdown: bool, as_json: bool) -> Exit {
    if markdown {
        app.print(&reference());
        return Ok(0);
    }
    let lang = app.lang();
    if as_json {
        let rules = built_in_rules().map(|rule| {
            json!({
                "id": rule.id,
                "pack": rule.pack,
                "on": !rule.off,
                "reason": rule.reason.say(lang),
                "hint": rule.hint.say(lang),
            })
        });
        app.json(&json!(rules.collect::<Vec<_>>()));
        return Ok(0);
    }
    let lines: Vec<String> = built_in_rules()
        .map(|rule| {
            format!(
                "{}{}\n  {}",
                rule.id,
                mark(rule, lang),
                rule.reason.say(lang)
            )
        })
        .collect();
    app.done(&lines.join("\n"))
}

fn mark(rule: &Rule, lang: Lang) -> String {
    let pack = rule.pack.map(|pack| format!(" [{}]", pack.into_str()));
    let off = rule.off.then(|| tr!(lang, " (off by default)"));
    format!("{}{}", pack.unwrap_or_default(), off.unwrap_or_default())
}

/// The rules' part of `docs/guard.md`.
fn reference() -> String {
    let mut text = String::new();
    for rule in built_in_rules() {
        text.push_str(&format!("### `{}`\n\n", rule.id));
        let notes = [
            rule.pack.map(|pack| format!("Pack `{}`.", pack.into_str())),
            rule.off.then(|| "Off by default.".to_owned()),
        ];
        let notes: Vec<String> = notes.into_iter().flatten().collect();
        text.push_str(&rule.reason.say(Lang::En));
        if !notes.is_empty() {
            text.push_str(&format!(" {}", notes.join(" ")));
        }
        text.push_str(&format!(" Instead: {}\n\n", rule.hint.say(Lang::En)));
        text.push_str(&format!("- blocked: {}\n", examples(rule.matches)));
        text.push_str(&format!(
            "- not by this rule: {}\n\n",
            examples(rule.not_matches)
        ));
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

fn examples(examples: &[Example]) -> String {
    let shown: Vec<String> = examples.iter().map(show).collect();
    shown.join(", ")
}

fn show(example: &Example) -> String {
    let (tool, text) = match *example {
        Example::Bash(text) => ("", text.to_owned()),
        Example::Read(path) => ("Read ", path.to_owned()),
        Example::Write(path) => ("Write ", path.to_owned()),
        Example::Fetch(url) => ("WebFetch ", url.to_owned()),
        Example::Call(tool, input) => return code(&format!("{tool} {input}")),
        Example::Nested(depth) => ("", format!("{}…", "( ".repeat(depth))),
    };
    code(&format!("{tool}{text}"))
}

/// Code in Markdown, on one line.
fn code(text: &str) -> String {
    let line = text.replace('\n', "⏎").replace('\t', "⇥");
    let mut shown: String = line.chars().take(MAX_EXAMPLE).collect();
    if shown.len() < line.len() {
        shown.push('…');
    }
    let fence = if shown.contains("``") {
        "```"
    } else if shown.contains('`') {
        "``"
    } else {
        "`"
    };
    if fence == "`" {
        format!("`{shown}`")
    } else {
        format!("{fence} {shown} {fence}")
    }
}

/// Every problem of every rule, not only the first.
pub fn check(app: &App) -> Exit {
    let (place, loaded) = load(app)?;
    let lang = app.lang();
    if loaded.file().is_none() {
        return app.done(&nothing(lang));
    }
    let problems = problems(&place, &loaded, lang);
    if problems.is_empty() {
        let count = loaded.settings.rules.len();
        let rules_en = plural(count, "rule", "rules");
        return app.done(&tr!(lang, "{count} {rules_en} of your own, all sound"));
    }
    for problem in &problems {
        app.warn(problem);
    }
    Err(FAILED)
}

/// What is wrong with the rules of the project's file, and with what it says
/// of others.
pub fn problems(place: &Place, loaded: &Loaded, lang: Lang) -> Vec<String> {
    let Some(file) = loaded.file() else {
        return Vec::new();
    };
    let context = place.context(&loaded.settings);
    let mut problems: Vec<String> = loaded
        .settings
        .rules
        .iter()
        .flat_map(|rule| {
            let found = check_rule(rule, &context);
            found
                .into_iter()
                .map(|problem| format!("{}: {}", rule.id, problem.say(lang)))
        })
        .collect();
    problems.extend(doubled(&loaded.settings.rules, lang));
    let settings = &file.settings;
    let named = settings
        .disable
        .iter()
        .chain(&settings.enable)
        .chain(settings.modes.iter().map(|(id, _)| id));
    for id in named {
        let own = settings.rules.iter().any(|rule| rule.id == *id);
        if !own && ralph_guard::rule(id).is_none() {
            problems.push(tr!(
                lang,
                "there is no rule \"{id}\"; `ralph guard rules` lists all"
            ));
        }
    }
    problems
}

fn nothing(lang: Lang) -> String {
    tr!(lang, "no rules of your own: there is no .ralph/config.toml")
}

fn doubled(rules: &[GuardRule], lang: Lang) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let twice = rules.iter().filter(|rule| !seen.insert(&rule.id));
    twice
        .map(|rule| {
            let id = &rule.id;
            tr!(
                lang,
                "{id}: two rules have this id; give one of them another"
            )
        })
        .collect()
}

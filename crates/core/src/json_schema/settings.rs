//! The schema of the configuration, from the reference page.

use serde_json::{Map, Value, json};

use crate::config::{GuardMode, Key, Kind, Schema, Trust};

/// Lines of a comment that say for programs what the schema says itself.
const NOTES: [&str; 5] = ["Type: ", "One of: ", "Any of: ", "At least: ", "Trust: "];

pub fn configuration() -> Value {
    let title = "Settings of Ralph Loop (.ralph/config.toml)";
    let mut root = section("", title);
    root["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    root
}

/// The settings below a prefix such as `agent.`, and the sections in it.
fn section(prefix: &str, title: &str) -> Value {
    let mut properties = Map::new();
    for key in Schema::get().keys() {
        let Some(rest) = key.name.strip_prefix(prefix) else {
            continue;
        };
        match rest.split_once('.') {
            None => {
                properties.insert(rest.to_owned(), of_key(key));
            }
            Some((inner, _)) if !properties.contains_key(inner) => {
                let name = format!("{prefix}{inner}");
                let inner_section = section(&format!("{name}."), &format!("[{name}]"));
                properties.insert(inner.to_owned(), inner_section);
            }
            Some(_) => {}
        }
    }
    json!({
        "title": title,
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
    })
}

fn of_key(key: &Key) -> Value {
    let mut schema = of_kind(&key.kind);
    schema["description"] = json!(description(key));
    schema["default"] = serde_json::to_value(&key.default).unwrap_or_default();
    schema
}

fn description(key: &Key) -> String {
    let said = key
        .comment
        .lines()
        .filter(|line| !NOTES.iter().any(|note| line.starts_with(note)));
    let text = said.collect::<Vec<_>>().join(" ");
    match key.trust {
        Trust::Free => text,
        Trust::Asked => format!("{text} A project's value counts only after `ralph trust`."),
        Trust::AskedOutside => {
            format!("{text} A path outside the project counts only after `ralph trust`.")
        }
    }
}

fn of_kind(kind: &Kind) -> Value {
    match kind {
        Kind::Text => json!({ "type": "string" }),
        Kind::Count { at_least } => count(*at_least),
        Kind::Switch => json!({ "type": "boolean" }),
        Kind::List => list(&json!({ "type": "string" })),
        Kind::Duration => quantity(r"(\d+\s*(ms|s|m|h|d)\s*)+"),
        Kind::Size => quantity(r"\d+\s*([kKmMgG][iI]?)?[bB]\s*"),
        Kind::Money => quantity(r"(\$\s*\d+(\.\d{1,6})?|\d+(\.\d{1,6})?\s*[uU][sS][dD])\s*"),
        Kind::CountOrPercent => json!({ "anyOf": [
            count(0),
            { "type": "string", "pattern": r"^\s*0*([1-9]\d?|100)\s*%\s*$" },
        ]}),
        Kind::OneOf(words) => json!({ "enum": words }),
        Kind::AnyOf(words) => list(&json!({ "enum": words })),
        Kind::Assignments => list(&json!({ "type": "string", "pattern": "^[^=]+=" })),
        Kind::GuardModes => {
            let modes = <GuardMode as strum::VariantNames>::VARIANTS.join("|");
            let pattern = format!(r"^\s*[^=\s][^=]*=\s*({modes})\s*$");
            list(&json!({ "type": "string", "pattern": pattern }))
        }
        Kind::GuardRules => list(&guard_rule()),
    }
}

fn count(at_least: u32) -> Value {
    json!({ "type": "integer", "minimum": at_least, "maximum": u32::MAX })
}

fn list(items: &Value) -> Value {
    json!({ "type": "array", "items": items })
}

/// A number with a unit, as a text; the bare number 0 is off.
fn quantity(pattern: &str) -> Value {
    json!({ "anyOf": [
        { "type": "string", "pattern": format!(r"^\s*(0\s*|{pattern})$") },
        { "const": 0 },
    ]})
}

fn guard_rule() -> Value {
    let words = || list(&json!({ "type": "string" }));
    let text = |about: &str| json!({ "type": "string", "description": about });
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["id", "program"],
        "properties": {
            "id": { "type": "string", "minLength": 1 },
            "program": { "type": "string", "minLength": 1, "description": "The program, by name; a glob is allowed." },
            "args": words(),
            "paths": words(),
            "reason": text("Why the call is stopped."),
            "hint": text("What to do instead."),
            "mode": { "enum": <GuardMode as strum::VariantNames>::VARIANTS },
            "match": words(),
            "not_match": words(),
        },
    })
}

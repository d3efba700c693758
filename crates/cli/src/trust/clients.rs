//! What the files of agents' clients in a project would execute or choose.
//!
//! Of a file that is understood, everything counts but what is known to be
//! harmless, so that a key of a newer client is asked about too.

use std::path::Path;

use ralph_core::flow::PROJECT_FLOWS;
use ralph_core::jsonc;
use ralph_core::text::digest::hex_sha256;
use ralph_engine::agents::Client;
use serde_json::Value;

use super::{Item, read};
use crate::install::{CAP, hosts, templates};

/// Settings of clients, in JSON with or without comments.
const JSON: [&str; 15] = [
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".mcp.json",
    ".codex/hooks.json",
    ".gemini/settings.json",
    ".cursor/hooks.json",
    ".cursor/mcp.json",
    ".cursor/cli.json",
    ".github/hooks/ralph.json",
    ".copilot/config.json",
    ".amp/settings.json",
    ".opencode/opencode.json",
    ".opencode/opencode.jsonc",
    "opencode.json",
    "opencode.jsonc",
];

const TOML: [&str; 1] = [".codex/config.toml"];

/// Folders whose files a client loads, or a hook of its settings runs.
const CODE: [&str; 14] = [
    ".claude/hooks", ".codex/hooks", ".gemini/hooks", ".gemini/extensions", ".cursor/hooks",
    ".github/hooks", ".copilot/hooks", ".opencode/plugin", ".opencode/plugins", ".opencode/tool",
    ".opencode/tools", ".amp/plugins", ".amp/toolbox", ".claude-plugin",
];

/// What starts nothing, reaches nothing and loosens nothing that Ralph leaves
/// to the client.
const HARMLESS: [&str; 30] = [
    "$schema",
    "alwaysThinkingEnabled",
    "attribution",
    "autoupdate",
    "cleanupPeriodDays",
    "companyAnnouncements",
    "context",
    "effortLevel",
    "general",
    "hide_agent_reasoning",
    "includeCoAuthoredBy",
    "includeGitInstructions",
    "keybinds",
    "language",
    "model",
    "model_reasoning_effort",
    "model_reasoning_summary",
    "model_verbosity",
    "outputStyle",
    "permissions",
    "personality",
    "plansDirectory",
    "respectGitignore",
    "review_model",
    "small_model",
    "spinnerTipsEnabled",
    "theme",
    "ui",
    "username",
    "version",
];

/// Files of one folder that are looked at; more are asked about as they are.
const MOST_FILES: usize = 200;

pub fn items(root: &Path) -> Vec<Item> {
    let json = JSON.iter().flat_map(|name| of_file(root, name, from_json));
    let toml = TOML.iter().flat_map(|name| of_file(root, name, from_toml));
    let code = CODE.iter().flat_map(|name| of_folder(root, name));
    json.chain(toml).chain(code).collect()
}

/// Flows say who may write, and which agents are called with which rights.
pub fn flows(root: &Path) -> Vec<Item> {
    of_folder(root, PROJECT_FLOWS)
}

fn of_file(root: &Path, name: &str, parse: fn(&str) -> Option<Value>) -> Vec<Item> {
    let text = match read(root, name) {
        None => return Vec::new(),
        Some(Err(why)) => return vec![Item::new(name, "unreadable", why)],
        Some(Ok(file)) => file.text,
    };
    if text.trim().is_empty() {
        return Vec::new();
    }
    let Some(Value::Object(members)) = parse(&text) else {
        let digest = hex_sha256(text.as_bytes());
        return vec![Item::new(name, "not understood, sha256", digest)];
    };
    let mut items = Vec::new();
    for (key, value) in members {
        let value = match key.as_str() {
            "hooks" => without_ours(value),
            // What `ralph init` writes beside its hooks.
            "env" => without(value, CAP),
            key if HARMLESS.contains(&key) => Value::Null,
            _ => value,
        };
        if !is_nothing(&value) {
            items.push(Item::new(name, &key, value));
        }
    }
    items
}

fn from_json(text: &str) -> Option<Value> {
    Some(jsonc::parse(text).ok()?.to_value())
}

fn from_toml(text: &str) -> Option<Value> {
    text.parse::<ralph_core::config::Table>()
        .ok()
        .and_then(|table| serde_json::to_value(table).ok())
}

fn without(mut value: Value, name: &str) -> Value {
    if let Some(members) = value.as_object_mut() {
        members.remove(name);
    }
    value
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(members) => members.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

/// Hooks that call this very program are what `ralph init` wrote.
fn without_ours(hooks: Value) -> Value {
    let Value::Object(events) = hooks else {
        return hooks;
    };
    let kept = events.into_iter().filter_map(|(event, list)| {
        let list = match list {
            Value::Array(items) => {
                Value::Array(items.into_iter().filter(|item| !is_ours(item)).collect())
            }
            other => other,
        };
        (!is_nothing(&list)).then_some((event, list))
    });
    Value::Object(kept.collect())
}

fn is_ours(element: &Value) -> bool {
    let lines = hosts::commands(element);
    let is_own = |line: &str| {
        Client::HOSTS
            .iter()
            .any(|&host| hosts::calls_this(line, host))
    };
    !lines.is_empty() && lines.iter().all(|(_, line)| is_own(line))
}

fn of_folder(root: &Path, name: &str) -> Vec<Item> {
    let mut files = Vec::new();
    list(&root.join(name), name, &mut files);
    files.sort();
    files.retain(|file| !JSON.contains(&file.as_str()));
    if files.len() > MOST_FILES {
        return vec![Item::new(name, "files", files.len())];
    }
    let item = |file: &String| match read(root, file)? {
        Ok(found) if found.text == templates::opencode_plugin() => None,
        Ok(found) => {
            let digest = hex_sha256(found.text.as_bytes());
            Some(Item::new(file, "code, sha256", digest))
        }
        Err(why) => Some(Item::new(file, "unreadable", why)),
    };
    files.iter().filter_map(item).collect()
}

fn list(dir: &Path, name: &str, files: &mut Vec<String>) {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    for entry in entries {
        if files.len() > MOST_FILES {
            return;
        }
        let name = format!("{name}/{}", entry.file_name().to_string_lossy());
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => list(&entry.path(), &name, files),
            _ => files.push(name),
        }
    }
}

//! Whether Codex trusts our hooks. It passes over those that it does not
//! trust, in silence; only a person's review in `/hooks` may change that.

use std::path::PathBuf;

use ralph_core::checkpoint::sha256;
use ralph_core::lang::Lang;
use ralph_core::tr;
use ralph_engine::agents::Client;
use serde_json::{Value, json};

use super::entries::Found;
use super::{Finding, Level};
use crate::guard::{home, project};

pub fn look(found: &[Found], lang: Lang, findings: &mut Vec<Finding>) {
    let ours: Vec<&Found> = found.iter().filter(|f| f.host == Client::Codex).collect();
    if ours.is_empty() {
        return;
    }
    let trusted = trusted();
    let is_trusted = |found: &&&Found| {
        let (key, hash) = (key(found), hash(found));
        trusted.iter().any(|(k, h)| *k == key && *h == hash)
    };
    let untrusted = ours.len() - ours.iter().filter(is_trusted).count();
    if untrusted == 0 {
        let text = tr!(lang, "codex trusts all of Ralph's hooks");
        return findings.push(Finding::new(Level::Ok, "codex.trust", text));
    }
    let total = ours.len();
    let text = tr!(
        lang,
        "codex does not trust {untrusted} of {total} hooks and passes over them in silence"
    );
    let next = tr!(
        lang,
        "start codex here, type /hooks, look at them and trust them"
    );
    findings.push(Finding::new(Level::Red, "codex.trust", text).next(next));
}

/// What the review wrote down: the key of a hook and the hash that it had.
fn trusted() -> Vec<(String, String)> {
    let dir = std::env::var_os("CODEX_HOME").map(PathBuf::from);
    let dir = dir.or_else(|| home().map(|home| home.join(".codex")));
    let text =
        dir.and_then(|dir| ralph_store::regular::read_to_string(dir.join("config.toml")).ok());
    trusted_in(&text.unwrap_or_default())
}

/// The review writes one table per hook, `[hooks.state."KEY"]`. Whatever is
/// written differently counts as untrusted: that is told, and harms nobody.
fn trusted_in(text: &str) -> Vec<(String, String)> {
    let mut trusted = Vec::new();
    let mut key = None;
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            let quoted = line
                .strip_prefix("[hooks.state.")
                .and_then(|rest| rest.strip_suffix(']'));
            key = quoted.and_then(unquoted);
        } else if let (Some(key), Some(value)) = (&key, line.strip_prefix("trusted_hash")) {
            let value = value.trim_start().strip_prefix('=').map(str::trim);
            if let Some(hash) = value.and_then(unquoted) {
                trusted.push((key.clone(), hash));
            }
        }
    }
    trusted
}

fn unquoted(word: &str) -> Option<String> {
    if let Some(literal) = word.strip_prefix('\'') {
        return literal.strip_suffix('\'').map(str::to_owned);
    }
    serde_json::from_str(word).ok()
}

fn key(found: &Found) -> String {
    let file = project::real(&found.file);
    let (file, event) = (file.display(), label(&found.event));
    format!("{file}:{event}:{}:{}", found.group, found.hook)
}

/// `PreToolUse` → `pre_tool_use`.
fn label(event: &str) -> String {
    let mut label = String::new();
    for c in event.chars() {
        if c.is_ascii_uppercase() && !label.is_empty() {
            label.push('_');
        }
        label.push(c.to_ascii_lowercase());
    }
    label
}

/// As Codex computes it: over JSON with sorted names and without blanks, of
/// this one hook with its defaults filled in.
fn hash(found: &Found) -> String {
    let hook = &found.element["hooks"][found.hook];
    let mut identity = json!({
        "event_name": label(&found.event),
        "hooks": [{
            "async": hook.get("async").and_then(Value::as_bool).unwrap_or(false),
            "command": found.command,
            "timeout": hook.get("timeout").and_then(Value::as_u64).unwrap_or(600),
            "type": "command",
        }],
    });
    let matcher = found.element.get("matcher").and_then(Value::as_str);
    if let (Some(matcher), Value::Object(fields)) = (matcher, &mut identity) {
        fields.insert("matcher".into(), matcher.into());
    }
    sha256(identity.to_string().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(event: &str, element: Value) -> Found {
        let command = element["hooks"][0]["command"].as_str().unwrap().to_owned();
        Found::sample(
            Client::Codex,
            "/p/.codex/hooks.json",
            event,
            element,
            command,
        )
    }

    /// Recorded from `hooks/list` of Codex 0.166.0.
    #[test]
    fn hashes_are_those_of_codex() {
        let stop = json!({"hooks": [{
            "type": "command", "command": "ralph hook --host codex stop", "timeout": 150,
        }]});
        let guard = json!({"matcher": "Bash|apply_patch", "hooks": [{
            "type": "command", "command": "ralph hook --host codex pre-tool-use", "timeout": 10,
        }]});
        let plain = json!({"hooks": [{"type": "command", "command": "y"}]});
        for (event, element, want) in [
            (
                "Stop",
                stop,
                "4f9925628259b9c1c4f54b5d6cd6674dd1eaac497046719550081de63044c56f",
            ),
            (
                "PreToolUse",
                guard,
                "6ed278bf4a9cc6694d6b3681877d3b5664dfe163a08efeed6ef76f312b96077f",
            ),
            (
                "UserPromptSubmit",
                plain,
                "7b196568ff9da22155d2ceb7dc42d262332fba18fc8b1709790bf639d5652aae",
            ),
        ] {
            assert_eq!(hash(&found(event, element)), format!("sha256:{want}"));
        }
    }

    #[test]
    fn a_hook_is_known_by_its_place() {
        let one = found(
            "UserPromptSubmit",
            json!({"hooks": [{"type": "command", "command": "y"}]}),
        );
        assert_eq!(key(&one), "/p/.codex/hooks.json:user_prompt_submit:0:0");
    }

    #[test]
    fn what_a_review_wrote_is_read() {
        let text = "\
            model = \"x\"\n\
            [hooks.state]\n\
            [hooks.state.\"/p/.codex/hooks.json:stop:0:0\"]\n\
            enabled = true\n\
            trusted_hash = \"sha256:1\"\n\
            [hooks.state.'/p/b.json:stop:0:0']\n\
            trusted_hash=\"sha256:2\"\n\
            [other]\n\
            trusted_hash = \"sha256:3\"\n";
        let want = [
            ("/p/.codex/hooks.json:stop:0:0", "sha256:1"),
            ("/p/b.json:stop:0:0", "sha256:2"),
        ];
        assert_eq!(
            trusted_in(text),
            want.map(|(k, h)| (k.to_owned(), h.to_owned()))
        );
    }
}

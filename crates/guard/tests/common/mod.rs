//! A project to judge calls in.
#![allow(dead_code, reason = "not every test binary uses every helper")]

use ralph_core::config::GuardSettings;
use ralph_guard::{Context, Decision, NoLinks, ToolCall, Verdict, World, judge};
use serde_json::{Value, json};

pub const PROJECT: &str = "/home/dev/project";

/// A verdict in the usual project.
pub fn judge_in(tool: &str, input: &Value, settings: &GuardSettings, world: &dyn World) -> Verdict {
    let temporary = ["/tmp".to_owned(), "/var/tmp".to_owned()];
    let context = Context {
        project: PROJECT,
        home: "/home/dev",
        temporary: &temporary,
        binary: Some("/home/dev/.local/bin/ralph"),
        ignore_case: false,
        settings,
        world,
    };
    let call = ToolCall {
        tool,
        input,
        cwd: PROJECT,
    };
    judge(&call, &context)
}

/// The input of a tool from one text: JSON, or what the tool is about.
pub fn input(tool: &str, text: &str) -> Value {
    if text.starts_with('{')
        && let Ok(value) = serde_json::from_str::<Value>(text)
        && value.is_object()
        && tool != "Bash"
    {
        return value;
    }
    match tool {
        "Bash" | "PowerShell" | "cmd" => json!({ "command": text }),
        "WebFetch" => json!({ "url": text, "prompt": "summarise" }),
        "NotebookEdit" => json!({ "notebook_path": text, "new_source": "" }),
        "Grep" => json!({ "pattern": "x", "path": text }),
        "Glob" => json!({ "pattern": text }),
        "apply_patch" => json!({ "command": text }),
        _ => json!({ "file_path": text }),
    }
}

/// Was it blocked, and by which rule?
pub fn verdict(tool: &str, text: &str) -> (bool, Option<String>) {
    let verdict = judge_in(
        tool,
        &input(tool, text),
        &GuardSettings::default(),
        &NoLinks,
    );
    (verdict.decision == Decision::Block, verdict.rule)
}

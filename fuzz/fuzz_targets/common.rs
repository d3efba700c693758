//! A project to judge fuzzed calls in.

use ralph_core::config::GuardSettings;
use ralph_guard::{Context, NoLinks, ToolCall, explain};
use serde_json::Value;

/// Must end, and must not panic; libFuzzer watches time and memory.
pub fn judge(tool: &str, input: &Value) {
    let temporary = ["/tmp".to_owned()];
    let settings = GuardSettings::default();
    let context = Context {
        project: "/home/dev/project",
        home: "/home/dev",
        temporary: &temporary,
        binary: Some("/usr/bin/ralph"),
        ignore_case: false,
        settings: &settings,
        world: &NoLinks,
    };
    let cwd = "/home/dev/project";
    let explanation = explain(&ToolCall { tool, input, cwd }, &context);
    // A verdict that holds a call up names its rule.
    assert!(
        explanation.verdict.decision == ralph_guard::Decision::Allow
            || explanation.verdict.rule.is_some()
    );
}

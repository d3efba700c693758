//! Calls of any tool with any JSON as input: `{"tool": …, "input": …}`.
#![no_main]

mod common;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(call) = serde_json::from_slice::<serde_json::Value>(bytes) {
        let tool = call.get("tool").and_then(|tool| tool.as_str());
        let input = call.get("input").unwrap_or(&call);
        common::judge(tool.unwrap_or("mcp__any__tool"), input);
    }
});

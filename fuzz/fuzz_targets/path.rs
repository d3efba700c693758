//! Paths of any kind.
#![no_main]

mod common;

libfuzzer_sys::fuzz_target!(|text: &str| {
    for tool in ["Read", "Write", "Glob", "Grep"] {
        common::judge(tool, &serde_json::json!({ "file_path": text, "path": text, "pattern": text }));
    }
});

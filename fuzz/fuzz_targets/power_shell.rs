//! PowerShell text of any kind.
#![no_main]

mod common;

libfuzzer_sys::fuzz_target!(|text: &str| {
    common::judge("PowerShell", &serde_json::json!({ "command": text }));
});

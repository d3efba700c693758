//! Texts of the command interpreter of any kind.
#![no_main]

mod common;

libfuzzer_sys::fuzz_target!(|text: &str| {
    common::judge("cmd", &serde_json::json!({ "command": text }));
});

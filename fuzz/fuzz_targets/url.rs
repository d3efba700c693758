//! URLs of any kind.
#![no_main]

mod common;

libfuzzer_sys::fuzz_target!(|text: &str| {
    common::judge("WebFetch", &serde_json::json!({ "url": text, "prompt": "" }));
});

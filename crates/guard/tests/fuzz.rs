//! The corpus of the fuzz targets, replayed, and mutated for a while by a
//! generator of our own: no text makes the guard panic or take its time.
//! `RALPH_FUZZ_SECONDS` says for how long.
#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use common::judge_in;
use ralph_core::config::GuardSettings;
use ralph_guard::{Decision, NoLinks};
use serde_json::{Value, json};

/// Far beyond what any bound of the guard allows, on any machine.
const TOO_LONG: Duration = Duration::from_secs(10);

fn corpus(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/corpus")
        .join(target);
    let mut files: Vec<_> = fs::read_dir(&dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.clone(), fs::read(path).unwrap()))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "{}", dir.display());
    files
}

/// What each target of `fuzz/` does with its bytes.
fn run(target: &str, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let start = Instant::now();
    match target {
        "shell" => check("Bash", &json!({ "command": text })),
        "power_shell" => check("PowerShell", &json!({ "command": text })),
        "cmd" => check("cmd", &json!({ "command": text })),
        "url" => check("WebFetch", &json!({ "url": text, "prompt": "" })),
        "path" => {
            for tool in ["Read", "Write", "Glob", "Grep"] {
                let input = json!({ "file_path": text, "path": text, "pattern": text });
                check(tool, &input);
            }
        }
        _ => {
            if let Ok(call) = serde_json::from_slice::<Value>(bytes) {
                let tool = call.get("tool").and_then(Value::as_str);
                let input = call.get("input").unwrap_or(&call);
                check(tool.unwrap_or("mcp__any__tool"), input);
            }
        }
    }
    let took = start.elapsed();
    assert!(took < TOO_LONG, "{target}: {took:?} for {text:?}");
}

fn check(tool: &str, input: &Value) {
    let verdict = judge_in(tool, input, &GuardSettings::default(), &NoLinks);
    assert!(verdict.decision == Decision::Allow || verdict.rule.is_some());
}

const TARGETS: [&str; 6] = ["shell", "power_shell", "cmd", "payload", "url", "path"];

#[test]
fn the_corpus_is_judged() {
    for target in TARGETS {
        for (_, bytes) in corpus(target) {
            run(target, &bytes);
        }
    }
}

/// Nested far deeper than anybody writes: `here-in-here.txt`, grown.
#[test]
fn here_strings_within_here_strings_are_judged() {
    run("power_shell", "@\"\n$(".repeat(3_000).as_bytes());
}

/// xorshift: the same seed finds the same fault again.
struct Random(u64);

impl Random {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % below.max(1) as u64) as usize
    }
}

/// Pieces at which readers of shell text, JSON, URLs and paths go wrong.
const PIECES: [&str; 58] = [
    "$(", ")", "`", "\"", "'", "\\", "\n", ";", "&&", "||", "|", "<<EOF\n", "\nEOF\n", "<<<", ">",
    "<(", "{", "}", "{a,b}", "{1..9}", "((", "))", "[[", "]]", "${", "${x:-", "$'\\x", "$IFS",
    "eval ", "bash -c ", "xargs ", "find . -exec ", "case x in ", " esac", "for x in ", "; do ",
    "; done", "../", "%2e", "\u{fdd0}", "\0", "：", "http://", "rm -rf /", "@'\n", "\n'@", "@{",
    "@(", "[IO.File]::Delete(", ".Invoke()", " -f ", "<#", "#>", "%x%", "^", "for %i in (",
    ") do ", "\\\\?\\C:",
];

fn mutate(seeds: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut bytes = seeds[random.next(seeds.len())].clone();
    for _ in 0..=random.next(6) {
        let at = random.next(bytes.len() + 1);
        match random.next(6) {
            0 => bytes.truncate(at),
            1 => {
                let end = (at + random.next(20)).min(bytes.len());
                bytes.drain(at..end);
            }
            2 if !bytes.is_empty() => {
                let at = at.min(bytes.len() - 1);
                bytes[at] = random.next(256) as u8;
            }
            3 => {
                let other = &seeds[random.next(seeds.len())];
                let from = random.next(other.len() + 1);
                bytes.splice(at..at, other[from..].iter().copied());
            }
            4 => {
                let piece = PIECES[random.next(PIECES.len())];
                let piece = piece.repeat(1 + random.next(3) * random.next(60));
                bytes.splice(at..at, piece.bytes());
            }
            _ => {
                let piece = PIECES[random.next(PIECES.len())];
                bytes.splice(at..at, piece.bytes());
            }
        }
        bytes.truncate(64 * 1024);
    }
    bytes
}

#[test]
fn mutations_of_the_corpus_and_the_cases_are_judged() {
    let seconds = std::env::var("RALPH_FUZZ_SECONDS").ok();
    let seconds = seconds.and_then(|text| text.parse().ok()).unwrap_or(1);
    let end = Instant::now() + Duration::from_secs(seconds);
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases");
    let mut lines: Vec<Vec<u8>> = Vec::new();
    for entry in fs::read_dir(cases).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        lines.extend(text.lines().map(|line| line.as_bytes().to_vec()));
    }
    lines.sort();
    let seeds: Vec<(&str, Vec<Vec<u8>>)> = TARGETS
        .iter()
        .map(|target| {
            let own = corpus(target).into_iter().map(|(_, bytes)| bytes);
            let own: Vec<Vec<u8>> = own.collect();
            (*target, [own, lines.clone()].concat())
        })
        .collect();
    let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ seconds);
    let mut count = 0_u64;
    while Instant::now() < end {
        let (target, seeds) = &seeds[random.next(seeds.len())];
        let bytes = mutate(seeds, &mut random);
        run(target, &bytes);
        count += 1;
    }
    assert!(count > 0);
    if seconds > 1 {
        eprintln!("{count} texts");
    }
}

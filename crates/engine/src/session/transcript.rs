//! What the agent said last, from the transcript of its client, read from its
//! end: a transcript may be a gigabyte (PROM-16).

use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;
use sha2::{Digest, Sha256};

/// What is read at most: a hundred answers and more.
const MOST: u64 = 4 * 1024 * 1024;
const CHUNK: u64 = 128 * 1024;
/// Lines of the assistant that are looked at (PROM-16).
const LINES: usize = 100;

/// The last text of the assistant; `None` where there is none near the end.
pub fn last_text(path: &Path) -> io::Result<Option<String>> {
    let mut file = ralph_store::regular::open(path)?;
    let length = file.metadata()?.len();
    let mut tail = Vec::new();
    let mut from = length;
    while from > 0 && length - from < MOST {
        let before = from;
        from = from.saturating_sub(CHUNK.max(tail.len() as u64));
        file.seek(SeekFrom::Start(from))?;
        let mut chunk = vec![0; usize::try_from(before - from).unwrap_or(0)];
        file.read_exact(&mut chunk)?;
        chunk.extend_from_slice(&tail);
        tail = chunk;
        if let Some(text) = newest_text(&tail, from == 0) {
            return Ok(Some(text));
        }
    }
    Ok(None)
}

/// Copilot CLI calls its hook a moment before it has written down what the
/// agent said; it also writes down that it calls the hook, behind that and
/// with the time that the hook is given. At its first stop the file itself may
/// not be there yet. A client that never writes it is waited for once.
pub fn wait_for_copilot(path: &Path, called: &Value) {
    const PATIENCE: Duration = Duration::from_secs(5);
    const STEP: Duration = Duration::from_millis(5);
    let start = Instant::now();
    let called = milliseconds(called);
    while start.elapsed() < PATIENCE {
        match tail(path) {
            Ok(tail) if tells_of_this_stop(&tail, called) => return,
            _ => std::thread::sleep(STEP),
        }
    }
}

fn tail(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = ralph_store::regular::open(path)?;
    let from = file.metadata()?.len().saturating_sub(CHUNK);
    file.seek(SeekFrom::Start(from))?;
    let mut tail = Vec::new();
    file.read_to_end(&mut tail)?;
    Ok(tail)
}

/// Whether the call of the stop hook that is answered now is told, and not
/// only an earlier one.
fn tells_of_this_stop(tail: &[u8], called: Option<i64>) -> bool {
    /// By how much the two times of one call may differ.
    const SAME: i64 = 15;
    let of_stop = |line: &&[u8]| contains(line, b"\"agentStop\"");
    let mut lines = tail.split(|&byte| byte == b'\n').rev().filter(of_stop);
    let last = lines.find_map(|line| {
        let line: Value = serde_json::from_slice(line).ok()?;
        line["type"].is_string().then_some(line)
    });
    let Some(last) = last.filter(|line| line["type"] == "hook.start") else {
        return false;
    };
    match (called, milliseconds(&last["timestamp"])) {
        (Some(called), Some(told)) => told + SAME >= called,
        _ => true,
    }
}

/// A time as the two kinds of payload give it.
fn milliseconds(time: &Value) -> Option<i64> {
    match time {
        Value::String(text) => {
            let time: jiff::Timestamp = text.parse().ok()?;
            Some(time.as_millisecond())
        }
        number => number.as_i64(),
    }
}

/// The first line of a tail may be the end of a longer one.
fn newest_text(tail: &[u8], from_start: bool) -> Option<String> {
    let lines: Vec<&[u8]> = tail.split(|&byte| byte == b'\n').collect();
    let whole = lines.iter().skip(usize::from(!from_start));
    let assistant = whole.rev().filter_map(|line| said(line));
    assistant.take(LINES).find_map(|text| text)
}

/// The outer `None` says that the line is not the assistant's, the inner one
/// that it holds no text.
fn said(line: &[u8]) -> Option<Option<String>> {
    if !contains(line, b"assistant") {
        return None;
    }
    let line: Value = serde_json::from_slice(line).ok()?;
    if line["isSidechain"] == true {
        return None;
    }
    let content = match line["type"].as_str()? {
        "assistant" => &line["message"]["content"],
        "assistant.message" => &line["data"]["content"],
        "response_item" if line["payload"]["role"] == "assistant" => &line["payload"]["content"],
        "gemini" => &line["content"],
        _ => return None,
    };
    Some(text_of(content))
}

fn text_of(content: &Value) -> Option<String> {
    let text = match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| block["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => return None,
    };
    (!text.trim().is_empty()).then_some(text)
}

fn contains(line: &[u8], word: &[u8]) -> bool {
    memchr::memmem::find(line, word).is_some()
}

/// What is new in an answer that holds everything which was said in this
/// turn, as Gemini gives it; what was heard before is kept in `file`.
pub fn news(file: &Path, whole: &str) -> String {
    let before = ralph_store::regular::read_to_string(file).unwrap_or_default();
    let mut parts = before.split_whitespace();
    let known = (|| {
        let length: usize = parts.next()?.parse().ok()?;
        let digest = parts.next()?;
        let known = whole.get(..length)?;
        (fingerprint(known) == digest).then_some(length)
    })();
    let text = format!("{} {}\n", whole.len(), fingerprint(whole));
    let _ = std::fs::write(file, text);
    let fresh = known.and_then(|length| whole.get(length..));
    fresh.unwrap_or(whole).to_owned()
}

fn fingerprint(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::io::Write;

    fn check(lines: &[Value], want: Option<&str>) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.jsonl");
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(&path, text).unwrap();
        assert_eq!(last_text(&path).unwrap().as_deref(), want);
    }

    fn claude(block: &Value) -> Value {
        json!({"type": "assistant", "message": {"role": "assistant", "content": [block]}})
    }

    #[test]
    fn a_stop_is_told_of_before_it_is_answered() {
        let line = |kind: &str, hook: &str, second: u32| {
            let time = format!("2026-11-15T09:00:{second:02}.000Z");
            let line = json!({"type": kind, "data": {"hookType": hook}, "timestamp": time});
            format!("{line}\n")
        };
        let start = |second| line("hook.start", "agentStop", second);
        let end = |second| line("hook.end", "agentStop", second);
        let other = line("hook.start", "preToolUse", 9);
        let message = line("assistant.message", "", 9);
        let called = milliseconds(&json!("2026-11-15T09:00:05.010Z"));
        assert_eq!(called, milliseconds(&json!(1_794_733_205_010_i64)));
        for (lines, want) in [
            (vec![], false),
            (vec![&message], false),
            (vec![&message, &start(5)], true),
            (vec![&message, &start(4)], false),
            (vec![&message, &start(4), &end(5), &other, &message], false),
            (vec![&start(4), &end(4), &message, &start(5), &other], true),
        ] {
            let text: String = lines.into_iter().map(String::as_str).collect();
            assert_eq!(tells_of_this_stop(text.as_bytes(), called), want, "{text}");
            // Half a line is not there yet.
            let half = format!("{text}{}", &start(5)[..30]);
            assert_eq!(tells_of_this_stop(half.as_bytes(), called), want, "{half}");
        }
        assert!(tells_of_this_stop(start(1).as_bytes(), None));
    }

    #[test]
    fn the_last_text_is_found_in_every_clients_transcript() {
        let text = |text: &str| claude(&json!({"type": "text", "text": text}));
        let tool = claude(&json!({"type": "tool_use", "name": "Bash", "input": {}}));
        let user =
            json!({"type": "user", "message": {"content": "assistant <promise>X</promise>"}});
        check(&[text("one"), text("two"), tool, user], Some("two"));
        let mut side = text("of a subagent");
        side["isSidechain"] = json!(true);
        check(&[text("main"), side], Some("main"));
        check(
            &[
                json!({"type": "assistant.message", "data": {"content": "done", "toolRequests": []}}),
            ],
            Some("done"),
        );
        check(
            &[
                json!({"type": "response_item", "payload": {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "ok"}]}}),
            ],
            Some("ok"),
        );
        check(&[], None);
    }

    #[test]
    fn a_long_transcript_is_read_from_its_end_only() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.jsonl");
        let mut file = std::fs::File::create(&path).unwrap();
        // Sparse: a gigabyte that nobody has to write.
        file.seek(SeekFrom::Start(1 << 30)).unwrap();
        let last = claude(&json!({"type": "text", "text": "the end"}));
        let long = json!({"type": "user", "message": {"content": "x".repeat(300_000)}});
        writeln!(file, "\n{last}\n{long}").unwrap();
        let start = std::time::Instant::now();
        assert_eq!(last_text(&path).unwrap().as_deref(), Some("the end"));
        assert!(start.elapsed().as_secs() < 5);
    }

    #[test]
    fn an_answer_that_grows_gives_its_news() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("heard");
        assert_eq!(news(&file, "one"), "one");
        assert_eq!(news(&file, "one\ntwo"), "\ntwo");
        assert_eq!(news(&file, "one\ntwo"), "");
        assert_eq!(news(&file, "another prompt"), "another prompt");
    }
}

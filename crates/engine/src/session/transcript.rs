//! What the agent said last, from the transcript of its client, read from its
//! end: a transcript may be a gigabyte (PROM-16).

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use serde_json::Value;
use sha2::{Digest, Sha256};

/// What is read at most: a hundred answers and more.
const MOST: u64 = 4 * 1024 * 1024;
const CHUNK: u64 = 128 * 1024;
/// Lines of the assistant that are looked at (PROM-16).
const LINES: usize = 100;

/// The last text of the assistant; `None` where there is none near the end.
pub fn last_text(path: &Path) -> io::Result<Option<String>> {
    let mut file = File::open(path)?;
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
    let before = std::fs::read_to_string(file).unwrap_or_default();
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
        let mut file = File::create(&path).unwrap();
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

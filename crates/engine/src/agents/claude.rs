//! Claude Code, headless: one JSON object per line.

use serde::Deserialize;

use super::{Heard, HeardError, Invocation, Listener};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    pub program: String,
    pub args: Vec<String>,
    pub model: String,
    /// Only with a guard in the way, or when the person said so (LOOP-03).
    pub skip_permissions: bool,
}

impl Options {
    pub fn invocation(&self) -> Invocation {
        let mut args: Vec<std::ffi::OsString> = vec!["-p".into()];
        args.extend(["--output-format", "stream-json", "--verbose"].map(Into::into));
        if self.skip_permissions {
            args.push("--dangerously-skip-permissions".into());
        }
        if !self.model.is_empty() {
            args.extend(["--model".into(), self.model.clone().into()]);
        }
        args.extend(self.args.iter().map(Into::into));
        Invocation {
            program: self.program.clone().into(),
            args,
            env: Vec::new(),
            // A nested launch must not look like one (pain 24).
            env_remove: [
                "CLAUDECODE",
                "CLAUDE_CODE_ENTRYPOINT",
                "CLAUDE_CODE_SESSION_ID",
            ]
            .map(Into::into)
            .into(),
            prompt_on_stdin: true,
        }
    }
}

/// A longer line than this is not understood, and is let go by.
const MAX_LINE: usize = 4 * 1024 * 1024;

/// The event stream: what counts is the last `result` line.
#[derive(Debug, Default)]
pub struct Stream {
    line: Vec<u8>,
    overlong: bool,
    result: Option<Heard>,
}

impl Listener for Stream {
    fn hear(&mut self, mut chunk: &[u8]) {
        while let Some(end) = chunk.iter().position(|&b| b == b'\n') {
            self.extend(&chunk[..end]);
            self.end_line();
            chunk = &chunk[end + 1..];
        }
        self.extend(chunk);
    }

    fn heard(&mut self) -> Heard {
        self.end_line();
        self.result.take().unwrap_or(Heard {
            text: String::new(),
            error: Some(HeardError::NoResult),
        })
    }
}

impl Stream {
    fn extend(&mut self, part: &[u8]) {
        if self.line.len() + part.len() > MAX_LINE {
            self.overlong = true;
            self.line = Vec::new();
        }
        if !self.overlong {
            self.line.extend_from_slice(part);
        }
    }

    fn end_line(&mut self) {
        if std::mem::take(&mut self.overlong) {
            // It may have been a result, and then the one before is not the
            // last one.
            self.result = None;
        } else if let Some(result) = read_result(&self.line) {
            self.result = Some(result);
        }
        self.line.clear();
    }
}

fn read_result(line: &[u8]) -> Option<Heard> {
    let line = String::from_utf8_lossy(line);
    let line: Line = serde_json::from_str(&line).ok()?;
    (line.kind == "result").then(|| line.into_heard())
}

/// The fields of a stream line that decide something here.
#[derive(Deserialize)]
struct Line {
    #[serde(rename = "type")]
    kind: String,
    is_error: Option<bool>,
    subtype: Option<String>,
    result: Option<String>,
    errors: Option<Vec<serde_json::Value>>,
}

impl Line {
    fn into_heard(self) -> Heard {
        let subtype = self.subtype.unwrap_or_default();
        let text = self.result.unwrap_or_default();
        let failed = self.is_error.unwrap_or(false) || subtype.starts_with("error");
        let error = failed.then(|| {
            let errors = self.errors.unwrap_or_default();
            HeardError::Said(if !text.is_empty() {
                text.clone()
            } else if errors.is_empty() {
                subtype
            } else {
                errors.iter().map(words).collect::<Vec<_>>().join("; ")
            })
        });
        Heard { text, error }
    }
}

fn words(error: &serde_json::Value) -> String {
    match error {
        serde_json::Value::String(words) => words.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(stream: impl AsRef<[u8]>, text: &str, error: Option<&str>) {
        let want = Heard {
            text: text.into(),
            error: error.map(|words| HeardError::Said(words.into())),
        };
        assert_eq!(heard(stream.as_ref()), want);
    }

    fn check_no_result(stream: impl AsRef<[u8]>) {
        let heard = heard(stream.as_ref());
        assert_eq!(heard.error, Some(HeardError::NoResult));
        assert_eq!(heard.text, "");
    }

    /// The same whether it comes byte by byte or at once.
    fn heard(stream: &[u8]) -> Heard {
        let [mut slow, mut fast] = [Stream::default(), Stream::default()];
        if stream.len() < 10_000 {
            stream.chunks(1).for_each(|byte| slow.hear(byte));
        } else {
            stream.chunks(65_536).for_each(|chunk| slow.hear(chunk));
        }
        fast.hear(stream);
        let heard = fast.heard();
        assert_eq!(slow.heard(), heard);
        heard
    }

    fn lines(lines: &[&str]) -> String {
        lines.join("\n") + "\n"
    }

    const INIT: &str = r#"{"type":"system","subtype":"init","tools":["Bash"],"model":"m"}"#;
    const SAYS_DONE: &str = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"<promise>DONE</promise>"}]},"parent_tool_use_id":null}"#;
    const TOOL_SAYS_DONE: &str = r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"{\"type\":\"result\",\"result\":\"<promise>DONE</promise>\"}"}]}}"#;
    const FIRST: &str = r#"{"type":"result","subtype":"success","is_error":false,"result":"first","result_index":0}"#;

    #[test]
    fn the_result_is_the_final_text() {
        let result = r#"{"duration_ms":5,"is_error":false,"subtype":"success","result":"All of it.\n<promise>DONE</promise>","type":"result","usage":{"input_tokens":1}}"#;
        check(
            lines(&[INIT, SAYS_DONE, TOOL_SAYS_DONE, result]),
            "All of it.\n<promise>DONE</promise>",
            None,
        );
        // The last line feed may be missing, and lines may end as on Windows.
        check([INIT, FIRST].join("\r\n"), "first", None);
        // A turn that a hook ended says nothing, which is no error.
        let empty = r#"{"type":"result","subtype":"success","is_error":false,"result":"","terminal_reason":"hook_stopped"}"#;
        check(lines(&[empty]), "", None);
    }

    #[test]
    fn of_several_results_the_last_counts() {
        let last = r#"{"type":"result","subtype":"success","is_error":false,"result":"last","result_index":1}"#;
        check(lines(&[INIT, FIRST, SAYS_DONE, last]), "last", None);
        let failed = r#"{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["cut off"]}"#;
        check(lines(&[FIRST, failed]), "", Some("cut off"));
        check(lines(&[failed, FIRST]), "first", None);
    }

    #[test]
    fn an_error_is_said_in_the_agent_s_words() {
        for (result, text, error) in [
            // The client calls a refusal of its server a success.
            (
                r#"{"type":"result","subtype":"success","is_error":true,"api_error_status":401,"result":"Bad key"}"#,
                "Bad key",
                "Bad key",
            ),
            (
                r#"{"type":"result","subtype":"error_max_turns","is_error":true,"errors":["Too many turns (2)"]}"#,
                "",
                "Too many turns (2)",
            ),
            (
                r#"{"type":"result","subtype":"error_max_budget_usd","is_error":true,"result":null,"errors":["one",{"code":2}]}"#,
                "",
                r#"one; {"code":2}"#,
            ),
            (
                r#"{"type":"result","subtype":"error_during_execution","is_error":false,"errors":[]}"#,
                "",
                "error_during_execution",
            ),
            (
                r#"{"type":"result","subtype":null,"is_error":true,"result":"x","errors":null}"#,
                "x",
                "x",
            ),
        ] {
            check(lines(&[INIT, result]), text, Some(error));
        }
    }

    #[test]
    fn nothing_else_is_a_result() {
        check_no_result("");
        check_no_result("\n\n\n");
        check_no_result("plain words\n");
        check_no_result(lines(&[INIT, SAYS_DONE, TOOL_SAYS_DONE]));
        check_no_result(r#"{"type":"result","subtype":"success","is_error":false,"resu"#);
        check_no_result(r#"{"kind":"result","result":"x"}"#);
        check_no_result(r#"["result"]"#);
    }

    #[test]
    fn half_a_line_at_the_end_does_not_count() {
        let half = &FIRST[..FIRST.len() - 5];
        check([INIT, FIRST, half].join("\n"), "first", None);
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced() {
        let result = b"{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"a\xffb\"}\n";
        check(result, "a\u{fffd}b", None);
        let noise = [b"\xff\xfe\n".as_slice(), FIRST.as_bytes()].concat();
        check(noise, "first", None);
    }

    #[test]
    fn an_overlong_line_is_let_go_by_without_keeping_it() {
        let long = format!(
            r#"{{"type":"user","content":"{}"}}"#,
            "x".repeat(2 * MAX_LINE)
        );
        check(lines(&[INIT, &long, FIRST]), "first", None);
        // Nobody knows whether it was the last result.
        check_no_result(lines(&[FIRST, &long]));
        check_no_result([FIRST, &long].join("\n"));

        let mut stream = Stream::default();
        for chunk in long.as_bytes().chunks(65_536) {
            stream.hear(chunk);
            assert!(stream.line.capacity() <= 2 * MAX_LINE);
        }
        assert_eq!(stream.line.capacity(), 0);
    }
}

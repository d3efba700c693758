//! Claude Code, headless: one JSON object per line.

use serde::Deserialize;

use super::{Heard, Invocation, Listener};

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
    heard: Heard,
    result_seen: bool,
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
        let mut heard = std::mem::take(&mut self.heard);
        if !self.result_seen && heard.error.is_none() {
            heard.error = Some("the agent ended without a result".into());
        }
        heard
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
        if !std::mem::take(&mut self.overlong)
            && let Ok(line) = serde_json::from_slice::<Line>(&self.line)
            && line.kind == "result"
        {
            self.result_seen = true;
            self.heard = line.into_heard();
        }
        self.line.clear();
    }
}

/// The fields of a stream line that decide something here.
#[derive(Deserialize)]
struct Line {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    is_error: bool,
    #[serde(default)]
    subtype: String,
    #[serde(default)]
    result: Option<String>,
    #[serde(default)]
    errors: Vec<serde_json::Value>,
}

impl Line {
    fn into_heard(self) -> Heard {
        let text = self.result.unwrap_or_default();
        let error = (self.is_error || self.subtype.starts_with("error")).then(|| {
            if !text.is_empty() {
                text.clone()
            } else if self.errors.is_empty() {
                self.subtype.clone()
            } else {
                self.errors
                    .iter()
                    .map(ToString::to_string)
                    .collect::<Vec<_>>()
                    .join("; ")
            }
        });
        Heard { text, error }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(stream: &str) -> Heard {
        let mut listener = Stream::default();
        for byte in stream.as_bytes() {
            listener.hear(std::slice::from_ref(byte));
        }
        listener.heard()
    }

    #[test]
    fn the_last_result_counts_and_nothing_else() {
        let stream = concat!(
            r#"{"type":"assistant","message":{"content":[{"type":"text","text":"<promise>DONE</promise>"}]}}"#,
            "\n",
            r#"{"type":"user","message":{"content":[{"type":"tool_result","content":"<promise>DONE</promise>"}]}}"#,
            "\n",
            r#"{"type":"result","subtype":"success","is_error":false,"result":"first"}"#,
            "\n",
            r#"{"duration_ms":1,"type":"result","subtype":"success","is_error":false,"result":"last"}"#,
        );
        assert_eq!(
            heard(stream),
            Heard {
                text: "last".into(),
                error: None
            }
        );
    }

    #[test]
    fn an_error_is_an_error_also_when_its_subtype_says_success() {
        let stream = r#"{"type":"result","subtype":"success","is_error":true,"result":"Credit balance is too low"}"#;
        assert_eq!(
            heard(stream).error.as_deref(),
            Some("Credit balance is too low")
        );
        let stream = r#"{"type":"result","subtype":"error_max_turns","is_error":true,"errors":["Reached max"]}"#;
        assert_eq!(heard(stream).error.as_deref(), Some("\"Reached max\""));
    }

    #[test]
    fn a_stream_without_a_result_is_an_error() {
        assert!(
            heard(r#"{"type":"system","subtype":"init"}"#)
                .error
                .is_some()
        );
        assert!(heard("").error.is_some());
        assert!(heard(r#"{"type":"resu"#).error.is_some());
    }
}

//! What an agent printed as lines for people: words and tool calls instead of
//! the client's own lines of JSON.

use ralph_core::text::{self, LineRedactor};

use crate::agents::{AgentEvent, Client, Listener};
use crate::turn::Echoed;

/// A longer line is cut.
const LONGEST_LINE: usize = 1024 * 1024;
/// Nobody's JSON is taken for a client's after so many lines that were not.
const TRIES: u32 = 20;

/// One line for people: it moves no cursor and holds no secret.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct OutputLine {
    pub said: Said,
    pub text: String,
}

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Said {
    Words,
    Tool,
    ToolFailed,
    /// A tool call that was not let through.
    Denied,
    Error,
    /// Of a program whose output is not understood.
    Plain,
}

impl Said {
    /// What the agent says itself, or what nobody can tell from that.
    pub fn is_words(self) -> bool {
        matches!(self, Said::Words | Said::Plain | Said::Error)
    }

    /// Sets apart what is not said in words.
    pub fn sign(self, unicode: bool) -> &'static str {
        match (self, unicode) {
            (Said::Words | Said::Plain, _) => "",
            (Said::Tool, true) => "▸ ",
            (Said::Tool, false) => "> ",
            (Said::ToolFailed | Said::Error, true) => "✗ ",
            (Said::Denied, true) => "⛔ ",
            (Said::ToolFailed | Said::Error | Said::Denied, false) => "! ",
        }
    }
}

/// Understands the output of one call, line by line. Whatever an agent says
/// comes to people through here.
#[derive(Debug)]
pub struct Spoken {
    listener: Option<Listener>,
    /// Lines of JSON that no client would print.
    in_vain: u32,
    unfinished: Vec<u8>,
    redactor: LineRedactor,
}

impl Spoken {
    /// Where no client has that name, the lines themselves may tell which it
    /// is: people wrap clients in commands of their own.
    pub fn by(agent: &str) -> Spoken {
        Spoken {
            listener: Client::from_name(agent).map(Client::fresh_listener),
            in_vain: 0,
            unfinished: Vec::new(),
            redactor: LineRedactor::default(),
        }
    }

    /// What came from the agent while it works, in the order in which it came.
    pub fn take(&mut self, echoed: &Echoed<'_>, tell: &mut dyn FnMut(OutputLine)) {
        match echoed {
            Echoed::Bytes(bytes) => self.hear(bytes, tell),
            Echoed::Event(event) => {
                if let Some(line) = OutputLine::of((*event).clone()) {
                    tell_lines(&mut self.redactor, &line, tell);
                }
            }
        }
    }

    pub fn hear(&mut self, bytes: &[u8], tell: &mut dyn FnMut(OutputLine)) {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|&byte| byte == b'\n') {
            let (line, behind) = rest.split_at(end);
            rest = behind.get(1..).unwrap_or_default();
            if self.unfinished.is_empty() {
                self.line(line, tell);
            } else {
                let mut whole = std::mem::take(&mut self.unfinished);
                whole.extend_from_slice(line);
                self.line(&whole, tell);
            }
        }
        if self.unfinished.len() < LONGEST_LINE {
            self.unfinished.extend_from_slice(rest);
        }
    }

    /// Tells a line that has no end yet, unless only its end makes sense of it.
    pub fn hurry(&mut self, tell: &mut dyn FnMut(OutputLine)) {
        let waits = is_json(&self.unfinished) || may_open_key(&self.unfinished);
        if !self.unfinished.is_empty() && !waits {
            let line = std::mem::take(&mut self.unfinished);
            self.line(&line, tell);
        }
    }

    fn line(&mut self, line: &[u8], tell: &mut dyn FnMut(OutputLine)) {
        let redactor = &mut self.redactor;
        if !is_json(line) {
            return tell_lines(redactor, &plain(line), tell);
        }
        if self.listener.is_none() && self.in_vain < TRIES {
            self.listener = whose(line);
            self.in_vain += 1;
        }
        match &mut self.listener {
            Some(listener) => {
                hear_line(listener, line, &mut |event| {
                    if let Some(line) = OutputLine::of(event) {
                        tell_lines(redactor, &line, tell);
                    }
                });
            }
            None => tell_lines(redactor, &plain(line), tell),
        }
    }
}

/// Each line of a text, harmless.
fn tell_lines(redactor: &mut LineRedactor, said: &OutputLine, tell: &mut dyn FnMut(OutputLine)) {
    let harmless = text::sanitize(&said.text);
    for line in harmless.lines().filter(|line| !line.trim().is_empty()) {
        tell(OutputLine {
            said: said.said,
            text: redactor.redact(line).into_owned(),
        });
    }
}

/// Half the title of a private key is not known as one.
fn may_open_key(line: &[u8]) -> bool {
    line.ends_with(b"-") || line.windows(5).any(|part| part == b"-----")
}

fn is_json(line: &[u8]) -> bool {
    line.first() == Some(&b'{')
}

fn plain(line: &[u8]) -> OutputLine {
    OutputLine {
        said: Said::Plain,
        text: String::from_utf8_lossy(line).into_owned(),
    }
}

fn hear_line(listener: &mut Listener, line: &[u8], tell: &mut dyn FnMut(AgentEvent)) {
    listener.hear(line, tell);
    listener.hear(b"\n", tell);
}

/// A listener of the client that prints such lines.
fn whose(line: &[u8]) -> Option<Listener> {
    let understands = |client: &Client| {
        let mut heard = false;
        hear_line(&mut client.fresh_listener(), line, &mut |event| {
            heard |= !matches!(event, AgentEvent::Prose(_));
        });
        heard
    };
    let client = Client::ALL.iter().copied().find(understands);
    client.map(Client::fresh_listener)
}

impl OutputLine {
    /// What a person wants to know of an event.
    fn of(event: AgentEvent) -> Option<OutputLine> {
        let (said, text) = match event {
            AgentEvent::Text { text, .. } => (Said::Words, text),
            AgentEvent::Prose(text) => (Said::Plain, text),
            AgentEvent::ToolCall { name, summary, .. } if summary.is_empty() => (Said::Tool, name),
            AgentEvent::ToolCall { name, summary, .. } => {
                (Said::Tool, format!("{name}: {summary}"))
            }
            AgentEvent::ToolResult { ok: false, .. } => (Said::ToolFailed, "failed".into()),
            AgentEvent::Denied(denial) => {
                (Said::Denied, format!("{}: {}", denial.tool, denial.reason))
            }
            AgentEvent::Error(error) => (Said::Error, error.message),
            AgentEvent::Retry { reason, .. } => (Said::Error, reason),
            _ => return None,
        };
        (!text.trim().is_empty()).then_some(OutputLine { said, text })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLAUDE: &str = r#"{"type":"system","subtype":"init","session_id":"s","model":"m"}
{"type":"assistant","message":{"id":"1","content":[{"type":"text","text":"I look."}]}}
{"type":"assistant","message":{"id":"2","content":[{"type":"tool_use","id":"t","name":"Read","input":{"file_path":"a.rs"}}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","is_error":true,"content":"no"}]}}
a warning
{"type":"something new"}
"#;
    const CODEX: &str = r#"{"type":"thread.started","thread_id":"0199"}
{"type":"turn.started"}
{"type":"item.started","item":{"id":"i1","type":"command_execution","command":"ls","status":"in_progress"}}
{"type":"item.completed","item":{"id":"i2","type":"agent_message","text":"Done."}}
"#;
    const NOBODYS: &str = "{\"level\":\"info\",\"msg\":\"compiling\"}\n{not json\n";

    /// In pieces of this many bytes, which may end anywhere.
    fn heard(agent: &str, output: &str, piece: usize) -> String {
        let mut spoken = Spoken::by(agent);
        let mut out = String::new();
        for bytes in output.as_bytes().chunks(piece) {
            spoken.hear(bytes, &mut |line| {
                out.push_str(&format!("{}{}\n", line.said.sign(false), line.text));
            });
        }
        out
    }

    #[test]
    fn a_client_is_known_by_its_name_or_by_its_lines() {
        let claude = "I look.\n> Read: a.rs\n! failed\na warning\n";
        let codex = heard("codex", CODEX, 4096);
        assert!(codex.ends_with("ls\nDone.\n"), "{codex}");
        for (agent, output, want) in [
            ("claude", CLAUDE, claude),
            ("custom", CLAUDE, claude),
            ("custom", CODEX, &codex),
            ("custom", NOBODYS, NOBODYS),
        ] {
            for piece in [1, 7, 4096] {
                assert_eq!(heard(agent, output, piece), want, "{agent} {piece}");
            }
        }
    }

    /// STAT-08, XCUT-06: whoever shows what an agent says shows no private
    /// key, in whichever form it comes.
    #[test]
    fn private_keys_are_hidden_line_by_line() {
        let shown = "Here:\n-----BEGIN RSA PRIVATE KEY-----\n[redacted]\n[redacted]\n\
                     -----END RSA PRIVATE KEY-----\nDone.\n";
        let key = shown.replacen("[redacted]", "MIIEow0", 1);
        let key = key.replacen("[redacted]", "c29tZQ==", 1);
        let message = serde_json::json!({"type": "assistant", "message": {
            "id": "1", "content": [{"type": "text", "text": key}],
        }});
        for output in [key.clone(), format!("{message}\n")] {
            for piece in [1, 7, 4096] {
                assert_eq!(heard("custom", &output, piece), shown, "{piece}");
            }
        }
        let mut told = String::new();
        let mut spoken = Spoken::by("");
        for bytes in key.as_bytes().chunks(7) {
            spoken.hear(bytes, &mut |line| told.push_str(&line.text));
            spoken.hurry(&mut |line| told.push_str(&line.text));
        }
        assert!(!told.contains("MIIE") && told.contains("Done."), "{told}");
        let event = AgentEvent::Text {
            text: key,
            main: true,
        };
        let mut told = String::new();
        let mut tell = |line: OutputLine| told.push_str(&format!("{}\n", line.text));
        Spoken::by("").take(&Echoed::Event(&event), &mut tell);
        assert_eq!(told, shown);
    }

    #[test]
    fn only_a_line_of_json_waits_for_its_end() {
        let mut spoken = Spoken::by("custom");
        let mut told = Vec::new();
        for bytes in ["comp", "iling\n", "{\"type\":", "\"x\"}\n"] {
            spoken.hear(bytes.as_bytes(), &mut |line| told.push(line.text));
            spoken.hurry(&mut |line| told.push(line.text));
        }
        assert_eq!(told, ["comp", "iling", "{\"type\":\"x\"}"]);
    }
}

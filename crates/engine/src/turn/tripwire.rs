//! The guard is proven, not assumed (S-01): what our hook was asked about
//! stands in a file of the run, written before the hook answers, and a client
//! runs a tool only after that. So a tool that ran without such a line ran
//! without the guard, and the turn is ended for it.

use std::collections::{HashMap, HashSet, VecDeque};
use std::path::Path;

use ralph_store::lines::LineTail;
use serde::Deserialize;

use crate::agents::{AgentEvent, Proof};

/// A client may have our hook twice, from `ralph init` and from the run: its
/// second line comes with the first.
const REMEMBERED: usize = 64;

/// More calls at once are not followed.
const MAX_OPEN: usize = 4_096;

#[derive(Debug)]
pub(super) struct Tripwire {
    proof: Proof,
    asked: LineTail,
    /// Calls that the hook was asked about and whose end is not told yet.
    named: HashSet<String>,
    /// Those whose names say nothing, and how many of them were used up.
    unnamed: u64,
    last: VecDeque<String>,
    /// Calls that act and are under way: their tools.
    open: HashMap<String, String>,
    /// The tool that ran without the guard.
    tool: Option<String>,
}

/// One line of the file.
#[derive(Debug, Deserialize)]
struct Asked {
    tool: String,
    #[serde(default)]
    id: String,
}

impl Tripwire {
    /// Begins behind what earlier turns left.
    pub(super) fn new(proof: Proof, asked: &Path) -> Tripwire {
        let mut asked = LineTail::new(asked);
        let _ = asked.poll(|_| ());
        Tripwire {
            proof,
            asked,
            named: HashSet::new(),
            unnamed: 0,
            last: VecDeque::new(),
            open: HashMap::new(),
            tool: None,
        }
    }

    pub(super) fn take(&mut self, event: &AgentEvent) {
        match event {
            AgentEvent::ToolCall { id, name, .. }
                if self.proof.covers(name) && self.open.len() < MAX_OPEN =>
            {
                self.open.insert(id.clone(), name.clone());
            }
            AgentEvent::ToolResult { id, ran, .. } => {
                let Some(tool) = self.open.remove(id) else {
                    return;
                };
                self.read();
                // Whether a call that did not run was asked about is no matter.
                if !self.was_asked(id) && *ran {
                    self.tool.get_or_insert(tool);
                }
            }
            _ => {}
        }
    }

    fn was_asked(&mut self, id: &str) -> bool {
        if self.named.remove(id) {
            return true;
        }
        let one_is_left = self.unnamed > 0;
        self.unnamed = self.unnamed.saturating_sub(1);
        one_is_left
    }

    /// A file that can't be read proves nothing.
    fn read(&mut self) {
        let (proof, named, last) = (self.proof, &mut self.named, &mut self.last);
        let unnamed = &mut self.unnamed;
        let _ = self.asked.poll(|line| {
            let Ok(asked) = serde_json::from_slice::<Asked>(line.bytes) else {
                return;
            };
            if !proof.covers_asked(&asked.tool) {
                return;
            }
            if asked.id.is_empty() {
                *unnamed += 1;
                return;
            }
            if last.contains(&asked.id) {
                return;
            }
            last.push_back(asked.id.clone());
            if last.len() > REMEMBERED {
                last.pop_front();
            }
            match proof.by_name {
                true => drop(named.insert(asked.id)),
                false => *unnamed += 1,
            }
        });
    }

    /// The first tool that ran without the guard.
    pub(super) fn tool(&self) -> Option<&str> {
        self.tool.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::Client;

    /// What a recorded stream comes to beside these lines of the hook.
    fn tripped(client: Client, stream: &str, asked: &[(&str, &str)]) -> Option<String> {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("asked.jsonl");
        ralph_store::guard_log::asked(&file, "Bash", Some("of-an-earlier-turn")).unwrap();
        let mut wire = Tripwire::new(client.proof().unwrap(), &file);
        for (tool, id) in asked {
            ralph_store::guard_log::asked(&file, tool, Some(id)).unwrap();
        }
        let mut listener = client.listener(&crate::agents::Session::Fresh);
        listener.hear(stream.as_bytes(), &mut |event| wire.take(&event));
        wire.tool().map(str::to_owned)
    }

    fn claude(name: &str, id: &str, result: &str) -> String {
        format!(
            r#"{{"type":"assistant","message":{{"id":"m","content":[{{"type":"tool_use","id":"{id}","name":"{name}","input":{{"command":"ls"}}}}]}},"parent_tool_use_id":null}}
{{"type":"user","message":{{"role":"user","content":[{{"tool_use_id":"{id}","type":"tool_result",{result}}}]}}}}
"#
        )
    }

    #[test]
    fn a_tool_of_claude_code_that_ran_unasked_trips() {
        let ok = r#""content":"a","is_error":false"#;
        let bash = claude("Bash", "t1", ok);
        for (stream, asked, expected) in [
            (bash.clone(), &[("Bash", "t1")][..], None),
            (bash.clone(), &[("Bash", "t1"), ("Bash", "t1")], None),
            (bash.clone(), &[], Some("Bash")),
            (bash.clone(), &[("Bash", "t0")], Some("Bash")),
            (bash.clone() + &bash, &[("Bash", "t1")], Some("Bash")),
            // An old client tells the hook no name of the call.
            (bash.clone(), &[("Bash", "")], None),
            (
                bash.clone() + &claude("Bash", "t2", ok),
                &[("Bash", "")],
                Some("Bash"),
            ),
            (claude("Write", "t1", ok), &[], Some("Write")),
            (
                claude("mcp__disk__write", "t1", ok),
                &[],
                Some("mcp__disk__write"),
            ),
            // Reading is the guard's business only for secrets.
            (claude("TodoWrite", "t1", ok), &[], None),
            // It ran, and ended with an error.
            (
                claude(
                    "Bash",
                    "t1",
                    r#""content":"Exit code 1\nno","is_error":true"#,
                ),
                &[],
                Some("Bash"),
            ),
            // The client itself refused before anybody was asked.
            (
                claude(
                    "Bash",
                    "t1",
                    r#""content":"<tool_use_error>InputValidationError</tool_use_error>","is_error":true"#,
                ),
                &[],
                None,
            ),
        ] {
            let found = tripped(Client::Claude, &stream, asked);
            assert_eq!(found.as_deref(), expected, "{asked:?} {stream}");
        }
    }

    fn codex(kind: &str, id: &str, end: &str) -> String {
        format!(
            r#"{{"type":"item.started","item":{{"id":"{id}","type":"{kind}","command":"ls","status":"in_progress"}}}}
{{"type":"item.completed","item":{{"id":"{id}","type":"{kind}",{end}}}}}
"#
        )
    }

    #[test]
    fn codex_has_other_names_for_its_calls_and_is_counted() {
        let ok = r#""exit_code":0,"status":"completed""#;
        let one = codex("command_execution", "item_1", ok);
        let two = one.clone() + &codex("file_change", "item_2", r#""status":"completed""#);
        let failed = codex(
            "command_execution",
            "item_1",
            r#""exit_code":2,"status":"failed""#,
        );
        let declined = codex(
            "command_execution",
            "item_1",
            r#""exit_code":null,"status":"declined""#,
        );
        for (stream, asked, expected) in [
            (&one, &[("Bash", "call_a")][..], None),
            (&one, &[], Some("command_execution")),
            (&two, &[("Bash", "call_a"), ("apply_patch", "call_b")], None),
            (
                &two,
                &[("Bash", "call_a"), ("Bash", "call_a")],
                Some("file_change"),
            ),
            (
                &two,
                &[("Bash", "call_a"), ("mcp__a__b", "call_b")],
                Some("file_change"),
            ),
            (&failed, &[], Some("command_execution")),
            (&declined, &[], None),
        ] {
            let found = tripped(Client::Codex, stream, asked);
            assert_eq!(found.as_deref(), expected, "{asked:?} {stream}");
        }
    }

    #[test]
    fn gemini_is_counted_by_the_tools_that_act() {
        let stream = r#"{"type":"tool_use","tool_name":"read_file","tool_id":"c0","parameters":{}}
{"type":"tool_result","tool_id":"c0","status":"success"}
{"type":"tool_use","tool_name":"run_shell_command","tool_id":"c1","parameters":{"command":"ls"}}
{"type":"tool_result","tool_id":"c1","status":"success"}
"#;
        for (asked, expected) in [
            (&[("read_file", ""), ("run_shell_command", "")][..], None),
            (&[("read_file", "")], Some("run_shell_command")),
            (&[], Some("run_shell_command")),
        ] {
            let found = tripped(Client::Gemini, stream, asked);
            assert_eq!(found.as_deref(), expected, "{asked:?}");
        }
    }

    #[test]
    fn what_is_planted_in_the_place_of_the_file_proves_nothing() {
        let bash = claude("Bash", "t1", r#""content":"a","is_error":false"#);
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("asked.jsonl");
        for text in [
            "",
            "\n\n",
            "garbage\n",
            "{\"tool\":\"Bash\",\"id\":\"t1\"}",
            "[]\n",
        ] {
            let _ = std::fs::remove_file(&file);
            let mut wire = Tripwire::new(Client::Claude.proof().unwrap(), &file);
            std::fs::write(&file, text).unwrap();
            let mut listener = Client::Claude.listener(&crate::agents::Session::Fresh);
            listener.hear(bash.as_bytes(), &mut |event| wire.take(&event));
            assert_eq!(wire.tool(), Some("Bash"), "{text}");
        }
    }
}

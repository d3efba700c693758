//! What a subagent is told of its task before it begins (VERI-13): the files
//! that the task's own list names for its kind of agent. Names only: whoever
//! reads them asks the guard like everybody else.

use serde::Deserialize;

use super::gate::agent_name;
use crate::lang::Lang;
use crate::text::sanitize;
use crate::tr;

/// More would be a prompt of its own.
const MOST_ENTRIES: usize = 50;
const LONGEST_FIELD: usize = 200;

#[derive(Deserialize)]
struct Entry {
    #[serde(default)]
    file: String,
    #[serde(default, rename = "type")]
    kind: String,
    #[serde(default)]
    pattern: String,
    #[serde(default)]
    reason: String,
}

/// The name of the list for this kind of agent, within the folder of the task;
/// `None` for a name that is no file's.
pub fn list_name(agent_type: &str) -> Option<String> {
    let name = agent_name(agent_type);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    (!name.is_empty() && name.chars().all(is_plain)).then(|| format!("{name}.jsonl"))
}

/// The prompt with what the list names in front; `None` where it names
/// nothing.
pub fn with_context(prompt: &str, list: &str, lang: Lang) -> Option<String> {
    let entries = list
        .trim_start_matches('\u{feff}')
        .lines()
        .filter_map(|line| serde_json::from_str::<Entry>(line).ok());
    let lines: Vec<String> = entries
        .filter(|entry| !entry.file.trim().is_empty())
        .take(MOST_ENTRIES)
        .map(|entry| entry.line())
        .collect();
    if lines.is_empty() {
        return None;
    }
    let lines = lines.join("\n");
    let head = tr!(lang, "Read these first, as the task's own list says:");
    Some(format!("{head}\n{lines}\n\n{prompt}"))
}

impl Entry {
    fn line(&self) -> String {
        let short = |text: &str| -> String {
            let text = sanitize(text).replace(['\n', '\r'], " ");
            text.trim().chars().take(LONGEST_FIELD).collect()
        };
        let more: Vec<String> = [&self.kind, &self.pattern]
            .into_iter()
            .map(|text| short(text))
            .filter(|text| !text.is_empty())
            .collect();
        let mut line = format!("- {}", short(&self.file));
        if !more.is_empty() {
            line.push_str(&format!(" ({})", more.join(", ")));
        }
        let reason = short(&self.reason);
        if !reason.is_empty() {
            line.push_str(&format!(": {reason}"));
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_the_name_of_its_agent_and_no_path() {
        for (kind, want) in [
            ("implement", Some("implement.jsonl")),
            ("trellis:check", Some("check.jsonl")),
            ("../check", None),
            ("a/b", None),
            ("", None),
        ] {
            assert_eq!(list_name(kind).as_deref(), want, "{kind}");
        }
    }

    #[test]
    fn entries_stand_before_the_prompt_veri_13() {
        let list = "{\"file\": \"docs/spec.md\", \"type\": \"file\", \"pattern\": \"*.md\", \"reason\": \"The\\nspec\"}\n\
                    torn {\n{\"reason\": \"no file\"}\n{\"file\": \"src/lib.rs\"}\n";
        let list = format!("\u{feff}{list}");
        insta::assert_snapshot!(with_context("Do it.", &list, Lang::En).unwrap_or_default(), @r"
        Read these first, as the task's own list says:
        - docs/spec.md (file, *.md): The spec
        - src/lib.rs

        Do it.
        ");
        assert_eq!(
            with_context("Do it.", "{\"reason\": \"x\"}", Lang::En),
            None
        );
    }
}

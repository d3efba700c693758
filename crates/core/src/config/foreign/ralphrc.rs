//! `.ralphrc`: shell assignments, of which the values are read. Nothing is
//! ever run, so that a value which only a shell could work out is not used.

use toml::Value;

use super::{ForeignKey, Import};
use crate::config::warning::ConfigWarning;
use crate::config::words::Found;

/// What becomes of a value.
#[derive(Clone, Copy)]
enum Becomes {
    Number,
    Minutes,
    List,
}

/// The names that are used: theirs, ours, and how the value changes.
const USED: [(&str, &str, Becomes); 6] = [
    (
        "MAX_CALLS_PER_HOUR",
        "rate.max_calls_per_hour",
        Becomes::Number,
    ),
    (
        "CLAUDE_TIMEOUT_MINUTES",
        "limits.iteration_timeout",
        Becomes::Minutes,
    ),
    (
        "CB_NO_PROGRESS_THRESHOLD",
        "limits.stalled",
        Becomes::Number,
    ),
    (
        "CB_SAME_ERROR_THRESHOLD",
        "limits.same_error",
        Becomes::Number,
    ),
    ("CB_COOLDOWN_MINUTES", "limits.cooldown", Becomes::Minutes),
    (
        "OPTIONAL_SECTIONS",
        "tasks.optional_sections",
        Becomes::List,
    ),
];

/// Names that belong to that tool alone.
const THEIRS: [&str; 23] = [
    "PROJECT_NAME",
    "PROJECT_TYPE",
    "CLAUDE_OUTPUT_FORMAT",
    "CLAUDE_CODE_CMD",
    "CLAUDE_MODEL",
    "CLAUDE_EFFORT",
    "CLAUDE_AUTO_UPDATE",
    "CLAUDE_MIN_VERSION",
    "CLAUDE_USE_CONTINUE",
    "ALLOWED_TOOLS",
    "SESSION_CONTINUITY",
    "SESSION_EXPIRY_HOURS",
    "TASK_SOURCES",
    "GITHUB_TASK_LABEL",
    "BEADS_FILTER",
    "CB_OUTPUT_DECLINE_THRESHOLD",
    "CB_PERMISSION_DENIAL_THRESHOLD",
    "CB_AUTO_RESET",
    "RALPH_VERBOSE",
    "PROMPT_FILE",
    "FIX_PLAN_FILE",
    "AGENT_FILE",
    "MAX_TOKENS_PER_HOUR",
];

/// The names that start so belong to that tool alone, too.
const THEIR_PREFIX: &str = "SANDBOX_";

pub(super) fn read(text: &str, import: &mut Import) {
    for (index, line) in text.lines().enumerate() {
        let line_number = index + 1;
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        match assignment(line) {
            Some((name, written)) => read_assignment(name, written, line_number, import),
            None => import.warnings.push(ConfigWarning::NotAnAssignment {
                file: import.file.clone(),
                line: line_number,
            }),
        }
    }
}

/// The name and the written value of `NAME=value` or `export NAME=value`.
fn assignment(line: &str) -> Option<(&str, &str)> {
    let line = line.strip_prefix("export ").map_or(line, str::trim_start);
    let (name, value) = line.split_once('=')?;
    is_name(name).then_some((name, value))
}

fn is_name(text: &str) -> bool {
    !text.starts_with(|c: char| c.is_ascii_digit())
        && !text.is_empty()
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn read_assignment(name: &str, written: &str, line: usize, import: &mut Import) {
    let key = ForeignKey {
        name,
        line: Some(line),
    };
    let Some((_, ours, becomes)) = USED.iter().find(|(theirs, _, _)| *theirs == name) else {
        if !THEIRS.contains(&name) && !name.starts_with(THEIR_PREFIX) {
            let known = USED.iter().map(|(theirs, _, _)| *theirs).chain(THEIRS);
            import.unknown(key, known);
        }
        return;
    };
    match literal(written) {
        Some(text) => {
            let found = Found::of(&Value::String(text.clone()));
            import.set(key, ours, &convert(&text, *becomes), found);
        }
        None => import.warnings.push(ConfigWarning::NeedsShell {
            file: import.file.clone(),
            line,
            name: name.to_owned(),
        }),
    }
}

fn convert(text: &str, becomes: Becomes) -> Value {
    match becomes {
        Becomes::Number => text
            .parse()
            .map_or_else(|_| Value::String(text.to_owned()), Value::Integer),
        Becomes::Minutes => Value::String(format!("{text}m")),
        Becomes::List => text
            .split([',', '|'])
            .map(str::trim)
            .filter(|item| !item.is_empty())
            .collect::<Vec<_>>()
            .into(),
    }
}

/// Characters that mean something to a shell, within quotes and outside.
const SPECIAL_IN_QUOTES: &[char] = &['$', '`', '\\'];
const SPECIAL_IN_A_WORD: &[char] = &[
    '$', '`', '\\', '"', '\'', ';', '&', '|', '<', '>', '(', ')', '*', '?', '~',
];

/// The text that a written value stands for; `None` where a shell would have
/// to work it out, or where it is not one well-formed word.
fn literal(written: &str) -> Option<String> {
    let written = written.trim_end();
    if let Some(rest) = written.strip_prefix('\'') {
        let (text, after) = rest.split_once('\'')?;
        return ends_here(after).then(|| text.to_owned());
    }
    if let Some(rest) = written.strip_prefix('"') {
        let (text, after) = rest.split_once('"')?;
        let text = or_default(text, SPECIAL_IN_QUOTES)?;
        return ends_here(after).then_some(text);
    }
    let (word, after) = match written.find(char::is_whitespace) {
        Some(end) => written.split_at(end),
        None => (written, ""),
    };
    let text = or_default(word, SPECIAL_IN_A_WORD)?;
    ends_here(after).then_some(text)
}

/// Whether only a comment follows a value.
fn ends_here(after: &str) -> bool {
    let rest = after.trim_start();
    rest.is_empty() || (rest.starts_with('#') && rest.len() < after.len())
}

/// The text itself, or the default of `${NAME:-default}`; `None` where it has
/// anything else that means something to a shell.
fn or_default(text: &str, special: &[char]) -> Option<String> {
    let expansion = text
        .strip_prefix("${")
        .and_then(|rest| rest.strip_suffix('}'));
    let text = match expansion {
        Some(expansion) => {
            let (name, default) = expansion.split_once(":-")?;
            is_name(name).then_some(default)?
        }
        None => text,
    };
    (!text.contains(special)).then(|| text.to_owned())
}

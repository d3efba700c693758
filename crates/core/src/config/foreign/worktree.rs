//! `.ideal/worktree.yaml` and `.trellis/worktree.yaml`: of these only the
//! verify commands are ours.

use serde_json::Value as Json;
use toml::Value;

use super::{ForeignKey, Import};
use crate::config::words::Found;
use crate::text;

const THEIRS: [&str; 3] = ["worktree_dir", "copy", "post_create"];
const VERIFY: &str = "verify";

pub(super) fn read(text: &str, import: &mut Import) {
    let root = match serde_saphyr::from_str::<Json>(text) {
        Ok(Json::Object(root)) => root,
        // A file of nothing but comments.
        Ok(Json::Null) => return,
        Ok(_) => return import.unreadable(None, "the file is not a mapping of keys to values"),
        Err(error) => return unreadable(&error, import),
    };
    for (name, value) in &root {
        let key = ForeignKey { name, line: None };
        if name == VERIFY {
            if let Some(commands) = commands(value) {
                import.set(key, "verify.commands", &commands, Found::of_json(value));
            }
        } else if !THEIRS.contains(&name.as_str()) {
            import.unknown(key, THEIRS.into_iter().chain([VERIFY]));
        }
    }
}

fn unreadable(error: &serde_saphyr::Error, import: &mut Import) {
    let line = error
        .location()
        .and_then(|location| usize::try_from(location.line()).ok());
    let text = error.without_snippet().to_string();
    import.unreadable(line, text.lines().next().unwrap_or_default());
}

/// The list of commands; a key without a value, an empty list and commands that
/// run nothing set nothing.
fn commands(value: &Json) -> Option<Value> {
    let items = match value {
        Json::Array(items) => items.as_slice(),
        single => std::slice::from_ref(single),
    };
    let commands: Vec<Value> = items
        .iter()
        .filter(|item| !item.is_null() && !item.as_str().is_some_and(text::runs_nothing))
        .map(command)
        .collect();
    (!commands.is_empty()).then_some(Value::Array(commands))
}

/// YAML takes the shell command `true` for a truth value.
fn command(item: &Json) -> Value {
    match item {
        Json::String(text) => Value::String(text.clone()),
        Json::Bool(truth) => Value::String(truth.to_string()),
        _ => Value::Table(toml::Table::new()),
    }
}

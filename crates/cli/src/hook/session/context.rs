//! A subagent is called: the files that its task names for it stand in its
//! prompt (VERI-13).

use std::path::{Component, Path};

use ralph_core::lang::Lang;
use ralph_core::session::context::{list_name, with_context};
use ralph_core::session::gate::{CURRENT_TASK_FILES, task_path};
use ralph_core::session::roles::CALLERS;
use ralph_engine::agents::Client;
use ralph_store::regular;
use serde_json::{Value, json};

use super::super::answer::Answer;
use super::super::payload::Payload;

/// A list of files; a task's folder may hold anything.
const LARGEST: u64 = 256 * 1024;

/// The call with its context; `None` where there is none, or where the client
/// would not hear it.
pub fn before(payload: &Payload, root: &Path, lang: Lang) -> Option<Answer> {
    let calls = CALLERS.contains(&payload.tool.as_str());
    if payload.host != Client::Claude || !calls {
        return None;
    }
    let kind = payload.input.get("subagent_type").and_then(Value::as_str)?;
    let prompt = payload.input.get("prompt").and_then(Value::as_str)?;
    let list = list_name(kind)?;
    let task = CURRENT_TASK_FILES.iter().find_map(|place| {
        let text = regular::read_to_string_within(root.join(place), LARGEST).ok()?;
        task_path(place, &text)
    })?;
    let is_below = |path: &Path| {
        path.components()
            .all(|part| matches!(part, Component::Normal(_)))
    };
    let task = Some(Path::new(&task)).filter(|path| is_below(path))?;
    let list = regular::read_to_string_within(root.join(task).join(list), LARGEST).ok()?;
    let prompt = with_context(prompt, &list, lang)?;
    let mut input = payload.input.clone();
    input
        .as_object_mut()?
        .insert("prompt".into(), json!(prompt));
    Some(Answer::Rewrite(input))
}

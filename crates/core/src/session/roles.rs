//! Roles that the subagents of a session play (seed 000): whose turn a call
//! is, and what is said where it is another's.

use serde_json::Value;

use crate::flow::{ROLES, Risk};
use crate::lang::{Lang, Say};
use crate::tr;

/// The tools that call a subagent.
pub const CALLERS: [&str; 2] = ["Agent", "Task"];

/// The role that a call of a subagent is for: by the kind of agent, else by
/// the first word of what it is called for. Others are nobody's turn.
pub fn called(input: &Value) -> Option<&'static str> {
    let text = |key: &str| input.get(key).and_then(Value::as_str).unwrap_or_default();
    let mut kind = words(text("subagent_type"));
    let by_kind = kind.find_map(role);
    by_kind.or_else(|| words(text("description")).next().and_then(role))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphabetic())
        .filter(|word| !word.is_empty())
}

fn role(word: &str) -> Option<&'static str> {
    ROLES
        .into_iter()
        .find(|role| role.eq_ignore_ascii_case(word))
}

/// What a subagent answered; none where it goes on in the background.
pub fn answered(response: &Value) -> Option<String> {
    if let Value::String(text) = response {
        return Some(text.clone());
    }
    let status = response.get("status").and_then(Value::as_str);
    if status.is_some_and(|status| status != "completed") {
        return None;
    }
    let blocks = response.get("content")?.as_array()?;
    let texts = blocks
        .iter()
        .filter_map(|block| block.get("text")?.as_str());
    Some(texts.collect::<Vec<_>>().join("\n"))
}

/// The prompt that a subagent was really called with.
pub fn asked<'a>(input: &'a Value, response: &'a Value) -> &'a str {
    let of = |value: &'a Value| value.get("prompt").and_then(Value::as_str);
    of(response).or_else(|| of(input)).unwrap_or_default()
}

/// Why a call has to wait.
#[derive(Clone, Debug, PartialEq, Eq, Say)]
pub enum Refusal {
    /// ROLE-05, in the words of the flow's own tools.
    #[say("the REVIEWER was skipped, which breaks D→R→T (risk: {risk}): call the REVIEWER for {task} first", risk = risk.into_str())]
    Unreviewed { task: String, risk: Risk },
    #[say("it is the turn of the {due} for {task}, not of the {called}: call the {due} first", (due, called) = (due.to_uppercase(), called.to_uppercase()))]
    OutOfTurn {
        called: String,
        due: String,
        task: String,
    },
    #[say("the {role} of {task} only looks: nothing is written before its verdict", role = role.to_uppercase())]
    OnlyLooks { role: String, task: String },
    #[say("the loop rests, and a person decides whether it goes on: call no role, and stop")]
    Resting,
}

/// What the agent of the session has to do for the role whose turn it is.
pub fn dispatch(role: &str, task: &str, lang: Lang) -> String {
    let role = role.to_uppercase();
    tr!(
        lang,
        "The roles of each task are played by subagents, one after the other. It is the turn of the {role} of {task}.\n\n- Call the Agent tool (Task in older versions) now, in the foreground, with the description \"{role}: {task}\", and as the kind of agent one of your own for this role or general-purpose.\n- Ralph's hook puts its whole prompt in for you, whatever you write there.\n- Ralph reads its answer, and tells you behind it whose turn comes next.\n\nDo nothing of its work yourself, and tick no box: Ralph does that when a task has passed all roles. Go on until Ralph says that the loop is over."
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_role_is_known_by_its_kind_or_its_first_word() {
        let of = |kind: &str, description: &str| {
            called(&json!({"subagent_type": kind, "description": description}))
        };
        assert_eq!(of("general-purpose", "REVIEWER: T001"), Some("reviewer"));
        assert_eq!(of("code-reviewer", "Look at it"), Some("reviewer"));
        assert_eq!(of("Tester", "DEVELOPER: T001"), Some("tester"));
        assert_eq!(of("general-purpose", "tester T001"), Some("tester"));
        assert_eq!(of("Explore", "Find the developer guide"), None);
        assert_eq!(of("", ""), None);
        assert_eq!(called(&json!(null)), None);
    }

    #[test]
    fn an_answer_is_what_a_finished_agent_said() {
        let done = json!({"status": "completed", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]});
        assert_eq!(answered(&done).as_deref(), Some("a\nb"));
        assert_eq!(answered(&json!("plain")).as_deref(), Some("plain"));
        assert_eq!(answered(&json!({"status": "async_launched"})), None);
        assert_eq!(answered(&json!(null)), None);
    }
}

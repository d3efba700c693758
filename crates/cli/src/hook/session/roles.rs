//! Subagents that play the roles of a loop (seed 000, ROLE-05): the order is
//! held before a call, and its answer taken in behind it. The machine decides;
//! a call that is let through here is no approval of anything.

use ralph_core::lang::{Lang, Say};
use ralph_core::session::roles::{self, CALLERS, Refusal};
use ralph_core::tr;
use ralph_engine::agents::Client;
use ralph_engine::session::roles::{Due, Roles, look};
use ralph_engine::session::{Verdict, index};
use ralph_store::layout::Layout;
use serde_json::{Value, json};

use super::super::answer::Answer;
use super::super::payload::Payload;
use super::answer::Reply;
use super::heard::Heard;
use super::tool::WRITERS;
use crate::insession::{Here, Problem, ending, with_announcements};

/// The models that the tool knows.
const MODELS: [&str; 4] = ["opus", "sonnet", "haiku", "fable"];

/// What a call means to the roles of its session; `None` where it means
/// nothing to them.
pub fn before(payload: &Payload, layout: &Layout, lang: Lang) -> Option<Answer> {
    let calls = CALLERS.contains(&payload.tool.as_str());
    let writes = WRITERS.contains(&payload.tool.as_str());
    if payload.host != Client::Claude || payload.session.is_empty() || !(calls || writes) {
        return None;
    }
    let role = match calls {
        true => Some(roles::called(&payload.input)?),
        false => None,
    };
    let run = index::find(layout, &payload.session)?;
    let refuse = |refusal: Refusal| Some(Answer::Deny(format!("BLOCKED: {}", refusal.say(lang))));
    let due = match look(layout, &run)? {
        Roles::Due(due) => due,
        Roles::Resting if calls => return refuse(Refusal::Resting),
        Roles::Resting => return None,
    };
    match role {
        None if due.may_write => None,
        None => refuse(Refusal::OnlyLooks {
            role: due.role,
            task: due.task,
        }),
        Some(role) if role == due.role => Some(Answer::Rewrite(told(&payload.input, due))),
        Some("tester") if due.is_review => refuse(Refusal::Unreviewed {
            task: due.task,
            risk: due.risk,
        }),
        Some(role) => refuse(Refusal::OutOfTurn {
            called: role.into(),
            due: due.role,
            task: due.task,
        }),
    }
}

/// A role is told what Ralph has to tell it, works on this very tree, with a
/// context of its own, and is waited for.
fn told(input: &Value, due: Due) -> Value {
    let mut input = input.clone();
    if let Value::Object(fields) = &mut input {
        fields.insert("prompt".into(), json!(due.prompt));
        fields.insert("run_in_background".into(), json!(false));
        fields.remove("isolation");
        if fields.get("subagent_type") == Some(&json!("fork")) {
            fields.insert("subagent_type".into(), json!("general-purpose"));
        }
        if let Some(model) = due.model.filter(|model| MODELS.contains(&model.as_str())) {
            fields.insert("model".into(), json!(model));
        }
    }
    input
}

/// A subagent has answered.
pub fn after(heard: &Heard, here: &Here) -> Reply {
    let role = roles::called(&heard.tool_input);
    let run = index::find(&here.layout, &here.session);
    let (Some(role), Some(run), None) = (role, run, &heard.agent_id) else {
        return Reply::default();
    };
    let Some(Roles::Due(due)) = look(&here.layout, &run) else {
        return Reply::default();
    };
    let mut opened = match here.open(&run) {
        Ok(opened) => opened,
        Err(problem) => {
            here.give_up(&run, &problem);
            return Reply::warning(problem.say(crate::app::environment_lang()));
        }
    };
    let lang = opened.plan().lang;
    let Some(said) = roles::answered(&heard.tool_response) else {
        return Reply::context(tr!(
            lang,
            "This role runs in the background, so that nobody hears its answer: call it again in the foreground."
        ));
    };
    let asked = roles::asked(&heard.tool_input, &heard.tool_response);
    if role == due.role && asked.trim() != due.prompt.trim() {
        return Reply::warning(unheard(role, lang));
    }
    match opened.role_ended(role, &said) {
        Ok(None) => Reply::default(),
        Ok(Some(Verdict::GoOn(go_on))) => Reply {
            message: Some(with_announcements(
                &go_on.banner, &opened.announcements, lang,
            )),
            ..Reply::context(go_on.text)
        },
        Ok(Some(Verdict::Ended(ended))) => Reply {
            message: Some(ending(&opened, &ended)),
            ..Reply::context(tr!(
                lang,
                "Ralph's loop has ended or rests. Call no more roles: tell the person how it stands, and stop."
            ))
        },
        Err(error) => {
            let problem = Problem::Session(error);
            here.give_up(&run, &problem);
            Reply::warning(problem.say(lang))
        }
    }
}

/// Whoever was told something else has not played the role.
fn unheard(role: &str, lang: Lang) -> String {
    let role = role.to_uppercase();
    tr!(
        lang,
        "the answer of the {role} does not count: it was not called with Ralph's prompt, which the hook of the guard puts in; run `ralph init` and start the session anew"
    )
}

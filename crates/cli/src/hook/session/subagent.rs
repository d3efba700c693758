//! The SubagentStop hook: a check agent stops when what it checks is green
//! (VERI-01 to VERI-15). Every other agent passes at once.

use std::path::Path;

use ralph_core::config::Loaded;
use ralph_core::lang::{Lang, Say};
use ralph_core::session::gate::{Ruling, agent_name};
use ralph_core::tr;
use ralph_engine::announcement::Announcement;
use ralph_engine::plan;
use ralph_engine::session::gate::{Gate, Passage};
use ralph_engine::session::transcript;
use ralph_store::layout::Layout;

use super::answer::Reply;
use super::heard::Heard;
use crate::{app, settings, trust};

pub fn answer(heard: &Heard, layout: &Layout) -> Reply {
    // A client's own helpers, such as the one that makes a context shorter,
    // have no type.
    let Some(agent) = heard.agent_type.as_deref().map(agent_name) else {
        return Reply::default();
    };
    match trust::settings_in_hook(layout, Vec::new()) {
        Ok((loaded, _)) if !loaded.settings.verify.agents.iter().any(|a| a == agent) => {
            Reply::default()
        }
        Ok((loaded, strange)) => judge(heard, agent, layout, &loaded, strange),
        Err(rejected) => Reply::warning(rejected.errors.say(app::environment_lang())),
    }
}

/// `strange` are settings that nobody has trusted.
fn judge(
    heard: &Heard,
    agent: &str,
    layout: &Layout,
    loaded: &Loaded,
    strange: Vec<String>,
) -> Reply {
    let configured = &loaded.settings;
    let lang = app::hook_lang(&configured.lang);
    let broken = settings::broken_verify_files(loaded, lang);
    let verifier = plan::verifier(configured, layout);
    if configured.verify.strict && !broken.is_empty() {
        return Reply::block(broken.join("\n"));
    }
    let gate = Gate {
        sandbox: None,
        layout,
        settings: configured,
        verifier,
    };
    let passage = gate.judge(agent, &said(heard));
    let mut reply = match passage {
        Passage::NothingToAsk => Reply::warning(nothing_to_ask(agent, strange, lang)),
        Passage::Ruled(Ruling::Pass { .. }) => Reply::default(),
        Passage::Ruled(Ruling::Unverified { reason }) => {
            Reply::warning(unverified(agent, &reason, lang))
        }
        Passage::Ruled(Ruling::Block { reason, .. }) => {
            let mut held = held(&reason, &gate, layout.root(), lang);
            let checks = strange.iter().filter(|key| key.starts_with("verify."));
            let checks: Vec<&str> = checks.map(String::as_str).collect();
            if !checks.is_empty() {
                let keys = checks.join(", ");
                held.push_str(&tr!(
                    lang,
                    "\n\nWhat counts here is what a person trusted, and the project says something else by now ({keys}): a person who means that runs `ralph trust`."
                ));
            }
            Reply::block(held)
        }
    };
    if !broken.is_empty() {
        let told = reply.message.iter().chain(&broken);
        let told: Vec<&str> = told.map(String::as_str).collect();
        reply.message = Some(told.join("\n"));
    }
    reply
}

/// What the check agent said last.
fn said(heard: &Heard) -> String {
    if let Some(said) = &heard.last_message {
        return said.clone();
    }
    let text = heard
        .agent_transcript
        .as_deref()
        .and_then(|path| transcript::last_text(path).ok());
    text.flatten().unwrap_or_default()
}

fn held(reason: &str, gate: &Gate<'_>, root: &Path, lang: Lang) -> String {
    let file = gate.output_file();
    let file = file.strip_prefix(root).unwrap_or(&file).display();
    if gate.verifier.is_none() {
        return tr!(
            lang,
            "{reason}\n\nDo the checks, and name each marker in your final reply."
        );
    }
    tr!(
        lang,
        "{reason}\n\nFix this, then stop again. The whole output is in {file}."
    )
}

fn unverified(agent: &str, reason: &str, lang: Lang) -> String {
    tr!(
        lang,
        "⚠️ {reason}: the agent {agent} was let go and its work is UNVERIFIED. Look at it, then run `ralph verify`."
    )
}

fn nothing_to_ask(agent: &str, strange: Vec<String>, lang: Lang) -> String {
    if !strange.is_empty() {
        return Announcement::Untrusted { keys: strange }.say(lang);
    }
    tr!(
        lang,
        "ralph: nothing verifies the agent {agent}: set verify.commands in .ralph/config.toml, or `verify:` in .ideal/worktree.yaml"
    )
}

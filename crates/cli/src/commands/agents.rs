//! `ralph agents`: which agents are here, and what is known about each.

use ralph_core::lang::Lang;
use ralph_core::tr;
use ralph_engine::agents::{Facts, Installed, installed};
use serde_json::{Value, json};

use crate::app::{App, Exit};
use crate::args::AgentsArgs;

pub fn run(app: &App, args: &AgentsArgs) -> Exit {
    let found = app.block_on(installed(&app.root))?;
    let lines = |agent| words(agent, app.lang());
    app.answer(
        args.json,
        || json!({ "agents": found.iter().map(as_json).collect::<Value>() }),
        || found.iter().map(lines).collect::<Vec<_>>().join("\n"),
    )
}

fn as_json(agent: &Installed) -> Value {
    let facts = agent.client.facts();
    json!({
        "name": agent.client.into_str(),
        "installed": agent.path.is_some(),
        "path": agent.path,
        "version": agent.version,
        "checked_version": facts.checked_version,
        "capabilities": {
            "hooks": facts.takes_guard,
            "budget": facts.budget,
            "tokens": facts.tells_tokens,
            "cost": facts.tells_cost,
            "resume": facts.resume,
        },
    })
}

fn words(agent: &Installed, lang: Lang) -> String {
    let name = agent.client.into_str();
    let state = state(agent, lang);
    let able = abilities(agent.client.facts(), lang);
    let mut lines = vec![format!("{name:<10}{state}")];
    if let Some(path) = &agent.path {
        lines.push(format!("{:<10}{}", "", path.display()));
        lines.push(format!("{:<10}{able}", ""));
    }
    lines.join("\n")
}

/// Which version is here, and which one was tried.
fn state(agent: &Installed, lang: Lang) -> String {
    let here = match (&agent.path, &agent.version) {
        (None, _) => return tr!(lang, "not installed"),
        (Some(_), Some(version)) => version.clone(),
        (Some(_), None) => tr!(lang, "does not tell its version"),
    };
    let tried = match agent.client.facts().checked_version {
        Some(version) if agent.version.as_deref() == Some(version) => {
            tr!(lang, "this version was tried with Ralph")
        }
        Some(version) => tr!(lang, "tried with Ralph: {version}"),
        None => tr!(lang, "known from its documentation only"),
    };
    tr!(lang, "{here} ({tried})")
}

fn abilities(can: &Facts, lang: Lang) -> String {
    let tells = match (can.tells_tokens, can.tells_cost) {
        (true, true) => tr!(lang, "tells tokens and cost"),
        (true, false) => tr!(lang, "tells tokens, not cost"),
        (false, _) => tr!(lang, "tells neither tokens nor cost"),
    };
    let guard = match can.takes_guard {
        true => tr!(lang, "the guard can ride along"),
        false => tr!(lang, "no guard"),
    };
    let budget = match can.budget {
        true => tr!(lang, "keeps a budget itself"),
        false => tr!(lang, "no budget of its own"),
    };
    tr!(lang, "{tells}; {guard}; {budget}")
}

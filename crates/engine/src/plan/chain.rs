//! Which agents are called, and under which conditions: the chain, the guard
//! that rides along, and budgets that each of them can be held to.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use ralph_core::config::{self, Settings};
use ralph_core::flow::{Flow, Scope};
use ralph_core::lang::{Lang, Say};
use ralph_core::machine::{Budget, BudgetKind};

use super::{PlanError, Wanted};
use crate::agents::{self, Agent, Client, HookWiring};
use crate::announcement::{Announcement, Unguarded};
use crate::flows;

/// How long the guard may take over one tool call.
const HOOK_TIMEOUT: Duration = Duration::from_secs(30);

/// Every agent of the chain, the first choice first. Each must be there.
pub(super) fn agents(
    settings: &Settings,
    wanted: &Wanted,
    announcements: &mut Vec<Announcement>,
) -> Result<Vec<Agent>, PlanError> {
    let names = names(settings);
    let mut agents = Vec::new();
    for name in names {
        let agent = agent(name, names, settings, wanted, announcements)?;
        announcements.extend(check_program(&agent, settings, wanted)?);
        agents.push(agent);
    }
    Ok(agents)
}

/// The names of the chain, the first choice first.
fn names(settings: &Settings) -> &[String] {
    match settings.agents.as_slice() {
        [] => std::slice::from_ref(&settings.agent.name),
        chain => chain,
    }
}

/// Names in the settings that every run refuses: of agents, and of the flow
/// of each task with the agents of its steps (CONF-06). Whether the programs
/// are there is for the run to say.
pub fn check_names(settings: &Settings, root: &Path, lang: Lang) -> Vec<PlanError> {
    let (of_steps, no_flow) = match flows::find(root, &settings.roles.flow, Scope::Task, lang) {
        Ok(flow) => (step_agents(&flow), None),
        Err(error) => (Vec::new(), Some(PlanError::Flow(error))),
    };
    let mut names: Vec<&String> = names(settings).iter().chain(&of_steps).collect();
    let mut seen = BTreeSet::new();
    names.retain(|name| seen.insert(*name));
    let unknown = names
        .into_iter()
        .filter_map(|name| named(name, settings).err());
    unknown.chain(no_flow).collect()
}

/// Whom a name stands for.
enum Named {
    Custom(Agent),
    Scripted,
    Client(Client),
}

fn named(name: &str, settings: &Settings) -> Result<Named, PlanError> {
    let line = &settings.agent.command;
    match name {
        "custom" if line.trim().is_empty() => Err(PlanError::NoCommand),
        "custom" => match Agent::custom(line) {
            Ok(agent) => Ok(Named::Custom(agent)),
            Err(error) => Err(PlanError::BadCommand {
                line: line.clone(),
                error,
            }),
        },
        "scripted" => Ok(Named::Scripted),
        name => match Client::from_name(name) {
            Some(client) => Ok(Named::Client(client)),
            None => Err(PlanError::UnknownAgent { name: name.into() }),
        },
    }
}

fn agent(
    name: &str,
    chain: &[String],
    settings: &Settings,
    wanted: &Wanted,
    announcements: &mut Vec<Announcement>,
) -> Result<Agent, PlanError> {
    match named(name, settings)? {
        Named::Custom(agent) => Ok(agent),
        Named::Scripted => Ok(Agent::Scripted {
            program: wanted.own_program.clone(),
        }),
        Named::Client(client) => {
            let mut options = options(client, chain, settings);
            let unguarded = guard(client, &mut options, settings, wanted);
            announce_guard(client, &options, unguarded, announcements)?;
            Ok(Agent::known(client, options))
        }
    }
}

/// Where nobody is called, a program that is not there is only told; where
/// lanes work on other machines, it is their business.
fn check_program(
    agent: &Agent,
    settings: &Settings,
    wanted: &Wanted,
) -> Result<Option<Announcement>, PlanError> {
    let root = wanted.layout.root();
    let program = agent.invocation(Path::new(""), "").program;
    let is_elsewhere = settings.lanes.fleet && settings.lanes.count > 0;
    if is_elsewhere || agents::find_program(&program, root).is_some() {
        return Ok(None);
    }
    let missing = match agents::find_file(&program, root) {
        Some(program) => PlanError::AgentNotExecutable { program },
        None => PlanError::AgentNotFound {
            program: program.to_string_lossy().into_owned(),
        },
    };
    match wanted.calls_nobody {
        true => Ok(Some(Announcement::AgentMissing {
            why: missing.say(wanted.lang),
        })),
        false => Err(missing),
    }
}

/// Program, arguments and model belong to the agent of `agent.name`: no other
/// would understand them.
fn options(client: Client, chain: &[String], settings: &Settings) -> agents::Options {
    let asked = &settings.agent;
    let own = asked.name == client.into_str();
    let own_command = own && !chain.iter().any(|name| name == "custom");
    agents::Options {
        program: match own_command {
            true => asked.command.clone(),
            false => String::new(),
        },
        args: match own {
            true => asked.args.clone(),
            false => Vec::new(),
        },
        model: match own {
            true => asked.model.clone(),
            false => String::new(),
        },
        permissions: permissions(asked.permissions),
        allow_unsafe: asked.allow_unsafe,
        user_config: asked.user_config,
        ..agents::Options::default()
    }
}

pub(super) fn permissions(asked: config::Permissions) -> agents::Permissions {
    match asked {
        config::Permissions::Auto => agents::Permissions::Auto,
        config::Permissions::Default => agents::Permissions::Default,
        config::Permissions::Edit => agents::Permissions::Edit,
        config::Permissions::Plan => agents::Permissions::Plan,
    }
}

/// The agents that single steps of a flow name. Each must be there.
pub(super) fn role_agents(
    settings: &Settings,
    wanted: &Wanted,
    flow: &Flow,
) -> Result<Vec<Agent>, PlanError> {
    let mut agents = Vec::new();
    for name in step_agents(flow) {
        let agent = agent(&name, &[], settings, wanted, &mut Vec::new())?;
        check_program(&agent, settings, wanted)?;
        agents.push(agent);
    }
    Ok(agents)
}

fn step_agents(flow: &Flow) -> Vec<String> {
    let named = flow.steps.iter().filter_map(|step| step.agent.clone());
    let names: BTreeSet<String> = named.collect();
    names.into_iter().collect()
}

/// Hands our guard over where it can be; says why where it can't.
fn guard(
    client: Client,
    options: &mut agents::Options,
    settings: &Settings,
    wanted: &Wanted,
) -> Option<Unguarded> {
    if !settings.guard.enabled {
        return Some(Unguarded::SwitchedOff);
    }
    if !client.facts().takes_guard {
        return Some(Unguarded::NoHooks);
    }
    if !client.hooks_usable(|name| std::env::var_os(name).is_some_and(|v| !v.is_empty())) {
        return Some(Unguarded::NoKey);
    }
    options.hooks = Some(HookWiring {
        program: wanted.own_program.clone(),
        state: wanted.layout.home().dir().to_owned(),
        timeout: HOOK_TIMEOUT,
        fail_closed: settings.guard.fail == config::GuardFailure::Closed,
    });
    None
}

/// A client that nobody watches over works without its permission questions
/// only on the person's word (LOOP-03).
fn announce_guard(
    client: Client,
    options: &agents::Options,
    unguarded: Option<Unguarded>,
    announcements: &mut Vec<Announcement>,
) -> Result<(), PlanError> {
    let agent = client.into_str();
    match unguarded {
        None => announcements.push(Announcement::Guarded { agent }),
        Some(why) if options.skips_permissions() => {
            announcements.push(Announcement::Unguarded { agent, why });
        }
        Some(why) if options.permissions == agents::Permissions::Auto => {
            return Err(PlanError::Unguarded { agent, why });
        }
        Some(_) => {}
    }
    if !options.skips_permissions() {
        announcements.push(Announcement::PermissionsKept);
    }
    Ok(())
}

pub(super) fn budget(settings: &Settings, agents: &[Agent]) -> Result<Budget, PlanError> {
    let asked = &settings.budget;
    let mut budget = Budget::default();
    budget.run.cost = asked.max_cost;
    budget.run.tokens = asked.max_tokens;
    budget.turn.cost = asked.turn_cost;
    budget.turn.tokens = asked.turn_tokens;
    check_budget(&budget, agents)?;
    Ok(budget)
}

/// Nobody can be held to a budget in a unit that is not reported.
pub fn check_budget(budget: &Budget, agents: &[Agent]) -> Result<(), PlanError> {
    for kind in [BudgetKind::Cost, BudgetKind::Tokens] {
        let silent = agents.iter().find(|agent| !agent.tells(kind));
        if let (true, Some(agent)) = (budget.bounds(kind), silent) {
            return Err(PlanError::Unmeasured {
                agent: agent.name(),
                kind,
            });
        }
    }
    Ok(())
}

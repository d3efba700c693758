//! `ralph start`: the first five minutes as a conversation. Every step is a
//! verb that can be typed by itself, and Enter passes over it.

use std::path::PathBuf;

use ralph_core::tasks::{ReadOptions, Scope};
use ralph_core::text::duration::plural;
use ralph_core::tr;
use ralph_engine::agents::{Client, find_program, installed};
use ralph_engine::{git, plan as engine_plan};

use super::run::run as start_run;
use super::{init, plan};
use crate::app::{App, Exit, ask, is_interactive};
use crate::args::{Global, InitArgs, PlanArgs, RunArgs, StartArgs, WorkArgs};
use crate::trust;

/// Branches that a team works on together.
const SHARED: [&str; 3] = ["main", "master", "develop"];

pub fn run(app: App, global: &Global, args: &StartArgs) -> Exit {
    let lang = app.lang();
    if !is_interactive() {
        return app.refuse(&tr!(
            lang,
            "`ralph start` is a conversation and needs a terminal; by hand: `ralph init`, `ralph plan`, `ralph run`"
        ));
    }
    app.tell(&tr!(
        lang,
        "Enter passes over a step; Ctrl+C ends this at any time, and nothing is lost."
    ));
    let agent = agent(&app, args)?;
    set_up(&app, agent)?;
    tell_of_the_wall(&app);
    let Some(tasks) = list(&app, args)? else {
        return app.done(&tr!(
            lang,
            "no list, no run: `ralph plan \"GOAL\"` makes one, `ralph demo` shows a loop without any"
        ));
    };
    tell_of_the_branch(&app);
    if !yes(&tr!(lang, "5. Start the run? [y/N] ")) {
        let file = tasks.display();
        return app.done(&tr!(lang, "whenever you like: `ralph run --tasks {file}`"));
    }
    let args = RunArgs {
        tasks: Some(tasks),
        work: WorkArgs {
            agent: agent.map(|client| client.into_str().to_owned()),
            agent_cmd: args.agent_cmd.clone(),
            ..WorkArgs::default()
        },
        ..RunArgs::default()
    };
    start_run(app, global, &args)
}

fn yes(question: &str) -> bool {
    matches!(ask(question).as_deref(), Some("y" | "Y" | "yes"))
}

/// The agent that works; `None` where a command was named, or the settings say
/// which.
fn agent(app: &App, args: &StartArgs) -> Result<Option<Client>, u8> {
    let lang = app.lang();
    if let Some(command) = &args.agent_cmd {
        app.tell(&tr!(lang, "1. Agent: {command}"));
        return Ok(None);
    }
    let found = app.block_on(installed(&app.root))?;
    let here: Vec<Client> = found
        .iter()
        .filter(|agent| agent.path.is_some())
        .map(|agent| agent.client)
        .collect();
    let Some(first) = here.first() else {
        app.tell(&tr!(
            lang,
            "1. Agent: none is here. Install Claude Code, Codex, Gemini CLI, OpenCode or Copilot CLI, log in, and start again; `ralph demo` needs none."
        ));
        return Ok(None);
    };
    let names: Vec<&str> = here.iter().map(Client::into_str).collect();
    let (names, first_name) = (names.join(", "), first.into_str());
    app.tell(&tr!(
        lang,
        "1. Agent: here are {names}. Whether one is logged in shows when it is called; `ralph doctor --live` tries Claude Code."
    ));
    let question = tr!(lang, "Which one? [{first_name}] ");
    let said = ask(&question).unwrap_or_default();
    let chosen = here.iter().find(|client| client.into_str() == said);
    Ok(Some(*chosen.unwrap_or(first)))
}

/// Hooks, configuration and checks, each shown first.
fn set_up(app: &App, agent: Option<Client>) -> Result<(), u8> {
    let lang = app.lang();
    if !yes(&tr!(
        lang,
        "2. Look for the project's checks and install the hooks? Everything is shown first. [y/N] "
    )) {
        return Ok(());
    }
    let hosts = agent.filter(|client| Client::HOSTS.contains(client));
    let args = InitArgs {
        agent: hosts.into_iter().collect(),
        ..InitArgs::default()
    };
    // Whoever says no to it may go on all the same.
    let _ = init::run(app, &args);
    Ok(())
}

fn tell_of_the_wall(app: &App) {
    let lang = app.lang();
    let is_there = cfg!(target_os = "linux") && find_program("bwrap".as_ref(), &app.root).is_some();
    app.tell(&match is_there {
        true => tr!(
            lang,
            "3. Sandbox: bubblewrap is here; `ralph doctor --sandbox` tries to break out"
        ),
        false => tr!(
            lang,
            "3. Sandbox: none, the agent can do whatever you can; install bubblewrap to have one (docs/sandbox.md)"
        ),
    });
}

/// The list that there is, or the one that a goal becomes.
fn list(app: &App, args: &StartArgs) -> Result<Option<PathBuf>, u8> {
    let lang = app.lang();
    let settings = trust::settings_unasked(app, "tasks.")?;
    let options = ReadOptions {
        optional_sections: settings.tasks.optional_sections.clone(),
        ..ReadOptions::default()
    };
    let source = settings.tasks.source;
    if let Ok(found) = engine_plan::find_task_file(&app.root, source, &options, false) {
        let open = found.list.counts(&Scope::default()).pending;
        if open > 0 {
            let name = &found.file.name;
            let tasks_en = plural(open, "task", "tasks");
            app.tell(&tr!(lang, "4. List: {name}, {open} {tasks_en} to do"));
            return Ok(Some(found.file.path));
        }
    }
    let question = tr!(
        lang,
        "4. There is no list with open tasks. What is to be reached? "
    );
    let goal = ask(&question).filter(|goal| !goal.is_empty());
    let Some(goal) = goal else {
        return Ok(None);
    };
    let wanted = PlanArgs {
        goal: Some(goal),
        into: Some(app.root.join("tasks.md")),
        agent_cmd: args.agent_cmd.clone(),
        ..PlanArgs::default()
    };
    plan::run(app, &wanted)?;
    let file = app.root.join("tasks.md");
    Ok(file.exists().then_some(file))
}

/// Ralph touches no branch: it only says where the work would go.
fn tell_of_the_branch(app: &App) {
    let lang = app.lang();
    let branch = git::head(&app.root).branch;
    if let Some(branch) = branch.filter(|branch| SHARED.contains(&branch.as_str())) {
        app.tell(&tr!(
            lang,
            "Branch: the agent's commits would go to {branch}; `git switch -c NAME` in another terminal makes one of its own"
        ));
    }
}

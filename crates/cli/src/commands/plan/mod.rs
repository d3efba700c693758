//! `ralph plan`: from a goal to a list that can be proven.
//!
//! The agent plans in a copy of the project, in a run like any other: what
//! proves its plan is `ralph plan --check`, which is red until every check of
//! the plan is red, too. Nothing but the list that a person has seen reaches
//! the project.

mod check;
mod place;

use std::path::Path;

use ralph_core::config::{Layer, Loaded};
use ralph_core::planning;
use ralph_core::project::{self, Purpose};
use ralph_core::tasks::TaskList;
use ralph_core::text::duration::plural;
use ralph_core::tr;
use ralph_engine::opening::Opening;
use ralph_engine::plan::{self as engine_plan, Asked, Wanted};
use ralph_store::atomic::{AtomicOptions, write_through};
use ralph_store::home::StateHome;
use ralph_store::layout::Layout;
use ralph_store::private::PrivateDir;

use super::config::warn_all;
use super::drill::copy_project;
use super::run::{Shown, show};
use crate::app::{App, Exit, OrFail, ask, is_interactive, own_program};
use crate::args::PlanArgs;
use crate::{PAUSED, settings, trust};
use place::Place;

/// How often an agent may mend its plan, where nobody says it.
const ROUNDS: u32 = 4;

pub fn run(app: &App, args: &PlanArgs) -> Exit {
    if let Some(file) = &args.check {
        return check::run(app, file);
    }
    let lang = app.lang();
    let goal = args.goal.as_deref().unwrap_or_default().trim();
    if goal.is_empty() {
        return app.refuse(&tr!(
            lang,
            "say what is to be reached: `ralph plan \"GOAL\"`"
        ));
    }
    let place = Place::find(&app.root, goal, args.format, args.into.as_deref());
    if place.file.exists() {
        let file = place.name(&app.root);
        return app.refuse(&tr!(
            lang,
            "{file} is there already; name another with --into FILE"
        ));
    }
    if !is_interactive() && !args.yes {
        return app.refuse(&tr!(
            lang,
            "nobody can be asked here: name the file with --into FILE, and say --yes"
        ));
    }
    let checks = own_checks(&app.root);
    if args.skeleton {
        let text = planning::skeleton(goal, place.format, &checks, lang);
        return write(app, &place, &text, false);
    }
    let scratch = match PrivateDir::new("plan") {
        Ok(dir) => dir,
        Err(error) => return app.refuse(&error.to_string()),
    };
    let text = with_agent(
        app,
        args,
        goal,
        &place,
        &checks,
        &scratch.path().join("work"),
    )?;
    match args.yes {
        true => write(app, &place, &text, true),
        false => confirm(app, &place, text, &scratch.path().join("work")),
    }
}

/// What the project is checked with, as its files say.
fn own_checks(root: &Path) -> Vec<String> {
    let found = project::proposals(&super::init::checks::facts(root));
    let verify = found.into_iter().filter(|p| p.purpose == Purpose::Verify);
    verify.map(|proposal| proposal.command).collect()
}

/// The plan that the agent made and every check bears out.
fn with_agent(
    app: &App,
    args: &PlanArgs,
    goal: &str,
    place: &Place,
    checks: &[String],
    copy: &Path,
) -> Result<String, u8> {
    let lang = app.lang();
    let file = place.plan_file();
    let loaded = settings::load(app, flags(app, args, file)?)?;
    trust::require(app, &trust::items(&app.root, Some(&loaded)))?;
    let Loaded {
        settings, warnings, ..
    } = loaded;
    warn_all(app, &warnings);
    if let Err(error) = copy_project(&app.root, &settings, copy) {
        return app.refuse(&error.to_string());
    }
    let home = StateHome::at(copy.with_extension("state"));
    let wanted = Wanted {
        asked: Asked {
            prompt: Some(planning::prompt(goal, file, place.format, checks)),
            ..Asked::default()
        },
        permit: Some(crate::guard::permit),
        ..Wanted::new(Layout::new(copy, &home), lang, own_program())
    };
    let plan = engine_plan::prepare(&settings, &wanted).or_fail(app)?;
    let shown = Shown {
        is_passing: true,
        ..Shown::default()
    };
    let code = show(app, plan, &Opening::New, shown)?;
    if code != 0 {
        app.warn(&tr!(
            lang,
            "no plan came of it that could be proven; nothing was written, and nothing of that run is kept. Say more of the goal, or let it try longer: `ralph plan GOAL --rounds N`"
        ));
        return Err(code);
    }
    match ralph_store::regular::read_to_string(copy.join(file)) {
        Ok(text) => Ok(text),
        Err(error) => app.refuse(&format!("{file}: {error}")),
    }
}

/// The run that plans is judged by its plan alone.
fn flags(app: &App, args: &PlanArgs, file: &str) -> Result<Vec<Layer>, u8> {
    let own = own_program();
    let own = own.to_string_lossy().replace('\'', "'\\''");
    let rounds = match args.rounds {
        0 => ROUNDS,
        rounds => rounds,
    };
    let check = format!("'{own}' plan --check {file}");
    let mut flags = vec![
        Layer::flag("preset", "", "plan"),
        Layer::flag("tasks.source", "prompt", "plan"),
        Layer::flag("tasks.file", "", "plan"),
        Layer::flag("verify.commands", vec![check], "plan"),
        Layer::flag("verify.command_timeout", "30m", "plan"),
        Layer::flag("evidence.level", "claimed", "plan"),
        Layer::flag("e2e.command", "", "plan"),
        Layer::flag("roles.enabled", false, "plan"),
        Layer::flag("pr.goal", "none", "plan"),
        Layer::flag("snapshots.enabled", false, "plan"),
        Layer::flag("checkpoint.enabled", false, "plan"),
        Layer::flag("limits.on_limit", "stop", "plan"),
        Layer::flag("limits.max_iterations", i64::from(rounds), "plan"),
    ];
    if let Some(agent) = &args.agent {
        flags.push(Layer::flag("agent.name", agent.as_str(), "--agent"));
        flags.push(Layer::flag("agents", Vec::<String>::new(), "--agent"));
    }
    if let Some(command) = &args.agent_cmd {
        flags.push(Layer::flag("agent.name", "custom", "--agent-cmd"));
        flags.push(Layer::flag(
            "agent.command",
            command.as_str(),
            "--agent-cmd",
        ));
    }
    flags.into_iter().collect::<Result<_, _>>().or_fail(app)
}

/// Shows the plan and lets a person change it. What they change is judged
/// anew, and theirs to write all the same.
fn confirm(app: &App, place: &Place, mut text: String, copy: &Path) -> Exit {
    let lang = app.lang();
    loop {
        app.print(&text);
        let question = tr!(lang, "Write it? [y]es, [e]dit, [n]o: ");
        match ask(&question).as_deref() {
            Some("y" | "Y" | "yes") => return write(app, place, &text, true),
            Some("e" | "E" | "edit") => {
                let file = copy.join(place.plan_file());
                match edited(&file, &text) {
                    Ok(new) => text = new,
                    Err(error) => app.warn(&error.to_string()),
                }
                for problem in check::problems_of(copy, &file, lang) {
                    app.warn(&problem);
                }
            }
            _ => {
                app.warn(&tr!(lang, "nothing was written"));
                return Err(PAUSED);
            }
        }
    }
}

fn edited(file: &Path, text: &str) -> std::io::Result<String> {
    std::fs::write(file, text)?;
    let editor = ["VISUAL", "EDITOR"].into_iter().find_map(std::env::var_os);
    let editor = editor.filter(|editor| !editor.is_empty());
    std::process::Command::new("sh")
        .args(["-c", "exec $0 \"$1\""])
        .arg(editor.unwrap_or_else(|| "vi".into()))
        .arg(file)
        .status()?;
    ralph_store::regular::read_to_string(file)
}

/// Writes the list, and trusts what a person has seen in it.
fn write(app: &App, place: &Place, text: &str, is_plan: bool) -> Exit {
    let lang = app.lang();
    let name = place.name(&app.root);
    let list = check::read(&name, text).or_fail(app)?;
    if let Some(dir) = place.file.parent()
        && let Err(error) = std::fs::create_dir_all(dir)
    {
        return app.refuse(&format!("{}: {error}", dir.display()));
    }
    let options = AtomicOptions { durable: true };
    write_through(&place.file, text.as_bytes(), options).or_fail(app)?;
    trust::keep_checks(app, &name, &commands(&list))?;
    let count = list.tasks.len();
    let tasks_en = plural(count, "task", "tasks");
    app.tell(&match is_plan {
        true => tr!(
            lang,
            "{name}: {count} {tasks_en}, each with a check that is red now; next: `ralph run --tasks {name}`"
        ),
        false => tr!(
            lang,
            "{name}: {count} {tasks_en} to fill in; then: `ralph run --tasks {name}`"
        ),
    });
    Ok(0)
}

fn commands(list: &TaskList) -> Vec<String> {
    list.check_lines().into_keys().collect()
}

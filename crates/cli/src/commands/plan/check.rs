//! Judges a plan: the list itself, then every check of it, which has to be red
//! before anything was done. The guard judges each before it is run.

use std::path::Path;
use std::time::Duration;

use ralph_core::config::{self, Loaded, Sources};
use ralph_core::lang::{Lang, Say};
use ralph_core::machine::CommandResult;
use ralph_core::planning::{self, Tried};
use ralph_core::tasks::{self, ReadOptions, TaskError, TaskList};
use ralph_engine::plan as engine_plan;
use ralph_engine::session::gate::Gate;
use ralph_engine::verify::Verifier;
use ralph_engine::wall;
use ralph_store::home::StateHome;
use ralph_store::layout::Layout;
use ralph_store::private::PrivateDir;

use crate::SHUT;
use crate::app::{App, Exit};

/// A check that proves one small task takes no longer.
const PATIENCE: Duration = Duration::from_secs(120);

/// Says to the agent what is wrong with its plan; 0 where nothing is.
pub fn run(app: &App, file: &Path) -> Exit {
    let found = problems_of(&app.root, &app.root.join(file), Lang::En);
    if found.is_empty() {
        return Ok(0);
    }
    let file = file.display();
    app.print(&format!("{file} is not good enough yet:\n"));
    for problem in &found {
        app.print(&format!("- {problem}\n"));
    }
    Err(SHUT)
}

pub fn read(name: &str, text: &str) -> Result<TaskList, TaskError> {
    tasks::read(name, text.as_bytes(), &ReadOptions::default())
}

/// Everything that is wrong with a plan, in words.
pub fn problems_of(root: &Path, file: &Path, lang: Lang) -> Vec<String> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let text = match ralph_store::regular::read_to_string(file) {
        Ok(text) => text,
        Err(error) => return vec![format!("{name}: {error}")],
    };
    let list = match read(&name, &text) {
        Ok(list) => list,
        Err(error) => return vec![error.say(lang)],
    };
    let found = planning::problems(&list, lang);
    if !found.is_empty() {
        // Nothing is run of a list that is not sound.
        return found.iter().map(|problem| problem.say(lang)).collect();
    }
    let checks = planning::checks(&list);
    let tried = try_all(root, &checks);
    let judged = checks.iter().zip(&tried);
    judged
        .filter_map(|((task, command), tried)| planning::judge(task, command, tried))
        .map(|problem| problem.say(lang))
        .collect()
}

/// Runs every check once that the guard lets pass.
fn try_all(root: &Path, checks: &[(String, String)]) -> Vec<Tried> {
    let refused: Vec<Option<String>> = checks
        .iter()
        .map(|(_, command)| crate::guard::permit(root, command))
        .collect();
    let allowed = checks.iter().zip(&refused);
    let allowed: Vec<String> = allowed
        .filter(|(_, refused)| refused.is_none())
        .map(|((_, command), _)| command.clone())
        .collect();
    let mut results = results_of(root, allowed).into_iter();
    refused
        .into_iter()
        .map(|refused| match refused {
            Some(reason) => Tried::Refused { reason },
            None => results.next().map_or(Tried::Endless, tried),
        })
        .collect()
}

fn results_of(root: &Path, commands: Vec<String>) -> Vec<CommandResult> {
    let Ok(Loaded { settings, .. }) = config::load(&Sources::default()) else {
        return Vec::new();
    };
    let Ok(dir) = PrivateDir::new("plan-checks") else {
        return Vec::new();
    };
    let layout = Layout::new(root, &StateHome::at(dir.path().to_owned()));
    let program = crate::app::own_program();
    let gate = Gate {
        sandbox: Some(wall::Wanted::new(&settings.sandbox, program, &[])),
        layout: &layout,
        settings: &settings,
        verifier: Some(Verifier {
            commands,
            timeout: PATIENCE,
            ..engine_plan::reproducer(&settings)
        }),
    };
    let verified = gate.run_all();
    verified.map_or_else(Vec::new, |verified| verified.report.results)
}

fn tried(result: CommandResult) -> Tried {
    match result.exit {
        Some(code) => Tried::Exit {
            code,
            output: result.output,
        },
        None => Tried::Endless,
    }
}

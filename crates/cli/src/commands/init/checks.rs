//! What `ralph init` proposes as checks: what the project's own files name,
//! each tried once. What fails, or does not end, is left out.

use std::path::Path;
use std::time::Duration;

use ralph_core::config::Settings;
use ralph_core::lang::Lang;
use ralph_core::machine::CommandResult;
use ralph_core::project::{self, Facts, Proposal, Purpose};
use ralph_core::tr;
use ralph_engine::plan;
use ralph_engine::session::gate::Gate;
use ralph_engine::verify::Verifier;
use ralph_engine::wall;
use ralph_store::home::StateHome;
use ralph_store::layout::Layout;
use ralph_store::private::PrivateDir;

use crate::app::{App, ask, is_interactive};
use crate::args::InitArgs;
use crate::trust;

/// A check that takes longer than this has no place after every turn.
const PATIENCE: Duration = Duration::from_secs(300);
/// Files of tests are looked for in so many folders.
const MOST_FOLDERS: usize = 400;
const MOST_WORKFLOWS: usize = 20;
/// A larger file says nothing about checks.
const LARGEST: u64 = 1 << 20;

/// A proposal that was green.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Green {
    pub purpose: Purpose,
    pub command: String,
}

/// What the files of a project say, as far as it matters.
pub fn facts(root: &Path) -> Facts {
    let read = project::READ.iter().filter_map(|name| {
        let bytes = ralph_store::regular::read_within(root.join(name), LARGEST).ok()?;
        Some(((*name).to_owned(), String::from_utf8(bytes).ok()?))
    });
    let seen = project::SEEN
        .iter()
        .filter(|name| root.join(name).exists())
        .map(|name| ((*name).to_owned(), String::new()));
    Facts::new(
        read.chain(seen)
            .chain(test_files(root))
            .chain(workflows(root)),
    )
}

/// What GitHub runs for the project.
fn workflows(root: &Path) -> Vec<(String, String)> {
    let entries = std::fs::read_dir(root.join(project::ci::WORKFLOWS));
    let names = entries.into_iter().flatten().flatten();
    let names = names.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.collect();
    names.retain(|name| name.ends_with(".yml") || name.ends_with(".yaml"));
    names.sort();
    names.truncate(MOST_WORKFLOWS);
    let read = |name: String| {
        let name = format!("{}/{name}", project::ci::WORKFLOWS);
        let bytes = ralph_store::regular::read_within(root.join(&name), LARGEST).ok()?;
        Some((name, String::from_utf8(bytes).ok()?))
    };
    names.into_iter().filter_map(read).collect()
}

/// One file of each kind of test is enough.
fn test_files(root: &Path) -> Vec<(String, String)> {
    let kinds = ["_test.go", "_test.exs"];
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    let mut looked = 0;
    while let Some(folder) = folders.pop() {
        looked += 1;
        if looked > MOST_FOLDERS {
            break;
        }
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let is_made = name.starts_with('.') || name == "node_modules" || name == "target";
            if is_dir && !is_made {
                folders.push(entry.path());
            } else if kinds.iter().any(|kind| name.ends_with(kind)) {
                found.push((name, String::new()));
            }
        }
    }
    found
}

/// Proposes, asks, tries each once, and gives what is green.
pub fn propose(app: &App, args: &InitArgs) -> Result<Vec<Green>, u8> {
    let found = project::proposals(&facts(&app.root));
    if found.is_empty() || args.dry_run {
        return Ok(Vec::new());
    }
    let lang = app.lang();
    let wanted = match (args.checks, args.yes || !is_interactive()) {
        (true, _) => true,
        (false, true) => false,
        (false, false) => {
            app.tell(&list(&found, lang));
            let question = tr!(lang, "Try each of them once? [y/N] ");
            matches!(ask(&question).as_deref(), Some("y" | "Y" | "yes"))
        }
    };
    if !wanted {
        return Ok(Vec::new());
    }
    // Behind the wall that a person wants.
    let settings = trust::settings_unasked(app, "sandbox.")?;
    let mut green = Vec::new();
    for proposal in found {
        let Some(result) = tried(&app.root, &settings, &proposal.command) else {
            continue;
        };
        app.tell(&line(&result, lang));
        if result.exit == Some(0) {
            green.push(Green {
                purpose: proposal.purpose,
                command: proposal.command,
            });
        }
    }
    Ok(green)
}

fn list(found: &[Proposal], lang: Lang) -> String {
    let lines: Vec<String> = found
        .iter()
        .map(|proposal| format!("  {}  ({})", proposal.command, proposal.file))
        .collect();
    let lines = lines.join("\n");
    tr!(lang, "this project seems to be checked with:\n{lines}")
}

fn line(result: &CommandResult, lang: Lang) -> String {
    let (command, ms) = (&result.command, result.duration_ms);
    match result.exit {
        Some(0) => tr!(lang, "✅ {command} ({ms} ms)"),
        Some(code) => tr!(lang, "❌ {command} ({ms} ms): exit code {code}, left out"),
        None => tr!(lang, "❌ {command} ({ms} ms): did not end, left out"),
    }
}

/// Once, within the bounds of every verification.
fn tried(root: &Path, settings: &Settings, command: &str) -> Option<CommandResult> {
    let dir = PrivateDir::new("init").ok()?;
    let layout = Layout::new(root, &StateHome::at(dir.path().to_owned()));
    let program = crate::app::own_program();
    let gate = Gate {
        sandbox: Some(wall::Wanted::new(&settings.sandbox, program, &[])),
        layout: &layout,
        settings,
        verifier: Some(Verifier {
            commands: vec![command.to_owned()],
            timeout: PATIENCE,
            ..plan::reproducer(settings)
        }),
    };
    gate.run_all()?.report.results.into_iter().next()
}

/// The lines of a configuration that ask for these checks.
pub fn settings_text(green: &[Green]) -> String {
    let of = |purpose: Purpose| {
        let commands = green.iter().filter(move |check| check.purpose == purpose);
        commands
            .map(|check| quoted(&check.command))
            .collect::<Vec<_>>()
    };
    let mut text = String::new();
    let verify = of(Purpose::Verify);
    if !verify.is_empty() {
        text.push_str(&format!("\n[verify]\ncommands = [{}]\n", verify.join(", ")));
    }
    if let Some(command) = of(Purpose::E2e).first() {
        text.push_str(&format!("\n[e2e]\ncommand = {command}\n"));
    }
    // A step has a name: that of the script.
    let step = |command: &str| {
        let name = command.rsplit(' ').next().unwrap_or(command);
        quoted(&format!("{name}: {command}"))
    };
    let gate = green.iter().filter(|check| check.purpose == Purpose::Gate);
    let gate: Vec<String> = gate.map(|check| step(&check.command)).collect();
    if !gate.is_empty() {
        text.push_str(&format!("\n[gate]\nsteps = [{}]\n", gate.join(", ")));
    }
    text
}

/// As TOML wants it; a command from a script name holds nothing else.
fn quoted(command: &str) -> String {
    serde_json::Value::from(command).to_string()
}

/// What a person has just confirmed needs no second yes.
pub fn trust_them(app: &App, green: &[Green]) -> Result<(), u8> {
    if green.is_empty() {
        return Ok(());
    }
    let loaded = crate::settings::load(app, Vec::new())?;
    let items = trust::items(&app.root, Some(&loaded));
    trust::keep_settings(
        app,
        &items,
        &["verify.commands", "e2e.command", "gate.steps"],
    )
}

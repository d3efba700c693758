//! `ralph init`: hooks, slash commands and a configuration, shown first.

pub mod checks;
mod plan;
mod say;

use std::path::{Path, PathBuf};

use ralph_core::config;
use ralph_core::tr;
use ralph_engine::agents::{Client, find_program};
use ralph_store::FileError;

use crate::app::{App, Exit, OrFail, ask, is_interactive};
use crate::args::{InitArgs, Switch};
use crate::install::hosts::{self, Wanted};
use crate::install::manifest::Manifest;
use crate::install::problem::Problem;
use crate::install::program;
use crate::settings;
use crate::{FAILED, PAUSED};
use plan::{Plan, Planned, Templates, Wish};
pub use plan::{is_empty, without_lines};

pub fn run(app: &App, args: &InitArgs) -> Exit {
    work(app, args).or_fail(app)
}

fn work(app: &App, args: &InitArgs) -> Result<u8, Problem> {
    let root = root_of(app, args)?;
    let app = App {
        root: root.clone(),
        ..app.clone()
    };
    let Ok(settings) = load(&app, args) else {
        return Ok(FAILED);
    };
    let Ok(green) = checks::propose(&app, args) else {
        return Ok(FAILED);
    };
    let hosts = hosts_of(args);
    let wish = Wish {
        wanted: Wanted {
            program: program::for_hooks(&root),
            guard: args.guard != Some(Switch::Off),
            shared: false,
            gate: hosts::gate_time(&settings),
            wait: settings.pr.hook_wait,
        },
        cap: hosts::needed_cap(&settings),
        hosts: hosts.clone(),
        plugin: args.plugin,
        shared: args.shared,
        gitignore: args.gitignore,
        preset: args.preset.clone(),
        checks: checks::settings_text(&green),
        templates: match (args.force, args.update) {
            (true, _) => Templates::Replace,
            (_, true) => Templates::Keep,
            _ => Templates::Add,
        },
        lang: app.lang(),
    };
    let manifest = Manifest::load(&root)?.unwrap_or_default();
    let plan = Plan::make(&root, &wish, manifest)?;
    for note in &plan.notes {
        app.warn(&ralph_core::lang::Say::say(note, app.lang()));
    }
    warn_of_missing_agents(&app, &hosts);
    if plan.files.is_empty() {
        app.tell(&say::in_place(app.lang()));
        app.tell(&say::next_steps(&wish, app.lang()));
        return Ok(0);
    }
    for planned in &plan.files {
        app.tell(&planned.change.shown(app.lang()));
    }
    if args.dry_run {
        return Ok(0);
    }
    if !args.yes {
        if !is_interactive() {
            app.warn(&tr!(app.lang(), "nothing was changed: nobody can be asked here. Look at the changes above, then run the same with --yes"));
            return Ok(FAILED);
        }
        let question = tr!(app.lang(), "Make these changes? [y/N] ");
        if !matches!(ask(&question).as_deref(), Some("y" | "Y" | "yes")) {
            return Ok(PAUSED);
        }
    }
    apply(&root, plan)?;
    if checks::trust_them(&app, &green).is_err() {
        return Ok(FAILED);
    }
    app.tell(&say::installed(&wish, app.lang()));
    app.tell(&say::next_steps(&wish, app.lang()));
    Ok(0)
}

fn root_of(app: &App, args: &InitArgs) -> Result<PathBuf, Problem> {
    let root = match &args.dir {
        Some(dir) => std::path::absolute(dir).unwrap_or_else(|_| dir.clone()),
        None => app.root.clone(),
    };
    if !root.is_dir() {
        return Err(Problem::NoDirectory { root });
    }
    let own_manifest = root.join("crates/cli/Cargo.toml");
    let own = ralph_store::regular::read_to_string(own_manifest).unwrap_or_default();
    if own.contains("name = \"ralph-loop\"") {
        return Err(Problem::Itself { root });
    }
    Ok(root)
}

/// The settings of the project as they will be: with the preset.
fn load(app: &App, args: &InitArgs) -> Result<config::Settings, u8> {
    let flags = settings::preset(app, args.preset.as_deref())?;
    settings::load(app, flags).map(|loaded| loaded.settings)
}

fn hosts_of(args: &InitArgs) -> Vec<Client> {
    let mut hosts: Vec<Client> = Vec::new();
    for &host in &args.agent {
        if !hosts.contains(&host) {
            hosts.push(host);
        }
    }
    if hosts.is_empty() || args.plugin {
        hosts = vec![Client::Claude];
    }
    hosts
}

/// A warning only: the agent may be installed later, or elsewhere (INST-04).
fn warn_of_missing_agents(app: &App, hosts: &[Client]) {
    for host in hosts {
        let name = host.facts().program;
        if find_program(name.as_ref(), &app.root).is_none() {
            app.warn(&tr!(
                app.lang(),
                "{name} is not on PATH; the hooks work as soon as it is there"
            ));
        }
    }
}

/// The manifest is written before anything is changed: what is half done can
/// be taken away, too.
fn apply(root: &Path, plan: Plan) -> Result<(), FileError> {
    let Plan {
        files,
        mut manifest,
        ..
    } = plan;
    let ralph = root.join(".ralph");
    let is_new = !ralph.exists();
    for Planned {
        change,
        installed,
        backup,
        ..
    } in &files
    {
        if let Some(before) = backup {
            Manifest::back_up(root, &change.path, before)?;
        }
        match installed {
            Some(installed) => manifest.put(installed.clone()),
            None => manifest.forget(&change.path),
        }
    }
    if is_new {
        note_directory(&mut manifest, root, &ralph);
    }
    manifest.version = 1;
    manifest.save(root)?;
    for Planned { change, .. } in &files {
        let created = change.make(root)?;
        for dir in created {
            note_directory(&mut manifest, root, &dir);
        }
    }
    manifest.save(root)
}

fn note_directory(manifest: &mut Manifest, root: &Path, dir: &Path) {
    let Ok(dir) = dir.strip_prefix(root) else {
        return;
    };
    let dir = dir.to_string_lossy().replace('\\', "/");
    if !manifest.directories.contains(&dir) {
        manifest.directories.push(dir);
    }
}

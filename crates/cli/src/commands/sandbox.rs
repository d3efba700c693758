//! `ralph sandbox -- CMD`: any command behind the wall, to see what it sees.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use ralph_core::lang::Say;
use ralph_core::tr;
use ralph_engine::agents::Client;
use ralph_engine::supervise::{self, Spec};
use ralph_engine::wall::{self, Who};

use crate::app::{App, Exit, own_program};
use crate::args::SandboxArgs;
use crate::{FAILED, around, settings, trust};

pub fn run(app: &App, args: &SandboxArgs) -> Exit {
    around::only_people(app)?;
    let loaded = settings::load(app, Vec::new())?;
    trust::require(app, &trust::items(&app.root, Some(&loaded)))?;
    let named = loaded.settings.agent.name.parse::<Client>().ok();
    let client = args.agent.or(named);
    let wanted = wall::Wanted {
        settings: loaded.settings.sandbox.clone(),
        own_program: own_program(),
        clients: client.into_iter().collect(),
    };
    app.block_on(see_through(app, &wanted, args, client))?
}

async fn see_through(
    app: &App,
    wanted: &wall::Wanted,
    args: &SandboxArgs,
    client: Option<Client>,
) -> Exit {
    let lang = app.lang();
    let layout = app.layout();
    let (facts, wall) = wall::raise(wanted, &layout).await;
    app.warn(&facts.say(lang));
    let Some(wall) = wall else {
        return Err(FAILED);
    };
    let Some((program, rest)) = args.command.split_first() else {
        return Err(FAILED);
    };
    let mut spec = Spec::plain(program.clone(), &here(app), Duration::ZERO);
    spec.args = rest.to_vec();
    let files = Vec::new();
    let started = wall
        .dress(&Who::Agent { client, files }, spec)
        .and_then(|(spec, lodging)| Ok((supervise::foreground(&spec)?, lodging)));
    let name = |program: &OsString| program.to_string_lossy().into_owned();
    let (child, _lodging) = match started {
        Ok(started) => started,
        Err(error) => {
            let (program, error) = (name(program), error.to_string());
            return app.refuse(&tr!(lang, "{program} can't be started: {error}"));
        }
    };
    let code = child.await.unwrap_or(FAILED);
    for denied in wall.denied() {
        let (target, setting) = (&denied.target, &denied.setting);
        app.warn(&tr!(
            lang,
            "the sandbox closed {target}; {setting} would allow it"
        ));
    }
    match code {
        0 => Ok(0),
        code => Err(code),
    }
}

/// Where the person stands, if that is in the project.
fn here(app: &App) -> PathBuf {
    let here = std::env::current_dir().and_then(|here| here.canonicalize());
    let root = app.root.canonicalize().unwrap_or_else(|_| app.root.clone());
    here.ok()
        .filter(|here| here.starts_with(&root))
        .unwrap_or(root)
}

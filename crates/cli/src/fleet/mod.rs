//! `ralph fleet`: jobs on many machines.

mod fetch;
mod init;
mod land;
pub mod lane;
mod look;
mod mirror;
pub mod page;
mod runner;
mod submit;
mod trees;
mod worker;

use std::ffi::OsString;
use std::path::PathBuf;

use ralph_fleet::FleetError;
use ralph_fleet::board::{Board, Login, Seed};
use ralph_fleet::conf::Role;
use ralph_store::regular;

use crate::app::{App, Exit, OrFail};
use crate::args::{FleetArgs, FleetVerb, ServerArgs};

const USUAL_SERVER: &str = "nats://127.0.0.1:4222";
/// Everything of ours in the environment: no run sees it.
const VARIABLES: [&str; 4] = [
    "RALPH_FLEET_SERVER", "RALPH_FLEET_KEY", "RALPH_FLEET_CREDS", "RALPH_FLEET_CA",
];

pub fn run(app: &App, args: &FleetArgs) -> Exit {
    match &args.verb {
        FleetVerb::Init(verb) if !verb.buckets => {
            init::files(app, verb, args.server.server.as_deref())
        }
        FleetVerb::Init(_) => init::buckets(app, &login(app, &args.server)?),
        FleetVerb::Worker(verb) => worker::run(app, verb, &login(app, &args.server)?),
        FleetVerb::Submit(verb) => {
            let jobs = submit::prepare(app, verb)?;
            with_board(app, &args.server, async |board| {
                submit::send(app, verb, &board, &jobs).await
            })
        }
        FleetVerb::List(verb) => with_board(app, &args.server, async |board| {
            look::list(app, verb, &board).await
        }),
        FleetVerb::Status { json } => with_board(app, &args.server, async |board| {
            look::status(app, *json, &board).await
        }),
        FleetVerb::Logs { job, follow, json } => with_board(app, &args.server, async |board| {
            look::logs(app, &board, job, *follow, *json).await
        }),
        FleetVerb::Show { job, json } => with_board(app, &args.server, async |board| {
            look::show(app, &board, job, *json).await
        }),
        FleetVerb::Cancel { job } => with_board(app, &args.server, async |board| {
            look::cancel(app, &board, job).await
        }),
        FleetVerb::Drain { workers } => with_board(app, &args.server, async |board| {
            look::drain(app, &board, workers).await
        }),
        FleetVerb::Tell { job, words } => with_board(app, &args.server, async |board| {
            look::tell(app, &board, job, words).await
        }),
        FleetVerb::Fetch(verb) => with_board(app, &args.server, async |board| {
            fetch::run(app, verb, &args.server, &board).await
        }),
    }
}

/// For whoever sends jobs and looks.
fn with_board(app: &App, server: &ServerArgs, work: impl AsyncFnOnce(Board) -> Exit) -> Exit {
    let login = login(app, server)?;
    app.block_on(async {
        let board = Board::open(&login, Role::Submitter).await.or_fail(app)?;
        let exit = work(board.clone()).await;
        board.close().await;
        exit
    })?
}

/// What was typed, else the environment.
fn login(app: &App, server: &ServerArgs) -> Result<Login, u8> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let text = |value: OsString| value.to_string_lossy().into_owned();
    let file = |typed: &Option<PathBuf>, name: &str| {
        typed.clone().or_else(|| variable(name).map(PathBuf::from))
    };
    let [of_server, of_key, of_creds, of_ca] = VARIABLES;
    let url = server
        .server
        .clone()
        .or_else(|| variable(of_server).map(text));
    let seed = match file(&server.key, of_key) {
        None => None,
        Some(path) => {
            let read = regular::read_to_string(&path);
            let read = read.map_err(|error| FleetError::File {
                path,
                why: error.to_string(),
            });
            Some(Seed(read.or_fail(app)?))
        }
    };
    Ok(Login {
        url: url.unwrap_or_else(|| USUAL_SERVER.into()),
        creds: file(&server.creds, of_creds).filter(|_| seed.is_none()),
        seed,
        ca: file(&server.ca, of_ca),
    })
}

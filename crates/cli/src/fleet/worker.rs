//! `ralph fleet worker`: works on jobs until told to go.

use std::collections::BTreeSet;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use ralph_core::machine::Request;
use ralph_core::tr;
use ralph_engine::signals::{self, Told};
use ralph_fleet::FleetError;
use ralph_fleet::board::{Board, Login};
use ralph_fleet::conf::Role;
use ralph_fleet::job::{Me, is_name};
use ralph_fleet::worker::{self, Ask, Options, Said};
use ralph_store::{random, regular};
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};

use super::runner::Run;
use crate::app::{App, Exit, OrFail};
use crate::args::FleetWorkerArgs;

/// Between two tries to reach a server that is not there yet.
const RETRY: Duration = Duration::from_secs(1);

pub fn run(app: &App, args: &FleetWorkerArgs, login: &Login) -> Exit {
    let name = args.name.clone().unwrap_or_else(host);
    check_names(app, args, &name)?;
    let dir = match &args.dir {
        Some(dir) => std::path::absolute(dir).unwrap_or_else(|_| dir.clone()),
        None => app.home.dir().join("fleet").join(&name),
    };
    let _lock = lock(app, &dir)?;
    let random = random::bytes().or_else(|error| app.refuse(&error.to_string()))?;
    let number: String = random
        .iter()
        .take(4)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let options = Options {
        me: Me {
            // Whoever had the name before is somebody else, and may be alive.
            id: format!("{name}-{number}"),
            labels: set(&args.labels),
            secrets: set(&args.secrets),
        },
        host: host(),
        version: env!("CARGO_PKG_VERSION").into(),
        capacity: usize::from(args.capacity),
        account: args.account.clone(),
        holds: Duration::from_secs(args.lease),
        until_empty: args.until_empty,
    };
    let runner = Run::new(app, args, &dir);
    let runner = runner.or_else(|error| app.refuse(&error.to_string()))?;
    app.block_on(work(app, args, login, options, runner))?
}

fn set(names: &[String]) -> BTreeSet<String> {
    names.iter().cloned().collect()
}

fn check_names(app: &App, args: &FleetWorkerArgs, name: &str) -> Result<(), u8> {
    let names = args.labels.iter().chain(&args.secrets).chain(&args.account);
    let all = names.map(String::as_str).chain([name]);
    let is_bad = |name: &&str| !is_name(name) || name.len() > 40;
    if let Some(bad) = all.into_iter().find(is_bad) {
        let name = bad.to_owned();
        return app.fail(&FleetError::BadName { name });
    }
    let missing = args
        .secrets
        .iter()
        .find(|name| std::env::var_os(name).is_none());
    match missing {
        None => Ok(()),
        Some(name) => app.refuse(&tr!(
            app.lang(),
            "this worker is said to hold {name}, and no such variable is set"
        )),
    }
}

pub fn host() -> String {
    let name = regular::read_to_string("/etc/hostname").unwrap_or_default();
    let safe = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let name: String = name.trim().chars().map(safe).take(30).collect();
    if name.is_empty() {
        "worker".into()
    } else {
        name
    }
}

/// One worker per folder: what a dead one left there can be cleared away.
fn lock(app: &App, dir: &Path) -> Result<File, u8> {
    let lang = app.lang();
    let place = dir.display();
    let made = std::fs::create_dir_all(dir).and_then(|()| File::create(dir.join("lock")));
    let file = made.or_else(|error| app.refuse(&format!("{place}: {error}")))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => app.refuse(&tr!(
            lang,
            "another worker works in {place}; give this one a --name"
        )),
        Err(TryLockError::Error(error)) => app.refuse(&format!("{place}: {error}")),
    }
}

async fn work(
    app: &App,
    args: &FleetWorkerArgs,
    login: &Login,
    options: Options,
    runner: Run,
) -> Exit {
    let (ask, asked) = watch::channel(Ask::Work);
    let (sender, requests) = mpsc::unbounded_channel();
    let _ = signals::listen(sender);
    let signals = tokio::spawn(obey(requests, ask));
    let board = connect(app, login, asked.clone()).await?;
    let (id, url) = (&options.me.id, login.shown());
    match args.json {
        true => app.json(&json!({"event": "worker", "worker": id, "pid": std::process::id()})),
        false => app.tell(&tr!(
            app.lang(),
            "worker {id} takes jobs from {url}; Ctrl+C gives back what it has"
        )),
    }
    let (tell, mut said) = mpsc::unbounded_channel();
    let working = worker::work(board, options, runner, tell, asked);
    let telling = async {
        while let Some(said) = said.recv().await {
            match args.json {
                true => app.json(&said_json(&said)),
                false => app.tell(&said_words(app, &said)),
            }
        }
    };
    let (worked, ()) = tokio::join!(working, telling);
    signals.abort();
    worked.or_fail(app)?;
    Ok(0)
}

/// A server that is not there yet is waited for; one that refuses is not.
async fn connect(app: &App, login: &Login, asked: watch::Receiver<Ask>) -> Result<Board, u8> {
    let mut is_told = false;
    loop {
        match Board::open(login, Role::Worker).await {
            Ok(board) => return Ok(board),
            Err(error @ FleetError::File { .. }) => return app.fail(&error),
            Err(error) if !is_told => {
                is_told = true;
                let _: Result<(), u8> = app.fail(&error);
            }
            Err(_) => {}
        }
        if *asked.borrow() > Ask::Work {
            return Err(crate::INTERRUPTED);
        }
        tokio::time::sleep(RETRY).await;
    }
}

async fn obey(mut requests: mpsc::UnboundedReceiver<Told>, ask: watch::Sender<Ask>) {
    while let Some(told) = requests.recv().await {
        match told {
            Told::Request(Request::Pause) => drop(ask.send_replace(Ask::Drain)),
            Told::Request(_) => drop(ask.send_replace(Ask::Leave)),
            Told::Freeze => ralph_engine::supervise::stop_ourselves(),
        }
    }
}

fn said_json(said: &Said) -> Value {
    match said {
        Said::Took { job, attempt } => json!({"event": "took", "job": job, "attempt": attempt}),
        Said::Done { job, outcome } => json!({"event": "done", "job": job, "outcome": outcome}),
        Said::Lost { job } => json!({"event": "lost", "job": job}),
        Said::Released { job, why } => json!({"event": "released", "job": job, "why": why}),
        Said::GaveUp { job } => json!({"event": "gave_up", "job": job}),
        Said::Held { until_ms } => json!({"event": "held", "until_ms": until_ms}),
    }
}

fn said_words(app: &App, said: &Said) -> String {
    let lang = app.lang();
    match said {
        Said::Took { job, attempt } => tr!(lang, "job {job}: taken (attempt {attempt})"),
        Said::Done { job, outcome } => tr!(lang, "job {job}: {outcome}"),
        Said::Lost { job } => tr!(
            lang,
            "job {job}: somebody else has it, or it was cancelled; nothing of it is kept"
        ),
        Said::Released { job, why } => tr!(lang, "job {job}: given back {why}"),
        Said::GaveUp { job } => tr!(lang, "job {job}: given up, it was tried too often"),
        Said::Held { until_ms } => {
            let now = worker::now_ms();
            let seconds = until_ms.saturating_sub(now) / 1000;
            tr!(
                lang,
                "the account's usage limit holds this worker for {seconds} s"
            )
        }
    }
}

/// Where the clones and trees of a worker lie.
pub fn places(dir: &Path) -> (PathBuf, PathBuf) {
    (dir.join("repos"), dir.join("jobs"))
}

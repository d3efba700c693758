//! `cargo xtask e2e`: the real clients work for `ralph run` against a scripted
//! model, without an account and without the internet (XCUT-04).

mod clients;
mod install;
mod isolate;
mod scenarios;
mod stage;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use clients::{CLIENTS, Client};
use install::{Installed, Wanted};
use scenarios::SCENARIOS;
use stage::Stage;

/// What was asked for.
#[derive(Debug)]
struct Options {
    client: Option<String>,
    scenario: Option<String>,
    wanted: Wanted,
    /// What can't be tested is a failure.
    strict: bool,
    /// Leave the scratch folder behind to look at.
    keep: bool,
}

/// One line of the table.
#[derive(Debug)]
struct Row {
    client: &'static str,
    version: String,
    scenario: &'static str,
    time: Duration,
    verdict: Verdict,
}

#[derive(Debug)]
enum Verdict {
    Ok,
    Failed(Vec<String>),
    Skipped(String),
}

pub fn run(root: &Path, args: &[&str]) -> Result<(), Vec<String>> {
    let options = read(args).map_err(|e| vec![e])?;
    match std::env::var_os(isolate::INSIDE) {
        Some(scratch) => {
            isolate::prove(root).map_err(|e| vec![e])?;
            println!("isolation: only loopback, and only the scratch folder can be written");
            play(root, Path::new(&scratch), &options)
        }
        None => prepare(root, args, &options),
    }
}

fn read(args: &[&str]) -> Result<Options, String> {
    let mut options = Options {
        client: None,
        scenario: None,
        wanted: Wanted::Pinned,
        strict: std::env::var_os("CI").is_some(),
        keep: false,
    };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let mut value = || args.next().map(|v| (*v).to_owned());
        match *arg {
            "--client" => options.client = Some(value().ok_or("--client NAME")?),
            "--scenario" => options.scenario = Some(value().ok_or("--scenario NAME")?),
            "--latest" => options.wanted = Wanted::Latest,
            "--strict" => options.strict = true,
            "--keep" => options.keep = true,
            other => return Err(format!("e2e has no {other}")),
        }
    }
    let names = CLIENTS.map(|c| c.name);
    match &options.client {
        Some(name) if !names.contains(&name.as_str()) => Err(format!(
            "there is no client {name}; there are {}",
            names.join(", ")
        )),
        _ => Ok(options),
    }
}

/// Everything that needs the network or writes outside of the scratch folder;
/// then the scenarios, isolated where the system can.
fn prepare(root: &Path, args: &[&str], options: &Options) -> Result<(), Vec<String>> {
    let start = Instant::now();
    for client in chosen(options) {
        // What fails here is told again, in the table.
        let _ = install::install(&target(root), client, options.wanted);
    }
    println!(
        "clients are in target/clients after {:.1} s",
        start.elapsed().as_secs_f64()
    );
    build(root).map_err(|e| vec![e])?;
    let scratch = tempfile::tempdir().map_err(|e| vec![e.to_string()])?;
    // Clients name their project by its real path.
    let place = scratch
        .path()
        .canonicalize()
        .map_err(|e| vec![e.to_string()])?;
    let result = match isolate::command(&place) {
        Ok(mut command) => {
            let status = command.arg("e2e").args(args).status();
            match status {
                Ok(status) if status.success() => Ok(()),
                Ok(_) => Err(vec!["e2e failed: see above".to_owned()]),
                Err(error) => Err(vec![error.to_string()]),
            }
        }
        Err(reason) => {
            println!("isolation: by environment only ({reason})");
            play(root, &place, options)
        }
    };
    if options.keep {
        println!("left behind: {}", scratch.keep().display());
    }
    result
}

fn target(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from)
}

fn build(root: &Path) -> Result<(), String> {
    let status = Command::new("cargo")
        .current_dir(root)
        .args(["build", "--quiet", "--workspace", "--bin", "ralph"])
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err("the build failed".into()),
        Err(error) => Err(error.to_string()),
    }
}

fn chosen(options: &Options) -> impl Iterator<Item = &'static Client> {
    let wanted = options.client.as_deref();
    CLIENTS
        .iter()
        .filter(move |c| wanted.is_none_or(|name| name == c.name))
}

/// Two clients at a time, each client's scenarios one after the other: they
/// share its cache.
fn play(root: &Path, scratch: &Path, options: &Options) -> Result<(), Vec<String>> {
    let start = Instant::now();
    let waiting: Mutex<VecDeque<&Client>> = Mutex::new(chosen(options).collect());
    let next = || {
        waiting
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop_front()
    };
    let work = || {
        let mut rows = Vec::new();
        while let Some(client) = next() {
            rows.extend(play_client(root, scratch, options, client));
        }
        rows
    };
    let mut rows = std::thread::scope(|scope| {
        let workers = [scope.spawn(work), scope.spawn(work)];
        workers
            .map(|w| w.join().unwrap_or_default())
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
    });
    rows.sort_by_key(|row| CLIENTS.iter().position(|c| c.name == row.client));
    for row in &rows {
        row.print();
    }
    println!(
        "{} scenarios in {:.1} s",
        rows.len(),
        start.elapsed().as_secs_f64()
    );
    judge(&rows, options)
}

fn play_client(
    root: &Path,
    scratch: &Path,
    options: &Options,
    client: &'static Client,
) -> Vec<Row> {
    let target = target(root);
    let installed = match install::install(&target, client, options.wanted) {
        Ok(installed) => installed,
        Err(reason) => {
            return vec![Row {
                client: client.name,
                version: client.version.into(),
                scenario: "all",
                time: Duration::ZERO,
                verdict: Verdict::Skipped(reason),
            }];
        }
    };
    let wanted = options.scenario.as_deref();
    let scenarios = SCENARIOS.iter().filter(|s| (s.is_for)(client));
    let scenarios = scenarios.filter(|s| wanted.is_none_or(|name| name == s.name));
    let ralph = target.join("debug/ralph");
    scenarios
        .map(|scenario| {
            let start = Instant::now();
            let Installed { version, program } = &installed;
            let stage = Stage::new(scratch, scenario.name, client, program, &ralph);
            let problems = match stage {
                Ok(stage) => scenario.play(&stage),
                Err(error) => vec![error.to_string()],
            };
            Row {
                client: client.name,
                version: version.clone(),
                scenario: scenario.name,
                time: start.elapsed(),
                verdict: if problems.is_empty() {
                    Verdict::Ok
                } else {
                    Verdict::Failed(problems)
                },
            }
        })
        .collect()
}

impl Row {
    fn print(&self) {
        let (word, told) = match &self.verdict {
            Verdict::Ok => ("ok", &[][..]),
            Verdict::Failed(problems) => ("FAILED", problems.as_slice()),
            Verdict::Skipped(reason) => ("SKIPPED", std::slice::from_ref(reason)),
        };
        println!(
            "{:<10} {:<10} {:<20} {word:<8} {:>6.1} s",
            self.client,
            self.version,
            self.scenario,
            self.time.as_secs_f64()
        );
        for problem in told {
            println!("    {problem}");
        }
    }
}

fn judge(rows: &[Row], options: &Options) -> Result<(), Vec<String>> {
    let latest = options.wanted == Wanted::Latest;
    let bad = |row: &&Row| match row.verdict {
        Verdict::Ok => false,
        Verdict::Failed(_) => !latest,
        Verdict::Skipped(_) => options.strict,
    };
    let problems: Vec<String> = rows
        .iter()
        .filter(bad)
        .map(|row| format!("{} {}: {}", row.client, row.version, row.scenario))
        .collect();
    if problems.is_empty() {
        Ok(())
    } else {
        Err(problems)
    }
}

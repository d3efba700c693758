//! `cargo xtask e2e`: the real clients work for `ralph run`, and with our hooks
//! on their own, against a scripted model, without an account and without the
//! internet (XCUT-04); and the page is used in a real browser.

mod assistant;
mod clients;
mod delta;
mod flows;
mod in_session;
mod install;
mod isolate;
mod lanes;
mod names;
mod planning;
mod proof;
mod scenarios;
mod shape;
mod stage;
pub mod web;
pub mod web_stage;

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::{cargo, tools};
use clients::{CLIENTS, Client};
use install::{Installed, Wanted};
use names::Names;
use scenarios::{SCENARIOS, Scenario, Shown};
use shape::Shape;
use stage::Stage;

/// What was asked for.
#[derive(Debug)]
struct Options {
    client: Option<String>,
    scenario: Option<String>,
    wanted: Wanted,
    /// What can't be tested is a failure.
    strict: bool,
    /// Leave the scratch folder behind to look at, also when all is well.
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
    /// It works, but its protocol is not that of the pinned version.
    Drifted(Vec<String>),
    Skipped(String),
}

pub fn run(root: &Path, args: &[&str]) -> Result<(), Vec<String>> {
    let options = read(args).map_err(|e| vec![e])?;
    match std::env::var_os(isolate::INSIDE) {
        Some(scratch) => {
            isolate::prove(root).map_err(|e| vec![e])?;
            let names = Names::refuse().map_err(|e| vec![format!("port 53: {e}")])?;
            println!("isolation: only loopback, and only the scratch folder can be written");
            let result = play(root, Path::new(&scratch), &options);
            println!(
                "names that were asked for in vain: {}",
                names.asked().join(", ")
            );
            result
        }
        None => {
            let clients = prepare(root, args, &options);
            let page = match options.is_everything() {
                true => web::run(root, options.strict),
                false => Ok(()),
            };
            all_of([clients, page])
        }
    }
}

impl Options {
    /// Nothing was singled out, so that the page belongs to it too.
    fn is_everything(&self) -> bool {
        self.client.is_none() && self.scenario.is_none() && self.wanted == Wanted::Pinned
    }
}

fn all_of(results: [Result<(), Vec<String>>; 2]) -> Result<(), Vec<String>> {
    let problems: Vec<String> = results
        .into_iter()
        .filter_map(Result::err)
        .flatten()
        .collect();
    match problems.is_empty() {
        true => Ok(()),
        false => Err(problems),
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
        for wanted in [Wanted::Pinned, options.wanted] {
            // What fails here is told again, in the table.
            let _ = install::install(&cargo::target(root), client, wanted);
        }
    }
    println!(
        "getting the clients took {:.1} s",
        start.elapsed().as_secs_f64()
    );
    cargo::debug_ralph(root).map_err(|e| vec![e])?;
    let scratch = tempfile::tempdir().map_err(|e| vec![e.to_string()])?;
    // Clients name their project by its real path.
    let place = scratch
        .path()
        .canonicalize()
        .map_err(|e| vec![e.to_string()])?;
    let result = match isolate::command(&place) {
        Ok(mut command) => {
            // The clients work behind the wall, which has to be there.
            let path = tools::get(root);
            let status = command.env("PATH", path).arg("e2e").args(args).status();
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
    if options.keep || result.is_err() {
        println!("left behind: {}", scratch.keep().display());
    }
    result
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
        let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.pop_front()
    };
    let work = || {
        let mut rows = Vec::new();
        while let Some(client) = next() {
            rows.extend(play_client(root, scratch, options, client));
        }
        rows
    };
    let results = std::thread::scope(|scope| {
        let workers = [scope.spawn(work), scope.spawn(work)];
        workers.map(std::thread::ScopedJoinHandle::join)
    });
    let mut rows = Vec::new();
    for result in results {
        rows.extend(result.map_err(|_| vec!["a scenario panicked".to_owned()])?);
    }
    rows.sort_by_key(|row| CLIENTS.iter().position(|c| c.name == row.client));
    for row in &rows {
        row.print();
    }
    let seconds = start.elapsed().as_secs_f64();
    println!("{} scenarios in {seconds:.1} s", rows.len());
    if options.wanted == Wanted::Latest {
        print_drift(&rows);
    }
    judge(&rows, options)
}

/// What changed since the versions that are pinned.
fn print_drift(rows: &[Row]) {
    println!(
        "{:<10} {:<10} {:<10} since then",
        "client", "pinned", "newest"
    );
    for client in CLIENTS {
        let of_client = |row: &&Row| row.client == client.name;
        // Only the first scenario is played by both.
        let Some(row) = rows.iter().find(of_client) else {
            continue;
        };
        let changes: &[String] = match &row.verdict {
            Verdict::Drifted(changes) => changes,
            _ => &[],
        };
        let word = match &row.verdict {
            _ if row.version == client.version => "the same version".to_owned(),
            Verdict::Ok => "nothing changed".to_owned(),
            Verdict::Drifted(changes) => format!("{} changes", changes.len()),
            Verdict::Failed(_) | Verdict::Skipped(_) => "not known".to_owned(),
        };
        let (name, pinned) = (client.name, client.version);
        println!("{name:<10} {pinned:<10} {:<10} {word}", row.version);
        for change in changes {
            println!("    {change}");
        }
    }
}

fn play_client(
    root: &Path,
    scratch: &Path,
    options: &Options,
    client: &'static Client,
) -> Vec<Row> {
    let troupe = Troupe {
        client,
        scratch,
        target: &cargo::target(root),
        ralph: &cargo::ralph_of_tests(root),
    };
    let installed = match install::install(troupe.target, client, options.wanted) {
        Ok(installed) => installed,
        Err(reason) => return vec![troupe.skipped(reason)],
    };
    let wanted = options.scenario.as_deref();
    let own = in_session::SCENARIOS.iter().chain(&flows::SCENARIOS);
    let own = own.chain(&delta::SCENARIOS).chain(&proof::SCENARIOS);
    let own = own
        .chain(&planning::SCENARIOS)
        .chain(&assistant::SCENARIOS)
        .chain(&lanes::SCENARIOS);
    let all = SCENARIOS.iter().chain(own);
    let scenarios = all.filter(|s| (s.is_for)(client));
    let scenarios = scenarios.filter(|s| wanted.is_none_or(|name| name == s.name));
    let played = scenarios.map(|scenario| {
        let (row, shape) = troupe.play(&installed, scenario);
        if options.wanted == Wanted::Latest && scenario.name == SCENARIOS[0].name {
            troupe.compared(row, &shape)
        } else {
            row
        }
    });
    played.collect()
}

/// A client and where it plays.
#[derive(Debug)]
struct Troupe<'a> {
    client: &'static Client,
    scratch: &'a Path,
    target: &'a Path,
    ralph: &'a Path,
}

impl Troupe<'_> {
    fn skipped(&self, reason: String) -> Row {
        Row {
            client: self.client.name,
            version: self.client.version.into(),
            scenario: "all",
            time: Duration::ZERO,
            verdict: Verdict::Skipped(reason),
        }
    }

    fn play(&self, installed: &Installed, scenario: &Scenario) -> (Row, Shape) {
        let start = Instant::now();
        let Installed { version, program } = installed;
        let place = self.scratch.join(version);
        let stage = Stage::new(&place, scenario.name, self.client, program, self.ralph);
        let Shown { problems, shape } = match stage {
            Ok(stage) => scenario.play(&stage),
            Err(error) => Shown {
                problems: vec![error.to_string()],
                shape: Shape::new(),
            },
        };
        let row = Row {
            client: self.client.name,
            version: version.clone(),
            scenario: scenario.name,
            time: start.elapsed(),
            verdict: if problems.is_empty() {
                Verdict::Ok
            } else {
                Verdict::Failed(problems)
            },
        };
        (row, shape)
    }

    /// Tells what the pinned version does differently in the same scenario.
    fn compared(&self, mut row: Row, shape: &Shape) -> Row {
        let pinned = match install::install(self.target, self.client, Wanted::Pinned) {
            Ok(pinned) => pinned,
            Err(reason) => return self.skipped(reason),
        };
        if pinned.version == row.version {
            return row;
        }
        let (_, before) = self.play(&pinned, &SCENARIOS[0]);
        let differences = shape::differences(&before, shape);
        row.verdict = match row.verdict {
            Verdict::Ok if !differences.is_empty() => Verdict::Drifted(differences),
            Verdict::Failed(problems) => Verdict::Failed([problems, differences].concat()),
            other => other,
        };
        row
    }
}

impl Row {
    fn print(&self) {
        let (word, told) = match &self.verdict {
            Verdict::Ok => ("ok", &[][..]),
            Verdict::Failed(problems) => ("FAILED", problems.as_slice()),
            Verdict::Drifted(differences) => ("ok, drift", differences.as_slice()),
            Verdict::Skipped(reason) => ("SKIPPED", std::slice::from_ref(reason)),
        };
        println!(
            "{:<10} {:<10} {:<22} {word:<9} {:>6.1} s",
            self.client,
            self.version,
            self.scenario,
            self.time.as_secs_f64()
        );
        for line in told {
            println!("    {line}");
        }
    }
}

/// The latest versions are judged like the pinned ones, and harder: what was
/// not tried is a failure, and so is a field that they no longer print. What is
/// new is told.
fn judge(rows: &[Row], options: &Options) -> Result<(), Vec<String>> {
    if rows.is_empty() {
        return Err(vec!["there is no such scenario".to_owned()]);
    }
    let bad = |row: &&Row| match &row.verdict {
        Verdict::Ok => false,
        Verdict::Drifted(differences) => differences.iter().any(|line| is_loss(line)),
        Verdict::Failed(_) => true,
        Verdict::Skipped(_) => options.strict || options.wanted == Wanted::Latest,
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

/// Whether a difference takes something away from what we read.
fn is_loss(difference: &str) -> bool {
    difference.starts_with("- stream ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(verdict: Verdict, args: &[&str], passes: bool) {
        let row = Row {
            client: "claude",
            version: "1".into(),
            scenario: "all",
            time: Duration::ZERO,
            verdict,
        };
        let mut options = read(args).unwrap();
        options.strict = args.contains(&"--strict");
        assert_eq!(judge(&[row], &options).is_ok(), passes, "{args:?}");
    }

    #[test]
    fn failures_and_strict_skips_fail_the_whole() {
        let failed = || Verdict::Failed(vec!["no".into()]);
        let skipped = || Verdict::Skipped("no npm".into());
        check(Verdict::Ok, &["--strict"], true);
        check(failed(), &[], false);
        check(failed(), &["--latest"], false);
        let drifted = |line: &str| Verdict::Drifted(vec![line.into()]);
        check(drifted("+ stream new: field"), &["--latest"], true);
        check(drifted("- tool Old"), &["--latest"], true);
        check(
            drifted("- stream result/success: cost"),
            &["--latest"],
            false,
        );
        check(skipped(), &[], true);
        check(skipped(), &["--strict"], false);
        check(skipped(), &["--latest"], false);
    }

    #[test]
    fn nothing_played_is_no_success() {
        assert!(judge(&[], &read(&[]).unwrap()).is_err());
        assert!(read(&["--client", "nobody"]).is_err());
        assert!(read(&["--client"]).is_err());
        assert!(read(&["--lates"]).is_err());
    }

    #[test]
    fn the_page_is_tried_where_nothing_is_singled_out() {
        for (args, page) in [
            (&[][..], true),
            (&["--strict"], true),
            (&["--client", "claude"], false),
            (&["--scenario", "completes"], false),
            (&["--latest"], false),
        ] {
            assert_eq!(read(args).unwrap().is_everything(), page, "{args:?}");
        }
        let failed = |word: &str| Err(vec![word.to_owned()]);
        assert!(all_of([Ok(()), Ok(())]).is_ok());
        assert_eq!(
            all_of([failed("a"), failed("b")]),
            Err(vec!["a".into(), "b".into()])
        );
    }
}

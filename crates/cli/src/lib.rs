//! The program `ralph`: arguments → options → commands.

mod apart;
mod app;
mod args;
mod around;
mod commands;
mod demo;
#[cfg(feature = "fleet")]
mod fleet;
mod guard;
mod help;
mod hook;
mod insession;
mod install;
mod monitor;
mod out;
mod routing;
mod scripted;
mod settings;
mod steering;
mod tmux;
mod trust;
mod usage;
mod view;
mod web;

use std::ffi::OsString;

use clap::FromArgMatches;
use ralph_core::lang::Lang;
use ralph_engine::{lanes, wall};

ralph_core::texts!();

/// Exit code of a usage error or of an internal one. 2 is kept for a hook's
/// block and is never used for anything else (LOOP-15).
pub const FAILED: u8 = 1;
/// A hook's block, where the host has no better way to hear of it.
pub const BLOCKED: u8 = 2;
/// The run can be taken up again (LOOP-15).
pub const PAUSED: u8 = 3;
/// Verification failed: a gate is shut (LOOP-15).
pub const SHUT: u8 = 7;
/// Somebody pressed Ctrl+C.
pub const INTERRUPTED: u8 = 130;

/// Runs the program and gives its exit code.
pub fn run(args: &[OsString]) -> u8 {
    // The scripted agent is started for every turn: it must not pay for the
    // rest of the program.
    if args
        .get(1)
        .is_some_and(|mode| mode == ralph_engine::agents::SCRIPTED_MODE)
    {
        return scripted::run(&args[2..]);
    }
    // So must a hook, which is started for every tool call of an agent.
    if args.get(1).is_some_and(|mode| mode == "hook") && !asks_for_help(&args[2..]) {
        return hook::run(&args[2..]);
    }
    if args.get(1).is_some_and(|mode| mode == wall::INSIDE_MODE) {
        let error = wall::enter_mode(&args[2..]);
        out::error(&format!("ralph: {error}"));
        return FAILED;
    }
    if args.get(1).is_some_and(|mode| mode == lanes::LANE_MODE) {
        return commands::lane::work();
    }
    if args
        .get(1..)
        .is_some_and(commands::self_check::asks_for_identity)
    {
        out::json(&commands::self_check::identity());
        return 0;
    }
    let parsed = command().try_get_matches_from(args);
    match parsed.and_then(|matches| args::Cli::from_arg_matches(&matches)) {
        Ok(cli) => commands::run(cli),
        Err(error) => {
            let is_wrong = error.use_stderr();
            match usage::message(&error, args) {
                Some(message) => out::error(&format!("ralph: {message}")),
                None => {
                    let answer = in_language(args).unwrap_or(error);
                    match answer.use_stderr() {
                        true => out::error(answer.render().to_string().trim_end()),
                        false => drop(answer.print()),
                    }
                }
            }
            // Help and version are answers, not errors.
            match is_wrong {
                true if hook::is_guard(args) => BLOCKED,
                true => FAILED,
                false => 0,
            }
        }
    }
}

/// The same answer in the language of the person, where that is another.
fn in_language(args: &[OsString]) -> Option<clap::Error> {
    let lang = Some(usage::lang_of(args)).filter(|lang| *lang != Lang::En)?;
    help::command_in(lang).try_get_matches_from(args).err()
}

fn asks_for_help(args: &[OsString]) -> bool {
    args.iter().any(|arg| arg == "--help" || arg == "-h")
}

/// The command line, for the man pages and completions.
pub fn command() -> clap::Command {
    help::command()
}

//! How much process a task gets, and the flows that there are.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use ralph_core::route::Route;

use super::WorkArgs;

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("way").args(["quick", "deep", "route"]))]
pub struct DoArgs {
    /// What to do
    #[arg(required_unless_present_any = ["resume", "list_checkpoints"])]
    pub task: Option<String>,
    /// In one call, whatever the score says
    #[arg(long, short)]
    pub quick: bool,
    /// Subtask by subtask, whatever the score says
    #[arg(long, short)]
    pub deep: bool,
    /// The route: direct, planned, ralph, architect, ui_flow
    #[arg(long, value_name = "ROUTE", value_parser = route)]
    pub route: Option<Route>,
    /// Print the score card, and do nothing
    #[arg(long, short)]
    pub explain: bool,
    /// Take the unfinished task up
    #[arg(long, conflicts_with_all = ["task", "way", "explain", "max_iterations", "max_duration", "verify", "allow_unsafe", "no_guard", "sandbox", "dry_run"])]
    pub resume: bool,
    /// List all runs and checkpoints
    #[arg(long, conflicts_with_all = ["task", "way", "explain", "resume"])]
    pub list_checkpoints: bool,
    /// With --resume: go on without asking
    #[arg(long, short, requires = "resume")]
    pub yes: bool,
    /// With --resume: start over with what was asked for then
    #[arg(long, requires = "resume")]
    pub restart: bool,
    /// With --resume: show where it stands
    #[arg(long, requires = "resume")]
    pub show: bool,
    /// With --resume: give it up
    #[arg(long, requires = "resume")]
    pub abandon: bool,
    #[command(flatten)]
    pub work: WorkArgs,
    /// Print one JSON event per line; with --explain, the card as JSON
    #[arg(long, conflicts_with = "quiet")]
    pub json: bool,
    /// Print only how it ended
    #[arg(long)]
    pub quiet: bool,
}

fn route(text: &str) -> Result<Route, String> {
    Route::from_word(text)
        .ok_or_else(|| "routes are direct, planned, ralph, architect and ui_flow".to_owned())
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct FlowArgs {
    #[command(subcommand)]
    pub verb: Option<FlowVerb>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
pub enum FlowVerb {
    /// Every flow, built in and of this project
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// One flow: its steps and where their answers lead
    Show {
        /// Name of the flow
        name: String,
        /// Print the file itself, to start a flow of your own from
        #[arg(long, conflicts_with = "json")]
        file: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Every mistake in the flows of this project, or in one file
    Check {
        /// Flow file [default: all of .ralph/flows]
        file: Option<PathBuf>,
    },
}

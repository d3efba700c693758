//! What can be typed to look at a run and to steer it.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub struct MonitorArgs {
    /// Runs of all projects on this machine
    #[arg(long)]
    pub all: bool,
    /// Print one screen and end
    #[arg(long)]
    pub once: bool,
}

#[derive(Debug, Args)]
pub struct TrustArgs {
    /// The task list whose checks are meant [default: the one `ralph run` finds]
    #[arg(long, value_name = "FILE")]
    pub tasks: Option<PathBuf>,
    /// Say yes without being asked
    #[arg(long)]
    pub yes: bool,
    /// Show what is trusted and what is not, and change nothing
    #[arg(long, conflicts_with_all = ["yes", "revoke"])]
    pub list: bool,
    /// Trust this project with nothing any more
    #[arg(long, conflicts_with = "yes")]
    pub revoke: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct WhereArgs {
    /// How much is kept there, too
    #[arg(long)]
    pub size: bool,
    /// Bring the runs of a project that was moved here
    #[arg(long)]
    pub adopt: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ExtendArgs {
    /// Turns to add [default: limits.extend_by]
    #[arg(value_name = "N")]
    pub iterations: Option<u32>,
    /// Time to add: 30m, 2h
    #[arg(long, value_name = "TIME")]
    pub time: Option<String>,
}

#[derive(Debug, Args)]
pub struct ProveArgs {
    /// The tasks whose experiments are made again; without any, those of the
    /// last verification
    #[arg(value_name = "TASK")]
    pub tasks: Vec<String>,
    /// Print every experiment as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct AcceptArgs {
    /// The tasks that you have looked at; without any, those that are not proven
    /// are listed
    #[arg(value_name = "TASK")]
    pub tasks: Vec<String>,
    /// All that are not proven
    #[arg(long, conflicts_with = "tasks")]
    pub all: bool,
    /// Why they are right; the report says it
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub why: String,
    /// Print the tasks that are not proven as JSON
    #[arg(long, conflicts_with_all = ["tasks", "all"])]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct HintArgs {
    /// What the agent should know; without words, the hints that it is told
    #[arg(value_name = "TEXT")]
    pub words: Vec<String>,
    /// Say it in every turn from now on, not only in the next
    #[arg(long, requires = "words")]
    pub keep: bool,
    /// Say this hint no more
    #[arg(long, value_name = "N", conflicts_with_all = ["words", "keep"])]
    pub drop: Option<u32>,
    /// Print the hints as JSON
    #[arg(long, conflicts_with_all = ["words", "drop"])]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct RetryArgs {
    /// The task to be worked on again
    pub task: String,
}

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("wanted").args(["task", "none"]).required(true))]
pub struct FocusArgs {
    /// The task that comes before the others
    pub task: Option<String>,
    /// Take the tasks in the order of the list again
    #[arg(long)]
    pub none: bool,
}

#[derive(Debug, Args)]
pub struct AnswerArgs {
    /// Question (its number may be left out where only one is open) and answer:
    /// the number of an option, or your own words
    #[arg(value_name = "[ID] TEXT")]
    pub words: Vec<String>,
    /// Print the open questions as JSON
    #[arg(long, conflicts_with = "words")]
    pub json: bool,
}

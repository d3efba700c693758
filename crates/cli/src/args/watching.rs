//! What can be typed to look at a run and to steer it.

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
pub struct AnswerArgs {
    /// Question (its number may be left out where only one is open) and answer:
    /// the number of an option, or your own words
    #[arg(value_name = "[ID] TEXT")]
    pub words: Vec<String>,
    /// Print the open questions as JSON
    #[arg(long, conflicts_with = "words")]
    pub json: bool,
}

//! What can be typed to look at the turns of a run, and to undo them.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub struct ShowArgs {
    /// The turn [default: the last one]
    #[arg(value_name = "TURN")]
    pub turn: Option<u32>,
    /// Another run than the newest
    #[arg(long, value_name = "RUN")]
    pub run: Option<String>,
}

#[derive(Debug, Args)]
pub struct DiffArgs {
    /// A turn, or A..B for what changed from after turn A (0: the start) to after turn B; then paths [default: the last turn]
    #[arg(value_name = "TURN|A..B|PATHS")]
    pub what: Vec<String>,
    /// Only how much changed in which file
    #[arg(long)]
    pub stat: bool,
    /// Show it in your difftool: the one that your own Git configuration names, or this one
    #[arg(long, value_name = "NAME", num_args = 0..=1, require_equals = true, conflicts_with = "stat")]
    pub tool: Option<Option<String>>,
    /// Another run than the newest
    #[arg(long, value_name = "RUN")]
    pub run: Option<String>,
}

#[derive(Debug, Args)]
pub struct BisectArgs {
    /// A command that tells good from bad (repeatable) [default: what the run checked with]
    #[arg(long, value_name = "CMD")]
    pub verify: Vec<String>,
    /// Another run than the newest
    #[arg(long, value_name = "RUN")]
    pub run: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct SnapshotsArgs {
    /// purge deletes all snapshots of this project
    #[arg(value_name = "purge", value_parser = ["purge"], hide_possible_values = true)]
    pub verb: Option<String>,
    /// How much is kept, too
    #[arg(long)]
    pub size: bool,
    /// Delete without being asked
    #[arg(long)]
    pub yes: bool,
    /// Another run than the newest
    #[arg(long, value_name = "RUN")]
    pub run: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct RestoreArgs {
    /// The work as it was after this turn; 0 is when the run began
    #[arg(value_name = "TURN")]
    pub turn: u32,
    /// A directory that is not there yet, or is empty
    #[arg(long, value_name = "DIR")]
    pub to: PathBuf,
    /// Another run than the newest
    #[arg(long, value_name = "RUN")]
    pub run: Option<String>,
}

#[derive(Debug, Args)]
pub struct UndoArgs {
    /// The turn before which the work is wanted [default: the last one]; then paths
    #[arg(value_name = "TURN|PATHS")]
    pub what: Vec<String>,
    /// Let the branch go back too, if nobody else moved it; its tip keeps a name
    #[arg(long)]
    pub commits: bool,
    /// Show what would be done, and touch nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Do it without being asked
    #[arg(long)]
    pub yes: bool,
    /// Another run than the newest
    #[arg(long, value_name = "RUN")]
    pub run: Option<String>,
}

#[derive(Debug, Args)]
pub struct RedoArgs {
    /// Show what would be done, and touch nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Do it without being asked
    #[arg(long)]
    pub yes: bool,
    /// Another run than the newest
    #[arg(long, value_name = "RUN")]
    pub run: Option<String>,
}

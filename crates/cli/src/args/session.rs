//! What can be typed behind `ralph loop`.

use clap::{Args, Subcommand};
use ralph_core::session::task::Way;
use ralph_engine::agents::Client;

use super::{PullArgs, hosts};

#[derive(Debug, Args)]
pub struct LoopArgs {
    /// The session of the client [default: as the client says in the environment]
    #[arg(long, global = true, value_name = "ID")]
    pub session: Option<String>,
    /// The client [default: as the environment says]
    #[arg(long, global = true, value_name = "HOST", value_parser = hosts())]
    pub host: Option<Client>,
    #[command(subcommand)]
    pub command: LoopCommand,
}

#[derive(Debug, Subcommand)]
pub enum LoopCommand {
    /// Start a loop: the session's Stop hook sends the agent on until the work is done
    Start(LoopStartArgs),
    /// Give the session's loop up
    Cancel,
    /// Let the session's loop rest, with everything saved
    Pause,
    /// Take a loop of this project up again in this session
    Continue,
    /// Show where the session's loop stands
    Status,
}

#[derive(Debug, Args)]
pub struct LoopStartArgs {
    /// What to do; without it, the task list of the project
    pub task: Vec<String>,
    /// Turns to make at most
    #[arg(long, value_name = "N")]
    pub max_iterations: Option<u32>,
    /// The text that the agent promises when all is done
    #[arg(long, value_name = "TEXT")]
    pub completion_promise: Option<String>,
    /// Work on the tasks of this OpenSpec change
    #[arg(long, value_name = "ID")]
    pub openspec: Option<String>,
    /// Work on the tasks of this file
    #[arg(long, value_name = "FILE")]
    pub tasks: Option<String>,
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,
    /// A command that must succeed before the work counts as done
    #[arg(long, value_name = "COMMAND")]
    pub verify: Vec<String>,
    /// Take the task through the phases of a route: auto, direct, planned, ralph, architect, ui_flow
    #[arg(long, value_name = "ROUTE", value_parser = way, conflicts_with_all = ["tasks", "openspec"])]
    pub route: Option<Way>,
    #[command(flatten)]
    pub pull: PullArgs,
    /// Read task and options from standard input, as they were typed behind /ralph-loop
    #[arg(long, conflicts_with_all = ["task", "max_iterations", "completion_promise", "openspec", "tasks", "preset", "verify", "route", "create_pr", "pr", "merge"])]
    pub stdin: bool,
}

fn way(text: &str) -> Result<Way, String> {
    Way::from_word(text)
        .ok_or_else(|| "routes are auto, direct, planned, ralph, architect and ui_flow".to_owned())
}

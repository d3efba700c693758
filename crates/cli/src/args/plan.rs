//! What can be typed to get from a goal to a list.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub struct PlanArgs {
    /// What is to be reached, in a sentence or more
    #[arg(required_unless_present = "check")]
    pub goal: Option<String>,
    /// File that the list is written to [default: as the project's format wants it]
    #[arg(long, value_name = "FILE")]
    pub into: Option<PathBuf>,
    /// How the list is written [default: as the project does]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub format: Option<PlanFormat>,
    /// Agent that plans: claude, codex, gemini, opencode, copilot, cursor, amp, custom
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// Any program as the agent; its prompt comes on standard input
    #[arg(long, value_name = "CMD", conflicts_with = "agent")]
    pub agent_cmd: Option<String>,
    /// Call no agent: a list to fill in, with the project's own checks
    #[arg(long, conflicts_with_all = ["agent", "agent_cmd"])]
    pub skeleton: bool,
    /// Write it without being asked
    #[arg(long, short)]
    pub yes: bool,
    /// How often the agent may mend its plan
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub rounds: u32,
    /// Judge a plan: what the loop that plans runs as its check
    #[arg(long, value_name = "FILE", hide = true)]
    pub check: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PlanFormat {
    /// Phases and ids such as T001 (specs/NAME/tasks.md)
    SpecKit,
    /// Sections and numbers such as 1.1 (openspec/changes/NAME/tasks.md)
    #[value(name = "openspec")]
    OpenSpec,
    /// User stories (prd.json)
    Prd,
    /// A flat list (tasks.md)
    Plain,
}

//! What can be typed behind `ralph init`, `uninstall` and `doctor`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use ralph_engine::agents::Client;

use super::hosts;

#[derive(Debug, Args)]
pub struct InitArgs {
    /// Project to install into [default: as --root]
    pub dir: Option<PathBuf>,
    /// Agent to install for (repeatable) [default: claude]
    #[arg(long, value_name = "NAME", value_parser = hosts())]
    pub agent: Vec<Client>,
    /// Defaults to start from: openspec, verify, dev-p0, dev-p1, sdd, delta
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,
    /// Whether the safety guard judges tool calls [default: on]
    #[arg(long, value_enum, value_name = "on|off", hide_possible_values = true)]
    pub guard: Option<Switch>,
    /// Write a plugin for Claude Code into .ralph/plugin instead
    #[arg(long, conflicts_with = "agent")]
    pub plugin: bool,
    /// Write the hooks into the settings that the team shares, not into your
    /// own
    #[arg(long, conflicts_with = "plugin")]
    pub shared: bool,
    /// Add lines to .gitignore that keep Ralph's files out of Git
    #[arg(long)]
    pub gitignore: bool,
    /// Make the changes without asking
    #[arg(long, short)]
    pub yes: bool,
    /// Put our slash commands in the place of others with the same name
    #[arg(long, conflicts_with = "update")]
    pub force: bool,
    /// Renew what is installed; add no new files
    #[arg(long)]
    pub update: bool,
    /// Show the changes, and make none
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    On,
    Off,
}

#[derive(Debug, Args)]
pub struct UninstallArgs {
    /// Project to take Ralph out of [default: as --root]
    pub dir: Option<PathBuf>,
    /// Make the changes without asking
    #[arg(long, short)]
    pub yes: bool,
    /// Show the changes, and make none
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Start the agent once, with a harmless prompt, and see every hook fire;
    /// it uses your account
    #[arg(long)]
    pub live: bool,
    /// Try to break out of the sandbox, and say what held
    #[arg(long, conflicts_with = "live")]
    pub sandbox: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct SandboxArgs {
    /// Agent whose wall it is [default: as configured]
    #[arg(long, value_name = "NAME", value_parser = hosts())]
    pub agent: Option<Client>,
    /// The command, behind --
    #[arg(last = true, required = true, value_name = "CMD")]
    pub command: Vec<std::ffi::OsString>,
}

#[derive(Debug, Args)]
pub struct SelfCheckArgs {
    /// Print the table of what works on which system, as Markdown
    #[arg(long, conflicts_with = "json")]
    pub platforms: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

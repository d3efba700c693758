//! How runs are looked at from elsewhere than the terminal.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub struct WebArgs {
    /// Port to listen on [default: 7437, or a free one]
    #[arg(long, value_name = "N")]
    pub port: Option<u16>,
    /// Open it in the browser
    #[arg(long)]
    pub open: bool,
    /// Address to listen on: others than this machine's own let the network in
    #[arg(long, value_name = "IP", default_value = "127.0.0.1")]
    pub bind: std::net::IpAddr,
    /// Show the runs of all workers of $RALPH_FLEET_SERVER instead of this project's
    #[cfg(feature = "fleet")]
    #[arg(long)]
    pub fleet: bool,
}

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("form").args(["html", "md", "json"]))]
pub struct ReportArgs {
    /// Run, or the name of its archive [default: the latest run]
    pub run: Option<String>,
    /// One HTML file with charts
    #[arg(long)]
    pub html: bool,
    /// Markdown, which is the default
    #[arg(long)]
    pub md: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Write it there instead of printing it
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct McpArgs {
    /// What the assistant may do beside looking (repeatable, or with commas)
    #[arg(long, value_name = "ACT", value_delimiter = ',', num_args = 0.., default_missing_value = "all")]
    pub allow: Vec<McpAct>,
}

/// What an assistant may be allowed to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum McpAct {
    Start,
    Stop,
    Answer,
    Hint,
    All,
}

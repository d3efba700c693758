//! What every verb takes that lets an agent work: who, for how long, and what
//! proves it.

use clap::Args;

#[derive(Debug, Default, Args)]
pub struct WorkArgs {
    /// Agent to drive: claude, codex, gemini, opencode, copilot, cursor, amp, custom
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// Any program as the agent; {prompt_file} stands for a file with the prompt,
    /// without it the prompt comes on standard input
    #[arg(long, value_name = "CMD", conflicts_with = "agent")]
    pub agent_cmd: Option<String>,
    /// Turns until the loop stops to ask; 0 is unlimited
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub max_iterations: Option<u32>,
    /// Time for the whole run: 90s, 30m, 12h
    #[arg(long, value_name = "TIME")]
    pub max_duration: Option<String>,
    /// Money that the run may cost, as the agent reports it: 20usd
    #[arg(long, value_name = "MONEY")]
    pub max_cost: Option<String>,
    /// Tokens that the run may use: input, output and cache together
    #[arg(long, value_name = "N")]
    pub max_tokens: Option<u32>,
    /// Shell command that must pass before the work counts as done (repeatable)
    #[arg(long, value_name = "CMD")]
    pub verify: Vec<String>,
    /// Let the agent run with its permission questions off
    #[arg(long)]
    pub allow_unsafe: bool,
    /// Let the agent's tool calls go unjudged
    #[arg(long)]
    pub no_guard: bool,
    /// Wall around the agent and the checks: auto, strict, off
    #[arg(
        long,
        value_name = "MODE",
        value_parser = ["auto", "strict", "off"],
        hide_possible_values = true
    )]
    pub sandbox: Option<String>,
    /// Show what would be done; call no agent, change no file
    #[arg(long)]
    pub dry_run: bool,
}

//! What can be typed about pull requests and CI.

use clap::Args;
use ralph_core::session::words::PullWish;

#[derive(Debug, Default, Args)]
pub struct PullArgs {
    /// Preset dev-p0: push the branch and create the pull request once the gate is green
    #[arg(long)]
    pub create_pr: bool,
    /// Create it as a draft
    #[arg(long, requires = "create_pr")]
    pub draft: bool,
    /// Preset dev-p1: the pull request [default: the open one of the branch]
    #[arg(long, value_name = "N")]
    pub pr: Option<u32>,
    /// Preset dev-p1: merge the pull request when CI is green: squash, merge, rebase
    #[arg(
        long,
        value_name = "METHOD",
        value_parser = ["squash", "merge", "rebase"],
        hide_possible_values = true
    )]
    pub merge: Option<String>,
}

impl PullArgs {
    pub fn wish(&self) -> PullWish {
        PullWish {
            create: self.create_pr,
            draft: self.draft,
            number: self.pr,
            merge: self.merge.clone(),
        }
    }
}

#[derive(Debug, Args)]
pub struct PhaseArgs {
    /// Judge the checks that the base branch requires, and no others
    #[arg(long)]
    pub required: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

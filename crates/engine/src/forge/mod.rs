//! Asks a forge about pull requests and CI, through the forge's own client
//! (`gh`, `glab`) as a supervised child: argv only, no shell, no token of ours.
//!
//! A forge is one file with the functions that [`Host`] names; the rest of the
//! program does not know which one it is. Only pushing, creating, running
//! again, merging and deleting a merged branch go outward, and the machine
//! decides about them.

mod client;
mod github;
mod gitlab;
mod runner;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::time::Duration;

use ralph_core::config::{GateSettings, GateTrust};
use ralph_core::forge::{
    Check, ForgeAnswer, ForgeAsk, GateFinding, Local, MergeMethod, Phase, PhaseReport, Pull,
    PullState, Sight, Trouble, TroubleKind, Unknown,
};
use ralph_core::gate;
use ralph_core::lang::{Lang, Say};
use ralph_store::layout::Layout;
use tokio::sync::watch;

use crate::agents::EnvFilter;
use crate::excerpt::{Excerpt, shortened};
use crate::gate::{Confirmed, Confirms, RunStep};
use crate::supervise::Stop;
use crate::{clock, git};
use runner::Runner;

/// Which forge, and so which client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    GitHub,
    GitLab,
}

/// Everything that is needed to ask a forge about a project.
#[derive(Clone, Debug)]
pub struct Forge {
    pub layout: Layout,
    pub host: Host,
    pub remote: String,
    /// Patterns of the branches that may be pushed.
    pub branches: Vec<String>,
    pub required_only: bool,
    pub draft: bool,
    /// What the pull request is about, in a person's words.
    pub about: String,
    /// Of the person who is told.
    pub lang: Lang,
    pub method: MergeMethod,
    /// Merging is left to the forge, once its own conditions are met.
    pub auto_merge: bool,
    pub gate: GateSettings,
    /// Which variables its steps get.
    pub env_filter: EnvFilter,
    /// What a person calls check files.
    pub check_files: Vec<String>,
    /// After a turn the gate is run once more before it counts.
    pub confirms: Option<Confirms>,
    /// The time for one answer.
    pub patience: Duration,
}

/// How much of a failing log is kept: as much as a prompt takes.
const LOG_CHARACTERS: usize = 1_900;
/// Runs whose logs are asked for.
const MOST_LOGS: usize = 3;
/// Files that are named of those that are not committed.
const NAMED_FILES: usize = 5;
/// As many digits of a commit as Git itself shows.
const SHORT_ID: usize = 7;
/// As long as a title may be to be read in a list.
const LONGEST_TITLE: usize = 72;

/// The pull request and the checks of its head commit.
#[derive(Clone, Debug, Default, PartialEq)]
struct Seen {
    pull: Option<Pull>,
    checks: Vec<Check>,
}

impl Forge {
    /// Does what the machine asked for.
    pub async fn perform(
        &self,
        ask: &ForgeAsk,
        env: &[(String, String)],
        stop: watch::Receiver<Stop>,
    ) -> ForgeAnswer {
        let runner = Runner {
            root: self.layout.root(),
            env,
            stop,
            patience: self.patience,
        };
        let answer = match ask {
            ForgeAsk::Look { number, gate } => self.look(&runner, *number, *gate).await,
            ForgeAsk::Examine { base, failed } => Ok(self.examine(&runner, base, failed).await),
            ForgeAsk::Push => self.push(&runner).await,
            ForgeAsk::Create => self.create(&runner).await,
            ForgeAsk::Rerun { runs } => self.rerun(&runner, runs).await,
            ForgeAsk::Merge { number, commit } => self.merge(&runner, *number, commit).await,
            ForgeAsk::Delete { branch } => self.delete(&runner, branch).await,
        };
        answer.unwrap_or_else(ForgeAnswer::Failed)
    }

    /// The phase of the branch that is checked out (PRCI-01).
    pub async fn phase(&self, grace: Duration) -> PhaseReport {
        let Some(branch) = git::head(self.layout.root()).branch else {
            return PhaseReport::unknown(Unknown::NoBranch);
        };
        if !is_for_pull_requests(self.layout.root(), &branch, &self.branches) {
            let patterns = self.branches.clone();
            return PhaseReport::unknown(Unknown::OtherBranch { branch, patterns });
        }
        let look = ForgeAsk::Look {
            number: None,
            gate: None,
        };
        let stop = watch::Sender::new(Stop::No);
        let grace_ms = u64::try_from(grace.as_millis()).unwrap_or(u64::MAX);
        match self.perform(&look, &[], stop.subscribe()).await {
            ForgeAnswer::Looked(sight) => PhaseReport::of(*sight, clock::now().wall_ms, grace_ms),
            ForgeAnswer::Failed(trouble) => PhaseReport::unknown(Unknown::Trouble(trouble)),
            _ => PhaseReport::unknown(Unknown::NoChecks),
        }
    }

    /// The commands that go outward, for a dry run.
    pub fn command_of(&self, ask: &ForgeAsk) -> String {
        let branch = git::head(self.layout.root()).branch.unwrap_or_default();
        match ask {
            ForgeAsk::Push => line("git", &self.push_args("COMMIT", &branch)),
            ForgeAsk::Create => match self.host {
                Host::GitHub => line("gh", &github::create_args(self, &branch, "COMMIT")),
                Host::GitLab => line("glab", &gitlab::create_args(self, &branch, "COMMIT")),
            },
            ForgeAsk::Rerun { .. } => match self.host {
                Host::GitHub => "gh run rerun RUN --failed".into(),
                Host::GitLab => {
                    "glab api --method POST projects/:fullpath/pipelines/ID/retry".into()
                }
            },
            ForgeAsk::Merge { number, commit } => match self.host {
                Host::GitHub => line("gh", &github::merge_args(self, *number, commit)),
                Host::GitLab => line("glab", &gitlab::merge_args(self, *number, commit)),
            },
            ForgeAsk::Delete { .. } => match self.host {
                Host::GitHub => line("gh", &github::delete_args(&branch)),
                Host::GitLab => line("glab", &gitlab::delete_args(&branch)),
            },
            ForgeAsk::Look { .. } | ForgeAsk::Examine { .. } => String::new(),
        }
    }

    async fn look(
        &self,
        runner: &Runner<'_>,
        number: Option<u64>,
        gate: Option<Phase>,
    ) -> Result<ForgeAnswer, Trouble> {
        let head = git::head(self.layout.root());
        let branch = head.branch.clone().unwrap_or_default();
        let seen = match self.host {
            Host::GitHub => github::look(self, runner, &branch, number).await?,
            Host::GitLab => gitlab::look(self, runner, &branch, number).await?,
        };
        let local = self.local(branch, head.commit, seen.pull.as_ref());
        let found = match gate {
            Some(phase) => self.look_at_gate(runner, phase).await,
            None => Vec::new(),
        };
        Ok(ForgeAnswer::Looked(Box::new(Sight {
            local,
            gate: found,
            pull: seen.pull,
            checks: seen.checks,
        })))
    }

    /// What the gate lacks, after Ralph ran it too.
    async fn look_at_gate(&self, runner: &Runner<'_>, phase: Phase) -> Vec<GateFinding> {
        let told = |finding: &gate::Finding| GateFinding::new(finding.code(), finding, self.lang);
        let unconfirmed = |why: &dyn Say| GateFinding::new("gate_unconfirmed", why, self.lang);
        let found = self.findings(phase);
        let confirms = self.confirms.as_ref();
        let confirms = confirms.filter(|_| self.gate.trust != GateTrust::File);
        // Behind the wall the agent has no key: the gate file is made here.
        let signs = confirms.is_some_and(|with| with.wall.is_some()) && !found.is_empty();
        let is_made_here = |finding: &gate::Finding| signs && finding.check() == gate::Check::Gate;
        let Some(confirms) = confirms.filter(|_| found.iter().all(is_made_here)) else {
            return found.iter().map(told).collect();
        };
        let signed = match self.confirmed(runner, confirms).await {
            Ok(tree) if signs => crate::gate::sign(&self.layout, &self.gate, tree),
            Ok(_) => return Vec::new(),
            Err(why) => return vec![unconfirmed(&*why)],
        };
        match signed {
            Ok(()) => self.findings(phase).iter().map(told).collect(),
            Err(error) => vec![unconfirmed(&error)],
        }
    }

    fn findings(&self, phase: Phase) -> Vec<gate::Finding> {
        let is_first = phase == Phase::P0;
        let phase = match phase {
            Phase::P0 => gate::Phase::P0,
            _ => gate::Phase::P1,
        };
        let mut found = crate::gate::check(&self.layout, &self.gate, phase);
        if found.is_empty() && is_first {
            let root = self.layout.root();
            let base = self.base();
            found.extend(base.and_then(|base| crate::gate::lacks_work(root, &self.gate, &base)));
        }
        found
    }

    /// What the branch left, as far as it is known here.
    fn base(&self) -> Option<String> {
        let root = self.layout.root();
        let there = |name: &str| format!("refs/remotes/{}/{name}", self.remote);
        let known = [there("HEAD"), there("main"), there("master")];
        known.into_iter().find(|name| git::refs::exists(root, name))
    }

    /// Whoever had the gate run chose its variables, its programs and its
    /// checks; so Ralph runs it before it counts (C-03, C-06). Gives the tree
    /// that passed.
    async fn confirmed(
        &self,
        runner: &Runner<'_>,
        with: &Confirms,
    ) -> Result<String, Box<dyn Say>> {
        let stop = runner.stop.clone();
        let ran = crate::gate::confirm(&self.layout, &self.gate, &self.env_filter, with, stop);
        Err(match ran.await {
            Ok(Confirmed::Passed { tree }) => return Ok(tree),
            Err(error) => Box::new(error),
            Ok(Confirmed::Failed(failed)) => Box::new(Unconfirmed::of(&failed)),
        })
    }

    fn local(&self, branch: String, head: Option<String>, pull: Option<&Pull>) -> Local {
        let mut local = Local {
            branch,
            head,
            ..Local::default()
        };
        let Some(head) = local.head.as_deref() else {
            return local;
        };
        // Where Git does not answer, nothing is known to be committed.
        let unlike = self.uncommitted(head);
        let unlike = unlike.unwrap_or_else(|| vec!["(git does not tell)".into()]);
        local.uncommitted = unlike.len();
        local.unlike = unlike.into_iter().take(NAMED_FILES).collect();
        let open = pull.filter(|pull| pull.state == PullState::Open);
        if let Some(pull) = open.filter(|pull| pull.head != head) {
            let to_here = git::count_commits(self.layout.root(), &pull.head, head);
            let to_there = git::count_commits(self.layout.root(), head, &pull.head);
            // A commit that Git does not know here was pushed by others.
            local.ahead = to_here.unwrap_or(0);
            local.behind = to_there != Some(0);
        }
        local
    }

    /// What is not committed; the gate file is Ralph's own, and comes last.
    fn uncommitted(&self, commit: &str) -> Option<Vec<String>> {
        let mut files = git::uncommitted(self.layout.root(), commit)?;
        files.retain(|file| *file != self.gate.gate_file);
        Some(files)
    }

    async fn examine(&self, runner: &Runner<'_>, base: &str, failed: &[Check]) -> ForgeAnswer {
        let on_base = match self.host {
            Host::GitHub => github::failing(runner, base).await,
            Host::GitLab => gitlab::failing(runner, base).await,
        };
        let mut logged: Vec<&Check> = Vec::new();
        for check in failed.iter().filter(|check| check.run.is_some()) {
            if !logged.iter().any(|known| known.run == check.run) {
                logged.push(check);
            }
        }
        let mut log = String::new();
        for check in logged.iter().take(MOST_LOGS) {
            let text = match self.host {
                Host::GitHub => github::log(runner, check).await,
                Host::GitLab => gitlab::log(runner, check).await,
            };
            let mut kept = Excerpt::new(LOG_CHARACTERS / logged.len().clamp(1, MOST_LOGS));
            kept.push(text.unwrap_or_else(|trouble| trouble.words).as_bytes());
            log.push_str(&kept.text());
            log.push('\n');
        }
        // No log is no reason to know nothing.
        ForgeAnswer::Examined {
            log: log.trim().to_owned(),
            on_base: on_base.unwrap_or_default(),
        }
    }

    /// The branch that may be pushed or deleted now: never the default one, whatever
    /// HEAD has become since the run began.
    async fn branch_to_push(&self, runner: &Runner<'_>) -> Result<String, Trouble> {
        let refused = |words: String| Trouble {
            kind: TroubleKind::Refused,
            program: "git".into(),
            words,
        };
        let branch = git::head(self.layout.root())
            .branch
            .ok_or_else(|| refused("HEAD is on no branch".into()))?;
        if !is_allowed(&branch, &self.branches) {
            let patterns = self.branches.join(", ");
            let words = format!("{branch} is none of pr.branches ({patterns}): not pushed");
            return Err(refused(words));
        }
        let default = match self.host {
            Host::GitHub => github::default_branch(runner).await?,
            Host::GitLab => gitlab::default_branch(runner).await?,
        };
        if branch == default {
            let words = format!("{branch} is the default branch: not pushed");
            return Err(refused(words));
        }
        Ok(branch)
    }

    /// Exactly this commit, whatever the branch becomes meanwhile.
    fn push_args(&self, commit: &str, branch: &str) -> Vec<String> {
        let refs = format!("{commit}:refs/heads/{branch}");
        vec!["push".into(), self.remote.clone(), refs]
    }

    /// The commit that holds exactly what passed the gate (T-08).
    fn gated_commit(&self) -> Result<String, Trouble> {
        let refused = |words: String| Trouble {
            kind: TroubleKind::Refused,
            program: "git".into(),
            words,
        };
        let head = git::head(self.layout.root()).commit;
        let commit = head.ok_or_else(|| refused("there is no commit: not pushed".into()))?;
        let unlike = self.uncommitted(&commit);
        if unlike.is_none_or(|files| !files.is_empty()) {
            let words = "the commit is not what lies in the work tree: not pushed";
            return Err(refused(words.into()));
        }
        match self.findings(Phase::P1).into_iter().next() {
            Some(finding) => Err(refused(format!("{}: not pushed", finding.say(Lang::En)))),
            None => Ok(commit),
        }
    }

    async fn push(&self, runner: &Runner<'_>) -> Result<ForgeAnswer, Trouble> {
        let branch = self.branch_to_push(runner).await?;
        let commit = self.gated_commit()?;
        let done = runner.run("git", &self.push_args(&commit, &branch)).await?;
        if done.code != 0 {
            return Err(git_trouble(&done.stderr));
        }
        Ok(ForgeAnswer::Pushed { commit })
    }

    async fn create(&self, runner: &Runner<'_>) -> Result<ForgeAnswer, Trouble> {
        let branch = self.branch_to_push(runner).await?;
        let of = (branch.as_str(), &*self.gated_commit()?);
        let url = match self.host {
            Host::GitHub => github::create(self, runner, of).await?,
            Host::GitLab => gitlab::create(self, runner, of).await?,
        };
        Ok(ForgeAnswer::Created { url })
    }

    async fn rerun(&self, runner: &Runner<'_>, runs: &[u64]) -> Result<ForgeAnswer, Trouble> {
        for run in runs {
            match self.host {
                Host::GitHub => github::rerun(runner, *run).await?,
                Host::GitLab => gitlab::rerun(runner, *run).await?,
            }
        }
        Ok(ForgeAnswer::Rerun)
    }

    async fn merge(
        &self,
        runner: &Runner<'_>,
        number: u64,
        commit: &str,
    ) -> Result<ForgeAnswer, Trouble> {
        match self.host {
            Host::GitHub => github::merge(self, runner, number, commit).await?,
            Host::GitLab => gitlab::merge(self, runner, number, commit).await?,
        }
        Ok(ForgeAnswer::Merged)
    }

    async fn delete(&self, runner: &Runner<'_>, branch: &str) -> Result<ForgeAnswer, Trouble> {
        if self.branch_to_push(runner).await? != branch {
            return Err(Trouble {
                kind: TroubleKind::Refused,
                program: "git".into(),
                words: format!("{branch} is not checked out any more: not deleted"),
            });
        }
        match self.host {
            Host::GitHub => github::delete(runner, branch).await?,
            Host::GitLab => gitlab::delete(runner, branch).await?,
        }
        Ok(ForgeAnswer::Deleted)
    }

    /// Title and text of a pull request: what was asked for, in the person's
    /// own words, and what was checked.
    fn title_and_text(&self, branch: &str, commit: &str) -> (String, String) {
        let first = self.about.lines().next().unwrap_or_default().trim();
        let title = match first {
            "" => branch.to_owned(),
            first => first.chars().take(LONGEST_TITLE).collect(),
        };
        let text = format!("{}\n\n{}", self.about.trim(), self.gated_words(commit));
        (
            shortened(&title, LONGEST_TITLE),
            shortened(text.trim(), 4_000),
        )
    }
}

impl Forge {
    /// What a pull request says about the gate: what was run, by whom, and
    /// what was only read.
    fn gated_words(&self, commit: &str) -> String {
        let commit = commit.get(..SHORT_ID).unwrap_or(commit);
        let steps = crate::gate::steps(self.layout.root(), &self.gate);
        let run: Vec<String> = steps.iter().map(|step| step.name.clone()).collect();
        let who = match self.gate.trust {
            GateTrust::File => format!("{} says that these passed", self.gate.gate_file),
            _ => "Ralph ran these on the files of the commit, and they passed".into(),
        };
        format!(
            "Quality gate of {commit}: {who}: {}. {} decides PASS. Whatever is written there and in {} was read and not checked.",
            run.join(", "),
            self.gate.audit_report,
            self.gate.evidence_file,
        )
    }
}

/// Which forge a remote belongs to.
pub fn host_of(remote_url: &str) -> Host {
    let url = remote_url.to_ascii_lowercase();
    if url.contains("gitlab") {
        Host::GitLab
    } else {
        Host::GitHub
    }
}

/// Whether pull requests are made from a branch: one of these, and never the
/// default one (PRCI-11).
pub fn is_for_pull_requests(root: &Path, branch: &str, patterns: &[String]) -> bool {
    is_allowed(branch, patterns) && !git::is_default(root, branch)
}

/// Whether a branch is one of these; `*` stands for any characters.
fn is_allowed(branch: &str, patterns: &[String]) -> bool {
    patterns.iter().any(|pattern| matches(pattern, branch))
}

fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((before, after)) => name.strip_prefix(before).is_some_and(|rest| {
            // From every place behind it, the empty end included.
            let ends = rest.char_indices().map(|(at, _)| at).chain([rest.len()]);
            ends.into_iter()
                .any(|at| rest.get(at..).is_some_and(|rest| matches(after, rest)))
        }),
    }
}

fn git_trouble(words: &str) -> Trouble {
    let low = words.to_ascii_lowercase();
    let says = |any: &[&str]| any.iter().any(|word| low.contains(word));
    let kind = if says(&[
        "could not resolve host", "connection timed out", "connection refused",
        "operation timed out", "the remote end hung up",
    ]) {
        TroubleKind::Network
    } else if says(&[
        "authentication failed",
        "permission denied (publickey",
        "could not read username",
        "terminal prompts disabled",
    ]) {
        TroubleKind::Login
    } else if says(&["does not appear to be a git repository", "no such remote"]) {
        TroubleKind::NoRepository
    } else {
        TroubleKind::Refused
    };
    Trouble {
        kind,
        program: "git".into(),
        words: shortened(words.trim(), 600),
    }
}

/// A command as a person would type it.
fn line(program: &str, args: &[String]) -> String {
    let quoted = |arg: &String| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@{}".contains(c);
        if !arg.is_empty() && arg.chars().all(plain) {
            arg.clone()
        } else {
            format!("'{}'", arg.replace('\'', "'\\''"))
        }
    };
    let words: Vec<String> = args.iter().map(quoted).collect();
    format!("{program} {}", words.join(" "))
}

/// A pull request that a dry run does not know yet has no number.
fn named(number: u64) -> String {
    match number {
        0 => "N".into(),
        number => number.to_string(),
    }
}

fn strings(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// What the gate said of a step when Ralph ran it.
#[derive(Debug, Say)]
enum Unconfirmed {
    #[say(
        "{step}: `{command}` fails where Ralph runs it itself, in a clean room with the variables and programs of the person. It says:\n{output}"
    )]
    Now {
        step: String,
        command: String,
        output: String,
    },
    #[say(
        "{step}: `{command}` fails where Ralph runs it itself, in a clean room with the variables and programs of the person and with the checks as they were when the loop began; let these pass, and put new ones beside them. It says:\n{output}"
    )]
    WithChecksOfBefore {
        step: String,
        command: String,
        output: String,
    },
}

impl Unconfirmed {
    fn of(failed: &RunStep) -> Unconfirmed {
        let step = failed.step.name.clone();
        let command = failed.step.command.clone();
        let output = shortened(failed.result.output.trim(), LOG_CHARACTERS);
        match failed.original {
            true => Unconfirmed::WithChecksOfBefore {
                step,
                command,
                output,
            },
            false => Unconfirmed::Now {
                step,
                command,
                output,
            },
        }
    }
}

/// A time as forges write it, on the wall clock.
fn wall_ms(text: &str) -> Option<i64> {
    let at: jiff::Timestamp = text.parse().ok()?;
    Some(at.as_millisecond())
}

//! GitHub through `gh`, from 2.23 on: what is asked, and how it is read.

use ralph_core::forge::{Check, CheckState, Pull, PullState, Trouble, TroubleKind};
use serde_json::Value;

use super::client::{Client, address, text};
use super::runner::{Runner, Said};
use super::{Forge, Seen, named, strings, wall_ms};
use crate::excerpt::shortened;

pub(super) const GH: Client = Client {
    program: "gh",
    kind_of,
};

/// Every field is known to `gh` 2.23 already.
const FIELDS: &str =
    "number,url,state,isDraft,headRefOid,baseRefName,mergedAt,updatedAt,statusCheckRollup";

/// Which checks the base branch requires.
const REQUIRED: &str = "query=query($owner:String!,$repo:String!,$number:Int!){\
repository(owner:$owner,name:$repo){pullRequest(number:$number){commits(last:1){nodes{commit{\
statusCheckRollup{contexts(first:100){nodes{\
...on CheckRun{name,isRequired(pullRequestNumber:$number)},\
...on StatusContext{context,isRequired(pullRequestNumber:$number)}}}}}}}}}}";

pub(super) async fn look(
    forge: &Forge,
    runner: &Runner<'_>,
    branch: &str,
    number: Option<u64>,
) -> Result<Seen, Trouble> {
    let answer = match number {
        Some(number) => {
            let number = number.to_string();
            ask(runner, &["pr", "view", &number, "--json", FIELDS]).await?
        }
        None => {
            let args = [
                "pr", "list", "--head", branch, "--state", "open", "--json", FIELDS,
            ];
            let list = ask(runner, &args).await?;
            match list.get(0) {
                Some(first) => first.clone(),
                None => return Ok(Seen::default()),
            }
        }
    };
    let mut seen =
        read_pull(&answer).ok_or_else(|| GH.strange("a pull request without its fields"))?;
    if let (true, Some(pull)) = (forge.required_only, &seen.pull) {
        let required = required(runner, pull.number).await?;
        seen.checks.retain(|check| required.contains(&check.name));
    }
    Ok(seen)
}

async fn required(runner: &Runner<'_>, number: u64) -> Result<Vec<String>, Trouble> {
    let number = format!("number={number}");
    let (owner, repo) = ("owner={owner}", "repo={repo}");
    let args = [
        "api", "graphql", "-F", owner, "-F", repo, "-F", &number, "-f", REQUIRED,
    ];
    let answer = ask(runner, &args).await?;
    let nodes = answer.pointer(
        "/data/repository/pullRequest/commits/nodes/0/commit/statusCheckRollup/contexts/nodes",
    );
    let nodes = nodes.and_then(Value::as_array).cloned().unwrap_or_default();
    let is_required = |node: &&Value| node["isRequired"] == true;
    let name = |node: &Value| text(node, "name").or_else(|| text(node, "context"));
    Ok(nodes.iter().filter(is_required).filter_map(name).collect())
}

/// `None` where something that every pull request has is missing.
pub(super) fn read_pull(answer: &Value) -> Option<Seen> {
    let pull = Pull {
        number: answer["number"].as_u64().filter(|&number| number > 0)?,
        url: text(answer, "url").unwrap_or_default(),
        state: match answer["state"].as_str()? {
            "OPEN" => PullState::Open,
            "MERGED" => PullState::Merged,
            _ => PullState::Closed,
        },
        draft: answer["isDraft"] == true,
        head: text(answer, "headRefOid")?,
        base: text(answer, "baseRefName").unwrap_or_default(),
        merged_at: text(answer, "mergedAt"),
        updated_ms: text(answer, "updatedAt").and_then(|at| wall_ms(&at)),
    };
    let rollup = answer["statusCheckRollup"].as_array();
    let rollup = rollup.map(Vec::as_slice).unwrap_or_default();
    let counts = |node: &&Value| !is_replaced(node, rollup);
    let checks = rollup.iter().filter(counts).map(read_check).collect();
    Some(Seen {
        pull: Some(pull),
        checks,
    })
}

/// A run that was cancelled because a newer one of the same check began. A
/// failure counts beside a newer success: it may be that of another event.
fn is_replaced(run: &Value, all: &[Value]) -> bool {
    let began = |node: &Value| text(node, "startedAt").and_then(|at| wall_ms(&at));
    let is_same = |other: &&Value| {
        other["name"] == run["name"] && other["workflowName"] == run["workflowName"]
    };
    run["conclusion"] == "CANCELLED"
        && began(run).is_some_and(|then| {
            all.iter()
                .filter(is_same)
                .any(|other| began(other) > Some(then))
        })
}

/// A check run, or a status of the older kind.
fn read_check(node: &Value) -> Check {
    let url = text(node, "detailsUrl").or_else(|| text(node, "targetUrl"));
    let url = url.unwrap_or_default();
    let name = text(node, "name").or_else(|| text(node, "context"));
    let state = match node.get("state").and_then(Value::as_str) {
        Some(state) => state_of_status(state),
        None => state_of_run(
            node["status"].as_str().unwrap_or_default(),
            node["conclusion"].as_str().unwrap_or_default(),
        ),
    };
    Check {
        name: name.unwrap_or_default(),
        state,
        run: number_behind(&url, "/actions/runs/"),
        job: number_behind(&url, "/job/"),
    }
}

fn state_of_status(state: &str) -> CheckState {
    match state.to_ascii_uppercase().as_str() {
        "SUCCESS" => CheckState::Passed,
        "PENDING" | "EXPECTED" => CheckState::Pending,
        _ => CheckState::Failed,
    }
}

/// What nobody knows is not taken for a success.
fn state_of_run(status: &str, conclusion: &str) -> CheckState {
    if !status.eq_ignore_ascii_case("completed") {
        return CheckState::Pending;
    }
    match conclusion.to_ascii_uppercase().as_str() {
        "SUCCESS" => CheckState::Passed,
        "SKIPPED" | "NEUTRAL" => CheckState::Ignored,
        "CANCELLED" => CheckState::Cancelled,
        "TIMED_OUT" => CheckState::TimedOut,
        "STARTUP_FAILURE" | "ACTION_REQUIRED" | "STALE" => CheckState::NotStarted,
        _ => CheckState::Failed,
    }
}

/// Names of the checks that fail at the head of a branch.
pub(super) async fn failing(runner: &Runner<'_>, base: &str) -> Result<Vec<String>, Trouble> {
    let runs = format!("repos/{{owner}}/{{repo}}/commits/{base}/check-runs?per_page=100");
    let runs = ask(runner, &["api", &runs]).await?;
    let runs = runs["check_runs"].as_array().cloned().unwrap_or_default();
    let mut names: Vec<String> = runs
        .iter()
        .filter(|run| read_check(run).state == CheckState::Failed)
        .filter_map(|run| text(run, "name"))
        .collect();
    let statuses = format!("repos/{{owner}}/{{repo}}/commits/{base}/status?per_page=100");
    let statuses = ask(runner, &["api", &statuses]).await?;
    let statuses = statuses["statuses"].as_array().cloned().unwrap_or_default();
    let failed = statuses
        .iter()
        .filter(|status| read_check(status).state == CheckState::Failed);
    names.extend(failed.filter_map(|status| text(status, "context")));
    Ok(names)
}

/// The failing part of the log of a run; of the job alone while others of its
/// run go on.
pub(super) async fn log(runner: &Runner<'_>, check: &Check) -> Result<String, Trouble> {
    let run = check.run.unwrap_or_default().to_string();
    let args = strings(&["run", "view", &run, "--log-failed"]);
    let said = GH.run(runner, &args).await?;
    if said.code == 0 && !said.stdout.trim().is_empty() {
        return Ok(without_columns(&said.stdout));
    }
    let Some(job) = check.job else {
        return Err(GH.trouble(&said));
    };
    let path = format!("repos/{{owner}}/{{repo}}/actions/jobs/{job}/logs");
    let log = GH.done(runner, &strings(&["api", &path])).await?;
    Ok(without_columns(&log))
}

/// Without the job, the step and the time in front of each line: a prompt has
/// little room.
pub(super) fn without_columns(log: &str) -> String {
    let line = |line: &str| {
        let line = line.trim_start_matches('\u{feff}');
        let said = line.splitn(3, '\t').last().unwrap_or(line);
        let said = said.trim_start_matches('\u{feff}');
        match said.split_once(' ') {
            Some((time, rest)) if wall_ms(time).is_some() => rest.to_owned(),
            _ => said.to_owned(),
        }
    };
    log.lines().map(line).collect::<Vec<_>>().join("\n")
}

pub(super) async fn default_branch(runner: &Runner<'_>) -> Result<String, Trouble> {
    let answer = ask(runner, &["repo", "view", "--json", "defaultBranchRef"]).await?;
    text(&answer["defaultBranchRef"], "name")
        .ok_or_else(|| GH.strange("a repository without a default branch"))
}

pub(super) fn create_args(forge: &Forge, branch: &str, commit: &str) -> Vec<String> {
    let (title, body) = forge.title_and_text(branch, commit);
    let mut args = strings(&[
        "pr", "create", "--head", branch, "--title", &title, "--body", &body,
    ]);
    if forge.draft {
        args.push("--draft".into());
    }
    args
}

/// The address of the new pull request, or of the one that is there.
pub(super) async fn create(
    forge: &Forge,
    runner: &Runner<'_>,
    (branch, commit): (&str, &str),
) -> Result<String, Trouble> {
    let said = GH.run(runner, &create_args(forge, branch, commit)).await?;
    let is_there = said.stderr.contains("already exists");
    match address(&said.stdout).or_else(|| address(&said.stderr).filter(|_| is_there)) {
        Some(url) if said.code == 0 || is_there => Ok(url),
        _ => Err(GH.trouble(&said)),
    }
}

pub(super) async fn rerun(runner: &Runner<'_>, run: u64) -> Result<(), Trouble> {
    let args = strings(&["run", "rerun", &run.to_string(), "--failed"]);
    GH.done(runner, &args).await.map(drop)
}

pub(super) fn merge_args(forge: &Forge, number: u64, commit: &str) -> Vec<String> {
    let number = named(number);
    let method = format!("--{}", forge.method.into_str());
    let mut args = strings(&[
        "pr", "merge", &number, &method, "--match-head-commit", commit,
    ]);
    if forge.auto_merge {
        args.push("--auto".into());
    }
    args
}

pub(super) async fn merge(
    forge: &Forge,
    runner: &Runner<'_>,
    number: u64,
    commit: &str,
) -> Result<(), Trouble> {
    let args = merge_args(forge, number, commit);
    GH.done(runner, &args).await.map(drop)
}

/// `gh pr merge --delete-branch` would check out another branch here, so that
/// the remote branch is deleted on its own.
pub(super) fn delete_args(branch: &str) -> Vec<String> {
    let path = format!("repos/{{owner}}/{{repo}}/git/refs/heads/{branch}");
    strings(&["api", "--method", "DELETE", &path])
}

pub(super) async fn delete(runner: &Runner<'_>, branch: &str) -> Result<(), Trouble> {
    let said = GH.run(runner, &delete_args(branch)).await?;
    // The forge may have deleted it by itself.
    let is_gone = said.stderr.contains("Reference does not exist");
    match said.code {
        _ if is_gone => Ok(()),
        0 => Ok(()),
        _ => Err(GH.trouble(&said)),
    }
}

/// A command that answers with JSON.
async fn ask(runner: &Runner<'_>, args: &[&str]) -> Result<Value, Trouble> {
    GH.ask(runner, &strings(args)).await
}

/// Why `gh` failed, by its exit code and its words.
fn kind_of(said: &Said) -> (TroubleKind, String) {
    let words = match said.stderr.trim() {
        "" => said.stdout.trim(),
        words => words,
    };
    let low = words.to_ascii_lowercase();
    let says = |any: &[&str]| any.iter().any(|word| low.contains(word));
    let kind = if said.code == 4 || says(&["gh auth login", "bad credentials", "http 401"]) {
        TroubleKind::Login
    } else if says(&["rate limit", "http 429", "abuse detection"]) {
        TroubleKind::RateLimited
    } else if says(&[
        "error connecting", "dial tcp", "dial unix", "no such host", "i/o timeout",
        "connection refused", "connection reset", "tls handshake", "unexpected eof", "http 500",
        "http 502", "http 503", "http 504",
    ]) {
        TroubleKind::Network
    } else if says(&[
        "could not resolve to a repository",
        "none of the git remotes",
        "no git remotes",
        "not a git repository",
        "unable to determine base repository",
        "no default remote repository",
    ]) {
        TroubleKind::NoRepository
    } else if says(&[
        "could not resolve to a pullrequest",
        "no pull requests found",
    ]) {
        TroubleKind::NoPull
    } else {
        TroubleKind::Refused
    };
    (kind, shortened(words, 600))
}

fn number_behind(url: &str, mark: &str) -> Option<u64> {
    let (_, rest) = url.split_once(mark)?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

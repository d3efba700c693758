//! GitLab through `glab api`: what is asked, and how it is read. A pipeline is
//! what a run is elsewhere, and a merge request a pull request.

use ralph_core::forge::{Check, CheckState, MergeMethod, Pull, PullState, Trouble, TroubleKind};
use serde_json::Value;

use super::client::{Client, address, text};
use super::runner::{Runner, Said};
use super::{Forge, Seen, named, strings, wall_ms};
use crate::excerpt::shortened;

pub(super) const GLAB: Client = Client {
    program: "glab",
    kind_of,
};

pub(super) async fn look(
    forge: &Forge,
    runner: &Runner<'_>,
    branch: &str,
    number: Option<u64>,
) -> Result<Seen, Trouble> {
    let number = match number {
        Some(number) => number,
        None => {
            let branch = encoded(branch);
            let path =
                format!("projects/:fullpath/merge_requests?state=opened&source_branch={branch}");
            match ask(runner, &path).await?[0]["iid"].as_u64() {
                Some(number) => number,
                None => return Ok(Seen::default()),
            }
        }
    };
    let request = ask(
        runner,
        &format!("projects/:fullpath/merge_requests/{number}"),
    )
    .await?;
    let pull =
        read_request(&request).ok_or_else(|| GLAB.strange("a merge request without its fields"))?;
    let pipeline = &request["head_pipeline"];
    let of_head = pipeline["sha"].as_str() == Some(pull.head.as_str());
    let checks = match pipeline["id"].as_u64().filter(|_| of_head) {
        Some(id) => jobs(runner, id, forge.required_only).await?,
        None => Vec::new(),
    };
    Ok(Seen {
        pull: Some(pull),
        checks,
    })
}

fn read_request(request: &Value) -> Option<Pull> {
    Some(Pull {
        number: request["iid"].as_u64()?,
        url: text(request, "web_url").unwrap_or_default(),
        state: match request["state"].as_str()? {
            "opened" | "locked" => PullState::Open,
            "merged" => PullState::Merged,
            _ => PullState::Closed,
        },
        draft: request["draft"] == true,
        head: text(request, "sha")?,
        base: text(request, "target_branch").unwrap_or_default(),
        merged_at: text(request, "merged_at"),
        updated_ms: text(request, "updated_at").and_then(|at| wall_ms(&at)),
    })
}

/// A job that may fail is not required, and does not turn a pipeline red.
async fn jobs(runner: &Runner<'_>, id: u64, required_only: bool) -> Result<Vec<Check>, Trouble> {
    let path = format!("projects/:fullpath/pipelines/{id}/jobs?per_page=100");
    let jobs = ask(runner, &path).await?;
    let jobs = jobs.as_array().cloned().unwrap_or_default();
    let counts = |job: &&Value| !required_only || job["allow_failure"] != true;
    let check = |job: &Value| Check {
        name: text(job, "name").unwrap_or_default(),
        state: state_of(job),
        run: Some(id),
        job: job["id"].as_u64(),
    };
    Ok(jobs.iter().filter(counts).map(check).collect())
}

pub(super) fn state_of(job: &Value) -> CheckState {
    let may_fail = job["allow_failure"] == true;
    match job["status"].as_str().unwrap_or_default() {
        "success" => CheckState::Passed,
        "failed" | "canceled" | "canceling" if may_fail => CheckState::Ignored,
        "failed" if is_of_the_runner(job) => CheckState::NotStarted,
        "failed" => CheckState::Failed,
        "canceled" | "canceling" => CheckState::Cancelled,
        // A manual job waits for a person, not for time.
        "skipped" | "manual" => CheckState::Ignored,
        _ => CheckState::Pending,
    }
}

fn is_of_the_runner(job: &Value) -> bool {
    let reason = job["failure_reason"].as_str().unwrap_or_default();
    reason.contains("runner") || reason.contains("stuck") || reason.contains("scheduler")
}

pub(super) async fn failing(runner: &Runner<'_>, base: &str) -> Result<Vec<String>, Trouble> {
    let base = encoded(base);
    let path = format!("projects/:fullpath/pipelines?ref={base}&per_page=1");
    let Some(id) = ask(runner, &path).await?[0]["id"].as_u64() else {
        return Ok(Vec::new());
    };
    let failed = |check: &Check| check.state == CheckState::Failed;
    let checks = jobs(runner, id, false).await?;
    Ok(checks
        .into_iter()
        .filter(failed)
        .map(|check| check.name)
        .collect())
}

pub(super) async fn log(runner: &Runner<'_>, check: &Check) -> Result<String, Trouble> {
    let job = check.job.unwrap_or_default();
    let path = format!("projects/:fullpath/jobs/{job}/trace");
    GLAB.done(runner, &strings(&["api", &path])).await
}

pub(super) async fn default_branch(runner: &Runner<'_>) -> Result<String, Trouble> {
    let project = ask(runner, "projects/:fullpath").await?;
    text(&project, "default_branch")
        .ok_or_else(|| GLAB.strange("a project without a default branch"))
}

pub(super) fn create_args(forge: &Forge, branch: &str, commit: &str) -> Vec<String> {
    let (title, text) = forge.title_and_text(branch, commit);
    let draft = if forge.draft { "Draft: " } else { "" };
    let title = format!("{draft}{title}");
    strings(&[
        "mr", "create", "--source-branch", branch, "--title", &title, "--description", &text,
        "--yes",
    ])
}

pub(super) async fn create(
    forge: &Forge,
    runner: &Runner<'_>,
    (branch, commit): (&str, &str),
) -> Result<String, Trouble> {
    let said = GLAB
        .run(runner, &create_args(forge, branch, commit))
        .await?;
    // Which of the two it prints to depends on its version.
    let printed = format!("{} {}", said.stderr, said.stdout);
    let is_there = printed.contains("already exists");
    match said.code {
        0 => Ok(address(&printed).unwrap_or_default()),
        _ if is_there => Ok(address(&printed).unwrap_or_default()),
        _ => Err(GLAB.trouble(&said)),
    }
}

pub(super) async fn rerun(runner: &Runner<'_>, run: u64) -> Result<(), Trouble> {
    let path = format!("projects/:fullpath/pipelines/{run}/retry");
    let args = strings(&["api", "--method", "POST", &path]);
    GLAB.done(runner, &args).await.map(drop)
}

pub(super) fn merge_args(forge: &Forge, number: u64, commit: &str) -> Vec<String> {
    let path = format!("projects/:fullpath/merge_requests/{}/merge", named(number));
    let sha = format!("sha={commit}");
    let squash = format!("squash={}", forge.method == MergeMethod::Squash);
    let mut args = strings(&[
        "api", "--method", "PUT", &path, "--raw-field", &sha, "--raw-field", &squash,
    ]);
    if forge.auto_merge {
        args.extend(strings(&[
            "--raw-field",
            "merge_when_pipeline_succeeds=true",
        ]));
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
    GLAB.done(runner, &args).await.map(drop)
}

pub(super) fn delete_args(branch: &str) -> Vec<String> {
    let branch = encoded(branch);
    let path = format!("projects/:fullpath/repository/branches/{branch}");
    strings(&["api", "--method", "DELETE", &path])
}

pub(super) async fn delete(runner: &Runner<'_>, branch: &str) -> Result<(), Trouble> {
    match GLAB.done(runner, &delete_args(branch)).await {
        // The forge may have deleted it by itself.
        Err(trouble) if trouble.kind == TroubleKind::NoPull => Ok(()),
        done => done.map(drop),
    }
}

async fn ask(runner: &Runner<'_>, path: &str) -> Result<Value, Trouble> {
    GLAB.ask(runner, &strings(&["api", path])).await
}

/// Why `glab` failed, by its words.
fn kind_of(said: &Said) -> (TroubleKind, String) {
    let words = format!("{} {}", said.stderr.trim(), said.stdout.trim());
    let low = words.to_ascii_lowercase();
    let says = |any: &[&str]| any.iter().any(|word| low.contains(word));
    let kind = if says(&["glab auth login", "401", "unauthorized"]) {
        TroubleKind::Login
    } else if says(&["429", "rate limit", "too many requests"]) {
        TroubleKind::RateLimited
    } else if says(&[
        "dial tcp", "no such host", "connection refused", "502", "503", "504",
    ]) {
        TroubleKind::Network
    } else if says(&[
        "404 project not found", "no git remotes", "not a git repository",
    ]) {
        TroubleKind::NoRepository
    } else if says(&["404"]) {
        TroubleKind::NoPull
    } else {
        TroubleKind::Refused
    };
    (kind, shortened(words.trim(), 600))
}

/// A branch name as it stands in the query of an address.
fn encoded(name: &str) -> String {
    let byte = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
            char::from(byte).to_string()
        }
        other => format!("%{other:02X}"),
    };
    name.bytes().map(byte).collect()
}

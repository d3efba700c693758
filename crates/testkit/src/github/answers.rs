//! What is answered to which request.

use serde_json::{Value, json};

use super::zip;
use super::{CheckRun, PullRequest, World};
use crate::http::{Body, Incoming, Outgoing};

const OWNER: &str = "owner";
const REPO: &str = "repo";

pub(super) fn answer(world: &mut World, request: &Incoming) -> Outgoing {
    if let Some((status, body)) = world.faults.pop_front() {
        world.asked.push(format!("fault {status}"));
        return plain(status, body);
    }
    if request.target == "/graphql" {
        let asked: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        return json_answer(&graphql(world, &asked));
    }
    rest(world, request)
}

fn graphql(world: &mut World, asked: &Value) -> Value {
    let query = asked["query"].as_str().unwrap_or_default();
    let variables = &asked["variables"];
    let has = |word: &str| query.contains(word);
    if has("query PullRequestList") {
        world.asked.push("pr list".into());
        let branch = variables["headBranch"].as_str().unwrap_or_default();
        let found = open_of(world, branch);
        let nodes: Vec<Value> = found.iter().map(|pull| pull_json(world, pull)).collect();
        let list =
            json!({"totalCount": nodes.len(), "nodes": nodes, "pageInfo": {"hasNextPage": false}});
        return json!({"data": {"repository": {"pullRequests": list}}});
    }
    if has("isRequired") {
        world.asked.push("required".into());
        return required(world, variables["number"].as_u64());
    }
    if has("query PullRequestByNumber") {
        world.asked.push("pr view".into());
        return by_number(world, variables["pr_number"].as_u64());
    }
    if has("query PullRequestForBranch") {
        let branch = variables["headRefName"].as_str().unwrap_or_default();
        let found = open_of(world, branch);
        let nodes: Vec<Value> = found.iter().map(|pull| pull_json(world, pull)).collect();
        let branch = json!({"name": "main"});
        return json!({"data": {"repository": {"pullRequests": {"nodes": nodes}, "defaultBranchRef": branch}}});
    }
    if has("createPullRequest") {
        return create(world, &variables["input"]);
    }
    if has("mergePullRequest") || has("enablePullRequestAutoMerge") {
        return merge(
            world,
            &variables["input"],
            has("enablePullRequestAutoMerge"),
        );
    }
    if has("__type") {
        return json!({"data": {"PullRequest": {"fields": [{"name": "number"}]}}});
    }
    if has("query RepositoryInfo") {
        return json!({"data": {"repository": repository()}});
    }
    if has("viewer") {
        return json!({"data": {"viewer": {"login": "somebody"}}});
    }
    world.asked.push(format!("unknown query: {query}"));
    json!({"errors": [{"message": format!("the script does not know {query}")}]})
}

fn repository() -> Value {
    json!({
        "id": "R_1",
        "name": REPO,
        "owner": {"id": "U_1", "login": OWNER},
        "hasIssuesEnabled": true,
        "description": "",
        "viewerPermission": "WRITE",
        "defaultBranchRef": {"name": "main"},
        "parent": null,
        "mergeCommitAllowed": true,
        "rebaseMergeAllowed": true,
        "squashMergeAllowed": true,
    })
}

fn open_of(world: &World, branch: &str) -> Vec<PullRequest> {
    let is_open = |pull: &&PullRequest| pull.branch == branch && pull.state == "OPEN";
    world.pulls.iter().filter(is_open).cloned().collect()
}

fn by_number(world: &mut World, number: Option<u64>) -> Value {
    merge_by_itself(world);
    let found = world.pulls.iter().find(|pull| Some(pull.number) == number);
    match found.cloned() {
        Some(pull) => {
            json!({"data": {"repository": {"pullRequest": pull_json(world, &pull)}}})
        }
        None => {
            let number = number.unwrap_or_default();
            let message =
                format!("Could not resolve to a PullRequest with the number of {number}.");
            let path = ["repository", "pullRequest"];
            json!({
                "data": {"repository": {"pullRequest": null}},
                "errors": [{"type": "NOT_FOUND", "path": path, "message": message}],
            })
        }
    }
}

/// What waits for the automatic merge gets there, look by look.
fn merge_by_itself(world: &mut World) {
    for pull in world.pulls.iter_mut().filter(|pull| pull.auto) {
        if world.blocked == 0 {
            pull.state = "MERGED".into();
        }
        world.blocked = world.blocked.saturating_sub(1);
    }
}

/// The head as it was pushed.
fn head_of(world: &World, pull: &PullRequest) -> String {
    let file = world.bare.join("refs/heads").join(&pull.branch);
    match std::fs::read_to_string(file) {
        Ok(commit) => commit.trim().to_owned(),
        Err(_) => pull.head.clone(),
    }
}

/// The checks that this look sees; the last entry of a script stays.
fn look(world: &mut World, commit: &str) -> Vec<CheckRun> {
    let script = match world.of_commit.get_mut(commit) {
        Some(script) => script,
        None => &mut world.looks,
    };
    if script.len() > 1 {
        script.pop_front().unwrap_or_default()
    } else {
        script.front().cloned().unwrap_or_default()
    }
}

fn pull_json(world: &mut World, pull: &PullRequest) -> Value {
    let head = head_of(world, pull);
    let nodes: Vec<Value> = look(world, &head).iter().map(context).collect();
    let contexts = json!({"nodes": nodes, "pageInfo": {"hasNextPage": false}});
    let rollup =
        json!({"nodes": [{"commit": {"oid": head, "statusCheckRollup": {"contexts": contexts}}}]});
    let merged_at = (pull.state == "MERGED").then_some("2026-01-02T00:00:00Z");
    json!({
        "id": format!("PR_{}", pull.number),
        "number": pull.number,
        "url": url(pull.number),
        "title": pull.title,
        "state": pull.state,
        "isDraft": pull.draft,
        "headRefOid": head,
        "headRefName": pull.branch,
        "baseRefName": "main",
        "mergedAt": merged_at,
        "updatedAt": pull.updated_at,
        "mergeStateStatus": if world.blocked > 0 { "BLOCKED" } else { "CLEAN" },
        "isCrossRepository": false,
        "headRepositoryOwner": {"id": "U_1", "login": OWNER},
        "commits": rollup,
        "statusCheckRollup": rollup,
    })
}

fn url(number: u64) -> String {
    format!("https://github.com/{OWNER}/{REPO}/pull/{number}")
}

/// Conclusions stand for completed runs, everything else for their status;
/// `STATUS_…` is a status of the older kind.
fn context(check: &CheckRun) -> Value {
    if let Some(state) = check.result.strip_prefix("STATUS_") {
        return json!({"__typename": "StatusContext", "context": check.name, "state": state, "targetUrl": ""});
    }
    let (status, conclusion) = status_of(check);
    json!({
        "__typename": "CheckRun",
        "name": check.name,
        "status": status,
        "conclusion": conclusion,
        "startedAt": "2026-01-01T00:00:00Z",
        "completedAt": "2026-01-01T00:01:00Z",
        "detailsUrl": format!(
            "https://github.com/{OWNER}/{REPO}/actions/runs/{}/job/{}", check.run, check.job
        ),
        "checkSuite": {"workflowRun": {"workflow": {"name": "CI"}}},
    })
}

fn status_of(check: &CheckRun) -> (&str, &str) {
    match check.result {
        "QUEUED" | "IN_PROGRESS" | "WAITING" | "PENDING" => (check.result, ""),
        conclusion => ("COMPLETED", conclusion),
    }
}

fn required(world: &mut World, number: Option<u64>) -> Value {
    let found = world.pulls.iter().find(|pull| Some(pull.number) == number);
    let head = found.map(|pull| head_of(world, pull)).unwrap_or_default();
    let script = world.of_commit.get(&head).unwrap_or(&world.looks);
    let checks = script.front().cloned().unwrap_or_default();
    let nodes: Vec<Value> = checks
        .iter()
        .map(|check| json!({"name": check.name, "isRequired": check.required}))
        .collect();
    let commit = json!({"statusCheckRollup": {"contexts": {"nodes": nodes}}});
    json!({"data": {"repository": {"pullRequest": {"commits": {"nodes": [{"commit": commit}]}}}}})
}

fn create(world: &mut World, input: &Value) -> Value {
    let text = |key: &str| input[key].as_str().unwrap_or_default().to_owned();
    let number = world
        .pulls
        .iter()
        .map(|pull| pull.number)
        .max()
        .unwrap_or(122)
        + 1;
    let draft = input["draft"] == true;
    let (branch, title) = (text("headRefName"), text("title"));
    world.asked.push(format!(
        "create {branch}{}",
        if draft { " draft" } else { "" }
    ));
    world.pulls.push(PullRequest {
        draft,
        title,
        body: text("body"),
        ..PullRequest::open(number, &branch)
    });
    let pull = json!({"id": format!("PR_{number}"), "url": url(number)});
    json!({"data": {"createPullRequest": {"pullRequest": pull}}})
}

fn merge(world: &mut World, input: &Value, auto: bool) -> Value {
    let method = input["mergeMethod"]
        .as_str()
        .unwrap_or_default()
        .to_lowercase();
    let bound = if input["expectedHeadOid"].is_string() {
        " bound"
    } else {
        ""
    };
    let how = if auto { " auto" } else { "" };
    world.asked.push(format!("merge {method}{bound}{how}"));
    if let Some(words) = &world.refuse_merge {
        return json!({"errors": [{"message": words}]});
    }
    let id = input["pullRequestId"].as_str().unwrap_or_default();
    for pull in &mut world.pulls {
        if format!("PR_{}", pull.number) == id {
            match auto {
                true => pull.auto = true,
                false => pull.state = "MERGED".into(),
            }
        }
    }
    let done = json!({"clientMutationId": ""});
    match auto {
        true => json!({"data": {"enablePullRequestAutoMerge": done}}),
        false => json!({"data": {"mergePullRequest": done}}),
    }
}

fn rest(world: &mut World, request: &Incoming) -> Outgoing {
    let path = request.target.split('?').next().unwrap_or_default();
    let base = format!("/repos/{OWNER}/{REPO}/");
    let path = path.strip_prefix(&base).unwrap_or(path);
    let words: Vec<&str> = path.split('/').collect();
    match (request.method.as_str(), words.as_slice()) {
        ("GET", ["actions", "runs", run]) => json_answer(&run_json(number(run))),
        ("GET", ["actions", "runs", run, "jobs"]) => {
            json_answer(&json!({"total_count": 1, "jobs": [job_json(number(run))]}))
        }
        ("GET", ["actions", "workflows", _]) => json_answer(&json!({"id": 1, "name": "CI"})),
        ("GET", ["actions", "runs", run, "logs"]) => {
            let run = number(run);
            world.asked.push(format!("logs {run}"));
            match world.logs.get(&run) {
                Some(log) => Outgoing {
                    status: 200,
                    headers: Vec::new(),
                    body: Body::Bytes(zip::of("build/1_Run tests.txt", log.as_bytes())),
                    cut: false,
                },
                None => not_found(),
            }
        }
        ("GET", ["actions", "jobs", job, "logs"]) => {
            world.asked.push(format!("job log {job}"));
            match world.logs.get(&(number(job) / 10)) {
                Some(log) => plain(200, log.clone()),
                None => not_found(),
            }
        }
        ("POST", ["actions", "runs", run, "rerun-failed-jobs"]) => {
            world.asked.push(format!("rerun {run}"));
            if let Some(looks) = world.after_rerun.take() {
                world.of_commit.clear();
                world.looks = looks;
            }
            Outgoing {
                status: 201,
                ..json_answer(&json!({}))
            }
        }
        ("GET", ["commits", _, "check-runs"]) => {
            let runs: Vec<Value> = world.on_base.iter().map(rest_check).collect();
            json_answer(&json!({"total_count": runs.len(), "check_runs": runs}))
        }
        ("GET", ["commits", _, "status"]) => json_answer(&json!({"statuses": []})),
        ("DELETE", ["git", "refs", "heads", branch @ ..]) => {
            world.asked.push(format!("delete {path}"));
            if world.refuse_delete {
                let message = json!({"message": "Cannot delete a protected branch"});
                return plain(422, message.to_string());
            }
            if !delete(world, &branch.join("/")) {
                let message = json!({"message": "Reference does not exist"});
                return plain(422, message.to_string());
            }
            Outgoing {
                status: 204,
                ..json_answer(&json!({}))
            }
        }
        ("GET", [""]) => json_answer(&json!({})),
        (method, _) => {
            world.asked.push(format!("{method} {}", request.target));
            not_found()
        }
    }
}

/// Whether the branch was there. What was merged keeps its head.
fn delete(world: &mut World, branch: &str) -> bool {
    let pulls = world.pulls.clone();
    for pull in pulls.iter().filter(|pull| pull.branch == branch) {
        let head = head_of(world, pull);
        for kept in world.pulls.iter_mut().filter(|p| p.number == pull.number) {
            kept.head.clone_from(&head);
        }
    }
    std::fs::remove_file(world.bare.join("refs/heads").join(branch)).is_ok()
}

/// The REST API writes in small letters.
fn rest_check(check: &CheckRun) -> Value {
    let (status, conclusion) = status_of(check);
    json!({
        "name": check.name,
        "status": status.to_lowercase(),
        "conclusion": conclusion.to_lowercase(),
    })
}

fn run_json(run: u64) -> Value {
    let api = format!("https://api.github.com/repos/{OWNER}/{REPO}/actions/runs/{run}");
    json!({
        "id": run,
        "name": "CI",
        "status": "completed",
        "conclusion": "failure",
        "event": "pull_request",
        "workflow_id": 1,
        "run_attempt": 1,
        "created_at": "2026-01-01T00:00:00Z",
        "updated_at": "2026-01-01T00:01:00Z",
        "run_started_at": "2026-01-01T00:00:00Z",
        "head_branch": "feature/x",
        "head_sha": "0",
        "jobs_url": format!("{api}/jobs"),
        "logs_url": format!("{api}/logs"),
        "html_url": format!("https://github.com/{OWNER}/{REPO}/actions/runs/{run}"),
        "head_repository": {"owner": {"login": OWNER}, "name": REPO},
        "repository": {"owner": {"login": OWNER}, "name": REPO},
    })
}

fn job_json(run: u64) -> Value {
    json!({
        "id": run * 10,
        "run_id": run,
        "name": "build",
        "status": "completed",
        "conclusion": "failure",
        "started_at": "2026-01-01T00:00:00Z",
        "completed_at": "2026-01-01T00:01:00Z",
        "steps": [{
            "name": "Run tests", "status": "completed", "conclusion": "failure", "number": 1,
        }],
    })
}

fn number(text: &str) -> u64 {
    text.parse().unwrap_or_default()
}

fn json_answer(value: &Value) -> Outgoing {
    plain(200, value.to_string())
}

fn not_found() -> Outgoing {
    plain(404, json!({"message": "Not Found"}).to_string())
}

fn plain(status: u16, body: String) -> Outgoing {
    Outgoing {
        status,
        headers: Vec::new(),
        body: Body::Whole(body),
        cut: false,
    }
}

use ralph_core::forge::{Check, CheckState, PullState, TroubleKind};
use serde_json::{Value, json};

use super::runner::Said;
use super::*;

fn said(code: i32, stderr: &str) -> Said {
    Said {
        code,
        stdout: String::new(),
        stderr: stderr.into(),
    }
}

#[test]
fn branches_are_matched_by_patterns() {
    let check = |branch: &str, patterns: &[&str], want: bool| {
        let patterns = strings(patterns);
        assert_eq!(is_allowed(branch, &patterns), want, "{branch} {patterns:?}");
    };
    check("feature/x", &["cp-*", "feature/*"], true);
    check("cp-12", &["cp-*", "feature/*"], true);
    check("main", &["cp-*", "feature/*"], false);
    check("my-feature/x", &["feature/*"], false);
    check("release", &["release"], true);
    check("release-2", &["release"], false);
    check("a/b/c-ci", &["a/*-ci"], true);
    check("分支-1", &["分*-1"], true);
    check("main", &[], false);
}

#[test]
fn remotes_name_their_forge() {
    for (url, want) in [
        ("https://github.com/o/r.git", Host::GitHub),
        ("git@github.example.com:o/r.git", Host::GitHub),
        ("git@gitlab.com:g/p.git", Host::GitLab),
        ("https://gitlab.example.com/g/p", Host::GitLab),
        ("", Host::GitHub),
    ] {
        assert_eq!(host_of(url), want, "{url}");
    }
}

/// What `gh` says when it fails, in 2.23 and later.
#[test]
fn the_words_of_gh_are_understood() {
    use TroubleKind::*;
    for (code, words, want) in [
        (
            4,
            "To get started with GitHub CLI, please run:  gh auth login",
            Login,
        ),
        (
            1,
            "HTTP 401: Bad credentials (https://api.github.com/graphql)",
            Login,
        ),
        (
            1,
            "GraphQL: API rate limit exceeded for user ID 1.",
            RateLimited,
        ),
        (
            1,
            "HTTP 403: You have exceeded a secondary rate limit",
            RateLimited,
        ),
        (
            1,
            "error connecting to api.github.com\ncheck your internet connection",
            Network,
        ),
        (
            1,
            "HTTP 502: Bad Gateway (https://api.github.com/graphql)",
            Network,
        ),
        (
            1,
            "Post \"https://api.github.com/graphql\": dial tcp: lookup: no such host",
            Network,
        ),
        (
            1,
            "none of the git remotes configured for this repository point to a known GitHub host",
            NoRepository,
        ),
        (1, "no git remotes found", NoRepository),
        (
            1,
            "GraphQL: Could not resolve to a Repository with the name 'o/r'. (repository)",
            NoRepository,
        ),
        (
            1,
            "GraphQL: Could not resolve to a PullRequest with the number of 9. (repository.pullRequest)",
            NoPull,
        ),
        (1, "no pull requests found for branch \"x\"", NoPull),
        (
            1,
            "X Pull request #7 is not mergeable: the base branch policy prohibits the merge.",
            Refused,
        ),
        (
            1,
            "GraphQL: Pull Request is still a draft (mergePullRequest)",
            Refused,
        ),
    ] {
        assert_eq!(github::GH.trouble(&said(code, words)).kind, want, "{words}");
    }
}

#[test]
fn the_words_of_git_are_understood() {
    use TroubleKind::*;
    for (words, want) in [
        ("! [rejected] x -> x (non-fast-forward)", Refused),
        (
            "remote: error: GH006: Protected branch update failed",
            Refused,
        ),
        (
            "fatal: unable to access: Could not resolve host: github.com",
            Network,
        ),
        (
            "fatal: could not read Username: terminal prompts disabled",
            Login,
        ),
        ("git@github.com: Permission denied (publickey).", Login),
        (
            "fatal: 'origin' does not appear to be a git repository",
            NoRepository,
        ),
    ] {
        assert_eq!(git_trouble(words).kind, want, "{words}");
    }
}

/// As newer ones print it: more fields, other links, states of the older kind
/// beside check runs.
#[test]
fn a_pull_request_is_read_as_any_gh_prints_it() {
    let printed = json!({
        "number": 7, "url": "u", "state": "OPEN", "isDraft": true, "headRefOid": "abc",
        "baseRefName": "main", "mergedAt": null, "updatedAt": "2026-01-01T00:00:00Z",
        "somethingNew": {"a": 1},
        "statusCheckRollup": [
            run("ok", "COMPLETED", "SUCCESS"),
            run("bad", "COMPLETED", "FAILURE"),
            run("late", "COMPLETED", "TIMED_OUT"),
            run("off", "COMPLETED", "SKIPPED"),
            run("so-so", "COMPLETED", "NEUTRAL"),
            run("gone", "COMPLETED", "CANCELLED"),
            run("asks", "COMPLETED", "ACTION_REQUIRED"),
            run("broken", "COMPLETED", "STARTUP_FAILURE"),
            run("new word", "COMPLETED", "SOMETHING_NEW"),
            run("runs", "IN_PROGRESS", ""),
            run("waits", "WAITING", ""),
            {"__typename": "StatusContext", "context": "old ok", "state": "SUCCESS"},
            {"__typename": "StatusContext", "context": "old bad", "state": "ERROR"},
            {"__typename": "StatusContext", "context": "old runs", "state": "EXPECTED"},
        ],
    });
    let seen = github::read_pull(&printed).unwrap();
    let pull = seen.pull.unwrap();
    assert_eq!(
        (pull.number, pull.state, pull.draft),
        (7, PullState::Open, true)
    );
    assert_eq!(pull.merged_at, None);
    let states: Vec<CheckState> = seen.checks.iter().map(|check| check.state).collect();
    use CheckState::*;
    assert_eq!(
        states,
        [
            Passed, Failed, TimedOut, Ignored, Ignored, Cancelled, NotStarted, NotStarted, Failed,
            Pending, Pending, Passed, Failed, Pending
        ]
    );
    assert_eq!(seen.checks[0].run, Some(123));
    assert_eq!(seen.checks[0].job, Some(456));
    assert_eq!(seen.checks[11].run, None);
    // `gh` 2.23 prints null where there is no check, and zeros for nothing.
    let none =
        json!({"number": 7, "state": "MERGED", "headRefOid": "abc", "statusCheckRollup": null});
    assert_eq!(
        github::read_pull(&none).unwrap().checks,
        Vec::<Check>::new()
    );
    assert_eq!(github::read_pull(&json!({"number": 0, "state": ""})), None);
}

/// A workflow that cancels its older run counts by the newer one (PRCI-03).
#[test]
fn a_run_that_a_newer_one_cancelled_does_not_count() {
    let at = |minute: u32, workflow: &str, conclusion: &str| {
        let mut run = run("build", "COMPLETED", conclusion);
        run["workflowName"] = json!(workflow);
        run["startedAt"] = json!(format!("2026-01-01T00:{minute:02}:00Z"));
        run
    };
    let check = |rollup: [Value; 2], want: &[CheckState]| {
        let printed = json!({"number": 7, "state": "OPEN", "headRefOid": "abc",
            "statusCheckRollup": rollup});
        let seen = github::read_pull(&printed).unwrap();
        let states: Vec<CheckState> = seen.checks.iter().map(|check| check.state).collect();
        assert_eq!(states, want, "{printed}");
    };
    use CheckState::*;
    check(
        [at(1, "ci", "CANCELLED"), at(5, "ci", "SUCCESS")],
        &[Passed],
    );
    check(
        [at(5, "ci", "SUCCESS"), at(1, "ci", "CANCELLED")],
        &[Passed],
    );
    check(
        [at(1, "ci", "CANCELLED"), at(5, "ci", "FAILURE")],
        &[Failed],
    );
    // By a person, afterwards.
    check(
        [at(5, "ci", "CANCELLED"), at(1, "ci", "SUCCESS")],
        &[Cancelled, Passed],
    );
    check(
        [at(1, "ci", "CANCELLED"), at(5, "other", "SUCCESS")],
        &[Cancelled, Passed],
    );
    check(
        [at(1, "ci", "FAILURE"), at(5, "ci", "SUCCESS")],
        &[Failed, Passed],
    );
}

fn run(name: &str, status: &str, conclusion: &str) -> Value {
    json!({
        "__typename": "CheckRun", "name": name, "status": status, "conclusion": conclusion,
        "workflowName": "CI",
        "detailsUrl": "https://github.com/o/r/actions/runs/123/job/456?pr=7",
    })
}

#[test]
fn logs_lose_their_columns() {
    let log = "build\tRun tests\t\u{feff}2026-01-01T00:00:00.1234567Z error: it broke\nbuild\tRun tests\tno time here\nplain\n";
    let want = "error: it broke\nno time here\nplain";
    assert_eq!(github::without_columns(log), want);
}

#[test]
fn jobs_of_gitlab_are_read() {
    use CheckState::*;
    for (status, may_fail, reason, want) in [
        ("success", false, "", Passed),
        ("failed", false, "script_failure", Failed),
        ("failed", true, "script_failure", Ignored),
        ("failed", false, "runner_system_failure", NotStarted),
        ("canceled", false, "", Cancelled),
        ("skipped", false, "", Ignored),
        ("manual", false, "", Ignored),
        ("running", false, "", Pending),
        ("created", false, "", Pending),
    ] {
        let job = json!({"status": status, "allow_failure": may_fail, "failure_reason": reason});
        assert_eq!(gitlab::state_of(&job), want, "{job}");
    }
    for (words, want) in [
        ("glab: 401 Unauthorized (HTTP 401)", TroubleKind::Login),
        (
            "glab: 404 Project Not Found (HTTP 404)",
            TroubleKind::NoRepository,
        ),
        ("glab: 404 Not found (HTTP 404)", TroubleKind::NoPull),
        ("glab: 429 Too Many Requests", TroubleKind::RateLimited),
        (
            "glab: 405 Method Not Allowed (HTTP 405)",
            TroubleKind::Refused,
        ),
    ] {
        assert_eq!(gitlab::GLAB.trouble(&said(1, words)).kind, want, "{words}");
    }
}

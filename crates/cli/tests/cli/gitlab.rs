//! A project on GitLab. Its client is a stand-in that answers as `glab` would:
//! the real one has no socket that a test could answer on.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use ralph_testkit::github::World;
use serde_json::Value;

use super::env::{Done, make_executable, named};
use super::forge::phase_of;
use super::hub::{BRANCH, Hub, story};
use super::p0::{AUDIT_PASS, CODE, COMMIT, CREATED, EVIDENCE, GATE, project};
use super::p1::FIX;

/// Answers from the files beside it: `mr` and `state` of the merge request,
/// `jobs` look by look, `retried` for a pipeline that was run again, `trace`.
const GLAB: &str = r#"#!/bin/sh
here=$(dirname "$0")
echo "$*" >> "$here/asked"
if [ -e "$here/logged-out" ]; then
  echo "401 Unauthorized: run glab auth login" >&2
  exit 1
fi
head=$(cat "$here/../origin.git/refs/heads/feature/login" 2>/dev/null || cat "$here/head")
case "$*" in
"api projects/:fullpath") echo '{"default_branch":"main"}' ;;
"mr create"*) touch "$here/mr"; echo 'https://gitlab.com/group/project/-/merge_requests/5' ;;
"api --method PUT "*merge_requests/5/merge*)
  echo "$head" > "$here/head"; echo merged > "$here/state"; echo '{}' ;;
"api --method POST "*pipelines/9/retry) cp "$here/retried" "$here/jobs"; echo '{}' ;;
"api --method DELETE "*repository/branches/feature%2Flogin)
  rm "$here/../origin.git/refs/heads/feature/login" ;;
*source_branch=*) if [ -e "$here/mr" ]; then echo '[{"iid":5}]'; else echo '[]'; fi ;;
*merge_requests/5)
  state=$(cat "$here/state" 2>/dev/null || echo opened)
  at=null; [ "$state" = opened ] || at='"2026-01-02T00:00:00Z"'
  echo "{\"iid\":5,\"web_url\":\"u\",\"state\":\"$state\",\"merged_at\":$at,\"sha\":\"$head\",\"target_branch\":\"main\",\"head_pipeline\":{\"id\":9,\"sha\":\"$head\"}}" ;;
*pipelines/9/jobs*)
  head -n 1 "$here/jobs"
  if [ "$(wc -l < "$here/jobs")" -gt 1 ]; then sed -i 1d "$here/jobs"; fi ;;
*pipelines?ref=*) echo '[]' ;;
*jobs/1/trace) cat "$here/trace" ;;
*) echo "404 not found: $*" >&2; exit 1 ;;
esac
"#;

const GREEN: &str = r#"[{"id":2,"name":"test","status":"success"}]"#;
const RED: &str = r#"[{"id":1,"name":"test","status":"failed"}]"#;
const RUNS: &str = r#"[{"id":2,"name":"test","status":"running"}]"#;

struct Lab {
    hub: Hub,
    dir: PathBuf,
}

impl Lab {
    fn new() -> Lab {
        let hub = project(World::default());
        let url = "https://gitlab.com/group/project.git";
        hub.env.git(&["remote", "set-url", "origin", url]);
        let dir = hub.env.outside("glab-bin");
        fs::create_dir_all(&dir).unwrap();
        let glab = dir.join("glab");
        fs::write(&glab, GLAB).unwrap();
        make_executable(&glab);
        let lab = Lab { hub, dir };
        lab.put("jobs", "[]\n");
        lab
    }

    /// With an open merge request whose gate is green, and what its jobs say.
    fn with_request(jobs: &[&str]) -> Lab {
        let lab = Lab::new();
        lab.hub.works(&[CODE, AUDIT_PASS, EVIDENCE, GATE, COMMIT]);
        lab.hub.push();
        lab.put("mr", "");
        lab.put("jobs", &format!("{}\n", jobs.join("\n")));
        lab
    }

    fn put(&self, name: &str, text: &str) {
        fs::write(self.dir.join(name), text).unwrap();
    }

    fn asked(&self) -> String {
        fs::read_to_string(self.dir.join("asked")).unwrap_or_default()
    }

    fn command(&self, args: &[&str]) -> Command {
        let path = std::env::var("PATH").unwrap();
        let mut command = self.hub.command(args);
        command.env("PATH", format!("{}:{path}", self.dir.display()));
        command
    }

    fn run(&self, turns: &[&str], more: &[&str]) -> (Done, Vec<Value>) {
        let agent = self.hub.agent(turns);
        let args = [&["run", "--json", "--agent-cmd", &agent], more].concat();
        let done = Done::of(&self.command(&args).output().unwrap());
        let events = done.events();
        (done, events)
    }
}

#[test]
fn the_phase_is_told_over_all_jobs() {
    let lab = Lab::with_request(&[GREEN]);
    let may_fail = r#"[{"id":1,"name":"test","status":"success"},{"id":2,"name":"lint","status":"failed","allow_failure":true}]"#;
    for (jobs, want) in [
        (GREEN, "p2"),
        (RED, "p1"),
        (may_fail, "p2"),
        (RUNS, "pending"),
    ] {
        lab.put("jobs", &format!("{jobs}\n"));
        let done = Done::of(&lab.command(&["phase"]).output().unwrap());
        assert_eq!(phase_of(&done), want, "{jobs}");
    }
}

#[test]
fn a_merge_request_is_created_where_that_was_asked_for() {
    let lab = Lab::new();
    let everything = [CODE, AUDIT_PASS, EVIDENCE, GATE, COMMIT].join("\n");
    let args = [
        "--preset", "dev-p0", "Add the login", "--create-pr", "--draft",
    ];
    let (done, events) = lab.run(&[&everything], &args);
    assert_eq!(story(&events), CREATED, "{}", done.stderr);
    let created = "mr create --source-branch feature/login --title Draft: Add the login";
    assert!(lab.asked().contains(created), "{}", lab.asked());
    assert_eq!(lab.hub.pushed(), Some(lab.hub.head()));
}

#[test]
fn red_is_repaired_with_its_log_and_green_is_merged() {
    let lab = Lab::with_request(&[RED, RUNS, RUNS, GREEN]);
    lab.put("trace", "login_works: assertion failed\n");
    let fix = [FIX, GATE, COMMIT].join("\n");
    lab.hub.env.write(
        ".ralph/config.toml",
        &format!(
            "{}[pr]\ndelete_branch = true\n",
            lab.hub.env.read(".ralph/config.toml")
        ),
    );
    let args = ["--preset", "dev-p1", "--merge", "squash"];
    let (done, events) = lab.run(&[&fix], &args);
    assert_eq!(
        story(&events),
        [
            "pr_found", "ci_failed regression", "turn 1", "pushed", "ci_poll none", "ci_rebound",
            "ci_poll pending", "ci_passed", "pr_merged ralph", "branch_deleted",
            "loop_end complete",
        ],
        "{}\n{}",
        done.stderr,
        lab.asked()
    );
    let prompt = lab.hub.prompt(1);
    assert!(prompt.contains("login_works: assertion failed"), "{prompt}");
    let head = lab.hub.head();
    let merged = format!("merge_requests/5/merge --raw-field sha={head} --raw-field squash=true");
    assert!(lab.asked().contains(&merged), "{}", lab.asked());
    assert_eq!(lab.hub.pushed(), None);
    assert_eq!(
        lab.hub.env.git(&["branch", "--show-current"]).trim(),
        BRANCH
    );
}

#[test]
fn what_looks_flaky_is_run_again_once() {
    let lab = Lab::with_request(&[RED]);
    lab.put("trace", "Timeout of 2000ms exceeded\n");
    lab.put("retried", &format!("{RUNS}\n{GREEN}\n"));
    let (done, events) = lab.run(&["echo never"], &["--preset", "dev-p1"]);
    assert_eq!(
        story(&events),
        [
            "pr_found", "ci_failed flaky", "ci_rerun", "ci_poll none", "ci_poll pending",
            "ci_flaky", "ci_passed", "loop_end complete",
        ],
        "{}",
        done.stderr
    );
    assert_eq!(lab.asked().matches("retry").count(), 1);
}

#[test]
fn without_glab_or_login_no_agent_is_called() {
    let lab = Lab::with_request(&[GREEN]);
    lab.put("logged-out", "");
    let (done, events) = lab.run(&["echo never"], &["--preset", "dev-p1"]);
    assert_eq!(done.code, 3);
    assert_eq!(
        story(&events),
        ["forge_trouble login", "loop_end paused forge_login"]
    );
    let trouble = named(&events, "forge_trouble")[0];
    assert_eq!(trouble["program"], "glab");
    fs::remove_file(lab.dir.join("glab")).unwrap();
    let (done, events) = lab.run(&["echo never"], &["--preset", "dev-p1"]);
    assert_eq!(done.code, 3);
    assert_eq!(
        story(&events),
        ["forge_trouble missing", "loop_end paused forge_program"]
    );
}

#[test]
fn a_dry_run_shows_what_would_go_outward() {
    let lab = Lab::with_request(&[GREEN]);
    let agent = lab.hub.agent(&["echo never"]);
    let args = ["run", "--dry-run", "--preset", "dev-p1", "--merge", "merge"];
    let args = [&args[..], &["--agent-cmd", &agent]].concat();
    let done = Done::of(&lab.command(&args).output().unwrap());
    for want in ["glab api --method POST", "merge_requests/N/merge"] {
        assert!(done.stdout.contains(want), "{}", done.stdout);
    }
    assert_eq!(lab.asked(), "");
}

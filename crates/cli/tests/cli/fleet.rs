//! Jobs on several workers, with a real NATS server (issue 26).

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::env::{Done, TestEnv};
use crate::lanes::{Lanes, landed, list};
use crate::limits::{client, limited};
use crate::live::{Live, eventually, wait_until};
use crate::web::Page;

/// A server of its own on loopback, and a project with one task.
pub struct Fleet {
    pub env: TestEnv,
    listen: String,
    server: Live,
}

fn server_of(env: &TestEnv, listen: &str) -> Live {
    let mut command = Command::new("nats-server");
    command
        .arg("-c")
        .arg(env.outside("server/nats-server.conf"));
    let server = Live::start(env, "server", command);
    wait_until("the server listens", || TcpStream::connect(listen).is_ok());
    server
}

fn is_old() -> bool {
    let output = Command::new("nats-server").arg("--version").output();
    String::from_utf8_lossy(&output.unwrap().stdout).contains("v2.9.")
}

impl Fleet {
    fn new() -> Fleet {
        Fleet::in_project(TestEnv::with_tasks(1))
    }

    pub fn in_project(env: TestEnv) -> Fleet {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let listen = listener.local_addr().unwrap().to_string();
        drop(listener);
        let dir = env.outside("server");
        let mut init = vec!["fleet", "init", dir.to_str().unwrap(), "--listen", &listen];
        if is_old() {
            init.push("--old-server");
        }
        let done = Done::of(&env.untrusted(&init).output().unwrap());
        assert_eq!(done.code, 0, "{}", done.stderr);
        let server = server_of(&env, &listen);
        let fleet = Fleet {
            env,
            listen,
            server,
        };
        let made = fleet.ask("operator", &["init", "--buckets"]);
        assert_eq!(made.code, 0, "{}", made.stderr);
        fleet
    }

    fn key(&self, role: &str) -> PathBuf {
        self.env.outside(&format!("server/{role}.nk"))
    }

    pub fn command(&self, role: &str, args: &[&str]) -> Command {
        let args = [&["fleet"], args].concat();
        let mut command = self.env.untrusted(&args);
        command
            .env("RALPH_FLEET_SERVER", format!("nats://{}", self.listen))
            .env("RALPH_FLEET_KEY", self.key(role));
        command
    }

    /// A run of ours, whose lanes work at this fleet.
    fn with_lanes(&self, args: &[&str]) -> Command {
        let mut command = self.env.command(args);
        command
            .env("RALPH_FLEET_SERVER", format!("nats://{}", self.listen))
            .env("RALPH_FLEET_KEY", self.key("submitter"));
        command
    }

    pub fn ask(&self, role: &str, args: &[&str]) -> Done {
        Done::of(&self.command(role, args).output().unwrap())
    }

    pub fn submit(&self, args: &[&str]) -> String {
        let done = self.ask("submitter", &[&["submit", "--json"], args].concat());
        assert_eq!(done.code, 0, "{}", done.stderr);
        done.events()[0]["job"].as_str().unwrap().to_owned()
    }

    pub fn show(&self, job: &str) -> Value {
        let done = self.ask("submitter", &["show", "--json", job]);
        assert_eq!(done.code, 0, "{}", done.stderr);
        serde_json::from_str(&done.stdout).unwrap()
    }

    /// A worker with a lease of a second and this agent.
    pub fn worker(&self, name: &str, agent: &str, more: &[&str]) -> Live {
        Live::start(&self.env, name, self.worker_command(name, agent, more))
    }

    fn worker_command(&self, name: &str, agent: &str, more: &[&str]) -> Command {
        let head = ["worker", "--json", "--name", name, "--lease", "1"];
        let tail = ["--", "--agent-cmd", agent];
        self.command("worker", &[&head, more, &tail].concat())
    }

    /// An agent that does the task at once.
    fn quick(&self) -> String {
        self.env
            .agent(&[json!({"write": {"work.txt": "quick\n"}, "tick": ["T001"],
            "say": "<promise>COMPLETE</promise>"})])
    }

    /// An agent that says where it is, and waits for a file.
    fn waiting(&self) -> String {
        let script = format!(
            "echo $$ > {pid}.new && mv {pid}.new {pid}\n\
             while [ ! -f {go} ]; do sleep 0.02; done\n\
             echo late > work.txt\n\
             sed 's/\\[ \\]/[x]/' tasks.md > ticked && mv ticked tasks.md\n\
             echo '<promise>COMPLETE</promise>'\n",
            pid = self.env.outside("agent.pid").display(),
            go = self.env.outside("go").display(),
        );
        let path = self.env.outside("waiting.sh");
        fs::write(&path, script).unwrap();
        format!("sh {}", path.display())
    }

    fn agent_pid(&self) -> String {
        let file = self.env.outside("agent.pid");
        let pid = eventually("the agent works", || fs::read_to_string(&file).ok());
        pid.trim().to_owned()
    }

    fn let_go(&self) {
        fs::write(self.env.outside("go"), "").unwrap();
    }

    pub fn until_done(&self, job: &str) -> Value {
        eventually("the job is done", || {
            let shown = self.show(job);
            (shown["phase"] == "done").then_some(shown)
        })
    }
}

fn until_said(worker: &Live, event: &str) -> Value {
    eventually(event, || {
        let said = worker.stdout();
        let lines = said
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok());
        let mut events = lines.filter(|line: &Value| line["event"] == event);
        events.next()
    })
}

#[test]
#[cfg_attr(not(has_nats), ignore = "needs nats-server")]
fn a_job_is_worked_on_elsewhere_and_comes_back_as_a_branch() {
    let fleet = Fleet::new();
    let job = fleet.submit(&["--tasks", "tasks.md"]);
    // Once more is the same job.
    assert_eq!(fleet.submit(&["--tasks", "tasks.md"]), job);
    let other = fleet.ask("submitter", &["submit", "--id", &job, "something else"]);
    assert_eq!(other.code, 1, "{}", other.stdout);

    let worker = fleet.worker("w1", &fleet.quick(), &["--until-empty"]);
    assert_eq!(worker.finish().code, 0);
    let shown = fleet.until_done(&job);
    assert_eq!(shown["result"]["outcome"], "complete");
    assert_eq!(shown["attempt"], 1);
    assert!(shown["report"]["report"].as_str().unwrap().contains("T001"));

    let logs = fleet.ask("submitter", &["logs", "--json", "-f", &job]);
    let last = logs.events().pop().unwrap();
    assert_eq!(last["event"]["outcome"], "complete", "{}", logs.stdout);

    let before = fleet.env.git(&["rev-parse", "HEAD"]);
    let fetched = fleet.ask("submitter", &["fetch", &job]);
    assert_eq!(fetched.code, 0, "{}", fetched.stderr);
    let work = fleet.env.git(&["show", &format!("ralph/{job}:work.txt")]);
    assert_eq!(work, "quick\n");
    assert_eq!(fleet.env.git(&["rev-parse", "HEAD"]), before);
    assert!(!fleet.env.path("work.txt").exists());
}

#[test]
#[cfg_attr(not(has_nats), ignore = "needs nats-server")]
fn a_worker_that_was_thought_dead_writes_nothing() {
    let fleet = Fleet::new();
    let job = fleet.submit(&["--tasks", "tasks.md"]);
    let frozen = fleet.worker("w1", &fleet.waiting(), &[]);
    let agent = fleet.agent_pid();
    frozen.signal("STOP");
    // Its lease runs out, and another one does the job.
    let second = fleet.worker("w2", &fleet.quick(), &["--until-empty"]);
    assert_eq!(second.finish().code, 0);
    let done = fleet.until_done(&job);
    assert_eq!(done["attempt"], 2);
    // Its run ends well meanwhile: it has a result, and comes too late.
    fleet.let_go();
    wait_until("the late run ends", || !crate::live::is_alive(&agent));
    frozen.signal("CONT");
    assert_eq!(until_said(&frozen, "lost")["job"], json!(job));
    assert_eq!(fleet.show(&job), done);
    frozen.signal("TERM");
    assert_eq!(frozen.finish().code, 0);
    let fetched = fleet.ask("submitter", &["fetch", &job]);
    assert_eq!(fetched.code, 0, "{}", fetched.stderr);
    let work = fleet.env.git(&["show", &format!("ralph/{job}:work.txt")]);
    assert_eq!(work, "quick\n");
}

#[test]
#[cfg_attr(not(has_nats), ignore = "needs nats-server")]
fn a_server_that_is_killed_and_comes_back_loses_nothing() {
    let mut fleet = Fleet::new();
    let first = fleet.submit(&["--tasks", "tasks.md"]);
    let worker = fleet.worker("w1", &fleet.waiting(), &[]);
    fleet.agent_pid();
    let second = fleet.submit(&["--id", "second", "--tasks", "tasks.md"]);
    fleet.server.kill();
    // The run ends while there is nobody to tell.
    fleet.let_go();
    fleet.server = server_of(&fleet.env, &fleet.listen);
    for job in [&first, &second] {
        let done = fleet.until_done(job);
        assert_eq!(done["attempt"], 1, "{done}");
        assert_eq!(done["result"]["outcome"], "complete");
    }
    worker.signal("TERM");
    assert_eq!(worker.finish().code, 0);
}

#[test]
#[cfg_attr(not(has_nats), ignore = "needs nats-server")]
fn the_limit_of_an_account_holds_all_its_workers() {
    let fleet = Fleet::new();
    client(&fleet.env, "claude", &[json!({})]);
    let now = std::time::SystemTime::now();
    let now = now.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    crate::limits::stream(&fleet.env, "claude", 1, &limited(now + 3600), 1);
    let bin = fleet.env.outside("bin");
    let path = std::env::var("PATH").unwrap_or_default();
    fleet.submit(&["--tasks", "tasks.md"]);
    let shared = ["--account", "team"];
    let head = ["worker", "--json", "--name", "w1"];
    let mut command = fleet.command(
        "worker",
        &[&head[..], &shared, &["--", "--agent", "claude"]].concat(),
    );
    command.env("PATH", format!("{}:{path}", bin.display()));
    let limited = Live::start(&fleet.env, "w1", command);
    until_said(&limited, "took");
    // One that was never limited itself hears of it.
    let held = fleet.worker("w2", &fleet.quick(), &shared);
    until_said(&held, "held");
    until_said(&limited, "held");
    let job = fleet.submit(&["--id", "second", "--tasks", "tasks.md"]);
    let other = fleet.worker("w3", &fleet.quick(), &["--account", "other"]);
    let done = fleet.until_done(&job);
    assert!(
        done["worker"].as_str().unwrap().starts_with("w3-"),
        "{done}"
    );
    drop((limited, held, other));
}

#[test]
#[cfg_attr(not(has_nats), ignore = "needs nats-server")]
fn each_key_does_its_own_part_and_secrets_stay_at_the_worker() {
    let fleet = Fleet::new();
    let refused = fleet.ask("worker", &["submit", "do something"]);
    assert_eq!(refused.code, 1, "a worker submitted: {}", refused.stdout);
    let refused = fleet.ask("submitter", &["init", "--buckets"]);
    assert_eq!(refused.code, 1, "a submitter made buckets");

    let secret = "s3cr3t-of-the-worker";
    let job = fleet.submit(&["--tasks", "tasks.md", "--secrets", "DEPLOY_TOKEN"]);
    let agent = "sh -c 'echo \"${#DEPLOY_TOKEN} ${OTHER_TOKEN:-none} ${RALPH_FLEET_KEY:-none}\" > work.txt; \
                 sed \"s/\\[ \\]/[x]/\" tasks.md > t && mv t tasks.md; echo \"<promise>COMPLETE</promise>\"'";
    let mut command = fleet.worker_command(
        "w1",
        agent,
        &["--until-empty", "--secrets", "DEPLOY_TOKEN,OTHER_TOKEN"],
    );
    command
        .env("DEPLOY_TOKEN", secret)
        .env("OTHER_TOKEN", "another-one");
    let done = Live::start(&fleet.env, "w1", command).finish();
    assert_eq!(done.code, 0, "{}", done.stderr);
    fleet.until_done(&job);
    assert_eq!(fleet.ask("submitter", &["fetch", &job]).code, 0);
    let work = fleet.env.git(&["show", &format!("ralph/{job}:work.txt")]);
    assert_eq!(work, format!("{} none none\n", secret.len()));
    for file in files(&fleet.env.outside("server")) {
        let bytes = fs::read(&file).unwrap();
        let holds = bytes
            .windows(secret.len())
            .any(|part| part == secret.as_bytes());
        assert!(!holds, "the secret lies in {}", file.display());
    }
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(dir).unwrap().flatten() {
        match entry.path() {
            path if path.is_dir() => all.extend(files(&path)),
            path => all.push(path),
        }
    }
    all
}

#[test]
#[cfg_attr(not(has_nats), ignore = "needs nats-server")]
fn what_a_worker_does_not_trust_is_left_for_others() {
    let env = TestEnv::with_tasks(1);
    let ran = env.outside("ran");
    let check = format!("[verify]\ncommands = [\"touch {}\"]\n", ran.display());
    env.write(".ralph/config.toml", &check);
    env.git(&["add", "-A"]);
    env.git(&[
        "-c", "user.name=T", "-c", "user.email=t@localhost", "commit", "-q", "-m", "Check",
    ]);
    let fleet = Fleet::in_project(env);
    let job = fleet.submit(&["--tasks", "tasks.md"]);
    let careful = fleet.worker("careful", &fleet.quick(), &[]);
    until_said(&careful, "released");
    let shown = fleet.show(&job);
    assert_eq!(
        (&shown["phase"], &shown["attempt"]),
        (&json!("queued"), &json!(0))
    );
    let declined = shown["declined"].as_object().unwrap().values().next();
    assert!(
        declined.unwrap().as_str().unwrap().contains("ralph trust"),
        "{shown}"
    );
    assert!(!ran.exists());
    // Its operator says yes: here, to exactly this.
    let trusted = fleet.env.untrusted(&["trust", "--yes"]).output().unwrap();
    assert!(trusted.status.success());
    let trusting = fleet.worker("trusting", &fleet.quick(), &["--until-empty"]);
    assert_eq!(trusting.finish().code, 0);
    assert_eq!(fleet.until_done(&job)["result"]["outcome"], "complete");
    assert!(ran.exists());
}

#[test]
#[cfg_attr(not(has_nats), ignore = "needs nats-server")]
fn a_cancelled_job_ends_its_run_and_a_leaving_worker_gives_its_job_back() {
    let fleet = Fleet::new();
    let job = fleet.submit(&["--tasks", "tasks.md"]);
    let worker = fleet.worker("w1", &fleet.waiting(), &[]);
    let agent = fleet.agent_pid();
    let cancelled = fleet.ask("submitter", &["cancel", &job]);
    assert_eq!(cancelled.code, 0, "{}", cancelled.stderr);
    until_said(&worker, "lost");
    wait_until("the agent is gone", || !crate::live::is_alive(&agent));
    assert_eq!(fleet.ask("submitter", &["cancel", &job]).code, 0);

    fs::remove_file(fleet.env.outside("agent.pid")).unwrap();
    let second = fleet.submit(&["--id", "second", "--tasks", "tasks.md"]);
    fleet.agent_pid();
    worker.signal("TERM");
    assert_eq!(worker.finish().code, 0);
    let shown = fleet.show(&second);
    assert_eq!(
        (&shown["phase"], &shown["attempt"]),
        (&json!("queued"), &json!(0))
    );
}

#[test]
#[cfg(target_os = "linux")]
#[cfg_attr(not(has_nats), ignore = "needs nats-server")]
fn a_killed_worker_that_comes_back_ends_the_agent_that_it_left() {
    let fleet = Fleet::new();
    let job = fleet.submit(&["--tasks", "tasks.md"]);
    let mut killed = fleet.worker("w1", &fleet.waiting(), &[]);
    let agent = fleet.agent_pid();
    killed.kill();
    assert!(crate::live::is_alive(&agent), "there is nothing to end");
    let again = fleet.worker("w1", &fleet.quick(), &["--until-empty"]);
    wait_until("the agent is gone", || !crate::live::is_alive(&agent));
    assert_eq!(again.finish().code, 0);
    let done = fleet.until_done(&job);
    assert_eq!(done["attempt"], 2);
    assert!(done["result"]["commit"].is_string(), "{done}");
}

/// What comes over the wire is not obeyed.
#[test]
#[cfg_attr(not(has_nats), ignore = "needs nats-server")]
fn a_job_that_names_a_folder_of_the_worker_is_not_done() {
    let fleet = Fleet::new();
    let secret = fleet.env.root.display().to_string();
    let head = fleet.env.git(&["rev-parse", "HEAD"]);
    let job = fleet.submit(&["--repo", &secret, "--commit", head.trim(), "read it"]);
    let worker = fleet.worker("w1", &fleet.quick(), &[]);
    until_said(&worker, "released");
    let shown = fleet.show(&job);
    let trouble = shown["trouble"].as_str().unwrap_or_default();
    assert!(trouble.contains("not allowed"), "{shown}");
    let bad = fleet.submit(&[
        "--id",
        "bad",
        "--repo",
        "https://localhost/x",
        "--commit=--upload-pack=x",
        "read it",
    ]);
    eventually("it is declined", || {
        let shown = fleet.show(&bad);
        shown["declined"]
            .as_object()
            .filter(|all| !all.is_empty())
            .cloned()
    });
}

/// Two jobs on two workers on one page: seen live, and spoken to from there and
/// from the command line.
#[test]
#[cfg_attr(not(has_nats), ignore = "needs nats-server")]
fn all_runs_stand_on_one_page_and_are_steered_from_there() {
    let fleet = Fleet::new();
    // Goes on turn by turn, until it reads the word.
    let script = "if grep -q 'use the small one'; then
  echo small > work.txt
  sed 's/\\[ \\]/[x]/' tasks.md > ticked && mv ticked tasks.md
  echo '<promise>COMPLETE</promise>'
else
  sleep 0.3; echo '<promise>CONTINUE</promise>'
fi
";
    let path = fleet.env.outside("until-told.sh");
    fs::write(&path, script).unwrap();
    let agent = format!("sh {}", path.display());
    let jobs = ["one", "two"];
    for job in jobs {
        fleet.submit(&["--id", job, "--tasks", "tasks.md"]);
    }
    let workers = ["w1", "w2"].map(|name| {
        let mut command = fleet.worker_command(name, &agent, &[]);
        command
            .env("RALPH_LIMITS_STALLED", "0")
            .env("RALPH_LIMITS_MAX_ITERATIONS", "5000");
        Live::start(&fleet.env, name, command)
    });
    let mut web = fleet.env.untrusted(&["web", "--fleet", "--port", "0"]);
    web.env("RALPH_FLEET_SERVER", format!("nats://{}", fleet.listen))
        .env("RALPH_FLEET_KEY", fleet.key("submitter"));
    let page = Page::of(Live::start(&fleet.env, "web", web));
    let run_of = |job: &str| {
        let runs = page.get("/api/runs").json();
        let runs = runs["runs"].as_array().unwrap().clone();
        let run = runs.into_iter().find(|run| run["job"] == job)?;
        run["pid"].is_u64().then_some(run)
    };
    let [one, _two] = jobs.map(|job| eventually("it is shown as alive", || run_of(job)));
    let run = one["id"].as_str().unwrap();
    let turns = |run: &str| {
        let whole = page.get(&format!("/api/runs/{run}")).json();
        whole["head"]["iteration"].as_u64().unwrap_or(0)
    };
    wait_until("turns are seen", || turns(run) > 1);
    // From the page to the one, from the command line to the other.
    let told = page.post(
        &format!("/api/runs/{run}/steer"),
        &json!({"line": "keep use the small one"}),
    );
    assert_eq!(told.status, 200, "{}", told.body);
    assert_eq!(fleet.until_done("one")["result"]["outcome"], "complete");
    assert_eq!(fleet.show("two")["phase"], "leased", "it heard nothing");
    for (words, wrong) in [
        (vec!["resume"], "can't be said"),
        (vec!["extend", "0"], "can't be said"),
    ] {
        let refused = fleet.ask("submitter", &[&["tell", "two"], &words[..]].concat());
        assert_eq!(refused.code, 1, "{words:?}");
        assert!(refused.stderr.contains(wrong), "{}", refused.stderr);
    }
    let words = ["tell", "two", "hint", "use the small one"];
    let told = fleet.ask("submitter", &words);
    assert_eq!(told.code, 0, "{}{}", told.stdout, told.stderr);
    assert_eq!(fleet.until_done("two")["result"]["outcome"], "complete");
    wait_until("the page shows the ends", || {
        let runs = page.get("/api/runs").json();
        let runs = runs["runs"].as_array().unwrap();
        runs.len() == 2 && runs.iter().all(|run| run["outcome"] == "complete")
    });
    // Who is not there any more is not spoken to, and nothing else is done.
    let late = fleet.ask("submitter", &words);
    assert_eq!(late.code, 1);
    assert!(late.stderr.contains("nobody works"), "{}", late.stderr);
    let again = page.post(&format!("/api/runs/{run}/resume"), &json!({}));
    assert_eq!(again.status, 409, "{}", again.body);
    let log = fleet.ask("submitter", &["logs", "two"]).stdout;
    assert!(log.contains("told") && !log.contains("journal="), "{log}");
    drop(workers);
}

/// Workers that are asked to go finish what they have.
#[test]
#[cfg_attr(not(has_nats), ignore = "needs nats-server")]
fn a_worker_that_drains_finishes_and_goes() {
    let fleet = Fleet::new();
    let first = fleet.submit(&["--id", "first", "--tasks", "tasks.md"]);
    let worker = fleet.worker("w1", &fleet.waiting(), &[]);
    fleet.agent_pid();
    let second = fleet.submit(&["--id", "second", "--tasks", "tasks.md"]);
    let drained = fleet.ask("submitter", &["drain"]);
    assert_eq!(drained.code, 0, "{}", drained.stderr);
    fleet.let_go();
    assert_eq!(worker.finish().code, 0);
    assert_eq!(fleet.show(&first)["phase"], "done");
    assert_eq!(fleet.show(&second)["phase"], "queued");
}

/// Three tasks on two other machines, with the same queue as lanes here: what
/// is green alone and red together goes back with the reason, and lands then.
#[test]
#[cfg_attr(not(has_nats), ignore = "needs nats-server")]
fn lanes_work_elsewhere_and_land_by_the_same_queue() {
    let lanes = Lanes::new(&list(3));
    lanes.env.write(
        "check.sh",
        "for t in tests/*.sh; do sh \"$t\" || exit 1; done\n[ ! -f both ] || [ \"$(wc -l < both)\" = 1 ]\n",
    );
    lanes.commit("a check");
    let fleet = Fleet::in_project(lanes.env);
    let env = &fleet.env;
    let agent = r#"t=$RALPH_TASK_ID; prompt=$(cat)
echo "$t $(grep -c '^- \[ \]' tasks.md)" >> "$AGENTS/elsewhere"
echo "work on $t" > "$t.txt"; mkdir -p tests; echo "test -f $t.txt" > "tests/$t.sh"
case "$t" in T001|T002) [ -f both ] || echo "$t" > both ;; esac
[ "$t" = T003 ] || sleep 1
case "$prompt" in *both*) echo "$t" > both ;; esac
sed -i "s/- \[ \] $t/- [x] $t/" tasks.md
echo '<promise>DONE</promise>'
"#;
    let script = env.outside("elsewhere.sh");
    fs::write(&script, agent).unwrap();
    let agent = format!("sh {}", script.display());
    let agents = env.outside("agents");
    let workers = ["w1", "w2"].map(|name| {
        let mut command = fleet.worker_command(name, &agent, &["--capacity", "2"]);
        command.env("AGENTS", &agents);
        Live::start(env, name, command)
    });
    let args = [
        "run", "--json", "-j", "2", "--fleet", "--agent-cmd", "false",
    ];
    let check = ["--verify", "sh check.sh", "--max-iterations", "30"];
    let mut command = fleet.with_lanes(&[&args[..], &check].concat());
    let done = Done::of(&command.output().unwrap());
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    assert_eq!(landed(&done.events()), ["T001", "T002", "T003"]);
    let elsewhere = fs::read_to_string(agents.join("elsewhere")).unwrap();
    assert!(elsewhere.lines().count() >= 3, "{elsewhere}");
    // Each job is about its own task.
    assert!(
        elsewhere.lines().all(|line| line.ends_with(" 1")),
        "{elsewhere}"
    );
    let names = env.git(&[
        "for-each-ref",
        "--format=%(refname:short)",
        "refs/heads/ralph",
    ]);
    let branch = names.lines().next().unwrap();
    let tasks = env.git(&["show", &format!("{branch}:tasks.md")]);
    assert_eq!(tasks.matches("- [x]").count(), 3, "{tasks}");
    for n in 1..=3 {
        let file = env.git(&["show", &format!("{branch}:T{n:03}.txt")]);
        assert!(file.contains("work on"), "{file}");
    }
    let jobs = fleet.ask("submitter", &["list", "--json"]);
    let jobs: Value = serde_json::from_str(&jobs.stdout).unwrap();
    let over = |job: &Value| job["phase"] == "done" && job["worker"].is_string();
    assert!(jobs.as_array().unwrap().iter().all(over), "{jobs}");
    drop(workers);
}

/// The run that ordered the work dies and is taken up: the job went on
/// meanwhile, and its result is the one that lands.
#[test]
#[cfg_attr(not(has_nats), ignore = "needs nats-server")]
fn a_run_with_lanes_elsewhere_that_is_killed_finds_its_jobs_again() {
    let fleet = Fleet::in_project(Lanes::new(&list(1)).env);
    let env = &fleet.env;
    let worker = fleet.worker("w1", &fleet.waiting(), &[]);
    let args = ["run", "-j", "2", "--fleet", "--agent-cmd", "false"];
    let mut run = Live::start(env, "run", fleet.with_lanes(&args));
    let first = fleet.agent_pid();
    run.kill();
    fleet.let_go();
    let done = Done::of(
        &fleet
            .with_lanes(&["resume", "--yes", "--json"])
            .output()
            .unwrap(),
    );
    assert_eq!(
        landed(&done.events()),
        ["T001"],
        "{}{}",
        done.stdout,
        done.stderr
    );
    assert_eq!(fleet.agent_pid(), first, "nobody worked on it twice");
    drop(worker);
}

/// A stop takes the job back; the same work is ordered anew when it goes on.
#[test]
#[cfg_attr(not(has_nats), ignore = "needs nats-server")]
fn a_run_with_lanes_elsewhere_is_stopped_and_goes_on() {
    let fleet = Fleet::in_project(Lanes::new(&list(1)).env);
    let env = &fleet.env;
    let worker = fleet.worker("w1", &fleet.waiting(), &[]);
    let args = ["run", "-j", "2", "--fleet", "--agent-cmd", "false"];
    let run = Live::start(env, "run", fleet.with_lanes(&args));
    let first = fleet.agent_pid();
    run.signal("TERM");
    run.finish();
    let over = |job: &Value| job["phase"] == "cancelled";
    let jobs = fleet.ask("submitter", &["list", "--json"]);
    let jobs: Value = serde_json::from_str(&jobs.stdout).unwrap();
    assert!(jobs.as_array().unwrap().iter().all(over), "{jobs}");
    fleet.let_go();
    let resume = &["resume", "--yes", "--json"];
    let done = Done::of(&fleet.with_lanes(resume).output().unwrap());
    let said = format!("{}{}", done.stdout, done.stderr);
    assert_eq!(landed(&done.events()), ["T001"], "{said}");
    assert_ne!(fleet.agent_pid(), first, "{said}");
    drop(worker);
}

/// The address that people are told to ask is where the server listens.
#[test]
fn a_server_listens_where_it_is_going_to_be_asked_for() {
    let env = TestEnv::new();
    for (n, (server, want)) in [
        ("nats://127.0.0.1:14222", "127.0.0.1:14222"),
        ("nats://localhost", "127.0.0.1:4222"),
        ("10.0.0.5:4333", "10.0.0.5:4333"),
    ]
    .into_iter()
    .enumerate()
    {
        let dir = env.outside(&format!("server-{n}"));
        let args = ["fleet", "init", dir.to_str().unwrap(), "--server", server];
        let done = Done::of(&env.untrusted(&args).output().unwrap());
        assert_eq!(done.code, 0, "{}", done.stderr);
        let conf = fs::read_to_string(dir.join("nats-server.conf")).unwrap();
        assert!(conf.contains(&format!("listen: \"{want}\"")), "{conf}");
        assert!(
            done.stdout.contains(&format!("nats://{want}")),
            "{}",
            done.stdout
        );
    }
    let args = [
        "fleet",
        "init",
        "elsewhere",
        "--server",
        "nats://hub.example:4222",
    ];
    let done = Done::of(&env.untrusted(&args).output().unwrap());
    assert_eq!(done.code, 1);
    assert!(done.stderr.contains("--listen IP:PORT"), "{}", done.stderr);
}

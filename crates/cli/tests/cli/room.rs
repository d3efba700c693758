//! The clean room of a run: what is left of it when the driver is killed, and
//! where it is refused or does not do (issue 18).

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::env::{Done, RALPH, TestEnv};
use crate::live::{Live, eventually, is_alive, latest_run, shell_agent, wait_until};

const TASKS: &str = "# Plan\n\n- [ ] T001 Let add.sh add\n";
const WORK: &str = "echo 'expr $1 + $2' > add.sh\n\
                    sed -i 's/\\[ \\] T001/[x] T001/' tasks.md\n\
                    echo '<promise>COMPLETE</promise>'\n";

/// `add.sh` can't add yet, and its test says so.
fn project(test: &str) -> TestEnv {
    let env = TestEnv::new();
    env.write("tasks.md", TASKS);
    env.write("add.sh", "echo 0\n");
    env.write("lib/part", "");
    let test = format!("test \"$(sh add.sh 2 3)\" = 5 || {{ echo FAIL; exit 1; }}\n{test}");
    env.write("tests/test_add.sh", &test);
    env.git(&["add", "-A"]);
    let name = ["-c", "user.name=T", "-c", "user.email=t@localhost"];
    env.git(&[&name[..], &["commit", "-q", "-m", "Plan"]].concat());
    env
}

fn args(agent: &str) -> Vec<String> {
    let words = ["run", "--json", "--tasks", "tasks.md", "--agent-cmd", agent];
    let more = ["--max-iterations", "3", "--verify", "sh tests/test_add.sh"];
    let all = words.iter().chain(&more);
    all.map(|word| (*word).to_owned()).collect()
}

fn weighed(env: &TestEnv) -> Value {
    let journal = fs::read_to_string(latest_run(env).join("journal.jsonl")).unwrap();
    let mut records = journal.lines().filter_map(|line| {
        let record: Value = serde_json::from_str(line).ok()?;
        let weighed = find(&record, "weighed")?;
        weighed.is_object().then(|| weighed.clone())
    });
    records.next_back().unwrap_or_else(|| panic!("{journal}"))
}

fn find<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    match value {
        Value::Object(map) => map
            .get(key)
            .or_else(|| map.values().find_map(|value| find(value, key))),
        Value::Array(all) => all.iter().find_map(|value| find(value, key)),
        _ => None,
    }
}

fn rooms(env: &TestEnv) -> usize {
    fs::read_dir(env.state("rooms")).map_or(0, Iterator::count)
}

#[test]
fn a_killed_driver_leaves_nothing_that_stays() {
    let env = project("");
    let (hold, pid) = (env.outside("hold"), env.outside("pid"));
    let wait = format!(
        "test -e {} && {{ echo $$ > {}; sleep 300; }}\ntrue\n",
        hold.display(),
        pid.display()
    );
    let test = env.read("tests/test_add.sh") + &wait;
    env.write("tests/test_add.sh", &test);
    let agent = shell_agent(&env, &format!("touch {}\n{WORK}", hold.display()));
    let mut command = env.command(&args(&agent));
    command.env_remove("RALPH_EVIDENCE_LEVEL");
    let here = env.outside("").display().to_string();
    let is_mounted = || {
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
        mounts.contains(here.trim_end_matches('/'))
    };
    let mut run = Live::start(&env, "run", command);
    let check = eventually("the check runs", || {
        let pid = fs::read_to_string(&pid).ok()?;
        pid.ends_with('\n').then(|| pid.trim().to_owned())
    });
    assert!(rooms(&env) > 0);
    assert!(!is_mounted());
    // A neighbour looks in meanwhile, and leaves it alone.
    let mut other = env.command(&["run", "again", "--max-iterations", "1"]);
    assert!(!other.output().unwrap().status.success());
    assert!(rooms(&env) > 0);
    run.kill();
    assert!(rooms(&env) > 0, "what a killed process leaves");
    fs::remove_file(&hold).unwrap();
    let mut resume = env.command(&["resume", "--yes", "--json"]);
    let resumed = Done::of(&resume.env_remove("RALPH_EVIDENCE_LEVEL").output().unwrap());
    assert_eq!(resumed.code, 0, "{}{}", resumed.stdout, resumed.stderr);
    wait_until("nobody is left", || !is_alive(&check));
    assert_eq!(rooms(&env), 0);
    assert!(!is_mounted());
    assert!(weighed(&env)["room"].is_string());
}

#[test]
#[cfg_attr(
    not(has_namespaces),
    ignore = "needs namespaces of its own, unshare and setpriv"
)]
fn where_namespaces_are_refused_a_copy_is_told() {
    let env = project("");
    let agent = shell_agent(&env, WORK);
    let usual = env.command(&args(&agent));
    let refuse = "echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --bounding-set=-all \"$0\" \"$@\"";
    let mut command = Command::new("unshare");
    command
        .args(["-Ur", "sh", "-c", refuse, RALPH])
        .args(usual.get_args())
        .current_dir(&env.root)
        .env_clear();
    for (name, value) in usual.get_envs() {
        if let Some(value) = value.filter(|_| name != "RALPH_EVIDENCE_LEVEL") {
            command.env(name, value);
        }
    }
    let done = Done::of(&command.output().unwrap());
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    assert_eq!(weighed(&env)["room"], "copy");
    assert!(
        done.stdout.contains("\"evidence\":\"proven\""),
        "{}",
        done.stdout
    );
    assert_eq!(rooms(&env), 0);
}

/// A folder of the tree can't be renamed in an overlay.
#[test]
#[cfg_attr(
    not(has_namespaces),
    ignore = "needs namespaces of its own, unshare and setpriv"
)]
fn what_the_room_can_not_do_is_done_in_its_place_and_told() {
    let env = project("git mv lib other && git mv other lib\n");
    let agent = shell_agent(&env, WORK);
    let mut command = env.command(&args(&agent));
    command.env_remove("RALPH_EVIDENCE_LEVEL");
    let done = Done::of(&command.output().unwrap());
    let weighed = weighed(&env);
    let trouble = weighed["trouble"].as_str().unwrap_or_default();
    assert!(
        trouble.contains("passes in its place and fails in the clean room"),
        "{weighed}\n{}{}",
        done.stdout,
        done.stderr
    );
    assert_eq!(done.code, 3, "green, and not proven: {}", done.stdout);
    assert!(env.path("lib/part").exists());
    assert_eq!(rooms(&env), 0);
}

/// What lies there by now has no part in what was shown then.
#[test]
fn experiments_are_repeated_on_the_trees_of_then() {
    let env = project("");
    let agent = shell_agent(&env, WORK);
    let mut command = env.command(&args(&agent));
    command.env_remove("RALPH_EVIDENCE_LEVEL");
    let done = Done::of(&command.output().unwrap());
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    env.write("add.sh", "echo 0\n");
    fs::remove_file(env.path("tests/test_add.sh")).unwrap();
    env.write("tests/test_mine.sh", "exit 1\n");
    let work = env.snapshot();
    for args in [&["prove", "--json"][..], &["prove", "T001", "--json"]] {
        let proved = env.ralph(args);
        assert_eq!(proved.code, 0, "{}{}", proved.stdout, proved.stderr);
        let proved: Value = serde_json::from_str(&proved.stdout).unwrap();
        assert_eq!(proved["evidence"], "proven", "{proved}");
        assert_eq!(proved["results"][0]["exit"], 0, "{proved}");
    }
    assert_eq!(env.snapshot(), work);
    let told = env.ralph(&["prove"]);
    assert!(told.stdout.contains("counterfactual"), "{}", told.stdout);
}

//! Inside a session the same levels as outside: the Stop hook judges by the
//! three experiments (issue 19).

use serde_json::{Value, json};

use crate::env::TestEnv;
#[cfg(unix)]
use crate::live::{Live, wait_until};
use crate::session::{Client, ONE, context, released, sent_on};

const TEST: &str = "test \"$(sh add.sh 2 3)\" = 5 || { echo 'FAIL add'; exit 1; }\n";
const ADDS: &str = "expr $1 + $2\n";

/// A project that trusts its own check, with the default level.
fn project(tasks: &str) -> TestEnv {
    let env = TestEnv::new();
    env.write("tasks.md", tasks);
    env.write("add.sh", "echo 0\n");
    env.write("tests/test_add.sh", TEST);
    env.write(
        ".ralph/config.toml",
        "[verify]\ncommands = [\"for t in tests/test_*.sh; do sh $t || exit 1; done\"]\n",
    );
    env.git(&["add", "-A"]);
    let name = ["-c", "user.name=T", "-c", "user.email=t@localhost"];
    env.git(&[&name[..], &["commit", "-q", "-m", "Plan"]].concat());
    env
}

fn tick(env: &TestEnv, id: &str) {
    let text = env.read("tasks.md");
    let (open, done) = (format!("- [ ] {id}"), format!("- [x] {id}"));
    env.write("tasks.md", &text.replace(&open, &done));
}

fn begin<'a>(env: &'a TestEnv) -> Client<'a> {
    let client = env.claude_session(ONE);
    let begun = client.says("/ralph-loop --tasks tasks.md");
    assert!(context(&begun).contains("T001"), "{begun}");
    client
}

fn status(env: &TestEnv) -> Value {
    env.json(".ralph/status.json")["status"].clone()
}

fn levels(env: &TestEnv) -> Vec<Value> {
    let events = env.ralph(&["events", "--json"]).events();
    let named = |event: &&Value| event["event"].as_str().unwrap_or("").starts_with("tick_");
    let level = |event: &Value| json!([event["event"], event["evidence"]]);
    events.iter().filter(named).map(level).collect()
}

#[test]
fn honest_work_is_proven_in_a_session() {
    let env = project("# Plan\n\n- [ ] T001 Let add.sh add\n- [ ] T002 Let sub.sh subtract\n");
    let client = begin(&env);
    env.write("add.sh", ADDS);
    tick(&env, "T001");
    sent_on(&client.stops("Added.\n<promise>CONTINUE</promise>"));
    // Green before it: its own test is what fails without it.
    env.write("sub.sh", "expr $1 - $2\n");
    env.write(
        "tests/test_sub.sh",
        "test \"$(sh sub.sh 5 3)\" = 2 || { echo 'FAIL sub'; exit 1; }\n",
    );
    tick(&env, "T002");
    let end = client.stops("Subtracted.\n<promise>COMPLETE</promise>");
    assert!(released(&end).contains("2/2"), "{end}");
    assert_eq!(status(&env), "complete");
    let proven = json!(["tick_proven", "proven"]);
    assert_eq!(levels(&env), [proven.clone(), proven], "{end}");
}

/// Each of them makes the check green without the work.
#[test]
fn lies_are_sent_back_with_the_reason_and_never_complete() {
    let lies = [
        ("a test that says nothing", "tests/test_add.sh", "true\n"),
        ("a deleted test", "tests/test_add.sh", ""),
        (
            "a program that knows its test",
            "tests/test_add.sh",
            "exit 0\n",
        ),
        (
            "another command",
            ".ralph/config.toml",
            "[verify]\ncommands = [\"true\"]\n",
        ),
        ("only a comment", "add.sh", "echo 0 # adds\n"),
    ];
    for (name, file, text) in lies {
        let env = project("# Plan\n\n- [ ] T001 Let add.sh add\n");
        let client = begin(&env);
        for _ in 0..3 {
            match text {
                "" => {
                    let _ = std::fs::remove_file(env.path(file));
                    env.write("tests/test_other.sh", "true\n");
                }
                text => env.write(file, text),
            }
            tick(&env, "T001");
            let answer = client.stops("All done.\n<promise>COMPLETE</promise>");
            assert_ne!(status(&env), "complete", "{name}: {answer}");
            if answer["decision"] == "block" {
                let reason = sent_on(&answer);
                assert!(reason.contains("T001"), "{name}: {reason}");
                assert!(
                    reason.contains("REJECTED") || reason.contains("not"),
                    "{name}: {reason}"
                );
            }
        }
        let levels = levels(&env);
        assert!(
            !levels.contains(&json!(["tick_proven", "proven"])),
            "{name}: {levels:?}"
        );
    }
}

/// True work under a check that can't see it: the boxes stay ticked, and
/// nobody calls it proven.
#[test]
fn what_no_check_can_see_ends_as_unproven() {
    let env = project("# Plan\n\n- [ ] T001 Let add.sh add\n- [ ] T002 Greet in hello.sh\n");
    let client = begin(&env);
    env.write("add.sh", ADDS);
    tick(&env, "T001");
    sent_on(&client.stops("Added.\n<promise>CONTINUE</promise>"));
    env.write("hello.sh", "echo hello\n");
    let mut refusals = 0;
    let end = loop {
        tick(&env, "T002");
        let answer = client.stops("Greeted.\n<promise>COMPLETE</promise>");
        if answer["decision"] != "block" {
            break answer;
        }
        let reason = sent_on(&answer);
        assert!(reason.contains("T002"), "{reason}");
        refusals += 1;
        assert!(refusals < 5, "{reason}");
    };
    assert_eq!(refusals, 2, "evidence.asks");
    assert!(env.read("tasks.md").contains("- [x] T002"));
    assert_ne!(status(&env), "complete", "{end}");
    assert_eq!(
        levels(&env).last(),
        Some(&json!(["tick_unproven", "unrefuted"]))
    );
}

/// The hook was killed while its checks ran in the clean room.
#[cfg(unix)]
#[test]
fn experiments_of_a_killed_hook_are_made_by_the_next() {
    let env = project("# Plan\n\n- [ ] T001 Let add.sh add\n");
    let (hold, started) = (env.outside("hold"), env.outside("started"));
    let wait = format!(
        "if test -e {0}; then touch {1}; while test -e {0}; do sleep 0.01; done; fi\n",
        hold.display(),
        started.display()
    );
    env.write("tests/test_add.sh", &(wait + TEST));
    let client = begin(&env);
    env.write("add.sh", ADDS);
    tick(&env, "T001");
    std::fs::write(&hold, "").unwrap();
    let said = "Added.\n<promise>COMPLETE</promise>";
    let fields = json!({"stop_hook_active": true, "last_assistant_message": said, "background_tasks": [], "session_crons": []});
    let file = env.outside("payload.json");
    std::fs::write(&file, client.payload("Stop", &fields).to_string()).unwrap();
    let mut command = env.command(&["hook", "--host", "claude", "stop"]);
    command.stdin(std::fs::File::open(&file).unwrap());
    let mut hook = Live::start(&env, "hook", command);
    wait_until("the check runs", || started.exists());
    hook.kill();
    assert_ne!(status(&env), "complete");
    std::fs::remove_file(&hold).unwrap();
    let end = client.stops(said);
    assert!(released(&end).contains("1/1"), "{end}");
    assert_eq!(status(&env), "complete");
    assert_eq!(levels(&env), [json!(["tick_proven", "proven"])]);
    assert_eq!(std::fs::read_dir(env.state("rooms")).unwrap().count(), 0);
}

//! Nobody is left behind: not a daemon that left its group and hears no
//! SIGTERM, not whoever keeps the output open, not a stopped agent, not the
//! agent of an engine that was killed.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::env::{Done, TestEnv};
use crate::live::{Live, eventually, is_alive, shell_agent, wait_until};

/// Leaves a daemon in a session of its own: forked twice, deaf to SIGTERM,
/// with no pipe of the agent's in its hands.
const LEAVES_A_DAEMON: &str = "\
here=$(dirname \"$0\")
(setsid sh -c 'trap \"\" TERM HUP INT; echo $$ > \"$1/daemon.new\"; mv \"$1/daemon.new\" \"$1/daemon\"; exec sleep 300' \
  sh \"$here\" </dev/null >/dev/null 2>&1 &)
while [ ! -e \"$here/daemon\" ]; do sleep 0.01; done
echo '<promise>CONTINUE</promise>'
";

/// Works for ever, with a child.
const NEVER_ENDS: &str = "\
here=$(dirname \"$0\")
sleep 300 &
echo $$ $! > \"$here/pids.new\"
mv \"$here/pids.new\" \"$here/pids\"
wait
";

fn read(env: &TestEnv, name: &str) -> Vec<String> {
    let text = eventually("the processes say who they are", || {
        fs::read_to_string(env.outside(name)).ok()
    });
    text.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn a_daemon_ends_with_the_turn() {
    let env = TestEnv::with_tasks(1);
    let agent = shell_agent(&env, LEAVES_A_DAEMON);
    let args = ["run", "--agent-cmd", &agent, "--max-iterations", "1"];
    let done = env.ralph(&args);
    assert_eq!(done.code, 3, "{}", done.stderr);
    for pid in read(&env, "daemon") {
        assert!(!is_alive(&pid), "{pid} outlived the turn");
    }
    let said = "processes that outlived the turn were ended: 1";
    assert!(done.stdout.contains(said), "{}", done.stdout);
    assert!(env.read(".ralph/ralph.log").contains(said));
}

#[test]
fn the_agent_of_a_killed_engine_is_ended_by_the_next() {
    let env = TestEnv::with_tasks(1);
    let agent = shell_agent(&env, NEVER_ENDS);
    let mut run = Live::start(&env, "run", env.command(&["run", "--agent-cmd", &agent]));
    let pids = read(&env, "pids");
    run.kill();
    assert!(
        pids.iter().all(|pid| is_alive(pid)),
        "nobody has ended them yet"
    );

    let blocked = "sh -c 'echo \"<promise>BLOCKED: enough</promise>\"'";
    let done = env.ralph(&["run", "--agent-cmd", blocked]);
    assert_eq!(done.code, 4, "{}", done.stderr);
    for pid in &pids {
        wait_until("the process is gone", || !is_alive(pid));
    }
    assert!(
        done.stdout.contains("its lock is taken over"),
        "{}",
        done.stdout
    );
    let said = "processes of it that were still at work were ended: 2";
    assert!(done.stdout.contains(said), "{}", done.stdout);
}

/// One turn of a script that writes the numbers of its processes to `pids`;
/// none of them may be alive afterwards.
fn one_turn(script: &str, settings: &[(&str, &str)]) -> (Done, Duration) {
    let env = TestEnv::with_tasks(1);
    let agent = shell_agent(&env, script);
    let args = ["run", "--agent-cmd", &agent, "--max-iterations", "1"];
    let started = Instant::now();
    let output = env.command(&args).envs(settings.iter().copied()).output();
    let took = started.elapsed();
    let done = Done::of(&output.unwrap());
    assert_eq!(done.code, 3, "{}\n{}", done.stdout, done.stderr);
    let pids = read(&env, "pids");
    assert!(!pids.is_empty());
    for pid in pids {
        assert!(!is_alive(&pid), "{pid} is left: {}", done.stdout);
    }
    (done, took)
}

#[test]
fn a_grandchild_that_hears_no_sigterm_ends_with_the_turn() {
    let script = "\
        here=$(dirname \"$0\")\n\
        sh -c 'trap \"\" TERM HUP INT; echo $$ > \"$1/pids\"; exec sleep 300' sh \"$here\" >/dev/null 2>&1 &\n\
        while [ ! -s \"$here/pids\" ]; do sleep 0.01; done\n\
        echo '<promise>CONTINUE</promise>'\n";
    one_turn(script, &[]);
}

#[test]
fn whoever_keeps_the_output_open_is_noticed_and_ended() {
    let script = "\
        here=$(dirname \"$0\")\n\
        (setsid sh -c 'trap \"\" TERM HUP; echo $$ > \"$1/pids\"; exec sleep 300' sh \"$here\" &)\n\
        while [ ! -s \"$here/pids\" ]; do sleep 0.01; done\n\
        echo '<promise>CONTINUE</promise>'\n";
    let (done, took) = one_turn(script, &[]);
    let said = "the agent left a process behind that kept its output open";
    assert!(done.stdout.contains(said), "{}", done.stdout);
    assert!(took < Duration::from_secs(60), "it waited for the pipe");
}

#[test]
fn a_stopped_agent_times_out_and_is_ended() {
    for stop in ["STOP", "TTIN", "TSTP"] {
        // What can be ignored is, in a session without a terminal.
        let script = format!(
            "here=$(dirname \"$0\")\necho $$ > \"$here/pids\"\nkill -s {stop} $$\nkill -s STOP $$\nsleep 300\n"
        );
        let limit = [("RALPH_LIMITS_ITERATION_TIMEOUT", "1s")];
        let (done, _) = one_turn(&script, &limit);
        assert!(done.stdout.contains("timed out"), "{}", done.stdout);
    }
}

/// A process that is no descendant of the engine and carries its tag: only
/// the proof at the end can find it.
#[test]
fn at_the_end_nobody_carries_the_tag_of_the_run() {
    let env = TestEnv::with_tasks(1);
    let script = "\
        here=$(dirname \"$0\")\n\
        echo $RALPH_RUN_ID $RALPH_RUN_TAG > \"$here/tag.new\"; mv \"$here/tag.new\" \"$here/tag\"\n\
        while [ ! -e \"$here/enough\" ]; do sleep 0.05; done\n\
        echo '<promise>BLOCKED: enough</promise>'\n";
    let agent = shell_agent(&env, script);
    let run = Live::start(&env, "run", env.command(&["run", "--agent-cmd", &agent]));
    let named = read(&env, "tag");
    let [name, tag] = named.as_slice() else {
        panic!("{named:?}");
    };
    let mut stranger = Command::new("sleep")
        .arg("300")
        .env("RALPH_RUN_TAG", tag)
        .spawn()
        .unwrap();
    let mut bystander = Command::new("sleep")
        .arg("300")
        .env("RALPH_RUN_ID", name)
        .env("RALPH_RUN_TAG", format!("{name}-0123456789abcdef"))
        .spawn()
        .unwrap();
    fs::write(env.outside("enough"), "").unwrap();
    let done = run.finish();
    assert_eq!(done.code, 4, "{}", done.stderr);
    let said = "processes that outlived the run were ended: 1";
    assert!(done.stdout.contains(said), "{}", done.stdout);
    assert!(!stranger.wait().unwrap().success(), "it was ended");
    assert!(
        bystander.try_wait().unwrap().is_none(),
        "a run of the same name elsewhere"
    );
    bystander.kill().unwrap();
    bystander.wait().unwrap();
}

/// Whoever hides its tag is still our descendant.
#[test]
fn a_daemon_that_clears_its_environment_ends_with_the_turn() {
    let script = "\
        here=$(dirname \"$0\")\n\
        (env -i PATH=\"$PATH\" setsid sh -c 'trap \"\" TERM; echo $$ > \"$1/pids\"; exec sleep 300' sh \"$here\" </dev/null >/dev/null 2>&1 &)\n\
        while [ ! -s \"$here/pids\" ]; do sleep 0.01; done\n\
        echo '<promise>CONTINUE</promise>'\n";
    let (done, _) = one_turn(script, &[]);
    let said = "processes that outlived the turn were ended: 1";
    assert!(done.stdout.contains(said), "{}", done.stdout);
}

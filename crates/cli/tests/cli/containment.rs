//! Nobody is left behind: not a daemon that left its group and hears no
//! SIGTERM, not the agent of an engine that was killed.

use std::fs;

use crate::env::TestEnv;
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

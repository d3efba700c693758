//! The live view and the monitor on a real terminal, with somebody who presses
//! keys (MONI-01, MONI-02).

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::env::{Done, RALPH, TestEnv};
use crate::live::{
    self, Live, child_of, eventually, is_alive, journal, latest_run, shell_agent, wait_until,
};
use crate::terminal::Terminal;

/// Says something, and works until a file tells it to end.
const WORKER: &str = "\
here=$(dirname \"$0\")
echo 'looking around 四處看看'
env > \"$here/env\"
touch \"$here/working\"
while [ ! -e \"$here/enough\" ]; do sleep 0.05; done
echo '<promise>BLOCKED: enough</promise>'
";

fn visible(terminal: &Terminal) -> String {
    terminal.tmux(&["capture-pane", "-p"])
}

fn see_now(terminal: &Terminal, text: &str) -> String {
    eventually(text, || {
        Some(visible(terminal)).filter(|screen| screen.contains(text))
    })
}

#[test]
#[cfg_attr(not(has_tmux), ignore = "needs tmux: cargo xtask test gets it")]
fn a_run_on_a_terminal_shows_where_it_stands_and_loses_nothing() {
    let env = TestEnv::with_tasks(2);
    let agent = shell_agent(&env, WORKER);
    let terminal = Terminal::start(env, &["run", "--agent-cmd", &agent]);
    let screen = see_now(&terminal, "#1/50 · 1s");
    assert!(screen.contains("0% · 0/2 tasks"), "{screen}");
    assert!(screen.contains("T001 Do thing 1 · custom"), "{screen}");
    // What the agent said lasts above, and is said once (U-08).
    assert_eq!(screen.matches("looking around").count(), 1, "{screen}");
    terminal.tmux(&["resize-window", "-x", "50"]);
    see_now(&terminal, "#1/50 · 3s");
    fs::write(terminal.env.outside("enough"), "").unwrap();
    let (code, screen) = terminal.end();
    assert_eq!(code, 4, "{screen}");
    assert_eq!(screen.matches("looking around").count(), 1, "{screen}");
    assert!(!screen.contains("#1/50"), "the block is gone: {screen}");
}

#[test]
fn a_pipe_gets_plain_lines() {
    let env = TestEnv::with_tasks(1);
    let turns = [json!({"tick": ["T001"], "say": "done\n<promise>COMPLETE</promise>"})];
    let agent = env.agent(&turns);
    let done = env.ralph(&["run", "--agent-cmd", &agent]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(!done.stdout.contains('\u{1b}'), "{}", done.stdout);
}

/// A client that somebody wrapped in a command of their own.
const STREAMS: &str = r#"
echo '{"type":"system","subtype":"init","session_id":"s","model":"m"}'
echo '{"type":"assistant","message":{"id":"1","content":[{"type":"text","text":"I look."}]}}'
echo '{"type":"assistant","message":{"id":"2","content":[{"type":"tool_use","id":"t","name":"Read","input":{"file_path":"a.rs"}}]}}'
echo '{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","is_error":true,"content":"no"}]}}'
echo '{"type":"result","subtype":"success","is_error":false,"result":"<promise>BLOCKED: enough</promise>"}'
"#;

#[test]
fn a_stream_of_json_is_shown_in_words_and_kept_as_it_came() {
    let env = TestEnv::with_tasks(1);
    let agent = shell_agent(&env, STREAMS);
    let done = env.ralph(&["run", "--max-iterations", "1", "--agent-cmd", &agent]);
    let shown: Vec<&str> = done.stdout.lines().filter(|l| l.contains('│')).collect();
    assert_eq!(shown, ["  │ I look.", "  │ ▸ Read: a.rs", "  │ ✗ failed"]);
    let kept = fs::read_to_string(latest_run(&env).join("turn-0001.out")).unwrap();
    assert!(kept.lines().all(|line| line.starts_with("{\"type\":")));
    assert_eq!(kept.lines().count(), 5, "{kept}");
}

/// A run in the background, and the monitor in a terminal.
fn watched() -> (Live, Terminal) {
    let env = TestEnv::with_tasks(2);
    let agent = shell_agent(&env, WORKER);
    let args = [
        "run", "--json", "--max-iterations", "5", "--agent-cmd", &agent,
    ];
    let run = Live::start(&env, "run", env.command(&args));
    wait_until("the agent works", || env.outside("working").exists());
    (run, Terminal::start(env, &["monitor"]))
}

#[test]
#[cfg_attr(not(has_tmux), ignore = "needs tmux: cargo xtask test gets it")]
fn the_monitor_shows_a_run_and_tells_it_what_a_person_wants() {
    let (run, terminal) = watched();
    let keys = |keys: &[&str]| {
        for key in keys {
            terminal.tmux(&["send-keys", key]);
        }
    };
    let overview = see_now(&terminal, "0/2 tasks done");
    assert!(overview.contains("working"), "{overview}");
    assert!(overview.contains("Task: T001 Do thing 1"), "{overview}");
    see_now(&terminal, "Now: looking around 四處看看");
    keys(&["3"]);
    see_now(&terminal, "looking around 四處看看");
    keys(&["2"]);
    see_now(&terminal, "T002 Do thing 2");
    keys(&["4"]);
    see_now(&terminal, "iteration 1");
    keys(&["e", "BSpace", "BSpace", "7", "Enter"]);
    wait_until("the limit is raised", || {
        let records = journal(&latest_run(&terminal.env));
        records.iter().any(|record| record["kind"] == "extended")
    });
    keys(&["1"]);
    see_now(&terminal, "Turn #1/12");
    keys(&["s"]);
    see_now(&terminal, "Stop the run now?");
    keys(&["n", "p"]);
    see_now(&terminal, "it pauses after this turn");
    // It goes away, and the run does not notice.
    keys(&["q"]);
    assert_eq!(terminal.end().0, 0);
    fs::write(terminal.env.outside("enough"), "").unwrap();
    let done = run.finish();
    assert_eq!(done.code, 4, "{}", done.stdout);
}

#[test]
#[cfg_attr(not(has_tmux), ignore = "needs tmux: cargo xtask test gets it")]
fn killing_the_monitor_changes_nothing() {
    let (mut run, terminal) = watched();
    see_now(&terminal, "0/2 tasks done");
    let monitor = process_in(&terminal);
    terminal.tmux(&["kill-server"]);
    wait_until("the monitor goes with its terminal", || !is_alive(&monitor));
    assert!(run.is_running());
    fs::write(terminal.env.outside("enough"), "").unwrap();
    assert_eq!(run.finish().code, 4);
}

/// The process that runs in the terminal.
fn process_in(terminal: &Terminal) -> String {
    let shell = terminal.tmux(&["display-message", "-p", "#{pane_pid}"]);
    child_of(shell.trim()).unwrap()
}

#[test]
#[cfg_attr(not(has_tmux), ignore = "needs tmux: cargo xtask test gets it")]
fn a_monitor_that_is_told_to_go_gives_the_terminal_back() {
    for signal in ["TERM", "HUP"] {
        let env = TestEnv::with_tasks(1);
        env.run_script(&[json!({"say": "<promise>BLOCKED: enough</promise>"})], &[]);
        let terminal = Terminal::start(env, &["monitor"]);
        see_now(&terminal, "0/1 task done");
        let is_second_screen = || terminal.tmux(&["display-message", "-p", "#{alternate_on}"]);
        assert_eq!(is_second_screen().trim(), "1");
        live::signal(signal, &process_in(&terminal));
        assert_eq!(terminal.end().0, 0, "{signal}");
        assert_eq!(is_second_screen().trim(), "0", "{signal}");
        let tty = terminal.tmux(&["display-message", "-p", "#{pane_tty}"]);
        let modes = Command::new("stty").args(["-a", "-F", tty.trim()]).output();
        let modes = Done::of(&modes.unwrap()).stdout;
        let is_on = |mode: &str| modes.split_whitespace().any(|word| word == mode);
        assert!(is_on("icanon") && is_on("echo"), "{signal}: {modes}");
    }
}

#[test]
fn the_monitor_needs_a_terminal() {
    let env = TestEnv::with_tasks(1);
    let done = env.ralph(&["monitor"]);
    assert_eq!(done.code, 1);
    assert!(done.stderr.contains("needs a terminal"), "{}", done.stderr);
    env.run_script(&[json!({"say": "<promise>BLOCKED: enough</promise>"})], &[]);
    let done = env.ralph(&["monitor", "--once"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stdout.contains("0/1 task done"), "{}", done.stdout);
    assert!(
        done.stdout
            .contains("Ended: blocked · The agent says that it can't go on: enough"),
        "{}",
        done.stdout
    );
}

#[test]
fn without_tmux_it_says_how_to_get_it() {
    let env = TestEnv::with_tasks(1);
    let mut command = env.command(&["run", "--monitor"]);
    command.env("PATH", env.outside("nothing"));
    let done = Done::of(&command.output().unwrap());
    assert_eq!(done.code, 1);
    assert!(done.stderr.contains("apt install tmux"), "{}", done.stderr);
    assert!(!env.state("runs").exists());
}

/// A loop with its monitor, begun where no tmux is; `variables` are exported.
fn outside_of_tmux(env: TestEnv, sockets: &Path, variables: &str, agent: &str) -> Terminal {
    let script = env.outside("outside.sh");
    let outside = format!(
        "unset TMUX TMUX_PANE\nexport {variables} TMUX_TMPDIR='{}'\nexec {RALPH} \"$@\"\n",
        sockets.display()
    );
    fs::write(&script, outside).unwrap();
    let script = script.to_string_lossy().into_owned();
    let words = ["run", "--monitor", "--agent-cmd", agent];
    Terminal::start_with(env, &["sh", &script], &words)
}

/// Whoever stands outside tmux gets a session of its own, on a server of its
/// own, and the exit code of the loop (U-03).
#[test]
#[cfg_attr(not(has_tmux), ignore = "needs tmux: cargo xtask test gets it")]
fn loop_and_monitor_stand_side_by_side_in_tmux() {
    let env = TestEnv::with_tasks(1);
    let agent = shell_agent(&env, WORKER);
    let sockets = env.outside("tmux-dir");
    fs::create_dir(&sockets).unwrap();
    // A server that was started without this key.
    let mut other = Command::new("tmux");
    other.args(["new-session", "-d", "sleep 60"]);
    other.env("TMUX_TMPDIR", &sockets).env_remove("TMUX");
    assert!(other.status().unwrap().success());
    let terminal = outside_of_tmux(env, &sockets, "MY_KEY=s3cr3tk3y", &agent);
    let env = &terminal.env;
    wait_until("the agent works", || env.outside("working").exists());
    has_key_in_private(env);
    let screen = terminal.see("task done", 1);
    assert!(screen.contains('│'), "{screen}");
    fs::write(env.outside("enough"), "").unwrap();
    terminal.see("[ralph: 4]", 1);
    // Enter closes the loop's pane, and q the monitor.
    terminal.tmux(&["send-keys", "Enter"]);
    // Keys go to that pane as long as it is there.
    wait_until("its pane is closed", || {
        !terminal.screen().contains("[ralph: 4]")
    });
    terminal.tmux(&["send-keys", "q"]);
    let (code, screen) = terminal.end();
    assert_eq!(code, 4, "{screen}");
    let mut other = Command::new("tmux");
    other.arg("kill-server").env("TMUX_TMPDIR", &sockets);
    other.env_remove("TMUX").status().unwrap();
}

/// U-03, INTR-07: a terminal that is closed ends neither the loop nor the way
/// to it, and the end of the loop ends what nobody looks at.
#[test]
#[cfg_attr(not(has_tmux), ignore = "needs tmux: cargo xtask test gets it")]
fn a_session_that_was_left_can_be_found_and_ends_with_its_loop() {
    let env = TestEnv::with_tasks(1);
    let agent = shell_agent(&env, WORKER);
    let sockets = env.outside("tmux-dir");
    fs::create_dir(&sockets).unwrap();
    let terminal = outside_of_tmux(env, &sockets, "", &agent);
    let env = &terminal.env;
    wait_until("the agent works", || env.outside("working").exists());
    terminal.see("task done", 1);
    terminal.tmux(&["kill-server"]);
    let status = || {
        let mut status = env.command(&["status"]);
        let status = status.env("TMUX_TMPDIR", &sockets).output();
        Done::of(&status.unwrap()).stdout
    };
    let shown = status();
    let session = shown.split("`tmux -L ").nth(1).expect(&shown);
    let session = session.split(' ').next().unwrap().to_owned();
    assert!(
        shown.contains(&format!("`tmux -L {session} attach`")),
        "{shown}"
    );
    let is_there = || {
        let mut tmux = Command::new("tmux");
        tmux.args(["-L", &session, "has-session"]);
        let tmux = tmux
            .env("TMUX_TMPDIR", &sockets)
            .env_remove("TMUX")
            .output();
        tmux.unwrap().status.success()
    };
    assert!(is_there());
    fs::write(env.outside("enough"), "").unwrap();
    wait_until("nothing is left of it", || !is_there());
    assert!(!status().contains("tmux"));
}

/// Without a terminal nobody would see the monitor, and whoever waits wants to
/// know how the loop ended (U-03).
#[test]
#[cfg_attr(not(has_tmux), ignore = "needs tmux: cargo xtask test gets it")]
fn without_a_terminal_the_loop_runs_here() {
    let env = TestEnv::with_tasks(1);
    let agent = env.agent(&[json!({"say": "<promise>BLOCKED: enough</promise>"})]);
    let done = env.ralph(&["run", "--monitor", "--agent-cmd", &agent]);
    assert_eq!(done.code, 4, "{}", done.stderr);
    assert!(done.stderr.contains("`ralph monitor`"), "{}", done.stderr);
}

/// U-03: the agent has the key, and no list of processes shows it.
fn has_key_in_private(env: &TestEnv) {
    let has_key = || fs::read_to_string(env.outside("env")).unwrap_or_default();
    wait_until("the agent told its environment", || {
        has_key().contains("MY_KEY=s3cr3tk3y")
    });
    let shown = Command::new("ps").args(["-eo", "args"]).output().unwrap();
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(!shown.contains("s3cr3tk3y"), "{shown}");
}

/// U-03: in tmux the loop stays in its pane, with its environment, and the
/// monitor comes beside it.
#[test]
#[cfg_attr(not(has_tmux), ignore = "needs tmux: cargo xtask test gets it")]
fn in_tmux_the_loop_stays_here_and_the_monitor_comes_beside_it() {
    let env = TestEnv::with_tasks(1);
    let agent = shell_agent(&env, WORKER);
    let script = env.outside("keyed.sh");
    let key = format!("export MY_KEY=s3cr3tk3y\nexec {RALPH} \"$@\"\n");
    fs::write(&script, key).unwrap();
    let script = script.to_string_lossy().into_owned();
    let words = ["run", "--monitor", "--agent-cmd", &agent];
    let terminal = Terminal::start_with(env, &["sh", &script], &words);
    wait_until("the agent works", || {
        terminal.env.outside("working").exists()
    });
    has_key_in_private(&terminal.env);
    let panes = terminal.tmux(&["list-panes", "-F", "#{pane_index}"]);
    assert_eq!(panes.lines().count(), 2, "{panes}");
    eventually("the monitor shows the run", || {
        let screen = terminal.tmux(&["capture-pane", "-p", "-t", ":.1"]);
        screen.contains("task done").then_some(())
    });
    fs::write(terminal.env.outside("enough"), "").unwrap();
    let (code, _) = terminal.end();
    assert_eq!(code, 4);
}

#[test]
fn all_projects_are_known_where_ralph_ran() {
    let env = TestEnv::with_tasks(1);
    env.run_script(&[json!({"say": "<promise>BLOCKED: enough</promise>"})], &[]);
    let other = TestEnv::with_tasks(1);
    let mut command = other.command(&["monitor", "--all", "--once"]);
    let done = Done::of(&command.env("HOME", env.outside("")).output().unwrap());
    assert!(
        done.stdout.contains("blocked"),
        "{}{}",
        done.stdout,
        done.stderr
    );
}

//! The menu of a limit on a real terminal, with somebody who types.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};

use crate::env::{RALPH, TestEnv};
#[cfg(target_os = "linux")]
use crate::limits;
use crate::live::{DEADLINE, LOOK, eventually};

const COLUMNS: &str = "100";

/// `ralph` in a terminal of its own: a tmux server that serves nobody else.
pub struct Terminal {
    socket: PathBuf,
    pub exit: PathBuf,
    pub env: TestEnv,
}

impl Terminal {
    pub fn start(env: TestEnv, args: &[&str]) -> Terminal {
        Terminal::start_with(env, &[RALPH], args)
    }

    /// With these words in front instead of the program itself.
    pub fn start_with(env: TestEnv, program: &[&str], args: &[&str]) -> Terminal {
        Terminal::with_columns(env, COLUMNS, program, args)
    }

    fn with_columns(env: TestEnv, columns: &str, program: &[&str], args: &[&str]) -> Terminal {
        let _ = env.untrusted(&["trust", "--yes"]).output();
        let terminal = Terminal {
            socket: env.outside("tmux"),
            exit: env.outside("exit"),
            env,
        };
        let script = terminal.env.outside("terminal.sh");
        let words: Vec<String> = program.iter().chain(args).map(|a| quoted(a)).collect();
        let exit = quoted(&terminal.exit.to_string_lossy());
        // Ctrl+C is for ralph; the shell only waits to tell how it ended.
        let text = format!(
            "trap : INT\nexport RALPH_EVIDENCE_LEVEL=claimed RALPH_SANDBOX_MODE=off\n{}\necho $? > {exit}.new\nmv {exit}.new {exit}\nwhile :; do sleep 60; done\n",
            words.join(" "),
        );
        fs::write(&script, text).unwrap();
        let shell = format!("exec sh {}", quoted(&script.to_string_lossy()));
        let dir = terminal.env.root.to_string_lossy().into_owned();
        terminal.tmux(&[
            "new-session", "-d", "-x", columns, "-y", "60", "-c", &dir, &shell,
        ]);
        terminal
    }

    pub fn tmux(&self, args: &[&str]) -> String {
        let output = Command::new("tmux")
            .args(["-u", "-f", "/dev/null", "-S"])
            .arg(&self.socket)
            .args(args)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.env.outside(""))
            .env("RALPH_SANDBOX_MODE", "off")
            .env("LANG", "C.UTF-8")
            .env("TERM", "xterm-256color")
            .env("SHELL", "/bin/sh")
            .output()
            .unwrap_or_else(|e| panic!("this test needs tmux, which could not be started: {e}"));
        assert!(
            output.status.success(),
            "tmux {args:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Everything that was shown so far.
    pub fn screen(&self) -> String {
        self.tmux(&["capture-pane", "-p", "-S", "-"])
    }

    /// Waits until a text was shown so many times.
    pub fn see(&self, text: &str, times: usize) -> String {
        let deadline = Instant::now() + DEADLINE;
        loop {
            let screen = self.screen();
            if screen.matches(text).count() >= times {
                return screen;
            }
            assert!(
                Instant::now() < deadline,
                "never shown {times} times: {text}\n{screen}"
            );
            std::thread::sleep(LOOK);
        }
    }

    pub fn type_line(&self, text: &str) {
        self.tmux(&["send-keys", "-l", text]);
        self.tmux(&["send-keys", "Enter"]);
    }

    /// The exit code of ralph and everything that it showed.
    pub fn end(&self) -> (i32, String) {
        let code = eventually("ralph ends", || fs::read_to_string(&self.exit).ok());
        (code.trim().parse().unwrap(), self.screen())
    }

    fn status(&self) -> Value {
        self.env.json(".ralph/status.json")
    }

    pub fn events(&self, filter: &str) -> Vec<Value> {
        let done = self.env.ralph(&["events", "--json", "--filter", filter]);
        done.events()
    }

    fn loop_end(&self) -> Value {
        self.events("event=loop_end").pop().unwrap()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = Command::new("tmux")
            .arg("-S")
            .arg(&self.socket)
            .arg("kill-server")
            .output();
    }
}

/// An interactive shell in a terminal, in which somebody types commands.
#[cfg(target_os = "linux")]
impl Terminal {
    fn shell(env: TestEnv) -> Terminal {
        let terminal = Terminal {
            socket: env.outside("tmux"),
            exit: env.outside("exit"),
            env,
        };
        let dir = terminal.env.root.to_string_lossy().into_owned();
        let size = ["-x", COLUMNS, "-y", "60"];
        let shell = "exec bash --norc --noprofile -i";
        let args = [&["new-session", "-d"], &size[..], &["-c", &dir, shell]].concat();
        terminal.tmux(&args);
        terminal
    }
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Three tasks, of which each turn does one; the limit comes after the first.
fn at_the_menu(more: &[&str]) -> Terminal {
    at_the_menu_of(TestEnv::with_tasks(3), more)
}

fn at_the_menu_of(env: TestEnv, more: &[&str]) -> Terminal {
    let turn = |n: u32, say: &str| json!({"write": {format!("{n}.txt"): "new"}, "tick": [format!("T00{n}")], "say": say});
    let agent = env.agent(&[
        turn(1, "<promise>CONTINUE</promise>"),
        turn(2, "<promise>CONTINUE</promise>"),
        turn(3, "<promise>COMPLETE</promise>"),
    ]);
    let mut args = vec!["run", "--max-iterations", "1", "--agent-cmd", &agent];
    args.extend(more);
    Terminal::start(env, &args)
}

const QUESTION: &str = "Choose (1-4):";

/// No colours, and nothing that moves the cursor (DISP-05).
#[test]
#[cfg_attr(not(has_tmux), ignore = "needs tmux: cargo xtask test gets it")]
fn a_dumb_terminal_gets_nothing_but_text() {
    for (term, is_plain) in [("TERM=dumb", true), ("TERM=xterm-256color", false)] {
        let env = TestEnv::with_tasks(1);
        let agent = env.agent(&[json!({"tick": ["T001"], "say": "<promise>COMPLETE</promise>"})]);
        let terminal =
            Terminal::start_with(env, &["env", term, RALPH], &["run", "--agent-cmd", &agent]);
        let (code, screen) = terminal.end();
        assert_eq!(code, 0, "{screen}");
        let styled = terminal.tmux(&["capture-pane", "-e", "-p", "-S", "-"]);
        assert_eq!(!styled.contains('\u{1b}'), is_plain, "{styled}");
    }
}

#[test]
#[cfg_attr(not(has_tmux), ignore = "needs tmux: cargo xtask test gets it")]
fn extending_goes_on() {
    let terminal = at_the_menu(&[]);
    let menu = terminal.see(QUESTION, 1);
    for text in [
        "⚠️ Iteration limit reached",
        "Iteration: 1/1",
        "Done: 1/3",
        "Not done: T002, T003",
        "[1] ➕ Raise the iteration limit (+10)",
        "[2] 🔀 Simplify the scope",
        "[3] 📝 Save the progress and exit",
        "[4] ⛔ Abandon this task",
    ] {
        assert!(menu.contains(text), "{text}\n{menu}");
    }
    terminal.type_line("1");
    let (code, screen) = terminal.end();
    assert_eq!(code, 0, "{screen}");
    assert_eq!(terminal.status()["status"], "complete");
    assert_eq!(terminal.status()["iteration"], 3);
    assert_eq!(terminal.status()["max_iterations"], 11);
}

#[test]
#[cfg_attr(not(has_tmux), ignore = "needs tmux: cargo xtask test gets it")]
fn a_task_that_was_left_out_is_not_called_done() {
    let terminal = at_the_menu(&[]);
    terminal.see(QUESTION, 1);
    terminal.type_line("2");
    let list = terminal.see("Leave out which", 1);
    assert!(list.contains("[1] T002 Do thing 2"), "{list}");
    assert!(list.contains("[2] T003 Do thing 3"), "{list}");
    assert!(!list.contains("] T001"), "{list}");
    terminal.type_line("2");
    let (code, screen) = terminal.end();
    assert_eq!(code, 0, "{screen}");
    let (_, end) = screen.rsplit_once("Loop complete!").unwrap();
    assert!(end.contains("2/2 tasks done"), "{end}");
    assert!(!end.contains("All tasks are done"), "{end}");
    assert!(end.contains("1 task was left out: T003"), "{end}");
    let tasks = terminal.env.read("tasks.md");
    assert!(tasks.contains("- [ ] T003 Do thing 3"), "{tasks}");
    assert_eq!(terminal.status()["iteration"], 2);
    let told = terminal.events("event=tasks_skipped");
    assert_eq!(told.len(), 1);
    assert_eq!(told[0]["tasks"], json!(["T003"]));
}

#[test]
#[cfg_attr(not(has_tmux), ignore = "needs tmux: cargo xtask test gets it")]
fn a_task_that_was_left_out_stays_out_after_a_resume() {
    let env = TestEnv::with_tasks(2);
    env.write(".ralph/config.toml", "[limits]\nextend_by = 1\n");
    let nothing = json!({"say": "<promise>CONTINUE</promise>"});
    let last = json!({"tick": ["T002"], "say": "<promise>COMPLETE</promise>"});
    let agent = env.agent(&[nothing.clone(), nothing, last]);
    let args = ["run", "--max-iterations", "1", "--agent-cmd", &agent];
    let terminal = Terminal::start(env, &args);
    terminal.see(QUESTION, 1);
    terminal.type_line("2");
    terminal.see("Leave out which", 1);
    terminal.type_line("T001");
    terminal.see(QUESTION, 2);
    terminal.type_line("3");
    assert_eq!(terminal.end().0, 3);

    let done = terminal.env.ralph(&["resume", "--yes"]);
    assert_eq!(done.code, 0, "{}\n{}", done.stdout, done.stderr);
    assert!(
        done.stdout.contains("1 task was left out: T001"),
        "{}",
        done.stdout
    );
    assert!(
        !done.stdout.contains("All tasks are done"),
        "{}",
        done.stdout
    );
}

/// VALV-12: nothing is left out before all that was typed is understood and
/// something stays to be done.
#[test]
#[cfg_attr(not(has_tmux), ignore = "needs tmux: cargo xtask test gets it")]
fn what_can_not_be_left_out_is_asked_again() {
    let terminal = at_the_menu(&[]);
    terminal.see(QUESTION, 1);
    terminal.type_line("2");
    terminal.see("Leave out which", 1);
    terminal.type_line("1 T999");
    terminal.see("no open task is meant by T999", 1);
    terminal.see("Leave out which", 2);
    terminal.type_line("1 2");
    terminal.see("nothing would be left of this run", 1);
    terminal.see("Leave out which", 3);
    terminal.type_line("2");
    let (code, screen) = terminal.end();
    assert_eq!(code, 0, "{screen}");
    let told = terminal.events("event=tasks_skipped");
    assert_eq!(told.len(), 1);
    assert_eq!(told[0]["tasks"], json!(["T003"]));
}

#[test]
#[cfg_attr(not(has_tmux), ignore = "needs tmux: cargo xtask test gets it")]
fn a_phase_alone_offers_only_its_own_tasks() {
    let env = TestEnv::new();
    env.write(
        "tasks.md",
        "## Phase 1: One\n- [ ] T001 First\n- [ ] T002 Second\n\n## Phase 2: Two\n- [ ] T003 Third\n",
    );
    let agent = env.agent(&[]);
    let args = [
        "run", "--max-iterations", "1", "--phase", "1", "--agent-cmd", &agent,
    ];
    let terminal = Terminal::start(env, &args);
    terminal.see(QUESTION, 1);
    terminal.type_line("2");
    let list = terminal.see("Leave out which", 1);
    assert!(list.contains("[2] T002 Second"), "{list}");
    assert!(!list.contains("Third"), "{list}");
    // Nothing chosen: the menu comes back, and saving is still possible.
    terminal.type_line("");
    terminal.see(QUESTION, 2);
    terminal.type_line("3");
    assert_eq!(terminal.end().0, 3);
}

#[test]
#[cfg_attr(not(has_tmux), ignore = "needs tmux: cargo xtask test gets it")]
fn saving_and_abandoning() {
    for (key, status, outcome, shown) in [
        (
            "3",
            "max_iterations",
            "paused",
            "Iteration limit reached (1)",
        ),
        ("4", "cancelled", "cancelled", "Loop cancelled"),
    ] {
        let terminal = at_the_menu(&[]);
        terminal.see(QUESTION, 1);
        terminal.type_line(key);
        let (code, screen) = terminal.end();
        assert_eq!(code, 3, "{screen}");
        assert!(screen.contains(shown), "{screen}");
        assert_eq!(terminal.status()["status"], status);
        assert_eq!(terminal.loop_end()["outcome"], outcome);
        assert_eq!(terminal.loop_end()["tasks"]["completed"], 1);
    }
}

/// U-05: nothing waits for a person for ever.
#[test]
#[cfg_attr(not(has_tmux), ignore = "needs tmux: cargo xtask test gets it")]
fn a_menu_that_nobody_answers_saves_and_says_before_when() {
    let env = TestEnv::with_tasks(3);
    env.write(".ralph/config.toml", "limits.menu_timeout = \"3s\"\n");
    let terminal = at_the_menu_of(env, &[]);
    terminal.see(QUESTION, 1);
    let (code, screen) = terminal.end();
    assert_eq!(code, 3, "{screen}");
    let said = "Without an answer the run is saved and ends in 3.0 s.";
    assert!(screen.contains(said), "{screen}");
    assert_eq!(terminal.status()["status"], "max_iterations");
    // Who comes later learns what waits here.
    let agent = terminal
        .env
        .agent(&[json!({"say": "<promise>CONTINUE</promise>"})]);
    let args = ["run", "--max-iterations", "1", "--agent-cmd", &agent];
    let done = terminal.env.ralph(&args);
    assert!(
        done.stdout
            .contains("is paused here and waits for `ralph resume"),
        "{}",
        done.stdout
    );
}

#[test]
#[cfg_attr(not(has_tmux), ignore = "needs tmux: cargo xtask test gets it")]
fn an_answer_that_is_none_is_asked_again() {
    let terminal = at_the_menu(&[]);
    terminal.see(QUESTION, 1);
    for (garbage, asked) in [("9", 2), ("yes please", 3), ("", 4)] {
        terminal.type_line(garbage);
        terminal.see(QUESTION, asked);
    }
    assert!(!terminal.exit.exists());
    terminal.type_line("3");
    assert_eq!(terminal.end().0, 3);
}

#[test]
#[cfg_attr(not(has_tmux), ignore = "needs tmux: cargo xtask test gets it")]
fn ctrl_c_at_the_menu_ends_the_run() {
    let terminal = at_the_menu(&[]);
    terminal.see(QUESTION, 1);
    terminal.tmux(&["send-keys", "C-c"]);
    let (code, screen) = terminal.end();
    assert_eq!(code, 130, "{screen}");
    assert!(screen.contains("Loop interrupted"), "{screen}");
    assert_eq!(terminal.status()["status"], "paused");
    assert_eq!(terminal.loop_end()["outcome"], "interrupted");
}

#[test]
#[cfg_attr(not(has_tmux), ignore = "needs tmux: cargo xtask test gets it")]
fn the_end_of_the_input_saves() {
    let terminal = at_the_menu(&[]);
    terminal.see(QUESTION, 1);
    terminal.tmux(&["send-keys", "C-d"]);
    assert_eq!(terminal.end().0, 3);
    assert_eq!(terminal.status()["status"], "max_iterations");
}

#[test]
#[cfg_attr(not(has_tmux), ignore = "needs tmux: cargo xtask test gets it")]
fn of_several_task_files_the_newest_is_taken_and_announced() {
    let env = TestEnv::new();
    let now = SystemTime::now();
    for (file, hours) in [("specs/001-old/tasks.md", 2), ("specs/000-new/tasks.md", 1)] {
        env.write(file, "## Phase 1: Work\n- [ ] T001 Do it\n");
        let opened = fs::File::options()
            .write(true)
            .open(env.path(file))
            .unwrap();
        let age = Duration::from_secs(hours * 3600);
        opened.set_modified(now - age).unwrap();
    }
    env.write(
        "specs/002-done/tasks.md",
        "## Phase 1: Work\n- [x] T001 Done\n",
    );
    let agent = env.agent(&[json!({"tick": ["T001"], "say": "<promise>COMPLETE</promise>"})]);
    let terminal = Terminal::start(env, &["run", "--agent-cmd", &agent]);
    let (code, screen) = terminal.end();
    assert_eq!(code, 0, "{screen}");
    assert!(
        screen.contains("custom · specs/000-new/tasks.md"),
        "{screen}"
    );
    assert!(screen.contains("specs/001-old/tasks.md"), "{screen}");
    assert!(!screen.contains("specs/002-done"), "{screen}");
    assert!(terminal.env.read("specs/000-new/tasks.md").contains("[x]"));
    assert!(terminal.env.read("specs/001-old/tasks.md").contains("[ ]"));
}

#[test]
#[cfg_attr(not(has_tmux), ignore = "needs tmux: cargo xtask test gets it")]
fn json_asks_nobody() {
    let terminal = at_the_menu(&["--json"]);
    let (code, screen) = terminal.end();
    assert_eq!(code, 3, "{screen}");
    assert!(!screen.contains(QUESTION), "{screen}");
}

/// U-08: nothing is broken by a narrow terminal, and a box that a person
/// emptied is not counted as done.
#[test]
#[cfg_attr(not(has_tmux), ignore = "needs tmux: cargo xtask test gets it")]
fn a_narrow_terminal_breaks_no_line_u_08() {
    let env = TestEnv::with_tasks(2);
    let agent = crate::live::shell_agent(
        &env,
        "cat > /dev/null\necho 'A sentence that is much longer than what fits into a line of fifty columns.'\n\
         sed -i 's/\\[ \\] T001/[x] T001/' tasks.md; echo 1 >> work.txt\n\
         while [ $(wc -l < work.txt) = 2 ] && [ ! -e ../seen ]; do sleep 0.05; done\n\
         echo '<promise>CONTINUE</promise>'\n",
    );
    let args = ["run", "--agent-cmd", &agent, "--max-iterations", "2"];
    let terminal = Terminal::with_columns(env, "50", &[RALPH], &args);
    terminal.see("50% · 1/2 tasks", 1);
    terminal.see("Iteration 2/2", 1);
    terminal.see("A sentence", 2);
    // The box that a person empties counts at once.
    let again = terminal.env.ralph(&["retry", "T001"]);
    assert_eq!(again.code, 0, "{}", again.stderr);
    terminal.see("] 0% · 0/2 tasks", 1);
    fs::write(terminal.env.outside("seen"), "").unwrap();
    terminal.see("(1-4)", 1);
    // Lines that the terminal broke are joined: none was.
    let joined = terminal.tmux(&["capture-pane", "-p", "-J", "-S", "-"]);
    for line in joined.lines() {
        assert!(columns(line.trim_end()) <= 50, "{line}\n{joined}");
    }
}

/// Columns that a terminal uses for what these boxes hold.
fn columns(line: &str) -> usize {
    let mut columns = 0;
    let mut before = 0;
    for c in line.chars() {
        let width = match c {
            // The emoji form of the character before it is wide.
            '\u{fe0f}' => 2 - before,
            '\u{2795}' | '\u{26d4}' | '\u{2705}' => 2,
            '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '\u{ff00}'..='\u{ff60}' => 2,
            '\u{1f300}'..='\u{1faff}' => 2,
            _ => 1,
        };
        columns += width;
        before = width;
    }
    columns
}

#[test]
#[cfg_attr(not(has_tmux), ignore = "needs tmux: cargo xtask test gets it")]
fn boxes_are_aligned_in_zh_tw() {
    let terminal = at_the_menu(&["--lang", "zh-TW"]);
    let menu = terminal.see("請選擇 (1-4):", 1);
    for text in ["達到迭代上限", "當前迭代: 1/1", "[2] 🔀 簡化任務範圍"] {
        assert!(menu.contains(text), "{text}\n{menu}");
    }
    terminal.type_line("3");
    let (code, screen) = terminal.end();
    assert_eq!(code, 3);
    assert!(screen.contains("Loop 安全閥觸發"), "{screen}");
    let mut boxes: Vec<Vec<&str>> = Vec::new();
    for line in screen.lines() {
        if line.starts_with('╔') {
            boxes.push(Vec::new());
        }
        if line.starts_with(['╔', '║', '╠', '╚']) {
            boxes.last_mut().unwrap().push(line.trim_end());
        }
    }
    assert!(boxes.len() >= 2, "{screen}");
    for lines in boxes {
        let frame = columns(lines[0]);
        for line in &lines {
            assert_eq!(columns(line), frame, "{line}\n{screen}");
        }
    }
}

/// The state letter of a process.
#[cfg(target_os = "linux")]
fn state_of(pid: &str) -> String {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let (_, fields) = stat.rsplit_once(") ").unwrap();
    fields.chars().take(1).collect()
}

/// Longer than the turn, its silence and the whole run may last.
#[test]
#[cfg(target_os = "linux")]
#[cfg_attr(not(has_tmux), ignore = "needs tmux: cargo xtask test gets it")]
fn ctrl_z_freezes_the_agent_and_every_timer() {
    let env = TestEnv::with_tasks(1);
    let agent = crate::live::shell_agent(
        &env,
        "here=$(dirname \"$0\")\n\
         echo $$ > \"$here/pid.new\"; mv \"$here/pid.new\" \"$here/pid\"\n\
         while [ ! -e \"$here/enough\" ]; do sleep 0.05; done\n\
         echo '<promise>BLOCKED: enough</promise>'\n",
    );
    let limits = "RALPH_LIMITS_ITERATION_TIMEOUT=5s RALPH_LIMITS_IDLE_TIMEOUT=5s RALPH_LIMITS_MAX_DURATION=6s";
    let command = format!(
        "{limits} {} run --agent-cmd {}",
        quoted(RALPH),
        quoted(&agent)
    );
    let terminal = Terminal::shell(env);
    terminal.type_line(&command);
    let pid = eventually("the agent works", || {
        fs::read_to_string(terminal.env.outside("pid")).ok()
    });
    let pid = pid.trim();
    terminal.tmux(&["send-keys", "C-z"]);
    terminal.see("Stopped", 1);
    eventually("the agent stands still", || {
        (state_of(pid) == "T").then_some(())
    });
    let lock = terminal.env.json(&terminal.env.state_name("lock"));
    let engine = lock["pid"].to_string();
    assert_eq!(state_of(&engine), "T");
    // What has to pass is time itself.
    std::thread::sleep(Duration::from_secs(7));
    terminal.type_line("fg");
    eventually("the agent goes on", || (state_of(pid) != "T").then_some(()));
    fs::write(terminal.env.outside("enough"), "").unwrap();
    let end = eventually("the run ends", || terminal.events("event=loop_end").pop());
    assert_eq!(end["outcome"], "blocked", "{end}");
    assert!(end["duration_ms"].as_u64().unwrap() < 6_000, "{end}");
    assert!(terminal.events("event=error").is_empty());
}

/// The seconds that a countdown on the screen still shows.
#[cfg(target_os = "linux")]
fn seconds_left(screen: &str) -> Option<u32> {
    let (_, rest) = screen.rsplit_once("sleeping ")?;
    rest.split_once(" s, wake")?.0.parse().ok()
}

#[test]
#[cfg(target_os = "linux")]
#[cfg_attr(not(has_tmux), ignore = "needs tmux: cargo xtask test gets it")]
fn a_wait_for_a_limit_counts_down_until_somebody_wakes_it() {
    let env = TestEnv::with_tasks(1);
    limits::client(&env, "claude", &[json!({}), limits::does_it()]);
    limits::stream(&env, "claude", 1, &limits::limited(limits::now() + 59), 1);
    let program = env.outside("bin").join("claude");
    let program = program.to_string_lossy().into_owned();
    env.write(
        ".ralph/config.toml",
        &format!("agent.command = {program:?}\n"),
    );
    let terminal = Terminal::start(env, &["run", "--agent", "claude"]);
    let first = eventually("a countdown", || seconds_left(&terminal.screen()));
    eventually("it counts", || {
        seconds_left(&terminal.screen()).filter(|&left| left < first)
    });
    assert_eq!(terminal.env.ralph(&["wake"]).code, 0);
    let (code, screen) = terminal.end();
    assert_eq!(code, 0, "{screen}");
}

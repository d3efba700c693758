//! The state file of seed 004 in both drivers: read as claims, written as a
//! projection, never lost.

use std::path::PathBuf;
use std::process::Command;

use crate::env::{Done, TestEnv, named};
use crate::session::{ONE, released, sent_on};

pub const STATE: &str = ".claude/ralph-delta.local.md";
/// What an agent may add to the file, with everything that a writer of ours
/// would write otherwise.
const NOTES: &str = "## My notes  \n*  odd   bullet \n\n\n```\n## no heading\n```\n\ttab\n\n";

/// `Phase 3 of 4, subtask 2 of 5`, as seed 004 shows it.
pub fn third_iteration(promise: &str) -> String {
    format!(
        "# Delta Loop State\n\n## Meta\n- Task ID: abc123\n- Route: RALPH\n- Started: 2026-01-18 10:00:00\n- Last Updated: 2026-01-18 10:35:00\n\n## Iteration\n- Current: 3\n- Max Allowed: 20\n- Status: IN_PROGRESS\n\n## Progress\n- Current Phase: 3\n- Completed Phases: [1, 2]\n- Current Subtask: 2 / 5\n\n## Pending Work\n1. Phase 3: 完成剩余 3 个子任务\n2. Phase 4: 综合审查\n\n## Completed Work\n### Phase 1: 深度分析\n- 识别 5 个核心子任务\n\n### Phase 2: 规划\n- 制定执行计划\n\n### Phase 3: 子任务进度\n- [x] 子任务 1: 用户模型\n- [x] 子任务 2: 认证服务\n- [ ] 子任务 3: 权限检查\n- [ ] 子任务 4: 会话管理\n- [ ] 子任务 5: 安全审计\n\n## Promise\n{promise}\n"
    )
}

/// The same when everything is done.
pub fn all_done(promise: &str) -> String {
    third_iteration(promise)
        .replace("- Current Phase: 3", "- Current Phase: 4")
        .replace("[1, 2]", "[1, 2, 3, 4]")
        .replace("2 / 5", "5 / 5")
        .replace("- [ ]", "- [x]")
        .replace(
            "1. Phase 3: 完成剩余 3 个子任务\n2. Phase 4: 综合审查",
            "(none)",
        )
}

pub const PROMISE: &str = "<promise>TASK_COMPLETE</promise>";
const NOT_DONE: &str = "<!-- 未完成 -->";

/// A run under preset `delta` whose agent is this shell script.
fn run(env: &TestEnv, script: &str, more: &[&str]) -> Done {
    Done::of(&command(env, script, more).output().unwrap())
}

fn command(env: &TestEnv, script: &str, more: &[&str]) -> Command {
    let file = env.outside("agent.sh");
    std::fs::write(&file, script).unwrap();
    let agent = format!("sh {}", file.display());
    let args = ["run", "--json", "--preset", "delta", "--agent-cmd", &agent];
    env.command(&[&args[..], more].concat())
}

/// The folder of the only run in the history.
pub fn archive(env: &TestEnv) -> PathBuf {
    let entries = std::fs::read_dir(env.path(".skillpack/history")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = paths.filter(|path| path.is_dir()).collect();
    assert_eq!(paths.len(), 1, "{paths:?}");
    paths.remove(0)
}

pub fn archived_state(env: &TestEnv) -> String {
    std::fs::read_to_string(archive(env).join("ralph-delta.state.md")).unwrap()
}

/// The state file, in the history where the run is over.
pub fn state(env: &TestEnv) -> String {
    match env.path(STATE).exists() {
        true => env.read(STATE),
        false => archived_state(env),
    }
}

/// PROM-04, DELT-11, DELT-13.
#[test]
fn a_promise_in_the_file_is_heard_by_the_outer_loop_and_notes_stay() {
    let env = TestEnv::new();
    env.write("notes", NOTES);
    // The first turn adds its notes and promises too early; the second does
    // the work and promises again.
    let script = format!(
        "cat > /dev/null\nif [ $RALPH_ITERATION = 1 ]; then\n  {{ sed 's/{NOT_DONE}//' {STATE}; echo '{PROMISE}'; cat notes; }} > s; mv s {STATE}\nelse\n  cp {STATE} seen; sed 's/{NOT_DONE}/<promise>TASK_COMPLETE<\\/promise>/' {STATE} > s; mv s {STATE}\n  echo 1 > done.txt\nfi\necho Working.\n"
    );
    let done = run(&env, &script, &["Do it", "--verify", "test -f done.txt"]);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    let events = done.events();
    assert_eq!(named(&events, "promise_rejected").len(), 1);
    let seen = env.read("seen");
    assert!(seen.contains("- Current: 2\n"), "{seen}");
    assert!(!seen.contains(PROMISE), "a claim that was judged: {seen}");
    assert!(seen.ends_with(NOTES), "{seen:?}");
    let state = archived_state(&env);
    assert!(state.contains(NOTES), "{state:?}");
    assert!(state.contains("- Status: COMPLETED\n"), "{state}");
    assert!(state.contains(PROMISE), "{state}");
}

/// DELT-13: what the agent writes about Ralph's own counts is not believed.
#[test]
fn counts_of_the_agent_are_not_believed() {
    let env = TestEnv::new();
    let script = format!(
        "cat > /dev/null\nsed -e 's/- Current: .*/- Current: 99/' -e 's/IN_PROGRESS/COMPLETED/' -e 's/- Max Allowed: .*/- Max Allowed: 500/' {STATE} > s; mv s {STATE}\necho $RALPH_ITERATION > w; echo Working.\n"
    );
    let done = run(&env, &script, &["Do it", "--max-iterations", "2"]);
    assert_eq!(done.code, 3, "{}{}", done.stdout, done.stderr);
    let state = env.read(STATE);
    let counts = "- Current: 2\n- Max Allowed: 2\n- Status: IN_PROGRESS\n";
    assert!(state.contains(counts), "{state}");
}

/// STOP-01, STOP-02, DELT-08, DELT-09, HIST-01, HIST-02, HIST-03.
#[test]
fn a_true_promise_at_the_first_stop_is_believed_and_archived() {
    let env = TestEnv::new();
    env.write(
        ".ralph/config.toml",
        "[verify]\ncommands = [\"test -f done.txt\"]\n[evidence]\nlevel = \"claimed\"\n",
    );
    env.write("done.txt", "1");
    env.write(STATE, &all_done(PROMISE));
    let end = env.claude_session(ONE).stops("都做完了。");
    assert!(released(&end).contains("test -f done.txt"), "{end}");
    assert_eq!(env.json(".ralph/status.json")["status"], "complete");
    let place = archive(&env);
    let name = place.file_name().unwrap().to_str().unwrap();
    assert!(name.ends_with("_abc123"), "{name}");
    let state = archived_state(&env);
    for part in [
        "- Task ID: abc123\n",
        "- Status: COMPLETED\n",
        "- Completed Phases: [1, 2, 3, 4]\n",
        "## Completion Summary\n- Total Iterations: 3\n",
        PROMISE,
    ] {
        assert!(state.contains(part), "{part}: {state}");
    }
    assert!(!env.path(STATE).exists(), "it was moved, as the seed says");
}

/// What was done before the loop became ours is shown by nothing: the agent may
/// stop, and nobody is told that it is proven.
#[test]
fn what_was_there_before_us_is_not_proven() {
    let env = TestEnv::new();
    env.write(".ralph/config.toml", VERIFY);
    env.write("done.txt", "1");
    env.write(STATE, &all_done(PROMISE));
    released(&env.claude_session(ONE).stops("都做完了。"));
    assert_eq!(env.json(".ralph/status.json")["status"], "unproven");
    assert!(env.path(STATE).exists(), "it is not over");
}

/// PROM-11: a state file that says everything is a claim, whoever wrote it, and
/// whatever turn it says that it is.
#[test]
fn an_agent_that_only_edits_the_state_file_proves_nothing() {
    let env = TestEnv::new();
    env.write(STATE, &third_iteration(NOT_DONE));
    std::fs::write(env.outside("state.md"), all_done(PROMISE)).unwrap();
    let script = format!("cp {} {STATE}", env.outside("state.md").display());
    let more = ["--verify", "true"];
    let mut command = command(&env, &script, &more);
    command.env_remove("RALPH_EVIDENCE_LEVEL");
    let done = Done::of(&command.output().unwrap());
    assert_ne!(done.code, 0, "{}", done.stdout);
    assert_ne!(env.json(".ralph/status.json")["status"], "complete");
}

/// T-04, PROM-11, ROUT-09: what the file itself calls open is not done.
#[test]
fn open_phases_and_subtasks_of_the_file_are_missing_evidence() {
    let env = TestEnv::new();
    env.write(
        ".ralph/config.toml",
        "[verify]\ncommands = [\"true\"]\n[evidence]\nlevel = \"claimed\"\n",
    );
    env.write(STATE, &third_iteration(NOT_DONE));
    let client = env.claude_session(ONE);
    sent_on(&client.stops("第三次迭代。"));
    let claim = |text: String| text.replace(NOT_DONE, PROMISE);
    env.write(STATE, &claim(env.read(STATE)));
    let answer = client.stops("都做完了。");
    let reason = sent_on(&answer);
    for part in ["Phase 3, Phase 4", "2 / 5", "子任务 3: 权限检查"] {
        assert!(reason.contains(part), "{part}: {reason}");
    }
    // To leave out what is open does not make it done.
    let shorter = env
        .read(STATE)
        .replace(
            "1. Phase 3: 完成剩余 3 个子任务\n2. Phase 4: 综合审查",
            "(none)",
        )
        .replace("2 / 5", "2 / 2");
    let boxes: Vec<&str> = shorter.lines().filter(|l| !l.contains("[ ]")).collect();
    env.write(STATE, &claim(boxes.join("\n")));
    sent_on(&client.stops("都做完了。"));
    assert_eq!(env.json(".ralph/status.json")["status"], "running");
    // What is said to be done, and proven, is.
    env.write(STATE, &all_done(PROMISE));
    released(&client.stops("都做完了。"));
    assert_eq!(env.json(".ralph/status.json")["status"], "complete");
}

/// T-04 with all that is asked of work: what is open keeps the run open, and a
/// check that was green before shows nothing of what is said to be done.
#[test]
fn a_delta_loop_is_proven_like_every_other_t_04() {
    for state in [third_iteration(PROMISE), all_done(PROMISE)] {
        let env = TestEnv::new();
        env.write("lib.sh", "add() { echo $(($1 + $2)); }\n");
        env.write("test.sh", ". ./lib.sh\n[ \"$(add 1 2)\" = 3 ] || exit 1\n");
        let file = env.outside("state.md");
        std::fs::write(&file, &state).unwrap();
        let script = format!(
            "mkdir -p .claude; cp {} {STATE}; echo '# more' >> lib.sh; echo '{PROMISE}'",
            file.display()
        );
        let more = ["Add sub", "--verify", "sh test.sh", "--max-iterations", "2"];
        let mut command = command(&env, &script, &more);
        command.env_remove("RALPH_EVIDENCE_LEVEL");
        let done = Done::of(&command.output().unwrap());
        assert_ne!(done.code, 0, "{}", done.stdout);
        assert_ne!(env.json(".ralph/status.json")["status"], "complete");
    }
}

/// Sets an agent up in the configuration: `resume` has no flag for one.
fn with_agent(env: &TestEnv, script: &str, more: &str) {
    let file = env.outside("agent.sh");
    std::fs::write(&file, script).unwrap();
    let agent = format!(
        "[agent]\nname = \"custom\"\ncommand = \"sh {}\"\n",
        file.display()
    );
    env.write(".ralph/config.toml", &format!("{agent}{more}"));
}

const VERIFY: &str = "[verify]\ncommands = [\"test -f done.txt\"]\n";

/// An agent that does everything in one turn, and says so in the file.
fn finishes() -> String {
    format!(
        "cat > /dev/null; cp {STATE} seen\nsed -e 's/\\[1, 2\\]/[1, 2, 3, 4]/' -e 's/2 \\/ 5/5 \\/ 5/' -e 's/- \\[ \\]/- [x]/' -e '/^[12]\\. Phase/d' -e 's/{NOT_DONE}/<promise>TASK_COMPLETE<\\/promise>/' {STATE} > s; mv s {STATE}; echo 1 > done.txt; echo Done.\n"
    )
}

/// RESM-04, RESM-06: a state file alone is enough, for a person.
#[test]
fn a_state_file_alone_is_gone_on_with() {
    let env = TestEnv::new();
    with_agent(&env, &finishes(), VERIFY);
    let file = env.outside("saved.md");
    std::fs::write(&file, third_iteration(PROMISE)).unwrap();
    let file = file.to_str().unwrap();
    let by_agent = env
        .command(&["resume", "--from", file, "--yes"])
        .env("RALPH_RUN_ID", "x")
        .output();
    assert_eq!(Done::of(&by_agent.unwrap()).code, 1);
    let nobody = env.ralph(&["resume", "--from", file]);
    assert!(nobody.stderr.contains("--yes"), "{}", nobody.stderr);

    let done = env.ralph(&["resume", "--from", file, "--yes", "--json"]);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    let seen = env.read("seen");
    for part in [
        "- Task ID: abc123\n",
        "- Current: 3\n",
        "- Completed Phases: [1, 2]\n",
        "- [ ] 子任务 3: 权限检查\n",
        NOT_DONE,
    ] {
        assert!(seen.contains(part), "{part}: {seen}");
    }
    let events = done.events();
    assert_eq!(events.last().unwrap()["iterations"], 3);
    let state = archived_state(&env);
    assert!(state.contains("- Status: COMPLETED\n"), "{state}");
}

/// RESM-07, CKPT-10: a damaged file is not the end of the progress.
#[test]
fn a_damaged_state_file_goes_on_from_its_backup() {
    let env = TestEnv::new();
    with_agent(&env, &finishes(), VERIFY);
    env.write(STATE, "torn");
    let backup = ".skillpack/current/ralph-delta.local.md.backup.1";
    env.write(backup, &third_iteration(NOT_DONE));
    let done = env.ralph(&["resume", "--yes", "--json"]);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    assert!(done.stderr.contains("backup.1"), "{}", done.stderr);
    assert!(env.read("seen").contains("- Completed Phases: [1, 2]\n"));
    assert_eq!(env.read(".claude/ralph-delta.corrupt-1.local.md"), "torn");

    let env = TestEnv::new();
    with_agent(&env, &finishes(), VERIFY);
    env.write(STATE, "torn");
    let done = env.ralph(&["resume", "--yes"]);
    assert_eq!(done.code, 1, "{}{}", done.stdout, done.stderr);
    assert_eq!(env.read(STATE), "torn");
    let run = env.ralph(&["run", "--preset", "delta"]);
    for done in [done, run] {
        for part in ["ralph-delta.local.md can't be read", "--from"] {
            assert!(done.stderr.contains(part), "{}", done.stderr);
        }
    }
}

/// CKPT-10: the same where the run stands in the history with its backups.
#[test]
fn a_damaged_state_file_goes_on_from_the_history() {
    let env = TestEnv::new();
    env.write(STATE, &third_iteration(NOT_DONE));
    with_agent(&env, "cat > /dev/null; echo Working.\n", VERIFY);
    let stuck = env.ralph(&["resume", "--yes", "--json"]);
    assert_eq!(stuck.code, 5, "{}{}", stuck.stdout, stuck.stderr);
    assert!(archived_state(&env).contains("[1, 2]"));
    env.write(STATE, "torn");
    with_agent(&env, &finishes(), VERIFY);
    let done = env.ralph(&["resume", "--yes"]);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    assert!(env.read("seen").contains("- Completed Phases: [1, 2]\n"));
    let said = done.stdout + &done.stderr;
    assert!(said.contains("ralph-delta.state.md"), "{said}");
    assert_eq!(env.read(".claude/ralph-delta.corrupt-1.local.md"), "torn");
}

/// RESM-06: the checkpoint is the second source; a command in it is not run.
#[test]
fn a_checkpoint_alone_is_gone_on_with() {
    let env = TestEnv::new();
    with_agent(&env, "cat > /dev/null; echo Working.\n", "");
    let done = env.ralph(&["run", "--preset", "delta", "Do it", "--max-iterations", "2"]);
    assert_eq!(done.code, 3, "{}{}", done.stdout, done.stderr);
    let saved = env.outside("checkpoint.json");
    std::fs::copy(env.path(".skillpack/current/checkpoint.json"), &saved).unwrap();
    for gone in [".ralph", ".skillpack", ".claude"] {
        std::fs::remove_dir_all(env.path(gone)).unwrap();
    }
    let script = format!("cat > /dev/null; cp {STATE} seen; echo 1 > done.txt; echo '{PROMISE}'\n");
    with_agent(&env, &script, VERIFY);
    let saved = saved.to_str().unwrap();
    let done = env.ralph(&["resume", "--from", saved, "--yes", "--json"]);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    let (seen, id) = (env.read("seen"), done.events());
    assert!(seen.contains("- Current: 3\n- Max Allowed: 12\n"), "{seen}");
    assert_eq!(id.last().unwrap()["iterations"], 3);
    // DELT-02: the times as every other of the file.
    for name in ["Started", "Last Updated"] {
        let line = seen.lines().find(|line| line.contains(name)).unwrap();
        let time = line.split_once(": ").unwrap().1;
        assert_eq!((time.len(), &time[10..11]), (19, " "), "{line}");
    }
    // DELT-08: nothing is left of what is done.
    let kept = archived_state(&env);
    assert!(kept.contains("## Pending Work\n(none)\n"), "{kept}");
    assert!(kept.contains("## Completed Work\n1. Do it\n"), "{kept}");
}

/// RESM-05, CKPT-04: what the state file says of its phases stands in the
/// checkpoint of whoever goes on with it.
#[test]
fn the_checkpoint_of_an_adopted_loop_has_its_phases_resm_05() {
    let env = TestEnv::new();
    with_agent(&env, "cat > /dev/null; echo Working.\n", "");
    let text = third_iteration(NOT_DONE).replace("Max Allowed: 20", "Max Allowed: 4");
    env.write(STATE, &text);
    let done = env.ralph(&["resume", "--yes"]);
    assert_eq!(done.code, 3, "{}{}", done.stdout, done.stderr);
    let checkpoint = env.json(".skillpack/current/checkpoint.json");
    let execution = &checkpoint["execution"];
    assert_eq!(execution["current_phase"], 3, "{checkpoint}");
    assert_eq!(execution["total_phases"], 4, "{checkpoint}");
    let phases = execution["phases"].as_array().unwrap();
    let status: Vec<&str> = phases.iter().filter_map(|p| p["status"].as_str()).collect();
    let expected = ["completed", "completed", "in_progress", "pending"];
    assert_eq!(status, expected, "{checkpoint}");
    let subtasks = &checkpoint["subtasks"];
    assert_eq!(subtasks["total"], 5, "{checkpoint}");
    assert_eq!(subtasks["pending"].as_array().unwrap().len(), 3);
    // RESM-06: the checkpoint alone says as much as the state file did.
    let done = serde_json::json!(["子任务 1: 用户模型", "子任务 2: 认证服务"]);
    assert_eq!(subtasks["completed"], done, "{checkpoint}");
    assert_eq!(phases[3]["name"], "综合审查", "{checkpoint}");
    let listed = env.ralph(&["resume", "--list"]).stdout;
    assert!(listed.contains("40%"), "{listed}");
    let file = ".skillpack/current/checkpoint.json";
    let shown = env.ralph(&["resume", "--from", file, "--show"]).stdout;
    for part in [
        "- Current Subtask: 2 / 5",
        "1. Phase 3: 完成剩余 3 个子任务\n2. Phase 4: 综合审查",
        "- [x] 子任务 2: 认证服务\n- [ ] 子任务 3: 权限检查",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}

/// DELT-11, H1 of the sixth audit: what waits there for another task is neither
/// written over nor lost.
#[test]
fn the_state_file_of_another_task_stands_aside_for_one_that_is_named() {
    let env = TestEnv::new();
    with_agent(&env, "cat > /dev/null; echo Working.\n", "");
    env.write(STATE, &third_iteration(NOT_DONE));
    let other = third_iteration(NOT_DONE).replace("abc123", "zzz999");
    env.write("other.md", &other);
    let done = env.ralph(&["resume", "--from", "other.md", "--yes"]);
    assert!(done.stderr.contains("is another task's"), "{}", done.stderr);
    let aside = env.read(".claude/ralph-delta.abc123.local.md");
    assert_eq!(aside, third_iteration(NOT_DONE));
    assert!(state(&env).contains("zzz999"));
}

/// INTR-06, HIST-06: a state file that is given up is told of and archived, and
/// an attempt that can't even begin opens nothing again.
#[test]
fn a_state_file_is_given_up_and_stays_given_up_intr_06() {
    let env = TestEnv::new();
    with_agent(&env, "cat > /dev/null; echo Working.\n", "");
    env.write(STATE, &third_iteration(NOT_DONE));
    let missing = ["resume", "--yes", "--agent-cmd", "./no-such-agent-anywhere"];
    let failed = env.ralph(&missing);
    assert_eq!(failed.code, 1, "{}{}", failed.stdout, failed.stderr);
    assert_eq!(env.read(STATE), third_iteration(NOT_DONE));
    let done = env.ralph(&["resume", "--abandon"]);
    assert_eq!(done.code, 3, "{}{}", done.stdout, done.stderr);
    assert!(done.stdout.contains("cancelled"), "{}", done.stdout);
    assert!(!env.path(STATE).exists());
    let kept = archived_state(&env);
    assert!(kept.contains("- Status: USER_ABORT"), "{kept}");
    assert!(kept.contains("- Current: 3\n"), "{kept}");
    assert!(kept.contains("- [x] 子任务 2: 认证服务"), "{kept}");
    let again = env.ralph(&["resume", "--yes"]);
    assert_eq!(again.code, 1, "{}{}", again.stdout, again.stderr);
    assert!(!env.path(STATE).exists());
}

/// VALV-05: what is done and what is open, in the box at the limit.
#[test]
fn the_box_at_the_limit_says_what_is_open() {
    let env = TestEnv::new();
    let text = third_iteration(NOT_DONE).replace("Max Allowed: 20", "Max Allowed: 3");
    env.write(STATE, &text);
    let client = env.claude_session(ONE).var("RALPH_LANG", "zh-CN");
    let end = client.stops("第三次迭代。");
    let told = released(&end);
    for part in ["当前迭代: 3/3", "已完成: 2/5", "未完成: Phase 3, Phase 4"] {
        assert!(told.contains(part), "{part}: {told}");
    }
}

/// RESM-08: told where the list changed, and only there.
#[test]
fn a_reworded_task_is_told_and_an_unchanged_list_is_not() {
    let said = |edit: &dyn Fn(&TestEnv)| {
        let env = TestEnv::with_tasks(3);
        let turn =
            |id: &str| serde_json::json!({"tick": [id], "say": "<promise>CONTINUE</promise>"});
        let (done, _) = env.run_script(&[turn("T001"), turn("T002")], &["--max-iterations", "1"]);
        assert_eq!(done.code, 3, "{}", done.stderr);
        edit(&env);
        env.ralph(&["resume", "--yes"]);
        let log = env.read(".ralph/ralph.log");
        log.contains("changed since the run stopped: the task file")
    };
    assert!(!said(&|_| {}));
    assert!(said(&|env| {
        let tasks = env.read("tasks.md");
        env.write("tasks.md", &tasks.replace("thing 3", "another thing"));
    }));
}

/// The whole of seed 004 with the outer loop: from its initial state over its
/// third iteration to its end, with an early promise, the limit and a file
/// that somebody tore (DELT-01 to DELT-13, CONF-05, RESM-03, CKPT-10, HIST-01).
#[test]
fn the_whole_of_the_seed_with_the_outer_loop() {
    let env = TestEnv::new();
    let step = |name: &str, text: &str| std::fs::write(env.outside(name), text).unwrap();
    let first = third_iteration(NOT_DONE)
        .replace("- Current: 3", "- Current: 1")
        .replace("Max Allowed: 20", "Max Allowed: 4")
        .replace("[1, 2]", "[]")
        .replace("2 / 5", "0 / 5");
    let (head, rest) = first.split_once("## Pending Work").unwrap();
    let (_, tail) = rest.split_once("## Promise").unwrap();
    let initial = format!(
        "{head}## Pending Work\n1. Phase 1: 深度分析\n2. Phase 2: 规划\n3. Phase 3: 执行 5 个子任务\n4. Phase 4: 综合审查\n\n## Completed Work\n(none)\n\n## Promise{tail}"
    );
    env.write(STATE, &initial);
    step(
        "1",
        &initial
            .replace("[]", "[1]")
            .replace("1. Phase 1: 深度分析\n", ""),
    );
    step(
        "2",
        &third_iteration(NOT_DONE)
            .replace("2 / 5", "0 / 5")
            .replace("[x]", "[ ]"),
    );
    step("3", &third_iteration(PROMISE));
    step("4", "torn by a full disk");
    step("5", &all_done(PROMISE));
    let script = format!(
        "cat > /dev/null; cp {STATE} $HOME/seen-$RALPH_ITERATION; cp $HOME/$RALPH_ITERATION {STATE}; echo $RALPH_ITERATION > work.txt\n[ $RALPH_ITERATION = 5 ] && echo 1 > done.txt\necho Working.\n"
    );
    let done = run(&env, &script, &["--verify", "test -f done.txt"]);
    assert_eq!(done.code, 3, "{}{}", done.stdout, done.stderr);
    let end = done.events().pop().unwrap();
    assert_eq!(end["reason"], "max_iterations", "{end}");
    let rejected = done.events();
    let rejected = named(&rejected, "promise_rejected");
    assert_eq!(rejected.len(), 1);
    assert!(rejected[0].to_string().contains("Phase 3, Phase 4, 2 / 5"));
    // The torn file stands aside, and its progress is not lost.
    assert!(env.path(".claude/ralph-delta.corrupt-1.local.md").exists());
    let state = env.read(STATE);
    for part in [
        "- Current: 4\n", "IN_PROGRESS", "[1, 2]", "2 / 5", "- [x] 子任务 2",
    ] {
        assert!(state.contains(part), "{part}: {state}");
    }

    let done = env.ralph(&["resume", "--yes", "--json"]);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    for n in 1..=5 {
        let seen = std::fs::read_to_string(env.outside(&format!("seen-{n}"))).unwrap();
        assert!(seen.contains(&format!("- Current: {n}\n")), "{n}: {seen}");
        assert!(
            seen.contains("- Task ID: abc123\n") && seen.contains(NOT_DONE),
            "{seen}"
        );
    }
    let place = archive(&env);
    assert!(place.to_str().unwrap().ends_with("_abc123"), "{place:?}");
    for file in [
        "checkpoint.json", "execution.log.jsonl", "report.md", "manifest.json",
    ] {
        assert!(place.join(file).is_file(), "{file}");
    }
    let state = archived_state(&env);
    for part in [
        "- Current: 5\n- Max Allowed: 14\n- Status: COMPLETED\n",
        "- Completed Phases: [1, 2, 3, 4]\n- Current Subtask: 5 / 5\n",
        "## Pending Work\n(none)\n",
        PROMISE,
        "## Completion Summary\n- Total Iterations: 5\n",
    ] {
        assert!(state.contains(part), "{part}: {state}");
    }
    assert!(!env.path(STATE).exists());
    assert!(!env.path(".skillpack/current/checkpoint.json").exists());
    let log = std::fs::read_to_string(place.join("execution.log.jsonl")).unwrap();
    for event in ["iteration_start", "iteration_complete", "task_complete"] {
        assert!(
            log.contains(&format!("\"event\":\"{event}\"")),
            "{event}: {log}"
        );
    }
}

/// DELT-11: the state file of another task that can't be set aside stays as it
/// is; the run does without one, and says so.
#[test]
fn a_file_that_cannot_be_set_aside_is_not_written_over_delt_11() {
    let theirs = all_done(PROMISE).replace("IN_PROGRESS", "COMPLETED");
    for (fault, is_kept) in [("delta.aside#1+=EIO", true), ("", false)] {
        let env = TestEnv::new();
        env.write(STATE, &theirs);
        let script =
            "cat > /dev/null\necho 1 > done.txt\necho '<promise>TASK_COMPLETE</promise>'\n";
        let more = ["Do it", "--verify", "test -f done.txt"];
        let mut command = command(&env, script, &more);
        let done = Done::of(&command.env("RALPH_FAULT", fault).output().unwrap());
        assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
        let aside = ".claude/ralph-delta.abc123.local.md";
        let place = if is_kept { STATE } else { aside };
        assert_eq!(env.read(place), theirs, "{fault}");
        assert_eq!(env.path(aside).exists(), !is_kept, "{fault}");
        let log = env.read(".ralph/ralph.log");
        assert!(log.contains("ralph-delta.abc123"), "{log}");
    }
}

/// STAT-02, EVNT-01, DELT-09: what the file of another tool says of its phase,
/// its subtasks and its review reaches what others read; nothing is made up.
#[test]
fn what_an_adopted_file_says_is_told_on_evnt_01() {
    let summary = "\n## Completion Summary\n- Review Score: 92/100\n";
    for (review, want) in [(summary, true), ("", false)] {
        let env = TestEnv::new();
        env.write(STATE, &third_iteration(NOT_DONE));
        env.write("end", &format!("{}{review}", all_done(PROMISE)));
        let script = format!(
            "cat > /dev/null\ncp .ralph/status.json seen.json\ncp end {STATE}\ntouch done.txt\necho Working.\n"
        );
        let done = run(&env, &script, &["--verify", "test -f done.txt"]);
        assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
        let place = archive(&env);
        let log = std::fs::read_to_string(place.join("execution.log.jsonl")).unwrap();
        let log: Vec<serde_json::Value> = log
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let start = named(&log, "iteration_start")[0];
        assert_eq!(start["phase"], 3, "{start}");
        let end = named(&log, "iteration_complete")[0];
        assert_eq!(end["phase"], 3, "{end}");
        assert_eq!(end["subtasks_done"], 3, "{end}");
        assert_eq!(env.json(".ralph/status.json")["phase"], "4");
        let state = archived_state(&env);
        assert_eq!(state.contains("- Review Score: 92/100\n"), want, "{state}");
        assert_eq!(state.contains("Review Score"), want, "{state}");
    }
}

/// RESM-04, RESM-06: in a session, a state file is found and gone on with.
#[test]
fn a_session_shows_what_waits_and_goes_on_with_it() {
    let env = TestEnv::new();
    env.write(STATE, &third_iteration(NOT_DONE));
    let client = env.claude_session(ONE).var("RALPH_LANG", "zh-CN");
    let source = serde_json::json!({"source": "startup"});
    let begun = client.hook("session-start", "SessionStart", &source);
    let told = begun["systemMessage"].as_str().unwrap_or_default();
    for part in [
        "🔄 发现未完成任务",
        "路由: RALPH",
        "进度: Phase 3/4, 迭代 3",
        "中断时间: 2026-01-18 10:35:00",
        "[1] ▶️ 继续执行",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert!(!env.state("runs").exists(), "nothing began by itself");
    let menu = client.says("/do --resume");
    assert!(sent_on(&menu).contains("请选择 (1-4):"), "{menu}");
    let details = client.says("3");
    assert!(sent_on(&details).contains("- Task ID: abc123"), "{details}");
    assert!(!env.state("runs").exists(), "nothing was chosen yet");
    let answer = client.says("1");
    let text = answer.to_string();
    assert!(text.contains("第 3/20 次"), "{text}");
    assert!(text.contains("子任务: 2 / 5"), "{text}");
}

/// RESM-04: the other choices about a state file that is all there is.
#[test]
fn a_session_starts_over_or_gives_up_what_a_file_says_resm_04() {
    for (choice, status) in [("2", "running"), ("4", "cancelled")] {
        let env = TestEnv::new();
        env.write(STATE, &third_iteration(NOT_DONE));
        let client = env.claude_session(ONE);
        let source = serde_json::json!({"source": "startup"});
        // The menu that a session begins with is answered in the same way.
        let begun = client.hook("session-start", "SessionStart", &source);
        let told = begun["systemMessage"].as_str().unwrap_or_default();
        assert!(told.contains("Type 1 to 4"), "{told}");
        let answer = client.says(choice);
        assert_eq!(env.json(".ralph/status.json")["status"], status, "{answer}");
        if choice == "2" {
            assert_eq!(env.json(".ralph/status.json")["iteration"], 1, "{answer}");
            let kept = env.read(".claude/ralph-delta.abc123.local.md");
            assert_eq!(kept, third_iteration(NOT_DONE));
            let asked = answer.to_string();
            for part in ["Phase 1: 深度分析", "- 子任务 2: 认证服务"] {
                assert!(asked.contains(part), "{part}: {asked}");
            }
            assert!(env.read(STATE).contains("\n1. Phase 1: "));
        } else {
            assert!(sent_on(&answer).contains("Cancelled"), "{answer}");
        }
    }
}

/// RESM-04, ROUT-09: over again is all of it again, also where a run of ours
/// had taken up what was left.
#[test]
fn starting_over_asks_for_all_of_an_adopted_loop_resm_04() {
    let env = TestEnv::new();
    env.write(STATE, &third_iteration(NOT_DONE));
    let client = env.claude_session(ONE);
    client.says("continue");
    client.says("pause");
    client.says("/do --resume");
    let asked = client.says("2").to_string();
    for part in [
        "Phase 1: 深度分析",
        "- 子任务 2: 认证服务",
        "Phase 4: 综合审查",
    ] {
        assert!(asked.contains(part), "{part}: {asked}");
    }
}

/// BRKR-03: what the state file says of phases and subtasks is progress like
/// the ticks of a list, once.
#[test]
fn phases_of_the_state_file_are_progress_brkr_03() {
    let env = TestEnv::new();
    env.write(STATE, &third_iteration(NOT_DONE));
    let script = format!(
        "cat > /dev/null; n=$(($(cat {0} 2>/dev/null || echo 2) + 1)); echo $n > {0}\n\
         test $n -gt 5 || sed -i \"s|^- Current Subtask: .*|- Current Subtask: $n / 5|\" {STATE}\n\
         echo '<promise>CONTINUE</promise>'\n",
        env.outside("n").display()
    );
    with_agent(&env, &script, "");
    let done = env.ralph(&["run", "--preset", "delta", "--json"]);
    let of = |name: &str| {
        let events = done.events();
        let named = events.iter().filter(|event| event["event"] == name);
        named
            .map(|event| event["progress"].to_string())
            .collect::<Vec<_>>()
    };
    let progress = of("iteration_complete");
    assert_eq!(
        &progress[..4],
        ["[\"tasks\"]", "[\"tasks\"]", "[\"tasks\"]", "[]"],
        "{}",
        done.stdout
    );
}

/// Whatever is wrong with the file, the words say what to name instead.
#[test]
fn a_file_that_cannot_be_gone_on_from_is_refused_with_words() {
    let env = TestEnv::new();
    env.write("notes.md", "no state at all\n");
    for file in ["missing.md", "notes.md", "."] {
        let done = env.ralph(&["resume", "--from", file, "--yes"]);
        assert_eq!(done.code, 1, "{file}");
        let told = format!("{file} can't be read: ");
        assert!(done.stderr.contains(&told), "{}", done.stderr);
        assert!(
            done.stderr.contains("name another file with --from"),
            "{}",
            done.stderr
        );
    }
}

/// CONF-05: where the work stands in the state file, `ralph tasks` shows it.
#[test]
fn the_phases_of_the_state_file_are_the_list_conf_05() {
    let env = TestEnv::new();
    env.write(".ralph/config.toml", "[tasks]\nsource = \"delta\"\n");
    env.write("tasks.md", "- [ ] T001 Not asked for\n");
    env.write(STATE, &third_iteration("<!-- 未完成 -->"));
    let list = env.ralph(&["tasks"]);
    assert_eq!(list.code, 0, "{}", list.stderr);
    insta::assert_snapshot!(list.stdout, @r"
    .claude/ralph-delta.local.md (delta): 2/4 phases, 2/5 subtasks done, as the file says

      [x] Phase 1 深度分析

      [x] Phase 2 规划

      [ ] Phase 3 完成剩余 3 个子任务
          [x] 子任务 1: 用户模型
          [x] 子任务 2: 认证服务
          [ ] 子任务 3: 权限检查
          [ ] 子任务 4: 会话管理
          [ ] 子任务 5: 安全审计

      [ ] Phase 4 综合审查
    ");
    let json: serde_json::Value =
        serde_json::from_str(&env.ralph(&["tasks", "--json"]).stdout).unwrap();
    assert_eq!((&json["completed"], &json["total"]), (&2.into(), &5.into()));
    assert_eq!(json["phases"][2]["key"], "3");
    assert_eq!(json["tasks"][1]["done"], true);
    assert_eq!(
        env.ralph(&["tasks", "next"]).stdout.trim(),
        "子任务 3: 权限检查"
    );
    let tick = env.ralph(&["tasks", "tick", "1"]);
    assert_eq!(tick.code, 1);
    assert!(tick.stderr.contains("--tasks FILE"), "{}", tick.stderr);
    // Another file that is named is meant.
    let named = env.ralph(&["tasks", "--tasks", "tasks.md"]);
    assert!(named.stdout.contains("T001"), "{}", named.stdout);
    // One that can't be read is said, and nothing else taken for it.
    env.write(STATE, "garbage");
    let broken = env.ralph(&["tasks"]);
    assert_eq!(broken.code, 1);
    assert!(broken.stderr.contains(STATE), "{}", broken.stderr);
}

/// RESM-04: a run that is over does not hide a loop that waits.
#[test]
fn a_state_file_beside_a_run_that_is_over_is_offered() {
    let env = TestEnv::new();
    with_agent(&env, &finishes(), VERIFY);
    let done = env.ralph(&["run", "--preset", "delta", "Do it"]);
    assert_eq!(done.code, 0, "{}", done.stdout);
    std::fs::remove_dir_all(env.path(".ralph")).unwrap();
    let over = env.ralph(&["resume", "--yes"]);
    assert_eq!(over.code, 0, "{}", over.stderr);
    assert!(over.stdout.contains("complete now"), "{}", over.stdout);
    let over = env.ralph(&["resume", "--yes"]);
    assert!(over.stderr.contains("is over"), "{}", over.stderr);
    env.write(STATE, &third_iteration(NOT_DONE));
    let given_up = env.ralph(&["resume", "--abandon"]);
    assert_eq!(given_up.code, 3, "{}{}", given_up.stdout, given_up.stderr);
    // Who calls nobody needs no agent, and what it came to is kept.
    for part in ["command not found", "sandbox", "nothing can prove"] {
        assert!(!given_up.stdout.contains(part), "{}", given_up.stdout);
    }
    let list = env.ralph(&["resume", "--list"]).stdout;
    assert!(list.contains("phase 3/4  40%"), "{list}");
}

/// VALV-12: a person leaves parts of a state file out, and the rest is enough.
#[test]
fn parts_of_a_state_file_are_left_out_valv_12() {
    let env = TestEnv::new();
    env.write(STATE, &third_iteration(NOT_DONE));
    with_agent(
        &env,
        "cat > /dev/null; date +%N > w; echo Working.\n",
        VERIFY,
    );
    let paused = env.ralph(&["run", "--preset", "delta", "--max-iterations", "3"]);
    assert_eq!(paused.code, 3, "{}{}", paused.stdout, paused.stderr);
    let list = env.ralph(&["tasks"]);
    assert!(list.stdout.contains("[ ] Phase 4"), "{}", list.stderr);
    for (args, told) in [
        (&["Phase 9"][..], "open are: Phase 3, Phase 4, 子任务 3"),
        (&["子任务"], "nothing open that is named"),
        (&["3", "4"], "nothing would be left"),
        (&[], "say which"),
    ] {
        let refused = env.ralph(&[&["tasks", "skip"][..], args].concat());
        assert_eq!(refused.code, 1, "{args:?}");
        assert!(refused.stderr.contains(told), "{}", refused.stderr);
    }
    // With the phase its subtasks; and one of them that is taken back.
    let skipped = env.ralph(&["tasks", "skip", "3"]);
    assert_eq!(skipped.code, 0, "{}", skipped.stderr);
    assert_eq!(env.ralph(&["tasks", "unskip", "Phase 3"]).code, 0);
    let skipped = env.ralph(&["tasks", "skip", "综合审查", "4"]);
    assert_eq!(skipped.code, 1, "a title is no name");
    assert_eq!(env.ralph(&["tasks", "skip", "4"]).code, 0);
    let script = format!(
        "cat > {}/prompt\nsed -e 's/: \\[1, 2\\]/: [1, 2, 3]/' -e 's/.-- 未完成 --./<promise>TASK_COMPLETE<\\/promise>/' {STATE} > s; mv s {STATE}\necho 1 > done.txt; echo Working.\n",
        env.outside("").display()
    );
    with_agent(&env, &script, VERIFY);
    let done = env.ralph(&["resume", "--yes"]);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    assert!(done.stdout.contains("left out: Phase 4"), "{}", done.stdout);
    let prompt = std::fs::read_to_string(env.outside("prompt")).unwrap();
    for part in ["left these parts out", "- Phase 4\n", "- 子任务 5"] {
        assert!(prompt.contains(part), "{part}: {prompt}");
    }
}

/// PROM-04: the agent learns where the state of its loop stands, in every turn.
#[test]
fn the_prompt_names_the_state_file() {
    let env = TestEnv::new();
    env.write(STATE, &third_iteration(NOT_DONE));
    let script = format!("cat > {}/prompt", env.outside("").display());
    let done = Done::of(
        &command(&env, &script, &["--max-iterations", "4"])
            .output()
            .unwrap(),
    );
    assert_ne!(done.code, 0);
    let prompt = std::fs::read_to_string(env.outside("prompt")).unwrap();
    assert!(
        prompt.contains(&format!("stands in {STATE}: read it first")),
        "{prompt}"
    );
}

/// RESM-06: who has a checkpoint alone is told how to go on from it.
#[test]
fn a_checkpoint_alone_is_named_as_a_way_to_go_on() {
    let env = TestEnv::new();
    env.write("tasks.md", "# Tasks\n\n- [ ] T001 One\n- [ ] T002 Two\n");
    let agent =
        "sed -i 's/- \\[ \\] T001/- [x] T001/' tasks.md; echo '<promise>CONTINUE</promise>'";
    let file = env.outside("agent.sh");
    std::fs::write(&file, agent).unwrap();
    let agent = format!("sh {}", file.display());
    env.ralph(&["run", "--agent-cmd", &agent, "--max-iterations", "1"]);
    assert!(env.path(".skillpack/current/checkpoint.json").exists());
    std::fs::remove_dir_all(env.state("runs")).unwrap();
    let done = env.ralph(&["resume", "--yes"]);
    assert_eq!(done.code, 1, "{}", done.stdout);
    let way = "ralph resume --from .skillpack/current/checkpoint.json";
    assert!(done.stderr.contains(way), "{}", done.stderr);
}

/// The file is there before the machine has heard what time it is (DELT-02).
#[test]
fn a_state_file_says_when_its_run_began() {
    let env = TestEnv::new();
    let script = "grep -h Started .claude/ralph-delta.local.md > ../started; echo '<promise>CONTINUE</promise>'";
    let done = run(&env, script, &["--max-iterations", "1", "make it better"]);
    let started = std::fs::read_to_string(env.outside("started"));
    let started = started.unwrap_or_else(|e| panic!("{e}: {}{}", done.stdout, done.stderr));
    assert!(started.starts_with("- Started: 20"), "{started}");
}

/// Seed 004 knows one promise, in the file: a turn that ends without a tag is
/// what is expected, and the loop goes on to its limit (STOP-01).
#[test]
fn a_session_s_delta_loop_needs_no_tags_stop_01() {
    let env = TestEnv::new();
    env.write(STATE, &third_iteration(NOT_DONE));
    let client = env.claude_session(ONE);
    // More often than the breaker waits for a tag, less than a client goes on.
    for turn in 0..7 {
        env.write(&format!("work-{turn}.txt"), "new");
        let answer = client.stops("Worked on.");
        let text = sent_on(&answer);
        assert!(!text.contains("exactly one of the tags"), "{turn}: {text}");
    }
    assert!(env.read(STATE).contains("- Status: IN_PROGRESS"));
}

/// STOP-01: the id of a loop that is over hides no new state file.
/// STOP-01, DELT-11: a person begins another loop while one rests.
#[test]
fn a_state_file_beside_a_loop_that_rests_is_worked_on_stop_01() {
    let env = TestEnv::new();
    let at_limit = third_iteration(NOT_DONE).replace("Max Allowed: 20", "Max Allowed: 3");
    env.write(STATE, &at_limit);
    let client = env.claude_session(ONE);
    let rests = client.stops("Working.");
    assert!(rests["decision"].is_null(), "{rests}");
    env.write(
        STATE,
        &third_iteration(NOT_DONE).replace("abc123", "def456"),
    );
    let answer = client.stops("Working.");
    assert!(sent_on(&answer).contains("Phase 3"), "{answer}");
    assert!(env.read(STATE).contains("- Task ID: def456\n"));
}

#[test]
fn a_new_state_file_with_the_id_of_a_finished_loop_is_worked_on_stop_01() {
    let env = TestEnv::new();
    let settings = format!("{VERIFY}[evidence]\nlevel = \"claimed\"\n");
    env.write(".ralph/config.toml", &settings);
    env.write("done.txt", "1");
    env.write(STATE, &all_done(PROMISE));
    let client = env.claude_session(ONE);
    released(&client.stops("都做完了。"));
    assert_eq!(env.json(".ralph/status.json")["status"], "complete");
    assert!(!env.path(STATE).exists());
    env.write(STATE, &third_iteration(NOT_DONE));
    let answer = client.stops("Working.");
    assert!(sent_on(&answer).contains("4/20"), "{answer}");
    // It is a loop like any other.
    let other = env.claude_session(ONE);
    let again = other.stops("Working on.");
    assert!(sent_on(&again).contains("5/20"), "{again}");
    let state = env.read(STATE);
    assert!(state.contains("- Task ID: abc123\n"), "{state}");
}

/// RESM-06: in a session, a checkpoint that is all that is left is offered to
/// whoever asks for it.
#[test]
fn a_session_goes_on_from_a_checkpoint_alone_resm_06() {
    let env = TestEnv::new();
    with_agent(&env, "cat > /dev/null; echo Working.\n", "");
    let done = env.ralph(&["run", "--preset", "delta", "Do it", "--max-iterations", "2"]);
    assert_eq!(done.code, 3, "{}{}", done.stdout, done.stderr);
    std::fs::remove_dir_all(env.state("runs")).unwrap();
    std::fs::remove_file(env.path(STATE)).unwrap();
    let client = env.claude_session(ONE);
    let source = serde_json::json!({"source": "startup"});
    let begun = client.hook("session-start", "SessionStart", &source);
    assert!(!begun.to_string().contains("1 to 4"), "{begun}");
    let menu = client.says("/do --resume");
    assert!(sent_on(&menu).contains("Do it"), "{menu}");
    let answer = client.says("1").to_string();
    assert!(answer.contains("3 / 12"), "{answer}");
    assert_eq!(env.json(".ralph/status.json")["iteration"], 3);
}

/// DELT-09, HIST-01: the review of an adopted loop stands in its file, and its
/// score in the summary.
#[test]
fn the_review_file_of_an_adopted_loop_says_its_score_delt_09() {
    let env = TestEnv::new();
    let settings = format!("{VERIFY}[evidence]\nlevel = \"claimed\"\n");
    env.write(".ralph/config.toml", &settings);
    env.write("done.txt", "1");
    env.write(
        ".skillpack/current/4_review.md",
        "# 审查\n\nReview Score: 91/100\n",
    );
    env.write(STATE, &all_done(PROMISE));
    released(&env.claude_session(ONE).stops("都做完了。"));
    assert_eq!(env.json(".ralph/status.json")["status"], "complete");
    let state = archived_state(&env);
    assert!(state.contains("- Review Score: 91/100\n"), "{state}");
    let review = archive(&env).join("4_review.md");
    assert!(review.exists(), "{}", archive(&env).display());
}

//! `ralph drill`: every fault is caught by the real engine, what is not caught
//! is said, and the project is never touched.

use std::fs;
use std::path::PathBuf;

use ralph_core::text::width::width;
use ralph_store::home::StateHome;
use ralph_store::layout::Layout;
use serde_json::Value;

use crate::env::{Done, TestEnv, named};
use crate::languages::{in_all_languages, redacted};
use crate::live::{Live, wait_until};

/// A project whose work can be proven, and is not done.
fn project() -> TestEnv {
    configured("[verify]\ncommands = [\"test -e done.txt\"]\n")
}

fn configured(config: &str) -> TestEnv {
    let env = TestEnv::with_tasks(2);
    env.write(".ralph/config.toml", config);
    fs::create_dir(temp(&env)).unwrap();
    env
}

/// Where the copies lie.
fn temp(env: &TestEnv) -> PathBuf {
    env.outside("temp")
}

fn drill(env: &TestEnv, args: &[&str]) -> Done {
    let args: Vec<&str> = ["drill", "--scale", "small"]
        .iter()
        .chain(args)
        .copied()
        .collect();
    let before = env.snapshot();
    let output = env
        .command(&args)
        .env("TMPDIR", temp(env))
        .output()
        .unwrap();
    assert_eq!(env.snapshot(), before, "the project is only read");
    Done::of(&output)
}

/// Plays one fault; gives its line and that of the end.
fn play(env: &TestEnv, fault: &str, more: &[&str]) -> (Done, Value, Value) {
    let args: Vec<&str> = ["--json", "--only", fault]
        .iter()
        .chain(more)
        .copied()
        .collect();
    let done = drill(env, &args);
    let events = done.events();
    let line = named(&events, "drill_fault")[0].clone();
    let end = named(&events, "drill_end")[0].clone();
    assert_eq!(line["fault"], fault);
    assert_eq!(line["left"]["processes"], 0, "{line}");
    assert_eq!(line["left"]["lock"], false, "{line}");
    assert_eq!(end["processes_left"], 0, "{end}");
    assert_eq!(end["copies_left"], false, "{end}");
    assert_eq!(end["project_untouched"], true, "{end}");
    assert_eq!(fs::read_dir(temp(env)).unwrap().count(), 0);
    (done, line, end)
}

fn check_in(env: &TestEnv, fault: &str, reason: &str) {
    let (done, line, end) = play(env, fault, &[]);
    assert_eq!(line["verdict"], "caught", "{line}");
    assert_eq!(line["reason"], reason);
    assert_eq!(end["caught"], 1);
    assert_eq!(done.code, 0, "{}", done.stderr);
}

fn check(fault: &str, reason: &str) {
    check_in(&project(), fault, reason);
}

#[test]
fn an_agent_that_hangs_is_ended_by_its_timeout() {
    check("hang-before", "idle timeout → 3 errors in a row");
    let env = configured("[limits]\nidle_timeout = \"0\"\n");
    check_in(&env, "hang-before", "turn timeout → 3 errors in a row");
    check_in(&env, "hang-after", "turn timeout → 3 errors in a row");
}

#[test]
fn silence_is_ended_before_the_turn_is_over() {
    let env = configured("[limits]\nidle_timeout = \"5m\"\nconsecutive_errors = 1\n");
    check_in(&env, "hang-before", "idle timeout → 1 error in a row");
}

#[test]
fn a_stream_without_its_end_is_no_result() {
    check("no-result", "no result → 3 errors in a row");
    check("half-line", "no result → 3 errors in a row");
}

#[test]
fn plain_words_without_a_promise_open_the_breaker() {
    let agent = "[agent]\nname = \"custom\"\ncommand = \"nobody\"\n";
    let env = configured(agent);
    let reason = "no promise → circuit breaker: stalled";
    check_in(&env, "no-result", reason);
    check_in(&env, "half-line", reason);
}

#[test]
fn floods_cost_no_memory_and_lose_no_answer() {
    let env = project();
    for fault in ["flood", "long-line"] {
        let (done, line, _) = play(&env, fault, &[]);
        assert_eq!(line["verdict"], "caught", "{line}");
        assert_eq!(done.code, 0);
        let reason = line["reason"].as_str().unwrap();
        assert!(reason.ends_with("its answer was heard"), "{reason}");
        // A run this small may be over before its memory was looked at.
        let peak = line["peak_memory"].as_u64().unwrap_or(0);
        assert!(peak < 32 << 20, "{line}");
    }
}

/// What it tries has to hold without a wall: with one, its agent could do
/// nothing of it.
#[test]
fn a_sandbox_that_is_set_is_not_in_the_way() {
    let env =
        configured("[verify]\ncommands = [\"test -e done.txt\"]\n[sandbox]\nmode = \"auto\"\n");
    let args = [
        "drill", "--scale", "small", "--json", "--only", "corrupt-status",
    ];
    let mut command = env.command(&args);
    command.env_remove("RALPH_SANDBOX_MODE");
    let done = Done::of(&command.env("TMPDIR", temp(&env)).output().unwrap());
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
}

#[test]
fn bytes_that_are_no_text_stay_where_they_are() {
    check("raw-bytes", "only text reached logs, prompts and screen");
}

#[test]
fn words_and_ticks_prove_nothing() {
    check("ticks-only", "verification failed → it kept failing");
    check(
        "deletes-tasks",
        "task file: File operation failed → 3 errors in a row",
    );
}

#[test]
fn an_agent_that_dies_or_leaves_a_daemon_leaves_nobody() {
    check("exit-137", "exit code 137 → 3 errors in a row");
    check(
        "daemon",
        "the daemon ended with the turn → its answer was heard",
    );
}

#[test]
fn state_that_an_agent_damages_is_noticed() {
    check("corrupt-status", "written anew → its answer was heard");
    check("corrupt-journal", "journal checksum; resume refuses");
    check(
        "corrupt-lock",
        "a second run was refused → its answer was heard",
    );
}

#[test]
fn a_full_disk_is_survived_or_said_not_to_be_tried() {
    let (done, line, end) = play(&project(), "full-disk", &[]);
    assert_eq!(done.code, 0, "{line}");
    let reason = line["reason"].as_str().unwrap();
    if line["verdict"] == "skipped" {
        assert!(
            reason.starts_with("no small disk") || reason.starts_with("needs"),
            "{reason}"
        );
        assert_eq!(end["skipped"], 1);
    } else {
        assert!(reason.ends_with("with room again it went on"), "{reason}");
    }
}

#[test]
fn what_nothing_ends_is_not_caught_and_the_drill_ends_it() {
    let env = configured("[limits]\niteration_timeout = \"0\"\nidle_timeout = \"0\"\n");
    let (done, line, end) = play(&env, "hang-before", &["--deadline", "2"]);
    assert_eq!(done.code, 7);
    assert_eq!(line["verdict"], "not_caught");
    assert_eq!(end["not_caught"], 1);
    let reason = line["reason"].as_str().unwrap();
    assert!(
        reason.ends_with("set limits.iteration_timeout or limits.idle_timeout, both are off"),
        "{reason}"
    );
}

#[test]
fn ticks_that_nothing_proves_are_not_caught() {
    let (done, line, _) = play(&configured(""), "ticks-only", &[]);
    assert_eq!((done.code, &line["verdict"]), (7, &"not_caught".into()));
    let reason = "the ticks were believed: set verify.commands, nothing else can prove them";
    assert_eq!(line["reason"], reason);

    let env = configured("[verify]\ncommands = [\"true\"]\n");
    let (done, line, _) = play(&env, "ticks-only", &[]);
    assert_eq!((done.code, &line["verdict"]), (7, &"not_caught".into()));
    let reason = line["reason"].as_str().unwrap();
    assert!(
        reason.contains("pass although nothing was done"),
        "{reason}"
    );
}

#[test]
fn a_project_without_open_tasks_gets_some_for_the_drill() {
    let env = TestEnv::bare();
    fs::create_dir(temp(&env)).unwrap();
    check_in(&env, "exit-137", "exit code 137 → 3 errors in a row");
}

#[test]
fn ignored_files_are_not_copied_and_copies_stay_when_asked_to() {
    let env = project();
    env.write(".gitignore", "big/\n");
    env.write("big/blob", "much");
    env.write("src/new.rs", "untracked");
    let done = drill(&env, &["--keep", "--only", "exit-137"]);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    let kept = fs::read_dir(temp(&env)).unwrap().next().unwrap().unwrap();
    let copy = kept.path().join("exit-137/project");
    assert!(copy.join("tasks.md").exists());
    assert!(copy.join("src/new.rs").exists());
    assert!(kept.path().join("exit-137/state/ralph/projects").exists());
    assert!(!copy.join("big").exists());
    assert!(
        done.stdout.contains(kept.path().to_str().unwrap()),
        "{}",
        done.stdout
    );
}

#[test]
fn ctrl_c_ends_it_and_cleans_up() {
    let env = project();
    let mut command = env.command(&["drill", "--only", "hang-before"]);
    command.env("TMPDIR", temp(&env));
    let run = Live::start(&env, "drill", command);
    wait_until("the agent hangs", || {
        let dirs = fs::read_dir(temp(&env)).unwrap().flatten();
        dirs.map(|dir| dir.path().join("hang-before"))
            .map(|place| (place.join("project"), place.join("state/ralph")))
            .map(|(root, home)| Layout::new(root, &StateHome::at(home)))
            .filter_map(|layout| fs::read_dir(layout.runs_dir()).ok())
            .flatten()
            .flatten()
            .any(|run| run.path().join("turn-0001.out").exists())
    });
    run.signal("INT");
    let done = run.finish();
    assert_eq!(done.code, 130, "{}{}", done.stdout, done.stderr);
    let said = done.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("No process of the drill is alive."), "{said}");
    assert_eq!(fs::read_dir(temp(&env)).unwrap().count(), 0);
}

#[test]
fn every_fault_has_a_name_and_others_are_refused() {
    let env = project();
    let done = drill(&env, &["--list"]);
    assert_eq!(done.code, 0);
    assert_eq!(done.stdout.lines().count(), 15);
    let done = drill(&env, &["--only", "gremlins"]);
    assert_eq!(done.code, 1);
    assert!(
        done.stderr.contains("there is no fault \"gremlins\""),
        "{}",
        done.stderr
    );
    assert!(done.stderr.contains("hang-before"), "{}", done.stderr);
}

/// The table, with every blank between two columns as one: times differ.
fn shown(env: &TestEnv, lang: &str) -> String {
    let args = ["drill", "--scale", "small", "--lang", lang];
    let output = env
        .command(&args)
        .args(["--only", "exit-137", "ticks-only"])
        .env("TMPDIR", temp(env))
        // Where a line ends depends on the name of the copies.
        .env("COLUMNS", "400")
        .output()
        .unwrap();
    let done = Done::of(&output);
    assert_eq!(done.code, 7, "{}", done.stderr);
    let copies = done.stdout.split("ralph-drill-").nth(1).unwrap();
    let pid: String = copies.chars().take_while(char::is_ascii_hexdigit).collect();
    let text = redacted(env, &done.stdout.replace(&pid, "[pid]"));
    let squeezed = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    text.lines().map(squeezed).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_narrow_terminal_gets_a_block_for_each_fault() {
    let env = project();
    for lang in ["en", "zh-TW", "zh-CN"] {
        let output = env
            .command(&[
                "drill", "--scale", "small", "--lang", lang, "--only", "exit-137",
            ])
            .env("TMPDIR", temp(&env))
            .env("COLUMNS", "40")
            .output()
            .unwrap();
        let done = Done::of(&output);
        assert_eq!(done.code, 0, "{}", done.stderr);
        for line in done.stdout.lines() {
            assert!(width(line) <= 40, "{line}");
        }
    }
}

#[test]
fn the_table_in_every_language() {
    let env = configured("");
    insta::assert_snapshot!(in_all_languages(|lang| shown(&env, lang)), @"
    --- en
    Ralph drill · tasks.md · a scripted agent, read as claude
    Copies in [outside]/temp/ralph-drill-[pid]; the project itself is only read.
    Yours: max_iterations 50, consecutive_errors 3, missing_promise 5, stalled 5, same_error 5, false_promise 5, iteration_timeout 30m, idle_timeout 20m, max_duration 0; verified by: nothing
    For the drill: limits.iteration_timeout 600ms, limits.idle_timeout 300ms, verify.command_timeout 1m, limits.pause_between 0, agent.retry.initial 0, rate.max_calls_per_hour 0, limits.on_limit pause; turns that do not hang get up to 4 min; a fault that comes once is followed by one turn; no sandbox: `ralph doctor` tries that

    the agent … what caught it time left verdict
    exits with 137 exit code 137 → 3 errors in a row [duration] nothing caught
    ticks without work the ticks were believed: set verify.commands, nothing else [duration] nothing NOT caught
    can prove them

    1 caught, 1 not caught, 0 skipped, after [duration]. No process of the drill is alive. The copies are gone. The project is untouched (fingerprint 15a287d86ac2).
    --- zh-TW
    Ralph 演練 · tasks.md · 腳本代理，以 claude 解讀
    副本位於 [outside]/temp/ralph-drill-[pid]；專案本身只被讀取。
    您的設定：max_iterations 50, consecutive_errors 3, missing_promise 5, stalled 5, same_error 5, false_promise 5, iteration_timeout 30m, idle_timeout 20m, max_duration 0；驗證：無
    演練時：limits.iteration_timeout 600ms, limits.idle_timeout 300ms, verify.command_timeout 1m, limits.pause_between 0, agent.retry.initial 0, rate.max_calls_per_hour 0, limits.on_limit pause；不會卡住的迭代最多 4 分鐘；只出現一次的故障之後再進行一次迭代；不用沙箱：那由 `ralph doctor` 試

    代理…… 由什麼攔下 時間 殘留 判定
    以 137 結束 結束碼 137 → 連續 3 次錯誤 [duration] 無 攔下
    只打勾不做事 勾選被採信：請設定 verify.commands，否則無從證明 [duration] 無 未攔下

    攔下 1，未攔下 1，略過 0，費時 [duration]。演練的行程皆已結束。副本已刪除。專案未被更動（指紋 15a287d86ac2）。
    --- zh-CN
    Ralph 演练 · tasks.md · 脚本代理，以 claude 解读
    副本位于 [outside]/temp/ralph-drill-[pid]；项目本身只被读取。
    您的设置：max_iterations 50, consecutive_errors 3, missing_promise 5, stalled 5, same_error 5, false_promise 5, iteration_timeout 30m, idle_timeout 20m, max_duration 0；验证：无
    演练时：limits.iteration_timeout 600ms, limits.idle_timeout 300ms, verify.command_timeout 1m, limits.pause_between 0, agent.retry.initial 0, rate.max_calls_per_hour 0, limits.on_limit pause；不会卡住的迭代最多 4 分钟；只出现一次的故障之后再进行一次迭代；不用沙箱：那由 `ralph doctor` 试

    代理…… 由什么拦下 时间 残留 判定
    以 137 退出 退出码 137 → 连续 3 次错误 [duration] 无 拦下
    只打勾不做事 勾选被采信：请设置 verify.commands，否则无从证明 [duration] 无 未拦下

    拦下 1，未拦下 1，跳过 0，用时 [duration]。演练的进程均已结束。副本已删除。项目未被改动（指纹 15a287d86ac2）。
    ");
}

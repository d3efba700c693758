//! What a person sees and does about proof: the checks before the first turn,
//! the end as unproven, `ralph accept` and `ralph prove`.

use std::fs;
use std::process::Command;

use crate::env::{Done, RALPH, TestEnv, named};

/// A project with a test in shell, and an agent that is a script.
fn project(tasks: &str) -> TestEnv {
    let env = TestEnv::new();
    env.write("lib.sh", "add() { echo $(($1 + $2)); }\n");
    env.write(
        "test.sh",
        ". ./lib.sh\n[ \"$(add 1 2)\" = 3 ] || { echo 'FAIL: add'; exit 1; }\n",
    );
    env.write("tasks.md", tasks);
    env.git(&["add", "-A"]);
    let name = ["-c", "user.name=T", "-c", "user.email=t@localhost"];
    env.git(&[&name[..], &["commit", "-q", "-m", "Plan"]].concat());
    env
}

fn run(env: &TestEnv, agent: &str, more: &[&str]) -> Done {
    let script = env.outside("agent.sh");
    fs::write(&script, agent).unwrap();
    let agent = format!("sh {}", script.display());
    let words = [
        "run", "--json", "--tasks", "tasks.md", "--agent-cmd", &agent,
    ];
    weighed(env, &[&words[..], more].concat())
}

/// With the level of evidence that everybody has.
fn weighed(env: &TestEnv, args: &[&str]) -> Done {
    let mut command = env.command(args);
    command.env_remove("RALPH_EVIDENCE_LEVEL");
    command.env("RALPH_EVIDENCE_ASKS", "0");
    Done::of(&command.output().unwrap())
}

const LIST: &str = "- [ ] T001 Add sub to lib.sh\n- [ ] T002 Add mul to lib.sh\n";
const UNSEEN: &str =
    "echo 'sub() { echo $(($1 - $2)); }' >> lib.sh; sed -i 's/\\[ \\]/[x]/' tasks.md";

#[test]
fn a_check_that_is_no_command_ends_a_run_before_it_begins_t_13() {
    let env = project(LIST);
    let done = run(&env, "touch called", &["--verify", "nosuchcmd --x"]);
    assert_eq!(done.code, 1, "{}", done.stderr);
    assert!(!env.path("called").exists(), "no agent is called");
    let events = done.events();
    assert_eq!(named(&events, "loop_end")[0]["outcome"], "no_check");
    // A script that is still to be written is red, not missing.
    let done = run(
        &env,
        "touch called",
        &["--verify", "sh later.sh", "--max-iterations", "1"],
    );
    assert_eq!(done.code, 3, "{}", done.stderr);
    assert!(env.path("called").exists());
}

#[test]
fn a_person_s_word_completes_what_no_check_could_prove() {
    let env = project(LIST);
    let done = run(&env, UNSEEN, &["--verify", "sh test.sh"]);
    assert_eq!(done.code, 3, "{}", done.stdout);
    assert_eq!(env.json(".ralph/status.json")["status"], "unproven");
    assert_eq!(
        env.json(".ralph/status.json")["evidence"]["T001"],
        "unrefuted"
    );
    let listed = weighed(&env, &["accept"]);
    assert!(
        listed.stdout.contains("T001: unrefuted"),
        "{}",
        listed.stdout
    );
    let unknown = weighed(&env, &["accept", "T009"]);
    assert_eq!(unknown.code, 1);
    assert!(unknown.stderr.contains("T009"), "{}", unknown.stderr);
    // Why, and where to look, committed or not (U-07).
    let report = weighed(&env, &["report"]).stdout;
    let why = "- T001: `sh test.sh` passes without the change to lib.sh too";
    assert!(report.contains(why), "{report}");
    let begun = env.git(&["rev-parse", "HEAD"]);
    let look = format!("git diff {}\n", &begun.trim()[..7]);
    assert!(report.contains(&look), "{look}: {report}");
    // One is not enough.
    assert_eq!(
        weighed(&env, &["accept", "T001", "--why", "looked at it"]).code,
        0
    );
    assert_eq!(weighed(&env, &["resume", "--yes"]).code, 3);
    assert_eq!(weighed(&env, &["accept", "--all"]).code, 0);
    let done = weighed(&env, &["resume", "--yes"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let report = weighed(&env, &["report"]).stdout;
    assert!(report.contains("2 accepted"), "{report}");
    assert!(!report.contains(why), "{report}");
    let accepted =
        "## Accepted by a person\n\n- T001: looked at it\n- T002 (no reason was given)\n";
    assert!(report.contains(accepted), "{report}");
    let told: serde_json::Value =
        serde_json::from_str(&weighed(&env, &["report", "--json"]).stdout).unwrap();
    assert_eq!(
        told["accepted"][0],
        serde_json::json!({"tasks": ["T001"], "why": "looked at it"})
    );
}

/// `#1` begins a comment in a shell; what is shown can be typed (VALV-11).
#[test]
fn a_task_without_an_id_is_named_as_it_has_to_be_typed() {
    let env = project("- [ ] Add sub to lib.sh\n- [ ] Add mul to lib.sh\n");
    let done = run(&env, UNSEEN, &["--verify", "sh test.sh"]);
    assert_eq!(done.code, 3, "{}", done.stdout);
    let listed = weighed(&env, &["accept"]).stdout;
    let shown = listed.split('`').find(|part| part.contains("accept"));
    let shown = shown.unwrap_or_else(|| panic!("{listed}"));
    let (_, id) = shown.split_once("accept ").unwrap();
    let id = id.split(' ').next().unwrap();
    let typed = format!("printf %s {id}");
    let typed = Command::new("sh").args(["-c", &typed]).output().unwrap();
    let typed = String::from_utf8(typed.stdout).unwrap();
    let accepted = weighed(&env, &["accept", &typed]).stdout;
    assert!(accepted.contains("accepted: #1"), "{listed}{accepted}");
}

#[test]
fn an_agent_accepts_nothing() {
    let env = project(LIST);
    let agent = format!("{UNSEEN}; {RALPH} accept T001 T002; echo $? > ../accepted");
    let done = run(&env, &agent, &["--verify", "sh test.sh"]);
    assert_eq!(done.code, 3, "{}", done.stdout);
    let code = fs::read_to_string(env.outside("accepted")).unwrap();
    assert_eq!(code.trim(), "1");
    assert!(named(&done.events(), "tick_accepted").is_empty());
}

/// What another task is shown by says nothing of this one (T-01).
#[test]
fn one_task_is_not_proven_by_the_experiments_of_another() {
    let list = "- [ ] T001 Say hello | verify: `test -f lib.sh`\n- [ ] T002 Say bye | verify: `sh bye.sh | grep -q bye`\n";
    let env = project(list);
    let agent = "if grep -q '\\[ \\] T001' tasks.md; then echo echo hello > hello.sh; else echo echo bye > bye.sh; fi; sed -i '0,/\\[ \\]/s//[x]/' tasks.md";
    let done = run(&env, agent, &[]);
    assert_eq!(done.code, 3, "{}", done.stdout);
    let first = weighed(&env, &["prove", "T001"]);
    assert_eq!(first.code, 7, "{}", first.stdout);
    assert!(!first.stdout.contains("bye"), "{}", first.stdout);
    let second = weighed(&env, &["prove", "T002"]);
    assert_eq!(second.code, 0, "{}", second.stdout);
    assert!(!second.stdout.contains("lib.sh"), "{}", second.stdout);
}

#[test]
fn experiments_can_be_made_again() {
    let env = project("- [ ] T001 Add sub to lib.sh\n");
    let agent = "echo 'sub() { echo $(($1 - $2)); }' >> lib.sh; echo '[ \"$(sub 3 2)\" = 1 ] || { echo \"FAIL: sub\"; exit 1; }' >> test.sh; sed -i 's/\\[ \\]/[x]/' tasks.md";
    let done = run(
        &env,
        agent,
        &["--verify", "sh test.sh && test ! -e ../broken"],
    );
    assert_eq!(done.code, 0, "{}", done.stdout);
    let before = env.read("test.sh");
    let again = weighed(&env, &["prove", "T001"]);
    assert_eq!(again.code, 0, "{}", again.stdout);
    for (experiment, colour) in [
        ("now", "green"),
        ("counterfactual", "red"),
        ("canary", "red"),
        ("original", "green"),
    ] {
        let line = again
            .stdout
            .lines()
            .find(|line| line.starts_with(experiment));
        assert!(
            line.is_some_and(|line| line.contains(colour)),
            "{experiment}: {}",
            again.stdout
        );
    }
    assert!(again.stdout.ends_with("proven\n"), "{}", again.stdout);
    let unknown = weighed(&env, &["prove", "T099"]);
    assert_eq!(unknown.code, 1, "{}", unknown.stdout);
    assert!(unknown.stderr.contains("T099"), "{}", unknown.stderr);
    // There is nothing to be said of it: it says more than a person's word.
    let accepted = weighed(&env, &["accept", "T001"]);
    assert_eq!(accepted.code, 0, "{}", accepted.stderr);
    assert!(!accepted.stdout.contains("resume"), "{}", accepted.stdout);
    let evidence = weighed(&env, &["report", "--json"]).stdout;
    assert!(!evidence.contains("\"accepted\":[{"), "{evidence}");
    // The tree is what it was.
    assert_eq!(env.read("test.sh"), before);
    // What is red now is nothing else, whatever the experiments say.
    fs::write(env.outside("broken"), "").unwrap();
    let red = weighed(&env, &["prove", "T001"]);
    assert_eq!(red.code, 7, "{}", red.stdout);
    let last = red.stdout.lines().last();
    assert_eq!(last, Some("refuted: its checks are red as it stands"));
}

#[test]
fn what_the_agent_calls_broken_is_not_done_t_03() {
    let env = project("- [ ] T001 Add sub to lib.sh\n");
    let agent = format!("{UNSEEN}; echo '<promise>E2E FAILED: login</promise>'");
    let done = run(&env, &agent, &["--max-iterations", "2"]);
    assert_ne!(done.code, 0, "{}", done.stdout);
}

#[test]
fn the_prompt_names_the_checks_and_what_a_tick_needs_t_13() {
    let env = project("- [ ] T001 Add sub to lib.sh\n");
    let script = env.outside("agent.sh");
    let agent = "cat > ../prompt-$RALPH_ITERATION; sed -i 's/\\[ \\]/[x]/' tasks.md";
    fs::write(&script, agent).unwrap();
    let agent = format!("sh {}", script.display());
    let words = [
        "run", "--json", "--tasks", "tasks.md", "--verify", "sh test.sh",
    ];
    let more = ["--max-iterations", "2", "--agent-cmd", &agent];
    let mut command = env.command(&[&words[..], &more].concat());
    command.env_remove("RALPH_EVIDENCE_LEVEL");
    let _ = command.output().unwrap();
    let first = fs::read_to_string(env.outside("prompt-1")).unwrap();
    assert!(
        first.contains("sh test.sh") && first.contains("fails without it"),
        "{first}"
    );
    let second = fs::read_to_string(env.outside("prompt-2")).unwrap();
    assert!(
        second.contains("nothing but the task file has changed"),
        "{second}"
    );
}

/// A person is asked once, and no turn is spent on what only they can tell.
#[test]
fn changed_checks_park_their_task_with_a_question() {
    let env = project("- [ ] T001 Make add say two\n");
    let config = "[evidence]\nchanged_checks = \"ask\"\n[questions]\ndeadline = \"0s\"\n";
    env.write(".ralph/config.toml", config);
    let agent = "grep -q two lib.sh || { echo 'add() { echo two; }' > lib.sh; sed -i 's/= 3/= two/' test.sh; }; sed -i 's/\\[ \\]/[x]/' tasks.md";
    let more = ["--verify", "sh test.sh", "--trust-project"];
    let done = run(&env, agent, &more);
    assert_eq!(done.code, 3, "{}", done.stdout);
    let events = done.events();
    let asked = named(&events, "question_asked");
    assert_eq!(asked.len(), 1, "{}", done.stdout);
    assert_eq!(asked[0]["task"], "T001");
    let words = asked[0]["question"].as_str().unwrap();
    assert!(words.contains("test.sh"), "{words}");
    assert_eq!(events.last().unwrap()["reason"], "question");
    let status = env.ralph(&["status", "--lang", "zh-TW"]).stdout;
    assert!(
        status.contains("檢查") && status.contains("accept"),
        "{status}"
    );
    assert_eq!(weighed(&env, &["answer", "1", "accept"]).code, 0);
    let done = weighed(&env, &["resume", "--yes", "--json"]);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    assert_eq!(
        env.json(".ralph/status.json")["evidence"]["T001"],
        "accepted"
    );
}

/// A check file is not overlooked because its name is no text.
#[cfg(unix)]
#[test]
fn names_that_are_no_text_hide_no_check() {
    use std::os::unix::ffi::OsStrExt;
    let check = "for t in tests/*.sh; do sh \"$t\" || exit 1; done";
    let cheat = "printf \"grep -q '# done' lib.sh\\n\" > \"$(printf 'tests/sub\\377.sh')\"; echo '# done' >> lib.sh; sed -i 's/\\[ \\]/[x]/' tasks.md";
    let honest = "echo 'sub() { echo $(($1 - $2)); }' >> lib.sh; sed -i 's/\\[ \\]/[x]/' tasks.md";
    for (agent, code) in [(cheat, 3), (honest, 0)] {
        let env = project("- [ ] T001 Add sub to lib.sh\n");
        env.write(
            "tests/add.sh",
            ". ./lib.sh\n[ \"$(add 1 2)\" = 3 ] || exit 1\n",
        );
        let name = std::ffi::OsStr::from_bytes(b"sub\xff.sh");
        let test = ". ./lib.sh\n[ \"$(sub 3 2)\" = 1 ] || exit 1\n";
        fs::write(env.path("tests").join(name), test).unwrap();
        let done = run(&env, agent, &["--verify", check, "--max-iterations", "1"]);
        assert_eq!(done.code, code, "{agent}: {}", done.stdout);
    }
}

/// One task a turn: a function and a test of it. In the middle of each turn the
/// project is broken.
const WORKER: &str = "cp lib.sh ../lib; echo broken > lib.sh; sleep 0.3; cp ../lib lib.sh
n=$(($(grep -c 'x' tasks.md) + 1))
echo \"f$n() { echo $n; }\" >> lib.sh
echo \"[ \\\"\\$(f$n)\\\" = $n ] || { echo 'FAIL: f$n'; exit 1; }\" >> test.sh
sed -i \"s/\\[ \\] T00$n/[x] T00$n/\" tasks.md
";
const THREE: &str = "- [ ] T001 Add f1\n- [ ] T002 Add f2\n- [ ] T003 Add f3\n";

fn beside(env: &TestEnv, agent: &str, more: &[&str]) -> Done {
    env.write(".ralph/config.toml", "[evidence]\nbeside = true\n");
    let more = [&["--verify", "sleep 0.1; sh test.sh"], more].concat();
    run(env, agent, &more)
}

/// The next turn does not wait, and what it does to the tree is not seen by the
/// checks of the one before.
#[cfg(target_os = "linux")]
#[test]
fn slow_checks_run_beside_the_next_turn() {
    let env = project(THREE);
    let done = beside(&env, WORKER, &["--max-iterations", "3"]);
    assert_eq!(done.code, 0, "{}", done.stdout);
    let evidence = env.json(".ralph/status.json")["evidence"].clone();
    for task in ["T001", "T002", "T003"] {
        assert_eq!(evidence[task], "proven", "{}", done.stdout);
    }
    let events = done.events();
    let at = |name: &str, turn: u64| {
        let is_it =
            |event: &&serde_json::Value| event["event"] == name && event["iteration"] == turn;
        events.iter().position(|event| is_it(&event))
    };
    assert!(
        at("iteration_start", 2) < at("gate_result", 1),
        "{}",
        done.stdout
    );
    assert!(
        at("iteration_start", 3) < at("gate_result", 2),
        "{}",
        done.stdout
    );
    assert!(at("gate_result", 2).is_some(), "each turn's work is judged");
    assert_eq!(env.ralph(&["where", "--size"]).code, 0);
}

/// Behind the wall the copy stands in the place of the project too.
#[cfg(target_os = "linux")]
#[test]
#[cfg_attr(not(has_wall), ignore = "needs bubblewrap and namespaces")]
fn slow_checks_run_beside_the_next_turn_behind_the_wall() {
    let env = project(THREE);
    // Nothing beside the project can be written there.
    let agent = WORKER.replace("../lib", "/tmp/lib");
    let done = beside(&env, &agent, &["--sandbox", "strict"]);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    let gates = done.events();
    let gates = named(&gates, "gate_result").into_iter();
    let turns: Vec<u64> = gates
        .filter_map(|gate| gate["iteration"].as_u64())
        .collect();
    assert_eq!(turns, [1, 2, 3], "{}", done.stdout);
}

/// Nothing is believed later than it would have been at once.
#[cfg(target_os = "linux")]
#[test]
fn a_liar_gains_nothing_by_what_runs_beside() {
    let env = project(THREE);
    let liar =
        "n=$RALPH_ITERATION; sed -i \"0,/\\[ \\]/s//[x]/\" tasks.md; echo \"# $n\" >> lib.sh";
    let done = beside(&env, liar, &["--max-iterations", "8"]);
    assert_eq!(done.code, 3, "{}", done.stdout);
    let breaker = "echo 'exit 1' > lib.sh; sed -i \"0,/\\[ \\]/s//[x]/\" tasks.md";
    let env = project(THREE);
    let done = beside(&env, breaker, &["--max-iterations", "6"]);
    assert_ne!(done.code, 0, "{}", done.stdout);
    assert!(!named(&done.events(), "tick_rejected").is_empty());
}

/// Red without the work because nothing can be loaded, and no test says why.
#[test]
#[cfg_attr(not(has_python), ignore = "needs python")]
fn what_is_bound_by_name_only_is_told() {
    let env = project("- [ ] T001 Add more.py\n");
    let test = "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): pass\n";
    env.write("tests.py", test);
    let agent =
        "echo 'X = 1' > more.py; echo 'import more' >> tests.py; sed -i 's/\\[ \\]/[x]/' tasks.md";
    let check = "python3 -c 'import tests, unittest; unittest.main(tests)'";
    let done = run(&env, agent, &["--verify", check]);
    let events = done.events();
    let told = named(&events, "bound_by_name");
    assert_eq!(told.len(), 1, "{}", done.stdout);
    assert_eq!(told[0]["task"], "T001");
}

/// What was run on a tree is not run again: three ticks of one turn cost as many
/// checks as one.
#[test]
fn experiments_are_made_once_for_all_ticks_of_a_turn() {
    let count = |ticked: usize| {
        let env = project(THREE);
        let counter = env.outside("count");
        let all = (1..=ticked).map(|_| WORKER).collect::<String>();
        let check = format!("echo >> {}; sh test.sh", counter.display());
        let more = ["--verify", &check, "--max-iterations", "1"];
        run(&env, &all, &more);
        fs::read_to_string(counter).unwrap().lines().count()
    };
    assert_eq!(count(1), count(2));
}

/// For the whole work, a person's word covers what lay there when they gave it:
/// nobody is called again for that, and what is changed later is not covered.
#[test]
fn a_person_s_word_covers_what_they_looked_at() {
    for tampers in [false, true] {
        let env = project(LIST);
        let script = env.outside("agent.sh");
        let work = "echo call >> ../calls; cp ../next z.txt; echo '<promise>COMPLETE</promise>'\n";
        fs::write(&script, work).unwrap();
        fs::write(env.outside("next"), "GOOD").unwrap();
        let agent = format!("sh {}", script.display());
        let args = ["run", "make z", "--verify", "true", "--agent-cmd", &agent];
        let done = weighed(&env, &args);
        assert_eq!(done.code, 3, "{}{}", done.stdout, done.stderr);
        let calls = || {
            let calls = fs::read_to_string(env.outside("calls")).unwrap();
            calls.lines().count()
        };
        let called = calls();
        let accepted = weighed(&env, &["accept", "--all", "--why", "looked at it"]);
        assert!(
            accepted.stdout.contains("accepted: the work"),
            "{}",
            accepted.stdout
        );
        fs::write(env.outside("next"), "EVIL").unwrap();
        if tampers {
            env.write("z.txt", "not what they saw");
        }
        let resumed = weighed(&env, &["resume", "--yes"]);
        match tampers {
            false => {
                assert_eq!(resumed.code, 0, "{}{}", resumed.stdout, resumed.stderr);
                assert_eq!(calls(), called, "nobody is called for it");
                assert_eq!(env.read("z.txt"), "GOOD");
                let report = weighed(&env, &["report"]).stdout;
                assert!(report.contains("1 accepted"), "{report}");
            }
            true => assert_eq!(resumed.code, 3, "{}{}", resumed.stdout, resumed.stderr),
        }
    }
}

/// Roles that say yes show nothing (PROM-11, STAT-02).
#[test]
fn what_roles_wave_through_is_not_called_proven() {
    let env = project("- [ ] T001 a\n");
    let agent = r#"case "$(cat)" in
*"VERDICT: APPROVE"*) echo "VERDICT: APPROVE" ;;
*"RESULT: PASS"*) echo "RESULT: PASS" ;;
*) echo did ;;
esac"#;
    let done = run(&env, agent, &["--roles", "--verify", "true"]);
    assert_ne!(done.code, 0, "{}", done.stdout);
    let events = done.events();
    assert!(named(&events, "tick_proven").is_empty(), "{}", done.stdout);
    assert_eq!(named(&events, "tick_unproven").len(), 1, "{}", done.stdout);
}

/// Where nothing was checked, `ralph accept` does not say that all is shown; a
/// person's word is what ends it (STOP-02).
#[test]
fn without_a_check_only_a_person_s_word_ends_a_prompt() {
    let env = TestEnv::new();
    let script = "cat > /dev/null; echo x > w; echo '<promise>COMPLETE</promise>'\n";
    let agent = crate::live::shell_agent(&env, script);
    let done = weighed(&env, &["run", "make it", "--agent-cmd", &agent]);
    assert_eq!(done.code, 3, "{}{}", done.stdout, done.stderr);
    let said = weighed(&env, &["accept"]);
    assert!(said.stdout.contains("the work: claimed"), "{}", said.stdout);
    let said = weighed(&env, &["accept", "--all"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let on = weighed(&env, &["resume", "--yes"]);
    assert_eq!(on.code, 0, "{}{}", on.stdout, on.stderr);
    assert!(on.stdout.contains("1 accepted"), "{}", on.stdout);
    let over = weighed(&env, &["accept", "--all"]);
    assert!(
        over.stdout.contains("everything is shown"),
        "{}",
        over.stdout
    );
}

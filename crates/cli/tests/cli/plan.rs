//! `ralph plan`: from a goal to a list that can be proven (issue 23).

use std::fs;

use serde_json::json;

use crate::env::{Done, TestEnv};
use crate::live::shell_agent;

/// Writes the plan of its turn, and keeps what it was told.
const PLANNER: &str = "\
here=$(dirname \"$0\")
n=$(cat \"$here/turns\" 2>/dev/null || echo 0); n=$((n+1)); echo $n > \"$here/turns\"
cat > \"$here/prompt-$n\"
echo spoilt > add.sh
cp \"$here/plan-$n\" ralph-plan.md
echo '<promise>COMPLETE</promise>'
";

fn project() -> TestEnv {
    let env = TestEnv::new();
    env.write("add.sh", "echo $(($1 + $2))\n");
    env
}

fn plan(env: &TestEnv, plans: &[&str], more: &[&str]) -> Done {
    let agent = shell_agent(env, PLANNER);
    for (n, text) in plans.iter().enumerate() {
        fs::write(env.outside(&format!("plan-{}", n + 1)), text).unwrap();
    }
    let args = ["plan", "subtract, too", "--into", "tasks.md", "--yes"];
    let args = [&args[..], &["--agent-cmd", &agent], more].concat();
    env.ralph(&args)
}

fn prompt(env: &TestEnv, turn: u32) -> String {
    fs::read_to_string(env.outside(&format!("prompt-{turn}"))).unwrap_or_default()
}

const GOOD: &str = "# Subtract\n\n- [ ] T001 Write sub.sh | files: sub.sh | risk: low | verify: test -e sub.sh\n- [ ] T002 Say it in the README | depends: T001 | verify: grep -q subtract README.md\n";

#[test]
fn a_good_plan_is_written_and_trusted() {
    let env = project();
    let before = env.snapshot().len();
    let done = plan(&env, &[GOOD], &[]);
    assert_eq!(done.code, 0, "{}\n{}", done.stdout, done.stderr);
    assert_eq!(env.read("tasks.md"), GOOD);
    assert!(
        done.stdout.contains("ralph run --tasks tasks.md"),
        "{}",
        done.stdout
    );
    // Nothing else came of it in the project.
    let files: Vec<_> = env.snapshot().into_iter().map(|(path, _)| path).collect();
    assert_eq!(files.len(), before + 1, "{files:?}");
    let agent = env.agent(&[
        json!({"write": {"sub.sh": "echo $(($1 - $2))\n"}, "tick": ["T001"], "say": "<promise>CONTINUE</promise>"}),
        json!({"write": {"README.md": "subtract\n"}, "tick": ["T002"], "say": "<promise>COMPLETE</promise>"}),
    ]);
    // It runs without being asked for trust.
    let mut run = env.untrusted(&["run", "--tasks", "tasks.md", "--agent-cmd", &agent]);
    let run = Done::of(&run.output().unwrap());
    assert_eq!(run.code, 0, "{}\n{}", run.stdout, run.stderr);
}

/// What is wrong is sent back with the evidence, and the next plan is judged.
#[test]
fn a_plan_that_proves_nothing_is_sent_back() {
    let env = project();
    let green = GOOD.replace("test -e sub.sh", "test -e add.sh");
    let missing = GOOD.replace("test -e sub.sh", "no-such-program --check");
    let cycle = GOOD.replace("files: sub.sh", "depends: T002");
    let done = plan(&env, &[&green, &missing, &cycle, GOOD], &[]);
    assert_eq!(done.code, 0, "{}\n{}", done.stdout, done.stderr);
    assert!(prompt(&env, 1).contains("subtract, too"));
    for (turn, words) in [
        (2, "`test -e add.sh` (task T001) passes already"),
        (
            3,
            "`no-such-program --check` (task T001) is no command that can be run here",
        ),
        (4, "T001 → T002"),
    ] {
        let told = prompt(&env, turn);
        assert!(told.contains(words), "{words}: {told}");
    }
    assert_eq!(env.read("tasks.md"), GOOD);
}

/// A refused plan leaves no file, whatever it did in its copy.
#[test]
fn a_refused_plan_leaves_no_file() {
    let destructive = GOOD.replace("test -e sub.sh", "rm -rf ~ && test -e sub.sh");
    let none = "# Subtract\n\n- [ ] T001 Write sub.sh\n".to_owned();
    let many: String = (1..=201)
        .map(|n| format!("- [ ] T{n:03} Do {n} | verify: test -e {n}.txt\n"))
        .collect();
    for bad in [destructive, none, many] {
        let env = project();
        let before = env.snapshot();
        let done = plan(&env, &[&bad, &bad], &["--rounds", "2"]);
        assert_ne!(done.code, 0, "{}", done.stdout);
        assert!(
            done.stderr.contains("nothing was written"),
            "{}",
            done.stderr
        );
        assert_eq!(env.snapshot(), before);
    }
}

#[test]
fn two_hundred_tasks_in_chinese() {
    let env = project();
    let text: String = (1..=200)
        .map(|n| format!("- [ ] T{n:03} 做第 {n} 件事 | verify: test -e 檔案-{n}.txt\n"))
        .collect();
    let done = plan(&env, &[&text], &[]);
    assert_eq!(done.code, 0, "{}\n{}", done.stdout, done.stderr);
    assert!(done.stdout.contains("200 tasks"), "{}", done.stdout);
    assert_eq!(env.read("tasks.md"), text);
}

#[test]
fn without_an_agent_a_list_is_made_that_lints() {
    let env = TestEnv::new();
    env.write("package.json", r#"{"scripts": {"test": "node test.js"}}"#);
    let done = env.ralph(&[
        "plan", "--skeleton", "a login page", "--into", "tasks.md", "--yes",
    ]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(env.read("tasks.md").contains("| verify: `npm test`"));
    let lint = env.ralph(&["tasks", "lint", "--tasks", "tasks.md"]);
    assert_eq!(lint.code, 0, "{}", lint.stdout);
    // What is there is not written over.
    let again = env.ralph(&["plan", "--skeleton", "x", "--into", "tasks.md", "--yes"]);
    assert_eq!(again.code, 1);
    assert!(
        again.stderr.contains("tasks.md is there already"),
        "{}",
        again.stderr
    );
}

/// Formats and folders that the project uses are used.
#[test]
fn a_plan_goes_where_the_project_keeps_them() {
    let env = project();
    env.write("openspec/project.md", "x\n");
    let done = env.ralph(&["plan", "--skeleton", "Add login", "--yes"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let list = env.read("openspec/changes/add-login/tasks.md");
    assert!(list.contains("- [ ] 1.2 "), "{list}");
}

#[test]
fn nobody_is_asked_where_nobody_is() {
    let env = project();
    let done = env.ralph(&["plan", "x", "--into", "tasks.md"]);
    assert_eq!(done.code, 1);
    assert!(done.stderr.contains("--yes"), "{}", done.stderr);
}

/// The run that planned is gone with its copy: nothing of it is named.
#[test]
fn the_end_of_a_plan_names_only_what_is_there() {
    for (text, code) in [(GOOD, 0), ("nothing of use\n", 3)] {
        let env = project();
        let done = plan(&env, &[text], &["--rounds", "1"]);
        assert_eq!(done.code, code, "{}\n{}", done.stdout, done.stderr);
        let said = format!("{}{}", done.stdout, done.stderr);
        for gone in ["ralph resume", "ralph report", "archived to"] {
            assert!(!said.contains(gone), "{gone}: {said}");
        }
    }
}

//! Any program as an agent.

use std::fs;

use crate::env::TestEnv;

fn script(env: &TestEnv, text: &str) -> String {
    let path = env.outside("agent.sh");
    fs::write(&path, text).unwrap();
    path.display().to_string()
}

#[test]
fn a_custom_agent_gets_its_prompt_and_knows_its_run() {
    let env = TestEnv::with_tasks(1);
    let seen = env.outside("seen");
    let agent = script(
        &env,
        &format!(
            "pwd > '{0}'; cat \"$1\" > '{0}.file'; cat > '{0}.stdin'\n\
             echo \"$RALPH_ITERATION $RALPH_TASKS_FILE ${{RALPH_RUN_ID:?}}\" >> '{0}'\n\
             echo '<promise>BLOCKED: enough</promise>'\n",
            seen.display()
        ),
    );
    let done = env.ralph(&["run", "--agent-cmd", &format!("sh {agent} {{prompt_file}}")]);
    assert_eq!(done.code, 4, "{}{}", done.stdout, done.stderr);
    let root = env.root.display();
    let told = fs::read_to_string(&seen).unwrap();
    assert!(
        told.starts_with(&format!("{root}\n1 {root}/tasks.md ")),
        "{told}"
    );
    assert!(
        fs::read_to_string(seen.with_extension("file"))
            .unwrap()
            .contains("tasks.md")
    );
    assert_eq!(
        fs::read_to_string(seen.with_extension("stdin")).unwrap(),
        ""
    );

    let done = env.ralph(&["run", "--agent-cmd", &format!("sh {agent} /dev/null")]);
    assert_eq!(done.code, 4, "{}{}", done.stdout, done.stderr);
    assert!(
        fs::read_to_string(seen.with_extension("stdin"))
            .unwrap()
            .contains("tasks.md")
    );
}

#[test]
fn the_prompt_never_passes_a_shell() {
    let env = TestEnv::new();
    let agent = "sh -c 'cat >/dev/null; echo \"<promise>BLOCKED: x</promise>\"'";
    let done = env.ralph(&[
        "run",
        "$(touch owned) `touch owned` ; touch owned",
        "--agent-cmd",
        agent,
    ]);
    assert_eq!(done.code, 4, "{}", done.stderr);
    assert!(!env.path("owned").exists());
}

//! Proof with the real client: inside a session a lie is sent back with its
//! reason, and the work is proven by the three experiments (issue 19).

use std::io;

use ralph_testkit::{Script, Turn};

use super::scenarios::{Findings, Scenario};
use super::stage::{Sitting, Stage};

pub const SCENARIOS: [Scenario; 1] = [Scenario {
    name: "session proof",
    is_for: |client| client.name == "claude",
    play: session_proof,
}];

const TEST: &str = "test \"$(sh add.sh 2 3)\" = 5 || { echo 'FAIL add'; exit 1; }\n";
const DONE: &str = "All of it is there.\n\n<promise>COMPLETE</promise>";

fn tasks(mark: char) -> String {
    format!("# Tasks\n\n- [{mark}] T001 Let add.sh add\n")
}

/// The test is emptied first; then the work is done, and the test is as it
/// was.
fn session_proof(stage: &Stage) -> io::Result<Findings> {
    stage.write("tasks.md", &tasks(' '))?;
    stage.write("add.sh", "echo 0\n")?;
    stage.write("tests/test_add.sh", TEST)?;
    let shell = |command: &str| stage.client.shell(command);
    let tick = "sed -i 's/\\[ \\]/[x]/' tasks.md";
    let lie = format!("echo true > tests/test_add.sh; {tick}");
    let test = TEST.trim_end().replace('\'', "'\\''");
    let work = format!(
        "printf '%s\\n' '{test}' > tests/test_add.sh; echo 'expr $1 + $2' > add.sh; {tick}"
    );
    let turns = vec![
        Turn::say("That is quickly done.").call(shell(&lie)),
        Turn::say(DONE),
        Turn::say("Now really.").call(shell(&work)),
        Turn::say(DONE),
    ];
    let prompt = "/ralph-loop --tasks tasks.md --max-iterations 5 --verify 'sh tests/test_add.sh'";
    let call = stage.client.alone.map(|args| args(prompt));
    let mut findings = Findings::new(stage.sit(Sitting {
        script: Script::main(turns),
        calls: vec![vec![call.unwrap_or_default()]],
        ..Sitting::default()
    })?);
    findings.exits(0);
    findings.runs(&[("complete", 2)]);
    findings.file(stage, "tests/test_add.sh", TEST);
    findings.file(stage, "tasks.md", &tasks('x'));
    let asked = findings.asked_in("main");
    let told = asked.get(2).is_some_and(|body| body.contains("T001"));
    findings.must(told, "the task that was turned back should be named");
    let why = asked.get(2).is_some_and(|body| {
        body.contains("only tests and check files changed")
            || body.contains("fails with the checks as they were")
    });
    findings.must(why, "the model should learn which experiment said no");
    Ok(findings)
}

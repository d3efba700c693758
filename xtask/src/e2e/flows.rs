//! Flows with the real client: a team of roles (a rejection, a new attempt, an
//! approval and a test over two tasks), and a task that goes through the
//! phases of its route inside a session (issue 8).

use std::io;

use ralph_testkit::{Script, Turn};
use serde_json::Value;

use super::scenarios::{Findings, Scenario};
use super::stage::{Sitting, Stage, Wishes};

pub const SCENARIOS: [Scenario; 2] = [
    Scenario {
        name: "roles",
        is_for: |client| client.name == "claude",
        play: roles,
    },
    Scenario {
        name: "session do",
        is_for: |client| client.name == "claude",
        play: session_do,
    },
];

/// Who is called for which task, and what comes of it.
const STORY: [(&str, &str, &str); 8] = [
    ("T001", "developer", ""),
    ("T001", "reviewer", "reject"),
    ("T001", "developer", ""),
    ("T001", "reviewer", "approve"),
    ("T001", "tester", "pass"),
    ("T002", "developer", ""),
    ("T002", "reviewer", "approve"),
    ("T002", "tester", "pass"),
];

const FINDING: &str = "one.sh says oen instead of one";

fn tasks(mark: char) -> String {
    format!("# Tasks\n\n- [{mark}] T001 Write one.sh\n- [{mark}] T002 Write two.sh\n")
}

fn roles(stage: &Stage) -> io::Result<Findings> {
    stage.write("tasks.md", &tasks(' '))?;
    let client = stage.client;
    let write = |name: &str, text: &str| client.write(&stage.project.join(name), text);
    let looks = |command: &str| Turn::say("Looking.").call(client.shell(command));
    let approves = || Turn::say("I read it, and it is right.\n\nVERDICT: APPROVE");
    let passes = || Turn::say("It holds.\n\nRESULT: PASS");
    let script = Script::main(vec![
        Turn::say("Writing.").call(write("one.sh", "oen\n")),
        Turn::say("one.sh is written."),
        looks("cat one.sh"),
        Turn::say(&format!("FINDING high: {FINDING}\n\nVERDICT: REJECT")),
        Turn::say("Repairing.").call(client.shell("echo one > one.sh")),
        Turn::say("It is repaired."),
        looks("cat one.sh"),
        approves(),
        looks("grep -q one one.sh && echo found"),
        passes(),
        // A developer who ticks himself gains nothing by it.
        Turn::say("Writing.")
            .call(write("two.sh", "two\n"))
            .call(client.shell("sed -i 's/- \\[ \\] T002/- [x] T002/' tasks.md")),
        Turn::say("two.sh is written."),
        approves(),
        passes(),
    ]);
    let mut findings = Findings::new(stage.play(Wishes {
        script,
        env: vec![("RALPH_ROLES_ENABLED", "true".into())],
        ..Wishes::default()
    })?);
    findings.ends("complete", 0);
    findings.iterations(STORY.len());
    told_in_order(&mut findings);
    asked_in_their_roles(&mut findings);
    findings.file(stage, "one.sh", "one\n");
    findings.file(stage, "two.sh", "two\n");
    findings.file(stage, "tasks.md", &tasks('x'));
    findings.must(
        findings.named("ticks_held").count() == 1,
        "a tick that nobody judged should be taken back once",
    );
    let errors = findings.named("error").count();
    findings.must(errors == 0, "a rejection should be no error");
    let calls = findings.played.cost["total"]["calls"].clone();
    findings.must(
        calls == STORY.len(),
        &format!("every dispatch should be booked, not {calls}"),
    );
    Ok(findings)
}

/// Roles, tasks and verdicts as the event log has them.
fn told_in_order(findings: &mut Findings) {
    let mut told: Vec<(String, String, String)> = Vec::new();
    let mut task = String::new();
    let word = |event: &Value, key: &str| event[key].as_str().unwrap_or_default().to_owned();
    for event in &findings.played.events {
        match event["event"].as_str() {
            Some("task_start") => task = word(event, "task"),
            Some("role_start") => told.push((task.clone(), word(event, "role"), String::new())),
            Some("role_answer") => {
                if let Some(last) = told.last_mut() {
                    last.2 = word(event, "answer");
                }
            }
            _ => {}
        }
    }
    let want = STORY.map(|(task, role, answer)| (task.into(), role.into(), answer.into()));
    findings.must(
        told == want,
        &format!("the roles should be {STORY:?}, not {told:?}"),
    );
    let dispatches: Vec<Value> = findings
        .named("role_start")
        .map(|event| event["dispatch"].clone())
        .collect();
    let want: Vec<Value> = (1..=STORY.len()).map(Value::from).collect();
    findings.must(
        dispatches == want,
        &format!("dispatches should count up, not {dispatches:?}"),
    );
}

/// What the model was told: the prompt of its role, in a context of its own;
/// the second developer knows what was found.
fn asked_in_their_roles(findings: &mut Findings) {
    let asked = findings.asked();
    let named = [
        (0, "You are the DEVELOPER"),
        (2, "You are the REVIEWER"),
        (4, "You are the DEVELOPER"),
        (4, FINDING),
        (8, "You are the TESTER"),
        (10, "T002 Write two.sh"),
    ];
    for (at, text) in named {
        let is_told = asked.get(at).is_some_and(|body| body.contains(text));
        findings.must(is_told, &format!("request {at} should name {text:?}"));
    }
    let is_fresh = asked
        .get(2)
        .is_some_and(|body| !body.contains("You are the DEVELOPER"));
    findings.must(is_fresh, "a reviewer should not be in the developer's chat");
}

/// `/do` is read by our hook, and each phase that leaves its file leads into
/// the next.
fn session_do(stage: &Stage) -> io::Result<Findings> {
    let write = |name: &str, text: &str| stage.client.write(&stage.project.join(name), text);
    let phase = |name: &str, text: &str| write(&format!(".skillpack/current/{name}"), text);
    let script = Script::main(vec![
        Turn::say("Planning.").call(phase("1_plan.md", "Write one.sh.\n")),
        Turn::say("The plan is there."),
        Turn::say("Working.")
            .call(write("one.sh", "one\n"))
            .call(phase("2_implementation.md", "one.sh is written.\n")),
        Turn::say("It is written."),
        // Words alone end no phase.
        Turn::say("Review Score: 90/100\n\nVERDICT: APPROVE"),
        Turn::say("Noting it.").call(phase("3_review.md", "It is right.\n")),
        Turn::say("Review Score: 90/100\n\nVERDICT: APPROVE"),
    ]);
    let prompt = "/do \"Write one.sh\" --route planned --verify 'test -f one.sh'";
    let call = stage.client.alone.map(|args| args(prompt));
    let mut findings = Findings::new(stage.sit(Sitting {
        script,
        calls: vec![vec![call.unwrap_or_default()]],
        ..Sitting::default()
    })?);
    findings.exits(0);
    findings.runs(&[("complete", 4)]);
    findings.file(stage, "one.sh", "one\n");
    let asked = findings.asked();
    for (at, text) in [
        (0, "1_plan.md"),
        (2, "2_implementation.md"),
        (4, "3_review.md"),
        (5, "The step left no `3_review.md`"),
    ] {
        let is_told = asked.get(at).is_some_and(|body| body.contains(text));
        findings.must(is_told, &format!("request {at} should name {text:?}"));
    }
    Ok(findings)
}

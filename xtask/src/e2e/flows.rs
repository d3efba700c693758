//! Flows with the real client: a team of roles (a rejection, a new attempt, an
//! approval and a test over two tasks), and a task that goes through the
//! phases of its route inside a session (issue 8).

use std::io;

use ralph_testkit::{Call, Script, Select, Turn};
use serde_json::{Value, json};

use super::scenarios::{Findings, Scenario};
use super::stage::{Sitting, Stage, Wishes};

pub const SCENARIOS: [Scenario; 3] = [
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
    Scenario {
        name: "session roles",
        is_for: |client| client.name == "claude",
        play: session_roles,
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

fn calls(role: &str, task: &str) -> Turn {
    Turn::say(&format!("Calling the {role}.")).call(Call {
        name: "Agent".into(),
        input: json!({
            "description": format!("{role}: {task}"),
            "prompt": "Say that all is well.",
            "subagent_type": "general-purpose",
        }),
    })
}

/// What the session and each of its subagents say.
fn team(stage: &Stage) -> Script {
    let client = stage.client;
    let write = |name: &str, text: &str| client.write(&stage.project.join(name), text);
    let mut script = Script::main(vec![
        // Whoever only says that it is done is sent to the role.
        Turn::say("All done.\n\nVERDICT: APPROVE"),
        calls("DEVELOPER", "T001"),
        // A test before the review is refused.
        calls("TESTER", "T001"),
        calls("REVIEWER", "T001"),
        calls("DEVELOPER", "T001"),
        calls("REVIEWER", "T001"),
        calls("TESTER", "T001"),
        calls("DEVELOPER", "T002"),
        calls("REVIEWER", "T002"),
        calls("TESTER", "T002"),
        Turn::say("All tasks have passed.\n\n<promise>所有任務完成</promise>"),
    ]);
    for (role, turns) in [
        (
            "DEVELOPER",
            vec![
                Turn::say("Writing.").call(write("one.sh", "oen\n")),
                Turn::say("one.sh is written."),
                Turn::say("Repairing.").call(client.shell("echo one > one.sh")),
                Turn::say("It is repaired."),
                Turn::say("Writing.").call(write("two.sh", "two\n")),
                Turn::say("two.sh is written."),
            ],
        ),
        (
            "REVIEWER",
            vec![
                Turn::say("Mending it myself.").call(write("one.sh", "one\n")),
                Turn::say(&format!("FINDING high: {FINDING}\n\nVERDICT: REJECT")),
                Turn::say("It is right.\n\nVERDICT: APPROVE"),
                Turn::say("It is right.\n\nVERDICT: APPROVE"),
            ],
        ),
        (
            "TESTER",
            vec![
                Turn::say("Trying.").call(client.shell("grep -q one one.sh && echo found")),
                Turn::say("It holds.\n\nRESULT: PASS"),
                Turn::say("It holds.\n\nRESULT: PASS"),
            ],
        ),
    ] {
        script.lanes.insert(role.into(), turns);
        script.select.push(Select {
            text: format!("You are the {role} of a team"),
            lane: role.into(),
        });
    }
    script
}

/// Seed 000 in the client itself: its subagents are the team, and the hooks
/// hold the order.
fn session_roles(stage: &Stage) -> io::Result<Findings> {
    stage.write("tasks.md", &tasks(' '))?;
    stage.write(".ralph/config.toml", "[roles]\nenabled = true\n")?;
    let prompt = "/ralph-loop --tasks tasks.md";
    let call = stage.client.alone.map(|args| args(prompt));
    let mut findings = Findings::new(stage.sit(Sitting {
        script: team(stage),
        calls: vec![vec![call.unwrap_or_default()]],
        ..Sitting::default()
    })?);
    findings.exits(0);
    // The stop that nobody played, and each call of the story.
    findings.runs(&[("complete", STORY.len() as u64 + 1)]);
    findings.file(stage, "one.sh", "one\n");
    findings.file(stage, "two.sh", "two\n");
    findings.file(stage, "tasks.md", &tasks('x'));
    let of = |lane: &str| findings.asked_in(lane);
    let (main, developer, reviewer) = (of("main"), of("DEVELOPER"), of("REVIEWER"));
    for (what, asked, at, text) in [
        (
            "whose turn it is",
            &main,
            0,
            "turn of the DEVELOPER of T001",
        ),
        (
            "that nobody was called",
            &main,
            1,
            "the DEVELOPER was not called",
        ),
        ("who comes next", &main, 2, "turn of the REVIEWER of T001"),
        (
            "why the test was refused",
            &main,
            3,
            "the REVIEWER was skipped",
        ),
        ("the prompt of its role", &developer, 0, "T001 Write one.sh"),
        ("that it only looks", &reviewer, 1, "only looks"),
        ("what was found", &developer, 2, FINDING),
        ("the end of the loop", &main, 10, "Call no more roles"),
    ] {
        let is_told = asked.get(at).is_some_and(|body| body.contains(text));
        findings.must(is_told, &format!("request {at} should tell {what}"));
    }
    Ok(findings)
}

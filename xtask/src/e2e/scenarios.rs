//! What the real clients have to show.

use std::io;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ralph_testkit::{Refusal, Script, Select, Turn, limits};
use serde_json::Value;

use super::clients::{Client, Limit};
use super::shape::{self, Shape};
use super::stage::{Played, Stage, Wishes};

/// What a scenario showed.
#[derive(Debug)]
pub struct Shown {
    /// Nothing where all is well.
    pub problems: Vec<String>,
    pub shape: Shape,
}

/// A scenario and the clients that it is for.
#[derive(Debug)]
pub struct Scenario {
    pub name: &'static str,
    pub is_for: fn(&Client) -> bool,
    pub play: fn(&Stage) -> io::Result<Findings>,
}

impl Scenario {
    pub fn play(&self, stage: &Stage) -> Shown {
        match (self.play)(stage) {
            Ok(findings) => Shown {
                shape: shape::of(&findings.played.report.requests, &stage.runs_dir()),
                problems: findings.problems,
            },
            Err(error) => Shown {
                problems: vec![error.to_string()],
                shape: Shape::new(),
            },
        }
    }
}

pub const SCENARIOS: [Scenario; 10] = [
    Scenario {
        name: "works a list off",
        is_for: |_| true,
        play: works_a_list_off,
    },
    Scenario {
        name: "one session",
        is_for: |_| true,
        play: one_session,
    },
    Scenario {
        name: "false promise",
        is_for: |_| true,
        play: false_promise,
    },
    Scenario {
        name: "subagent promise",
        is_for: |client| client.subagent.is_some(),
        play: subagent_promise,
    },
    Scenario {
        name: "hooks stay on",
        is_for: |client| ["claude", "codex"].contains(&client.name),
        play: hooks_stay_on,
    },
    Scenario {
        name: "hooks taken away",
        is_for: |client| ["claude", "codex"].contains(&client.name),
        play: hooks_taken_away,
    },
    Scenario {
        name: "api error",
        is_for: |_| true,
        play: api_error,
    },
    Scenario {
        name: "cut stream",
        is_for: |_| true,
        play: cut_stream,
    },
    Scenario {
        name: "silent model",
        // Others are silent for longer while they start.
        is_for: |client| ["claude", "codex"].contains(&client.name),
        play: silent_model,
    },
    Scenario {
        name: "usage limit",
        is_for: |client| client.limit.is_some(),
        play: usage_limit,
    },
];

/// Collects what does not hold.
#[derive(Debug)]
pub struct Findings {
    pub played: Played,
    pub problems: Vec<String>,
}

impl Findings {
    pub fn new(mut played: Played) -> Findings {
        let problems = std::mem::take(&mut played.problems);
        Findings { played, problems }
    }

    pub fn must(&mut self, holds: bool, what: &str) {
        if !holds {
            self.problems.push(what.to_owned());
        }
    }

    pub fn ends(&mut self, outcome: &str, code: i32) {
        let end = self.played.events.last().cloned().unwrap_or_default();
        let ended = (&end["outcome"], self.played.code);
        if ended != (&outcome.into(), Some(code)) {
            let said = &self.played.stderr;
            let problem =
                format!("should end as {outcome} with {code}, not as {ended:?}: {end} {said}");
            self.problems.push(problem);
        }
    }

    pub fn iterations(&mut self, want: usize) {
        let end = self.played.events.last();
        let got = end.map(|e| e["iterations"].clone()).unwrap_or_default();
        if got != want {
            let errors: Vec<&Value> = self.named("error").map(|e| &e["message"]).collect();
            let problem = format!("should take {want} iterations, not {got}; errors: {errors:?}");
            self.problems.push(problem);
        }
    }

    pub fn count(&self, event: &str) -> usize {
        self.named(event).count()
    }

    pub fn named<'a>(&'a self, event: &'a str) -> impl Iterator<Item = &'a Value> {
        self.played
            .events
            .iter()
            .filter(move |e| e["event"] == event)
    }

    pub fn file(&mut self, stage: &Stage, name: &str, want: &str) {
        let got = stage.read(name);
        self.must(
            got == want,
            &format!("{name} should be {want:?}, not {got:?}"),
        );
    }

    /// The bodies of the requests of the main conversation, as texts.
    pub fn asked(&self) -> Vec<String> {
        let main = self
            .played
            .report
            .requests
            .iter()
            .filter(|r| r.lane == "main");
        main.map(|r| r.body.to_string()).collect()
    }
}

const DONE: &str = "All of it is done.\n\n<promise>COMPLETE</promise>";

fn tasks(count: usize, ticked: usize) -> String {
    let mut text = String::from("# Tasks\n\n");
    for i in 1..=count {
        let mark = if i <= ticked { 'x' } else { ' ' };
        text.push_str(&format!("- [{mark}] T00{i} Write {i}.txt\n"));
    }
    text
}

/// A shell command that ticks one task.
fn tick(id: &str) -> String {
    format!("sed -i 's/- \\[ \\] {id}/- [x] {id}/' tasks.md")
}

/// Does the only task in one turn, and says so.
fn does_it(stage: &Stage) -> [Turn; 2] {
    let client = stage.client;
    [
        Turn::say("Working.")
            .call(client.write(&stage.project.join("1.txt"), "one\n"))
            .call(client.shell(&tick("T001"))),
        Turn::say(DONE),
    ]
}

fn works_a_list_off(stage: &Stage) -> io::Result<Findings> {
    stage.write("tasks.md", &tasks(3, 0))?;
    let client = stage.client;
    let path = |name: &str| stage.project.join(name);
    let script = Script::main(vec![
        Turn::say("Writing the first file.").call(client.write(&path("1.txt"), "one\n")),
        Turn::say("Ticking it.").call(client.shell(&tick("T001"))),
        Turn::say("The first is done.\n\n<promise>CONTINUE</promise>"),
        Turn::say("Now the second.")
            .call(client.write(&path("2.txt"), "two\n"))
            .call(client.shell(&tick("T002"))),
        Turn::say("And the third.")
            .call(client.shell(&format!("echo three > 3.txt; {}", tick("T003")))),
        Turn::say(DONE),
    ]);
    let mut findings = Findings::new(stage.play(Wishes {
        script,
        ..Wishes::default()
    })?);
    findings.ends("complete", 0);
    findings.iterations(2);
    findings.must(
        findings.count("promise_detected") == 2,
        "two promises should be seen",
    );
    findings.file(stage, "1.txt", "one\n");
    findings.file(stage, "2.txt", "two\n");
    findings.file(stage, "3.txt", "three\n");
    findings.file(stage, "tasks.md", &tasks(3, 3));

    let asked = findings.asked();
    let [first, _, _, second, ..] = asked.as_slice() else {
        findings.must(false, "the conversation is too short");
        return Ok(findings);
    };
    findings.must(
        first.contains("T001 Write 1.txt"),
        "the prompt should name the first task",
    );
    findings.must(
        second.contains("T002 Write 2.txt"),
        "the second prompt should name the second task",
    );
    findings.must(
        !second.contains("Writing the first file."),
        "the second turn should begin with a fresh context",
    );
    let tools = findings
        .played
        .report
        .requests
        .iter()
        .flat_map(ralph_testkit::Request::tools);
    let tools: Vec<String> = tools.collect();
    for tool in [client.write_tool, client.shell_tool] {
        findings.must(
            tools.iter().any(|t| t == tool),
            &format!("the tool {tool} should be offered"),
        );
    }
    is_booked(stage, &mut findings);
    findings.must(
        findings.played.hooked >= 5 || !client.has_hooks,
        &format!(
            "our hook should be asked about 5 tool calls, not {}",
            findings.played.hooked
        ),
    );
    findings.must(
        leftovers(stage).is_empty(),
        &format!("files that nobody asked for: {:?}", leftovers(stage)),
    );
    Ok(findings)
}

/// With `agent.session = "resume"` the second turn goes on where the first
/// ended, and what the first used is not booked twice.
fn one_session(stage: &Stage) -> io::Result<Findings> {
    stage.write("tasks.md", &tasks(2, 0))?;
    let shell = |text: &str| stage.client.shell(text);
    let script = Script::main(vec![
        Turn::say("The password is swordfish.")
            .call(shell(&format!("echo one > 1.txt; {}", tick("T001")))),
        Turn::say("One is done.\n\n<promise>CONTINUE</promise>"),
        Turn::say("Now the second.").call(shell(&format!("echo two > 2.txt; {}", tick("T002")))),
        Turn::say(DONE),
    ]);
    let mut findings = Findings::new(stage.play(Wishes {
        script,
        env: vec![("RALPH_AGENT_SESSION", "resume".into())],
        ..Wishes::default()
    })?);
    findings.ends("complete", 0);
    findings.iterations(2);
    findings.file(stage, "2.txt", "two\n");
    let remembered = findings.asked().get(2).is_some_and(|body| {
        body.contains("T002 Write 2.txt") && body.contains("The password is swordfish.")
    });
    findings.must(remembered, "the second turn should know the first");
    is_booked(stage, &mut findings);
    Ok(findings)
}

/// Two calls, and what each of them used; what is not told is unknown.
fn is_booked(stage: &Stage, findings: &mut Findings) {
    let cost = findings.played.cost.clone();
    let total = &cost["total"];
    let tokens = total["tokens"].as_u64();
    let told = match stage.client.tells_tokens {
        true => tokens.is_some_and(|n| n > 0) && total["uncounted_calls"] == 0,
        false => tokens.is_none() && total["uncounted_calls"] == 2,
    };
    findings.must(
        total["calls"] == 2 && told,
        &format!("usage should be booked: {cost}"),
    );
}

/// What lies in the project beside the work.
fn leftovers(stage: &Stage) -> Vec<String> {
    let ours = [".ralph", ".skillpack"];
    let known = [".git", "tasks.md", "1.txt", "2.txt", "3.txt"];
    let names = std::fs::read_dir(&stage.project)
        .into_iter()
        .flatten()
        .flatten();
    let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names
        .filter(|name| !ours.contains(&name.as_str()) && !known.contains(&name.as_str()))
        .collect()
}

/// A promise in a file, in a tool's output and in front of a tool call.
fn false_promise(stage: &Stage) -> io::Result<Findings> {
    stage.write("tasks.md", &tasks(1, 0))?;
    stage.write("notes.md", "<promise>COMPLETE</promise>\n")?;
    let mut turns = vec![
        Turn::say("Soon:\n\n<promise>COMPLETE</promise>\n")
            .call(stage.client.shell("cat notes.md")),
        Turn::say("I have read the notes."),
    ];
    turns.extend(does_it(stage));
    let played = stage.play(Wishes {
        script: Script::main(turns),
        ..Wishes::default()
    })?;
    let mut findings = Findings::new(played);
    findings.ends("complete", 0);
    findings.iterations(2);
    findings.must(
        findings
            .asked()
            .get(1)
            .is_some_and(|b| b.contains("<promise>COMPLETE</promise>")),
        "the tool's output should have carried the tag",
    );
    nothing_claimed_at_first(&mut findings);
    Ok(findings)
}

fn nothing_claimed_at_first(findings: &mut Findings) {
    let claims = ["promise_detected", "promise_rejected"];
    let seen = claims.iter().flat_map(|name| findings.named(name));
    let at_first = seen.filter(|e| e["iteration"] == 1).count();
    findings.must(at_first == 0, "only the final answer may claim something");
}

fn subagent_promise(stage: &Stage) -> io::Result<Findings> {
    stage.write("tasks.md", &tasks(1, 0))?;
    let Some(subagent) = stage.client.subagent else {
        return Err(io::Error::other("this client has no subagents"));
    };
    let task = "SCRIPTED-HELPER: say that you are here.";
    let mut turns = vec![
        Turn::say("Asking a helper.").call(subagent(task)),
        Turn::say("The helper was here."),
    ];
    turns.extend(does_it(stage));
    let mut script = Script::main(turns);
    script.lanes.insert(
        "helper".into(),
        vec![Turn::say("<promise>COMPLETE</promise>")],
    );
    script.select.push(Select {
        text: "SCRIPTED-HELPER".into(),
        lane: "helper".into(),
    });
    let mut findings = Findings::new(stage.play(Wishes {
        script,
        ..Wishes::default()
    })?);
    findings.ends("complete", 0);
    findings.iterations(2);
    nothing_claimed_at_first(&mut findings);
    Ok(findings)
}

/// S-01: a committed settings file does not take the guard away.
fn hooks_stay_on(stage: &Stage) -> io::Result<Findings> {
    stage.write("tasks.md", &tasks(1, 0))?;
    stage.write("secret.txt", "mine\n")?;
    stage.write(".claude/settings.json", "{\"disableAllHooks\": true}\n")?;
    stage.write(".codex/config.toml", "[features]\nhooks = false\n")?;
    let open = stage
        .client
        .shell("chmod 777 secret.txt && touch opened.txt");
    let mut turns = vec![
        Turn::say("Opening it to everybody.").call(open),
        Turn::say("Then the work."),
    ];
    turns.extend(does_it(stage));
    let mut findings = Findings::new(stage.play(Wishes {
        script: Script::main(turns),
        ..Wishes::default()
    })?);
    findings.must(
        !stage.project.join("opened.txt").exists(),
        "the dangerous command should not run",
    );
    findings.must(
        findings.count("guard_block") > 0,
        "the guard should have been asked",
    );
    Ok(findings)
}

/// Behind our own options somebody switches hooks off after all: the first
/// tool that runs ends the turn, and the run says why (S-01).
fn hooks_taken_away(stage: &Stage) -> io::Result<Findings> {
    stage.write("tasks.md", &tasks(1, 0))?;
    let off = match stage.client.name {
        "claude" => r#"["--settings", '{"disableAllHooks": true}']"#,
        _ => r#"["-c", "features.hooks=false"]"#,
    };
    stage.write(".ralph/config.toml", &format!("[agent]\nargs = {off}\n"))?;
    let open = stage.client.shell("touch opened.txt");
    let mut findings = Findings::new(stage.play(Wishes {
        script: Script::main(vec![Turn::say("Unseen.").call(open).for_ever()]),
        ..Wishes::default()
    })?);
    findings.must(
        stage.project.join("opened.txt").exists(),
        "the hook should really be gone",
    );
    findings.must(findings.played.hooked == 0, "nobody should be asked");
    findings.ends("paused", 3);
    findings.iterations(1);
    findings.must(findings.count("unguarded") == 1, "the run should say why");
    Ok(findings)
}

fn api_error(stage: &Stage) -> io::Result<Findings> {
    stage.write("tasks.md", &tasks(1, 0))?;
    let turn = Turn::refuse(limits::bad_request()).for_ever();
    let mut findings = Findings::new(stage.play(Wishes {
        script: Script::main(vec![turn]),
        ..Wishes::default()
    })?);
    // It would be refused again just so (ERRC-05).
    findings.ends("paused", 3);
    findings.iterations(1);
    findings.must(findings.count("error") == 0, "nothing is to be counted");
    findings.file(stage, "tasks.md", &tasks(1, 0));
    Ok(findings)
}

/// Whether the client asks again or Ralph does, the work goes on.
fn cut_stream(stage: &Stage) -> io::Result<Findings> {
    stage.write("tasks.md", &tasks(1, 0))?;
    let cut = Turn::say("This never arrives.").call(stage.client.shell("touch never.txt"));
    let mut turns = vec![cut.cut()];
    turns.extend(does_it(stage));
    let mut findings = Findings::new(stage.play(Wishes {
        script: Script::main(turns),
        ..Wishes::default()
    })?);
    findings.ends("complete", 0);
    findings.file(stage, "1.txt", "one\n");
    findings.must(
        !stage.project.join("never.txt").exists(),
        "half a call should not be made",
    );
    Ok(findings)
}

/// A client that waits for ever is ended, with everything that it started.
fn silent_model(stage: &Stage) -> io::Result<Findings> {
    stage.write("tasks.md", &tasks(1, 0))?;
    let silent = Turn {
        delay_ms: 600_000,
        ..Turn::say("This comes too late.")
    };
    let mut turns = vec![silent];
    turns.extend(does_it(stage));
    let mut findings = Findings::new(stage.play(Wishes {
        script: Script::main(turns),
        env: vec![("RALPH_LIMITS_IDLE_TIMEOUT", "8s".into())],
        ..Wishes::default()
    })?);
    findings.ends("complete", 0);
    findings.iterations(2);
    let errors: Vec<Value> = findings.named("error").cloned().collect();
    let timed_out = errors.iter().all(|e| e["reason"] == "agent_timeout");
    findings.must(
        errors.len() == 1 && timed_out,
        &format!("there should be one timeout, not {errors:?}"),
    );
    Ok(findings)
}

fn usage_limit(stage: &Stage) -> io::Result<Findings> {
    stage.write("tasks.md", &tasks(1, 0))?;
    match stage.client.limit {
        Some(Limit::Until(limit)) => waits_and_goes_on(stage, limit(in_a_moment())),
        Some(Limit::OfTheDay(limit)) => pauses_for_the_day(stage, limit()),
        None => Err(io::Error::other("this client knows no usage limit")),
    }
}

/// The lost turn is not counted, and no error.
fn waits_and_goes_on(stage: &Stage, limit: Refusal) -> io::Result<Findings> {
    let mut turns = vec![Turn::refuse(limit)];
    turns.extend(does_it(stage));
    let mut findings = Findings::new(stage.play(Wishes {
        script: Script::main(turns),
        subscribed: true,
        ..Wishes::default()
    })?);
    findings.ends("complete", 0);
    findings.iterations(1);
    findings.file(stage, "1.txt", "one\n");
    findings.must(findings.count("error") == 0, "a limit is no error");
    let waits: Vec<Value> = findings.named("wait").cloned().collect();
    let for_limit = waits
        .iter()
        .filter(|w| w["reason"] == "usage_limit")
        .count();
    findings.must(
        (for_limit, waits.len()) == (1, 1),
        &format!("there should be one wait for the limit: {waits:?}"),
    );
    let refused: Vec<Value> = findings.named("agent_refused").cloned().collect();
    findings.must(
        refused.len() == 1 && refused.iter().all(|r| r["until"].is_string()),
        &format!("the limit should have a reset: {refused:?}"),
    );
    Ok(findings)
}

/// Nobody waits longer than `limits.max_wait`.
fn pauses_for_the_day(stage: &Stage, limit: Refusal) -> io::Result<Findings> {
    let turn = Turn::refuse(limit).for_ever();
    let mut findings = Findings::new(stage.play(Wishes {
        script: Script::main(vec![turn]),
        subscribed: true,
        env: vec![("RALPH_LIMITS_MAX_WAIT", "5s".into())],
        ..Wishes::default()
    })?);
    findings.ends("paused", 3);
    let end = findings.played.events.last().cloned().unwrap_or_default();
    findings.must(
        end["reason"] == "max_wait",
        &format!("it should pause for the length of the wait: {end}"),
    );
    let refused: Vec<Value> = findings.named("agent_refused").cloned().collect();
    findings.must(
        refused.len() == 1 && refused.iter().all(|r| r["reason"] == "usage_limit"),
        &format!("one call should be refused: {refused:?}"),
    );
    findings.must(findings.count("error") == 0, "a limit is no error");
    Ok(findings)
}

/// When a scripted limit ends, in seconds since 1970.
fn in_a_moment() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    (now.unwrap_or_default() + Duration::from_secs(20)).as_secs()
}

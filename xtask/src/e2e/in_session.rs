//! What the real clients have to show with our hooks in a project: a loop
//! inside a session, the guard, the verify gate (issue 6).

use std::io;

use ralph_testkit::{Call, Script, Select, Turn};
use serde_json::{Value, json};

use super::clients::Client;
use super::scenarios::{Findings, Scenario};
use super::stage::{Sitting, Stage};

pub const SCENARIOS: [Scenario; 11] = [
    Scenario {
        name: "session loop",
        is_for: |client| client.alone.is_some(),
        play: session_loop,
    },
    Scenario {
        name: "session false promise",
        is_for: |client| client.alone.is_some(),
        play: false_promise,
    },
    Scenario {
        name: "borrowed hooks",
        is_for: |client| client.name == "copilot",
        play: borrowed_hooks,
    },
    Scenario {
        name: "session guard",
        is_for: |client| client.alone.is_some(),
        play: guard,
    },
    Scenario {
        name: "check subagent",
        is_for: |client| checker(client.name).is_some(),
        play: check_subagent,
    },
    Scenario {
        name: "cancel",
        is_for: is_claude,
        play: cancel,
    },
    Scenario {
        name: "question",
        is_for: is_claude,
        play: question,
    },
    Scenario {
        name: "two sessions",
        is_for: is_claude,
        play: two_sessions,
    },
    Scenario {
        name: "many blocks",
        is_for: is_claude,
        play: many_blocks,
    },
    Scenario {
        name: "doctor live",
        is_for: is_claude,
        play: doctor_live,
    },
    Scenario {
        name: "plugin",
        is_for: is_claude,
        play: plugin,
    },
];

fn is_claude(client: &Client) -> bool {
    client.name == "claude"
}

/// How the client is started with a prompt.
fn alone(stage: &Stage, prompt: &str) -> Vec<String> {
    stage
        .client
        .alone
        .map(|args| args(prompt))
        .unwrap_or_default()
}

/// A loop is started in the way of the client: only Claude Code has our slash
/// commands.
fn start(stage: &Stage, rest: &str) -> Vec<String> {
    let slash = if is_claude(stage.client) { "/" } else { "" };
    alone(stage, &format!("{slash}ralph-loop {rest}"))
}

fn sit(stage: &Stage, turns: Vec<Turn>, call: Vec<String>) -> io::Result<Findings> {
    Ok(Findings::new(stage.sit(Sitting {
        script: Script::main(turns),
        calls: vec![vec![call]],
        ..Sitting::default()
    })?))
}

impl Findings {
    /// The runs of the project, as outcome and iterations, in order.
    pub fn runs(&mut self, want: &[(&str, u64)]) {
        let runs = self.played.cost["runs"].as_array().cloned();
        let mut got: Vec<(String, u64)> = runs
            .unwrap_or_default()
            .iter()
            .map(|run| {
                let outcome = run["outcome"].as_str().unwrap_or_default();
                (outcome.to_owned(), run["iterations"].as_u64().unwrap_or(0))
            })
            .collect();
        got.sort();
        let mut want: Vec<(String, u64)> =
            want.iter().map(|(o, n)| ((*o).to_owned(), *n)).collect();
        want.sort();
        let told = format!(
            "the runs should be {want:?}, not {got:?}; it said: {}",
            self.played.stderr
        );
        self.must(got == want, &told);
    }

    pub fn exits(&mut self, want: i32) {
        let got = self.played.code;
        let told = format!("the client should end with {want}, not {got:?}");
        self.must(got == Some(want), &told);
    }

    /// What the model was asked, request by request, in a lane.
    pub fn asked_in(&self, lane: &str) -> Vec<String> {
        let requests = self.played.report.requests.iter();
        let requests = requests.filter(|request| request.lane == lane);
        requests.map(|request| request.body.to_string()).collect()
    }
}

const FINISHED: &str = "All of it is there.\n\n<promise>FINISHED</promise>";
const VERIFIED: &str = "\"Write the files 1.txt to 3.txt\" --max-iterations 10 --completion-promise FINISHED --verify 'test -f 3.txt'";

/// Three iterations: work, work, a promise that is proven.
fn session_loop(stage: &Stage) -> io::Result<Findings> {
    let write = |name: &str| stage.client.write(&stage.project.join(name), "text\n");
    let turns = vec![
        Turn::say("The first.").call(write("1.txt")),
        Turn::say("One file is there."),
        Turn::say("The second.").call(write("2.txt")),
        Turn::say("Two files are there."),
        Turn::say("The third.").call(write("3.txt")),
        Turn::say(FINISHED),
    ];
    let mut findings = sit(stage, turns, start(stage, VERIFIED))?;
    findings.exits(0);
    findings.runs(&[("complete", 3)]);
    for name in ["1.txt", "2.txt", "3.txt"] {
        findings.file(stage, name, "text\n");
    }
    let asked = findings.asked_in("main");
    let tells_of = |body: Option<&String>, text: &str| body.is_some_and(|b| b.contains(text));
    let first = tells_of(asked.first(), "Write the files 1.txt to 3.txt");
    findings.must(first, "the task should reach the model");
    let promise = tells_of(asked.first(), "FINISHED");
    findings.must(promise, "the promise should be asked for");
    let sent_back = tells_of(asked.get(2), "2 / 10");
    findings.must(sent_back, "the second iteration should be announced");
    let again = tells_of(asked.get(4), "3 / 10");
    findings.must(again, "the third iteration should be announced");
    findings.must(
        findings.played.hooked >= 3,
        "the guard should be asked about every write",
    );
    Ok(findings)
}

/// Copilot CLI also runs the hooks of Claude Code: with both installed, a turn
/// is still counted once.
fn borrowed_hooks(stage: &Stage) -> io::Result<Findings> {
    let write = stage.client.write(&stage.project.join("3.txt"), "text\n");
    let turns = vec![
        Turn::say("Not yet."),
        Turn::say("Now.").call(write),
        Turn::say(FINISHED),
    ];
    let mut findings = Findings::new(stage.sit(Sitting {
        script: Script::main(turns),
        init: vec!["--agent", "claude", "--agent", "copilot"],
        calls: vec![vec![start(stage, VERIFIED)]],
        ..Sitting::default()
    })?);
    findings.exits(0);
    findings.runs(&[("complete", 2)]);
    Ok(findings)
}

/// Words are no proof: the agent is sent back with what failed.
fn false_promise(stage: &Stage) -> io::Result<Findings> {
    let write = stage.client.write(&stage.project.join("3.txt"), "text\n");
    let turns = vec![
        Turn::say(FINISHED),
        Turn::say("Now really.").call(write),
        Turn::say(FINISHED),
    ];
    let mut findings = sit(stage, turns, start(stage, VERIFIED))?;
    findings.exits(0);
    findings.runs(&[("complete", 2)]);
    let asked = findings.asked_in("main");
    let told = asked
        .get(1)
        .is_some_and(|body| body.contains("test -f 3.txt"));
    findings.must(told, "what failed should be told to the model");
    Ok(findings)
}

/// What the guard blocks is not done, and the turn goes on.
fn guard(stage: &Stage) -> io::Result<Findings> {
    stage.write("secret.txt", "mine\n")?;
    let client = stage.client;
    let outside = stage.project.join("../outside.txt");
    let turns = vec![
        Turn::say("Opening it to everybody.")
            .call(client.shell("chmod 777 secret.txt && touch opened.txt")),
        Turn::say("Writing outside.").call(client.write(&outside, "text\n")),
        Turn::say("Then inside.").call(client.write(&stage.project.join("1.txt"), "text\n")),
        Turn::say("Done."),
    ];
    let mut findings = sit(stage, turns, alone(stage, "Try a few things."))?;
    findings.exits(0);
    findings.must(
        !stage.project.join("opened.txt").exists(),
        "the dangerous command should not run",
    );
    findings.must(!outside.exists(), "nothing should be written outside");
    findings.file(stage, "1.txt", "text\n");
    let asked = findings.asked_in("main");
    for (i, what) in [(1, "command"), (2, "write")] {
        let told = asked.get(i).is_some_and(|body| body.contains("BLOCKED"));
        findings.must(
            told,
            &format!("the model should learn of the blocked {what}"),
        );
    }
    Ok(findings)
}

fn agent(kind: &str, task: &str) -> Call {
    Call {
        name: "Agent".into(),
        input: json!({
            "description": "Scripted helper",
            "prompt": task,
            "subagent_type": kind,
            "run_in_background": false,
        }),
    }
}

/// The text by which the scripted model knows the checker.
const CHECKER: &str = "SCRIPTED-CHECKER: you check the work.";

/// How a subagent is called that is held at its end: the name of its kind, and
/// the call. Only Claude Code is given a kind of its own here.
fn checker(client: &str) -> Option<(&'static str, Call)> {
    let call = |name: &str, input| Call {
        name: name.into(),
        input,
    };
    Some(match client {
        "claude" => ("check", agent("check", "Check it.")),
        "codex" => (
            "worker",
            call(
                "multi_agent_v1/spawn_agent",
                json!({"agent_type": "worker", "message": CHECKER}),
            ),
        ),
        "copilot" => (
            "general-purpose",
            call(
                "task",
                json!({
                    "agent_type": "general-purpose",
                    "name": "checker",
                    "description": "Scripted helper",
                    "prompt": CHECKER,
                    "mode": "sync",
                }),
            ),
        ),
        _ => return None,
    })
}

fn call_for_check(stage: &Stage) -> Vec<String> {
    let call = alone(stage, "Have the work checked.");
    match stage.client.name {
        // Others have to search for the tool first.
        "codex" => of_session(call, "--model", "gpt-5-codex"),
        _ => call,
    }
}

/// The verify gate: a check agent does not leave on red.
fn check_subagent(stage: &Stage) -> io::Result<Findings> {
    let Some((kind, call)) = checker(stage.client.name) else {
        return Err(io::Error::other("it has no subagents"));
    };
    std::fs::create_dir_all(stage.project.join(".ralph"))?;
    let settings = format!("[verify]\ncommands = [\"test -f fixed.txt\"]\nagents = [\"{kind}\"]\n");
    stage.write(".ralph/config.toml", &settings)?;
    if is_claude(stage.client) {
        std::fs::create_dir_all(stage.project.join(".claude/agents"))?;
        let text = format!("---\nname: check\ndescription: Checks the work\n---\n\n{CHECKER}\n");
        stage.write(".claude/agents/check.md", &text)?;
    }
    let mut main = vec![Turn::say("Asking the checker.").call(call)];
    if stage.client.name == "codex" {
        // It goes on beside its subagent.
        let wait = "until test -f checked.txt; do sleep 0.1; done";
        main.push(Turn::say("Waiting for it.").call(stage.client.shell(wait)));
    }
    // Codex asks once more if its subagent ends after it said so.
    main.push(Turn::say("It was checked.").for_ever());
    let mut script = Script::main(main);
    script.lanes.insert(
        "check".into(),
        vec![
            Turn::say("Looks good to me."),
            Turn::say("Mending it.").call(stage.client.shell("touch fixed.txt checked.txt")),
            Turn::say("Now it is good."),
        ],
    );
    script.select.push(Select {
        text: "SCRIPTED-CHECKER".into(),
        lane: "check".into(),
    });
    let mut findings = Findings::new(stage.sit(Sitting {
        script,
        calls: vec![vec![call_for_check(stage)]],
        ..Sitting::default()
    })?);
    findings.exits(0);
    findings.must(
        stage.project.join("fixed.txt").exists(),
        "the checker should have to mend it",
    );
    let asked = findings.asked_in("check");
    let told = asked
        .get(1)
        .is_some_and(|body| body.contains("test -f fixed.txt"));
    findings.must(told, "the checker should be told what failed");
    Ok(findings)
}

/// A session of its own, so that it can be taken up again.
fn of_session(mut args: Vec<String>, flag: &str, session: &str) -> Vec<String> {
    args.extend([flag.to_owned(), session.to_owned()]);
    args
}

/// A loop at its limit is given up, and holds nobody any more.
fn cancel(stage: &Stage) -> io::Result<Findings> {
    const SESSION: &str = "7c1f2a54-3b1d-4c7e-9a51-0d5f3c2b1a01";
    let rest = "\"Write something\" --max-iterations 2 --completion-promise FINISHED";
    let turns = vec![
        Turn::say("Thinking of something."),
        Turn::say("Still thinking."),
        Turn::say("Hello again."),
    ];
    let calls = vec![
        vec![of_session(start(stage, rest), "--session-id", SESSION)],
        vec![of_session(
            alone(stage, "/cancel-ralph"),
            "--resume",
            SESSION,
        )],
        vec![of_session(alone(stage, "Hello."), "--resume", SESSION)],
    ];
    let mut findings = Findings::new(stage.sit(Sitting {
        script: Script::main(turns),
        calls,
        ..Sitting::default()
    })?);
    findings.exits(0);
    findings.runs(&[("cancelled", 2)]);
    Ok(findings)
}

/// A question lets the agent rest, and its answer goes on in the session.
fn question(stage: &Stage) -> io::Result<Findings> {
    const SESSION: &str = "7c1f2a54-3b1d-4c7e-9a51-0d5f3c2b1a02";
    let write = stage.client.write(&stage.project.join("3.txt"), "text\n");
    let turns = vec![
        Turn::say("<promise>QUESTION: Which colour? | options: red; blue</promise>"),
        Turn::say("Blue, then.").call(write),
        Turn::say(FINISHED),
    ];
    let answer = alone(stage, "/ralph-answer 2");
    let calls = vec![
        vec![of_session(start(stage, VERIFIED), "--session-id", SESSION)],
        vec![of_session(answer, "--resume", SESSION)],
    ];
    let mut findings = Findings::new(stage.sit(Sitting {
        script: Script::main(turns),
        calls,
        ..Sitting::default()
    })?);
    findings.exits(0);
    findings.runs(&[("complete", 2)]);
    let asked = findings.asked_in("main");
    let told = asked.get(1).is_some_and(|body| body.contains("blue"));
    findings.must(told, "the model should learn the answer");
    Ok(findings)
}

/// Two loops and a guest at the same time in one project.
fn two_sessions(stage: &Stage) -> io::Result<Findings> {
    let lane = |file: &str, promise: &str| {
        vec![
            Turn::say("Not yet."),
            Turn::say("Now.").call(stage.client.write(&stage.project.join(file), "text\n")),
            Turn::say(&format!("<promise>{promise}</promise>")),
        ]
    };
    let mut script = Script::default();
    for (name, turns) in [
        ("alpha", lane("alpha.txt", "ALPHA_DONE")),
        ("beta", lane("beta.txt", "BETA_DONE")),
        ("guest", vec![Turn::say("I am only a guest.")]),
    ] {
        script.lanes.insert(name.into(), turns);
        script.select.push(Select {
            text: format!("SCRIPTED-{name}"),
            lane: name.into(),
        });
    }
    let looped = |name: &str, promise: &str| {
        let rest = format!(
            "\"SCRIPTED-{name}: write {name}.txt\" --max-iterations 5 --completion-promise {promise} --verify 'test -f {name}.txt'"
        );
        start(stage, &rest)
    };
    let calls = vec![vec![
        looped("alpha", "ALPHA_DONE"),
        looped("beta", "BETA_DONE"),
        alone(stage, "SCRIPTED-guest: say something."),
    ]];
    let mut findings = Findings::new(stage.sit(Sitting {
        script,
        calls,
        ..Sitting::default()
    })?);
    findings.exits(0);
    findings.runs(&[("complete", 2), ("complete", 2)]);
    findings.file(stage, "alpha.txt", "text\n");
    findings.file(stage, "beta.txt", "text\n");
    Ok(findings)
}

/// More blocks in a row, without a tool call, than the client allows where
/// nothing else is said.
fn many_blocks(stage: &Stage) -> io::Result<Findings> {
    std::fs::create_dir_all(stage.project.join(".ralph"))?;
    stage.write(
        ".ralph/config.toml",
        "[limits]\nmissing_promise = 0\nstalled = 0\nmax_iterations = 20\n",
    )?;
    let mut turns: Vec<Turn> = (1..12)
        .map(|i| Turn::say(&format!("Thought {i}.")))
        .collect();
    let write = stage.client.shell("echo so > thought.txt");
    turns.push(Turn::say("Writing it down.").call(write));
    turns.push(Turn::say(FINISHED));
    let rest = "\"Think about it\" --completion-promise FINISHED --verify 'test -f thought.txt'";
    let mut findings = sit(stage, turns, start(stage, rest))?;
    findings.exits(0);
    findings.runs(&[("complete", 12)]);
    let cut = findings
        .played
        .events
        .iter()
        .any(|event| event["key"] == "stop-hook-block-cap");
    findings.must(!cut, "the client's cap should not cut in");
    Ok(findings)
}

fn doctor_live(stage: &Stage) -> io::Result<Findings> {
    let mut script = Script::main(vec![
        Turn::say("Writing.").call(Call {
            name: "Write".into(),
            input: json!({"file_path": "doctor.txt", "content": "ok"}),
        }),
        Turn::say("Asking.").call(agent("general-purpose", "SCRIPTED-HELPER: say OK.")),
        Turn::say("DONE"),
    ]);
    script.lanes.insert("helper".into(), vec![Turn::say("OK")]);
    script.select.push(Select {
        text: "SCRIPTED-HELPER".into(),
        lane: "helper".into(),
    });
    let (code, told, report) = stage.ask_ralph(script, &["doctor", "--live", "--json"])?;
    let mut findings = Findings::new(super::stage::Played {
        code,
        events: Vec::new(),
        stderr: String::new(),
        problems: [report.violations.clone(), report.unplayed.clone()].concat(),
        report,
        cost: Value::Null,
        hooked: 0,
    });
    findings.exits(0);
    let all = told["findings"].as_array().cloned().unwrap_or_default();
    let live: Vec<&Value> = all.iter().filter(|f| f["check"] == "live.hook").collect();
    let fired = live.iter().filter(|f| f["status"] == "ok").count();
    let problem = format!("all seven hooks should fire with all fields: {live:?}");
    findings.must((fired, live.len()) == (7, 7), &problem);
    Ok(findings)
}

/// The plugin is one that the client accepts, and its hooks work.
fn plugin(stage: &Stage) -> io::Result<Findings> {
    let turns = vec![
        Turn::say("Opening it to everybody.")
            .call(stage.client.shell("chmod 777 . && touch opened.txt")),
        Turn::say("Not yet."),
        Turn::say("Writing.").call(stage.client.shell("echo so > little.txt")),
        Turn::say(FINISHED),
    ];
    let rest = "\"Do little\" --completion-promise FINISHED --verify 'test -f little.txt'";
    let mut call = alone(stage, &format!("/ralph:ralph-loop {rest}"));
    call.extend(["--plugin-dir".to_owned(), ".ralph/plugin".to_owned()]);
    let mut findings = Findings::new(stage.sit(Sitting {
        script: Script::main(turns),
        init: vec!["--plugin"],
        calls: vec![vec![call]],
        ..Sitting::default()
    })?);
    findings.exits(0);
    findings.runs(&[("complete", 2)]);
    findings.must(
        !stage.project.join("opened.txt").exists(),
        "the plugin's guard should block",
    );
    let (code, said) = stage.ask_client(&["plugin", "validate", "--strict", ".ralph/plugin"])?;
    findings.must(
        code == Some(0),
        &format!("the plugin should be valid: {said}"),
    );
    Ok(findings)
}

//! `ralph plan` with the real clients: what proves nothing is sent back, and a
//! refused plan leaves no file (issue 23).

use std::io;

use ralph_testkit::{Script, Turn};
use serde_json::Value;

use super::clients::Client;
use super::scenarios::{Findings, Scenario};
use super::stage::{Played, Stage};

pub const SCENARIOS: [Scenario; 2] = [
    Scenario {
        name: "plan mended",
        is_for,
        play: plan_mended,
    },
    Scenario {
        name: "plan refused",
        is_for,
        play: plan_refused,
    },
];

fn is_for(client: &Client) -> bool {
    ["claude", "codex"].contains(&client.name)
}

const FIRST: &str = "- [ ] T001 寫 sub.sh | files: sub.sh | risk: low | verify: test -e sub.sh\n";
const SECOND: &str =
    "- [ ] T002 Say it | depends: T001 | risk: low | verify: grep -q subtract README.md\n";

/// A turn of the client that writes this plan, and one that promises it.
fn plans(stage: &Stage, text: &str) -> [Turn; 2] {
    let command = format!("cat > ralph-plan.md <<'END'\n{text}END\n");
    [
        Turn::say("Planning.").call(stage.client.shell(&command)),
        Turn::say("The plan is written.\n\n<promise>COMPLETE</promise>"),
    ]
}

fn play(stage: &Stage, texts: &[String], rounds: &str) -> io::Result<Findings> {
    stage.write("add.sh", "echo $(($1 + $2))\n")?;
    let turns = texts.iter().flat_map(|text| plans(stage, text));
    let args = ["plan", "subtract, too", "--into", "tasks.md", "--yes"];
    let who = ["--agent", stage.client.name, "--rounds", rounds];
    let script = Script::main(turns.collect());
    let (code, _, report) = stage.ask_ralph(script, &[&args[..], &who].concat())?;
    let mut problems = report.violations.clone();
    problems.extend(report.unplayed.iter().cloned());
    Ok(Findings::new(Played {
        code,
        events: Vec::new(),
        stderr: String::new(),
        report,
        cost: Value::Null,
        hooked: 0,
        problems,
    }))
}

fn plan_mended(stage: &Stage) -> io::Result<Findings> {
    let good = format!("{FIRST}{SECOND}");
    let green = good.replace("test -e sub.sh", "test -e add.sh");
    let cycle = good.replace("files: sub.sh", "depends: T002");
    let missing = good.replace("test -e sub.sh", "no-such-program");
    let mut findings = play(stage, &[green, cycle, missing, good.clone()], "4")?;
    let code = findings.played.code;
    findings.must(code == Some(0), &format!("should end with 0, not {code:?}"));
    findings.file(stage, "tasks.md", &good);
    let told: String = findings
        .played
        .report
        .requests
        .iter()
        .map(|request| request.body.to_string())
        .collect();
    for words in ["passes already", "wait for each other", "is no command"] {
        findings.must(told.contains(words), &format!("was not told: {words}"));
    }
    let add = stage.read("add.sh");
    findings.must(add == "echo $(($1 + $2))\n", "the project was changed");
    Ok(findings)
}

fn plan_refused(stage: &Stage) -> io::Result<Findings> {
    let bad = FIRST.replace("test -e sub.sh", "rm -rf ~ && test -e sub.sh");
    let mut findings = play(stage, &[bad], "1")?;
    let code = findings.played.code;
    findings.must(code != Some(0), "a destructive check was taken");
    findings.must(stage.read("tasks.md").is_empty(), "a file was left");
    Ok(findings)
}

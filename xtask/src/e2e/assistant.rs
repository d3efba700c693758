//! `ralph mcp` with a real client of the Model Context Protocol: a person's own
//! assistant, which looks at a loop (issue 23).

use std::io;

use ralph_testkit::{Call, Script, Turn};
use serde_json::json;

use super::scenarios::{Findings, Scenario};
use super::stage::{Sitting, Stage};

pub const SCENARIOS: [Scenario; 1] = [Scenario {
    name: "assistant",
    is_for: |client| client.name == "claude",
    play: assistant,
}];

fn tool(name: &str, input: serde_json::Value) -> Call {
    Call {
        name: format!("mcp__ralph__{name}"),
        input,
    }
}

fn assistant(stage: &Stage) -> io::Result<Findings> {
    stage.write("tasks.md", "- [ ] T001 Paint the shed\n")?;
    let server = json!({
        "command": stage.ralph,
        "args": ["--root", stage.project, "mcp", "--allow", "hint"],
    });
    stage.write(
        "mcp.json",
        &json!({ "mcpServers": { "ralph": server } }).to_string(),
    )?;
    let turns = vec![
        Turn::say("Looking.").call(tool("tasks", json!({}))),
        Turn::say("Stopping.").call(tool("stop", json!({}))),
        Turn::say("That is all."),
    ];
    let ask = stage.client.alone.map(|args| args("How far is my loop?"));
    let mut call = ask.unwrap_or_default();
    call.extend(["--mcp-config".into(), "mcp.json".into()]);
    let mut findings = Findings::new(stage.sit(Sitting {
        script: Script::main(turns),
        calls: vec![vec![call]],
        ..Sitting::default()
    })?);
    findings.exits(0);
    let asked = findings.asked_in("main");
    let offered = asked.first().is_some_and(|body| {
        let has = |name: &str| body.contains(&format!("mcp__ralph__{name}"));
        has("status") && has("hint") && !has("stop")
    });
    findings.must(offered, "what is allowed should be offered, and no more");
    let seen = asked
        .get(1)
        .is_some_and(|body| body.contains("Paint the shed"));
    findings.must(seen, "the assistant should see the tasks");
    let refused = asked.get(2).is_some_and(|body| {
        body.contains("No such tool available") || body.contains("has to allow that first")
    });
    findings.must(refused, "what is not allowed should not be done");
    Ok(findings)
}

//! Two real clients in two lanes of one run (issue 22).

use std::collections::BTreeMap;
use std::io;

use ralph_testkit::{Script, Select, Turn};

use super::clients::{CLIENTS, Client};
use super::scenarios::{Findings, Scenario};
use super::stage::{Stage, Wishes};

pub const SCENARIOS: [Scenario; 1] = [Scenario {
    name: "two lanes",
    is_for: |client| client.name == "claude",
    play: two_lanes,
}];

const TASKS: &str = "\
- [ ] T001 Paint the shed | files: shed.txt
- [ ] T002 Plant the tree | files: tree.txt
";

/// What a client does with its task: the file, the tick, and its word.
fn works(client: &Client, file: &str, task: &str) -> Vec<Turn> {
    let command = format!("echo done > {file}; sed -i 's/\\[ \\] {task}/[x] {task}/' tasks.md");
    vec![
        Turn::say("Working.").call(client.shell(&command)),
        Turn::say("Done.\n\n<promise>COMPLETE</promise>"),
    ]
}

fn two_lanes(stage: &Stage) -> io::Result<Findings> {
    let codex = CLIENTS.iter().find(|client| client.name == "codex");
    let codex = codex.ok_or_else(|| io::Error::other("there is no codex"))?;
    stage.write("tasks.md", TASKS)?;
    let lane = |text: &str, lane: &str| Select {
        text: text.into(),
        lane: lane.into(),
    };
    let script = Script {
        lanes: BTreeMap::from([
            ("shed".into(), works(stage.client, "shed.txt", "T001")),
            ("tree".into(), works(codex, "tree.txt", "T002")),
        ]),
        select: vec![
            lane("Paint the shed", "shed"),
            lane("Plant the tree", "tree"),
        ],
    };
    let mut findings = Findings::new(stage.play(Wishes {
        script,
        args: vec!["-j", "2", "--land"],
        beside: Some(codex),
        ..Wishes::default()
    })?);
    findings.ends("complete", 0);
    findings.must(
        findings.count("lane_landed") == 2,
        "both results should land",
    );
    findings.file(stage, "shed.txt", "done\n");
    findings.file(stage, "tree.txt", "done\n");
    Ok(findings)
}

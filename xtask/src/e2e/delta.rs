//! Seed 004 in the real client: a delta loop from its initial state over an
//! early promise, a torn file and its limit to its archive (issue 16).

use std::io;

use ralph_testkit::{Script, Turn};

use super::scenarios::{Findings, Scenario};
use super::stage::{Sitting, Stage};

pub const SCENARIOS: [Scenario; 1] = [Scenario {
    name: "session delta",
    is_for: |client| client.name == "claude",
    play: session_delta,
}];

const STATE: &str = ".claude/ralph-delta.local.md";
const SESSION: &str = "7c1f2a54-3b1d-4c7e-9a51-0d5f3c2b1a04";
const PROMISE: &str = "<promise>TASK_COMPLETE</promise>";
const NOT_DONE: &str = "<!-- 未完成 -->";
const TORN: &str = "torn by a full disk";
/// What an agent keeps in the file, with everything that a writer of ours
/// would write otherwise.
const NOTES: &str = "## My notes  \n*  odd   bullet \n\n\n```\n## no heading\n```\n\ttab\n\n";

/// The state file as the agent leaves it: the counters are its own belief.
fn state(completed: &str, subtasks: usize, pending: &str, promise: &str) -> String {
    let boxes = (1..=5).map(|n| {
        let mark = if n <= subtasks { 'x' } else { ' ' };
        format!("- [{mark}] 子任务 {n}: 第 {n} 部分\n")
    });
    let boxes: String = boxes.collect();
    format!(
        "# Delta Loop State\n\n## Meta\n- Task ID: abc123\n- Route: RALPH\n- Started: 2026-01-18 10:00:00\n- Last Updated: 2026-01-18 10:00:00\n\n## Iteration\n- Current: 1\n- Max Allowed: 4\n- Status: IN_PROGRESS\n\n## Progress\n- Current Phase: 1\n- Completed Phases: [{completed}]\n- Current Subtask: {subtasks} / 5\n\n## Pending Work\n{pending}\n\n## Completed Work\n### Phase 3: 子任务进度\n{boxes}\n{NOTES}## Promise\n{promise}\n"
    )
}

const LEFT: &str = "1. Phase 3: 完成剩余子任务\n2. Phase 4: 综合审查";

fn prepare(stage: &Stage) -> io::Result<()> {
    let first =
        "1. Phase 1: 深度分析\n2. Phase 2: 规划\n3. Phase 3: 执行 5 个子任务\n4. Phase 4: 综合审查";
    let later = "1. Phase 2: 规划\n2. Phase 3: 执行 5 个子任务\n3. Phase 4: 综合审查";
    stage.write(STATE, &state("", 0, first, NOT_DONE))?;
    for (name, text) in [
        ("steps/1", state("1", 0, later, NOT_DONE)),
        ("steps/2", state("1, 2", 0, LEFT, NOT_DONE)),
        ("steps/3", state("1, 2", 2, LEFT, PROMISE)),
        ("steps/4", TORN.into()),
        ("steps/5", state("1, 2, 3, 4", 5, "(none)", PROMISE)),
    ] {
        stage.write(name, &text)?;
    }
    Ok(())
}

fn session_delta(stage: &Stage) -> io::Result<Findings> {
    prepare(stage)?;
    stage.write(
        ".ralph/config.toml",
        "[verify]\ncommands = [\"test -f done.txt\"]\n",
    )?;
    let step = |n: u32, more: &str| {
        let command =
            format!("cp {STATE} seen-{n}; cp steps/{n} {STATE}; echo {n} > work.txt{more}");
        [
            Turn::say("Working.").call(stage.client.shell(&command)),
            Turn::say(&format!("Step {n} is done.")),
        ]
    };
    let turns = [
        step(1, ""),
        step(2, ""),
        step(3, ""),
        step(4, ""),
        step(5, "; echo 1 > done.txt"),
    ];
    let call = |prompt: &str, flag: &str| {
        let mut args = stage
            .client
            .alone
            .map(|args| args(prompt))
            .unwrap_or_default();
        args.extend([flag.to_owned(), SESSION.to_owned()]);
        vec![args]
    };
    let mut findings = Findings::new(stage.sit(Sitting {
        script: Script::main(turns.into_iter().flatten().collect()),
        calls: vec![
            call("继续这个任务", "--session-id"),
            call("继续", "--resume"),
        ],
        env: vec![("RALPH_LANG", "zh-CN".into())],
        ..Sitting::default()
    })?);
    findings.exits(0);
    findings.runs(&[("complete", 5)]);
    told_on_the_way(&mut findings);
    left_on_the_way(stage, &mut findings);
    archived(stage, &mut findings)?;
    Ok(findings)
}

/// What the model was told, and the person at the limit.
fn told_on_the_way(findings: &mut Findings) {
    let asked = findings.asked();
    for (at, text) in [
        (2, "🔄 迭代继续 | 第 2/4 次"),
        (2, "- 路由: RALPH"),
        (2, "在状态文件中设置"),
        (4, "第 3/4 次"),
        (6, "第 4/4 次"),
        (6, "REJECTED"),
        (6, "Phase 3, Phase 4"),
        (8, "第 5/14 次"),
    ] {
        let is_told = asked.get(at).is_some_and(|body| body.contains(text));
        findings.must(is_told, &format!("request {at} should tell {text:?}"));
    }
    let events = findings.played.events.iter();
    let shown: String = events.map(ToString::to_string).collect();
    for text in ["达到迭代上限", "增加迭代上限 (+10)", "放弃此任务"] {
        findings.must(
            shown.contains(text),
            &format!("the limit should show {text:?}"),
        );
    }
}

/// What stood in the file when each step began: Ralph's counts, the agent's
/// notes, and no promise that was not true.
fn left_on_the_way(stage: &Stage, findings: &mut Findings) {
    for (n, parts) in [
        (2, ["- Current: 2\n", "- Completed Phases: [1]\n"]),
        (3, ["- Current: 3\n", "- Completed Phases: [1, 2]\n"]),
        (4, ["- Current: 4\n", "- Current Subtask: 2 / 5\n"]),
        (
            5,
            [
                "- Current: 5\n- Max Allowed: 14\n",
                "- Current Subtask: 2 / 5\n",
            ],
        ),
    ] {
        let seen = stage.read(&format!("seen-{n}"));
        for part in parts.into_iter().chain([NOTES, NOT_DONE]) {
            let told = format!("step {n} should find {part:?} in {seen:?}");
            findings.must(seen.contains(part), &told);
        }
        let told = format!("step {n} should find no promise");
        findings.must(!seen.contains(PROMISE), &told);
    }
    findings.file(stage, ".claude/ralph-delta.corrupt-1.local.md", TORN);
}

fn archived(stage: &Stage, findings: &mut Findings) -> io::Result<()> {
    let gone = !stage.project.join(STATE).exists();
    findings.must(gone, "the state file should be archived");
    let history = std::fs::read_dir(stage.project.join(".skillpack/history"))?;
    let mut places = history.flatten().map(|entry| entry.path());
    let place = places.find(|path| path.to_string_lossy().ends_with("_abc123"));
    let read = |name: &str| {
        let path = place.as_ref().map(|place| place.join(name));
        path.and_then(|path| std::fs::read_to_string(path).ok())
            .unwrap_or_default()
    };
    let state = read("ralph-delta.state.md");
    for part in [
        "- Current: 5\n- Max Allowed: 14\n- Status: COMPLETED\n",
        "- Completed Phases: [1, 2, 3, 4]\n- Current Subtask: 5 / 5\n",
        "## Pending Work\n(none)\n",
        NOTES,
        PROMISE,
        "## Completion Summary\n- Total Iterations: 5\n",
    ] {
        let told = format!("the archive should hold {part:?}: {state:?}");
        findings.must(state.contains(part), &told);
    }
    let log = read("execution.log.jsonl");
    for event in [
        "stop_hook_trigger", "prompt_reinjected", "promise_rejected", "task_complete",
    ] {
        let told = format!("the log should name {event}");
        findings.must(log.contains(&format!("\"event\":\"{event}\"")), &told);
    }
    Ok(())
}

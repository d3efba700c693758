//! Kill anywhere: at every pass of every fault point the engine is killed with
//! SIGKILL, the run is taken up again, and everything is as if nothing had
//! happened.

use std::collections::BTreeSet;

use ralph_store::fault::POINTS;

use crate::faulty::{End, Pass, Scenario, check_all, told};

/// How often it is passed depends on how the pipe is read.
const VARIES: [&str; 2] = ["engine.output.write", "engine.verify.write"];

/// Leaves a run whose journal ends inside a record.
const TEAR: &str = "journal.append.write#3=short:20:kill";

#[derive(Debug)]
enum Killed {
    Run(String),
    /// While a run that was killed before is taken up.
    Resume(String),
}

fn undisturbed() -> (End, Vec<Pass>) {
    let scenario = Scenario::new();
    let done = scenario.run("");
    assert_eq!(done.code, 0, "{}", told(&done));
    let trace = scenario.trace();
    let end = scenario.end().unwrap();
    (end, trace)
}

/// What a resume passes until the first turn that it starts is over, with the
/// files that are written while that runs; from there on it is a run like any
/// other.
fn taken_up() -> Vec<Pass> {
    let scenario = Scenario::new();
    scenario.run(TEAR);
    let done = scenario.resume("");
    assert_eq!(done.code, 0, "{}", told(&done));
    let mut trace = scenario.trace();
    let exit = "engine.exit-noticed";
    let first_turn = trace.iter().position(|pass| pass.point == exit);
    trace.truncate(first_turn.unwrap());
    trace
}

/// Before the operation, after it where something outside sees the
/// difference, and in its middle.
fn kills(pass: &Pass) -> Vec<String> {
    let mut kills = vec![pass.fault("kill")];
    if ["Rename", "Open"].contains(&pass.deed.as_str()) || pass.point == "engine.spawn" {
        kills.push(pass.fault("kill-after"));
    }
    if pass.deed == "Write" {
        kills.push(pass.fault("short:5:kill"));
    }
    kills
}

#[test]
fn whole_runs_pass_every_point() {
    let (_, run) = undisturbed();
    let stopped = Scenario::new();
    stopped.env.write(".ralph/STOP", "");
    std::fs::remove_dir_all(stopped.env.path(".claude")).unwrap();
    // Left by somebody who died.
    stopped
        .env
        .write(".skillpack/current/checkpoint.json.tmp.0", "");
    stopped.run("");
    let passed: BTreeSet<String> = run
        .into_iter()
        .chain(taken_up())
        .chain(stopped.trace())
        .map(|pass| pass.point)
        .collect();
    let missed: Vec<_> = POINTS.iter().filter(|p| !passed.contains(**p)).collect();
    assert_eq!(missed, Vec::<&&str>::new());
}

/// Journal first, then the agent, then what is made from the journal (STAT-05,
/// CKPT-08). Only a checkpoint that has to reach the disk comes before.
#[test]
fn an_agent_starts_between_the_journal_and_what_is_made_from_it() {
    let (_, trace) = undisturbed();
    let points: Vec<&str> = trace.iter().map(|pass| pass.point.as_str()).collect();
    let prompts = points.iter().enumerate();
    let prompts = prompts.filter(|(_, point)| **point == "engine.prompt.open");
    let (mut turns, mut cheap) = (0, 0);
    for (prompt, _) in prompts {
        turns += 1;
        let from = |start: usize, name: &str| {
            let found = points[start..].iter().position(|point| *point == name);
            start + found.unwrap()
        };
        let count = |part: &[&str], name| part.iter().filter(|point| **point == name).count();
        let synced = |point: &&str| *point == "journal.append.sync";
        let sync = points[..prompt].iter().rposition(synced).unwrap();
        let spawn = from(prompt, "engine.spawn");
        let between = &points[sync..spawn];
        assert!(!between.contains(&"journal.append.write"), "{between:?}");
        if between.contains(&"checkpoint.sync") {
            continue;
        }
        cheap += 1;
        let during = &points[spawn..from(spawn, "engine.exit-noticed")];
        // The status, the checkpoint and its checksum.
        assert_eq!(count(during, "atomic.rename"), 3, "{turns}: {during:?}");
        // The state file and the counts in the task file, which the agent is
        // to find, and may edit.
        let first = count(between, "atomic.rename");
        assert!((1..=2).contains(&first), "{turns}: {between:?}");
    }
    assert_eq!((turns, cheap > 0), (3, true));
}

#[test]
fn a_run_killed_anywhere_ends_as_if_it_had_not_been() {
    let (want, run) = undisturbed();
    let tried = |pass: &&Pass| pass.is_tried();
    let in_run = run.iter().filter(tried).flat_map(kills).map(Killed::Run);
    let in_resume = taken_up();
    let in_resume = in_resume.iter().filter(tried).flat_map(kills);
    let in_resume = in_resume.map(Killed::Resume);
    let cases: Vec<Killed> = in_run.chain(in_resume).collect();
    assert!(cases.len() > 150, "only {} cases", cases.len());
    println!("{} cases", cases.len());
    check_all(
        &cases,
        |case| format!("{case:?}"),
        |case| check(case, &want),
    );
}

fn check(case: &Killed, want: &End) -> Result<(), String> {
    let scenario = Scenario::new();
    let (done, fault) = match case {
        Killed::Run(fault) => (scenario.run(fault), fault),
        Killed::Resume(fault) => {
            scenario.run(TEAR);
            (scenario.resume(fault), fault)
        }
    };
    // A process that was killed has no exit code.
    let varies = VARIES.iter().any(|point| fault.starts_with(point));
    if done.code != -1 && !(varies && done.code == 0) {
        return Err(format!("it was not killed: {}", told(&done)));
    }
    if done.code == -1 {
        scenario.complete()?;
    }
    let end = scenario.end()?;
    // The turn in which the engine died can't be judged any more: at the
    // most it costs one turn, in which the agent finds its work done. Where
    // two processes were killed, it may be one each.
    let deaths = match case {
        Killed::Run(_) => 1,
        Killed::Resume(_) => 2,
    };
    end.check_like(want, deaths)
}

//! What people and agents are told of roles and phases: who said what, which
//! rule refused it, and nothing that nobody said.

use serde_json::{Value, json};

use crate::env::{Done, TestEnv};
use crate::roles::{approves, develops, passes, prompt, says};

/// A developer whose words nobody else may be said to have said.
fn works(file: &str) -> Value {
    json!({"write": {file: "work"}, "say": "DEVWORDS"})
}

fn run(env: &TestEnv, turns: &[Value], more: &[&str]) -> (Done, String) {
    let agent = env.agent(turns);
    let done = env.ralph(&[&["run", "--roles", "--agent-cmd", &agent], more].concat());
    (done, env.read(".ralph/ralph.log"))
}

/// `ralph do`, and what the log says of it.
fn do_it(env: &TestEnv, turns: &[Value], more: &[&str]) -> (Done, String) {
    let agent = env.agent(turns);
    let done = env.ralph(&[&["do", "--agent-cmd", &agent], more].concat());
    (done, env.read(".ralph/ralph.log"))
}

/// ROLE-02: a verdict that does not count is no verdict that nobody could
/// read, and it has no words of the developer.
#[test]
fn a_reviewer_that_writes_is_told_which_files_role_02() {
    let env = TestEnv::with_tasks(1);
    let meddles = |text: &str| {
        let files = ["a.txt", "b.txt", "c.txt", "d.txt"].map(|file| (file.to_owned(), text.into()));
        let files: serde_json::Map<String, Value> = files.into_iter().collect();
        json!({"write": files, "say": "I made it better.\n\nVERDICT: APPROVE"})
    };
    let turns = [
        works("a.txt"),
        meddles("better"),
        meddles("best"),
        develops("e.txt"),
    ];
    let (_, log) = run(&env, &turns, &["--max-iterations", "4"]);
    let told = "REVIEWER may only look and changed a.txt, b.txt, c.txt, …";
    assert_eq!(log.matches(told).count(), 2, "{log}");
    assert!(!log.contains("can be read"), "{log}");
    let mut lines = log.lines();
    let line = lines.find(|line| line.contains("REVIEWER: UNCLEAR"));
    let line = line.unwrap_or_else(|| panic!("{log}"));
    assert!(line.contains("it changed a.txt, b.txt, c.txt, …"), "{line}");
    assert!(!line.contains("DEVWORDS"), "{line}");
    let back = prompt(&env, 4);
    assert!(back.contains("it changed a.txt, b.txt, c.txt, …"), "{back}");
    assert!(!back.contains("DEVWORDS"), "{back}");
    assert!(!back.contains("sent this work BACK"), "{back}");
    let report = env.ralph(&["report"]).stdout;
    let line = "- turn 3, T001, REVIEWER: its verdict does not count, because it changed a.txt";
    assert!(report.contains(line), "{report}");
}

/// ERRC-08: whoever gives no verdict has rejected nothing.
#[test]
fn a_reviewer_without_a_verdict_did_not_reject_errc_08() {
    let env = TestEnv::with_tasks(1);
    let round = |n: u32| [develops(&format!("{n}.txt")), says("Hm."), says("Hm.")];
    let turns: Vec<Value> = (0..6).flat_map(round).collect();
    let (done, log) = run(&env, &turns, &[]);
    assert_eq!(done.code, 3, "{}{}", done.stdout, done.stderr);
    let all = format!("{}{log}", done.stdout);
    assert!(!all.contains("sent the task back too often"), "{all}");
    assert!(!all.contains("5 rejections"), "{all}");
    let why = "too often no verdict could be read in what the role said";
    assert!(done.stdout.contains(why), "{}", done.stdout);
    assert!(all.contains("5 without a verdict"), "{all}");
    let report = env.ralph(&["report"]).stdout;
    assert!(report.contains(why), "{report}");
    assert!(!prompt(&env, 4).contains("sent this work BACK"));
}

/// ERRC-08: the same for a tester, and for a flow that leaves it to a person.
#[test]
fn a_tester_without_a_result_did_not_fail_errc_08() {
    let env = TestEnv::with_tasks(1);
    let mut turns = Vec::new();
    for n in 0..4 {
        turns.extend([develops(&format!("{n}.txt")), approves()]);
        turns.extend([says("Hm."), says("Hm."), says("The cause is unknown.")]);
    }
    let (done, events) = env.run_script(&turns, &["--roles"]);
    assert_eq!(done.code, 3, "{}{}", done.stdout, done.stderr);
    assert_eq!(events.last().unwrap()["reason"], "unclear");
    let env = TestEnv::with_tasks(1);
    let fails = |n: u32| {
        let turns = [develops(&format!("{n}.txt")), approves()];
        let more = [says("RESULT: FAIL"), says("The cause is unknown.")];
        turns.into_iter().chain(more)
    };
    let turns: Vec<Value> = (0..4).flat_map(fails).collect();
    let (_, events) = env.run_script(&turns, &["--roles"]);
    assert_eq!(events.last().unwrap()["reason"], "fails");
}

const OUT: &str = ".skillpack/current";

fn leaves(file: &str, text: &str, say: &str) -> Value {
    json!({"write": {format!("{OUT}/{file}"): text}, "say": say})
}

/// A deep task whose review says this, round after round.
fn reviewed(file: &str, reply: &str) -> Vec<Value> {
    let mut subtask = leaves("3_subtask_1.md", "done", "done");
    subtask["write"]["src/1.txt"] = "work".into();
    let mut turns = vec![
        leaves("1_analysis.md", "one part", "analysed"),
        leaves("2_plan.md", "# Plan\n\n- [ ] The model\n", "planned"),
        subtask,
    ];
    for round in 0..6 {
        turns.push(leaves("4_review.md", file, reply));
        turns.push(json!({"write": {"src/1.txt": format!("round {round}")}, "say": "repaired"}));
    }
    turns
}

/// ROUT-10: the score that counted is shown, and the rule that refused the
/// approval is named.
#[test]
fn an_approval_that_a_rule_refuses_says_which_rout_10() {
    let file = "Review Score: 92/100";
    for (reply, shown, rule) in [
        (
            "wrote 4_review.md\nReview Score: 50/100",
            "REVIEWER: REJECT, Review Score: 50/100",
            "it says APPROVE, and Review Score is 50: at least 70 is needed",
        ),
        (
            "Coverage: 10%",
            "REVIEWER: REJECT, Review Score: 92/100",
            "it says APPROVE, and Coverage is 10: at least 80 is needed",
        ),
        (
            "FINDING high: src/1.txt is empty",
            "REVIEWER: REJECT, Review Score: 92/100",
            "it says APPROVE in spite of a severe finding: src/1.txt is empty",
        ),
    ] {
        let env = TestEnv::new();
        let turns = reviewed(file, &format!("{reply}\n\nVERDICT: APPROVE"));
        let (done, log) = do_it(&env, &turns, &["--deep", "Build it"]);
        assert_eq!(done.code, 3, "{}{}", done.stdout, done.stderr);
        let line = log.lines().find(|line| line.contains("REVIEWER: REJECT"));
        let line = line.unwrap_or_else(|| panic!("{log}"));
        assert!(line.contains(shown) && line.contains(rule), "{line}");
        assert!(!log.contains("the 0 findings"), "{log}");
        // Whoever has to repair it knows, too.
        assert!(prompt(&env, 5).contains(rule), "{}", prompt(&env, 5));
    }
}

/// ROUT-10: the score of an earlier review is not that of this one.
#[test]
fn a_review_without_a_score_has_none_rout_10() {
    let env = TestEnv::new();
    let mut turns = reviewed("bad", "Review Score: 50/100\n\nVERDICT: REJECT");
    turns[5] = leaves("4_review.md", "good", "VERDICT: APPROVE");
    let (done, log) = do_it(&env, &turns, &["--deep", "Build it"]);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    assert!(
        log.contains("REVIEWER: REJECT, Review Score: 50/100"),
        "{log}"
    );
    assert!(log.contains("REVIEWER: APPROVE\n"), "{log}");
}

/// U-04: what a step counts by is what its prompt says, and nobody is said to
/// have said that it is done who did not.
#[test]
fn a_small_task_counts_by_its_file_or_a_promise_u_04() {
    let env = TestEnv::new();
    let turns = [says("ok")];
    let (done, log) = do_it(&env, &turns, &["-q", "Fix it", "--max-iterations", "1"]);
    assert_eq!(done.code, 3, "{}{}", done.stdout, done.stderr);
    assert!(!log.contains("phase 1/1 done"), "{log}");
    for claim in ["says that it is done", "says the agent"] {
        assert!(!done.stdout.contains(claim), "{}", done.stdout);
    }
    let asked = prompt(&env, 1);
    assert!(!asked.contains("only when"), "{asked}");
    assert!(asked.contains("`<promise>COMPLETE</promise>`"), "{asked}");
    for turn in [
        says("<promise>COMPLETE</promise>"),
        leaves("output.txt", "fixed", "ok"),
    ] {
        let env = TestEnv::new();
        let (done, log) = do_it(&env, &[says("ok"), turn], &["-q", "Fix it"]);
        assert_eq!(done.code, 3, "{}{}", done.stdout, done.stderr);
        assert!(log.contains("the phase left no output.txt"), "{log}");
        assert!(log.contains("phase 1/1 done"), "{log}");
        let words = "The agent says that it is done.";
        assert!(done.stdout.contains(words), "{}", done.stdout);
    }
    // A check needs no words.
    let env = TestEnv::new();
    let (done, _) = do_it(&env, &turns, &["-q", "Fix it", "--verify", "true"]);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
}

/// ROUT-07: a reviewer that may change nothing but its file is not asked to
/// keep another one true, nor to promise what Ralph decides.
#[test]
fn a_deep_review_is_asked_for_nothing_that_it_may_not_do_rout_07() {
    let env = TestEnv::new();
    let turns = reviewed("Review Score: 92/100", "VERDICT: APPROVE");
    let (done, _) = do_it(&env, &turns, &["--deep", "Build it"]);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    let review = prompt(&env, 4);
    assert!(
        review.contains("Change nothing but the result file"),
        "{review}"
    );
    assert!(!review.contains("TASK_COMPLETE"), "{review}");
    assert!(!review.contains("Keep its progress"), "{review}");
    assert!(prompt(&env, 3).contains("Keep its progress"));
}

/// PROM-07: a reason that is not there is not announced.
#[test]
fn blocked_without_a_reason_says_that_none_was_given_prom_07() {
    let env = TestEnv::with_tasks(1);
    let agent = env.agent(&[says("<promise>BLOCKED</promise>"), passes()]);
    let done = env.ralph(&["run", "--agent-cmd", &agent]);
    assert_eq!(done.code, 4, "{}{}", done.stdout, done.stderr);
    let words = "Reason: the agent gave none";
    assert!(done.stdout.contains(words), "{}", done.stdout);
    let report = env.ralph(&["report"]).stdout;
    assert!(report.contains("without a reason"), "{report}");
}

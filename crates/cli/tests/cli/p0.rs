//! `ralph run --preset dev-p0`: the quality gate, then the pull request, with
//! the real `gh`.

mod unheld;

use std::collections::VecDeque;

use ralph_testkit::github::{CheckRun, PullRequest, World};
use serde_json::Value;

use super::env::named;
use super::hub::{BRANCH, Hub, story};

pub const CODE: &str = "mkdir -p src; echo works > src/login.txt";
pub const AUDIT_FAIL: &str = "mkdir -p docs; printf 'Branch: feature/login\\nDecision: FAIL\\nSummary:\\n  L1: 0\\n  L2: 1\\n' > docs/AUDIT-REPORT.md";
pub const AUDIT_PASS: &str =
    "mkdir -p docs; printf 'Branch: feature/login\\nDecision: PASS\\n' > docs/AUDIT-REPORT.md";
pub const EVIDENCE: &str = "printf '## 手动验证\\n\\n- logged in\\n\\n## 自动化测试\\n\\n- green\\n' > .layer2-evidence.md";
pub const GATE: &str = "$RALPH gate run > /dev/null";
pub const COMMIT: &str =
    "git add -A; git -c user.name=A -c user.email=a@localhost commit -q -m Work";
pub const PUSH: &str = "git push -q origin feature/login";
pub const CREATE: &str = "gh pr create --head feature/login --title Login --body Work > /dev/null";

/// What happens in the walk-through of the seed, interception by interception.
pub const SEED: [&str; 11] = [
    "turn 1",
    "gate_open audit_missing",
    "turn 2",
    "gate_open audit_not_passed",
    "turn 3",
    "gate_open gate_missing",
    "turn 4",
    "pr_missing",
    "turn 5",
    "pr_found",
    "loop_end complete",
];

/// What happens where everything is done in one turn and Ralph opens it.
pub const CREATED: [&str; 6] = [
    "turn 1", "pr_missing", "pushed", "pr_created", "pr_found", "loop_end complete",
];

/// A project whose gate looks for working code.
pub fn project(world: World) -> Hub {
    let hub = Hub::new(world);
    hub.env.write(
        ".ralph/config.toml",
        "[gate]\nsteps = [\"typecheck: true\", \"test: sh check.sh\", \"build: true\"]\n",
    );
    hub.env.write("check.sh", "grep -q works src/login.txt\n");
    hub.env.write(".gitignore", ".quality-gate-passed\n");
    hub.commit("Set up");
    hub
}

pub fn turn(parts: &[&str]) -> String {
    parts.join("\n")
}

fn p0(hub: &Hub, turns: &[String], more: &[&str]) -> (i32, Vec<Value>) {
    let turns: Vec<&str> = turns.iter().map(String::as_str).collect();
    let args = [&["--preset", "dev-p0", "Add the login"][..], more].concat();
    let (done, events) = hub.run(&turns, &args);
    assert!(done.stderr.is_empty(), "{}", done.stderr);
    (done.code, events)
}

/// Everything that the gate wants, in one turn.
fn everything() -> String {
    turn(&[CODE, AUDIT_PASS, EVIDENCE, GATE, COMMIT])
}

/// The walk-through of the seed, interception by interception.
#[test]
#[cfg_attr(not(has_gh), ignore = "needs gh: cargo xtask test gets it")]
fn the_five_iterations_of_the_seed() {
    let hub = project(World {
        // Red CI from the beginning: p0 does not ask.
        looks: VecDeque::from([vec![CheckRun::new("build", "FAILURE", 1)]]),
        ..World::default()
    });
    let (code, events) = p0(
        &hub,
        &[
            turn(&[CODE]),
            turn(&[AUDIT_FAIL]),
            turn(&[AUDIT_PASS, EVIDENCE]),
            turn(&[GATE]),
            turn(&[COMMIT, PUSH, CREATE]),
        ],
        &[],
    );
    assert_eq!(story(&events), SEED);
    assert_eq!(code, 0);
    let prompt = hub.prompt(2);
    assert!(
        prompt.contains("The quality gate is NOT passed"),
        "{prompt}"
    );
    assert!(prompt.contains("there is no audit report"), "{prompt}");
    assert!(hub.prompt(5).contains("gh pr create"), "{}", hub.prompt(5));
    let end = named(&events, "loop_end")[0];
    assert_eq!(end["proven"][1]["kind"], "pull_request");
    assert_eq!(end["proven"][1]["number"], 123);
    let report = hub.env.ralph(&["report"]).stdout;
    assert!(!report.contains("own claims"), "{report}");
}

/// QUAL-10, PRCI-05: papers about nothing open no pull request.
#[test]
#[cfg_attr(not(has_gh), ignore = "needs gh: cargo xtask test gets it")]
fn papers_alone_are_no_work() {
    let hub = project(World::default());
    hub.env.write("check.sh", "true\n");
    hub.commit("A check that says nothing");
    hub.env.git(&["push", "-q", "origin", "HEAD:main"]);
    let papers = turn(&[AUDIT_PASS, EVIDENCE, GATE, COMMIT]);
    let more = ["--create-pr", "--max-iterations", "2"];
    let (code, events) = p0(&hub, &[papers, turn(&[CODE])], &more);
    let told = story(&events);
    assert_eq!(told[..3], ["turn 1", "gate_open no_work", "turn 2"]);
    assert_ne!(code, 0);
    assert!(!told.contains(&"pr_created".to_owned()), "{told:?}");
    let prompt = hub.prompt(2);
    assert!(prompt.contains("do the work that is asked for"), "{prompt}");
}

/// What the gate lacks is said in the person's language, and programs read
/// English (DISP-06).
#[test]
#[cfg_attr(not(has_gh), ignore = "needs gh: cargo xtask test gets it")]
fn findings_of_the_gate_are_in_the_persons_language() {
    let hub = project(World::default());
    let more = ["--lang", "zh-TW", "--max-iterations", "2"];
    let (_, events) = p0(&hub, &[turn(&[CODE]), turn(&[CODE])], &more);
    let prompt = hub.prompt(2);
    assert!(prompt.contains("沒有稽核報告"), "{prompt}");
    assert!(!prompt.contains("there is no audit report"), "{prompt}");
    let finding = &named(&events, "gate_open")[0]["findings"][0];
    let text = finding["text"].as_str().unwrap_or_default();
    assert!(text.contains("there is no audit report"), "{finding}");
}

#[test]
#[cfg_attr(not(has_gh), ignore = "needs gh: cargo xtask test gets it")]
fn a_pull_request_is_created_only_where_that_was_asked_for() {
    let hub = project(World::default());
    let (code, events) = p0(&hub, &[everything()], &["--create-pr", "--draft"]);
    assert_eq!(story(&events), CREATED);
    assert_eq!(code, 0);
    assert_eq!(hub.pushed(), Some(hub.head()));
    let created = "create feature/login draft".to_owned();
    assert!(hub.github.asked().contains(&created));
    assert_eq!(hub.github.world().pulls[0].title, "Add the login");
    // The words of the pull request say what was run, and what was not (T-08).
    let head: String = hub.head().chars().take(7).collect();
    let body = &hub.github.world().pulls[0].body;
    assert!(
        body.contains(&format!("Quality gate of {head}: Ralph ran these")),
        "{body}"
    );
    assert!(
        body.contains(": typecheck, test, build. docs/AUDIT-REPORT.md decides PASS."),
        "{body}"
    );

    let hub = project(World::default());
    let (code, events) = p0(&hub, &[everything()], &["--max-iterations", "2"]);
    assert_eq!(code, 3);
    let want = ["turn 1", "pr_missing", "turn 2", "pr_missing"];
    assert_eq!(story(&events)[..4], want);
    assert_eq!(hub.pushed(), None);
    assert!(!hub.github.asked().iter().any(|a| a.starts_with("create")));
}

#[test]
#[cfg_attr(not(has_gh), ignore = "needs gh: cargo xtask test gets it")]
fn a_promise_is_not_needed_and_not_believed() {
    let hub = project(World::default());
    let lie = "echo '<promise>QUALITY_GATE_PASSED</promise>'".to_owned();
    let (code, events) = p0(&hub, &[lie.clone(), lie], &["--max-iterations", "2"]);
    assert_eq!(code, 3);
    assert_eq!(
        story(&events)[..3],
        ["turn 1", "gate_open audit_missing", "promise_rejected"]
    );
}

/// A project with tests of its own, one of them for what is to be done.
fn tested() -> Hub {
    let hub = project(World::default());
    let all = "for test in tests/*.sh; do\n  [ -e $test ] || exit 0\n  sh $test || exit 1\ndone\n";
    hub.env.write("check.sh", all);
    hub.env
        .write("tests/login.sh", "grep -q works src/login.txt\n");
    hub.env
        .write("tests/greets.sh", "grep -q hello src/greeting.txt\n");
    hub.env.write("src/greeting.txt", "hello\n");
    hub.commit("Tests");
    hub
}

/// C-06: the same gate for a loop that it proves: what the checks were counts,
/// and what the person's machine is.
#[test]
#[cfg_attr(not(has_gh), ignore = "needs gh: cargo xtask test gets it")]
fn a_gate_that_was_made_easy_does_not_count_c_06() {
    let gate = format!("{GATE} || true");
    let shim = "mkdir -p $HOME/evil; printf '#!/bin/sh\\nexit 0\\n' > $HOME/evil/grep; chmod +x $HOME/evil/grep; PATH=$HOME/evil:$PATH $RALPH gate run > /dev/null";
    for cheat in [
        turn(&["rm tests/login.sh", &gate]),
        turn(&["echo true > tests/login.sh", &gate]),
        turn(&["echo true > check.sh", &gate]),
        turn(&["echo exit 0 > tests/a.sh; rm -r tests/login.sh", &gate]),
        turn(&[shim]),
        // An honest change beside it excuses nothing.
        turn(&[
            "echo bye > src/greeting.txt; echo 'grep -q bye src/greeting.txt' > tests/greets.sh",
            "echo true > tests/login.sh; echo 'test -s src/greeting.txt' > tests/new.sh",
            &gate,
        ]),
    ] {
        let hub = tested();
        let turns = [turn(&[AUDIT_PASS, EVIDENCE, &cheat, COMMIT])];
        let more = ["--create-pr", "--max-iterations", "1"];
        let (code, events) = p0(&hub, &turns, &more);
        let told = story(&events);
        assert_eq!(code, 3, "{cheat}: {told:?}");
        assert!(told[1].starts_with("gate_open gate_"), "{cheat}: {told:?}");
        assert_eq!(hub.pushed(), None, "{cheat}");
    }
}

/// C-06: scripts of npm that are emptied or gone.
#[test]
#[cfg_attr(
    not(all(has_gh, has_node)),
    ignore = "needs gh and Node.js with npm: cargo xtask test gets them"
)]
fn scripts_of_then_are_the_gate_c_06() {
    let package = |scripts: &str| format!(r#"{{"scripts": {{{scripts}}}}}"#);
    let test = r#""test": "node --test""#;
    let lint = r#", "typecheck": "false""#;
    let said = |scripts: &str| format!("echo '{}' > package.json", package(scripts));
    let gate = format!("{GATE} || true");
    let skip = "sed -i 's/test(/test.skip(/' a.test.js";
    for (then, cheat, is_good) in [
        (test.to_owned(), said(r#""test": "exit 0""#), false),
        (test.to_owned(), skip.to_owned(), false),
        (test.to_owned(), "rm a.test.js".to_owned(), false),
        // The product ends its tests before they can fail.
        (
            test.to_owned(),
            "echo 'process.exit(0)' > a.js".to_owned(),
            false,
        ),
        (test.to_owned() + lint, said(test), false),
        (
            test.to_owned(),
            "echo 'module.exports = 2' > a.js".to_owned(),
            true,
        ),
    ] {
        let hub = Hub::new(World::default());
        hub.env.write("package.json", &package(&then));
        hub.env.write(".gitignore", ".quality-gate-passed\n");
        hub.env.write("a.js", "module.exports = 1\n");
        hub.env.write(
            "a.test.js",
            "const {test} = require('node:test');\ntest('a', () => require('node:assert').equal(require('./a.js'), 2));\n",
        );
        hub.commit("Set up");
        let work = if is_good || then != test {
            "echo 'module.exports = 2' > a.js"
        } else {
            "true"
        };
        let turns = [turn(&[&cheat, work, AUDIT_PASS, EVIDENCE, &gate, COMMIT])];
        let (code, events) = p0(&hub, &turns, &["--create-pr", "--max-iterations", "1"]);
        assert_eq!(
            code,
            if is_good { 0 } else { 3 },
            "{cheat}: {:?}",
            story(&events)
        );
        assert_eq!(hub.pushed().is_some(), is_good, "{cheat}");
    }
}

/// C-06: honest work with new tests, and with tests that say something new of
/// a product that is new, is not held up.
#[test]
#[cfg_attr(not(has_gh), ignore = "needs gh: cargo xtask test gets it")]
fn honest_work_passes_the_gate_c_06() {
    for more in [
        "echo 'test -s src/login.txt' > tests/size.sh",
        "echo bye > src/greeting.txt; echo 'grep -q bye src/greeting.txt' > tests/greets.sh",
    ] {
        let hub = tested();
        let turns = [turn(&[CODE, more, AUDIT_PASS, EVIDENCE, GATE, COMMIT])];
        let (code, events) = p0(&hub, &turns, &["--create-pr", "--max-iterations", "1"]);
        assert_eq!(code, 0, "{more}: {:?} {}", story(&events), hub.prompt(1));
    }
}

/// T-08: the agent that leaves everything uncommitted, with a pull request of
/// an old commit; and the one that hides a file from Git's index.
#[test]
#[cfg_attr(not(has_gh), ignore = "needs gh: cargo xtask test gets it")]
fn what_was_gated_is_what_is_committed_and_pushed_t_08() {
    let work = turn(&[CODE, AUDIT_PASS, EVIDENCE, GATE]);
    let hidden = "echo works > README.md; git update-index --assume-unchanged README.md";
    for turns in [
        [work.clone(), "true".into()],
        [turn(&[PUSH, CREATE, &work]), "true".into()],
        [everything(), turn(&[hidden, GATE])],
    ] {
        let hub = project(World::default());
        let before = hub.head();
        let more = ["--create-pr", "--max-iterations", "2"];
        let begins_well = turns[0].contains(COMMIT);
        let turns = match begins_well {
            true => [turn(&[&turns[0], &turns[1]]), "true".into()],
            false => turns,
        };
        let (code, events) = p0(&hub, &turns, &more);
        assert_eq!(code, 3, "{:?}", story(&events));
        let pushed = hub.pushed();
        assert!(pushed.is_none_or(|pushed| pushed == before), "{turns:?}");
        let prompt = hub.prompt(2);
        assert!(prompt.contains("not committed as "), "{prompt}");
    }
}

/// T-08: a pull request that is there gets what passed the gate.
#[test]
#[cfg_attr(not(has_gh), ignore = "needs gh: cargo xtask test gets it")]
fn an_old_pull_request_is_brought_up_t_08() {
    let hub = project(World::default());
    let turns = [turn(&[PUSH, CREATE, &everything()])];
    let (code, events) = p0(&hub, &turns, &["--create-pr"]);
    assert_eq!(code, 0, "{:?}", story(&events));
    assert_eq!(hub.pushed(), Some(hub.head()));
    let body = &hub.github.world().pulls[0];
    assert_eq!(body.number, 123);
}

/// Somebody writes the gate file with his own hand: it does not count.
#[test]
#[cfg_attr(not(has_gh), ignore = "needs gh: cargo xtask test gets it")]
fn a_gate_file_of_the_agent_does_not_lead_to_a_pull_request() {
    let hub = project(World::default());
    let forged = "printf 'typecheck: PASS\\ntest: PASS\\nbuild: PASS\\n' > .quality-gate-passed";
    let forge = turn(&[CODE, AUDIT_PASS, EVIDENCE, forged, COMMIT]);
    let (code, events) = p0(&hub, &[forge], &["--create-pr", "--max-iterations", "1"]);
    assert_eq!(code, 3);
    assert_eq!(story(&events)[..2], ["turn 1", "gate_open gate_not_ours"]);
    assert_eq!(hub.pushed(), None);
}

#[test]
fn only_feature_branches_are_worked_on() {
    let hub = project(World::default());
    hub.env.git(&["switch", "-q", "main"]);
    let agent = hub.agent(&["echo never"]);
    let args = ["run", "--preset", "dev-p0", "x", "--agent-cmd", &agent];
    let done = hub.ralph(&args);
    assert_eq!(done.code, 1);
    assert!(
        done.stderr.contains("main: pull requests are made from"),
        "{}",
        done.stderr
    );
    assert!(hub.github.asked().is_empty());
}

/// The agent switches to the default branch behind our back.
#[test]
#[cfg_attr(not(has_gh), ignore = "needs gh: cargo xtask test gets it")]
fn the_default_branch_is_never_pushed() {
    let hub = project(World::default());
    hub.env.write(
        ".ralph/config.toml",
        "[gate]\nsteps = [\"typecheck: true\", \"test: true\", \"build: true\"]\n[pr]\nbranches = [\"*\"]\n",
    );
    hub.commit("Any branch");
    let before = hub.env.git(&[
        "--git-dir",
        hub.env.outside("origin.git").to_str().unwrap(),
        "rev-parse",
        "main",
    ]);
    let away = "git switch -q main; git merge -q feature/login";
    let audit = "printf 'Decision: PASS\\n' > docs/AUDIT-REPORT.md";
    let turns = [turn(&[
        "mkdir -p docs", away, CODE, audit, EVIDENCE, GATE, COMMIT,
    ])];
    let (code, events) = p0(&hub, &turns, &["--create-pr", "--max-iterations", "1"]);
    assert_eq!(code, 3);
    let told = story(&events);
    assert!(
        told.contains(&"forge_trouble refused".to_owned()),
        "{told:?}"
    );
    let after = hub.env.git(&[
        "--git-dir",
        hub.env.outside("origin.git").to_str().unwrap(),
        "rev-parse",
        "main",
    ]);
    assert_eq!(before, after);
}

#[test]
#[cfg_attr(not(has_gh), ignore = "needs gh: cargo xtask test gets it")]
fn without_gh_or_login_no_agent_is_called() {
    let hub = project(World::default());
    let agent = hub.agent(&["echo never"]);
    let args = [
        "run", "--json", "--preset", "dev-p0", "x", "--agent-cmd", &agent,
    ];
    let run = |command: &mut std::process::Command| {
        let done = super::env::Done::of(&command.output().unwrap());
        (done.code, story(&done.events()))
    };
    let path = hub.path_without_gh();
    let sh = std::path::Path::new("/bin/sh");
    let _ = std::os::unix::fs::symlink(sh, path.join("sh"));
    let (code, told) = run(hub.command(&args).env("PATH", &path));
    assert_eq!(code, 3);
    assert_eq!(
        told,
        ["forge_trouble missing", "loop_end paused forge_program"]
    );
    let (code, told) = run(hub.command(&args).env_remove("GH_TOKEN"));
    assert_eq!(code, 3);
    assert_eq!(told, ["forge_trouble login", "loop_end paused forge_login"]);
}

#[test]
fn a_dry_run_shows_what_would_go_outward_and_does_nothing() {
    let hub = project(World {
        pulls: vec![PullRequest::open(7, BRANCH)],
        ..World::default()
    });
    let agent = hub.agent(&["echo never"]);
    let outward = |more: &[&str]| {
        let args = [
            &["run", "--dry-run", "--json", "--agent-cmd", &agent][..],
            more,
        ]
        .concat();
        let done = hub.ralph(&args);
        assert_eq!(done.code, 0, "{}", done.stderr);
        let told: Value = serde_json::from_str(&done.stdout).unwrap();
        told["outward"].clone()
    };
    let none: [&str; 0] = [];
    assert_eq!(
        outward(&["--preset", "dev-p0", "Add it"]),
        serde_json::json!(none)
    );
    insta::assert_snapshot!(outward(&["--preset", "dev-p0", "Add it", "--create-pr"]), @r#"["git push origin COMMIT:refs/heads/feature/login","gh pr create --head feature/login --title 'Add it' --body 'Add it\n\nQuality gate of COMMIT: Ralph ran these on the files of the commit, and they passed: typecheck, test, build. docs/AUDIT-REPORT.md decides PASS. Whatever is written there and in .layer2-evidence.md was read and not checked.'"]"#);
    insta::assert_snapshot!(outward(&["--preset", "dev-p1", "--pr", "7", "--merge", "squash"]), @r#"["git push origin COMMIT:refs/heads/feature/login","gh run rerun RUN --failed","gh pr merge 7 --squash --match-head-commit HEAD","gh api --method DELETE repos/{owner}/{repo}/git/refs/heads/feature/login"]"#);
    assert!(hub.github.asked().is_empty());
    let args = [
        "run", "--dry-run", "--agent-cmd", &agent, "--preset", "dev-p1", "--merge", "rebase",
    ];
    let done = hub.ralph(&args);
    assert!(
        done.stdout.contains("gh pr merge N --rebase"),
        "{}",
        done.stdout
    );
}

/// Behind the wall nobody but Ralph has the key of the gate file.
#[test]
#[cfg_attr(
    not(all(has_gh, has_wall)),
    ignore = "needs gh, bubblewrap and namespaces"
)]
fn behind_the_wall_ralph_runs_the_gate_that_the_agent_asks_for() {
    let hub = project(World::default());
    let behind = "test -e /run/ralph/door";
    hub.env.write(
        ".ralph/config.toml",
        &format!("[gate]\nsteps = [\"test: {behind} && sh check.sh\"]\n"),
    );
    hub.commit("Look for the wall");
    let asks = "said=$($RALPH gate run) || exit 9; echo \"$said\" > answer.txt";
    let work = turn(&[CODE, AUDIT_PASS, EVIDENCE, asks, COMMIT]);
    let (code, events) = p0(&hub, &[work], &["--create-pr", "--sandbox", "strict"]);
    let answer = hub.env.read("answer.txt");
    assert!(answer.contains("after the turn"), "{answer}");
    assert_eq!(story(&events), CREATED);
    assert_eq!(code, 0);
}

#[test]
#[cfg_attr(
    not(all(has_gh, has_wall)),
    ignore = "needs gh, bubblewrap and namespaces"
)]
fn behind_the_wall_it_is_said_at_once_who_has_to_open_the_pull_request() {
    let hub = project(World::default());
    let work = everything().replace(GATE, "true");
    let more = ["--sandbox", "strict", "--max-iterations", "1"];
    let args = [&["--preset", "dev-p0", "Add the login"][..], &more].concat();
    let (done, _) = hub.run(&[&work], &args);
    assert_ne!(done.code, 0);
    let log = hub.env.read(".ralph/ralph.log");
    assert!(log.contains("with --create-pr Ralph pushes"), "{log}");
}

//! `ralph gate`: the papers before a pull request, and who may write them.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::env::{Done, TestEnv, make_executable};

const GOOD_AUDIT: &str = "# Audit Report\n\nBranch: cp-login\nDecision: PASS\n\nFindings: []\n";
const GOOD_EVIDENCE: &str =
    "# Evidence\n\n## 手动验证\n\n- logged in, saw the page\n\n## 自动化测试\n\n- all green\n";

/// A project on a feature branch whose gate runs the script `check.sh`.
fn project() -> TestEnv {
    let env = TestEnv::new();
    env.git(&["checkout", "-q", "-b", "cp-login"]);
    env.write(
        ".ralph/config.toml",
        "[gate]\nsteps = [\"typecheck: true\", \"test: sh check.sh\", \"build: true\"]\n",
    );
    env.write("check.sh", "grep -q works src/login.txt\n");
    env.write("src/login.txt", "works\n");
    env
}

fn with_papers() -> TestEnv {
    let env = project();
    env.write("docs/AUDIT-REPORT.md", GOOD_AUDIT);
    env.write(".layer2-evidence.md", GOOD_EVIDENCE);
    env
}

fn commit(env: &TestEnv) {
    env.git(&["add", "-A"]);
    let name = ["-c", "user.name=T", "-c", "user.email=t@localhost"];
    env.git(&[&name[..], &["commit", "-q", "-m", "Work"]].concat());
}

/// The codes of what keeps the gate shut, with the exit code that fits.
fn shut(env: &TestEnv, phase: &str) -> Vec<String> {
    let done = env.ralph(&["gate", "check", "--json", "--phase", phase]);
    let answer: Value = serde_json::from_str(&done.stdout).unwrap();
    let findings = answer["findings"].as_array().unwrap();
    let code = if findings.is_empty() { 0 } else { 7 };
    assert_eq!(done.code, code, "{}", done.stdout);
    assert_eq!(answer["passed"], findings.is_empty());
    let codes = findings.iter().map(|f| f["code"].as_str().unwrap().into());
    codes.collect()
}

fn check(env: &TestEnv, want: &[&str]) {
    for phase in ["p0", "p1"] {
        assert_eq!(shut(env, phase), want, "{phase}");
    }
}

#[test]
fn everything_that_is_missing_is_said_at_once() {
    let env = project();
    let done = env.ralph(&["gate", "check", "--phase", "p0"]);
    assert_eq!(done.code, 7);
    insta::assert_snapshot!(done.stdout, @r"
    the quality gate is shut for p0; reasons: 3
      1. docs/AUDIT-REPORT.md: there is no audit report. Next: audit the changes (/audit) and write docs/AUDIT-REPORT.md with `Decision: PASS` or `Decision: FAIL`.
      2. .quality-gate-passed: the gate did not run, or did not pass. Next: run `ralph gate run`, and fix what fails.
      3. .layer2-evidence.md: there is no evidence of a try-out. Next: try the change out and write into .layer2-evidence.md what you did and saw.
    ");
}

#[test]
fn gate_that_ran_is_open_for_exactly_these_contents() {
    let env = with_papers();
    check(&env, &["gate_missing"]);
    let done = env.ralph(&["gate", "run"]);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    let file = env.read(".quality-gate-passed");
    assert!(
        file.starts_with("# Quality Gate Passed\n# Generated: "),
        "{file}"
    );
    assert!(file.contains("\n# Branch: cp-login\n# Commit: "), "{file}");
    assert!(
        file.ends_with("\ntypecheck: PASS\ntest: PASS\nbuild: PASS\n"),
        "{file}"
    );
    check(&env, &[]);

    // A new time is no change, neither of the code nor of the file.
    for name in ["src/login.txt", ".quality-gate-passed"] {
        let touched = Command::new("touch").arg(env.path(name)).status().unwrap();
        assert!(touched.success());
    }
    check(&env, &[]);
    commit(&env);
    check(&env, &[]);
    env.write("src/login.txt", "broken\n");
    check(&env, &["gate_stale"]);
    // Dated into the future it is as stale as before.
    let future = Command::new("touch")
        .args(["-d", "2100-01-01"])
        .arg(env.path(".quality-gate-passed"))
        .status()
        .unwrap();
    assert!(future.success());
    check(&env, &["gate_stale"]);
    env.git(&["checkout", "-q", "src/login.txt"]);
    check(&env, &[]);
    env.write("src/new.txt", "untracked\n");
    check(&env, &["gate_stale"]);
}

#[test]
fn failing_gate_leaves_no_file_and_says_what_failed() {
    let env = with_papers();
    assert_eq!(env.ralph(&["gate", "run"]).code, 0);
    env.write("check.sh", "echo two tests fail; exit 3\n");
    let done = env.ralph(&["gate", "run"]);
    assert_eq!(done.code, 7);
    assert!(done.stdout.contains("two tests fail"), "{}", done.stdout);
    // Every step is tried, so that all failures are known at once.
    assert!(done.stdout.contains("build: true"), "{}", done.stdout);
    assert!(!env.path(".quality-gate-passed").exists());
    let done = env.ralph(&["gate", "run", "--json"]);
    let answer: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(answer["passed"], false);
    assert_eq!(answer["steps"][1]["exit"], 3);
    assert!(
        env.read(&env.state_name("gate.log"))
            .contains("two tests fail")
    );
}

#[test]
fn nobody_but_ralph_can_write_the_file() {
    let env = with_papers();
    let forged = "# Quality Gate Passed\n\ntypecheck: PASS\ntest: PASS\nbuild: PASS\n";
    env.write(".quality-gate-passed", forged);
    check(&env, &["gate_not_ours"]);
    assert_eq!(env.ralph(&["gate", "run"]).code, 0);
    let real = env.read(".quality-gate-passed");
    env.write("src/login.txt", "broken\n");
    // Neither with the fingerprint of other contents, nor from another key.
    let digit = if real.contains("# Tree: 0") { "1" } else { "0" };
    let at = real.find("# Tree: ").unwrap() + "# Tree: ".len();
    let mut other = real.clone();
    other.replace_range(at..=at, digit);
    env.write(".quality-gate-passed", &other);
    check(&env, &["gate_not_ours"]);
    env.write(".quality-gate-passed", &real);
    check(&env, &["gate_stale"]);
    fs::remove_dir_all(env.outside(".local")).unwrap();
    check(&env, &["gate_not_ours"]);
}

#[test]
fn key_is_for_its_owner_and_outside_the_project() {
    let env = with_papers();
    assert_eq!(env.ralph(&["gate", "run"]).code, 0);
    let key = env.outside(".local/state/ralph/gate.key");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(&key).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{mode:o}");
    }
    // Where the home directory is the project, there is no such place.
    let mut command = env.command(&["--trust-project", "gate", "run"]);
    let output = command.env("HOME", &env.root).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("XDG_STATE_HOME"));
}

#[test]
fn files_of_other_tools_count_where_that_is_asked_for() {
    let env = with_papers();
    env.write(
        ".quality-gate-passed",
        "typecheck: PASS\ntest: PASS\nbuild: PASS\n",
    );
    let config = env.read(".ralph/config.toml") + "trust = \"file\"\n";
    env.write(".ralph/config.toml", &config);
    // By somebody, and not by a clone (QUAL-11).
    let by_clone = ["gate", "check", "--phase", "p0"];
    let by_clone = Done::of(&env.untrusted(&by_clone).output().unwrap());
    assert_eq!(by_clone.code, 7, "{}", by_clone.stdout);
    assert!(
        by_clone.stderr.contains("gate.trust"),
        "{}",
        by_clone.stderr
    );
    check(&env, &[]);
    let config = config + "freshness = \"time\"\n";
    env.write(".ralph/config.toml", &config);
    let old = Command::new("touch")
        .args(["-d", "2001-01-01"])
        .arg(env.path(".quality-gate-passed"))
        .status()
        .unwrap();
    assert!(old.success());
    check(&env, &["gate_older"]);
}

#[test]
fn step_that_changes_what_it_judges_does_not_pass() {
    let env = with_papers();
    env.write("check.sh", "echo works and more > src/login.txt\n");
    let done = env.ralph(&["gate", "run"]);
    assert_eq!(done.code, 7, "{}", done.stdout);
    assert!(done.stderr.contains("src/login.txt"), "{}", done.stderr);
    assert!(!env.path(".quality-gate-passed").exists());
    // What it did, it did in a room of its own.
    assert_eq!(env.read("src/login.txt"), "works\n");
    env.write("check.sh", "rm -r src\n");
    let done = env.ralph(&["gate", "run"]);
    assert_eq!(done.code, 7, "{}", done.stdout);
    assert_eq!(env.read("src/login.txt"), "works\n");
}

/// C-03: whoever calls does not choose how the steps run.
#[test]
fn variables_and_programs_of_the_caller_play_no_part_c_03() {
    let env = with_papers();
    env.write("src/login.txt", "broken\n");
    env.write("bin/grep", "#!/bin/sh\nexit 0\n");
    env.write("bin/sh", "#!/bin/sh\nexit 0\n");
    for name in ["bin/grep", "bin/sh"] {
        make_executable(&env.path(name));
    }
    let path = std::env::var("PATH").unwrap();
    for bin in [env.path("bin").to_str().unwrap(), "bin", "./bin", ""] {
        let run = |verb: &[&str]| {
            let mut command = env.command(verb);
            command.env("PATH", format!("{bin}:{path}"));
            command.output().unwrap().status.code()
        };
        assert_eq!(run(&["gate", "run"]), Some(7), "{bin}");
        assert!(!env.path(".quality-gate-passed").exists());
    }

    let names = [
        "npm_config_script_shell",
        "NPM_CONFIG_SCRIPT_SHELL",
        "Npm_Config_Ignore_Scripts",
        "NODE_OPTIONS",
        "BASH_ENV",
        "ENV",
        "PYTHONPATH",
        "PYTEST_ADDOPTS",
        "MAKEFLAGS",
        "RUSTC_WRAPPER",
        "GOFLAGS",
        "LD_PRELOAD_32",
    ];
    env.write(
        "check.sh",
        "env | grep -F steered && exit 1; test -n \"$WANTED\"\n",
    );
    let mut command = env.command(&["gate", "run"]);
    command.envs(names.map(|name| (name, "steered")));
    let done = crate::env::Done::of(&command.env("WANTED", "1").output().unwrap());
    assert_eq!(done.code, 0, "{}", done.stdout);
}

/// C-03, with the real npm and the real row.
#[test]
#[cfg_attr(
    not(has_node),
    ignore = "needs Node.js with npm: cargo xtask test gets it"
)]
fn npm_runs_the_scripts_that_stand_there_c_03() {
    let env = TestEnv::new();
    env.write("package.json", r#"{"scripts": {"test": "exit 1"}}"#);
    env.write("bin/npm", "#!/bin/sh\nexit 0\n");
    make_executable(&env.path("bin/npm"));
    let path = std::env::var("PATH").unwrap();
    let shims = format!("{}:{path}", env.path("bin").display());
    for (name, value) in [("npm_config_script_shell", "/bin/true"), ("PATH", &shims)] {
        let mut command = env.command(&["gate", "run"]);
        let done = crate::env::Done::of(&command.env(name, value).output().unwrap());
        assert_eq!(done.code, 7, "{name}: {}", done.stdout);
        assert!(!env.path(".quality-gate-passed").exists(), "{name}");
    }
}

/// A gate of the project's own is its test (QUAL-01).
#[test]
fn a_project_s_own_gate_is_enough() {
    let env = TestEnv::new();
    env.write("package.json", r#"{"scripts": {"qa:gate": "true"}}"#);
    let done = env.ralph(&["gate", "run"]);
    let said = format!("{}{}", done.stdout, done.stderr);
    assert!(!said.contains("no test step"), "{said}");
    assert!(said.contains("qa-gate"), "{said}");
}

#[test]
fn project_without_steps_is_told_how_to_name_them() {
    let env = TestEnv::new();
    let done = env.ralph(&["gate", "run"]);
    assert_eq!(done.code, 1);
    assert!(done.stderr.contains("gate.steps"), "{}", done.stderr);
    env.write("package.json", r#"{"scripts": {"build": "true"}}"#);
    let done = env.ralph(&["gate", "run"]);
    assert_eq!(done.code, 1);
    assert!(done.stderr.contains("test"), "{}", done.stderr);
}

/// QUAL-01: the script that a project calls its gate is run, and decides.
#[test]
fn the_projects_own_gate_is_run_qual_01() {
    let env = TestEnv::new();
    env.git(&["checkout", "-q", "-b", "cp-login"]);
    env.write(
        "package.json",
        r#"{"scripts": {"test": "true", "qa:gate": "test -f good"}}"#,
    );
    // A package manager that knows nothing but scripts.
    let bin = env.outside("bin");
    fs::create_dir(&bin).unwrap();
    let npm = bin.join("npm");
    let script = "#!/bin/sh\ncase $2 in qa:gate) test -f good;; *) true;; esac\n";
    fs::write(&npm, script).unwrap();
    Command::new("chmod").arg("+x").arg(&npm).status().unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let run = || {
        let mut command = env.command(&["gate", "run"]);
        crate::env::Done::of(&command.env("PATH", &path).output().unwrap())
    };
    let red = run();
    assert_eq!(red.code, 7, "{}{}", red.stdout, red.stderr);
    assert!(red.stdout.contains("npm run qa:gate") || red.stderr.contains("npm run qa:gate"));
    env.write("good", "");
    let green = run();
    assert_eq!(green.code, 0, "{}{}", green.stdout, green.stderr);
    assert!(env.read(".quality-gate-passed").contains("qa-gate: PASS"));
}

/// QUAL-01, QUAL-02: the command that the gate's words send an agent to is
/// there after `ralph init`, and a report as it asks for it opens the gate.
#[test]
fn the_audit_command_leads_to_a_report_that_counts_qual_02() {
    let env = with_papers();
    fs::remove_file(env.path("docs/AUDIT-REPORT.md")).unwrap();
    let done = env.ralph(&["init", "--yes", "--agent", "claude"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let command = env.read(".claude/commands/audit.md");
    let report = command.split("```").nth(1).unwrap();
    let filled = |decision: &str| {
        let mut report = report.trim_start().to_owned();
        for (hole, with) in [
            ("<git branch --show-current>", "cp-login"),
            (
                "<PASS, or FAIL while anything of L1 or L2 is left>",
                decision,
            ),
        ] {
            assert!(report.contains(hole), "{report}");
            report = report.replace(hole, with);
        }
        env.write("docs/AUDIT-REPORT.md", &report);
    };
    filled("FAIL");
    check(&env, &["audit_not_passed", "gate_missing"]);
    filled("PASS");
    check(&env, &["gate_missing"]);
}

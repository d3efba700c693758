//! What `ralph init` proposes as checks, tried once each, and `ralph start`
//! (issue 23).

use std::fs;

use crate::env::{Done, RALPH, TestEnv, make_executable};
use crate::terminal::Terminal;

impl TestEnv {
    /// A program of this name that does this, ahead of all others.
    fn program(&self, name: &str, does: &str) {
        let file = self.outside("programs").join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, format!("#!/bin/sh\n{does}\n")).unwrap();
        make_executable(&file);
    }

    fn with_programs(&self, args: &[&str]) -> Done {
        let programs = self.outside("programs");
        let path = format!("{}:/usr/bin:/bin", programs.display());
        Done::of(&self.untrusted(args).env("PATH", path).output().unwrap())
    }
}

/// Files of a project, and its programs with what they do.
type Parts<'a> = &'a [(&'a str, &'a str)];

/// What the configuration says after `ralph init --checks --yes`.
fn configured(files: Parts<'_>, programs: Parts<'_>) -> (Done, String) {
    let env = TestEnv::new();
    for (name, text) in files {
        env.write(name, text);
    }
    for (name, does) in programs {
        env.program(name, does);
    }
    let done = env.with_programs(&["init", "--checks", "--yes"]);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    let config = env.read(".ralph/config.toml");
    // What was written is sound, and trusted by whoever wrote it.
    let check = env.with_programs(&["config", "check"]);
    assert_eq!(check.code, 0, "{}", check.stderr);
    if config.contains("[verify]") {
        let verify = env.with_programs(&["verify"]);
        assert_eq!(verify.code, 0, "{}{}", verify.stdout, verify.stderr);
    }
    (done, config)
}

const NODE: (&str, &str) = (
    "package.json",
    r#"{"scripts": {"test": "vitest run", "lint": "eslint .", "test:e2e": "playwright test"}}"#,
);
const RUST: (&str, &str) = ("Cargo.toml", "[package]\nname = \"a\"\n");

#[test]
fn what_passes_is_asked_for_and_what_fails_is_left_out() {
    let (done, config) = configured(&[NODE], &[("npm", "exit 0")]);
    assert!(config.contains("commands = [\"npm test\"]"), "{config}");
    assert!(
        config.contains("command = \"npm run test:e2e\""),
        "{config}"
    );
    assert!(
        config.contains("steps = [\"lint: npm run lint\"]"),
        "{config}"
    );
    assert!(done.stdout.contains("✅ npm test ("), "{}", done.stdout);

    // Broken tests: told, and left out; the other language stays.
    let (done, config) = configured(
        &[NODE, RUST],
        &[("npm", "exit 1"), ("cargo", "[ \"$1\" = test ]")],
    );
    assert!(config.contains("commands = [\"cargo test\"]"), "{config}");
    assert!(!config.contains("npm"), "{config}");
    assert!(
        done.stdout.contains("exit code 1, left out"),
        "{}",
        done.stdout
    );

    // One target that runs both.
    let make = ("Makefile", "test:\n\tcargo test && npm test\n");
    let (_, config) = configured(
        &[NODE, RUST, make],
        &[("make", "exit 0"), ("npm", "exit 0")],
    );
    assert!(config.contains("commands = [\"make test\"]"), "{config}");

    // Nothing that says anything, and a program that is not there.
    let (_, config) = configured(&[("README.md", "run the tests")], &[]);
    assert!(!config.contains("[verify]"), "{config}");
    let (_, config) = configured(
        &[("go.mod", "module a\n"), ("a_test.go", "")],
        &[("go", "exit 127")],
    );
    assert!(!config.contains("[verify]"), "{config}");
}

/// Whoever only says yes to the hooks has nothing of the project started.
#[test]
fn without_the_option_nothing_is_tried() {
    let env = TestEnv::new();
    env.write(NODE.0, NODE.1);
    let tried = env.outside("tried");
    env.program("npm", &format!("touch {}", tried.display()));
    let done = env.with_programs(&["init", "--yes"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(!tried.exists());
    assert!(!env.read(".ralph/config.toml").contains("npm"));
}

/// A configuration that is there belongs to the person: the lines are told.
#[test]
fn a_configuration_that_is_there_stays() {
    let env = TestEnv::new();
    env.write(RUST.0, RUST.1);
    env.write(".ralph/config.toml", "lang = \"en\"\n");
    env.program("cargo", "exit 0");
    let done = env.with_programs(&["init", "--checks", "--yes"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(env.read(".ralph/config.toml"), "lang = \"en\"\n");
    assert!(
        done.stderr.contains("commands = [\"cargo test\"]"),
        "{}",
        done.stderr
    );
}

#[test]
fn a_conversation_needs_somebody() {
    let env = TestEnv::new();
    let done = env.ralph(&["start"]);
    assert_eq!(done.code, 1);
    assert!(done.stderr.contains("needs a terminal"), "{}", done.stderr);
}

/// From nothing to a finished project.
#[test]
#[cfg_attr(not(has_tmux), ignore = "needs tmux: cargo xtask test gets it")]
fn a_conversation_ends_in_a_run_that_is_complete() {
    let env = TestEnv::new();
    let here = env.outside("");
    let script = here.join("agent.sh");
    // It plans where it is asked to, and works else.
    fs::write(
        &script,
        "if grep -q ralph-plan.md; then\n\
         printf -- '- [ ] T001 Greet | verify: test -e hello.txt\\n' > ralph-plan.md\n\
         else\n\
         echo hi > hello.txt; sed -i 's/- \\[ \\]/- [x]/' tasks.md\n\
         fi\n\
         echo '<promise>COMPLETE</promise>'\n",
    )
    .unwrap();
    let agent = format!("sh {}", script.display());
    let terminal = Terminal::start_with(env, &[RALPH], &["start", "--agent-cmd", &agent]);
    terminal.see("install the hooks?", 1);
    terminal.type_line("");
    terminal.see("What is to be reached?", 1);
    terminal.type_line("greet people");
    terminal.see("Write it?", 1);
    terminal.type_line("y");
    terminal.see("Start the run?", 1);
    terminal.type_line("y");
    let (code, screen) = terminal.end();
    assert_eq!(code, 0, "{screen}");
    assert!(screen.contains("3. Sandbox"), "{screen}");
    assert!(terminal.env.read("tasks.md").contains("- [x] T001 Greet"));
}

//! A run is taken up with the settings of now (T-07), and what is written for
//! others follows no link of the project (S-07).

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::json;

use crate::env::{Done, TestEnv};
use crate::terminal::Terminal;

const DONE: &str = "<promise>COMPLETE</promise>";
const CHECK: &str = "[verify]\ncommands = [\"test -e proof\"]\n";

/// A run that was left after its first turn, begun with these settings. From
/// the second on its agent says that it is done, and leaves no proof.
fn left(config: &str) -> TestEnv {
    let env = TestEnv::with_tasks(1);
    if !config.is_empty() {
        env.write(".ralph/config.toml", config);
    }
    let turns = [
        json!({"write": {"a.txt": "x"}, "say": "hm"}),
        json!({"tick": ["T001"], "say": DONE}),
        json!({"tick": ["T001"], "say": DONE}),
    ];
    let agent = env.agent(&turns);
    let done = env.ralph(&["run", "--agent-cmd", &agent, "--max-iterations", "1"]);
    assert_eq!(done.code, 3, "{}{}", done.stdout, done.stderr);
    env
}

/// Whoever left the easier list beside it may have been the agent.
#[test]
fn what_is_taken_up_has_the_list_that_it_was_begun_with_resm_06() {
    for list_stays in [true, false] {
        let env = TestEnv::new();
        let story = |id: &str| json!({"id": id, "title": "a", "passes": false});
        let list = json!({"userStories": [story("US-1"), story("US-2")]}).to_string();
        env.write("prd.json", &list);
        let turns = [
            json!({"write": {"tasks.md": "- [x] T001 nothing\n"}, "say": "hm"}),
            json!({"say": DONE}),
        ];
        let agent = env.agent(&turns);
        let done = env.ralph(&["run", "--agent-cmd", &agent, "--max-iterations", "1"]);
        assert_eq!(done.code, 3, "{}{}", done.stdout, done.stderr);
        if list_stays {
            let done = env.ralph(&["resume", "--yes"]);
            let status = env.json(".ralph/status.json");
            assert_eq!(status["tasks"]["total"], 2, "{status}");
            assert_ne!(done.code, 0, "{}{}", done.stdout, done.stderr);
        } else {
            fs::remove_file(env.path("prd.json")).unwrap();
            let done = env.ralph(&["resume", "--yes"]);
            assert_eq!(done.code, 1, "{}{}", done.stdout, done.stderr);
            assert!(done.stderr.contains("prd.json"), "{}", done.stderr);
            assert!(done.stderr.contains("ralph cancel"), "{}", done.stderr);
            // What is gone keeps nobody from giving the run up.
            let done = env.ralph(&["cancel"]);
            assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
            assert_eq!(env.json(".ralph/status.json")["status"], "cancelled");
        }
    }
}

/// A box is ticked where the run looks, whatever other lists there are.
#[test]
fn a_person_ticks_in_the_list_of_the_run_that_waits() {
    let env = TestEnv::with_tasks(1);
    env.write("more.md", "- [ ] T001 more\n- [ ] T002 yet more\n");
    let agent = env.agent(&[json!({"write": {"a.txt": "x"}, "say": "hm"})]);
    let run = ["run", "--tasks", "more.md", "--agent-cmd", &agent];
    let done = env.ralph(&[&run[..], &["--max-iterations", "1"]].concat());
    assert_eq!(done.code, 3, "{}{}", done.stdout, done.stderr);
    let done = env.ralph(&["tasks", "tick", "T001"]);
    assert!(done.stdout.contains("more.md: [x] T001"), "{}", done.stdout);
    assert!(env.read("more.md").contains("[x] T001"));
    assert!(env.read("tasks.md").contains("[ ] T001"));
    assert_eq!(env.ralph(&["cancel"]).code, 0);
    let done = env.ralph(&["tasks", "tick", "T001"]);
    assert!(
        done.stdout.contains("tasks.md: [x] T001"),
        "{}",
        done.stdout
    );
}

#[test]
fn checks_that_were_added_hold_for_what_is_taken_up() {
    for (config, is_complete) in [
        ("[limits]\nmax_iterations = 2\n".to_owned(), true),
        (format!("{CHECK}[limits]\nmax_iterations = 2\n"), false),
    ] {
        let env = left("");
        env.write(".ralph/config.toml", &config);
        let done = env.ralph(&["resume", "--yes"]);
        let status = env.json(".ralph/status.json")["status"].clone();
        assert_eq!(
            status == "complete",
            is_complete,
            "{config}: {}{}",
            done.stdout,
            done.stderr
        );
        assert!(!done.stderr.contains("ask for less"), "{}", done.stderr);
    }
}

#[test]
fn weaker_checks_are_told() {
    for weaker in ["", "[verify]\ncommands = []\n"] {
        let env = left(CHECK);
        env.write(".ralph/config.toml", weaker);
        let done = env.ralph(&["resume", "--yes"]);
        assert!(
            done.stderr.contains("ask for less"),
            "{}{}",
            done.stdout,
            done.stderr
        );
    }
}

#[test]
#[cfg_attr(not(has_tmux), ignore = "needs tmux: cargo xtask test gets it")]
fn weaker_checks_are_asked_about() {
    let env = left(CHECK);
    env.write(".ralph/config.toml", "");
    let terminal = Terminal::start(env, &["resume"]);
    terminal.see("1", 1);
    terminal.type_line("1");
    terminal.see("Go on with less? [y/N]", 1);
    terminal.type_line("n");
    let (code, screen) = terminal.end();
    assert_eq!(code, 1, "{screen}");
    assert_eq!(terminal.env.read("tasks.md").matches("[ ]").count(), 1);
}

/// Each place that is written for others, and where a link in it would lead.
#[test]
fn no_link_of_the_project_is_followed_by_a_run() {
    for (name, is_dir) in [
        (".ralph", true),
        (".ralph/status.json", false),
        (".ralph/ralph.log", false),
        (".ralph/.safety_stats", false),
        (".ralph/.gitignore", false),
        (".skillpack", true),
        (".skillpack/current", true),
        (".skillpack/current/checkpoint.json", false),
        (".skillpack/history", true),
        (".claude", true),
        (".claude/ralph-delta.local.md", false),
    ] {
        let env = TestEnv::with_tasks(1);
        let theirs = env.outside("theirs");
        fs::create_dir(&theirs).unwrap();
        fs::write(theirs.join("victim"), "mine").unwrap();
        let to = match is_dir {
            true => theirs.clone(),
            false => theirs.join("victim"),
        };
        let link = env.path(name);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(&to, &link).unwrap();
        let agent = env.agent(&[json!({"tick": ["T001"], "write": {"a.txt": "x"}, "say": DONE})]);
        let run = [
            "run", "--agent-cmd", &agent, "--preset", "delta", "--max-iterations", "2",
        ];
        let done = Done::of(&env.command(&run).output().unwrap());
        assert_untouched(&theirs, name, &done);
        // It is said, or what was written took the link's place.
        let is_said = done.code == 1 && done.stderr.contains("link");
        assert!(
            is_said || !link.is_symlink() || done.code == 0,
            "{name}: {} {}",
            done.code,
            done.stderr
        );
        let done = env.ralph(&["archive"]);
        assert_untouched(&theirs, name, &done);
    }
}

fn assert_untouched(theirs: &Path, name: &str, done: &Done) {
    let found: Vec<_> = fs::read_dir(theirs)
        .unwrap()
        .flatten()
        .map(|e| e.file_name())
        .collect();
    assert_eq!(found, ["victim"], "{name}: {}{}", done.stdout, done.stderr);
    assert_eq!(
        fs::read_to_string(theirs.join("victim")).unwrap(),
        "mine",
        "{name}"
    );
}

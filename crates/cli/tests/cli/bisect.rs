//! Which turn broke it (issue 18).

use serde_json::{Value, json};

use crate::env::TestEnv;
use crate::live::{Live, wait_until};

/// Eight turns, of which one breaks `sum.sh`, and nothing of which is
/// committed.
fn worked(breaks: usize) -> TestEnv {
    let env = TestEnv::with_tasks(8);
    env.write("sum.sh", "echo 5\n");
    let turn = |number: usize| {
        let id = format!("T{number:03}");
        let sum = if number >= breaks { "echo 4" } else { "echo 5" };
        let files = json!({"sum.sh": format!("{sum} # {number}\n"), format!("parts/{id}"): id});
        json!({"write": files, "tick": [id], "say": "<promise>CONTINUE</promise>"})
    };
    let turns: Vec<Value> = (1..=8).map(turn).collect();
    let (done, _) = env.run_script(&turns, &["--verify", "true"]);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    env
}

/// Good is a right sum; whatever else it does stays in the room.
const CHECK: &str =
    "test -e parts/T009 && exit 9; echo junk > sum.txt; test \"$(sh sum.sh)\" = 5 && rm -rf parts";

#[test]
fn the_turn_that_broke_it_is_found_in_a_few_steps() {
    for breaks in [1, 4, 6, 8] {
        let env = worked(breaks);
        let work = env.snapshot();
        let found = env.ralph(&["bisect", "--verify", CHECK]);
        assert_eq!(found.code, 0, "{}{}", found.stdout, found.stderr);
        let lines: Vec<&str> = found.stdout.lines().collect();
        assert!(lines.len() <= 6, "{lines:?}");
        let first = "[░░░░░░░░░░░░░░░░░░░░░░░▒▒▒] [1/5] after turn 8: red";
        assert!(lines[0].starts_with(first), "{lines:?}");
        assert!(
            lines[1].contains("▒] [2/5] when the run began: green"),
            "{lines:?}"
        );
        let closed = lines[lines.len() - 2].split(']').next();
        assert!(!closed.unwrap().contains('░'), "{lines:?}");
        let last = lines[lines.len() - 1];
        assert!(
            last.starts_with(&format!("turn {breaks} broke it")),
            "{last}"
        );
        assert!(last.contains(&format!("`ralph show {breaks}`")), "{last}");
        assert_eq!(env.snapshot(), work, "the work is as it was");
    }
}

#[test]
fn it_is_told_as_json_and_in_other_languages() {
    let env = worked(3);
    let found = env.ralph(&["bisect", "--json", "--verify", CHECK]);
    let found: Value = serde_json::from_str(&found.stdout).unwrap();
    assert_eq!(found["first_bad_turn"], 3);
    assert_eq!(found["last_good_turn"], 2);
    assert_eq!(found["between_turns"], false);
    let steps = found["steps"].as_array().unwrap();
    assert!(steps.len() <= 5 && steps[0]["turn"] == 8, "{found}");
    assert_eq!(steps[0]["results"][0]["exit"], 1);
    // What lies there by now is of no account.
    env.write("sum.sh", "echo 5\n");
    env.write("parts/T009", "");
    let found = env.ralph(&["--lang", "zh-TW", "bisect", "--verify", CHECK]);
    assert!(found.stdout.contains("第 3 輪"), "{}", found.stdout);
}

#[test]
fn what_nobody_did_in_a_turn_is_not_laid_on_it() {
    let env = TestEnv::with_tasks(2);
    env.write("sum.sh", "echo 5\n");
    let first = json!({"write": {"a": "1"}, "tick": ["T001"], "say": "Done."});
    let (done, _) = env.run_script(&[first], &["--max-iterations", "1"]);
    assert_eq!(done.code, 3, "{}", done.stderr);
    env.write("sum.sh", "echo 4\n");
    let nothing = json!({"say": "This turn was before."});
    let second = json!({"write": {"b": "1"}, "tick": ["T002"], "say": "Done."});
    env.agent(&[nothing, second]);
    let resumed = env.ralph(&["resume", "--yes"]);
    assert_eq!(resumed.code, 0, "{}{}", resumed.stdout, resumed.stderr);
    let unasked = env.ralph(&["bisect"]);
    let words = "what tells good from bad?";
    assert!(unasked.stderr.contains(words), "{}", unasked.stderr);
    let found = env.ralph(&["bisect", "--verify", "test \"$(sh sum.sh)\" = 5"]);
    assert_eq!(found.code, 0, "{}", found.stderr);
    assert!(
        found.stdout.contains("no turn broke it"),
        "{}",
        found.stdout
    );
    assert!(
        found.stdout.contains("before turn 2: red"),
        "{}",
        found.stdout
    );
}

#[test]
fn what_can_not_be_searched_is_said_in_words() {
    let env = worked(4);
    let cases = [
        // As the run was asked to check.
        (vec!["bisect"], "nothing is broken"),
        (vec!["bisect", "--verify", "true"], "nothing is broken"),
        (vec!["bisect", "--verify", "false"], "no turn broke it"),
        (vec!["bisect", "--verify", "true", "--run", "x"], "x"),
        (vec!["bisect", "--verify", "kill -9 $$"], "came to no end"),
    ];
    for (args, words) in cases {
        let done = env.ralph(&args);
        assert_eq!(done.code, 1, "{args:?}: {}", done.stdout);
        assert!(done.stderr.contains(words), "{args:?}: {}", done.stderr);
    }
    // Somebody works on meanwhile.
    let (started, go) = (env.outside("started"), env.outside("go"));
    let wait = format!(
        "touch {}; until test -e {}; do sleep 0.01; done; false",
        started.display(),
        go.display()
    );
    let search = Live::start(&env, "bisect", env.command(&["bisect", "--verify", &wait]));
    wait_until("it searches", || started.exists());
    env.write("sum.sh", "echo 7\n");
    std::fs::write(&go, "").unwrap();
    let done = search.finish();
    assert_eq!(done.code, 1);
    assert!(done.stderr.contains("the work changed"), "{}", done.stderr);
    // A person has waited long enough.
    for file in [&started, &go] {
        std::fs::remove_file(file).unwrap();
    }
    let search = Live::start(&env, "bisect", env.command(&["bisect", "--verify", &wait]));
    wait_until("it searches", || started.exists());
    search.signal("INT");
    let done = search.finish();
    assert!(done.stderr.contains("stopped before"), "{}", done.stderr);
    let rooms = std::fs::read_dir(env.state("rooms")).unwrap();
    assert_eq!(rooms.count(), 0);
    assert_eq!(env.ralph(&["snapshots", "purge", "--yes"]).code, 0);
    let done = env.ralph(&["bisect", "--verify", "true"]);
    assert_eq!(done.code, 1);
    assert!(done.stderr.contains("no snapshots"), "{}", done.stderr);
}

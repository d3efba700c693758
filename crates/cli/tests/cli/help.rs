//! What a person finds without leaving the terminal (U-11, INST-01).

use std::fs;

use serde_json::{Value, json};

use crate::env::TestEnv;

fn answer(env: &TestEnv, args: &[&str]) -> String {
    let done = env.ralph(args);
    assert_eq!((done.code, done.stderr.as_str()), (0, ""), "{args:?}");
    done.stdout
}

/// U-11: a slip is understood, also one that only swaps letters.
#[test]
fn a_slip_finds_its_verb() {
    let env = TestEnv::new();
    for (typed, meant) in [("rnu", "run"), ("stauts", "status"), ("hepl", "help")] {
        let done = env.ralph(&[typed]);
        assert_eq!((done.code, done.stdout.as_str()), (1, ""), "{typed}");
        let want = format!("did you mean {meant}");
        assert!(done.stderr.contains(&want), "{}", done.stderr);
    }
}

/// U-11: verbs stand in groups, and `ralph help` shows the topics besides.
#[test]
fn the_verbs_stand_in_groups() {
    let env = TestEnv::new();
    let help = answer(&env, &["--help"]);
    let at = |text: &str| help.find(text).unwrap_or_else(|| panic!("{text}:\n{help}"));
    let order = [
        "\nStart here:\n",
        "\n  run ",
        "\nWatch:\n",
        "\n  status ",
        "\nSteer:\n",
        "\n  pause ",
        "\nLook back:\n",
        "\n  report ",
        "\nProve:\n",
        "\n  verify ",
        "\nSet up:\n",
        "\n  init ",
        "\nHooks and sessions:\n",
        "\n  hook ",
        "\nOptions:\n",
        "\nExit codes:",
    ];
    let places = order.map(at);
    assert!(places.is_sorted(), "{help}");

    let whole = answer(&env, &["help"]);
    assert!(whole.starts_with(&help), "{whole}");
    for topic in [
        "presets", "tasks", "evidence", "limits", "hooks", "guard", "overnight", "sdd",
    ] {
        assert!(whole.contains(&format!("\n  {topic} ")), "{whole}");
    }
}

/// U-11: a verb's help ends with examples, whichever way it is asked for.
#[test]
fn a_verb_is_explained_with_examples() {
    let env = TestEnv::new();
    for verb in ["run", "tasks", "report"] {
        let help = answer(&env, &["help", verb]);
        assert!(help.ends_with(&answer(&env, &[verb, "--help"])), "{help}");
        let (_, examples) = help.rsplit_once("Examples:\n").unwrap();
        let first = examples.lines().next().unwrap();
        assert!(first.starts_with(&format!("  ralph {verb}")), "{help}");
    }
}

/// U-11: the topics, in every language; the presets are the files themselves.
#[test]
fn topics_are_told_in_the_language_of_the_person() {
    let env = TestEnv::new();
    let topic = |name: &str, lang: &str| answer(&env, &["help", name, "--lang", lang]);
    assert!(topic("tasks", "en").starts_with("Where the work comes from\n"));
    assert!(topic("tasks", "zh-TW").starts_with("工作從哪裡來\n"));
    assert!(topic("tasks", "zh-CN").starts_with("工作从哪里来\n"));
    for lang in ["en", "zh-TW", "zh-CN"] {
        let presets = topic("presets", lang);
        for name in ["openspec", "verify", "dev-p0", "dev-p1", "sdd", "delta"] {
            assert!(presets.contains(&format!("\n--- {name}\n#")), "{presets}");
        }
        assert!(presets.contains("complete = [\"TASK_COMPLETE\"]"));
    }

    let done = env.ralph(&["help", "preset"]);
    assert_eq!((done.code, done.stdout.as_str()), (1, ""));
    for want in ["did you mean presets", "overnight", "`ralph help`"] {
        assert!(done.stderr.contains(want), "{}", done.stderr);
    }
}

/// U-11: the page about presets holds the files as they are.
#[test]
fn the_documentation_shows_the_presets_as_they_are() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let page = fs::read_to_string(format!("{root}/docs/presets.md")).unwrap();
    let presets = fs::read_dir(format!("{root}/crates/core/src/config/presets")).unwrap();
    for preset in presets {
        let path = preset.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        assert!(
            page.contains(&text),
            "{} is not as it stands",
            path.display()
        );
    }
}

/// INST-01: who comes from seed 003 finds the way.
#[test]
fn the_doors_of_ralph_sdd_are_named() {
    let env = TestEnv::new();
    for lang in ["en", "zh-TW", "zh-CN"] {
        let told = answer(&env, &["help", "sdd", "--lang", lang]);
        for (old, new) in [
            ("./install.sh DIR", "ralph init DIR --preset sdd"),
            (
                "./scripts/ralph-sdd.sh --phase 2",
                "ralph run --preset sdd --phase 2",
            ),
            (
                "./scripts/ralph-sdd.sh --monitor",
                "ralph run --preset sdd --monitor",
            ),
            ("tail -f .ralph/ralph-sdd.log", "ralph logs -f"),
        ] {
            let line = told.lines().find(|line| line.contains(old));
            let line = line.unwrap_or_else(|| panic!("{old}: {told}"));
            assert!(line.ends_with(new), "{line}");
        }
    }
}

/// U-11: one is one.
#[test]
fn one_task_is_a_task() {
    let env = TestEnv::with_tasks(1);
    let listed = answer(&env, &["tasks"]);
    assert!(listed.contains("0/1 task done, 1 to do"), "{listed}");
    let agent = env.agent(&[json!({"say": "<promise>CONTINUE</promise>"})]);
    let done = env.ralph(&["run", "--agent-cmd", &agent, "--max-iterations", "1"]);
    assert!(!done.stdout.contains("1 tasks"), "{}", done.stdout);
    assert!(!done.stdout.contains("1 iterations"), "{}", done.stdout);
    for verb in ["status", "cost"] {
        let told = answer(&env, &[verb]);
        assert!(!told.contains("1 tasks"), "{told}");
    }
    assert!(answer(&env, &["status"]).contains("0/1 task ·"));
    assert!(answer(&env, &["resume", "--show"]).contains("1 iteration, 0/1 task\n"));
}

/// U-11: a setting that nothing reads goes.
#[test]
fn no_setting_is_without_effect() {
    let env = TestEnv::new();
    let reference = answer(&env, &["config", "reference"]);
    assert!(!reference.contains("Not in effect"), "{reference}");
}

/// MONI-04: every key of `status --json` is documented.
#[test]
fn the_keys_of_the_status_are_documented() {
    let env = TestEnv::with_tasks(3);
    let turns = [json!({"tick": ["T001"], "say": "<promise>CONTINUE</promise>"})];
    let args = ["--max-iterations", "1", "--verify", "true"];
    env.run_script(&turns, &args);
    // What a person steers is there only then.
    for steered in [
        &["tasks", "skip", "T002"][..],
        &["focus", "T003"],
        &["hint", "Mind the gap"],
    ] {
        answer(&env, steered);
    }
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/status.md");
    let page = fs::read_to_string(page).unwrap();
    let status: Value = serde_json::from_str(&answer(&env, &["status", "--json"])).unwrap();
    let mut keys = Vec::new();
    keys_of(&status, &mut keys);
    for there in ["proven_tasks", "skipped_tasks", "focus", "hints"] {
        assert!(keys.contains(&there.to_owned()), "{there}: {keys:?}");
    }
    for key in keys {
        assert!(
            page.contains(&format!("`{key}`")),
            "{key} is not documented"
        );
    }
}

fn keys_of(value: &Value, keys: &mut Vec<String>) {
    for (key, inner) in value.as_object().into_iter().flatten() {
        keys.push(key.clone());
        keys_of(inner, keys);
    }
}

/// A reader that goes away early is nobody's problem.
#[test]
fn completions_are_written_into_a_closed_pipe() {
    for shell in ["bash", "zsh", "fish"] {
        let env = TestEnv::new();
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let done = env.command(&["completions", shell]).stdout(writer).output();
        let done = done.unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!((done.status.code(), &*said), (Some(0), ""), "{shell}");
    }
}

#[test]
fn a_number_that_has_to_be_one_at_least_is_asked_for() {
    let env = TestEnv::new();
    let done = env.ralph(&["run", "-j", "0"]);
    assert_eq!(done.code, 1);
    assert!(done.stderr.contains("1 or more"), "{}", done.stderr);
}

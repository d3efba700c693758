//! What the program says about itself (issue 25).

use serde_json::Value;

use crate::env::TestEnv;

fn json(env: &TestEnv, args: &[&str]) -> Value {
    let done = env.ralph(args);
    assert_eq!((done.code, done.stderr.as_str()), (0, ""), "{args:?}");
    serde_json::from_str(&done.stdout).unwrap()
}

#[test]
fn the_version_is_told_to_programs() {
    let env = TestEnv::bare();
    for args in [["--version", "--json"], ["--json", "-V"]] {
        let told = json(&env, &args);
        assert_eq!(told["name"], "ralph");
        assert_eq!(told["version"], env!("CARGO_PKG_VERSION"));
        let target = told["target"].as_str().unwrap();
        assert!(target.contains(std::env::consts::ARCH), "{target}");
    }
    let plain = env.ralph(&["--version"]);
    assert_eq!(
        plain.stdout,
        concat!("ralph ", env!("CARGO_PKG_VERSION"), "\n")
    );
}

/// Each capability has a line, and so has each program that is missing, with
/// what is lost without it.
#[test]
fn what_is_missing_is_said_in_a_line_each() {
    let env = TestEnv::bare();
    let empty = env.outside("nothing");
    std::fs::create_dir(&empty).unwrap();
    let told = |lang: &str| {
        let mut command = env.command(&["self-check", "--lang", lang]);
        let output = command.env("PATH", &empty).output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    let english = told("en");
    for want in [
        "· git is missing: there is less evidence of progress",
        "! no agent is on PATH",
        "the loop, its journal and `resume`: ",
        #[cfg(target_os = "linux")]
        "✗ the sandbox around agent and checks: not there: ",
        "· state is kept in ",
    ] {
        assert!(english.contains(want), "{want}:\n{english}");
    }
    assert!(told("zh-TW").contains("缺少 git"));
    assert!(told("zh-CN").contains("缺少 git"));

    let program = json(&env, &["self-check", "--json"]);
    let names: Vec<&str> = program["capabilities"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    for want in ["loop", "state", "trust", "control", "snapshots", "sandbox"] {
        assert!(names.contains(&want), "{names:?}");
    }
    let git = program["helpers"].as_array().unwrap().iter();
    let git = git.into_iter().find(|one| one["name"] == "git").unwrap();
    assert!(git["path"].is_string(), "{git}");
}

/// The manual prints the table that the program has (issue 24).
#[test]
fn the_manual_has_the_table_of_systems() {
    let env = TestEnv::bare();
    let table = env.ralph(&["self-check", "--platforms"]).stdout;
    let page = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/book/src/reference/platforms.md"
    );
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.ends_with(&table), "the table is:\n{table}");
}

/// It looks and writes nothing, not even its own folder.
#[test]
fn it_leaves_nothing_behind() {
    let env = TestEnv::bare();
    json(&env, &["self-check", "--json"]);
    assert!(env.snapshot().is_empty());
    assert!(!env.outside(".local").exists());
}

//! What a project may say without a person's word (S-02, S-05, C-05).

use super::super::*;

fn sources(own: &str, worktree: &str, env: &[(&str, &str)]) -> Sources {
    let file = |name: &str, text: &str| {
        let (name, text) = (name.to_owned(), text.to_owned());
        (!text.is_empty()).then_some(NamedText { name, text })
    };
    Sources {
        own_file: file(".ralph/config.toml", own),
        foreign: file(".ideal/worktree.yaml", worktree).into_iter().collect(),
        env: env
            .iter()
            .map(|(k, v)| (k.to_string(), v.to_string()))
            .collect(),
        ..Sources::default()
    }
}

fn bold(sources: &Sources) -> Vec<String> {
    let bold = load(sources).unwrap().resolved.bold();
    bold.into_iter().map(|bold| bold.key).collect()
}

#[test]
fn what_runs_or_loosens_needs_trust_and_the_rest_does_not() {
    for (own, want) in [
        ("", ""),
        ("lang = \"en\"\n[limits]\nmax_iterations = 3\n", ""),
        ("[verify]\ncommands = []\n", ""),
        ("[verify]\ncommands = [\"make\"]\n", "verify.commands"),
        ("[agent]\nname = \"codex\"\n", ""),
        (
            "[agent]\ncommand = \"./x\"\nallow_unsafe = true\n",
            "agent.command agent.allow_unsafe",
        ),
        (
            "[agent]\nenv = [\"ANTHROPIC_BASE_URL=http://x\"]\n",
            "agent.env",
        ),
        ("[guard]\nenabled = false\n", "guard.enabled"),
        ("[guard]\nenable = [\"x\"]\n", ""),
        ("[notify]\ncommand = \"x\"\n", "notify.command"),
        ("[log]\nfile = \"logs/ralph.log\"\n", ""),
        ("[log]\nfile = \"../../.bashrc\"\n", "log.file"),
        ("[history]\ndir = \"/tmp/x\"\n", "history.dir"),
        ("preset = \"delta\"\n", ""),
        ("preset = \"dev-p1\"\n", "preset"),
    ] {
        assert_eq!(bold(&sources(own, "", &[])).join(" "), want, "{own}");
    }
    let foreign = sources("", "verify:\n  - make\n", &[]);
    assert_eq!(bold(&foreign), ["verify.commands"]);
    // What a person types, or sets, is theirs.
    let own = "[verify]\ncommands = [\"make\"]\n";
    let overridden = sources(own, "", &[("RALPH_VERIFY_COMMANDS", "mine")]);
    assert_eq!(bold(&overridden), [""; 0]);
}

#[test]
fn where_nobody_can_be_asked_only_what_was_trusted_counts() {
    let commands = |value: &[&str]| Value::from(value.to_vec());
    let trusted = |value: &[&str]| Trusted::from([("verify.commands".into(), commands(value))]);
    let none = Trusted::new();
    for (own, worktree, trusted, want, changed) in [
        (
            "[verify]\ncommands = [\"evil\"]\n",
            "",
            none.clone(),
            &[][..],
            1,
        ),
        (
            "[verify]\ncommands = [\"make\"]\n",
            "",
            trusted(&["make"]),
            &["make"],
            0,
        ),
        (
            "[verify]\ncommands = [\"true\"]\n",
            "",
            trusted(&["make"]),
            &["make"],
            1,
        ),
        (
            "",
            "verify:\n  - \"true\"\n",
            trusted(&["make"]),
            &["make"],
            1,
        ),
        ("", "", trusted(&["make"]), &["make"], 1),
        (
            "[verify]\ncommands = []\n",
            "",
            trusted(&["make"]),
            &["make"],
            1,
        ),
        ("", "", none, &[], 0),
    ] {
        let (loaded, found) = load_trusted(&sources(own, worktree, &[]), &trusted, true).unwrap();
        assert_eq!(loaded.settings.verify.commands, want, "{own}{worktree}");
        assert_eq!(found.len(), changed, "{own}{worktree}: {found:?}");
    }
}

/// A client sets variables for its hooks that the repository chose.
#[test]
fn variables_around_a_hook_do_not_run_anything() {
    let sources = sources(
        "",
        "",
        &[("RALPH_VERIFY_COMMANDS", "evil"), ("RALPH_LANG", "en")],
    );
    let (loaded, found) = load_trusted(&sources, &Trusted::new(), true).unwrap();
    assert!(loaded.settings.verify.commands.is_empty());
    assert_eq!(loaded.settings.lang, "en");
    assert_eq!(found, ["verify.commands"]);
}

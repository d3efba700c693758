//! Every built-in rule keeps what its examples promise; settings change what
//! a rule does.

mod common;

use core::net::IpAddr;

use common::{judge_in, verdict};
use ralph_core::config::{GuardMode, GuardPack, GuardRule, GuardSettings};
use ralph_core::lang::{Lang, Say};
use ralph_guard::{Decision, NoLinks, RuleProblem, World, built_in_rules, check_rule};
use serde_json::json;

#[test]
fn every_rule_has_both_kinds_of_example_and_keeps_them() {
    let mut wrong = Vec::new();
    for rule in built_in_rules() {
        assert!(!rule.matches.is_empty(), "{}: no match", rule.id);
        assert!(!rule.not_matches.is_empty(), "{}: no not_match", rule.id);
        for example in rule.matches {
            let (tool, input) = example.call();
            if only(rule.id, tool, &input) != Decision::Block {
                wrong.push(format!("{} misses {example:?}", rule.id));
            }
        }
        for example in rule.not_matches {
            let (tool, input) = example.call();
            if only(rule.id, tool, &input) != Decision::Allow {
                wrong.push(format!("{} matches {example:?}", rule.id));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The verdict where every other rule is off.
fn only(id: &str, tool: &str, input: &serde_json::Value) -> Decision {
    let settings = GuardSettings {
        disable: built_in_rules()
            .map(|rule| rule.id.to_owned())
            .filter(|other| other != id)
            .collect(),
        enable: vec![id.to_owned()],
        ..GuardSettings::default()
    };
    judge_in(tool, input, &settings, &Names).decision
}

/// A world with a resolver: `rebind.example` leads home.
struct Names;

impl World for Names {
    fn link_target(&self, _path: &str) -> Option<String> {
        None
    }

    fn addresses(&self, host: &str) -> Option<Vec<IpAddr>> {
        let address = match host {
            "rebind.example" => "127.0.0.1",
            "inside.example" => "fd00::1",
            "slow.example" => return None,
            "nobody.example" => return Some(Vec::new()),
            _ => "93.184.215.14",
        };
        Some(address.parse().into_iter().collect())
    }
}

#[test]
fn a_dangerous_command_is_named_with_its_program_gard_10() {
    let long = format!("rm -rf {} /", "some/folder ".repeat(40));
    for (text, want) in [
        ("git log && rm -rf /", "rm -rf /"),
        ("sh -c 'rm -rf /'", "rm -rf /"),
        ("/bin/kill -9 1", "/bin/kill -9 1"),
        ("git reset --hard HEAD~3", "git reset --hard HEAD~3"),
        (&long, "rm … /"),
    ] {
        let input = json!({ "command": text });
        let verdict = judge_in("Bash", &input, &GuardSettings::default(), &NoLinks);
        let said = verdict.say(Lang::En);
        let head = said.lines().next().unwrap_or_default();
        assert!(head.starts_with("BLOCKED: "), "{text}: {said}");
        assert_eq!(verdict.detail, want, "{text}");
    }
    // A file is what it is about, not the command.
    let input = json!({ "command": "cat ~/.ssh/id_ed25519" });
    let verdict = judge_in("Bash", &input, &GuardSettings::default(), &NoLinks);
    assert_eq!(verdict.detail, "/home/dev/.ssh/id_ed25519");
}

/// GARD-05, the optional part: off unless a person wants it.
#[test]
fn a_name_that_leads_home_is_found_where_a_person_asked_for_it_gard_05() {
    let off = GuardSettings::default();
    let on = GuardSettings {
        enable: vec!["net.resolved".to_owned()],
        ..off.clone()
    };
    let allowed = GuardSettings {
        allow_hosts: vec!["rebind.example".to_owned()],
        ..on.clone()
    };
    for (url, settings, want) in [
        ("https://rebind.example/x", &on, Decision::Block),
        ("https://ReBind.example./x", &on, Decision::Block),
        ("http://inside.example:8080/", &on, Decision::Block),
        ("https://slow.example/", &on, Decision::Block),
        ("https://nobody.example/", &on, Decision::Allow),
        ("https://docs.rs/", &on, Decision::Allow),
        ("https://rebind.example/x", &allowed, Decision::Allow),
        ("https://rebind.example/x", &off, Decision::Allow),
        ("https://slow.example/", &off, Decision::Allow),
    ] {
        let input = json!({ "url": url, "prompt": "" });
        let verdict = judge_in("WebFetch", &input, settings, &Names);
        assert_eq!(verdict.decision, want, "{url}");
    }
}

#[test]
fn ids_are_unique_and_texts_are_there_in_every_language() {
    let mut ids: Vec<_> = built_in_rules().map(|rule| rule.id).collect();
    ids.sort_unstable();
    let count = ids.len();
    ids.dedup();
    assert_eq!(ids.len(), count);
    for rule in built_in_rules() {
        for lang in Lang::ALL {
            assert!(
                !rule.reason.say(lang).is_empty() && !rule.hint.say(lang).is_empty(),
                "{}",
                rule.id
            );
        }
    }
}

fn bash(command: &str, settings: &GuardSettings) -> Decision {
    judge_in("Bash", &json!({ "command": command }), settings, &NoLinks).decision
}

#[test]
fn settings_switch_rules() {
    let off = GuardSettings {
        disable: vec!["git.reset-hard".into()],
        ..GuardSettings::default()
    };
    assert_eq!(bash("git reset --hard", &off), Decision::Allow);
    assert_eq!(bash("git reset --hard && rm -rf /", &off), Decision::Block);
    let modes = GuardSettings {
        modes: vec![
            ("git.reset-hard".into(), GuardMode::Ask),
            ("git.clean".into(), GuardMode::Warn),
        ],
        ..GuardSettings::default()
    };
    assert_eq!(bash("git reset --hard", &modes), Decision::Ask);
    assert_eq!(bash("git clean -fd", &modes), Decision::Allow);
    assert_eq!(bash("git reset --hard; sudo ls", &modes), Decision::Block);
    let packs = GuardSettings {
        packs: vec![
            GuardPack::Publishing,
            GuardPack::Database,
            GuardPack::Container,
        ],
        ..GuardSettings::default()
    };
    assert_eq!(bash("terraform destroy", &packs), Decision::Allow);
    assert_eq!(bash("dropdb x", &packs), Decision::Block);
    let leased = GuardSettings {
        enable: vec!["git.force-with-lease".into()],
        ..GuardSettings::default()
    };
    assert_eq!(
        bash("git push --force-with-lease", &leased),
        Decision::Block
    );
    let allowed = GuardSettings {
        allow_paths: vec!["~/.cache/app".into(), "/srv/data".into()],
        allow_hosts: vec!["10.1.2.3".into(), "build.internal:8080".into()],
        ..GuardSettings::default()
    };
    assert_eq!(bash("rm -rf ~/.cache/app/x", &allowed), Decision::Allow);
    assert_eq!(bash("rm -rf ~/.cache/other", &allowed), Decision::Block);
    assert_eq!(bash("echo x > /srv/data/y", &allowed), Decision::Allow);
    assert_eq!(bash("curl http://10.1.2.3/x", &allowed), Decision::Allow);
    assert_eq!(bash("curl http://10.1.2.4/x", &allowed), Decision::Block);
    assert_eq!(
        bash("curl http://build.internal:8080/x", &allowed),
        Decision::Allow
    );
}

fn own_rule() -> GuardRule {
    GuardRule {
        id: "own.no-prod".into(),
        program: "deploy".into(),
        args: vec!["--prod".into()],
        reason: "people deploy".into(),
        hint: "use --staging".into(),
        matches: vec!["deploy --prod".into(), "timeout 5 deploy app --prod".into()],
        not_matches: vec!["deploy --staging".into()],
        ..GuardRule::default()
    }
}

#[test]
fn rules_of_the_configuration_are_judged_like_the_built_in_ones() {
    let settings = GuardSettings {
        rules: vec![own_rule()],
        ..GuardSettings::default()
    };
    let verdict = judge_in(
        "Bash",
        &json!({"command": "sh -c 'deploy --prod'"}),
        &settings,
        &NoLinks,
    );
    assert_eq!(verdict.decision, Decision::Block);
    assert_eq!(verdict.rule.as_deref(), Some("own.no-prod"));
    assert_eq!(verdict.reason(Lang::En), "people deploy");
    assert_eq!(bash("deploy --staging", &settings), Decision::Allow);
}

#[test]
fn rules_of_the_configuration_are_held_to_their_examples() {
    let temporary = ["/tmp".to_owned()];
    let settings = GuardSettings::default();
    let context = ralph_guard::Context {
        project: common::PROJECT,
        home: "/home/dev",
        temporary: &temporary,
        binary: None,
        ignore_case: false,
        settings: &settings,
        world: &NoLinks,
    };
    assert_eq!(check_rule(&own_rule(), &context), []);
    // GARD-14: a tool of an MCP server, by its name.
    let tool = GuardRule {
        program: "mcp__db__*".into(),
        args: vec!["drop".into()],
        paths: Vec::new(),
        matches: vec!["mcp__db__query drop table x".into()],
        not_matches: vec!["mcp__db__query select".into(), "drop".into()],
        ..own_rule()
    };
    assert_eq!(check_rule(&tool, &context), []);
    let wrong = GuardRule {
        matches: vec!["deploy --staging".into()],
        not_matches: vec!["deploy --prod".into()],
        ..own_rule()
    };
    assert_eq!(
        check_rule(&wrong, &context),
        [
            RuleProblem::Missed("deploy --staging".into()),
            RuleProblem::Overreached("deploy --prod".into())
        ]
    );
}

#[test]
fn a_block_says_what_why_by_which_rule_and_what_instead() {
    let verdict = judge_in(
        "Bash",
        &json!({"command": "cat .env"}),
        &GuardSettings::default(),
        &NoLinks,
    );
    let text = verdict.say(Lang::ZhTw);
    assert!(
        text.starts_with("BLOCKED: 禁止操作敏感檔案 - .env"),
        "{text}"
    );
    assert!(
        text.contains("[secret.file]") && text.contains(".env.example"),
        "{text}"
    );
    assert_eq!(common::verdict("Bash", "ls"), (false, None));
    let _ = verdict;
}

/// Links by path, as a project has them.
struct Links(&'static [(&'static str, &'static str)]);

impl World for Links {
    fn link_target(&self, path: &str) -> Option<String> {
        let found = self.0.iter().find(|(link, _)| *link == path)?;
        Some(found.1.to_owned())
    }
}

#[test]
fn links_are_followed_before_a_path_is_judged() {
    let world = Links(&[
        ("/home/dev/project/out", "/home/dev/other"),
        ("/home/dev/project/in", "src"),
        ("/home/dev/project/etc", "/etc"),
        ("/home/dev/project/chain", "in/next"),
        ("/home/dev/project/src/next", "../../elsewhere"),
        ("/home/dev/project/dangling", "/home/dev/nothing/here"),
        ("/home/dev/project/key", "/home/dev/.ssh/id_rsa"),
        ("/home/dev/project/loop", "loop"),
        ("/home/dev/project/tmp", "/tmp/x"),
    ]);
    let file = |tool: &str, path: &str| {
        judge_in(
            tool,
            &json!({ "file_path": path }),
            &GuardSettings::default(),
            &world,
        )
        .decision
            == Decision::Block
    };
    for (tool, path, blocked) in [
        ("Read", "out/x", true),
        ("Write", "out/new/deep.txt", true),
        ("Read", "in/lib.rs", false),
        ("Write", "in/new.rs", false),
        ("Edit", "etc/hosts", true),
        ("Read", "chain/x", true),
        ("Write", "dangling", true),
        ("Read", "key", true),
        ("Read", "out/../x", true),
        ("Read", "in/../x", false),
        ("Read", "loop/x", false),
        ("Write", "tmp/y", true),
    ] {
        assert_eq!(file(tool, path), blocked, "{tool} {path}");
    }
    let run = |command: &str| {
        judge_in(
            "Bash",
            &json!({ "command": command }),
            &GuardSettings::default(),
            &world,
        )
        .decision
            == Decision::Block
    };
    assert!(run("echo x > out/y"));
    assert!(run("rm -rf out/"));
    assert!(run("cp a etc/passwd"));
    assert!(run("ln -s ../other new && rm -rf new/x"));
    assert!(!run("echo x > in/y"));
    assert!(!run("cat in/lib.rs"));
}

#[test]
fn a_project_in_a_temporary_directory_keeps_its_borders() {
    let temporary = ["/tmp".to_owned()];
    let settings = GuardSettings::default();
    let check = |project: &str, tool: &str, text: &str, blocked: bool| {
        let context = ralph_guard::Context {
            project,
            home: "/home/dev",
            temporary: &temporary,
            binary: None,
            ignore_case: false,
            settings: &settings,
            world: &NoLinks,
        };
        let input = common::input(tool, text);
        let call = ralph_guard::ToolCall {
            tool,
            input: &input,
            cwd: project,
        };
        let decision = ralph_guard::judge(&call, &context).decision;
        assert_eq!(
            decision == Decision::Block,
            blocked,
            "{project} {tool} {text}"
        );
    };
    check("/tmp/abc/p", "Write", "/tmp/abc/p/x", false);
    check("/tmp/abc/p", "Write", "/tmp/abc/p-evil/x", true);
    check("/tmp/abc/p", "Write", "/tmp/abc/other", true);
    check("/tmp/abc/p", "Write", "/tmp/scratch/x", false);
    check("/tmp/p", "Write", "/tmp/p-evil/x", true);
    check("/tmp/p", "Write", "/tmp/q/x", false);
    for project in ["/tmp/abc/p", "/tmp/p"] {
        for path in ["../x", "../../x", "src/../../x", "../p-evil/x", "..\\x"] {
            check(project, "Write", path, true);
            check(project, "Read", path, true);
        }
        check(project, "Glob", "../**", true);
        check(project, "Read", "src/../x", false);
        for command in [
            "rm -rf ../x",
            "rm -rf $PWD/../x",
            "cd .. && rm -rf x",
            "cd ../x && echo a > b",
            "cd src && cd ../.. && rm -rf p",
            "git -C ../x commit -am y",
        ] {
            check(project, "Bash", command, true);
        }
        for command in [
            "mv a /tmp/",
            "tar xf a.tar -C /tmp",
            "cd src && rm -rf ../dist",
            "cd .. && cd p && rm -rf dist",
            "cd /tmp/q && rm -rf ../r",
            "PATH=$PWD/bin:$PATH make",
        ] {
            check(project, "Bash", command, false);
        }
    }
}

#[test]
fn a_case_insensitive_file_system_has_one_git_directory() {
    let context = ralph_guard::Context {
        project: common::PROJECT,
        home: "/home/dev",
        temporary: &[],
        binary: None,
        ignore_case: true,
        settings: &GuardSettings::default(),
        world: &NoLinks,
    };
    let decision = |tool, text| {
        let call = ralph_guard::ToolCall {
            tool,
            input: &common::input(tool, text),
            cwd: common::PROJECT,
        };
        ralph_guard::judge(&call, &context).decision
    };
    assert_eq!(decision("Bash", "rm -rf .GIT"), Decision::Block);
    let path = "/HOME/dev/Project/src/a.rs";
    assert_eq!(decision("Read", path), Decision::Allow);
    assert!(verdict("Read", "/home/dev/Project/src/a.rs").0);
}

/// S-03: another name for the same program changes nothing.
#[test]
fn a_program_behind_a_link_is_known() {
    let world = Links(&[
        ("/home/dev/project/r", "/usr/local/bin/ralph"),
        ("/home/dev/project/bin/x", "../../../../bin/rm"),
        (
            "/home/dev/project/node_modules/.bin/eslint",
            "../eslint/bin/eslint.js",
        ),
    ]);
    for (command, blocked) in [
        ("./r guard trust", true),
        ("/home/dev/project/r extend 5", true),
        ("env -i ./r wake", true),
        ("./r status", false),
        ("bin/x -rf ~", true),
        ("bin/x -rf build", false),
        ("node_modules/.bin/eslint --fix .", false),
    ] {
        let input = json!({ "command": command });
        let verdict = judge_in("Bash", &input, &GuardSettings::default(), &world);
        assert_eq!(verdict.decision == Decision::Block, blocked, "{command}");
    }
}

//! `ralph init`, `ralph uninstall` and `ralph doctor` in a project.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::env::{Done, RALPH, TestEnv, make_executable};

impl TestEnv {
    /// `ralph` with a PATH that has `ralph` and nothing of the machine's
    /// agents on it.
    fn own(&self, args: &[&str]) -> Done {
        let bin = self.bin();
        let path = format!("{}:/usr/bin:/bin", bin.display());
        Done::of(&self.command(args).env("PATH", path).output().unwrap())
    }

    fn bin(&self) -> PathBuf {
        let bin = self.outside("bin");
        fs::create_dir_all(&bin).unwrap();
        let link = bin.join("ralph");
        if !link.exists() {
            std::os::unix::fs::symlink(RALPH, &link).unwrap();
        }
        bin
    }

    /// Every file and directory but Git's, in words that a person can read.
    fn shape(&self) -> Vec<String> {
        let files = self.snapshot().into_iter();
        let below = files.map(|(path, bytes)| {
            let path = path.strip_prefix(&self.root).unwrap().display().to_string();
            format!("{path}: {:?}", String::from_utf8_lossy(&bytes))
        });
        below.filter(|line| !line.starts_with(".git/")).collect()
    }

    fn init(&self, args: &[&str]) -> Done {
        let done = self.own(&[&["init", "--yes"], args].concat());
        assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
        done
    }

    fn doctor(&self) -> (i32, Vec<Value>) {
        let done = self.own(&["doctor", "--json"]);
        let told: Value = serde_json::from_str(&done.stdout).unwrap();
        (done.code, told["findings"].as_array().unwrap().clone())
    }

    /// The checks that are as bad as this.
    fn diagnosed(&self, status: &str) -> Vec<String> {
        let (code, findings) = self.doctor();
        let of = |name: &str| -> Vec<String> {
            let found = findings.iter().filter(|f| f["status"] == name);
            found
                .map(|f| f["check"].as_str().unwrap().to_owned())
                .collect()
        };
        assert_eq!(code == 7, !of("red").is_empty(), "{findings:?}");
        of(status)
    }
}

const AGENTS: [&str; 6] = ["claude", "codex", "gemini", "copilot", "cursor", "opencode"];

#[test]
fn init_and_uninstall_leave_every_file_as_it_was() {
    for agent in AGENTS {
        let env = TestEnv::new();
        env.write(".gitignore", "target");
        env.write(
            ".claude/settings.local.json",
            "{\r\n\t// mine\r\n\t\"hooks\": {\"Stop\": [{\"hooks\": []},]},\r\n}",
        );
        env.write(".claude/commands/mine.md", "Mine.\n");
        env.write(".gemini/settings.json", "{}");
        let before = env.shape();
        env.init(&["--agent", agent, "--gitignore", "--preset", "sdd"]);
        assert_ne!(env.shape(), before, "{agent}");
        let installed = env.shape();
        let again = env.init(&["--agent", agent, "--gitignore", "--preset", "sdd"]);
        assert!(
            again.stdout.contains("everything is in place"),
            "{}",
            again.stdout
        );
        assert_eq!(env.shape(), installed, "{agent}: again");
        let done = env.own(&["uninstall", "--yes"]);
        assert_eq!(done.code, 0, "{}", done.stderr);
        assert_eq!(env.shape(), before, "{agent}");
    }
}

/// U-10: hooks are the person's own unless they mean the team, and whoever has
/// the team's without Ralph is told, and works on.
#[test]
fn hooks_go_into_the_team_s_settings_only_when_that_is_meant() {
    const OWN: &str = ".claude/settings.local.json";
    const TEAM: &str = ".claude/settings.json";
    let env = TestEnv::new();
    env.write(TEAM, "{\"model\": \"opus\"}\n");
    let before = env.shape();
    env.init(&[]);
    assert!(env.read(OWN).contains("ralph hook --host claude stop"));
    assert_eq!(env.read(TEAM), "{\"model\": \"opus\"}\n");
    assert!(env.diagnosed("red").is_empty());
    // The team's take the place of the person's.
    env.init(&["--shared"]);
    assert!(!env.path(OWN).exists());
    assert!(env.read(TEAM).contains("ralph hook --host claude stop"));
    assert!(env.diagnosed("red").is_empty());
    assert!(
        !env.diagnosed("warning")
            .contains(&"hooks.current".to_owned())
    );
    // And stay where they are.
    let again = env.init(&[]);
    assert!(
        again.stderr.contains("for the whole team"),
        "{}",
        again.stderr
    );
    assert!(!env.path(OWN).exists());
    let hook = &env.json(TEAM)["hooks"]["PreToolUse"][0]["hooks"][0];
    let command = hook["command"].as_str().unwrap().to_owned();
    let ran = std::process::Command::new("/bin/sh")
        .args(["-c", &command])
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .output()
        .unwrap();
    assert_eq!(ran.status.code(), Some(1));
    let said = String::from_utf8(ran.stderr).unwrap();
    assert!(said.starts_with("Ralph is not installed here"), "{said}");
    assert_eq!(ran.stdout, b"");
    let done = env.own(&["uninstall", "--yes"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(env.shape(), before);
    // A client that knows no other file.
    let done = env.init(&["--agent", "codex"]);
    assert!(done.stderr.contains(".codex/hooks.json is the only file"));
    assert!(env.read(".codex/hooks.json").contains("command -v ralph"));
}

/// S-05: what only ends in a call of Ralph is no call of Ralph.
#[test]
fn a_doctor_runs_nothing_that_stands_before_ralph() {
    let env = TestEnv::new();
    let canary = env.outside("canary");
    for before in [
        "/bin/true; touch CANARY;",
        "touch CANARY; ",
        "'/bin/true';touch CANARY;",
    ] {
        let before = before.replace("CANARY", &canary.display().to_string());
        let command = format!("{before}/bin/ralph hook --host claude stop");
        let hooks =
            json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}});
        for file in [".claude/settings.json", ".claude/settings.local.json"] {
            env.write(file, &hooks.to_string());
        }
        env.doctor();
        assert!(!canary.exists(), "{command}");
    }
}

/// INST-05: where the settings are refused, a hook stops everything.
#[test]
fn a_doctor_says_what_is_wrong_with_the_settings() {
    let env = TestEnv::new();
    env.init(&[]);
    assert!(env.diagnosed("red").is_empty());
    for broken in ["a=\n", "[limits]\nmax_iteration = 3\n"] {
        env.write(".ralph/config.toml", broken);
        assert_eq!(env.diagnosed("red"), ["config"], "{broken}");
    }
}

#[test]
fn what_a_person_did_in_between_stays() {
    let env = TestEnv::new();
    env.init(&[]);
    let text = env.read(".claude/settings.local.json");
    let theirs = text.replacen("{\n", "{\n  \"model\": \"opus\",\n", 1);
    env.write(".claude/settings.local.json", &theirs);
    env.write(".claude/commands/do.md", "My own.\n");
    fs::write(env.path(".ralph/status.json"), "{}").unwrap();
    let done = env.own(&["uninstall", "--yes"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(
        env.json(".claude/settings.local.json"),
        json!({"model": "opus"})
    );
    assert_eq!(env.read(".claude/commands/do.md"), "My own.\n");
    assert!(done.stderr.contains(".claude/commands/do.md"));
    assert!(!env.path(".claude/commands/ralph-loop.md").exists());
    assert!(env.path(".ralph/.gitignore").exists(), "state stays hidden");
    assert!(!env.path(".ralph/install.json").exists());
}

#[test]
fn a_project_from_elsewhere_can_be_cleaned_without_a_manifest() {
    let env = TestEnv::new();
    env.write(".claude/settings.local.json", "{\"model\": \"opus\"}");
    env.init(&[]);
    fs::remove_dir_all(env.path(".ralph")).unwrap();
    let done = env.own(&["uninstall", "--yes"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let left = env.json(".claude/settings.local.json");
    assert_eq!(left["model"], "opus");
    assert_eq!(left["hooks"], Value::Null);
    assert!(!env.path(".claude/commands/ralph-loop.md").exists());
    let done = TestEnv::new().own(&["uninstall", "--yes"]);
    assert_eq!(done.stdout, "nothing of Ralph is installed here\n");
}

#[test]
fn nothing_is_changed_before_a_person_says_so() {
    let env = TestEnv::new();
    env.write(
        ".claude/settings.local.json",
        "{\n  \"model\": \"opus\"\n}\n",
    );
    let before = env.shape();
    for args in [&["init"][..], &["init", "--dry-run"]] {
        let done = env.own(args);
        assert!(done.stdout.contains("--- a/.claude/settings.local.json"));
        assert!(done.stdout.contains("+++ b/.claude/commands/ralph-loop.md"));
        assert!(done.stdout.contains("ralph hook --host claude stop"));
        let asked = !args.contains(&"--dry-run");
        assert_eq!(done.code, i32::from(asked));
        assert_eq!(done.stderr.contains("--yes"), asked, "{}", done.stderr);
        assert_eq!(env.shape(), before);
    }
    env.init(&[]);
    let installed = env.shape();
    for args in [&["uninstall"][..], &["uninstall", "--dry-run"]] {
        let done = env.own(args);
        assert!(done.stdout.contains("+++ b/.claude/settings.local.json"));
        assert_eq!(env.shape(), installed);
    }
}

#[test]
fn broken_settings_are_told_with_their_place_and_never_overwritten() {
    for (text, place) in [
        ("{\n  \"hooks\": {\n", "line 3, column 1"),
        ("{\n  \"a\": 1\n  \"b\": 2\n}", "line 3, column 3"),
        ("{\"hooks\": []}", "\"hooks\""),
        ("[1]", "no JSON object"),
    ] {
        let env = TestEnv::new();
        env.write(".claude/settings.local.json", text);
        let before = env.shape();
        let done = env.own(&["init", "--yes"]);
        assert_eq!(done.code, 1);
        assert!(done.stderr.contains(".claude/settings.local.json"));
        assert!(done.stderr.contains(place), "{text}: {}", done.stderr);
        assert_eq!(env.shape(), before);
    }
}

#[test]
fn a_persons_files_are_replaced_only_by_force() {
    let env = TestEnv::new();
    env.write(".claude/commands/do.md", "Mine.\n");
    env.write(".ralph/config.toml", "lang = \"en\"\n");
    let before = env.shape();
    let done = env.init(&["--preset", "sdd"]);
    assert!(done.stderr.contains(".claude/commands/do.md is there"));
    assert!(done.stderr.contains("preset = \"sdd\""));
    assert_eq!(env.read(".claude/commands/do.md"), "Mine.\n");
    env.init(&["--force"]);
    assert_ne!(env.read(".claude/commands/do.md"), "Mine.\n");
    assert_eq!(env.read(".ralph/config.toml"), "lang = \"en\"\n");
    env.own(&["uninstall", "--yes"]);
    assert_eq!(env.shape(), before);
}

#[test]
fn an_update_renews_entries_and_adds_no_files() {
    let env = TestEnv::new();
    env.init(&["--update"]);
    assert!(!env.path(".claude/commands").exists());
    let stale = env
        .read(".claude/settings.local.json")
        .replace("\"ralph hook", "\"/old/ralph hook");
    env.write(".claude/settings.local.json", &stale);
    env.init(&["--update"]);
    assert!(
        !env.read(".claude/settings.local.json")
            .contains("/old/ralph")
    );
    assert!(env.diagnosed("red").is_empty());
    // Nor one that a person took away (INST-04).
    env.init(&[]);
    std::fs::remove_file(env.path(".claude/commands/audit.md")).unwrap();
    env.init(&["--update"]);
    assert!(!env.path(".claude/commands/audit.md").exists());
}

#[test]
fn the_time_of_the_gate_and_the_cap_follow_the_settings() {
    let env = TestEnv::new();
    env.write(
        ".ralph/config.toml",
        "[verify]\ncommands = [\"a\", \"b\", \"c\"]\ncommand_timeout = \"60s\"\n[limits]\nmax_iterations = 30\n",
    );
    env.init(&[]);
    let settings = env.json(".claude/settings.local.json");
    let stop = &settings["hooks"]["Stop"][0]["hooks"][0];
    // All checks, the wait for CI, and the hook knows it.
    assert_eq!(stop["timeout"], 210 + 480);
    let command = stop["command"].as_str().unwrap();
    assert!(command.ends_with("stop --within 690"), "{command}");
    let check = &settings["hooks"]["SubagentStop"][0]["hooks"][0];
    assert_eq!(check["timeout"], 210);
    assert_eq!(settings["env"]["CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"], "31");
}

/// Issue 23: an editor finds the schema through the first line of the file.
#[test]
fn the_configuration_names_its_schema() {
    let env = TestEnv::new();
    let done = env.init(&[]);
    let first = env.read(".ralph/config.toml");
    let first = first.lines().next().unwrap();
    assert_eq!(first, "#:schema ./config.schema.json");
    let printed = env.own(&["config", "schema"]);
    assert_eq!(env.read(".ralph/config.schema.json"), printed.stdout);
    let schema = env.json(".ralph/config.schema.json");
    let turns = &schema["properties"]["limits"]["properties"]["max_iterations"];
    assert_eq!(turns["default"], 50);
    // It is named, not shown: the other changes have to be seen.
    assert!(done.stdout.contains("ralph config schema"));
    assert!(!done.stdout.contains("additionalProperties"));
    for of in ["flow", "prd"] {
        let other = env.own(&["config", "schema", "--for", of]);
        let other: Value = serde_json::from_str(&other.stdout).unwrap();
        assert_eq!(other["$schema"], schema["$schema"], "{of}");
    }
}

#[test]
fn a_plugin_is_written_whole() {
    let env = TestEnv::new();
    let before = env.shape();
    let done = env.init(&["--plugin"]);
    assert!(done.stdout.contains("claude --plugin-dir .ralph/plugin"));
    let hooks = env.json(".ralph/plugin/hooks/hooks.json");
    assert!(hooks["hooks"]["Stop"].is_array());
    assert_eq!(
        env.json(".ralph/plugin/.claude-plugin/plugin.json")["name"],
        "ralph"
    );
    assert!(!env.path(".claude").exists());
    env.own(&["uninstall", "--yes"]);
    assert_eq!(env.shape(), before);
}

#[test]
fn ralph_is_not_installed_into_itself() {
    let env = TestEnv::new();
    env.write(
        "crates/cli/Cargo.toml",
        "[package]\nname = \"ralph-loop\"\n",
    );
    let before = env.shape();
    let done = env.own(&["init", "--yes"]);
    assert_eq!(done.code, 1);
    assert!(done.stderr.contains("own source"), "{}", done.stderr);
    assert_eq!(env.shape(), before);
    let done = env.own(&["init", "nowhere", "--yes"]);
    assert_eq!(done.code, 1);
    assert!(done.stderr.contains("nowhere is no directory"));
}

#[test]
fn a_manifest_leads_nowhere_outside() {
    let env = TestEnv::new();
    env.init(&[]);
    let outside = env.outside("victim.txt");
    fs::write(&outside, "mine").unwrap();
    let manifest = env.read(".ralph/install.json");
    let forged = manifest.replace(".claude/commands/do.md", "../victim.txt");
    assert_ne!(manifest, forged);
    env.write(".ralph/install.json", &forged);
    let done = env.own(&["uninstall", "--yes"]);
    assert_eq!(done.code, 1);
    assert!(done.stderr.contains("../victim.txt"));
    assert!(outside.exists());
}

#[test]
fn every_installed_hook_is_run_and_answers() {
    let env = TestEnv::new();
    assert_eq!(env.diagnosed("red"), Vec::<String>::new());
    let agents: Vec<&str> = AGENTS.iter().flat_map(|name| ["--agent", name]).collect();
    env.init(&agents);
    let before = env.shape();
    // Codex waits for a person.
    assert_eq!(env.diagnosed("red"), ["codex.trust"]);
    let ran = env.diagnosed("ok");
    let ran = ran.iter().filter(|check| *check == "hooks.run").count();
    assert!(ran > 20, "{ran}");
    assert_eq!(env.shape(), before, "a look changes nothing");
}

#[test]
fn what_is_dead_is_red() {
    // What is done to the settings, and which check finds it.
    type Deed = fn(&TestEnv, &str) -> String;
    let cases: [(Deed, &str); 8] = [
        (
            |_, text| {
                text.replace(
                    "\"ralph hook --host claude stop ",
                    "\"/nowhere/ralph hook --host claude stop ",
                )
            },
            "hooks.run",
        ),
        (
            |_, text| text.replace("\"Stop\"", "\"stop\""),
            "hooks.event",
        ),
        (
            |_, text| text.replacen('{', "{\"disableAllHooks\": true,", 1),
            "hooks.disabled",
        ),
        (|_, text| format!("// mine\n{text}"), "settings.comments"),
        (|_, text| format!("{text}}}"), "settings.syntax"),
        (|_, text| text.replace("\"51\"", "\"8\""), "hooks.cap"),
        (
            |_, text| text.replace("--host claude stop", "--host codex stop"),
            "hooks.host",
        ),
        (
            |env, text| {
                // A program that says yes to everything.
                let liar = env.outside("liar/ralph");
                fs::create_dir_all(liar.parent().unwrap()).unwrap();
                fs::write(&liar, "#!/bin/sh\nexit 0\n").unwrap();
                make_executable(&liar);
                text.replace("\"ralph hook", &format!("\"{} hook", liar.display()))
            },
            "hooks.guard",
        ),
    ];
    for (deed, check) in cases {
        let env = TestEnv::new();
        env.init(&[]);
        let text = env.read(".claude/settings.local.json");
        let changed = deed(&env, &text);
        assert_ne!(changed, text, "{check}");
        env.write(".claude/settings.local.json", &changed);
        let red = env.diagnosed("red");
        assert!(red.iter().any(|found| found == check), "{check}: {red:?}");
    }
}

#[test]
fn a_doubled_hook_and_an_odd_field_are_warned_of() {
    let env = TestEnv::new();
    env.init(&[]);
    fs::copy(
        env.path(".claude/settings.local.json"),
        env.path(".claude/settings.json"),
    )
    .unwrap();
    assert!(env.diagnosed("warning").contains(&"hooks.twice".to_owned()));
    let odd = env
        .read(".claude/settings.local.json")
        .replacen("\"timeout\"", "\"timeoutSec\"", 1);
    env.write(".claude/settings.local.json", &odd);
    let warned = env.diagnosed("warning");
    assert!(warned.contains(&"hooks.field".to_owned()), "{warned:?}");
    assert!(warned.contains(&"hooks.current".to_owned()), "{warned:?}");
}

#[test]
fn the_three_complaints_about_loops_are_answered() {
    let check = |turns: &[Value], more: &[&str], want: &str| {
        let env = TestEnv::with_tasks(1);
        env.run_script(turns, more);
        let (_, findings) = env.doctor();
        let told: Vec<&Value> = findings
            .iter()
            .filter(|f| f["check"].as_str().unwrap().starts_with("loop."))
            .collect();
        let names: Vec<&str> = told.iter().map(|f| f["check"].as_str().unwrap()).collect();
        assert_eq!(names, [want], "{findings:?}");
        assert_ne!(told[0]["next"], "");
    };
    let claim = json!({"say": "<promise>COMPLETE</promise>"});
    let words = json!({"say": "Going on."});
    check(&[claim], &["--max-iterations", "1"], "loop.left_early");
    check(&[words], &["--max-iterations", "1"], "loop.never_ends");
    let env = TestEnv::new();
    env.init(&[]);
    assert!(
        env.diagnosed("note")
            .contains(&"loop.not_started".to_owned())
    );
}

#[test]
fn a_doctor_speaks_three_languages() {
    for (lang, want) in [
        ("en", "no hooks of Ralph are installed here"),
        ("zh-TW", "此處未安裝 Ralph 的掛鉤"),
        ("zh-CN", "此处未安装 Ralph 的钩子"),
    ] {
        let done = TestEnv::new().own(&["--lang", lang, "doctor"]);
        assert!(done.stdout.contains(want), "{}", done.stdout);
    }
}

/// DISP-06: what a person reads below `/` is in their language; it is taken
/// away again without a manifest too.
#[test]
fn slash_commands_are_written_in_the_person_s_language_disp_06() {
    for (lang, words) in [("zh-TW", "現在開始處理任務"), ("zh-CN", "现在开始处理任务")]
    {
        let env = TestEnv::new();
        let done = env.own(&["init", "--yes", "--lang", lang]);
        assert_eq!(done.code, 0, "{}", done.stderr);
        let text = env.read(".claude/commands/ralph-loop.md");
        assert!(text.contains(words), "{text}");
        assert!(text.contains("$ARGUMENTS"), "{text}");
        let settings = env.read(".ralph/config.toml");
        assert!(settings.contains("# Ralph Loop 的"), "{settings}");
        std::fs::remove_file(env.path(".ralph/install.json")).unwrap();
        assert_eq!(env.own(&["uninstall", "--yes"]).code, 0);
        assert!(!env.path(".claude/commands/ralph-loop.md").exists());
    }
}

/// U-04: who did not ask for the lines is told that they are missing.
#[test]
fn files_that_git_does_not_ignore_are_named_u_04() {
    let env = TestEnv::with_tasks(1);
    let done = env.own(&["init", "--yes"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stderr.contains("*.local.md"), "{}", done.stderr);
    assert!(
        done.stderr.contains("ralph init --gitignore"),
        "{}",
        done.stderr
    );
    assert_eq!(env.own(&["init", "--yes", "--gitignore"]).code, 0);
    env.write(".claude/ralph-delta.local.md", "state");
    let ignored = env.git(&["check-ignore", ".claude/ralph-delta.local.md"]);
    assert!(ignored.contains("ralph-delta"), "{ignored}");
    let again = env.own(&["init", "--yes"]);
    assert!(!again.stderr.contains("--gitignore"), "{}", again.stderr);
}

/// U-10, INST-06: the settings of a team can be committed.
#[test]
fn what_a_team_shares_is_not_hidden_from_git() {
    let env = TestEnv::with_tasks(1);
    for args in [
        &["--shared"][..],
        &["--shared", "--gitignore"],
        &["--gitignore"],
    ] {
        let done = env.own(&[&["init", "--yes"][..], args].concat());
        assert_eq!(done.code, 0, "{}", done.stderr);
        for hidden in [".ralph/", ".skillpack/", "settings.local.json"] {
            let is_named = done.stderr.contains("ignore") && done.stderr.contains(hidden);
            assert!(!is_named, "{args:?}: {}", done.stderr);
        }
        let shown = env.git(&["status", "--short", "--untracked-files=all"]);
        assert!(shown.contains(".ralph/config.toml"), "{args:?}: {shown}");
        assert!(!shown.contains("install.json"), "{args:?}: {shown}");
    }
}

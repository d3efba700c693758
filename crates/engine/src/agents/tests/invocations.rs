//! What each client is started with.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ralph_core::usage::{Usage, Usd};

use super::super::environment::NESTED;
use super::super::*;

/// Everything about an invocation, one thing per line.
fn shown(agent: &Agent) -> String {
    let invocation = agent.invocation(Path::new("/run/a b/prompt.md"), "do it");
    if !matches!(agent, Agent::Scripted { .. }) {
        let nested: Vec<OsString> = NESTED.iter().map(OsString::from).collect();
        assert_eq!(invocation.env_remove, nested);
    }
    let mut lines = vec![invocation.program.to_string_lossy().into_owned()];
    lines.extend(invocation.args.iter().map(|a| a.to_string_lossy().into()));
    for (name, value) in &invocation.env {
        let (name, value) = (name.to_string_lossy(), value.to_string_lossy());
        lines.push(format!("{name}={value}"));
    }
    for (path, text) in &invocation.files {
        let value: serde_json::Value = serde_json::from_str(text).unwrap();
        lines.push(format!("{}: {value}", path.display()));
    }
    if invocation.prompt_on_stdin {
        lines.push("< prompt".into());
    }
    lines.join("\n")
}

fn check(client: Client, options: &Options, want: &[&str]) {
    let agent = Agent::known(client, options.clone());
    assert_eq!(shown(&agent), want.join("\n"), "{client:?}");
    assert_eq!(agent.name(), client.into_str());
}

/// Everything that can be asked for, but for permissions.
fn all() -> Options {
    Options {
        program: "/opt/my agent".into(),
        args: vec!["--own".into(), "it's".into()],
        model: "best".into(),
        session: Session::Resume {
            id: "s-1".into(),
            used: Usage::default(),
        },
        max_turns: Some(5),
        max_cost: Usd::from_dollars(1.5),
        user_config: true,
        allow_unsafe: true,
        ..Options::default()
    }
}

fn guarded() -> Options {
    Options {
        hooks: Some(HookWiring {
            program: "/opt/our ralph".into(),
            state: "/home/a b/state".into(),
            timeout: Duration::from_secs(30),
            fail_closed: true,
        }),
        ..Options::default()
    }
}

fn with(permissions: Permissions) -> Options {
    Options {
        permissions,
        user_config: true,
        ..Options::default()
    }
}

#[test]
fn claude_is_called_headless() {
    let base = [
        "claude", "-p", "--output-format", "stream-json", "--verbose",
    ];
    let own = ["--setting-sources", "project,local", "--strict-mcp-config"];
    check(
        Client::Claude,
        &Options::default(),
        &[&base[..], &own, &["< prompt"]].concat(),
    );
    check(
        Client::Claude,
        &all(),
        &[
            "/opt/my agent",
            "-p",
            "--output-format",
            "stream-json",
            "--verbose",
            "--resume",
            "s-1",
            "--dangerously-skip-permissions",
            "--model",
            "best",
            "--max-turns",
            "5",
            "--max-budget-usd",
            "1.5",
            "--own",
            "it's",
            "< prompt",
        ],
    );
    check(
        Client::Claude,
        &guarded(),
        &[
            &base[..],
            &["--dangerously-skip-permissions"],
            &own,
            &[
                "--settings",
                r#"{"disableAllHooks":false,"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"/opt/our ralph","args":["hook","--host","claude","--state","/home/a b/state","pre-tool-use"],"timeout":30,"onFailure":"block"}]}]}}"#,
                "< prompt",
            ],
        ]
        .concat(),
    );
    for (permissions, flags) in [
        (Permissions::Default, &[][..]),
        (Permissions::Edit, &["--permission-mode", "acceptEdits"]),
        (Permissions::Plan, &["--permission-mode", "plan"]),
    ] {
        check(
            Client::Claude,
            &with(permissions),
            &[&base[..], flags, &["< prompt"]].concat(),
        );
    }
}

#[test]
fn codex_is_called_headless() {
    let base = ["codex", "exec", "--json", "--skip-git-repo-check"];
    check(
        Client::Codex,
        &Options::default(),
        &[&base[..], &["--ignore-user-config", "< prompt"]].concat(),
    );
    check(
        Client::Codex,
        &all(),
        &[
            "/opt/my agent",
            "exec",
            "resume",
            "s-1",
            "--json",
            "--skip-git-repo-check",
            "--dangerously-bypass-approvals-and-sandbox",
            "-m",
            "best",
            "--own",
            "it's",
            "< prompt",
        ],
    );
    check(
        Client::Codex,
        &guarded(),
        &[
            &base[..],
            &[
                "--dangerously-bypass-approvals-and-sandbox",
                "--ignore-user-config",
                "-c",
                r#"hooks.PreToolUse=[{hooks=[{type="command",command="'/opt/our ralph' hook --host codex --state '/home/a b/state' pre-tool-use",timeout=30}]}]"#,
                "-c",
                "features.hooks=true",
                "--dangerously-bypass-hook-trust",
                "< prompt",
            ],
        ]
        .concat(),
    );
    for (permissions, mode) in [
        (Permissions::Edit, r#"sandbox_mode="workspace-write""#),
        (Permissions::Plan, r#"sandbox_mode="read-only""#),
    ] {
        check(
            Client::Codex,
            &with(permissions),
            &[&base[..], &["-c", mode, "< prompt"]].concat(),
        );
    }
}

#[test]
fn gemini_is_called_headless() {
    let base = ["gemini", "-o", "stream-json", "--skip-trust"];
    let own = ["-e", "none", "--allowed-mcp-server-names", "none"];
    check(
        Client::Gemini,
        &Options::default(),
        &[&base[..], &own, &["< prompt"]].concat(),
    );
    check(
        Client::Gemini,
        &all(),
        &[
            "/opt/my agent", "-o", "stream-json", "--skip-trust", "-r", "s-1", "--approval-mode",
            "yolo", "-m", "best", "--own", "it's", "< prompt",
        ],
    );
    check(
        Client::Gemini,
        &guarded(),
        &[
            &base[..],
            &["--approval-mode", "yolo"],
            &own,
            &[
                "GEMINI_CLI_HOME=/run/a b/gemini",
                r#"/run/a b/gemini/.gemini/settings.json: {"security":{"auth":{"selectedType":"gemini-api-key"}},"hooks":{"BeforeTool":[{"matcher":"*","hooks":[{"type":"command","name":"ralph","command":"'/opt/our ralph' hook --host gemini --state '/home/a b/state' pre-tool-use","timeout":30000}]}]}}"#,
                "< prompt",
            ],
        ]
        .concat(),
    );
    // Its login would be left behind in the old home.
    assert!(Client::Gemini.hooks_usable(|name| name == "GEMINI_API_KEY"));
    assert!(!Client::Gemini.hooks_usable(|_| false));
    assert!(Client::Claude.hooks_usable(|_| false));
    assert!(!Client::Amp.hooks_usable(|_| true));
}

#[test]
fn copilot_is_called_headless() {
    let base = ["copilot", "--output-format", "json", "--no-ask-user"];
    check(
        Client::Copilot,
        &Options::default(),
        &[&base[..], &["--disable-builtin-mcps", "< prompt"]].concat(),
    );
    check(
        Client::Copilot,
        &all(),
        &[
            "/opt/my agent", "--output-format", "json", "--no-ask-user", "--resume=s-1",
            "--allow-all", "--model", "best", "--own", "it's", "< prompt",
        ],
    );
    check(
        Client::Copilot,
        &guarded(),
        &[
            &base[..],
            &[
                "--allow-all",
                "--disable-builtin-mcps",
                "--plugin-dir",
                "/run/a b/copilot-plugin",
                r#"/run/a b/copilot-plugin/plugin.json: {"name":"ralph","version":"1.0.0","hooks":"hooks.json"}"#,
                r#"/run/a b/copilot-plugin/hooks.json: {"version":1,"hooks":{"PreToolUse":[{"type":"command","bash":"'/opt/our ralph' hook --host copilot --state '/home/a b/state' pre-tool-use","timeoutSec":30}]}}"#,
                "< prompt",
            ],
        ]
        .concat(),
    );
}

#[test]
fn opencode_cursor_and_amp_are_called_headless() {
    check(
        Client::OpenCode,
        &Options::default(),
        &[
            "opencode",
            "run",
            "--format",
            "json",
            "OPENCODE_DISABLE_DEFAULT_PLUGINS=1",
            "< prompt",
        ],
    );
    check(
        Client::OpenCode,
        &all(),
        &[
            "/opt/my agent", "run", "--format", "json", "-s", "s-1", "--auto", "-m", "best",
            "--own", "it's", "< prompt",
        ],
    );
    check(
        Client::Cursor,
        &all(),
        &[
            "/opt/my agent", "-p", "--output-format", "stream-json", "--resume", "s-1", "--force",
            "--trust", "--model", "best", "--own", "it's", "do it",
        ],
    );
    check(
        Client::Amp,
        &Options::default(),
        &["amp", "--stream-json", "-x", "do it"],
    );
    check(
        Client::Amp,
        &all(),
        &[
            "/opt/my agent",
            "threads",
            "continue",
            "s-1",
            "--stream-json",
            "--model",
            "best",
            "--settings-file",
            "/run/a b/amp-settings.json",
            "--own",
            "it's",
            "-x",
            "do it",
            r#"/run/a b/amp-settings.json: {"amp.dangerouslyAllowAll":true}"#,
        ],
    );
}

#[test]
fn a_command_is_shown_as_a_person_would_write_it() {
    let line = |agent: &Agent| agent.command_line();
    let options = Options {
        program: "/opt/my claude".into(),
        args: vec!["it's".into()],
        user_config: true,
        ..Options::default()
    };
    assert_eq!(
        line(&Agent::known(Client::Claude, options)),
        r"'/opt/my claude' -p --output-format stream-json --verbose 'it'\''s' < {prompt_file}"
    );
    assert_eq!(
        line(&Agent::known(Client::Amp, Options::default())),
        "amp --stream-json -x {prompt}"
    );
    let custom = Agent::custom("prog --file={prompt_file} 'two words'").unwrap();
    assert_eq!(line(&custom), "prog --file={prompt_file} 'two words'");
    assert_eq!(shown(&custom), "prog\n--file=/run/a b/prompt.md\ntwo words");
    assert_eq!(
        line(&Agent::custom("prog -").unwrap()),
        "prog - < {prompt_file}"
    );
    let scripted = Agent::Scripted {
        program: PathBuf::from("/bin/ralph"),
    };
    assert_eq!(line(&scripted), "/bin/ralph __agent < {prompt_file}");
    assert_eq!(scripted.name(), "scripted");
}

#[test]
fn every_known_client_has_a_name() {
    for &client in Client::ALL {
        assert_eq!(Client::from_name(client.into_str()), Some(client));
    }
    assert_eq!(Client::from_name("scripted"), None);
    assert_eq!(
        Client::names().join(" "),
        "claude codex gemini opencode copilot cursor amp custom"
    );
}

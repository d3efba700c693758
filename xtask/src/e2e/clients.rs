//! The real clients: where they come from, how they are pointed at loopback,
//! and what their tools are called.

use std::fs;
use std::io;
use std::path::Path;

use ralph_testkit::{Call, Refusal, limits};
use serde_json::{Value, json};

/// Variables that are set for a client.
pub type Env = Vec<(&'static str, String)>;

/// A client in the version that the scenarios are known to hold for.
#[derive(Debug)]
pub struct Client {
    pub name: &'static str,
    pub package: &'static str,
    pub version: &'static str,
    /// Below `node_modules`.
    pub program: &'static str,
    /// Our hook can be handed over for one run; without it, the person has to
    /// say that no permission questions are wanted.
    pub has_hooks: bool,
    pub tells_tokens: bool,
    pub write_tool: &'static str,
    pub shell_tool: &'static str,
    /// What the service answers when a plan is used up, where there is such a
    /// thing.
    pub limit: Option<Limit>,
    /// Starts a subagent with this task, where the client can.
    pub subagent: Option<fn(&str) -> Call>,
    /// How it is started on its own, with hooks of the project that nobody
    /// was asked about; nothing where its hooks can't hold it.
    pub alone: Option<fn(&str) -> Vec<String>>,
    write: fn(&Path, &str) -> Value,
    shell: fn(&str) -> Value,
    set_up: fn(&Place) -> io::Result<Env>,
}

/// A usage limit.
#[derive(Clone, Copy, Debug)]
pub enum Limit {
    /// It says when it is over, in seconds since 1970.
    Until(fn(u64) -> Refusal),
    /// It is known to last until the day of the service is over.
    OfTheDay(fn() -> Refusal),
}

/// Where a client lives in a scenario.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    pub home: &'a Path,
    pub project: &'a Path,
    /// Shared by the scenarios of one client: some unpack themselves.
    pub cache: &'a Path,
    /// `http://127.0.0.1:PORT`
    pub url: &'a str,
    /// With a subscription instead of a key: only that has usage limits.
    pub subscribed: bool,
}

impl Client {
    pub fn write(&self, path: &Path, content: &str) -> Call {
        call(self.write_tool, (self.write)(path, content))
    }

    pub fn shell(&self, command: &str) -> Call {
        call(self.shell_tool, (self.shell)(command))
    }

    /// Writes its settings and gives its environment.
    pub fn set_up(&self, place: &Place) -> io::Result<Env> {
        (self.set_up)(place)
    }
}

fn call(name: &str, input: Value) -> Call {
    Call {
        name: name.into(),
        input,
    }
}

fn described(command: &str) -> Value {
    json!({"command": command, "description": "Scripted"})
}

pub const CLIENTS: [Client; 5] = [
    Client {
        name: "claude",
        package: "@anthropic-ai/claude-code-linux-x64",
        version: "2.1.326",
        program: "@anthropic-ai/claude-code-linux-x64/claude",
        has_hooks: true,
        tells_tokens: true,
        write_tool: "Write",
        shell_tool: "Bash",
        limit: Some(Limit::Until(limits::anthropic_five_hours)),
        subagent: Some(claude_subagent),
        alone: Some(claude_alone),
        write: |path, content| json!({"file_path": path, "content": content}),
        shell: described,
        set_up: set_up_claude,
    },
    Client {
        name: "codex",
        package: "@openai/codex",
        version: "0.169.0",
        program: ".bin/codex",
        has_hooks: true,
        tells_tokens: true,
        write_tool: "apply_patch",
        shell_tool: "exec_command",
        limit: Some(Limit::Until(limits::openai_plan)),
        subagent: None,
        alone: Some(codex_alone),
        write: codex_patch,
        shell: |command| json!({"cmd": command}),
        set_up: set_up_codex,
    },
    Client {
        name: "gemini",
        package: "@google/gemini-cli",
        version: "0.61.0",
        program: ".bin/gemini",
        has_hooks: true,
        tells_tokens: true,
        write_tool: "write_file",
        shell_tool: "run_shell_command",
        limit: Some(Limit::OfTheDay(limits::gemini_daily_quota)),
        subagent: None,
        alone: Some(gemini_alone),
        write: |path, content| json!({"file_path": path, "content": content}),
        shell: described,
        set_up: set_up_gemini,
    },
    Client {
        name: "opencode",
        package: "opencode-linux-x64",
        version: "1.18.33",
        program: "opencode-linux-x64/bin/opencode",
        has_hooks: false,
        tells_tokens: true,
        write_tool: "write",
        shell_tool: "bash",
        limit: None,
        subagent: None,
        alone: None,
        write: |path, content| json!({"filePath": path, "content": content}),
        shell: described,
        set_up: set_up_opencode,
    },
    Client {
        name: "copilot",
        package: "@github/copilot-linux-x64",
        version: "1.0.102",
        program: "@github/copilot-linux-x64/copilot",
        has_hooks: true,
        tells_tokens: false,
        write_tool: "create",
        shell_tool: "bash",
        limit: None,
        subagent: None,
        alone: Some(copilot_alone),
        write: |path, content| json!({"path": path, "file_text": content}),
        shell: |command| json!({"command": command, "description": "Scripted", "initial_wait": 10, "mode": "sync"}),
        set_up: set_up_copilot,
    },
];

fn set_up_claude(place: &Place) -> io::Result<Env> {
    let config = place.home.join(".claude");
    let mut env = vec![
        ("CLAUDE_CONFIG_DIR", shown(&config)),
        ("ANTHROPIC_BASE_URL", place.url.to_owned()),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".into()),
        ("DISABLE_TELEMETRY", "1".into()),
        ("DISABLE_AUTOUPDATER", "1".into()),
        ("DISABLE_ERROR_REPORTING", "1".into()),
        // Its own retries take minutes; Ralph's are what is looked at here.
        ("CLAUDE_CODE_MAX_RETRIES", "1".into()),
        // It does not skip permissions as root otherwise.
        ("IS_SANDBOX", "1".into()),
    ];
    if place.subscribed {
        let account = json!({"claudeAiOauth": {
            "accessToken": "dummy", "refreshToken": "dummy",
            "expiresAt": 4_000_000_000_000_u64,
            "scopes": ["user:inference", "user:profile"],
            "subscriptionType": "max",
        }});
        write_file(&config.join(".credentials.json"), &account.to_string())?;
    } else {
        env.push(("ANTHROPIC_API_KEY", "dummy".into()));
    }
    Ok(env)
}

fn claude_subagent(task: &str) -> Call {
    let input = json!({
        "description": "Scripted helper",
        "prompt": task,
        "subagent_type": "general-purpose",
        "run_in_background": false,
    });
    call("Agent", input)
}

fn claude_alone(prompt: &str) -> Vec<String> {
    let args = [
        "-p",
        prompt,
        "--output-format",
        "stream-json",
        "--verbose",
        "--dangerously-skip-permissions",
    ];
    args.map(str::to_owned).into()
}

fn codex_alone(prompt: &str) -> Vec<String> {
    let args = [
        "exec",
        "--json",
        "--skip-git-repo-check",
        "--dangerously-bypass-approvals-and-sandbox",
        "--dangerously-bypass-hook-trust",
        prompt,
    ];
    args.map(str::to_owned).into()
}

fn gemini_alone(prompt: &str) -> Vec<String> {
    let args = ["-p", prompt, "-o", "stream-json", "--yolo"];
    args.map(str::to_owned).into()
}

fn copilot_alone(prompt: &str) -> Vec<String> {
    let args = ["-p", prompt, "--allow-all", "--output-format", "json"];
    args.map(str::to_owned).into()
}

fn codex_patch(path: &Path, content: &str) -> Value {
    let lines: String = content.lines().map(|line| format!("+{line}\n")).collect();
    let path = path.display();
    format!("*** Begin Patch\n*** Add File: {path}\n{lines}*** End Patch\n").into()
}

fn set_up_codex(place: &Place) -> io::Result<Env> {
    let home = place.home.join(".codex");
    let (url, project) = (place.url, place.project.display());
    let config = format!(
        r#"# A model that it knows: others are not offered apply_patch.
model = "gpt-5.5"
model_provider = "scripted"
check_for_update_on_startup = false

[model_providers.scripted]
name = "scripted"
base_url = "{url}/v1"
env_key = "SCRIPTED_KEY"
wire_api = "responses"
request_max_retries = 1
stream_max_retries = 1

[projects."{project}"]
trust_level = "trusted"
"#
    );
    write_file(&home.join("config.toml"), &config)?;
    Ok(vec![
        ("CODEX_HOME", shown(&home)),
        // The provider on loopback stands in its configuration.
        ("RALPH_AGENT_USER_CONFIG", "true".into()),
        ("SCRIPTED_KEY", "dummy".into()),
    ])
}

fn set_up_gemini(place: &Place) -> io::Result<Env> {
    let settings = json!({
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
        "privacy": {"usageStatisticsEnabled": false},
        "telemetry": {"enabled": false},
    });
    write_file(
        &place.home.join(".gemini/settings.json"),
        &settings.to_string(),
    )?;
    Ok(vec![
        ("GEMINI_API_KEY", "dummy".into()),
        ("GEMINI_MODEL", "gemini-2.5-flash".into()),
        ("GOOGLE_GEMINI_BASE_URL", place.url.to_owned()),
        ("GEMINI_CLI_TRUST_WORKSPACE", "true".into()),
    ])
}

fn set_up_opencode(place: &Place) -> io::Result<Env> {
    let config = json!({
        "model": "scripted/scripted",
        "small_model": "scripted/scripted",
        "autoupdate": false,
        "share": "disabled",
        "provider": {"scripted": {
            "npm": "@ai-sdk/openai-compatible",
            "name": "Scripted",
            "options": {"baseURL": format!("{}/v1", place.url), "apiKey": "dummy"},
            "models": {"scripted": {
                "name": "Scripted",
                "tool_call": true,
                "limit": {"context": 128_000, "output": 8_000},
            }},
        }},
    });
    let file = place.home.join(".config/opencode/opencode.json");
    write_file(&file, &config.to_string())?;
    let off = [
        "OPENCODE_DISABLE_MODELS_FETCH",
        "OPENCODE_DISABLE_AUTOUPDATE",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS",
        "OPENCODE_DISABLE_LSP_DOWNLOAD",
    ];
    Ok(off.map(|name| (name, "1".to_owned())).into())
}

fn set_up_copilot(place: &Place) -> io::Result<Env> {
    Ok(vec![
        ("COPILOT_HOME", shown(&place.home.join(".copilot"))),
        ("COPILOT_OFFLINE", "true".into()),
        ("COPILOT_PROVIDER_TYPE", "openai".into()),
        ("COPILOT_PROVIDER_BASE_URL", format!("{}/v1", place.url)),
        ("COPILOT_PROVIDER_API_KEY", "dummy".into()),
        ("COPILOT_MODEL", "gpt-4.1".into()),
        ("COPILOT_AUTO_UPDATE", "false".into()),
        // Hooks of a repository run without a person only where this is said.
        ("GITHUB_COPILOT_PROMPT_MODE_REPO_HOOKS", "true".into()),
        ("XDG_CACHE_HOME", shown(place.cache)),
    ])
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

fn write_file(path: &Path, text: &str) -> io::Result<()> {
    if let Some(dir) = path.parent() {
        fs::create_dir_all(dir)?;
    }
    fs::write(path, text)
}

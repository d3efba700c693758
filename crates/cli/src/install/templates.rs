//! The files that Ralph writes as a whole: slash commands, a configuration to
//! begin with, a plugin.

use ralph_core::lang::{Lang, Say, Text};
use ralph_core::tr;
use ralph_engine::agents::Client;
use serde_json::{Value, json};

use super::hosts::Wanted;
use super::program;

/// A slash command: its name, and its text in every language.
macro_rules! command {
    ($name:literal) => {
        (
            $name,
            Text::new(
                include_str!(concat!("templates/", $name, ".md")),
                include_str!(concat!("templates/zh-TW/", $name, ".md")),
                include_str!(concat!("templates/zh-CN/", $name, ".md")),
            ),
        )
    };
}

/// The slash commands. What is typed behind one reaches our hook as it was
/// typed and never passes a shell.
const COMMANDS: [(&str, Text); 6] = [
    command!("ralph-loop"),
    command!("cancel-ralph"),
    command!("ralph-answer"),
    command!("ralph-status"),
    command!("do"),
    command!("audit"),
];

/// Path below `dir` and text of every slash command.
pub fn slash_commands(dir: &str, lang: Lang) -> Vec<(String, String)> {
    COMMANDS
        .iter()
        .map(|(name, text)| (format!("{dir}/{name}.md"), text.say(lang)))
        .collect()
}

/// The guard for OpenCode.
pub fn opencode_plugin() -> String {
    let own = program::own().map(|path| path.to_string_lossy().into_owned());
    let own = Value::from(own.as_deref().unwrap_or("ralph")).to_string();
    include_str!("templates/opencode.js").replace("{program}", &own)
}

/// A configuration that says what is different from the defaults.
pub fn config(preset: Option<&str>, agent: Client, lang: Lang) -> String {
    let words = tr!(
        lang,
        "# Settings of Ralph Loop. `ralph config reference` lists all of them with\n# their defaults; write only what you want to change.\n"
    );
    let mut text = format!("#:schema ./config.schema.json\n{words}");
    if let Some(preset) = preset {
        text.push_str(&format!("\npreset = \"{preset}\"\n"));
    }
    if agent != Client::Claude {
        text.push_str(&format!("\n[agent]\nname = \"{}\"\n", agent.into_str()));
    }
    text
}

/// Lines that keep Ralph's files out of Git (INST-06).
pub const IGNORED: [&str; 4] = [
    ".ralph/",
    "*.local.md",
    ".claude/settings.local.json",
    ".skillpack/",
];

/// The plugin for Claude Code: path and text of each file.
pub fn claude_plugin(wanted: &Wanted, lang: Lang) -> Vec<(String, String)> {
    let plugin = json!({
        "name": "ralph",
        "version": env!("CARGO_PKG_VERSION"),
        "description": "Works a task list off in a loop, and believes evidence, not words",
        "author": {"name": "Ralph Loop"},
        "license": env!("CARGO_PKG_LICENSE"),
    });
    let mut events = serde_json::Map::new();
    for (event, element) in wanted.elements(Client::Claude) {
        let list = events.entry(event).or_insert_with(|| json!([]));
        if let Some(list) = list.as_array_mut() {
            list.push(element);
        }
    }
    let hooks = json!({
        "description": "The safety guard, the loop and the verify gate of Ralph",
        "hooks": events,
    });
    let pretty = |value: &Value| format!("{value:#}\n");
    let mut files = vec![
        (".claude-plugin/plugin.json".to_owned(), pretty(&plugin)),
        ("hooks/hooks.json".to_owned(), pretty(&hooks)),
    ];
    files.extend(slash_commands("commands", lang));
    files
}

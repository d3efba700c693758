//! What `ralph init` says.

use ralph_core::lang::{Lang, Say};
use ralph_core::tr;
use ralph_engine::agents::Client;

use super::plan::{PLUGIN, Wish};

/// Something that a person should know.
#[derive(Debug, PartialEq, Eq, Say)]
pub enum Note {
    #[say("{path} is there and not ours: it stays as it is (--force puts ours in its place)")]
    Kept { path: String },
    #[say("{path} is the only file in which {name} looks for hooks of a project: whoever shares it shares them; without Ralph they say so and do nothing", name = host.into_str())]
    OnlyShared { path: String, host: Client },
    #[say(
        "{path} has Ralph's hooks already, for the whole team: they stay there (`ralph uninstall` first, to have them for yourself alone)"
    )]
    InShared { path: String },
    #[say(".ralph/config.toml is yours and stays as it is; write {line} into it to use the preset")]
    Preset { line: String },
    #[say(
        ".ralph/config.toml is yours and stays as it is; these lines would ask for the checks:\n{lines}"
    )]
    Checks { lines: String },
    #[say("{path} has comments or trailing commas: {name} passes over the whole file in silence, so that no hook in it runs. Take them out", name = host.into_str())]
    Comments { path: String, host: Client },
    #[say("Git does not ignore {lines}: files that Ralph writes for you alone could be committed; `ralph init --gitignore` adds the lines", lines = lines.join(", "))]
    NotIgnored { lines: Vec<&'static str> },
}

pub fn in_place(lang: Lang) -> String {
    tr!(lang, "everything is in place; nothing to change")
}

pub fn installed(wish: &Wish, lang: Lang) -> String {
    let name = match wish.preset.as_deref() {
        Some("sdd") => "Ralph SDD",
        _ => "Ralph",
    };
    tr!(
        lang,
        "{name} is installed. `ralph uninstall` takes exactly this away again."
    )
}

/// What to type now.
pub fn next_steps(wish: &Wish, lang: Lang) -> String {
    let mut steps = vec![tr!(
        lang,
        "  ralph doctor            prove that the hooks work (--live asks the agent itself)"
    )];
    if wish.plugin {
        steps.push(tr!(lang, "  claude --plugin-dir {PLUGIN}"));
    }
    for host in &wish.hosts {
        steps.extend(step_of(*host, wish, lang));
    }
    steps.push(tr!(
        lang,
        "  ralph run --dry-run     what a loop from outside would do"
    ));
    let next = tr!(lang, "Next:");
    format!("{next}\n{}", steps.join("\n"))
}

fn step_of(host: Client, wish: &Wish, lang: Lang) -> Option<String> {
    let loop_command = match wish.plugin {
        true => "/ralph:ralph-loop",
        false => "/ralph-loop",
    };
    let text = match host {
        Client::Claude => tr!(
            lang,
            "  claude                  then: {loop_command} \"TASK\" --max-iterations 10"
        ),
        Client::Codex => tr!(
            lang,
            "  codex                   then /hooks: look at Ralph's hooks and trust them, until then Codex passes over them in silence; then: ralph-loop \"TASK\""
        ),
        Client::Gemini => tr!(
            lang,
            "  gemini                  and trust this folder when it asks; then: ralph-loop \"TASK\""
        ),
        Client::Copilot => tr!(
            lang,
            "  copilot                 and trust this folder (without a person: --trust-folder); then: ralph-loop \"TASK\""
        ),
        Client::Cursor => tr!(
            lang,
            "  cursor-agent            is guarded; its stop hook can't hold it, so drive loops with: ralph run --agent cursor"
        ),
        Client::OpenCode => tr!(
            lang,
            "  opencode                is guarded; it has no stop hook, so drive loops with: ralph run --agent opencode"
        ),
        Client::Amp => return None,
    };
    Some(text)
}

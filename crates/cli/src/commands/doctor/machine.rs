//! The program itself, the agents, and what else is used.

use std::path::Path;

use ralph_core::tr;
use ralph_engine::agents::{Client, Installed, find_program, installed};

use super::{Finding, Level};
use crate::app::App;
use crate::install::program;

/// The version of Claude Code from which on everything that we use is there.
const CLAUDE_SINCE: [u64; 3] = [2, 1, 143];

pub async fn look(app: &App, findings: &mut Vec<Finding>) -> Vec<Installed> {
    findings.push(own_program(app));
    let clients = installed(&app.root).await;
    for client in clients.iter().filter(|client| client.path.is_some()) {
        findings.push(of_client(app, client));
    }
    if clients.iter().all(|client| client.path.is_none()) {
        let text = tr!(app.lang(), "no agent is on PATH");
        let next = tr!(
            app.lang(),
            "install one: `ralph agents` lists those that Ralph knows"
        );
        findings.push(Finding::new(Level::Warning, "agents", text).next(next));
    }
    for (tool, level) in [
        ("git", Level::Warning),
        ("gh", Level::Note),
        ("tmux", Level::Note),
    ] {
        findings.push(of_tool(app, tool, level));
    }
    clients
}

fn own_program(app: &App) -> Finding {
    let version = env!("CARGO_PKG_VERSION");
    let own = program::own().unwrap_or_default();
    let own = own.display();
    let named = program::for_hooks(&app.root);
    Finding::new(
        Level::Ok,
        "ralph",
        tr!(
            app.lang(),
            "ralph {version} ({own}); hooks call it as {named}"
        ),
    )
}

fn of_client(app: &App, client: &Installed) -> Finding {
    let lang = app.lang();
    let name = client.client.into_str();
    let Some(version) = &client.version else {
        let path = client.path.as_deref().unwrap_or(Path::new(name)).display();
        let text = tr!(lang, "{name}: {path} does not say its version");
        let next = tr!(lang, "start it by hand and see what it says");
        return Finding::new(Level::Warning, "agent", text).next(next);
    };
    let finding = Finding::new(Level::Ok, "agent", format!("{name} {version}"));
    if client.client == Client::Claude && is_older(version, CLAUDE_SINCE) {
        let since = CLAUDE_SINCE.map(|part| part.to_string()).join(".");
        let text = tr!(
            lang,
            "{name} {version} is older than {since}: its hooks tell less, and nothing bounds a loop of blocks"
        );
        let next = tr!(lang, "update it");
        return Finding::new(Level::Warning, "agent", text).next(next);
    }
    finding
}

fn is_older(version: &str, than: [u64; 3]) -> bool {
    let mut parts = version.split('.').map(|part| {
        let digits: String = part.chars().take_while(char::is_ascii_digit).collect();
        digits.parse::<u64>().unwrap_or(0)
    });
    let version = [(); 3].map(|()| parts.next().unwrap_or(0));
    version < than
}

fn of_tool(app: &App, tool: &'static str, missing: Level) -> Finding {
    let lang = app.lang();
    match find_program(tool.as_ref(), &app.root) {
        Some(path) => Finding::new(Level::Ok, tool, format!("{tool} ({})", path.display())),
        None => {
            let text = tr!(lang, "{tool} is not on PATH");
            let next = match tool {
                "git" => tr!(
                    lang,
                    "install it: without Git there is less evidence of progress"
                ),
                "gh" => tr!(lang, "needed only for pull requests and CI"),
                _ => tr!(lang, "needed only to leave a run in a terminal of its own"),
            };
            Finding::new(missing, tool, text).next(next)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_older;

    #[test]
    fn versions_are_compared_by_number() {
        for (version, want) in [
            ("2.1.142", true),
            ("2.1.143", false),
            ("2.1.1000", false),
            ("2.0.999", true),
            ("3.0", false),
            ("2.1.150-beta", false),
            ("", true),
        ] {
            assert_eq!(is_older(version, [2, 1, 143]), want, "{version}");
        }
    }
}

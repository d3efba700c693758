//! The help: verbs in groups, each with examples, and topics.

mod examples;
pub mod topics;

use clap::{Command, CommandFactory};

use crate::args::Cli;

/// The verbs, in the order in which a person gets to know them.
const GROUPS: &[(&str, &[&str])] = &[
    (
        "Start here",
        &[
            "demo", "start", "plan", "run", "do", "resume", "tasks", "help",
        ],
    ),
    (
        "Watch",
        &["status", "monitor", "web", "logs", "events", "cost"],
    ),
    (
        "Steer",
        &[
            "pause", "stop", "cancel", "wake", "extend", "hint", "retry", "focus", "answer",
            "accept",
        ],
    ),
    (
        "Look back",
        &[
            "report",
            "show",
            "diff",
            "bisect",
            "undo",
            "redo",
            "restore",
            "snapshots",
            "history",
            "archive",
            "lanes",
        ],
    ),
    ("Prove", &["verify", "prove", "gate", "phase", "drill"]),
    (
        "Set up",
        &[
            "init",
            "doctor",
            "self-check",
            "config",
            "agents",
            "templates",
            "flow",
            "trust",
            "sandbox",
            "mcp",
            "where",
            "uninstall",
            "completions",
        ],
    ),
    #[cfg(feature = "fleet")]
    ("Many machines", &["fleet"]),
    ("Hooks and sessions", &["hook", "loop", "guard"]),
];

/// The command line with all of its help.
pub fn command() -> Command {
    let mut command = Cli::command();
    let template = template(&command);
    for (verb, lines) in examples::EXAMPLES {
        command = command.mut_subcommand(verb, |verb| {
            let heading = heading(&verb, "Examples:");
            verb.after_help(format!("{heading}\n{}", indented(lines)))
        });
    }
    command.help_template(template)
}

/// What clap would print, with its one list of commands in groups.
fn template(command: &Command) -> String {
    let width = GROUPS.iter().flat_map(|(_, verbs)| *verbs);
    let width = width.map(|verb| verb.len()).max().unwrap_or_default();
    let literal = command.get_styles().get_literal();
    let mut text = "{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    for (title, verbs) in GROUPS {
        text.push_str(&format!("\n{}\n", heading(command, &format!("{title}:"))));
        for name in *verbs {
            let found = command.find_subcommand(name);
            let about = found.and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let name = format!("{literal}{name:width$}{literal:#}");
            text.push_str(&format!("  {name}  {about}\n"));
        }
    }
    text + &format!(
        "\n{}\n{{options}}{{after-help}}",
        heading(command, "Options:")
    )
}

fn heading(command: &Command, text: &str) -> String {
    let header = command.get_styles().get_header();
    format!("{header}{text}{header:#}")
}

fn indented(lines: &[&str]) -> String {
    let lines: Vec<String> = lines.iter().map(|line| format!("  {line}")).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use ralph_core::lang::{Lang, Say};

    use super::*;

    fn visible() -> BTreeSet<String> {
        let command = Cli::command();
        let verbs = command.get_subcommands().filter(|verb| !verb.is_hide_set());
        verbs.map(|verb| verb.get_name().to_owned()).collect()
    }

    /// U-11: each verb stands in one group.
    #[test]
    fn every_verb_has_its_group() {
        let grouped: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, verbs)| *verbs)
            .copied()
            .collect();
        let once: BTreeSet<String> = grouped.iter().map(|verb| (*verb).to_owned()).collect();
        assert_eq!(once, visible());
        assert_eq!(once.len(), grouped.len(), "a verb stands in two groups");
    }

    /// U-11: each verb has one or two examples, and they can be typed.
    #[test]
    fn every_verb_has_examples_that_parse() {
        let named: BTreeSet<String> = examples::EXAMPLES
            .iter()
            .map(|(verb, _)| (*verb).to_owned())
            .collect();
        assert_eq!(named, visible());
        for (verb, lines) in examples::EXAMPLES {
            assert!((1..=2).contains(&lines.len()), "{verb}");
            for line in *lines {
                let words = words_of(line);
                assert_eq!(words.get(1).map(String::as_str), Some(*verb), "{line}");
                if let Err(error) = command().try_get_matches_from(&words) {
                    panic!("{line}: {error}");
                }
            }
        }
    }

    /// U-11: what a topic tells to type can be typed, in every language.
    #[test]
    fn the_commands_of_topics_parse() {
        for lang in Lang::ALL {
            for (topic, text) in topics::TOPICS {
                let text = text.say(lang);
                let commands = text.lines().filter_map(|line| {
                    let at = line.find("  ralph ")?;
                    line.get(at + 2..)?.split("  ").next()
                });
                let commands: Vec<&str> = commands.collect();
                assert!(commands.len() > 2, "{topic} in {lang:?}: {text}");
                for line in commands {
                    let line = line.split(", post").next().unwrap_or_default();
                    if let Err(error) = command().try_get_matches_from(words_of(line)) {
                        panic!("{topic} in {lang:?}: {line}: {error}");
                    }
                }
            }
        }
    }

    /// What the manual and the README tell to type can be typed (issue 25);
    /// what they show of it is a matter of the test that runs them.
    #[test]
    fn the_commands_of_the_manual_parse() {
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        let mut pages = vec![root.join("README.md")];
        let book = root.join("docs/book/src");
        for dir in [book.clone(), book.join("zh-TW"), book.join("zh-CN")] {
            let entries = std::fs::read_dir(dir).unwrap().flatten();
            pages.extend(entries.map(|entry| entry.path()));
        }
        pages.retain(|page| page.extension().is_some_and(|end| end == "md"));
        let mut count = 0;
        for page in pages {
            let text = ralph_store::regular::read_to_string(&page).unwrap();
            for line in typed(&text) {
                count += 1;
                if let Err(error) = command().try_get_matches_from(words_of(line)) {
                    let is_meant = !error.use_stderr() || line.starts_with("ralph rnu");
                    assert!(is_meant, "{}: {line}: {error}", page.display());
                }
            }
        }
        assert!(count > 40, "only {count} commands were found");
    }

    /// The lines of blocks for a shell that call this program.
    fn typed(page: &str) -> Vec<&str> {
        let mut lines = Vec::new();
        let mut inside = false;
        for line in page.lines() {
            match line.strip_prefix("```") {
                Some(kind) => inside = !inside && matches!(kind, "sh" | "console"),
                None if inside => {
                    let line = line.strip_prefix("$ ").unwrap_or(line);
                    lines.extend(line.starts_with("ralph ").then_some(line));
                }
                None => {}
            }
        }
        lines
    }

    /// The words of an example, up to what only a shell understands.
    fn words_of(line: &str) -> Vec<String> {
        let line = line.split("  # ").next().unwrap_or_default();
        let mut words = Vec::new();
        let mut rest = line.trim();
        while !rest.is_empty() && !rest.starts_with(['>', '|']) {
            let (word, after) = match rest.chars().next() {
                Some(quote @ ('"' | '\'')) => rest[1..].split_once(quote).unwrap_or((rest, "")),
                _ => rest.split_once(' ').unwrap_or((rest, "")),
            };
            words.push(word.to_owned());
            rest = after.trim_start();
        }
        words
    }
}

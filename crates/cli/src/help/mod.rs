//! The help: verbs in groups, each with examples, and topics.

mod examples;
pub mod topics;
mod words;

use clap::{Command, CommandFactory};
use ralph_core::lang::Lang;

use self::words::Words;
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
            "report", "show", "diff", "bisect", "undo", "redo", "restore", "snapshots", "history",
            "archive", "lanes",
        ],
    ),
    ("Prove", &["verify", "prove", "gate", "phase", "drill"]),
    (
        "Set up",
        &[
            "init", "doctor", "self-check", "config", "agents", "templates", "flow", "trust",
            "sandbox", "mcp", "where", "uninstall", "completions",
        ],
    ),
    #[cfg(feature = "fleet")]
    ("Many machines", &["fleet"]),
    ("Hooks and sessions", &["hook", "loop", "guard"]),
];

/// The command line with all of its help.
pub fn command() -> Command {
    command_in(Lang::En)
}

/// The same in a language, for those who read it.
pub fn command_in(lang: Lang) -> Command {
    let words = Words::of(lang);
    let mut command = Cli::command();
    if lang != Lang::En {
        command = words.translate(command);
    }
    let template = template(&command, &words);
    let examples = format!("{}:", words.say(words::EXAMPLES));
    let with_examples = |verb: Command| {
        let mut all = examples::EXAMPLES.iter();
        let Some((_, lines)) = all.find(|(name, _)| *name == verb.get_name()) else {
            return verb;
        };
        let heading = heading(&verb, &examples);
        verb.after_help(format!("{heading}\n{}", indented(lines)))
    };
    command
        .mut_subcommands(with_examples)
        .help_template(template)
}

/// What clap would print, with its one list of commands in groups.
fn template(command: &Command, words: &Words) -> String {
    let width = GROUPS.iter().flat_map(|(_, verbs)| *verbs);
    let width = width.map(|verb| verb.len()).max().unwrap_or_default();
    let literal = command.get_styles().get_literal();
    let usage = heading(command, &format!("{}:", words.headings.usage));
    let mut text = format!("{{about-with-newline}}\n{usage} {{usage}}\n");
    for (title, verbs) in GROUPS {
        let title = format!("{}:", words.say(title));
        text.push_str(&format!("\n{}\n", heading(command, &title)));
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
        heading(command, &format!("{}:", words.headings.options))
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
    use std::path::{Path, PathBuf};

    use ralph_core::lang::Say;

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

    /// U-07: what any text tells to type exists, in every language: messages,
    /// the help, the comments of the settings, the manual.
    #[test]
    fn every_command_that_a_text_names_exists() {
        let mut texts = Vec::new();
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        for page in files_below(&root.join("crates"), "po") {
            let text = ralph_store::regular::read_to_string(&page).unwrap();
            let text = text.replace("\\n", "\n").replace("\\\"", "\"");
            texts.push((page.display().to_string(), text));
        }
        let settings = root.join("crates/core/src/config/default.toml");
        let settings = ralph_store::regular::read_to_string(&settings).unwrap();
        texts.push(("default.toml".to_owned(), settings));
        helps(&mut command(), "ralph", &mut texts);
        let (mut count, mut wrong) = (0, BTreeSet::new());
        for (place, text) in texts.iter().chain(&manual()) {
            for named in text.split('`').skip(1).step_by(2) {
                if let Some(problem) = named.starts_with("ralph ").then(|| problem_of(named)) {
                    count += 1;
                    wrong.extend(problem.map(|problem| format!("{place}: `{named}`: {problem}")));
                }
            }
        }
        for (place, text) in &texts {
            for verb in bare_verbs(text) {
                if command().find_subcommand(&verb).is_none() && !is_elsewhere(&verb) {
                    wrong.insert(format!("{place}: ralph {verb}"));
                }
            }
        }
        assert!(count > 300, "only {count} commands were found");
        let wrong: Vec<String> = wrong.into_iter().collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    /// The manual and its pages of reference. What the guard blocks need not
    /// exist, and `a|b` is a notation.
    fn manual() -> Vec<(String, String)> {
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        let mut pages = files_below(&root.join("docs"), "md");
        pages.push(root.join("README.md"));
        pages.retain(|page| !page.ends_with("docs/guard.md"));
        let texts = pages.into_iter().map(|page| {
            let text = ralph_store::regular::read_to_string(&page).unwrap();
            let spans = text.split('`').enumerate().map(|(at, span)| {
                let is_notation = at % 2 == 1 && span.contains('|');
                if is_notation { "" } else { span }
            });
            let text = spans.collect::<Vec<_>>().join("`");
            (page.display().to_string(), text)
        });
        texts.collect()
    }

    fn files_below(dir: &Path, ending: &str) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for entry in std::fs::read_dir(dir).unwrap().flatten() {
            let path = entry.path();
            match path.is_dir() {
                true => found.extend(files_below(&path, ending)),
                false => found.extend(
                    path.extension()
                        .is_some_and(|e| e == ending)
                        .then_some(path),
                ),
            }
        }
        found
    }

    fn helps(verb: &mut Command, name: &str, texts: &mut Vec<(String, String)>) {
        texts.push((
            format!("{name} --help"),
            verb.render_long_help().to_string(),
        ));
        for below in verb.get_subcommands_mut() {
            let name = format!("{name} {}", below.get_name());
            helps(below, &name, texts);
        }
    }

    /// The fleet is spoken of in builds that do not have it.
    fn is_elsewhere(verb: &str) -> bool {
        cfg!(not(feature = "fleet")) && verb == "fleet"
    }

    /// What is wrong with a command of a text, whose gaps and capitals stand
    /// for what a person fills in: its verb and its flags have to exist.
    fn problem_of(named: &str) -> Option<String> {
        use clap::error::{ContextKind, ErrorKind};
        let mut filled = String::new();
        for (number, part) in named.split('{').enumerate() {
            let (name, rest) = part.split_once('}').unwrap_or(("", part));
            let word = match name {
                "verb" => "skip",
                _ if filled.ends_with([' ', '.']) => "1",
                _ => "",
            };
            filled.push_str(if number == 0 { "" } else { word });
            filled.push_str(rest);
        }
        let mut words = words_of(&filled.replace(['[', ']'], ""));
        words.retain(|word| word != "…");
        let is_gap = |word: &String| word.chars().all(char::is_uppercase);
        let has_gaps = filled != named || words.iter().any(is_gap);
        let words = words.iter().map(|word| match is_gap(word) {
            true => "1",
            false => word,
        });
        let words: Vec<&str> = words.collect();
        if words
            .iter()
            .any(|word| is_elsewhere(word.trim_start_matches('-')))
        {
            return None;
        }
        let error = command().try_get_matches_from(&words).err()?;
        let is_only_a_name = matches!(
            error.kind(),
            ErrorKind::DisplayHelp
                | ErrorKind::DisplayVersion
                | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
                | ErrorKind::MissingRequiredArgument
                | ErrorKind::MissingSubcommand
        );
        // A flag that is named without its value exists, too.
        let value = error.get(ContextKind::InvalidValue);
        let is_left_out = value.is_some_and(|value| value.to_string().is_empty());
        let is_filled_in = match error.kind() {
            ErrorKind::InvalidValue => has_gaps || is_left_out,
            ErrorKind::ValueValidation => has_gaps,
            _ => false,
        };
        (!is_only_a_name && !is_filled_in).then(|| error.kind().to_string())
    }

    /// The verbs behind the name of the program, in or out of code; its name
    /// is written with a capital in sentences, up to these.
    fn bare_verbs(text: &str) -> BTreeSet<String> {
        let mut verbs = BTreeSet::new();
        for (at, _) in text.match_indices("ralph ") {
            let before = text[..at].chars().next_back();
            if before.is_some_and(|c| c.is_ascii_alphanumeric() || "-_./".contains(c)) {
                continue;
            }
            let rest = &text[at + "ralph ".len()..];
            let end = rest.find(|c: char| !c.is_ascii_lowercase() && c != '-');
            let verb = &rest[..end.unwrap_or(rest.len())];
            let is_sentence = ["and", "in", "reads", "that", "understands"].contains(&verb);
            if !verb.is_empty() && !verb.starts_with('-') && !is_sentence {
                verbs.insert(verb.to_owned());
            }
        }
        verbs
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

//! The help in other languages: the code says it in English, a table for each
//! other one has its words.

use std::collections::BTreeMap;

use clap::{Arg, ArgAction, Command};
use ralph_core::lang::Lang;

/// What clap itself writes.
const PRINT_HELP: &str = "Print help";
const PRINT_VERSION: &str = "Print version";
/// Stands above the examples of a verb.
pub const EXAMPLES: &str = "Examples";

/// English words, and what they are in another language.
#[derive(Debug)]
pub struct Words {
    table: BTreeMap<String, String>,
    pub headings: Headings,
}

#[derive(Clone, Copy, Debug)]
pub struct Headings {
    pub usage: &'static str,
    pub arguments: &'static str,
    pub options: &'static str,
    pub commands: &'static str,
    pub default: &'static str,
    pub values: &'static str,
}

const fn headings(words: [&'static str; 6]) -> Headings {
    let [usage, arguments, options, commands, default, values] = words;
    Headings {
        usage,
        arguments,
        options,
        commands,
        default,
        values,
    }
}

impl Words {
    pub fn of(lang: Lang) -> Words {
        let (table, headings) = match lang {
            Lang::En => (
                "{}",
                headings([
                    "Usage", "Arguments", "Options", "Commands", "default", "possible values",
                ]),
            ),
            Lang::ZhTw => (
                include_str!("zh-TW.json"),
                headings(["用法", "引數", "選項", "命令", "預設", "可用的值"]),
            ),
            Lang::ZhCn => (
                include_str!("zh-CN.json"),
                headings(["用法", "参数", "选项", "命令", "默认", "可用的值"]),
            ),
        };
        Words {
            table: serde_json::from_str(table).unwrap_or_default(),
            headings,
        }
    }

    pub fn say(&self, english: &str) -> String {
        self.table
            .get(english)
            .map_or(english, String::as_str)
            .to_owned()
    }

    /// A command and all below it.
    pub fn translate(&self, mut command: Command) -> Command {
        let Headings {
            usage, commands, ..
        } = self.headings;
        let mut place = 0;
        let about = command.get_about().map(ToString::to_string);
        let long = command.get_long_about().map(ToString::to_string);
        let version = Arg::new("version").short('V').long("version");
        let version = version.action(ArgAction::Version).help(PRINT_VERSION);
        command = command.disable_version_flag(true);
        command = command
            .disable_help_flag(true)
            .arg(
                Arg::new("help")
                    .short('h')
                    .long("help")
                    .action(ArgAction::Help)
                    .help(PRINT_HELP),
            )
            .arg(version)
            .subcommand_help_heading(commands)
            .help_template(format!(
                "{{before-help}}{{about-with-newline}}\n{usage}: {{usage}}\n\n{{all-args}}{{after-help}}"
            ))
            .mut_args(|arg| {
                place += 1;
                self.translate_arg(arg).display_order(place)
            })
            .mut_subcommands(|verb| self.translate(verb));
        if let Some(about) = about {
            command = command.about(self.say(&about));
        }
        if let Some(long) = long {
            command = command.long_about(self.say(&long));
        }
        if let Some(after) = command.get_after_help().map(ToString::to_string) {
            command = command.after_help(self.say(&after));
        }
        command
    }

    /// An argument with its values, which clap would name in English.
    fn translate_arg(&self, arg: Arg) -> Arg {
        let headings = &self.headings;
        let heading = match arg.is_positional() {
            true => headings.arguments,
            false => headings.options,
        };
        let help = arg.get_help().map(ToString::to_string);
        let mut help = vec![self.say(&help.unwrap_or_default())];
        let takes_values = arg.get_action().takes_values();
        if takes_values && !arg.is_hide_default_value_set() {
            let values = arg.get_default_values().iter();
            let values: Vec<_> = values.map(|value| value.to_string_lossy()).collect();
            if !values.is_empty() {
                help.push(format!("[{}: {}]", headings.default, values.join(", ")));
            }
        }
        if takes_values && !arg.is_hide_possible_values_set() {
            let values = arg.get_possible_values();
            let values = values.iter().filter(|value| !value.is_hide_set());
            let values: Vec<&str> = values.map(clap::builder::PossibleValue::get_name).collect();
            if !values.is_empty() {
                help.push(format!("[{}: {}]", headings.values, values.join(", ")));
            }
        }
        help.retain(|part| !part.is_empty());
        let long = arg.get_long_help().map(ToString::to_string);
        let mut arg = arg.help(help.join(" ")).help_heading(heading);
        if takes_values {
            arg = arg.hide_default_value(true).hide_possible_values(true);
        }
        if let Some(long) = long {
            arg = arg.long_help(self.say(&long));
        }
        arg
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::CommandFactory as _;

    use super::*;
    use crate::args::Cli;
    use crate::help;

    #[test]
    fn the_help_in_another_language_is_a_command_line_that_holds() {
        for lang in Lang::ALL {
            help::command_in(lang).debug_assert();
        }
    }

    fn texts(command: &Command, found: &mut BTreeSet<String>) {
        let mut take = |text: Option<&clap::builder::StyledStr>| {
            found.extend(text.map(ToString::to_string));
        };
        take(command.get_about());
        take(command.get_long_about());
        take(command.get_after_help());
        for arg in command.get_arguments() {
            take(arg.get_help());
            take(arg.get_long_help());
        }
        for verb in command.get_subcommands().filter(|verb| !verb.is_hide_set()) {
            texts(verb, found);
        }
    }

    /// DISP-06: whoever adds a verb or an option says it in every language;
    /// `RALPH_GOLDEN=write` puts what is missing into the tables.
    #[test]
    fn every_text_of_the_help_is_there_in_every_language() {
        let mut all: BTreeSet<String> = [PRINT_HELP, PRINT_VERSION, EXAMPLES]
            .map(str::to_owned)
            .into();
        all.extend(help::GROUPS.iter().map(|(title, _)| (*title).to_owned()));
        texts(&Cli::command(), &mut all);
        for (lang, name) in [(Lang::ZhTw, "zh-TW"), (Lang::ZhCn, "zh-CN")] {
            let known = Words::of(lang).table;
            let told = |text: &&String| known.get(*text).is_none_or(String::is_empty);
            let untold: BTreeSet<&String> = all.iter().filter(told).collect();
            if std::env::var_os("RALPH_GOLDEN").is_some_and(|mode| mode == "write") {
                let mut table = known.clone();
                table.extend(untold.into_iter().map(|text| (text.clone(), String::new())));
                let file = format!("{}/src/help/{name}.json", env!("CARGO_MANIFEST_DIR"));
                let text = serde_json::to_string_pretty(&table).unwrap() + "\n";
                std::fs::write(file, text).unwrap();
                continue;
            }
            assert!(untold.is_empty(), "{name}: {untold:#?}");
            let unsaid: Vec<&String> = known.keys().filter(|text| !all.contains(*text)).collect();
            // What belongs to the fleet is said only where that is built in.
            let is_all = cfg!(feature = "fleet");
            assert!(unsaid.is_empty() || !is_all, "{name}: {unsaid:#?}");
        }
    }
}

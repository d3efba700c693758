//! What is wrong with what was typed, in the language of the person.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use ralph_core::config::nearest;
use ralph_core::display::{Screen, Style};
use ralph_core::lang::Lang;
use ralph_core::tr;

use crate::app;

/// One message with the next step; `None` where the parser has an answer
/// rather than an error, such as the help.
pub fn message(error: &clap::Error, args: &[OsString]) -> Option<String> {
    let lang = lang_of(args);
    let what = problem(error, lang)?;
    let help = help_command(args);
    let text = tr!(lang, "{what}; see `{help}`");
    let screen = Screen {
        style: Style {
            unicode: app::locale_is_utf8(),
            color: false,
        },
        ..Screen::default()
    };
    Some(screen.in_style(&text).into_owned())
}

fn problem(error: &clap::Error, lang: Lang) -> Option<String> {
    let get = |kind| words(error.get(kind));
    let arg = get(ContextKind::InvalidArg);
    let value = get(ContextKind::InvalidValue);
    let text = match error.kind() {
        ErrorKind::InvalidValue if value.is_empty() => tr!(lang, "{arg} needs a value"),
        ErrorKind::InvalidValue => {
            let valid = get(ContextKind::ValidValue);
            let guess = guess(&get(ContextKind::SuggestedValue), lang);
            tr!(
                lang,
                "{arg} can't be \"{value}\"{guess}; use one of: {valid}"
            )
        }
        ErrorKind::ValueValidation if arg.ends_with("<N>") && value.trim() == "0" => tr!(
            lang,
            "{arg} can't be \"{value}\": write a whole number, 1 or more"
        ),
        ErrorKind::ValueValidation if arg.ends_with("<N>") => tr!(
            lang,
            "{arg} can't be \"{value}\": write a whole number, 0 or more"
        ),
        ErrorKind::UnknownArgument if !arg.starts_with('-') => tr!(
            lang,
            "\"{arg}\" is one word too many; write a text of several words in quotes"
        ),
        ErrorKind::UnknownArgument => {
            let guess = guess(&get(ContextKind::SuggestedArg), lang);
            tr!(lang, "{arg} is not known here{guess}")
        }
        ErrorKind::InvalidSubcommand => {
            let name = get(ContextKind::InvalidSubcommand);
            let near = nearest_verb(&name);
            let near = near.unwrap_or_else(|| get(ContextKind::SuggestedSubcommand));
            let guess = guess(&near, lang);
            tr!(lang, "there is no command \"{name}\"{guess}")
        }
        ErrorKind::ArgumentConflict => {
            let other = get(ContextKind::PriorArg);
            match arg == other {
                true => tr!(lang, "{arg} is given twice; leave one of them out"),
                false => tr!(
                    lang,
                    "{arg} and {other} can't be used together; leave one of them out"
                ),
            }
        }
        ErrorKind::MissingRequiredArgument => {
            tr!(lang, "{arg} is missing")
        }
        ErrorKind::DisplayHelp
        | ErrorKind::DisplayVersion
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => return None,
        _ => {
            let detail = error.to_string();
            let detail = detail.lines().next().unwrap_or_default();
            let detail = detail.trim_start_matches("error: ");
            tr!(lang, "{detail}")
        }
    };
    Some(text)
}

/// The verb of which this is a slip; clap sees other words alike, and none in
/// `rnu`.
fn nearest_verb(name: &str) -> Option<String> {
    let command = crate::command();
    let verbs = command.get_subcommands().filter(|verb| !verb.is_hide_set());
    nearest(name, verbs.map(clap::Command::get_name)).map(str::to_owned)
}

fn words(value: Option<&ContextValue>) -> String {
    match value {
        Some(ContextValue::String(text)) => text.clone(),
        Some(ContextValue::Strings(texts)) => texts.join(", "),
        _ => String::new(),
    }
}

fn guess(name: &str, lang: Lang) -> String {
    if name.is_empty() {
        return String::new();
    }
    tr!(lang, " (did you mean {name}?)")
}

/// `ralph run --help` where the command is known, else `ralph --help`.
fn help_command(args: &[OsString]) -> String {
    let command = crate::command();
    let named = args.iter().skip(1).find_map(|arg| {
        let found = command.find_subcommand(arg)?;
        (!found.is_hide_set()).then(|| found.get_name().to_owned())
    });
    match named {
        Some(name) => format!("ralph {name} --help"),
        None => "ralph --help".into(),
    }
}

/// What `--lang` says, although the rest could not be understood.
pub fn lang_of(args: &[OsString]) -> Lang {
    let mut words = args.iter().filter_map(|arg| arg.to_str());
    let mut chosen = None;
    while let Some(word) = words.next() {
        let name = match word.strip_prefix("--lang") {
            Some("") => words.next(),
            Some(rest) => rest.strip_prefix('='),
            None => None,
        };
        chosen = name.and_then(Lang::from_name).or(chosen);
    }
    chosen.unwrap_or_else(app::environment_lang)
}

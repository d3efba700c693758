//! What is wrong with what was typed, in the language of the person.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
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
    let text = tr!(
        lang,
        "{what}; see `{help}`",
        "{what}；請見 `{help}`",
        "{what}；请见 `{help}`",
    );
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
        ErrorKind::InvalidValue if value.is_empty() => tr!(
            lang,
            "{arg} needs a value",
            "{arg} 需要一個值",
            "{arg} 需要一个值",
        ),
        ErrorKind::InvalidValue => {
            let valid = get(ContextKind::ValidValue);
            let guess = guess(&get(ContextKind::SuggestedValue), lang);
            tr!(
                lang,
                "{arg} can't be \"{value}\"{guess}; use one of: {valid}",
                "{arg} 不能是「{value}」{guess}；請使用下列之一：{valid}",
                "{arg} 不能是“{value}”{guess}；请使用以下之一：{valid}",
            )
        }
        ErrorKind::ValueValidation if arg.ends_with("<N>") => tr!(
            lang,
            "{arg} can't be \"{value}\": write a whole number, 0 or more",
            "{arg} 不能是「{value}」：請寫整數，至少 0",
            "{arg} 不能是“{value}”：请写整数，至少 0",
        ),
        ErrorKind::UnknownArgument if !arg.starts_with('-') => tr!(
            lang,
            "\"{arg}\" is one word too many; write a text of several words in quotes",
            "多了一個詞「{arg}」；含空格的文字請加引號",
            "多了一个词“{arg}”；含空格的文本请加引号",
        ),
        ErrorKind::UnknownArgument => {
            let guess = guess(&get(ContextKind::SuggestedArg), lang);
            tr!(
                lang,
                "{arg} is not known here{guess}",
                "這裡不認識 {arg}{guess}",
                "这里不认识 {arg}{guess}",
            )
        }
        ErrorKind::InvalidSubcommand => {
            let name = get(ContextKind::InvalidSubcommand);
            let guess = guess(&get(ContextKind::SuggestedSubcommand), lang);
            tr!(
                lang,
                "there is no command \"{name}\"{guess}",
                "沒有「{name}」這個命令{guess}",
                "没有“{name}”这个命令{guess}",
            )
        }
        ErrorKind::ArgumentConflict => {
            let other = get(ContextKind::PriorArg);
            tr!(
                lang,
                "{arg} and {other} can't be used together; leave one of them out",
                "{arg} 與 {other} 不能同時使用；請省略其中之一",
                "{arg} 与 {other} 不能同时使用；请省略其中之一",
            )
        }
        ErrorKind::MissingRequiredArgument => {
            tr!(lang, "{arg} is missing", "缺少 {arg}", "缺少 {arg}")
        }
        ErrorKind::DisplayHelp
        | ErrorKind::DisplayVersion
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => return None,
        _ => {
            let detail = error.to_string();
            let detail = detail.lines().next().unwrap_or_default();
            let detail = detail.trim_start_matches("error: ");
            tr!(lang, "{detail}", "{detail}", "{detail}")
        }
    };
    Some(text)
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
    tr!(
        lang,
        " (did you mean {name}?)",
        "（是不是 {name}？）",
        "（是不是 {name}？）",
    )
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
fn lang_of(args: &[OsString]) -> Lang {
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

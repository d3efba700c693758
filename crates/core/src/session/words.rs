//! What a person says to the loop of a session: slash commands, and words
//! that count only as a whole prompt (INTR-01, INTR-03, RESM-01).

use super::task::Way;
use crate::lang::Say;

/// What a prompt means to the loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// `/ralph-loop …`, with everything behind it.
    Start(String),
    /// `/do …`, with everything behind it.
    Do(String),
    Cancel,
    Status,
    /// `/ralph-answer …`: a person answers a question of the agent.
    Answer(String),
    Pause,
    Continue,
    /// `/do --resume`: a person chooses what becomes of a loop that rests.
    Resume,
}

/// What `/ralph-loop` was called with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Start {
    pub task: Option<String>,
    pub max_iterations: Option<u32>,
    pub completion_promise: Option<String>,
    pub openspec: Option<String>,
    pub tasks: Option<String>,
    pub preset: Option<String>,
    pub verify: Vec<String>,
    /// Where the task goes through the phases of a route.
    pub way: Option<Way>,
    pub pull: PullWish,
}

/// What may be done with a pull request (presets dev-p0 and dev-p1).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PullWish {
    pub create: bool,
    pub draft: bool,
    pub number: Option<u32>,
    /// How to merge it.
    pub merge: Option<String>,
}

/// Why a `/ralph-loop` can't be understood.
#[derive(Clone, Debug, PartialEq, Eq, Say)]
pub enum StartError {
    #[say("{flag} needs a value: /ralph-loop \"task\" {flag} VALUE")]
    Missing { flag: String },
    #[say("{flag} needs a whole number such as 20, not \"{value}\"")]
    NotANumber { flag: String, value: String },
    #[say(
        "/ralph-loop does not know {flag}; it knows --max-iterations N, --completion-promise TEXT, --openspec ID, --tasks FILE, --preset NAME, --verify COMMAND, --create-pr, --draft, --pr N and --merge METHOD"
    )]
    UnknownFlag { flag: String },
    #[say(
        "there is no route \"{value}\"; routes are auto, direct, planned, ralph, architect and ui_flow"
    )]
    UnknownRoute { value: String },
    /// A route is for one task, and a list was named too.
    #[say("a route is for one task: say either --route or a task list (--tasks, --openspec)")]
    RouteAndTasks,
}

const PAUSE: [&str; 7] = ["暫停", "暂停", "停", "中斷", "中断", "pause", "stop"];
const CONTINUE: [&str; 5] = ["繼續", "继续", "持續執行", "持续执行", "continue"];

/// Understands a prompt; `None` where it is not meant for the loop. A client
/// may hand over the command as it was typed, or what it made of it.
pub fn read(prompt: &str) -> Option<Said> {
    let prompt = prompt.trim();
    if let Some((name, rest)) = expanded(prompt).or_else(|| typed(prompt)) {
        return command(&name, rest);
    }
    if is_word(prompt, &PAUSE) {
        return Some(Said::Pause);
    }
    is_word(prompt, &CONTINUE).then_some(Said::Continue)
}

fn command(name: &str, rest: &str) -> Option<Said> {
    let rest = rest.trim();
    match name {
        "ralph-loop" if rest.is_empty() => Some(Said::Continue),
        "ralph-loop" => Some(Said::Start(rest.to_owned())),
        "ralph-answer" => Some(Said::Answer(rest.to_owned())),
        "cancel-ralph" => Some(Said::Cancel),
        "ralph-status" => Some(Said::Status),
        "do" | "ralph-do" if rest == "--resume" => Some(Said::Resume),
        "do" | "ralph-do" => Some(Said::Do(rest.to_owned())),
        _ => None,
    }
}

/// `/ralph-loop …`, `/plugin:ralph-loop …`, or without the slash where a
/// client has no commands of its own.
fn typed(prompt: &str) -> Option<(String, &str)> {
    let end = prompt.find(char::is_whitespace).unwrap_or(prompt.len());
    let (word, rest) = prompt.split_at(end);
    let name = match word.strip_prefix('/') {
        Some(name) => name.rsplit(':').next().unwrap_or(name),
        // A bare `do` is a word of the language.
        None => Some(word).filter(|word| word.contains("ralph"))?,
    };
    Some((name.to_owned(), rest))
}

/// The same, as a client or our own command file wraps it.
fn expanded(prompt: &str) -> Option<(String, &str)> {
    let between = |open: &str, close: &str| {
        let (_, rest) = prompt.split_once(open)?;
        Some(rest.split_once(close)?.0)
    };
    let name = between("<command-name>", "</command-name>")?.trim();
    let name = name.trim_start_matches('/');
    let name = name.rsplit(':').next().unwrap_or(name);
    let rest = between("<command-args>", "</command-args>").unwrap_or_default();
    Some((name.to_owned(), rest))
}

/// `停` occurs inside many words, so that only the whole prompt counts, or
/// what stands before a punctuation mark (INTR-01).
fn is_word(prompt: &str, words: &[&str]) -> bool {
    let lower = prompt.to_lowercase();
    words.iter().any(|word| {
        lower.strip_prefix(word).is_some_and(|rest| {
            rest.chars()
                .next()
                .is_none_or(|c| c.is_ascii_punctuation() && c != '-' && c != '_' || is_wide_mark(c))
        })
    })
}

fn is_wide_mark(c: char) -> bool {
    matches!(
        c,
        '，' | '。' | '！' | '？' | '、' | '；' | '：' | '…' | '～' | '」' | '”'
    )
}

impl Start {
    /// Reads what stands behind `/ralph-loop`. Nothing of it ever passes a
    /// shell; a quote counts only where a word begins with it.
    pub fn parse(arguments: &str) -> Result<Start, StartError> {
        Start::of(words(arguments))
    }

    pub(super) fn of(words: Vec<Word>) -> Result<Start, StartError> {
        let mut start = Start::default();
        let mut task = String::new();
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            if word.quoted || !word.text.starts_with("--") {
                // What was written as lines may be a list of items (DELT-06).
                let between = if word.begins_line { '\n' } else { ' ' };
                task.extend((!task.is_empty()).then_some(between));
                task.push_str(&word.text);
                continue;
            }
            let (flag, value) = match word.text.split_once('=') {
                Some((flag, value)) => (flag.to_owned(), Some(value.to_owned())),
                None => (word.text, None),
            };
            let mut value = || {
                value
                    .clone()
                    .or_else(|| words.next().map(|word| word.text))
                    .filter(|value| !value.is_empty())
                    .ok_or_else(|| StartError::Missing { flag: flag.clone() })
            };
            let number = |value: String| match value.parse() {
                Ok(number) => Ok(Some(number)),
                Err(_) => Err(StartError::NotANumber {
                    flag: flag.clone(),
                    value,
                }),
            };
            match flag.as_str() {
                "--max-iterations" => start.max_iterations = number(value()?)?,
                "--completion-promise" => start.completion_promise = Some(value()?),
                "--openspec" => start.openspec = Some(value()?),
                "--tasks" => start.tasks = Some(value()?),
                "--preset" => start.preset = Some(value()?),
                "--verify" => start.verify.push(value()?),
                "--route" => {
                    let value = value()?;
                    let way = Way::from_word(&value);
                    start.way = Some(way.ok_or(StartError::UnknownRoute { value })?);
                }
                "--create-pr" => start.pull.create = true,
                "--draft" => start.pull.draft = true,
                "--pr" => start.pull.number = number(value()?)?,
                "--merge" => start.pull.merge = Some(value()?),
                _ => return Err(StartError::UnknownFlag { flag }),
            }
        }
        start.task = Some(task).filter(|task| !task.trim().is_empty());
        if start.way.is_some() && (start.tasks.is_some() || start.openspec.is_some()) {
            return Err(StartError::RouteAndTasks);
        }
        Ok(start)
    }
}

pub(super) struct Word {
    pub text: String,
    pub quoted: bool,
    pub begins_line: bool,
}

pub(super) fn words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    let mut begins_line = false;
    while let Some(first) = rest.chars().next() {
        let close = match first {
            '"' | '\'' => Some(first),
            '“' => Some('”'),
            '「' => Some('」'),
            _ => None,
        };
        let quoted = close.and_then(|close| in_quotes(rest.get(first.len_utf8()..)?, close));
        let is_quoted = quoted.is_some();
        let (text, after) = quoted.unwrap_or_else(|| {
            let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
            (rest[..end].to_owned(), &rest[end..])
        });
        words.push(Word {
            text,
            quoted: is_quoted,
            begins_line,
        });
        rest = after.trim_start();
        begins_line = after[..after.len() - rest.len()].contains('\n');
    }
    words
}

/// The text up to a closing quote that ends a word, and what follows it.
fn in_quotes(text: &str, close: char) -> Option<(String, &str)> {
    let mut word = String::new();
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if c == '\\' && chars.peek().is_some_and(|&(_, next)| next == close) {
            continue;
        }
        let escaped = at > 0 && text.as_bytes().get(at - 1) == Some(&b'\\');
        if c == close && !escaped {
            let after = text.get(at + c.len_utf8()..).unwrap_or_default();
            let ends = after.chars().next().is_none_or(char::is_whitespace);
            if ends {
                return Some((word, after));
            }
        }
        word.push(c);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(prompt: &str, want: &Option<Said>) {
        assert_eq!(read(prompt), *want, "{prompt:?}");
    }

    #[test]
    fn commands_are_understood_as_typed_and_as_expanded() {
        let start = |text: &str| Some(Said::Start(text.into()));
        check("/ralph-loop \"fix it\"", &start("\"fix it\""));
        check(
            "  /ralph:ralph-loop fix --max-iterations 3 ",
            &start("fix --max-iterations 3"),
        );
        check("ralph-loop fix it", &start("fix it"));
        check("/ralph-loop\nfix\nit", &start("fix\nit"));
        check("/ralph-loop", &Some(Said::Continue));
        check("/cancel-ralph", &Some(Said::Cancel));
        check(
            "/ralph-answer 1 SQLite",
            &Some(Said::Answer("1 SQLite".into())),
        );
        check("ralph-answer", &Some(Said::Answer(String::new())));
        check("/ralph-status", &Some(Said::Status));
        check("/do --resume", &Some(Said::Resume));
        check("ralph-do --resume", &Some(Said::Resume));
        check("/do", &Some(Said::Do(String::new())));
        check("/do it -q", &Some(Said::Do("it -q".into())));
        check("/ralph:do it", &Some(Said::Do("it".into())));
        check(
            "<command-message>x</command-message><command-name>/ralph-loop</command-name><command-args>fix it</command-args>\nRead this.",
            &start("fix it"),
        );
        for other in [
            "/ralph-loops x",
            "please run /ralph-loop x",
            "do",
            "do it",
            "do --resume",
            "/ralph",
        ] {
            check(other, &None);
        }
    }

    #[test]
    fn words_count_only_as_a_whole_prompt() {
        for word in [
            "暫停", "停", "停！", "中斷，我要看看", "pause", "Stop.", " stop! now ", "暂停",
        ] {
            check(word, &Some(Said::Pause));
        }
        for word in ["繼續", "持續執行", "继续。", "Continue", "continue, please"] {
            check(word, &Some(Said::Continue));
        }
        for other in [
            "停車場怎麼走",
            "stop the server",
            "stop-gap fix",
            "continue the refactoring",
            "繼續修改",
            "please stop",
            "",
        ] {
            check(other, &None);
        }
    }

    #[test]
    fn arguments_keep_the_text_and_pass_no_shell() {
        let parse = |text: &str| Start::parse(text).unwrap();
        let all = parse(
            "\"Build $(rm -rf /) it\" --max-iterations 20 --completion-promise 'ALL DONE' --openspec add-x --verify \"npm test\" --verify=lint --tasks t.md --preset delta",
        );
        assert_eq!(
            all,
            Start {
                task: Some("Build $(rm -rf /) it".into()),
                max_iterations: Some(20),
                completion_promise: Some("ALL DONE".into()),
                openspec: Some("add-x".into()),
                tasks: Some("t.md".into()),
                preset: Some("delta".into()),
                verify: vec!["npm test".into(), "lint".into()],
                ..Start::default()
            }
        );
        let pull = parse("Ship it --create-pr --draft --pr 7 --merge=squash");
        assert_eq!(
            pull,
            Start {
                task: Some("Ship it".into()),
                pull: PullWish {
                    create: true,
                    draft: true,
                    number: Some(7),
                    merge: Some("squash".into()),
                },
                ..Start::default()
            }
        );
        let task = |text: &str| parse(text).task.unwrap_or_default();
        assert_eq!(task("don't stop, it's \"odd"), "don't stop, it's \"odd");
        assert_eq!(task("say \"a b\" --verify x twice"), "say a b twice");
        assert_eq!(task(r#""with \"inner\" quotes""#), "with \"inner\" quotes");
        assert_eq!(task("“修好 它”"), "修好 它");
        let items = "1. add it\n2. test it --verify x\r\n\n   - with care";
        assert_eq!(task(items), "1. add it\n2. test it\n- with care");
        assert_eq!(parse("").task, None);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let error = |text: &str| Start::parse(text).unwrap_err().say(crate::lang::Lang::En);
        assert!(error("x --max-iterations many").contains("\"many\""));
        assert!(error("x --verify").contains("--verify needs a value"));
        assert!(error("x --frobnicate").contains("--frobnicate"));
        assert!(error("x --route nowhere").contains("\"nowhere\""));
        assert!(error("x --route auto --tasks t.md").contains("--tasks"));
    }

    proptest! {
        #[test]
        fn nothing_typed_makes_it_panic(text in "\\PC{0,80}") {
            let _ = read(&text);
            let _ = Start::parse(&text);
        }

        #[test]
        fn words_without_quotes_and_flags_stay(text in "[a-z]{1,6}( [a-z]{1,6}){0,6}") {
            prop_assert_eq!(Start::parse(&text).unwrap().task, Some(text));
        }
    }
}

//! How a hook's command line names this program.

use std::path::{Path, PathBuf};

use ralph_engine::agents::{Client, find_program};

/// The usual name.
const NAME: &str = "ralph";

/// The program as a word for a shell.
///
/// Settings of a project are shared, so the bare name is written where it
/// leads here: it is right on every machine. Otherwise the whole path, since
/// a name that is not found makes a hook end with 127, which blocks nothing
/// and says nothing.
pub fn for_hooks(root: &Path) -> String {
    let Some(own) = own() else {
        return NAME.to_owned();
    };
    let named = find_program(NAME.as_ref(), root).and_then(|path| path.canonicalize().ok());
    if named.as_deref() == own.canonicalize().ok().as_deref() {
        return NAME.to_owned();
    }
    quoted(&own.to_string_lossy())
}

/// This program's file, under the name that it was started by.
pub fn own() -> Option<PathBuf> {
    std::env::current_exe().ok()
}

/// Whether a shell takes it for one word and nothing else, as we write words.
fn is_word(text: &str) -> bool {
    let inner = |quote| text.strip_prefix(quote)?.strip_suffix(quote);
    let plain = |c: char| c.is_alphanumeric() || "/._-+:@% \\".contains(c);
    match (inner('\''), inner('"')) {
        (Some(inner), _) => quoted(&inner.replace(r"'\''", "'")) == text,
        (None, Some(inner)) => inner.chars().all(plain),
        (None, None) => text.chars().all(|c| plain(c) && c != ' '),
    }
}

/// One word for a POSIX shell.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

const ASK: &str = "command -v ";

/// What stands before our command in settings that a team shares, so that
/// whoever lacks the program is told, and works on (U-10). `exec` and no
/// braces: some clients give it to the person's own shell, fish among them.
pub fn unless_missing(program: &str, host: Client) -> String {
    // Only the code 2 is a block, but for one that takes every failure for a
    // refusal; the others show what ended with an error.
    let code = match host {
        Client::Copilot => 0,
        _ => 1,
    };
    format!(
        "{ASK}{program} >/dev/null 2>&1 || exec sh -c 'echo \"Ralph is not installed here: this hook of the project does nothing.\" >&2; exit {code}'; "
    )
}

/// The program in a command line of a hook of ours, and the event that it is
/// for; `None` for everybody else's.
pub fn called_by(command: &str, host: Client) -> Option<(&str, &str)> {
    let asked = command.strip_prefix(ASK);
    let asked = asked.and_then(|rest| Some(rest.split_once(" >/dev/null")?.0));
    let called = match asked {
        Some(program) => command.strip_prefix(&unless_missing(program, host))?,
        None => command,
    };
    let (program, event) = called.split_once(&format!(" hook --host {} ", host.into_str()))?;
    if asked.is_some_and(|asked| asked != program) || !is_word(program) {
        return None;
    }
    let file = program.trim_matches(['\'', '"']);
    let name = file.rsplit(['/', '\\']).next()?;
    let (event, time) = match event.split_once(" --within ") {
        Some((event, time)) => (event, time),
        None => (event, ""),
    };
    let is_event = event.chars().all(|c| c.is_ascii_lowercase() || c == '-')
        && time.chars().all(|c| c.is_ascii_digit());
    let ours = matches!(name, "ralph" | "ralph.exe") && is_event;
    ours.then_some((program, event))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_one_word_for_the_shell() {
        for (path, want) in [
            ("/usr/bin/ralph", "/usr/bin/ralph"),
            ("/my tools/ralph", "'/my tools/ralph'"),
            ("/it's/ralph", r"'/it'\''s/ralph'"),
            ("/$(x)/ralph", "'/$(x)/ralph'"),
            ("", "''"),
        ] {
            assert_eq!(quoted(path), want);
        }
    }

    #[test]
    fn our_command_lines_are_told_from_others() {
        for (command, want) in [
            ("ralph hook --host claude stop", Some(("ralph", "stop"))),
            (
                "'/my tools/ralph' hook --host claude pre-tool-use",
                Some(("'/my tools/ralph'", "pre-tool-use")),
            ),
            (
                "ralph hook --host claude stop --within 630",
                Some(("ralph", "stop")),
            ),
            ("ralph hook --host claude stop --within 6;0", None),
            (
                "command -v ralph >/dev/null 2>&1 || exec sh -c 'echo \"Ralph is not installed here: this hook of the project does nothing.\" >&2; exit 1'; ralph hook --host claude stop",
                Some(("ralph", "stop")),
            ),
            (
                "command -v ralph >/dev/null 2>&1 || exec sh -c 'rm x'; ralph hook --host claude stop",
                None,
            ),
            (
                "command -v ralph;rm x >/dev/null 2>&1 || exec sh -c 'echo \"Ralph is not installed here: this hook of the project does nothing.\" >&2; exit 1'; ralph hook --host claude stop",
                None,
            ),
            ("ralph hook --host codex stop", None),
            ("notralph hook --host claude stop", None),
            ("ralph hook --host claude stop; rm x", None),
            ("touch x; /bin/ralph hook --host claude stop", None),
            (
                "/bin/true;touch${IFS}x;/bin/ralph hook --host claude stop",
                None,
            ),
            (
                "'/bin/true';touch x;'/bin/ralph' hook --host claude stop",
                None,
            ),
            ("\"$(touch x)/ralph\" hook --host claude stop", None),
            (
                "\"C:\\Program Files\\ralph.exe\" hook --host claude stop",
                Some(("\"C:\\Program Files\\ralph.exe\"", "stop")),
            ),
            ("echo ralph", None),
        ] {
            assert_eq!(called_by(command, Client::Claude), want, "{command}");
        }
    }
}

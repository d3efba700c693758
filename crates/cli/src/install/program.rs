//! How a hook's command line names this program.

use std::path::{Path, PathBuf};

use ralph_engine::agents::find_program;

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

/// One word for a POSIX shell.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The program in a command line of a hook of ours, and the event that it is
/// for; `None` for everybody else's.
pub fn called_by<'a>(command: &'a str, host: &str) -> Option<(&'a str, &'a str)> {
    let (program, event) = command.split_once(&format!(" hook --host {host} "))?;
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
            ("ralph hook --host codex stop", None),
            ("notralph hook --host claude stop", None),
            ("ralph hook --host claude stop; rm x", None),
            ("echo ralph", None),
        ] {
            assert_eq!(called_by(command, "claude"), want, "{command}");
        }
    }
}

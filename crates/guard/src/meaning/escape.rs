//! Programs that are made for something else and run a command on the side:
//! by an option, or by what they are told to do with a shell.

use super::command::Command;
use super::env::Env;
use super::known;
use super::walker::Walker;
use crate::RuleId;
use crate::words::ByWord;

/// Options whose value is a command, by program.
static OPTIONS: ByWord<&[&str]> = by_word! {
    "apt apt-get" => words!("-o");
    "borg" => words!("--rsh");
    "cpio" => words!("--rsh-command");
    "gcc" => words!("-wrapper");
    "hg" => words!("--config");
    "less" => words!("-k --lesskey-file");
    "logsave" => words!("-c");
    "mysql" => words!("--pager");
    "rpm" => words!("--eval -E --pipe");
    "rsync" => words!("-e --rsh");
    "scp sftp" => words!("-S");
    "sort" => words!("--compress-program");
    "split" => words!("--filter");
    "sqlite3" => words!("-cmd");
    "svn" => words!("--editor-cmd --diff-cmd");
    "tar" => words!("--info-script --new-volume-script --rsh-command -F");
    "wget" => words!("--use-askpass");
    "xterm" => words!("-e");
    "gnome-terminal" => words!("-e --command");
    "zip" => words!("-TT --unzip-command");
};

impl Walker<'_> {
    /// Judges a command that a program runs on the side. A shell without a
    /// script is what such programs are misused for.
    pub fn escaped(&mut self, text: &str, env: &Env) {
        if is_bare_shell(text) {
            self.report(RuleId::OpaqueCode, text);
        }
        self.aside(text, env);
    }

    /// The commands in a program's options.
    pub fn commands_in_options(&mut self, command: &Command, env: &Env) {
        let Some(options) = OPTIONS.get(command.name) else {
            return;
        };
        for (at, word) in command.args.iter().enumerate() {
            let attached = word
                .split_once('=')
                .filter(|(option, _)| options.contains(option))
                .map(|(_, text)| text);
            let following = options
                .contains(&word.as_str())
                .then(|| command.args.get(at + 1).map(String::as_str))
                .flatten();
            let Some(text) = attached.or(following) else {
                continue;
            };
            // `APT::Update::Pre-Invoke::=…`, `%(…)`, `alias.x=!…`.
            let text = match text.split_once("Invoke::=").or(text.split_once("=!")) {
                Some((_, text)) => text,
                None => text.trim_start_matches("%(").trim_end_matches(')'),
            };
            let is_program = command.name != "scp" && command.name != "wget";
            if !is_program {
                self.report(RuleId::OpaqueCode, text);
            } else if text.split_whitespace().count() > 1 || is_bare_shell(text) {
                self.escaped(text, env);
            }
        }
    }
}

/// Is it a shell, perhaps an interactive one, and nothing for it to do?
pub fn is_bare_shell(text: &str) -> bool {
    let mut words = text
        .split_whitespace()
        .skip_while(|word| *word == "exec")
        .take_while(|word| !word.starts_with('#'))
        .filter(|word| !word.contains(['<', '>']));
    words.next().is_some_and(known::is_shell)
        && words.all(|word| matches!(word, "-i" | "-p" | "-l" | "-il" | "-li"))
}

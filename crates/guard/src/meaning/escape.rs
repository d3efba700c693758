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
    "aria2c" => words!("--on-download-complete --on-download-start --on-download-error
        --on-download-stop --on-bt-download-complete --on-download-pause");
    "yt-dlp youtube-dl" => words!("--exec --exec-before-download --netrc-cmd");
    "sshfs" => words!("-o");
    "mosh" => words!("--ssh --server");
    "restic" => words!("-o --option --password-command");
    "openvpn" => words!("--up --down --route-up --ipchange --tls-verify --client-connect");
    "msmtp" => words!("--passwordeval");
    "helm" => words!("--post-renderer");
    "go" => words!("-exec -toolexec -vettool");
    "nmap" => words!("--script");
    "rclone" => words!("--sftp-ssh --password-command");
    "borg" => words!("--rsh");
    "cpio" => words!("--rsh-command");
    "gcc" => words!("-wrapper");
    "hg" => words!("--config --ssh --remotecmd");
    "less" => words!("-k --lesskey-file");
    "logsave" => words!("-c");
    "mysql" => words!("--pager");
    "rpm" => words!("--eval -E --pipe");
    "rsync" => words!("-e --rsh --rsync-path");
    "scp sftp" => words!("-S -D -o");
    "sort" => words!("--compress-program");
    "split" => words!("--filter");
    "sqlite3" => words!("-cmd");
    "svn" => words!("--editor-cmd --diff-cmd --diff3-cmd --merge-cmd --config-option");
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
                .or(word.split_at_checked(2).filter(|(option, rest)| {
                    *option == "-o" && !rest.is_empty() && options.contains(option)
                }));
            let following = options
                .contains(&word.as_str())
                .then(|| Some((word.as_str(), command.args.get(at + 1)?.as_str())))
                .flatten();
            let Some((option, text)) = attached.or(following) else {
                continue;
            };
            if matches!(option, "-S" | "--use-askpass") {
                self.report(RuleId::OpaqueCode, text);
            } else if let Some(text) = command_in(option, text)
                && (text.split_whitespace().count() > 1 || is_bare_shell(text))
            {
                self.escaped(text, env);
            }
        }
    }
}

/// The command in the value of an option, which may be a setting's.
fn command_in<'t>(option: &str, text: &'t str) -> Option<&'t str> {
    // `APT::Update::Pre-Invoke::=…`, `alias.x=!…`.
    if let Some((_, text)) = text.split_once("Invoke::=").or(text.split_once("=!")) {
        return Some(text);
    }
    if one_of!(option, "-o --option --config --config-option") {
        let (name, text) = text.split_once(['=', ' '])?;
        let name = name.to_ascii_lowercase();
        let runs = has_any!(name, "command hooks. .ssh :ssh editor pager diff merge");
        return runs.then_some(text);
    }
    // `%(…)` of rpm.
    Some(text.trim_start_matches("%(").trim_end_matches(')'))
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

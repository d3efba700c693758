//! The shells of Windows, each read as the language that it is: PowerShell and
//! the command interpreter. What they start that is no verb of their own is
//! judged as everywhere else.

mod cmd;
mod members;
mod power_shell;
mod read;
mod verbs;

use super::command::Command;
use super::decode;
use super::env::{Env, Flow};
use super::known;
use super::walk::MAX_DEPTH;
use super::walker::Walker;
use crate::RuleId;
use crate::mark::{SECRET, UNKNOWN};
use crate::paths::native;

/// How much text is read.
const MAX_BYTES: usize = 256 * 1024;

impl Walker<'_> {
    /// A text that PowerShell in `cwd` would run.
    pub fn power_shell_text(&mut self, text: &str, cwd: &str) {
        self.power_shell(text, &mut Env::in_directory(cwd), &Flow::Unknown);
    }

    /// A text that the command interpreter in `cwd` would run.
    pub fn cmd_text(&mut self, text: &str, cwd: &str) {
        self.cmd(text, &mut Env::in_directory(cwd), &Flow::Unknown);
    }

    pub(super) fn power_shell(&mut self, text: &str, env: &mut Env, stdin: &Flow) -> Flow {
        self.bounded(text, |walker| match read::script(text) {
            Ok(script) => power_shell::run(walker, &script, env, stdin),
            Err(read::Unreadable) => {
                walker.report(RuleId::OpaqueSyntax, text);
                Flow::Unknown
            }
        })
    }

    pub(super) fn cmd(&mut self, text: &str, env: &mut Env, stdin: &Flow) -> Flow {
        self.bounded(text, |walker| cmd::run(walker, text, env, stdin))
    }

    fn bounded(&mut self, text: &str, inner: impl FnOnce(&mut Self) -> Flow) -> Flow {
        if self.depth >= MAX_DEPTH || text.len() > MAX_BYTES {
            self.report(RuleId::OpaqueTooLarge, text);
            return Flow::Unknown;
        }
        self.depth += 1;
        let flow = inner(self);
        self.depth -= 1;
        flow
    }

    /// `powershell …` and `cmd …`, whoever starts them; `None` if it is
    /// neither.
    pub(super) fn windows_shell(&mut self, command: &Command, env: &mut Env) -> Option<Flow> {
        let flow = match command.name {
            "cmd" if command.args.iter().any(|word| is_cmd_switch(word)) => {
                self.started_cmd(command, env)
            }
            "cmd" => self.fed(command, env, Self::cmd),
            "powershell" | "pwsh" | "powershell_ise" => self.started_power_shell(command, env),
            _ => return None,
        };
        Some(flow)
    }

    fn started_cmd(&mut self, command: &Command, env: &mut Env) -> Flow {
        let mut words = command.args.iter();
        words.by_ref().find(|word| is_cmd_switch(word));
        let text: Vec<&str> = words.map(String::as_str).collect();
        self.trace.unwrapped(command.name);
        let mut inner = env.clone();
        let flow = self.cmd(&text.join(" "), &mut inner, command.stdin);
        env.keep_files_of(inner);
        flow
    }

    fn started_power_shell(&mut self, command: &Command, env: &mut Env) -> Flow {
        let mut at = 0;
        while let Some(word) = command.args.get(at) {
            at += 1;
            let rest = command.args.get(at..).unwrap_or_default();
            let Some(option) = word.strip_prefix(['-', '/']) else {
                return self.told(std::slice::from_ref(word), rest, command, env);
            };
            let option = option.trim_start_matches('-').to_lowercase();
            let is = |full: &str| !option.is_empty() && full.starts_with(option.as_str());
            if option == "ec" || option.starts_with('e') && is("encodedcommand") {
                return self.encoded(rest.first().map_or("", String::as_str), command, env);
            } else if is("command") || option == "commandwithargs" {
                return self.told(rest, &[], command, env);
            } else if option == "f" || is("file") {
                if let Some(path) = rest.first() {
                    return self.script_file(path, env);
                }
            } else if is("executionpolicy")
                || one_of!(
                    option.as_str(),
                    "ep ex exec windowstyle w wi version v inputformat outputformat psconsolefile
                     configurationname config workingdirectory wd settingsfile custompipename"
                )
            {
                at += 1;
            } else if is("version") || is("help") || option == "?" {
                return Flow::Unknown;
            }
        }
        self.fed(command, env, Self::power_shell)
    }

    /// Words that are code, with more words behind them.
    fn told(&mut self, code: &[String], more: &[String], command: &Command, env: &mut Env) -> Flow {
        if code.first().is_some_and(|word| word == "-") {
            return self.fed(command, env, Self::power_shell);
        }
        let text: Vec<&str> = code.iter().chain(more).map(String::as_str).collect();
        let text = text.join(" ");
        self.trace.unwrapped(command.name);
        if text.contains(crate::mark::NETWORK) {
            self.report(RuleId::NetRunRemoteCode, command.name);
            return Flow::Unknown;
        }
        let mut inner = env.clone();
        let flow = self.power_shell(&text, &mut inner, command.stdin);
        env.keep_files_of(inner);
        flow
    }

    /// `-EncodedCommand`: base64 of UTF-16.
    fn encoded(&mut self, text: &str, command: &Command, env: &mut Env) -> Flow {
        self.trace.unwrapped(command.name);
        let flow =
            decoded(text).map(|text| self.power_shell(&text, &mut env.clone(), command.stdin));
        // Nobody who may be read writes a command this way.
        self.report(RuleId::OpaqueCode, command.name);
        flow.unwrap_or(Flow::Unknown)
    }

    /// A shell that reads what is piped in.
    fn fed(
        &mut self,
        command: &Command,
        env: &mut Env,
        read: fn(&mut Self, &str, &mut Env, &Flow) -> Flow,
    ) -> Flow {
        match command.stdin {
            Flow::Text(text) => return read(self, text, &mut env.clone(), &Flow::Unknown),
            Flow::Network => self.report(RuleId::NetPipeToShell, command.name),
            Flow::Unknown | Flow::Environment | Flow::Names if env.forked => {
                self.report(RuleId::OpaqueCode, command.name);
            }
            _ => {}
        }
        Flow::Unknown
    }

    /// A script that is run: what this text itself wrote into it is known.
    pub(super) fn script_file(&mut self, path: &str, env: &mut Env) -> Flow {
        let lower = path.to_lowercase();
        match self.file_flow(path, env) {
            Flow::Network => self.report(RuleId::NetDownloadThenRun, path),
            Flow::Text(text) if lower.ends_with(".ps1") => {
                return self.power_shell(&text, &mut env.clone(), &Flow::Unknown);
            }
            Flow::Text(text) if lower.ends_with(".bat") || lower.ends_with(".cmd") => {
                return self.cmd(&text, &mut env.clone(), &Flow::Unknown);
            }
            _ => {}
        }
        if lower.starts_with("\\\\") || lower.starts_with("http:") || lower.starts_with("https:") {
            self.report(RuleId::NetRunRemoteCode, path);
        }
        Flow::Unknown
    }

    /// A program that is no verb of the shell, under the name that the rules
    /// know.
    pub(super) fn windows_program(
        &mut self,
        program: &str,
        args: &[String],
        env: &mut Env,
        stdin: &Flow,
    ) -> Flow {
        let written = program.replace('\\', "/");
        // A file that was fetched or written before, in whatever directory.
        if !env.files.is_empty() && self.file_flow(&written, env) != Flow::Files {
            return self.script_file(&written, env);
        }
        let lower = written.to_lowercase();
        if lower.starts_with("//") {
            self.report(RuleId::NetRunRemoteCode, program);
        }
        let name = words!(".exe .cmd .bat .com")
            .iter()
            .find_map(|ending| lower.strip_suffix(ending))
            .unwrap_or(&lower);
        let mut argv = vec![name.to_owned()];
        argv.extend(args.iter().cloned());
        if name == "taskkill" {
            argv = vec!["pkill".to_owned()];
            let named = |flag: &&String| flag.eq_ignore_ascii_case("/im");
            let images = args.iter().zip(args.iter().skip(1));
            argv.extend(
                images
                    .filter(|(flag, _)| named(flag))
                    .map(|(_, image)| image.to_lowercase()),
            );
        }
        self.run(&argv, env, stdin)
    }

    /// A variable of the environment, where Windows or the context says it.
    pub(super) fn windows_variable(&self, name: &str, env: &Env) -> String {
        let name = name.to_uppercase();
        let home = self.home();
        let cwd = || env.directories.first().cloned().unwrap_or_default();
        match name.as_str() {
            "USERPROFILE" | "HOME" | "HOMEPATH" | "ONEDRIVE" => home.to_owned(),
            "HOMEDRIVE" => String::new(),
            "APPDATA" => format!("{home}/AppData/Roaming"),
            "LOCALAPPDATA" => format!("{home}/AppData/Local"),
            "TEMP" | "TMP" => self.temporary().to_owned(),
            "SYSTEMROOT" | "WINDIR" => "/C:/Windows".to_owned(),
            "SYSTEMDRIVE" => "/C:".to_owned(),
            "PROGRAMFILES" | "PROGRAMFILES(X86)" | "PROGRAMW6432" => "/C:/Program Files".to_owned(),
            "PROGRAMDATA" | "ALLUSERSPROFILE" => "/C:/ProgramData".to_owned(),
            "PUBLIC" => "/C:/Users/Public".to_owned(),
            "CD" | "PWD" => cwd(),
            "COMSPEC" => "cmd".to_owned(),
            "USERNAME"
            | "COMPUTERNAME"
            | "OS"
            | "PROCESSOR_ARCHITECTURE"
            | "RANDOM"
            | "DATE"
            | "TIME"
            | "ERRORLEVEL"
            | "NUMBER_OF_PROCESSORS"
            | "USERDOMAIN"
            | "PATHEXT" => "value".to_owned(),
            name if known::is_secret_variable(name) => SECRET.to_string(),
            _ => UNKNOWN.to_string(),
        }
    }
}

fn is_cmd_switch(word: &str) -> bool {
    let lower = word.to_lowercase();
    matches!(lower.as_str(), "/c" | "/k" | "/r" | "-c" | "//c" | "//k")
}

/// The text in base64, of UTF-16 or UTF-8.
fn decoded(text: &str) -> Option<String> {
    let bytes = decode::base64(text).filter(|bytes| !bytes.is_empty())?;
    let zeros = bytes.iter().filter(|byte| **byte == 0).count();
    if zeros * 3 < bytes.len() {
        return String::from_utf8(bytes).ok();
    }
    let units = bytes.chunks_exact(2).map(|pair| match pair {
        [low, high] => u16::from_le_bytes([*low, *high]),
        _ => 0,
    });
    String::from_utf16(&units.collect::<Vec<_>>()).ok()
}

/// Is the word a switch of the old programs, `/s` or `/a:h`?
fn is_slash_switch(word: &str) -> bool {
    let mut rest = word.chars();
    rest.next() == Some('/')
        && rest.next().is_some_and(|c| c.is_alphanumeric() || c == '?')
        && !rest.as_str().contains(['/', '\\', '.'])
        && !native::on_windows(word)
}

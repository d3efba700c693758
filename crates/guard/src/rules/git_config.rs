//! Settings of git that run programs: on the line, in the environment or in
//! a configuration file.

use crate::RuleId;
use crate::meaning::{Args, Env, Walker, files};

/// Programs that may stand in such a setting.
const HARMLESS: &[&str] = words!(
    "cat less more delta bat vim vi nvim nano emacs code true : false ssh store cache
     osxkeychain manager manager-core gpg gpg2 diff-so-fancy difft gh meld"
);

/// Does git run the value of this key?
fn runs(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let last = key.rsplit('.').next().unwrap_or(&key);
    let first = key.split('.').next().unwrap_or(&key);
    one_of!(
        key.as_str(),
        "core.sshcommand core.pager core.editor core.fsmonitor core.gitproxy core.askpass
         sequence.editor diff.external credential.helper gpg.program interactive.difffilter
         init.templatedir core.alternaterefscommand uploadpack.packobjectshook"
    ) || matches!(first, "pager" | "filter") && last != "required"
        || one_of!(
            last,
            "textconv driver cmd uploadpack receivepack sshcommand vcs"
        )
        || (first == "diff" && last == "command")
        || (first == "credential" && last == "helper")
        || (first == "gpg" && last == "program")
}

/// Does the value point git somewhere else?
fn redirects(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    one_of!(
        key.as_str(),
        "core.hookspath core.worktree include.path core.attributesfile protocol.ext.allow
         http.sslverify http.proxy https.proxy protocol.allow core.excludesfile"
    ) || key.starts_with("includeif.")
        || key.ends_with(".insteadof")
        || key.ends_with(".pushinsteadof")
}

/// `key=value` after `-c`.
pub fn setting(walker: &mut Walker, setting: &str, env: &Env) {
    let (key, value) = setting.split_once('=').unwrap_or((setting, "true"));
    judge(walker, key, value, env);
}

fn judge(walker: &mut Walker, key: &str, value: &str, env: &Env) {
    let lower = key.to_ascii_lowercase();
    if let Some(name) = lower.strip_prefix("alias.") {
        if let Some(text) = value.strip_prefix('!') {
            walker.aside(text, env);
            walker.report(RuleId::GitConfigInjection, &format!("alias.{name}"));
        } else {
            let text = format!("git {value}");
            walker.aside(&text, env);
        }
        return;
    }
    // `git clean` without being asked twice.
    if lower == "clean.requireforce" && value == "false" {
        walker.report(RuleId::GitClean, key);
    }
    let harmless_redirect = match lower.as_str() {
        "http.sslverify" => value != "false" && value != "0",
        "core.hookspath" => value.is_empty(),
        "core.excludesfile" => true,
        "protocol.ext.allow" | "protocol.allow" => value == "never",
        _ => false,
    };
    if redirects(&lower) && !harmless_redirect {
        walker.report(RuleId::GitConfigInjection, key);
    }
    if runs(&lower) {
        let text = value.strip_prefix('!').unwrap_or(value);
        let program = text.split_whitespace().next().unwrap_or_default();
        let name = program.rsplit('/').next().unwrap_or(program);
        let harmless = name.is_empty() || HARMLESS.contains(&name);
        let plain_helper = lower.starts_with("credential") && value.starts_with('!');
        let boolean = lower == "core.fsmonitor" && matches!(value, "true" | "false");
        let proxy = has_any!(text, "ProxyCommand ; | ` $( &");
        let lfs = lower.starts_with("filter.lfs") && text.starts_with("git-lfs");
        if (!harmless || proxy || plain_helper && name != "gh") && !boolean && !lfs {
            walker.report(RuleId::GitConfigInjection, key);
        }
    }
}

/// `git config …`.
pub fn command(walker: &mut Walker, args: &[String], env: &Env) {
    let options = Args::read(args, takes!("f", "file type default"));
    if options.operands.len() > 1 {
        files::write_all(walker, options.values(&["f", "file"]), env);
    }
    let reads = options.longs.iter().any(|long| {
        one_of!(
            *long,
            "get get-all list get-regexp show-origin get-urlmatch"
        )
    }) || options.short('l');
    let mut operands = options.operands.as_slice();
    if let ["get" | "list", ..] = operands {
        return;
    }
    if let ["set" | "unset" | "edit", rest @ ..] = operands {
        operands = rest;
    }
    if options.long("system") && !reads {
        walker.report(RuleId::GitConfigInjection, "--system");
    }
    let unsets = options.long("unset")
        || options.long("unset-all")
        || options.operands.first() == Some(&"unset");
    if reads || unsets {
        return;
    }
    if let [key, value, ..] = operands {
        judge(walker, key, value, env);
    }
}

/// Variables that do the same.
pub fn environment(walker: &mut Walker, name: &str, value: &str, env: &Env) {
    let key = match name {
        "GIT_SSH_COMMAND" | "GIT_SSH" => "core.sshCommand",
        "GIT_EDITOR" => "core.editor",
        "GIT_SEQUENCE_EDITOR" => "sequence.editor",
        "GIT_EXTERNAL_DIFF" => "diff.external",
        "GIT_PROXY_COMMAND" => "core.gitProxy",
        "GIT_ASKPASS" => "core.askPass",
        "GIT_PAGER" => "core.pager",
        "GIT_TEMPLATE_DIR" | "GIT_EXEC_PATH" | "GIT_CONFIG_GLOBAL" | "GIT_CONFIG_SYSTEM" => {
            if !value.is_empty() && value != "/dev/null" {
                walker.report(RuleId::GitConfigInjection, name);
            }
            return;
        }
        "GIT_CONFIG_PARAMETERS" => {
            for one in value.split("' '") {
                setting(walker, one.trim_matches(['\'', ' ']), env);
            }
            return;
        }
        _ if name.starts_with("GIT_CONFIG_KEY_") => {
            if runs(value) || redirects(value) || value.to_ascii_lowercase().starts_with("alias.") {
                walker.report(RuleId::GitConfigInjection, value);
            }
            return;
        }
        _ => return,
    };
    let editing = matches!(key, "core.editor" | "sequence.editor");
    let sed = editing && (value.starts_with("sed ") || value.starts_with("touch"));
    if !sed {
        judge(walker, key, value, env);
    }
}

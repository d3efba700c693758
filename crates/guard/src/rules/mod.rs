//! The rules: what is dangerous, by family. The catalogue says what each is
//! about; the judges beside it say where it matches.

mod admin;
pub mod catalog;
mod cloud;
mod container;
mod database;
mod disk;
mod fetched;
mod git;
mod git_config;
mod loader;
mod machine;
mod net;
mod operations;
#[macro_use]
mod pattern;
mod publish;
mod secret;
mod service;
mod system;
mod table;
mod upload;
mod vcs;

use crate::RuleId;
use crate::mark;
use crate::meaning::{Command, Env, Judges, Value, Walker, files};
use crate::user;

/// The built-in rules and those of the configuration.
#[derive(Debug)]
pub struct Rules<'a> {
    pub own: user::Index<'a>,
}

impl Judges for Rules<'_> {
    fn command(&self, walker: &mut Walker, command: &Command, env: &mut Env) {
        system::judge(walker, command);
        // An agent in another home has none of the guard's hooks.
        let moved = |name: &&str| env.variables.contains_key(*name);
        if loader::is_agent(command.name) && ["HOME", "XDG_CONFIG_HOME"].iter().any(moved) {
            walker.report(RuleId::GuardSwitchOff, "HOME");
        }
        operations::judge(walker, command, env);
        secret::judge(walker, command, env);
        net::judge(walker, command, env);
        fetched::judge(walker, command, env);
        upload::judge(walker, command, env);
        disk::judge(walker, command);
        admin::judge(walker, command, env);
        publish::judge(walker, command);
        if matches!(command.name, "apply_patch" | "applypatch") {
            patch(walker, command, env);
        }
        database::judge(walker, command, env);
        container::judge(walker, command, env);
        cloud::judge(walker, command);
        service::judge(walker, command);
        if matches!(command.name, "git" | "hub") {
            git::judge(walker, command, env);
        }
        vcs::judge(walker, command);
        self.own.judge(walker, command);
    }

    fn assignment(&self, walker: &mut Walker, name: &str, value: &Value, env: &Env) {
        let (Value::Texts(texts) | Value::List(texts)) = value;
        for text in texts {
            git_config::environment(walker, name, text, env);
            loader::loader(walker, name, text);
            let first = text.split(' ').next().unwrap_or_default();
            if is_started(name) && !mark::has_computed(first) {
                // `LESSOPEN` may begin with a pipe.
                let text = text.trim_start_matches(['|', '-', ' ']);
                walker.escaped(text, env);
            }
        }
    }
}

/// Does a program start what stands in this variable?
fn is_started(name: &str) -> bool {
    one_of!(
        name,
        "PAGER EDITOR VISUAL MANPAGER BROWSER LESSOPEN LESSCLOSE FCEDIT SUDO_EDITOR HGEDITOR
         SVN_EDITOR CVSEDITOR P4EDITOR KUBE_EDITOR GH_EDITOR GH_PAGER GH_BROWSER AWS_PAGER
         BAT_PAGER DELTA_PAGER SYSTEMD_PAGER SYSTEMD_EDITOR PSQL_PAGER PSQL_EDITOR
         RSYNC_RSH RSYNC_CONNECT_PROG CVS_RSH SVN_SSH BORG_RSH
         BORG_PASSCOMMAND RESTIC_PASSWORD_COMMAND SSH_ASKPASS SUDO_ASKPASS GIT_ASKPASS
         RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER RUSTDOC
         npm_config_editor FZF_DEFAULT_COMMAND
         FZF_CTRL_T_COMMAND CMAKE_C_COMPILER_LAUNCHER
         CMAKE_CXX_COMPILER_LAUNCHER"
    )
}

/// Codex' own way to change files, as a command.
fn patch(walker: &mut Walker, command: &Command, env: &Env) {
    for text in [command.stdin_text()].into_iter().chain(command.words()) {
        files::patched(walker, text, env);
    }
}

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
            let started = one_of!(name, "PAGER EDITOR VISUAL MANPAGER BROWSER LESSOPEN");
            if started && text.contains(' ') {
                walker.aside(text, env);
            }
        }
    }
}

/// Codex' own way to change files, as a command.
fn patch(walker: &mut Walker, command: &Command, env: &Env) {
    for text in [command.stdin_text()].into_iter().chain(command.words()) {
        files::patched(walker, text, env);
    }
}

//! Build tools that run recipes: those that this text itself wrote are read.

use super::command::Command;
use super::env::{Env, Flow};
use super::escape::is_bare_shell;
use super::walker::Walker;
use crate::RuleId;

impl Walker<'_> {
    /// Judges the recipes of a build file that was written on the same line.
    pub fn written_recipes(&mut self, command: &Command, env: &mut Env) {
        // Every recipe of the file is judged at once: one that calls the same
        // tool again says nothing new, and must not multiply the work.
        if self.in_recipe {
            return;
        }
        self.in_recipe = true;
        match command.name {
            "make" | "gmake" => self.make(command, env),
            "npm" | "pnpm" | "yarn" | "bun" => {
                if let Flow::Text(text) = self.file_flow("package.json", env) {
                    self.package_scripts(&text, env);
                }
            }
            _ => {}
        }
        self.in_recipe = false;
    }

    fn make(&mut self, command: &Command, env: &mut Env) {
        let options = command.read(takes!("fCjIoW", "file makefile directory eval"));
        let shells = ["SHELL=", ".SHELLFLAGS="];
        for text in options.operands.iter() {
            let shell = shells.iter().find_map(|name| text.strip_prefix(name));
            // A plain shell gets the recipes.
            if let Some(text) = shell.filter(|text| !is_bare_shell(text)) {
                self.aside(text, env);
            }
        }
        for text in options.values(&["eval"]) {
            self.recipes(text, env);
        }
        let mut named: Vec<&str> = options.values(&["f", "file", "makefile"]).collect();
        if named.is_empty() {
            named = vec!["Makefile", "makefile", "GNUmakefile"];
        }
        for path in named {
            let flow = match path {
                "-" | "/dev/stdin" => command.stdin.clone(),
                path => self.file_flow(path, env),
            };
            match flow {
                Flow::Text(text) => self.recipes(&text, env),
                Flow::Network => self.report(RuleId::NetDownloadThenRun, path),
                _ => {}
            }
        }
    }

    /// Every line behind a tab or a rule's semicolon, and every `$(shell …)`.
    fn recipes(&mut self, text: &str, env: &mut Env) {
        for line in text.lines() {
            let recipe = match (line.strip_prefix('\t'), line.split_once(';')) {
                (Some(recipe), _) => Some(recipe),
                (None, Some((head, recipe))) if head.contains(':') => Some(recipe),
                _ => None,
            };
            if let Some(recipe) = recipe {
                let plain = recipe.trim_start_matches(['@', '-', '+', ' ']);
                let plain = plain.replace("$$", "$");
                self.aside(&plain, env);
            }
            if let Some((_, shell)) = line.split_once("$(shell ") {
                let inner = shell.rsplit_once(')').map_or(shell, |(inner, _)| inner);
                self.aside(inner, env);
            }
        }
    }

    fn package_scripts(&mut self, text: &str, env: &mut Env) {
        let Ok(package) = serde_json::from_str::<serde_json::Value>(text) else {
            return;
        };
        let scripts = package
            .get("scripts")
            .and_then(|scripts| scripts.as_object());
        for script in scripts.into_iter().flat_map(|scripts| scripts.values()) {
            if let Some(script) = script.as_str() {
                self.aside(script, env);
            }
        }
    }
}

//! PowerShell and the command interpreter of Windows: one statement after the
//! other, each with its verb and its paths.

use crate::RuleId;
use crate::meaning::{Env, Flow, Walker, files, hosts, known};

pub fn judge(walker: &mut Walker, text: &str, env: &mut Env) {
    let lower = text.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let fetches = has(&[
        "irm ",
        "iwr ",
        "invoke-webrequest",
        "invoke-restmethod",
        "downloadstring",
        "net.webclient",
    ]);
    let runs = has(&["iex", "invoke-expression", "| sh", "| bash"]);
    if fetches && runs {
        walker.report(RuleId::NetRunRemoteCode, text);
        return;
    }
    if lower.contains("set-executionpolicy")
        || lower.contains("start-process") && lower.contains("runas")
    {
        walker.report(RuleId::PrivilegeEscalate, text);
    }
    if has(&["env:\\", "env: ", "env:*", "getenvironmentvariables"])
        || lower.trim_end().ends_with("env:")
    {
        walker.report(RuleId::SecretEnvironment, text);
    }
    for (_, rest) in lower
        .match_indices("$env:")
        .map(|(at, _)| text.split_at(at + 5))
    {
        let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_');
        let name = name.into_iter().next().unwrap_or_default();
        if known::is_secret_variable(&name.to_ascii_uppercase()) {
            walker.report(RuleId::SecretEnvironment, name);
        }
    }
    for statement in text.split([';', '|', '\n', '{', '}', '&']) {
        judge_statement(walker, statement.trim(), env);
    }
}

fn judge_statement(walker: &mut Walker, statement: &str, env: &mut Env) {
    let words: Vec<&str> = statement
        .split_whitespace()
        .map(|word| word.trim_matches(['"', '\'', '(', ')']))
        .collect();
    let Some((verb, rest)) = words.split_first() else {
        return;
    };
    // `/s /q` are switches of the old interpreter.
    let is_switch = |word: &str| word.starts_with('-') || word.len() == 2 && word.starts_with('/');
    let paths = || {
        rest.iter()
            .filter(|word| !is_switch(word) && !word.is_empty())
    };
    match verb.to_ascii_lowercase().as_str() {
        "remove-item" | "ri" | "rm" | "del" | "erase" | "rd" | "rmdir" | "clear-content" => {
            paths().for_each(|path| files::delete(walker, path, env, true));
        }
        "get-content" | "gc" | "cat" | "type" | "more" | "select-string" => {
            paths().for_each(|path| files::read(walker, path, env));
        }
        "set-content" | "sc" | "add-content" | "ac" | "out-file" | "new-item" | "ni"
        | "tee-object" => {
            files::write_all(walker, paths().next(), env);
        }
        "copy-item" | "copy" | "cp" | "move-item" | "move" | "mv" => {
            files::write_all(walker, paths().nth(1), env);
            if let Some(source) = paths().next() {
                files::mentioned(walker, source, env);
            }
        }
        "invoke-webrequest" | "iwr" | "invoke-restmethod" | "irm" => {
            for url in rest.iter().filter(|word| word.contains("://")) {
                hosts::fetch(walker, url);
            }
        }
        "stop-computer" | "restart-computer" => walker.report(RuleId::SystemPower, statement),
        "format-volume" | "clear-disk" | "format" | "diskpart" => {
            walker.report(RuleId::DiskFormat, statement);
        }
        "stop-service" | "set-service" | "set-mppreference" => {
            walker.report(RuleId::SystemService, statement);
        }
        "register-scheduledtask" | "schtasks" => walker.report(RuleId::SystemSchedule, statement),
        name if known::is_dangerous_program(name) => {
            let argv: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            walker.run(&argv, &mut env.clone(), &Flow::Unknown);
        }
        _ => {}
    }
}

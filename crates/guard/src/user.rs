//! Rules that people add, as data: a program, flags, paths, and examples
//! that are checked.

use ralph_core::config::{GuardRule, GuardSettings};
use ralph_core::lang::Say;
use serde_json::Value;

use crate::finding::{Finding, Found};
use crate::mark;
use crate::meaning::{Command, Flow, Walker};
use crate::{Context, ToolCall};

/// What is wrong with a rule of the configuration.
#[derive(Clone, Debug, PartialEq, Eq, Say)]
pub enum RuleProblem {
    #[say("it names no program; write program = \"NAME\"")]
    NoProgram,
    #[say("it lacks examples; write at least one command in match and one in not_match")]
    NoExamples,
    #[say("it does not match `{text}`, which stands in match; widen the rule or remove the example", text = _0)]
    Missed(String),
    #[say("it matches `{text}`, which stands in not_match; narrow the rule or remove the example", text = _0)]
    Overreached(String),
}

/// The rules by program: every command is held against them, and nearly every
/// rule names one program.
#[derive(Debug)]
pub(crate) struct Index<'a> {
    /// In the order of their programs.
    named: Vec<&'a GuardRule>,
    globs: Vec<&'a GuardRule>,
}

impl<'a> Index<'a> {
    pub fn new(rules: &'a [GuardRule]) -> Self {
        let is_glob = |rule: &&GuardRule| rule.program.contains(['*', '?', '[', '\\']);
        let (globs, mut named): (Vec<_>, Vec<_>) = rules.iter().partition(is_glob);
        named.sort_by_key(|rule| &rule.program);
        Index { named, globs }
    }

    fn about(&self, program: &str) -> impl Iterator<Item = &'a GuardRule> {
        let from = self.named.partition_point(|rule| *rule.program < *program);
        let named = self
            .named
            .iter()
            .skip(from)
            .take_while(move |rule| rule.program == program);
        let globs = self
            .globs
            .iter()
            .filter(move |rule| mark::glob_match(&rule.program, program));
        named.chain(globs).copied()
    }

    pub fn judge(&self, walker: &mut Walker, command: &Command) {
        let rules = self.about(command.name);
        for rule in rules.filter(|rule| applies(rule, command)) {
            walker.findings.push(Finding {
                rule: Found::Own(rule.id.clone()),
                detail: mark::show(&format!("{} {}", command.name, command.args.join(" "))),
                command: None,
            });
        }
    }
}

/// What the names of tools begin with that an MCP server brings.
const SERVER_TOOL: &str = "mcp__";

impl Index<'_> {
    /// Such a tool is named as a program is, and the words of its input are its
    /// arguments (GARD-14).
    pub fn judge_tool(&self, walker: &mut Walker, call: &ToolCall) {
        if !call.tool.starts_with(SERVER_TOOL) {
            return;
        }
        let mut args = Vec::new();
        words_in(call.input, &mut args);
        let command = Command {
            name: call.tool,
            program: call.tool,
            args: &args,
            stdin: &Flow::Unknown,
        };
        self.judge(walker, &command);
    }
}

fn words_in(input: &Value, words: &mut Vec<String>) {
    match input {
        Value::String(text) => words.extend(text.split_whitespace().map(str::to_owned)),
        Value::Array(list) => list.iter().for_each(|value| words_in(value, words)),
        Value::Object(map) => map.values().for_each(|value| words_in(value, words)),
        _ => {}
    }
}

fn applies(rule: &GuardRule, command: &Command) -> bool {
    let has = |wanted: &String| command.args.iter().any(|word| word == wanted);
    let touches = |word: &String| {
        let word = mark::unmark(word);
        rule.paths
            .iter()
            .any(|pattern| mark::glob_match(pattern, &word))
    };
    rule.args.iter().all(has) && (rule.paths.is_empty() || command.args.iter().any(touches))
}

/// Holds a rule against its own examples.
pub fn check_rule(rule: &GuardRule, context: &Context) -> Vec<RuleProblem> {
    let mut problems = Vec::new();
    if rule.program.is_empty() {
        problems.push(RuleProblem::NoProgram);
    }
    if rule.matches.is_empty() || rule.not_matches.is_empty() {
        problems.push(RuleProblem::NoExamples);
    }
    let settings = GuardSettings {
        rules: vec![rule.clone()],
        ..GuardSettings::default()
    };
    let context = Context {
        settings: &settings,
        ..*context
    };
    let found = |text: &String| {
        let (first, rest) = text.split_once(' ').unwrap_or((text, ""));
        let (tool, command) = match first.starts_with(SERVER_TOOL) {
            true => (first, rest),
            false => ("Bash", text.as_str()),
        };
        let input = serde_json::json!({ "command": command });
        let call = ToolCall {
            tool,
            input: &input,
            cwd: context.project,
        };
        crate::explain(&call, &context)
            .matched
            .iter()
            .any(|(id, _)| *id == rule.id)
    };
    for text in rule.matches.iter().filter(|text| !found(text)) {
        problems.push(RuleProblem::Missed(text.clone()));
    }
    for text in rule.not_matches.iter().filter(|text| found(text)) {
        problems.push(RuleProblem::Overreached(text.clone()));
    }
    problems
}

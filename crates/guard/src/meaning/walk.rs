//! Walks a script and hands every simple command to the rules.

use crate::RuleId;
use std::rc::Rc;

use crate::finding::Finding;
use crate::shell::{
    self, Assignment, Node, Part, Redirect, RedirectKind, Script, ShellError, Simple, Word,
};

use super::env::{Documents, Env, Flow, Function, Value};
use super::walked::Walked;
use super::walker::Walker;
use super::{files, known};
use crate::mark::{self, UNKNOWN};

/// How many commands may be walked, repeated ones included.
const MAX_STEPS: usize = 20_000;
/// How deep commands may stand in commands.
pub(super) const MAX_DEPTH: usize = 16;
/// How many variables and written files are remembered.
const MAX_REMEMBERED: usize = 256;
/// How much output of a command is remembered.
const MAX_OUTPUT: usize = 256 * 1024;

impl Walker<'_> {
    /// The start of every walk: a text that a shell in `cwd` would run.
    pub fn shell_text(&mut self, text: &str, cwd: &str) {
        let mut env = Env::in_directory(cwd);
        // A shell drops what a C string can't hold.
        if text.contains('\0') {
            self.code(&text.replace('\0', ""), &mut env, &Flow::Unknown);
        } else {
            self.code(text, &mut env, &Flow::Unknown);
        }
        for text in std::mem::take(&mut self.traps) {
            self.code(&text, &mut env, &Flow::Unknown);
        }
    }

    /// A text that is run as shell code within `env`.
    pub fn code(&mut self, text: &str, env: &mut Env, stdin: &Flow) -> Flow {
        if self.depth >= MAX_DEPTH {
            self.report(RuleId::OpaqueTooLarge, "nesting");
            return Flow::Unknown;
        }
        self.depth += 1;
        let flow = self.pieces(text, env, stdin);
        self.depth -= 1;
        flow.unwrap_or_else(|error| {
            let rule = match error {
                ShellError::Syntax(_) => RuleId::OpaqueSyntax,
                ShellError::TooLong | ShellError::TooMany | ShellError::TooDeep => {
                    RuleId::OpaqueTooLarge
                }
            };
            self.report(rule, text);
            Flow::Unknown
        })
    }

    /// A text that is run by the way: what it changes is not seen here.
    pub fn aside(&mut self, text: &str, env: &Env) -> Flow {
        self.code(text, &mut env.clone(), &Flow::Unknown)
    }

    fn pieces(&mut self, text: &str, env: &mut Env, stdin: &Flow) -> Result<Flow, ShellError> {
        let mut reader = shell::Reader::new(text)?;
        let mut flow = Flow::nothing();
        let mut walked = Walked::default();
        loop {
            let (line, version) = (reader.line(), env.version());
            if let Some(known) = walked.find(line, version) {
                reader.skip(line);
                flow = join(flow, known);
                continue;
            }
            let Some(piece) = reader.next_piece()? else {
                return Ok(flow);
            };
            let docs = Rc::new(piece.heredocs);
            let next = self.script(&piece.script, env, &docs, stdin);
            if piece.text == line && env.version() == version {
                walked.keep(line, version, &next);
            }
            flow = join(flow, next);
        }
    }

    pub fn script(
        &mut self,
        script: &Script,
        env: &mut Env,
        docs: &Documents,
        stdin: &Flow,
    ) -> Flow {
        let mut flow = Flow::nothing();
        for node in &script.nodes {
            flow = join(flow, self.node(node, env, docs, stdin));
        }
        flow
    }

    /// Bodies of which any may run, or none: all that they do is possible.
    fn branches(&mut self, bodies: &[Script], env: &mut Env, docs: &Documents, stdin: &Flow) {
        let one = |body| {
            let mut inner = env.clone();
            self.script(body, &mut inner, docs, stdin);
            inner
        };
        let ends: Vec<Env> = bodies.iter().map(one).collect();
        ends.into_iter().for_each(|end| env.merge(end));
    }

    pub fn node(&mut self, node: &Node, env: &mut Env, docs: &Documents, stdin: &Flow) -> Flow {
        match node {
            Node::Simple(simple) => self.simple(simple, env, docs, stdin),
            Node::Pipeline(stages) => self.pipeline(stages, env, docs, stdin),
            Node::Background(inner) => {
                let mut child = env.clone();
                child.forked = true;
                self.node(inner, &mut child, docs, stdin);
                env.keep_files_of(child);
                Flow::Unknown
            }
            Node::Function { name, body } => {
                if name == "ralph" {
                    self.report(RuleId::GuardSwitchOff, name);
                }
                let function = Function {
                    body: Rc::clone(body),
                    documents: Rc::clone(docs),
                };
                env.functions.insert(name.clone(), function);
                Flow::nothing()
            }
            Node::Test(words) => {
                for word in words {
                    self.texts(word, env, docs);
                }
                Flow::nothing()
            }
            Node::Subshell(script, redirects) => {
                let mut child = env.clone();
                let flow =
                    self.redirected(redirects, &mut child, docs, stdin, |walker, env, stdin| {
                        walker.script(script, env, docs, stdin)
                    });
                env.keep_files_of(child);
                flow
            }
            Node::Group(_, redirects)
            | Node::If(_, redirects)
            | Node::Case { redirects, .. }
            | Node::For { redirects, .. }
            | Node::While { redirects, .. } => {
                self.redirected(redirects, env, docs, stdin, |walker, env, stdin| {
                    walker.compound(node, env, docs, stdin)
                })
            }
        }
    }

    /// What stands between the words of a compound command.
    fn compound(&mut self, node: &Node, env: &mut Env, docs: &Documents, stdin: &Flow) -> Flow {
        match node {
            Node::Group(script, _) => return self.script(script, env, docs, stdin),
            Node::If(parts, _) => {
                if let Some((condition, bodies)) = parts.split_first() {
                    self.script(condition, env, docs, stdin);
                    self.branches(bodies, env, docs, stdin);
                }
            }
            Node::Case { subject, arms, .. } => {
                self.texts(subject, env, docs);
                self.branches(arms, env, docs, stdin);
            }
            Node::For {
                name, words, body, ..
            } => {
                let values = match words {
                    Some(words) => self.fields(words, env, docs),
                    None => env.positional.clone(),
                };
                env.variables.insert(name.clone(), Value::Texts(values));
                self.branches(std::slice::from_ref(body), env, docs, stdin);
            }
            Node::While {
                condition, body, ..
            } => {
                self.script(condition, env, docs, stdin);
                self.branches(std::slice::from_ref(body), env, docs, stdin);
            }
            _ => {}
        }
        Flow::Unknown
    }

    fn pipeline(&mut self, stages: &[Node], env: &mut Env, docs: &Documents, stdin: &Flow) -> Flow {
        let mut flow = stdin.clone();
        for (index, stage) in stages.iter().enumerate() {
            let mut child = env.clone();
            child.forked = true;
            let before = self.findings.len();
            flow = self.node(stage, &mut child, docs, &flow);
            env.keep_files_of(child);
            if let Some(next) = stages.get(index + 1) {
                self.forgive_narrow_listing(before, next, env, docs);
            }
        }
        flow
    }

    /// `env | grep NODE` shows one harmless line, not the environment.
    fn forgive_narrow_listing(
        &mut self,
        before: usize,
        next: &Node,
        env: &mut Env,
        docs: &Documents,
    ) {
        let listed = |finding: &Finding| finding.is(RuleId::SecretEnvironment);
        if !self.findings.iter().skip(before).any(listed) {
            return;
        }
        let Node::Simple(next) = next else { return };
        let argv = self.fields(&next.words, env, docs);
        let Some((program, args)) = argv.split_first() else {
            return;
        };
        let name = program.rsplit('/').next().unwrap_or(program);
        if known::keeps_only_harmless_lines(name, args) {
            let mut index = 0;
            self.findings.retain(|finding| {
                index += 1;
                index <= before || !listed(finding)
            });
        }
    }

    /// Runs `inner` with the redirections around it.
    fn redirected(
        &mut self,
        redirects: &[Redirect],
        env: &mut Env,
        docs: &Documents,
        stdin: &Flow,
        inner: impl FnOnce(&mut Self, &mut Env, &Flow) -> Flow,
    ) -> Flow {
        if redirects.is_empty() {
            return inner(self, env, stdin);
        }
        let mut input = None;
        let mut outputs = Vec::new();
        for redirect in redirects {
            self.redirect(redirect, env, docs, &mut input, &mut outputs);
        }
        let flow = inner(self, env, input.as_ref().unwrap_or(stdin));
        if outputs.is_empty() {
            return flow;
        }
        for path in outputs {
            self.note_file(&path, &flow, env);
        }
        Flow::nothing()
    }

    fn redirect(
        &mut self,
        redirect: &Redirect,
        env: &mut Env,
        docs: &Documents,
        input: &mut Option<Flow>,
        outputs: &mut Vec<String>,
    ) {
        match &redirect.kind {
            RedirectKind::Read(word) => {
                for path in self.texts(word, env, docs) {
                    files::read(self, &path, env);
                    *input = Some(self.file_flow(&path, env));
                }
            }
            RedirectKind::Write(word) => {
                for path in self.texts(word, env, docs) {
                    files::write(self, &path, env);
                    if redirect.descriptor.is_none_or(|number| number == 1) {
                        outputs.push(path);
                    }
                }
            }
            RedirectKind::Duplicate(word) => {
                for target in self.texts(word, env, docs) {
                    let number = target.trim_end_matches('-');
                    let is_descriptor = number.bytes().all(|byte| byte.is_ascii_digit());
                    if !is_descriptor && !mark::has_computed(&target) {
                        files::write(self, &target, env);
                        outputs.push(target);
                    }
                }
            }
            RedirectKind::HereString(word) => {
                let mut text = self.text(word, env, docs);
                text.push('\n');
                *input = Some(Flow::Text(text));
            }
            RedirectKind::HereDoc(index) => {
                let body = docs.get(*index).cloned().unwrap_or_default();
                *input = Some(Flow::Text(self.text(&body, env, docs)));
            }
        }
    }

    /// What stands in a file, as far as this text itself says.
    pub fn file_flow(&self, path: &str, env: &Env) -> Flow {
        if mark::has_computed(path) {
            return if path.contains(mark::NETWORK) {
                Flow::Network
            } else {
                Flow::Files
            };
        }
        let paths = self.absolute(path, env);
        match paths.iter().find_map(|path| env.files.get(path)) {
            Some(flow) => flow.clone(),
            None if path == "/dev/stdin" || path == "-" => Flow::Unknown,
            None => Flow::Files,
        }
    }

    pub fn note_file(&mut self, path: &str, flow: &Flow, env: &mut Env) {
        if env.files.len() > MAX_REMEMBERED {
            self.report(RuleId::OpaqueTooLarge, path);
            return;
        }
        for path in self.absolute(path, env) {
            let flow = match (env.files.remove(&path), flow.clone()) {
                (Some(before), now) => join(before, now),
                (None, now) => now,
            };
            env.files.insert(path, flow);
        }
    }

    fn assigned(&mut self, set: &Assignment, env: &mut Env, docs: &Documents) -> (String, Value) {
        let name = set.name.clone();
        let value = if let [Part::Array(words)] = set.value.parts.as_slice() {
            Value::List(self.fields(words, env, docs))
        } else {
            let mut texts = self.texts(&set.value, env, docs);
            if texts.is_empty() {
                texts.push(String::new());
            }
            Value::Texts(texts)
        };
        if !set.append {
            return (name, value);
        }
        let value = match (env.variables.get(&name).cloned(), value) {
            (Some(Value::List(mut before)), Value::List(more)) => {
                before.extend(more);
                Value::List(before)
            }
            (Some(Value::Texts(before)), Value::Texts(more)) => {
                let ends = |start| more.iter().map(move |end| format!("{start}{end}"));
                Value::Texts(before.iter().flat_map(ends).take(16).collect())
            }
            (_, value) => value,
        };
        (name, value)
    }

    fn simple(&mut self, simple: &Simple, env: &mut Env, docs: &Documents, stdin: &Flow) -> Flow {
        self.steps += 1;
        if self.steps > MAX_STEPS {
            if self.steps == MAX_STEPS + 1 {
                self.report(RuleId::OpaqueTooLarge, "steps");
            }
            return Flow::Unknown;
        }
        let mut prefix = Vec::new();
        for assignment in &simple.assignments {
            let (name, value) = self.assigned(assignment, env, docs);
            self.judges.assignment(self, &name, &value, env);
            if env.variables.len() + env.files.len() > MAX_REMEMBERED {
                self.report(RuleId::OpaqueTooLarge, &name);
                return Flow::Unknown;
            }
            if simple.words.is_empty() {
                env.variables.insert(name, value);
            } else {
                prefix.push((name, value));
            }
        }
        self.redirected(&simple.redirects, env, docs, stdin, |walker, env, stdin| {
            let Some((first, rest)) = simple.words.split_first() else {
                // `$(< file)` and `< file` alone give the file's content.
                return match simple.redirects.is_empty() {
                    true => Flow::nothing(),
                    false => stdin.clone(),
                };
            };
            walker.declared_lists(first, rest, env, docs);
            let starts = walker.alternatives(first, env, docs);
            let rest = walker.fields(rest, env, docs);
            let mut flow = Flow::nothing();
            for mut argv in starts {
                argv.extend(rest.iter().cloned());
                flow = if prefix.is_empty() {
                    walker.run(&argv, env, stdin)
                } else {
                    walker.run_with(&argv, &prefix, env, stdin)
                };
            }
            flow
        })
    }

    /// `declare -a list=(…)`: the list is a value, not several words.
    fn declared_lists(&mut self, first: &Word, rest: &[Word], env: &mut Env, docs: &Documents) {
        let declares = matches!(
            first.parts.as_slice(),
            [Part::Plain(name)]
                if matches!(name.as_str(), "declare" | "local" | "typeset" | "readonly" | "export")
        );
        for word in rest.iter().filter(|_| declares) {
            if let Some(assignment) = shell::as_assignment(word)
                && let [Part::Array(_)] = assignment.value.parts.as_slice()
            {
                let (name, value) = self.assigned(&assignment, env, docs);
                env.variables.insert(name, value);
            }
        }
    }
}

/// What comes out when one output follows the other.
pub fn join(first: Flow, second: Flow) -> Flow {
    match (first, second) {
        (Flow::Network, _) | (_, Flow::Network) => Flow::Network,
        (Flow::Environment, _) | (_, Flow::Environment) => Flow::Environment,
        (Flow::Text(first), Flow::Text(second)) if first.len() + second.len() > MAX_OUTPUT => {
            Flow::Unknown
        }
        (Flow::Text(mut first), Flow::Text(second)) => {
            first.push_str(&second);
            Flow::Text(first)
        }
        (Flow::Text(first), other) if first.is_empty() => other,
        (other, Flow::Text(second)) if second.is_empty() => other,
        (Flow::Text(mut first), _) => {
            first.push(UNKNOWN);
            Flow::Text(first)
        }
        (_, Flow::Text(second)) => Flow::Text(format!("{UNKNOWN}{second}")),
        (Flow::Archive, _) | (_, Flow::Archive) => Flow::Archive,
        (Flow::Files, _) | (_, Flow::Files) => Flow::Files,
        (Flow::Names, Flow::Names) => Flow::Names,
        _ => Flow::Unknown,
    }
}

/// Words as shell text that gives the same words.
pub fn quoted(words: &[String]) -> String {
    let one = |word: &String| format!("'{}'", word.replace('\'', r"'\''"));
    words.iter().map(one).collect::<Vec<_>>().join(" ")
}

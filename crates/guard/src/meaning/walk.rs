//! Walks a script and hands every simple command to the rules.

use crate::RuleId;
use std::rc::Rc;

use crate::finding::Finding;
use crate::shell::{self, Assignment, Node, Part, Script, ShellError, Sign, Simple, Word};

use super::env::{Documents, Env, Flow, Function, Value};
use super::walked::Walked;
use super::walker::Walker;
use super::{jobs, known};
use crate::mark::{self, UNKNOWN};

/// How many commands may be walked, repeated ones included.
const MAX_STEPS: usize = 20_000;
/// How deep commands may stand in commands.
pub(super) const MAX_DEPTH: usize = 16;
/// How many variables and written files are remembered.
pub(super) const MAX_REMEMBERED: usize = 256;
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
            Node::Coproc(name, inner) => {
                let mut child = env.clone();
                child.forked = true;
                let flow = self.node(inner, &mut child, docs, &Flow::Unknown);
                env.keep_files_of(child);
                let ends = [env.free_descriptor(), env.free_descriptor() + 1];
                env.open(&ends[0].to_string(), flow);
                let ends = ends.iter().map(u32::to_string).collect();
                env.assign(name, Value::List(ends));
                Flow::Unknown
            }
            Node::AndOr(all) => self.and_or(all, env, docs, stdin),
            Node::Function { name, body } => self.defined(name, body, env, docs),
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

    /// A function is walked where it is called; one that the shell itself
    /// calls by its name, here.
    fn defined(&mut self, name: &str, body: &Rc<Node>, env: &mut Env, docs: &Documents) -> Flow {
        if name == "ralph" {
            self.report(RuleId::GuardSwitchOff, name);
        }
        let function = Function {
            body: Rc::clone(body),
            documents: Rc::clone(docs),
        };
        env.functions.insert(name.to_owned(), function);
        if known::is_handler(name) {
            self.node(body, &mut env.clone(), docs, &Flow::Unknown);
        }
        Flow::nothing()
    }

    /// `a || b`: the second runs where the first failed, whatever that one had
    /// done by then; what follows may come after either.
    fn and_or(
        &mut self,
        all: &[(Sign, Node)],
        env: &mut Env,
        docs: &Documents,
        stdin: &Flow,
    ) -> Flow {
        let mut failed = env.clone();
        let mut flow = Flow::nothing();
        for (at, (sign, node)) in all.iter().enumerate() {
            if *sign == Sign::And {
                if at > 0 {
                    failed.merge(env.clone());
                }
                flow = join(flow, self.node(node, env, docs, stdin));
                continue;
            }
            let mut other = failed.clone();
            other.merge(env.clone());
            let directories = other.directories.clone();
            flow = join(flow, self.node(node, &mut other, docs, stdin));
            // A directory that could not be entered is the rare case.
            if other.directories == directories && other.version() != env.version() {
                other.directories.clone_from(&env.directories);
            }
            if !jobs::leaves(node) {
                env.merge(other);
            }
        }
        flow
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
                env.assign(name, Value::Texts(values));
                self.branches(std::slice::from_ref(body), env, docs, stdin);
            }
            Node::While {
                condition,
                body,
                endless,
                ..
            } => {
                if *endless && jobs::piles_up(body) {
                    self.report(RuleId::SystemForkBomb, "while");
                }
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

    fn assigned(&mut self, set: &Assignment, env: &mut Env, docs: &Documents) -> (String, Value) {
        let name = set.name.clone();
        let value = if let [Part::Array(words)] = set.value.parts.as_slice() {
            let items = self.fields(words, env, docs);
            Value::List(items.into_iter().map(without_key).collect())
        } else {
            let mut texts = self.texts(&set.value, env, docs);
            if texts.is_empty() {
                texts.push(String::new());
            }
            Value::Texts(texts)
        };
        if set.element {
            let mut items = match env.variables.get(&name) {
                Some(Value::List(items)) => items.clone(),
                _ => Vec::new(),
            };
            if let (Value::Texts(texts), true) = (value, items.len() < MAX_REMEMBERED) {
                items.extend(texts);
            }
            return (name, Value::List(items));
        }
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

    /// Counts one more command; `false` where there were too many.
    pub(super) fn stepped(&mut self) -> bool {
        self.steps += 1;
        if self.steps == MAX_STEPS + 1 {
            self.report(RuleId::OpaqueTooLarge, "steps");
        }
        self.steps <= MAX_STEPS
    }

    fn simple(&mut self, simple: &Simple, env: &mut Env, docs: &Documents, stdin: &Flow) -> Flow {
        if !self.stepped() {
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
                env.assign(&name, value);
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
                if !matches!(first.literal_text().as_str(), "readonly" | "export") {
                    env.enter_scope(&name);
                }
                env.assign(&name, value);
            }
        }
    }
}

/// The value of `[key]=value` in a list.
fn without_key(item: String) -> String {
    let rest = item
        .strip_prefix([mark::CLASS, '['])
        .and_then(|rest| rest.split_once("]="));
    match rest {
        Some((_, value)) => value.to_owned(),
        None => item,
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

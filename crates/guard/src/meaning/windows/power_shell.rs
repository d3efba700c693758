//! What a PowerShell text does: its words get their values as far as the text
//! says them, its verbs and programs are judged.

use super::read::{Part, Pipeline, Script, Stage, Word};
use super::verbs::{self, Called};
use crate::RuleId;
use crate::mark::{self, NETWORK, SECRET, UNKNOWN};
use crate::meaning::env::{Env, Flow, Value};
use crate::meaning::files;
use crate::meaning::walk::join;
use crate::meaning::walker::Walker;

pub fn run(walker: &mut Walker, script: &Script, env: &mut Env, stdin: &Flow) -> Flow {
    let mut shell = Shell {
        walker,
        env,
        functions: Vec::new(),
        calls: Vec::new(),
        depth: 0,
    };
    let flow = shell.script(script, stdin);
    // What nobody takes is printed.
    if text_of(&flow).contains(SECRET) {
        walker.report(RuleId::SecretEnvironment, "$env:");
    }
    flow
}

pub struct Shell<'s, 'w, 'e, 't> {
    pub walker: &'s mut Walker<'w>,
    pub env: &'e mut Env,
    functions: Vec<Function<'t>>,
    /// The names of the functions that are being walked.
    calls: Vec<String>,
    depth: usize,
}

#[derive(Clone)]
struct Function<'t> {
    name: String,
    params: Vec<String>,
    body: &'t Script,
}

/// How deep blocks, expressions, functions and keywords may stand in each other.
const MAX_NESTED: usize = 60;

impl<'t> Shell<'_, '_, '_, 't> {
    pub fn script(&mut self, script: &'t Script, stdin: &Flow) -> Flow {
        self.deeper(|shell| {
            let mut flow = Flow::nothing();
            for pipeline in &script.pipelines {
                flow = join(flow, shell.pipeline(pipeline, stdin));
            }
            flow
        })
    }

    /// What stands in something else, unless that is too deep to be judged.
    fn deeper(&mut self, walk: impl FnOnce(&mut Self) -> Flow) -> Flow {
        if self.depth > MAX_NESTED {
            self.walker.report(RuleId::OpaqueTooLarge, "nesting");
            return Flow::Unknown;
        }
        self.depth += 1;
        let flow = walk(self);
        self.depth -= 1;
        flow
    }

    fn pipeline(&mut self, pipeline: &'t Pipeline, stdin: &Flow) -> Flow {
        let mut flow = stdin.clone();
        for (index, stage) in pipeline.stages.iter().enumerate() {
            let piped = std::mem::replace(&mut self.env.forked, index > 0);
            flow = self.stage(stage, &flow);
            self.env.forked = piped;
        }
        if let Some(name) = &pipeline.assigns {
            let value = text_of(&flow);
            if let Some(name) = name.strip_prefix("env:") {
                let value = Value::text(&value);
                let judges = self.walker.judges;
                judges.assignment(self.walker, &name.to_uppercase(), &value, self.env);
            }
            self.env.assign(name, Value::text(&value));
            return Flow::nothing();
        }
        flow
    }

    fn stage(&mut self, stage: &'t Stage, stdin: &Flow) -> Flow {
        if !self.walker.stepped() {
            return Flow::Unknown;
        }
        let flow = match stage.words.first() {
            None => stdin.clone(),
            Some(first) if !stage.called && is_value(first) => self.expression(&stage.words),
            Some(_) => self.command(&stage.words, stdin),
        };
        for word in &stage.writes {
            let path = self.value(word);
            if !path.is_empty() {
                files::write(self.walker, &path, self.env);
                self.walker.note_file(&path, &flow, self.env);
            }
        }
        flow
    }

    /// Values with operators between them.
    fn expression(&mut self, words: &'t [Word]) -> Flow {
        let mut values: Vec<String> = Vec::new();
        let mut at = 0;
        while let Some(word) = words.get(at) {
            at += 1;
            let operator = word.plain().unwrap_or_default().to_lowercase();
            match operator.as_str() {
                "+" => {
                    let more = words.get(at).map(|word| self.value(word));
                    at += 1;
                    let before = values.pop().unwrap_or_default();
                    values.push(format!("{before}{}", more.unwrap_or_default()));
                }
                "-f" => {
                    let format = values.pop().unwrap_or_default();
                    let rest: Vec<String> = words.iter().skip(at).map(|w| self.value(w)).collect();
                    values.push(formatted(&format, &rest));
                    at = words.len();
                }
                "-join" => {
                    let sign = words.get(at).map(|word| self.value(word));
                    at += 1;
                    let all = match values.is_empty() {
                        true => sign.unwrap_or_default().replace('\n', ""),
                        false => values.join("\n").replace('\n', &sign.unwrap_or_default()),
                    };
                    values = vec![all];
                }
                "-replace" | "-creplace" => {
                    let from = words.get(at).map(|word| self.value(word));
                    let to = words.get(at + 1).map(|word| self.value(word));
                    at += 2;
                    let text = values.pop().unwrap_or_default();
                    let from = from.unwrap_or_default();
                    values.push(match from.is_empty() {
                        true => text,
                        false => text.replace(&from, &to.unwrap_or_default()),
                    });
                }
                // A comparison, whatever it compares.
                _ if operator.len() > 1 && operator.starts_with('-') => {}
                _ => {
                    let value = self.value(word);
                    values.push(value);
                }
            }
        }
        flow_of(values.join("\n"))
    }

    /// What a word is, as far as the text says it.
    pub fn value(&mut self, word: &'t Word) -> String {
        let mut text = String::new();
        for (index, part) in word.parts.iter().enumerate() {
            match part {
                Part::Text(piece, true) => text.push_str(piece),
                Part::Text(piece, false) => {
                    let at_home = index == 0 && (piece == "~" || piece.starts_with(['~']));
                    let rest = match piece.strip_prefix('~') {
                        Some(rest)
                            if at_home && (rest.is_empty() || rest.starts_with(['/', '\\'])) =>
                        {
                            text.push_str(self.walker.home());
                            rest
                        }
                        _ => piece,
                    };
                    text.extend(rest.chars().map(|c| match c {
                        '*' | '?' => mark::with_globs(c),
                        other => other,
                    }));
                }
                Part::Variable(name) => text.push_str(&self.variable(name)),
                Part::Inner(script) => {
                    let flow = self.script(script, &Flow::Unknown);
                    text.push_str(&text_of(&flow));
                }
                Part::Block(_) => {}
                Part::Table(script) => self.table(script),
                Part::Member(name, args) => {
                    let args: Vec<String> = match args {
                        Some(script) => self.arguments(script),
                        None => Vec::new(),
                    };
                    text = self.member(&text, &name.to_lowercase(), &args);
                }
            }
        }
        text
    }

    /// `@{ name = value; … }`: the values are expressions.
    fn table(&mut self, script: &'t Script) {
        for stage in script.pipelines.iter().flat_map(|p| &p.stages) {
            let sign = stage
                .words
                .iter()
                .position(|word| word.plain() == Some("="));
            let values = sign
                .and_then(|at| stage.words.get(at + 1..))
                .unwrap_or_default();
            match values.first() {
                Some(first) if !is_value(first) => {
                    self.command(values, &Flow::Unknown);
                }
                _ => stage.words.iter().for_each(|word| drop(self.value(word))),
            }
        }
    }

    fn arguments(&mut self, script: &'t Script) -> Vec<String> {
        let mut all = Vec::new();
        for stage in script.pipelines.iter().flat_map(|p| p.stages.first()) {
            let joined = stage.words.iter().any(|word| word.plain() == Some("+"));
            if joined {
                all.push(text_of(&self.expression(&stage.words)));
            } else {
                all.extend(stage.words.iter().map(|word| self.value(word)));
            }
        }
        all
    }

    fn variable(&mut self, name: &str) -> String {
        let lower = name.to_lowercase();
        let plain = ["script:", "global:", "local:", "private:", "using:"]
            .iter()
            .find_map(|scope| lower.strip_prefix(scope))
            .unwrap_or(&lower);
        match self.env.variables.get(plain) {
            Some(Value::Texts(texts)) => return texts.first().cloned().unwrap_or_default(),
            Some(Value::List(items)) => return items.join("\n"),
            None => {}
        }
        if let Some(name) = plain.strip_prefix("env:") {
            return self.walker.windows_variable(name, self.env);
        }
        match plain {
            "null" => String::new(),
            "true" | "false" | "?" | "lastexitcode" | "pid" | "iswindows" | "islinux"
            | "ismacos" => "value".to_owned(),
            "home" | "pwd" => self.walker.windows_variable(plain, self.env),
            "profile" => format!("{}/Documents/PowerShell/profile.ps1", self.walker.home()),
            "psscriptroot" => self.walker.project().to_owned(),
            "pshome" => "/C:/Windows/System32/WindowsPowerShell".to_owned(),
            _ => UNKNOWN.to_string(),
        }
    }

    /// A text that is run as code.
    pub fn evaluate(&mut self, text: &str) -> Flow {
        if text.contains(NETWORK) {
            self.walker.report(RuleId::NetRunRemoteCode, "iex");
            return Flow::Unknown;
        }
        let is_unread = |c: char| mark::is_computed(c) || c.is_whitespace();
        if text.chars().all(is_unread) {
            self.walker.report(RuleId::OpaqueCode, "iex");
            return Flow::Unknown;
        }
        self.walker.power_shell(text, self.env, &Flow::Unknown)
    }

    fn command(&mut self, words: &'t [Word], stdin: &Flow) -> Flow {
        let Some((first, rest)) = words.split_first() else {
            return Flow::nothing();
        };
        // `if(…){…}` is one word.
        let keyword = match first.parts.first() {
            Some(Part::Text(text, false)) => text.to_lowercase(),
            _ => String::new(),
        };
        let behind = if first.parts.len() > 1 { words } else { rest };
        if let Some(flow) = self.keyword(&keyword, behind, stdin) {
            return flow;
        }
        let name = self.value(first);
        // `& { … }`
        if name.is_empty() {
            return self.blocks(words, stdin);
        }
        let rule = match &name {
            name if name.contains(NETWORK) => Some(RuleId::NetRunRemoteCode),
            name if mark::has_computed(name) => {
                let base = name.rsplit(['/', '\\']).next().unwrap_or(name);
                mark::has_computed(base).then_some(RuleId::OpaqueCommand)
            }
            _ => None,
        };
        if let Some(rule) = rule {
            self.walker.report(rule, &name);
            return Flow::Unknown;
        }
        let lower = name.to_lowercase();
        let mut args: Vec<String> = Vec::with_capacity(rest.len());
        for word in rest {
            let value = self.value(word);
            let is_block = matches!(word.parts.as_slice(), [Part::Block(_)]);
            if !is_block {
                args.extend(value.split('\n').map(str::to_owned));
            }
        }
        let mut known = self.functions.iter().rev();
        if let Some(function) = known.find(|function| function.name == lower).cloned() {
            let given = args.iter().filter(|word| !word.starts_with('-'));
            for (param, value) in function.params.iter().zip(given) {
                self.env.assign(param, Value::text(value));
            }
            if self.calls.contains(&lower) {
                return Flow::Unknown;
            }
            self.calls.push(lower);
            let flow = self.script(function.body, stdin);
            self.calls.pop();
            return flow;
        }
        let mut words = vec![name.clone()];
        words.extend(args.iter().cloned());
        self.walker.trace.command(&words);
        let called = Called {
            name: &name,
            args: &args,
            words: rest,
            stdin,
        };
        verbs::judge(self, &called)
    }

    /// Words that belong to the language; `None` if this is none of them.
    fn keyword(&mut self, keyword: &str, rest: &'t [Word], stdin: &Flow) -> Option<Flow> {
        match keyword {
            "function" | "filter" | "workflow" => {
                self.functions.extend(function(rest));
                Some(Flow::nothing())
            }
            "foreach" => {
                for part in rest.iter().flat_map(|word| &word.parts) {
                    if let Part::Inner(script) = part {
                        self.each(script);
                    }
                }
                Some(self.blocks(rest, stdin))
            }
            "if" | "elseif" | "else" | "while" | "do" | "until" | "for" | "switch" | "try"
            | "catch" | "finally" | "trap" | "begin" | "process" | "end" => {
                for word in rest {
                    self.value(word);
                }
                Some(self.blocks(rest, stdin))
            }
            "return" | "throw" | "exit" => {
                let is_again = |word: &&Word| match word.parts.first() {
                    Some(Part::Text(text, false)) => {
                        one_of!(text.to_lowercase().as_str(), "return throw exit")
                    }
                    _ => false,
                };
                let again = rest.iter().take_while(is_again).count();
                let (again, rest) = rest.split_at(again);
                // `return(…)` is one word.
                let own = again.last().map(|word| flow_of(self.value(word)));
                match rest.first() {
                    Some(first) if is_value(first) => Some(self.expression(rest)),
                    Some(_) => Some(self.deeper(|shell| shell.command(rest, stdin))),
                    None => Some(own.unwrap_or_else(Flow::nothing)),
                }
            }
            // What follows it on its line runs.
            "param" => {
                let is_list = |word: &&Word| {
                    word.plain()
                        .is_some_and(|text| text.eq_ignore_ascii_case("param"))
                        || word.parts.iter().any(|part| matches!(part, Part::Inner(_)))
                };
                let lists = rest.iter().take_while(is_list).count();
                match rest.get(lists..) {
                    Some(rest) if !rest.is_empty() => {
                        Some(self.deeper(|shell| shell.command(rest, stdin)))
                    }
                    _ => Some(Flow::nothing()),
                }
            }
            "using" | "class" | "enum" | "break" | "continue" => Some(Flow::nothing()),
            _ => None,
        }
    }

    /// `foreach ($x in …)`.
    fn each(&mut self, script: &'t Script) {
        let Some(stage) = script.pipelines.first().and_then(|p| p.stages.first()) else {
            return;
        };
        if let [variable, sign, items @ ..] = stage.words.as_slice()
            && let [Part::Variable(name)] = variable.parts.as_slice()
            && sign
                .plain()
                .is_some_and(|sign| sign.eq_ignore_ascii_case("in"))
        {
            let flow = match items.first() {
                Some(first) if is_value(first) => self.expression(items),
                _ => self.command(items, &Flow::Unknown),
            };
            self.env
                .assign(&name.to_lowercase(), Value::text(&text_of(&flow)));
        }
    }

    /// Every block among the words, with what is piped in as `$_`.
    pub fn blocks(&mut self, words: &'t [Word], stdin: &Flow) -> Flow {
        let mut flow = Flow::nothing();
        for part in words.iter().flat_map(|word| &word.parts) {
            if let Part::Block(script) = part {
                let item = Value::text(&text_of(stdin));
                self.env.assign("_", item.clone());
                self.env.assign("psitem", item);
                flow = join(flow, self.script(script, stdin));
            }
        }
        flow
    }
}

/// `function name($a, $b) { … }`, `function name { param($a) … }`.
fn function(words: &[Word]) -> Option<Function<'_>> {
    let Some(Part::Text(name, false)) = words.first()?.parts.first() else {
        return None;
    };
    let parts = || words.iter().flat_map(|word| &word.parts);
    let body = parts().find_map(|part| match part {
        Part::Block(script) => Some(script),
        _ => None,
    })?;
    let first = body.pipelines.first().and_then(|p| p.stages.first());
    let own = first.and_then(|stage| stage.words.first());
    let own = own.filter(|word| {
        matches!(word.parts.first(), Some(Part::Text(text, false)) if text.eq_ignore_ascii_case("param"))
    });
    let listed = parts().chain(own.into_iter().flat_map(|word| &word.parts));
    let mut params = Vec::new();
    for part in listed {
        let Part::Inner(script) = part else { continue };
        for pipeline in &script.pipelines {
            params.extend(pipeline.assigns.clone());
            let words = pipeline.stages.iter().flat_map(|stage| &stage.words);
            params.extend(
                words
                    .flat_map(|word| &word.parts)
                    .filter_map(|part| match part {
                        Part::Variable(name) => Some(name.to_lowercase()),
                        _ => None,
                    }),
            );
        }
    }
    Some(Function {
        name: name.to_lowercase(),
        params,
        body,
    })
}

/// Does a statement that begins like this give a value?
fn is_value(word: &Word) -> bool {
    match word.parts.first() {
        Some(Part::Text(_, quoted)) if *quoted => true,
        Some(Part::Text(text, _)) => {
            text.starts_with(['[', '!', '+'])
                || text.starts_with('-')
                || text.starts_with(|c: char| c.is_ascii_digit()) && !text.contains(['.', '\\'])
        }
        Some(Part::Variable(_) | Part::Inner(_) | Part::Table(_)) => true,
        Some(Part::Block(_) | Part::Member(..)) | None => false,
    }
}

/// `'{1}{0}' -f 'a', 'b'`.
fn formatted(format: &str, values: &[String]) -> String {
    let mut text = format.to_owned();
    for (index, value) in values.iter().enumerate() {
        text = text.replace(&format!("{{{index}}}"), value);
    }
    text
}

fn flow_of(text: String) -> Flow {
    match text.chars().next() {
        Some(NETWORK) => Flow::Network,
        Some(UNKNOWN) if text.chars().count() == 1 => Flow::Unknown,
        _ => Flow::Text(text),
    }
}

pub fn text_of(flow: &Flow) -> String {
    match flow {
        Flow::Text(text) => text.trim_end_matches('\n').to_owned(),
        Flow::Network => NETWORK.to_string(),
        Flow::Environment => SECRET.to_string(),
        Flow::Unknown | Flow::Files | Flow::Names | Flow::Archive => UNKNOWN.to_string(),
    }
}

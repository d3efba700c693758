//! Words become the fields that a command is given.

use crate::RuleId;
use crate::shell::{Operation, Part, Word};

use super::braces::{Atom, atoms, braces, plain};
use super::env::{Documents, Env, Flow, Value};
use super::known;
use super::parameter::{cut_prefix, cut_suffix, element, replace, slice};
use super::walker::Walker;
use crate::mark::{self, NETWORK, SECRET, UNKNOWN};

/// How many texts one word may become.
const MAX_ALTERNATIVES: usize = 64;
/// A field that grows longer than this is unknown.
const MAX_FIELD: usize = 128 * 1024;
/// How many fields the words of one command may have.
const MAX_FIELDS: usize = 10_000;

/// The fields that are finished and the one that grows.
#[derive(Clone, Default)]
struct Building {
    fields: Vec<String>,
    current: Option<String>,
}

impl Building {
    fn push(&mut self, character: char) {
        self.current.get_or_insert_default().push(character);
    }

    fn push_text(&mut self, text: &str) {
        let current = self.current.get_or_insert_default();
        if current.len() + text.len() > MAX_FIELD {
            current.clear();
            current.push(UNKNOWN);
        } else {
            current.push_str(text);
        }
    }

    fn split(&mut self) {
        let mut field = self.current.take();
        // A bracket that nothing closes is a bracket, as in `[ -f x ]`.
        if let Some(text) = field
            .as_mut()
            .filter(|text| text.contains(mark::CLASS) && !text.contains(']'))
        {
            *text = text.replace(mark::CLASS, "[");
        }
        self.fields.extend(field);
    }

    /// A value that is not quoted: blanks separate fields, globs are alive.
    fn push_split(&mut self, text: &str, separators: &str) {
        let length = self.current.as_ref().map_or(0, String::len);
        if length + text.len() > MAX_FIELD {
            self.current = Some(UNKNOWN.to_string());
            return;
        }
        for character in text.chars() {
            if separators.contains(character) {
                self.split();
            } else {
                self.push(mark::with_globs(character));
            }
        }
    }
}

impl Walker<'_> {
    /// All fields of all these words; where a word has several possible
    /// values, each of them is there.
    pub fn fields(&mut self, words: &[Word], env: &mut Env, docs: &Documents) -> Vec<String> {
        let mut fields = Vec::with_capacity(words.len());
        for word in words {
            for alternative in self.alternatives(word, env, docs) {
                fields.extend(alternative);
            }
            if fields.len() > MAX_FIELDS {
                self.report(RuleId::OpaqueTooLarge, "fields");
                fields.truncate(MAX_FIELDS);
                break;
            }
        }
        fields
    }

    /// The texts that a word may be where no field splitting happens.
    pub fn texts(&mut self, word: &Word, env: &mut Env, docs: &Documents) -> Vec<String> {
        let mut texts: Vec<String> = self
            .alternatives(word, env, docs)
            .into_iter()
            .map(|fields| fields.join(" "))
            .collect();
        texts.dedup();
        texts
    }

    pub fn text(&mut self, word: &Word, env: &mut Env, docs: &Documents) -> String {
        self.texts(word, env, docs)
            .into_iter()
            .next()
            .unwrap_or_default()
    }

    /// The lists of fields that a word may become.
    pub fn alternatives(
        &mut self,
        word: &Word,
        env: &mut Env,
        docs: &Documents,
    ) -> Vec<Vec<String>> {
        if let [Part::Plain(text)] = word.parts.as_slice()
            && !text.contains(['{', '*', '?', '[', '~'])
        {
            return vec![vec![text.clone()]];
        }
        if let [Part::Quoted(text)] = word.parts.as_slice() {
            return vec![vec![text.clone()]];
        }
        let atoms = atoms(word);
        let mut results = braces(&atoms);
        if results.len() == 1
            && let Some(only) = results.pop()
        {
            return self.build(&only, env, docs);
        }
        let mut fields = Vec::new();
        for result in &results {
            for alternative in self.build(result, env, docs) {
                fields.extend(alternative);
            }
        }
        vec![fields]
    }

    fn build(&mut self, atoms: &[Atom], env: &mut Env, docs: &Documents) -> Vec<Vec<String>> {
        let mut all = vec![Building::default()];
        let skip = tilde(atoms, self.home(), &mut all);
        for atom in atoms.iter().skip(skip) {
            match atom {
                Atom::Empty => all.iter_mut().for_each(|one| one.push_text("")),
                Atom::Char(character, quoted) => {
                    let character = if *quoted {
                        *character
                    } else {
                        mark::with_globs(*character)
                    };
                    all.iter_mut().for_each(|one| one.push(character));
                }
                Atom::Part(part) => self.build_part(part, &mut all, env, docs),
            }
        }
        all.into_iter()
            .map(|mut one| {
                one.split();
                one.fields
            })
            .collect()
    }

    fn build_part(
        &mut self,
        part: &Part,
        all: &mut Vec<Building>,
        env: &mut Env,
        docs: &Documents,
    ) {
        let (value, quoted) = self.value_of(part, env, docs);
        let separators = match env.variables.get("IFS") {
            Some(Value::Texts(texts)) => texts.concat(),
            _ => " \t\n".to_owned(),
        };
        match value {
            Value::List(items) => {
                for one in all.iter_mut() {
                    for (index, item) in items.iter().take(MAX_FIELDS).enumerate() {
                        if index > 0 {
                            one.split();
                        }
                        if quoted {
                            one.push_text(item);
                        } else {
                            one.push_split(item, &separators);
                        }
                    }
                }
            }
            Value::Texts(texts) => {
                let texts = if texts.len() * all.len() > MAX_ALTERNATIVES {
                    vec![UNKNOWN.to_string()]
                } else {
                    texts
                };
                let mut next = Vec::with_capacity(all.len() * texts.len());
                for one in all.iter() {
                    for text in &texts {
                        let mut one = one.clone();
                        if quoted {
                            one.push_text(text);
                        } else {
                            one.push_split(text, &separators);
                        }
                        next.push(one);
                    }
                }
                *all = next;
            }
        }
    }

    fn value_of(&mut self, part: &Part, env: &mut Env, docs: &Documents) -> (Value, bool) {
        match part {
            Part::Plain(text) | Part::Quoted(text) => (Value::text(text), true),
            Part::Parameter {
                name,
                operation,
                quoted,
            } => (self.parameter(name, operation, env, docs), *quoted),
            Part::Substitution { script, quoted } => {
                let mut inner = env.clone();
                let flow = self.script(script, &mut inner, docs, &Flow::Unknown);
                env.keep_files_of(inner);
                (Value::Texts(vec![flow_text(flow)]), *quoted)
            }
            Part::Process { script, output } => {
                let mut inner = env.clone();
                // What is written into `>( … )` arrives there through a pipe.
                inner.forked |= *output;
                let flow = self.script(script, &mut inner, docs, &Flow::Unknown);
                env.keep_files_of(inner);
                let path = format!("/dev/fd/{}", 63 + env.files.len());
                if !output {
                    env.files.insert(path.clone(), flow);
                }
                (Value::text(&path), true)
            }
            Part::Arithmetic(word) => {
                self.texts(word, env, docs);
                (Value::text("1"), true)
            }
            Part::Array(words) => (Value::List(self.fields(words, env, docs)), true),
        }
    }

    fn parameter(
        &mut self,
        name: &str,
        operation: &Operation,
        env: &mut Env,
        docs: &Documents,
    ) -> Value {
        let known = self.variable(name, env);
        match operation {
            Operation::With(operation, word) => {
                self.texts(word, env, docs);
                self.parameter(name, operation, env, docs)
            }
            Operation::Value | Operation::Require | Operation::Transform => {
                known.unwrap_or_else(|| unknown(name))
            }
            Operation::Element(index) => {
                let index = self.text(index, env, docs);
                element(known, &index).unwrap_or_else(|| unknown(name))
            }
            Operation::Length => Value::text("1"),
            Operation::Indirect => match known {
                Some(Value::Texts(names)) => self.values_of(&names, env),
                // Any variable at all may be shown.
                _ => Value::Texts(vec![SECRET.to_string()]),
            },
            Operation::Assign(word) => {
                let default = Operation::Default(word.clone());
                let value = self.parameter(name, &default, env, docs);
                if known.is_none_or(|known| known != value) {
                    env.assign(name, value.clone());
                }
                value
            }
            Operation::Default(word) => match known {
                Some(Value::Texts(texts)) if texts.iter().all(|text| !text.is_empty()) => {
                    Value::Texts(texts)
                }
                Some(Value::List(items)) if !items.is_empty() => Value::List(items),
                _ => {
                    let mut texts = self.texts(word, env, docs);
                    if texts.is_empty() {
                        texts.push(String::new());
                    }
                    if known::is_secret_variable(name) {
                        texts.push(SECRET.to_string());
                    }
                    Value::Texts(texts)
                }
            },
            Operation::Alternative(word) => {
                let mut texts = self.texts(word, env, docs);
                texts.push(String::new());
                Value::Texts(texts)
            }
            Operation::Slice(word) => {
                let range = self.text(word, env, docs);
                map_texts(known, name, |text| slice(text, &range))
            }
            Operation::CutPrefix { longest, pattern } => {
                let pattern = self.text(pattern, env, docs);
                map_texts(known, name, |text| cut_prefix(text, &pattern, *longest))
            }
            Operation::CutSuffix { longest, pattern } => {
                let pattern = self.text(pattern, env, docs);
                map_texts(known, name, |text| cut_suffix(text, &pattern, *longest))
            }
            Operation::Replace { all, pattern, with } => {
                let pattern = self.text(pattern, env, docs);
                let with = self.text(with, env, docs);
                map_texts(known, name, |text| replace(text, &pattern, &with, *all))
            }
            Operation::Upper => map_texts(known, name, |text| Some(text.to_uppercase())),
            Operation::Lower => map_texts(known, name, |text| Some(text.to_lowercase())),
        }
    }

    /// The values of all these variables; one whose name nobody knows may be
    /// a secret's.
    fn values_of(&self, names: &[String], env: &Env) -> Value {
        let mut all = Vec::new();
        for name in names {
            match self.variable(name, env) {
                Some(Value::Texts(texts) | Value::List(texts)) => all.extend(texts),
                None if mark::has_computed(name) => all.push(SECRET.to_string()),
                None => match unknown(name) {
                    Value::Texts(texts) | Value::List(texts) => all.extend(texts),
                },
            }
        }
        Value::Texts(all)
    }

    /// The value of a variable, where the text or the context says it.
    fn variable(&self, name: &str, env: &Env) -> Option<Value> {
        let name = env.meant(name);
        if let Some(value) = env.variables.get(name) {
            return Some(value.clone());
        }
        Some(match name {
            "HOME" => Value::text(self.home()),
            "PWD" => Value::Texts(env.directories.clone()),
            "TMPDIR" | "TMP" | "TEMP" => Value::text(self.temporary()),
            "IFS" => Value::text(" \t\n"),
            "CLAUDE_PROJECT_DIR" => Value::text(self.project()),
            "@" | "*" => Value::List(env.positional.clone()),
            "0" => Value::text("bash"),
            "#" | "?" | "-" | "RANDOM" | "SRANDOM" | "LINENO" | "SECONDS" | "UID" | "EUID"
            | "EPOCHSECONDS" | "SHLVL" | "COLUMNS" | "LINES" => Value::text("1"),
            // Some process of this script's own.
            "$" | "!" | "BASHPID" => Value::text("4242"),
            // Whoever ends its parent ends the loop.
            "PPID" => Value::text("-1"),
            "USER" | "LOGNAME" | "HOSTNAME" | "OSTYPE" | "MACHTYPE" | "HOSTTYPE" | "LANG"
            | "TERM" => Value::text("name"),
            // Variables that name a tool by custom.
            "CC" | "CXX" | "AR" | "LD" | "PYTHON" | "NODE" | "NPM" | "CARGO" | "RUSTC" | "GO"
            | "MAKE" | "JAVA" => Value::text(&name.to_ascii_lowercase()),
            "EDITOR" | "VISUAL" => Value::text("vim"),
            "PAGER" => Value::text("less"),
            "SHELL" | "BASH" => Value::text("/bin/bash"),
            _ => {
                let index: usize = name.parse().ok()?;
                Value::text(env.positional.get(index.checked_sub(1)?)?)
            }
        })
    }
}

fn unknown(name: &str) -> Value {
    if known::is_secret_variable(name) {
        Value::Texts(vec![SECRET.to_string()])
    } else {
        Value::unknown()
    }
}

fn flow_text(flow: Flow) -> String {
    match flow {
        Flow::Text(text) => text.trim_end_matches('\n').to_owned(),
        Flow::Network => NETWORK.to_string(),
        Flow::Environment => SECRET.to_string(),
        Flow::Unknown | Flow::Files | Flow::Names | Flow::Archive => UNKNOWN.to_string(),
    }
}

/// Puts the home directory for a leading `~`; says how many atoms it took.
fn tilde(atoms: &[Atom], home: &str, all: &mut [Building]) -> usize {
    if plain(atoms.first()) != Some('~') {
        return 0;
    }
    let name: String = (1..atoms.len())
        .map_while(|at| plain(atoms.get(at)).filter(|c| *c != '/'))
        .collect();
    let directory = match name.as_str() {
        "" => home.to_owned(),
        "+" => ".".to_owned(),
        "-" => UNKNOWN.to_string(),
        "root" => "/root".to_owned(),
        other => format!("/home/{other}"),
    };
    all.iter_mut().for_each(|one| one.push_text(&directory));
    1 + name.chars().count()
}

fn map_texts(value: Option<Value>, name: &str, change: impl Fn(&str) -> Option<String>) -> Value {
    let change = |text: &String| {
        if mark::has_computed(text) {
            return text.clone();
        }
        change(text).unwrap_or_else(|| UNKNOWN.to_string())
    };
    match value {
        Some(Value::Texts(texts)) => Value::Texts(texts.iter().map(change).collect()),
        Some(Value::List(items)) => Value::List(items.iter().map(change).collect()),
        None => unknown(name),
    }
}

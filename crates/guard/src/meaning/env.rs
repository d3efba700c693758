//! What is known while a script is walked: variables, directories, functions
//! and what was written into which file.

use std::cell::Cell;
use std::collections::HashMap;
use std::ops::{Deref, DerefMut};
use std::rc::Rc;

use crate::shell::{Node, Word};

use crate::mark::UNKNOWN;

/// How many values a variable may have before it counts as unknown.
const MAX_VALUES: usize = 12;

/// What flows out of a command or stands in a file.
#[derive(Clone, Debug, PartialEq)]
pub enum Flow {
    /// Nothing worth knowing: a terminal, an ordinary program's output.
    Unknown,
    Text(String),
    /// It came from the network.
    Network,
    /// The environment with its secrets.
    Environment,
    /// The content of files that were there before.
    Files,
    /// The names of files that are there, which nobody wrote down.
    Names,
    /// All files of the project or of a person in one piece.
    Archive,
}

impl Flow {
    /// A program that prints nothing.
    pub fn nothing() -> Self {
        Flow::Text(String::new())
    }

    pub fn text(text: &str) -> Self {
        Flow::Text(text.to_owned())
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// One of these texts.
    Texts(Vec<String>),
    /// All of these, as `"$@"` or `"${array[@]}"` gives them.
    List(Vec<String>),
}

impl Value {
    pub fn unknown() -> Self {
        Value::Texts(vec![UNKNOWN.to_string()])
    }

    pub fn text(text: &str) -> Self {
        Value::Texts(vec![text.to_owned()])
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attribute {
    Lower,
    Upper,
    /// It keeps the value that it has.
    Fixed,
    /// It is another name of this variable.
    Refers(String),
}

/// The here-documents of the text that a node stands in.
pub type Documents = Rc<Vec<Word>>;

#[derive(Clone, Debug)]
pub struct Function {
    pub body: Rc<Node>,
    pub documents: Documents,
}

/// What one place of a script knows. Most commands change nothing of it, and
/// every subshell and branch has its own, so that a copy is a reference until
/// somebody writes.
#[derive(Clone, Debug, Default)]
pub struct Env {
    known: Rc<Known>,
    /// Inside a pipeline or behind `&`, where a self-call multiplies.
    pub forked: bool,
    version: u64,
    /// The last version that this copy or any of its relatives has.
    versions: Rc<Cell<u64>>,
}

#[derive(Clone, Debug, Default)]
pub struct Known {
    pub variables: HashMap<String, Value>,
    pub positional: Vec<String>,
    /// What a variable makes of its values.
    pub attributes: HashMap<String, Attribute>,
    /// What local variables hide, with the number of calls around them.
    locals: Vec<(usize, String, Option<Value>)>,
    /// Where the script may stand now.
    pub directories: Vec<String>,
    pub functions: HashMap<String, Function>,
    pub aliases: HashMap<String, String>,
    /// What this text itself wrote, by absolute path.
    pub files: HashMap<String, Flow>,
    /// The links that this text itself made, by absolute path.
    pub links: HashMap<String, String>,
    /// Programs of the system under a name that this text gave them.
    pub programs: HashMap<String, String>,
    /// The names of the functions that are being walked.
    pub calls: Vec<String>,
    /// The paths are those of another machine or of a container.
    pub elsewhere: bool,
    /// An archive from the network was taken apart.
    pub unpacked: bool,
    /// Directories with code from hosts that nobody knows, by absolute path.
    pub fetched: Vec<String>,
    /// Remotes of git that this text itself put on such a host.
    pub foreign_remotes: Vec<String>,
}

impl Deref for Env {
    type Target = Known;

    fn deref(&self) -> &Known {
        &self.known
    }
}

impl DerefMut for Env {
    fn deref_mut(&mut self) -> &mut Known {
        self.version = self.versions.get() + 1;
        self.versions.set(self.version);
        Rc::make_mut(&mut self.known)
    }
}

impl Env {
    pub fn in_directory(directory: &str) -> Self {
        let known = Known {
            directories: vec![directory.to_owned()],
            ..Known::default()
        };
        Env {
            known: Rc::new(known),
            ..Env::default()
        }
    }

    /// Two copies with the same version know the same.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The variable that a name stands for in the end.
    pub fn meant<'n>(&'n self, name: &'n str) -> &'n str {
        let mut name = name;
        for _ in 0..8 {
            match self.attributes.get(name) {
                Some(Attribute::Refers(target)) => name = target,
                _ => break,
            }
        }
        name
    }

    /// A variable gets a value, as far as it takes one.
    pub fn assign(&mut self, name: &str, value: Value) {
        let name = self.meant(name).to_owned();
        let change: fn(&str) -> String = match self.attributes.get(&name) {
            Some(Attribute::Fixed) if self.variables.contains_key(&name) => return,
            Some(Attribute::Lower) => str::to_lowercase,
            Some(Attribute::Upper) => str::to_uppercase,
            _ => {
                self.variables.insert(name, value);
                return;
            }
        };
        let each = |texts: Vec<String>| texts.iter().map(|text| change(text)).collect();
        let value = match value {
            Value::Texts(texts) => Value::Texts(each(texts)),
            Value::List(items) => Value::List(each(items)),
        };
        self.variables.insert(name, value);
    }

    /// The variable is a local one from here on, within a function.
    pub fn enter_scope(&mut self, name: &str) {
        let depth = self.calls.len();
        let known = |(at, local, _): &(usize, String, _)| *at == depth && local == name;
        if depth > 0 && !self.locals.iter().any(known) {
            let hidden = self.variables.get(name).cloned();
            self.locals.push((depth, name.to_owned(), hidden));
            self.attributes.remove(name);
        }
    }

    /// The function's local variables are gone.
    pub fn leave_scope(&mut self) {
        let depth = self.calls.len();
        while self.locals.last().is_some_and(|(at, ..)| *at >= depth) {
            let Some((_, name, hidden)) = self.locals.pop() else {
                return;
            };
            self.attributes.remove(&name);
            match hidden {
                Some(value) => self.variables.insert(name, value),
                None => self.variables.remove(&name),
            };
        }
    }

    /// What is read from a descriptor from here on.
    pub fn open(&mut self, number: &str, flow: Flow) {
        self.files.insert(format!("/dev/fd/{number}"), flow);
    }

    /// A number that no descriptor has yet.
    pub fn free_descriptor(&self) -> u32 {
        let taken = |number: &u32| {
            let path = format!("/dev/fd/{number}");
            self.files.contains_key(&path) || self.links.contains_key(&path)
        };
        (10..).find(|number| !taken(number)).unwrap_or(10)
    }

    /// What one of several branches left behind is possible afterwards.
    pub fn merge(&mut self, branch: Env) {
        if branch.version == self.version {
            return;
        }
        let branch = Rc::unwrap_or_clone(branch.known);
        let mine = &mut **self;
        for (name, value) in branch.variables {
            match (mine.variables.get_mut(&name), value) {
                (Some(Value::Texts(mine)), Value::Texts(theirs)) => {
                    for text in theirs {
                        if !mine.contains(&text) {
                            mine.push(text);
                        }
                    }
                    if mine.len() > MAX_VALUES {
                        *mine = vec![UNKNOWN.to_string()];
                    }
                }
                (Some(mine), theirs) => *mine = theirs,
                (None, theirs) => {
                    mine.variables.insert(name, theirs);
                }
            }
        }
        for directory in branch.directories {
            if !mine.directories.contains(&directory) && mine.directories.len() < MAX_VALUES {
                mine.directories.push(directory);
            }
        }
        mine.attributes.extend(branch.attributes);
        mine.functions.extend(branch.functions);
        mine.aliases.extend(branch.aliases);
        mine.files.extend(branch.files);
        mine.links.extend(branch.links);
        mine.programs.extend(branch.programs);
        mine.unpacked |= branch.unpacked;
        mine.fetched.extend(branch.fetched);
        mine.foreign_remotes.extend(branch.foreign_remotes);
        if mine.positional.is_empty() {
            mine.positional = branch.positional;
        }
    }

    /// What a subshell leaves behind: files, but no variables.
    pub fn keep_files_of(&mut self, inner: Env) {
        if inner.version == self.version {
            return;
        }
        let inner = Rc::unwrap_or_clone(inner.known);
        let unpacked = inner.unpacked && !self.unpacked;
        if inner.files.is_empty()
            && inner.links.is_empty()
            && inner.programs.is_empty()
            && inner.fetched.is_empty()
            && inner.foreign_remotes.is_empty()
            && !unpacked
        {
            return;
        }
        let mine = &mut **self;
        mine.files.extend(inner.files);
        mine.links.extend(inner.links);
        mine.programs.extend(inner.programs);
        mine.unpacked |= inner.unpacked;
        mine.fetched = inner.fetched;
        mine.foreign_remotes = inner.foreign_remotes;
    }
}

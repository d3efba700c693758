//! What is known while a script is walked: variables, directories, functions
//! and what was written into which file.

use std::collections::HashMap;
use std::rc::Rc;

use crate::shell::{Node, Word};

use super::mark::UNKNOWN;

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

/// The here-documents of the text that a node stands in.
pub type Documents = Rc<Vec<Word>>;

#[derive(Clone, Debug)]
pub struct Function {
    pub body: Rc<Node>,
    pub documents: Documents,
}

#[derive(Clone, Debug, Default)]
pub struct Env {
    pub variables: HashMap<String, Value>,
    pub positional: Vec<String>,
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
    /// Inside a pipeline or behind `&`, where a self-call multiplies.
    pub forked: bool,
    /// The paths are those of another machine or of a container.
    pub elsewhere: bool,
}

impl Env {
    /// What one of several branches left behind is possible afterwards.
    pub fn merge(&mut self, branch: Env) {
        for (name, value) in branch.variables {
            match (self.variables.get_mut(&name), value) {
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
                    self.variables.insert(name, theirs);
                }
            }
        }
        for directory in branch.directories {
            if !self.directories.contains(&directory) && self.directories.len() < MAX_VALUES {
                self.directories.push(directory);
            }
        }
        self.functions.extend(branch.functions);
        self.aliases.extend(branch.aliases);
        self.files.extend(branch.files);
        self.links.extend(branch.links);
        self.programs.extend(branch.programs);
        if self.positional.is_empty() {
            self.positional = branch.positional;
        }
    }

    /// What a subshell leaves behind: files, but no variables.
    pub fn keep_files_of(&mut self, inner: Env) {
        self.files.extend(inner.files);
        self.links.extend(inner.links);
        self.programs.extend(inner.programs);
    }
}

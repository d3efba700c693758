//! Shell text as plain data: what was written, before anything is expanded.

use std::rc::Rc;

/// A list of commands that run one after the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    pub nodes: Vec<Node>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    Simple(Simple),
    Pipeline(Vec<Node>),
    /// `a || b && c`: each runs or not, by how the ones before it ended; the
    /// first has no sign before it. A list of `&&` alone is no such list.
    AndOr(Vec<(Sign, Node)>),
    /// `command &`
    Background(Box<Node>),
    /// `coproc name …`: its output and its input are descriptors in a list.
    Coproc(String, Box<Node>),
    /// `( … )`: what changes inside does not last.
    Subshell(Script, Vec<Redirect>),
    /// `{ …; }`
    Group(Script, Vec<Redirect>),
    /// `if`: every condition and every branch, in order of writing.
    If(Vec<Script>, Vec<Redirect>),
    For {
        name: String,
        words: Option<Vec<Word>>,
        body: Script,
        redirects: Vec<Redirect>,
    },
    While {
        condition: Script,
        body: Script,
        /// The condition says that it never ends.
        endless: bool,
        redirects: Vec<Redirect>,
    },
    Case {
        subject: Word,
        arms: Vec<Script>,
        redirects: Vec<Redirect>,
    },
    Function {
        name: String,
        body: Rc<Node>,
    },
    /// `[[ … ]]` and `(( … ))`: they run nothing but the substitutions in
    /// their words.
    Test(Vec<Word>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    And,
    Or,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Simple {
    pub assignments: Vec<Assignment>,
    pub words: Vec<Word>,
    pub redirects: Vec<Redirect>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    pub name: String,
    pub append: bool,
    /// `name[index]=value`: one element of a list.
    pub element: bool,
    pub value: Word,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Redirect {
    pub descriptor: Option<Descriptor>,
    pub kind: RedirectKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Descriptor {
    Number(u32),
    /// `{name}>`: the shell takes a free one and tells the variable.
    Variable(String),
}

#[derive(Clone, Debug, PartialEq)]
pub enum RedirectKind {
    Read(Word),
    /// `>`, `>>`, `>|`, `&>`, `&>>`, `<>`
    Write(Word),
    /// `>&` and `<&` with a file descriptor or, for `>&`, a file.
    Duplicate(Word),
    HereString(Word),
    /// The body stands in [`Parsed::heredocs`](super::Parsed) at this index.
    HereDoc(usize),
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Word {
    pub parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// Text outside quotes: braces, globs and the tilde have their meaning.
    Plain(String),
    /// Text whose characters stand for themselves.
    Quoted(String),
    Parameter {
        name: String,
        operation: Operation,
        quoted: bool,
    },
    Substitution {
        script: Script,
        quoted: bool,
    },
    /// `<( … )` or `>( … )`
    Process {
        script: Script,
        output: bool,
    },
    /// `$(( … ))`, with the words that stand in it.
    Arithmetic(Word),
    /// `name=( … )`
    Array(Vec<Word>),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Operation {
    Value,
    Length,
    Indirect,
    /// What runs only for the substitutions in its word: the text behind
    /// another operation.
    With(Box<Operation>, Word),
    /// `${name[index]}`, one element of a list.
    Element(Word),
    /// `:-`, `-`
    Default(Word),
    /// `:=`, `=`: the default stays.
    Assign(Word),
    /// `:+`, `+`
    Alternative(Word),
    /// `:?`, `?`
    Require,
    /// `:offset:length`
    Slice(Word),
    /// `#`, `##`
    CutPrefix {
        longest: bool,
        pattern: Word,
    },
    /// `%`, `%%`
    CutSuffix {
        longest: bool,
        pattern: Word,
    },
    Replace {
        all: bool,
        pattern: Word,
        with: Word,
    },
    Upper,
    Lower,
    /// `@Q` and its kin, which change how a value is written.
    Transform,
}

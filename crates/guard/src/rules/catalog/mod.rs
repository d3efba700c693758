//! Every built-in rule as data: what it is about in three languages, a safer
//! way, and examples that tests hold it to.

#[macro_use]
mod define;
mod table;

use ralph_core::config::GuardPack;
use ralph_core::lang::Say;
pub use ralph_core::lang::Text;

use table::RULES;
pub use table::RuleId;

/// What a message begins with (GARD-10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Say)]
pub enum Family {
    #[say("dangerous command")]
    Command,
    #[say("sensitive file or secret")]
    Sensitive,
    #[say("file outside the project")]
    Outside,
    #[say("path traversal")]
    Traversal,
    #[say("internal network")]
    Internal,
}

/// A call that a rule matches, or that it leaves alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Example {
    Bash(&'static str),
    Read(&'static str),
    Write(&'static str),
    Fetch(&'static str),
    /// A tool and its input as JSON.
    Call(&'static str, &'static str),
    /// `echo` in this many subshells.
    Nested(usize),
}

impl Example {
    /// The tool and its input.
    pub fn call(&self) -> (&'static str, serde_json::Value) {
        use serde_json::json;
        match *self {
            Example::Bash(command) => ("Bash", json!({ "command": command })),
            Example::Read(path) => ("Read", json!({ "file_path": path })),
            Example::Write(path) => ("Write", json!({ "file_path": path, "content": "" })),
            Example::Fetch(url) => ("WebFetch", json!({ "url": url, "prompt": "" })),
            Example::Call(tool, input) => (tool, serde_json::from_str(input).unwrap_or_default()),
            Example::Nested(depth) => {
                let command = format!("{}echo{}", "( ".repeat(depth), " )".repeat(depth));
                ("Bash", json!({ "command": command }))
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Stable: settings and journals name it.
    pub id: &'static str,
    pub family: Family,
    pub pack: Option<GuardPack>,
    /// Off unless the settings enable it.
    pub off: bool,
    pub reason: Text,
    pub hint: Text,
    pub matches: &'static [Example],
    pub not_matches: &'static [Example],
}

/// Every built-in rule.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    RULES.iter()
}

pub fn rule(id: &str) -> Option<&'static Rule> {
    rules().find(|rule| rule.id == id)
}

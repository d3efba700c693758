//! Prompts: templates with variables (TMPL-01 to TMPL-08), and what Ralph
//! itself has to tell the agent ahead of them (REIN-04, REIN-06).

pub(crate) mod data;
mod note;

#[cfg(test)]
mod tests;

pub(crate) use data::newest_fenced;
pub use note::{PromptNote, compose, words};

use crate::lang::{Lang, Say, Text};
use crate::tr;

/// Where a project keeps its own template, in the order of looking.
pub const PROJECT_TEMPLATES: [&str; 2] = [
    ".ralph/prompt-template.md",
    ".ralph/templates/prompt-template.md",
];

/// A template that is shipped with the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BuiltIn {
    /// For a spec-kit project.
    SpecKit,
    /// For any other task file with phases.
    Generic,
    /// For a task file without phases.
    Flat,
    /// For a task given as text on the command line.
    Plain,
}

impl BuiltIn {
    pub const ALL: [BuiltIn; 4] = [
        BuiltIn::SpecKit,
        BuiltIn::Generic,
        BuiltIn::Flat,
        BuiltIn::Plain,
    ];

    /// What it is for, in one word.
    pub fn name(self) -> &'static str {
        match self {
            BuiltIn::SpecKit => "spec-kit",
            BuiltIn::Generic => "generic",
            BuiltIn::Flat => "flat",
            BuiltIn::Plain => "plain",
        }
    }

    /// By its name, or by that of its file.
    pub fn from_name(name: &str) -> Option<BuiltIn> {
        let file = |kind: BuiltIn| kind.file_name().trim_end_matches(".md");
        let bare = name.trim_end_matches(".md");
        BuiltIn::ALL
            .into_iter()
            .find(|kind| kind.name() == name || file(*kind) == bare)
    }

    /// The name of its file.
    pub fn file_name(self) -> &'static str {
        match self {
            BuiltIn::SpecKit => "prompt-template.md",
            BuiltIn::Generic => "prompt-template.generic.md",
            BuiltIn::Flat => "prompt-template.flat.md",
            BuiltIn::Plain => "prompt-plain.md",
        }
    }
}

macro_rules! in_every_language {
    ($file:literal) => {
        Text::new(
            include_str!($file),
            include_str!(concat!("zh-TW/", $file)),
            include_str!(concat!("zh-CN/", $file)),
        )
    };
}

/// A template, in the language of the person whose work it is (TMPL-07).
pub fn built_in(kind: BuiltIn, lang: Lang) -> String {
    let text = match kind {
        BuiltIn::SpecKit => in_every_language!("prompt-template.md"),
        BuiltIn::Generic => in_every_language!("prompt-template.generic.md"),
        BuiltIn::Flat => in_every_language!("prompt-template.flat.md"),
        BuiltIn::Plain => in_every_language!("prompt-plain.md"),
    };
    text.say(lang)
}

/// The values that a template can name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variables {
    pub phase: String,
    pub iteration: String,
    pub max_iterations: String,
    pub tasks_file: String,
    pub task: String,
    pub task_id: String,
    pub pending: String,
    pub completed: String,
    pub total: String,
    pub branch: String,
    pub last_failure: String,
    /// The text to promise when the phase is done, or where there is no other
    /// phase, all; without the tag.
    pub promise: String,
    /// The text that asks for another turn, and the beginning of the one that
    /// says why there is none.
    pub go_on: String,
    pub blocked: String,
    /// The task as the person wrote it on the command line.
    pub prompt: String,
    /// The role that is played, and how much the task can break.
    pub role: String,
    pub risk: String,
    /// Where the phases of a flow leave their files, relative to the project.
    pub output_dir: String,
    /// What stands beside the task file of a spec-kit project.
    pub spec_files: String,
}

impl Variables {
    pub const NAMES: [&str; 19] = [
        "PHASE", "ITERATION", "MAX_ITERATIONS", "TASKS_FILE", "TASK", "TASK_ID", "PENDING",
        "COMPLETED", "TOTAL", "BRANCH", "LAST_FAILURE", "PROMISE", "CONTINUE", "BLOCKED", "PROMPT",
        "ROLE", "RISK", "OUTPUT_DIR", "SPEC_FILES",
    ];

    /// How a limit reads in a prompt; 0 is none.
    pub fn limit(max: u64, lang: Lang) -> String {
        match max {
            0 => tr!(lang, "unlimited"),
            max => max.to_string(),
        }
    }

    fn get(&self, name: &str) -> Option<&str> {
        Some(match name {
            "PHASE" => &self.phase,
            "ITERATION" => &self.iteration,
            "MAX_ITERATIONS" => &self.max_iterations,
            "TASKS_FILE" => &self.tasks_file,
            "TASK" => &self.task,
            "TASK_ID" => &self.task_id,
            "PENDING" => &self.pending,
            "COMPLETED" => &self.completed,
            "TOTAL" => &self.total,
            "BRANCH" => &self.branch,
            "LAST_FAILURE" => &self.last_failure,
            "PROMISE" => &self.promise,
            "CONTINUE" => &self.go_on,
            "BLOCKED" => &self.blocked,
            "PROMPT" => &self.prompt,
            "ROLE" => &self.role,
            "RISK" => &self.risk,
            "OUTPUT_DIR" => &self.output_dir,
            "SPEC_FILES" => &self.spec_files,
            _ => return None,
        })
    }
}

/// A template with its values in place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rendered {
    pub text: String,
    /// Each name that no variable has, once, in order; it stands in the text
    /// as it stood in the template.
    pub unknown: Vec<String>,
}

/// Puts the values in place of `{{NAME}}`, in one pass: a value is inserted
/// as it is and never read as a template. A line `Name: {{NAME}}` is left out
/// where there is no value.
pub fn render(template: &str, vars: &Variables) -> Rendered {
    let lines = template.split_inclusive('\n');
    let template: String = lines.filter(|line| !says_nothing(line, vars)).collect();
    let mut rendered = Rendered::default();
    let mut rest = template.as_str();
    while let Some((before, at)) = split_at_found(rest, "{{") {
        rendered.text.push_str(before);
        let Some((name, after)) = placeholder(at) else {
            // Only one brace goes by: in `{{{NAME}}}` the second opens.
            rendered.text.push('{');
            rest = at.get(1..).unwrap_or_default();
            continue;
        };
        match vars.get(name) {
            Some(value) => rendered.text.push_str(value),
            None => {
                let whole = at.len() - after.len();
                rendered.text.push_str(at.get(..whole).unwrap_or_default());
                if !rendered.unknown.iter().any(|known| known == name) {
                    rendered.unknown.push(name.to_owned());
                }
            }
        }
        rest = after;
    }
    rendered.text.push_str(rest);
    rendered
}

/// Whether there is nothing behind the colon but variables without a value.
fn says_nothing(line: &str, vars: &Variables) -> bool {
    let Some((_, mut rest)) = line.split_once([':', '：']) else {
        return false;
    };
    let mut is_empty = false;
    while let Some((name, after)) = placeholder(rest.trim_start()) {
        is_empty = vars.get(name).is_some_and(str::is_empty);
        if !is_empty {
            return false;
        }
        rest = after;
    }
    is_empty && rest.trim().is_empty()
}

fn split_at_found<'t>(text: &'t str, needle: &str) -> Option<(&'t str, &'t str)> {
    text.split_at_checked(text.find(needle)?)
}

/// The name in `{{NAME}}` at the start of the text, and what follows it.
fn placeholder(text: &str) -> Option<(&str, &str)> {
    let blank = [' ', '\t'];
    let inner = text.strip_prefix("{{")?.trim_start_matches(blank);
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let (name, after) = inner.split_at_checked(inner.find(|c| !is_part(c))?)?;
    let after = after.trim_start_matches(blank).strip_prefix("}}")?;
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    is_name.then_some((name, after))
}

/// A name in a template that stands for nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownVariable {
    pub template: String,
    pub name: String,
}

impl Say for UnknownVariable {
    fn say(&self, lang: Lang) -> String {
        let Self { template, name } = self;
        let names = Variables::NAMES.join(", ");
        tr!(
            lang,
            "{template}: unknown variable {{{{{name}}}}} is left as it stands; write one of {names}"
        )
    }
}

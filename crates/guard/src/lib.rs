//! The safety guard: what a tool call of an agent would do, and whether it
//! may.
//!
//! Pure: the file system is seen through [`World`], everything else stands in
//! the arguments. A rail, not a sandbox: it judges what is written, and what
//! it can't read is *opaque*, never *safe*.

#[macro_use]
mod words;

mod finding;
mod mark;
mod meaning;
mod paths;
mod rules;
pub mod shell;
mod tools;
mod urls;
mod user;

use core::net::IpAddr;

use ralph_core::config::GuardSettings;
use ralph_core::lang::{Lang, Say};
use serde_json::Value;

use paths::native::portable;

pub use finding::Trace;
pub use paths::sensitive::is_sensitive;
pub use rules::catalog::{Example, Family, Rule, RuleId, Text, rule, rules as built_in_rules};
pub use user::{RuleProblem, check_rule};

ralph_core::texts!();

/// What may happen. The strictest of all answers counts, so they are ordered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Decision {
    #[default]
    Allow,
    Ask,
    Block,
}

impl Decision {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Decision::Allow => "allow",
            Decision::Ask => "ask",
            Decision::Block => "block",
        }
    }
}

/// The machine, as far as the guard looks at it.
pub trait World {
    /// Where a symbolic link leads, as it is written in it; `None` for
    /// everything that is no link or does not exist.
    fn link_target(&self, path: &str) -> Option<String>;

    /// The addresses that a host's name leads to at the moment; `None` where
    /// nobody could tell in time. Asked only where `net.resolved` is on.
    fn addresses(&self, _host: &str) -> Option<Vec<IpAddr>> {
        Some(Vec::new())
    }
}

/// A world without links, for texts that are judged on their own.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoLinks;

impl World for NoLinks {
    fn link_target(&self, _path: &str) -> Option<String> {
        None
    }
}

/// Where a call happens.
pub struct Context<'a> {
    /// The project's root: absolute, without a slash at its end.
    pub project: &'a str,
    pub home: &'a str,
    /// Directories for temporary files, the preferred one first.
    pub temporary: &'a [String],
    /// The path of the `ralph` binary itself, where it is known.
    pub binary: Option<&'a str>,
    /// The file system does not tell `A` from `a`.
    pub ignore_case: bool,
    pub settings: &'a GuardSettings,
    pub world: &'a dyn World,
}

impl std::fmt::Debug for Context<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context")
            .field("project", &self.project)
            .finish_non_exhaustive()
    }
}

/// What an agent wants to do.
#[derive(Clone, Copy, Debug)]
pub struct ToolCall<'a> {
    pub tool: &'a str,
    pub input: &'a Value,
    pub cwd: &'a str,
}

/// The answer to a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    pub decision: Decision,
    /// The rule that decided, or that warns.
    pub rule: Option<String>,
    /// What in the call it was about.
    pub detail: String,
    message: Option<Message>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Message {
    BuiltIn(&'static Rule),
    User { reason: String, hint: String },
}

impl Verdict {
    /// Why, in one sentence; empty where nothing was found.
    pub fn reason(&self, lang: Lang) -> String {
        match &self.message {
            Some(Message::BuiltIn(rule)) => rule.reason.say(lang),
            Some(Message::User { reason, .. }) => reason.clone(),
            None => String::new(),
        }
    }

    /// A safer way to the same end.
    pub fn hint(&self, lang: Lang) -> String {
        match &self.message {
            Some(Message::BuiltIn(rule)) => rule.hint.say(lang),
            Some(Message::User { hint, .. }) => hint.clone(),
            None => String::new(),
        }
    }
}

impl Say for Verdict {
    /// The whole message for the agent: what was blocked, why, by which rule
    /// and what to do instead.
    fn say(&self, lang: Lang) -> String {
        let Some(id) = &self.rule else {
            return String::new();
        };
        let family = match &self.message {
            Some(Message::BuiltIn(rule)) => rule.family,
            _ => Family::Command,
        };
        let head = family.say(lang);
        let reason = self.reason(lang);
        let hint = self.hint(lang);
        let detail = &self.detail;
        ralph_core::tr!(lang, "BLOCKED: {head} - {detail}\n{reason} [{id}]\n{hint}")
    }
}

/// How a call was understood.
#[derive(Clone, Debug, Default)]
pub struct Explanation {
    pub verdict: Verdict,
    pub trace: Trace,
    /// Every rule that matched, with what it matched.
    pub matched: Vec<(String, String)>,
}

/// Judges one call.
pub fn judge(call: &ToolCall, context: &Context) -> Verdict {
    examine(call, context, Trace::none()).verdict
}

/// Judges one call and says how it was understood.
pub fn explain(call: &ToolCall, context: &Context) -> Explanation {
    examine(call, context, Trace::default())
}

/// A world whose paths have their drive in front.
#[derive(Clone, Copy)]
struct Drives<'a>(&'a dyn World);

impl World for Drives<'_> {
    fn link_target(&self, path: &str) -> Option<String> {
        let target = self.0.link_target(paths::native::for_system(path))?;
        Some(portable(&target).into_owned())
    }

    fn addresses(&self, host: &str) -> Option<Vec<IpAddr>> {
        self.0.addresses(host)
    }
}

/// Judges with every path of the context in the form that is compared.
fn examine(call: &ToolCall, context: &Context, trace: Trace) -> Explanation {
    if !paths::native::on_windows(&portable(context.project)) {
        return examine_here(call, context, trace);
    }
    let (project, home) = (portable(context.project), portable(context.home));
    let own = |path: &String| portable(path).into_owned();
    let temporary: Vec<String> = context.temporary.iter().map(own).collect();
    let binary = context.binary.map(portable);
    let here = Context {
        project: project.trim_end_matches('/'),
        home: home.trim_end_matches('/'),
        temporary: &temporary,
        binary: binary.as_deref(),
        ignore_case: true,
        settings: context.settings,
        world: &Drives(context.world),
    };
    let call = ToolCall {
        cwd: &portable(call.cwd),
        ..*call
    };
    examine_here(&call, &here, trace)
}

fn examine_here(call: &ToolCall, context: &Context, trace: Trace) -> Explanation {
    let rules = rules::Rules {
        own: user::Index::new(&context.settings.rules),
    };
    let mut walker = meaning::Walker::new(context, &rules, trace);
    rules.own.judge_tool(&mut walker, call);
    tools::judge(&mut walker, call);
    let mut verdict = Verdict::default();
    let mut matched = Vec::with_capacity(walker.findings.len());
    for finding in &walker.findings {
        let found = finding.verdict(context.settings);
        if verdict.rule.is_none() || found.decision > verdict.decision {
            verdict = found.clone();
        }
        if found.rule.is_some() {
            matched.push((finding.id().to_owned(), finding.detail.clone()));
        }
    }
    Explanation {
        verdict,
        trace: walker.trace,
        matched,
    }
}

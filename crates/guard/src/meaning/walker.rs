//! What a walk knows: where it happens, who judges, and what was found.

use std::borrow::Cow;

use super::command::Command;
use super::env::{Env, Value};
use crate::finding::{Finding, Found, MAX_SHOWN, Trace};
use crate::mark;
use crate::paths::{Resolved, climbs_out, native, normalize};
use crate::{Context, RuleId};

/// The rules, as the walk calls them.
pub trait Judges: std::fmt::Debug {
    /// One command that runs.
    fn command(&self, walker: &mut Walker, command: &Command, env: &mut Env);
    /// A variable that is set for the commands that follow.
    fn assignment(&self, walker: &mut Walker, name: &str, value: &Value, env: &Env);
}

#[derive(Debug)]
pub struct Walker<'a> {
    pub context: &'a Context<'a>,
    pub findings: Vec<Finding>,
    pub trace: Trace,
    /// What runs at the end and could not be judged before.
    pub traps: Vec<String>,
    /// Within a recipe of a build file.
    pub in_recipe: bool,
    /// The command that is judged, with its arguments.
    pub(super) running: Option<String>,
    pub(super) resolved: Resolved<'a>,
    pub(super) judges: &'a dyn Judges,
    pub(super) steps: usize,
    pub(super) depth: usize,
}

impl<'a> Walker<'a> {
    pub fn new(context: &'a Context<'a>, judges: &'a dyn Judges, trace: Trace) -> Self {
        Walker {
            context,
            findings: Vec::new(),
            trace,
            traps: Vec::new(),
            in_recipe: false,
            running: None,
            resolved: Resolved::new(context.world),
            judges,
            steps: 0,
            depth: 0,
        }
    }

    pub fn home(&self) -> &'a str {
        self.context.home
    }

    pub fn project(&self) -> &'a str {
        self.context.project
    }

    pub fn temporary(&self) -> &'a str {
        self.context
            .temporary
            .first()
            .map_or("/tmp", String::as_str)
    }

    pub fn report(&mut self, rule: RuleId, detail: &str) {
        let detail: String = mark::show(detail).chars().take(MAX_SHOWN).collect();
        self.findings.push(Finding {
            rule: Found::BuiltIn(rule),
            detail,
            command: self.running.as_deref().map(mark::show),
        });
    }

    /// The path in the form that is compared.
    pub fn native<'p>(&self, path: &'p str) -> Cow<'p, str> {
        match native::on_windows(self.project()) {
            true => native::portable_on_windows(path),
            false => native::portable(path),
        }
    }

    /// The path from the root, lexically; one for each directory that the
    /// script may stand in.
    pub fn absolute(&self, path: &str, env: &Env) -> Vec<String> {
        let path = &*self.native(path);
        if path.starts_with('/') {
            return vec![normalize(path)];
        }
        env.directories
            .iter()
            .map(|directory| normalize(&format!("{directory}/{path}")))
            .collect()
    }

    /// Where a change of the directory leads. One that climbs out of the
    /// project still says so, because what is beside it is none of its
    /// business, even where both lie in a directory for temporary files.
    pub fn directories(&self, target: &str, env: &Env) -> Vec<String> {
        let target = &*self.native(target);
        let from: &[String] = if target.starts_with('/') {
            &[]
        } else {
            &env.directories
        };
        if from.is_empty() {
            return vec![normalize(target)];
        }
        let enter = |directory: &String| {
            let joined = format!("{directory}/{target}");
            let normal = normalize(&joined);
            if climbs_out(&joined, self.project()) {
                let up = "/..".repeat(self.project().matches('/').count());
                format!("{}{up}{normal}", self.project())
            } else {
                normal
            }
        };
        from.iter().map(enter).collect()
    }
}

//! What the judges report, and how it becomes a verdict.

use ralph_core::config::{GuardMode, GuardSettings};

use crate::mark;
use crate::rules::catalog;
use crate::{Decision, Message, RuleId, Verdict};

/// A built-in rule, or one of the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    BuiltIn(RuleId),
    Own(String),
}

/// A rule that matched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub rule: Found,
    pub detail: String,
    /// The command that it was found in.
    pub command: Option<String>,
}

/// How much text a shown command may have.
pub const MAX_SHOWN: usize = 160;

impl Finding {
    pub fn id(&self) -> &str {
        match &self.rule {
            Found::BuiltIn(id) => id.name(),
            Found::Own(id) => id,
        }
    }

    /// What a message names: of a dangerous command the command itself, with
    /// what is dangerous about it (GARD-10).
    fn shown(&self) -> String {
        let is_command = |rule: &catalog::Rule| rule.family == catalog::Family::Command;
        let about_command = catalog::rule(self.id()).is_some_and(is_command);
        let (detail, Some(command)) = (
            &self.detail,
            self.command.as_ref().filter(|_| about_command),
        ) else {
            return self.detail.clone();
        };
        let program = command.split(' ').next().unwrap_or_default();
        let name = program.rsplit('/').next().unwrap_or_default();
        let names_it = detail
            .strip_prefix(name)
            .is_some_and(|rest| rest.starts_with(' '));
        match command.contains(detail.as_str()) && command.chars().count() <= MAX_SHOWN {
            true => command.clone(),
            false if names_it || name.is_empty() => detail.clone(),
            false => format!("{name} … {detail}"),
        }
    }

    pub fn is(&self, rule: RuleId) -> bool {
        self.rule == Found::BuiltIn(rule)
    }

    /// What the settings make of it.
    pub fn verdict(&self, settings: &GuardSettings) -> Verdict {
        let id = self.id();
        let listed = |ids: &[String]| ids.iter().any(|listed| listed == id);
        let user = settings.rules.iter().find(|rule| rule.id == id);
        let (message, on) = match (catalog::rule(id), user) {
            (Some(rule), _) => {
                let packed = rule.pack.is_none_or(|pack| settings.packs.contains(&pack));
                let on = packed && (!rule.off || listed(&settings.enable));
                (Some(Message::BuiltIn(rule)), on)
            }
            (None, Some(rule)) => (
                Some(Message::User {
                    reason: rule.reason.clone(),
                    hint: rule.hint.clone(),
                }),
                true,
            ),
            (None, None) => (None, true),
        };
        if !on || listed(&settings.disable) {
            return Verdict::default();
        }
        let mode = settings
            .modes
            .iter()
            .find(|(named, _)| named == id)
            .map(|(_, mode)| *mode)
            .or(user.map(|rule| rule.mode))
            .unwrap_or_default();
        Verdict {
            decision: match mode {
                GuardMode::Block => Decision::Block,
                GuardMode::Ask => Decision::Ask,
                GuardMode::Warn => Decision::Allow,
            },
            rule: Some(id.to_owned()),
            detail: self.shown(),
            message,
        }
    }
}

/// How a text was understood, for people who ask why.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// Every command that was found, in order.
    pub commands: Vec<String>,
    /// The wrappers and interpreters that were looked into.
    pub unwrapped: Vec<String>,
    /// Every path that was judged: what was done, as written, as resolved.
    pub paths: Vec<(&'static str, String, String)>,
    /// Every URL that was judged.
    pub urls: Vec<String>,
    /// Nobody asked.
    off: bool,
}

/// How many entries of each kind are kept.
const MAX_ENTRIES: usize = 200;

impl Trace {
    /// Keeps nothing, for a call that only wants a verdict.
    pub fn none() -> Self {
        Trace {
            off: true,
            ..Trace::default()
        }
    }

    pub fn command(&mut self, argv: &[String]) {
        if !self.off && self.commands.len() < MAX_ENTRIES {
            let words: Vec<String> = argv.iter().take(40).map(|word| mark::show(word)).collect();
            self.commands.push(words.join(" "));
        }
    }

    pub fn unwrapped(&mut self, name: &str) {
        if !self.off && self.unwrapped.len() < MAX_ENTRIES {
            self.unwrapped.push(name.to_owned());
        }
    }

    pub fn path(&mut self, action: &'static str, written: &str, resolved: &str) {
        if !self.off && self.paths.len() < MAX_ENTRIES {
            self.paths
                .push((action, mark::show(written), mark::show(resolved)));
        }
    }

    pub fn url(&mut self, url: &str) {
        if !self.off && self.urls.len() < MAX_ENTRIES {
            self.urls.push(mark::show(url));
        }
    }
}

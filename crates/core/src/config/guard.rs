//! The `[guard]` part of the own file: what a hook reads on every tool call,
//! without the rest of the configuration.
//!
//! The file stands in the repository, so that it may tighten the guard and
//! never loosen it, unless a person confirmed the [`GuardFile::digest`] of it.

mod plain;

use serde::Deserialize;
use sha2::{Digest, Sha256};
use toml::Value;

use super::settings::{GuardMode, GuardRule, GuardSettings};

/// What the file says about the guard, and the language it asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct GuardFile {
    pub settings: GuardSettings,
    pub lang: Option<String>,
    /// The keys that make the guard weaker, as they are written.
    pub loosens: Vec<&'static str>,
}

/// The part can't be understood; the whole configuration says why, in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unclear;

impl GuardFile {
    /// Reads the text of `.ralph/config.toml`; of the other sections only
    /// the form is looked at.
    pub fn read(text: &str) -> Result<GuardFile, Unclear> {
        let File { guard, lang } = File::read(text)?;
        Ok(GuardFile {
            lang,
            loosens: loosening(&guard),
            settings: guard,
        })
    }

    /// A name for exactly these settings: comments, blanks and the order of
    /// keys do not matter, and a key that a later version adds neither.
    pub fn digest(&self) -> String {
        let as_json = |settings: &GuardSettings| serde_json::to_value(settings).unwrap_or_default();
        let (mut own, defaults) = (as_json(&self.settings), as_json(&GuardSettings::default()));
        if let Some(own) = own.as_object_mut() {
            own.retain(|key, value| defaults.get(key) != Some(value));
        }
        let digest = Sha256::digest(own.to_string().as_bytes());
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// What is left where nobody confirmed the file: everything that makes
    /// the guard stricter.
    pub fn tightened(self) -> GuardSettings {
        let mut settings = self.settings;
        let modes = std::mem::take(&mut settings.modes);
        let kept = modes.into_iter().filter(|entry| !weakens(entry, &settings));
        GuardSettings {
            modes: kept.collect(),
            enable: settings.enable,
            rules: settings.rules,
            ..GuardSettings::default()
        }
    }
}

fn loosening(settings: &GuardSettings) -> Vec<&'static str> {
    let strictest = GuardSettings::default();
    [
        ("enabled", !settings.enabled),
        ("fail", settings.fail != strictest.fail),
        ("shadow", settings.shadow),
        ("disable", !settings.disable.is_empty()),
        (
            "modes",
            settings.modes.iter().any(|entry| weakens(entry, settings)),
        ),
        ("packs", settings.packs.len() < strictest.packs.len()),
        ("allow_paths", !settings.allow_paths.is_empty()),
        ("allow_hosts", !settings.allow_hosts.is_empty()),
    ]
    .into_iter()
    .filter_map(|(key, loosens)| loosens.then_some(key))
    .collect()
}

/// A mode takes something away only from a built-in rule: what the file adds
/// itself it may make as mild as it likes.
fn weakens((id, mode): &(String, GuardMode), settings: &GuardSettings) -> bool {
    *mode != GuardMode::Block && !settings.rules.iter().any(|rule| rule.id == *id)
}

#[derive(Debug, Default, PartialEq, Deserialize)]
struct File {
    #[serde(default)]
    guard: GuardSettings,
    lang: Option<String>,
}

impl File {
    fn read(text: &str) -> Result<File, Unclear> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let file = match plain::read(text) {
            Some(file) => file,
            None => toml::from_str(text).map_err(|_| Unclear)?,
        };
        match file.guard.rules.iter().all(is_whole) {
            true => Ok(file),
            false => Err(Unclear),
        }
    }
}

fn is_whole(rule: &GuardRule) -> bool {
    !rule.id.is_empty() && !rule.program.is_empty()
}

/// The rule and the mode of `git.reset-hard=ask`.
pub(super) fn mode_of(text: &str) -> Option<(String, GuardMode)> {
    let (id, word) = text.split_once('=')?;
    let mode = word.trim().parse().ok()?;
    Some((id.trim().to_owned(), mode)).filter(|(id, _)| !id.is_empty())
}

/// The rules that a value holds; `None` where one of them is none.
pub(super) fn rules_of(value: &Value) -> Option<Vec<GuardRule>> {
    let rules: Vec<GuardRule> = value.clone().try_into().ok()?;
    rules.iter().all(is_whole).then_some(rules)
}

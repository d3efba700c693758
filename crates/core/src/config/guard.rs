//! The `[guard]` part of the own file: what a hook reads on every tool call,
//! without the rest of the configuration.
//!
//! The file stands in the repository, so that it may tighten the guard and
//! never loosen it, unless a person confirmed the [`GuardFile::digest`] of it.

mod plain;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use toml::Value;

use super::settings::{GuardFailure, GuardMode, GuardPack, GuardRule, GuardSettings};

/// What the file says about the guard, and the language it asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct GuardFile {
    pub settings: GuardSettings,
    pub lang: Option<String>,
    /// The keys that make the guard weaker, as they are written.
    pub loosens: Vec<&'static str>,
    /// The file as it was read.
    text: String,
}

/// The part can't be understood; the whole configuration says why, in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unclear;

impl GuardFile {
    /// Reads the text of `.ralph/config.toml`; of the other sections only
    /// the form is looked at.
    pub fn read(text: &str) -> Result<GuardFile, Unclear> {
        let file = File::read(text)?;
        let settings = file.guard.settings().ok_or(Unclear)?;
        Ok(GuardFile {
            lang: file.lang,
            loosens: loosening(&settings),
            settings,
            text: text.to_owned(),
        })
    }

    /// A name for exactly these settings: comments, blanks and the order of
    /// keys do not matter.
    pub fn digest(&self) -> String {
        let guard = File::read(&self.text).map(|file| file.guard);
        let written = guard
            .ok()
            .and_then(|guard| serde_json::to_string(&guard).ok());
        let digest = Sha256::digest(written.unwrap_or_default().as_bytes());
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
    guard: RawGuard,
    lang: Option<String>,
}

impl File {
    fn read(text: &str) -> Result<File, Unclear> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        match plain::read(text) {
            Some(file) => Ok(file),
            None => toml::from_str(text).map_err(|_| Unclear),
        }
    }
}

/// The section as it is written. What is not written is not part of the
/// digest, so that a new key does not undo a confirmation.
#[derive(Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
struct RawGuard {
    #[serde(skip_serializing_if = "Option::is_none")]
    enabled: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fail: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shadow: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    packs: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    enable: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    disable: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    modes: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    allow_paths: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    allow_hosts: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    rules: Vec<RawRule>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
struct RawRule {
    id: String,
    program: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    args: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    paths: Vec<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    reason: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    hint: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    mode: String,
    #[serde(rename = "match", skip_serializing_if = "Vec::is_empty")]
    matches: Vec<String>,
    #[serde(rename = "not_match", skip_serializing_if = "Vec::is_empty")]
    not_matches: Vec<String>,
}

impl RawGuard {
    fn settings(self) -> Option<GuardSettings> {
        let defaults = GuardSettings::default();
        Some(GuardSettings {
            enabled: self.enabled.unwrap_or(defaults.enabled),
            fail: match &self.fail {
                Some(word) => GuardFailure::from_word(word)?,
                None => defaults.fail,
            },
            shadow: self.shadow.unwrap_or(defaults.shadow),
            packs: match &self.packs {
                Some(names) => names
                    .iter()
                    .map(|name| GuardPack::from_word(name))
                    .collect::<Option<_>>()?,
                None => defaults.packs,
            },
            enable: self.enable,
            disable: self.disable,
            modes: self
                .modes
                .iter()
                .map(|text| mode_of(text))
                .collect::<Option<_>>()?,
            allow_paths: self.allow_paths,
            allow_hosts: self.allow_hosts,
            rules: self
                .rules
                .into_iter()
                .map(RawRule::rule)
                .collect::<Option<_>>()?,
        })
    }
}

impl RawRule {
    fn rule(self) -> Option<GuardRule> {
        let raw = self;
        let mode = match raw.mode.as_str() {
            "" => GuardMode::Block,
            word => GuardMode::from_word(word)?,
        };
        (!raw.id.is_empty() && !raw.program.is_empty()).then_some(GuardRule {
            id: raw.id,
            program: raw.program,
            args: raw.args,
            paths: raw.paths,
            reason: raw.reason,
            hint: raw.hint,
            mode,
            matches: raw.matches,
            not_matches: raw.not_matches,
        })
    }
}

/// The rule and the mode of `git.reset-hard=ask`.
pub(super) fn mode_of(text: &str) -> Option<(String, GuardMode)> {
    let (id, word) = text.split_once('=')?;
    let mode = GuardMode::from_word(word.trim())?;
    Some((id.trim().to_owned(), mode)).filter(|(id, _)| !id.is_empty())
}

/// The rules that a value holds; `None` where one of them is none.
pub(super) fn rules_of(value: &Value) -> Option<Vec<GuardRule>> {
    let raw: Vec<RawRule> = value.clone().try_into().ok()?;
    raw.into_iter().map(RawRule::rule).collect()
}

//! What makes a configuration unusable. Data only; the words are in `Say`.

use super::layer::PRESETS;
use super::origin::Place;
use super::schema::Key;
pub use super::words::Found;
use super::words::did_you_mean;
use crate::lang::{Lang, Say};
use crate::tr;

#[derive(Debug, Clone, PartialEq)]
pub enum ConfigError {
    /// The file is there and can't be read. The system gives the detail.
    Unreadable { file: String, detail: String },
    /// The file is not TOML. The parser gives the detail in English.
    Syntax {
        place: Place,
        column: usize,
        detail: String,
    },
    UnknownKey {
        place: Place,
        key: String,
        nearest: Option<String>,
    },
    /// A section's name with a value instead of keys.
    NotASection { place: Place, name: String },
    BadValue {
        place: Place,
        key: &'static Key,
        found: Found,
        nearest: Option<&'static str>,
    },
    UnknownPreset {
        name: String,
        nearest: Option<&'static str>,
    },
    /// No limit at all would let a loop run for ever.
    Unlimited { place: Place },
    /// The warning would come only after the end.
    WarnsTooLate {
        place: Place,
        warn_at: u32,
        max_iterations: u32,
    },
    /// The weights of the scorer are no shares of a whole (ROUT-12).
    WeightSum { place: Place, sum: u32 },
    /// The thresholds of the scorer are out of order.
    ThresholdOrder { place: Place },
    /// The program asks for a setting that its reference does not have, or
    /// reads it as another kind: a fault of the program, not of the person.
    Internal { key: String },
}

impl ConfigError {
    pub fn line(&self) -> Option<usize> {
        match self {
            ConfigError::Syntax { place, .. }
            | ConfigError::UnknownKey { place, .. }
            | ConfigError::NotASection { place, .. }
            | ConfigError::BadValue { place, .. }
            | ConfigError::Unlimited { place }
            | ConfigError::WeightSum { place, .. }
            | ConfigError::ThresholdOrder { place }
            | ConfigError::WarnsTooLate { place, .. } => place.line,
            ConfigError::Unreadable { .. }
            | ConfigError::UnknownPreset { .. }
            | ConfigError::Internal { .. } => None,
        }
    }
}

impl Say for ConfigError {
    fn say(&self, lang: Lang) -> String {
        match self {
            ConfigError::Unreadable { file, detail } => tr!(
                lang,
                "{file} is there and can't be read: {detail}. Make it a readable file of UTF-8 text, or remove it."
            ),
            ConfigError::Syntax {
                place,
                column,
                detail,
            } => {
                let place = place.say(lang);
                tr!(
                    lang,
                    "{place}, column {column}: this is not valid TOML: {detail}. Correct it, then run \"ralph config check\"."
                )
            }
            ConfigError::UnknownKey {
                place,
                key,
                nearest,
            } => {
                let place = place.say(lang);
                let guess = did_you_mean(nearest.as_deref(), lang);
                tr!(
                    lang,
                    "{place}: there is no setting \"{key}\".{guess} Correct or remove it; \"ralph config reference\" lists all settings."
                )
            }
            ConfigError::NotASection { place, name } => {
                let place = place.say(lang);
                tr!(
                    lang,
                    "{place}: \"{name}\" is a section, not a setting. Write [{name}] on a line of its own and its settings below."
                )
            }
            ConfigError::BadValue {
                place,
                key,
                found,
                nearest,
            } => {
                let place = place.say(lang);
                let found = found.say(lang);
                let expected = key.kind.say(lang);
                let guess = did_you_mean(*nearest, lang);
                let key = &key.name;
                tr!(
                    lang,
                    "{place}: \"{key}\" is {found}.{guess} Write {expected}."
                )
            }
            ConfigError::UnknownPreset { name, nearest } => {
                let guess = did_you_mean(*nearest, lang);
                let known = PRESETS.map(|(known, _)| known).join(", ");
                tr!(
                    lang,
                    "there is no preset \"{name}\".{guess} Use one of: {known}."
                )
            }
            ConfigError::Unlimited { place } => {
                let place = place.say(lang);
                tr!(
                    lang,
                    "{place}: \"limits.max_iterations\" is 0 (unlimited) and no other limit is on. Set max_iterations, or one of limits.max_duration (such as \"12h\"), limits.stalled, limits.missing_promise, limits.consecutive_errors."
                )
            }
            ConfigError::WarnsTooLate {
                place,
                warn_at,
                max_iterations,
            } => {
                let place = place.say(lang);
                tr!(
                    lang,
                    "{place}: \"limits.warn_at\" is {warn_at}, after the last turn ({max_iterations}). Write {max_iterations} or less, or a percentage such as \"75%\"."
                )
            }
            ConfigError::WeightSum { place, sum } => {
                let place = place.say(lang);
                tr!(
                    lang,
                    "{place}: the six \"routing.weights\" add up to {sum}. Change them so that they add up to 100."
                )
            }
            ConfigError::ThresholdOrder { place } => {
                let place = place.say(lang);
                tr!(
                    lang,
                    "{place}: \"routing.thresholds\" must grow from direct over planned to ralph and stay below 100."
                )
            }
            ConfigError::Internal { key } => tr!(
                lang,
                "the setting \"{key}\" cannot be read; this is a fault of ralph: please report it."
            ),
        }
    }
}

/// All mistakes, one per line.
impl Say for Vec<ConfigError> {
    fn say(&self, lang: Lang) -> String {
        let lines: Vec<String> = self.iter().map(|error| error.say(lang)).collect();
        lines.join("\n")
    }
}

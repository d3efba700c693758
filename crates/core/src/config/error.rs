//! What makes a configuration unusable. Data only; the words are in `Say`.

use super::layer::PRESETS;
use super::origin::Place;
use super::schema::Key;
pub use super::words::Found;
use super::words::did_you_mean;
use crate::lang::{Lang, Say};

#[derive(Debug, Clone, PartialEq, Say)]
pub enum ConfigError {
    /// The file is there and can't be read. The system gives the detail.
    #[say(
        "{file} is there and can't be read: {detail}. Make it a readable file of UTF-8 text, or remove it."
    )]
    Unreadable { file: String, detail: String },
    /// The file is not TOML. The parser gives the detail in English.
    #[say("{place}, column {column}: this is not valid TOML: {detail}. Correct it, then run \"ralph config check\".", place = place.say(lang))]
    Syntax {
        place: Place,
        column: usize,
        detail: String,
    },
    #[say("{place}: there is no setting \"{key}\".{guess} Correct or remove it; \"ralph config reference\" lists all settings.", place = place.say(lang), guess = did_you_mean(nearest.as_deref(), lang))]
    UnknownKey {
        place: Place,
        key: String,
        nearest: Option<String>,
    },
    /// A section's name with a value instead of keys.
    #[say("{place}: \"{name}\" is a section, not a setting. Write [{name}] on a line of its own and its settings below.", place = place.say(lang))]
    NotASection { place: Place, name: String },
    #[say("{place}: \"{key}\" is {found}.{guess} Write {expected}.", place = place.say(lang), found = found.say(lang), expected = key.kind.say(lang), guess = did_you_mean(*nearest, lang), key = &key.name)]
    BadValue {
        place: Place,
        key: &'static Key,
        found: Found,
        nearest: Option<&'static str>,
    },
    #[say("there is no preset \"{name}\".{guess} Use one of: {known}.", guess = did_you_mean(*nearest, lang), known = PRESETS.map(|(known, _)| known).join(", "))]
    UnknownPreset {
        name: String,
        nearest: Option<&'static str>,
    },
    /// No limit at all would let a loop run for ever.
    #[say("{place}: \"limits.max_iterations\" is 0 (unlimited) and no other limit is on. Set max_iterations, or one of limits.max_duration (such as \"12h\"), limits.stalled, limits.missing_promise, limits.consecutive_errors, budget.max_cost.", place = place.say(lang))]
    Unlimited { place: Place },
    /// The warning would come only after the end.
    #[say("{place}: \"limits.warn_at\" is {warn_at}, after the last turn ({max_iterations}). Write {max_iterations} or less, or a percentage such as \"75%\".", place = place.say(lang))]
    WarnsTooLate {
        place: Place,
        warn_at: u32,
        max_iterations: u32,
    },
    /// The weights of the scorer are no shares of a whole (ROUT-12).
    #[say("{place}: the six \"routing.weights\" add up to {sum}. Change them so that they add up to 100.", place = place.say(lang))]
    WeightSum { place: Place, sum: u32 },
    /// The thresholds of the scorer are out of order.
    #[say("{place}: \"routing.thresholds\" must grow from direct over planned to ralph and stay below 100.", place = place.say(lang))]
    ThresholdOrder { place: Place },
    /// It would pass, whatever is there (VERI-02, QUAL-08).
    #[say("{place}: \"{key}\" has a command that runs nothing, so it would always pass. Write the command, or take it out.", place = place.say(lang))]
    IdleCheck { place: Place, key: &'static str },
    /// An agent can't write this text between tags (PROM-03).
    #[say("{place}: \"{key}\" is {found} with a <promise> tag. Write the text alone, without the tag.", place = place.say(lang), found = found.say(lang))]
    PromiseWithTag {
        place: Place,
        key: &'static str,
        found: Found,
    },
    /// A text that claims that work is done, and says something else.
    #[say(if let Some(by) = by, "{place}: \"{key}\" is {found}, which already means what \"{by}\" stands for. Choose another text.", place = place.say(lang), found = found.say(lang))]
    #[say("{place}: \"{key}\" is {found}, which already means a question to a person. Choose another text.", place = place.say(lang), found = found.say(lang))]
    PromiseTaken {
        place: Place,
        key: &'static str,
        found: Found,
        /// The setting that has it; none where it is always so.
        by: Option<&'static str>,
    },
    /// The program asks for a setting that its reference does not have, or
    /// reads it as another kind: a fault of the program, not of the person.
    #[say("the setting \"{key}\" cannot be read; this is a fault of ralph: please report it.")]
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
            | ConfigError::IdleCheck { place, .. }
            | ConfigError::PromiseWithTag { place, .. }
            | ConfigError::PromiseTaken { place, .. }
            | ConfigError::WarnsTooLate { place, .. } => place.line,
            ConfigError::Unreadable { .. }
            | ConfigError::UnknownPreset { .. }
            | ConfigError::Internal { .. } => None,
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

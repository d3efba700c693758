//! All settings with the value that won and where it came from.

use std::fmt::Write as _;

use serde_json::{Map, Value as Json, json};

use super::error::ConfigError;
use super::layer::{Layer, Sourced};
use super::origin::{Origin, Place};
use super::schema::{Key, Schema, section_of};
use super::warning::ConfigWarning;

/// Every setting, in the order of the reference page.
#[derive(Debug, Clone, PartialEq)]
pub struct Resolved {
    values: Vec<(&'static Key, Sourced)>,
}

impl Resolved {
    /// Merges the layers over the preset that they choose and over the
    /// defaults. Of the same rank, the earlier layer decides.
    pub fn resolve(
        mut layers: Vec<Layer>,
    ) -> Result<(Resolved, Vec<ConfigWarning>), Vec<ConfigError>> {
        let preset = strongest(&layers, "preset")
            .and_then(|(chosen, _)| chosen.value.as_str())
            .filter(|name| !name.is_empty())
            .map(str::to_owned);
        if let Some(name) = preset {
            layers.push(Layer::preset(&name)?);
        }
        let mut warnings = Vec::new();
        let values = Schema::get()
            .keys()
            .map(|key| (key, winner(&layers, key, &mut warnings)))
            .collect();
        Ok((Resolved { values }, warnings))
    }

    pub fn get(&self, key: &str) -> Option<&Sourced> {
        self.values
            .iter()
            .find_map(|(known, value)| (known.name == key).then_some(value))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&'static Key, &Sourced)> {
        self.values.iter().map(|(key, value)| (*key, value))
    }

    /// The whole configuration as TOML, which reads back as the same values.
    pub fn show(&self, with_origin: bool) -> String {
        let entries = self
            .iter()
            .map(|(key, sourced)| (key.name.as_str(), sourced));
        render(entries, with_origin)
    }

    /// Every key with its value and origin, for machines.
    pub fn to_json(&self) -> Json {
        let entries = self.iter().map(|(key, sourced)| {
            let Sourced { value, place } = sourced;
            let mut entry = Map::new();
            entry.insert("value".to_owned(), json!(value));
            entry.insert("origin".to_owned(), json!(place.origin.into_str()));
            if let Some(name) = place.origin.name() {
                entry.insert("name".to_owned(), json!(name));
            }
            if let Some(line) = place.line {
                entry.insert("line".to_owned(), json!(line));
            }
            (key.name.clone(), Json::Object(entry))
        });
        Json::Object(entries.collect())
    }
}

/// The text of an own configuration file with what the files of other tools
/// set. Those files are left as they are.
pub fn migrate(foreign: &[Layer]) -> String {
    let mut text = String::from(
        "# Taken over from files of other tools by \"ralph config migrate\".\n\
         # \"ralph config reference\" explains every setting.\n",
    );
    let entries: Vec<(&str, &Sourced)> = Schema::get()
        .keys()
        .filter_map(|key| {
            let (winner, _) = strongest(foreign, &key.name)?;
            Some((key.name.as_str(), winner))
        })
        .collect();
    if !entries.is_empty() {
        text.push('\n');
        text.push_str(&render(entries.into_iter(), true));
    }
    text
}

/// The value with the highest rank, and the first other one of that rank.
fn strongest<'a>(layers: &'a [Layer], key: &str) -> Option<(&'a Sourced, Option<&'a Sourced>)> {
    let mut candidates: Vec<&Sourced> = layers.iter().filter_map(|layer| layer.get(key)).collect();
    candidates.sort_by_key(|candidate| std::cmp::Reverse(candidate.place.origin.rank()));
    let (first, rest) = candidates.split_first()?;
    let rival = rest
        .iter()
        .find(|rival| rival.place.origin.rank() == first.place.origin.rank());
    Some((first, rival.copied()))
}

fn winner(layers: &[Layer], key: &Key, warnings: &mut Vec<ConfigWarning>) -> Sourced {
    let Some((winner, rival)) = strongest(layers, &key.name) else {
        return Sourced {
            value: key.default.clone(),
            place: Place::new(Origin::Default, None),
        };
    };
    // Flags and variables name one value each, so that only the files of
    // other tools can disagree.
    if let Some(rival) = rival.filter(|rival| rival.value != winner.value) {
        warnings.push(ConfigWarning::Disagreement {
            key: key.name.clone(),
            used: winner.place.clone(),
            ignored: rival.place.clone(),
        });
    }
    winner.clone()
}

fn render<'a>(entries: impl Iterator<Item = (&'a str, &'a Sourced)>, with_origin: bool) -> String {
    let mut text = String::new();
    let mut current = None;
    for (key, Sourced { value, place }) in entries {
        let section = section_of(key);
        if section != current {
            current = section;
            let gap = if text.is_empty() { "" } else { "\n" };
            let _ = writeln!(text, "{gap}[{}]", section.unwrap_or_default());
        }
        let name = key.rsplit('.').next().unwrap_or(key);
        let _ = write!(text, "{name} = {value}");
        if with_origin {
            let _ = write!(text, "  # {place}");
        }
        text.push('\n');
    }
    text
}

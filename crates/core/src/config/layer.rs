//! The values that one place sets: the own file, the environment, a flag or a
//! preset. What a layer holds is known to the schema and of the right kind.

use std::collections::BTreeMap;

use toml::Value;
use toml::de::{DeTable, DeValue};

use super::error::{ConfigError, Found};
use super::nearest::nearest;
use super::origin::{Origin, Place};
use super::schema::{Key, Schema, join, plain_value};
use super::warning::ConfigWarning;

/// The presets, each a set of defaults.
pub const PRESETS: [(&str, &str); 6] = [
    ("openspec", include_str!("presets/openspec.toml")),
    ("verify", include_str!("presets/verify.toml")),
    ("dev-p0", include_str!("presets/dev-p0.toml")),
    ("dev-p1", include_str!("presets/dev-p1.toml")),
    ("sdd", include_str!("presets/sdd.toml")),
    ("delta", include_str!("presets/delta.toml")),
];

/// Variables that the engine sets for agents, and those that break a debug
/// build: they say what a run uses and must not configure a run that an agent
/// starts. `RALPH_TASKS_FILE` would otherwise be the variable of `tasks.file`.
const ENGINE_VARIABLES: [&str; 10] = [
    "RALPH_RUN_ID", "RALPH_RUN_TAG", "RALPH_ITERATION", "RALPH_TASKS_FILE", "RALPH_MODE",
    "RALPH_TASK_ID", "RALPH_PORT", "RALPH_PORTS", "RALPH_FAULT", "RALPH_FAULT_TRACE",
];

/// A value and where it was set.
#[derive(Debug, Clone, PartialEq)]
pub struct Sourced {
    pub value: Value,
    pub place: Place,
}

/// The values that one place sets, by dotted key.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Layer {
    values: BTreeMap<String, Sourced>,
}

impl Layer {
    /// Reads the own configuration file. All of its mistakes are reported.
    pub fn own_file(name: &str, text: &str) -> Result<Layer, Vec<ConfigError>> {
        read_toml(&Origin::File(name.to_owned()), text)
    }

    /// The layer of a preset.
    pub fn preset(name: &str) -> Result<Layer, Vec<ConfigError>> {
        let found = PRESETS.iter().find(|(known, _)| *known == name);
        let Some((_, text)) = found else {
            return Err(vec![ConfigError::UnknownPreset {
                name: name.to_owned(),
                nearest: nearest(name, PRESETS.map(|(known, _)| known)),
            }]);
        };
        read_toml(&Origin::Preset(name.to_owned()), text)
    }

    /// Takes the `RALPH_*` variables; others are none of our business. One
    /// that nearly is ours gives a warning, since it was probably meant to be.
    pub fn env(
        variables: impl IntoIterator<Item = (String, String)>,
    ) -> (Result<Layer, Vec<ConfigError>>, Vec<ConfigWarning>) {
        let mut layer = Layer::default();
        let mut warnings = Vec::new();
        let mut errors = Vec::new();
        for (name, text) in variables {
            if !name.starts_with("RALPH_")
                || text.is_empty()
                || ENGINE_VARIABLES.contains(&name.as_str())
            {
                continue;
            }
            let Some(key) = key_of_variable(&name) else {
                warnings.extend(misspelt_variable(&name));
                continue;
            };
            let place = Place::new(Origin::Env(name), None);
            let value = key.kind.value_of_text(&text);
            errors.extend(layer.set(key, &value, place).err());
        }
        (finish(layer, errors), warnings)
    }

    /// The value that a flag gives. A text is read as the key's kind needs it,
    /// so that both `30` and `"30"` do for a number.
    pub fn flag(key: &str, value: impl Into<Value>, flag: &str) -> Result<Layer, ConfigError> {
        let place = Place::new(Origin::Flag(flag.to_owned()), None);
        let Some(known) = Schema::get().key(key) else {
            return Err(unknown_key(key, place));
        };
        let value = match value.into() {
            Value::String(text) => known.kind.value_of_text(&text),
            value => value,
        };
        let mut layer = Layer::default();
        layer.set(known, &value, place)?;
        Ok(layer)
    }

    pub fn get(&self, key: &str) -> Option<&Sourced> {
        self.values.get(key)
    }

    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    pub(super) fn remove(&mut self, key: &str) {
        self.values.remove(key);
    }

    /// Takes a value if it is of the key's kind.
    pub(super) fn set(
        &mut self,
        key: &'static Key,
        value: &Value,
        place: Place,
    ) -> Result<(), ConfigError> {
        match key.kind.accept(value) {
            Some(value) => {
                self.values
                    .insert(key.name.clone(), Sourced { value, place });
                Ok(())
            }
            None => Err(ConfigError::BadValue {
                place,
                key,
                nearest: key.kind.nearest_choice(value),
                found: Found::of(value),
            }),
        }
    }
}

/// The environment variable of a key; `None` where the engine has taken it.
pub fn variable_of_key(key: &str) -> Option<String> {
    let name = format!("RALPH_{}", key.replace('.', "_").to_uppercase());
    (!ENGINE_VARIABLES.contains(&name.as_str())).then_some(name)
}

/// The key that a variable sets; the engine's own are not asked for.
fn key_of_variable(name: &str) -> Option<&'static Key> {
    let wanted = name.strip_prefix("RALPH_")?;
    let spelt = |byte: u8| match byte {
        b'.' => b'_',
        byte => byte.to_ascii_uppercase(),
    };
    Schema::get()
        .keys()
        .find(|key| key.name.bytes().map(spelt).eq(wanted.bytes()))
}

fn misspelt_variable(name: &str) -> Option<ConfigWarning> {
    let variables: Vec<(String, String)> = Schema::get()
        .keys()
        .filter_map(|key| Some((variable_of_key(&key.name)?, key.name.clone())))
        .collect();
    let by_spelling = nearest(
        name,
        variables.iter().map(|(variable, _)| variable.as_str()),
    );
    // RALPH_MAX_ITERATIONS forgets the section.
    let without_prefix = name.strip_prefix("RALPH_")?.to_lowercase();
    let by_last_part = variables.iter().find_map(|(variable, key)| {
        let (_, last) = key.rsplit_once('.')?;
        (last == without_prefix).then_some(variable.as_str())
    });
    let meant = by_last_part.or(by_spelling)?;
    Some(ConfigWarning::UnknownVariable {
        name: name.to_owned(),
        nearest: meant.to_owned(),
    })
}

fn unknown_key(key: &str, place: Place) -> ConfigError {
    ConfigError::UnknownKey {
        place,
        key: key.to_owned(),
        nearest: Schema::get().nearest(key).map(str::to_owned),
    }
}

fn finish(layer: Layer, errors: Vec<ConfigError>) -> Result<Layer, Vec<ConfigError>> {
    if errors.is_empty() {
        Ok(layer)
    } else {
        Err(errors)
    }
}

fn read_toml(origin: &Origin, text: &str) -> Result<Layer, Vec<ConfigError>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let document =
        DeTable::parse(text).map_err(|error| vec![syntax_error(origin, text, &error)])?;
    let mut reader = TomlReader {
        origin,
        text,
        line_ends: text.match_indices('\n').map(|(at, _)| at).collect(),
        layer: Layer::default(),
        errors: Vec::new(),
    };
    reader.read_table(document.get_ref(), "");
    let TomlReader {
        layer, mut errors, ..
    } = reader;
    errors.sort_by_key(ConfigError::line);
    finish(layer, errors)
}

fn syntax_error(origin: &Origin, text: &str, error: &toml::de::Error) -> ConfigError {
    let offset = error.span().map_or(0, |span| span.start);
    ConfigError::Syntax {
        place: Place::new(origin.clone(), line_of(text, offset)),
        column: column_of(text, offset),
        detail: error.message().to_owned(),
    }
}

struct TomlReader<'a> {
    origin: &'a Origin,
    text: &'a str,
    line_ends: Vec<usize>,
    layer: Layer,
    errors: Vec<ConfigError>,
}

impl TomlReader<'_> {
    fn read_table(&mut self, table: &DeTable<'_>, prefix: &str) {
        let schema = Schema::get();
        for (key, value) in table {
            let name = join(prefix, key.get_ref());
            let start = key.span().start;
            let line = 1 + self.line_ends.partition_point(|end| *end < start);
            let place = Place::new(self.origin.clone(), line);
            match (schema.key(&name), value.get_ref()) {
                (Some(known), _) => self.read_value(known, value, place),
                (None, DeValue::Table(inner)) if schema.has_section(&name) => {
                    self.read_table(inner, &name);
                }
                (None, _) if schema.has_section(&name) => {
                    self.errors.push(ConfigError::NotASection { place, name });
                }
                (None, _) => self.errors.push(unknown_key(&name, place)),
            }
        }
    }

    fn read_value(&mut self, key: &'static Key, value: &toml::Spanned<DeValue<'_>>, place: Place) {
        let result = match plain_value(value) {
            Some(value) => self.layer.set(key, &value, place),
            None => Err(ConfigError::BadValue {
                place,
                key,
                found: Found::beyond_reason(self.text.get(value.span()).unwrap_or_default()),
                nearest: None,
            }),
        };
        self.errors.extend(result.err());
    }
}

fn line_of(text: &str, offset: usize) -> usize {
    1 + text
        .bytes()
        .take(offset)
        .filter(|byte| *byte == b'\n')
        .count()
}

/// The column in characters, counted from 1.
fn column_of(text: &str, offset: usize) -> usize {
    let before = text.get(..offset).unwrap_or(text);
    1 + before.chars().rev().take_while(|c| *c != '\n').count()
}

//! The configuration: texts in, settings out.
//!
//! The caller reads files and the environment; this module knows what may be
//! in them ([`Schema`]), turns each place into a [`Layer`], merges the layers
//! by precedence ([`Resolved`]: flags, environment, own file, files of other
//! tools, preset, defaults) and gives the typed [`Settings`]. Every value
//! knows where it came from, and every mistake is reported, not only the first.

mod error;
mod foreign;
mod guard;
mod layer;
mod nearest;
mod origin;
mod read;
mod resolved;
mod schema;
mod settings;
#[cfg(test)]
mod tests;
mod trust;
mod units;
mod warning;
mod words;

pub use error::ConfigError;
pub use foreign::FOREIGN_FILES;
pub use guard::{GuardFile, Unclear};
pub use layer::{Layer, PRESETS, Sourced, variable_of_key};
pub use nearest::nearest;
pub use origin::{Origin, Place};
pub use resolved::{Resolved, migrate};
pub use schema::{Key, Kind, REFERENCE, Schema, Trust};
pub use settings::*;
/// What a flag may be given as.
pub use toml::{Table, Value};
pub use trust::{Bold, Trusted, load_trusted};
pub use units::parse_duration as duration;
pub use warning::{ConfigWarning, SkillpackRule};
pub use words::{Found, FoundType};

use crate::lang::Lang;

/// A file's name, as messages give it, and its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedText {
    pub name: String,
    pub text: String,
}

/// All that a configuration is made of, as the caller found it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sources {
    /// `.ralph/config.toml`, if there is one.
    pub own_file: Option<NamedText>,
    /// Those of [`FOREIGN_FILES`] that there are, in that order.
    pub foreign: Vec<NamedText>,
    /// Those files that are there and can't be read, with the system's words.
    pub unreadable: Vec<(String, String)>,
    pub env: Vec<(String, String)>,
    /// One layer for each flag that was given, from [`Layer::flag`].
    pub flags: Vec<Layer>,
}

/// A sound configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    pub resolved: Resolved,
    pub settings: Settings,
    pub warnings: Vec<ConfigWarning>,
}

/// A configuration with mistakes: all of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Rejected {
    pub errors: Vec<ConfigError>,
    pub warnings: Vec<ConfigWarning>,
}

/// Reads a whole configuration; also what `ralph config check` reports.
///
/// Values are compared with each other only once each of them is sound, so
/// that no error is a mere consequence of another.
pub fn load(sources: &Sources) -> Result<Loaded, Rejected> {
    layers(sources)?.load()
}

/// The language that is chosen, for what is said before anything else is read.
pub fn lang(sources: &Sources) -> Option<Lang> {
    let layers = layers(sources).ok()?.layers;
    let (resolved, _) = Resolved::resolve(layers).ok()?;
    Lang::from_name(resolved.get("lang")?.value.as_str()?)
}

/// Every place that says something, before one is preferred to another.
struct Layers {
    layers: Vec<Layer>,
    warnings: Vec<ConfigWarning>,
}

fn layers(sources: &Sources) -> Result<Layers, Rejected> {
    let mut layers = sources.flags.clone();
    let mut errors = Vec::new();
    let mut warnings = Vec::new();

    let (environment, found) = Layer::env(sources.env.iter().cloned());
    warnings.extend(found);
    match environment {
        Ok(layer) => layers.push(layer),
        Err(found) => errors.extend(found),
    }
    if let Some(file) = &sources.own_file {
        match Layer::own_file(&file.name, &file.text) {
            Ok(layer) => layers.push(layer),
            Err(found) => errors.extend(found),
        }
    }
    for (file, detail) in &sources.unreadable {
        if FOREIGN_FILES.contains(&file.as_str()) {
            warnings.push(ConfigWarning::Unreadable {
                file: file.clone(),
                line: None,
                detail: detail.clone(),
            });
        } else {
            errors.push(ConfigError::Unreadable {
                file: file.clone(),
                detail: detail.clone(),
            });
        }
    }
    for file in &sources.foreign {
        let (layer, found) = Layer::foreign(&file.name, &file.text);
        layers.push(layer);
        warnings.extend(found);
    }
    match errors.is_empty() {
        true => Ok(Layers { layers, warnings }),
        false => Err(Rejected { errors, warnings }),
    }
}

impl Layers {
    fn load(self) -> Result<Loaded, Rejected> {
        let mut warnings = self.warnings;
        let merged = Resolved::resolve(self.layers).and_then(|(resolved, found)| {
            warnings.extend(found);
            let (settings, found) = resolved.settings()?;
            warnings.extend(found);
            Ok((resolved, settings))
        });
        match merged {
            Ok((resolved, settings)) => Ok(Loaded {
                resolved,
                settings,
                warnings,
            }),
            Err(errors) => Err(Rejected { errors, warnings }),
        }
    }
}

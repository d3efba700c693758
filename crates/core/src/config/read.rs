//! From the merged values to the typed settings, with the checks that need
//! more than one value.

use serde::Deserialize;
use toml::Value;

use super::error::ConfigError;
use super::origin::{Origin, Place};
use super::resolved::Resolved;
use super::schema::{Kind, Schema, split_assignment};
use super::settings::*;
use super::units;
use super::warning::ConfigWarning;
use super::words::Found;
use crate::gate;
use crate::promise::{self, Promise};
use crate::route::Scale;
use crate::text;

impl Resolved {
    /// The typed settings. Errors are all reported, not only the first.
    pub fn settings(&self) -> Result<(Settings, Vec<ConfigWarning>), Vec<ConfigError>> {
        let settings = self.typed().map_err(|error| vec![error])?;
        let mut errors = Vec::from_iter(unlimited(self, &settings));
        let mut warnings = Vec::new();
        errors.extend(crooked_scale(self, &settings.routing));
        errors.extend(unheard(self, &settings.promise));
        errors.extend(idle_checks(self, &settings));
        match late_warning(self, &settings.limits) {
            Some(Lateness::Contradiction(error)) => errors.push(error),
            Some(Lateness::Overruled(warning)) => warnings.push(warning),
            None => {}
        }
        match errors.is_empty() {
            true => Ok((settings, warnings)),
            false => Err(errors),
        }
    }
}

fn unlimited(resolved: &Resolved, settings: &Settings) -> Option<ConfigError> {
    let (limits, budget) = (&settings.limits, &settings.budget);
    let is_paid = !budget.max_cost.is_zero() || budget.max_tokens > 0;
    if limits.max_iterations > 0 || limits.end_without_max_iterations() || is_paid {
        return None;
    }
    let place = resolved.get("limits.max_iterations")?.place.clone();
    Some(ConfigError::Unlimited { place })
}

/// Weights that are no shares of a whole, or borders that are out of order.
fn crooked_scale(resolved: &Resolved, scale: &Scale) -> Vec<ConfigError> {
    let mut errors = Vec::new();
    let sum = scale
        .weights
        .values()
        .fold(0u32, |sum, w| sum.saturating_add(*w));
    if sum != 100
        && let Some(place) = strongest(resolved, "routing.weights.")
    {
        errors.push(ConfigError::WeightSum { place, sum });
    }
    let borders = &scale.thresholds;
    let borders = [borders.direct, borders.planned, borders.ralph, 100];
    if !borders.is_sorted_by(|a, b| a < b)
        && let Some(place) = strongest(resolved, "routing.thresholds.")
    {
        errors.push(ConfigError::ThresholdOrder { place });
    }
    errors
}

/// Checks that run nothing, and so would pass whatever is there.
fn idle_checks(resolved: &Resolved, settings: &Settings) -> Vec<ConfigError> {
    let e2e = Some(&settings.e2e.command).filter(|command| !command.is_empty());
    let steps = gate::configured(&settings.gate.steps);
    let lists: [(&str, Vec<&String>); 3] = [
        ("verify.commands", settings.verify.commands.iter().collect()),
        ("e2e.command", e2e.into_iter().collect()),
        (
            "gate.steps",
            steps.iter().map(|step| &step.command).collect(),
        ),
    ];
    let idle = lists
        .into_iter()
        .filter(|(_, commands)| commands.iter().any(|command| text::runs_nothing(command)));
    idle.filter_map(|(key, _)| {
        let place = resolved.get(key)?.place.clone();
        Some(ConfigError::IdleCheck { place, key })
    })
    .collect()
}

/// Texts that no agent can promise with: those that hold a tag themselves, and
/// those that claim that work is done and are read as something else.
fn unheard(resolved: &Resolved, promise: &PromiseSettings) -> Vec<ConfigError> {
    let place = |key| Some(resolved.get(key)?.place.clone());
    let found = |text: &str| Found::of(&Value::from(text));
    let with_tag = agreed(promise)
        .into_iter()
        .filter(|(_, text)| promise::holds_tag(text))
        .filter_map(|(key, text)| {
            Some(ConfigError::PromiseWithTag {
                place: place(key)?,
                key,
                found: found(text),
            })
        });
    let rules = promise.rules();
    let taken = claims_done(promise).filter_map(|(key, text)| {
        let by = match rules.already_says(text)? {
            Promise::Continue => Some("promise.continue"),
            Promise::Blocked(_) => Some("promise.blocked_prefix"),
            Promise::E2ePassed => Some("promise.e2e_passed"),
            Promise::E2eFailed(_) => Some("promise.e2e_failed_prefix"),
            Promise::Question(_) => None,
            Promise::Complete(_) | Promise::PhaseComplete | Promise::Unknown(_) => return None,
        };
        let places = [Some(key), by].into_iter().flatten().filter_map(place);
        Some(ConfigError::PromiseTaken {
            // Either could have chosen it: who chose last hears of it.
            place: places.rev().max_by_key(|place| place.origin.rank())?,
            key,
            found: found(text),
            by,
        })
    });
    with_tag.chain(taken).collect()
}

/// The texts that claim that work is done, each with its setting.
fn claims_done(promise: &PromiseSettings) -> impl Iterator<Item = (&'static str, &str)> {
    let complete = promise.complete.iter();
    let phase = promise.phase_complete.iter();
    let complete = complete.map(|text| ("promise.complete", text.as_str()));
    complete.chain(phase.map(|text| ("promise.phase_complete", text.as_str())))
}

/// All agreed texts, each with its setting.
fn agreed(promise: &PromiseSettings) -> Vec<(&'static str, &str)> {
    let single = [
        ("promise.continue", promise.continue_word.as_str()),
        ("promise.blocked_prefix", &promise.blocked_prefix),
        ("promise.e2e_passed", &promise.e2e_passed),
        ("promise.e2e_failed_prefix", &promise.e2e_failed_prefix),
    ];
    claims_done(promise).chain(single).collect()
}

/// Where the most particular of these values was set.
fn strongest(resolved: &Resolved, prefix: &str) -> Option<Place> {
    let places = Schema::get()
        .keys()
        .filter(|key| key.name.starts_with(prefix));
    let places = places.filter_map(|key| Some(&resolved.get(&key.name)?.place));
    places.max_by_key(|place| place.origin.rank()).cloned()
}

enum Lateness {
    Contradiction(ConfigError),
    Overruled(ConfigWarning),
}

/// A warning after the last iteration is a mistake of the person who set it.
/// Where a stronger place lowered the maximum, or where it was set for another
/// tool, it only means that there will be no warning.
fn late_warning(resolved: &Resolved, limits: &Limits) -> Option<Lateness> {
    let WarnAt::Iteration(warn_at) = limits.warn_at else {
        return None;
    };
    let max_iterations = limits.max_iterations;
    if max_iterations == 0 || warn_at <= max_iterations {
        return None;
    }
    let place = resolved.get("limits.warn_at")?.place.clone();
    let maximum = &resolved.get("limits.max_iterations")?.place.origin;
    let overruled = place.origin.rank() < maximum.rank();
    if overruled && matches!(place.origin, Origin::Preset(_)) {
        // Nobody asked for it by name.
        return None;
    }
    Some(if overruled || matches!(place.origin, Origin::Foreign(_)) {
        Lateness::Overruled(ConfigWarning::NeverWarns {
            warn_at,
            max_iterations,
            place,
        })
    } else {
        Lateness::Contradiction(ConfigError::WarnsTooLate {
            place,
            warn_at,
            max_iterations,
        })
    })
}

/// The value as the settings hold it: durations, sizes and money counted,
/// assignments taken apart.
fn counted(kind: &Kind, value: &Value) -> Option<Value> {
    let number = |number: u64| i64::try_from(number).ok().map(Value::Integer);
    let one =
        |name: &str, value: Value| Value::Table([(name.to_owned(), value)].into_iter().collect());
    match (kind, value) {
        (Kind::Duration, Value::String(text)) => {
            let time = units::parse_duration(text)?;
            let parts = [
                ("secs".to_owned(), number(time.as_secs())?),
                ("nanos".to_owned(), number(time.subsec_nanos().into())?),
            ];
            Some(Value::Table(parts.into_iter().collect()))
        }
        (Kind::Size, Value::String(text)) => number(units::parse_size(text)?),
        (Kind::Money, Value::String(text)) => Value::try_from(units::parse_money(text)?).ok(),
        (Kind::CountOrPercent, Value::Integer(0)) => Some(Value::String("never".to_owned())),
        (Kind::CountOrPercent, Value::Integer(_)) => Some(one("iteration", value.clone())),
        (Kind::CountOrPercent, Value::String(text)) => {
            Some(one("percent", number(units::parse_percent(text)?.into())?))
        }
        (Kind::Assignments, Value::Array(items)) => {
            let pair = |item: &Value| {
                let (name, value) = split_assignment(item.as_str()?)?;
                Some(Value::from(vec![name, value]))
            };
            items
                .iter()
                .map(pair)
                .collect::<Option<Vec<_>>>()
                .map(Value::Array)
        }
        _ => Some(value.clone()),
    }
}

impl Resolved {
    /// All values as one tree, as the settings are read from it. The schema
    /// has checked the kinds, so that what fails here is a key that the
    /// settings don't know, or have as another kind.
    fn typed(&self) -> Result<Settings, ConfigError> {
        let mut tree = toml::Table::new();
        for (key, sourced) in self.iter() {
            let internal = || ConfigError::Internal {
                key: key.name.clone(),
            };
            let value = counted(&key.kind, &sourced.value).ok_or_else(internal)?;
            insert(&mut tree, &key.name, value);
        }
        Settings::deserialize(tree).map_err(|error| ConfigError::Internal {
            key: error.to_string(),
        })
    }
}

fn insert(table: &mut toml::Table, name: &str, value: Value) {
    let Some((section, rest)) = name.split_once('.') else {
        table.insert(name.to_owned(), value);
        return;
    };
    let section = table
        .entry(section)
        .or_insert_with(|| Value::Table(Default::default()));
    if let Value::Table(section) = section {
        insert(section, rest, value);
    }
}

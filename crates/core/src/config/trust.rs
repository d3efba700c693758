//! Which settings of a project's own files count only with a person's word:
//! those that run a command, choose a program, an environment, a URL or a file
//! outside, act outward, or loosen a rule. The reference says it of each, in a
//! line `Trust: asked` or `Trust: asked outside the project`.

use std::collections::BTreeMap;
use std::path::{Component, Path};

use toml::Value;

use super::layer::{Layer, Sourced};
use super::origin::{Origin, Place};
use super::resolved::Resolved;
use super::schema::{Key, Schema, Trust};
use super::{Loaded, Rejected, Sources};

/// A setting of the project's that counts only with a person's word.
#[derive(Debug, Clone, PartialEq)]
pub struct Bold {
    pub key: String,
    pub value: Value,
    pub place: Place,
}

impl Resolved {
    /// What the project's files set, and would have to be trusted for.
    pub fn bold(&self) -> Vec<Bold> {
        let bold = self.iter().filter_map(|(key, Sourced { value, place })| {
            let by_project = is_of_project(&place.origin);
            (by_project && is_bold(key, value)).then(|| Bold {
                key: key.name.clone(),
                value: value.clone(),
                place: place.clone(),
            })
        });
        bold.collect()
    }
}

fn is_of_project(origin: &Origin) -> bool {
    matches!(origin, Origin::File(_) | Origin::Foreign(_))
}

fn is_bold(key: &Key, value: &Value) -> bool {
    if *value == key.default {
        return false;
    }
    match key.trust {
        Trust::Free => key.name == "preset" && value.as_str().is_some_and(is_bold_preset),
        Trust::Asked => true,
        Trust::AskedOutside => value.as_str().is_some_and(leads_outside),
    }
}

/// A preset stands for the settings in it.
fn is_bold_preset(name: &str) -> bool {
    let Ok(layer) = Layer::preset(name) else {
        return false;
    };
    let mut keys = Schema::get().keys().filter(|key| key.name != "preset");
    keys.any(|key| {
        layer
            .get(&key.name)
            .is_some_and(|set| is_bold(key, &set.value))
    })
}

fn leads_outside(path: &str) -> bool {
    let goes = |part: Component<'_>| !matches!(part, Component::Normal(_) | Component::CurDir);
    Path::new(path).components().any(goes)
}

/// What a person has trusted, by key.
pub type Trusted = BTreeMap<String, Value>;

/// Reads a whole configuration where nobody can be asked: what the project's
/// files set without a person's word does not count, and what was trusted
/// counts although the file may say otherwise by now. Gives the keys for which
/// that made a difference. Around a hook, variables are what the client was
/// told to set, and not a person's word.
pub fn load_trusted(
    sources: &Sources,
    trusted: &Trusted,
    is_hook: bool,
) -> Result<(Loaded, Vec<String>), Rejected> {
    let by_person = |origin: &Origin| match origin {
        Origin::Flag(_) => true,
        Origin::Env(_) => !is_hook,
        _ => false,
    };
    let mut changed = Vec::new();
    let mut layers = super::layers(sources)?;
    for layer in &mut layers.layers {
        for key in Schema::get().keys() {
            let Some(set) = layer.get(&key.name) else {
                continue;
            };
            let free = by_person(&set.place.origin)
                || !(is_bold(key, &set.value) || trusted.contains_key(&key.name));
            if !free && trusted.get(&key.name) != Some(&set.value) {
                changed.push(key.name.clone());
                layer.remove(&key.name);
            }
        }
    }
    let mut kept = Layer::default();
    for (name, value) in trusted {
        let Some(key) = Schema::get().key(name) else {
            continue;
        };
        let set = |layer: &Layer| layer.get(name).is_some();
        if layers.layers.iter().any(set) {
            continue;
        }
        let place = Place::new(Origin::File("ralph trust".into()), None);
        if kept.set(key, value, place).is_ok() && !changed.contains(name) {
            changed.push(name.clone());
        }
    }
    layers.layers.push(kept);
    changed.sort();
    changed.dedup();
    layers.load().map(|loaded| (loaded, changed))
}

//! One module for each promise that the configuration makes.

mod cross_checks;
mod environment;
mod flags;
mod guard;
mod output;
mod own_file;
mod precedence;
mod presets;
mod reference;
mod trust;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use toml::Value;

use super::*;
use crate::lang::{Lang, Say};

const OWN: &str = ".ralph/config.toml";

fn own(text: &str) -> Sources {
    Sources {
        own_file: Some(NamedText {
            name: OWN.to_owned(),
            text: text.to_owned(),
        }),
        ..Sources::default()
    }
}

fn foreign(name: &str, text: &str) -> NamedText {
    NamedText {
        name: name.to_owned(),
        text: text.to_owned(),
    }
}

fn env(variables: &[(&str, &str)]) -> Vec<(String, String)> {
    let owned = variables
        .iter()
        .map(|(name, value)| (name.to_string(), value.to_string()));
    owned.collect()
}

fn preset(name: &str) -> Loaded {
    load(&own(&format!("preset = \"{name}\""))).unwrap()
}

fn defaults() -> Loaded {
    load(&Sources::default()).unwrap()
}

/// Every error in three languages, one per line.
fn errors_of(sources: &Sources) -> String {
    let errors = load(sources).unwrap_err().errors;
    Lang::ALL.map(|lang| errors.say(lang)).join("\n")
}

fn warnings_of(sources: &Sources) -> String {
    let warnings = load(sources).unwrap().warnings;
    let say = |lang| warnings.iter().map(move |warning| warning.say(lang));
    let lines: Vec<String> = Lang::ALL.into_iter().flat_map(say).collect();
    lines.join("\n")
}

fn minutes(minutes: u64) -> Duration {
    Duration::from_secs(60 * minutes)
}

proptest::proptest! {
    #[test]
    fn no_text_makes_the_readers_panic(text in "\\PC{0,80}|([a-z_.]{1,12} ?= ?[\"0-9a-z%\\[\\]{}$(]{0,8}\n){0,6}") {
        let _ = Layer::own_file(OWN, &text);
        for name in FOREIGN_FILES {
            let _ = Layer::foreign(name, &text);
        }
    }

    #[test]
    fn any_texts_survive_being_shown(texts in proptest::collection::vec("(?s).{0,20}", 0..4)) {
        let flag = Layer::flag("promise.complete", texts.clone(), "--completion-promise").unwrap();
        let sources = Sources { flags: vec![flag], ..Sources::default() };
        let shown = load(&sources).unwrap().resolved.show(true);
        let again = load(&own(&shown)).unwrap();
        proptest::prop_assert_eq!(again.settings.promise.complete, texts);
    }
}

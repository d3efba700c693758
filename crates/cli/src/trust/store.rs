//! What a person has trusted a project with, in the project's state folder.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use ralph_core::config::Trusted;
use ralph_store::FileError;
use ralph_store::atomic::{AtomicOptions, write_atomic};
use ralph_store::layout::Layout;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Item;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Kept {
    /// Settings with the value that was trusted.
    settings: BTreeMap<String, Value>,
    /// Everything else, by name and digest.
    others: BTreeSet<String>,
}

fn file(layout: &Layout) -> PathBuf {
    layout.state_dir().join("trust.json")
}

impl Kept {
    /// Whatever can't be read was not trusted.
    pub fn read(layout: &Layout) -> Kept {
        let text = ralph_store::regular::read(file(layout)).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    pub fn write(&self, layout: &Layout) -> Result<(), FileError> {
        layout.prepare_state()?;
        let text = serde_json::to_vec(self).unwrap_or_default();
        write_atomic(&file(layout), &text, AtomicOptions { durable: true })
    }

    pub(super) fn covers(&self, item: &Item) -> bool {
        match item.is_setting {
            true => self.settings.get(&item.what) == Some(&item.value),
            false => self.others.contains(&item.name()),
        }
    }

    pub(super) fn add(&mut self, items: &[Item]) {
        for item in items {
            match item.is_setting {
                true => {
                    self.settings.insert(item.what.clone(), item.value.clone());
                }
                false => {
                    self.others.insert(item.name());
                }
            }
        }
    }

    /// Settings that were trusted and that the project does not bring any more.
    /// Hooks go on with them, since an agent could have taken them away.
    pub(super) fn gone(&self, items: &[Item]) -> Vec<Item> {
        let is_there = |key: &str| items.iter().any(|item| item.is_setting && item.what == key);
        let gone = self.settings.iter().filter(|(key, _)| !is_there(key));
        gone.map(|(key, value)| Item {
            is_setting: true,
            ..Item::new("ralph trust", key, value.clone())
        })
        .collect()
    }

    pub(super) fn forget(&mut self, items: &[Item]) {
        let is_meant = |key: &String| items.iter().any(|item| item.what == *key);
        self.settings.retain(|key, _| !is_meant(key));
    }

    pub fn settings(&self) -> Trusted {
        let settings = self.settings.iter();
        let read = |value: &Value| serde_json::from_value(value.clone()).ok();
        settings
            .filter_map(|(key, value)| Some((key.clone(), read(value)?)))
            .collect()
    }
}

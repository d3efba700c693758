//! Failures that were there before the work began, so that only new ones
//! count. The file is signed like a gate file: an agent that writes it by
//! hand excuses nothing.

use std::path::PathBuf;

use ralph_core::gate::sign;
use ralph_core::proof::Baseline;
use ralph_store::FileError;
use ralph_store::atomic::{AtomicOptions, write_atomic};
use ralph_store::layout::Layout;
use serde::{Deserialize, Serialize};

use crate::gate::{self, GateError};

#[derive(Serialize, Deserialize)]
struct Signed {
    /// The baseline as the text that was signed.
    baseline: String,
    signature: String,
}

fn file(layout: &Layout) -> PathBuf {
    layout.state_dir().join("baseline.json")
}

/// The baseline of a project; `None` where there is none that Ralph wrote.
pub fn load(layout: &Layout) -> Option<Baseline> {
    let text = std::fs::read(file(layout)).ok()?;
    let signed: Signed = serde_json::from_slice(&text).ok()?;
    let key = gate::key(layout)?;
    if sign(&key, &signed.baseline) != signed.signature {
        return None;
    }
    serde_json::from_str(&signed.baseline).ok()
}

/// Keeps a baseline. Gives the file.
pub fn save(layout: &Layout, baseline: &Baseline) -> Result<PathBuf, GateError> {
    let key = gate::key_or_new(layout)?;
    let baseline = serde_json::to_string(baseline).unwrap_or_default();
    let signed = Signed {
        signature: sign(&key, &baseline),
        baseline,
    };
    layout.prepare()?;
    let path = file(layout);
    let json = serde_json::to_vec(&signed).unwrap_or_default();
    write_atomic(&path, &json, AtomicOptions { durable: true })?;
    Ok(path)
}

/// Forgets the baseline; `false` where there was none.
pub fn forget(layout: &Layout) -> Result<bool, FileError> {
    let path = file(layout);
    match std::fs::remove_file(&path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(FileError::new(&path, ralph_store::Action::Remove, &error)),
    }
}

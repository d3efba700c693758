//! Failures that were there before the work began, so that only new ones
//! count. The file is signed like a gate file: an agent that writes it by
//! hand excuses nothing.

use std::path::{Path, PathBuf};

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

fn file(root: &Path) -> PathBuf {
    Layout::new(root).ralph_dir().join("baseline.json")
}

/// The baseline of a project; `None` where there is none that Ralph wrote.
pub fn load(root: &Path) -> Option<Baseline> {
    let text = ralph_store::regular::read(file(root)).ok()?;
    let signed: Signed = serde_json::from_slice(&text).ok()?;
    let key = gate::key(root)?;
    if sign(&key, &signed.baseline) != signed.signature {
        return None;
    }
    serde_json::from_str(&signed.baseline).ok()
}

/// Keeps a baseline. Gives the file.
pub fn save(root: &Path, baseline: &Baseline) -> Result<PathBuf, GateError> {
    let key = gate::key_or_new(root)?;
    let baseline = serde_json::to_string(baseline).unwrap_or_default();
    let signed = Signed {
        signature: sign(&key, &baseline),
        baseline,
    };
    Layout::new(root).prepare()?;
    let path = file(root);
    let json = serde_json::to_vec(&signed).unwrap_or_default();
    write_atomic(&path, &json, AtomicOptions { durable: true })?;
    Ok(path)
}

/// Forgets the baseline; `false` where there was none.
pub fn forget(root: &Path) -> Result<bool, FileError> {
    let path = file(root);
    match std::fs::remove_file(&path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(FileError::new(&path, ralph_store::Action::Remove, &error)),
    }
}

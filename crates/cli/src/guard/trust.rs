//! Which guard configurations a person has confirmed.
//!
//! One line per project in `~/.config/ralph/trusted-guards`: the digest of
//! its `[guard]` part and its root. The file stands outside every project, and
//! the guard keeps agents away from `~/.config/ralph` whatever is configured.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use ralph_store::FileError;
use ralph_store::atomic::{AtomicOptions, write_atomic};
use ralph_store::error::Action;

use super::home;

/// Where confirmations are kept; `None` where there is no home directory, or
/// where it lies in the project itself, within the agent's reach.
pub fn file(project: &Path) -> Option<PathBuf> {
    let home = home().map(|home| super::project::real(&home))?;
    let inside = home.starts_with(project);
    (!inside).then(|| home.join(".config/ralph/trusted-guards"))
}

/// Whether a person confirmed exactly this configuration for this project.
/// Whatever can't be read was not confirmed.
pub fn is_trusted(project: &Path, digest: &str) -> bool {
    let Some(text) = file(project).and_then(|path| ralph_store::regular::read_to_string(path).ok())
    else {
        return false;
    };
    let wanted = line(project, digest);
    text.lines().any(|line| line == wanted)
}

/// Notes a confirmation, or with `None` takes it back.
pub fn set(file: &Path, project: &Path, digest: Option<&str>) -> Result<(), FileError> {
    let before = match ralph_store::regular::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        Err(error) => return Err(FileError::new(file, Action::Read, &error)),
    };
    let ours = format!("  {}", project.display());
    let mut text: String = before
        .lines()
        .filter(|line| !line.ends_with(&ours))
        .map(|line| format!("{line}\n"))
        .collect();
    if let Some(digest) = digest {
        text.push_str(&line(project, digest));
        text.push('\n');
    }
    if let Some(dir) = file.parent() {
        fs::create_dir_all(dir).map_err(|error| FileError::new(dir, Action::Create, &error))?;
    }
    write_atomic(file, text.as_bytes(), AtomicOptions { durable: true })
}

fn line(project: &Path, digest: &str) -> String {
    format!("{digest}  {}", project.display())
}

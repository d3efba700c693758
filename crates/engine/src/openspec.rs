//! Where a finished OpenSpec change goes (HIST-05, X-13).
//!
//! Only on request: these are files of the project. OpenSpec's own program is
//! asked to do it, since it also brings the specifications up to date; where
//! it is not installed, the change is moved to where that would put it.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::sync::watch;

use crate::agents::find_program;
use crate::excerpt::Excerpt;
use crate::supervise::{self, Ending, Sink, Spec, Stop};

const PROGRAM: &str = "openspec";
const TIMEOUT: Duration = Duration::from_secs(60);
/// Characters of a failure that are told.
const TOLD: usize = 500;

/// The id of the change that a task file belongs to.
pub fn change_of(root: &Path, tasks: &Path) -> Option<String> {
    let inside = root.join(tasks);
    let inside = inside.strip_prefix(root).ok()?;
    let names: Option<Vec<&str>> = inside.iter().map(|name| name.to_str()).collect();
    match names?.as_slice() {
        ["openspec", "changes", id, "tasks.md"] if *id != "archive" => Some((*id).to_owned()),
        _ => None,
    }
}

/// Archives a change; gives where it is now, relative to the project.
pub async fn archive(root: &Path, id: &str, date: &str) -> Result<PathBuf, String> {
    match find_program(PROGRAM.as_ref(), root) {
        Some(program) => ask(&program, root, id).await?,
        None => {
            let to = place(id, date);
            move_whole(&root.join("openspec/changes").join(id), &root.join(&to))
                .map_err(|error| format!("{}: {error}", to.display()))?;
        }
    }
    Ok(place(id, date))
}

fn place(id: &str, date: &str) -> PathBuf {
    PathBuf::from(format!("openspec/changes/archive/{date}-{id}"))
}

/// What is there already is never written over.
fn move_whole(from: &Path, to: &Path) -> io::Result<()> {
    if to.exists() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    if let Some(parent) = to.parent() {
        std::fs::create_dir_all(parent)?;
    }
    std::fs::rename(from, to)
}

async fn ask(program: &Path, root: &Path, id: &str) -> Result<(), String> {
    let mut said = Said(Excerpt::new(TOLD));
    let spec = Spec {
        args: ["archive", id, "--yes"].map(Into::into).to_vec(),
        grace: Duration::from_secs(2),
        ..Spec::plain(program.into(), root, TIMEOUT)
    };
    let stop = watch::Sender::new(Stop::No);
    match supervise::run(spec, &mut said, stop.subscribe())
        .await
        .ending
    {
        Ending::Exited(0) => Ok(()),
        _ => Err(format!("{PROGRAM} archive {id}: {}", said.0.text().trim())),
    }
}

struct Said(Excerpt);

impl Sink for Said {
    fn stdout(&mut self, chunk: &[u8]) -> io::Result<()> {
        self.0.push(chunk);
        Ok(())
    }

    fn stderr(&mut self, chunk: &[u8]) -> io::Result<()> {
        self.stdout(chunk)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_change_has_an_id() {
        let id = |tasks: &str| change_of(Path::new("/p"), Path::new(tasks));
        assert_eq!(
            id("/p/openspec/changes/add-x/tasks.md"),
            Some("add-x".into())
        );
        assert_eq!(id("openspec/changes/add-x/tasks.md"), Some("add-x".into()));
        assert_eq!(id("/p/openspec/changes/archive/tasks.md"), None);
        assert_eq!(id("/p/tasks.md"), None);
        assert_eq!(id("/q/openspec/changes/add-x/tasks.md"), None);
    }

    #[test]
    fn nothing_is_written_over() {
        let dir = tempfile::tempdir().unwrap();
        let (from, to) = (dir.path().join("a"), dir.path().join("archive/b"));
        std::fs::create_dir(&from).unwrap();
        move_whole(&from, &to).unwrap();
        assert!(to.is_dir() && !from.exists());
        std::fs::create_dir(&from).unwrap();
        assert!(move_whole(&from, &to).is_err());
        assert!(from.is_dir());
    }
}

//! Which run a session drives: a small file per session, so that a hook of a
//! session without a loop finds out at once. It only points: the journal says
//! whose run it is.

use std::fs;
use std::path::PathBuf;

use ralph_store::FileError;
use ralph_store::atomic::{AtomicOptions, write_atomic};
use ralph_store::error::Action;
use ralph_store::layout::{Layout, RunId, RunPaths};

/// The place of a run that no session has taken up yet.
const UNCLAIMED: &str = "_unclaimed";
/// More than any client uses.
const LONGEST_ID: usize = 100;

fn dir(layout: &Layout) -> PathBuf {
    layout.state_dir().join("sessions")
}

fn file(layout: &Layout, session: &str) -> PathBuf {
    dir(layout).join(name(session))
}

/// A name from outside that leads nowhere else.
fn name(session: &str) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let plain = session.len() <= LONGEST_ID && session.chars().all(safe);
    match session {
        "" => UNCLAIMED.to_owned(),
        session if plain => session.to_owned(),
        session => {
            use sha2::{Digest, Sha256};
            let digest = Sha256::digest(session.as_bytes());
            digest.iter().map(|byte| format!("{byte:02x}")).collect()
        }
    }
}

/// The run of a session; with an empty name, the one that waits for a
/// session.
pub fn find(layout: &Layout, session: &str) -> Option<RunId> {
    let text = ralph_store::regular::read_to_string(file(layout, session)).ok()?;
    let id = RunId::parse(text.trim())?;
    layout.run(&id).dir.is_dir().then_some(id)
}

pub fn put(layout: &Layout, session: &str, run: &RunId) -> Result<(), FileError> {
    let dir = dir(layout);
    if !dir.is_dir() {
        fs::create_dir_all(&dir).map_err(|e| FileError::new(&dir, Action::Create, &e))?;
    }
    let text = format!("{run}\n");
    let options = AtomicOptions { durable: false };
    write_atomic(&file(layout, session), text.as_bytes(), options)?;
    if !session.is_empty() && find(layout, "").as_ref() == Some(run) {
        forget(layout, "");
    }
    Ok(())
}

pub fn forget(layout: &Layout, session: &str) {
    let _ = fs::remove_file(file(layout, session));
}

/// No session finds this run any more.
pub fn forget_run(layout: &Layout, run: &RunId) {
    for entry in fs::read_dir(dir(layout)).into_iter().flatten().flatten() {
        let path = entry.path();
        let text = ralph_store::regular::read_to_string(&path).unwrap_or_default();
        if text.trim() == run.as_str() {
            let _ = fs::remove_file(path);
        }
    }
}

/// Notes that a person was shown the menu of an unfinished loop. It is beside
/// the run of the session, and never taken for one.
pub fn offer(layout: &Layout, session: &str, what: &str) {
    let dir = dir(layout);
    let _ = fs::create_dir_all(&dir);
    let text = format!("menu {what}\n");
    let options = AtomicOptions { durable: false };
    let _ = write_atomic(&menu_file(layout, session), text.as_bytes(), options);
}

/// What was offered, once: whatever is said next answers it, or lets it go.
pub fn take_offer(layout: &Layout, session: &str) -> Option<String> {
    let path = menu_file(layout, session);
    let text = ralph_store::regular::read_to_string(&path).ok()?;
    let _ = fs::remove_file(path);
    Some(text.trim().strip_prefix("menu ")?.to_owned())
}

fn menu_file(layout: &Layout, session: &str) -> PathBuf {
    dir(layout).join(format!("{}.menu", name(session)))
}

/// The runs of all sessions, the newest first.
pub fn all(layout: &Layout) -> Vec<RunId> {
    let entries = fs::read_dir(dir(layout)).into_iter().flatten().flatten();
    let texts = entries.filter_map(|entry| ralph_store::regular::read_to_string(entry.path()).ok());
    let mut runs: Vec<RunId> = texts.filter_map(|text| RunId::parse(text.trim())).collect();
    runs.sort();
    runs.dedup();
    runs.reverse();
    runs
}

/// Notes that the agent used a tool, or that a person spoke: the client
/// counts its blocks anew. Nothing depends on it outliving a crash.
pub fn note_acted(paths: &RunPaths) {
    let _ = fs::write(paths.dir.join("acted"), b"");
}

/// Keeps what the agent was told, for a client that hands it back as if a
/// person had typed it.
pub(super) fn note_told(paths: &RunPaths, text: &str) {
    let _ = fs::write(paths.dir.join("told"), text);
}

/// Whether a prompt is only what we said ourselves.
pub fn is_told(paths: &RunPaths, prompt: &str) -> bool {
    ralph_store::regular::read_to_string(paths.dir.join("told"))
        .is_ok_and(|told| told.trim() == prompt.trim())
}

/// Whether [`note_acted`] was called since the last time.
pub fn take_acted(paths: &RunPaths) -> bool {
    fs::remove_file(paths.dir.join("acted")).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ralph_store::layout::new_run_id;

    #[test]
    fn each_session_finds_its_own_run() {
        let dir = tempfile::tempdir().unwrap();
        let layout = crate::layout_in(dir.path());
        layout.prepare().unwrap();
        let runs = [1, 2, 3].map(|n| new_run_id(n * 1000, 0));
        for run in &runs {
            layout.create_run(run).unwrap();
        }
        put(&layout, "one", &runs[0]).unwrap();
        put(&layout, "../../two", &runs[1]).unwrap();
        put(&layout, "", &runs[2]).unwrap();
        assert_eq!(find(&layout, "one").as_ref(), Some(&runs[0]));
        assert_eq!(find(&layout, "../../two").as_ref(), Some(&runs[1]));
        assert_eq!(find(&layout, "two"), None);
        assert_eq!(all(&layout).len(), 3);
        put(&layout, "three", &runs[2]).unwrap();
        assert_eq!(find(&layout, ""), None);
        forget(&layout, "three");
        assert_eq!(find(&layout, "three"), None);
    }

    #[test]
    fn an_act_is_noticed_once() {
        let dir = tempfile::tempdir().unwrap();
        let layout = crate::layout_in(dir.path());
        layout.prepare().unwrap();
        let paths = layout.create_run(&new_run_id(0, 0)).unwrap();
        assert!(!take_acted(&paths));
        note_acted(&paths);
        note_acted(&paths);
        assert!(take_acted(&paths));
        assert!(!take_acted(&paths));
    }
}

//! Runs of earlier versions, which were kept in the project's `.ralph/runs`.
//! Anybody may have written what lies there: it can be looked at as history,
//! and is never gone on with. Nothing is followed, and nothing is waited for.

use std::fs::{self, Metadata};
use std::io;
use std::path::PathBuf;

use crate::layout::{Layout, RunId, RunPaths};

/// A journal of a run that went on for weeks is a fraction of this.
const LARGEST: u64 = 256 * 1024 * 1024;

/// A folder with more names than this holds something else.
const MOST: usize = 10_000;

fn dir(layout: &Layout) -> PathBuf {
    layout.ralph_dir().join("runs")
}

/// All that can be looked at, the oldest first.
pub fn runs(layout: &Layout) -> Vec<RunPaths> {
    let is_plain = layout.refuse_links(&dir(layout)).is_ok();
    let entries = is_plain.then(|| fs::read_dir(dir(layout)).ok()).flatten();
    let names = entries.into_iter().flatten().take(MOST).flatten();
    let ids = names.filter_map(|entry| RunId::parse(entry.file_name().to_str()?));
    let mut runs: Vec<RunPaths> = ids.filter_map(|id| run(layout, &id)).collect();
    runs.sort_by(|a, b| a.id.cmp(&b.id));
    runs
}

/// One of them: a folder of ours with a journal that is a file of ours.
pub fn run(layout: &Layout, id: &RunId) -> Option<RunPaths> {
    let paths = RunPaths {
        dir: dir(layout).join(id.as_str()),
        id: id.clone(),
    };
    layout.refuse_links(&paths.dir).ok()?;
    let is_there =
        fs::symlink_metadata(&paths.dir).is_ok_and(|found| found.is_dir() && is_own(&found));
    let is_sound = |path: PathBuf, needed: bool| match fs::symlink_metadata(path) {
        Ok(found) => found.is_file() && is_own(&found) && found.len() <= LARGEST,
        Err(error) => !needed && error.kind() == io::ErrorKind::NotFound,
    };
    let is_sound = is_there && is_sound(paths.journal(), true) && is_sound(paths.events(), false);
    is_sound.then_some(paths)
}

#[cfg(unix)]
fn is_own(found: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    found.uid() == rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
fn is_own(_: &Metadata) -> bool {
    true
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::home::StateHome;

    #[test]
    fn only_what_lies_there_itself_is_shown() {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::new(
            dir.path().join("p"),
            &StateHome::at(dir.path().join("state")),
        );
        assert!(runs(&layout).is_empty());
        let old = layout.ralph_dir().join("runs");
        let make = |name: &str| {
            let run = old.join(name);
            fs::create_dir_all(&run).unwrap();
            run
        };
        let good = "20260101-000000-0001";
        fs::write(make(good).join("journal.jsonl"), "x\n").unwrap();
        make("20260101-000000-0002");
        let secret = dir.path().join("secret");
        fs::write(&secret, "mine").unwrap();
        symlink(&secret, make("20260101-000000-0003").join("journal.jsonl")).unwrap();
        symlink(old.join(good), old.join("20260101-000000-0004")).unwrap();
        let pipe = make("20260101-000000-0005").join("journal.jsonl");
        let made = std::process::Command::new("mkfifo").arg(pipe).status();
        assert!(made.unwrap().success());
        let huge = make("20260101-000000-0006").join("journal.jsonl");
        fs::File::create(huge).unwrap().set_len(1 << 40).unwrap();
        let events = make("20260101-000000-0007");
        fs::write(events.join("journal.jsonl"), "x\n").unwrap();
        symlink(&secret, events.join("execution.log.jsonl")).unwrap();
        fs::write(old.join("20260101-000000-0008"), "").unwrap();
        make("../runs/not-a-run");
        if rustix::process::geteuid().is_root() {
            let foreign = make("20260101-000000-0009").join("journal.jsonl");
            fs::write(&foreign, "x\n").unwrap();
            std::os::unix::fs::chown(&foreign, Some(65_534), None).unwrap();
        }
        let ids = |runs: Vec<RunPaths>| -> Vec<String> {
            runs.iter().map(|run| run.id.to_string()).collect()
        };
        assert_eq!(ids(runs(&layout)), [good]);
        // All of it behind a link is somebody else's.
        let moved = dir.path().join("moved");
        fs::rename(layout.ralph_dir(), &moved).unwrap();
        symlink(&moved, layout.ralph_dir()).unwrap();
        assert!(runs(&layout).is_empty());
    }
}

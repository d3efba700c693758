//! The progress tracker: which files the agent changed, and a reminder to
//! commit them (TRAK-01 to TRAK-05). Nothing here may fail a tool call.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ralph_store::layout::Layout;

use crate::{clock, git};

/// Where it stands, relative to the project.
pub const PATH: &str = ".claude/progress.local.md";

/// A file of this size is set aside: nobody reads so much.
const LONGEST: u64 = 512 * 1024;
/// Git is asked at most so often.
const LOOK_EVERY: Duration = Duration::from_secs(60);

/// When the agent is reminded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reminding {
    /// Changed files from which on it is reminded; 0 is never.
    pub above: u32,
    pub every: Duration,
}

/// Adds a line for a file that a tool changed.
pub fn record(root: &Path, tool: &str, file: &str) {
    let path = root.join(PATH);
    if ralph_store::layout::refuse_links(root, &path).is_err() {
        return;
    }
    let now = clock::local_time(clock::now().wall_ms);
    let time = now.get(11..).unwrap_or_default();
    let file = Path::new(file);
    let file = file.strip_prefix(root).unwrap_or(file).to_string_lossy();
    let file = ralph_core::text::one_line(&file);
    let line = format!("- [{time}] {tool}: {file}\n");
    let open = || OpenOptions::new().append(true).open(&path);
    let is_long = |file: &File| file.metadata().is_ok_and(|found| found.len() > LONGEST);
    let file = match open() {
        Ok(file) if !is_long(&file) => Ok(file),
        opened => {
            if opened.is_ok() {
                let _ = fs::rename(&path, path.with_file_name("progress.old.local.md"));
            }
            begin(&path, &now);
            open()
        }
    };
    // One write to the end: lines of hooks that run together stay whole.
    if let Ok(mut file) = file {
        let _ = file.write_all(line.as_bytes());
    }
}

/// The head appears whole or not at all, and never twice.
fn begin(path: &Path, now: &str) {
    let Some(dir) = path.parent() else { return };
    let _ = fs::create_dir_all(dir);
    let head = format!(
        "# Ralph Loop Progress Tracker\n\n## Session Info\n- Started: {now}\n- Status: running\n\n## Modified Files\n"
    );
    let own = dir.join(format!(".progress.{}.tmp", std::process::id()));
    if fs::write(&own, head).is_ok() {
        let _ = fs::hard_link(&own, path);
    }
    let _ = fs::remove_file(&own);
}

/// How many different files the tracker knows.
pub fn count(root: &Path) -> Option<u32> {
    let text = ralph_store::regular::read_to_string(root.join(PATH)).ok()?;
    let files: BTreeSet<&str> = text
        .lines()
        .filter_map(|line| Some(line.strip_prefix("- [")?.split_once(": ")?.1))
        .collect();
    u32::try_from(files.len()).ok()
}

/// How many changes wait for a commit, where it is time to remind of them.
pub fn due(layout: &Layout, reminding: Reminding) -> Option<usize> {
    if reminding.above == 0 {
        return None;
    }
    let root = layout.root();
    let stamps = Stamps::of(layout);
    let now = clock::now().wall_ms;
    let is_over = |since: i64, wait: Duration| {
        let wait = i64::try_from(wait.as_millis()).unwrap_or(i64::MAX);
        !(0..wait).contains(&(now - since))
    };
    // Who wants to be reminded more often is not made to wait for Git.
    let look_every = LOOK_EVERY.min(reminding.every);
    let quiet = is_over(stamps.reminded, reminding.every) && is_over(stamps.looked, look_every);
    // Without a repository there is nothing to commit to.
    if !quiet || git::find_root(root).is_none() {
        return None;
    }
    let changes = git::count_changes(root);
    let found = changes.filter(|&count| count > reminding.above as usize);
    let reminded = if found.is_some() {
        now
    } else {
        stamps.reminded
    };
    Stamps {
        looked: now,
        reminded,
    }
    .keep(layout);
    found
}

/// When Git was asked, and the agent was reminded, last.
struct Stamps {
    looked: i64,
    reminded: i64,
}

impl Stamps {
    fn file(layout: &Layout) -> PathBuf {
        layout.state_dir().join("tracker")
    }

    fn of(layout: &Layout) -> Stamps {
        let text = ralph_store::regular::read_to_string(Stamps::file(layout)).unwrap_or_default();
        let mut numbers = text.split_whitespace().map(|word| word.parse().ok());
        let mut next = || numbers.next().flatten().unwrap_or(i64::MIN / 2);
        Stamps {
            looked: next(),
            reminded: next(),
        }
    }

    fn keep(&self, layout: &Layout) {
        if layout.state_dir().is_dir() || layout.prepare().is_ok() {
            let text = format!("{} {}\n", self.looked, self.reminded);
            let _ = fs::write(Stamps::file(layout), text);
        }
    }
}

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
/// Git is asked at least so often.
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
/// Git is asked where enough could wait with the files of this call, and now
/// and then for what no tool told of.
pub fn due(layout: &Layout, reminding: Reminding, files: &[String]) -> Option<usize> {
    if reminding.above == 0 {
        return None;
    }
    let root = layout.root();
    let mut seen = Seen::of(layout);
    let now = clock::now().wall_ms;
    let is_over = |since: i64, wait: Duration| {
        let wait = i64::try_from(wait.as_millis()).unwrap_or(i64::MAX);
        !(0..wait).contains(&(now - since))
    };
    // Without a repository there is nothing to commit to.
    if !is_over(seen.reminded, reminding.every) || git::find_root(root).is_none() {
        return None;
    }
    let above = reminding.above as usize;
    let known = seen.files.len();
    let left = above.saturating_sub(seen.changes);
    let one_line = |file: &String| ralph_core::text::one_line(file);
    seen.files.extend(files.iter().map(one_line));
    // Who wants to be reminded more often is not made to wait for Git.
    let is_time = is_over(seen.looked, LOOK_EVERY.min(reminding.every));
    let has_more = seen.files.len() > known;
    let is_enough = has_more && seen.files.len() > left;
    if !is_time && !is_enough {
        if has_more {
            seen.keep(layout);
        }
        return None;
    }
    let changes = git::count_changes(root);
    let found = changes.filter(|&count| count > above);
    let reminded = if found.is_some() { now } else { seen.reminded };
    Seen {
        looked: now,
        reminded,
        changes: changes.unwrap_or_default(),
        files: BTreeSet::new(),
    }
    .keep(layout);
    found
}

/// What is known since Git was asked, or the agent was reminded, last.
struct Seen {
    looked: i64,
    reminded: i64,
    /// What Git counted then.
    changes: usize,
    /// What the agent wrote since.
    files: BTreeSet<String>,
}

impl Seen {
    fn file(layout: &Layout) -> PathBuf {
        layout.state_dir().join("tracker")
    }

    fn of(layout: &Layout) -> Seen {
        let text = ralph_store::regular::read_to_string(Seen::file(layout)).unwrap_or_default();
        let mut lines = text.lines();
        let mut numbers = lines.next().unwrap_or_default().split(' ');
        let mut next = || numbers.next().and_then(|word| word.parse().ok());
        Seen {
            looked: next().unwrap_or(i64::MIN / 2),
            reminded: next().unwrap_or(i64::MIN / 2),
            changes: next().map_or(0, |count| usize::try_from(count).unwrap_or_default()),
            files: lines.map(str::to_owned).collect(),
        }
    }

    fn keep(&self, layout: &Layout) {
        if layout.state_dir().is_dir() || layout.prepare().is_ok() {
            let mut text = format!("{} {} {}\n", self.looked, self.reminded, self.changes);
            for file in &self.files {
                text.push_str(file);
                text.push('\n');
            }
            let _ = fs::write(Seen::file(layout), text);
        }
    }
}

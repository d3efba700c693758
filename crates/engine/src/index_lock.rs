//! A `git` that is killed in the middle leaves its lock on the index behind,
//! and every later one refuses to work. People are told; the lock itself is
//! never touched, since nobody can prove that it is not in use.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::announcement::Announcement;
use crate::git;

/// No `git` that works holds its lock for so long, in most projects.
const LONGEST_HELD: Duration = Duration::from_secs(10);

/// Looks for a lock that was left, and tells of each once.
#[derive(Debug, Default)]
pub struct LockWatch {
    /// When the last turn was over: what it had locked is nobody's since.
    over: Option<SystemTime>,
    told: Option<SystemTime>,
}

impl LockWatch {
    /// Everybody of a turn is gone.
    pub fn turn_is_over(&mut self, now: SystemTime) {
        self.over = Some(now);
    }

    pub fn look(&mut self, root: &Path, now: SystemTime) -> Option<Announcement> {
        let path = git::index_lock(root)?;
        let since = fs::symlink_metadata(&path).ok()?.modified().ok()?;
        let age = now.duration_since(since).unwrap_or_default();
        let is_left = age >= LONGEST_HELD || self.over.is_some_and(|over| since <= over);
        if !is_left || self.told == Some(since) {
            return None;
        }
        self.told = Some(since);
        let path = path.strip_prefix(root).map(Path::to_owned).unwrap_or(path);
        Some(Announcement::IndexLocked { path, age })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn a_lock_that_was_left_is_told_once_and_stays() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        let lock = root.join(".git/index.lock");
        fs::create_dir(root.join(".git")).unwrap();
        let mut watch = LockWatch::default();
        let now = SystemTime::now();
        assert_eq!(watch.look(root, now), None);
        fs::write(&lock, "").unwrap();
        let since = fs::metadata(&lock).unwrap().modified().unwrap();
        let after = |seconds: u64| since + Duration::from_secs(seconds);
        let told = |seconds: u64| {
            Some(Announcement::IndexLocked {
                path: PathBuf::from(".git/index.lock"),
                age: Duration::from_secs(seconds),
            })
        };
        // A moment later it may be at work.
        assert_eq!(watch.look(root, after(1)), None);
        assert_eq!(watch.look(root, after(10)), told(10));
        assert_eq!(watch.look(root, after(20)), None, "once");
        // Whoever held it in the turn that is over is gone.
        let mut watch = LockWatch::default();
        watch.turn_is_over(after(1));
        assert_eq!(watch.look(root, after(2)), told(2));
        // One that came later is somebody else's.
        let mut watch = LockWatch::default();
        watch.turn_is_over(since - Duration::from_secs(1));
        assert_eq!(watch.look(root, after(2)), None);
        assert!(lock.exists());
    }
}

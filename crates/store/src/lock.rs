//! One loop per project at a time (LOOP-11).
//!
//! The kernel holds the lock and gives it back when its process dies, however
//! it dies. The file's content only tells who holds it: it is written after
//! the lock was got and emptied before it is released, so content without a
//! lock is what a dead process left. The file itself is never removed, since
//! two processes could then each lock a file of that name.

use std::fs::{File, TryLockError};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ralph_core::lang::Say;
use serde_json::{Value, json};

use crate::error::{Action, At, FileError};
use crate::fault::point;
use crate::{private, process, sys};

/// Who holds a lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockInfo {
    pub pid: u32,
    /// UTC, ISO 8601.
    pub started_at: String,
    pub run_id: String,
    pub host: Option<String>,
}

impl LockInfo {
    fn to_json(&self) -> Value {
        let mut json = json!({
            "pid": self.pid,
            "started_at": self.started_at,
            "run_id": self.run_id,
        });
        if let Some(host) = &self.host {
            json["host"] = json!(host);
        }
        json
    }

    fn from_json(json: &Value) -> Option<LockInfo> {
        let text = |key: &str| Some(json.get(key)?.as_str()?.to_owned());
        Some(LockInfo {
            pid: u32::try_from(json.get("pid")?.as_u64()?).ok()?,
            started_at: text("started_at")?,
            run_id: text("run_id")?,
            host: text("host"),
        })
    }
}

/// Why a lock was not got.
#[derive(Clone, Debug, PartialEq, Eq, Say)]
pub enum LockError {
    /// Somebody else holds it; `None` if they have not said who they are.
    #[say(if let Some(info) = holder, "another loop is at work in this project: run {run_id}, process {pid}, since {started_at}; watch it with `ralph status` or `ralph logs -f`, stop it with `ralph stop`", LockInfo {pid,started_at,run_id,..} = info)]
    #[say("another loop is at work in this project (it holds {path}); watch it with `ralph status` or `ralph logs -f`, stop it with `ralph stop`", path = path.display())]
    Held {
        path: PathBuf,
        holder: Option<LockInfo>,
    },
    #[say(_0.say(lang))]
    File(FileError),
}

impl From<FileError> for LockError {
    fn from(error: FileError) -> LockError {
        LockError::File(error)
    }
}

/// A lock that is held as long as this value lives.
#[derive(Debug)]
pub struct Lock {
    /// Given back before the file, so that nobody finds it still locked.
    _folder: Option<File>,
    file: File,
    /// What the kernel holds; see [`bolt`].
    _bolt: File,
    /// The holder before, if it died without releasing the lock.
    pub took_over: Option<LockInfo>,
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing the file releases the lock; content that stays behind would
        // only make the next holder report a takeover.
        let _ = sys::set_len(&self.file, 0, point::LOCK_TRUNCATE);
    }
}

/// How long a holder may take to write its name, and a reader to look.
const TRIES: u32 = 20;
const PAUSE: Duration = Duration::from_millis(5);

/// Takes the lock, or says who has it. Never waits for a holder to finish.
pub fn acquire(path: &Path, info: &LockInfo) -> Result<Lock, LockError> {
    let mut options = private::options();
    options.read(true).write(true).create(true).truncate(false);
    let file = sys::open(&options, path, point::LOCK_OPEN).at(path, Action::Open)?;
    let bolt = bolt(&file, path).at(path, Action::Open)?;
    let mut holder = None;
    for attempt in 0..TRIES {
        if attempt > 0 {
            std::thread::sleep(PAUSE);
        }
        match bolt.try_lock() {
            Ok(()) => match lock_folder(path) {
                Ok(folder) => {
                    return take(path, file, bolt, folder, info).map_err(LockError::File);
                }
                // Somebody holds a lock file that was deleted meanwhile.
                Err(IsHeld) => {
                    let _ = bolt.unlock();
                    continue;
                }
            },
            Err(TryLockError::Error(error)) => {
                return Err(FileError::new(path, Action::Lock, &error).into());
            }
            Err(TryLockError::WouldBlock) => holder = read_info(&file).at(path, Action::Read)?,
        }
        // Without a living name in the file it may be a reader who looks
        // whether the lock is held, or a holder about to write.
        if holder.as_ref().is_some_and(may_be_alive) {
            break;
        }
    }
    Err(LockError::Held {
        path: path.to_owned(),
        holder,
    })
}

/// The same, and waits so long for a holder who gives it back.
pub fn acquire_within(path: &Path, info: &LockInfo, patience: Duration) -> Result<Lock, LockError> {
    let deadline = Instant::now() + patience;
    loop {
        match acquire(path, info) {
            Err(LockError::Held { .. }) if Instant::now() < deadline => {
                std::thread::sleep(PAUSE);
            }
            taken => return taken,
        }
    }
}

/// What is locked: the file itself.
#[cfg(not(windows))]
fn bolt(file: &File, _path: &Path) -> io::Result<File> {
    file.try_clone()
}

/// Nobody else can read what is locked there, so that the name of the holder
/// stands in a file of its own.
#[cfg(windows)]
fn bolt(_file: &File, path: &Path) -> io::Result<File> {
    let mut options = private::options();
    options.read(true).write(true).create(true).truncate(false);
    options.open(path.with_extension("held"))
}

struct IsHeld;

/// An agent can delete or replace the lock file, and a new file has a new
/// lock; the folder that it lies in stays. `None` where folders can't be
/// locked.
fn lock_folder(path: &Path) -> Result<Option<File>, IsHeld> {
    let Ok(folder) = File::open(sys::parent(path)) else {
        return Ok(None);
    };
    match folder.try_lock() {
        Ok(()) => Ok(Some(folder)),
        Err(TryLockError::WouldBlock) => Err(IsHeld),
        Err(TryLockError::Error(_)) => Ok(None),
    }
}

fn take(
    path: &Path,
    mut file: File,
    bolt: File,
    folder: Option<File>,
    info: &LockInfo,
) -> Result<Lock, FileError> {
    let took_over = read_info(&file).at(path, Action::Read)?;
    let mut line = info.to_json().to_string();
    line.push('\n');
    // Our name goes over the old one before the rest is cut off, so that at
    // every instant somebody's stands there: a process that dies here must
    // not hide the one before it, whose agent may still be at work.
    file.seek(SeekFrom::Start(0)).at(path, Action::Write)?;
    sys::write_all(&file, line.as_bytes(), point::LOCK_WRITE).at(path, Action::Write)?;
    sys::set_len(&file, line.len() as u64, point::LOCK_TRUNCATE).at(path, Action::Write)?;
    Ok(Lock {
        _folder: folder,
        file,
        _bolt: bolt,
        took_over,
    })
}

/// The process that drives this run now; `None` where nobody does, or where
/// nobody can tell.
pub fn driver(path: &Path, run_id: &str) -> Option<u32> {
    let holder = holder(path).ok().flatten();
    holder
        .filter(|info| info.run_id == run_id)
        .map(|info| info.pid)
}

/// Who holds the lock, if anybody really does. The content alone proves
/// nothing.
pub fn holder(path: &Path) -> Result<Option<LockInfo>, FileError> {
    let file = match crate::regular::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        file => file.at(path, Action::Open)?,
    };
    let bolt = bolt(&file, path).at(path, Action::Open)?;
    let mut info = None;
    for attempt in 0..TRIES {
        if attempt > 0 {
            std::thread::sleep(PAUSE);
        }
        match bolt.try_lock_shared() {
            // Closing the file gives the shared lock back.
            Ok(()) => return Ok(None),
            Err(TryLockError::Error(error)) => {
                return Err(FileError::new(path, Action::Lock, &error));
            }
            Err(TryLockError::WouldBlock) => info = read_info(&file).at(path, Action::Read)?,
        }
        if info.as_ref().is_some_and(may_be_alive) {
            break;
        }
    }
    Ok(info)
}

/// A process of another machine or container cannot be seen from here, so
/// this only decides whether to look once more.
fn may_be_alive(info: &LockInfo) -> bool {
    process::is_alive(info.pid) != Some(false)
}

/// The first line, if it is complete; what may follow is a part of an older
/// one.
fn read_info(mut file: &File) -> io::Result<Option<LockInfo>> {
    const LONGEST: u64 = 64 * 1024;
    let mut content = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.take(LONGEST).read_to_end(&mut content)?;
    let line = content.split(|&byte| byte == b'\n').next();
    let json = serde_json::from_slice(line.unwrap_or_default()).ok();
    Ok(json.and_then(|json| LockInfo::from_json(&json)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::{self, Fault};
    use std::fs;
    use std::sync::{Barrier, Mutex};

    fn info(run_id: &str) -> LockInfo {
        LockInfo {
            pid: std::process::id(),
            started_at: "2026-11-15T02:10:30Z".to_owned(),
            run_id: run_id.to_owned(),
            host: Some("build-7".to_owned()),
        }
    }

    /// What an agent does to files in its way (issue 3, corruption).
    #[cfg(unix)]
    #[test]
    fn a_deleted_or_replaced_lock_file_opens_no_door() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let first = acquire(&path, &info("one")).unwrap();
        fs::remove_file(&path).unwrap();
        acquire(&path, &info("two")).unwrap_err();
        fs::write(dir.path().join("new"), "{}").unwrap();
        fs::rename(dir.path().join("new"), &path).unwrap();
        acquire(&path, &info("two")).unwrap_err();
        drop(first);
        acquire(&path, &info("two")).unwrap();
    }

    #[test]
    fn a_second_loop_is_refused_with_the_name_of_the_first() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        assert_eq!(holder(&path).unwrap(), None);
        let first = acquire(&path, &info("one")).unwrap();
        assert_eq!(first.took_over, None);
        assert_eq!(holder(&path).unwrap(), Some(info("one")));
        let refused = acquire(&path, &info("two")).unwrap_err();
        assert_eq!(
            refused,
            LockError::Held {
                path: path.clone(),
                holder: Some(info("one"))
            }
        );
        drop(first);
        assert_eq!(holder(&path).unwrap(), None);
        let second = acquire(&path, &info("two")).unwrap();
        assert_eq!(second.took_over, None);
    }

    #[test]
    fn what_a_dead_process_left_is_taken_over_and_told() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let dead = LockInfo {
            pid: 4_000_000_000,
            host: None,
            ..info("dead")
        };
        fs::write(&path, dead.to_json().to_string()).unwrap();
        assert_eq!(holder(&path).unwrap(), None);
        let lock = acquire(&path, &info("next")).unwrap();
        assert_eq!(lock.took_over, Some(dead));
        assert_eq!(holder(&path).unwrap(), Some(info("next")));
    }

    #[test]
    fn who_has_patience_gets_it_when_it_is_given_back() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let first = acquire(&path, &info("one")).unwrap();
        acquire_within(&path, &info("two"), Duration::from_millis(20)).unwrap_err();
        std::thread::scope(|scope| {
            let waits = || acquire_within(&path, &info("two"), Duration::from_secs(60)).map(drop);
            let second = scope.spawn(waits);
            drop(first);
            second.join().unwrap().unwrap();
        });
    }

    /// A process that dies while it takes the lock must not hide the one
    /// before it: that one's agent may still be at work.
    #[test]
    fn whoever_fails_while_taking_over_leaves_a_name() {
        const EIO: i32 = 5;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let dead = LockInfo {
            pid: 4_000_000_000,
            ..info("a dead one with a longer name")
        };
        for (point, left) in [
            (point::LOCK_OPEN, &dead),
            (point::LOCK_WRITE, &dead),
            (point::LOCK_TRUNCATE, &info("two")),
        ] {
            fs::write(&path, format!("{}\n", dead.to_json())).unwrap();
            fault::arm(point, 0, Fault::error(EIO));
            acquire(&path, &info("two")).unwrap_err();
            let next = acquire(&path, &info("three")).unwrap();
            assert_eq!(next.took_over.as_ref(), Some(left), "{point}");
        }
    }

    #[test]
    fn damaged_content_does_not_stand_in_the_way() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        for content in [
            &b"\xff\xfe"[..],
            b"{\"pid\":",
            b"{\"pid\":-1,\"started_at\":\"\",\"run_id\":\"\"}",
            b"12345\n",
        ] {
            fs::write(&path, content).unwrap();
            let lock = acquire(&path, &info("next")).unwrap();
            assert_eq!(lock.took_over, None, "{content:?}");
            assert_eq!(holder(&path).unwrap(), Some(info("next")), "{content:?}");
        }
    }

    #[test]
    fn of_many_threads_exactly_one_wins_and_all_others_learn_who() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let dead = LockInfo {
            pid: 4_000_000_000,
            ..info("dead")
        };
        fs::write(&path, dead.to_json().to_string()).unwrap();
        let start = Barrier::new(50);
        let end = Barrier::new(50);
        let results = Mutex::new((Vec::new(), Vec::new()));
        std::thread::scope(|scope| {
            for n in 0..50 {
                let (path, start, end, results) = (&path, &start, &end, &results);
                scope.spawn(move || {
                    start.wait();
                    let result = acquire(path, &info(&n.to_string()));
                    match &result {
                        Ok(_) => results.lock().unwrap().0.push(info(&n.to_string())),
                        Err(LockError::Held { holder, .. }) => {
                            results.lock().unwrap().1.push(holder.clone());
                        }
                        Err(error) => panic!("{error}"),
                    }
                    // The winner holds on until everybody has tried.
                    end.wait();
                });
            }
        });
        let (winners, refused) = results.into_inner().unwrap();
        assert_eq!(winners.len(), 1);
        assert_eq!(refused, vec![Some(winners[0].clone()); 49]);
    }

    #[test]
    fn looking_whether_a_lock_is_held_keeps_nobody_from_taking_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let stop = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                    holder(&path).unwrap();
                    std::thread::yield_now();
                }
            });
            let taken: Vec<_> = (0..300)
                .map(|_| acquire(&path, &info("one")).map(drop))
                .collect();
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
            assert!(taken.iter().all(Result::is_ok));
        });
    }

    #[test]
    fn a_lock_that_cannot_be_named_is_not_held() {
        const ENOSPC: i32 = 28;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        for point in [point::LOCK_OPEN, point::LOCK_TRUNCATE, point::LOCK_WRITE] {
            fault::arm(point, 0, Fault::error(ENOSPC));
            let error = acquire(&path, &info("one")).unwrap_err();
            assert!(matches!(error, LockError::File(_)), "{point}: {error}");
            assert_eq!(holder(&path).unwrap(), None, "{point}");
        }
        acquire(&path, &info("one")).unwrap();
    }

    #[test]
    fn a_refusal_says_who_since_when_how_to_watch_and_how_to_stop() {
        let error = LockError::Held {
            path: PathBuf::from("p/.ralph/lock"),
            holder: Some(LockInfo {
                pid: 4711,
                ..info("20261115-021030-1a2b")
            }),
        };
        let text = ralph_core::lang::Lang::ALL
            .map(|lang| error.say(lang))
            .join("\n");
        insta::assert_snapshot!(text, @"
        another loop is at work in this project: run 20261115-021030-1a2b, process 4711, since 2026-11-15T02:10:30Z; watch it with `ralph status` or `ralph logs -f`, stop it with `ralph stop`
        此專案已有另一個迴圈在執行：20261115-021030-1a2b，行程 4711，自 2026-11-15T02:10:30Z 起；可用 `ralph status` 或 `ralph logs -f` 觀看，用 `ralph stop` 停止
        此项目已有另一个循环在运行：20261115-021030-1a2b，进程 4711，自 2026-11-15T02:10:30Z 起；可用 `ralph status` 或 `ralph logs -f` 查看，用 `ralph stop` 停止
        ");
    }
}

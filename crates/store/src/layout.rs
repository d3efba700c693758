//! Where everything of a project and of a run stands.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::atomic::{AtomicOptions, write_atomic};
use crate::error::{Action, At, FileError, link_error};
use crate::fault::point;
use crate::home::StateHome;
use crate::log::LogStyle;
use crate::{lock, sys};

/// The name of a run: `20261115-021030-1a2b3c4d`, the UTC second of its start,
/// three digits of its millisecond and five of chance. Names sort by time and
/// are safe as file names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(String);

impl RunId {
    /// Accepts exactly the form that [`new_run_id`] gives, so that a name
    /// from outside cannot lead anywhere else.
    pub fn parse(text: &str) -> Option<RunId> {
        let mut parts = text.split('-');
        let fits = |part: Option<&str>, len: usize, allowed: fn(u8) -> bool| {
            part.is_some_and(|part| part.len() == len && part.bytes().all(allowed))
        };
        let digit = |byte: u8| byte.is_ascii_digit();
        let hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        let sound = fits(parts.next(), 8, digit)
            && fits(parts.next(), 6, digit)
            && {
                // Runs of earlier versions had four.
                let last = parts.next();
                fits(last, 8, hex) || fits(last, 4, hex)
            }
            && parts.next().is_none();
        sound.then(|| RunId(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for RunId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// The name of a run that starts now. The milliseconds are in it, so that
/// runs of the same second sort as they came.
pub fn new_run_id(now_utc_ms: i64, random: u32) -> RunId {
    const LAST_OF_9999: i64 = 253_402_300_799_999;
    let now_utc_ms = now_utc_ms.clamp(0, LAST_OF_9999);
    let (seconds, ms) = (now_utc_ms / 1000, now_utc_ms % 1000);
    let (year, month, day) = civil_date(seconds / 86_400);
    let second_of_day = seconds % 86_400;
    let (hour, minute) = (second_of_day / 3600, second_of_day / 60 % 60);
    let second = second_of_day % 60;
    let random = random & 0xf_ffff;
    RunId(format!(
        "{year:04}{month:02}{day:02}-{hour:02}{minute:02}{second:02}-{ms:03x}{random:05x}"
    ))
}

/// Year, month and day of a day counted from 1970-01-01, which is not
/// negative. The year is taken to begin in March, so that the leap day is its
/// last.
fn civil_date(days_since_1970: i64) -> (i64, i64, i64) {
    const DAYS_FROM_0000_03_01: i64 = 719_468;
    const DAYS_PER_ERA: i64 = 146_097;
    let days = days_since_1970 + DAYS_FROM_0000_03_01;
    let (era, day_of_era) = (days / DAYS_PER_ERA, days % DAYS_PER_ERA);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    (year, month, day)
}

/// What of `.ralph` is made anew by every run. The rest is the team's, to be
/// committed or not. The names of earlier versions are among them.
pub const IGNORED: &str = "\
# Made by ralph; settings, flows and templates beside them can be committed.
/.gitignore
/.safety_stats*
/.*.tmp.*
/.verify-state.json
/STOP
/baseline.json
/gate.log
/inbox/
/install.json
/install/
/lock
/ralph*.log*
/runs/
/sessions/
/status.json
/tracker
/verify.*
";
/// What earlier versions wrote there.
const IGNORED_BEFORE: &[u8] = b"*\n";

/// The files of one project: what Ralph believes in a folder of the person's
/// own, what a team shares and what others read in the project's `.ralph`.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Where the work is done: the project itself, or a tree beside it.
    root: PathBuf,
    project: PathBuf,
    ralph_dir: PathBuf,
    home: StateHome,
    /// Found out when it is asked for: most calls of a hook never do.
    state_dir: OnceLock<PathBuf>,
}

impl PartialEq for Layout {
    fn eq(&self, other: &Layout) -> bool {
        (&self.root, &self.home) == (&other.root, &other.home)
    }
}

impl Eq for Layout {}

impl Layout {
    pub fn new(root: impl Into<PathBuf>, home: &StateHome) -> Layout {
        let root = root.into();
        Layout {
            ralph_dir: root.join(".ralph"),
            state_dir: OnceLock::new(),
            home: home.clone(),
            project: root.clone(),
            root,
        }
    }

    /// The same project, whose work is done in a tree beside it.
    pub fn working_in(&self, tree: impl Into<PathBuf>) -> Layout {
        self.state_dir();
        Layout {
            root: tree.into(),
            ..self.clone()
        }
    }

    pub fn home(&self) -> &StateHome {
        &self.home
    }

    /// Whether the project holds the person's state, as their home does.
    pub fn is_state_inside(&self) -> bool {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        real(self.home.dir()).starts_with(real(&self.root))
    }

    /// What Ralph believes; nothing else may write there.
    pub fn state_dir(&self) -> &Path {
        self.state_dir
            .get_or_init(|| self.home.of_project(&self.project))
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The project itself, wherever its work is done.
    pub fn project(&self) -> &Path {
        &self.project
    }

    pub fn ralph_dir(&self) -> &Path {
        &self.ralph_dir
    }

    pub fn config(&self) -> PathBuf {
        self.ralph_dir.join("config.toml")
    }

    pub fn status(&self) -> PathBuf {
        self.ralph_dir.join("status.json")
    }

    pub fn log(&self, style: LogStyle) -> PathBuf {
        self.ralph_dir.join(style.file_name())
    }

    pub fn lock(&self) -> PathBuf {
        self.state_dir().join("lock")
    }

    /// A file that stops the run as soon as it is there (LOOP-17).
    pub fn stop_file(&self) -> PathBuf {
        self.ralph_dir.join("STOP")
    }

    /// The socket of the run that is alive. Its path is short: systems take
    /// hardly more than a hundred bytes.
    pub fn socket(&self) -> PathBuf {
        let name = self.state_dir().file_name().unwrap_or_default();
        let name = name.to_string_lossy();
        let (_, digest) = name.rsplit_once('-').unwrap_or(("", &name));
        self.home.dir().join("run").join(digest)
    }

    /// Removes the stop file; `false` where there is none.
    pub fn take_stop_file(&self) -> Result<bool, FileError> {
        let path = self.stop_file();
        if fs::symlink_metadata(&path).is_err() {
            return Ok(false);
        }
        sys::remove_file(&path, point::STOP_REMOVE).at(&path, Action::Remove)?;
        Ok(true)
    }

    /// Where checkpoints are kept; `dir` is the setting `checkpoint.dir`.
    pub fn checkpoint_dir(&self, dir: &str) -> PathBuf {
        self.root.join(dir)
    }

    /// The state file of a delta loop.
    pub fn delta_state(&self) -> PathBuf {
        self.root.join(ralph_core::delta::PATH)
    }

    /// What hooks allowed and blocked (GARD-09).
    pub fn safety_stats(&self) -> PathBuf {
        self.ralph_dir.join(".safety_stats")
    }

    pub fn runs_dir(&self) -> PathBuf {
        self.state_dir().join("runs")
    }

    pub fn run(&self, id: &RunId) -> RunPaths {
        RunPaths {
            dir: self.runs_dir().join(id.as_str()),
            id: id.clone(),
        }
    }

    /// Creates what is missing of the state, and of `.ralph`, which keeps
    /// what is made there out of Git.
    pub fn prepare(&self) -> Result<(), FileError> {
        self.prepare_state()?;
        create_dir_if_missing(&self.runs_dir())?;
        self.refuse_links(&self.ralph_dir)?;
        let created = create_dir_if_missing(&self.ralph_dir)?;
        self.write_ignore_file()?;
        sync_dir(&self.ralph_dir)?;
        if created {
            sync_dir(&self.project)?;
        }
        Ok(())
    }

    /// [`refuse_links`] of this project.
    pub fn refuse_links(&self, path: &Path) -> Result<(), FileError> {
        refuse_links(&self.project, path)
    }

    /// Creates the folder of the state alone.
    pub fn prepare_state(&self) -> Result<(), FileError> {
        self.home.prepare(&self.project, self.state_dir())
    }

    fn write_ignore_file(&self) -> Result<(), FileError> {
        let path = self.ralph_dir.join(".gitignore");
        if crate::regular::read(&path).is_ok_and(|text| text == IGNORED_BEFORE) {
            let options = AtomicOptions { durable: false };
            return write_atomic(&path, IGNORED.as_bytes(), options);
        }
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        match sys::open(&options, &path, point::LAYOUT_IGNORE_OPEN) {
            Ok(file) => {
                let written = sys::write_all(&file, IGNORED.as_bytes(), point::LAYOUT_IGNORE_WRITE);
                if written.is_err() {
                    // An empty file would count as present the next time.
                    let _ = fs::remove_file(&path);
                }
                written.at(&path, Action::Write)
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(FileError::new(&path, Action::Create, &error)),
        }
    }

    /// Creates the folder of a new run, with a durable name; refuses one that
    /// exists.
    pub fn create_run(&self, id: &RunId) -> Result<RunPaths, FileError> {
        let run = self.run(id);
        sys::create_dir(&run.dir, point::LAYOUT_CREATE_DIR).at(&run.dir, Action::Create)?;
        sync_dir(&self.runs_dir())?;
        Ok(run)
    }

    /// Every run of the project, the oldest first. Other things in the folder
    /// are passed over.
    pub fn runs(&self) -> Result<Vec<RunPaths>, FileError> {
        let dir = self.runs_dir();
        let entries = match fs::read_dir(&dir) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.at(&dir, Action::Read)?,
        };
        let mut ids = entries
            .filter_map(|entry| entry.map(|entry| run_id_of(&entry)).transpose())
            .collect::<io::Result<Vec<RunId>>>()
            .at(&dir, Action::Read)?;
        ids.sort();
        Ok(ids.iter().map(|id| self.run(id)).collect())
    }

    /// The run that began last, whatever became of it.
    pub fn latest_run(&self) -> Result<Option<RunPaths>, FileError> {
        Ok(self.runs()?.pop())
    }

    /// The run whose journal was written last: what the project's own files
    /// say about that anybody may have written (T-10).
    pub fn last_written(&self) -> Result<Option<RunPaths>, FileError> {
        Ok(self.as_written()?.pop())
    }

    /// The runs as they were written to, the last one at the end.
    pub fn as_written(&self) -> Result<Vec<RunPaths>, FileError> {
        let mut runs = self.runs()?;
        let written = |run: &RunPaths| fs::metadata(run.journal()).and_then(|file| file.modified());
        runs.sort_by_cached_key(|run| written(run).ok());
        Ok(runs)
    }

    /// The run that is alive now: the one that holds the lock.
    pub fn current_run(&self) -> Result<Option<RunPaths>, FileError> {
        let holder = lock::holder(&self.lock())?;
        let id = holder.and_then(|info| RunId::parse(&info.run_id));
        Ok(id.map(|id| self.run(&id)))
    }
}

/// An error where a link of the project leads there: what is written for
/// others stays within (S-07). A path outside is the person's own.
pub fn refuse_links(root: &Path, path: &Path) -> Result<(), FileError> {
    let Ok(inside) = path.strip_prefix(root) else {
        return Ok(());
    };
    let mut at = root.to_owned();
    for part in inside.components() {
        at.push(part);
        if at.is_symlink() {
            return Err(FileError::new(&at, Action::Write, &link_error()));
        }
    }
    Ok(())
}

fn run_id_of(entry: &fs::DirEntry) -> Option<RunId> {
    let id = RunId::parse(entry.file_name().to_str()?)?;
    entry.path().is_dir().then_some(id)
}

fn create_dir_if_missing(dir: &Path) -> Result<bool, FileError> {
    match sys::create_dir(dir, point::LAYOUT_CREATE_DIR) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::AlreadyExists && dir.is_dir() => Ok(false),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let in_the_way = io::Error::from(ErrorKind::NotADirectory);
            Err(FileError::new(dir, Action::Create, &in_the_way))
        }
        Err(error) => Err(FileError::new(dir, Action::Create, &error)),
    }
}

fn sync_dir(dir: &Path) -> Result<(), FileError> {
    sys::sync_dir(dir, point::LAYOUT_SYNC_DIR).at(dir, Action::Sync)
}

/// The files of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunPaths {
    pub id: RunId,
    /// The output and the prompts of turns stand directly in it.
    pub dir: PathBuf,
}

impl RunPaths {
    pub fn journal(&self) -> PathBuf {
        self.dir.join("journal.jsonl")
    }

    pub fn events(&self) -> PathBuf {
        self.dir.join("execution.log.jsonl")
    }

    /// What the guard's hook blocked, one line each.
    pub fn guard_log(&self) -> PathBuf {
        self.dir.join("guard.jsonl")
    }

    /// What the guard's hook was asked about, one line each.
    pub fn asked(&self) -> PathBuf {
        self.dir.join("asked.jsonl")
    }

    /// What the agent printed in a call of a turn; attempts count from 1.
    pub fn turn_output(&self, turn: u32, attempt: u32) -> PathBuf {
        self.dir.join(format!("{}.out", call_name(turn, attempt)))
    }

    /// What the verification commands printed after a turn.
    pub fn turn_verification(&self, turn: u32) -> PathBuf {
        self.dir.join(format!("turn-{turn:04}.verify"))
    }

    /// What the agent was told in a call of a turn.
    pub fn turn_prompt(&self, turn: u32, attempt: u32) -> PathBuf {
        self.dir
            .join(format!("{}.prompt.md", call_name(turn, attempt)))
    }
}

/// `turn-0003`, and `turn-0003.2` for its second call.
fn call_name(turn: u32, attempt: u32) -> String {
    match attempt {
        0 | 1 => format!("turn-{turn:04}"),
        attempt => format!("turn-{turn:04}.{attempt}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lock::{LockInfo, acquire};
    use proptest::prelude::*;

    fn in_dir(dir: &Path) -> Layout {
        Layout::new(dir, &StateHome::at(dir.join("state")))
    }

    #[test]
    fn run_names_tell_their_second() {
        for (ms, random, want) in [
            (0, 0, "19700101-000000-00000000"),
            (951_827_696_999, 0xffff_ffff, "20000229-123456-3e7fffff"),
            (1_794_708_630_000, 0x1a2b, "20261115-021030-00001a2b"),
            (4_107_542_399_000, 1, "21000228-235959-00000001"),
            (4_107_542_400_000, 1, "21000301-000000-00000001"),
            (-5, 0, "19700101-000000-00000000"),
            (i64::MAX, 0, "99991231-235959-3e700000"),
        ] {
            assert_eq!(new_run_id(ms, random).as_str(), want, "{ms}");
        }
    }

    proptest! {
        #[test]
        fn run_names_sort_by_time_and_read_back(
            a in 0i64..253_402_300_800_000,
            b in 0i64..253_402_300_800_000,
            random: u32,
        ) {
            let (earlier, later) = (new_run_id(a.min(b), random), new_run_id(a.max(b), random));
            prop_assert!(earlier <= later);
            prop_assert_eq!(RunId::parse(earlier.as_str()), Some(earlier));
        }
    }

    #[test]
    fn names_from_outside_lead_nowhere_else() {
        for name in [
            "",
            "..",
            "../../etc/passwd",
            "20261115-021030-1a2",
            "20261115-021030-1A2B",
            "20261115-021030-1a2b-",
            "20261115-021030-1a2b/..",
            "２０２６1115-021030-1a2b",
        ] {
            assert_eq!(RunId::parse(name), None, "{name}");
        }
    }

    #[test]
    fn every_file_has_its_place() {
        let layout = Layout::new("p", &StateHome::at("s"));
        let run = layout.run(&new_run_id(1_794_708_630_418, 0xb));
        let paths = [
            layout.config(),
            layout.status(),
            layout.log(LogStyle::Loop),
            layout.log(LogStyle::Sdd),
            layout.lock(),
            layout.safety_stats(),
            run.journal(),
            run.events(),
            run.turn_output(1, 1),
            run.turn_output(1, 2),
            run.turn_prompt(12345, 1),
        ];
        let listing = paths.map(|path| path.display().to_string()).join("\n");
        insta::assert_snapshot!(listing, @"
        p/.ralph/config.toml
        p/.ralph/status.json
        p/.ralph/ralph.log
        p/.ralph/ralph-sdd.log
        s/projects/p-148de9c5a7a44d19/lock
        p/.ralph/.safety_stats
        s/projects/p-148de9c5a7a44d19/runs/20261115-021030-1a20000b/journal.jsonl
        s/projects/p-148de9c5a7a44d19/runs/20261115-021030-1a20000b/execution.log.jsonl
        s/projects/p-148de9c5a7a44d19/runs/20261115-021030-1a20000b/turn-0001.out
        s/projects/p-148de9c5a7a44d19/runs/20261115-021030-1a20000b/turn-0001.2.out
        s/projects/p-148de9c5a7a44d19/runs/20261115-021030-1a20000b/turn-12345.prompt.md
        ");
    }

    #[test]
    fn preparing_creates_what_is_missing_and_keeps_what_is_there() {
        let dir = tempfile::tempdir().unwrap();
        let layout = in_dir(dir.path());
        layout.prepare().unwrap();
        let ignore = layout.ralph_dir().join(".gitignore");
        assert_eq!(fs::read_to_string(&ignore).unwrap(), IGNORED);
        fs::write(&ignore, IGNORED_BEFORE).unwrap();
        layout.prepare().unwrap();
        assert_eq!(fs::read_to_string(&ignore).unwrap(), IGNORED);
        fs::write(&ignore, "runs/\n").unwrap();
        layout.prepare().unwrap();
        assert_eq!(fs::read_to_string(&ignore).unwrap(), "runs/\n");
        assert!(layout.runs_dir().is_dir());
    }

    #[test]
    fn a_file_in_the_place_of_the_folder_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let layout = in_dir(dir.path());
        fs::write(layout.ralph_dir(), "").unwrap();
        let error = layout.prepare().unwrap_err();
        assert_eq!(error.kind, ErrorKind::NotADirectory);
        assert_eq!(error.path, layout.ralph_dir());
    }

    #[test]
    fn runs_are_listed_by_age_and_the_living_one_is_known() {
        let dir = tempfile::tempdir().unwrap();
        let layout = in_dir(dir.path());
        assert_eq!(layout.runs().unwrap(), []);
        assert_eq!(layout.latest_run().unwrap(), None);
        assert_eq!(layout.current_run().unwrap(), None);

        layout.prepare().unwrap();
        let old = layout.create_run(&new_run_id(1_000_000, 9)).unwrap();
        let new = layout.create_run(&new_run_id(2_000_000, 3)).unwrap();
        let middle = layout.create_run(&new_run_id(1_500_000, 7)).unwrap();
        fs::create_dir(layout.runs_dir().join("notes")).unwrap();
        fs::write(layout.runs_dir().join("20261115-021030-1a2b"), "a file").unwrap();

        assert_eq!(layout.runs().unwrap(), [old.clone(), middle, new.clone()]);
        assert_eq!(layout.latest_run().unwrap(), Some(new));
        assert_eq!(
            layout.create_run(&old.id).unwrap_err().kind,
            ErrorKind::AlreadyExists
        );

        let info = LockInfo {
            pid: std::process::id(),
            started_at: "2026-11-15T02:10:30Z".to_owned(),
            run_id: old.id.to_string(),
            host: None,
        };
        let lock = acquire(&layout.lock(), &info).unwrap();
        assert_eq!(layout.current_run().unwrap(), Some(old));
        drop(lock);
        assert_eq!(layout.current_run().unwrap(), None);
    }
}

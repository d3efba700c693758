//! Undo and redo: exact, and nothing else is touched.

use std::collections::BTreeMap;

use proptest::prelude::*;
use ralph_core::lang::Lang;
use ralph_core::machine::{
    End, Event, Goal, Kind, Now, Observation, Rules, State, TurnReport, Undone,
};
use ralph_core::tasks::{ReadOptions, Scope};
use ralph_core::usage::Usage;
use ralph_store::journal::{Durability, Journal};
use ralph_store::layout::{RunPaths, new_run_id};

use super::super::timeline::Timeline;
use super::super::undo::{Undo, UndoError, Wish, World};
use super::*;
use crate::header::Header;
use crate::look::{Looker, TaskFile};
use crate::plan::Asked;

/// A project with one run, whose journal is written by hand.
struct Run {
    project: Project,
    paths: RunPaths,
    looker: Looker,
    seconds: i64,
    turn: u32,
}

fn task_file(project: &Project) -> Option<TaskFile> {
    let path = project.at("tasks.md");
    let root = project.dir.path();
    Some(TaskFile::new(root, path, ReadOptions::default()))
}

impl Run {
    fn begin(project: Project) -> Run {
        let root = project.dir.path();
        let layout = crate::layout_in(root);
        let id = new_run_id(1_000_000, 7);
        let paths = layout.create_run(&id).unwrap();
        let header = Header {
            session: None,
            run_id: id.as_str().into(),
            started_ms: 1_000_000,
            rules: Rules::new(Goal::Tasks { phase: None }),
            asked: Asked::default(),
            tasks_file: Some(project.at("tasks.md")),
            commit: None,
            branch: None,
        };
        let mut journal = Journal::create(&paths.journal()).unwrap();
        let header = serde_json::to_value(&header).unwrap();
        journal.append(&[header], Durability::Buffered).unwrap();
        let tasks = task_file(&project);
        let mut looker = Looker::new(root, tasks, Scope::default(), Lang::En);
        looker.keep(
            Snapshots::create(&layout, project.caps.clone(), false).unwrap(),
            false,
        );
        let mut run = Run {
            project,
            paths,
            looker,
            seconds: 0,
            turn: 0,
        };
        let seen = run.looker.look();
        run.add(Kind::Started { seen });
        run
    }

    fn add(&mut self, kind: Kind) {
        self.seconds += 1;
        let at = Now {
            wall_ms: 1_000_000 + self.seconds * 1000,
            steady_ms: self.seconds.unsigned_abs() * 1000,
        };
        let event = serde_json::to_value(Event { at, kind }).unwrap();
        let (mut journal, ..) = Journal::open(&self.paths.journal()).unwrap();
        journal.append(&[event], Durability::Buffered).unwrap();
    }

    /// The agent did what was done since the last look.
    fn turn(&mut self) -> Observation {
        self.turn += 1;
        let seen = self.looker.look();
        assert!(seen.snapshot.is_some(), "{:?}", self.looker.told());
        self.add(Kind::TurnEnded(TurnReport {
            turn: self.turn,
            attempt: 1,
            end: End::Exit(0),
            duration_ms: 1,
            promise: None,
            mentioned: None,
            failure: String::new(),
            spent: Usage::default(),
            refusal: None,
            role: None,
            seen: seen.clone(),
        }));
        seen
    }

    fn open(&self) -> Undo {
        let layout = crate::layout_in(self.project.dir.path());
        let world = World {
            tasks: task_file(&self.project),
            scope: Scope::default(),
            own: vec![self.project.at(".skillpack/current")],
            caps: self.project.caps.clone(),
            lang: Lang::En,
        };
        Undo::open(&layout, &self.paths, world).unwrap()
    }

    fn do_it(&self, wish: Wish, only: &[&str]) -> Result<usize, UndoError> {
        let only: Vec<PathBuf> = only.iter().map(PathBuf::from).collect();
        let mut undo = self.open();
        let plan = undo.plan(wish, &only)?;
        undo.perform(&plan)
    }

    fn undo(&self, turn: u32) -> Result<usize, UndoError> {
        let turn = Some(turn).filter(|turn| *turn > 0);
        self.do_it(Wish::Undo { turn }, &[])
    }

    fn redo(&self) -> Result<usize, UndoError> {
        self.do_it(Wish::Redo, &[])
    }

    fn timeline(&self) -> Timeline {
        Timeline::read(&self.paths).unwrap().0
    }

    fn state(&self) -> State {
        Timeline::read(&self.paths).unwrap().1.state
    }

    fn text(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.project.at(path)).ok()
    }
}

/// Every file and link below a folder, its kind and its content.
fn contents(root: &Path) -> Contents {
    fn walk(root: &Path, at: &Path, found: &mut Contents) {
        for entry in fs::read_dir(root.join(at)).unwrap() {
            let path = at.join(entry.unwrap().file_name());
            let full = root.join(&path);
            let metadata = fs::symlink_metadata(&full).unwrap();
            if metadata.is_dir() {
                walk(root, &path, found);
            } else if metadata.is_symlink() {
                let target = fs::read_link(&full).unwrap().into_os_string();
                found.insert(path, ('l', target.into_encoded_bytes()));
            } else if metadata.is_file() {
                let kind = if is_executable(&metadata) { 'x' } else { 'f' };
                found.insert(path, (kind, fs::read(&full).unwrap()));
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(root, Path::new(""), &mut found);
    found.retain(|path, _| !path.starts_with(".ralph"));
    found
}

#[cfg(unix)]
fn is_executable(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o100 != 0
}

#[cfg(not(unix))]
fn is_executable(_metadata: &fs::Metadata) -> bool {
    false
}

#[test]
fn turns_are_undone_and_redone() {
    let project = Project::repository();
    project.write("tasks.md", "- [ ] T001 a\n- [ ] T002 b\n");
    project.write("a", "0");
    project.commit("begin");
    let mut run = Run::begin(project);
    run.project.write("a", "1");
    run.project
        .write("tasks.md", "- [x] T001 a\n- [ ] T002 b\n");
    run.turn();
    run.project.write("a", "2");
    run.project.write("new/b", "untracked");
    run.project
        .write("tasks.md", "- [x] T001 a\n- [x] T002 b\n");
    run.project.commit("the agent's");
    run.turn();
    let head = run.project.git(&["rev-parse", "HEAD"]);

    assert_eq!(run.undo(0).unwrap(), 3);
    assert_eq!(run.text("a").as_deref(), Some("1"));
    assert!(!run.project.at("new").exists());
    assert_eq!(run.timeline().standing, 1);
    let facts = run.state().tasks.facts.unwrap();
    assert_eq!((facts.completed, facts.total), (1, 2), "ticks are known");
    assert_eq!(
        run.project.git(&["rev-parse", "HEAD"]),
        head,
        "commits stay"
    );
    // Once more: the turn before.
    assert_eq!(run.undo(0).unwrap(), 2);
    assert_eq!(run.text("a").as_deref(), Some("0"));
    assert!(matches!(run.undo(0), Err(UndoError::NoTurn { .. })));
    run.redo().unwrap();
    assert_eq!(run.text("a").as_deref(), Some("1"));
    run.redo().unwrap();
    assert_eq!(run.text("new/b").as_deref(), Some("untracked"));
    assert!(matches!(run.redo(), Err(UndoError::NothingToRedo)));
    // Both at once, and only some of it.
    assert_eq!(run.do_it(Wish::Undo { turn: Some(1) }, &["a"]).unwrap(), 1);
    assert_eq!(run.text("a").as_deref(), Some("0"));
    assert_eq!(run.text("new/b").as_deref(), Some("untracked"));
    let told = fs::read_to_string(run.paths.events()).unwrap();
    assert_eq!(told.matches("\"undone\"").count(), 5);
}

#[test]
fn what_somebody_else_changed_is_refused_by_name() {
    let mut run = Run::begin(Project::repository());
    run.project.write("a", "1");
    run.project.write("b", "1");
    run.turn();
    run.project.write("b", "mine");
    run.project.write("mine", "too");
    let before = contents(run.project.dir.path());
    let records = fs::read(run.paths.journal()).unwrap();
    match run.undo(1) {
        Err(UndoError::Foreign { paths, turn: 0 }) => assert_eq!(paths, [PathBuf::from("b")]),
        other => panic!("{other:?}"),
    }
    assert_eq!(
        contents(run.project.dir.path()),
        before,
        "nothing was touched"
    );
    assert_eq!(fs::read(run.paths.journal()).unwrap(), records);
    assert_eq!(run.do_it(Wish::Undo { turn: Some(1) }, &["a"]).unwrap(), 1);
    assert_eq!(run.text("b").as_deref(), Some("mine"));
    assert_eq!(run.text("mine").as_deref(), Some("too"));
    assert_eq!(run.text("a"), None);
    // Where an ignored file lies in the way, nothing is deleted for it.
    run.project.write("f", "a file");
    run.turn();
    fs::remove_file(run.project.at("f")).unwrap();
    run.project.write(".gitignore", "*.log\n");
    run.project.write("f/x", "work");
    run.turn();
    run.project.write("f/y.log", "ignored");
    let refused = run.undo(0).unwrap_err();
    assert!(matches!(refused, UndoError::Foreign { .. }), "{refused:?}");
    assert_eq!(run.text("f/x").as_deref(), Some("work"));
}

#[test]
fn an_undo_that_died_in_the_middle_is_finished_or_taken_back() {
    for finish in [true, false] {
        let mut run = Run::begin(Project::plain());
        run.project.write("a", "1");
        run.project.write("b", "1");
        run.turn();
        run.project.write("a", "2");
        run.project.write("b", "2");
        run.turn();
        let mut undo = run.open();
        let plan = undo.plan(Wish::Undo { turn: None }, &[]).unwrap();
        assert_eq!(plan.paths.len(), 2);
        drop(undo);
        let timeline = run.timeline();
        run.add(Kind::Undone(Undone {
            turn: 1,
            before: timeline.last.clone().unwrap().to_string(),
            after: timeline.before(2).unwrap().to_string(),
            files: 2,
            moved: None,
            redo: false,
            seen: None,
        }));
        run.project.write("a", "1");
        match finish {
            true => {
                assert_eq!(run.undo(2).unwrap(), 1, "the rest of it");
                assert_eq!(run.text("b").as_deref(), Some("1"));
            }
            false => {
                assert_eq!(run.redo().unwrap(), 1);
                assert_eq!(run.text("a").as_deref(), Some("2"));
            }
        }
    }
}

#[test]
fn snapshots_go_with_their_run() {
    let mut run = Run::begin(Project::plain());
    let layout = crate::layout_in(run.project.dir.path());
    run.project.write("a", "kept");
    run.turn();
    let kept = run.timeline().last.unwrap();
    // Of a run that is gone: no journal names it.
    run.project.write("a", &"of nobody".repeat(1000));
    let gone = run.project.take();
    let sweep = || super::super::sweep(&layout).unwrap();
    assert_eq!(sweep(), 0, "the run is not over and may need it");
    run.add(Kind::Abandoned);
    assert!(run.state().outcome().is_some());
    assert!(sweep() > 0);
    let snapshots = Snapshots::open(&layout).unwrap();
    let entry = snapshots.entry(&kept, Path::new("a")).unwrap().unwrap();
    assert_eq!(snapshots.read(&entry).unwrap(), b"kept");
    assert!(snapshots.files(&gone).is_err());
    assert_eq!(sweep(), 0);
}

/// Reproducible choices.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) as usize % sides
    }

    fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.roll(choices.len())]
    }
}

const PATHS: [&str; 12] = [
    "a", "A", "d/a", "d/b c", "d/e/a", "d/e/new\nline", "f/a", "f", "x.log", "d/y.log", "g/-q",
    "ü/é",
];
const TEXTS: [&str; 6] = [
    "",
    "one\n",
    "one\r\ntwo\r\n",
    "two",
    "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n",
    "\0\u{1}binary\u{7f}",
];

fn edit(project: &Project, dice: &mut Dice) {
    let path = project.at(dice.pick(&PATHS));
    let _ = match dice.roll(10) {
        0 => fs::remove_file(&path),
        1 => fs::remove_dir_all(&path),
        2 => fs::rename(&path, project.at(dice.pick(&PATHS))),
        3 => fs::create_dir_all(&path),
        #[cfg(unix)]
        4 => std::os::unix::fs::symlink(dice.pick(&["a", "d", "nowhere", "/etc/passwd"]), &path),
        #[cfg(unix)]
        5 => {
            use std::os::unix::fs::PermissionsExt;
            let mode = dice.pick(&[0o644, 0o755, 0o600]);
            match fs::symlink_metadata(&path) {
                Ok(found) if found.is_file() => {
                    fs::set_permissions(&path, fs::Permissions::from_mode(mode))
                }
                _ => Ok(()),
            }
        }
        #[cfg(unix)]
        6 => {
            use std::os::unix::ffi::OsStrExt;
            let odd = std::ffi::OsStr::from_bytes(b"d\xff\xfe");
            fs::write(project.dir.path().join(odd), dice.pick(&TEXTS))
        }
        _ => fs::create_dir_all(path.parent().unwrap())
            .and_then(|()| fs::write(&path, dice.pick(&TEXTS))),
    };
}

/// What a snapshot does not know stays as it was at the end.
fn is_work(path: &Path) -> bool {
    let is_log = path
        .iter()
        .any(|part| part.as_encoded_bytes().ends_with(b".log"));
    !(is_log || path.starts_with(".git") || path.starts_with("nested") || path == Path::new(".env"))
}

type Contents = BTreeMap<PathBuf, (char, Vec<u8>)>;

/// Names what differs, and nothing else.
fn same(got: &Contents, want: &Contents, seed: u64, what: &str) {
    let paths = got.keys().chain(want.keys());
    let differing: Vec<_> = paths
        .filter(|path| got.get(*path) != want.get(*path))
        .collect();
    assert!(differing.is_empty(), "seed {seed}, {what}: {differing:?}");
}

fn check(seed: u64) {
    let dice = &mut Dice(seed);
    let project = Project::repository();
    project.write(".gitignore", "*.log\n");
    project.write("tasks.md", "- [ ] T001 a\n");
    project.write("a", "begin\r\n");
    project.git(&["config", "core.autocrlf", "true"]);
    project.commit("begin");
    project.write("stashed", "away");
    project.git(&["add", "stashed"]);
    project.git(&["stash", "-q"]);
    project.write("nested/file", "of another");
    fs::create_dir_all(project.at("nested/.git/refs")).unwrap();
    project.write(".env", "SECRET=1");
    let mut run = Run::begin(project);
    let root = run.project.dir.path().to_owned();
    let mut states = vec![contents(&root)];
    for turn in 0..4 {
        for _ in 0..dice.roll(6) {
            edit(&run.project, dice);
        }
        run.project.write("nested/file", &format!("turn {turn}"));
        run.project.write(".env", &format!("SECRET={turn}"));
        if dice.roll(3) == 0 {
            let work = [
                ".", ":(exclude).ralph", ":(exclude).env", ":(exclude)nested",
            ];
            run.project.git(&[&["add", "-A", "--"][..], &work].concat());
            run.project
                .git(&["commit", "-q", "--allow-empty", "-m", "the agent's"]);
        }
        run.turn();
        states.push(contents(&root));
    }
    let end = states.last().unwrap().clone();
    let turn = 1 + dice.roll(4);
    match run.undo(turn as u32) {
        Ok(_) => {}
        // An ignored file lies where a file was: refused, nothing touched.
        Err(UndoError::Foreign { .. }) => {
            same(&contents(&root), &end, seed, "refused");
            return;
        }
        Err(error) => panic!("seed {seed}: {error:?}"),
    }
    let work = |all: &Contents, work: bool| {
        let mut all = all.clone();
        all.retain(|path, _| is_work(path) == work);
        all
    };
    let now = contents(&root);
    same(
        &work(&now, true),
        &work(&states[turn - 1], true),
        seed,
        "undone",
    );
    same(&work(&now, false), &work(&end, false), seed, "the rest");
    run.redo().unwrap();
    assert_eq!(contents(&root), end, "seed {seed}: redone");
    // The whole work of each turn, in a folder of its own.
    for (turn, state) in states.iter().enumerate() {
        let to = tempfile::tempdir().unwrap();
        let timeline = run.timeline();
        let tree = timeline.after(turn as u32).unwrap();
        let snapshots = Snapshots::open(&crate::layout_in(&root)).unwrap();
        let (_, left_out) = snapshots.restore(tree, to.path()).unwrap();
        assert_eq!(left_out.len(), 2, "seed {seed}: {left_out:?}");
        same(&contents(to.path()), &work(state, true), seed, "restored");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn undo_and_redo_are_exact(seed in any::<u64>()) {
        check(seed);
    }
}

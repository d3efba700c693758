//! What a snapshot adds to a look between two turns; `cargo xtask bench
//! snapshots` runs it. Every figure stands beside an empty process and beside
//! `git add -A` with `git write-tree`, taken in the same run.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a program for whoever measures"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use ralph_engine::snapshots::{Caps, Snapshots};
use ralph_engine::worktree::WorkTree;
use ralph_store::home::StateHome;
use ralph_store::layout::Layout;

const CHANGED: usize = 8;
const TURNS: usize = 31;
const LONG: usize = 1_000;

fn main() -> ExitCode {
    let mut good = true;
    for (files, most) in [(10_000, 5), (100_000, 15)] {
        good &= measure(files, Duration::from_millis(most));
    }
    match good {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

fn name(root: &Path, file: usize) -> PathBuf {
    let (top, folder) = (file / 1_000, file / 50);
    root.join(format!("d{top}/e{folder}/f{file}.txt"))
}

/// About two kilobytes that compress as source text does.
fn text(file: usize, turn: usize) -> String {
    let line = |n: usize| {
        format!(
            "    let value_{n} = compute({}, {turn});\n",
            file * 31 + n * 7
        )
    };
    (0..50).map(line).collect()
}

/// A project with its snapshots.
struct Project {
    files: usize,
    root: PathBuf,
    layout: Layout,
    snapshots: Snapshots,
    plain: WorkTree,
    named: WorkTree,
    _dir: tempfile::TempDir,
}

fn caps() -> Caps {
    Caps {
        file: 50 << 20,
        total: u64::MAX,
        files: usize::MAX,
        free: 0,
    }
}

fn time(work: &mut dyn FnMut()) -> Duration {
    let begun = Instant::now();
    work();
    begun.elapsed()
}

fn measure(files: usize, most: Duration) -> bool {
    let mut project = Project::new(files);
    project.begin();
    let more = project.turns(most);
    if files == 10_000 {
        project.long();
    }
    more <= most
}

impl Project {
    fn new(files: usize) -> Project {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("project");
        for file in 0..files {
            let path = name(&root, file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text(file, 0)).unwrap();
        }
        git(&root, &["init", "-q"]);
        let layout = Layout::new(&root, &StateHome::at(dir.path().join("state")));
        layout.prepare().unwrap();
        let snapshots = Snapshots::create(&layout, caps(), false).unwrap();
        let (plain, mut named) = (WorkTree::new(&root, vec![]), WorkTree::new(&root, vec![]));
        named.name_contents();
        Project {
            files,
            root,
            layout,
            snapshots,
            plain,
            named,
            _dir: dir,
        }
    }

    fn look(&mut self) {
        self.plain.scan().unwrap();
    }

    fn keep(&mut self) {
        let scan = self.named.scan().unwrap();
        let whole = || self.named.contents();
        self.snapshots.take(scan.found, whole).unwrap();
    }

    /// The first look of a project, and of the next process.
    fn begin(&mut self) {
        let looked = time(&mut || self.look());
        let kept = time(&mut || self.keep());
        let files = self.files;
        println!("{files} files: first look {looked:.1?}, with everything stored {kept:.1?}");
        let size = mb(self.snapshots.size().0);
        println!("  store after the first snapshot     {size:.1} MB");
        let next = time(&mut || {
            let mut again = Snapshots::create(&self.layout, caps(), true).unwrap();
            let mut tree = WorkTree::new(&self.root, vec![]);
            tree.name_contents();
            let scan = tree.scan().unwrap();
            again.take(scan.found, || tree.contents()).unwrap();
        });
        println!("  first look of the next process     {next:.1?}");
        git(&self.root, &["add", "-A"]);
    }

    /// What a snapshot adds to a turn.
    fn turns(&mut self, most: Duration) -> Duration {
        let (mut without, mut with, mut by_git, mut empty) = (vec![], vec![], vec![], vec![]);
        for turn in 1..=TURNS {
            change(&self.root, self.files, turn);
            // Whoever comes second finds warm caches.
            if turn % 2 == 0 {
                without.push(time(&mut || self.look()));
                with.push(time(&mut || self.keep()));
            } else {
                with.push(time(&mut || self.keep()));
                without.push(time(&mut || self.look()));
            }
            by_git.push(time(&mut || {
                git(&self.root, &["add", "-A"]);
                git(&self.root, &["write-tree"]);
            }));
            empty.push(time(&mut || drop(Command::new("true").status())));
        }
        // Turn by turn: the machine's moods last longer than one.
        let more = with.iter().zip(&without);
        let more = more.map(|(with, without)| with.saturating_sub(*without));
        let more = median(more.collect());
        let [without, with, by_git, empty] = [without, with, by_git, empty].map(median);
        let ratio = more.as_secs_f64() / empty.as_secs_f64();
        println!("  look                               {without:.2?}");
        println!("  look and snapshot, {CHANGED} changed        {with:.2?}");
        println!("  git add -A, git write-tree         {by_git:.2?}");
        println!("  empty process                      {empty:.2?}");
        println!(
            "  more for the snapshot              {more:.2?} ({ratio:.1} empty processes, bound {most:?})"
        );
        more
    }

    fn long(&mut self) {
        let before = self.snapshots.size().0;
        for turn in 0..LONG {
            change(&self.root, self.files, 100 + turn);
            self.keep();
            if turn % 100 == 99 {
                self.snapshots.tidy().unwrap();
            }
        }
        let grown = mb(self.snapshots.size().0 - before);
        println!("  growth over {LONG} turns            {grown:.1} MB");
    }
}

fn change(root: &Path, files: usize, turn: usize) {
    for n in 0..CHANGED {
        let file = (turn * 977 + n * files / CHANGED) % files;
        fs::write(name(root, file), text(file, turn)).unwrap();
    }
}

fn git(root: &Path, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.current_dir(root).args(arguments);
    assert!(command.output().unwrap().status.success());
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn mb(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

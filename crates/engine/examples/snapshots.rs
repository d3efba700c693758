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

fn measure(files: usize, most: Duration) -> bool {
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
    let caps = Caps {
        file: 50 << 20,
        total: u64::MAX,
        files: usize::MAX,
        free: 0,
    };
    let mut snapshots = Snapshots::create(&layout, caps.clone()).unwrap();
    let (mut plain, mut named) = (WorkTree::new(&root, vec![]), WorkTree::new(&root, vec![]));
    named.name_contents();
    let begun = Instant::now();
    plain.scan().unwrap();
    let scanned = begun.elapsed();
    let begun = Instant::now();
    let scan = named.scan().unwrap();
    snapshots.take(scan.found, || named.contents()).unwrap();
    println!(
        "{files} files: first look {scanned:.1?}, with everything stored {:.1?}",
        begun.elapsed()
    );
    let (size, _) = snapshots.size();
    println!("  store after the first snapshot     {:.1} MB", mb(size));
    let begun = Instant::now();
    let mut again = Snapshots::create(&layout, caps).unwrap();
    let mut tree = WorkTree::new(&root, vec![]);
    tree.name_contents();
    let scan = tree.scan().unwrap();
    again.take(scan.found, || tree.contents()).unwrap();
    println!(
        "  first look of the next process     {:.1?}",
        begun.elapsed()
    );
    git(&root, &["add", "-A"]);

    let (mut without, mut with, mut by_git, mut empty) = (vec![], vec![], vec![], vec![]);
    for turn in 1..=TURNS {
        change(&root, files, turn);
        let time = |work: &mut dyn FnMut()| {
            let begun = Instant::now();
            work();
            begun.elapsed()
        };
        let mut look = || drop(plain.scan().unwrap());
        let mut keep = || {
            let scan = named.scan().unwrap();
            snapshots.take(scan.found, || named.contents()).unwrap();
        };
        // Whoever comes second finds warm caches.
        match turn % 2 {
            0 => {
                without.push(time(&mut look));
                with.push(time(&mut keep));
            }
            _ => {
                with.push(time(&mut keep));
                without.push(time(&mut look));
            }
        }
        by_git.push(time(&mut || {
            git(&root, &["add", "-A"]);
            git(&root, &["write-tree"]);
        }));
        empty.push(time(&mut || drop(Command::new("true").status())));
    }
    let [without, with, by_git, empty] = [without, with, by_git, empty].map(median);
    let more = with.saturating_sub(without);
    let ratio = more.as_secs_f64() / empty.as_secs_f64();
    println!("  look                               {without:.2?}");
    println!("  look and snapshot, {CHANGED} changed        {with:.2?}");
    println!("  git add -A, git write-tree         {by_git:.2?}");
    println!("  empty process                      {empty:.2?}");
    println!(
        "  more for the snapshot              {more:.2?} ({ratio:.1} empty processes, bound {most:?})"
    );
    if files == 10_000 {
        let before = snapshots.size().0;
        for turn in 0..LONG {
            change(&root, files, 100 + turn);
            let scan = named.scan().unwrap();
            snapshots.take(scan.found, || named.contents()).unwrap();
            if turn % 100 == 99 {
                snapshots.tidy().unwrap();
            }
        }
        let grown = snapshots.size().0 - before;
        println!("  growth over {LONG} turns            {:.1} MB", mb(grown));
    }
    more <= most
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

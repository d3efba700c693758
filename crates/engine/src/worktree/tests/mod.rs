//! Behaviour of scans on real files.

mod law;
mod patterns;
#[cfg(unix)]
mod unix;

use std::fs;
use std::process::Command;
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

use super::*;

/// A project in a temporary directory and the work tree over it.
struct Project {
    directory: TempDir,
    tree: WorkTree,
}

impl Project {
    fn new() -> Project {
        Project::excluding(&[])
    }

    fn excluding(excluded: &[&str]) -> Project {
        let directory = TempDir::new().unwrap();
        let tree = work_tree(directory.path(), excluded);
        Project { directory, tree }
    }

    /// A project with a few files and a `.git`, scanned once.
    fn scanned() -> Project {
        let mut project = Project::new();
        project.run("git", &["init", "-q"]);
        project.write("README.md", "# Project\n");
        project.write("src/main.rs", "fn main() {}\n");
        project.write("src/deep/er/mod.rs", "");
        project.scan();
        project
    }

    fn root(&self) -> &Path {
        self.directory.path()
    }

    fn path(&self, path: &str) -> PathBuf {
        self.root().join(path)
    }

    fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn run(&self, program: &str, arguments: &[&str]) -> String {
        let output = Command::new(program)
            .current_dir(self.root())
            .args(arguments)
            .env("GIT_CONFIG_GLOBAL", "")
            .env_remove("GIT_DIR")
            .env_remove("GIT_WORK_TREE")
            .env_remove("GIT_INDEX_FILE")
            .output()
            .unwrap();
        assert!(output.status.success(), "{program} {arguments:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Scans, and makes sure that a work tree without memory agrees.
    fn scan(&mut self) -> Scan {
        let scan = self.tree.scan().unwrap();
        let mut fresh = work_tree(self.root(), &[]);
        fresh.excludes = self.tree.excludes.clone();
        let fresh = fresh.scan().unwrap();
        assert_eq!(scan.fingerprint, fresh.fingerprint, "the cache lies");
        assert_eq!(scan.files, fresh.files);
        scan
    }

    fn fingerprint(&mut self) -> Fingerprint {
        self.scan().fingerprint
    }
}

/// Without the excludes file of the person who runs the tests.
fn work_tree(root: &Path, excluded: &[&str]) -> WorkTree {
    let mut tree = WorkTree::new(root, excluded.iter().map(PathBuf::from).collect());
    tree.outer_rules = OuterRules::new(None);
    tree
}

fn changes(scan: &Scan) -> String {
    let lines: Vec<String> = (scan.changed.iter())
        .map(|change| format!("{:?} {}", change.kind, change.path.display()))
        .collect();
    lines.join(", ").replace('\\', "/")
}

/// What an action does to a scanned project: the changes that are reported,
/// where "" means that the fingerprint stays the same.
fn check(action: impl Fn(&Project), want: &str) {
    let mut project = Project::scanned();
    let before = project.fingerprint();
    action(&project);
    let scan = project.scan();
    assert_eq!(changes(&scan), want);
    assert_eq!(scan.fingerprint == before, want.is_empty(), "{want:?}");
}

#[test]
fn work_changes_the_fingerprint() {
    check(|project| project.write("new.txt", ""), "Added new.txt");
    check(
        |project| project.write("new/er.txt", "x"),
        "Added new/er.txt",
    );
    check(
        |project| project.write("README.md", "# Other\n"),
        "Modified README.md",
    );
    check(
        |project| project.write("README.md", "# Project\r\n"),
        "Modified README.md",
    );
    check(
        |project| fs::remove_file(project.path("README.md")).unwrap(),
        "Removed README.md",
    );
    check(
        |project| fs::rename(project.path("README.md"), project.path("READ.md")).unwrap(),
        "Removed README.md, Added READ.md",
    );
    check(
        |project| fs::rename(project.path("src"), project.path("lib")).unwrap(),
        "Removed src/main.rs, Removed src/deep/er/mod.rs, Added lib/main.rs, Added lib/deep/er/mod.rs",
    );
    check(
        |project| {
            fs::remove_dir_all(project.path("src")).unwrap();
            project.write("src", "now a file");
        },
        "Removed src/main.rs, Removed src/deep/er/mod.rs, Added src",
    );
    check(
        |project| {
            fs::remove_file(project.path("README.md")).unwrap();
            project.write("README.md/inside", "now a directory");
        },
        "Removed README.md, Added README.md/inside",
    );
    check(
        |project| project.write("vendor/lib/.gitignore", "*.o\n"),
        "Added vendor/lib/.gitignore",
    );
}

#[test]
fn what_is_no_work_does_not() {
    check(|_| {}, "");
    check(|project| project.write("README.md", "# Project\n"), "");
    check(
        |project| fs::create_dir_all(project.path("empty/dirs")).unwrap(),
        "",
    );
    check(|project| project.write(".git/anything", "x"), "");
    check(
        |project| project.write("src/.git/HEAD", "a nested repository"),
        "",
    );
    check(
        |project| project.write(".ralph/runs/1/journal.jsonl", "{}"),
        "",
    );
    check(
        |project| project.write(".skillpack/current/state.json", "{}"),
        "",
    );
    check(
        |project| project.write(".claude/ralph-loop.local.md", "x"),
        "",
    );
    check(
        |project| project.write(".claude/progress.local.md", "x"),
        "",
    );
    check(
        |project| {
            let file = fs::File::options()
                .write(true)
                .open(project.path("README.md"));
            let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(86_400);
            file.unwrap().set_modified(long_ago).unwrap();
        },
        "",
    );
    check(
        |project| {
            // A copy with the same content in its place: another inode.
            project.write("copy", "# Project\n");
            fs::rename(project.path("copy"), project.path("README.md")).unwrap();
        },
        "",
    );
}

#[test]
fn a_tree_seen_before_has_its_old_fingerprint() {
    let mut project = Project::scanned();
    let a = project.fingerprint();
    project.write("src/main.rs", "fn main() { work() }\n");
    project.write("src/work.rs", "pub fn work() {}\n");
    let b = project.fingerprint();
    project.write("src/main.rs", "fn main() {}\n");
    fs::remove_file(project.path("src/work.rs")).unwrap();
    assert_ne!(a, b);
    assert_eq!(project.fingerprint(), a);
}

#[test]
fn the_same_contents_under_swapped_names_differ() {
    let mut project = Project::new();
    project.write("a", "one");
    project.write("b", "two");
    let before = project.fingerprint();
    project.write("a", "two");
    project.write("b", "one");
    assert_ne!(project.fingerprint(), before);
}

#[test]
fn an_old_dirty_file_is_no_progress() {
    let mut project = Project::scanned();
    project.run("git", &["add", "README.md"]);
    project.write("README.md", "# Dirty for days\n");
    let before = project.fingerprint();
    let scan = project.scan();
    assert_eq!(scan.fingerprint, before);
    assert_eq!(scan.changed_total, 0);
}

#[test]
fn excluded_paths_do_not_count_however_they_are_written() {
    for excluded in ["specs/tasks.md", "./specs/../specs/tasks.md", "specs"] {
        let mut project = Project::excluding(&[excluded]);
        project.write("specs/tasks.md", "- [ ] 1");
        let before = project.fingerprint();
        project.write("specs/tasks.md", "- [x] 1");
        assert_eq!(project.fingerprint(), before, "{excluded}");
        project.write("tasks.md", "another one");
        assert_ne!(project.fingerprint(), before, "{excluded}");
    }
    let mut project = Project::new();
    let absolute = project.path("tasks.md");
    project.tree = work_tree(project.root(), &[absolute.to_str().unwrap()]);
    let before = project.fingerprint();
    project.write("tasks.md", "- [x] 1");
    assert_eq!(project.fingerprint(), before);
}

#[test]
fn changes_beyond_the_most_are_counted_only() {
    let mut project = Project::scanned();
    for number in 0..MOST_CHANGES + 7 {
        project.write(&format!("many/{number}"), "x");
    }
    let scan = project.scan();
    assert_eq!(scan.changed.len(), MOST_CHANGES);
    assert_eq!(scan.changed_total, MOST_CHANGES + 7);
}

#[test]
fn an_edit_right_after_a_scan_is_seen_though_size_and_time_are_the_same() {
    let mut project = Project::new();
    project.write("file", "0000");
    let modified = fs::metadata(project.path("file"))
        .unwrap()
        .modified()
        .unwrap();
    let mut seen = vec![project.fingerprint()];
    for round in 1..50 {
        project.write("file", format!("{round:04}"));
        let file = fs::File::options()
            .write(true)
            .open(project.path("file"))
            .unwrap();
        file.set_modified(modified).unwrap();
        let fingerprint = project.tree.scan().unwrap().fingerprint;
        assert!(!seen.contains(&fingerprint), "round {round}");
        seen.push(fingerprint);
    }
}

#[test]
fn a_file_that_comes_right_after_a_scan_is_seen() {
    let mut project = Project::new();
    for round in 1..50 {
        project.write(&format!("file{round}"), "");
        assert_eq!(project.tree.scan().unwrap().files, round);
    }
}

#[test]
fn settled_entries_are_remembered_and_still_noticed_when_they_change() {
    let mut project = Project::scanned();
    let later = SystemTime::now() + Duration::from_secs(60);
    let before = project.tree.scan_at(later).unwrap();
    // Past the tick of the clock that the scan above was made to trust.
    thread::sleep(Duration::from_millis(60));
    assert_eq!(project.tree.scan_at(later).unwrap(), before);
    project.write("src/main.rs", "fn main() {;}");
    project.write("src/deep/er/more.rs", "");
    let scan = project.tree.scan_at(later).unwrap();
    assert_eq!(
        changes(&scan),
        "Modified src/main.rs, Added src/deep/er/more.rs"
    );
}

#[test]
fn nested_repositories_are_walked_like_other_directories() {
    let mut project = Project::scanned();
    project.run("git", &["init", "-q", "vendor/lib"]);
    project.write("vendor/lib/code.c", "int x;");
    assert_eq!(changes(&project.scan()), "Added vendor/lib/code.c");
    project.write("vendor/lib/code.c", "int y;");
    assert_eq!(changes(&project.scan()), "Modified vendor/lib/code.c");
}

#[test]
fn large_files_are_digested_to_their_end() {
    let mut project = Project::new();
    let mut content = vec![7; 3 * BUFFER + 5];
    project.write("large", &content);
    let before = project.fingerprint();
    *content.last_mut().unwrap() = 8;
    project.write("large", &content);
    assert_ne!(project.fingerprint(), before);
}

#[test]
fn a_missing_root_is_the_only_error() {
    let mut project = Project::new();
    project.write("file", "");
    for (name, kind) in [
        ("gone", ErrorKind::NotFound),
        ("file", ErrorKind::NotADirectory),
    ] {
        let root = project.path(name);
        let error = work_tree(&root, &[]).scan().unwrap_err();
        let want = ScanError {
            root: root.clone(),
            kind,
        };
        assert_eq!(error, want);
        for lang in Lang::ALL {
            assert!(error.say(lang).contains(root.to_str().unwrap()));
        }
    }
    assert_eq!(project.scan().files, 1);
}

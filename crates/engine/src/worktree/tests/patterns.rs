//! Ignored files, with Git itself as the judge.

use super::*;

/// The scan's files against those that Git itself would add.
fn check_ignores(files: &[(&str, &str)], want: &[&str]) {
    let mut project = Project::new();
    project.run("git", &["init", "-q"]);
    for (path, content) in files {
        project.write(path, content);
    }
    let listed = project.run("git", &["ls-files", "-co", "--exclude-standard"]);
    assert_eq!(listed.lines().collect::<Vec<_>>(), want);
    project.tree.scanned_before = true;
    let mut scanned: Vec<String> = (project.tree.scan().unwrap().changed.iter())
        .map(|change| change.path.to_str().unwrap().replace('\\', "/"))
        .collect();
    scanned.sort();
    assert_eq!(scanned, want);
}

#[test]
fn ignored_files_are_those_that_git_ignores() {
    check_ignores(
        &[
            (".gitignore", "target/\n*.log\n!keep.log\n/only-here\n"),
            ("target/debug/x", ""),
            ("sub/target/y", ""),
            ("a.log", ""),
            ("keep.log", ""),
            ("sub/b.log", ""),
            ("only-here", ""),
            ("sub/only-here", ""),
        ],
        &[".gitignore", "keep.log", "sub/only-here"],
    );
    check_ignores(
        &[
            (".gitignore", "*.gen\n"),
            ("sub/.gitignore", "!*.gen\nlocal\n"),
            ("sub/deep/.gitignore", "*.gen\r\n# comment\r\n!local\r\n"),
            ("a.gen", ""),
            ("sub/b.gen", ""),
            ("sub/local", ""),
            ("sub/deep/c.gen", ""),
            ("sub/deep/local", ""),
            ("local", ""),
        ],
        &[
            ".gitignore", "local", "sub/.gitignore", "sub/b.gen", "sub/deep/.gitignore",
            "sub/deep/local",
        ],
    );
    // A file below an ignored directory cannot be taken back.
    check_ignores(
        &[(".gitignore", "out/\n!out/kept\n"), ("out/kept", "")],
        &[".gitignore"],
    );
    check_ignores(
        &[
            (".gitignore", "*\n!*/\n!*.rs\n"),
            ("a/b/c.rs", ""),
            ("a/b/c.o", ""),
        ],
        &["a/b/c.rs"],
    );
    check_ignores(
        &[(".git/info/exclude", "*.tmp\n"), ("a.tmp", ""), ("a", "")],
        &["a"],
    );
    check_ignores(
        &[
            (".gitignore", "\u{feff}first\n[broken\n**/cache/**\n"),
            ("first", ""),
            ("x/cache/y/z", ""),
            ("second", ""),
        ],
        &[".gitignore", "second"],
    );
}

#[test]
fn ignored_files_do_not_count_until_they_are_no_longer_ignored() {
    let mut project = Project::scanned();
    project.write(".gitignore", "*.log\n");
    project.scan();
    project.write("src/deep/x.log", "1");
    let scan = project.scan();
    assert_eq!(changes(&scan), "");

    project.write(".gitignore", "*.lag\n");
    assert_eq!(
        changes(&project.scan()),
        "Modified .gitignore, Added src/deep/x.log"
    );
    project.write("src/.gitignore", "x.*\n");
    assert_eq!(
        changes(&project.scan()),
        "Added src/.gitignore, Removed src/deep/x.log"
    );
    fs::remove_file(project.path("src/.gitignore")).unwrap();
    assert_eq!(
        changes(&project.scan()),
        "Removed src/.gitignore, Added src/deep/x.log"
    );
    project.write(".git/info/exclude", "deep/\n");
    assert_eq!(
        changes(&project.scan()),
        "Removed src/deep/x.log, Removed src/deep/er/mod.rs"
    );
    fs::remove_dir_all(project.path(".git")).unwrap();
    assert_eq!(
        changes(&project.scan()),
        "Added src/deep/x.log, Added src/deep/er/mod.rs"
    );
}

#[test]
fn the_excludes_file_of_the_user_counts_last() {
    let home = TempDir::new().unwrap();
    let global = home.path().join("ignore");
    fs::write(&global, "*.swp\n*.bak\n").unwrap();
    let mut project = Project::new();
    project.write(".gitignore", "!*.bak\n");
    project.write("a.swp", "");
    project.write("a.bak", "");
    project.tree.outer_rules = OuterRules::new(Some(global));
    assert_eq!(project.tree.scan().unwrap().files, 2);
}

#[test]
fn a_project_below_the_repository_obeys_the_patterns_above_it() {
    let mut project = Project::scanned();
    project.write(".gitignore", "*.log\n/apps/one/dist\n");
    project.write("apps/.gitignore", "!kept.log\n");
    for name in ["a.log", "kept.log", "dist/x", "main"] {
        project.write(&format!("apps/one/{name}"), "");
    }
    project.tree = work_tree(&project.path("apps/one"), &[]);
    assert_eq!(project.tree.scan().unwrap().files, 2);

    // The outer repository does not care for the project, but Ralph does.
    project.write(".gitignore", "*.log\n/apps/**\n");
    assert_eq!(project.tree.scan().unwrap().files, 4);
}

#[test]
fn a_linked_work_tree_uses_the_shared_exclude_file() {
    let mut project = Project::scanned();
    project.run("git", &["add", "."]);
    let identity = ["-c", "user.name=Test", "-c", "user.email=test@example.org"];
    let commit = ["-c", "commit.gpgsign=false", "commit", "-q", "-m", "Start"];
    project.run("git", &[&identity[..], &commit[..]].concat());
    project.run("git", &["worktree", "add", "-q", "linked"]);
    project.write(".git/info/exclude", "*.tmp\n");
    project.write("linked/a.tmp", "");
    project.tree = work_tree(&project.path("linked"), &[]);
    assert_eq!(project.tree.scan().unwrap().files, 3);
}

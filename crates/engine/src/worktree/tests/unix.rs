//! What only Unix file systems hold.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;

use super::*;

fn chmod(project: &Project, path: &str, mode: u32) {
    fs::set_permissions(project.path(path), fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn the_executable_bit_counts_and_other_modes_do_not() {
    check(
        |project| chmod(project, "README.md", 0o755),
        "Modified README.md",
    );
    check(|project| chmod(project, "README.md", 0o640), "");
}

#[test]
fn links_count_by_their_target_and_are_not_followed() {
    check(
        |project| symlink("nowhere", project.path("link")).unwrap(),
        "Added link",
    );
    check(
        |project| symlink(project.root(), project.path("src/loop")).unwrap(),
        "Added src/loop",
    );
    let mut project = Project::scanned();
    symlink("src", project.path("link")).unwrap();
    let before = project.fingerprint();
    fs::remove_file(project.path("link")).unwrap();
    symlink("sre", project.path("link")).unwrap();
    assert_eq!(changes(&project.scan()), "Modified link");
    assert_ne!(project.fingerprint(), before);

    // A file that holds the target's name is not a link.
    fs::remove_file(project.path("link")).unwrap();
    project.write("link", "src");
    assert_ne!(project.fingerprint(), before);
}

#[test]
fn pipes_and_sockets_are_passed_over() {
    check(
        |project| {
            project.run("mkfifo", &["pipe", "src/.gitignore"]);
            UnixListener::bind(project.path("socket")).unwrap();
        },
        "",
    );
}

#[test]
fn a_pipe_in_the_place_of_a_known_file_does_not_block() {
    check(
        |project| {
            fs::remove_file(project.path("README.md")).unwrap();
            project.run("mkfifo", &["README.md"]);
        },
        "Removed README.md",
    );
}

#[test]
fn names_need_not_be_utf_8() {
    let mut project = Project::scanned();
    let one = project.root().join(OsStr::from_bytes(b"caf\xe9"));
    let other = project.root().join(OsStr::from_bytes(b"caf\xe8"));
    fs::write(&one, "").unwrap();
    let before = project.scan();
    assert_eq!(before.changed_total, 1);
    fs::rename(one, other).unwrap();
    assert_ne!(project.fingerprint(), before.fingerprint);
}

#[test]
#[cfg_attr(not(permissions_bind), ignore = "permissions do not bind root")]
fn unreadable_files_and_directories_leave_a_mark() {
    let mut project = Project::scanned();
    let readable = project.scan();
    chmod(&project, "README.md", 0o000);
    chmod(&project, "src", 0o000);
    let unreadable = project.scan();
    assert_ne!(unreadable.fingerprint, readable.fingerprint);
    assert_eq!(unreadable.files, 1);
    assert_eq!(project.scan().fingerprint, unreadable.fingerprint);
    chmod(&project, "README.md", 0o644);
    chmod(&project, "src", 0o755);
    assert_eq!(project.fingerprint(), readable.fingerprint);
}

#[test]
fn an_excluded_path_behind_a_linked_directory_is_excluded_where_it_is() {
    let mut project = Project::new();
    project.write("specs/001/tasks.md", "- [ ] 1");
    symlink("001", project.path("specs/current")).unwrap();
    project.tree = work_tree(project.root(), &["specs/current/tasks.md"]);
    let before = project.fingerprint();
    project.write("specs/001/tasks.md", "- [x] 1");
    assert_eq!(project.fingerprint(), before);
}

#[test]
fn directories_may_be_deeper_than_a_path_can_name() {
    let mut project = Project::new();
    let mut levels = 0;
    let mut path = PathBuf::new();
    while fs::create_dir_all(project.root().join(&path)).is_ok() {
        path.push("d");
        levels += 1;
    }
    path.pop();
    assert!(levels > 400, "{levels}");
    let before = project.fingerprint();
    path.pop();
    fs::write(project.root().join(&path).join("f"), "deep down").unwrap();
    let scan = project.scan();
    assert_eq!(scan.changed_total, 1);
    assert_ne!(scan.fingerprint, before);

    // One more level than the longest path: reached step by step only.
    let script = "while cd d 2>/dev/null; do :; done; mkdir -p d/d/d/d/d/d/d/d/d/d/d/d/d/d";
    project.run("sh", &["-c", script]);
    project.scan();
}

use super::*;
use crate::worktree::WorkTree;
use std::fs;

mod support;
mod undoing;
use support::Project;

#[test]
fn a_turn_is_kept_and_told_apart() {
    let mut project = Project::plain();
    project.write("a.txt", "one\r\n");
    project.write("src/deep/b.txt", "two");
    let first = project.take();
    project.write("src/deep/b.txt", "three");
    project.write("new.txt", "untracked");
    fs::remove_file(project.at("a.txt")).unwrap();
    let second = project.take();
    let changed = project.snapshots.changes(&first, &second).unwrap();
    let paths: Vec<_> = changed.iter().map(|c| c.path.to_str().unwrap()).collect();
    assert_eq!(paths, ["a.txt", "new.txt", "src/deep/b.txt"]);
    assert!(changed[0].after.is_none() && changed[1].before.is_none());
    let before = project.snapshots.read(&changed[2].before.unwrap()).unwrap();
    assert_eq!(before, b"two");
    let entry = project.snapshots.entry(&first, Path::new("a.txt")).unwrap();
    assert_eq!(project.snapshots.read(&entry.unwrap()).unwrap(), b"one\r\n");
    let none = project
        .snapshots
        .entry(&second, Path::new("a.txt"))
        .unwrap();
    assert_eq!(none, None);
    // Nothing changed: the same snapshot. A fresh process sees the same.
    assert_eq!(project.take(), second);
    project.begin_anew();
    assert_eq!(project.take(), second);
    fs::write(project.at("a.txt"), "one\r\n").unwrap();
    fs::write(project.at("src/deep/b.txt"), "two").unwrap();
    fs::remove_file(project.at("new.txt")).unwrap();
    assert_eq!(project.take(), first, "the same contents, the same tree");
}

#[test]
fn the_task_file_and_what_is_tracked_though_ignored_are_work() {
    let mut project = Project::repository();
    project.write("tasks.md", "- [ ] T001 a\n");
    project.write(".gitignore", "*.log\n");
    project.write("kept.log", "tracked");
    project.write("other.log", "ignored");
    project.git(&["add", "-f", "kept.log"]);
    project.begin_with(vec!["tasks.md".into()]);
    let tree = project.take();
    assert_eq!(project.names(&tree), [".gitignore", "kept.log", "tasks.md"]);
    project.write("tasks.md", "- [x] T001 a\n");
    let next = project.take();
    let changed = project.snapshots.changes(&tree, &next).unwrap();
    assert_eq!(changed.len(), 1);
    fs::remove_file(project.at("tasks.md")).unwrap();
    let last = project.take();
    assert_eq!(project.names(&last), [".gitignore", "kept.log"]);
}

#[test]
fn what_is_left_out_is_named_with_its_reason_and_never_deleted() {
    let mut project = Project::repository();
    project.caps.file = 100;
    project.write("large.bin", &"x".repeat(101));
    project.write("fits.bin", &"x".repeat(100));
    project.write(".env", "SECRET=1");
    project.write("tracked/.env", "in the repository");
    project.git(&["add", "-f", "tracked/.env"]);
    project.write("nested/file", "of another");
    project.write("nested/deep/file", "of another");
    fs::create_dir(project.at("nested/.git")).unwrap();
    #[cfg(unix)]
    let _socket = std::os::unix::net::UnixListener::bind(project.at("socket")).unwrap();
    project.begin_anew();
    let taken = project.take_all();
    let mut told: Vec<_> = taken
        .left_out
        .iter()
        .map(|(path, why)| (path.to_str().unwrap(), *why))
        .collect();
    told.sort();
    let mut want = vec![
        (".env", Why::Secret),
        ("large.bin", Why::TooLarge),
        ("nested", Why::Repository),
    ];
    if cfg!(unix) {
        want.push(("socket", Why::Special));
    }
    assert_eq!(told, want);
    assert_eq!(project.take_all().left_out, [], "told once");
    // Left out is not deleted, and a change of it is seen.
    project.write("large.bin", &"y".repeat(101));
    let after = project.take();
    let changed = project.snapshots.changes(&taken.tree, &after).unwrap();
    assert_eq!(changed.len(), 1);
    assert_eq!(changed[0].after.unwrap().mode, Mode::LeftOut(Why::TooLarge));
    assert!(project.snapshots.read(&changed[0].after.unwrap()).is_err());
    // A file that grows beyond the limit, and shrinks again.
    project.write("fits.bin", &"x".repeat(200));
    let grown = project.take_all();
    assert_eq!(grown.left_out, [("fits.bin".into(), Why::TooLarge)]);
    project.write("fits.bin", "x");
    assert_eq!(project.take_all().left_out, []);
}

#[test]
#[cfg(unix)]
fn bits_links_and_odd_names_are_kept() {
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::{PermissionsExt, symlink};
    let mut project = Project::plain();
    project.write("run.sh", "#!/bin/sh\n");
    let first = project.take();
    fs::set_permissions(project.at("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink("/nowhere/at all", project.at("link")).unwrap();
    symlink("src", project.at("folder")).unwrap();
    project.write("src/x", "not seen through the link");
    let odd = std::ffi::OsStr::from_bytes(b"new\nline \xff");
    fs::write(project.at("").join(odd), "odd").unwrap();
    let second = project.take();
    let changed = project.snapshots.changes(&first, &second).unwrap();
    let got: Vec<_> = changed
        .iter()
        .map(|c| (c.path.as_os_str().as_bytes(), c.after.unwrap().mode))
        .collect();
    assert_eq!(
        got,
        [
            (b"folder".as_slice(), Mode::Link),
            (b"link", Mode::Link),
            (b"new\nline \xff", Mode::File),
            (b"run.sh", Mode::Executable),
            (b"src/x", Mode::File),
        ]
    );
    let target = project.snapshots.read(&changed[1].after.unwrap()).unwrap();
    assert_eq!(target, b"/nowhere/at all");
}

#[test]
fn a_file_becomes_a_folder_and_back() {
    let mut project = Project::plain();
    project.write("a", "file");
    let first = project.take();
    fs::remove_file(project.at("a")).unwrap();
    project.write("a/b/c", "folder");
    let second = project.take();
    assert_eq!(project.names(&second), ["a/b/c"]);
    let changed = project.snapshots.changes(&first, &second).unwrap();
    assert_eq!(changed.len(), 2);
    fs::remove_dir_all(project.at("a")).unwrap();
    project.write("a", "file");
    assert_eq!(project.take(), first);
    fs::remove_file(project.at("a")).unwrap();
    let none = project.take();
    assert_eq!(
        project.names(&none),
        [""; 0],
        "an empty project has a snapshot"
    );
}

#[test]
fn caps_hold_and_what_was_missed_is_taken_afterwards() {
    let mut project = Project::plain();
    project.write("a", "1");
    project.begin_anew();
    let first = project.take();
    project.write("b", "2");
    project.snapshots.caps.free = u64::MAX;
    let error = project.try_take().unwrap_err();
    assert!(matches!(error, SnapshotError::DiskFull { .. }), "{error:?}");
    project.snapshots.caps.free = 0;
    project.snapshots.caps.total = 1;
    let error = project.try_take().unwrap_err();
    assert!(
        matches!(error, SnapshotError::StoreFull { .. }),
        "{error:?}"
    );
    project.snapshots.caps.total = u64::MAX;
    project.snapshots.caps.files = 1;
    let error = project.try_take().unwrap_err();
    assert!(
        matches!(error, SnapshotError::TooMany { count: 2 }),
        "{error:?}"
    );
    project.snapshots.caps.files = 2;
    let second = project.take();
    assert_eq!(project.names(&second), ["a", "b"]);
    assert_eq!(project.names(&first), ["a"]);
}

#[test]
fn home_and_root_are_refused() {
    let elsewhere = tempfile::tempdir().unwrap();
    let home = ralph_store::home::StateHome::at(elsewhere.path());
    let mut roots = vec![PathBuf::from("/")];
    roots.extend(std::env::home_dir());
    for root in roots {
        let layout = Layout::new(&root, &home);
        let refused = Snapshots::create(&layout, support::caps(), false).unwrap_err();
        assert_eq!(refused, SnapshotError::Refused { root });
    }
    // A project that holds the state of Ralph would keep its own snapshots.
    let root = tempfile::tempdir().unwrap();
    let home = ralph_store::home::StateHome::at(root.path().join("state"));
    let layout = Layout::new(root.path(), &home);
    fs::create_dir_all(layout.state_dir()).unwrap();
    assert!(Snapshots::create(&layout, support::caps(), false).is_err());
}

#[test]
fn a_collected_repository_breaks_no_snapshot() {
    let mut project = Project::repository();
    project.write("a.txt", "first");
    project.commit("first");
    let first = project.take();
    project.git(&["checkout", "-q", "-b", "topic"]);
    project.write("a.txt", "second");
    project.commit("second");
    let second = project.take();
    project.git(&["checkout", "-q", "main"]);
    project.git(&["branch", "-D", "topic"]);
    project.git(&[
        "commit", "-q", "--amend", "--allow-empty", "-m", "rewritten",
    ]);
    project.git(&["reflog", "expire", "--expire=now", "--all"]);
    project.git(&["gc", "-q", "--prune=now"]);
    project.git(&["clean", "-fdxq", "-e", ".ralph"]);
    fs::remove_dir_all(project.at(".git")).unwrap();
    for (tree, want) in [(first, "first"), (second, "second")] {
        let files = project.snapshots.files(&tree).unwrap();
        assert_eq!(files.len(), 1);
        assert_eq!(
            project.snapshots.read(&files[0].1).unwrap(),
            want.as_bytes()
        );
    }
}

#[test]
fn a_full_disk_is_told_once_and_what_was_missed_comes_later() {
    use ralph_core::lang::Lang;
    use ralph_core::tasks::Scope;
    use ralph_store::fault::{Fault, arm, point};
    const ENOSPC: i32 = 28;
    let points = [
        point::OBJECTS_OPEN,
        point::OBJECTS_WRITE,
        point::OBJECTS_SYNC,
        point::OBJECTS_RENAME,
        point::OBJECTS_SYNC_DIR,
    ];
    for point in points {
        let project = Project::plain();
        let root = project.dir.path();
        project.write("a", "1");
        let mut looker = crate::look::Looker::new(root, None, Scope::default(), Lang::En);
        let layout = crate::layout_in(root);
        looker.keep(
            Snapshots::create(&layout, support::caps(), false).unwrap(),
            false,
        );
        for fault in 0..2 {
            arm(point, 0, Fault::error(ENOSPC));
            project.write("a", &format!("fault {fault}"));
            let seen = looker.look();
            assert_eq!(seen.snapshot, None, "{point}");
            assert!(seen.tree.is_some(), "{point}: the look itself is whole");
            assert_eq!(looker.told().len(), usize::from(fault == 0), "{point}");
        }
        let seen = looker.look();
        let tree = TreeId::parse(&seen.snapshot.unwrap()).unwrap();
        let reader = Snapshots::open(&layout).unwrap();
        let entry = reader.entry(&tree, Path::new("a")).unwrap().unwrap();
        assert_eq!(reader.read(&entry).unwrap(), b"fault 1", "{point}");
    }
}

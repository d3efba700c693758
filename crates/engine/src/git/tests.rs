use std::ffi::OsString;
use std::process::Command;

use tempfile::TempDir;

use super::*;

#[cfg(unix)]
mod planted;

fn git(directory: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command
        .current_dir(directory)
        .args(["-c", "user.name=Test", "-c", "user.email=test@example.org"])
        .args(["-c", "commit.gpgsign=false"])
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "")
        .env("GIT_CONFIG_NOSYSTEM", "1");
    let ours = |(name, _): &(OsString, OsString)| name.as_encoded_bytes().starts_with(b"GIT_");
    for (variable, _) in std::env::vars_os().filter(ours) {
        command.env_remove(variable);
    }
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {arguments:?}: {errors}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn repository(options: &[&str]) -> TempDir {
    let directory = TempDir::new().unwrap();
    let init = [&["init", "-q", "-b", "main"], options].concat();
    git(directory.path(), &init);
    directory
}

fn commit(directory: &Path) -> String {
    git(
        directory,
        &["commit", "-q", "--allow-empty", "-m", "Change something"],
    );
    git(directory, &["rev-parse", "HEAD"])
}

fn check(root: &Path, commit: Option<&str>, branch: Option<&str>) {
    let want = Head {
        commit: commit.map(str::to_owned),
        branch: branch.map(str::to_owned),
    };
    assert_eq!(head(root), want);
}

#[test]
fn root_is_found_from_any_depth() {
    let project = repository(&[]);
    let root = std::path::absolute(project.path()).unwrap();
    let deep = root.join("a/b/c");
    fs::create_dir_all(&deep).unwrap();
    assert_eq!(find_root(&root), Some(root.clone()));
    assert_eq!(find_root(&deep), Some(root.clone()));
    assert_eq!(find_root(&root.join("not/there/yet")), Some(root));
}

#[test]
fn head_follows_branches_commits_and_detaching() {
    let project = repository(&[]);
    let root = project.path();
    check(root, None, Some("main"));

    let first = commit(root);
    check(root, Some(&first), Some("main"));

    git(root, &["switch", "-q", "-c", "topic/deep/one"]);
    check(root, Some(&first), Some("topic/deep/one"));
    let second = commit(root);
    check(root, Some(&second), Some("topic/deep/one"));

    git(root, &["checkout", "-q", "--detach", &first]);
    check(root, Some(&first), None);

    git(root, &["checkout", "-q", "--orphan", "fresh"]);
    check(root, None, Some("fresh"));
}

#[test]
fn packed_refs_count_until_a_loose_one_is_newer() {
    let project = repository(&[]);
    let root = project.path();
    let first = commit(root);
    git(root, &["branch", "main-2"]);
    git(root, &["tag", "-a", "-m", "A tag", "v1"]);
    git(root, &["pack-refs", "--all", "--prune"]);
    assert!(!root.join(".git/refs/heads/main").exists());
    check(root, Some(&first), Some("main"));

    let second = commit(root);
    assert_ne!(first, second);
    check(root, Some(&second), Some("main"));

    git(root, &["switch", "-q", "main-2"]);
    check(root, Some(&first), Some("main-2"));
}

#[test]
fn a_linked_work_tree_has_its_own_head_and_shared_refs() {
    let project = repository(&[]);
    let root = project.path();
    let first = commit(root);
    let linked = root.join("linked");
    git(root, &["worktree", "add", "-q", "-b", "side", "linked"]);
    check(&linked, Some(&first), Some("side"));
    let second = commit(&linked);
    check(&linked, Some(&second), Some("side"));
    check(root, Some(&first), Some("main"));

    git(root, &["pack-refs", "--all", "--prune"]);
    check(&linked, Some(&second), Some("side"));
    assert_eq!(find_root(&linked.join("src")), find_root(&linked));
    let shared = common_dir(&linked).unwrap().canonicalize().unwrap();
    assert_eq!(shared, root.join(".git").canonicalize().unwrap());
}

#[test]
#[cfg_attr(not(has_reftable), ignore = "needs a Git that knows reftables")]
fn refs_in_a_reftable_are_asked_of_git() {
    let project = TempDir::new().unwrap();
    let root = project.path();
    git(root, &["init", "-q", "-b", "main", "--ref-format=reftable"]);
    check(root, None, Some("main"));
    let first = commit(root);
    check(root, Some(&first), Some("main"));
    git(root, &["checkout", "-q", "--detach"]);
    check(root, Some(&first), None);
}

#[test]
fn a_sha256_repository_is_read_too() {
    let project = repository(&["--object-format=sha256"]);
    let root = project.path();
    let first = commit(root);
    assert_eq!(first.len(), 64);
    check(root, Some(&first), Some("main"));
}

#[test]
fn symbolic_refs_are_followed_but_not_forever() {
    let project = repository(&[]);
    let root = project.path();
    let first = commit(root);
    git(
        root,
        &["symbolic-ref", "refs/heads/alias", "refs/heads/main"],
    );
    git(root, &["symbolic-ref", "HEAD", "refs/heads/alias"]);
    check(root, Some(&first), Some("alias"));

    let alias = root.join(".git/refs/heads/alias");
    fs::write(alias, "ref: refs/heads/alias\n").unwrap();
    check(root, None, None);
}

#[test]
fn odd_heads_are_unknown_and_no_error() {
    let project = repository(&[]);
    let root = project.path();
    commit(root);
    let secret = root.join("secret");
    fs::write(&secret, "0123456789012345678901234567890123456789").unwrap();
    for text in [
        "", "\n", "ref:", "ref: ../secret", "ref: refs/../../secret", "ref: /etc/hostname",
        "not a commit", "0123", "ref: HEAD", "\u{0}\u{1}",
    ] {
        fs::write(root.join(".git/HEAD"), text).unwrap();
        assert_eq!(head(root), Head::default(), "{text:?}");
    }
    fs::write(root.join(".git/HEAD"), [0xff, 0xfe, b'\n']).unwrap();
    check(root, None, None);
    fs::write(root.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(root.join(".git/refs/heads/main"), "garbage").unwrap();
    check(root, None, None);
    fs::remove_file(root.join(".git/HEAD")).unwrap();
    check(root, None, None);

    let nowhere = TempDir::new().unwrap();
    check(nowhere.path(), None, None);
    fs::write(nowhere.path().join(".git"), "gitdir: gone\n").unwrap();
    check(nowhere.path(), None, None);
}

#[cfg(unix)]
#[test]
fn head_may_be_a_symbolic_link() {
    let project = repository(&[]);
    let root = project.path();
    let first = commit(root);
    let head = root.join(".git/HEAD");
    fs::remove_file(&head).unwrap();
    std::os::unix::fs::symlink("refs/heads/main", &head).unwrap();
    check(root, Some(&first), Some("main"));
}

#[test]
fn tree_of_a_commit() {
    let project = repository(&[]);
    let root = project.path();
    let empty = commit(root);
    fs::write(root.join("a"), "a").unwrap();
    git(root, &["add", "a"]);
    let filled = commit(root);
    let want = git(root, &["rev-parse", "HEAD^{tree}"]);
    assert_eq!(tree_of_commit(root, &filled), Some(want.clone()));
    assert_ne!(tree_of_commit(root, &empty), Some(want));
    for odd in ["HEAD", "", "--help", &"0".repeat(40)] {
        assert_eq!(tree_of_commit(root, odd), None, "{odd:?}");
    }
}

/// S-06: in a folder that everybody may write to, anybody can put a `.git`.
#[cfg(unix)]
#[test]
#[cfg_attr(permissions_bind, ignore = "needs root, to make another user's files")]
fn a_repository_of_somebody_else_around_us_is_not_taken() {
    use std::os::unix::fs::{chown, lchown, symlink};
    const OTHER: Option<u32> = Some(65_534);
    for kind in ["folder", "file", "link"] {
        let shared = TempDir::new().unwrap();
        let (mark, work) = (shared.path().join(".git"), shared.path().join("work/deep"));
        fs::create_dir_all(&work).unwrap();
        match kind {
            "folder" => fs::create_dir(&mark).unwrap(),
            "file" => fs::write(&mark, "gitdir: elsewhere\n").unwrap(),
            _ => {
                fs::create_dir(shared.path().join("real")).unwrap();
                symlink("real", &mark).unwrap();
            }
        }
        assert_eq!(find_root(&work).as_deref(), Some(shared.path()), "{kind}");
        lchown(&mark, OTHER, None).unwrap();
        assert_eq!(find_root(&work), None, "{kind}");
        assert_eq!(find_root(shared.path()), None, "{kind}");
        // Whose the place of the work is may have the project too: a container.
        chown(&work, OTHER, None).unwrap();
        assert_eq!(find_root(&work).as_deref(), Some(shared.path()), "{kind}");
    }
}

/// T-08: the configuration of a repository hides no file.
#[cfg(target_os = "linux")]
#[test]
fn a_file_of_other_letters_is_another_file() {
    let repository = repository(&[]);
    let root = repository.path();
    fs::write(root.join("Login"), "then").unwrap();
    git(root, &["add", "-A"]);
    let head = commit(root);
    fs::write(root.join("login"), "now").unwrap();
    git(root, &["config", "core.ignorecase", "true"]);
    let unlike = uncommitted(root, &head).unwrap();
    assert_eq!(unlike, ["login"]);
}

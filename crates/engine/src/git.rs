//! What Ralph reads from a Git repository. Nothing here writes to it, but for
//! `refs`.
//!
//! HEAD is read from the files themselves, since it is asked for at every
//! turn; a `git` process is started only where the files do not tell, and
//! never on the configuration that lies there (`apart`).

mod apart;
mod ask;
mod held;
pub mod refs;

pub(crate) use apart::TEMPORARY;

use std::fs;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Component, Path, PathBuf};
use std::process::Stdio;

use ralph_core::report::{Commit, FileChange};
use ralph_store::private::PrivateDir;

pub(crate) use apart::Apart;
use apart::command_for_store;
pub(crate) use apart::person;
pub use apart::{in_own_repository, in_own_repository_with, of_person};
use ask::{ask_git, ask_git_for_bytes, ask_git_for_text, ask_real, bytes};
use held::IndexOf;
pub use held::{Held, held, held_though_ignored};

/// Where HEAD stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// `None` before the first commit of a branch.
    pub commit: Option<String>,
    /// `None` where HEAD is detached.
    pub branch: Option<String>,
}

/// HEAD and the files of refs hold one short line.
const LONGEST_REF_FILE: u64 = 4096;
/// As many steps from one symbolic ref to the next as Git goes.
const MOST_SYMBOLIC_STEPS: usize = 5;
/// More than anybody reads.
const LONGEST_ANSWER: usize = 4 * 1024 * 1024;
/// The names of all files of a large project.
const LONGEST_LIST: usize = 256 * 1024 * 1024;

/// Ralph's own files.
pub(crate) const OWN: [&str; 2] = [".ralph", ".skillpack"];
/// Everything but those.
const WORK: [&str; 4] = ["--", ".", ":(exclude).ralph", ":(exclude).skillpack"];

/// The nearest directory at or above `start` that holds a `.git` of ours.
pub fn find_root(start: &Path) -> Option<PathBuf> {
    let start = std::path::absolute(start).ok()?;
    let root = start.ancestors().find(|directory| {
        let mark = directory.join(".git");
        mark.exists() && is_ours(&mark, &start)
    })?;
    Some(root.to_path_buf())
}

/// Whether what marks a project was put there by this user, by the system, or
/// by whoever the place of the work belongs to: anybody can make a `.git` in a
/// folder that all share, and would have it in the middle of the others' work
/// (S-06).
#[cfg(unix)]
pub fn is_ours(mark: &Path, start: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let Ok(mark) = fs::symlink_metadata(mark) else {
        return false;
    };
    let here = rustix::process::geteuid().as_raw();
    let of_start = || fs::metadata(start).is_ok_and(|start| start.uid() == mark.uid());
    mark.uid() == here || mark.uid() == 0 || of_start()
}

#[cfg(not(unix))]
pub fn is_ours(_mark: &Path, _start: &Path) -> bool {
    true
}

/// Where HEAD stands; both parts are `None` where that cannot be told.
pub fn head(root: &Path) -> Head {
    read_head(root).unwrap_or_default()
}

/// The tree of a commit, which `git` is asked for.
pub fn tree_of_commit(root: &Path, commit: &str) -> Option<String> {
    let commit = object_id(commit)?;
    let tree = ask_git(
        root,
        &["rev-parse", "--verify", "-q", &format!("{commit}^{{tree}}")],
    )?;
    object_id(&tree)
}

/// How many commits lead from one commit to another.
pub fn count_commits(root: &Path, from: &str, to: &str) -> Option<usize> {
    let range = format!("{}..{}", object_id(from)?, object_id(to)?);
    ask_git(root, &["rev-list", "--count", &range])?
        .parse()
        .ok()
}

/// The subjects of the commits between two, the newest first.
pub fn commits(root: &Path, from: &str, to: &str, most: usize) -> Option<Vec<Commit>> {
    let range = format!("{}..{}", object_id(from)?, object_id(to)?);
    let most = format!("--max-count={most}");
    let arguments = [
        "log", "--no-show-signature", "--format=%h %s", &most, &range,
    ];
    let text = ask_git_for_bytes(root, &arguments, LONGEST_ANSWER)?;
    let text = String::from_utf8_lossy(&text);
    let commit = |line: &str| {
        let (id, subject) = line.split_once(' ').unwrap_or((line, ""));
        Commit {
            id: id.to_owned(),
            subject: subject.to_owned(),
        }
    };
    Some(text.lines().map(commit).collect())
}

/// How many files that Git knows differ from a commit: in another one, or in
/// the work tree. Ralph's own are no work.
pub fn count_changed_files(root: &Path, from: &str, to: Option<&str>) -> Option<usize> {
    // It says nothing at all where nothing differs.
    let answer = ask_git_for_text(root, &diff_arguments("--shortstat", &diff_range(from, to)?))?;
    match answer.split_whitespace().next() {
        Some(count) => count.parse().ok(),
        None => Some(0),
    }
}

/// What a commit does not hold of the work tree as it lies there: changed,
/// deleted, or not known to Git and not ignored. What the index says of it
/// plays no part, so that nobody can hide a file there.
pub fn uncommitted(root: &Path, commit: &str) -> Option<Vec<String>> {
    let status = [
        "status",
        "--porcelain",
        "-z",
        "--no-renames",
        "--untracked-files=all",
        "--ignore-submodules=all",
    ];
    let index = IndexOf::commit(root, Some(commit))?;
    let names = index.ask(&[&status[..], &WORK].concat())?;
    // Two letters and a space stand before each name.
    let name = |entry: &Vec<u8>| {
        entry
            .get(3..)
            .map(|name| String::from_utf8_lossy(name).into())
    };
    Some(names.iter().filter_map(name).collect())
}

/// Where a remote is, as it is configured.
pub fn remote_url(root: &Path, remote: &str) -> Option<String> {
    ask_git(root, &["config", "--get", &format!("remote.{remote}.url")])
}

/// The files of [`count_changed_files`], and how many lines of each.
pub fn changed_files(
    root: &Path,
    from: &str,
    to: Option<&str>,
    most: usize,
) -> Option<Vec<FileChange>> {
    let range = diff_range(from, to)?;
    let mut arguments = diff_arguments("--numstat", &range);
    arguments.insert(1, "--no-renames");
    arguments.insert(1, "-z");
    let text = ask_git_for_bytes(root, &arguments, LONGEST_ANSWER)?;
    let text = String::from_utf8_lossy(&text);
    let change = |entry: &str| {
        let mut parts = entry.splitn(3, '\t');
        let (added, removed) = (parts.next()?.parse().ok(), parts.next()?.parse().ok());
        Some(FileChange {
            path: parts.next()?.to_owned(),
            added,
            removed,
        })
    };
    Some(text.split('\0').filter_map(change).take(most).collect())
}

/// What led to a commit since it left the way to another one.
pub fn changed_since_fork(root: &Path, other: &str, commit: &str) -> Option<Vec<String>> {
    let range = [format!("{}...{}", object_id(other)?, object_id(commit)?)];
    let mut arguments = diff_arguments("--name-only", &range);
    arguments.insert(1, "--no-renames");
    arguments.insert(1, "-z");
    let names = names_in(&ask_git_for_bytes(root, &arguments, LONGEST_ANSWER)?);
    let name = |name: &Vec<u8>| String::from_utf8_lossy(name).into_owned();
    Some(names.iter().map(name).collect())
}

/// How a file that Git knows differs from a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Differs {
    Added,
    Changed,
    Removed,
}

/// What every repository knows, also one without a commit.
const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/// The files of [`count_changed_files`] in the work tree; without a commit,
/// all that Git knows.
pub fn differing(root: &Path, from: Option<&str>, most: usize) -> Option<Vec<(String, Differs)>> {
    let range = diff_range(from.unwrap_or(EMPTY_TREE), None)?;
    let mut arguments = diff_arguments("--name-status", &range);
    // A project may be a part of its repository.
    arguments.insert(1, "--relative");
    arguments.insert(1, "--no-renames");
    arguments.insert(1, "-z");
    let text = ask_git_for_bytes(root, &arguments, LONGEST_ANSWER)?;
    let text = String::from_utf8_lossy(&text);
    let mut parts = text.split('\0');
    let entries = std::iter::from_fn(|| Some((parts.next()?, parts.next()?)));
    let differs = |(how, path): (&str, &str)| {
        let how = match how {
            "A" => Differs::Added,
            "D" => Differs::Removed,
            _ => Differs::Changed,
        };
        (path.to_owned(), how)
    };
    Some(entries.map(differs).take(most).collect())
}

fn diff_range(from: &str, to: Option<&str>) -> Option<Vec<String>> {
    [Some(from), to]
        .into_iter()
        .flatten()
        .map(object_id)
        .collect()
}

fn diff_arguments<'a>(form: &'a str, range: &'a [String]) -> Vec<&'a str> {
    let quiet = ["--no-ext-diff", "--no-textconv", "--ignore-submodules=all"];
    let range = range.iter().map(String::as_str);
    let head = ["diff", form].into_iter().chain(quiet);
    head.chain(range).chain(WORK).collect()
}

/// What differs between a tree (or `HEAD`) and the files that Git knows, as a
/// unified diff of at most so many bytes. Ralph's own files are no work.
pub fn diff(root: &Path, tree: Option<&str>, most: usize) -> Option<Vec<u8>> {
    let base = match tree {
        Some(tree) => object_id(tree)?,
        None => "HEAD".to_owned(),
    };
    let plain = ["--no-ext-diff", "--no-textconv", "--no-color"];
    let arguments = [
        &["diff"],
        &plain[..],
        &["--ignore-submodules=all", &base],
        &WORK,
    ]
    .concat();
    ask_git_for_bytes(root, &arguments, most)
}

/// The first files that Git does not know and does not ignore.
pub fn untracked(root: &Path, most: usize) -> Option<Vec<String>> {
    let arguments = [
        &["ls-files", "-z", "--others", "--exclude-standard"],
        &WORK[..],
    ]
    .concat();
    let names = ask_git_for_bytes(root, &arguments, 256 * 1024)?;
    let names = names
        .split(|&byte| byte == 0)
        .filter(|name| !name.is_empty());
    let text = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
    Some(names.take(most).map(text).collect())
}

/// Tracked files, and untracked ones that are not ignored.
pub fn listed(root: &Path) -> Option<Vec<Vec<u8>>> {
    let arguments = ["ls-files", "-z", "-co", "--exclude-standard"];
    let names = ask_git_for_bytes(root, &arguments, LONGEST_LIST)?;
    Some(names_in(&names))
}

/// How a difference is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// Only how much changed in which file.
    pub stat: bool,
    pub color: bool,
    /// Without the programs that a person may have configured.
    pub plain: bool,
}

/// What differs between two trees of a store of Ralph's own; the beginning of
/// it. `None` where Git can't tell.
pub fn diff_in_store(
    (store, root): (&Path, &Path),
    trees: [&str; 2],
    paths: &[&str],
    shown: Shown,
    most: usize,
) -> Option<Vec<u8>> {
    let mut arguments = vec!["--literal-pathspecs", "diff"];
    let color = if shown.color {
        "--color=always"
    } else {
        "--color=never"
    };
    arguments.push(color);
    if shown.stat {
        arguments.push("--stat");
    }
    if shown.plain {
        arguments.extend(["--no-ext-diff", "--no-textconv"]);
    }
    arguments.extend(trees);
    arguments.push("--");
    arguments.extend(paths);
    bytes(command_for_store(store, root, &arguments)?, most)
}

/// Shows the difference in the person's own difftool, file by file. `None`
/// where there is no Git.
pub fn difftool_in_store(
    (store, root): (&Path, &Path),
    trees: [&str; 2],
    paths: &[&str],
    tool: Option<&str>,
) -> Option<io::Result<bool>> {
    let chosen = tool.map(|name| format!("--tool={name}"));
    let mut arguments = vec!["--literal-pathspecs", "difftool", "--no-prompt"];
    arguments.extend(chosen.as_deref());
    arguments.extend(trees);
    arguments.push("--");
    arguments.extend(paths);
    // It asks for a work tree although it compares two that are none.
    let empty = match PrivateDir::new("difftool") {
        Ok(empty) => empty,
        Err(error) => return Some(Err(error)),
    };
    let mut command = command_for_store(store, root, &arguments)?;
    command
        .env("GIT_WORK_TREE", empty.path())
        .current_dir(empty.path())
        .stdin(Stdio::inherit())
        .stdout(Stdio::inherit())
        .stderr(Stdio::inherit());
    Some(command.status().map(|status| status.success()))
}

/// The person's own pager for what Git shows.
pub fn pager(store: &Path, root: &Path) -> Option<String> {
    let answer = bytes(command_for_store(store, root, &["var", "GIT_PAGER"])?, 4096)?;
    let pager = String::from_utf8(answer).ok()?.trim().to_owned();
    Some(pager).filter(|pager| !pager.is_empty() && pager != "cat")
}

/// Those of these paths, relative to `root`, that the index has.
pub fn tracked_among(root: &Path, paths: &[&str]) -> Vec<Vec<u8>> {
    // More would not fit on a command line everywhere.
    let asked = paths.chunks(200).filter_map(|some| {
        let arguments = [&["--literal-pathspecs", "ls-files", "-z", "--"], some].concat();
        ask_git_for_bytes(root, &arguments, LONGEST_LIST)
    });
    asked.flat_map(|names| names_in(&names)).collect()
}

/// What is tracked although it is ignored, relative to `root`.
pub fn tracked_and_ignored(root: &Path) -> Vec<Vec<u8>> {
    let arguments = ["ls-files", "-z", "-ci", "--exclude-standard"];
    let names = ask_git_for_bytes(root, &arguments, LONGEST_LIST);
    names.map(|names| names_in(&names)).unwrap_or_default()
}

fn names_in(answer: &[u8]) -> Vec<Vec<u8>> {
    let names = answer.split(|&byte| byte == 0);
    let names = names.filter(|name| !name.is_empty());
    names.map(<[u8]>::to_vec).collect()
}

/// How many entries `git status --porcelain` has; what Ralph itself keeps is
/// no work.
pub fn count_changes(root: &Path) -> Option<usize> {
    let work = ["--", ".", ":(exclude).ralph", ":(exclude).skillpack"];
    let status = ["status", "--porcelain", "--ignore-submodules=all"];
    let arguments = [&status, &work[..]].concat();
    let text = ask_git_for_bytes(root, &arguments, LONGEST_ANSWER)?;
    let lines = text.split(|&byte| byte == b'\n');
    Some(lines.filter(|line| !line.is_empty()).count())
}

/// Whether others take what is on this branch for the project itself: what
/// the remote says where that is known here, else the usual names.
pub fn is_default(root: &Path, branch: &str) -> bool {
    let remote = common_dir(root).and_then(|dir| read_line(&dir.join("refs/remotes/origin/HEAD")));
    match remote
        .as_deref()
        .and_then(|line| line.strip_prefix("ref: refs/remotes/origin/"))
    {
        Some(default) => default == branch,
        None => matches!(branch, "main" | "master"),
    }
}

/// Whether something was begun that Git waits for a person to finish.
pub fn is_merging(root: &Path) -> bool {
    let marks = [
        "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply",
    ];
    let dir = git_dir(root);
    dir.is_some_and(|dir| marks.iter().any(|mark| dir.join(mark).exists()))
}

/// The directory that all work trees of a repository share.
pub(crate) fn common_dir(root: &Path) -> Option<PathBuf> {
    Some(shared_dir(&git_dir(root)?))
}

/// Where a `git` that changes the index of this work tree has its lock.
pub(crate) fn index_lock(root: &Path) -> Option<PathBuf> {
    Some(git_dir(&find_root(root)?)?.join("index.lock"))
}

fn git_dir(root: &Path) -> Option<PathBuf> {
    let dot_git = root.join(".git");
    if dot_git.is_dir() {
        return Some(dot_git);
    }
    let text = read_line(&dot_git)?;
    Some(root.join(text.strip_prefix("gitdir:")?.trim_start()))
}

fn shared_dir(git_dir: &Path) -> PathBuf {
    match read_line(&git_dir.join("commondir")) {
        Some(common) => git_dir.join(common),
        None => git_dir.to_path_buf(),
    }
}

/// `None` where something is not as Git writes it.
fn read_head(root: &Path) -> Option<Head> {
    let git_dir = git_dir(root)?;
    let common_dir = shared_dir(&git_dir);
    if common_dir.join("reftable").is_dir() {
        return Some(ask_for_head(root));
    }
    let mut target = read_ref_file(&git_dir.join("HEAD"))?;
    let mut branch = None;
    for step in 0..=MOST_SYMBOLIC_STEPS {
        let name = match target {
            Ref::Object(commit) => {
                let commit = Some(commit);
                return Some(Head { commit, branch });
            }
            Ref::Symbolic(name) => name,
        };
        if step == 0 {
            branch = name.strip_prefix("refs/heads/").map(str::to_owned);
        }
        match find_ref(&git_dir, &common_dir, &name)? {
            Some(next) => target = next,
            None => {
                let commit = None;
                return Some(Head { commit, branch });
            }
        }
    }
    None
}

enum Ref {
    Object(String),
    Symbolic(String),
}

/// The outer `None` says that something odd is there, the inner one that
/// there is no such ref.
fn find_ref(git_dir: &Path, common_dir: &Path, name: &str) -> Option<Option<Ref>> {
    for directory in [git_dir, common_dir] {
        let loose = directory.join(name);
        // A directory may stand where the refs of `topic/` were.
        if loose.is_file() {
            return read_ref_file(&loose).map(Some);
        }
    }
    let packed = open_regular(&common_dir.join("packed-refs"));
    Some(packed.and_then(|packed| find_packed(BufReader::new(packed), name).map(Ref::Object)))
}

fn find_packed(packed: impl BufRead, name: &str) -> Option<String> {
    // Ref names need not be UTF-8, so that lines are bytes here.
    packed.split(b'\n').map_while(Result::ok).find_map(|line| {
        let id = line.strip_suffix(name.as_bytes())?.strip_suffix(b" ")?;
        object_id(std::str::from_utf8(id).ok()?)
    })
}

fn read_ref_file(path: &Path) -> Option<Ref> {
    // Git of old made HEAD a symbolic link to its branch.
    if let Ok(target) = fs::read_link(path)
        && let Some(name) = target.to_str().and_then(ref_name)
    {
        return Some(Ref::Symbolic(name));
    }
    let text = read_line(path)?;
    match text.strip_prefix("ref:") {
        Some(name) => ref_name(name.trim_start()).map(Ref::Symbolic),
        None => object_id(&text).map(Ref::Object),
    }
}

/// The first line, without white space at its end.
fn read_line(path: &Path) -> Option<String> {
    let mut text = String::new();
    open_regular(path)?
        .take(LONGEST_REF_FILE)
        .read_to_string(&mut text)
        .ok()?;
    text.lines().next().map(|line| line.trim_end().to_owned())
}

/// Never waits for the other end of a pipe that somebody put there.
fn open_regular(path: &Path) -> Option<fs::File> {
    ralph_store::regular::open(path).ok()
}

/// A ref that stays within the repository when it is taken as a path.
fn ref_name(name: &str) -> Option<String> {
    let inside = Path::new(name)
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    (inside && name.starts_with("refs/")).then(|| name.to_owned())
}

fn object_id(text: &str) -> Option<String> {
    let is_hex = text
        .bytes()
        .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    (is_hex && matches!(text.len(), 40 | 64)).then(|| text.to_owned())
}

fn ask_for_head(root: &Path) -> Head {
    let commit = ask_real(root, &["rev-parse", "--verify", "-q", "HEAD"]);
    let branch = ask_real(root, &["symbolic-ref", "-q", "HEAD"]);
    Head {
        commit: commit.and_then(|commit| object_id(&commit)),
        branch: branch.and_then(|name| name.strip_prefix("refs/heads/").map(str::to_owned)),
    }
}

#[cfg(test)]
mod tests;

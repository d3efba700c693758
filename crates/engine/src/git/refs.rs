//! The only place where Ralph moves a branch: one of its own, or the person's
//! by their word. No hook, filter or monitor of the repository runs, and a
//! ref that is not where it was stays where it is.

use std::path::Path;

use super::apart::command_for_refs;
use super::ask::{ask_git_for_bytes, ask_real, bytes};
use super::object_id;

const LONGEST_ANSWER: usize = 64 * 1024;

/// Whether the repository has this commit.
pub fn has_commit(root: &Path, commit: &str) -> bool {
    let named = |id: String| format!("{id}^{{commit}}");
    let asked = object_id(commit).map(named);
    asked.is_some_and(|name| ask_real(root, &["rev-parse", "--verify", "-q", &name]).is_some())
}

/// Whether the index holds exactly what a commit holds; `None` where nobody
/// could tell.
pub fn index_is(root: &Path, commit: &str) -> Option<bool> {
    let commit = object_id(commit)?;
    let arguments = ["diff-index", "--cached", "--name-only", &commit];
    let differing = ask_git_for_bytes(root, &arguments, LONGEST_ANSWER)?;
    Some(differing.is_empty())
}

/// Makes a name for a commit, if there is none yet.
pub fn keep(root: &Path, name: &str, commit: &str) -> bool {
    update(root, &["update-ref", name, commit, ""])
}

/// Whether a ref of this name is there.
pub fn exists(root: &Path, name: &str) -> bool {
    commit_of(root, name).is_some()
}

/// Where a ref of this name stands.
pub fn commit_of(root: &Path, name: &str) -> Option<String> {
    ask_real(root, &["rev-parse", "--verify", "-q", name])
}

/// Moves a branch from one commit to another, and the index with it.
pub fn move_branch(root: &Path, branch: &str, from: &str, to: &str) -> bool {
    let branch = format!("refs/heads/{branch}");
    let why = ["update-ref", "-m", "ralph undo", &branch, to, from];
    update(root, &why) && update(root, &["read-tree", to])
}

fn update(root: &Path, arguments: &[&str]) -> bool {
    let quiet = [
        "-c",
        "core.hooksPath=/dev/null",
        "-c",
        "core.fsmonitor=false",
    ];
    let Some((_home, mut command)) = command_for_refs(root, &[&quiet[..], arguments].concat())
    else {
        return false;
    };
    command
        .env("GIT_COMMITTER_NAME", "Ralph Loop")
        .env("GIT_COMMITTER_EMAIL", "ralph@localhost");
    bytes(command, LONGEST_ANSWER).is_some()
}

/// The commit of a branch; `None` where there is no such branch.
pub(crate) fn tip(root: &Path, branch: &str) -> Option<String> {
    let name = format!("refs/heads/{branch}^{{commit}}");
    object_id(&ask_real(root, &["rev-parse", "--verify", "-q", &name])?)
}

/// Moves a branch from one commit to another, unless it stands elsewhere;
/// without `from` it must not be there yet. Whether it moved.
pub(crate) fn advance(root: &Path, branch: &str, from: Option<&str>, to: &str) -> bool {
    let name = format!("refs/heads/{branch}");
    let why = ["update-ref", "-m", "ralph run", &name, to];
    update(root, &[&why[..], &[from.unwrap_or_default()]].concat())
}

/// Whether a name can be that of a branch.
pub(crate) fn is_name(root: &Path, branch: &str) -> bool {
    let asked = ["check-ref-format", "--branch", branch];
    let command = command_for_refs(root, &asked);
    command.is_some_and(|(_home, command)| bytes(command, LONGEST_ANSWER).is_some())
}

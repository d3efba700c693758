//! The one place that moves a branch: one of Ralph's own, or the person's by
//! their word. Nothing of the repository is run for it.

use std::io;
use std::path::Path;

use super::apart::command_for_refs;
use super::ask::{ask_real, bytes};
use super::object_id;

/// The commit of a branch; `None` where there is no such branch.
pub(crate) fn tip(root: &Path, branch: &str) -> Option<String> {
    let name = format!("refs/heads/{branch}^{{commit}}");
    object_id(&ask_real(root, &["rev-parse", "--verify", "-q", &name])?)
}

/// Moves a branch from one commit to another, unless it stands elsewhere;
/// without `from` it must not be there yet. Whether it moved.
pub(crate) fn advance(root: &Path, branch: &str, from: Option<&str>, to: &str) -> io::Result<bool> {
    let name = format!("refs/heads/{branch}");
    let nothing = "0".repeat(to.len());
    let from = from.unwrap_or(&nothing);
    let arguments = [
        "-c",
        "core.hooksPath=/dev/null",
        "-c",
        "core.logAllRefUpdates=false",
        "update-ref",
        &name,
        to,
        from,
    ];
    let missing = || io::Error::new(io::ErrorKind::NotFound, "git");
    let (_home, command) = command_for_refs(root, &arguments).ok_or_else(missing)?;
    Ok(bytes(command, 4096).is_some())
}

/// Whether a name can be that of a branch.
pub(crate) fn is_name(root: &Path, branch: &str) -> bool {
    let Some((_home, command)) = command_for_refs(root, &["check-ref-format", "--branch", branch])
    else {
        return false;
    };
    bytes(command, 4096).is_some()
}

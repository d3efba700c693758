//! What a role said last, where other tools of the D→R→T flow look for it
//! (ROLE-08).

use std::path::{Path, PathBuf};

use ralph_core::flow::Scope;
use ralph_core::machine::State;
use ralph_store::FileError;
use ralph_store::checkpoint::CheckpointDir;
use ralph_store::history::clear;

use super::Run;

/// The folder of those tools. It is theirs: where a project has it, it is
/// used, and otherwise ours stands among the other projections.
pub const FOLDER: &str = "drt-state-auto";

pub(super) fn save(run: &Run, dir: &CheckpointDir, state: &State) -> Result<(), FileError> {
    let flow = state.rules.flow.as_ref().map(|rules| &rules.flow);
    let follows = flow.is_some_and(|flow| flow.scope == Scope::Task);
    let Some(answered) = state.flow.answered.as_ref().filter(|_| follows) else {
        return Ok(());
    };
    let theirs = run.root.join(FOLDER);
    let folder = match theirs.is_dir() {
        true => theirs,
        false => dir.dir().join(FOLDER),
    };
    let change = change_id(run.tasks_file.as_deref().unwrap_or_default());
    let file = folder.join(format!("{change}.json"));
    if answered.is_stale(state.now().wall_ms) {
        return clear(&[(change, file)]);
    }
    if let Err(error) = std::fs::create_dir_all(&folder) {
        return Err(FileError::new(&file, ralph_store::Action::Write, &error));
    }
    let json = answered.to_json(&change).to_string() + "\n";
    dir.put(&file, json.as_bytes())
}

/// The file of a run in its working directory, and its name in the history.
/// What stands in the folder of other tools is theirs, and runs out there by
/// its time.
pub fn file_of(current: &Path, tasks_file: &str) -> Option<(String, PathBuf)> {
    let name = format!("{}.json", change_id(tasks_file));
    let path = current.join(FOLDER).join(&name);
    path.is_file().then(|| (format!("{FOLDER}.{name}"), path))
}

/// The change that a task file belongs to: its OpenSpec change, else the
/// folder or the name of the file.
fn change_id(tasks_file: &str) -> String {
    let mut parts = tasks_file.rsplit('/');
    let name = parts.next().unwrap_or_default();
    let name = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let change = parts.next().filter(|part| !part.is_empty()).unwrap_or(name);
    let plain = |c: char| {
        if c.is_alphanumeric() || "-_".contains(c) {
            c
        } else {
            '_'
        }
    };
    change.chars().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::change_id;

    #[test]
    fn a_change_has_the_name_that_people_know() {
        for (file, want) in [
            ("openspec/changes/add-user-auth/tasks.md", "add-user-auth"),
            ("tasks.md", "tasks"),
            ("specs/001-todo/tasks.md", "001-todo"),
            ("a b/..", "a_b"),
        ] {
            assert_eq!(change_id(file), want, "{file}");
        }
    }
}

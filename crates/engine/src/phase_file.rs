//! What the phases of a route leave as their results: whose they are, and an
//! agent's words in them, read as far as a summary or a score needs.

use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use ralph_core::machine::State;
use ralph_store::atomic::{AtomicOptions, write_atomic};
use ralph_store::checkpoint::set_aside;
use ralph_store::layout::{Layout, RunId, RunPaths};
use ralph_store::{Action, FileError, history, regular};

use crate::announcement::Announcement;
use crate::plan::Plan;

const LONGEST: u64 = 64 * 1024;

/// The beginning of the file of that name; nothing but a plain file is opened.
pub(crate) fn read(dir: &Path, name: Option<&str>) -> Option<String> {
    let path = dir.join(name?);
    if !path.symlink_metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    let file = regular::open(path).ok()?;
    file.take(LONGEST).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Which run the files are of that lie where the phases leave theirs.
const OWNER: &str = "phase-files";
/// Where those of a run lie while another one has the place.
const ASIDE: &str = "phase-files";

/// Whether the phases of this plan leave any.
pub(crate) fn are_left(plan: &Plan) -> bool {
    let flow = plan.rules.flow.as_ref().map(|rules| &rules.flow);
    flow.is_some_and(|flow| flow.steps.iter().any(|step| step.output.is_some()))
}

/// Gives a run its place: the files of another route stand aside with its run,
/// and those of this one come back, from there or from the history. `is_new`
/// is a run that has left nothing yet.
pub(crate) fn take_place(
    plan: &Plan,
    run: &RunPaths,
    state: &State,
    is_new: bool,
) -> Result<Option<Announcement>, FileError> {
    if !are_left(plan) {
        return Ok(None);
    }
    let (layout, dir) = (&plan.layout, &plan.keeping.current);
    let owner = owner(layout);
    if owner.as_ref() == Some(&run.id) {
        return Ok(None);
    }
    let told = match &owner {
        Some(owner) => move_all(dir, &layout.run(owner).dir.join(ASIDE))?,
        // Those of a loop that another tool began are what it goes on with.
        None if is_new && plan.asked.adopted.is_none() => {
            let mut told = None;
            for name in names_in(dir) {
                let from = dir.join(name);
                let to = set_aside(&from, "other")?;
                told.get_or_insert(Announcement::SetAside { from, to });
            }
            told
        }
        None => None,
    };
    // From here on the place is nobody's: whoever dies now leaves nothing that
    // would be taken for the files of the other.
    history::clear(&[(OWNER.into(), layout.state_dir().join(OWNER))])?;
    move_all(&run.dir.join(ASIDE), dir)?;
    let archived = plan.keeping.history.find(run.id.as_str()).ok().flatten();
    let left = state
        .phase_outputs()
        .filter(|name| !dir.join(name).exists());
    for (name, archived) in left.zip(archived.iter().cycle()) {
        copy(&archived.path.join(name), &dir.join(name))?;
    }
    let durable = AtomicOptions { durable: true };
    write_atomic(
        &layout.state_dir().join(OWNER),
        run.id.as_str().as_bytes(),
        durable,
    )?;
    Ok(told)
}

/// The files of a run that does not have the place.
pub(crate) fn aside(run: &RunPaths) -> Vec<(String, PathBuf)> {
    let dir = run.dir.join(ASIDE);
    let file = |name: String| (name.clone(), dir.join(name));
    names_in(&dir).into_iter().map(file).collect()
}

/// Its files went into the history: whoever takes it up finds them there.
pub(crate) fn leave_place(layout: &Layout, run: &RunPaths) -> Result<(), FileError> {
    match owner(layout).as_ref() == Some(&run.id) {
        true => history::clear(&[(OWNER.into(), layout.state_dir().join(OWNER))]),
        false => Ok(()),
    }
}

pub(crate) fn owner(layout: &Layout) -> Option<RunId> {
    let bytes = regular::read(layout.state_dir().join(OWNER)).ok()?;
    RunId::parse(std::str::from_utf8(&bytes).ok()?.trim())
}

/// `2_plan.md`, `3_subtask_1.md`.
fn names_in(dir: &Path) -> Vec<String> {
    let is_phase_file = |name: &String| {
        let stem = name
            .strip_suffix(".md")
            .and_then(|name| name.split_once('_'));
        stem.is_some_and(|(number, rest)| {
            let is_number = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
            is_number && !rest.contains('.')
        })
    };
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let files = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    let names = files.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(is_phase_file).collect();
    names.sort();
    names
}

/// Each is there before it is gone from where it was.
fn move_all(from: &Path, to: &Path) -> Result<Option<Announcement>, FileError> {
    let names = names_in(from);
    if names.is_empty() {
        return Ok(None);
    }
    std::fs::create_dir_all(to).map_err(|error| FileError::new(to, Action::Create, &error))?;
    for name in names {
        copy(&from.join(&name), &to.join(&name))?;
        history::clear(&[(name.clone(), from.join(&name))])?;
    }
    let (from, to) = (from.to_owned(), to.to_owned());
    Ok(Some(Announcement::SetAside { from, to }))
}

fn copy(from: &Path, to: &Path) -> Result<(), FileError> {
    let bytes = match regular::read(from) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(FileError::new(from, Action::Read, &error)),
    };
    write_atomic(to, &bytes, AtomicOptions { durable: true })
}

//! Changing marks and nothing else (TASK-12).

use std::collections::BTreeMap;

use super::error::TaskError;
use super::format::Format;
use super::model::TaskList;
use super::read::fingerprint;

/// The bytes with one box ticked or unticked. `list` has to be read from
/// exactly these bytes; read again before the next change.
pub fn set_mark(
    bytes: &[u8],
    list: &TaskList,
    task: usize,
    done: bool,
) -> Result<Vec<u8>, TaskError> {
    set_marks(bytes, list, [(task, done)])
}

/// The same for many boxes at once; the last word for a task counts.
pub fn set_marks(
    bytes: &[u8],
    list: &TaskList,
    wanted: impl IntoIterator<Item = (usize, bool)>,
) -> Result<Vec<u8>, TaskError> {
    let changed = || TaskError::Changed {
        file: list.file.clone(),
    };
    let mut marks = BTreeMap::new();
    for (task, done) in wanted {
        let found = list
            .tasks
            .get(task)
            .ok_or_else(|| TaskError::TaskNotFound {
                file: list.file.clone(),
                id: format!("#{}", task.saturating_add(1)),
            })?;
        let mark = found
            .mark
            .as_ref()
            .ok_or_else(|| TaskError::NoPassesField {
                file: list.file.clone(),
                id: found.id.clone(),
            })?;
        marks.insert(mark.start, (mark.end, found.done, done));
    }
    if fingerprint(bytes) != list.fingerprint {
        return Err(changed());
    }
    let mut after = Vec::with_capacity(bytes.len() + marks.len());
    let mut at = 0;
    for (start, (end, is_done, done)) in marks {
        if is_done != done {
            after.extend_from_slice(bytes.get(at..start).ok_or_else(changed)?);
            after.extend_from_slice(literal(list.format, done));
            at = end;
        }
    }
    after.extend_from_slice(bytes.get(at..).ok_or_else(changed)?);
    Ok(after)
}

fn literal(format: Format, done: bool) -> &'static [u8] {
    match (format, done) {
        (Format::PrdJson, true) => b"true",
        (Format::PrdJson, false) => b"false",
        (_, true) => b"x",
        (_, false) => b" ",
    }
}

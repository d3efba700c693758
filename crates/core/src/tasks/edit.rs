//! Changing one mark and nothing else (TASK-12).

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
    let file = || list.file.clone();
    let Some(found) = list.tasks.get(task) else {
        return Err(TaskError::TaskNotFound {
            file: file(),
            id: format!("#{}", task.saturating_add(1)),
        });
    };
    if fingerprint(bytes) != list.fingerprint {
        return Err(TaskError::Changed { file: file() });
    }
    let Some(mark) = &found.mark else {
        return Err(TaskError::NoPassesField {
            file: file(),
            id: found.id.clone(),
        });
    };
    let (Some(before), Some(after)) = (bytes.get(..mark.start), bytes.get(mark.end..)) else {
        return Err(TaskError::Changed { file: file() });
    };
    if found.done == done {
        return Ok(bytes.to_vec());
    }
    Ok([before, literal(list.format, done), after].concat())
}

fn literal(format: Format, done: bool) -> &'static [u8] {
    match (format, done) {
        (Format::PrdJson, true) => b"true",
        (Format::PrdJson, false) => b"false",
        (_, true) => b"x",
        (_, false) => b" ",
    }
}

//! The task list of a run as its file has it now.

use std::time::SystemTime;

use ralph_core::machine::Goal;
use ralph_core::report::TaskLine;

use super::Watch;
use crate::report::task_lines;

/// Read again when the file changes: boxes are ticked while a turn runs.
#[derive(Debug, Default)]
pub struct TaskList {
    stamp: Option<(SystemTime, u64)>,
    pub lines: Vec<TaskLine>,
}

impl TaskList {
    /// `true` where another list stands there than before.
    pub fn refresh(&mut self, watch: &Watch) -> bool {
        let Some(path) = watch.tasks_file() else {
            return false;
        };
        let stamp = std::fs::metadata(&path).ok();
        let stamp = stamp.and_then(|meta| Some((meta.modified().ok()?, meta.len())));
        if stamp.is_none() || stamp == self.stamp {
            return false;
        }
        self.stamp = stamp;
        let phase = match watch.state().map(|state| &state.rules.goal) {
            Some(Goal::Tasks { phase }) => phase.clone(),
            _ => None,
        };
        let lines = task_lines(watch.layout().root(), &path, phase);
        let changed = lines != self.lines;
        self.lines = lines;
        changed
    }
}

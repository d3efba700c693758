//! Behaviour of the task files, seen from outside.

mod changed;
mod compared;
mod detected;
mod edited;
mod hidden;
mod linted;
mod picked;
mod properties;
mod read_formats;
mod spoken;

use super::{Pick, ReadOptions, Scope, TaskError, TaskList, read};

fn list(name: &str, text: &str) -> TaskList {
    read(name, text.as_bytes(), &ReadOptions::default()).expect(text)
}

fn error(name: &str, bytes: &[u8]) -> TaskError {
    read(name, bytes, &ReadOptions::default()).expect_err("should not be readable")
}

fn phase(key: &str) -> Scope {
    Scope {
        phase: Some(key.to_owned()),
        ..Scope::default()
    }
}

fn skipping(ids: &[&str]) -> Scope {
    Scope {
        skipped: ids.iter().map(|id| (*id).to_owned()).collect(),
        ..Scope::default()
    }
}

/// Ids of the tasks to work on; the name of the answer where there are none.
fn next(list: &TaskList, scope: &Scope) -> String {
    match list.pick(scope) {
        Pick::Next { tasks, .. } => ids(list, &tasks),
        Pick::Blocked { .. } => "blocked".to_owned(),
        Pick::Cycle { ids } => format!("cycle {}", ids.join(" ")),
        Pick::Done => "done".to_owned(),
        Pick::NothingInScope { .. } => "nothing in scope".to_owned(),
    }
}

fn ids(list: &TaskList, tasks: &[usize]) -> String {
    let ids: Vec<&str> = tasks.iter().map(|&i| list.tasks[i].id.as_str()).collect();
    ids.join(" ")
}

/// One line per task: `line id[x] phase depth text`, for whole snapshots.
fn outline(list: &TaskList) -> String {
    let mut lines = vec![list.format.into_str().to_owned()];
    for (index, phase) in list.phases.iter().enumerate() {
        let counts = list.phase_counts(index);
        lines.push(format!(
            "phase {} {:?} line {} {} {}/{}{}{}",
            phase.key,
            phase.title,
            phase.line,
            phase.mode.into_str(),
            counts.completed,
            counts.total,
            if phase.optional { " optional" } else { "" },
            if phase.depends.is_empty() {
                String::new()
            } else {
                format!(" depends {}", phase.depends.join(" "))
            },
        ));
    }
    for task in &list.tasks {
        let phase = task.phase.map_or("-", |phase| &list.phases[phase].key);
        lines.push(format!(
            "{}: {} [{}] phase {} depth {}{}{} {:?}",
            task.line,
            task.id,
            if task.done { "x" } else { " " },
            phase,
            task.depth,
            if task.optional { " optional" } else { "" },
            if task.parallel { " parallel" } else { "" },
            task.text,
        ));
    }
    lines.join("\n")
}

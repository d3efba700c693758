//! The task file of a run, and whether it can be worked on.

use std::path::Path;

use ralph_core::config::{Settings, TaskSource};
use ralph_core::tasks::{Pick, ReadOptions, Scope, TaskList};

use super::{Announcement, PlanError, Unpickable, Wanted, discover};
use crate::look::{OpenTaskFile, TaskFile};

/// The task file that a run in this project would work on.
pub fn find_task_file(
    root: &Path,
    source: TaskSource,
    options: &ReadOptions,
    interactive: bool,
) -> Result<OpenTaskFile, PlanError> {
    discover::task_file(root, source, options, interactive).map(|found| found.tasks)
}

pub(super) fn find_tasks(
    settings: &Settings,
    wanted: &Wanted,
    announcements: &mut Vec<Announcement>,
) -> Result<Option<(TaskFile, Option<TaskList>)>, PlanError> {
    let options = ReadOptions {
        optional_sections: settings.tasks.optional_sections.clone(),
        ..ReadOptions::default()
    };
    let named = match &wanted.asked.openspec {
        Some(id) => Some(discover::openspec_change(wanted.layout.root(), id)?),
        None => Some(&settings.tasks.file)
            .filter(|file| !file.is_empty())
            .map(|file| wanted.layout.root().join(file)),
    };
    if let Some(path) = named {
        let file = TaskFile::new(wanted.layout.root(), path, options);
        return match file.clone().open() {
            Ok(opened) => Ok(Some((file, Some(opened.list)))),
            // What became of it since is looked at after each turn.
            Err(_) if wanted.has_begun => Ok(Some((file, None))),
            Err(error) => Err(PlanError::Tasks(error)),
        };
    }
    if wanted.asked.prompt.is_some()
        || matches!(settings.tasks.source, TaskSource::Prompt | TaskSource::None)
    {
        return Ok(None);
    }
    let found = discover::task_file(
        wanted.layout.root(),
        settings.tasks.source,
        &options,
        wanted.interactive,
    )?;
    if settings.tasks.source == TaskSource::Delta {
        announcements.push(Announcement::NoDelta {
            file: found.tasks.file.name.clone(),
            kept: settings.checkpoint.enabled,
        });
    }
    if !found.others.is_empty() {
        announcements.push(Announcement::Chosen {
            file: found.tasks.file.name.clone(),
            others: found.others,
        });
    }
    let OpenTaskFile { file, list, .. } = found.tasks;
    Ok(Some((file, Some(list))))
}

/// A phase that is asked for must have tasks.
pub fn check_phase(list: &TaskList, scope: &Scope, file: &TaskFile) -> Result<(), PlanError> {
    match &scope.phase {
        Some(phase) if list.counts(scope).total == 0 => Err(PlanError::NoSuchPhase {
            phase: phase.clone(),
            known: list.phases.iter().map(|p| p.key.clone()).collect(),
            file: file.name.clone(),
        }),
        _ => Ok(()),
    }
}

pub(super) fn check_scope(
    list: &TaskList,
    scope: &Scope,
    file: &TaskFile,
) -> Result<(), PlanError> {
    check_phase(list, scope, file)?;
    if list.is_all_optional() {
        return Err(PlanError::OnlyOptional {
            file: file.name.clone(),
            sections: file.options.optional_sections.clone(),
        });
    }
    // What is known of a task is known by its id (TASK-04).
    if let Some((id, first_line, line)) = list.doubled_id() {
        return Err(PlanError::DoubledId {
            file: file.name.clone(),
            id,
            first_line,
            line,
        });
    }
    match list.pick(scope) {
        pick @ (Pick::Cycle { .. } | Pick::Blocked { .. }) => {
            Err(PlanError::Unpickable(Unpickable {
                file: file.name.clone(),
                pick,
            }))
        }
        _ => Ok(()),
    }
}

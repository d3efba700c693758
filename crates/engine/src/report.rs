//! Gathers what a report tells: the journal, the task file and the repository.

use std::path::Path;

use ralph_core::machine::{Goal, LaneRules};
use ralph_core::report::{Facts, FileChange, GitFacts, Report, Story, TaskLine};
use ralph_core::tasks::{ReadOptions, Scope, TaskList};
use ralph_store::FileError;
use ralph_store::history;
use ralph_store::layout::{Layout, RunId, RunPaths};
use ralph_store::{lock, old};

use crate::keeping::Keeping;
use crate::past::{self, Past, PastError};
use crate::task_file::TaskFile;
use crate::{clock, git, lanes, touched};

/// Lists in a report are for people.
const MOST_COMMITS: usize = 50;
const MOST_FILES: usize = 300;

/// A run as it can still be read: in its own folder, or in the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    pub run: RunPaths,
    /// The commit that it ended with, as its archive has it.
    pub ended_with: Option<String>,
}

/// Finds a run by its name or by the name of its archive; without a name, the
/// latest. `None` where there is none.
pub fn find(
    layout: &Layout,
    keeping: &Keeping,
    name: Option<&str>,
) -> Result<Option<Source>, FileError> {
    let latest = match name {
        None => layout.latest_run()?.map(|run| run.id),
        Some(_) => None,
    };
    let wanted = match (name, &latest) {
        (Some(name), _) => name,
        (None, Some(id)) => id.as_str(),
        (None, None) => return Ok(None),
    };
    let entry = keeping.history.find(wanted)?;
    let manifest = entry.as_ref().and_then(|entry| entry.manifest.as_ref());
    let archived = manifest.and_then(|manifest| RunId::parse(manifest.text("run_id")));
    let Some(id) = RunId::parse(wanted).or(archived) else {
        return Ok(None);
    };
    let commits = manifest.map(|manifest| &manifest.json()["commits"]["to"]);
    let ended_with = commits.and_then(|to| to.as_str()).map(str::to_owned);
    let own = layout.run(&id);
    let kept = entry.filter(|entry| entry.path.join(history::JOURNAL).is_file());
    let run = match kept {
        _ if own.journal().is_file() || own.events().is_file() => own,
        Some(entry) => RunPaths {
            id,
            dir: entry.path,
        },
        None => match old::run(layout, &id) {
            Some(old) => old,
            None => return Ok(None),
        },
    };
    Ok(Some(Source { run, ended_with }))
}

/// Everything that can be said about a run now.
pub fn of(layout: &Layout, source: &Source) -> Result<Report, PastError> {
    let mut story = Story::default();
    let past = past::listen(&source.run, &mut |event, state, told| {
        story.hear(event, state, told)
    })?;
    let head = match &source.ended_with {
        Some(commit) => Some(commit.clone()),
        // What a later run did is not this one's.
        None if is_latest(layout, &source.run) => git::head(layout.root()).commit,
        None => None,
    };
    let mut facts = facts(layout, &source.run, &past, head.as_deref());
    facts.pid = lock::driver(&layout.lock(), source.run.id.as_str());
    Ok(Report::new(facts, &past.state, story))
}

fn is_latest(layout: &Layout, run: &RunPaths) -> bool {
    let latest = layout.latest_run().ok().flatten();
    latest.is_some_and(|latest| latest.id == run.id)
}

/// What the machine does not know; `to` is the commit that the run ended
/// with, where that is known.
pub(crate) fn facts(layout: &Layout, run: &RunPaths, past: &Past, to: Option<&str>) -> Facts {
    let header = &past.header;
    let ended_ms = past.state.now().wall_ms.max(header.started_ms);
    let root = layout.root();
    let facts = Facts {
        run_id: run.id.to_string(),
        what: what(root, past),
        started: clock::zoned_time(header.started_ms),
        ended: clock::zoned_time(ended_ms),
        resets_at: past.state.paused_until().map(clock::zoned_time),
        started_ms: header.started_ms,
        ended_ms,
        tasks: match (&past.state.rules.goal, &header.tasks_file) {
            (Goal::Tasks { phase }, Some(path)) => task_lines(root, path, phase.clone()),
            _ => Vec::new(),
        },
        git: git::find_root(root).map(|_| git_facts(root, run, past, to)),
        pid: None,
    };
    match &header.rules.lanes {
        Some(lanes) => of_lanes(facts, layout, run, past, lanes),
        None => facts,
    }
}

/// What lanes did is on a branch of its own, and their list is there too.
fn of_lanes(
    facts: Facts,
    layout: &Layout,
    run: &RunPaths,
    past: &Past,
    rules: &LaneRules,
) -> Facts {
    let project = layout.project();
    let base = rules.base.as_str();
    let landed = past.state.lanes.landed.values();
    let landed = landed.filter(|commit| !commit.is_empty());
    // The branch may be gone by now; what landed on it is not.
    let last = landed.max_by_key(|commit| git::count_commits(project, base, commit));
    let tip = git::refs::tip(project, &rules.branch).or_else(|| last.cloned());
    let to = tip.unwrap_or_else(|| base.to_owned());
    let tasks_file = past.header.tasks_file.as_deref();
    let list = tasks_file.and_then(|file| lanes::list_of(layout, &run.id, file, &to));
    let (what, tasks) = match list {
        Some((name, bytes)) => {
            let file = TaskFile::new(project, project.join(&name), ReadOptions::default());
            let list = file.parse(&bytes).ok();
            let lines = list.map(|list| lines_of(&list, None)).unwrap_or_default();
            (name, lines)
        }
        None => (facts.what, facts.tasks),
    };
    let git = git::find_root(project).map(|_| GitFacts {
        branch: Some(rules.branch.clone()),
        from: Some(base.to_owned()),
        to: Some(to.clone()),
        is_open: false,
        commits: git::count_commits(project, base, &to),
        commit_list: git::commits(project, base, &to, MOST_COMMITS).unwrap_or_default(),
        files: git::count_changed_files(project, base, Some(&to)),
        file_list: git::changed_files(project, base, Some(&to), MOST_FILES).unwrap_or_default(),
    });
    Facts {
        what,
        tasks,
        git,
        ..facts
    }
}

fn what(root: &Path, past: &Past) -> String {
    let header = &past.header;
    match (&past.state.rules.goal, &header.tasks_file) {
        (Goal::Tasks { phase }, Some(file)) => {
            let below = file.strip_prefix(root).unwrap_or(file).display();
            match phase {
                Some(phase) => format!("{below} --phase {phase}"),
                None => below.to_string(),
            }
        }
        _ => header.asked.prompt.clone().unwrap_or_default(),
    }
}

/// The task list as it stands now; nothing where it can't be read.
pub fn task_lines(root: &Path, path: &Path, phase: Option<String>) -> Vec<TaskLine> {
    let file = TaskFile::new(root, path.into(), ReadOptions::default());
    match file.open() {
        Ok(open) => lines_of(&open.list, phase),
        Err(_) => Vec::new(),
    }
}

fn lines_of(list: &TaskList, phase: Option<String>) -> Vec<TaskLine> {
    let scope = Scope {
        phase,
        ..Scope::default()
    };
    let phases = &list.phases;
    let line = |task: &ralph_core::tasks::Task| TaskLine {
        id: task.id.clone(),
        text: task.text.clone(),
        phase: task
            .phase
            .and_then(|i| phases.get(i))
            .map(|p| p.key.clone()),
        done: task.done,
    };
    list.required(&scope).map(line).collect()
}

/// What the repository shows of a run can only be told up to its end: later,
/// it would be the work of others.
fn git_facts(root: &Path, run: &RunPaths, past: &Past, to: Option<&str>) -> GitFacts {
    let from = past.header.commit.as_deref();
    let mut facts = GitFacts {
        branch: past.header.branch.clone(),
        from: from.map(str::to_owned),
        to: to.map(str::to_owned),
        ..GitFacts::default()
    };
    if let (Some(from), Some(to)) = (from, to) {
        // While nobody went on, what is not committed is the run's as well.
        let committed = git::head(root).commit.as_deref() != Some(to);
        facts.is_open = !committed;
        facts.commits = git::count_commits(root, from, to);
        facts.commit_list = git::commits(root, from, to, MOST_COMMITS).unwrap_or_default();
        let until = committed.then_some(to);
        facts.files = git::count_changed_files(root, from, until);
        facts.file_list = git::changed_files(root, from, until, MOST_FILES).unwrap_or_default();
        if until.is_none() {
            add_unknown(
                &mut facts,
                touched::new_files(root, run).unwrap_or_default(),
            );
        }
    }
    facts
}

/// New files that Git was not told of are work as well.
fn add_unknown(facts: &mut GitFacts, names: Vec<String>) {
    facts.files = facts.files.map(|count| count + names.len());
    let room = MOST_FILES.saturating_sub(facts.file_list.len());
    facts
        .file_list
        .extend(names.into_iter().take(room).map(|path| FileChange {
            path,
            ..FileChange::default()
        }));
}

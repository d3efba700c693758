//! `ralph tasks`: what Ralph sees in a task file.

mod delta;
mod graph;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use ralph_core::config::Settings;
use ralph_core::lang::Say;
use ralph_core::proof::TaskProof;
use ralph_core::tasks::{self, Pick, ReadOptions, Scope, Task, TaskList};
use ralph_core::text::duration::plural;
use ralph_core::tr;
use ralph_engine::look::{OpenTaskFile, TaskFile};
use ralph_engine::plan::PlanError;
use ralph_engine::{past, plan};
use ralph_store::atomic::{AtomicOptions, write_through};
use serde_json::{Value, json};

use crate::app::{self, App, Exit, OrFail};
use crate::args::{TasksArgs, TasksVerb};
use crate::{FAILED, trust};

/// What the latest run on a list knows of its tasks.
#[derive(Default)]
struct Known {
    proofs: BTreeMap<String, TaskProof>,
    skipped: BTreeSet<String>,
}

pub fn run(app: &App, args: &TasksArgs) -> Exit {
    let settings = trust::settings_unasked(app, "tasks.")?;
    if let Some(answered) = delta::run(app, args, &settings) {
        return answered;
    }
    let opened = open(app, args, &settings)?;
    if args.verb.steers() {
        return super::steer::tasks(app, args, &opened);
    }
    let OpenTaskFile { file, bytes, list } = opened;
    let scope = Scope {
        phase: args.phase.clone(),
        ..Scope::default()
    };
    if let Err(error) = plan::check_phase(&list, &scope, &file) {
        return app.fail(&error);
    }
    match args.verb {
        TasksVerb::List => {
            let known = known(app, &file);
            app.answer(
                args.json,
                || json_of(&file, &list, &scope, &known),
                || table(app, &file, &list, &scope, &known),
            )?;
        }
        TasksVerb::Next => return next(app, args, &list, &scope),
        TasksVerb::Lint => return lint(app, args, &file, &list),
        TasksVerb::Graph => return graph::run(app, args, &list, &scope, settings.lanes.files),
        TasksVerb::Tick => return mark(app, args, &file, &bytes, list, true),
        TasksVerb::Untick => return mark(app, args, &file, &bytes, list, false),
        // Done above.
        _ => {}
    }
    Ok(0)
}

fn open(app: &App, args: &TasksArgs, settings: &Settings) -> Result<OpenTaskFile, u8> {
    let options = ReadOptions {
        optional_sections: settings.tasks.optional_sections.clone(),
        ..ReadOptions::default()
    };
    let at = |path| TaskFile::new(&app.root, path, options.clone()).open();
    // A flag is meant from here, a setting from the project.
    if let Some(path) = &args.tasks {
        return at(std::path::absolute(path).unwrap_or_else(|_| path.clone())).or_fail(app);
    }
    let usual = match settings.tasks.file.as_str() {
        // A person who asks to see a file can be shown the newest.
        "" => {
            let source = settings.tasks.source;
            plan::find_task_file(&app.root, source, &options, app::is_interactive())
        }
        file => at(app.root.join(file)).map_err(PlanError::Tasks),
    };
    let is_usual = |list: &PathBuf| usual.as_ref().is_ok_and(|opened| opened.file.path == *list);
    match of_run(app, is_usual) {
        Some(list) => at(list).or_fail(app),
        None => usual.or_fail(app),
    }
}

/// The list that the newest run works on, or waits to, if it is another one:
/// else nobody has to read on in its journal.
fn of_run(app: &App, is_usual: impl Fn(&PathBuf) -> bool) -> Option<PathBuf> {
    let run = app.layout().latest_run().ok()??;
    let header = past::header(&run)?;
    // Lanes have one of their own.
    let is_here = |list: &PathBuf| header.rules.lanes.is_none() && list.is_file();
    let list = header
        .tasks_file
        .filter(|list| is_here(list) && !is_usual(list))?;
    let outcome = past::read(&run).ok()?.state.outcome().cloned();
    outcome
        .is_none_or(|outcome| outcome.can_go_on())
        .then_some(list)
}

/// What the latest run on this file saw of each task.
fn known(app: &App, file: &TaskFile) -> Known {
    let latest = app.layout().latest_run().ok().flatten();
    let past = latest.and_then(|run| past::read(&run).ok());
    let same = past.filter(|past| past.header.tasks_file.as_deref() == Some(&file.path));
    same.map(|past| Known {
        proofs: past.state.ticks.proofs,
        skipped: past.state.tasks.skipped,
    })
    .unwrap_or_default()
}

/// The list, or the part of it that was asked for, with its own counts.
fn json_of(file: &TaskFile, list: &TaskList, scope: &Scope, known: &Known) -> Value {
    let mut json = list.to_json(&file.name);
    for task in json["tasks"].as_array_mut().into_iter().flatten() {
        let id = task["id"].as_str().unwrap_or_default().to_owned();
        if known.skipped.contains(&id) {
            task["skipped"] = true.into();
        }
        let proof = known.proofs.get(&id);
        if let Some(proof) = proof.filter(|_| task["done"] == true) {
            task["proof"] = json!(proof);
        }
    }
    if let Some(phase) = &scope.phase {
        let counts = list.counts(scope);
        json["total"] = json!(counts.total);
        json["completed"] = json!(counts.completed);
        json["pending"] = json!(counts.pending);
        for (key, name) in [("phases", "key"), ("tasks", "phase")] {
            if let Some(entries) = json[key].as_array_mut() {
                entries.retain(|entry| entry[name] == **phase);
            }
        }
    }
    json
}

fn table(app: &App, file: &TaskFile, list: &TaskList, scope: &Scope, known: &Known) -> String {
    let lang = app.lang();
    let counts = list.counts(scope);
    let (name, format) = (&file.name, list.format.into_str());
    let (total, completed, pending) = (counts.total, counts.completed, counts.pending);
    let tasks_en = plural(total, "task", "tasks");
    let mut out = tr!(
        lang,
        "{name} ({format}): {completed}/{total} {tasks_en} done, {pending} to do\n"
    );
    let mut phase = None;
    let key = |task: &Task| Some(&list.phases.get(task.phase?)?.key);
    let wanted = |task: &&Task| scope.phase.is_none() || key(task) == scope.phase.as_ref();
    for task in list.tasks.iter().filter(wanted) {
        if task.phase != phase {
            phase = task.phase;
            match phase.and_then(|i| list.phases.get(i)) {
                Some(p) => out.push_str(&format!("\n{} {}\n", p.key, p.title)),
                None => out.push('\n'),
            }
        }
        let mark = if task.done { "[x]" } else { "[ ]" };
        let indent = "  ".repeat(task.depth);
        let optional = if task.optional {
            tr!(lang, " (optional)")
        } else {
            String::new()
        };
        let proven = match known.proofs.get(&task.id).filter(|_| task.done) {
            Some(_) => tr!(lang, " (proven)"),
            None if known.skipped.contains(&task.id) => tr!(lang, " (skipped)"),
            None => String::new(),
        };
        out.push_str(&format!(
            "  {indent}{mark} {} {}{optional}{proven}\n",
            task.id, task.text
        ));
    }
    out
}

fn next(app: &App, args: &TasksArgs, list: &TaskList, scope: &Scope) -> Exit {
    let lang = app.lang();
    let pick = list.pick(scope);
    match &pick {
        Pick::Next { tasks, .. } => {
            let chosen: Vec<_> = tasks.iter().filter_map(|&i| list.tasks.get(i)).collect();
            if args.json {
                let tasks: Vec<_> = chosen
                    .iter()
                    .map(|t| json!({"id": t.id, "text": t.text, "line": t.line}))
                    .collect();
                app.json(&json!({"next": tasks}));
            } else {
                let lines: Vec<_> = chosen
                    .iter()
                    .map(|t| format!("{} {}", t.id, t.text))
                    .collect();
                app.tell(&lines.join("\n"));
            }
            Ok(0)
        }
        Pick::Done => {
            let done = tr!(lang, "everything is done");
            app.answer(args.json, || json!({"next": []}), || done)
        }
        _ => app.fail(&plan::Unpickable {
            file: list.file().to_owned(),
            pick,
        }),
    }
}

fn lint(app: &App, args: &TasksArgs, file: &TaskFile, list: &TaskList) -> Exit {
    let lang = app.lang();
    let findings = list.lint();
    if args.json {
        let lines: Vec<_> = findings
            .iter()
            .map(|f| json!({"line": f.line, "kind": f.kind.name(), "message": f.say(lang)}))
            .collect();
        app.json(&json!({"file": file.name, "findings": lines}));
    } else if findings.is_empty() {
        let name = &file.name;
        app.tell(&tr!(lang, "{name}: nothing doubtful"));
    } else {
        let lines: Vec<_> = findings
            .iter()
            .map(|f| format!("{}:{}: {}", file.name, f.line, f.say(lang)))
            .collect();
        app.tell(&lines.join("\n"));
    }
    if findings.is_empty() {
        Ok(0)
    } else {
        Err(FAILED)
    }
}

fn mark(
    app: &App,
    args: &TasksArgs,
    file: &TaskFile,
    bytes: &[u8],
    mut list: TaskList,
    done: bool,
) -> Exit {
    let Some(id) = &args.id else {
        let verb = if done { "tick" } else { "untick" };
        return app.refuse(&tr!(app.lang(), "which task? give its id, such as `ralph tasks {verb} T001`; `ralph tasks list` shows all"));
    };
    let changed = list
        .require(id)
        .and_then(|task| Ok((task, tasks::set_mark(bytes, &list, task, done)?)));
    let (task, bytes) = changed.or_fail(app)?;
    if let Some(task) = list.tasks.get_mut(task) {
        task.done = done;
    }
    // Counts that the file keeps of itself go along (TASK-11).
    let counted = tasks::sync_progress_block(&bytes, &list);
    let bytes = counted.unwrap_or(bytes);
    if let Err(error) = write_through(&file.path, &bytes, AtomicOptions { durable: true }) {
        return app.fail(&error);
    }
    let Some(task) = list.tasks.get(task) else {
        return Ok(0);
    };
    let (id, text, line) = (&task.id, &task.text, task.line);
    if args.json {
        app.json(&json!({"id": id, "text": text, "done": done, "line": line}));
    } else {
        let mark = if done { "[x]" } else { "[ ]" };
        let name = &file.name;
        app.tell(&format!("{name}: {mark} {id} {text}"));
    }
    Ok(0)
}

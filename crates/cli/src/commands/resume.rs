//! `ralph resume`: takes a run up where it was left.

use std::io::{BufRead, Write};

use ralph_core::display::{self, ResumeView};
use ralph_core::machine::{Goal, Outcome, iso_utc};
use ralph_core::tr;
use ralph_engine::clock;
use ralph_engine::error::DriveError;
use ralph_engine::opening::{self, Opening};
use ralph_engine::past::{self, Past, PastError};
use ralph_store::FileError;
use ralph_store::layout::{Layout, RunId, RunPaths};

use super::run::{Shown, prepare, show};
use crate::FAILED;
use crate::app::{self, App};
use crate::args::{Global, ResumeArgs};

/// What is done with an unfinished run (RESM-04, RESM-09).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    Continue,
    Restart,
    Show,
    Abandon,
}

pub fn run(app: App, global: &Global, args: &ResumeArgs) -> u8 {
    let layout = Layout::new(&app.root);
    if args.list {
        return list(&app, &layout);
    }
    let (paths, past) = match find(&app, &layout, args) {
        Ok(found) => found,
        Err(code) => return code,
    };
    let choice = match choose(&app, args, &past) {
        Ok(choice) => choice,
        Err(code) => return code,
    };
    let shown = Shown {
        json: args.json,
        quiet: args.quiet,
    };
    let opening = match choice {
        Choice::Show => {
            app.print(&details(&app, &paths, &past));
            return 0;
        }
        Choice::Abandon => Opening::Abandon(paths.id),
        Choice::Continue => Opening::Resume(paths.id),
        Choice::Restart => Opening::New,
    };
    match prepare(app, global, past.header.asked, shown) {
        Ok((app, plan)) => show(&app, plan, &opening, shown),
        Err(code) => code,
    }
}

/// The run that is named, else the newest that has begun.
fn find(app: &App, layout: &Layout, args: &ResumeArgs) -> Result<(RunPaths, Past), u8> {
    let lang = app.lang();
    let paths = match &args.run {
        Some(id) => RunId::parse(id)
            .map(|id| layout.run(&id))
            .filter(|paths| paths.dir.is_dir()),
        None => newest(layout).map_err(|error| app.fail(&error))?,
    };
    let Some(paths) = paths else {
        app.warn(&tr!(
            lang,
            "there is no such run to take up; `ralph resume --list` shows all, `ralph run` starts one",
            "沒有可恢復的執行紀錄；`ralph resume --list` 列出全部，`ralph run` 開始新的",
            "没有可恢复的运行记录；`ralph resume --list` 列出全部，`ralph run` 开始新的",
        ));
        return Err(FAILED);
    };
    if args.from_intact {
        keep_intact(app, layout, &paths)?;
    }
    let past = past::read(&paths).map_err(|error| app.fail(&error))?;
    if let Some(outcome @ (Outcome::Complete | Outcome::Cancelled)) = past.state.outcome() {
        finish_telling(app, layout, &paths)?;
        let (run, name) = (paths.id.as_str(), outcome.name());
        app.warn(&tr!(
            lang,
            "run {run} is over ({name}); start a new one with `ralph run`",
            "執行 {run} 已結束（{name}）；請用 `ralph run` 開始新的",
            "运行 {run} 已结束（{name}）；请用 `ralph run` 开始新的",
        ));
        return Err(FAILED);
    }
    Ok((paths, past))
}

/// A run that died before it began hides no other; if there is no other, it
/// is the one to speak of.
fn newest(layout: &Layout) -> Result<Option<RunPaths>, FileError> {
    let runs = layout.runs()?;
    let began = |paths: &&RunPaths| !matches!(past::read(paths), Err(PastError::NeverBegan { .. }));
    Ok(runs.iter().rev().find(began).or(runs.last()).cloned())
}

/// Its end may not have been told: then that is what is left to do, and its
/// exit code is that of the run.
fn finish_telling(app: &App, layout: &Layout, paths: &RunPaths) -> Result<(), u8> {
    let outcome = match opening::finish_telling(layout, &paths.id) {
        Ok(Some(outcome)) => outcome,
        // Another run that is alive is no concern of one that is over.
        Ok(None) | Err(DriveError::Locked(_)) => return Ok(()),
        Err(error) => return Err(app.fail(&error)),
    };
    let (run, name) = (paths.id.as_str(), outcome.name());
    app.tell(&tr!(
        app.lang(),
        "run {run} had ended ({name}), and its process died before it could say so; its files are complete now",
        "執行 {run} 已結束（{name}），但行程在回報前終止；其檔案現已補全",
        "运行 {run} 已结束（{name}），但进程在报告前终止；其文件现已补全",
    ));
    Err(outcome.exit_code())
}

fn keep_intact(app: &App, layout: &Layout, paths: &RunPaths) -> Result<(), u8> {
    match opening::keep_intact(layout, &paths.id) {
        Ok(Some(salvage)) => {
            let (copy, records) = (salvage.copy.display(), salvage.records);
            app.warn(&tr!(
                app.lang(),
                "going on from {records} intact records; the damaged journal stands in {copy}",
                "從 {records} 筆完好的紀錄繼續；損壞的日誌保留於 {copy}",
                "从 {records} 条完好的记录继续；损坏的日志保留于 {copy}",
            ));
            Ok(())
        }
        Ok(None) => Ok(()),
        Err(error) => Err(app.fail(&error)),
    }
}

fn choose(app: &App, args: &ResumeArgs, past: &Past) -> Result<Choice, u8> {
    let flags = [
        (args.yes || args.from_intact, Choice::Continue),
        (args.restart, Choice::Restart),
        (args.show, Choice::Show),
        (args.abandon, Choice::Abandon),
    ];
    if let Some((_, choice)) = flags.into_iter().find(|(given, _)| *given) {
        return Ok(choice);
    }
    if !app::is_interactive() {
        app.warn(&tr!(
            app.lang(),
            "nobody is there to choose: say --yes, --restart, --show or --abandon",
            "沒有人可以選擇：請加上 --yes、--restart、--show 或 --abandon",
            "没有人可以选择：请加上 --yes、--restart、--show 或 --abandon",
        ));
        return Err(FAILED);
    }
    let menu = display::resume_menu(&app.screen, &view(past));
    loop {
        let mut out = std::io::stdout().lock();
        let _ = out.write_all(menu.as_bytes());
        let _ = out.flush();
        drop(out);
        let mut answer = String::new();
        if !matches!(std::io::stdin().lock().read_line(&mut answer), Ok(n) if n > 0) {
            return Err(FAILED);
        }
        match answer.trim() {
            "1" => return Ok(Choice::Continue),
            "2" => return Ok(Choice::Restart),
            "3" => return Ok(Choice::Show),
            "4" => return Ok(Choice::Abandon),
            _ => {}
        }
    }
}

fn view(past: &Past) -> ResumeView {
    let state = &past.state;
    let phases = state.tasks.as_ref().map_or(0, |t| t.phases.len());
    ResumeView {
        task: match (
            &state.rules.goal,
            &past.header.asked.prompt,
            &past.header.tasks_file,
        ) {
            (Goal::Prompt, Some(prompt), _) => prompt.clone(),
            (_, _, Some(file)) => file.display().to_string(),
            _ => String::new(),
        },
        route: None,
        phase: state.phase().map(|key| (key.to_owned(), phases)),
        iteration: state.turns,
        interrupted_at: clock::local_time(state.now().wall_ms),
    }
}

fn details(app: &App, paths: &RunPaths, past: &Past) -> String {
    let lang = app.lang();
    let state = &past.state;
    let facts = state.tasks.clone().unwrap_or_default();
    let (id, turns) = (paths.id.as_str(), state.turns);
    let (completed, total) = (facts.completed, facts.total);
    let started = clock::local_time(past.header.started_ms);
    let last = clock::local_time(state.now().wall_ms);
    let outcome = state.outcome().map_or("running", Outcome::name);
    let mut out = tr!(
        lang,
        "run {id}\nstarted {started}, last event {last}\nstate: {outcome}, {turns} iterations, {completed}/{total} tasks\n",
        "執行 {id}\n開始於 {started}，最後事件 {last}\n狀態：{outcome}，{turns} 次迭代，{completed}/{total} 任務\n",
        "运行 {id}\n开始于 {started}，最后事件 {last}\n状态：{outcome}，{turns} 次迭代，{completed}/{total} 任务\n",
    );
    out.push_str(&display::phase_tree(
        &app.screen,
        &crate::view::phases(state),
    ));
    for task in &facts.open {
        out.push_str(&format!("- [ ] {}\n", task.name()));
    }
    out
}

fn list(app: &App, layout: &Layout) -> u8 {
    let runs = match layout.runs() {
        Ok(runs) => runs,
        Err(error) => return app.fail(&error),
    };
    for paths in runs {
        let id = paths.id.as_str();
        let line = match past::read(&paths) {
            Ok(past) => {
                let facts = past.state.tasks.clone().unwrap_or_default();
                let outcome = past.state.outcome().map_or("unfinished", Outcome::name);
                let (turns, last) = (past.state.turns, iso_utc(past.state.now().wall_ms));
                format!(
                    "{id}  {outcome:<13} #{turns:<5} {}/{}  {last}",
                    facts.completed, facts.total
                )
            }
            Err(_) => format!("{id}  damaged"),
        };
        app.print(&line);
    }
    0
}

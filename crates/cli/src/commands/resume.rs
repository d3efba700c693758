//! `ralph resume`: takes a run up where it was left.

use std::io::{BufRead, Write};

use ralph_core::display::{self, ResumeView};
use ralph_core::machine::{Goal, Outcome, iso_utc};
use ralph_core::tr;
use ralph_engine::archive::{self, Restored};
use ralph_engine::clock;
use ralph_engine::opening::Opening;
use ralph_engine::past::{self, Past};
use ralph_store::layout::{Layout, RunPaths};

use super::history::keeping;
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

/// The run that is named, out of the history if need be (RESM-05), else the
/// newest.
fn find(app: &App, layout: &Layout, args: &ResumeArgs) -> Result<(RunPaths, Past), u8> {
    let lang = app.lang();
    let paths = match &args.run {
        Some(id) => named(app, layout, id)?,
        None => layout.latest_run().map_err(|error| app.fail(&error))?,
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
    let past = past::read(&paths).map_err(|error| app.fail(&error))?;
    let only_looks_or_starts_over = args.show || args.restart;
    if let Some(outcome @ (Outcome::Complete | Outcome::Cancelled)) = past.state.outcome()
        && !only_looks_or_starts_over
    {
        let (run, name) = (paths.id.as_str(), outcome.name());
        app.warn(&tr!(
            lang,
            "run {run} is over ({name}); start a new one with `ralph run`, or the same once more with `ralph resume {run} --restart`",
            "執行 {run} 已結束（{name}）；請用 `ralph run` 開始新的，或用 `ralph resume {run} --restart` 重做一次",
            "运行 {run} 已结束（{name}）；请用 `ralph run` 开始新的，或用 `ralph resume {run} --restart` 重做一次",
        ));
        return Err(FAILED);
    }
    Ok((paths, past))
}

fn named(app: &App, layout: &Layout, id: &str) -> Result<Option<RunPaths>, u8> {
    let lang = app.lang();
    let keeping = keeping(app)?;
    let found = archive::restore(layout, &keeping, id).map_err(|error| app.fail(&error))?;
    match found {
        Restored::There(paths) => Ok(Some(paths)),
        Restored::Back(paths) => {
            let run = &paths.id;
            app.warn(&tr!(
                lang,
                "run {run} was brought back from the history",
                "已從歷史紀錄還原執行 {run}",
                "已从历史记录还原运行 {run}",
            ));
            Ok(Some(paths))
        }
        Restored::NoJournal(entry) => {
            let path = entry.path.display();
            app.warn(&tr!(
                lang,
                "{path} has no journal, so that nothing can be taken up from it; look at it with `ralph history show {id}`, then start a new run with `ralph run`: what is ticked stays ticked",
                "{path} 沒有日誌，無法由此恢復；請用 `ralph history show {id}` 查看，再用 `ralph run` 重新開始：已勾選的任務會保留",
                "{path} 没有日志，无法由此恢复；请用 `ralph history show {id}` 查看，再用 `ralph run` 重新开始：已勾选的任务会保留",
            ));
            Err(FAILED)
        }
        Restored::Unknown => Ok(None),
    }
}

fn choose(app: &App, args: &ResumeArgs, past: &Past) -> Result<Choice, u8> {
    let flags = [
        (args.yes, Choice::Continue),
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

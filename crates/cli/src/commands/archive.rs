//! `ralph archive`: puts a run into the history by hand, and clears old ones.

use std::io::{BufRead, Write};

use ralph_core::machine::Outcome;
use ralph_core::report::{outcome_name, outcome_word};
use ralph_core::tr;
use ralph_engine::archive::{self, Keeping, Pruned};
use ralph_engine::past;
use ralph_engine::plan::megabytes;
use ralph_store::layout::{Layout, RunId, RunPaths};
use ralph_store::lock::{LockError, holder};

use super::history::keeping;
use crate::FAILED;
use crate::app::{self, App};
use crate::args::ArchiveArgs;

pub fn run(app: &App, args: &ArchiveArgs) -> u8 {
    let layout = Layout::new(&app.root);
    let keeping = match keeping(app) {
        Ok(keeping) => keeping,
        Err(code) => return code,
    };
    let done = if args.prune {
        prune(app, &layout, &keeping, args)
    } else {
        put(app, &layout, &keeping, args)
    };
    done.err().unwrap_or(0)
}

fn put(app: &App, layout: &Layout, keeping: &Keeping, args: &ArchiveArgs) -> Result<(), u8> {
    let lang = app.lang();
    let run = find(app, layout, args.run.as_deref())?;
    refuse_the_living(app, layout, &run)?;
    let past = past::read(&run).map_err(|error| app.fail(&error))?;
    let outcome = past.state.outcome();
    if outcome.is_none_or(Outcome::can_go_on) && !args.yes {
        let id = run.id.as_str();
        let word = outcome_word(lang, outcome_name(outcome));
        let question = tr!(
            lang,
            "run {id} is not over ({word}) and can be taken up with `ralph resume`; archive it all the same?",
            "執行 {id} 尚未結束（{word}），可用 `ralph resume` 恢復；仍要歸檔嗎？",
            "运行 {id} 尚未结束（{word}），可用 `ralph resume` 恢复；仍要归档吗？",
        );
        confirm(app, &question)?;
    }
    let archived =
        archive::archive_by_hand(layout, keeping, &run, lang).map_err(|error| app.fail(&error))?;
    let to = archived.path.strip_prefix(&app.root);
    let to = to.unwrap_or(&archived.path).display();
    app.tell(&if archived.already {
        tr!(
            lang,
            "it is archived already: {to}",
            "已經歸檔: {to}",
            "已经归档: {to}"
        )
    } else {
        tr!(lang, "archived to {to}", "已歸檔至: {to}", "已归档至: {to}")
    });
    Ok(())
}

fn find(app: &App, layout: &Layout, id: Option<&str>) -> Result<RunPaths, u8> {
    let lang = app.lang();
    let Some(id) = id else {
        let latest = layout.latest_run().map_err(|error| app.fail(&error))?;
        return latest.ok_or_else(|| {
            app.warn(&tr!(
                lang,
                "no loop has run here yet; start one with `ralph run`",
                "這裡還沒有執行過迴圈；請用 `ralph run` 開始",
                "这里还没有运行过循环；请用 `ralph run` 开始",
            ));
            FAILED
        });
    };
    let run = RunId::parse(id).map(|id| layout.run(&id));
    run.filter(|run| run.dir.is_dir()).ok_or_else(|| {
        app.warn(&tr!(
            lang,
            "there is no run {id}; `ralph resume --list` shows all",
            "沒有執行 {id}；`ralph resume --list` 列出全部",
            "没有运行 {id}；`ralph resume --list` 列出全部",
        ));
        FAILED
    })
}

/// Before anybody is asked; the lock itself decides.
fn refuse_the_living(app: &App, layout: &Layout, run: &RunPaths) -> Result<(), u8> {
    match holder(&layout.lock()) {
        Ok(Some(info)) if info.run_id == run.id.as_str() => Err(app.fail(&LockError::Held {
            path: layout.lock(),
            holder: Some(info),
        })),
        _ => Ok(()),
    }
}

fn confirm(app: &App, question: &str) -> Result<(), u8> {
    let lang = app.lang();
    if !app::is_interactive() {
        app.warn(&format!(
            "{question} {}",
            tr!(lang, "Say --yes.", "請加上 --yes。", "请加上 --yes。")
        ));
        return Err(FAILED);
    }
    let mut out = std::io::stdout().lock();
    let _ = write!(out, "{question} [y/N] ");
    let _ = out.flush();
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    match (read, answer.trim()) {
        (Ok(_), "y" | "Y" | "yes") => Ok(()),
        _ => Err(FAILED),
    }
}

fn prune(app: &App, layout: &Layout, keeping: &Keeping, args: &ArchiveArgs) -> Result<(), u8> {
    let lang = app.lang();
    let keep = args.keep.unwrap_or(keeping.keep);
    if keep == 0 {
        app.warn(&tr!(
            lang,
            "--keep 0 would delete everything: the newest always stays; say --keep 1 or more",
            "--keep 0 會刪除全部：最新的一項一定保留；請用 --keep 1 以上",
            "--keep 0 会删除全部：最新的一项一定保留；请用 --keep 1 以上",
        ));
        return Err(FAILED);
    }
    let pruned: Vec<Pruned> = if args.dry_run {
        let surplus = archive::surplus(layout, keeping, keep).map_err(|error| app.fail(&error))?;
        surplus.into_iter().map(|(_, pruned)| pruned).collect()
    } else {
        archive::prune_by_hand(layout, keeping, keep).map_err(|error| app.fail(&error))?
    };
    for Pruned { name, run, bytes } in &pruned {
        let size = megabytes(*bytes);
        let run = run.as_ref().map(|run| format!(" + .ralph/runs/{run}"));
        app.tell(&format!("{name}{}  {size}", run.unwrap_or_default()));
    }
    let count = pruned.len();
    app.tell(&match args.dry_run {
        true => tr!(
            lang,
            "{count} would be deleted; the newest {keep} stay",
            "將刪除 {count} 項；保留最新的 {keep} 項",
            "将删除 {count} 项；保留最新的 {keep} 项",
        ),
        false => tr!(
            lang,
            "{count} deleted; the newest {keep} stay",
            "已刪除 {count} 項；保留最新的 {keep} 項",
            "已删除 {count} 项；保留最新的 {keep} 项",
        ),
    });
    Ok(())
}

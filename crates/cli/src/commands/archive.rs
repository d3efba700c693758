//! `ralph archive`: puts a run into the history by hand, and clears old ones.

use std::io::{BufRead, Write};

use ralph_core::machine::Outcome;
use ralph_core::report::{outcome_name, outcome_word};
use ralph_core::tr;
use ralph_engine::announcement::Pruned;
use ralph_engine::announcement::megabytes;
use ralph_engine::archive::{self, Keeping};
use ralph_engine::past;
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
            "run {id} is not over ({word}) and can be taken up with `ralph resume`; archive it all the same?"
        );
        confirm(app, &question)?;
    }
    let archived =
        archive::archive_by_hand(layout, keeping, &run, lang).map_err(|error| app.fail(&error))?;
    let to = archived.path.strip_prefix(&app.root);
    let to = to.unwrap_or(&archived.path).display();
    app.tell(&if archived.already {
        tr!(lang, "it is archived already: {to}")
    } else {
        tr!(lang, "archived to {to}")
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
                "no loop has run here yet; start one with `ralph run`"
            ));
            FAILED
        });
    };
    let run = RunId::parse(id).map(|id| layout.run(&id));
    run.filter(|run| run.dir.is_dir()).ok_or_else(|| {
        app.warn(&tr!(
            lang,
            "there is no run {id}; `ralph resume --list` shows all"
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
        app.warn(&format!("{question} {}", tr!(lang, "Say --yes.")));
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
            "--keep 0 would delete everything: the newest always stays; say --keep 1 or more"
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
        true => tr!(lang, "{count} would be deleted; the newest {keep} stay"),
        false => tr!(lang, "{count} deleted; the newest {keep} stay"),
    });
    Ok(())
}

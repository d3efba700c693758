//! `ralph archive`: puts a run into the history by hand, and clears old ones.

use ralph_core::lang::Lang;
use ralph_core::machine::Outcome;
use ralph_core::report::{outcome_name, outcome_word};
use ralph_core::tr;
use ralph_engine::announcement::Pruned;
use ralph_engine::announcement::megabytes;
use ralph_engine::archive::{self, Keeping};
use ralph_engine::past;
use ralph_store::layout::{Layout, RunId, RunPaths};
use ralph_store::lock::{LockError, holder};

use super::answer::no_run;
use super::history::keeping;
use crate::FAILED;
use crate::app::{self, App, Exit, OrFail};
use crate::args::ArchiveArgs;

pub fn run(app: &App, args: &ArchiveArgs) -> Exit {
    let layout = app.layout();
    let keeping = keeping(app)?;
    match args.prune {
        true => prune(app, &layout, &keeping, args),
        false => put(app, &layout, &keeping, args),
    }
}

fn put(app: &App, layout: &Layout, keeping: &Keeping, args: &ArchiveArgs) -> Exit {
    let lang = app.lang();
    let run = find(app, layout, args.run.as_deref())?;
    refuse_the_living(app, layout, &run)?;
    let past = past::read(&run).or_fail(app)?;
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
    let archived = archive::archive_by_hand(layout, keeping, &run, lang).or_fail(app)?;
    let to = archived.path.strip_prefix(&app.root);
    let to = to.unwrap_or(&archived.path).display();
    app.done(&if archived.already {
        tr!(lang, "it is archived already: {to}")
    } else {
        tr!(lang, "archived to {to}")
    })
}

fn find(app: &App, layout: &Layout, id: Option<&str>) -> Result<RunPaths, u8> {
    let (run, why) = match id {
        None => (layout.latest_run().or_fail(app)?, no_run(app)),
        Some(id) => (known(layout, id), unknown(id, app.lang())),
    };
    run.map_or_else(|| app.refuse(&why), Ok)
}

/// The run of that name, if there is one.
pub fn known(layout: &Layout, id: &str) -> Option<RunPaths> {
    let run = layout.run(&RunId::parse(id)?);
    run.dir.is_dir().then_some(run)
}

pub fn unknown(run: &str, lang: Lang) -> String {
    tr!(
        lang,
        "there is no run {run}; `ralph resume --list` shows all"
    )
}

/// Before anybody is asked; the lock itself decides.
fn refuse_the_living(app: &App, layout: &Layout, run: &RunPaths) -> Result<(), u8> {
    match holder(&layout.lock()) {
        Ok(Some(info)) if info.run_id == run.id.as_str() => app.fail(&LockError::Held {
            path: layout.lock(),
            holder: Some(info),
        }),
        _ => Ok(()),
    }
}

pub fn confirm(app: &App, question: &str) -> Result<(), u8> {
    let lang = app.lang();
    if !app::is_interactive() {
        return app.refuse(&format!("{question} {}", tr!(lang, "Say --yes.")));
    }
    match app::ask(&format!("{question} [y/N] ")).as_deref() {
        Some("y" | "Y" | "yes") => Ok(()),
        _ => Err(FAILED),
    }
}

fn prune(app: &App, layout: &Layout, keeping: &Keeping, args: &ArchiveArgs) -> Exit {
    let lang = app.lang();
    let keep = args.keep.unwrap_or(keeping.keep);
    if keep == 0 {
        return app.refuse(&tr!(
            lang,
            "--keep 0 would delete everything: the newest always stays; say --keep 1 or more"
        ));
    }
    let pruned: Vec<Pruned> = if args.dry_run {
        let surplus = archive::surplus(layout, keeping, keep).or_fail(app)?;
        surplus.into_iter().map(|(_, pruned)| pruned).collect()
    } else {
        archive::prune_by_hand(layout, keeping, keep).or_fail(app)?
    };
    for Pruned { name, run, bytes } in &pruned {
        let size = megabytes(*bytes);
        let dir = run.as_ref().map(|run| layout.run(run).dir);
        let run = dir.map(|dir| format!(" + {}", dir.display()));
        app.tell(&format!("{name}{}  {size}", run.unwrap_or_default()));
    }
    let count = pruned.len();
    app.done(&match args.dry_run {
        true => tr!(lang, "{count} would be deleted; the newest {keep} stay"),
        false => tr!(lang, "{count} deleted; the newest {keep} stay"),
    })
}

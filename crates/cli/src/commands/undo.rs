//! `ralph undo` and `ralph redo`: the work as it was, path by path.

use ralph_core::lang::Say;
use ralph_core::machine::BranchMove;
use ralph_core::tasks::{ReadOptions, Scope};
use ralph_core::text::duration::plural;
use ralph_core::tr;
use ralph_engine::look::TaskFile;
use ralph_engine::past;
use ralph_engine::plan;
use ralph_engine::snapshots::Caps;
use ralph_engine::snapshots::undo::{Plan, Undo, Wish, World};

use super::archive::confirm;
use super::turns;
use crate::app::{App, Exit, OrFail};
use crate::args::{RedoArgs, UndoArgs};
use crate::settings;

/// So many paths are shown before somebody is asked.
const SHOWN: usize = 200;

pub fn undo(app: &App, args: &UndoArgs) -> Exit {
    let (turn, paths) = turns::split(&args.what);
    if let Some((_, Some(_))) = turn {
        return app.refuse(&tr!(app.lang(), "name one turn: `ralph undo 3`"));
    }
    let turn = turn.map(|(turn, _)| turn);
    if args.commits && !paths.is_empty() {
        return app.refuse(&tr!(
            app.lang(),
            "a branch goes back as a whole: leave --commits or the paths out"
        ));
    }
    let asked = Asked {
        run: args.run.as_deref(),
        paths,
        commits: args.commits,
        dry_run: args.dry_run,
        yes: args.yes,
    };
    carry_out(app, Wish::Undo { turn }, &asked)
}

pub fn redo(app: &App, args: &RedoArgs) -> Exit {
    let asked = Asked {
        run: args.run.as_deref(),
        paths: &[],
        // Where the undo moved the branch.
        commits: true,
        dry_run: args.dry_run,
        yes: args.yes,
    };
    carry_out(app, Wish::Redo, &asked)
}

struct Asked<'a> {
    run: Option<&'a str>,
    paths: &'a [String],
    commits: bool,
    dry_run: bool,
    yes: bool,
}

fn carry_out(app: &App, wish: Wish, asked: &Asked<'_>) -> Exit {
    let lang = app.lang();
    let paths = turns::run_of(app, asked.run)?;
    let only = turns::within(app, asked.paths)?;
    let world = world(app, &paths)?;
    let mut undo = Undo::open(&app.layout(), &paths, world).or_fail(app)?;
    let mut plan = undo.plan(wish, &only).or_fail(app)?;
    if asked.commits {
        undo.with_branch(&mut plan).or_fail(app)?;
    }
    if plan.paths.is_empty() && plan.moved.is_none() {
        let turn = plan.turn;
        return app.done(&tr!(lang, "the work stands as after turn {turn} already"));
    }
    app.tell(&preview(app, &plan));
    if asked.dry_run {
        return Ok(0);
    }
    if !asked.yes {
        confirm(app, &tr!(lang, "Do that?"))?;
    }
    let redo = plan.wish == Wish::Redo;
    let files = undo.perform(&plan).or_fail(app)?;
    let (turn, files_en) = (plan.turn, plural(files, "file", "files"));
    if let Some(BranchMove { branch, kept, .. }) = &plan.moved {
        return app.done(&tr!(
            lang,
            "{files} {files_en}; the work and the branch {branch} stand as after turn {turn}; the tip that it had is {kept}"
        ));
    }
    app.done(&match redo {
        true => tr!(lang, "taken back: {files} {files_en}; the work stands as after turn {turn}"),
        false => tr!(
            lang,
            "undone: {files} {files_en}; the work stands as after turn {turn}. `ralph redo` takes it back; commits stay where they are"
        ),
    })
}

fn preview(app: &App, plan: &Plan) -> String {
    let lang = app.lang();
    let total = plan.paths.len();
    let files_en = plural(total, "file changes", "files change");
    let turn = plan.turn;
    let mut out = tr!(
        lang,
        "{total} {files_en}, so that the work stands as after turn {turn}:\n"
    );
    for changed in plan.paths.iter().take(SHOWN) {
        out.push_str(&turns::line(changed, lang));
    }
    if total > SHOWN {
        out.push_str("  …\n");
    }
    if let Some(BranchMove {
        branch,
        from,
        to,
        kept,
    }) = &plan.moved
    {
        let (from, to) = (short(from), short(to));
        out.push_str(&tr!(
            lang,
            "  the branch {branch} goes from {from} to {to}; {from} stays reachable as {kept}\n"
        ));
    }
    for (path, why) in &plan.left_out {
        let (path, why) = (turns::name(path), why.say(lang));
        out.push_str(&tr!(
            lang,
            "  stays as it is, since it was not kept: {path} ({why})\n"
        ));
    }
    out
}

/// As much of a commit's name as people read.
fn short(commit: &str) -> &str {
    commit.get(..10).unwrap_or(commit)
}

/// The world as the run saw it.
pub(super) fn world(app: &App, paths: &ralph_store::layout::RunPaths) -> Result<World, u8> {
    let sources = settings::sources(&app.root, Vec::new());
    let settings = settings::loaded(app, &sources)?.settings;
    let past = past::read(paths).or_fail(app)?;
    if let Some(lanes) = &past.header.rules.lanes {
        let branch = &lanes.branch;
        return app.refuse(&tr!(
            app.lang(),
            "that run had lanes: it worked in trees of its own, and its work is on branch {branch}, also where that was landed since; look at it with `git log {branch}`, take it back with Git, or put a turn elsewhere with `ralph restore TURN --to DIR`"
        ));
    }
    let options = ReadOptions {
        optional_sections: settings.tasks.optional_sections.clone(),
        ..ReadOptions::default()
    };
    let tasks = past.header.tasks_file.clone();
    Ok(World {
        tasks: tasks.map(|path| TaskFile::new(&app.root, path, options)),
        scope: Scope::default(),
        own: plan::own_files(&app.root, &settings),
        caps: Caps::of(&settings.snapshots),
        lang: app.lang(),
    })
}

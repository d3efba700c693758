//! `ralph snapshots`: what every turn left, how much that is, and its end.

use ralph_core::text::duration::plural;
use ralph_core::tr;
use ralph_engine::snapshots;
use ralph_store::objects::Objects;
use serde_json::{Value, json};

use super::archive::confirm;
use super::turns::{self, Turns};
use crate::app::{App, Exit, OrFail};
use crate::args::SnapshotsArgs;

pub fn run(app: &App, args: &SnapshotsArgs) -> Exit {
    if args.verb.is_some() {
        return purge(app, args.yes);
    }
    let turns = Turns::read(app, args.run.as_deref())?;
    let rows = rows(&turns);
    app.answer(
        args.json,
        || to_json(&turns, &rows),
        || table(app, &turns, &rows, args.size),
    )
}

/// A turn, its snapshot, and how many files it changed.
struct Row {
    turn: u32,
    tree: Option<String>,
    changed: Option<usize>,
}

fn rows(turns: &Turns) -> Vec<Row> {
    let timeline = &turns.timeline;
    let start = Row {
        turn: 0,
        tree: timeline.start.as_ref().map(ToString::to_string),
        changed: None,
    };
    let of_turns = timeline.turns.iter().map(|(turn, trees)| {
        let both = trees.before.as_ref().zip(trees.after.as_ref());
        let changed = both.and_then(|(from, to)| turns.snapshots.changes(from, to).ok());
        Row {
            turn: *turn,
            tree: trees.after.as_ref().map(ToString::to_string),
            changed: changed.map(|changed| changed.len()),
        }
    });
    std::iter::once(start).chain(of_turns).collect()
}

fn to_json(turns: &Turns, rows: &[Row]) -> Value {
    let (bytes, objects) = turns.snapshots.size();
    let rows = rows
        .iter()
        .map(|row| json!({"turn": row.turn, "tree": row.tree, "changed": row.changed}));
    json!({
        "run": turns.paths.id.as_str(),
        "dir": snapshots::dir(&turns.layout),
        "bytes": bytes,
        "objects": objects,
        "standing": turns.timeline.standing,
        "snapshots": rows.collect::<Vec<_>>(),
    })
}

fn table(app: &App, turns: &Turns, rows: &[Row], size: bool) -> String {
    let lang = app.lang();
    let mut lines = vec![[
        tr!(lang, "turn"),
        tr!(lang, "snapshot"),
        tr!(lang, "files changed"),
    ]];
    lines.extend(rows.iter().map(|row| {
        let tree = row.tree.as_deref().and_then(|tree| tree.get(..12));
        let mark = if row.turn == turns.timeline.standing {
            "*"
        } else {
            ""
        };
        [
            format!("{}{mark}", row.turn),
            tree.map_or_else(|| tr!(lang, "none"), str::to_owned),
            row.changed.map(|n| n.to_string()).unwrap_or_default(),
        ]
    }));
    let mut out = crate::view::columns(&lines);
    if size {
        let (bytes, objects) = turns.snapshots.size();
        let (bytes, dir) = (turns::size(bytes), snapshots::dir(&turns.layout));
        let (dir, objects_en) = (dir.display(), plural(objects, "object", "objects"));
        out.push_str(&tr!(
            lang,
            "all runs: {bytes}, {objects} {objects_en} in {dir}\n"
        ));
    }
    out
}

fn purge(app: &App, yes: bool) -> Exit {
    let lang = app.lang();
    let layout = app.layout();
    if let Some(current) = layout.current_run().or_fail(app)? {
        let run = current.id.as_str();
        return app.refuse(&tr!(
            lang,
            "run {run} is at work and takes snapshots; end it first with `ralph stop`"
        ));
    }
    if !yes {
        confirm(
            app,
            &tr!(
                lang,
                "Delete all snapshots of this project? No turn can be seen or undone then."
            ),
        )?;
    }
    Objects::purge(&snapshots::dir(&layout)).or_fail(app)?;
    app.done(&tr!(lang, "all snapshots of this project are deleted"))
}

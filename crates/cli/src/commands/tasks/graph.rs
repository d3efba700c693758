//! `ralph tasks graph`: the order in which the open tasks can be worked on.

use ralph_core::config::LaneFiles;
use ralph_core::lang::Lang;
use ralph_core::tasks::{Piece, Scope, TaskList, Why, picture};
use ralph_core::text;
use ralph_core::tr;
use serde_json::{Value, json};

use crate::app::{App, Exit};
use crate::args::TasksArgs;

pub(super) fn run(
    app: &App,
    args: &TasksArgs,
    list: &TaskList,
    scope: &Scope,
    files: LaneFiles,
) -> Exit {
    let mut pieces = list.pieces(scope, files);
    // Half a key that a picture has room for is no key that is known as one.
    for piece in &mut pieces {
        piece.text = text::redact(&piece.text).into_owned();
    }
    if args.svg {
        app.print(&picture(&pieces));
        return Ok(0);
    }
    app.answer(
        args.json,
        || json!({"file": list.file(), "tasks": pieces.iter().map(to_json).collect::<Vec<_>>()}),
        || words(&pieces, app.lang()),
    )
}

fn to_json(piece: &Piece) -> Value {
    json!({
        "id": piece.id,
        "text": piece.text,
        "phase": piece.phase,
        "nested": piece.nested,
        "files": piece.files,
        "after": piece.after.iter().map(|before| json!({
            "id": before.id, "why": before.why.into_str(),
        })).collect::<Vec<_>>(),
    })
}

fn words(pieces: &[Piece], lang: Lang) -> String {
    let mut out = String::new();
    for piece in pieces {
        let (id, text) = (&piece.id, text::one_line(&piece.text));
        out.push_str(&format!("{id} {text}\n"));
        for (why, said) in [
            (Why::Depends, tr!(lang, "depends on")),
            (Why::Phase, tr!(lang, "behind the phase of")),
            (Why::Order, tr!(lang, "one by one behind")),
        ] {
            let ids = piece.after.iter().filter(|before| before.why == why);
            let ids: Vec<&str> = ids.map(|before| before.id.as_str()).collect();
            if !ids.is_empty() {
                out.push_str(&format!("  {said} {}\n", ids.join(", ")));
            }
        }
        if !piece.nested.is_empty() {
            let nested = piece.nested.join(", ");
            out.push_str(&tr!(lang, "  with {nested}\n"));
        }
        if !piece.files.is_empty() {
            let files = piece.files.join(", ");
            out.push_str(&tr!(lang, "  changes {files}\n"));
        }
    }
    if out.is_empty() {
        out.push_str(&tr!(lang, "no task is open\n"));
    }
    out
}

//! `ralph restore`: the work as it was, in a directory of its own.

use ralph_core::lang::Say;
use ralph_core::text::duration::plural;
use ralph_core::tr;

use super::turns::{self, Turns};
use crate::app::{App, Exit, OrFail};
use crate::args::RestoreArgs;

pub fn run(app: &App, args: &RestoreArgs) -> Exit {
    let lang = app.lang();
    let turns = Turns::read(app, args.run.as_deref())?;
    let tree = turns.after(app, args.turn)?;
    let to = std::path::absolute(&args.to).unwrap_or_else(|_| args.to.clone());
    let (files, left_out) = turns.snapshots.restore(&tree, &to).or_fail(app)?;
    for (path, why) in &left_out {
        let (path, why) = (turns::name(path), why.say(lang));
        app.warn(&tr!(lang, "not kept in this snapshot: {path} ({why})"));
    }
    let (to, files_en) = (to.display(), plural(files, "file", "files"));
    app.done(&tr!(lang, "{files} {files_en} restored to {to}"))
}

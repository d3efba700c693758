//! A session begins or ends.

use std::path::Path;

use ralph_core::lang::{Lang, Say};
use ralph_core::machine::Request;
use ralph_core::tr;
use ralph_engine::session::index;

use super::answer::Reply;
use super::heard::Heard;
use crate::app;
use crate::insession::Here;

/// Of how many loops it is looked whether they rest.
const LOOKED_AT: usize = 3;

/// Tells of a loop that was left, and what the session's own loop was about
/// where the client made its context shorter.
pub fn begins(heard: &Heard, root: &Path) -> Reply {
    let here = Here::new(root, &heard.session, heard.host.into_str());
    let lang = app::environment_lang();
    if let Some(run) = index::find(&here.layout, &here.session) {
        match here.open(&run) {
            Ok(opened) => {
                if let Some(text) = opened.remind() {
                    return Reply::context(text);
                }
            }
            Err(problem) => return Reply::warning(problem.say(lang)),
        }
    }
    let left = index::all(&here.layout).into_iter().take(LOOKED_AT);
    let mut rests = left.filter(|run| here.rests(run));
    match rests.next() {
        Some(run) => Reply::warning(unfinished(run.as_str(), lang)),
        None => Reply::default(),
    }
}

fn unfinished(run: &str, lang: Lang) -> String {
    tr!(
        lang,
        "🔄 Ralph: loop {run} of this project is not finished. Say \"continue\" to take it up here, or run `ralph resume` in a terminal."
    )
}

/// The loop goes no further without its session; everything is saved.
pub fn ends(heard: &Heard, root: &Path) -> Reply {
    let here = Here::new(root, &heard.session, heard.host.into_str());
    if let Some(run) = index::find(&here.layout, &here.session)
        && let Ok(mut opened) = here.open(&run)
    {
        let _ = opened.leave(Request::Interrupt);
    }
    Reply::default()
}

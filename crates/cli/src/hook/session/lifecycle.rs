//! A session begins or ends.

use ralph_core::lang::Say;
use ralph_core::machine::Request;
use ralph_engine::session::index;
use ralph_store::layout::Layout;

use super::answer::Reply;
use super::heard::Heard;
use crate::app;
use crate::insession::Here;

/// Tells of a loop that was left, and what the session's own loop was about
/// where the client made its context shorter.
pub fn begins(heard: &Heard, layout: Layout) -> Reply {
    let here = Here::new(layout, &heard.session, heard.host.into_str());
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
    here.unfinished()
        .map_or_else(Reply::default, Reply::warning)
}

/// The loop goes no further without its session; everything is saved.
pub fn ends(heard: &Heard, layout: Layout) -> Reply {
    let here = Here::new(layout, &heard.session, heard.host.into_str());
    if let Some(run) = index::find(&here.layout, &here.session)
        && let Ok(mut opened) = here.open(&run)
    {
        let _ = opened.leave(Request::Interrupt);
    }
    Reply::default()
}

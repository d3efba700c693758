//! The PostToolUse hook: the agent did something.

use std::path::Path;

use ralph_engine::session::index;

use super::super::payload::Host;
use super::answer::Reply;
use super::heard::Heard;
use crate::insession::Here;

pub fn answer(heard: &Heard, root: &Path) -> Reply {
    let here = Here::new(root, &heard.session, heard.host.name());
    // Copilot counts its blocks for the whole turn, whatever the agent does.
    if heard.host != Host::Copilot
        && let Some(run) = index::find(&here.layout, &here.session)
    {
        index::note_acted(&here.layout.run(&run));
    }
    Reply::default()
}

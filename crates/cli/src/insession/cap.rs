//! How often in a row a client lets its agent be sent on (trap 12).

use ralph_core::tr;
use ralph_engine::agents::Client;
use ralph_engine::session::SessionLoop;

use crate::install::CAP;
use crate::install::hosts::needed_cap;
use crate::trust;

/// What Claude Code and Copilot CLI obey, where nothing else is said.
const USUAL_CAP: u32 = 8;

/// How many blocks in a row the client obeys (trap 12).
pub fn cap(host: Client) -> Option<u32> {
    match host {
        Client::Claude => {
            let told = std::env::var(CAP).ok();
            let told = told.and_then(|text| text.trim().parse().ok());
            Some(told.unwrap_or(USUAL_CAP)).filter(|&cap| cap > 0)
        }
        Client::Copilot => Some(USUAL_CAP),
        Client::Codex | Client::Gemini | Client::Cursor | Client::OpenCode | Client::Amp => None,
    }
}

/// The client may let go before the loop is at its limit (STOP-08).
pub fn low_cap(opened: &SessionLoop, host: Client) -> Option<String> {
    let cap = cap(host)?;
    let max = opened.state().rules.limits.max_iterations;
    let lang = opened.plan().lang;
    let is_low = max == 0 || cap <= max;
    is_low.then(|| match host {
        Client::Claude if !init_raises(opened) => tr!(
            lang,
            "This session lets its agent stop after {cap} blocks in a row without a tool call, which is less than this loop may need: it rests there, with everything saved. Set limits.max_iterations to {max} in .ralph/config.toml, then `ralph init` raises {CAP}; start the session anew after it."
        ),
        Client::Claude => tr!(
            lang,
            "This session lets its agent stop after {cap} blocks in a row without a tool call, which is less than this loop may need: it rests there, with everything saved. `ralph init` raises {CAP}; start the session anew after it."
        ),
        _ => tr!(
            lang,
            "This client lets its agent stop after {cap} blocks in a row without a tool call, which is less than this loop may need: it rests there, with everything saved."
        ),
    })
}

/// It goes by the settings of the project, and not by what was asked for here.
fn init_raises(opened: &SessionLoop) -> bool {
    let max = opened.state().rules.limits.max_iterations;
    let settings = trust::settings_in_hook(&opened.plan().layout, Vec::new());
    settings.is_ok_and(|(loaded, _)| match (needed_cap(&loaded.settings), max) {
        (0, _) => true,
        (_, 0) => false,
        (cap, max) => cap > max,
    })
}

//! Who is around this process: the run whose agent started it, as the system
//! tells, and the session of a client, as far as variables say.

use ralph_core::tr;
use ralph_engine::agents::Client;
use ralph_engine::{control, wall};

use crate::app::App;

/// Goes on unless an agent of a run, or anything that it started, asks. A
/// variable is quickly dropped, one's parents are not (C-07).
pub fn only_people(app: &App) -> Result<(), u8> {
    let is_told = std::env::var_os("RALPH_RUN_ID").is_some();
    match is_told || wall::is_around_us() || control::run_above(&app.home).is_some() {
        false => Ok(()),
        true => refuse_agent(app),
    }
}

pub fn refuse_agent(app: &App) -> Result<(), u8> {
    app.refuse(&tr!(
        app.lang(),
        "only a person may do that, not the agent that the loop runs"
    ))
}

/// The client whose command this process is, as far as variables say.
pub fn client_around() -> Client {
    let has = |name: &str| std::env::var_os(name).is_some_and(|v| !v.is_empty());
    match () {
        () if has("CLAUDE_CODE_SESSION_ID") => Client::Claude,
        () if has("GEMINI_SESSION_ID") => Client::Gemini,
        () if has("COPILOT_CLI") => Client::Copilot,
        () => Client::Claude,
    }
}

/// The session of a client that this process was started in.
pub fn session_around(client: Client) -> Option<String> {
    let id = std::env::var(client.hooks().session?).ok();
    id.filter(|id| !id.is_empty())
}

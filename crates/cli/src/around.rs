//! Who is around this process: the run whose agent started it, as the system
//! tells, and the session of a client, as far as variables say.

use ralph_core::config::{SandboxMode, Settings};
use ralph_core::lang::Say;
use ralph_core::tr;
use ralph_engine::agents::Client;
use ralph_engine::error::DriveError;
use ralph_engine::{control, wall};

use crate::FAILED;
use crate::app::{App, own_program};

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

/// What the checks of this verb will stand behind, as the settings ask for it.
/// It is said in a line, and nothing is run where one is asked for that does
/// not stand.
pub fn checks(app: &App, settings: &Settings, quiet: bool) -> Result<wall::Wanted, u8> {
    let wanted = wall::Wanted {
        settings: settings.sandbox.clone(),
        own_program: own_program(),
        clients: Vec::new(),
    };
    let mode = wanted.settings.mode;
    if mode == SandboxMode::Off || wall::is_around_us() {
        return Ok(wanted);
    }
    let (facts, wall) = app.block_on(wall::raise(&wanted, &app.layout()))?;
    if wall.is_none() && mode == SandboxMode::Strict {
        let why = facts.why;
        app.warn(&DriveError::NoWall { why }.say(app.lang()));
        return Err(FAILED);
    }
    if !quiet {
        app.warn(&facts.say(app.lang()));
    }
    Ok(wanted)
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

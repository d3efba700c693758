//! The session of a client that this process was started in, as far as
//! variables say.

use ralph_engine::agents::Client;

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

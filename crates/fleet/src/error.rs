//! What can go wrong between here and the server, told to people.

use std::path::PathBuf;

use ralph_core::lang::Say;

#[derive(Debug, Clone, Say)]
pub enum FleetError {
    #[say(
        "the fleet's server {url} can't be used: {why}; is it started, and is the key the right one?"
    )]
    Unreachable { url: String, why: String },
    #[say("{path} can't be read: {why}", path = path.display())]
    File { path: PathBuf, why: String },
    #[say(
        "the server has no {name}, or this key may not see it; make it with the operator's key: `ralph fleet init --buckets`"
    )]
    NotSetUp { name: String },
    #[say("the server did not do it: {why}")]
    Server { why: String },
    #[say("there is no job {id}; see `ralph fleet list`")]
    NoJob { id: String },
    #[say("nobody works on job {id} now; see `ralph fleet show {id}`")]
    NotAtWork { id: String },
    #[say("job {id} is there, and is another one; choose another --id")]
    OtherJob { id: String },
    #[say(
        "what the server holds for {id} can't be understood: {why}; was it written by another version?"
    )]
    Strange { id: String, why: String },
    #[say("{name} is no name for it: letters, digits, - and _, 64 at most")]
    BadName { name: String },
}

impl FleetError {
    pub(crate) fn server(why: impl std::fmt::Display) -> FleetError {
        FleetError::Server {
            why: why.to_string(),
        }
    }
}

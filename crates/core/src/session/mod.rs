//! A loop inside a session of the agent's own client, as text: what a person
//! says to it (`words`), what the agent is told when its stop is blocked
//! (`reinject`), the state file of the ralph plugin (`plugin_file`), and the gate
//! of its check agent (`gate`).

pub mod context;
pub mod gate;
pub mod plugin_file;
pub mod reinject;
pub mod roles;
pub mod task;
pub mod words;

//! What a shell text does: every simple command that may run, with its
//! wrappers removed and its words expanded as far as the text says.

pub(crate) mod args;
mod braces;
mod build;
mod builtin;
mod carried;
pub mod code;
mod command;
mod copied;
pub mod decode;
pub mod env;
mod escape;
mod expand;
pub mod files;
pub mod hosts;
mod interpret;
mod jobs;
pub mod known;
mod options;
pub mod output;
mod parameter;
mod redirect;
mod run;
pub mod sql;
mod stream;
pub mod walk;
mod walked;
mod walker;
mod windows;
mod wrap;

pub use args::{Args, NO_VALUES, Takes};
pub use command::Command;
pub use env::{Env, Flow, Value};
pub use interpret::language;
pub use stream::found_paths;
pub use walker::{Judges, Walker};

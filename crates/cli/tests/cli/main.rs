//! The program as people and programs use it: the real binary, in a throwaway
//! project, with a scripted agent that is a real child process.
#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]

mod env;
mod live;

mod agent;
mod agents;
mod bad_input;
mod config;
mod containment;
mod control;
mod demo;
mod dry_run;
mod files;
mod formats;
mod languages;
mod progress;
mod run;
mod signals;
mod tasks;
mod templates;
mod terminal;

//! The program as people and programs use it: the real binary, in a throwaway
//! project, with a scripted agent that is a real child process.
#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]

#[cfg(unix)]
mod endings;
mod env;
#[cfg(debug_assertions)]
mod faulty;
mod live;

mod agent;
mod agents;
mod bad_input;
#[cfg(unix)]
mod bisect;
#[cfg(unix)]
mod book;
mod checkpoint;
#[cfg(unix)]
mod ci;
mod claims;
mod concurrency;
mod config;
mod containment;
mod control;
#[cfg(debug_assertions)]
mod corrupt;
#[cfg(debug_assertions)]
mod crash;
mod delta;
mod demo;
#[cfg(debug_assertions)]
mod disk;
mod do_;
mod drill;
mod dry_run;
mod e2e_command;
mod evidence;
mod files;
#[cfg(all(unix, feature = "fleet"))]
mod fleet;
#[cfg(all(unix, feature = "fleet"))]
mod fleet_lands;
mod flood;
#[cfg(unix)]
mod forge;
mod forged;
mod formats;
mod gate;
#[cfg(unix)]
mod gitlab;
mod guard;
mod help;
#[cfg(unix)]
mod history;
mod hook;
mod hook_subagent;
mod hook_tracker;
#[cfg(unix)]
mod hostile;
#[cfg(unix)]
mod hub;
#[cfg(unix)]
mod install;
#[cfg(unix)]
mod lanes;
#[cfg(unix)]
mod lanes_together;
#[cfg(unix)]
mod lanes_trees;
mod languages;
#[cfg(target_os = "linux")]
mod league;
mod left_in_git;
#[cfg(unix)]
mod limits;
mod lying;
#[cfg(unix)]
mod mcp;
#[cfg(unix)]
mod monitor;
#[cfg(unix)]
mod neighbour;
mod notify;
#[cfg(unix)]
mod old_state;
#[cfg(unix)]
mod p0;
#[cfg(unix)]
mod p1;
#[cfg(unix)]
mod pipes;
#[cfg(unix)]
mod plan;
#[cfg(unix)]
mod planted;
mod progress;
#[cfg(target_os = "linux")]
mod proof;
#[cfg(unix)]
mod proposals;
#[cfg(unix)]
mod questions;
#[cfg(unix)]
mod recount;
mod report;
#[cfg(unix)]
mod resettled;
mod roles;
#[cfg(target_os = "linux")]
mod room;
mod run;
mod self_check;
mod session;
mod session_again;
mod session_clients;
mod session_delta;
mod session_do;
mod session_files;
#[cfg(unix)]
mod session_forge;
mod session_proof;
mod session_questions;
mod session_roles;
mod session_spoilt;
mod shown;
mod signals;
#[cfg(unix)]
mod steer;
#[cfg(target_os = "linux")]
mod steer_places;
mod survivors;
mod tasks;
mod templates;
#[cfg(unix)]
mod terminal;
mod timeouts;
mod trust;
mod turns;
mod verdicts;
#[cfg(target_os = "linux")]
mod wall;
#[cfg(target_os = "linux")]
mod wall_caches;
#[cfg(target_os = "linux")]
mod wall_checks;
#[cfg(target_os = "linux")]
mod wall_landlock;
#[cfg(target_os = "linux")]
mod wall_network;
#[cfg(target_os = "linux")]
mod web;
mod where_;
mod withheld;

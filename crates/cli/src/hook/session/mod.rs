//! The hooks of a loop inside a session. None of them may trap a person:
//! whatever goes wrong here lets the agent stop, or the tool and the prompt
//! pass, with a message (STOP-10).

mod answer;
pub mod context;
mod heard;
mod lifecycle;
mod prompt;
pub(super) mod roles;
mod stop;
mod subagent;
mod tool;

use std::io::Write;
use std::panic::PanicHookInfo;
use std::path::{Path, PathBuf};

use ralph_core::lang::Say;
use ralph_core::tr;
use ralph_engine::agents::hooks::Event;
use ralph_engine::control;
use ralph_store::layout::Layout;

use super::args::Options;
use super::{Bad, Client, read_payload};
use crate::app;
use crate::guard::project;
use answer::Reply;
use heard::Heard;

pub fn run(options: &Options) -> u8 {
    std::panic::set_hook(Box::new(pass_at_a_panic));
    app::choose_hook_lang(options.lang);
    let is_borrowed = is_borrowed(options);
    let host = match is_borrowed {
        true => Some(Client::Copilot),
        false => options.host,
    };
    let heard = read_payload().and_then(|bytes| Heard::decode(&bytes, host));
    let reply = match &heard {
        Ok(heard) => {
            let root = root_of(options, heard);
            match options.state_home().map(|home| Layout::new(&root, &home)) {
                _ if is_borrowed && root.join(COPILOTS_OWN).exists() => Reply::default(),
                None => Reply::warning(app::no_home(app::environment_lang())),
                Some(layout) => answer(options, heard, layout),
            }
        }
        Err(bad) => Reply::warning(unheard(bad)),
    };
    let heard = heard.unwrap_or_else(|_| Heard::nothing(options.host));
    let output = reply.output(&heard, options);
    let _ = std::io::stdout().lock().write_all(output.stdout.as_bytes());
    let _ = std::io::stdout().lock().flush();
    let _ = std::io::stderr().lock().write_all(output.stderr.as_bytes());
    output.code
}

fn answer(options: &Options, heard: &Heard, layout: Layout) -> Reply {
    // `ralph run` drives this agent: nothing that it says through a hook
    // starts or steers a loop.
    let is_driven = stop::is_driven_from_outside() || control::is_driven(&layout);
    match options.event {
        Event::Stop if is_driven && heard.agent_id.is_none() => stop::ask_for_the_promise(heard),
        Event::UserPromptSubmit | Event::SessionStart | Event::SessionEnd if is_driven => {
            Reply::default()
        }
        Event::Stop => stop::answer(heard, layout, options.within),
        Event::UserPromptSubmit => prompt::answer(heard, layout),
        Event::PostToolUse => tool::answer(heard, layout),
        Event::SessionStart => lifecycle::begins(heard, layout),
        Event::SessionEnd => lifecycle::ends(heard, layout),
        Event::SubagentStop => subagent::answer(heard, &layout),
        Event::PreToolUse => Reply::default(),
    }
}

/// Where Copilot CLI has hooks of its own.
const COPILOTS_OWN: &str = ".github/hooks/ralph.json";

/// Whether Copilot CLI runs the hooks of Claude Code, which it reads as well.
/// Where it has its own, it would call us twice.
fn is_borrowed(options: &Options) -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    options.host == Some(Client::Claude) && is_set("COPILOT_CLI") && !is_set("CLAUDECODE")
}

fn unheard(bad: &Bad) -> String {
    let lang = app::environment_lang();
    let why = bad.say(lang);
    tr!(
        lang,
        "ralph: this hook could not be understood and lets everything pass: {why}"
    )
}

/// Where the client says that its project is, else where it stands.
fn root_of(options: &Options, heard: &Heard) -> PathBuf {
    if let Some(root) = &options.root {
        return project::real(root);
    }
    let named = heard
        .host
        .hooks()
        .project
        .and_then(std::env::var_os)
        .map(PathBuf::from)
        .or_else(|| heard.cwd.clone().map(PathBuf::from))
        .filter(|path| path.is_absolute());
    let start = named.or_else(|| std::env::current_dir().ok());
    project::root_above(&start.unwrap_or_else(|| Path::new("/").to_owned()))
}

/// A release build aborts at a panic; a person is better let go.
fn pass_at_a_panic(panic: &PanicHookInfo<'_>) {
    let lang = app::environment_lang();
    let place = panic
        .location()
        .map_or_else(String::new, |at| format!(" ({}:{})", at.file(), at.line()));
    let text = tr!(
        lang,
        "ralph: this hook has a fault{place} and lets everything pass; please report it"
    );
    let _ = writeln!(std::io::stderr(), "{text}");
    std::process::exit(0);
}

//! `ralph self-check`: what this program is, what it can do on this system,
//! and what is missing here; one line each. It starts nothing and writes
//! nothing: whether what is installed in a project works is `ralph doctor`'s
//! matter.

use std::ffi::OsString;
use std::path::PathBuf;

use ralph_core::lang::{Lang, Say, Text};
use ralph_core::platforms::{self, CAPABILITIES, Capability, Standing, System};
use ralph_core::{text, tr};
use ralph_engine::agents::{Client, find_program};
use serde_json::{Value, json};

use crate::app::{App, Exit};
use crate::args::SelfCheckArgs;

const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Told by the build script.
const TARGET: &str = env!("BUILT_FOR");
/// Told by `cargo xtask dist`; a build by hand may be of anything.
const COMMIT: Option<&str> = option_env!("RALPH_COMMIT");

/// A program that Ralph starts, and what is lost without it.
struct Helper {
    name: &'static str,
    without: Text,
    /// Where it means anything.
    systems: &'static [System],
}

const UNIX: &[System] = &[System::Linux, System::Macos];

const HELPERS: [Helper; 8] = [
    Helper {
        name: "git",
        without: text!("there is less evidence of progress, and no undo of commits"),
        systems: &System::ALL,
    },
    Helper {
        name: "sh",
        without: text!("no check can run"),
        systems: UNIX,
    },
    Helper {
        name: "bwrap",
        without: text!("no sandbox stands around the agent; install bubblewrap"),
        systems: &[System::Linux],
    },
    Helper {
        name: "gh",
        without: text!("no pull requests and no CI on GitHub"),
        systems: &System::ALL,
    },
    Helper {
        name: "glab",
        without: text!("no merge requests and no CI on GitLab"),
        systems: &System::ALL,
    },
    Helper {
        name: "tmux",
        without: text!("no `ralph run --monitor`"),
        systems: UNIX,
    },
    Helper {
        name: "curl",
        without: text!("no notifications to a webhook"),
        systems: &System::ALL,
    },
    Helper {
        name: "notify-send",
        without: text!("no notifications on the desktop"),
        systems: &[System::Linux],
    },
];

pub fn run(app: &App, args: &SelfCheckArgs) -> Exit {
    if args.platforms {
        app.print(&platforms::markdown(app.lang()));
        return Ok(0);
    }
    let find = |name: &str| find_program(name.as_ref(), &app.root);
    let helpers: Vec<(&Helper, Option<PathBuf>)> = HELPERS
        .iter()
        .filter(|helper| helper.systems.contains(&System::HERE))
        .map(|helper| (helper, find(helper.name)))
        .collect();
    let agents: Vec<&str> = Client::ALL
        .iter()
        .filter(|client| find_program(client.facts().program.as_ref(), &app.root).is_some())
        .map(Client::into_str)
        .collect();
    let value = || {
        let mut value = identity();
        value["capabilities"] = capabilities(&helpers, app.lang());
        value["helpers"] = helpers
            .iter()
            .map(|(helper, path)| {
                json!({
                    "name": helper.name,
                    "path": path,
                    "without": helper.without.say(app.lang()),
                })
            })
            .collect();
        value["agents"] = json!(agents);
        value["state"] = json!(app.home.dir());
        value
    };
    app.answer(args.json, value, || words(app, &helpers, &agents))
}

/// Each helper, and where it is.
type Found<'a> = [(&'a Helper, Option<PathBuf>)];

fn words(app: &App, helpers: &Found, agents: &[&str]) -> String {
    let lang = app.lang();
    let mut lines = vec![format!("✓ ralph {VERSION}"), built(lang)];
    for capability in CAPABILITIES {
        let title = capability.title.say(lang);
        let standing = standing(&capability, helpers);
        let sign = match standing {
            Standing::Works => '✓',
            Standing::Weaker(_) => '!',
            Standing::Missing(_) => '✗',
        };
        let standing = standing.say(lang);
        lines.push(tr!(lang, "{sign} {title}: {standing}"));
    }
    for (helper, path) in helpers {
        let name = helper.name;
        lines.push(match path {
            Some(path) => format!("✓ {name} ({})", path.display()),
            None => {
                let without = helper.without.say(lang);
                tr!(lang, "· {name} is missing: {without}")
            }
        });
    }
    lines.push(match agents.is_empty() {
        true => tr!(
            lang,
            "! no agent is on PATH: only `--agent-cmd` and `ralph demo` can work"
        ),
        false => {
            let names = agents.join(", ");
            tr!(lang, "✓ agents on PATH: {names}")
        }
    });
    let state = app.home.dir().display();
    lines.push(tr!(lang, "· state is kept in {state}"));
    lines.join("\n")
}

fn built(lang: Lang) -> String {
    let how = match (is_static(), cfg!(debug_assertions)) {
        (_, true) => tr!(lang, "built for tests, with fault points"),
        (true, false) => tr!(lang, "static"),
        (false, false) => tr!(lang, "needs the libraries of this system"),
    };
    match COMMIT {
        Some(commit) => tr!(lang, "· built for {TARGET}, {how}, from {commit}"),
        None => tr!(lang, "· built for {TARGET}, {how}"),
    }
}

fn is_static() -> bool {
    cfg!(target_feature = "crt-static")
}

/// What the system allows, and what is here of it.
fn standing(capability: &Capability, helpers: &Found) -> Standing {
    let lacks = |name: &str| {
        let mut found = helpers.iter().filter(|(helper, _)| helper.name == name);
        found.find(|(_, path)| path.is_none())
    };
    match (capability.key, lacks("bwrap")) {
        ("sandbox", Some((bubblewrap, _))) => Standing::Missing(bubblewrap.without),
        _ => capability.on(System::HERE),
    }
}

fn capabilities(helpers: &Found, lang: Lang) -> Value {
    let one = |capability: &Capability| {
        let standing = standing(capability, helpers);
        json!({
            "name": capability.key,
            "standing": standing.key(),
            "note": standing.note().map(|note| note.say(lang)),
        })
    };
    CAPABILITIES.iter().map(one).collect()
}

/// What `ralph --version --json` prints.
pub fn identity() -> Value {
    json!({
        "name": "ralph",
        "version": VERSION,
        "target": TARGET,
        "static": is_static(),
        "fault_points": cfg!(debug_assertions),
        "commit": COMMIT,
    })
}

/// Whether nothing but the version is asked for, by a program.
pub fn asks_for_identity(args: &[OsString]) -> bool {
    let is_version = |arg: &OsString| arg == "--version" || arg == "-V";
    let is_json = |arg: &OsString| arg == "--json";
    args.len() == 2 && args.iter().any(is_version) && args.iter().any(is_json)
}

//! Gathers the configuration from where people keep it.

use std::io::ErrorKind;
use std::path::Path;

use ralph_core::config::{
    self, ConfigWarning, FOREIGN_FILES, Layer, Loaded, NamedText, Rejected, Sources, Value,
};
use ralph_core::lang::{Lang, Say};
use ralph_core::session::words::{PullWish, Start};
use ralph_engine::plan::Flag;

use crate::FAILED;
use crate::app::{App, OrFail};
use crate::args::{DoArgs, Global, ResumeArgs, RunArgs, WorkArgs};

const OWN_FILE: &str = ".ralph/config.toml";

/// Everything that the project, the environment and the flags say.
pub fn sources(root: &Path, flags: Vec<Layer>) -> Sources {
    let mut unreadable = Vec::new();
    let own = root.join(OWN_FILE);
    let own_file = read(&own, OWN_FILE, &mut unreadable);
    let foreign = FOREIGN_FILES
        .iter()
        .filter_map(|name| read(&root.join(name), name, &mut unreadable))
        .collect();
    Sources {
        own_file,
        foreign,
        unreadable,
        env: std::env::vars_os()
            .filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?)))
            .collect(),
        flags,
    }
}

/// A file that is there and can't be read must not count as missing: its
/// settings would be dropped in silence.
fn read(path: &Path, name: &str, unreadable: &mut Vec<(String, String)>) -> Option<NamedText> {
    let name = name.to_owned();
    match ralph_store::regular::read_to_string(path) {
        Ok(text) => Some(NamedText { name, text }),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            None
        }
        Err(error) => {
            unreadable.push((name, error.to_string()));
            None
        }
    }
}

/// Loads the configuration, or says everything that is wrong with it.
pub fn load(app: &App, flags: Vec<Layer>) -> Result<Loaded, u8> {
    loaded(app, &sources(&app.root, flags))
}

pub fn loaded(app: &App, sources: &Sources) -> Result<Loaded, u8> {
    or_said(app, config::load(sources))
}

pub fn or_said<T>(app: &App, loaded: Result<T, Rejected>) -> Result<T, u8> {
    loaded.map_err(|Rejected { errors, .. }| {
        errors.iter().for_each(|e| app.warn(&e.say(app.lang())));
        FAILED
    })
}

/// Verify files of other tools that can't be read: `verify.strict` lets nothing
/// pass beside them (VERI-04).
pub fn broken_verify_files(loaded: &Loaded, lang: Lang) -> Vec<String> {
    let of_a_worktree = |warning: &&ConfigWarning| matches!(warning, ConfigWarning::Unreadable { file, .. } if file.ends_with("worktree.yaml"));
    let broken = loaded.warnings.iter().filter(of_a_worktree);
    broken.map(|warning| warning.say(lang)).collect()
}

/// The preset of a command that takes no other flag.
pub fn preset(app: &App, name: Option<&str>) -> Result<Vec<Layer>, u8> {
    let layer = name.map(|name| Layer::flag("preset", name, "--preset"));
    Ok(layer.transpose().or_fail(app)?.into_iter().collect())
}

/// The settings that flags of `ralph run` stand for.
pub fn run_flags(global: &Global, args: &RunArgs) -> Vec<Flag> {
    let mut flags = Flags::default();
    flags.text("lang", global.lang.as_deref(), "--lang");
    flags.text("preset", args.preset.as_deref(), "--preset");
    flags.work(&args.work);
    if !args.agents.is_empty() {
        flags.0.retain(|flag| flag.key != "agents");
        flags.add("agents", args.agents.clone(), "--agents");
    }
    if let Some(path) = &args.tasks {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
        flags.text("tasks.file", Some(&path.to_string_lossy()), "--tasks");
    }
    flags.text("tasks.phase", args.phase.as_deref(), "--phase");
    if let Some(n) = args.rate {
        flags.add("rate.max_calls_per_hour", i64::from(n), "--rate");
    }
    if args.roles {
        flags.add("roles.enabled", true, "--roles");
    }
    flags.lanes(args);
    if let Some(text) = &args.completion_promise {
        flags.add(
            "promise.complete",
            vec![text.clone()],
            "--completion-promise",
        );
    }
    flags.pull(&args.pull.wish());
    flags.0
}

/// The settings that flags of `ralph do` stand for.
pub fn do_flags(global: &Global, args: &DoArgs) -> Vec<Flag> {
    let mut flags = Flags::default();
    flags.text("lang", global.lang.as_deref(), "--lang");
    flags.work(&args.work);
    flags.0
}

/// The settings that the options of `/ralph-loop` stand for.
pub fn loop_flags(root: &Path, start: &Start) -> Vec<Flag> {
    let mut flags = Flags::default();
    flags.text("preset", start.preset.as_deref(), "--preset");
    if let Some(path) = &start.tasks {
        let path = root.join(path);
        flags.text("tasks.file", Some(&path.to_string_lossy()), "--tasks");
    }
    if let Some(n) = start.max_iterations {
        flags.add("limits.max_iterations", i64::from(n), "--max-iterations");
    }
    if let Some(text) = &start.completion_promise {
        let texts = vec![text.clone()];
        flags.add("promise.complete", texts, "--completion-promise");
    }
    if !start.verify.is_empty() {
        flags.add("verify.commands", start.verify.clone(), "--verify");
    }
    flags.pull(&start.pull);
    flags.0
}

/// The settings that the flags of `ralph resume` stand for.
pub fn resume_flags(args: &ResumeArgs) -> Vec<Flag> {
    let mut flags = Flags::default();
    flags.agent(args.agent.as_deref(), args.agent_cmd.as_deref());
    flags.budget(args.max_cost.as_deref(), args.max_tokens);
    flags.0
}

/// Flags as layers of the configuration, or what is wrong with one of them.
pub fn layers(app: &App, flags: &[Flag]) -> Result<Vec<Layer>, u8> {
    let layer = |flag: &Flag| Layer::flag(&flag.key, flag.value.clone(), &flag.name);
    flags
        .iter()
        .map(layer)
        .collect::<Result<_, _>>()
        .or_fail(app)
}

#[derive(Default)]
struct Flags(Vec<Flag>);

impl Flags {
    fn agent(&mut self, name: Option<&str>, command: Option<&str>) {
        self.text("agent.name", name, "--agent");
        if let Some(command) = command {
            self.text("agent.name", Some("custom"), "--agent-cmd");
            self.text("agent.command", Some(command), "--agent-cmd");
        }
        if name.is_some() || command.is_some() {
            // Whoever names one agent wants no chain.
            self.add("agents", Vec::<String>::new(), "--agent");
        }
    }

    fn work(&mut self, args: &WorkArgs) {
        self.agent(args.agent.as_deref(), args.agent_cmd.as_deref());
        self.text(
            "limits.max_duration",
            args.max_duration.as_deref(),
            "--max-duration",
        );
        self.budget(args.max_cost.as_deref(), args.max_tokens);
        self.text("sandbox.mode", args.sandbox.as_deref(), "--sandbox");
        if args.no_guard {
            self.add("guard.enabled", false, "--no-guard");
        }
        if let Some(n) = args.max_iterations {
            self.add("limits.max_iterations", i64::from(n), "--max-iterations");
        }
        if !args.verify.is_empty() {
            self.add("verify.commands", args.verify.clone(), "--verify");
        }
        if args.allow_unsafe {
            self.add("agent.allow_unsafe", true, "--allow-unsafe");
        }
    }

    fn lanes(&mut self, args: &RunArgs) {
        let one = args.worktree || args.branch.is_some();
        if let Some(n) = args.lanes.or(one.then_some(1)) {
            self.add("lanes.count", i64::from(n), "-j");
        }
        self.text("lanes.branch", args.branch.as_deref(), "--branch");
        if args.land {
            self.add("lanes.land", true, "--land");
        }
        #[cfg(feature = "fleet")]
        if args.fleet {
            self.add("lanes.fleet", true, "--fleet");
        }
    }

    fn budget(&mut self, max_cost: Option<&str>, max_tokens: Option<u32>) {
        self.text("budget.max_cost", max_cost, "--max-cost");
        if let Some(n) = max_tokens {
            self.add("budget.max_tokens", i64::from(n), "--max-tokens");
        }
    }

    fn pull(&mut self, wish: &PullWish) {
        if wish.create {
            self.add("pr.create", true, "--create-pr");
        }
        if wish.draft {
            self.add("pr.draft", true, "--draft");
        }
        if let Some(number) = wish.number {
            self.add("pr.number", i64::from(number), "--pr");
        }
        if let Some(method) = &wish.merge {
            self.text("pr.merge", Some("self"), "--merge");
            self.text("pr.merge_method", Some(method), "--merge");
        }
    }

    fn text(&mut self, key: &str, value: Option<&str>, name: &str) {
        if let Some(value) = value {
            self.add(key, value, name);
        }
    }

    fn add(&mut self, key: &str, value: impl Into<Value>, name: &str) {
        self.0.push(Flag {
            key: key.into(),
            value: value.into(),
            name: name.into(),
        });
    }
}

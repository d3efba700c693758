//! The hooks that are installed, in every file that the agents read: whether
//! the agents understand them, and whether they do what they are there for.

use std::path::{Path, PathBuf};
use std::time::Duration;

use ralph_core::config;
use ralph_core::jsonc::{self, Node, Step};
use ralph_core::lang::{Lang, Say};
use ralph_core::platforms::System;
use ralph_core::tr;
use ralph_engine::agents::Client;
use ralph_engine::agents::hooks::{Event, Place};
use ralph_engine::supervise::{Ending, SHELL};
use serde_json::Value;

use super::ask::{Answer, Question, Scratch, ask};
use super::{Finding, Level, samples, schema};
use crate::app::App;
use crate::guard::home;
use crate::install::hosts::{self, Wanted};
use crate::install::{CAP, DEFAULT_CAP, merge, program, templates};
use crate::settings;

/// A hook that calls us.
#[derive(Clone, Debug)]
pub struct Found {
    pub host: Client,
    pub file: PathBuf,
    pub event: String,
    /// Which element of the event's list, and which hook in it.
    pub group: usize,
    pub hook: usize,
    pub element: Value,
    pub command: String,
    /// Whom it says that it is for, and what it is asked to do.
    said: Client,
    verb: String,
}

/// A file in which an agent looks for hooks.
struct Scope {
    host: Client,
    file: PathBuf,
    /// For messages.
    name: String,
    /// The file that `ralph init` writes to.
    is_ours: bool,
}

pub fn look(app: &App, findings: &mut Vec<Finding>) -> Vec<Found> {
    let mut found = Vec::new();
    let mut caps = Vec::new();
    for scope in scopes(&app.root) {
        let Ok(text) = ralph_store::regular::read_to_string(&scope.file) else {
            continue;
        };
        let plain = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let root = match jsonc::parse(&text) {
            Ok(root) => root,
            Err(error) => {
                findings.push(broken(&scope, &error.say(app.lang()), app.lang()));
                continue;
            }
        };
        let is_plain = serde_json::from_str::<Value>(plain).is_ok();
        if !is_plain && !scope.host.hooks().reads_comments {
            findings.push(commented(&scope, app.lang()));
        }
        let before = found.len();
        look_at(&scope, &root, app.lang(), findings, &mut found);
        if scope.is_ours && found.len() > before {
            findings.extend(out_of_date(app, &scope, &text));
        }
        if scope.host == Client::Claude
            && let Some(cap) = root.at(&[Step::from("env"), CAP.into()])
        {
            caps.extend(merge::cap_of(&cap.to_value()));
        }
    }
    let plugin = opencode(app);
    let has_plugin = plugin.is_some();
    findings.extend(plugin);
    if found.is_empty() && !has_plugin {
        let text = tr!(app.lang(), "no hooks of Ralph are installed here");
        let next = tr!(
            app.lang(),
            "`ralph init` installs them; `ralph run` needs none"
        );
        findings.push(Finding::new(Level::Note, "hooks", text).next(next));
    }
    findings.extend(doubled(&found, app.lang()));
    findings.extend(cap(app, &found, caps.last().copied()));
    found
}

/// OpenCode has a program in place of entries: ours, or an older one.
fn opencode(app: &App) -> Option<Finding> {
    let Place::Plugin(path) = Client::OpenCode.hooks().place else {
        return None;
    };
    let text = ralph_store::regular::read_to_string(app.root.join(path)).ok()?;
    if text == templates::opencode_plugin() {
        let text = tr!(app.lang(), "{path} is the guard of this version");
        return Some(Finding::new(Level::Ok, "opencode", text));
    }
    let text = tr!(
        app.lang(),
        "{path} is not the guard that this program would install"
    );
    let next = "ralph init --force --agent opencode".to_owned();
    Some(Finding::new(Level::Warning, "opencode", text).next(next))
}

/// Every file that an agent reads, the one that counts least first.
fn scopes(root: &Path) -> Vec<Scope> {
    let mut all = Vec::new();
    let mut add = |host, file: Option<PathBuf>, is_ours| {
        if let Some(file) = file {
            let name = match file.strip_prefix(root) {
                Ok(below) => below.display().to_string(),
                Err(_) => file.display().to_string(),
            };
            all.push(Scope {
                host,
                file,
                name,
                is_ours,
            });
        }
    };
    let home = home();
    for &host in Client::HOSTS {
        if let Some((variable, below, file)) = host.hooks().personal {
            let dir = variable.and_then(std::env::var_os).map(PathBuf::from);
            let dir = dir.or_else(|| Some(home.as_ref()?.join(below)));
            add(host, dir.map(|dir| dir.join(file)), false);
        }
    }
    for &host in Client::HOSTS {
        for path in host.hooks().settings() {
            add(host, Some(root.join(path)), true);
        }
    }
    let managed = PathBuf::from(managed_settings(System::HERE));
    add(Client::Claude, Some(managed), false);
    let plugin = root.join(".ralph/plugin/hooks/hooks.json");
    add(Client::Claude, Some(plugin), false);
    // A project in the home directory has the same file twice.
    let mut seen: Vec<PathBuf> = Vec::new();
    all.retain(|scope| {
        let is_new = !seen.contains(&scope.file);
        seen.push(scope.file.clone());
        is_new
    });
    all
}

fn look_at(
    scope: &Scope,
    root: &Node,
    lang: Lang,
    findings: &mut Vec<Finding>,
    found: &mut Vec<Found>,
) {
    let is_on = |name: &str| root.get(&name.into()).map(Node::to_value) == Some(true.into());
    let name = &scope.name;
    if scope.host == Client::Claude && is_on("disableAllHooks") {
        let text = tr!(lang, "{name} says disableAllHooks: no hook runs");
        let next = tr!(lang, "take it out");
        findings.push(Finding::new(Level::Red, "hooks.disabled", text).next(next));
    }
    let Some(hooks) = root.get(&"hooks".into()) else {
        return;
    };
    for item in hooks.list() {
        let event = item.key.clone().unwrap_or_default();
        let mut calls_us = false;
        for (group, element) in item.value.list().iter().enumerate() {
            let element = element.value.to_value();
            for (hook, command) in hosts::commands(&element) {
                let Some((said, verb)) = called(command) else {
                    continue;
                };
                calls_us = true;
                found.push(Found {
                    host: scope.host,
                    file: scope.file.clone(),
                    event: event.clone(),
                    group,
                    hook: hook.unwrap_or(0),
                    command: command.to_owned(),
                    said,
                    verb,
                    element: element.clone(),
                });
            }
            findings.extend(misspelt(scope, &event, &element, lang));
        }
        if !schema::knows(scope.host, &event) {
            findings.push(unknown_event(scope, &event, calls_us, lang));
        }
    }
}

/// Whom a command line of ours is for, and what it asks for.
fn called(command: &str) -> Option<(Client, String)> {
    Client::HOSTS.iter().find_map(|&host| {
        let (_, verb) = program::called_by(command, host)?;
        Some((host, verb.to_owned()))
    })
}

fn broken(scope: &Scope, error: &str, lang: Lang) -> Finding {
    let (name, host) = (&scope.name, scope.host.into_str());
    let text = tr!(
        lang,
        "{name}, {error}: {host} passes over the whole file in silence"
    );
    let next = tr!(lang, "mend it");
    Finding::new(Level::Red, "settings.syntax", text).next(next)
}

fn commented(scope: &Scope, lang: Lang) -> Finding {
    let (name, host) = (&scope.name, scope.host.into_str());
    let text = tr!(
        lang,
        "{name} has comments or trailing commas: {host} passes over the whole file in silence"
    );
    let next = tr!(lang, "take them out");
    Finding::new(Level::Red, "settings.comments", text).next(next)
}

fn unknown_event(scope: &Scope, event: &str, calls_us: bool, lang: Lang) -> Finding {
    let (name, host) = (&scope.name, scope.host.into_str());
    // Cursor drops every hook of a file for one name that it does not know.
    let level = match calls_us || scope.host == Client::Cursor {
        true => Level::Red,
        false => Level::Warning,
    };
    let text = tr!(
        lang,
        "{name}: {host} has no event \"{event}\"; what stands there never runs"
    );
    let next = tr!(lang, "correct the name: capital letters count");
    Finding::new(level, "hooks.event", text).next(next)
}

fn misspelt(scope: &Scope, event: &str, element: &Value, lang: Lang) -> Option<Finding> {
    let (name, host) = (&scope.name, scope.host.into_str());
    let has_hooks = element.get("hooks").is_some_and(Value::is_array);
    if scope.host.hooks().nests_hooks && !has_hooks {
        let text = tr!(
            lang,
            "{name}: an entry of {event} has no list \"hooks\"; {host} passes over it"
        );
        let next = tr!(lang, "write {{\"hooks\": [{{\"type\": \"command\", …}}]}}");
        return Some(Finding::new(Level::Warning, "hooks.shape", text).next(next));
    }
    let unknown = schema::unknown_fields(scope.host, element).join(", ");
    if unknown.is_empty() {
        return None;
    }
    let text = tr!(
        lang,
        "{name}: an entry of {event} says {unknown}, which {host} does not know"
    );
    let next = tr!(lang, "correct the name");
    Some(Finding::new(Level::Warning, "hooks.field", text).next(next))
}

/// Entries of an older version, without the gate's time, or with some
/// missing.
fn out_of_date(app: &App, scope: &Scope, text: &str) -> Option<Finding> {
    let settings = config::load(&settings::sources(&app.root, Vec::new())).ok()?;
    let guard = text.contains(Event::PreToolUse.into_str());
    let wanted = Wanted {
        program: program::for_hooks(&app.root),
        guard,
        shared: scope.host.hooks().local != Some(scope.name.as_str()),
        gate: hosts::gate_time(&settings.settings),
        wait: settings.settings.pr.hook_wait,
    };
    if merge::is_current(text, scope.host, &wanted, None).unwrap_or(true) {
        return None;
    }
    let (name, host) = (&scope.name, scope.host.into_str());
    let text = tr!(
        app.lang(),
        "{name}: its entries are not those that this version and these settings need (program, events or timeouts)"
    );
    let next = format!("ralph init --update --agent {host}");
    Some(Finding::new(Level::Warning, "hooks.current", text).next(next))
}

/// The same hook in two files runs twice.
fn doubled(found: &[Found], lang: Lang) -> Vec<Finding> {
    let mut doubled = Vec::new();
    for (i, one) in found.iter().enumerate() {
        let matcher = |found: &Found| found.element.get("matcher").cloned();
        let same = |other: &&Found| {
            other.host == one.host
                && other.verb == one.verb
                && other.file != one.file
                && matcher(other) == matcher(one)
        };
        if let Some(other) = found[..i].iter().find(same) {
            let (host, verb) = (one.host.into_str(), &one.verb);
            let (one, other) = (one.file.display(), other.file.display());
            let text = tr!(
                lang,
                "{host}: {verb} is installed twice and runs twice: {other} and {one}"
            );
            let next = tr!(lang, "keep one of them");
            doubled.push(Finding::new(Level::Warning, "hooks.twice", text).next(next));
        }
    }
    doubled
}

/// The agent lets go after so many blocks in a row, whatever the hook says.
fn cap(app: &App, found: &[Found], in_settings: Option<u32>) -> Option<Finding> {
    let holds =
        |found: &&Found| found.host == Client::Claude && found.verb == Event::Stop.into_str();
    found.iter().find(holds)?;
    let settings = config::load(&settings::sources(&app.root, Vec::new())).ok()?;
    let needed = hosts::needed_cap(&settings.settings);
    let in_environment = std::env::var(CAP).ok().and_then(|value| value.parse().ok());
    let cap = in_settings.or(in_environment).unwrap_or(DEFAULT_CAP);
    if merge::reaches(cap, needed) {
        let text = tr!(app.lang(), "{CAP} is {cap}: a loop can reach its limit");
        return Some(Finding::new(Level::Ok, "hooks.cap", text));
    }
    let text = match needed {
        0 => tr!(
            app.lang(),
            "{CAP} is {cap}, and a loop here has no limit: Claude Code ends it early"
        ),
        _ => tr!(
            app.lang(),
            "{CAP} is {cap}, and a loop may need {needed}: Claude Code ends it early"
        ),
    };
    let next = "ralph init --update --yes".to_owned();
    Some(Finding::new(Level::Red, "hooks.cap", text).next(next))
}

/// Runs each command line once, as its agent would: a wrong path ends with
/// 127, which blocks nothing and says nothing (INST-05).
pub async fn run_each(app: &App, found: &[Found], findings: &mut Vec<Finding>) {
    let scratch = match Scratch::new("doctor") {
        Ok(scratch) => scratch,
        Err(error) => {
            let text = format!("{}: {error}", std::env::temp_dir().display());
            return findings.push(Finding::new(Level::Red, "scratch", text));
        }
    };
    // A project, so that no other one is found above it.
    let _ = std::fs::create_dir(scratch.path().join(".ralph"));
    let mut done: Vec<(Client, &str)> = Vec::new();
    for one in found {
        if done.contains(&(one.host, &one.command)) {
            continue;
        }
        done.push((one.host, &one.command));
        findings.push(run_one(app, one, &scratch).await);
    }
}

async fn run_one(app: &App, found: &Found, scratch: &Scratch) -> Finding {
    let lang = app.lang();
    let (host, command) = (found.host.into_str(), &found.command);
    if found.said != found.host {
        let said = found.said.into_str();
        let text = tr!(
            lang,
            "{host} would be answered in the way of {said}: `{command}`"
        );
        let next = format!("ralph init --update --agent {host}");
        return Finding::new(Level::Red, "hooks.host", text).next(next);
    }
    let Ok(verb) = found.verb.parse::<Event>() else {
        let verb = &found.verb;
        let text = tr!(lang, "{host}: there is no hook \"{verb}\": `{command}`");
        let next = format!("ralph init --update --agent {host}");
        return Finding::new(Level::Red, "hooks.verb", text).next(next);
    };
    // S-05: a name is quickly given; what the project brings is not started.
    if !hosts::is_outside(command, found.host, &app.root) {
        let text = tr!(
            lang,
            "{host}: `{command}` would run a program of this project, which was not tried"
        );
        let next = format!("ralph init --update --agent {host}");
        return Finding::new(Level::Red, "hooks.program", text).next(next);
    }
    let harmless = answer(found, verb, scratch, samples::HARMLESS).await;
    if !samples::goes_on(&harmless) {
        return failed(found, &harmless, lang);
    }
    if verb == Event::PreToolUse {
        let dangerous = answer(found, verb, scratch, samples::DANGEROUS).await;
        if !samples::refuses(found.host, &dangerous) {
            let sample = samples::DANGEROUS;
            let text = tr!(lang, "{host}: the guard let `{sample}` pass: `{command}`");
            let next = format!("ralph guard test '{sample}'");
            return Finding::new(Level::Red, "hooks.guard", text).next(next);
        }
    }
    let event = &found.event;
    let text = tr!(lang, "{host} {event}: `{command}` runs and answers");
    Finding::new(Level::Ok, "hooks.run", text)
}

async fn answer(found: &Found, verb: Event, scratch: &Scratch, sample: &str) -> Answer {
    const PATIENCE: Duration = Duration::from_secs(20);
    let payload = samples::payload(found.host, verb, scratch.path(), sample);
    let project = found.host.hooks().project;
    let project = project.map(|name| (name.into(), scratch.path().into()));
    let (shell, flag) = SHELL;
    ask(Question {
        program: Path::new(shell),
        args: vec![flag.into(), found.command.clone().into()],
        cwd: scratch.path(),
        env: project.into_iter().collect(),
        stdin: scratch.input("payload.json", &payload.to_string()).ok(),
        timeout: PATIENCE,
    })
    .await
}

fn failed(found: &Found, answer: &Answer, lang: Lang) -> Finding {
    let (host, event, command) = (found.host.into_str(), &found.event, &found.command);
    let said = [&answer.stderr, &answer.stdout];
    let said = said.iter().find_map(|text| text.lines().next());
    let said = said.unwrap_or_default();
    let how = match &answer.ending {
        Ending::Exited(code) => tr!(lang, "ended with {code}"),
        Ending::TimedOut => tr!(lang, "did not end in time"),
        Ending::Signalled(signal) => tr!(lang, "was ended by signal {signal}"),
        Ending::Stopped => tr!(lang, "was stopped"),
        Ending::SpawnFailed { message, .. } => message.clone(),
    };
    let text = tr!(lang, "{host} {event}: `{command}` {how}: {said}");
    let next = match answer.ending {
        Ending::Exited(126 | 127) => tr!(
            lang,
            "there is no such program, so the hook does nothing: ralph init --update --yes --agent {host}"
        ),
        _ => tr!(
            lang,
            "run it by hand with a payload, then ralph init --update --yes --agent {host}"
        ),
    };
    Finding::new(Level::Red, "hooks.run", text).next(next)
}

/// Where Claude Code reads what an administrator decided.
fn managed_settings(system: System) -> &'static str {
    match system {
        System::Linux => "/etc/claude-code/managed-settings.json",
        System::Macos => "/Library/Application Support/ClaudeCode/managed-settings.json",
        System::Windows => r"C:\Program Files\ClaudeCode\managed-settings.json",
    }
}

#[cfg(test)]
impl Found {
    pub fn sample(host: Client, file: &str, event: &str, element: Value, command: String) -> Found {
        Found {
            host,
            file: file.into(),
            event: event.into(),
            group: 0,
            hook: 0,
            element,
            command,
            said: host,
            verb: String::new(),
        }
    }
}

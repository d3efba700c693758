//! Trust in a project: what it would make Ralph, or the clients of the agents,
//! execute or loosen, and what of that a person has said yes to.
//!
//! What a person types or sets is theirs and not asked about. A project that
//! brings nothing of the kind needs no trust.

mod clients;
mod store;

use std::io::ErrorKind;
use std::path::Path;

use ralph_core::config::{self, Loaded, NamedText, Rejected, Settings, Sources};
use ralph_core::lang::{Lang, Say};
use ralph_core::text::digest::hex_sha256;
use ralph_core::tr;
use ralph_engine::announcement::Announcement;
use ralph_engine::plan::Plan;
use ralph_engine::wall;
use ralph_store::FileError;
use ralph_store::layout::Layout;
use ralph_store::regular;
use serde_json::{Value, json};

use crate::app::{self, App, OrFail};
use crate::guard::{self, project};
use crate::{FAILED, settings};
pub use store::Kept;

/// What the check of a task is called.
const CHECK: &str = "verify";

/// One thing that a person has to say yes to.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// The file, with its line where that is known.
    pub place: String,
    /// The setting or the part of the file.
    pub what: String,
    pub value: Value,
    /// Whether it is a setting of Ralph's, whose value is kept.
    is_setting: bool,
}

impl Item {
    fn new(place: &str, what: &str, value: impl Into<Value>) -> Item {
        Item {
            place: place.into(),
            what: what.into(),
            value: value.into(),
            is_setting: false,
        }
    }

    fn to_json(&self) -> Value {
        json!({"place": self.place, "what": self.what, "value": self.value})
    }

    /// The name under which it was trusted: the line of a setting may move.
    fn name(&self) -> String {
        let file = self.place.split(':').next().unwrap_or(&self.place);
        format!(
            "{file} {} {}",
            self.what,
            hex_sha256(self.value.to_string().as_bytes())
        )
    }

    fn line(&self) -> String {
        let (place, what) = (&self.place, &self.what);
        match &self.value {
            Value::String(text) => format!("  {place}  {what}: {text}"),
            value => format!("  {place}  {what} = {value}"),
        }
    }
}

/// Everything in a project that needs trust, whoever trusts it.
pub fn items(root: &Path, loaded: Option<&Loaded>) -> Vec<Item> {
    let bold = loaded
        .map(|loaded| loaded.resolved.bold())
        .unwrap_or_default();
    let settings = bold.into_iter().map(|bold| Item {
        place: bold.place.to_string(),
        what: bold.key,
        value: serde_json::to_value(&bold.value).unwrap_or_default(),
        is_setting: true,
    });
    settings
        .chain(clients::items(root))
        .chain(clients::flows(root))
        .collect()
}

/// The checks that a task list names for its tasks.
pub fn checks(plan: &Plan) -> Vec<Item> {
    let Some(file) = &plan.tasks else {
        return Vec::new();
    };
    let commands = plan.rules.checks.tasks.values().flatten();
    let mut items: Vec<Item> = commands
        .map(|command| Item::new(&file.name, CHECK, command.as_str()))
        .collect();
    items.dedup();
    items
}

/// What of this nobody has said yes to.
pub fn missing(layout: &Layout, items: &[Item]) -> Vec<Item> {
    let kept = Kept::read(layout);
    let new = |item: &&Item| !kept.covers(item);
    items.iter().filter(new).cloned().collect()
}

/// What counts in hooks although the project does not bring it any more.
pub fn gone(layout: &Layout, items: &[Item]) -> Vec<Item> {
    Kept::read(layout).gone(items)
}

/// Notes that a person trusts all of this.
pub fn keep(app: &App, items: &[Item]) -> Result<(), u8> {
    keep_instead(app, items, &[])
}

/// The same, and that these do not count any more.
pub fn keep_instead(app: &App, items: &[Item], gone: &[Item]) -> Result<(), u8> {
    let layout = app.layout();
    let mut kept = Kept::read(&layout);
    kept.forget(gone);
    kept.add(items);
    kept.write(&layout).or_fail(app)?;
    confirm_guard(&app.root).or_fail(app)
}

/// Notes that a person confirmed the settings of these names just now.
pub fn keep_settings(app: &App, items: &[Item], names: &[&str]) -> Result<(), u8> {
    let layout = app.layout();
    let meant = items.iter().filter(|i| names.contains(&i.what.as_str()));
    let meant: Vec<Item> = meant.cloned().collect();
    let mut kept = Kept::read(&layout);
    kept.add(&meant);
    kept.write(&layout).or_fail(app)
}

/// Notes that a person typed these checks of tasks: nobody has to be asked.
pub fn keep_checks(app: &App, file: &str, commands: &[String]) -> Result<(), u8> {
    let layout = app.layout();
    let items = commands.iter().map(|c| Item::new(file, CHECK, c.as_str()));
    let items: Vec<Item> = items.collect();
    if items.is_empty() {
        return Ok(());
    }
    let mut kept = Kept::read(&layout);
    kept.add(&items);
    kept.write(&layout).or_fail(app)
}

/// The hook of the guard looks for the digest of its part alone.
fn confirm_guard(root: &Path) -> Result<(), FileError> {
    let root = project::real(root);
    let loaded = guard::settings::load(&root).ok();
    let loosens = loaded.and_then(|loaded| loaded.file().filter(|file| !file.loosens.is_empty()));
    match guard::trust::file(&root).zip(loosens) {
        Some((file, guard)) => guard::trust::set(&file, &root, Some(&guard.digest())),
        None => Ok(()),
    }
}

pub fn forget_guard(root: &Path) -> Result<(), FileError> {
    let root = project::real(root);
    match guard::trust::file(&root) {
        Some(file) if file.exists() => guard::trust::set(&file, &root, None),
        _ => Ok(()),
    }
}

/// Goes on only with a project that a person trusts.
pub fn require(app: &App, items: &[Item]) -> Result<(), u8> {
    let missing = missing(&app.layout(), items);
    // Behind the wall is an agent, which can run all of it without Ralph.
    if missing.is_empty() || wall::is_around_us() {
        return Ok(());
    }
    let lang = app.lang();
    if app.trusts {
        return keep(app, items);
    }
    app.warn(&shown(&missing, lang));
    if !app::is_interactive() {
        app.warn(&way_to_trust(items, lang));
        return Err(FAILED);
    }
    match says_yes(lang) {
        true => keep(app, items),
        false => Err(FAILED),
    }
}

/// Says what a run would be refused for.
pub fn foretell(app: &App, items: &[Item]) {
    let missing = missing(&app.layout(), items);
    if missing.is_empty() || app.trusts || wall::is_around_us() {
        return;
    }
    app.warn(&shown(&missing, app.lang()));
    app.warn(&way_to_trust(items, app.lang()));
}

fn way_to_trust(items: &[Item], lang: Lang) -> String {
    let tasks = items.iter().find(|item| item.what == CHECK);
    let tasks = tasks.map_or_else(String::new, |item| format!(" --tasks {}", item.place));
    tr!(
        lang,
        "look at it, then run `ralph trust{tasks}` (in CI: --trust-project)"
    )
}

pub fn says_yes(lang: Lang) -> bool {
    let question = tr!(lang, "Trust this project with it? [y/N] ");
    matches!(app::ask(&question).as_deref(), Some("y" | "Y" | "yes"))
}

pub fn shown(items: &[Item], lang: Lang) -> String {
    let lines = lines(items);
    tr!(
        lang,
        "this project would run, choose or loosen what nobody has seen yet:\n{lines}"
    )
}

pub fn shown_gone(gone: &[Item], lang: Lang) -> String {
    let lines = lines(gone);
    tr!(
        lang,
        "no longer in the project, and counting in hooks until you say that it is meant:\n{lines}"
    )
}

pub fn lines(items: &[Item]) -> String {
    let lines: Vec<String> = items.iter().map(Item::line).collect();
    lines.join("\n")
}

pub fn to_json(items: &[Item]) -> Value {
    items.iter().map(Item::to_json).collect()
}

/// Settings as they count where nobody can be asked, and the keys for which
/// trust made a difference.
pub fn settings_in_hook(
    layout: &Layout,
    flags: Vec<config::Layer>,
) -> Result<(Loaded, Vec<String>), Rejected> {
    let sources: Sources = settings::sources(layout.root(), flags);
    config::load_trusted(&sources, &Kept::read(layout).settings(), true)
}

/// Settings as they count for a command that only looks or tidies up and asks
/// nobody. What does not count of `part` is told.
pub fn settings_unasked(app: &App, part: &str) -> Result<Settings, u8> {
    // Behind the wall nobody knows what is trusted.
    if app.trusts || wall::is_around_us() {
        return settings::load(app, Vec::new()).map(|loaded| loaded.settings);
    }
    let sources = settings::sources(&app.root, Vec::new());
    let trusted = Kept::read(&app.layout()).settings();
    let loaded = config::load_trusted(&sources, &trusted, false);
    let (loaded, mut keys) = settings::or_said(app, loaded)?;
    keys.retain(|key| key.starts_with(part));
    if !keys.is_empty() {
        app.warn(&Announcement::Untrusted { keys }.say(app.lang()));
    }
    Ok(loaded.settings)
}

/// Leaves out the checks of tasks that nobody has said yes to; gives how many.
pub fn without_strange_checks(layout: &Layout, plan: &mut Plan) -> usize {
    let strange = missing(layout, &checks(plan));
    let is_strange = |command: &String| strange.iter().any(|item| item.value == **command);
    for commands in plan.rules.checks.tasks.values_mut() {
        commands.retain(|command| !is_strange(command));
    }
    plan.rules
        .checks
        .tasks
        .retain(|_, commands| !commands.is_empty());
    strange.len()
}

/// A file of the project, as far as it can be read; `None` where it is not
/// there.
fn read(root: &Path, name: &str) -> Option<Result<NamedText, String>> {
    const LONGEST: u64 = 4 * 1024 * 1024;
    let bytes = match regular::read_within(root.join(name), LONGEST) {
        Err(error) if error.kind() == ErrorKind::NotFound => return None,
        Err(error) => return Some(Err(error.to_string())),
        Ok(bytes) => bytes,
    };
    let text = String::from_utf8(bytes).map_err(|error| error.to_string());
    let name = name.to_owned();
    Some(text.map(|text| NamedText { name, text }))
}

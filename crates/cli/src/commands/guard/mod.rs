//! `ralph guard`: ask the guard, see its rules, check your own.

mod extract;
pub mod rules;
mod scan;
mod test;
mod trust;

use std::ffi::OsString;

use ralph_core::lang::Say;
use ralph_core::tr;
use ralph_store::stats;

use crate::app::{App, Exit, OrFail};
use crate::args::{Global, GuardArgs, GuardVerb, HookArgs};
use crate::guard::settings::{self, Loaded};
use crate::guard::{Place, project};

pub fn run(app: &App, args: &GuardArgs) -> Exit {
    match &args.verb {
        GuardVerb::Test(args) => test::test(app, args),
        GuardVerb::Explain { call, json } => test::explain(app, call, *json),
        GuardVerb::Rules { markdown, json } => rules::list(app, *markdown, *json),
        GuardVerb::Stats { json } => show_stats(app, *json),
        GuardVerb::Scan { files, json } => scan::run(app, files, *json),
        GuardVerb::CheckRules => rules::check(app),
        GuardVerb::Trust { yes, revoke } => trust::run(app, *yes, *revoke),
    }
}

/// A hook whose options stand before its name; the usual way is shorter.
pub fn hook(global: &Global, args: &HookArgs) -> u8 {
    let mut words: Vec<OsString> = Vec::new();
    if let Some(host) = args.host {
        words.extend(["--host".into(), host.into_str().into()]);
    }
    if let Some(root) = &global.root {
        words.extend(["--root".into(), root.into()]);
    }
    if let Some(lang) = &global.lang {
        words.extend(["--lang".into(), lang.into()]);
    }
    words.push((&args.event).into());
    crate::hook::run(&words)
}

/// The project's guard, as the hook would have it; a fault is told.
fn load(app: &App) -> Result<(Place, Loaded), u8> {
    let root = project::real(&app.root);
    let loaded = settings::load(&root).or_fail(app)?;
    let lang = app.lang();
    let note = loaded.note(lang);
    if !note.is_empty() {
        app.warn(&tr!(
            lang,
            "{note} Look at it, then run `ralph guard trust`."
        ));
    }
    Ok((Place::new(&root), loaded))
}

fn show_stats(app: &App, json: bool) -> Exit {
    let stats = stats::read(&app.layout().safety_stats()).or_fail(app)?;
    if json {
        app.json(&stats.to_json());
        return Ok(0);
    }
    let lang = app.lang();
    let line = |name: &str, counts: &stats::Counts| {
        let (allowed, blocked) = (counts.allowed, counts.blocked);
        tr!(lang, "{name}: {allowed} allowed, {blocked} blocked")
    };
    let all = tr!(lang, "all tools");
    let mut lines = vec![line(&all, &stats.all)];
    lines.extend(
        stats
            .tools
            .iter()
            .map(|(name, counts)| line(&format!("  {name}"), counts)),
    );
    app.done(&lines.join("\n"))
}

/// A problem with a file that a person named.
struct Unreadable<'a> {
    file: &'a std::path::Path,
    error: std::io::Error,
}

impl Say for Unreadable<'_> {
    fn say(&self, lang: ralph_core::lang::Lang) -> String {
        let (file, error) = (self.file.display(), &self.error);
        tr!(lang, "{file} can't be read: {error}")
    }
}

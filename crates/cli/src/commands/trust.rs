//! `ralph trust`: a person sees what this project would execute, and says yes
//! once.

use std::path::Path;

use ralph_core::config::{self, Layer};
use ralph_core::lang::Lang;
use ralph_core::text::duration::plural;
use ralph_core::tr;
use ralph_engine::plan::{self, Wanted};
use serde_json::json;

use crate::app::{App, Exit, OrFail, is_interactive, own_program};
use crate::args::TrustArgs;
use crate::trust::{self, Item, Kept};
use crate::{FAILED, settings};

pub fn run(app: &App, args: &TrustArgs) -> Exit {
    let (lang, layout) = (app.lang(), app.layout());
    if args.revoke {
        Kept::default().write(&layout).or_fail(app)?;
        trust::forget_guard(&app.root).or_fail(app)?;
        return app.done(&tr!(lang, "this project is trusted with nothing any more"));
    }
    let (items, is_whole) = everything(app, args.tasks.as_deref())?;
    let missing = trust::missing(&layout, &items);
    let gone = match is_whole {
        true => trust::gone(&layout, &items),
        false => Vec::new(),
    };
    if args.list || (args.json && !args.yes) {
        let told = json!({
            "trusted": missing.is_empty(),
            "items": trust::to_json(&items),
            "missing": trust::to_json(&missing),
            "gone": trust::to_json(&gone),
        });
        return app.answer(args.json, || told, || list(app, &items, &missing, &gone));
    }
    if missing.is_empty() && gone.is_empty() {
        let done = match items.is_empty() {
            true => tr!(lang, "this project brings nothing that needs trust"),
            false => tr!(
                lang,
                "everything here is trusted already; `ralph trust --list` shows it"
            ),
        };
        return app.answer(args.json, || json!({"trusted": true}), || done);
    }
    if !args.yes {
        app.tell(&open(&missing, &gone, lang));
        if !is_interactive() {
            return app.refuse(&tr!(
                lang,
                "nobody can be asked here; look at it, then run `ralph trust --yes`"
            ));
        }
        if !trust::says_yes(lang) {
            return Err(FAILED);
        }
    }
    trust::keep_instead(app, &items, &gone)?;
    let count = missing.len() + gone.len();
    let things_en = plural(count, "thing", "things");
    app.answer(
        args.json,
        || json!({"trusted": true}),
        || {
            tr!(
                lang,
                "trusted: {count} {things_en}; a change of them asks again"
            )
        },
    )
}

/// What the settings, the clients' files and the task list bring along, and
/// whether the settings could be read.
fn everything(app: &App, tasks: Option<&Path>) -> Result<(Vec<Item>, bool), u8> {
    let file = tasks.map(|path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned()));
    let file = file.map(|path| Layer::flag("tasks.file", &*path.to_string_lossy(), "--tasks"));
    let flags = file.transpose().or_fail(app)?.into_iter().collect();
    let loaded = config::load(&settings::sources(&app.root, flags)).ok();
    let mut items = trust::items(&app.root, loaded.as_ref());
    let wanted = Wanted {
        calls_nobody: true,
        ..Wanted::new(app.layout(), app.lang(), own_program())
    };
    let is_whole = loaded.is_some();
    // Without a task list there are no checks of tasks.
    let planned = loaded.and_then(|loaded| plan::prepare(&loaded.settings, &wanted).ok());
    items.extend(planned.iter().flat_map(trust::checks));
    Ok((items, is_whole))
}

/// All that a person has still to say yes to.
fn open(missing: &[Item], gone: &[Item], lang: Lang) -> String {
    let new = (!missing.is_empty()).then(|| trust::shown(missing, lang));
    let gone = (!gone.is_empty()).then(|| trust::shown_gone(gone, lang));
    let parts: Vec<String> = new.into_iter().chain(gone).collect();
    parts.join("\n")
}

fn list(app: &App, items: &[Item], missing: &[Item], gone: &[Item]) -> String {
    let lang = app.lang();
    if items.is_empty() && gone.is_empty() {
        return tr!(lang, "this project brings nothing that needs trust");
    }
    let trusted: Vec<Item> = items
        .iter()
        .filter(|i| !missing.contains(i))
        .cloned()
        .collect();
    let lines = trust::lines(&trusted);
    let mut text = match trusted.is_empty() {
        true => String::new(),
        false => tr!(lang, "trusted:\n{lines}\n"),
    };
    text.push_str(&open(missing, gone, lang));
    text
}

//! `ralph history`: runs that are over, and what became of them.

use std::io::ErrorKind;
use std::time::Duration;

use ralph_core::lang::Lang;
use ralph_core::report::outcome_word;
use ralph_core::text::duration::human;
use ralph_core::text::sanitize;
use ralph_core::tr;
use ralph_engine::archive::Keeping;
use ralph_engine::clock;
use ralph_engine::watch::{self, Brief};
use ralph_store::history::{self, Entry, Manifest};
use serde_json::{Value, json};

use crate::app::{App, Exit, OrFail};
use crate::args::{HistoryArgs, HistoryVerb};
use crate::trust;

pub fn run(app: &App, args: &HistoryArgs) -> Exit {
    let keeping = keeping(app)?;
    match &args.verb {
        Some(HistoryVerb::Show { id, report, json }) => {
            let Some(entry) = keeping.history.find(id).or_fail(app)? else {
                return show_old(app, id, *json).unwrap_or_else(|| unknown(app, &keeping, id));
            };
            match () {
                () if *report => show_report(app, &entry),
                () if *json => app.json(&to_json(app, &entry)),
                () => app.tell(&details(app, &entry)),
            }
            Ok(0)
        }
        None => list(app, &keeping, args),
    }
}

/// Where the project keeps its runs.
pub fn keeping(app: &App) -> Result<Keeping, u8> {
    let settings = trust::settings_unasked(app, "history.")?;
    Ok(Keeping::new(&app.root, &settings))
}

fn unknown(app: &App, keeping: &Keeping, id: &str) -> Exit {
    let dir = keeping.history.dir().display();
    app.refuse(&tr!(
        app.lang(),
        "{dir} holds nothing that is called {id}; `ralph history` lists everything"
    ))
}

fn list(app: &App, keeping: &Keeping, args: &HistoryArgs) -> Exit {
    let mut entries = keeping.history.entries().or_fail(app)?;
    let mut old = watch::old_briefs(&app.layout());
    old.retain(|run| !entries.iter().any(|e| e.is_about(run.id.as_str())));
    let all = entries.len() + old.len();
    if args.limit > 0 {
        entries.truncate(args.limit);
        old.truncate(args.limit - entries.len());
    }
    if args.json {
        let archived = entries.iter().map(|e| to_json(app, e));
        let entries: Vec<Value> = archived.chain(old.iter().map(old_json)).collect();
        app.json(&json!({"version": 1, "total": all, "entries": entries}));
        return Ok(0);
    }
    if all == 0 {
        let dir = keeping.history.dir().display();
        return app.done(&tr!(
            app.lang(),
            "nothing is archived yet ({dir}); a run comes here when it is over"
        ));
    }
    let archived = entries.iter().map(|e| row(app, e));
    let rows: Vec<[String; 7]> = archived
        .chain(old.iter().map(|run| old_row(run, app.lang())))
        .collect();
    app.tell(&table(app.lang(), &rows));
    if all > rows.len() {
        let more = all - rows.len();
        app.tell(&tr!(app.lang(), "and {more} more (--limit 0 shows all)"));
    }
    Ok(0)
}

fn table(lang: Lang, rows: &[[String; 7]]) -> String {
    let heading = [
        tr!(lang, "ended"),
        tr!(lang, "run"),
        tr!(lang, "outcome"),
        tr!(lang, "tasks"),
        tr!(lang, "turns"),
        tr!(lang, "time"),
        tr!(lang, "where"),
    ];
    crate::view::columns(&[&[heading], rows].concat())
}

/// What is not known is a dash.
fn row(app: &App, entry: &Entry) -> [String; 7] {
    let or_dash = |text: String| match text.is_empty() {
        true => "-".to_owned(),
        false => text,
    };
    let lang = app.lang();
    let path = place(app, entry);
    let ended = entry.manifest.as_ref().map(|m| m.text("ended"));
    let when = match ended.filter(|ended| !ended.is_empty()) {
        Some(ended) => in_zone(ended),
        None => or_dash(entry.when().to_owned()),
    };
    let Some(manifest) = &entry.manifest else {
        let id = entry.named.id.clone().unwrap_or_default();
        let unknown = || "-".to_owned();
        return [
            when,
            or_dash(clean(&id)),
            unknown(),
            unknown(),
            unknown(),
            unknown(),
            path,
        ];
    };
    [
        when,
        clean(manifest.text("run_id")),
        outcome_word(lang, &clean(manifest.text("outcome"))),
        or_dash(tasks(manifest)),
        manifest.number("turns").to_string(),
        duration(lang, manifest),
        path,
    ]
}

/// A moment in UTC on the person's clock; other words stay (U-06).
fn in_zone(moment: &str) -> String {
    match clock::localised(moment) {
        same if same == moment => clean(moment),
        local => format!("{local} ({})", clock::zone_name()),
    }
}

/// A run of an earlier version, as its last events have it.
fn old_row(run: &Brief, lang: Lang) -> [String; 7] {
    [
        in_zone(&run.updated),
        run.id.to_string(),
        clean(&run.word(lang)),
        format!("{}/{}", run.completed, run.total),
        run.iterations.to_string(),
        "-".to_owned(),
        old_place(run),
    ]
}

fn old_place(run: &Brief) -> String {
    format!(".ralph/runs/{}", run.id)
}

fn old_json(run: &Brief) -> Value {
    json!({
        "name": run.id.as_str(),
        "path": old_place(run),
        "ended": run.updated,
        "outcome": run.outcome,
        "tasks": {"completed": run.completed, "total": run.total},
        "turns": run.iterations,
        "earlier_version": true,
    })
}

fn show_old(app: &App, id: &str, json: bool) -> Option<Exit> {
    let old = watch::old_briefs(&app.layout());
    let run = old.iter().find(|run| run.id.as_str() == id)?;
    if json {
        app.json(&old_json(run));
        return Some(Ok(0));
    }
    let lang = app.lang();
    app.tell(&table(lang, &[old_row(run, lang)]));
    Some(app.done(&tr!(
        lang,
        "of an earlier version, which kept it in the project; `ralph report {id}` tells all of it"
    )))
}

fn tasks(manifest: &Manifest) -> String {
    let tasks = &manifest.json()["tasks"];
    match (tasks["completed"].as_u64(), tasks["total"].as_u64()) {
        (Some(done), Some(total)) => format!("{done}/{total}"),
        _ => String::new(),
    }
}

fn duration(lang: Lang, manifest: &Manifest) -> String {
    human(lang, Duration::from_millis(manifest.number("duration_ms")))
}

fn place(app: &App, entry: &Entry) -> String {
    let below = entry.path.strip_prefix(&app.root).unwrap_or(&entry.path);
    clean(&below.display().to_string())
}

/// Names and values come from files that anybody may have written.
fn clean(text: &str) -> String {
    ralph_core::text::one_line(&sanitize(text))
}

fn to_json(app: &App, entry: &Entry) -> Value {
    let path = place(app, entry);
    match &entry.manifest {
        Some(manifest) => {
            json!({"name": entry.name, "path": path, "manifest": manifest.json()})
        }
        None => json!({
            "name": entry.name,
            "path": path,
            "ended": entry.named.when,
            "task_id": entry.named.id,
            "route": entry.named.route,
        }),
    }
}

fn details(app: &App, entry: &Entry) -> String {
    let lang = app.lang();
    let mut out = format!("{}\n", place(app, entry));
    let [when, run, outcome, tasks, turns, time, _] = row(app, entry);
    let mut rows = vec![
        (tr!(lang, "run"), run),
        (tr!(lang, "ended"), when),
        (tr!(lang, "outcome"), outcome),
    ];
    if let Some(manifest) = &entry.manifest {
        let reason = clean(manifest.text("reason"));
        rows.extend([
            (tr!(lang, "reason"), reason),
            (tr!(lang, "work"), clean(manifest.text("work"))),
            (tr!(lang, "tasks"), tasks),
            (tr!(lang, "turns"), turns),
            (tr!(lang, "time"), time),
        ]);
    } else {
        out.push_str(&tr!(
            lang,
            "not written by Ralph: only its name and its files are known\n"
        ));
        let route = clean(entry.named.route.as_deref().unwrap_or_default());
        rows.push((tr!(lang, "route"), route));
    }
    for (label, text) in rows
        .iter()
        .filter(|(_, text)| !matches!(text.as_str(), "" | "-"))
    {
        out.push_str(&format!("{label}: {text}\n"));
    }
    let label = tr!(lang, "files");
    out.push_str(&format!("{label}: {}\n", files(entry).join(", ")));
    out
}

fn files(entry: &Entry) -> Vec<String> {
    let found = std::fs::read_dir(&entry.path).into_iter().flatten();
    let mut names: Vec<String> = found
        .flatten()
        .map(|file| clean(&file.file_name().to_string_lossy()))
        .collect();
    names.sort();
    names
}

fn show_report(app: &App, entry: &Entry) {
    let path = entry.path.join(history::REPORT);
    match ralph_store::regular::read(&path) {
        Ok(text) => app.tell(&sanitize(&String::from_utf8_lossy(&text))),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            app.tell(&details(app, entry));
            let path = path.display();
            app.warn(&tr!(
                app.lang(),
                "there is no report ({path}); this is what is known"
            ));
        }
        Err(error) => {
            let path = path.display();
            app.warn(&tr!(app.lang(), "{path} can't be read ({error}); `ralph history show` without --report shows what is known"));
        }
    }
}

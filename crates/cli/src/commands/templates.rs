//! `ralph templates`: the prompts that are built in (TMPL-03).

use ralph_core::lang::Lang;
use ralph_core::tasks::ReadOptions;
use ralph_core::template::{self, BuiltIn, PROJECT_TEMPLATES};
use ralph_core::tr;
use ralph_engine::{plan, prompt};
use ralph_store::atomic::{AtomicOptions, write_atomic};

use crate::app::{App, Exit, OrFail};
use crate::args::{TemplatesArgs, TemplatesVerb};
use crate::trust;

pub fn run(app: &App, args: &TemplatesArgs) -> Exit {
    match &args.verb {
        None | Some(TemplatesVerb::List) => app.done(&list(app.lang())),
        Some(TemplatesVerb::Show { name }) => {
            app.print(&template::built_in(named(app, name)?, app.lang()));
            Ok(0)
        }
        Some(TemplatesVerb::Install { name, force }) => {
            let kind = match name {
                Some(name) => named(app, name)?,
                None => fitting(app)?,
            };
            install(app, kind, *force)
        }
    }
}

fn list(lang: Lang) -> String {
    let width = BuiltIn::ALL.map(|kind| kind.name().len());
    let width = width.into_iter().max().unwrap_or_default();
    let lines = BuiltIn::ALL.map(|kind| {
        let (name, file, about) = (kind.name(), kind.file_name(), about(kind, lang));
        format!("{name:width$}  {about} ({file})\n")
    });
    let next = tr!(
        lang,
        "`ralph templates show NAME` prints one, `ralph templates install NAME` makes it the project's own"
    );
    format!("{}\n{next}", lines.concat())
}

fn about(kind: BuiltIn, lang: Lang) -> String {
    match kind {
        BuiltIn::SpecKit => tr!(lang, "for a spec-kit project"),
        BuiltIn::Generic => tr!(lang, "for any other task file with phases"),
        BuiltIn::Flat => tr!(lang, "for a task file without phases"),
        BuiltIn::Plain => tr!(lang, "for a task given on the command line"),
    }
}

fn named(app: &App, name: &str) -> Result<BuiltIn, u8> {
    let known = BuiltIn::ALL.map(BuiltIn::name).join(", ");
    match BuiltIn::from_name(name) {
        Some(kind) => Ok(kind),
        None => app.refuse(&tr!(
            app.lang(),
            "there is no template \"{name}\"; write one of {known}"
        )),
    }
}

/// The one that a run here would use.
fn fitting(app: &App) -> Result<BuiltIn, u8> {
    let tasks = trust::settings_unasked(app, "tasks.")?.tasks;
    let options = ReadOptions {
        optional_sections: tasks.optional_sections,
        ..ReadOptions::default()
    };
    let found = plan::find_task_file(&app.root, tasks.source, &options, true);
    let found = found.ok();
    Ok(prompt::built_in_for(
        found.as_ref().map(|found| &found.list),
        found.as_ref().map(|found| found.file.path.as_path()),
    ))
}

fn install(app: &App, kind: BuiltIn, force: bool) -> Exit {
    let lang = app.lang();
    let [place, _] = PROJECT_TEMPLATES;
    let path = app.root.join(place);
    let shown = path.display();
    if path.symlink_metadata().is_ok() && !force {
        return app.refuse(&tr!(
            lang,
            "{shown} is there and stays as it is; --force replaces it"
        ));
    }
    app.layout().prepare().or_fail(app)?;
    let text = template::built_in(kind, lang);
    write_atomic(&path, text.as_bytes(), AtomicOptions { durable: true }).or_fail(app)?;
    let name = kind.name();
    app.done(&tr!(
        lang,
        "{shown} is the template \"{name}\"; runs use it from now on, delete it to go back"
    ))
}

//! `ralph config`: show, check, explain.

use ralph_core::config::{self, ConfigWarning, Layer, Loaded, REFERENCE, Rejected};
use ralph_core::json_schema::File;
use ralph_core::lang::{Lang, Say};
use ralph_core::tr;
use ralph_engine::plan;

use crate::FAILED;
use crate::app::{App, Exit};
use crate::args::{ConfigArgs, ConfigVerb, SchemaOf};
use crate::commands::guard::rules;
use crate::guard::{Place, project, settings as guard};
use crate::settings;

pub fn run(app: &App, args: &ConfigArgs) -> Exit {
    match &args.verb {
        ConfigVerb::Show {
            origin,
            preset,
            json,
        } => show(app, preset.as_deref(), *origin, *json),
        ConfigVerb::Check => check(app),
        ConfigVerb::Reference => {
            app.print(REFERENCE);
            Ok(0)
        }
        ConfigVerb::Migrate => migrate(app),
        ConfigVerb::Schema { file } => {
            let file = match file {
                SchemaOf::Config => File::Config,
                SchemaOf::Flow => File::Flow,
                SchemaOf::Prd => File::Prd,
            };
            app.print(&file.text());
            Ok(0)
        }
    }
}

fn show(app: &App, preset: Option<&str>, origin: bool, json: bool) -> Exit {
    let loaded = settings::load(app, settings::preset(app, preset)?)?;
    warn_all(app, &loaded.warnings);
    match json {
        true => app.json(&loaded.resolved.to_json()),
        false => app.tell(&loaded.resolved.show(origin)),
    }
    Ok(0)
}

fn check(app: &App) -> Exit {
    let Doubts { warnings, errors } = doubts(app);
    let all = warnings.iter().chain(&errors);
    all.for_each(|doubt| app.warn(doubt));
    match errors.is_empty() {
        true => app.done(&tr!(app.lang(), "the configuration is sound")),
        false => Err(FAILED),
    }
}

/// What is wrong with the configuration of a project.
pub struct Doubts {
    pub warnings: Vec<String>,
    pub errors: Vec<String>,
}

pub fn doubts(app: &App) -> Doubts {
    let lang = app.lang();
    match config::load(&settings::sources(&app.root, Vec::new())) {
        Ok(Loaded {
            settings, warnings, ..
        }) => {
            // What such a file says does not count.
            let is_unread =
                |warning: &&ConfigWarning| matches!(warning, ConfigWarning::Unreadable { .. });
            let (unread, warnings): (Vec<_>, Vec<_>) = warnings.iter().partition(is_unread);
            let unknown = plan::check_names(&settings, &app.root, lang);
            let mut errors = said(unread, lang);
            errors.extend(said(&unknown, lang));
            errors.extend(problems_of_guard(app));
            Doubts {
                warnings: said(warnings, lang),
                errors,
            }
        }
        Err(Rejected { errors, warnings }) => Doubts {
            warnings: said(&warnings, lang),
            errors: said(&errors, lang),
        },
    }
}

fn said<'a, T: Say + 'a>(all: impl IntoIterator<Item = &'a T>, lang: Lang) -> Vec<String> {
    all.into_iter().map(|one| one.say(lang)).collect()
}

/// What `ralph guard check-rules` would say.
fn problems_of_guard(app: &App) -> Vec<String> {
    let root = project::real(&app.root);
    match guard::load(&root) {
        Ok(loaded) => rules::problems(&Place::new(&root), &loaded, app.lang()),
        Err(trouble) => vec![trouble.say(app.lang())],
    }
}

fn migrate(app: &App) -> Exit {
    let sources = settings::sources(&app.root, Vec::new());
    let mut layers = Vec::new();
    for file in &sources.foreign {
        let (layer, warnings) = Layer::foreign(&file.name, &file.text);
        warn_all(app, &warnings);
        layers.push(layer);
    }
    app.print(&config::migrate(&layers));
    Ok(0)
}

pub fn warn_all(app: &App, warnings: &[impl Say]) {
    for warning in warnings {
        app.warn(&warning.say(app.lang()));
    }
}

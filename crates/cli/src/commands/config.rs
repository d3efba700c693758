//! `ralph config`: show, check, explain.

use ralph_core::config::{self, ConfigWarning, Layer, Loaded, REFERENCE, Rejected};
use ralph_core::json_schema::File;
use ralph_core::lang::Say;
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
    let lang = app.lang();
    match config::load(&settings::sources(&app.root, Vec::new())) {
        Ok(Loaded {
            settings, warnings, ..
        }) => {
            warn_all(app, &warnings);
            let unknown = plan::check_names(&settings, &app.root, lang);
            warn_all(app, &unknown);
            let of_guard = problems_of_guard(app);
            of_guard.iter().for_each(|problem| app.warn(problem));
            if !unknown.is_empty() || !of_guard.is_empty() {
                return Err(FAILED);
            }
            // What it says does not count.
            let is_unread = |warning| matches!(warning, &ConfigWarning::Unreadable { .. });
            match warnings.iter().any(is_unread) {
                true => Err(FAILED),
                false => app.done(&tr!(lang, "the configuration is sound")),
            }
        }
        Err(Rejected { errors, warnings }) => {
            warn_all(app, &warnings);
            warn_all(app, &errors);
            Err(FAILED)
        }
    }
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

//! `ralph config`: show, check, explain.

use ralph_core::config::{self, Layer, Loaded, REFERENCE, Rejected};
use ralph_core::lang::Say;
use ralph_core::tr;

use crate::FAILED;
use crate::app::App;
use crate::args::{ConfigArgs, ConfigVerb};
use crate::settings;

pub fn run(app: &App, args: &ConfigArgs) -> u8 {
    match &args.verb {
        ConfigVerb::Show {
            origin,
            preset,
            json,
        } => show(app, preset.as_deref(), *origin, *json),
        ConfigVerb::Check => check(app),
        ConfigVerb::Reference => {
            app.print(REFERENCE);
            0
        }
        ConfigVerb::Migrate => migrate(app),
    }
}

fn show(app: &App, preset: Option<&str>, origin: bool, json: bool) -> u8 {
    let flags = match preset
        .map(|name| Layer::flag("preset", name, "--preset"))
        .transpose()
    {
        Ok(flag) => flag.into_iter().collect(),
        Err(error) => return app.fail(&error),
    };
    match settings::load(app, flags) {
        Ok(loaded) => {
            warn_all(app, &loaded.warnings);
            app.print(&if json {
                loaded.resolved.to_json().to_string()
            } else {
                loaded.resolved.show(origin)
            });
            0
        }
        Err(code) => code,
    }
}

fn check(app: &App) -> u8 {
    let lang = app.lang();
    match config::load(&settings::sources(&app.root, Vec::new())) {
        Ok(Loaded { warnings, .. }) => {
            warn_all(app, &warnings);
            app.tell(&tr!(lang, "the configuration is sound"));
            0
        }
        Err(Rejected { errors, warnings }) => {
            warn_all(app, &warnings);
            for error in &errors {
                app.fail(error);
            }
            FAILED
        }
    }
}

fn migrate(app: &App) -> u8 {
    let sources = settings::sources(&app.root, Vec::new());
    let mut layers = Vec::new();
    for file in &sources.foreign {
        let (layer, warnings) = Layer::foreign(&file.name, &file.text);
        warn_all(app, &warnings);
        layers.push(layer);
    }
    app.print(&config::migrate(&layers));
    0
}

pub fn warn_all(app: &App, warnings: &[impl Say]) {
    for warning in warnings {
        app.warn(&warning.say(app.lang()));
    }
}

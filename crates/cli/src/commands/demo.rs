//! `ralph demo`: a whole loop in a throwaway project.

use std::path::{Path, PathBuf};

use ralph_core::config::{Layer, Sources};
use ralph_core::tr;
use ralph_engine::opening::Opening;
use ralph_engine::plan::{self, Wanted};
use ralph_store::home::StateHome;
use ralph_store::layout::Layout;
use ralph_store::private::PrivateDir;

use super::run::drive;
use crate::app::{App, Exit, OrFail, own_program};

use crate::args::DemoArgs;
use crate::demo;
use crate::settings;
use crate::view::{JsonLines, People};

pub fn run(app: &App, args: &DemoArgs) -> Exit {
    let made = PrivateDir::new("demo")
        .map(PrivateDir::keep)
        .and_then(|root| {
            demo::make_project(&root)?;
            Ok(root)
        });
    let root = match made {
        Ok(root) => root,
        Err(error) => return no_project(app, &error),
    };
    let code = work(app, args, root.clone());
    if !args.json {
        app.tell(&farewell(app, args, &root));
    }
    if !args.keep {
        // It is ours, and nobody else knew its name.
        let _ = std::fs::remove_dir_all(&root);
        let _ = std::fs::remove_dir_all(state_beside(&root));
    }
    code
}

fn no_project(app: &App, error: &std::io::Error) -> Exit {
    let root = std::env::temp_dir();
    let root = root.display();
    app.refuse(&tr!(app.lang(), "{root}: the demo project can't be made ({error}); the demo needs git and a writable temporary directory"))
}

fn state_beside(root: &Path) -> PathBuf {
    root.with_extension("state")
}

/// The demo is a run like any other; only its agent is scripted.
fn work(app: &App, args: &DemoArgs, root: PathBuf) -> Exit {
    let flags = [
        Layer::flag("agent.name", "scripted", "demo"),
        Layer::flag("verify.commands", vec![demo::VERIFY.to_owned()], "demo"),
        // Its tests are green when everything is done, and not before.
        Layer::flag("verify.ticks", "agent", "demo"),
        Layer::flag("limits.max_iterations", 20, "demo"),
    ];
    let flags = flags
        .into_iter()
        .collect::<Result<Vec<_>, _>>()
        .or_fail(app)?;
    let sources = Sources {
        flags,
        ..Sources::default()
    };
    let settings = settings::loaded(app, &sources)?.settings;
    let home = match args.keep {
        true => app.home.clone(),
        // What goes again leaves nothing among the person's own runs.
        false => StateHome::at(state_beside(&root)),
    };
    let wanted = Wanted::new(Layout::new(root, &home), app.lang(), own_program());
    let plan = plan::prepare(&settings, &wanted).or_fail(app)?;
    if args.json {
        return drive(app, plan, &Opening::New, &mut JsonLines);
    }
    let mut people =
        People::new(app.screen, false, false).with_next("cd PROJECT && ralph run --dry-run");
    drive(app, plan, &Opening::New, &mut people)
}

fn farewell(app: &App, args: &DemoArgs, root: &Path) -> String {
    let root = root.display();
    if args.keep {
        tr!(
            app.lang(),
            "the project is here: {root}\n  git -C {root} log --oneline\n  ralph --root {root} events"
        )
    } else {
        tr!(
            app.lang(),
            "the project is gone again; `ralph demo --keep` leaves it to look at"
        )
    }
}

//! `ralph run`: the external loop.

use std::path::PathBuf;

use ralph_core::config::Loaded;
use ralph_core::lang::Say;
use ralph_engine::driver::{self, Observer};
use ralph_engine::plan::{self, Plan, Wanted};
use ralph_engine::signals;
use tokio::sync::mpsc;

use super::config::warn_all;
use crate::app::{self, App};
use crate::args::{Global, RunArgs};
use crate::view::{DryRun, JsonLines, People};
use crate::{FAILED, settings};

pub fn run(app: App, global: &Global, args: &RunArgs) -> u8 {
    let flags = match settings::run_flags(&app, global, args) {
        Ok(flags) => flags,
        Err(code) => return code,
    };
    let Loaded {
        settings, warnings, ..
    } = match settings::load(&app, flags) {
        Ok(loaded) => loaded,
        Err(code) => return code,
    };
    let app = app.with_lang(global, &settings.lang);
    if !args.quiet {
        warn_all(&app, &warnings);
    }
    let wanted = Wanted {
        root: app.root.clone(),
        lang: app.lang(),
        prompt: args.prompt.clone(),
        openspec: args.openspec.clone(),
        template: args
            .prompt_template
            .as_ref()
            .map(|p| std::path::absolute(p).unwrap_or_else(|_| p.clone())),
        interactive: app::is_interactive() && !args.json,
        own_program: own_program(),
    };
    let plan = match plan::prepare(&settings, &wanted) {
        Ok(plan) => plan,
        Err(error) => return app.fail(&error),
    };
    if args.dry_run {
        let dry_run = DryRun {
            plan: &plan,
            screen: &app.screen,
        };
        app.print(&if args.json {
            dry_run.to_json().to_string()
        } else {
            dry_run.to_string()
        });
        return 0;
    }
    if args.json {
        drive(&app, plan, &mut JsonLines::default())
    } else {
        drive(
            &app,
            plan,
            &mut People::new(app.screen, args.quiet, app::is_interactive()),
        )
    }
}

pub fn own_program() -> PathBuf {
    std::env::current_exe().unwrap_or_else(|_| "ralph".into())
}

/// Runs a plan on this thread and gives the exit code of its outcome.
pub fn drive(app: &App, plan: Plan, observer: &mut dyn Observer) -> u8 {
    let runtime = match tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => {
            app.warn(&error.to_string());
            return FAILED;
        }
    };
    let result = runtime.block_on(async {
        let (sender, requests) = mpsc::unbounded_channel();
        if let Err(error) = signals::listen(sender) {
            app.warn(&error.to_string());
        }
        driver::drive(plan, observer, requests).await
    });
    // A thread that still waits for a key press must not hold the end up.
    runtime.shutdown_background();
    match result {
        Ok(outcome) => outcome.exit_code(),
        Err(error) => {
            app.warn(&error.say(app.lang()));
            FAILED
        }
    }
}

//! `ralph do`: scores a task, chooses how much process it deserves, and runs
//! that (ROUT-02 to ROUT-06).

use ralph_core::lang::Say;
use ralph_core::route::{self, Route};
use ralph_engine::opening::Opening;
use ralph_engine::plan::{Asked, Flag};

use super::resume;
use super::run::{Shown, dry_run, prepare, show};
use crate::app::App;
use crate::args::{DoArgs, Global, ResumeArgs, RunArgs};
use crate::settings;

pub fn run(app: App, global: &Global, args: &DoArgs) -> u8 {
    if args.resume || args.list_checkpoints {
        let resumed = ResumeArgs {
            yes: args.yes,
            list: args.list_checkpoints,
            json: args.json,
            quiet: args.quiet,
            ..ResumeArgs::default()
        };
        return resume::run(app, global, &resumed);
    }
    let task = args.task.clone().unwrap_or_default();
    let mut flags = settings::run_flags(global, &as_run(args));
    let settings = match settings::layers(&app, &flags).and_then(|l| settings::load(&app, l)) {
        Ok(loaded) => loaded.settings,
        Err(code) => return code,
    };
    let card = route::score(&task, &settings.routing, asked_route(args));
    if args.explain {
        match args.json {
            true => app.print(&card.to_json().to_string()),
            false => app.tell(&card.say(app.lang())),
        }
        return 0;
    }
    if settings.preset.is_none() && matches!(card.route, Route::Ralph | Route::Architect) {
        // The limits and the promise that the loops of the seed know.
        flags.push(Flag {
            key: "preset".into(),
            value: "delta".into(),
            name: "ralph do".into(),
        });
    }
    let shown = Shown {
        json: args.json,
        quiet: args.quiet,
    };
    if !args.json && !args.quiet {
        app.tell(&card.summary(app.lang()));
    }
    let asked = Asked {
        flags,
        prompt: Some(task),
        flow: Some(card.route.flow().into()),
        card: Some(card),
        ..Asked::default()
    };
    match prepare(app, global, asked, shown) {
        Ok((app, plan)) if args.dry_run => dry_run(&app, &plan, args.json),
        Ok((app, plan)) => show(&app, plan, &Opening::New, shown),
        Err(code) => code,
    }
}

/// What the person wants, whatever the score says.
fn asked_route(args: &DoArgs) -> Option<Route> {
    match (args.quick, args.deep) {
        (true, _) => Some(Route::Direct),
        (_, true) => Some(Route::Ralph),
        _ => args.route,
    }
}

fn as_run(args: &DoArgs) -> RunArgs {
    RunArgs {
        agent: args.agent.clone(),
        agent_cmd: args.agent_cmd.clone(),
        max_iterations: args.max_iterations,
        max_duration: args.max_duration.clone(),
        max_cost: args.max_cost.clone(),
        max_tokens: args.max_tokens,
        verify: args.verify.clone(),
        allow_unsafe: args.allow_unsafe,
        no_guard: args.no_guard,
        ..RunArgs::default()
    }
}

//! `ralph do`: scores a task, chooses how much process it deserves, and runs
//! that (ROUT-02 to ROUT-06).

use ralph_core::lang::Say;
use ralph_core::route::{self, Route};
use ralph_core::tr;
use ralph_engine::opening::Opening;

use super::resume;
use super::run::{Shown, dry_run, prepare, show};
use crate::app::{App, Exit};
use crate::args::{DoArgs, Global, ResumeArgs};
use crate::{routing, settings};

pub fn run(app: App, global: &Global, args: &DoArgs) -> Exit {
    if args.resume || args.list_checkpoints {
        let resumed = ResumeArgs {
            yes: args.yes,
            restart: args.restart,
            show: args.show,
            abandon: args.abandon,
            agent: args.work.agent.clone(),
            agent_cmd: args.work.agent_cmd.clone(),
            max_cost: args.work.max_cost.clone(),
            max_tokens: args.work.max_tokens,
            list: args.list_checkpoints,
            json: args.json,
            quiet: args.quiet,
            ..ResumeArgs::default()
        };
        return resume::run(app, global, &resumed);
    }
    let task = args.task.clone().unwrap_or_default();
    if task.trim().is_empty() {
        let what = tr!(app.lang(), "nothing to do: say what (ralph do \"…\")");
        return app.refuse(&what);
    }
    let flags = settings::do_flags(global, args);
    let settings = settings::layers(&app, &flags)
        .and_then(|l| settings::load(&app, l))?
        .settings;
    let card = route::score(&task, &settings.routing, asked_route(args));
    if args.explain {
        return app.answer(args.json, || card.to_json(), || card.say(app.lang()));
    }
    let shown = Shown {
        json: args.json,
        quiet: args.quiet,
        calls_nobody: args.work.dry_run,
        rehearses: args.work.dry_run,
        ..Shown::default()
    };
    if !args.json && !args.quiet {
        app.tell(&card.summary(app.lang()));
    }
    let asked = routing::asked(task, card, &settings, flags);
    let (app, plan) = prepare(app, global, asked, shown)?;
    match args.work.dry_run {
        true => dry_run(&app, &plan, args.json),
        false => show(&app, plan, &Opening::New, shown),
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

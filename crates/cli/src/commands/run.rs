//! `ralph run`: the external loop.

use ralph_core::config::Loaded;
use ralph_core::lang::Say;
use ralph_core::text;
#[cfg(not(feature = "fleet"))]
use ralph_core::tr;
use ralph_engine::driver::{self, Observer};
use ralph_engine::error::DriveError;
use ralph_engine::opening::Opening;
use ralph_engine::plan::{self, Asked, Plan, Wanted};
use ralph_engine::session::adopt;
use ralph_engine::signals;
use tokio::sync::mpsc;

use super::answer::moved;
use super::config::warn_all;
use crate::app::{self, App, Exit, OrFail};
use crate::args::{Global, RunArgs};
use crate::trust::{self, Item};
use crate::view::{DryRun, JsonLines, People};
use crate::{FAILED, PAUSED, settings, tmux};

/// How a run is shown.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shown {
    pub json: bool,
    pub quiet: bool,
    /// No agent is called, so that none has to be there.
    pub calls_nobody: bool,
    /// It is only said what would be done, and what a run would be refused for.
    pub rehearses: bool,
    /// The run is only brought to its end: its list may be gone.
    pub gives_up: bool,
    /// Nothing of it is left when it is over.
    pub is_passing: bool,
}

pub fn run(app: App, global: &Global, args: &RunArgs) -> Exit {
    if args.monitor {
        let typed: Vec<_> = std::env::args_os().skip(1).collect();
        if let tmux::Loop::Elsewhere(code) = tmux::beside(&app, &typed)? {
            return Ok(code);
        }
    }
    let template = args.prompt_template.as_ref();
    let asked = Asked {
        flags: settings::run_flags(global, args),
        prompt: args.prompt.clone(),
        openspec: args.openspec.clone(),
        template: template.map(|p| std::path::absolute(p).unwrap_or_else(|_| p.clone())),
        no_review: args.no_review.clone(),
        hints: args
            .hints
            .iter()
            .map(|hint| text::redact(hint).into())
            .collect(),
        ..Asked::default()
    };
    let shown = Shown {
        json: args.json,
        quiet: args.quiet,
        calls_nobody: args.work.dry_run,
        rehearses: args.work.dry_run,
        ..Shown::default()
    };
    let (app, plan) = prepare(app, global, asked, shown)?;
    if args.work.dry_run {
        return dry_run(&app, &plan, args.json);
    }
    show(&app, plan, &Opening::New, shown)
}

/// Shows what would be done.
pub fn dry_run(app: &App, plan: &Plan, json: bool) -> Exit {
    let dry_run = DryRun {
        plan,
        screen: &app.screen,
    };
    app.answer(json, || dry_run.to_json(), || dry_run.to_string())
}

#[cfg(feature = "fleet")]
fn reach_fleet(app: &App) -> Result<(), u8> {
    crate::fleet::page::reach(app)
}

#[cfg(not(feature = "fleet"))]
fn reach_fleet(app: &App) -> Result<(), u8> {
    app.refuse(&tr!(
        app.lang(),
        "lanes.fleet is set, and this program was built without the feature \"fleet\"; take one that has it, or unset it"
    ))
}

/// From what was asked for to a plan, or to what is wrong with it.
pub fn prepare(app: App, global: &Global, asked: Asked, shown: Shown) -> Result<(App, Plan), u8> {
    let load = |asked: &Asked| {
        let layers = settings::layers(&app, &asked.flags)?;
        settings::load(&app, layers)
    };
    let mut loaded = load(&asked)?;
    let mut asked = asked;
    if let Some(waiting) = adopt::waiting(&app.layout(), &loaded.settings, &asked) {
        loaded = load(&waiting)?;
        asked = waiting;
    }
    if !app.layout().state_dir().exists() && !shown.quiet {
        // Once a run has begun here, they can't come along any more.
        moved(&app).iter().for_each(|words| app.warn(words));
    }
    require_trust(&app, shown, || trust::items(&app.root, Some(&loaded)))?;
    let Loaded {
        settings, warnings, ..
    } = loaded;
    let app = app.with_lang(global, &settings.lang);
    if !shown.quiet {
        warn_all(&app, &warnings);
    }
    let wanted = Wanted {
        asked,
        interactive: app::is_interactive() && !shown.json,
        permit: Some(crate::guard::permit),
        calls_nobody: shown.calls_nobody,
        has_begun: shown.gives_up,
        ..Wanted::new(app.layout(), app.lang(), app::own_program())
    };
    if settings.lanes.fleet && settings.lanes.count > 0 {
        reach_fleet(&app)?;
    }
    let plan = plan::prepare(&settings, &wanted).or_fail(&app)?;
    require_trust(&app, shown, || trust::checks(&plan))?;
    Ok((app, plan))
}

fn require_trust(app: &App, shown: Shown, items: impl Fn() -> Vec<Item>) -> Result<(), u8> {
    match shown {
        Shown {
            rehearses: true, ..
        } => trust::foretell(app, &items()),
        Shown {
            calls_nobody: true, ..
        } => {}
        _ => trust::require(app, &items())?,
    }
    Ok(())
}

/// Drives a run and shows it.
pub fn show(app: &App, plan: Plan, opening: &Opening, shown: Shown) -> Exit {
    if shown.json {
        drive(app, plan, opening, &mut JsonLines)
    } else {
        let interactive = app::is_interactive();
        let mut people = People::new(app.screen, shown.quiet, interactive);
        if shown.is_passing {
            people = people.passing();
        }
        if interactive && !shown.quiet && app::can_move_the_cursor() {
            people = people.live();
        }
        drive(app, plan, opening, &mut people)
    }
}

/// Runs a plan on this thread and gives the exit code of its outcome.
pub fn drive(app: &App, plan: Plan, opening: &Opening, observer: &mut dyn Observer) -> Exit {
    let result = app.block_on(async {
        let (sender, requests) = mpsc::unbounded_channel();
        if let Err(error) = signals::listen(sender) {
            app.warn(&error.to_string());
        }
        driver::drive(plan, opening, observer, requests).await
    })?;
    match result {
        Ok(outcome) => Ok(outcome.exit_code()),
        Err(error) => {
            app.warn(&error.say(app.lang()));
            Err(match error {
                DriveError::Unsaved(_) => PAUSED,
                _ => FAILED,
            })
        }
    }
}

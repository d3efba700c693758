//! `ralph accept`: a person's word for work that no check could prove.

use ralph_core::lang::Say;
use ralph_core::machine::{Kind, Outcome, State};
use ralph_core::proof::EvidenceLevel;
use ralph_core::tr;
use ralph_engine::control::{self, ControlError};
use ralph_engine::mailbox::{Wish, reply_text};
use ralph_engine::past;
use serde_json::json;

use crate::app::{App, Exit, OrFail};
use crate::args::AcceptArgs;
use crate::install::program::quoted;

pub fn run(app: &App, args: &AcceptArgs) -> Exit {
    let (lang, layout) = (app.lang(), app.layout());
    let Some(run) = layout.latest_run().or_fail(app)? else {
        return app.refuse(&super::answer::no_run(app));
    };
    let past = past::read(&run).or_fail(app)?;
    let open = past.state.short_of_proof();
    // Only a run that is complete was shown as well as was asked for.
    if open.is_empty() && args.tasks.is_empty() && !is_complete(&past.state) && !args.json {
        let words = tr!(
            lang,
            "nothing waits for your word: only work that was checked and is not proven can be accepted; `ralph report` says how the run stands"
        );
        return match args.all {
            true => app.refuse(&words),
            false => {
                app.tell(&words);
                Ok(0)
            }
        };
    }
    if args.tasks.is_empty() && !args.all {
        return list(app, &open, args.json);
    }
    let tasks = match args.all {
        true => open.iter().map(|(id, _)| id.clone()).collect(),
        false => args.tasks.clone(),
    };
    if let Some(unknown) = tasks.iter().find(|id| !past.state.knows_task(id)) {
        return app.refuse(&tr!(
            lang,
            "no task {unknown} was worked on in this run; `ralph accept` lists what is not proven"
        ));
    }
    let stands = |id: &String| {
        past.state.ticks.levels.contains_key(id) && open.iter().all(|(short, _)| short != id)
    };
    if tasks.iter().all(stands) {
        app.tell(&tr!(lang, "everything is shown as well as was asked for"));
        return Ok(0);
    }
    let why = reply_text(&args.why).unwrap_or_default();
    let wish = Wish::Accept {
        tasks: tasks.clone(),
        why: why.clone(),
    };
    let lives = match control::tell(&layout, wish, false) {
        Ok(_) => true,
        Err(ControlError::NothingRuns) => {
            let kind = Kind::Accepted {
                tasks: tasks.clone(),
                why,
            };
            control::add_later(&layout, &run, kind).or_fail(app)?;
            false
        }
        Err(error) => return app.fail(&error),
    };
    let whole = tr!(lang, "the work");
    let name = |id: &String| {
        if id.is_empty() {
            whole.clone()
        } else {
            id.clone()
        }
    };
    let tasks: Vec<String> = tasks.iter().map(name).collect();
    let tasks = tasks.join(", ");
    app.tell(&match lives {
        true => tr!(lang, "accepted: {tasks}"),
        false => tr!(lang, "accepted: {tasks}; `ralph resume` goes on with it"),
    });
    Ok(0)
}

fn is_complete(state: &State) -> bool {
    state.outcome() == Some(&Outcome::Complete)
}

fn list(app: &App, open: &[(String, EvidenceLevel)], json: bool) -> Exit {
    if json {
        let open = open
            .iter()
            .map(|(id, level)| json!({"task": id, "evidence": level}));
        app.json(&open.collect());
        return Ok(0);
    }
    if open.is_empty() {
        app.tell(&tr!(
            app.lang(),
            "everything is shown as well as was asked for"
        ));
    }
    for (id, level) in open {
        let level = level.say(app.lang());
        app.tell(&match id.is_empty() {
            true => tr!(
                app.lang(),
                "the work: {level}; `ralph accept --all` takes your word for it"
            ),
            false => {
                // A shell takes `#1` for a remark.
                let typed = quoted(id);
                tr!(
                    app.lang(),
                    "{id}: {level}; `ralph accept {typed}` takes your word for it"
                )
            }
        });
    }
    Ok(0)
}

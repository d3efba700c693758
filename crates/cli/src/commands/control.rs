//! `ralph pause`, `ralph stop`, `ralph cancel`, `ralph wake`: from another
//! terminal.

use ralph_core::machine::{Outcome, Request, Stage};
use ralph_core::tr;
use ralph_engine::agents::Client;
use ralph_engine::control::{self, ControlError, Heard, Wish};
use ralph_engine::past;
use ralph_store::layout::{Layout, RunId};

use super::resume;
use crate::PAUSED;
use crate::app::{App, Exit, OrFail};
use crate::args::{Global, ResumeArgs};
use crate::insession::{Here, Steered};

pub fn pause(app: &App) -> Exit {
    tell(app, Request::Pause)
}

pub fn stop(app: &App, now: bool) -> Exit {
    tell(
        app,
        if now {
            Request::Kill
        } else {
            Request::Interrupt
        },
    )
}

pub fn cancel(app: App, global: &Global) -> Exit {
    let layout = app.layout();
    let Some(run) = resting(&layout) else {
        return tell(&app, Request::Cancel);
    };
    let given_up = ResumeArgs {
        run: Some(run),
        abandon: true,
        quiet: true,
        ..ResumeArgs::default()
    };
    match resume::run(app, global, &given_up)? {
        PAUSED => Ok(0),
        code => Ok(code),
    }
}

/// The newest run, where nobody drives it and it only waits to be taken up.
fn resting(layout: &Layout) -> Option<String> {
    if layout.current_run().ok()?.is_some() || in_session(layout).is_some() {
        return None;
    }
    let newest = resume::newest(layout).ok()??;
    let past = past::read(&newest).ok()?;
    let waits = past.state.outcome().is_none_or(Outcome::can_go_on);
    waits.then(|| newest.id.to_string())
}

/// A run that waits for a limit, or for anything else, goes on at once.
pub fn wake(app: &App) -> Exit {
    let lang = app.lang();
    let layout = app.layout();
    let Some(current) = layout.current_run().or_fail(app)? else {
        return app.fail(&ControlError::NothingRuns);
    };
    let run = current.id.as_str();
    let sleeps = past::read(&current).is_ok_and(|past| past.state.stage == Stage::Waiting);
    if !sleeps {
        app.tell(&tr!(
            lang,
            "run {run} does not sleep; `ralph status` shows what it does"
        ));
        return Ok(0);
    }
    match control::tell(&layout, Wish::Wake, false) {
        Ok(_) => {
            app.tell(&tr!(lang, "run {run} is awake and tries the agent now"));
            Ok(0)
        }
        Err(error) => app.fail(&error),
    }
}

fn tell(app: &App, request: Request) -> Exit {
    let lang = app.lang();
    let layout = app.layout();
    let heard = match control::tell(&layout, Wish::Request(request), request != Request::Pause) {
        Ok(heard) => heard,
        Err(ControlError::NothingRuns) if in_session(&layout).is_some() => {
            return leave_session(app, &layout, request);
        }
        Err(error) => return app.fail(&error),
    };
    let (Heard::Noted { run, .. } | Heard::Ended { run }) = &heard;
    let iteration = iteration(&layout, run);
    app.tell(&match (heard, request) {
        (Heard::Noted { run, pid }, Request::Pause) => tr!(lang, "run {run} (process {pid}) pauses after iteration {iteration}"),
        (Heard::Noted { run, pid }, _) => tr!(lang, "run {run} (process {pid}) is ending iteration {iteration}; `ralph status` shows when it is over"),
        (Heard::Ended { .. }, Request::Cancel) => tr!(lang, "Cancelled Ralph loop (was at iteration {iteration})"),
        (Heard::Ended { run }, _) => tr!(lang, "run {run} has ended at iteration {iteration}; everything is saved, `ralph resume` goes on"),
    });
    Ok(0)
}

/// The session that the newest run goes on in, and its client.
fn in_session(layout: &Layout) -> Option<(String, Client)> {
    let past = past::read(&layout.last_written().ok()??).ok()?;
    let goes_on = past.state.outcome().is_none();
    let session = past.state.session.filter(|_| goes_on)?;
    let host = Client::host(&session.host)?;
    Some((session.id, host))
}

/// No process drives a loop inside a session between two hooks.
fn leave_session(app: &App, layout: &Layout, request: Request) -> Exit {
    let Some((session, host)) = in_session(layout) else {
        return app.fail(&ControlError::NothingRuns);
    };
    // There is no turn of ours to be killed.
    let request = match request {
        Request::Kill => Request::Interrupt,
        request => request,
    };
    match Here::new(layout.clone(), &session, host.into_str()).leave(request) {
        Ok(Steered::Ended(text) | Steered::Told(text) | Steered::TakenUp(text, _)) => {
            app.done(&text)
        }
        Ok(Steered::NoLoop) => app.fail(&ControlError::NothingRuns),
        Err(problem) => app.fail(&problem),
    }
}

/// Where the run stands that was told.
fn iteration(layout: &Layout, run: &str) -> u32 {
    let past = RunId::parse(run).map(|id| past::read(&layout.run(&id)));
    past.and_then(Result::ok)
        .map_or(0, |past| past.state.turn.number)
}

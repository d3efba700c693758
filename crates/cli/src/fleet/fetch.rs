//! `ralph fleet fetch`: the branch of a job comes into this repository.

use ralph_core::tr;
use ralph_fleet::board::Board;
use ralph_fleet::job::Phase;
use ralph_store::private::PrivateDir;
use serde_json::json;

use super::{land, look, trees};
use crate::app::{App, Exit, OrFail};
use crate::args::{FleetFetchArgs, ServerArgs};

/// The branch of a job that is here now.
#[derive(Debug)]
pub struct Brought {
    pub job: String,
    pub commit: String,
}

pub async fn run(app: &App, args: &FleetFetchArgs, server: &ServerArgs, board: &Board) -> Exit {
    let mut all = Vec::new();
    for job in &args.jobs {
        all.extend(bring(app, args, board, job).await?);
    }
    match args.land {
        true => land::run(app, args, server, board, all).await,
        false => Ok(0),
    }
}

async fn bring(
    app: &App,
    args: &FleetFetchArgs,
    board: &Board,
    job: &str,
) -> Result<Option<Brought>, u8> {
    let lang = app.lang();
    let (state, _) = board.state(job).await.or_fail(app)?;
    let Phase::Done(outcome) = &state.phase else {
        let phase = look::phase(&state, lang);
        return app.refuse(&tr!(lang, "job {job} has no result: {phase}"));
    };
    let Some(commit) = outcome.commit.as_ref().filter(|_| outcome.has_bundle) else {
        let value = || json!({"job": job, "outcome": outcome.outcome, "commit": null});
        app.answer(args.json, value, || tr!(lang, "job {job} changed nothing"))?;
        return Ok(None);
    };
    let scratch = PrivateDir::new("fleet").or_else(|error| app.refuse(&error.to_string()))?;
    let file = scratch.path().join("result.bundle");
    let got = board.get_result(&outcome.bundle(), &file).await;
    got.or_fail(app)?;
    let branch = trees::branch(job);
    // Only this one name of what is in there, forward only, and no hook hears.
    let refs = format!("refs/heads/{branch}:refs/heads/{branch}");
    let file = file.display().to_string();
    let quiet = [
        "-c",
        "core.hooksPath=/dev/null",
        "-c",
        "core.fsmonitor=false",
    ];
    let fetch = [
        "fetch", "-q", "--no-auto-gc", "--no-write-fetch-head", "--no-tags",
    ];
    let words = [&quiet[..], &fetch[..], &[file.as_str(), refs.as_str()]].concat();
    if let Err(error) = trees::git(&app.root, &words) {
        return app.refuse(&tr!(
            lang,
            "the result of job {job} can't be brought here ({error}): is this its repository, and is {branch} another branch?"
        ));
    }
    let came = trees::git(&app.root, &["rev-parse", &format!("refs/heads/{branch}")]);
    if came.ok().as_ref() != Some(commit) {
        return app.refuse(&tr!(
            lang,
            "{branch} is not what job {job} says it made ({commit}): don't use it"
        ));
    }
    let outcome = &outcome.outcome;
    let value = || json!({"job": job, "outcome": outcome, "branch": branch, "commit": commit});
    app.answer(args.json, value, || {
        tr!(lang, "{branch} is at {commit} ({outcome})")
    })?;
    Ok(Some(Brought {
        job: job.to_owned(),
        commit: commit.clone(),
    }))
}

//! `ralph fleet fetch`: the branch of a job comes into this repository.

use ralph_core::tr;
use ralph_fleet::board::Board;
use ralph_fleet::job::Phase;
use ralph_store::private::PrivateDir;

use super::{look, trees};
use crate::app::{App, Exit, OrFail};

pub async fn run(app: &App, board: &Board, job: &str) -> Exit {
    let lang = app.lang();
    let (state, _) = board.state(job).await.or_fail(app)?;
    let Phase::Done(outcome) = &state.phase else {
        let phase = look::phase(&state, lang);
        return app.refuse(&tr!(lang, "job {job} has no result: {phase}"));
    };
    let Some(commit) = outcome.commit.as_ref().filter(|_| outcome.has_bundle) else {
        return app.done(&tr!(lang, "job {job} changed nothing"));
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
        "fetch",
        "-q",
        "--no-auto-gc",
        "--no-write-fetch-head",
        "--no-tags",
    ];
    let args = [&quiet[..], &fetch[..], &[file.as_str(), refs.as_str()]].concat();
    if let Err(error) = trees::git(&app.root, &args) {
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
    app.done(&tr!(lang, "{branch} is at {commit} ({outcome})"))
}

//! Looking at jobs and workers, and taking them back.

use std::collections::BTreeMap;

use ralph_core::lang::Lang;
use ralph_core::text;
use ralph_core::text::duration::plural;
use ralph_core::tr;
use ralph_fleet::board::{Board, JobEvent, Presence};
use ralph_fleet::job::{Phase, Source, Spec, State, Work};
use serde_json::{Value, json};

use super::{mirror, page, trees};
use crate::app::{App, Exit, OrFail};
use crate::args::FleetListArgs;
use crate::steering;
use crate::web::Act;

/// For programs.
pub fn phase_name(state: &State) -> &'static str {
    match state.phase {
        Phase::Queued => "queued",
        Phase::Leased(_) => "leased",
        Phase::Done(_) => "done",
        Phase::GivenUp => "given_up",
        Phase::Cancelled => "cancelled",
    }
}

pub fn phase(state: &State, lang: Lang) -> String {
    match &state.phase {
        Phase::Queued => tr!(lang, "waits"),
        Phase::Leased(lease) => {
            let worker = &lease.worker;
            tr!(lang, "at work on {worker}")
        }
        Phase::Done(outcome) => {
            let outcome = &outcome.outcome;
            match &state.landed {
                Some(commit) => {
                    let commit = commit.get(..10).unwrap_or(commit);
                    tr!(lang, "done: {outcome}; landed as {commit}")
                }
                None => tr!(lang, "done: {outcome}"),
            }
        }
        Phase::GivenUp => tr!(lang, "given up"),
        Phase::Cancelled => tr!(lang, "cancelled"),
    }
}

fn to_json(id: &str, state: &State) -> Value {
    let mut value = json!({
        "job": id,
        "phase": phase_name(state),
        "attempt": state.attempt,
        "priority": state.priority,
        "submitted_ms": state.submitted_ms,
        "labels": state.needs.labels,
        "secrets": state.needs.secrets,
        "declined": state.declined,
        "trouble": state.trouble,
        "landed": state.landed,
    });
    match &state.phase {
        Phase::Leased(lease) => value["worker"] = json!(lease.worker),
        Phase::Done(outcome) => {
            value["worker"] = json!(outcome.worker);
            value["result"] = json!({
                "exit": outcome.exit,
                "outcome": outcome.outcome,
                "commit": outcome.commit,
                "token": outcome.token,
                "duration_ms": outcome.duration_ms,
            });
        }
        _ => {}
    }
    value
}

pub async fn list(app: &App, args: &FleetListArgs, board: &Board) -> Exit {
    let mut jobs = board.states().await.or_fail(app)?;
    jobs.retain(|(_, state)| !(args.open && state.is_over()));
    jobs.sort_by_key(|(id, state)| (state.submitted_ms, id.clone()));
    let lang = app.lang();
    app.answer(
        args.json,
        || jobs.iter().map(|(id, state)| to_json(id, state)).collect(),
        || {
            if jobs.is_empty() {
                return tr!(lang, "no jobs");
            }
            let line = |(id, state): &(String, State)| {
                let (phase, attempt) = (phase(state, lang), state.attempt);
                let times_en = plural(attempt as usize, "time", "times");
                tr!(lang, "{id}  {phase}  (taken {attempt} {times_en})\n")
            };
            jobs.iter().map(line).collect()
        },
    )
}

pub async fn status(app: &App, json: bool, board: &Board) -> Exit {
    let jobs = board.states().await.or_fail(app)?;
    let workers = board.workers().await.or_fail(app)?;
    let mut counts = BTreeMap::from(
        ["queued", "leased", "done", "given_up", "cancelled"].map(|name| (name, 0_usize)),
    );
    for (_, state) in &jobs {
        *counts.entry(phase_name(state)).or_default() += 1;
    }
    let lang = app.lang();
    app.answer(
        json,
        || json!({"jobs": counts, "workers": workers.iter().map(worker_json).collect::<Vec<_>>()}),
        || {
            let of = |name: &str| counts.get(name).copied().unwrap_or_default();
            let (queued, leased, done) = (of("queued"), of("leased"), of("done"));
            let (given_up, cancelled) = (of("given_up"), of("cancelled"));
            let mut out = tr!(lang, "jobs: {queued} wait, {leased} at work, {done} done, {given_up} given up, {cancelled} cancelled\n");
            for (id, worker) in &workers {
                out.push_str(&worker_line(id, worker, lang));
            }
            out
        },
    )
}

fn worker_json((id, worker): &(String, Presence)) -> Value {
    let mut value = serde_json::to_value(worker).unwrap_or_default();
    value["id"] = json!(id);
    value
}

fn worker_line(id: &str, worker: &Presence, lang: Lang) -> String {
    let (busy, capacity, host) = (worker.jobs.len(), worker.capacity, &worker.host);
    let labels = worker.labels.join(",");
    let state = match () {
        () if worker.draining => tr!(lang, "drains"),
        () if worker.held_until_ms.is_some() => tr!(lang, "waits for its account's limit"),
        () => String::new(),
    };
    tr!(
        lang,
        "worker {id}  {host}  {busy} of {capacity} jobs  {labels}  {state}\n"
    )
}

pub async fn logs(app: &App, board: &Board, job: &str, follow: bool, json: bool) -> Exit {
    board.state(job).await.or_fail(app)?;
    let each = |_: &str, event: JobEvent| match json {
        _ if mirror::is_record(&event.event) => {}
        true => app.json(&serde_json::to_value(&event).unwrap_or_default()),
        false => app.tell(&line(&event)),
    };
    let is_over = async || {
        let state = board.state(job).await;
        state.is_ok_and(|(state, _)| state.is_over())
    };
    board
        .events(job, follow, each, is_over)
        .await
        .or_fail(app)?;
    Ok(0)
}

/// One line: the event's name, and what is short of the rest.
fn line(event: &JobEvent) -> String {
    let name = event.event["event"].as_str().unwrap_or("?");
    let mut text = format!("{}  {name}", event.attempt);
    for (key, value) in event.event.as_object().into_iter().flatten() {
        let skip = ["event", "time", "ts", "timestamp", "level", "run_id"];
        if skip.contains(&key.as_str()) || value.is_null() || value.is_object() {
            continue;
        }
        let value = match value {
            Value::String(value) => text::one_line(value),
            value => value.to_string(),
        };
        if value.len() <= 200 {
            text.push_str(&format!("  {key}={value}"));
        }
    }
    text
}

pub async fn show(app: &App, board: &Board, job: &str, json: bool) -> Exit {
    let (state, _) = board.state(job).await.or_fail(app)?;
    let spec = board.spec(job).await.or_fail(app)?;
    let report = match &state.phase {
        Phase::Done(outcome) => board.report(&outcome.report()).await.ok(),
        _ => None,
    };
    let report: Option<Value> = report.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let lang = app.lang();
    let value = || {
        let mut value = to_json(job, &state);
        value["spec"] = serde_json::to_value(&spec).unwrap_or_default();
        value["report"] = json!(report);
        value
    };
    app.answer(json, value, || {
        words(job, &spec, &state, report.as_ref(), lang)
    })
}

fn words(job: &str, spec: &Spec, state: &State, report: Option<&Value>, lang: Lang) -> String {
    let phase = phase(state, lang);
    let mut out = tr!(lang, "job {job}: {phase}\n");
    let commit = &spec.commit;
    out.push_str(&match &spec.source {
        Source::Url(url) => tr!(lang, "repository {url}, commit {commit}\n"),
        Source::Bundle(_) => tr!(lang, "repository sent with it, commit {commit}\n"),
    });
    out.push_str(&match &spec.work {
        Work::Tasks(file) => tr!(lang, "task file {file}\n"),
        Work::Prompt(prompt) => {
            let prompt = text::one_line(prompt);
            tr!(lang, "prompt: {prompt}\n")
        }
    });
    for (worker, why) in &state.declined {
        out.push_str(&tr!(lang, "{worker} does not do it: {why}\n"));
    }
    if let Some(why) = &state.trouble {
        out.push_str(&tr!(lang, "last trouble: {why}\n"));
    }
    if let Phase::Done(outcome) = &state.phase {
        match &outcome.commit {
            Some(commit) => {
                let branch = trees::branch(job);
                out.push_str(&tr!(
                    lang,
                    "result: {commit}; `ralph fleet fetch {job}` brings it as branch {branch}\n"
                ));
            }
            None => out.push_str(&tr!(lang, "nothing was changed\n")),
        }
    }
    if let Some(text) = report.and_then(|report| report["report"].as_str()) {
        out.push('\n');
        out.push_str(text);
    }
    out
}

pub async fn cancel(app: &App, board: &Board, job: &str) -> Exit {
    let state = board.cancel(job).await.or_fail(app)?;
    let phase = phase(&state, app.lang());
    match state.phase {
        Phase::Cancelled => app.done(&tr!(app.lang(), "job {job}: {phase}")),
        _ => app.refuse(&tr!(app.lang(), "job {job} is over: {phase}")),
    }
}

pub async fn drain(app: &App, board: &Board, workers: &[String]) -> Exit {
    let here = board.workers().await.or_fail(app)?;
    let all: Vec<String> = here.into_iter().map(|(id, _)| id).collect();
    let lang = app.lang();
    let chosen = match workers {
        [] => &all,
        _ => workers,
    };
    if chosen.is_empty() {
        return app.done(&tr!(lang, "there are no workers"));
    }
    for worker in chosen {
        if !all.contains(worker) {
            return app.refuse(&tr!(
                lang,
                "there is no worker {worker}; see `ralph fleet status`"
            ));
        }
        board.drain(worker).await.or_fail(app)?;
        app.tell(&tr!(lang, "{worker} drains"));
    }
    Ok(0)
}

/// What a person types, as the page would send it.
fn as_posted(words: &[String]) -> (String, Value) {
    let line = words.join(" ");
    let first = words.first().map_or("", String::as_str);
    let number = |at: usize| words.get(at).and_then(|word| word.parse::<u64>().ok());
    match first {
        "pause" | "stop" | "wake" => (first.into(), Value::Null),
        "extend" => (first.into(), json!({ "by": number(1) })),
        "answer" => {
            let text = words.get(2..).unwrap_or_default().join(" ");
            (first.into(), json!({"question": number(1), "text": text}))
        }
        _ => ("steer".into(), json!({ "line": line })),
    }
}

pub async fn tell(app: &App, board: &Board, job: &str, words: &[String]) -> Exit {
    let lang = app.lang();
    let (verb, body) = as_posted(words);
    let sent = serde_json::to_vec(&body).unwrap_or_default();
    if Act::read(&verb, &sent).is_none_or(|act| !act.is_for_the_living()) {
        let known = steering::known(lang);
        return app.refuse(&tr!(
            lang,
            "this can't be said; say one of: pause · stop · wake · extend N · answer N WORDS · {known}"
        ));
    }
    let word = page::word(board, job, &verb, &body).await;
    let (name, word) = word.or_fail(app)?;
    board.say(job, &name, &word).await.or_fail(app)?;
    let (heard, begun) = (std::cell::RefCell::new(None), std::time::Instant::now());
    let each = |_: &str, told: JobEvent| {
        if told.event["word"] == name.as_str() {
            *heard.borrow_mut() = Some(told.event);
        }
    };
    let is_over = async || heard.borrow().is_some() || begun.elapsed() > page::ANSWER;
    board.events(job, true, each, is_over).await.or_fail(app)?;
    let said = |event: &Value| event["said"].as_str().unwrap_or_default().to_owned();
    match heard.into_inner() {
        Some(event) if event["ok"] == true => app.done(&said(&event)),
        Some(event) => app.refuse(&said(&event)),
        None => app.refuse(&tr!(
            lang,
            "the worker of job {job} does not answer; `ralph fleet logs {job}` shows it when it does"
        )),
    }
}

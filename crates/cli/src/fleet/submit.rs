//! `ralph fleet submit`: a job from a repository, a commit and what to do.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ralph_core::tr;
use ralph_engine::git;
use ralph_fleet::FleetError;
use ralph_fleet::board::Board;
use ralph_fleet::job::{LONGEST_PROMPT, Needs, Source, Spec, Work, is_name};
use ralph_fleet::worker::now_ms;
use ralph_store::private::PrivateDir;
use ralph_store::regular;
use serde_json::json;

use super::{look, trees};
use crate::app::{App, Exit, OrFail};
use crate::args::FleetSubmitArgs;

/// Jobs that are ready to be sent.
#[derive(Debug)]
pub struct Jobs {
    all: Vec<(String, Spec)>,
    /// The repository, where it goes through the server; the folder goes with it.
    bundle: Option<(PathBuf, PrivateDir)>,
}

pub fn prepare(app: &App, args: &FleetSubmitArgs) -> Result<Jobs, u8> {
    let works = match &args.prompts {
        Some(file) => prompts(app, file)?,
        None => vec![work(app, args)?],
    };
    names(app, args)?;
    let (source, commit, bundle) = match &args.repo {
        Some(url) => {
            if holds_password(url) {
                return app.refuse(&tr!(app.lang(), "the URL holds a password, and everybody in the fleet could read it; let the workers' own git have it"));
            }
            let commit = match &args.commit {
                Some(commit) => commit.clone(),
                None => head_of(app, url)?,
            };
            (Source::Url(url.clone()), commit, None)
        }
        None => bundled(app, args)?,
    };
    let spec = |work: Work| Spec {
        source: source.clone(),
        commit: commit.clone(),
        work,
        needs: Needs {
            labels: args.labels.iter().cloned().collect(),
            secrets: args.secrets.iter().cloned().collect(),
        },
        priority: args.priority,
        max_turns: args.max_iterations,
        hints: Vec::new(),
    };
    let all = works.into_iter().map(spec).map(|spec| {
        let id = args.id.clone().unwrap_or_else(|| spec.id());
        (id, spec)
    });
    Ok(Jobs {
        all: all.collect(),
        bundle,
    })
}

fn prompts(app: &App, file: &Path) -> Result<Vec<Work>, u8> {
    let read = regular::read_to_string(file).map_err(|error| FleetError::File {
        path: file.to_owned(),
        why: error.to_string(),
    });
    let text = read.or_fail(app)?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.map(|line| prompt(app, line)).collect()
}

fn prompt(app: &App, prompt: &str) -> Result<Work, u8> {
    match prompt.len() <= LONGEST_PROMPT {
        true => Ok(Work::Prompt(prompt.to_owned())),
        false => app.refuse(&tr!(
            app.lang(),
            "the prompt is too long for a job; put it into a file of the repository"
        )),
    }
}

fn work(app: &App, args: &FleetSubmitArgs) -> Result<Work, u8> {
    let lang = app.lang();
    match (&args.prompt, &args.tasks) {
        (Some(text), _) => prompt(app, text),
        (None, Some(tasks)) => {
            let file = tasks.strip_prefix(&app.root).unwrap_or(tasks);
            let file = file.display().to_string().replace('\\', "/");
            match file.starts_with('/') || file.split('/').any(|part| part == "..") {
                true => app.refuse(&tr!(lang, "{file} is not in the repository")),
                false => Ok(Work::Tasks(file)),
            }
        }
        (None, None) => app.refuse(&tr!(
            lang,
            "say what to do: a prompt, or a task file with --tasks"
        )),
    }
}

fn names(app: &App, args: &FleetSubmitArgs) -> Result<(), u8> {
    let named = args.labels.iter().chain(&args.secrets).chain(&args.id);
    match named.into_iter().find(|name| !is_name(name)) {
        None => Ok(()),
        Some(name) => {
            let name = name.clone();
            app.fail(&FleetError::BadName { name })
        }
    }
}

fn holds_password(url: &str) -> bool {
    let host = url.split_once("://").map(|(_, rest)| rest);
    let user = host.and_then(|rest| rest.split('/').next()?.rsplit_once('@'));
    user.is_some_and(|(user, _)| user.contains(':'))
}

/// What a clone of it would be at, asked with the person's own Git.
fn head_of(app: &App, url: &str) -> Result<String, u8> {
    let output = Command::new("git")
        .args(["ls-remote", "--", url, "HEAD"])
        .env("GIT_TERMINAL_PROMPT", "0")
        .stdin(Stdio::null())
        .output();
    let said = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let said = said.unwrap_or_default();
    match said.split_whitespace().next() {
        Some(commit) => Ok(commit.to_owned()),
        None => app.refuse(&tr!(
            app.lang(),
            "git finds no HEAD at {url}; name one with --commit"
        )),
    }
}

type Bundled = (Source, String, Option<(PathBuf, PrivateDir)>);

/// This repository, as one file.
fn bundled(app: &App, args: &FleetSubmitArgs) -> Result<Bundled, u8> {
    let lang = app.lang();
    let head = match &args.commit {
        Some(commit) => Some(commit.clone()),
        None => git::head(&app.root).commit,
    };
    let objects = objects(&app.root);
    let (Some(commit), Some(objects)) = (head, objects) else {
        return app.refuse(&tr!(
            lang,
            "here is no commit to begin with; commit something, or name a repository with --repo"
        ));
    };
    if !commit.bytes().all(|byte| byte.is_ascii_hexdigit()) || commit.len() < 40 {
        return app.refuse(&tr!(lang, "{commit} is no whole commit id"));
    }
    if objects.with_file_name("shallow").exists() {
        return app.refuse(&tr!(
            lang,
            "this clone is shallow and can't be sent; name its repository with --repo"
        ));
    }
    if git::count_changes(&app.root).is_some_and(|count| count > 0) {
        app.warn(&tr!(lang, "what is not committed here is not sent"));
    }
    let scratch = PrivateDir::new("fleet").or_else(|error| app.refuse(&error.to_string()))?;
    let file = trees::bundle(objects, &commit, scratch.path());
    let file = file.or_else(|error| app.refuse(&error.to_string()))?;
    let source = Source::Bundle(commit.clone());
    Ok((source, commit, Some((file, scratch))))
}

fn objects(root: &Path) -> Option<PathBuf> {
    let top = git::find_root(root)?;
    let said = trees::git(&top, &["rev-parse", "--git-path", "objects"]).ok()?;
    Some(top.join(said))
}

pub async fn send(app: &App, args: &FleetSubmitArgs, board: &Board, jobs: &Jobs) -> Exit {
    if let (Some((file, _)), Some((_, spec))) = (&jobs.bundle, jobs.all.first())
        && let Source::Bundle(name) = &spec.source
    {
        board.put_input(name, file).await.or_fail(app)?;
    }
    for (id, spec) in &jobs.all {
        let known = board.submit(id, spec, now_ms()).await.or_fail(app)?;
        let value = || {
            let state = known.as_ref().map(look::phase_name);
            json!({"job": id, "new": known.is_none(), "phase": state.unwrap_or("queued")})
        };
        app.answer(args.json, value, || match &known {
            None => tr!(app.lang(), "job {id}"),
            Some(state) => {
                let phase = look::phase(state, app.lang());
                tr!(app.lang(), "job {id} was there already: {phase}")
            }
        })?;
    }
    Ok(0)
}

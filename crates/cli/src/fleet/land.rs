//! `ralph fleet fetch --land`: results of jobs go onto the branch of this
//! repository by the same queue as lanes.
//!
//! A landing is a run with lanes. Its list has a task for each job, and all that
//! the lane of one does is to put the job's result into its tree; what conflicts
//! or is red with what landed before goes back as another job.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;

use ralph_core::machine::LaneTask;
use ralph_core::text::digest::hex_sha256;
use ralph_core::tr;
use ralph_engine::supervise::{self, Nobody, Spec as Process, Stop};
use ralph_engine::{git, past, signals};
use ralph_fleet::board::Board;
use ralph_fleet::job::is_name;
use ralph_fleet::{Lander, Turn};
use ralph_store::atomic::{AtomicOptions, write_atomic};
use ralph_store::layout::refuse_links;
use ralph_store::random;
use serde_json::json;
use tokio::sync::{mpsc, watch};

use super::fetch::Brought;
use super::{VARIABLES, trees, worker};
use crate::app::{self, App, Exit, OrFail};
use crate::args::{FleetFetchArgs, ServerArgs};

/// Where the lists of landings are, from the project. Git ignores them.
const LISTS: &str = ".ralph/landing";
/// Nothing of what was asked for stands in a list: it would be read as what a
/// task says of itself.
const TASK: &str = "Result of job ";
const STOPPING: Duration = Duration::from_secs(30);

/// The job whose result a task of a landing's list is about.
pub fn job_of(tasks_file: &str, task: &str) -> Option<String> {
    let is_list = tasks_file.starts_with(LISTS);
    let job = task.trim().strip_prefix(TASK)?;
    (is_list && is_name(job)).then(|| job.to_owned())
}

fn list(jobs: &[Brought]) -> String {
    let mut list = String::from("# Results of jobs\n\n");
    for (n, Brought { job, .. }) in jobs.iter().enumerate() {
        list.push_str(&format!("- [ ] T{:03} {TASK}{job}\n", n + 1));
    }
    list
}

pub async fn run(
    app: &App,
    args: &FleetFetchArgs,
    server: &ServerArgs,
    board: &Board,
    brought: Vec<Brought>,
) -> Exit {
    let lang = app.lang();
    let mut jobs = Vec::new();
    for brought in brought {
        let job = &brought.job;
        if let Some(commit) = there(app, board, &brought).await? {
            board.landed(job, &commit).await.or_fail(app)?;
            let value = || json!({"job": job, "landed": commit});
            app.answer(args.json, value, || {
                tr!(lang, "the result of job {job} is on your branch already")
            })?;
            continue;
        }
        jobs.push(brought);
    }
    if jobs.is_empty() {
        return Ok(0);
    }
    let mut lander = right_to_land(app, board).await?;
    let list = write(&app.root, &jobs).or_else(|error| app.refuse(&error.to_string()))?;
    let started = start(&app.root, args, server, &list);
    let child = started.or_else(|error| app.refuse(&error.to_string()))?;
    let code = see_through(&app.root, child, &mut lander).await;
    for (job, commit) in landed(app) {
        board.landed(&job, &commit).await.or_fail(app)?;
    }
    if code == 0 {
        let _ = std::fs::remove_file(app.root.join(&list));
    }
    lander.leave().await;
    Ok(code)
}

/// The commit by which a result is on the person's branch, where it is.
async fn there(app: &App, board: &Board, brought: &Brought) -> Result<Option<String>, u8> {
    let Some(head) = git::head(&app.root).commit else {
        return Ok(None);
    };
    let (state, _) = board.state(&brought.job).await.or_fail(app)?;
    let ask = |args: &[&str]| trees::git(&app.root, args).ok();
    let is_below = |commit: &String| ask(&["merge-base", "--is-ancestor", commit, &head]).is_some();
    if let Some(commit) = state.landed.filter(is_below) {
        return Ok(Some(commit));
    }
    let merged = ask(&["merge-tree", "--write-tree", &head, &brought.commit]);
    let tree = ask(&["rev-parse", &format!("{head}^{{tree}}")]);
    Ok((merged.is_some() && merged == tree).then_some(head))
}

/// Nobody else lands in this repository, wherever they are.
async fn right_to_land(app: &App, board: &Board) -> Result<Box<Lander>, u8> {
    let lang = app.lang();
    // Clones of a repository have the same beginning.
    let roots = trees::git(&app.root, &["rev-list", "--max-parents=0", "HEAD"]);
    let roots = roots.or_else(|error| app.refuse(&error.to_string()))?;
    let digest = hex_sha256(roots.as_bytes());
    let repository = digest.get(..16).unwrap_or(&digest);
    let token = random::bytes().or_else(|error| app.refuse(&error.to_string()))?;
    let token = token.iter().map(|byte| format!("{byte:02x}")).collect();
    let turn = board.land_in(repository, &worker::host(), token).await;
    match turn.or_fail(app)? {
        Turn::Ours(lander) => Ok(lander),
        Turn::Theirs(who) => app.refuse(&tr!(
            lang,
            "somebody lands results in this repository now, from {who}; try again when that is over"
        )),
    }
}

/// Gives the list from the project.
fn write(root: &Path, jobs: &[Brought]) -> io::Result<PathBuf> {
    let text = list(jobs);
    let digest = hex_sha256(text.as_bytes());
    let dir = root.join(LISTS);
    let name = format!("{}.md", digest.get(..10).unwrap_or(&digest));
    for (name, text) in [(".gitignore", "*\n"), (&name, &text)] {
        let path = dir.join(name);
        refuse_links(root, &path).map_err(io::Error::other)?;
        std::fs::create_dir_all(&dir)?;
        let options = AtomicOptions { durable: true };
        write_atomic(&path, text.as_bytes(), options).map_err(io::Error::other)?;
    }
    Ok(Path::new(LISTS).join(name))
}

fn start(
    root: &Path,
    args: &FleetFetchArgs,
    server: &ServerArgs,
    list: &Path,
) -> io::Result<Child> {
    let mut command = Command::new(app::own_program());
    command.args(["run", "-j", "1", "--fleet", "--land", "--root"]);
    command.arg(root).arg("--tasks").arg(list);
    command.args(args.json.then_some("--json")).args(&args.run);
    let [of_server, of_key, of_creds, of_ca] = VARIABLES;
    if let Some(url) = &server.server {
        command.env(of_server, url);
    }
    for (name, file) in [
        (of_key, &server.key),
        (of_creds, &server.creds),
        (of_ca, &server.ca),
    ] {
        if let Some(file) = file {
            command.env(name, std::path::absolute(file)?);
        }
    }
    command.spawn()
}

/// Waits for the run. It is told to stop where we are, or where the right to
/// land is gone.
async fn see_through(root: &Path, mut child: Child, lander: &mut Lander) -> u8 {
    let (asked, mut requests) = mpsc::unbounded_channel();
    let _ = signals::listen(asked);
    let waiting = tokio::task::spawn_blocking(move || child.wait());
    tokio::pin!(waiting);
    let mut renewing = tokio::time::interval(Lander::EVERY);
    let mut is_stopped = false;
    loop {
        let stops = tokio::select! {
            ended = &mut waiting => {
                let code = ended.ok().and_then(Result::ok).and_then(|status| status.code());
                return code.and_then(|code| u8::try_from(code).ok()).unwrap_or(crate::FAILED);
            }
            _ = renewing.tick() => !lander.renew().await,
            request = requests.recv() => request.is_some(),
        };
        if stops && !is_stopped {
            is_stopped = true;
            stop(root).await;
        }
    }
}

async fn stop(root: &Path) {
    let process = Process {
        args: vec!["stop".into(), "--root".into(), root.into()],
        ..Process::plain(app::own_program().into(), root, STOPPING)
    };
    let (_keep, never) = watch::channel(Stop::No);
    supervise::run(process, &mut Nobody, never).await;
}

/// What the run landed, by job.
fn landed(app: &App) -> Vec<(String, String)> {
    let run = app.layout().latest_run().ok().flatten();
    let Some(past) = run.and_then(|run| past::read(&run).ok()) else {
        return Vec::new();
    };
    let tasks = past.header.rules.lanes.map(|rules| rules.tasks);
    let mut landed = past.state.lanes.landed;
    // Of one that was found after a crash nobody knows the commit.
    landed.retain(|_, commit| !commit.is_empty());
    let of_task = |task: LaneTask| {
        let job = job_of(LISTS, &task.text)?;
        Some((job, landed.get(&task.id)?.clone()))
    };
    tasks.into_iter().flatten().filter_map(of_task).collect()
}

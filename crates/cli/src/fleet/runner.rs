//! One job: an ordinary `ralph run` in a tree of its own.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ralph_core::lang::{Lang, Say};
use ralph_core::text::digest::hex_sha256;
use ralph_core::text::one_line;
use ralph_core::tr;
use ralph_engine::supervise::{self, Ending, SaidLines, Sink, Spec as Child, Stop, Tag};
use ralph_fleet::board::Word;
use ralph_fleet::job::{LONGEST_PROMPT, Source, Work};
use ralph_fleet::worker::{Assignment, Ended, RunResult, Runner};
use ralph_store::home::StateHome;
use ralph_store::journal::Tailer;
use ralph_store::layout::Layout;
use serde_json::{Value, json};
use tokio::sync::{Mutex, mpsc, watch};

use super::worker::places;
use super::{VARIABLES, mirror, trees};
use crate::apart::words_of;
use crate::app::{self, App};
use crate::args::FleetWorkerArgs;
use crate::trust::Kept;
use crate::web::Act;

/// `ralph run` ends its agent first.
const GRACE: Duration = Duration::from_secs(10);
/// What cloning may take.
const CLONE: Duration = Duration::from_secs(1800);
const PROTOCOLS: &str = "https:ssh:git:http";
const REPORT: Duration = Duration::from_secs(60);
/// How often the journal of a run is looked at for those elsewhere.
const LOOK: Duration = Duration::from_millis(300);
/// What a word to a run may take.
const SAYING: Duration = Duration::from_secs(30);
/// The longest event that is sent on.
const LONGEST_LINE: usize = 128 * 1024;
/// What is kept of the words of a run that could not be started.
const TAIL: usize = 2000;
const LONGEST_REPORT: usize = 1 << 20;

#[derive(Debug)]
pub struct Run {
    program: PathBuf,
    repos: PathBuf,
    jobs: PathBuf,
    /// For each `ralph run`, as the worker's operator wants it.
    args: Vec<String>,
    secrets: Vec<String>,
    trusts: bool,
    lang: Lang,
    /// What was trusted where the worker was started.
    trusted: Kept,
    /// One fetch at a time.
    fetching: Arc<Mutex<()>>,
}

/// Where one attempt has its things.
#[derive(Debug, Clone)]
struct Place {
    dir: PathBuf,
    tree: PathBuf,
    cache: PathBuf,
}

impl Run {
    pub fn new(app: &App, args: &FleetWorkerArgs, dir: &Path) -> io::Result<Run> {
        let (repos, jobs) = places(dir);
        // Of a worker that was here before and did not come to it.
        end_left(&jobs);
        match std::fs::remove_dir_all(&jobs) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        std::fs::create_dir_all(&jobs)?;
        std::fs::create_dir_all(&repos)?;
        Ok(Run {
            program: app::own_program(),
            repos,
            jobs,
            args: args.run.clone(),
            secrets: args.secrets.clone(),
            trusts: app.trusts,
            lang: app.lang(),
            trusted: Kept::read(&app.layout()),
            fetching: Arc::default(),
        })
    }

    /// Short: sockets lie below it.
    fn dir_of(&self, token: &str) -> PathBuf {
        let digest = hex_sha256(token.as_bytes());
        self.jobs.join(digest.get(..10).unwrap_or(&digest))
    }

    fn place(&self, job: &Assignment) -> Place {
        let dir = self.dir_of(&job.token);
        let name = match &job.spec.source {
            Source::Url(url) => hex_sha256(url.as_bytes()),
            Source::Bundle(name) => hex_sha256(name.as_bytes()),
        };
        Place {
            tree: dir.join("tree"),
            cache: self
                .repos
                .join(format!("{}.git", name.get(..16).unwrap_or(&name))),
            dir,
        }
    }

    /// The repository is here, with the job's commit.
    async fn fetch(&self, job: &Assignment, place: &Place) -> Result<(), String> {
        let _alone = self.fetching.lock().await;
        let commit = &job.spec.commit;
        if trees::has_commit(&place.cache, commit) {
            return Ok(());
        }
        match &job.spec.source {
            Source::Url(url) => self.fetch_url(url, place, job).await?,
            Source::Bundle(name) => {
                let file = place.dir.join("base.bundle");
                let got = job.board.get_input(name, &file).await;
                got.map_err(|error| error.say(self.lang))?;
                let new = place.dir.join("cache.git");
                let words = |error: io::Error| error.to_string();
                trees::unpack(&file, &new).map_err(words)?;
                let _ = std::fs::remove_dir_all(&place.cache);
                std::fs::rename(&new, &place.cache).map_err(words)?;
            }
        }
        match trees::has_commit(&place.cache, commit) {
            true => Ok(()),
            false => Err(format!("the repository has no commit {commit}")),
        }
    }

    /// With the worker's own Git: its keys and its helpers.
    async fn fetch_url(&self, url: &str, place: &Place, job: &Assignment) -> Result<(), String> {
        let cache = place.cache.display().to_string();
        let args: Vec<&str> = match place.cache.is_dir() {
            true => vec![
                "--git-dir",
                &cache,
                "fetch",
                "-q",
                "--no-auto-gc",
                "--",
                url,
                "+refs/heads/*:refs/heads/*",
            ],
            false => vec!["clone", "-q", "--bare", "--", url, &cache],
        };
        let child = Child {
            args: args.into_iter().map(OsString::from).collect(),
            env: vec![
                ("GIT_TERMINAL_PROMPT".into(), "0".into()),
                // Nobody elsewhere may name a folder of this machine.
                ("GIT_ALLOW_PROTOCOL".into(), PROTOCOLS.into()),
            ],
            env_remove: self.hidden(&[]),
            ends_with_us: true,
            spared: true,
            ..Child::plain("git".into(), &place.dir, CLONE)
        };
        let mut ear = Ear::new(None);
        let report = supervise::run(child, &mut ear, stopping(job.stop.clone())).await;
        match report.ending {
            Ending::Exited(0) => Ok(()),
            ending => Err(format!("git: {ending:?} {}", ear.tail())),
        }
    }

    /// What a run must not see: our own way to the server, and secrets that
    /// its job did not ask for.
    fn hidden(&self, asked: &[String]) -> Vec<OsString> {
        let secrets = self.secrets.iter().filter(|name| !asked.contains(name));
        let own = VARIABLES.iter().map(OsString::from);
        own.chain(secrets.map(OsString::from)).collect()
    }

    fn state_home(place: &Place) -> PathBuf {
        place.dir.join("state")
    }

    fn layout(place: &Place) -> Layout {
        let home = StateHome::at(Self::state_home(place).join("ralph"));
        Layout::new(&place.tree, &home)
    }

    fn child(&self, job: &Assignment, place: &Place) -> Child {
        let mut args: Vec<OsString> = vec!["run".into(), "--json".into()];
        args.extend(["--root".into(), place.tree.clone().into_os_string()]);
        if self.trusts {
            args.push("--trust-project".into());
        }
        args.extend(["--lang".into(), self.lang.into_str().into()]);
        if let Some(turns) = job.spec.max_turns {
            args.extend(["--max-iterations".into(), turns.to_string().into()]);
        }
        args.extend(self.args.iter().map(OsString::from));
        for hint in &job.spec.hints {
            args.push(format!("--hint={hint}").into());
        }
        match &job.spec.work {
            Work::Tasks(file) => args.extend(["--tasks".into(), file.into()]),
            // Whatever it begins with, it is no option.
            Work::Prompt(prompt) => args.extend(["--".into(), prompt.into()]),
        }
        let asked: Vec<String> = job.spec.needs.secrets.iter().cloned().collect();
        Child {
            args,
            env: vec![("XDG_STATE_HOME".into(), Self::state_home(place).into())],
            env_remove: self.hidden(&asked),
            ends_with_us: true,
            spared: true,
            timeout: None,
            grace: GRACE,
            ..Child::plain(self.program.clone().into(), &place.tree, Duration::ZERO)
        }
    }

    async fn prepare(&self, job: &Assignment, place: &Place) -> Result<(), String> {
        let words = |error: io::Error| error.to_string();
        std::fs::create_dir_all(&place.dir).map_err(words)?;
        self.fetch(job, place).await?;
        trees::check_out(&place.cache, &place.tree, &job.id, &job.spec.commit).map_err(words)?;
        let written = self.trusted.write(&Self::layout(place));
        written.map_err(|error| error.say(self.lang))
    }

    async fn report(&self, place: &Place) -> String {
        let child = Child {
            args: ["report", "--md", "--root"]
                .map(OsString::from)
                .into_iter()
                .chain([place.tree.clone().into_os_string()])
                .collect(),
            env: vec![("XDG_STATE_HOME".into(), Self::state_home(place).into())],
            env_remove: self.hidden(&[]),
            ends_with_us: true,
            spared: true,
            ..Child::plain(self.program.clone().into(), &place.tree, REPORT)
        };
        let mut heard = Heard::up_to(LONGEST_REPORT);
        let (_stop, never) = watch::channel(Stop::No);
        supervise::run(child, &mut heard, never).await;
        String::from_utf8_lossy(&heard.out).into_owned()
    }

    /// The same verbs as a person would type, by the same program, and only
    /// those that the page knows.
    async fn say(&self, token: &str, word: &Word) -> Result<String, String> {
        let dir = self.dir_of(token);
        let place = Place {
            tree: dir.join("tree"),
            cache: PathBuf::new(),
            dir,
        };
        let body = serde_json::to_vec(&word.body).unwrap_or_default();
        let act = Act::read(&word.verb, &body).filter(Act::is_for_the_living);
        let lang = self.lang;
        let act = act.ok_or_else(|| tr!(lang, "this can't be said to a run"))?;
        let run = Self::layout(&place).current_run().ok().flatten();
        let run = run.ok_or_else(|| tr!(lang, "it does not run"))?;
        let mut args: Vec<OsString> = act.arguments(&run.id).iter().map(Into::into).collect();
        args.splice(0..0, ["--root".into(), place.tree.clone().into_os_string()]);
        let child = Child {
            args,
            env: vec![("XDG_STATE_HOME".into(), Self::state_home(&place).into())],
            env_remove: self.hidden(&[]),
            ends_with_us: true,
            spared: true,
            ..Child::plain(self.program.clone().into(), &place.tree, SAYING)
        };
        let mut heard = Heard::up_to(TAIL);
        let (_stop, never) = watch::channel(Stop::No);
        let report = supervise::run(child, &mut heard, never).await;
        match report.ending {
            Ending::Exited(0) => Ok(words_of(&heard.out)),
            _ => Err(words_of(&heard.err)),
        }
    }

    async fn see_through(&self, job: Assignment) -> Ended {
        if !is_sound(&job) {
            return Ended::Declined("its commit, task file or prompt is none".into());
        }
        let place = self.place(&job);
        if let Err(why) = self.prepare(&job, &place).await {
            return Ended::Failed(why);
        }
        let child = self.child(&job, &place);
        let stop = job.stop.clone();
        let mut ear = Ear::new(Some(job.events.clone()));
        let mut records = Records::new(Self::layout(&place), job.events.clone());
        let report = {
            let running = supervise::run(child, &mut ear, stopping(stop.clone()));
            tokio::pin!(running);
            loop {
                tokio::select! {
                    report = &mut running => break report,
                    () = tokio::time::sleep(LOOK) => records.send_on(),
                }
            }
        };
        records.send_on();
        if *stop.borrow() {
            return Ended::Stopped;
        }
        let exit = match report.ending {
            Ending::Exited(code) => code,
            ending => return Ended::Failed(format!("{ending:?} {}", ear.tail())),
        };
        let Some(end) = ear.last.take().filter(|end| end["outcome"].is_string()) else {
            // It says itself why it was not even begun: not trusted, no agent, …
            return Ended::Declined(ear.tail());
        };
        let left = trees::take(
            &place.cache,
            &place.tree,
            &place.dir,
            (&job.id, &title(&job.spec.work)),
            &job.spec.commit,
        );
        let left = match left {
            Ok(left) => left,
            Err(error) => return Ended::Failed(error.to_string()),
        };
        let words = self.report(&place).await;
        Ended::Result(RunResult {
            exit,
            outcome: end["outcome"].as_str().unwrap_or_default().to_owned(),
            commit: left.commit,
            bundle: left.bundle,
            report: json!({"end": end, "report": words})
                .to_string()
                .into_bytes(),
            duration_ms: u64::try_from(report.duration.as_millis()).unwrap_or(u64::MAX),
        })
    }
}

/// Ends whoever still works for a worker that was killed: an agent without a
/// wall around it outlives its run.
fn end_left(jobs: &Path) {
    let entries = |dir: PathBuf| {
        let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
        entries.map(|entry| entry.path())
    };
    for job in entries(jobs.to_owned()) {
        for project in entries(job.join("state/ralph/projects")) {
            let runs = project.join("runs");
            for run in entries(runs.clone()) {
                if let Some(id) = run.file_name().and_then(|name| name.to_str()) {
                    supervise::orphans::end_tagged(&Tag::of_run(&runs, id));
                }
            }
        }
    }
}

/// What was asked for, as the first line of a commit.
fn title(work: &Work) -> String {
    const LONGEST: usize = 72;
    match work {
        Work::Tasks(file) => format!("Work on {file}"),
        Work::Prompt(prompt) => one_line(prompt).chars().take(LONGEST).collect(),
    }
}

/// What came over the wire becomes arguments and paths only in these forms.
fn is_sound(job: &Assignment) -> bool {
    let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let commit = &job.spec.commit;
    let is_below = |file: &str| {
        let parts = Path::new(file).components();
        let mut odd = parts.filter(|part| !matches!(part, Component::Normal(_)));
        !file.is_empty() && !file.starts_with('-') && odd.next().is_none()
    };
    let is_commit = (commit.len() == 40 || commit.len() == 64) && is_hex(commit);
    let is_word = |text: &String| text.len() <= LONGEST_PROMPT && !text.contains('\0');
    is_commit
        && job.spec.hints.iter().all(is_word)
        && match &job.spec.work {
            Work::Tasks(file) => is_below(file),
            Work::Prompt(prompt) => prompt.len() <= LONGEST_PROMPT && !prompt.contains('\0'),
        }
}

impl Runner for Run {
    async fn run(&self, job: Assignment) -> Ended {
        self.see_through(job).await
    }

    async fn tell(&self, token: &str, word: &Word) -> Value {
        match self.say(token, word).await {
            Ok(said) => json!({"ok": true, "said": said}),
            Err(said) => json!({"ok": false, "said": said}),
        }
    }

    fn clear(&self, token: &str) {
        // The next start tries again.
        let _ = std::fs::remove_dir_all(self.dir_of(token));
    }
}

/// The supervisor's word for it. Whoever lost a job has nothing to save.
fn stopping(mut stop: watch::Receiver<bool>) -> watch::Receiver<Stop> {
    let (sender, receiver) = watch::channel(Stop::No);
    tokio::spawn(async move {
        let asked = stop.wait_for(|stop| *stop).await.is_ok();
        if asked {
            sender.send_replace(Stop::Gracefully);
        }
        sender.closed().await;
    });
    receiver
}

/// Hears the events of a run, line by line.
struct Ear {
    events: Option<mpsc::Sender<Value>>,
    lines: SaidLines,
    last: Option<Value>,
    complaints: Vec<u8>,
}

impl Ear {
    fn new(events: Option<mpsc::Sender<Value>>) -> Ear {
        Ear {
            events,
            lines: SaidLines::new(LONGEST_LINE),
            last: None,
            complaints: Vec::new(),
        }
    }

    fn tail(&self) -> String {
        let said = String::from_utf8_lossy(&self.complaints);
        said.trim().to_owned()
    }

    fn line(&mut self, line: &[u8]) {
        let Ok(event) = serde_json::from_slice::<Value>(line) else {
            return;
        };
        if let Some(events) = &self.events {
            // A server that is gone holds no run up: then some are lost.
            let _ = events.try_send(event.clone());
        }
        self.last = Some(event);
    }
}

impl Sink for Ear {
    fn stdout(&mut self, chunk: &[u8]) -> io::Result<()> {
        for line in self.lines.take(chunk) {
            self.line(&line);
        }
        Ok(())
    }

    fn stderr(&mut self, chunk: &[u8]) -> io::Result<()> {
        self.complaints.extend_from_slice(chunk);
        let extra = self.complaints.len().saturating_sub(TAIL);
        self.complaints.drain(..extra);
        Ok(())
    }
}

/// The records of a run's journal, for whoever looks on from elsewhere: the
/// same that a monitor on this machine reads.
struct Records {
    layout: Layout,
    tailer: Option<Tailer>,
    unsent: VecDeque<Value>,
    events: mpsc::Sender<Value>,
}

impl Records {
    fn new(layout: Layout, events: mpsc::Sender<Value>) -> Records {
        Records {
            layout,
            tailer: None,
            unsent: VecDeque::new(),
            events,
        }
    }

    /// What the way to the server does not take now goes with the next.
    fn send_on(&mut self) {
        if self.tailer.is_none() {
            let run = self.layout.latest_run().ok().flatten();
            self.tailer = run.map(|run| Tailer::new(&run.journal()));
        }
        let new = self.tailer.as_mut().and_then(|tailer| tailer.poll().ok());
        let records = new.unwrap_or_default();
        self.unsent.extend(records.iter().map(mirror::record));
        while let Some(record) = self.unsent.pop_front() {
            if let Err(mpsc::error::TrySendError::Full(record)) = self.events.try_send(record) {
                self.unsent.push_front(record);
                return;
            }
        }
    }
}

/// What a command said, up to a size.
struct Heard {
    most: usize,
    out: Vec<u8>,
    err: Vec<u8>,
}

impl Heard {
    fn up_to(most: usize) -> Heard {
        Heard {
            most,
            out: Vec::new(),
            err: Vec::new(),
        }
    }
}

impl Sink for Heard {
    fn stdout(&mut self, chunk: &[u8]) -> io::Result<()> {
        let room = self.most.saturating_sub(self.out.len());
        self.out.extend(chunk.iter().take(room));
        Ok(())
    }

    fn stderr(&mut self, chunk: &[u8]) -> io::Result<()> {
        let room = self.most.saturating_sub(self.err.len());
        self.err.extend(chunk.iter().take(room));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_heard_across_chunks_and_floods_are_not_kept() {
        let mut ear = Ear::new(None);
        for chunk in [
            "{\"event\":\"a\"}\n{\"ev",
            "ent\":\"b\",\"outcome\":\"complete\"}\nnonsense\n",
        ] {
            ear.stdout(chunk.as_bytes()).unwrap();
        }
        assert_eq!(ear.last.as_ref().unwrap()["event"], "b");
        ear.stdout(&vec![b'x'; LONGEST_LINE + 1]).unwrap();
        ear.stdout(b"\n{\"event\":\"c\"}\n").unwrap();
        assert_eq!(ear.last.as_ref().unwrap()["event"], "c");
        ear.stderr(&vec![b'y'; 3 * TAIL]).unwrap();
        assert_eq!(ear.tail().len(), TAIL);
    }
}

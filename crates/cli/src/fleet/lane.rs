//! A lane on another machine: the work of its tree goes to the fleet as a job,
//! and comes back into the tree. The run that it belongs to hears and lands it
//! like any other.

use std::path::Path;
use std::time::{Duration, Instant};

use ralph_core::machine::Request;
use ralph_core::tasks::{ReadOptions, Task, set_mark};
use ralph_core::text::digest::hex_sha256;
use ralph_engine::lanes::{Assignment, Governor};
use ralph_engine::look::TaskFile;
use ralph_engine::signals::{self, Told};
use ralph_engine::supervise::Stop;
use ralph_engine::{clock, past};
use ralph_fleet::board::{Board, JobEvent};
use ralph_fleet::conf::Role;
use ralph_fleet::job::{Needs, Outcome, Phase, Source, Spec, State, Work};
use ralph_fleet::worker::now_ms;
use ralph_store::layout::Layout;
use ralph_store::private::PrivateDir;
use ralph_store::regular;
use serde_json::Value;
use tokio::sync::{mpsc, watch};

use super::mirror::{Job, is_record};
use super::trees;
use crate::app::App;
use crate::args::ServerArgs;

/// How often the server is asked how the job stands.
const LOOK: Duration = Duration::from_millis(500);
/// What the last records of a run may take to arrive behind its result.
const LAST_WORDS: Duration = Duration::from_secs(20);
/// The longest word that goes along with a job.
const LONGEST_WORD: usize = 1900;

/// Gives the job to the fleet and what came of it to the tree. An error says
/// why it can't.
pub fn work(app: &App, assignment: &Assignment, layout: &Layout) -> Result<u8, String> {
    let login = super::login(app, &ServerArgs::default()).map_err(|_| "no way to the fleet")?;
    let work = async {
        let board = Board::open(&login, Role::Submitter).await.map_err(words)?;
        let lane = Lane {
            board,
            assignment,
            layout,
        };
        lane.see_through().await
    };
    app.block_on(work).map_err(|_| "no runtime".to_owned())?
}

fn words(error: impl std::fmt::Debug) -> String {
    format!("{error:?}")
}

struct Lane<'a> {
    board: Board,
    assignment: &'a Assignment,
    layout: &'a Layout,
}

/// What is heard of the job.
enum Heard {
    Event(JobEvent),
    Over(State),
}

impl Lane<'_> {
    async fn see_through(&self) -> Result<u8, String> {
        let (stop, stopped) = watch::channel(Stop::No);
        let (sender, mut requests) = mpsc::unbounded_channel();
        let _ = signals::listen(sender);
        let governor = Governor::listen();
        if governor.leave(stopped.clone()).await.is_none() {
            return Ok(0);
        }
        let scratch = PrivateDir::new("lane").map_err(|error| error.to_string())?;
        let commit = self.commit(scratch.path()).map_err(|e| e.to_string())?;
        let job = self.submit(&commit, scratch.path()).await?;
        let (tell, mut heard) = mpsc::unbounded_channel();
        let following = self.follow(&job, tell);
        tokio::pin!(following);
        let mut mirrored = Job::new(self.layout.clone());
        let state = loop {
            let event = tokio::select! {
                () = &mut following => continue,
                request = requests.recv() => match request {
                    Some(Told::Request(Request::Pause)) | None => continue,
                    Some(_) => return self.take_back(&job).await,
                },
                heard = heard.recv() => match heard {
                    Some(Heard::Event(event)) => event,
                    Some(Heard::Over(state)) => break state,
                    None => return Err("the fleet is gone".into()),
                },
            };
            if let Some(until) = held_until(&event.event) {
                governor.held(until);
            }
            let ended_turn = is_turn(&event.event);
            mirrored.take(event);
            // Each call is booked when it is over: what is spent elsewhere is
            // known no sooner.
            if ended_turn && governor.leave(stopped.clone()).await.is_none() {
                return self.take_back(&job).await;
            }
        };
        drop(stop);
        self.end(&job, &state, &commit, scratch.path()).await
    }

    /// The tree as it lies there, with the tasks of others ticked: this is no
    /// business of the job.
    fn commit(&self, scratch: &Path) -> std::io::Result<String> {
        let tree = &self.assignment.root;
        let file = tree.join(&self.assignment.tasks_file);
        let before = regular::read(&file)?;
        let ticked = self.tick_others(tree, &file);
        let objects = [self.assignment.objects.clone(), tree.join(".git/objects")];
        let committed = trees::commit_all(
            tree,
            &scratch.join("own.git"),
            &objects,
            &self.assignment.tasks_file,
        );
        std::fs::write(&file, before)?;
        ticked.and(committed)
    }

    fn tick_others(&self, tree: &Path, file: &Path) -> std::io::Result<()> {
        let other = |error: &dyn std::fmt::Debug| std::io::Error::other(format!("{error:?}"));
        let tasks = TaskFile::new(tree, file.to_owned(), ReadOptions::default());
        loop {
            let open = tasks.clone().open().map_err(|error| other(&error))?;
            let is_others = |task: &Task| !task.done && !self.assignment.tasks.contains(&task.id);
            let Some(index) = open.list.tasks.iter().position(is_others) else {
                return Ok(());
            };
            let marked = set_mark(&open.bytes, &open.list, index, true);
            std::fs::write(file, marked.map_err(|error| other(&error))?)?;
        }
    }

    /// The same tree is the same job: a run that is taken up finds it again.
    async fn submit(&self, commit: &str, scratch: &Path) -> Result<String, String> {
        let file = trees::bundle_of(&scratch.join("own.git"), commit, scratch);
        let file = file.map_err(|error| error.to_string())?;
        let put = self.board.put_input(commit, &file).await;
        put.map_err(words)?;
        let spec = Spec {
            source: Source::Bundle(commit.to_owned()),
            commit: commit.to_owned(),
            work: Work::Tasks(self.assignment.tasks_file.clone()),
            needs: Needs::default(),
            priority: 0,
            max_turns: None,
            hints: self.hints(),
        };
        let job = self.name(commit, &spec).await?;
        if self.board.spec(&job).await.is_ok() {
            return Ok(job);
        }
        let sent = self.board.submit(&job, &spec, now_ms()).await;
        sent.map_err(words)?;
        Ok(job)
    }

    /// The same tree with the same words is the same job. A run that is taken
    /// up does not know the words any more, and looks for a job that goes on.
    async fn name(&self, commit: &str, spec: &Spec) -> Result<String, String> {
        let start = format!("{}-{}", self.assignment.run, short(commit, 10));
        if self.assignment.goes_on {
            let states = self.board.states().await.map_err(words)?;
            let is_it = |(id, state): &&(String, State)| id.starts_with(&start) && !state.is_over();
            if let Some((id, _)) = states.iter().find(is_it) {
                return Ok(id.clone());
            }
        }
        let words = hex_sha256(spec.hints.join("\n").as_bytes());
        Ok(format!("{start}-{}", short(&words, 6)))
    }

    async fn follow(&self, job: &str, tell: mpsc::UnboundedSender<Heard>) {
        let each = |_: &str, event: JobEvent| drop(tell.send(Heard::Event(event)));
        let hearing = self.board.events(job, true, each, async || false);
        let looking = async {
            loop {
                if let Ok((state, _)) = self.board.state(job).await
                    && state.is_over()
                {
                    let _ = tell.send(Heard::Over(state));
                    return;
                }
                tokio::time::sleep(LOOK).await;
            }
        };
        let _ = tokio::join!(hearing, looking);
    }

    /// Why it came back, and what a person said to all lanes.
    fn hints(&self) -> Vec<String> {
        let note = self.assignment.note.iter().cloned();
        let hints = self.assignment.hints.iter().map(|hint| hint.text.clone());
        let shortened = |text: String| text.chars().take(LONGEST_WORD).collect();
        note.chain(hints).map(shortened).collect()
    }

    /// Nobody waits for it any more.
    async fn take_back(&self, job: &str) -> Result<u8, String> {
        self.board.cancel(job).await.map_err(words)?;
        self.board.close().await;
        Ok(crate::INTERRUPTED)
    }

    async fn end(
        &self,
        job: &str,
        state: &State,
        commit: &str,
        scratch: &Path,
    ) -> Result<u8, String> {
        let Phase::Done(outcome) = &state.phase else {
            let why = state.trouble.clone().unwrap_or_default();
            return Err(format!("job {job} was not done: {why}"));
        };
        self.bring_back(job, outcome, commit, scratch).await?;
        // All of it once more: the last records may still have been on their way.
        let until = Instant::now() + LAST_WORDS;
        while !self.is_told() && Instant::now() < until {
            let mut whole = Job::new(self.layout.clone());
            let each = |_: &str, event: JobEvent| whole.take(event);
            let _ = self.board.events(job, false, each, async || true).await;
            tokio::time::sleep(LOOK).await;
        }
        self.board.close().await;
        Ok(u8::try_from(outcome.exit).unwrap_or(1))
    }

    /// Whether the whole run is known here.
    fn is_told(&self) -> bool {
        let run = self.layout.latest_run().ok().flatten();
        let past = run.and_then(|run| past::read(&run).ok());
        past.is_some_and(|past| past.state.outcome().is_some())
    }

    async fn bring_back(
        &self,
        job: &str,
        outcome: &Outcome,
        base: &str,
        scratch: &Path,
    ) -> Result<(), String> {
        let Some(commit) = outcome.commit.as_ref().filter(|_| outcome.has_bundle) else {
            return Ok(());
        };
        let file = scratch.join("result.bundle");
        let got = self.board.get_result(&outcome.bundle(), &file).await;
        got.map_err(words)?;
        let own = scratch.join("own.git");
        let came = trees::receive(&own, &file, job, commit, base);
        came.and_then(|()| trees::put(&self.assignment.root, &own, commit))
            .map_err(|error| error.to_string())
    }
}

fn short(text: &str, length: usize) -> &str {
    text.get(..length).unwrap_or(text)
}

fn is_turn(event: &Value) -> bool {
    is_record(event) && event["data"]["kind"] == "turn_ended"
}

/// Until when the account of the run can't be used.
fn held_until(event: &Value) -> Option<i64> {
    let is_limit = event["event"] == "wait" && event["reason"] == "usage_limit";
    let ms = is_limit.then(|| event["duration_ms"].as_i64()).flatten()?;
    Some(clock::now().wall_ms.saturating_add(ms))
}

//! A lane on another machine: the work of its tree goes to the fleet as a job,
//! and comes back into the tree. The run that it belongs to hears and lands it
//! like any other.

use std::path::Path;
use std::time::{Duration, Instant};

use ralph_core::lang::{Lang, Say};
use ralph_core::machine::Request;
use ralph_core::tasks::{ReadOptions, Task, set_marks};
use ralph_core::text::digest::hex_sha256;
use ralph_engine::clock;
use ralph_engine::lanes::{Assignment, Governor, Said, say};
use ralph_engine::look::TaskFile;
use ralph_engine::signals::{self, Told};
use ralph_engine::supervise::Stop;
use ralph_fleet::board::{Board, JobEvent};
use ralph_fleet::conf::Role;
use ralph_fleet::job::{Outcome, Phase, Source, Spec, State, Work};
use ralph_fleet::limit_in;
use ralph_fleet::worker::now_ms;
use ralph_store::layout::{Layout, refuse_links};
use ralph_store::private::PrivateDir;
use serde_json::Value;
use tokio::sync::{mpsc, watch};

use super::mirror::{Job, is_record};
use super::{land, trees};
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

/// The run that it belongs to tells it on as it is.
#[expect(
    clippy::needless_pass_by_value,
    reason = "it is what `map_err` hands over"
)]
fn words(error: impl Say) -> String {
    error.say(Lang::En)
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
        let (asked, requests) = mpsc::unbounded_channel();
        let _ = signals::listen(asked);
        let mut stopped = stopped_by(requests);
        let governor = Governor::listen();
        let scratch = PrivateDir::new("lane").map_err(|error| error.to_string())?;
        let given = self.given()?;
        // Nobody is called for a result that is there; one that came back has to
        // be worked on.
        if let Some(job) = given.as_ref().filter(|_| self.assignment.note.is_none()) {
            return self.take_result(job, scratch.path()).await;
        }
        if governor.leave(stopped.clone()).await.is_none() {
            return Ok(0);
        }
        let commit = self.commit(scratch.path())?;
        let like = match &given {
            Some(job) => Some(self.board.spec(job).await.map_err(words)?),
            None => None,
        };
        let job = self.submit(&commit, like, scratch.path()).await?;
        let (tell, mut heard) = mpsc::unbounded_channel();
        let following = self.follow(&job, tell);
        tokio::pin!(following);
        let mut mirrored = Job::new(self.layout.clone());
        let state = loop {
            let event = tokio::select! {
                () = &mut following => return Err("the fleet is gone".into()),
                _ = stopped.wait_for(|stop| *stop >= Stop::Gracefully) => {
                    return self.take_back(&job).await;
                }
                Some(heard) = heard.recv() => match heard {
                    Heard::Event(event) => event,
                    Heard::Over(state) => break state,
                },
            };
            if let Some(left) = limit_in(&event.event) {
                let left = i64::try_from(left).unwrap_or(i64::MAX);
                governor.held(clock::now().wall_ms.saturating_add(left));
            }
            let ended_turn = is_turn(&event.event);
            let is_new = mirrored.take(event);
            // Each call is booked when it is over: what is spent elsewhere is
            // known no sooner.
            if ended_turn && is_new && governor.leave(stopped.clone()).await.is_none() {
                return self.take_back(&job).await;
            }
        };
        let over = (job.as_str(), &state);
        let (code, _) = self.end(over, mirrored, &commit, scratch.path()).await?;
        Ok(code)
    }

    /// The tree as it lies there, with the tasks of others ticked: they are no
    /// business of the job. Nothing is written into the tree, where an agent
    /// may have left a link in the place of the list.
    fn commit(&self, scratch: &Path) -> Result<String, String> {
        let tree = &self.assignment.root;
        let file = tree.join(&self.assignment.tasks_file);
        refuse_links(tree, &file).map_err(words)?;
        let tasks = TaskFile::new(tree, file, ReadOptions::default());
        let open = tasks.open().map_err(words)?;
        let is_others = |task: &Task| !task.done && !self.assignment.tasks.contains(&task.id);
        let all = open.list.tasks.iter().enumerate();
        let others = all.filter(|(_, task)| is_others(task));
        let others = others.map(|(index, _)| (index, true));
        let bytes = set_marks(&open.bytes, &open.list, others).map_err(words)?;
        let ticked = scratch.join("tasks");
        let objects = [self.assignment.objects.clone(), tree.join(".git/objects")];
        let committed = std::fs::write(&ticked, bytes).and_then(|()| {
            let own = scratch.join("own.git");
            let given = (self.assignment.tasks_file.as_str(), ticked.as_path());
            trees::commit_with(tree, &own, &objects, given)
        });
        committed.map_err(|error| error.to_string())
    }

    /// The same tree is the same job: a run that is taken up finds it again.
    async fn submit(
        &self,
        commit: &str,
        like: Option<Spec>,
        scratch: &Path,
    ) -> Result<String, String> {
        let file = trees::bundle_of(&scratch.join("own.git"), commit, scratch);
        let file = file.map_err(|error| error.to_string())?;
        let put = self.board.put_input(commit, &file).await;
        put.map_err(words)?;
        let spec = Spec {
            source: Source::Bundle(commit.to_owned()),
            commit: commit.to_owned(),
            work: Work::Tasks(self.assignment.tasks_file.clone()),
            needs: like
                .as_ref()
                .map(|like| like.needs.clone())
                .unwrap_or_default(),
            priority: like.as_ref().map_or(0, |like| like.priority),
            max_turns: like.as_ref().and_then(|like| like.max_turns),
            hints: self.hints(like.as_ref()),
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
    /// up does not know the words any more: it looks for a job of this tree that
    /// goes on, or that was done meanwhile. One that was taken back, or whose
    /// result did not land, is asked for under another name.
    async fn name(&self, commit: &str, spec: &Spec) -> Result<String, String> {
        let start = format!("{}-{}", self.assignment.run, short(commit, 10));
        let states = self.board.states().await.map_err(words)?;
        let of_tree: Vec<&(String, State)> = states
            .iter()
            .filter(|(id, _)| id.starts_with(&start))
            .collect();
        let is_done = |state: &State| matches!(state.phase, Phase::Done(_));
        let goes_on = self.assignment.goes_on;
        let serves = |state: &State| !state.is_over() || (goes_on && is_done(state));
        if let Some((id, _)) = of_tree.iter().rfind(|(_, state)| serves(state)) {
            return Ok(id.clone());
        }
        let words = hex_sha256(spec.hints.join("\n").as_bytes());
        let before = of_tree.len();
        Ok(format!("{start}-{}-{before}", short(&words, 6)))
    }

    /// Ends only where the server can't be heard any more.
    async fn follow(&self, job: &str, tell: mpsc::UnboundedSender<Heard>) {
        let each = |_: &str, event: JobEvent| drop(tell.send(Heard::Event(event)));
        let hearing = self.board.events(job, true, each, async || false);
        let looking = async {
            loop {
                if let Ok((state, _)) = self.board.state(job).await
                    && state.is_over()
                {
                    let _ = tell.send(Heard::Over(state));
                    return std::future::pending::<()>().await;
                }
                tokio::time::sleep(LOOK).await;
            }
        };
        tokio::select! {
            _ = hearing => {}
            () = looking => {}
        }
    }

    /// Why it came back, what it was about, and what a person said to all lanes.
    fn hints(&self, like: Option<&Spec>) -> Vec<String> {
        let note = self.assignment.note.iter().cloned();
        let wish = like.map(|like| match &like.work {
            Work::Prompt(prompt) => prompt.clone(),
            Work::Tasks(file) => format!("It is about the tasks of {file}."),
        });
        let hints = self.assignment.hints.iter().map(|hint| hint.text.clone());
        let shortened = |text: String| text.chars().take(LONGEST_WORD).collect();
        note.chain(wish).chain(hints).map(shortened).collect()
    }

    /// The job whose result is to land, where that is what the task is.
    fn given(&self) -> Result<Option<String>, String> {
        let file = self.assignment.root.join(&self.assignment.tasks_file);
        let tasks = TaskFile::new(&self.assignment.root, file, ReadOptions::default());
        let list = tasks.open().map_err(words)?.list;
        let is_ours = |task: &&Task| self.assignment.tasks.contains(&task.id);
        let task = list.tasks.iter().find(is_ours);
        Ok(task.and_then(|task| land::job_of(&self.assignment.tasks_file, &task.text)))
    }

    /// The tree becomes what the job made of the commit that it was given.
    async fn take_result(&self, job: &str, scratch: &Path) -> Result<u8, String> {
        let spec = self.board.spec(job).await.map_err(words)?;
        let (state, _) = self.board.state(job).await.map_err(words)?;
        let objects = [self.assignment.objects.clone()];
        let seen = trees::see(&self.assignment.root, &scratch.join("own.git"), &objects);
        seen.map_err(|error| error.to_string())?;
        let heard = Job::new(self.layout.clone());
        let (code, is_told) = self
            .end((job, &state), heard, &spec.commit, scratch)
            .await?;
        if !is_told {
            return Err(format!(
                "what the run of job {job} did is not known any more; look at its branch, and merge it by hand"
            ));
        }
        if let Phase::Done(Outcome {
            commit: Some(commit),
            ..
        }) = &state.phase
        {
            let stood = trees::stand_on(&self.assignment.root, commit);
            stood.map_err(|error| error.to_string())?;
        }
        say(&Said::Stands { base: spec.commit });
        Ok(code)
    }

    /// Nobody waits for it any more.
    async fn take_back(&self, job: &str) -> Result<u8, String> {
        self.board.cancel(job).await.map_err(words)?;
        self.board.close().await;
        Ok(crate::INTERRUPTED)
    }

    /// Gives how the run ended, and whether all of it is known here.
    async fn end(
        &self,
        (job, state): (&str, &State),
        mut heard: Job,
        commit: &str,
        scratch: &Path,
    ) -> Result<(u8, bool), String> {
        let Phase::Done(outcome) = &state.phase else {
            let why = state.trouble.clone().unwrap_or_default();
            return Err(format!("job {job} was not done: {why}"));
        };
        self.bring_back(job, outcome, commit, scratch).await?;
        // All of it once more: the last records may still have been on their way.
        let until = Instant::now() + LAST_WORDS;
        while !heard.is_told() && Instant::now() < until {
            heard = Job::new(self.layout.clone());
            let each = |_: &str, event: JobEvent| {
                heard.take(event);
            };
            let _ = self.board.events(job, false, each, async || true).await;
            tokio::time::sleep(LOOK).await;
        }
        self.board.close().await;
        let code = u8::try_from(outcome.exit).unwrap_or(1);
        Ok((code, heard.is_told()))
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

/// Whoever wants us to end, at any moment. A pause is heard from the run.
fn stopped_by(mut requests: mpsc::UnboundedReceiver<Told>) -> watch::Receiver<Stop> {
    let (stop, stopped) = watch::channel(Stop::No);
    tokio::spawn(async move {
        while let Some(told) = requests.recv().await {
            if !matches!(told, Told::Request(Request::Pause)) {
                stop.send_replace(Stop::Gracefully);
            }
        }
        stop.closed().await;
    });
    stopped
}

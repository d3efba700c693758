//! Does what the machine orders for lanes: trees, processes, merges and the
//! moves of the branch. Whatever takes time is done beside the driver, and
//! comes back as something that was heard.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, PipeWriter, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ralph_core::machine::{
    LaneEnd, LaneEvent, LaneHint, LaneOrder, LaneTask, Outcome, PauseReason, Request,
};
use ralph_core::usage::Usage;
use ralph_store::fault;
use ralph_store::layout::{Layout, RunId, RunPaths};
use ralph_store::regular;
use tokio::sync::{mpsc, watch};

use super::plan::LanePlan;
use super::repo::{Merge, Repo, Tree};
use super::tree;
use super::words::{Answer, Assignment, LANE_MODE, Said};
use crate::supervise::{self, SaidLines, Sink, Spec, Stop, orphans};
use crate::{git, ledger, past};

/// A lane ends its own agent first.
const GRACE: Duration = Duration::from_secs(8);
/// The longest line that a lane says.
const LONGEST_LINE: usize = 64 * 1024;

/// What the driver hears of its lanes.
#[derive(Debug)]
pub(crate) enum Heard {
    /// What the machine is told as it is.
    Told(LaneEvent),
    Asks {
        lane: u32,
    },
    Ended {
        lane: u32,
        end: LaneEnd,
    },
    /// It lies where it is checked.
    Merged {
        lane: u32,
        task: LaneTask,
        tree: String,
        tip: String,
    },
    Landed {
        lane: u32,
        task: LaneTask,
        commit: String,
    },
    Moved {
        lane: u32,
    },
    /// Something that nobody can go on without did not work.
    Broken {
        lane: u32,
        why: String,
    },
}

pub(crate) struct Lanes {
    pub(super) shared: Arc<Shared>,
    pub(super) alive: BTreeMap<u32, Alive>,
    /// The runs of those who worked in the same trees before.
    before: BTreeMap<u32, BTreeSet<RunId>>,
    heard: mpsc::UnboundedReceiver<Heard>,
}

pub(super) struct Shared {
    pub repo: Repo,
    pub plan: LanePlan,
    pub layout: Layout,
    own_program: PathBuf,
    run: String,
    /// The whole run comes to its end.
    closes: AtomicBool,
    pub tell: mpsc::UnboundedSender<Heard>,
}

pub(super) struct Alive {
    stop: watch::Sender<Stop>,
    answers: Option<PipeWriter>,
    /// It has asked for its first call: from then on it can be spoken to.
    pub has_asked: bool,
    /// Hints that wait for that, by number.
    pub unsaid: Vec<(u32, LaneHint)>,
}

/// What a lane begins with.
struct Ground {
    /// A tree and the commit below it; the tip where there is none.
    on: Option<(String, String)>,
    /// The commit below its tree, where that stands already.
    standing: Option<String>,
    /// The runs of those who worked in the tree before.
    before: BTreeSet<RunId>,
}

impl Lanes {
    pub fn new(
        repo: Repo,
        plan: LanePlan,
        layout: Layout,
        own_program: PathBuf,
        run: String,
    ) -> Lanes {
        let (tell, heard) = mpsc::unbounded_channel();
        Lanes {
            shared: Arc::new(Shared {
                repo,
                plan,
                layout,
                own_program,
                run,
                closes: AtomicBool::new(false),
                tell,
            }),
            alive: BTreeMap::new(),
            before: BTreeMap::new(),
            heard,
        }
    }

    pub async fn hear(&mut self) -> Heard {
        match self.heard.recv().await {
            Some(heard) => {
                match &heard {
                    Heard::Ended { lane, .. } => drop(self.alive.remove(lane)),
                    Heard::Asks { lane } if self.shared.closes() => {
                        self.answer(*lane, Answer::Enough);
                    }
                    Heard::Asks { lane } => self.tell_unsaid(*lane),
                    _ => {}
                }
                heard
            }
            // We hold a sender ourselves.
            None => std::future::pending().await,
        }
    }

    pub fn obey(&mut self, order: LaneOrder) {
        let shared = Arc::clone(&self.shared);
        match order {
            LaneOrder::Start {
                lane,
                task,
                on,
                standing,
                note,
                hints,
            } => {
                let goes_on = standing.is_some();
                let assignment = Assignment {
                    note,
                    hints,
                    ..shared.assignment(lane, &task, goes_on)
                };
                self.start(&assignment, task, on, standing);
            }
            LaneOrder::Tell { lane, hint, said } => self.tell(lane, hint, said),
            LaneOrder::Grant {
                lane,
                not_before,
                allowance,
            } => self.answer(
                lane,
                Answer::Go {
                    not_before,
                    allowance,
                },
            ),
            LaneOrder::Land { lane, task, commit } => {
                beside(lane, &self.shared, move || {
                    shared.merge(lane, task, &commit)
                });
            }
            LaneOrder::Commit {
                lane,
                task,
                tree,
                tip,
            } => beside(lane, &self.shared, move || {
                shared.commit(lane, task, &tree, &tip)
            }),
            LaneOrder::Close { how } => self.close(how),
        }
    }

    /// Lets every lane come to an end.
    fn close(&mut self, how: Request) {
        self.shared.closes.store(true, Ordering::Relaxed);
        let stop = match how {
            Request::Pause => None,
            Request::Interrupt | Request::Cancel => Some(Stop::Gracefully),
            Request::Kill => Some(Stop::Now),
        };
        let lanes: Vec<u32> = self.alive.keys().copied().collect();
        for lane in lanes {
            if let (Some(stop), Some(alive)) = (stop, self.alive.get(&lane)) {
                alive.stop.send_replace(stop);
            }
            self.answer(lane, Answer::Enough);
        }
    }

    fn answer(&mut self, lane: u32, answer: Answer) {
        if let Some(alive) = self.alive.get_mut(&lane)
            && let Some(answers) = &mut alive.answers
        {
            let line = serde_json::to_string(&answer).unwrap_or_default();
            // One that is gone tells so itself.
            let _ = writeln!(answers, "{line}");
        }
    }

    /// What its calls used that are not among the first so many.
    pub fn calls(&self, lane: u32, known: u32) -> Vec<Usage> {
        let layout = self.shared.layout_of(lane);
        let none = BTreeSet::new();
        let before = self.before.get(&lane).unwrap_or(&none);
        let Some(run) = self.shared.run_of(lane, before) else {
            return Vec::new();
        };
        let ledger = ledger::read(&layout, Some(run.id.as_str())).unwrap_or_default();
        let entries = ledger.entries.into_iter().skip(known as usize);
        entries.map(|entry| entry.spent).collect()
    }

    fn start(
        &mut self,
        assignment: &Assignment,
        task: LaneTask,
        on: Option<(String, String)>,
        standing: Option<String>,
    ) {
        let lane = assignment.lane;
        let (stop, stopped) = watch::channel(Stop::No);
        let (reader, writer) = match io::pipe() {
            Ok(pipe) => pipe,
            Err(error) => {
                let why = error.to_string();
                let _ = self.shared.tell.send(Heard::Broken { lane, why });
                return;
            }
        };
        let mut writer = writer;
        let shared = Arc::clone(&self.shared);
        let before = match standing {
            Some(_) => BTreeSet::new(),
            None => shared.runs_of(lane).map(|run| run.id).collect(),
        };
        self.before.insert(lane, before.clone());
        let ground = Ground {
            on,
            standing,
            before,
        };
        let line = serde_json::to_string(assignment).unwrap_or_default();
        let written = writeln!(writer, "{line}");
        let answers = written.is_ok().then_some(writer);
        let alive = Alive {
            stop,
            answers,
            has_asked: false,
            unsaid: Vec::new(),
        };
        self.alive.insert(lane, alive);
        tokio::spawn(async move {
            let end = shared.see_through(lane, task, ground, reader, stopped);
            let end = end.await;
            let _ = shared.tell.send(Heard::Ended { lane, end });
        });
    }
}

/// What Git does takes its time.
fn beside(
    lane: u32,
    shared: &Arc<Shared>,
    work: impl FnOnce() -> io::Result<Heard> + Send + 'static,
) {
    let tell = shared.tell.clone();
    tokio::task::spawn_blocking(move || {
        let heard = work().unwrap_or_else(|error| Heard::Broken {
            lane,
            why: error.to_string(),
        });
        let _ = tell.send(heard);
    });
}

impl Shared {
    fn closes(&self) -> bool {
        self.closes.load(Ordering::Relaxed)
    }

    fn tree(&self, lane: u32) -> Tree {
        tree::of(&self.plan.place, lane)
    }

    pub fn layout_of(&self, lane: u32) -> Layout {
        let root = self.tree(lane).project(&self.repo);
        Layout::new(root, self.layout.home())
    }

    fn runs_of(&self, lane: u32) -> impl DoubleEndedIterator<Item = RunPaths> {
        let runs = self.layout_of(lane).as_written().unwrap_or_default();
        runs.into_iter()
    }

    /// The run in a lane's tree that is none of before: a result that was made
    /// elsewhere may have begun sooner than they did.
    fn run_of(&self, lane: u32, before: &BTreeSet<RunId>) -> Option<RunPaths> {
        self.runs_of(lane).rfind(|run| !before.contains(&run.id))
    }

    pub fn tip(&self) -> String {
        let tip = git::refs::tip(&self.repo.top, &self.plan.branch);
        tip.unwrap_or_else(|| self.plan.base.clone())
    }

    fn assignment(&self, lane: u32, task: &LaneTask, goes_on: bool) -> Assignment {
        Assignment {
            project: self.repo.root.clone(),
            run: self.run.clone(),
            lane,
            root: self.tree(lane).project(&self.repo),
            tasks: task.ids(),
            tasks_file: self.plan.tasks_file.clone(),
            objects: self.repo.objects().unwrap_or_default(),
            note: None,
            hints: Vec::new(),
            goes_on,
        }
    }

    pub fn advance(&self, tip: &str, commit: &str) -> bool {
        let exists = git::refs::tip(&self.repo.top, &self.plan.branch).is_some();
        let from = exists.then_some(tip);
        git::refs::advance(&self.repo.top, &self.plan.branch, from, commit)
    }

    /// The whole life of a lane's process, and what it leaves.
    async fn see_through(
        self: &Arc<Self>,
        lane: u32,
        task: LaneTask,
        ground: Ground,
        answers: io::PipeReader,
        stop: watch::Receiver<Stop>,
    ) -> LaneEnd {
        let short = |reason: String| LaneEnd::Short {
            outcome: "lane".into(),
            reason,
        };
        let shared = Arc::clone(self);
        let before = ground.before.clone();
        let base = tokio::task::spawn_blocking(move || shared.prepare(lane, ground)).await;
        let base = match base.map_err(io::Error::other).flatten() {
            Ok(base) => base,
            Err(error) => return short(error.to_string()),
        };
        let began = LaneEvent::Began {
            lane,
            base: base.clone(),
        };
        let _ = self.tell.send(Heard::Told(began));
        let spec = Spec {
            args: vec![LANE_MODE.into()],
            stdin: Some(supervise::file_of(answers)),
            timeout: None,
            grace: GRACE,
            // A fault is meant for the process that a test started.
            env_remove: fault::VARIABLES.map(Into::into).to_vec(),
            ends_with_us: true,
            spared: true,
            ..Spec::plain(
                self.own_program.clone().into(),
                &self.repo.root,
                Duration::ZERO,
            )
        };
        let mut ear = Ear {
            lane,
            tell: self.tell.clone(),
            lines: SaidLines::new(LONGEST_LINE),
            base,
            failed: None,
        };
        let report = supervise::run(spec, &mut ear, stop).await;
        if let Some(why) = ear.failed {
            return short(why);
        }
        let shared = Arc::clone(self);
        let ending = format!("{:?}", report.ending);
        let result = move || shared.result(lane, &task, &ear.base, &before, &ending);
        match tokio::task::spawn_blocking(result).await {
            Ok(Ok(end)) => end,
            Ok(Err(error)) => short(error.to_string()),
            Err(error) => short(error.to_string()),
        }
    }

    /// Puts the tree there; gives the commit below it.
    fn prepare(&self, lane: u32, ground: Ground) -> io::Result<String> {
        let _held = orphans::hold_off();
        let tree = self.tree(lane);
        if let Some(base) = ground.standing.filter(|_| tree.dir.is_dir()) {
            return Ok(base);
        }
        let (oid, base) = match ground.on {
            Some((oid, base)) => (oid, base),
            None => {
                let tip = self.tip();
                (self.repo.tree_of(&tip)?, tip)
            }
        };
        tree.set_up(&self.repo, (&oid, &base), &self.plan.include)?;
        self.plan.copy_tasks(&self.repo, &tree)?;
        Ok(base)
    }

    /// What a lane that is over leaves: its work as a commit, where it is
    /// done.
    fn result(
        &self,
        lane: u32,
        task: &LaneTask,
        base: &str,
        before: &BTreeSet<RunId>,
        ending: &str,
    ) -> io::Result<LaneEnd> {
        let _held = orphans::hold_off();
        let run = self.run_of(lane, before);
        let past = run.as_ref().and_then(|run| past::read(run).ok());
        let outcome = past.as_ref().and_then(|past| past.state.outcome());
        let tree = self.tree(lane);
        let is_unproven = matches!(
            outcome,
            Some(
                Outcome::Unproven { .. }
                    | Outcome::Paused {
                        reason: PauseReason::Unproven
                    }
            )
        );
        let is_done = match outcome {
            Some(Outcome::Complete) => true,
            // It says that it is done: the landing judges that.
            _ if is_unproven => true,
            Some(Outcome::Paused { .. } | Outcome::Interrupted) | None if self.closes() => {
                return Ok(LaneEnd::Stopped);
            }
            _ => false,
        };
        let tasks_file = self.plan.tracked.clone();
        let oid = self.repo.take(&tree, base, tasks_file.as_deref())?;
        let message = self.message(&tree, task, base);
        let commit = self.repo.commit(&oid, base, &message)?;
        // Words alone don't land.
        let is_empty = oid == self.repo.tree_of(base)?;
        if is_done && !(is_empty && is_unproven) {
            return Ok(LaneEnd::Ready { commit });
        }
        let reason = outcome.map_or(ending, Outcome::reason).to_owned();
        let name = outcome.map_or("died", Outcome::into_str).to_owned();
        // What was done so far stays where the person finds it.
        if !is_empty {
            let branch = super::branch_of_task(&self.plan.branch, &task.id);
            let before = git::refs::tip(&self.repo.top, &branch);
            let kept = git::refs::advance(&self.repo.top, &branch, before.as_deref(), &commit);
            let place = match kept {
                true => format!("on branch {branch}"),
                false => format!("in {}", tree.dir.display()),
            };
            let reason = format!("{reason} (its work is {place})");
            return Ok(LaneEnd::Short {
                outcome: name,
                reason,
            });
        }
        Ok(LaneEnd::Short {
            outcome: name,
            reason,
        })
    }

    /// The agent's own words, where it committed; else those of the task.
    fn message(&self, tree: &Tree, task: &LaneTask, base: &str) -> String {
        let title = format!("{} {}", task.id.trim_start_matches('#'), task.text);
        let head = git::head(&tree.dir).commit.filter(|head| head != base);
        let commits = head.and_then(|head| git::commits(&tree.dir, base, &head, 20));
        let subjects: Vec<String> = commits
            .unwrap_or_default()
            .into_iter()
            .rev()
            .map(|commit| format!("- {}", commit.subject))
            .collect();
        match subjects.is_empty() {
            true => format!("{title}\n"),
            false => format!("{title}\n\n{}\n", subjects.join("\n")),
        }
    }

    fn merge(&self, lane: u32, task: LaneTask, commit: &str) -> io::Result<Heard> {
        let _held = orphans::hold_off();
        let tip = self.tip();
        Ok(match self.repo.merge(&tip, commit)? {
            Merge::Conflict { tree, files } => Heard::Told(LaneEvent::Conflict {
                lane,
                tree,
                tip,
                files,
            }),
            Merge::Clean { tree } => {
                self.tree(0).move_to(&self.repo, &tree, &tip)?;
                Heard::Merged {
                    lane,
                    task,
                    tree,
                    tip,
                }
            }
        })
    }

    /// Exactly what was checked becomes the tip, with the tick.
    fn commit(&self, lane: u32, task: LaneTask, tree: &str, tip: &str) -> io::Result<Heard> {
        let _held = orphans::hold_off();
        let checked = self.tree(0);
        let oid = match self.plan.tracked.clone() {
            Some(path) => {
                let bytes = regular::read(checked.dir.join(&path))?;
                self.repo.with_file(tree, &path, &bytes)?
            }
            None => tree.to_owned(),
        };
        let message = self.message(&self.tree(lane), &task, tip);
        let commit = self.repo.commit(&oid, tip, &message)?;
        if self.advance(tip, &commit) {
            return Ok(Heard::Landed { lane, task, commit });
        }
        let tip = self.tip();
        let oid = self.repo.tree_of(&tip)?;
        checked.move_to(&self.repo, &oid, &tip)?;
        Ok(Heard::Moved { lane })
    }
}

/// Hears what a lane says.
struct Ear {
    lane: u32,
    tell: mpsc::UnboundedSender<Heard>,
    lines: SaidLines,
    /// The commit below its work.
    base: String,
    failed: Option<String>,
}

impl Sink for Ear {
    fn stdout(&mut self, chunk: &[u8]) -> io::Result<()> {
        for line in self.lines.take(chunk) {
            let lane = self.lane;
            match serde_json::from_slice(&line) {
                Ok(Said::Ask) => drop(self.tell.send(Heard::Asks { lane })),
                Ok(Said::Held { until }) => {
                    let held = LaneEvent::Held { lane, until };
                    drop(self.tell.send(Heard::Told(held)));
                }
                Ok(Said::Stands { base }) => {
                    self.base.clone_from(&base);
                    let began = LaneEvent::Began { lane, base };
                    drop(self.tell.send(Heard::Told(began)));
                }
                Ok(Said::Failed { why }) => self.failed = Some(why),
                Err(_) => {}
            }
        }
        Ok(())
    }

    fn stderr(&mut self, _chunk: &[u8]) -> io::Result<()> {
        Ok(())
    }
}

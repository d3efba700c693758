//! Which turn broke it: a search over the snapshots of a run, in the clean
//! room.

use std::path::PathBuf;

use ralph_core::lang::Say;
use ralph_core::machine::{CommandResult, Request};
use ralph_store::layout::{Layout, RunPaths};
use tokio::sync::{mpsc, watch};

use crate::room::{Room, RoomKind};
use crate::signals::{self, Told};
use crate::snapshots::live::Live;
use crate::snapshots::timeline::Timeline;
use crate::snapshots::undo::World;
use crate::snapshots::{SnapshotError, Snapshots, TreeId, Why};
use crate::supervise::{Stop, Tag, orphans};
use crate::trials::back::back;
use crate::turn::run_env;
use crate::verify::{Order, Place, Verifier};

/// One run of the checks on the work as it was after a turn.
#[derive(Clone, Debug)]
pub struct Step {
    /// From 1 on, and how many there are at most.
    pub number: usize,
    pub most: usize,
    /// 0 is when the run began.
    pub turn: u32,
    /// As it was before the turn, not after it.
    pub before: bool,
    pub tree: TreeId,
    pub passed: bool,
    pub results: Vec<CommandResult>,
}

#[derive(Clone, Debug)]
pub struct Found {
    /// The checks are red after this turn, and were not after `good`.
    pub bad: u32,
    pub good: u32,
    /// They were red when that turn began: whatever happened between the
    /// turns broke it.
    pub between: bool,
    pub steps: Vec<Step>,
    pub room: RoomKind,
    /// What was the same in every step, since it was not kept.
    pub left_out: Vec<(PathBuf, Why)>,
}

#[derive(Clone, Debug, Say)]
pub enum BisectError {
    #[say(_0.say(lang))]
    Snapshot(SnapshotError),
    #[say(
        "run {run} has no snapshots of two different states to search between; `ralph snapshots` lists those that there are"
    )]
    TooFew { run: String },
    #[say("there is no room to try old states in: {why}")]
    NoRoom { why: String },
    #[say("the checks pass after turn {turn}, the last one: nothing is broken there")]
    Green { turn: u32 },
    #[say("the checks fail already on the work as it was when the run began: no turn broke it")]
    Red,
    #[say("`{command}` came to no end after turn {turn}: that is neither green nor red")]
    NoEnd { turn: u32, command: String },
    #[say(
        "the work changed while it was searched, so the answer would be worth nothing; try again when nobody works on it"
    )]
    Moved,
    #[say("stopped before the turn was found")]
    Stopped,
}

impl From<SnapshotError> for BisectError {
    fn from(error: SnapshotError) -> BisectError {
        BisectError::Snapshot(error)
    }
}

/// What is searched, and what tells good from bad.
#[derive(Debug)]
pub struct Bisect<'a> {
    pub layout: &'a Layout,
    pub run: &'a RunPaths,
    pub timeline: &'a Timeline,
    pub verifier: Verifier,
    pub world: World,
}

impl Bisect<'_> {
    /// `tell` hears of every step.
    pub async fn search(self, tell: &mut dyn FnMut(&Step)) -> Result<Found, BisectError> {
        let mut work = Live::open(self.layout, self.world)?;
        let snapshots = Snapshots::open(self.layout)?;
        let points = points(self.timeline, &snapshots);
        if points.len() < 2 {
            let run = self.run.id.to_string();
            return Err(BisectError::TooFew { run });
        }
        let live = work.look()?;
        let room = Room::open(self.layout.root(), self.layout.state_dir()).await;
        let room = room.map_err(|why| BisectError::NoRoom { why })?;
        let mut search = Search {
            snapshots: Snapshots::open(self.layout)?,
            live: live.clone(),
            verifier: self.verifier,
            log: self.run.dir.join("bisect.log"),
            tag: Tag::of_this_process("bisect"),
            most: most_steps(points.len()),
            steps: Vec::new(),
            left_out: Vec::new(),
            stop: stop_by_signal(),
            room,
        };
        let found = search.among(&points, self.timeline, tell).await;
        if work.look()? != live {
            return Err(BisectError::Moved);
        }
        let (bad, good, between) = found?;
        search.left_out.sort();
        search.left_out.dedup();
        Ok(Found {
            bad,
            good,
            between,
            steps: search.steps,
            room: search.room.kind(),
            left_out: search.left_out,
        })
    }
}

/// The states that there are, each once: a turn that changed nothing broke
/// nothing.
fn points(timeline: &Timeline, snapshots: &Snapshots) -> Vec<(u32, TreeId)> {
    let turns = std::iter::once(0).chain(timeline.turns.keys().copied());
    let mut points: Vec<(u32, TreeId)> = Vec::new();
    for turn in turns {
        let tree = timeline.after(turn);
        let Some(tree) = tree.filter(|tree| snapshots.has(&tree.id())) else {
            continue;
        };
        if points.last().is_none_or(|(_, last)| last != tree) {
            points.push((turn, tree.clone()));
        }
    }
    points
}

/// Both ends, and halves.
fn most_steps(points: usize) -> usize {
    let gaps = points.saturating_sub(1).max(1);
    2 + gaps.next_power_of_two().trailing_zeros() as usize
}

/// Ctrl+C ends the check that runs, and with it the search.
fn stop_by_signal() -> watch::Receiver<Stop> {
    let (asks, stop) = watch::channel(Stop::No);
    let (told, mut hears) = mpsc::unbounded_channel();
    if signals::listen(told).is_ok() {
        tokio::spawn(async move {
            while let Some(told) = hears.recv().await {
                let wanted = match told {
                    Told::Request(Request::Kill) => Stop::Now,
                    Told::Request(_) => Stop::Gracefully,
                    Told::Freeze => continue,
                };
                asks.send_replace(wanted);
            }
        });
    }
    stop
}

/// A search under way.
struct Search {
    snapshots: Snapshots,
    /// What lies there, and what every other tree is made from.
    live: TreeId,
    room: Room,
    verifier: Verifier,
    log: PathBuf,
    /// By which what a check left running is found.
    tag: Tag,
    most: usize,
    steps: Vec<Step>,
    left_out: Vec<(PathBuf, Why)>,
    stop: watch::Receiver<Stop>,
}

impl Search {
    /// The first bad turn, the last good one, and whether it was no turn.
    async fn among(
        &mut self,
        points: &[(u32, TreeId)],
        timeline: &Timeline,
        tell: &mut dyn FnMut(&Step),
    ) -> Result<(u32, u32, bool), BisectError> {
        let (mut good, mut bad) = (0, points.len() - 1);
        if self.step(&points[bad], false, tell).await? {
            let turn = points[bad].0;
            return Err(BisectError::Green { turn });
        }
        if !self.step(&points[good], false, tell).await? {
            return Err(BisectError::Red);
        }
        while bad - good > 1 {
            let middle = good + (bad - good) / 2;
            match self.step(&points[middle], false, tell).await? {
                true => good = middle,
                false => bad = middle,
            }
        }
        let ((good, last), turn) = (&points[good], points[bad].0);
        let before = timeline.before(turn).filter(|before| *before != last);
        let between = match before.filter(|tree| self.snapshots.has(&tree.id())) {
            Some(tree) => {
                self.most = self.most.max(self.steps.len() + 1);
                !self.step(&(turn, tree.clone()), true, tell).await?
            }
            None => false,
        };
        Ok((turn, *good, between))
    }

    /// Whether the checks pass on a tree.
    async fn step(
        &mut self,
        (turn, tree): &(u32, TreeId),
        before: bool,
        tell: &mut dyn FnMut(&Step),
    ) -> Result<bool, BisectError> {
        self.snapshots.refresh()?;
        let back = back(&self.snapshots, &self.live, tree)?;
        self.left_out.extend(back.left_out);
        let layer = self.room.layer(&back.files);
        let layer = layer.map_err(|error| BisectError::NoRoom {
            why: error.to_string(),
        })?;
        let place = Place {
            cwd: layer.cwd().to_owned(),
            overlay: layer.overlay(),
            word: None,
            beside: false,
        };
        let order = Order {
            project: self.verifier.commands.clone(),
            ..Order::default()
        };
        let env = run_env(&self.tag, *turn, None);
        let (log, stop) = (self.log.clone(), self.stop.clone());
        let run = self
            .verifier
            .run_order(&order, *turn, &place, &env, log, stop);
        let results = run.await.report.results;
        orphans::end_tagged(&self.tag);
        drop(layer);
        if *self.stop.borrow() >= Stop::Gracefully {
            return Err(BisectError::Stopped);
        }
        if let Some(endless) = results.iter().find(|result| result.exit.is_none()) {
            let (turn, command) = (*turn, endless.command.clone());
            return Err(BisectError::NoEnd { turn, command });
        }
        let passed = results.iter().all(|result| result.exit == Some(0));
        let step = Step {
            number: self.steps.len() + 1,
            most: self.most,
            turn: *turn,
            before,
            tree: tree.clone(),
            passed,
            results,
        };
        tell(&step);
        self.steps.push(step);
        Ok(passed)
    }
}

//! Makes the experiments that say what green checks are worth: in the clean
//! room, on trees of the snapshots.

mod again;
pub(crate) mod back;
mod lab;
mod made;
mod names;
mod originals;
mod trees;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant, SystemTime};

use ralph_core::machine::{Checks, CommandResult, Ground, VerifyReport};
use ralph_core::proof::edits::{Changed, Side, Sight, To};
use ralph_core::proof::files::FileKind;
use ralph_core::proof::judges::Judges;
use ralph_core::proof::{Weighed, files, shadows};
use ralph_store::layout::Layout;
use tokio::sync::watch;

pub use self::again::again;
use self::lab::Lab;
use self::names::{name_of, path_of};
pub use self::originals::Armed;
pub(crate) use self::originals::{Expectation, Originals, originals};
use self::trees::Trees;
use crate::clock;
use crate::room::{Content, Layer, Room};
use crate::supervise::Stop;
use crate::verify::{Order, Place, Verified, Verifier};

/// What one process of a run knows of its room, and of trials that need not be
/// made again.
#[derive(Debug, Default)]
pub(crate) struct Bench {
    room: Option<Result<Room, String>>,
    /// The test that is put in has another name each turn.
    mark: Option<(u32, String)>,
    /// By turn, tree, edits and command.
    known: HashMap<String, Known>,
}

impl Bench {
    pub fn freeze(&self) -> Result<Room, String> {
        match &self.room {
            Some(room) => room.clone()?.freeze(),
            None => Err("no room".into()),
        }
    }
}

#[derive(Clone, Debug)]
struct Known {
    result: CommandResult,
    /// The tests that failed.
    failing: BTreeSet<String>,
    /// It named the test that was put in.
    names: bool,
}

/// Everything that experiments are made with, owned, so that they can run
/// beside their driver.
#[derive(Debug)]
pub(crate) struct Trials {
    pub layout: Layout,
    pub verifier: Verifier,
    pub order: Order,
    pub checks: Checks,
    pub ground: Ground,
    /// Files that are no work.
    pub own: Vec<String>,
    pub files: Vec<String>,
    pub max_time: Duration,
    pub turn: u32,
    pub env: Vec<(String, String)>,
    pub log: PathBuf,
    pub bench: Rc<RefCell<Bench>>,
    /// What the tree is to be before anything else, where that is not what
    /// lies there.
    pub prelude: Vec<(PathBuf, Content)>,
    /// A room with the tree of the turn, where another turn is under way.
    pub frozen: Option<Room>,
    /// Whose verdict the checks are; `None` until the trees were looked at.
    pub judges: Option<Judges>,
}

impl Trials {
    /// Runs the checks, and where they pass, the experiments.
    pub async fn run(mut self, stop: watch::Receiver<Stop>) -> Verified {
        let began = Instant::now();
        self.refresh();
        let room = self.room().await;
        let mut rewritten = Vec::new();
        let mut verified = match &room {
            Ok(room) => self.now_in(room, &mut rewritten, &stop).await,
            Err(_) => self.in_place(&self.order, &stop).await,
        };
        let mut weighed = Weighed {
            armed: self.ground.armed.clone().unwrap_or_default(),
            base: self.ground.base.clone().unwrap_or_default(),
            now: self.ground.now.clone().unwrap_or_default(),
            rewritten,
            ..Weighed::default()
        };
        let made = match room.and_then(|_| self.room_again()) {
            Ok(room) => {
                weighed.room = <&str>::from(room.kind()).to_owned();
                self.weigh(&room, &mut weighed, &mut verified.report, began, &stop)
                    .await
            }
            Err(why) => self.see(&mut weighed).and(Err(why)),
        };
        weighed.trouble = made.err();
        verified.report.weighed = Some(Box::new(weighed));
        verified
    }

    /// Every check once, as the tree is before the first turn.
    pub async fn preflight(mut self, stop: watch::Receiver<Stop>) -> Verified {
        self.refresh();
        let files =
            Trees::open(&self.layout, &self.ground).and_then(|trees| trees.files(Side::Now));
        let strays = files.ok().map(|files| ignored_checks(self.tree(), &files));
        let mut verified = self.all_once(stop).await;
        verified.report.strays = strays;
        verified
    }

    async fn all_once(self, stop: watch::Receiver<Stop>) -> Verified {
        let order = Order {
            project: Vec::new(),
            own: self
                .order
                .project
                .iter()
                .chain(&self.order.own)
                .cloned()
                .collect(),
            own_only_if_project_passes: false,
        };
        let Ok(room) = self.room().await else {
            return self.in_place(&order, &stop).await;
        };
        let Ok(layer) = room.layer(&self.prelude) else {
            return self.in_place(&order, &stop).await;
        };
        let inside = self.in_layer(&layer, &order, None, &stop).await;
        drop(layer);
        if inside.report.passed() {
            return inside;
        }
        self.compared(&order, inside, &stop).await
    }

    /// What is red in the room and green in its place says that the room does
    /// not do for these checks.
    async fn compared(
        &self,
        order: &Order,
        inside: Verified,
        stop: &watch::Receiver<Stop>,
    ) -> Verified {
        let outside = self.in_place(order, stop).await;
        let green = |verified: &Verified, command: &str| {
            let mut results = verified.report.results.iter();
            results.any(|result| result.command == command && result.exit == Some(0))
        };
        let differs = |result: &&CommandResult| {
            !green(&inside, &result.command) && green(&outside, &result.command)
        };
        let Some(result) = outside.report.results.iter().find(differs) else {
            return inside;
        };
        let why = format!(
            "`{}` passes in its place and fails in the clean room",
            result.command
        );
        self.bench.borrow_mut().room = Some(Err(why));
        outside
    }

    /// What changed is dated anew in every experiment, also in the one that
    /// changes nothing, and nothing that was compiled of it is there: what was
    /// built of other contents is not taken for its, and nobody can tell one
    /// experiment from another by the date of a file.
    fn refresh(&mut self) {
        let Ok(trees) = Trees::open(&self.layout, &self.ground) else {
            return;
        };
        let changed = trees.changes(Side::Armed).unwrap_or_default();
        let now = trees.files(Side::Now).unwrap_or_default();
        self.judges = self.judges(&trees, &now).ok();
        let made = self.judges.iter().flat_map(|judges| &judges.made);
        let made: Vec<String> = made.cloned().collect();
        let is_work = |path: &String| files::kind_of(path) != FileKind::Own && !made.contains(path);
        let changed = changed
            .into_iter()
            .filter(|changed| changed.is && is_work(&changed.path));
        let anew = changed.filter_map(|changed| {
            let content = trees.content(&To::Copy(Side::Now), &changed.path)?;
            Some((path_of(&changed.path), content))
        });
        // What was built has its time from what it was built of.
        let anew = anew.filter(|(_, content)| !content.is_binary());
        let modules = now.iter().filter(|path| path.ends_with(".py"));
        let caches: BTreeSet<PathBuf> = modules
            .filter_map(|path| Some(path_of(path).parent()?.join("__pycache__")))
            .filter(|cache| self.tree().join(cache).is_dir())
            .collect();
        let then_ms = self.ground.armed_at_ms;
        let to_make = made::anew(self.tree(), &made, &now, then_ms);
        self.prelude.retain(|(path, _)| !to_make.contains(path));
        let gone = caches.into_iter().chain(to_make);
        let gone = gone.map(|path| (path, Content::Gone));
        // What was built before an edit is older than it still.
        let mut anew: Vec<(PathBuf, Content)> = anew.collect();
        anew.sort_by_cached_key(|(path, _)| modified(&self.tree().join(path)));
        let known: HashSet<PathBuf> = self.prelude.iter().map(|(path, _)| path.clone()).collect();
        let more: Vec<(PathBuf, Content)> = anew
            .into_iter()
            .chain(gone)
            .filter(|(path, _)| !known.contains(path))
            .collect();
        self.prelude.extend(more);
    }

    fn judges(&self, trees: &Trees, now: &[String]) -> Result<Judges, String> {
        let armed = trees.files(Side::Armed)?;
        let read = |path: &str| String::from_utf8(trees.read(Side::Armed, path)?).ok();
        let mut judges = shadows::of_checks(&self.commands(), &armed, now, &read);
        let programs = made::programs(self.layout.root(), self.tree(), now);
        made::settle(&mut judges, &armed, &self.files, programs);
        Ok(judges)
    }

    /// Where the files of now lie.
    fn tree(&self) -> &Path {
        self.frozen.as_ref().map_or(self.layout.root(), Room::tree)
    }

    async fn room(&self) -> Result<Room, String> {
        if let Some(frozen) = &self.frozen {
            return Ok(frozen.clone());
        }
        let known = self.bench.borrow().room.clone();
        if let Some(known) = known {
            return known;
        }
        let room = Room::open(self.layout.root(), self.layout.state_dir()).await;
        self.bench.borrow_mut().room = Some(room.clone());
        room
    }

    fn room_again(&self) -> Result<Room, String> {
        if let Some(frozen) = &self.frozen {
            return Ok(frozen.clone());
        }
        let known = self.bench.borrow().room.clone();
        known.unwrap_or_else(|| Err("no room".into()))
    }

    /// The checks on the tree as it is, inside the room: what the experiments
    /// are compared with.
    async fn now_in(
        &self,
        room: &Room,
        rewritten: &mut Vec<String>,
        stop: &watch::Receiver<Stop>,
    ) -> Verified {
        let Ok(layer) = room.layer(&self.prelude) else {
            return self.in_place(&self.order, stop).await;
        };
        let inside = self.in_layer(&layer, &self.order, None, stop).await;
        *rewritten = self.rewritten(&layer);
        drop(layer);
        let was_seen = !self.bench.borrow().known.is_empty();
        let took = verified_ms(&inside.report);
        let has_time = self.max_time.is_zero() || took * 2 < self.max_time;
        let stops = *stop.borrow() >= Stop::Gracefully;
        let is_beside = self.frozen.is_some();
        match inside.report.passed() || was_seen || stops || !has_time || is_beside {
            true => inside,
            false => self.compared(&self.order, inside, stop).await,
        }
    }

    /// Check files that were changed in a layer by what ran there.
    fn rewritten(&self, layer: &Layer) -> Vec<String> {
        let seen = || {
            let trees = Trees::open(&self.layout, &self.ground)?;
            let read = |side, path: &str| trees.read(side, path);
            let sight = self.sight(&trees, &read)?;
            let checks = sight.held_still().cloned();
            Ok::<Vec<String>, String>(checks.collect())
        };
        let put = |path: PathBuf| {
            let mut files = self.prelude.iter();
            files.find(|(known, _)| *known == path)
        };
        let differs = |name: &String| match (path_of(name), put(path_of(name))) {
            (path, Some((_, content))) => layer.holds_other(&path, content),
            (path, None) => layer.differs(self.tree(), &path),
        };
        let mut checks = seen().unwrap_or_default();
        checks.retain(differs);
        checks
    }

    async fn in_place(&self, order: &Order, stop: &watch::Receiver<Stop>) -> Verified {
        // What lies there is another turn's.
        let nothing = Order::default();
        let order = match self.frozen {
            Some(_) => &nothing,
            None => order,
        };
        let place = Place::at(self.layout.root());
        let (log, stop) = (self.log.clone(), stop.clone());
        self.verifier
            .run_order(order, self.turn, &place, &self.env, log, stop)
            .await
    }

    async fn in_layer(
        &self,
        layer: &Layer,
        order: &Order,
        word: Option<String>,
        stop: &watch::Receiver<Stop>,
    ) -> Verified {
        let place = Place {
            cwd: layer.cwd().to_owned(),
            overlay: layer.overlay(),
            word,
            beside: self.frozen.is_some(),
        };
        let env = self.env_in(layer);
        let (log, stop) = (self.log.clone(), stop.clone());
        self.verifier
            .run_order(order, self.turn, &place, &env, log, stop)
            .await
    }

    /// What is built of a tree that is not the real one must not be taken for
    /// the real one's: cargo goes by times, and would.
    fn env_in(&self, layer: &Layer) -> Vec<(String, String)> {
        let mut env = self.env.clone();
        let elsewhere = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
        let is_outside = |dir: &PathBuf| dir.is_absolute() && !dir.starts_with(self.layout.root());
        if elsewhere.filter(is_outside).is_some() {
            let inside = layer.cwd().join("target").display().to_string();
            env.push(("CARGO_TARGET_DIR".into(), inside));
        }
        env
    }

    /// What changed, where no experiment can be made.
    fn see(&self, weighed: &mut Weighed) -> Result<(), String> {
        let trees = Trees::open(&self.layout, &self.ground)?;
        let read = |side, path: &str| trees.read(side, path);
        let sight = self.sight(&trees, &read)?;
        note(&sight, weighed);
        Ok(())
    }

    fn sight<'a>(
        &'a self,
        trees: &Trees,
        read: &'a dyn Fn(Side, &str) -> Option<Vec<u8>>,
    ) -> Result<Sight<'a>, String> {
        let judges = self.judges.clone();
        let judges = judges.ok_or("a snapshot can't be read")?;
        let by_recipe = judges.made;
        let without_made = |files: Result<Vec<String>, String>| -> Result<Vec<String>, String> {
            let files = files?.into_iter();
            Ok(files.filter(|path| !by_recipe.contains(path)).collect())
        };
        let changes = |side| -> Result<Vec<Changed>, String> {
            let changed = trees.changes(side)?.into_iter();
            Ok(changed.filter(|c| !by_recipe.contains(&c.path)).collect())
        };
        let armed = without_made(trees.files(Side::Armed))?;
        let now = trees.files(Side::Now)?;
        let strays = self.strays(&now);
        let now = without_made(Ok(now))?;
        // Git ignores it, a check names it, and it was not there.
        let made = files::named_paths(&self.commands())
            .into_iter()
            .filter(|path| {
                let there = self.tree().join(path);
                !now.contains(path)
                    && !armed.contains(path)
                    && !by_recipe.contains(path)
                    && std::fs::symlink_metadata(there).is_ok_and(|found| found.is_file())
            });
        Ok(Sight {
            since_armed: changes(Side::Armed)?,
            since_base: changes(Side::Base)?,
            made: made.collect(),
            strays,
            reached: judges.files,
            by_recipe,
            now,
            armed,
            own: &self.own,
            also: &self.files,
            may_change: &self.checks.may_change,
            read,
        })
    }

    /// Check files that Git ignores and that were not there before the first
    /// turn: nobody ordered them.
    fn strays(&self, now: &[String]) -> Vec<String> {
        let Some(before) = &self.ground.strays else {
            return Vec::new();
        };
        let mut strays = ignored_checks(self.tree(), now);
        strays.retain(|path| !before.contains(path));
        strays
    }

    fn mark(&self) -> String {
        let mark = &mut self.bench.borrow_mut().mark;
        match mark {
            Some((turn, mark)) if *turn == self.turn => mark.clone(),
            _ => {
                let new = format!("k{:08x}", clock::random());
                *mark = Some((self.turn, new.clone()));
                new
            }
        }
    }

    fn commands(&self) -> Vec<String> {
        self.order
            .project
            .iter()
            .chain(&self.order.own)
            .cloned()
            .collect()
    }

    async fn weigh(
        &self,
        room: &Room,
        weighed: &mut Weighed,
        report: &mut VerifyReport,
        began: Instant,
        stop: &watch::Receiver<Stop>,
    ) -> Result<(), String> {
        let trees = Trees::open(&self.layout, &self.ground)?;
        let read = |side, path: &str| trees.read(side, path);
        let sight = self.sight(&trees, &read)?;
        note(&sight, weighed);
        let green = report
            .results
            .iter()
            .filter(|result| result.exit == Some(0));
        let green: Vec<String> = green.map(|result| result.command.clone()).collect();
        // A task whose own checks pass does not wait for another's.
        let is_own = |result: &CommandResult| result.of_task && result.exit == Some(0);
        let is_enough = report.passed() || report.results.iter().any(is_own);
        if green.is_empty() || !is_enough {
            return Ok(());
        }
        let mut lab = Lab {
            trials: self,
            trees: &trees,
            room,
            commands: green,
            stop,
            began,
            took: verified_ms(report),
            made: Vec::new(),
            failing: BTreeSet::new(),
            mark: self.mark(),
            red_without: BTreeSet::new(),
            bound: Vec::new(),
            by_exit: BTreeMap::new(),
            loosened: BTreeSet::new(),
        };
        let ended = lab.all(&sight).await;
        report.trials = lab.made;
        weighed.bound = lab.bound;
        weighed.by_exit = lab.by_exit;
        weighed.loosened = lab.loosened.into_iter().collect();
        ended
    }
}

/// Folders that hold what was installed or built, not what was written.
const BUILT: [&str; 12] = [
    ".git", ".ralph", ".skillpack", "node_modules", ".venv", "venv", "target", "dist", "build",
    "__pycache__", ".tox", "vendor",
];
/// Deeper and more than this is no place for a test.
const DEEPEST: usize = 6;
const MOST_STRAYS: usize = 10_000;

/// Check files in the project that no snapshot holds, since Git ignores them.
fn ignored_checks(root: &Path, known: &[String]) -> Vec<String> {
    let known: HashSet<&str> = known.iter().map(String::as_str).collect();
    let mut walk = ignore::WalkBuilder::new(root);
    walk.standard_filters(false).max_depth(Some(DEEPEST));
    walk.filter_entry(|entry| {
        let name = entry.file_name().to_str();
        !(entry.depth() > 0 && name.is_some_and(|name| BUILT.contains(&name)))
    });
    let files = walk
        .build()
        .flatten()
        .filter(|entry| !entry.path().is_dir());
    let names = files.take(MOST_STRAYS).filter_map(|entry| {
        let inside = entry.path().strip_prefix(root).ok()?;
        Some(name_of(inside))
    });
    let names: Vec<String> = names
        .filter(|name| !known.contains(name.as_str()))
        .collect();
    Sight::strays_in(names.iter().map(String::as_str))
}

fn modified(path: &Path) -> Option<SystemTime> {
    std::fs::symlink_metadata(path).ok()?.modified().ok()
}

fn verified_ms(report: &VerifyReport) -> Duration {
    let ms = report.results.iter().map(|result| result.duration_ms).sum();
    Duration::from_millis(ms)
}

fn note(sight: &Sight<'_>, weighed: &mut Weighed) {
    weighed.work = sight.work_changed();
    weighed.checks = sight.checks_changed();
    weighed.new_checks = sight.new_checks();
    weighed.only_expectations = sight.only_expectations_changed(Side::Armed);
    let kept = sight.kept(false);
    weighed.kept = kept.into_iter().map(|edit| edit.path).collect();
    weighed.only_kept_expectations = sight.only_expectations_changed(Side::Base);
}

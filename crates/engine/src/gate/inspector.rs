//! Runs the steps of a gate: in the clean room, with the person's environment,
//! and once more with the checks as they were when the loop was armed (C-03,
//! C-06).

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ralph_core::config::GateSettings;
use ralph_core::gate::Step;
use ralph_core::machine::CommandResult;
use ralph_core::proof::Baseline;
use ralph_store::layout::Layout;
use tokio::sync::watch;

use super::run::{GateError, RunStep};
use super::unheld::{NoAnswer, may_be_needed, unheld_since};
use super::{own_papers, steps_gone};
use crate::agents::{EnvFilter, person_path};
use crate::room::{Content, Layer, Room};
use crate::supervise::Stop;
use crate::trials::{Armed, Expectation, Originals, originals};
use crate::verify::{Order, Place, Verifier};
use crate::wall::Wall;
use crate::worktree::WorkTree;

/// Characters of a failed step's output that are shown.
const SHOWN_OUTPUT: usize = 4000;
/// How long a step may take to end after it was asked to.
const GRACE: Duration = Duration::from_secs(3);
/// How many files that changed meanwhile are named.
pub(super) const NAMED_FILES: usize = 3;

pub(super) struct Inspector<'a> {
    layout: &'a Layout,
    settings: &'a GateSettings,
    verifier: Verifier,
    env: Vec<(String, String)>,
    steps: Vec<Step>,
    room: Result<Room, String>,
    /// What no commit will hold, as gone.
    unheld: Vec<(PathBuf, Content)>,
    /// Caches of tools; those that are as gone.
    caches: Vec<PathBuf>,
    without: Vec<(PathBuf, Content)>,
    log: PathBuf,
    stop: watch::Receiver<Stop>,
}

/// Steps that are not about tests by their name.
const WITHOUT_TESTS: [&str; 3] = ["typecheck", "build", "lint"];

impl<'a> Inspector<'a> {
    pub async fn new(
        layout: &'a Layout,
        settings: &'a GateSettings,
        env_filter: &EnvFilter,
        log: PathBuf,
        stop: watch::Receiver<Stop>,
    ) -> Inspector<'a> {
        let verifier = Verifier {
            files: Vec::new(),
            max_time: Duration::ZERO,
            wall: None,
            commands: Vec::new(),
            timeout: settings.step_timeout,
            output_limit: SHOWN_OUTPUT,
            log_max: 0,
            grace: GRACE,
            baseline: Baseline::default(),
            env_filter: env_filter.clone().unsteered(),
        };
        let path = person_path(layout.root());
        Inspector {
            room: Room::open(layout.root(), layout.state_dir()).await,
            env: vec![("PATH".into(), path)],
            steps: Vec::new(),
            unheld: Vec::new(),
            caches: Vec::new(),
            without: Vec::new(),
            layout,
            settings,
            verifier,
            log,
            stop,
        }
    }

    pub fn stand_behind(&mut self, wall: Option<Arc<Wall>>) {
        self.verifier.wall = wall;
    }

    /// Every step on what lies there; where all pass, with the checks of then.
    /// What comes back last says why it did not pass.
    pub async fn inspect(
        &mut self,
        steps: &[Step],
        tree: &WorkTree,
        armed: Option<&Armed>,
        shown: &mut impl FnMut(&RunStep),
    ) -> Result<Vec<RunStep>, GateError> {
        self.steps = steps.to_vec();
        self.find_unheld(armed)?;
        let mut layer = match &self.room {
            Ok(room) => Some(self.layer(room, &[])?),
            Err(_) => None,
        };
        let mut done = self.all(steps, layer.as_ref(), shown).await;
        if let Some(failed) = done.iter().find(|run| !run.passed()) {
            let failed = failed.step.clone();
            if !self.passes_with_unheld(steps, &failed).await? {
                return Ok(done);
            }
            layer = self.try_again(steps, &mut done, layer, shown).await?;
            if !done.iter().all(RunStep::passed) {
                return Err(self.needs_unheld(&failed));
            }
        }
        if let Some(layer) = &layer {
            self.refuse_changes(layer, tree)?;
        }
        drop(layer);
        let Some(armed) = armed else {
            return Ok(done);
        };
        for run in self.with_originals(steps, armed).await? {
            shown(&run);
            done.push(run);
        }
        Ok(done)
    }

    async fn all(
        &self,
        steps: &[Step],
        layer: Option<&Layer>,
        shown: &mut impl FnMut(&RunStep),
    ) -> Vec<RunStep> {
        let mut done = Vec::new();
        for step in steps {
            let result = self.run(step, layer).await;
            let run = RunStep {
                step: step.clone(),
                result,
                original: false,
            };
            shown(&run);
            done.push(run);
        }
        done
    }

    /// What came since the loop began and that no commit will hold: the steps
    /// have to pass without it, as they have to elsewhere.
    fn find_unheld(&mut self, armed: Option<&Armed>) -> Result<(), GateError> {
        let (Some(armed), Ok(_)) = (armed, &self.room) else {
            return Ok(());
        };
        let own = own_papers(self.settings).map(PathBuf::from);
        let rooms = self.layout.state_dir().join("rooms");
        let found = unheld_since(self.layout.root(), &rooms, armed.at_ms);
        let found = found.map_err(|NoAnswer| GateError::NoAnswer)?;
        let files = found.files.into_iter().filter(|file| !own.contains(file));
        self.unheld = files.map(|file| (file, Content::Gone)).collect();
        self.caches = found.caches;
        Ok(())
    }

    /// A step that failed without these files may not pass with them.
    async fn passes_with_unheld(&self, steps: &[Step], failed: &Step) -> Result<bool, GateError> {
        let room = self.room.as_ref().ok();
        let Some(room) = room.filter(|_| self.missing().next().is_some()) else {
            return Ok(false);
        };
        let whole = room.layer(&[]).map_err(|error| no_layer(&error))?;
        let with_them = self.all(steps, Some(&whole), &mut |_| {}).await;
        let passes = |run: &RunStep| run.step == *failed && run.passed();
        Ok(with_them.iter().any(passes))
    }

    /// A later step may make what an earlier one needs, and what is left of an
    /// earlier build may say that nothing has to be made.
    async fn try_again(
        &mut self,
        steps: &[Step],
        done: &mut Vec<RunStep>,
        layer: Option<Layer>,
        shown: &mut impl FnMut(&RunStep),
    ) -> Result<Option<Layer>, GateError> {
        self.red_again(done, layer.as_ref(), shown).await;
        let Some(room) = self.room.as_ref().ok().filter(|_| !self.caches.is_empty()) else {
            return Ok(layer);
        };
        if done.iter().all(RunStep::passed) {
            return Ok(layer);
        }
        drop(layer);
        let caches = self.caches.iter().cloned();
        self.without = caches.map(|cache| (cache, Content::Gone)).collect();
        let layer = Some(self.layer(room, &[])?);
        *done = self.all(steps, layer.as_ref(), shown).await;
        self.red_again(done, layer.as_ref(), shown).await;
        Ok(layer)
    }

    async fn red_again(
        &self,
        done: &mut [RunStep],
        layer: Option<&Layer>,
        shown: &mut impl FnMut(&RunStep),
    ) {
        for run in done.iter_mut().filter(|run| !run.passed()) {
            run.result = self.run(&run.step, layer).await;
            shown(run);
        }
    }

    /// What a step may have failed without.
    fn missing(&self) -> impl Iterator<Item = &PathBuf> {
        let paths = self.unheld.iter().map(|(path, _)| path);
        paths.filter(|path| may_be_needed(path))
    }

    fn needs_unheld(&self, step: &Step) -> GateError {
        let secrets = self.missing().filter(|path| is_secret(path));
        let files = named(self.missing().cloned());
        GateError::Unheld {
            step: step.name.clone(),
            more: self.missing().count() - files.len(),
            files,
            secrets: named(secrets.cloned()),
        }
    }

    /// A step that changes what the next one judges proves nothing of what
    /// lies there.
    fn refuse_changes(&self, layer: &Layer, tree: &WorkTree) -> Result<(), GateError> {
        let found = tree.contents().into_iter().map(|found| found.path);
        let root = self.layout.root();
        let taken: HashSet<&PathBuf> = self.unheld.iter().map(|(path, _)| path).collect();
        let stays = found.filter(|path| !taken.contains(path));
        let changed = stays.filter(|path| layer.differs(root, path));
        let files = named(changed);
        match files.is_empty() {
            true => Ok(()),
            false => Err(GateError::Changed { files }),
        }
    }

    /// The steps that pass only because checks are not what they were.
    async fn with_originals(
        &self,
        steps: &[Step],
        armed: &Armed,
    ) -> Result<Vec<RunStep>, GateError> {
        if armed.tree.is_none() {
            return Ok(Vec::new());
        }
        let gone = steps_gone(self.layout, self.settings, armed);
        if !gone.is_empty() {
            return Err(GateError::StepsGone { steps: gone });
        }
        let commands: Vec<String> = steps.iter().map(|step| step.command.clone()).collect();
        let own = own_papers(self.settings).map(String::clone);
        let found = originals(self.layout, armed, &commands, &own);
        let found = found.map_err(|why| GateError::NoOriginals { why })?;
        if found.with_new.is_empty() && found.canary.is_empty() {
            return Ok(Vec::new());
        }
        let room = match &self.room {
            Ok(room) => room,
            Err(why) => return Err(GateError::NoOriginals { why: why.clone() }),
        };
        self.refuse_blind(room, steps, &found).await?;
        match found.with_new.is_empty() {
            true => Ok(Vec::new()),
            false => self.judged(room, steps, &found).await,
        }
    }

    /// A step that a failing test made red when the loop began has to go red
    /// still.
    async fn refuse_blind(
        &self,
        room: &Room,
        steps: &[Step],
        found: &Originals,
    ) -> Result<(), GateError> {
        if found.canary.is_empty() {
            return Ok(());
        }
        let runs_tests = |step: &&Step| !WITHOUT_TESTS.contains(&step.name.as_str());
        let steps: Vec<Step> = steps.iter().filter(runs_tests).cloned().collect();
        let red = self.red(room, &steps, &found.canary).await?;
        let is_in = |runs: &[RunStep], step: &Step| runs.iter().any(|run| run.step == *step);
        let green = steps.iter().filter(|step| !is_in(&red, step));
        let green: Vec<Step> = green.cloned().collect();
        if green.is_empty() {
            return Ok(());
        }
        let then = self.red(room, &green, &found.armed_canary).await?;
        // What was red then anyway has to name the test that was put in.
        let was_red = self.red(room, &green, &found.armed).await?;
        let names = |run: &RunStep| run.result.output.contains(&found.mark);
        let could = |run: &&RunStep| names(run) || !is_in(&was_red, &run.step);
        match then.iter().find(could) {
            Some(run) => Err(GateError::Blind {
                step: run.step.name.clone(),
            }),
            None => Ok(()),
        }
    }

    async fn judged(
        &self,
        room: &Room,
        steps: &[Step],
        found: &Originals,
    ) -> Result<Vec<RunStep>, GateError> {
        let red = self.red(room, steps, &found.with_new).await?;
        let left: Vec<Step> = red.into_iter().map(|run| run.step).collect();
        // A test that moved into a new file may not stand there twice.
        let mut red = match left.is_empty() {
            true => return Ok(Vec::new()),
            false => self.red(room, &left, &found.alone).await?,
        };
        let excused = self.excused(room, &red, &found.expectations).await?;
        red.retain(|run| !excused.contains(&run.step));
        Ok(red)
    }

    /// Expectations may change with the product that they are about: then the
    /// old one does not meet them, each by itself.
    async fn excused(
        &self,
        room: &Room,
        red: &[RunStep],
        expectations: &[Expectation],
    ) -> Result<Vec<Step>, GateError> {
        let left: Vec<Step> = red.iter().map(|run| run.step.clone()).collect();
        let (mut excused, mut held) = (Vec::new(), Vec::new());
        for one in expectations.iter().filter(|_| !left.is_empty()) {
            let broken = self.red(room, &left, &one.restored).await?;
            let broken: Vec<Step> = broken.into_iter().map(|run| run.step).collect();
            let bound = match broken.is_empty() {
                true => Vec::new(),
                false => self.red(room, &broken, &one.on_old_product).await?,
            };
            let is_bound = |step: &Step| bound.iter().any(|run| run.step == *step);
            let (good, bad): (Vec<Step>, Vec<Step>) = broken.into_iter().partition(is_bound);
            excused.extend(good);
            held.extend(bad);
        }
        excused.retain(|step| !held.contains(step));
        Ok(excused)
    }

    async fn red(
        &self,
        room: &Room,
        steps: &[Step],
        files: &[(PathBuf, Content)],
    ) -> Result<Vec<RunStep>, GateError> {
        let layer = self.layer(room, files)?;
        let mut red = Vec::new();
        for step in steps {
            let result = self.run(step, Some(&layer)).await;
            if result.exit != Some(0) {
                red.push(RunStep {
                    step: step.clone(),
                    result,
                    original: true,
                });
            }
        }
        if red.is_empty() || self.missing().next().is_none() {
            return Ok(red);
        }
        // As above: others may make what they need.
        for step in self.steps.iter().filter(|step| !steps.contains(step)) {
            self.run(step, Some(&layer)).await;
        }
        self.red_again(&mut red, Some(&layer), &mut |_| {}).await;
        red.retain(|run| !run.passed());
        Ok(red)
    }

    /// With these files, and without what no commit will hold.
    fn layer(&self, room: &Room, files: &[(PathBuf, Content)]) -> Result<Layer, GateError> {
        let put = self.without.iter().chain(files);
        let put: HashSet<&Path> = put.map(|(path, _)| path.as_path()).collect();
        // What is put there hides what was below.
        let is_hidden = |path: &Path| path.ancestors().any(|part| put.contains(part));
        let unheld = self.unheld.iter().filter(|(path, _)| !is_hidden(path));
        let all = unheld.chain(&self.without).chain(files);
        let all: Vec<(PathBuf, Content)> = all.cloned().collect();
        room.layer(&all).map_err(|error| no_layer(&error))
    }

    async fn run(&self, step: &Step, layer: Option<&Layer>) -> CommandResult {
        let order = Order {
            project: vec![step.command.clone()],
            ..Order::default()
        };
        let place = match layer {
            None => Place::at(self.layout.root()),
            Some(layer) => Place {
                cwd: layer.cwd().to_owned(),
                overlay: layer.overlay(),
                word: None,
                beside: false,
            },
        };
        let (log, stop) = (self.log.clone(), self.stop.clone());
        let verified = self
            .verifier
            .run_order(&order, 0, &place, &self.env, log, stop)
            .await;
        let result = verified.report.results.into_iter().next();
        result.unwrap_or_default()
    }
}

fn named(files: impl Iterator<Item = PathBuf>) -> Vec<String> {
    let some = files.take(NAMED_FILES);
    some.map(|path| path.to_string_lossy().into_owned())
        .collect()
}

fn is_secret(path: &Path) -> bool {
    ralph_guard::is_sensitive(&format!("/{}", path.display()))
}

fn no_layer(error: &io::Error) -> GateError {
    GateError::NoOriginals {
        why: error.to_string(),
    }
}

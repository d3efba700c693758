//! Experiments under way: which are made, in what order, and which need not.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use ralph_core::machine::CommandResult;
use ralph_core::proof::edits::{Edit, Side, Sight, To};
use ralph_core::proof::files::is_asked_for;
use ralph_core::proof::{AskedProof, Experiment, Trial, typed};
use sha2::{Digest, Sha256};
use tokio::sync::watch;

use super::names::path_of;
use super::trees::Trees;
use super::{Known, Trials};
use crate::clock;
use crate::room::Room;
use crate::supervise::Stop;
use crate::verify::{Order, Verified};

/// More files are not gone through to find the one that nobody named.
const MOST_UNNAMED: usize = 8;

/// More scripts are not tried one by one.
const MOST_SCRIPTS: usize = 64;

/// How often quick checks are run again in both trees, and how long that may
/// take, as may looking for scripts beside tests; once they always are.
const MOST_ROUNDS: u32 = 3;
const ROUNDS_TIME: Duration = Duration::from_secs(3);

/// Experiments under way.
pub(super) struct Lab<'a> {
    pub trials: &'a Trials,
    pub trees: &'a Trees,
    pub room: &'a Room,
    pub commands: Vec<String>,
    pub stop: &'a watch::Receiver<Stop>,
    /// When the verification began, and how long the checks took in it.
    pub began: Instant,
    pub took: Duration,
    pub made: Vec<Trial>,
    /// Tests that failed in the last of them.
    pub failing: BTreeSet<String>,
    /// The name of the test that is put in.
    pub mark: String,
    /// Tests that are red without the work, and the files that they are in.
    pub red_without: BTreeSet<String>,
    pub bound: Vec<String>,
    pub by_exit: BTreeMap<String, Vec<String>>,
    pub loosened: BTreeSet<String>,
}

impl Lab<'_> {
    pub async fn all(&mut self, sight: &Sight<'_>) -> Result<(), String> {
        let mark = self.mark.clone();
        self.canaries(sight, &mark).await?;
        let has_work = !sight.work_changed().is_empty();
        if has_work {
            self.counterfactual(sight).await?;
            self.red_without = self.failing.clone();
            self.bound_canary(sight, &mark).await?;
        }
        let original = sight.original(false);
        if self
            .make_asked(sight, Experiment::Original, &original)
            .await?
        {
            self.note_loosened();
            self.make(Experiment::OriginalWithNew, &sight.original(true))
                .await?;
        }
        let kept = sight.kept(false);
        if self.make_asked(sight, Experiment::Kept, &kept).await? {
            self.note_loosened();
            self.make(Experiment::KeptWithNew, &sight.kept(true))
                .await?;
        }
        let about_tests = self
            .trials
            .checks
            .proofs
            .values()
            .any(|asked| *asked == AskedProof::Tests);
        if about_tests && sight.new_checks() {
            let sound = sight.new_tests_only(false, &mark);
            let spoiled = sight.new_tests_only(true, &mark);
            self.make(Experiment::NewTests, &sound).await?;
            let red_anyway = self.red_in_last();
            self.make(Experiment::NewTestsSpoiled, &spoiled).await?;
            let mut red = self.red_in_last();
            red.retain(|command| !red_anyway.contains(command));
            self.repeat(&red, &sound, &spoiled).await?;
        }
        self.scripts_by_exit(sight).await
    }

    /// Whether the checks can still be red.
    async fn canaries(&mut self, sight: &Sight<'_>, mark: &str) -> Result<(), String> {
        let canary = sight.canary(Side::Now, mark);
        let all_red = !canary.is_empty() && self.make_all_red(Experiment::Canary, &canary).await?;
        if all_red {
            return Ok(());
        }
        if sight.has_tests(Side::Armed) {
            self.make(Experiment::ArmedCanary, &sight.canary(Side::Armed, mark))
                .await?;
        }
        self.takers(sight, mark).await?;
        let spoiled = sight.absence(false, mark);
        if !spoiled.is_empty() && !self.make_all_red(Experiment::Spoiled, &spoiled).await? {
            self.make(Experiment::Removed, &sight.absence(true, mark))
                .await?;
        }
        Ok(())
    }

    /// Whether what judges by taking the product in can still be red.
    async fn takers(&mut self, sight: &Sight<'_>, mark: &str) -> Result<(), String> {
        let scripts = sight.takers(Side::Now, mark);
        let typed = |command: &String| Some((command.clone(), typed::spoiled(command, mark)?));
        let typed: BTreeMap<String, String> = self.commands.iter().filter_map(typed).collect();
        if scripts.is_empty() && typed.is_empty() {
            return Ok(());
        }
        self.make_of(Experiment::Takers, &scripts, &typed).await?;
        if !self.is_all_red() {
            let scripts = sight.takers(Side::Armed, mark);
            self.make_of(Experiment::ArmedTakers, &scripts, &typed)
                .await?;
        }
        Ok(())
    }

    /// Tests of then that fail now, and that say nothing in their new form
    /// which the old product does not meet.
    fn note_loosened(&mut self) {
        if !self.red_without.is_empty() {
            let loosened = self.failing.difference(&self.red_without);
            self.loosened.extend(loosened.cloned());
        }
    }

    /// One file that can still fail must not speak for another that can't: a
    /// product may end the process of its own tests only.
    async fn bound_canary(&mut self, sight: &Sight<'_>, mark: &str) -> Result<(), String> {
        let all = sight.canary(Side::Now, mark);
        let mut edits = sight.canary_in(&self.red_without, mark);
        if edits.is_empty() && all.len() > 1 {
            edits = self.bound_unnamed(sight, &all).await?;
        }
        if edits.is_empty() || edits.len() == all.len() {
            return Ok(());
        }
        self.bound = edits.iter().map(|edit| edit.path.clone()).collect();
        self.make(Experiment::BoundCanary, &edits).await?;
        Ok(())
    }

    /// The file that the work is bound by where no failing test was named:
    /// without the work, and without that file too, the checks are green.
    async fn bound_unnamed(
        &self,
        sight: &Sight<'_>,
        canaries: &[Edit],
    ) -> Result<Vec<Edit>, String> {
        let red = self.red_in_last();
        let tests: BTreeSet<&String> = sight.run_as_checks().collect();
        let changed = sight.checks_changed();
        let mut files: Vec<&Edit> = canaries
            .iter()
            .filter(|edit| tests.contains(&edit.path))
            .collect();
        files.sort_by_key(|edit| !changed.contains(&edit.path));
        for canary in files.into_iter().take(MOST_UNNAMED) {
            if red.is_empty() || !self.has_time() {
                break;
            }
            let mut edits = sight.counterfactual();
            edits.retain(|edit| edit.path != canary.path);
            edits.push(Edit {
                path: canary.path.clone(),
                to: To::Remove,
            });
            let run = self.run(&edits, &red).await?;
            if run.report.passed() {
                return Ok(vec![canary.clone()]);
            }
        }
        Ok(Vec::new())
    }

    /// The changed scripts of which a check sees nothing but how they end, where
    /// no failing test says what else it sees.
    async fn scripts_by_exit(&mut self, sight: &Sight<'_>) -> Result<(), String> {
        let is_without = |trial: &&Trial| trial.experiment == Experiment::Counterfactual;
        let without = self.made.iter().find(is_without);
        let names_none = |command: &String| {
            let failing = without.and_then(|trial| trial.failing.iter().find(|f| f.0 == *command));
            failing.is_none_or(|(_, count)| *count == 0)
        };
        let commands: Vec<String> = without.into_iter().flat_map(red_of).collect();
        for command in commands.into_iter().filter(names_none) {
            let only = [command.clone()];
            let ends = |path| {
                let empty = sight.only_ends(path, false)?;
                Some((path, empty, sight.only_ends(path, true)?))
            };
            let scripts = sight.scripts_changed().filter_map(ends);
            // Tests speak for their command: no slow suite is run for each script.
            let (began, has_tests) = (Instant::now(), self.is_red_by_tests(&command));
            for (path, empty, failing) in scripts.take(MOST_SCRIPTS) {
                let is_long = began.elapsed() > ROUNDS_TIME || !self.has_time();
                if has_tests && is_long {
                    break;
                }
                if self.run(&[empty], &only).await?.report.passed()
                    && !self.run(&[failing], &only).await?.report.passed()
                {
                    let scripts = self.by_exit.entry(command.clone()).or_default();
                    scripts.push(path.to_owned());
                }
            }
        }
        if !self.by_exit.is_empty() {
            let scripts = self.by_exit.values().flatten().cloned().collect();
            self.make(Experiment::ByExit, &sight.as_before(&scripts))
                .await?;
        }
        Ok(())
    }

    fn is_red_by_tests(&self, command: &String) -> bool {
        let mut made = self.made.iter();
        let canary = made.find(|trial| trial.experiment == Experiment::Canary);
        canary.is_some_and(|canary| red_of(canary).any(|red| red == *command))
    }

    /// Whether one more may be made; each takes about as long as the checks
    /// themselves did.
    fn has_time(&self) -> bool {
        let max = self.trials.max_time;
        max.is_zero() || self.began.elapsed() + self.took <= max
    }

    /// Without the work.
    async fn counterfactual(&mut self, sight: &Sight<'_>) -> Result<(), String> {
        let without = sight.counterfactual();
        self.make(Experiment::Counterfactual, &without).await?;
        let red = self.red_in_last();
        self.repeat(&red, &[], &without).await
    }

    fn red_in_last(&self) -> Vec<String> {
        self.made.last().into_iter().flat_map(red_of).collect()
    }

    /// A check that is red by chance, by the clock or by counting its runs is
    /// no proof: what is red in the last experiment has to be green again in
    /// the other tree and red again in this one, in an order that nobody can
    /// know.
    async fn repeat(
        &mut self,
        commands: &[String],
        green: &[Edit],
        red: &[Edit],
    ) -> Result<(), String> {
        let began = Instant::now();
        let mut flaky = BTreeSet::new();
        for round in 0..MOST_ROUNDS {
            let is_over = round > 0 && (began.elapsed() > ROUNDS_TIME || !self.has_time());
            if commands.is_empty() || !flaky.is_empty() || is_over {
                break;
            }
            let green_first = clock::random().is_multiple_of(2);
            for wants_green in [green_first, !green_first] {
                let edits = if wants_green { green } else { red };
                let again = self.run(edits, commands).await?;
                let differs = |result: &CommandResult| (result.exit == Some(0)) != wants_green;
                let results = again.report.results.into_iter().filter(differs);
                flaky.extend(results.map(|result| result.command));
            }
        }
        if let Some(trial) = self.made.last_mut() {
            trial.flaky = flaky.into_iter().collect();
        }
        Ok(())
    }

    /// The same without new tests, but for those that a command asks for: they
    /// are there for that one alone, since others could be silenced by them.
    async fn make_asked(
        &mut self,
        sight: &Sight<'_>,
        experiment: Experiment,
        edits: &[Edit],
    ) -> Result<bool, String> {
        let asks_for = |command: &str, edit: &Edit| {
            edit.to == To::Remove && is_asked_for(&edit.path, command, &sight.armed)
        };
        let asks = |command: &String| edits.iter().any(|edit| asks_for(command, edit));
        let all = self.commands.clone();
        let (asking, others): (Vec<String>, Vec<String>) = all.iter().cloned().partition(asks);
        let mut groups = vec![(others, edits.to_vec())];
        for command in asking {
            let left = edits.iter().filter(|edit| !asks_for(&command, edit));
            let left = left.cloned().collect();
            groups.push((vec![command], left));
        }
        let mut failing = BTreeSet::new();
        let mut whole: Option<Trial> = None;
        for (commands, edits) in groups {
            if commands.is_empty() || edits.is_empty() {
                continue;
            }
            self.commands = commands;
            let made = self.make(experiment, &edits).await;
            self.commands.clone_from(&all);
            made?;
            failing.append(&mut self.failing);
            let Some(trial) = self.made.pop() else {
                continue;
            };
            match &mut whole {
                Some(whole) => whole.take_in(trial),
                None => whole = Some(trial),
            }
        }
        self.failing = failing;
        self.made.extend(whole.clone());
        Ok(whole.is_some_and(|trial| red_of(&trial).next().is_some()))
    }

    /// Makes one, and says whether any command is red in it.
    async fn make(&mut self, experiment: Experiment, edits: &[Edit]) -> Result<bool, String> {
        self.make_of(experiment, edits, &BTreeMap::new()).await
    }

    /// The same with other words for some of the commands.
    async fn make_of(
        &mut self,
        experiment: Experiment,
        edits: &[Edit],
        spoiled: &BTreeMap<String, String>,
    ) -> Result<bool, String> {
        let digest = digest(edits);
        let key = |command: &str| {
            let trials = self.trials;
            let now = trials.ground.now.as_deref().unwrap_or_default();
            format!("{}\0{now}\0{digest}\0{command}", trials.turn)
        };
        let mut trial = Trial {
            experiment,
            edits: digest.clone(),
            results: Vec::new(),
            flaky: Vec::new(),
            named: Vec::new(),
            failing: Vec::new(),
        };
        let mut left = Vec::new();
        self.failing.clear();
        for command in &self.commands {
            let words = spoiled.get(command).unwrap_or(command);
            let known = self.trials.bench.borrow().known.get(&key(words)).cloned();
            match known {
                Some(known) => self.failing.extend(put(&mut trial, known)),
                None => left.push((words.clone(), command)),
            }
        }
        if !left.is_empty() {
            let words: Vec<String> = left.iter().map(|(words, _)| words.clone()).collect();
            let run = self.run(edits, &words).await?;
            for mut result in run.report.results {
                let words = result.command.clone();
                let command = left.iter().find(|(run, _)| *run == words);
                result.command = command.map_or_else(|| words.clone(), |(_, of)| (*of).clone());
                let failing = run.failing.get(&words);
                let known = Known {
                    failing: failing.map_or_else(Default::default, |failure| failure.tests.clone()),
                    names: run.said.contains(&words),
                    result,
                };
                let key = key(&words);
                self.trials
                    .bench
                    .borrow_mut()
                    .known
                    .insert(key, known.clone());
                self.failing.extend(put(&mut trial, known));
            }
        }
        let any_red = red_of(&trial).next().is_some();
        self.made.push(trial);
        Ok(any_red)
    }

    async fn make_all_red(
        &mut self,
        experiment: Experiment,
        edits: &[Edit],
    ) -> Result<bool, String> {
        self.make(experiment, edits).await?;
        Ok(self.is_all_red())
    }

    /// Every command in the last of them.
    fn is_all_red(&self) -> bool {
        self.red_in_last().len() == self.commands.len()
    }

    async fn run(&self, edits: &[Edit], commands: &[String]) -> Result<Verified, String> {
        if !self.has_time() {
            return Err("evidence.max_time is over".into());
        }
        if *self.stop.borrow() >= Stop::Gracefully {
            return Err("stopped".into());
        }
        let files = edits.iter().map(|edit| {
            let content = self.trees.content(&edit.to, &edit.path);
            let content = content.ok_or_else(|| format!("{} is in no snapshot", edit.path))?;
            Ok::<_, String>((path_of(&edit.path), content))
        });
        let mut all = self.trials.prelude.clone();
        for file in files {
            let (path, content) = file?;
            all.retain(|(known, _)| *known != path);
            all.push((path, content));
        }
        let files = all;
        let layer = self.room.layer(&files).map_err(|error| error.to_string())?;
        let order = Order {
            project: Vec::new(),
            own: commands.to_vec(),
            own_only_if_project_passes: false,
        };
        let word = Some(self.mark.clone());
        Ok(self.trials.in_layer(&layer, &order, word, self.stop).await)
    }
}

/// Gives the tests that failed.
fn put(trial: &mut Trial, known: Known) -> BTreeSet<String> {
    let command = known.result.command.clone();
    if known.names {
        trial.named.push(command.clone());
    }
    trial.failing.push((command, known.failing.len()));
    trial.results.push(known.result);
    known.failing
}

fn red_of(trial: &Trial) -> impl Iterator<Item = String> + '_ {
    let red = trial
        .results
        .iter()
        .filter(|result| result.exit.is_some_and(|exit| exit != 0));
    red.map(|result| result.command.clone())
}

fn digest(edits: &[Edit]) -> String {
    let mut hasher = Sha256::new();
    for edit in edits {
        hasher.update(format!("{}\0{:?}\0", edit.path, edit.to));
    }
    let digest = hasher.finalize();
    digest
        .iter()
        .take(16)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

//! Runs the steps of the gate itself and writes the gate file (QUAL-08).

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ralph_core::config::GateSettings;
use ralph_core::gate::{GateRecord, Key, OWN_GATE, Step, names, steps_digest};
use ralph_core::lang::{Lang, Say};
use ralph_core::machine::{CommandResult, iso_utc};
use ralph_core::tr;
use ralph_store::atomic::{AtomicOptions, write_atomic};
use ralph_store::layout::Layout;
use ralph_store::{Action, FileError};
use tokio::sync::watch;

use super::inspector::{Inspector, NAMED_FILES};
use super::{key_or_new, steps, work_tree};
use crate::agents::EnvFilter;
use crate::supervise::Stop;
use crate::trials::Armed;
use crate::wall::{self, Wall};
use crate::worktree::{ChangeKind, WorkTree};
use crate::{clock, git};

/// What is known to have passed, and on what: nobody has to run it again.
const CONFIRMED: &str = "gate.confirmed";

/// One step and what came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct RunStep {
    pub step: Step,
    pub result: CommandResult,
    /// It ran with the checks as they were when the loop was armed.
    pub original: bool,
}

impl RunStep {
    pub fn passed(&self) -> bool {
        self.result.exit == Some(0)
    }
}

/// What came of the gate.
#[derive(Clone, Debug, PartialEq)]
pub struct GateRun {
    pub steps: Vec<RunStep>,
    pub passed: bool,
    /// The gate file; nobody behind the wall can write it.
    pub written: Option<PathBuf>,
    /// The whole output of all steps.
    pub log: PathBuf,
}

/// Why the gate can't run, or can't say that it passed.
#[derive(Clone, Debug, PartialEq, Eq, Say)]
pub enum GateError {
    #[say(
        "no package.json, Cargo.toml, go.mod or Python project says how this project is checked; set gate.steps in .ralph/config.toml, as in steps = [\"test: make test\"]"
    )]
    NoSteps,
    #[say(
        "this project has no test step, and a gate without tests proves nothing; add a test script, or set gate.steps in .ralph/config.toml"
    )]
    NoTest,
    #[say(
        "gate files are signed with a key in the home directory, and there is none outside this project; set HOME or XDG_STATE_HOME to a directory outside it"
    )]
    NoPlaceForKey,
    /// The steps changed what they were to judge.
    #[say("files changed while the gate ran ({files}), so that what passed is no longer there; look at them, then run `ralph gate run` again", files = files.join(", "))]
    Changed { files: Vec<String> },
    #[say("the gate had these steps when the loop began, and has them no more: {steps}; bring their scripts back", steps = steps.join(", "))]
    StepsGone { steps: Vec<String> },
    #[say(
        "the step {step} can't fail any more: it passes with a failing test in every test file; undo what keeps it from running the tests"
    )]
    Blind { step: String },
    /// Work that only this disk has.
    #[say("the step {step} passes only with files that came or changed since the loop began and that no commit holds, since Git ignores them or they lie where it does not look ({files}), so that it fails everywhere else: {advice}", files = listed(files, *more, lang), advice = advice(secrets, lang))]
    Unheld {
        step: String,
        files: Vec<String>,
        /// How many there are beside those.
        more: usize,
        /// Those that must not be in a commit.
        secrets: Vec<String>,
    },
    /// Nobody knows what would be missing elsewhere.
    #[say(
        "Git does not say which files of this project a commit holds, so that the gate can't leave out the others; see that `git status` answers at once (a pipe that stands where Git looks for a file makes it wait), then run `ralph gate run` again"
    )]
    NoAnswer,
    /// What the checks were can't be brought back.
    #[say("the gate can't be run with the checks as they were when the loop began: {why}")]
    NoOriginals { why: String },
    #[say(
        "the project directory can't be read, so that nothing can be proven of it; check its permissions"
    )]
    Unscanned,
    #[say(_0.say(lang))]
    File(FileError),
}

fn listed(files: &[String], more: usize, lang: Lang) -> String {
    let files = files.join(", ");
    match more {
        0 => files,
        _ => tr!(lang, "{files} and {more} more"),
    }
}

fn advice(secrets: &[String], lang: Lang) -> String {
    if secrets.is_empty() {
        return tr!(
            lang,
            "commit what is work (`git add -f`), or let a step make what is built"
        );
    }
    let secrets = secrets.join(", ");
    tr!(
        lang,
        "never commit keys and passwords ({secrets}): let the step do without them, or read them from the environment; commit what else is work (`git add -f` with its name), or let a step make what is built"
    )
}

/// Runs every step, one after the other, and writes the gate file where all
/// pass, also with the checks of a loop that is under way. The old file is gone
/// before the first step begins. `shown` hears of each step as it ends.
pub async fn run(
    layout: &Layout,
    settings: &GateSettings,
    env_filter: &EnvFilter,
    armed: Option<&Armed>,
    wall: Option<Arc<Wall>>,
    mut shown: impl FnMut(&RunStep),
) -> Result<GateRun, GateError> {
    let root = layout.root();
    let gate_file = root.join(&settings.gate_file);
    layout.refuse_links(&gate_file)?;
    remove(&gate_file)?;
    let steps = steps_that_prove(root, settings)?;
    let key = match wall::is_around_us() {
        true => None,
        false => Some(key_or_new(layout)?),
    };
    layout.prepare()?;
    let log = layout.state_dir().join("gate.log");
    remove(&log)?;
    let mut tree = work_tree(root, settings)?;
    tree.name_contents();
    tree.scan().map_err(|_| GateError::Unscanned)?;
    let (_keep, stop) = watch::channel(Stop::No);
    let mut inspector = Inspector::new(layout, settings, env_filter, log.clone(), stop).await;
    inspector.stand_behind(wall);
    let done = inspector.inspect(&steps, &tree, armed, &mut shown).await?;
    let passed = done.iter().all(RunStep::passed);
    let mut ran = GateRun {
        steps: done,
        passed,
        written: None,
        log,
    };
    if passed {
        let fingerprint = unchanged(&mut tree)?;
        if let Some(key) = key {
            write_signed(&gate_file, &key, &record(root, &steps, fingerprint))?;
            ran.written = Some(gate_file);
        }
    }
    Ok(ran)
}

/// What the gate is run with once more.
#[derive(Clone, Debug, Default)]
pub struct Confirms {
    /// What the loop began with; `None` where no snapshots are kept.
    pub armed: Option<Armed>,
    pub wall: Option<Arc<Wall>>,
}

/// What came of running it once more.
#[derive(Debug)]
pub enum Confirmed {
    /// On exactly this tree.
    Passed {
        tree: String,
    },
    Failed(Box<RunStep>),
}

/// Whoever had the gate file written chose its variables: Ralph runs the steps
/// itself before it relies on it, once for these contents, commands and checks
/// of then.
pub async fn confirm(
    layout: &Layout,
    settings: &GateSettings,
    env_filter: &EnvFilter,
    with: &Confirms,
    stop: watch::Receiver<Stop>,
) -> Result<Confirmed, GateError> {
    let steps = steps_that_prove(layout.root(), settings)?;
    let mut tree = work_tree(layout.root(), settings)?;
    tree.name_contents();
    let scan = tree.scan().map_err(|_| GateError::Unscanned)?;
    let armed = with.armed.as_ref();
    let armed_tree = armed.map_or_else(String::new, Armed::name);
    let digest = steps_digest(&steps);
    let known = format!("{}\n{digest}\n{armed_tree}\n", scan.fingerprint);
    let passed = Confirmed::Passed {
        tree: scan.fingerprint.to_string(),
    };
    let file = layout.state_dir().join(CONFIRMED);
    if ralph_store::regular::read_to_string(&file).is_ok_and(|text| text == known) {
        return Ok(passed);
    }
    let log = layout.state_dir().join("gate.log");
    remove(&log)?;
    let mut inspector = Inspector::new(layout, settings, env_filter, log, stop).await;
    inspector.stand_behind(with.wall.clone());
    let done = inspector.inspect(&steps, &tree, armed, &mut |_| {}).await?;
    if let Some(failed) = done.into_iter().find(|step| !step.passed()) {
        return Ok(Confirmed::Failed(Box::new(failed)));
    }
    unchanged(&mut tree)?;
    write_atomic(&file, known.as_bytes(), AtomicOptions { durable: false })?;
    Ok(passed)
}

/// Writes the gate file for a tree that was confirmed.
pub fn sign(layout: &Layout, settings: &GateSettings, tree: String) -> Result<(), GateError> {
    let steps = steps_that_prove(layout.root(), settings)?;
    let file = layout.root().join(&settings.gate_file);
    layout.refuse_links(&file)?;
    let record = record(layout.root(), &steps, tree);
    Ok(write_signed(&file, &key_or_new(layout)?, &record)?)
}

fn steps_that_prove(root: &Path, settings: &GateSettings) -> Result<Vec<Step>, GateError> {
    let steps = steps(root, settings);
    if steps.is_empty() {
        return Err(GateError::NoSteps);
    }
    // A gate of the project's own is its test (QUAL-01).
    let proves = |step: &Step| step.name == "test" || step.name == OWN_GATE.0;
    if settings.steps.is_empty() && !steps.iter().any(proves) {
        return Err(GateError::NoTest);
    }
    Ok(steps)
}

fn write_signed(file: &Path, key: &Key, record: &GateRecord) -> Result<(), FileError> {
    let text = record.write(key);
    write_atomic(file, text.as_bytes(), AtomicOptions { durable: true })
}

/// The fingerprint of the tree, if the steps changed nothing of it.
fn unchanged(tree: &mut WorkTree) -> Result<String, GateError> {
    let after = tree.scan().map_err(|_| GateError::Unscanned)?;
    let judged = |change: &&crate::worktree::Change| change.kind != ChangeKind::Added;
    let changed: Vec<String> = after
        .changed
        .iter()
        .filter(judged)
        .take(NAMED_FILES)
        .map(|change| change.path.to_string_lossy().into_owned())
        .collect();
    match changed.is_empty() {
        true => Ok(after.fingerprint.to_string()),
        false => Err(GateError::Changed { files: changed }),
    }
}

fn record(root: &Path, steps: &[Step], tree: String) -> GateRecord {
    let head = git::head(root);
    let commit: String = head.commit.unwrap_or_default().chars().take(7).collect();
    GateRecord {
        generated: iso_utc(clock::now().wall_ms),
        branch: head.branch.unwrap_or_default(),
        commit,
        tree: Some(tree),
        steps: Some(steps_digest(steps)),
        results: names(steps)
            .into_iter()
            .map(|n| (n, "PASS".into()))
            .collect(),
    }
}

fn remove(path: &Path) -> Result<(), FileError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(FileError::new(path, Action::Remove, &error))
        }
        _ => Ok(()),
    }
}

impl From<FileError> for GateError {
    fn from(error: FileError) -> Self {
        GateError::File(error)
    }
}

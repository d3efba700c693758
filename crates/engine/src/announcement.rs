//! What a run has to tell a person that is no step of the machine.

use std::path::PathBuf;
use std::time::Duration;

use ralph_core::delta::{DeltaError, PATH};
use ralph_core::lang::{Lang, Say, said};
use ralph_core::machine::{Observation, Tasks};
use ralph_core::tasks::Finding;
use ralph_core::tr;
use ralph_store::FileError;
use ralph_store::checkpoint::Refused;
use ralph_store::layout::RunId;

use crate::notify::{Undelivered, Way};
use crate::snapshots::{SnapshotError, Why};

#[derive(Clone, Debug, PartialEq, Eq, Say)]
pub enum Announcement {
    /// Several task files were there, and this one was taken.
    #[say("working on {file}, the newest unfinished task file (others: {others}; choose with --tasks)", others = others.join(", "))]
    Chosen { file: String, others: Vec<String> },
    /// A delta loop was asked for, and its state file does not wait here.
    #[say(if *kept, "no state file of a delta loop waits here: the work comes from {file}, and {PATH} keeps its state")]
    #[say("no state file of a delta loop waits here: the work comes from {file}")]
    NoDelta { file: String, kept: bool },
    /// A loop that is taken up had used its limit up.
    #[say("{turns} iterations were made before: this run may go on to {max}")]
    MoreTurns { turns: u32, max: u32 },
    #[say("{root} is not a Git project: progress is judged by the files alone, and nothing can be undone with git", root = root.display())]
    NotAGitProject { root: PathBuf },
    /// The run before this one was not finished.
    #[say("run {id} is paused here and waits for `ralph resume {id}`; this is a new one")]
    Paused { id: RunId },
    /// Lanes of earlier runs left trees.
    #[say(
        "lanes of earlier runs left {count} trees; `ralph lanes clean` shows what can go and why"
    )]
    TreesLeft { count: usize },
    #[say(
        "the disk has room for {trees} trees of lanes, so fewer tasks are worked on at once (lanes.disk)"
    )]
    FewTrees { trees: u32 },
    /// Work of others stands in the tree that the agent is going to change.
    #[say(
        "not committed in the work tree: {count}; it will mix with the agent's work, so commit or stash it first (`git stash -u`)"
    )]
    Uncommitted { count: usize },
    /// A run can go wrong because of it.
    #[say("task file, line {line}: {finding} (`ralph tasks lint` tells all)", (line, finding) = (finding.line, finding.say(lang)))]
    DoubtfulList { finding: Finding },
    /// The agent's commits go where others build on them.
    #[say(
        "{branch} is the default branch, and the agent will commit on it; for a branch of its own: `git switch -c NAME`"
    )]
    DefaultBranch { branch: String },
    #[say(
        "HEAD is on no branch, and what the agent commits is lost when you switch to one; for a branch of its own: `git switch -c NAME`"
    )]
    Detached,
    #[say(
        "a merge, rebase, cherry-pick or revert is not finished here, and the agent's work will mix with it; finish it or take it back first (`git status` says how)"
    )]
    MergeUnderWay,
    #[say(
        "{root}: Git can't read this repository, so nothing can be committed and nothing undone with it; `git status` says what is wrong", root = root.display()
    )]
    BrokenGit { root: PathBuf },
    /// Nothing is configured that could prove the work on the tasks.
    #[say(
        "no verification is set up (verify.commands, `ralph run --verify 'CMD'`): ticks are the agent's own claims"
    )]
    NothingProves,
    /// There is neither a task list nor a verification.
    #[say(
        "nothing can prove that the work is done: the loop will stop when the agent says so; name a check with verify.commands or `ralph run --verify 'CMD'`"
    )]
    OnlyWords,
    /// There is not even a promise that could end it.
    #[say(
        "neither a promise nor a check is set up: nothing but its limits ends this loop; name a check with verify.commands or `ralph run --verify 'CMD'`"
    )]
    OnlyLimits,
    /// The agent asks for permissions that nobody will give.
    #[say(
        "the agent's permission questions stay on, and nobody will answer them; --allow-unsafe switches them off"
    )]
    PermissionsKept,
    /// Our guard rides along with this agent.
    #[say(
        "Ralph's guard judges each tool call of {agent} before it runs; it is a rail, not a sandbox (docs/guard.md)"
    )]
    Guarded { agent: &'static str },
    /// What lanes brought is on a branch.
    #[say("the work is on branch {branch}; take it with `git merge --ff-only {branch}`")]
    OnBranch { branch: String },
    #[say("{branch} stands at {commit} now, with all that landed on {from}", commit = commit.get(..10).unwrap_or(commit))]
    Brought {
        branch: String,
        commit: String,
        from: String,
    },
    #[say(
        "your branch was left alone: {why}; the work is on branch {branch}, take it with `git merge {branch}`"
    )]
    NotBrought { branch: String, why: String },
    #[say(
        "as things stand, --land will leave your branch alone ({why}): see to that before the run ends"
    )]
    WouldNotBring { why: String },
    /// Nothing stands around the agent.
    #[say("sandbox: off; the agent can do whatever you can")]
    NoSandbox,
    /// The wall hides the person's logins, and the goal is a pull request.
    #[say(
        "the agent in the sandbox has no login for the forge: with --create-pr Ralph pushes what passed the gate and opens the pull request, otherwise you have to"
    )]
    NoLoginForForge,
    #[say("evidence.beside: {why}; the checks run between the turns")]
    NotBeside { why: String },
    #[say("heard: the turn is being stopped, and has {seconds} s to end; Ctrl+C again ends it now")]
    Stopping { seconds: u64 },
    /// Nobody is going to be called, or this would be an error.
    #[say(why.clone())]
    AgentMissing { why: String },
    /// Nothing of ours judges what this agent does.
    #[say("{agent} works without its permission questions and without Ralph's guard: {why}", why = why.say(lang))]
    Unguarded { agent: &'static str, why: Unguarded },
    /// A file of other tools, an unknown variable in a template and so on.
    #[say("{template}: {name} is no variable of Ralph's and stays as it is", template = template.display())]
    UnknownVariable { name: String, template: PathBuf },
    /// The agent's output could not be kept.
    #[say("{file}: the agent's output could not be kept ({message}); make room, the run goes on", file = file.display())]
    OutputLost { file: PathBuf, message: String },
    /// The agent said more than is kept.
    #[say("{file}: the agent said more than log.agent_output_max; {dropped} bytes between the beginning and the end were dropped", file = file.display())]
    OutputCut { file: PathBuf, dropped: u64 },
    /// A file beside the journal can't be written; the run goes on.
    #[say("{error} (the run goes on without it, since the journal has everything)", error = error.say(lang))]
    NotKept { error: FileError },
    /// The last record of the journal was cut off in the middle.
    #[say(
        "the last record of the journal was incomplete, since the process died while it wrote; the run goes on from the record before"
    )]
    RecordTorn,
    /// A process kept the agent's output open after the agent had exited; it
    /// was ended.
    #[say("the agent left a process behind that kept its output open; it was ended")]
    Leaked,
    /// The agent had said how the turn went and did not go; it was ended.
    #[say("the agent had told its result and did not exit; it was ended, and the result counts")]
    Lingered,
    /// Processes that escaped their group were ended with the turn.
    #[say("processes that outlived the turn were ended: {count}")]
    OrphansEnded { count: usize },
    /// Processes that carry the run's tag, and were no descendants of ours,
    /// were ended with the run.
    #[say("processes that outlived the run were ended: {count}")]
    SurvivorsEnded { count: usize },
    /// Processes that could not be ended.
    #[say("processes that could not be ended: {pids}; look at them with `ps -fp`, they may still edit files", pids = list(pids))]
    StillAlive { pids: Vec<i32> },
    /// Processes of a run whose engine had died were ended.
    #[say("run {run} had died; processes of it that were still at work were ended: {count}")]
    Reaped { run: String, count: usize },
    /// The checkpoint or its event log could not be written; the run needs
    /// neither.
    #[say("{error} (the run goes on: its journal is what counts, the checkpoint is only a copy)", error = error.say(lang))]
    NotProjected { error: FileError },
    /// An earlier run left them without proof.
    #[say("ticked in an earlier run and never shown: {tasks}; they don't count as done: `ralph accept` takes them as they are, with an empty box they are done again", tasks = tasks.join(", "))]
    Doubted { tasks: Vec<String> },
    /// The checkpoint, or some of its backups, could not be proven.
    #[say("damaged checkpoint in {dir} ({refused}); it is written anew from the journal", dir = dir.display(), refused = said(refused, "; ", lang))]
    CheckpointDamaged { dir: PathBuf, refused: Vec<Refused> },
    /// The state file of the delta loop was unreadable and stands aside.
    #[say(if let Some(backup) = backup, "{from} can't be read: {error}; it was moved to {to}, and the loop goes on from {backup}", (from, to, error, backup) = (from.display(), to.display(), error.say(lang), backup.display()))]
    #[say("{from} can't be read: {error}; it was moved to {to}, and a new one is written", (from, to, error) = (from.display(), to.display(), error.say(lang)))]
    DeltaMovedAside {
        from: PathBuf,
        to: PathBuf,
        /// What is written in its place.
        backup: Option<PathBuf>,
        error: DeltaError,
    },
    /// Somebody deleted the state file of a loop that goes on.
    #[say("{path} was gone; the loop goes on from {backup}", (path, backup) = (path.display(), backup.display()))]
    DeltaGone { path: PathBuf, backup: PathBuf },
    /// Another task's file stood where this run writes its own.
    #[say("{from} is another task's, and stands aside as {to} now", (from, to) = (from.display(), to.display()))]
    SetAside { from: PathBuf, to: PathBuf },
    /// The world moved while no process of the run lived (RESM-08).
    #[say("changed since the run stopped: {what}", what = drift(branch.as_deref(), [*tasks, *files, *commit], lang))]
    Changed {
        tasks: bool,
        files: bool,
        commit: bool,
        /// The branch that is checked out now.
        branch: Option<String>,
    },
    /// A finished OpenSpec change could not be archived (HIST-05).
    #[say("the OpenSpec change {id} was not archived: {message}; archive it by hand")]
    ChangeStays { id: String, message: String },
    /// The run is over and stands in the history (HIST-01).
    #[say("archived to {to}", to = to.display())]
    Archived { to: PathBuf },
    /// A projection failed; the journal has everything.
    #[say("not archived: {message}; the run itself is saved, `ralph archive` tries again")]
    NotArchived { message: String },
    /// Old runs could not be deleted.
    #[say("old runs could not be deleted: {message}; `ralph archive --prune` tries again")]
    NotPruned { message: String },
    /// The run is over, and somebody is still to be told.
    #[say("trying to deliver the notifications ({way}), for {seconds} s at most; Ctrl+C leaves it", way = way.say(lang))]
    Telling { way: Way, seconds: u64 },
    /// Somebody could not be told.
    #[say("the notification \"{topic}\" was not delivered ({way}): {why}; see [notify] in .ralph/config.toml", (topic, way, why) = (undelivered.topic.say(lang), undelivered.way.say(lang), &undelivered.why))]
    NotTold { undelivered: Undelivered },
    /// Old runs were deleted, because there were too many (HIST-04).
    #[say("old runs deleted with their output (history.keep), {size}: {names}", names = list(&runs.iter().map(|run| &run.name).collect::<Vec<_>>()), size = megabytes(runs.iter().map(|run| run.bytes).sum()))]
    Pruned { runs: Vec<Pruned> },
    /// Runs were deleted, because the state folder was too large.
    #[say("runs that are over deleted with their output (history.state_max), {size}: {names}", names = list(&runs.iter().map(|run| &run.name).collect::<Vec<_>>()), size = megabytes(runs.iter().map(|run| run.bytes).sum()))]
    Shrunk { runs: Vec<Pruned> },
    /// A `git` that was killed left its lock on the index.
    #[say("{path} is {age} old: a git that was killed left it, and no other can commit while it is there; if no git is at work here, remove that file yourself", (path, age) = (path.display(), ralph_core::text::duration::human(lang, *age)))]
    IndexLocked { path: PathBuf, age: Duration },
    /// Roles are set up, and a session plays none.
    #[say(
        "roles are set up, but one session is one agent: nobody reviews or tests its work here; `ralph run` plays the roles, each as a call of its own"
    )]
    RolesOutside,
    /// There is no socket.
    #[say(
        "other terminals can't steer this run ({message}); Ctrl+C here, or `touch .ralph/STOP`, still stops it"
    )]
    Deaf { message: String },
    /// A hook leaves out what the project sets and no person has seen.
    #[say("settings of this project do not count, since nobody has seen them as they are now ({keys}): look at them with `ralph trust`", keys = keys.join(", "))]
    Untrusted { keys: Vec<String> },
    /// Work that no snapshot brings back.
    #[say("not kept in the snapshots of this run ({total}): {names}", names = left_out(first, *total, lang))]
    NotInSnapshot {
        first: Vec<(PathBuf, Why)>,
        total: usize,
    },
    /// The run goes on without.
    #[say("{error} (the run goes on; its turns can't be seen or undone with Ralph)", error = error.say(lang))]
    NoSnapshot { error: SnapshotError },
    /// Somebody wrote `.ralph/STOP` (LOOP-17).
    #[say(if let Some(why) = stays, "{path} is there: the run stops, as with `ralph stop`; remove the file yourself before the next run ({why})", path = path.display())]
    #[say("{path} is there: the run stops, as with `ralph stop`; the file is removed", path = path.display())]
    StopFile {
        path: PathBuf,
        /// Why it is still there, where it is.
        stays: Option<String>,
    },
}

impl Announcement {
    pub fn deaf(error: impl std::fmt::Display) -> Announcement {
        Announcement::Deaf {
            message: error.to_string(),
        }
    }

    /// What is different from what was seen before, if anything is.
    pub fn since(before: &Observation, now: &Observation) -> Option<Announcement> {
        let tasks = match (&before.tasks, &now.tasks) {
            // What was ticked or lost meanwhile is told against the last look.
            (Tasks::Read(before), Tasks::Read(now)) => match before.digest.is_empty() {
                true => before.counts() != now.counts(),
                false => before.digest != now.digest,
            },
            (before, now) => before != now,
        };
        let files = before.tree != now.tree;
        let commit = match (&before.commit, &now.commit) {
            (Some(before), Some(now)) => before != now,
            _ => before.commit_tree != now.commit_tree,
        };
        let branch = now.branch.clone().filter(|_| before.branch != now.branch);
        (tasks || files || commit || branch.is_some()).then_some(Announcement::Changed {
            tasks,
            files,
            commit,
            branch,
        })
    }
}

/// An archived run that was, or would be, deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pruned {
    pub name: String,
    /// Its own folder, where that goes with it.
    pub run: Option<RunId>,
    pub bytes: u64,
}

/// Why our guard does not ride along.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Say)]
pub enum Unguarded {
    /// The client has no hooks that can be handed over for one run.
    #[say("it has no hooks that can be handed over for one run")]
    NoHooks,
    /// Its hooks take an API key in the environment.
    #[say(
        "its hooks need GEMINI_API_KEY in the environment, since a login does not reach the settings of one run"
    )]
    NoKey,
    /// The person does not want it.
    #[say("the guard is switched off (--no-guard or guard.enabled)")]
    SwitchedOff,
}

/// `12.3 MB`, the same in every language.
pub fn megabytes(bytes: u64) -> String {
    let tenths = bytes / 100_000;
    format!("{}.{} MB", tenths / 10, tenths % 10)
}

/// What is no longer as it was when the run stopped.
fn drift(branch: Option<&str>, changed: [bool; 3], lang: Lang) -> String {
    let [tasks, files, commit] = changed;
    let on = branch.unwrap_or_default();
    let parts = [
        (branch.is_some(), tr!(lang, "the branch (now {on})")),
        (tasks, tr!(lang, "the task file")),
        (files, tr!(lang, "the files")),
        (commit, tr!(lang, "the commit")),
    ];
    let changed = parts
        .into_iter()
        .filter_map(|(changed, part)| changed.then_some(part));
    changed.collect::<Vec<_>>().join(&tr!(lang, ", "))
}

fn left_out(first: &[(PathBuf, Why)], total: usize, lang: Lang) -> String {
    let name = |(path, why): &(PathBuf, Why)| {
        let path = ralph_core::text::one_line(&ralph_core::text::sanitize(&path.to_string_lossy()));
        format!("{path} ({})", why.say(lang))
    };
    let more = (total > first.len()).then(|| "…".to_owned());
    list(&first.iter().map(name).chain(more).collect::<Vec<_>>())
}

fn list(items: &[impl ToString]) -> String {
    let items: Vec<String> = items.iter().map(ToString::to_string).collect();
    items.join(", ")
}

//! From settings to a plan: everything a run needs, checked before anything
//! is started or written.

mod chain;
mod checks;
mod discover;
mod flow;
mod forge;
mod rules;
mod say;
mod tasks;
pub use chain::check_budget;
pub use forge::{WrongBranch, forge_of};
pub use say::megabytes;
pub use tasks::{check_phase, find_task_file};
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::time::Duration;

use ralph_core::config::{self, Settings};
use ralph_core::delta::DeltaError;
use ralph_core::lang::{Lang, Say, said};
use ralph_core::machine::{BudgetKind, Goal, Observation, Rules, State, Turn};
use ralph_core::promise::PromiseRules;
use ralph_core::route::Card;
use ralph_core::tasks::{Pick, Scope, TaskList};

use ralph_store::FileError;
use ralph_store::checkpoint::Refused;
use ralph_store::layout::Layout;
use ralph_store::log::LogStyle;

use serde::{Deserialize, Serialize};

use crate::agents::{Agent, EnvFilter, SplitError};
use crate::archive::{Keeping, Pruned};
use crate::flows::NoFlow;
use crate::forge::Forge;
use crate::look::{OpenTaskFile, ReadError, TaskFile};
use crate::notify::{Notifier, Undelivered, Way};
use crate::projections::CheckpointPlan;
use crate::prompt::{self, Prompter, Template, TemplateError};
use crate::verify::Verifier;

/// How long a child may take to end after it was asked to.
/// Whoever left its group has most of a second more, so that nobody is left
/// five seconds after a signal.
const GRACE: Duration = Duration::from_secs(3);

/// What a person typed, in the form in which it is kept with the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    /// The settings that flags stand for.
    #[serde(default)]
    pub flags: Vec<Flag>,
    /// The text of a plain prompt.
    #[serde(default)]
    pub prompt: Option<String>,
    /// The change of `--openspec ID`.
    #[serde(default)]
    pub openspec: Option<String>,
    #[serde(default)]
    pub template: Option<PathBuf>,
    /// The flow that the prompt goes through.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
    /// How its route was chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub card: Option<Card>,
    /// Why nobody reviews, where a person does not want it (ROLE-09).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_review: Option<String>,
}

/// A setting that was given by a flag.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Flag {
    pub key: String,
    pub value: config::Value,
    pub name: String,
}

/// What is wanted beyond the settings.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    pub root: PathBuf,
    pub lang: Lang,
    pub asked: Asked,
    /// Somebody sits at a terminal and reads what is announced.
    pub interactive: bool,
    /// This program, for its scripted mode.
    pub own_program: PathBuf,
    /// Judges a command that an agent wants Ralph to run.
    pub permit: Option<Permit>,
    /// The client in whose session the loop runs: it needs no agent of ours.
    pub session: Option<String>,
}

/// Says why a command must not be run in a project; none where it may.
pub type Permit = fn(&Path, &str) -> Option<String>;

/// Everything a run needs.
#[derive(Clone, Debug)]
pub struct Plan {
    pub root: PathBuf,
    pub lang: Lang,
    pub asked: Asked,
    pub rules: Rules,
    /// The chain of agents, the first choice first; empty for a loop inside a
    /// session, which has its agent already.
    pub agents: Vec<Agent>,
    /// Each turn goes on with the session of the turn before.
    pub resume_session: bool,
    pub agent_env: Vec<(String, String)>,
    pub env_filter: EnvFilter,
    pub tasks: Option<TaskFile>,
    pub scope: Scope,
    pub prompter: Prompter,
    pub promise: PromiseRules,
    pub verifier: Option<Verifier>,
    /// Runs what a review says will show its findings.
    pub reproducer: Verifier,
    pub permit: Option<Permit>,
    /// Agents of single roles, by their names.
    pub role_agents: Vec<Agent>,
    /// What runs the end-to-end tests.
    pub e2e: Option<Verifier>,
    pub log: PathBuf,
    pub log_style: LogStyle,
    pub log_max_bytes: u64,
    pub log_keep: u32,
    /// Where the run goes when it is over.
    pub keeping: Keeping,
    /// Who is told what while nobody looks.
    pub notifier: Notifier,
    pub checkpoint: CheckpointPlan,
    /// Where a pull request is made or watched.
    pub forge: Option<Forge>,
    /// How long a hook may wait for CI.
    pub hook_wait: Duration,
    /// How much of an agent's output is kept for each turn.
    pub output_max: u64,
    /// How long the agent may say nothing.
    pub idle: Option<Duration>,
    pub grace: Duration,
    /// What the person should know before it begins.
    pub announcements: Vec<Announcement>,
    /// The list as it was read for the checks.
    pub list: Option<TaskList>,
}

#[derive(Clone, Debug, PartialEq, Eq, Say)]
pub enum Announcement {
    /// Several task files were there, and this one was taken.
    #[say("working on {file}, the newest unfinished task file (others: {others}; choose with --tasks)", others = others.join(", "))]
    Chosen { file: String, others: Vec<String> },
    #[say("{root} is not a Git project: progress is judged by the files alone, and nothing can be undone with git", root = root.display())]
    NotAGitProject { root: PathBuf },
    /// Nothing is configured that could prove the work on the tasks.
    #[say("no verification is set up (--verify 'CMD'): ticks are the agent's own claims")]
    NothingProves,
    /// There is neither a task list nor a verification.
    #[say(
        "nothing can prove that the work is done: the loop will stop when the agent says so; name a check with --verify 'CMD'"
    )]
    OnlyWords,
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
    #[say("processes that could not be ended: {pids}; look at them with `ps -fp`, they may still edit files", pids = say::list(pids))]
    StillAlive { pids: Vec<i32> },
    /// Processes of a run whose engine had died were ended.
    #[say("run {run} had died; processes of it that were still at work were ended: {count}")]
    Reaped { run: String, count: usize },
    /// The checkpoint or its event log could not be written; the run needs
    /// neither.
    #[say("{error} (the run goes on: its journal is what counts, the checkpoint is only a copy)", error = error.say(lang))]
    NotProjected { error: FileError },
    /// The checkpoint, or some of its backups, could not be proven.
    #[say("damaged checkpoint in {dir} ({refused}); it is written anew from the journal", dir = dir.display(), refused = said(refused, "; ", lang))]
    CheckpointDamaged { dir: PathBuf, refused: Vec<Refused> },
    /// The state file of the delta loop was unreadable and stands aside.
    #[say("{from} can't be read: {error}; it was moved to {to}, and a new one is written", (from, to, error) = (from.display(), to.display(), error.say(lang)))]
    DeltaMovedAside {
        from: PathBuf,
        to: PathBuf,
        error: DeltaError,
    },
    /// The world moved while no process of the run lived (RESM-08).
    #[say("changed since the run stopped: {what}", what = say::drift(branch.as_deref(), [*tasks, *files, *commit], lang))]
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
    /// Somebody could not be told.
    #[say("a notification was not delivered ({way}): {why}; see [notify] in .ralph/config.toml", (way, why) = (undelivered.way.say(lang), &undelivered.why))]
    NotTold { undelivered: Undelivered },
    /// Old runs were deleted, because there were too many (HIST-04).
    #[say("old runs deleted with their output (history.keep), {size}: {names}", names = say::list(&runs.iter().map(|run| &run.name).collect::<Vec<_>>()), size = megabytes(runs.iter().map(|run| run.bytes).sum()))]
    Pruned { runs: Vec<Pruned> },
    /// A `git` that was killed left its lock on the index.
    #[say("{path} is {age} old: a git that was killed left it, and no other can commit while it is there; if no git is at work here, remove that file yourself", (path, age) = (path.display(), ralph_core::text::duration::human(lang, *age)))]
    IndexLocked { path: PathBuf, age: Duration },
    /// Roles are set up, and a session plays none.
    #[say(
        "roles are set up, but one session is one agent: nobody reviews or tests its work here; `ralph run` plays the roles, each as a call of its own"
    )]
    RolesOutside,
    /// Somebody wrote `.ralph/STOP` (LOOP-17).
    #[say(if let Some(why) = stays, "{path} is there: the run stops, as with `ralph stop`; remove the file yourself before the next run ({why})", path = path.display())]
    #[say("{path} is there: the run stops, as with `ralph stop`; the file is removed", path = path.display())]
    StopFile {
        path: PathBuf,
        /// Why it is still there, where it is.
        stays: Option<String>,
    },
}

impl Plan {
    /// The agent of that name, else the first choice: the configuration may
    /// have changed since the run began.
    pub fn agent(&self, name: &str) -> Option<&Agent> {
        let named = self.agents.iter().find(|agent| agent.name() == name);
        named.or(self.agents.first())
    }

    /// The agent of a call, as its role needs it.
    pub fn agent_for(&self, turn: &Turn, state: &State) -> Option<Agent> {
        let of_chain = self.agent(state.agent_name(turn.agent))?;
        let flow = state.rules.flow.as_ref().map(|rules| &rules.flow);
        let Some((role, flow)) = turn.flow.as_ref().zip(flow) else {
            return Some(of_chain.clone());
        };
        let step = flow.index_of(&role.step).and_then(|index| flow.step(index));
        let named = step.and_then(|step| step.agent.as_deref());
        let own = named.and_then(|name| self.role_agents.iter().find(|a| a.name() == name));
        let permissions = step.and_then(|step| step.permissions.as_deref());
        let permissions = permissions.and_then(config::Permissions::from_word);
        let agent = own.unwrap_or(of_chain);
        Some(agent.in_role(role.model.as_deref(), permissions.map(chain::permissions)))
    }

    /// Every command that proves something.
    pub fn commands(&self) -> Vec<String> {
        let own = self.rules.checks.tasks.values().flatten();
        let runners = self.verifier.iter().chain(&self.e2e);
        let project = runners.flat_map(|verifier| &verifier.commands);
        project.chain(own).cloned().collect()
    }

    /// What may go outward, as a person would type it (PRCI-13).
    pub fn outward(&self) -> Vec<String> {
        let asks = self.rules.outward();
        let forge = self.forge.iter();
        forge
            .flat_map(|forge| asks.iter().map(|ask| forge.command_of(ask)))
            .collect()
    }

    /// `claude`, or `claude → codex`.
    pub fn agent_names(&self) -> String {
        let names: Vec<&str> = self.agents.iter().map(Agent::name).collect();
        names.join(" → ")
    }
}

impl Announcement {
    /// What is different from what was seen before, if anything is.
    pub fn since(before: &Observation, now: &Observation) -> Option<Announcement> {
        let tasks = before.tasks != now.tasks;
        let files = before.tree != now.tree;
        let commit = before.commit_tree != now.commit_tree;
        let branch = now.branch.clone().filter(|_| before.branch != now.branch);
        (tasks || files || commit || branch.is_some()).then_some(Announcement::Changed {
            tasks,
            files,
            commit,
            branch,
        })
    }
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

/// Why a run can't begin.
#[derive(Clone, Debug, PartialEq, Eq, Say)]
pub enum PlanError {
    #[say("{root}: no task file found (looked for specs/*/tasks.md, .specify/*/tasks.md, tasks.md, openspec/changes/*/tasks.md, prd.json, .ralph/fix_plan.md)\n  write a tasks.md with lines such as `- [ ] T001 what to do`, name a file with --tasks FILE, or give a prompt: ralph run \"…\" --verify 'CMD'", root = root.display())]
    NoTaskFile { root: PathBuf },
    #[say("several unfinished task files, the newest first; say which one with --tasks FILE:{list}", list = files.iter().map(|f| format!("\n  {f}")).collect::<String>())]
    Ambiguous { files: Vec<String> },
    #[say(if known.is_empty(), "openspec/changes/{id}/tasks.md: there is no such change, and no other in openspec/changes; write this file, or leave --openspec out")]
    #[say("openspec/changes/{id}/tasks.md: there is no such change; name one of these with --openspec ID: {known}", known = known.join(", "))]
    NoSuchChange { id: String, known: Vec<String> },
    #[say(if known.is_empty(), "{file}: there is no phase {phase}, the file has no phases at all; leave --phase out")]
    #[say("{file}: there is no phase {phase} with tasks; choose one of these with --phase N: {known}", known = known.join(", "))]
    NoSuchPhase {
        phase: String,
        known: Vec<String>,
        file: String,
    },
    #[say(_0.say(lang))]
    Tasks(ReadError),
    #[say("nothing to do: give a prompt (ralph run \"…\") or a task file (--tasks FILE)")]
    EmptyPrompt,
    #[say(if let Some(message) = &_0.message, "{path}: the prompt template can't be read ({message}); make it a readable file of UTF-8 text, or move it away to use the built-in one", path = _0.path.display())]
    #[say("{path}: there is no such prompt template; correct --prompt-template, or leave it out to use the built-in one", path = _0.path.display())]
    Template(TemplateError),
    #[say("agent \"{name}\" is not known; choose one of {known}, or run any program with --agent-cmd 'prog {{prompt_file}}'", known = crate::agents::Client::names().join(", "))]
    UnknownAgent { name: String },
    #[say(
        "the custom agent has no command; give one with --agent-cmd 'prog {{prompt_file}}' or agent.command"
    )]
    NoCommand,
    #[say("the agent's command can't be read: {why}; correct --agent-cmd or agent.command:\n  {line}", why = say::split_error(*error, lang))]
    BadCommand { line: String, error: SplitError },
    #[say(
        "{program}: command not found; install it, correct its path, or choose another agent with --agent or --agent-cmd"
    )]
    AgentNotFound { program: String },
    #[say("{program} is there, but can't be run; make it executable with `chmod +x {program}`, or choose another agent with --agent or --agent-cmd", program = program.display())]
    AgentNotExecutable { program: PathBuf },
    /// The agent would work without its permission questions, and nobody said
    /// that it may.
    #[say("{agent} would work without its permission questions, and nothing of Ralph's would judge what it does: {why}; say --allow-unsafe if that is what you want, or let it ask with agent.permissions = \"default\"", why = why.say(lang))]
    Unguarded { agent: &'static str, why: Unguarded },
    /// A budget in a unit that the agent does not report.
    #[say(if let BudgetKind::Cost = kind, "{agent} does not report what it costs, so that a budget of money can't be kept; limit --max-tokens, --max-iterations or --max-duration instead, or choose an agent that reports its cost (`ralph agents`)")]
    #[say(
        "{agent} does not report its tokens, so that a budget of tokens can't be kept; limit --max-iterations or --max-duration instead, or choose an agent that reports its tokens (`ralph agents`)"
    )]
    Unmeasured {
        agent: &'static str,
        kind: BudgetKind,
    },
    /// Pull requests are not made from here.
    #[say(_0.say(lang))]
    Branch(WrongBranch),
    #[say("{root}: there is no such directory; correct --root", root = root.display())]
    RootMissing { root: PathBuf },
    /// The address is often a secret, and so it is not repeated.
    #[say(
        "notify.webhook is no address that could be posted to; it begins with http:// or https:// and has no spaces"
    )]
    BadWebhook,
    #[say(_0.say(lang))]
    Unpickable(Unpickable),
    #[say(_0.say(lang))]
    Flow(NoFlow),
}

/// There are tasks, and none of them can be worked on (TASK-10).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unpickable {
    pub file: String,
    pub pick: Pick,
}

/// Checks everything and changes nothing.
pub fn prepare(settings: &Settings, wanted: &Wanted) -> Result<Plan, PlanError> {
    if !wanted.root.is_dir() {
        return Err(PlanError::RootMissing {
            root: wanted.root.clone(),
        });
    }
    let mut announcements = Vec::new();
    let scope = Scope {
        phase: Some(settings.tasks.phase.clone()).filter(|p| !p.is_empty()),
        ..Scope::default()
    };
    let route = flow::of_run(settings, wanted)?;
    let (tasks, list) = match &route {
        Some(route) => (flow::plan_file(settings, wanted, route), None),
        None => match tasks::find_tasks(settings, wanted, &mut announcements)? {
            Some(OpenTaskFile { file, list, .. }) => {
                tasks::check_scope(&list, &scope, &file)?;
                (Some(file), Some(list))
            }
            None => (None, None),
        },
    };
    let goal = rules::goal(settings, &scope, route.is_some(), tasks.is_some());
    let prompt = wanted.asked.prompt.as_deref().unwrap_or_default();
    let needs_prompt = matches!(goal, Goal::Prompt | Goal::Flow | Goal::PullRequest);
    if needs_prompt && prompt.trim().is_empty() {
        return Err(PlanError::EmptyPrompt);
    }
    let mut rules = rules::rules(settings, goal.clone());
    rules.checks = checks::checks(settings, list.as_ref(), &scope);
    let agents = match &wanted.session {
        Some(client) => {
            rules::live_in(client, &mut rules);
            Vec::new()
        }
        None => {
            let agents = chain::agents(settings, wanted, &mut announcements)?;
            rules.agents = agents.iter().map(|agent| agent.name().into()).collect();
            rules.budget = chain::budget(settings, &agents)?;
            agents
        }
    };
    rules.flow = match route {
        Some(route) => Some(route),
        // The roles are calls of their own, and a session makes none.
        None if wanted.session.is_some() => None,
        None => flow::of_tasks(settings, wanted, &goal)?,
    };
    let role_agents = match &rules.flow {
        Some(rules) if wanted.session.is_none() => {
            chain::role_agents(settings, wanted, &rules.flow)?
        }
        _ => Vec::new(),
    };
    let forge = forge::forge(settings, wanted, &goal)?;
    rules.forge = forge.is_some().then(|| forge::rules(settings));
    let built_in = prompt::built_in_for(list.as_ref());
    let template = Template::find(&wanted.root, wanted.asked.template.as_deref(), built_in)
        .map_err(PlanError::Template)?;
    let verifier = checks::verifier(settings, &wanted.root, &rules.checks);
    let e2e = checks::e2e(settings);
    let is_proven = verifier.is_some() || e2e.is_some() || forge.is_some();
    announcements.extend(lacks(settings, wanted, &goal, is_proven));
    let notifier = Notifier::new(&wanted.root, &settings.notify);
    if !notifier.ways.iter().all(Way::is_sound) {
        return Err(PlanError::BadWebhook);
    }
    Ok(Plan {
        root: wanted.root.clone(),
        lang: wanted.lang,
        asked: wanted.asked.clone(),
        agents,
        resume_session: settings.agent.session == config::AgentSession::Resume,
        agent_env: settings.agent.env.clone(),
        env_filter: EnvFilter {
            allow: settings.agent.env_allow.clone(),
            exclude: settings.agent.env_exclude.clone(),
        },
        prompter: prompter(settings, wanted, template, &goal, tasks.as_ref()),
        checkpoint: checkpoint(settings, wanted, &rules),
        rules,
        tasks,
        scope,
        promise: rules::promise_rules(settings),
        verifier,
        reproducer: checks::reproducer(settings),
        permit: wanted.permit,
        role_agents,
        e2e,
        log: wanted.root.join(&settings.log.file),
        log_style: log_style(settings),
        log_max_bytes: settings.log.max_size,
        log_keep: settings.log.keep,
        keeping: Keeping::new(&wanted.root, settings),
        notifier,
        forge,
        hook_wait: settings.pr.hook_wait,
        output_max: settings.log.agent_output_max,
        idle: Some(settings.limits.idle_timeout).filter(|t| !t.is_zero()),
        grace: GRACE,
        announcements,
        list,
    })
}

/// The verification commands of a project and their bounds.
pub fn verifier(settings: &Settings, root: &Path) -> Option<Verifier> {
    checks::verifier(settings, root, &Default::default())
}

/// What the run has to do without.
fn lacks(settings: &Settings, wanted: &Wanted, goal: &Goal, is_proven: bool) -> Vec<Announcement> {
    let has_tasks = matches!(goal, Goal::Tasks { .. });
    let mut lacks = Vec::new();
    if wanted.session.is_some() && settings.roles.enabled && has_tasks {
        lacks.push(Announcement::RolesOutside);
    }
    if !is_proven {
        lacks.push(match has_tasks {
            true => Announcement::NothingProves,
            false => Announcement::OnlyWords,
        });
    }
    if crate::git::find_root(&wanted.root).is_none() {
        let root = wanted.root.clone();
        lacks.push(Announcement::NotAGitProject { root });
    }
    lacks
}

fn prompter(
    settings: &Settings,
    wanted: &Wanted,
    template: Template,
    goal: &Goal,
    tasks: Option<&TaskFile>,
) -> Prompter {
    let phased = settings.promise.complete.is_empty();
    let unasked = if phased { "" } else { "DONE" };
    let prompt = forge::prompt(settings, wanted, goal);
    Prompter {
        template,
        prompt: prompt.filter(|_| tasks.is_none() || *goal == Goal::Flow),
        tasks_file: tasks.map(|t| t.name.clone()).unwrap_or_default(),
        promise: settings.promise.asked_for().unwrap_or(unasked).to_owned(),
        phase_promise: settings.promise.phase_complete.first().cloned(),
        output_dir: settings.checkpoint.dir.clone(),
    }
}

fn checkpoint(settings: &Settings, wanted: &Wanted, rules: &Rules) -> CheckpointPlan {
    // The state file of the seed belongs to its routes that loop.
    let loops = rules.flow.as_ref().is_some_and(|rules| rules.flow.loops);
    CheckpointPlan {
        enabled: settings.checkpoint.enabled,
        interval: settings.checkpoint.interval,
        backups: settings.checkpoint.backups,
        dir: Layout::new(&wanted.root).checkpoint_dir(&settings.checkpoint.dir),
        delta: settings.preset.as_deref() == Some("delta") || loops,
    }
}

/// The preset `sdd` keeps the name and the title that its users know.
fn log_style(settings: &Settings) -> LogStyle {
    match settings.preset.as_deref() {
        Some("sdd") => LogStyle::Sdd,
        _ => LogStyle::Loop,
    }
}

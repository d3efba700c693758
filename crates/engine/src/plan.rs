//! From settings to a plan: everything a run needs, checked before anything
//! is started or written.

mod chain;
mod checks;
mod discover;
mod error;
mod flow;
mod forge;
mod rules;
mod tasks;
pub use crate::header::{Adopted, Asked, Flag};
pub use chain::{check_budget, check_names};
pub use error::{PlanError, Unpickable};
pub use forge::{WrongBranch, forge_of};
pub use tasks::{check_phase, find_task_file};
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ralph_core::config::{self, Settings, TaskSource};
use ralph_core::lang::Lang;
use ralph_core::machine::{Goal, Rules, State, Turn};
use ralph_core::promise::PromiseRules;
use ralph_core::tasks::{Scope, TaskList};

use ralph_store::layout::{Layout, RunId};
use ralph_store::log::LogStyle;

use crate::agents::{Agent, EnvFilter};
use crate::announcement::Announcement;
use crate::forge::Forge;
use crate::keeping::{CheckpointPlan, Keeping};
use crate::lanes::governor::Governor;
use crate::lanes::plan::{self as lanes, LanePlan, NoLanes};
use crate::look::TaskFile;
use crate::notify::{Notifier, Way};
use crate::prompt::{self, Prompter, Template};
use crate::snapshots::Caps;
use crate::verify::Verifier;
use crate::wall::{self, Wall};

/// How long a child may take to end after it was asked to.
/// Whoever left its group has most of a second more, so that nobody is left
/// five seconds after a signal.
const GRACE: Duration = Duration::from_secs(3);

/// What is wanted beyond the settings.
#[derive(Clone, Debug)]
pub struct Wanted {
    pub layout: Layout,
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
    /// No agent is going to be called, so that none has to be there.
    pub calls_nobody: bool,
    /// Tasks that others work on.
    pub skipped: BTreeSet<String>,
    /// The run is under way: what its agent did to the list since is for the
    /// machine to judge, and refuses nothing.
    pub has_begun: bool,
}

impl Wanted {
    /// A run that nobody asked anything more of, and at which nobody sits.
    pub fn new(layout: Layout, lang: Lang, own_program: PathBuf) -> Wanted {
        Wanted {
            layout,
            lang,
            own_program,
            asked: Asked::default(),
            interactive: false,
            permit: None,
            session: None,
            calls_nobody: false,
            skipped: BTreeSet::new(),
            has_begun: false,
        }
    }
}

/// Says why a command must not be run in a project; none where it may.
pub type Permit = fn(&Path, &str) -> Option<String>;

/// Everything a run needs.
#[derive(Clone, Debug)]
pub struct Plan {
    pub layout: Layout,
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
    /// What snapshots may take; `None` where none are wanted.
    pub snapshots: Option<Caps>,
    /// How long a hook may wait for CI.
    pub hook_wait: Duration,
    /// How much of an agent's output is kept for each turn.
    pub output_max: u64,
    /// How long the agent may say nothing.
    pub idle: Option<Duration>,
    pub grace: Duration,
    /// How long the menu of a limit waits for somebody.
    pub menu_wait: Option<Duration>,
    /// What is to stand around the agent and the checks.
    pub sandbox: wall::Wanted,
    /// What stands there, once it was raised.
    pub wall: Option<Arc<Wall>>,
    /// What the person should know before it begins.
    pub announcements: Vec<Announcement>,
    /// The list as it was read for the checks.
    pub list: Option<TaskList>,
    /// The name of the run, where that is known before it begins.
    pub id: Option<RunId>,
    /// The person's branch takes the result of lanes in.
    pub lands: bool,
    /// How much the trees of lanes may hold together; 0 is what is free.
    pub trees_take: u64,
    /// What each of them gets although Git ignores it.
    pub trees_include: Vec<String>,
    /// Lanes, once their tree stands.
    pub lanes: Option<LanePlan>,
    /// A command that gets the tree ready first.
    pub setup: Option<String>,
    /// Who is asked before each call of an agent.
    pub governor: Option<Governor>,
    /// What the environment of agents and checks says beside the usual.
    pub env: Vec<(String, String)>,
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
        let permissions = permissions.and_then(|word| word.parse().ok());
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

    /// From now on this stands around the agent, and around all that checks its
    /// work.
    pub fn stand_behind(&mut self, wall: Arc<Wall>) {
        let checks = [&mut self.verifier, &mut self.e2e].into_iter().flatten();
        for checks in checks.chain([&mut self.reproducer]) {
            checks.wall = Some(Arc::clone(&wall));
        }
        self.wall = Some(wall);
    }

    /// `claude`, or `claude → codex`.
    pub fn agent_names(&self) -> String {
        let names: Vec<&str> = self.agents.iter().map(Agent::name).collect();
        names.join(" → ")
    }
}

/// Checks everything and changes nothing.
pub fn prepare(settings: &Settings, wanted: &Wanted) -> Result<Plan, PlanError> {
    if !wanted.layout.root().is_dir() {
        return Err(PlanError::RootMissing {
            root: wanted.layout.root().to_owned(),
        });
    }
    let mut announcements = Vec::new();
    let scope = Scope {
        phase: Some(settings.tasks.phase.clone()).filter(|p| !p.is_empty()),
        skipped: wanted.skipped.clone(),
        ..Scope::default()
    };
    let route = flow::of_run(settings, wanted)?;
    let opened = match &route {
        Some(_) => None,
        None => tasks::find_tasks(settings, wanted, &mut announcements)?,
    };
    let (tasks, list) = match (&route, opened) {
        (Some(route), _) => (flow::plan_file(settings, wanted, route), None),
        (None, None) => (None, None),
        (None, Some((file, list))) => {
            if let Some(list) = list.as_ref().filter(|_| !wanted.has_begun) {
                tasks::check_scope(list, &scope, &file)?;
            }
            (Some(file), list)
        }
    };
    let goal = rules::goal(settings, &scope, route.is_some(), tasks.is_some());
    check_prompt(&goal, wanted)?;
    let mut rules = rules::rules(settings, goal.clone());
    rules.checks = checks::checks(settings, list.as_ref(), &scope);
    if let Some(adopted) = &wanted.asked.adopted {
        let flags = &wanted.asked.flags;
        announcements.extend(rules::go_on_with(adopted, flags, &mut rules));
    }
    rules.hints = rules::hints(&wanted.asked.hints);
    rules.flow = match route {
        Some(route) => Some(route),
        None if wanted.session.is_some() && !plays_roles(wanted) => None,
        None => flow::of_tasks(settings, wanted, &goal)?,
    };
    let (agents, role_agents) = workers(settings, wanted, &mut rules, &mut announcements)?;
    let forge = forge::forge(settings, wanted, &goal)?;
    rules.forge = forge.is_some().then(|| forge::rules(settings));
    if settings.lanes.count > 0 && wanted.session.is_none() {
        let list = list.as_ref().ok_or(PlanError::Lanes(NoLanes::NoTasks))?;
        if forge.is_some() {
            return Err(PlanError::Lanes(NoLanes::OnForge));
        }
        lanes::rules(&settings.lanes, list, &scope, &mut rules);
    }
    let tasks_path = tasks.as_ref().map(|tasks| tasks.path.as_path());
    let kind = prompt::built_in_for(list.as_ref(), tasks_path);
    let built_in = (kind, wanted.lang);
    let template = Template::find(
        wanted.layout.root(),
        wanted.asked.template.as_deref(),
        built_in,
    )
    .map_err(PlanError::Template)?;
    let verifier = checks::verifier(settings, &wanted.layout, &rules.checks);
    let e2e = checks::e2e(settings);
    let is_proven = verifier.is_some() || e2e.is_some() || forge.is_some();
    announcements.extend(lacks(settings, wanted, &goal, is_proven));
    let notifier = Notifier::new(wanted.layout.root(), &settings.notify);
    if !notifier.ways.iter().all(Way::is_sound) {
        return Err(PlanError::BadWebhook);
    }
    let promise = rules::promise_rules(settings, list.as_ref(), tasks.as_ref());
    let everybody = [agents.as_slice(), role_agents.as_slice()].concat();
    Ok(Plan {
        layout: wanted.layout.clone(),
        lang: wanted.lang,
        asked: wanted.asked.clone(),
        agents,
        resume_session: settings.agent.session == config::AgentSession::Resume,
        agent_env: settings.agent.env.clone(),
        env_filter: EnvFilter::new(&settings.agent),
        prompter: prompter(settings, wanted, template, &goal, tasks.as_ref(), &promise),
        checkpoint: checkpoint(settings, wanted, &rules),
        rules,
        tasks,
        scope,
        promise,
        verifier,
        reproducer: checks::reproducer(settings),
        permit: wanted.permit,
        role_agents,
        e2e,
        log: wanted.layout.root().join(&settings.log.file),
        log_style: log_style(settings),
        log_max_bytes: settings.log.max_size,
        log_keep: settings.log.keep,
        keeping: Keeping::new(wanted.layout.root(), settings),
        notifier,
        forge,
        snapshots: (settings.snapshots.enabled).then(|| Caps::of(&settings.snapshots)),
        hook_wait: settings.pr.hook_wait,
        output_max: settings.log.agent_output_max,
        idle: Some(settings.limits.idle_timeout).filter(|t| !t.is_zero()),
        menu_wait: Some(settings.limits.menu_timeout).filter(|t| !t.is_zero()),
        grace: GRACE,
        sandbox: wall::Wanted::new(&settings.sandbox, wanted.own_program.clone(), &everybody),
        wall: None,
        announcements,
        list,
        id: None,
        lands: settings.lanes.land,
        trees_take: settings.lanes.disk,
        trees_include: settings.lanes.include.clone(),
        lanes: None,
        setup: Some(settings.lanes.setup.clone())
            .filter(|setup| !setup.is_empty() && settings.lanes.count > 0),
        governor: None,
        env: Vec::new(),
    })
}

/// Whether the subagents of this client can play the roles of each task: its
/// hooks are asked before and told after each call of one.
fn plays_roles(wanted: &Wanted) -> bool {
    wanted.session.as_deref() == Some("claude")
}

/// A goal that is only words needs some.
fn check_prompt(goal: &Goal, wanted: &Wanted) -> Result<(), PlanError> {
    let prompt = wanted.asked.prompt.as_deref().unwrap_or_default();
    match goal {
        Goal::Prompt | Goal::Flow | Goal::PullRequest if prompt.trim().is_empty() => {
            Err(PlanError::EmptyPrompt)
        }
        _ => Ok(()),
    }
}

/// Who works: the chain of agents, and those of single roles. A session works
/// itself.
fn workers(
    settings: &Settings,
    wanted: &Wanted,
    rules: &mut Rules,
    announcements: &mut Vec<Announcement>,
) -> Result<(Vec<Agent>, Vec<Agent>), PlanError> {
    if let Some(client) = &wanted.session {
        rules::live_in(client, rules);
        return Ok((Vec::new(), Vec::new()));
    }
    let agents = chain::agents(settings, wanted, announcements)?;
    rules.agents = agents.iter().map(|agent| agent.name().into()).collect();
    rules.budget = chain::budget(settings, &agents)?;
    let roles = match &rules.flow {
        Some(rules) => chain::role_agents(settings, wanted, &rules.flow)?,
        None => Vec::new(),
    };
    Ok((agents, roles))
}

/// Runs any command within the bounds of every verification.
pub fn reproducer(settings: &Settings) -> Verifier {
    checks::reproducer(settings)
}

/// The verification commands of a project and their bounds.
pub fn verifier(settings: &Settings, layout: &Layout) -> Option<Verifier> {
    checks::verifier(settings, layout, &Default::default())
}

/// What the run has to do without.
fn lacks(settings: &Settings, wanted: &Wanted, goal: &Goal, is_proven: bool) -> Vec<Announcement> {
    let has_tasks = matches!(goal, Goal::Tasks { .. });
    let mut lacks = Vec::new();
    if wanted.session.is_some() && !plays_roles(wanted) && settings.roles.enabled && has_tasks {
        lacks.push(Announcement::RolesOutside);
    }
    if !is_proven {
        lacks.push(match has_tasks {
            true => Announcement::NothingProves,
            false if settings.promise.complete.is_empty() => Announcement::OnlyLimits,
            false => Announcement::OnlyWords,
        });
    }
    if crate::git::find_root(wanted.layout.root()).is_none() {
        let root = wanted.layout.root().to_owned();
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
    promise: &PromiseRules,
) -> Prompter {
    let asked_for = promise.complete.first().or(promise.phase_complete.first());
    let prompt = forge::prompt(settings, wanted, goal);
    Prompter {
        template,
        prompt: prompt.filter(|_| tasks.is_none() || *goal == Goal::Flow),
        tasks_file: tasks.map(|t| t.name.clone()).unwrap_or_default(),
        promise: asked_for.cloned().unwrap_or_default(),
        is_promise_chosen: promise.complete != PromiseRules::default().complete,
        phase_promise: settings.promise.phase_complete.first().cloned(),
        go_on: settings.promise.continue_word.clone(),
        blocked: settings.promise.blocked_prefix.clone(),
        lang: wanted.lang,
        output_dir: settings.checkpoint.dir.clone(),
        spec_files: prompt::spec_files_in_words(tasks.map(|t| t.path.as_path()), wanted.lang),
        state_file: (is_delta(settings) && settings.checkpoint.enabled)
            .then(|| ralph_core::delta::PATH.to_owned()),
    }
}

/// A loop whose work stands in the state file of the seed: what is not there
/// yet is written into it (CONF-05).
fn is_delta(settings: &Settings) -> bool {
    settings.preset.as_deref() == Some("delta") || settings.tasks.source == TaskSource::Delta
}

fn checkpoint(settings: &Settings, wanted: &Wanted, rules: &Rules) -> CheckpointPlan {
    // The state file of the seed belongs to its routes that loop.
    let loops = rules.flow.as_ref().is_some_and(|rules| rules.flow.loops);
    CheckpointPlan {
        enabled: settings.checkpoint.enabled,
        interval: settings.checkpoint.interval,
        backups: settings.checkpoint.backups,
        dir: wanted.layout.checkpoint_dir(&settings.checkpoint.dir),
        delta: is_delta(settings) || loops,
    }
}

/// The preset `sdd` keeps the name and the title that its users know.
fn log_style(settings: &Settings) -> LogStyle {
    match settings.preset.as_deref() {
        Some("sdd") => LogStyle::Sdd,
        _ => LogStyle::Loop,
    }
}

/// What Ralph writes in a project by itself: no work of the agent, wherever the
/// settings put it.
pub fn own_files(root: &Path, settings: &Settings) -> Vec<PathBuf> {
    own_paths(
        root.join(&settings.checkpoint.dir),
        root.join(&settings.history.dir),
        &root.join(&settings.log.file),
        settings.log.keep,
    )
}

fn own_paths(checkpoints: PathBuf, history: PathBuf, log: &Path, kept: u32) -> Vec<PathBuf> {
    let numbered = |n: u32| PathBuf::from(format!("{}.{n}", log.display()));
    let logs = std::iter::once(log.to_owned()).chain((1..=kept).map(numbered));
    [checkpoints, history].into_iter().chain(logs).collect()
}

impl Plan {
    /// [`own_files`], of this plan.
    pub(crate) fn own_files(&self) -> Vec<PathBuf> {
        let history = self.keeping.history.dir().to_owned();
        own_paths(
            self.checkpoint.dir.clone(),
            history,
            &self.log,
            self.log_keep,
        )
    }
}

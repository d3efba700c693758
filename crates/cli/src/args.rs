//! What a person can type. Nothing is read or decided here.

#[cfg(feature = "fleet")]
mod fleet;
mod flow;
mod install;
mod pages;
mod past;
mod plan;
mod pull;
mod session;
mod watching;
mod work;

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use ralph_engine::agents::Client;
use ralph_engine::ledger::By;
use strum::VariantNames;

#[cfg(feature = "fleet")]
pub use fleet::{
    FleetArgs, FleetFetchArgs, FleetInitArgs, FleetListArgs, FleetSubmitArgs, FleetVerb,
    FleetWorkerArgs, ServerArgs,
};
pub use flow::{DoArgs, FlowArgs, FlowVerb};
pub use install::{DoctorArgs, InitArgs, SandboxArgs, SelfCheckArgs, Switch, UninstallArgs};
pub use pages::{McpAct, McpArgs, ReportArgs, WebArgs};
pub use past::{BisectArgs, DiffArgs, RedoArgs, RestoreArgs, ShowArgs, SnapshotsArgs, UndoArgs};
pub use plan::{PlanArgs, PlanFormat, StartArgs};
pub use pull::{PhaseArgs, PullArgs};
pub use session::{LoopArgs, LoopCommand, LoopStartArgs};
pub use watching::{
    AcceptArgs, AnswerArgs, ExtendArgs, FocusArgs, HintArgs, MonitorArgs, ProveArgs, RetryArgs,
    TrustArgs, WhereArgs,
};
pub use work::WorkArgs;

/// Works a task list off with a coding agent, and believes evidence, not words.
#[derive(Debug, Parser)]
#[command(
    name = "ralph",
    version,
    propagate_version = true,
    disable_help_subcommand = true
)]
#[command(after_help = "\
Exit codes: 0 complete · 1 usage or internal error · 2 a hook's block · 3 paused, unproven or cancelled \
· 4 blocked · 5 circuit breaker · 6 errors in a row · 7 verification failed · 8 budget spent · 130 interrupted")]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Clone, Args)]
pub struct Global {
    /// Project directory [default: the Git root above here, or here]
    #[arg(long, global = true, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// One lane of the run with lanes in this project, by its number
    #[arg(long, global = true, value_name = "N")]
    pub lane: Option<u32>,
    /// Language of messages: auto, en, zh-TW, zh-CN
    #[arg(
        long,
        global = true,
        value_name = "LANG",
        value_parser = ["auto", "en", "zh-TW", "zh-CN"],
        hide_possible_values = true
    )]
    pub lang: Option<String>,
    /// Trust what this project brings along, without being asked (see `ralph trust`)
    #[arg(long, global = true)]
    pub trust_project: bool,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Watch a whole loop in a throwaway project: no account, no network
    Demo(DemoArgs),
    /// Let an agent misbehave in a copy of this project, and see what catches it
    Drill(DrillArgs),
    /// Work until the tasks are done, or say exactly why not
    Run(Box<RunArgs>),
    /// Get from nothing to a run, step by step, in a conversation
    Start(StartArgs),
    /// Turn a goal into a list of tasks, each with a check that is red now
    Plan(Box<PlanArgs>),
    /// Give a task the amount of process that it deserves
    Do(Box<DoArgs>),
    /// Take a run up where it was left
    Resume(ResumeArgs),
    /// List, show or check the flows that tasks and runs can go through
    Flow(FlowArgs),
    /// Let the run of this project end after the turn that runs
    Pause,
    /// End the run of this project now, with everything saved
    Stop(StopArgs),
    /// Give the run of this project up, whether it works or is paused
    Cancel,
    /// Let the run of this project wait no longer: try the agent now
    Wake,
    /// Give the run of this project more turns or time, while it goes on
    Extend(ExtendArgs),
    /// Answer a question of the agent; without words, list the open ones
    Answer(AnswerArgs),
    /// Tell the agent something in its next prompt, or in all that follow
    Hint(HintArgs),
    /// Let a task be worked on again, whatever became of it
    Retry(RetryArgs),
    /// Let a task come before the others
    Focus(FocusArgs),
    /// Say that work is right which no check could prove; without tasks, list it
    Accept(AcceptArgs),
    /// Watch runs in the terminal: tasks, output, events, checks, cost, diff
    Monitor(MonitorArgs),
    /// Run the verification commands of the project: exit 0, or 7
    Verify(VerifyArgs),
    /// Make the experiments that prove a task once more, and see each of them
    Prove(ProveArgs),
    /// Start or steer a loop inside a session of an agent's client
    Loop(LoopArgs),
    /// Show what Ralph sees in a task file, or change it, also while a run goes on
    Tasks(TasksArgs),
    /// Show where the loop stands
    Status(StatusArgs),
    /// Show the log
    Logs(LogsArgs),
    /// Show what happened, event by event
    Events(EventsArgs),
    /// Show runs that are over, the newest first
    History(HistoryArgs),
    /// Put a run into the history by hand, or delete old ones
    Archive(ArchiveArgs),
    /// Show the runs of this project as a page on this machine, live
    Web(WebArgs),
    /// Let your own assistant look at the loop, and steer it where you allow it (MCP)
    Mcp(McpArgs),
    /// Tell what became of a run: proven, not proven, cost, and how to go on
    Report(ReportArgs),
    /// Tell one turn: what was said, called, changed and checked, and its cost
    Show(ShowArgs),
    /// Show what a turn changed, new files included
    Diff(DiffArgs),
    /// Find the turn that broke it, by running the checks on what turns left
    Bisect(BisectArgs),
    /// Make the work what it was before a turn
    Undo(UndoArgs),
    /// Take the last undo back
    Redo(RedoArgs),
    /// Put the work as it was after a turn into a directory of its own
    Restore(RestoreArgs),
    /// List what every turn left, or delete that
    Snapshots(SnapshotsArgs),
    /// Show what the agents' calls cost, and what the rest will take
    Cost(CostArgs),
    /// See what this project would execute, and say yes once
    Trust(TrustArgs),
    /// Show who works on what at the same time, what waits to land, and the trees
    Lanes(LanesArgs),
    /// Work on jobs with many machines, over a NATS server
    #[cfg(feature = "fleet")]
    Fleet(Box<FleetArgs>),
    /// Run any command behind the wall that stands around the agent
    Sandbox(SandboxArgs),
    /// Print every place in which something of this project is kept
    Where(WhereArgs),
    /// List the agents that Ralph knows, and which are here
    Agents(AgentsArgs),
    /// Show or check the configuration, or its reference
    Config(ConfigArgs),
    /// List, print or install the prompt templates that are built in
    Templates(TemplatesArgs),
    /// Run or check the quality gate that stands before a pull request
    Gate(GateArgs),
    /// Ask the safety guard, see its rules, check your own
    Guard(GuardArgs),
    /// Install hooks, slash commands and settings into a project
    Init(InitArgs),
    /// Take away exactly what `ralph init` added
    Uninstall(UninstallArgs),
    /// Prove that what is installed works, or say what to do
    Doctor(DoctorArgs),
    /// Tell what this program is, what it can do here, and what is missing
    SelfCheck(SelfCheckArgs),
    /// Answer an agent's hook: payload on standard input, verdict as it wants it
    Hook(HookArgs),
    /// Say where the branch stands: p0, p1, p2, pending or unknown
    Phase(PhaseArgs),
    /// Explain a verb or a topic: ralph help presets
    Help(HelpArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
    /// Write the man pages into a directory
    #[command(hide = true)]
    Man(ManArgs),
}

impl Command {
    /// Whether it is about the project that `--root` names.
    /// Whether all that it prints is read by a program.
    pub fn is_for_programs(&self) -> bool {
        match self {
            Command::Doctor(args) => args.json,
            Command::SelfCheck(args) => args.json,
            Command::Guard(args) => match &args.verb {
                GuardVerb::Test(args) => args.json || args.batch,
                GuardVerb::Explain { json, .. }
                | GuardVerb::Rules { json, .. }
                | GuardVerb::Stats { json }
                | GuardVerb::Scan { json, .. } => *json,
                GuardVerb::CheckRules | GuardVerb::Trust { .. } => false,
            },
            _ => false,
        }
    }

    /// Whether it changes what Ralph obeys or believes, or starts a loop: an
    /// agent gets none of that.
    pub fn acts(&self) -> bool {
        match self {
            Command::Verify(args) => args.baseline || args.forget_baseline,
            Command::Guard(args) => matches!(args.verb, GuardVerb::Trust { .. }),
            Command::Resume(args) => !(args.list || args.show),
            Command::Loop(args) => !matches!(args.command, LoopCommand::Status),
            Command::Accept(args) => args.all || !args.tasks.is_empty(),
            Command::Undo(args) => !args.dry_run,
            Command::Redo(args) => !args.dry_run,
            Command::Snapshots(args) => args.verb.is_some(),
            Command::Lanes(args) => args.verb.is_some(),
            #[cfg(feature = "fleet")]
            Command::Fleet(args) => args.verb.acts(),
            Command::Run(args) => !args.work.dry_run,
            // The loop that plans runs the check itself.
            Command::Plan(args) => args.check.is_none(),
            Command::Do(args) => !(args.work.dry_run || args.explain),
            Command::Tasks(args) => args.verb.steers(),
            Command::Hint(args) => !args.words.is_empty() || args.drop.is_some(),
            Command::Extend(_)
            | Command::Retry(_)
            | Command::Start(_)
            | Command::Focus(_)
            | Command::Cancel
            | Command::Restore(_)
            | Command::Wake
            | Command::Trust(_)
            | Command::Init(_)
            | Command::Uninstall(_)
            | Command::Mcp(_)
            | Command::Archive(_) => true,
            _ => false,
        }
    }

    pub fn needs_project(&self) -> bool {
        !matches!(
            self,
            Command::Demo(_)
                | Command::Help(_)
                | Command::Completions(_)
                | Command::Man(_)
                | Command::SelfCheck(_)
        )
    }
}

#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Leave the project behind to look at
    #[arg(long)]
    pub keep: bool,
    /// Print one JSON event per line
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct DrillArgs {
    /// Only these faults (repeatable); see --list
    #[arg(long, value_name = "NAME", num_args = 1..)]
    pub only: Vec<String>,
    /// List the faults
    #[arg(long, conflicts_with_all = ["only", "keep"])]
    pub list: bool,
    /// Print one JSON object per line
    #[arg(long)]
    pub json: bool,
    /// Leave the copies behind to look at
    #[arg(long)]
    pub keep: bool,
    /// Small floods and short timeouts
    #[arg(long, value_enum, default_value_t = DrillScale::Full, hide = true)]
    pub scale: DrillScale,
    /// Seconds that one fault may take
    #[arg(long, value_name = "N", hide = true)]
    pub deadline: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DrillScale {
    Full,
    Small,
}

#[derive(Debug, Default, Args)]
pub struct RunArgs {
    /// What to do, where there is no task file
    pub prompt: Option<String>,
    /// Task file [default: found in the project]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["prompt", "openspec"])]
    pub tasks: Option<PathBuf>,
    /// Work on openspec/changes/ID/tasks.md
    #[arg(long, value_name = "ID", conflicts_with = "prompt")]
    pub openspec: Option<String>,
    /// Work on this phase only
    #[arg(long, value_name = "N", conflicts_with = "prompt")]
    pub phase: Option<String>,
    #[command(flatten)]
    pub work: WorkArgs,
    /// Agents to drive, the first choice first: on a limit or an outage the next
    /// one takes the turn
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        conflicts_with = "agent"
    )]
    pub agents: Vec<String>,
    /// Defaults to start from: openspec, verify, dev-p0, dev-p1, sdd, delta
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,
    /// Agent calls in an hour: 100/h
    #[arg(long, value_name = "N/h", value_parser = calls_per_hour)]
    pub rate: Option<u32>,
    /// Text in <promise>…</promise> that claims that the work is done
    #[arg(long, value_name = "TEXT")]
    pub completion_promise: Option<String>,
    /// Prompt template [default: .ralph/prompt-template.md, or built in]
    #[arg(long, value_name = "FILE")]
    pub prompt_template: Option<PathBuf>,
    /// Let each task go through developer, reviewer and tester
    #[arg(long, conflicts_with = "prompt")]
    pub roles: bool,
    /// Let nobody review, and say why: it is written down for each task; who tests stays
    #[arg(long, value_name = "REASON", conflicts_with = "prompt")]
    pub no_review: Option<String>,
    /// A word for the agent that it keeps in mind, as `ralph hint --keep` says it later
    #[arg(long = "hint", value_name = "TEXT")]
    pub hints: Vec<String>,
    #[command(flatten)]
    pub pull: PullArgs,
    /// Print one JSON event per line
    #[arg(long, conflicts_with = "quiet")]
    pub json: bool,
    /// Print only how it ended
    #[arg(long, short)]
    pub quiet: bool,
    /// Open loop and monitor side by side in tmux
    #[arg(long, conflicts_with_all = ["json", "quiet", "dry_run"])]
    pub monitor: bool,
    /// Work on so many tasks at once, each in a tree of its own; results land on
    /// a branch, one by one
    #[arg(long, short = 'j', value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64), conflicts_with = "prompt")]
    pub lanes: Option<u32>,
    /// Leave the work tree alone: one lane
    #[arg(long, conflicts_with = "prompt")]
    pub worktree: bool,
    /// The branch that results land on [default: ralph/<run>]
    #[arg(long, value_name = "NAME", conflicts_with = "prompt")]
    pub branch: Option<String>,
    /// Let the current branch take the result in at the end, by fast-forward
    #[arg(long, conflicts_with = "prompt")]
    pub land: bool,
    /// Let the workers of $RALPH_FLEET_SERVER work in the lanes
    #[cfg(feature = "fleet")]
    #[arg(long, requires = "lanes")]
    pub fleet: bool,
}

#[derive(Clone, Debug, Default, Args)]
#[command(group = clap::ArgGroup::new("choice").args(["yes", "restart", "show", "abandon", "list"]))]
pub struct ResumeArgs {
    /// Run or checkpoint to take up [default: the latest run]
    pub run: Option<String>,
    /// Go on from a delta state file or a checkpoint alone: a new run in which its ticks are claims
    #[arg(long, value_name = "FILE", conflicts_with_all = ["run", "list", "from_intact"])]
    pub from: Option<PathBuf>,
    /// Go on without asking
    #[arg(long, short)]
    pub yes: bool,
    /// Start over with what was asked for then
    #[arg(long)]
    pub restart: bool,
    /// Go on from what is intact of a damaged journal; a copy of it is kept
    #[arg(long, conflicts_with_all = ["restart", "show", "abandon"])]
    pub from_intact: bool,
    /// Show where it stands
    #[arg(long)]
    pub show: bool,
    /// Give it up
    #[arg(long)]
    pub abandon: bool,
    /// List all runs and checkpoints
    #[arg(long)]
    pub list: bool,
    /// Agent to go on with: claude, codex, gemini, opencode, copilot, cursor, amp, custom
    #[arg(long, value_name = "NAME", conflicts_with_all = ["show", "abandon", "list"])]
    pub agent: Option<String>,
    /// Any program as the agent to go on with, as for `ralph run`
    #[arg(long, value_name = "CMD", conflicts_with_all = ["agent", "show", "abandon", "list"])]
    pub agent_cmd: Option<String>,
    /// Money that the whole run may cost from now on: 20usd
    #[arg(long, value_name = "MONEY", conflicts_with_all = ["restart", "show", "abandon", "list"])]
    pub max_cost: Option<String>,
    /// Tokens that the whole run may use from now on
    #[arg(long, value_name = "N", conflicts_with_all = ["restart", "show", "abandon", "list"])]
    pub max_tokens: Option<u32>,
    /// Print one JSON event per line
    #[arg(long, conflicts_with = "quiet")]
    pub json: bool,
    /// Print only how it ended
    #[arg(long, short)]
    pub quiet: bool,
}

#[derive(Debug, Args)]
pub struct LanesArgs {
    #[command(subcommand)]
    pub verb: Option<LanesVerb>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Subcommand)]
pub enum LanesVerb {
    /// Delete the trees of lanes whose work is elsewhere
    Clean {
        /// Delete without asking
        #[arg(long, short)]
        yes: bool,
        /// Only say what would be deleted, and why that is safe
        #[arg(long)]
        dry_run: bool,
    },
}

#[derive(Debug, Args)]
pub struct StopArgs {
    /// Kill the agent instead of asking it to end
    #[arg(long)]
    pub now: bool,
}

#[derive(Debug, Args)]
pub struct TasksArgs {
    #[arg(value_enum, default_value_t = TasksVerb::List)]
    pub verb: TasksVerb,
    /// The task, or several for skip and unskip; the words for add
    pub id: Option<String>,
    /// More tasks, or the words for edit
    pub words: Vec<String>,
    /// Command that proves the task that is added (repeatable)
    #[arg(long, value_name = "CMD")]
    pub verify: Vec<String>,
    /// Put it behind this task
    #[arg(long, value_name = "ID")]
    pub after: Option<String>,
    /// Task file [default: found in the project]
    #[arg(long, value_name = "FILE")]
    pub tasks: Option<PathBuf>,
    /// Look at this phase only
    #[arg(long, value_name = "N")]
    pub phase: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Print the graph as a picture (SVG)
    #[arg(long, conflicts_with = "json")]
    pub svg: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TasksVerb {
    /// Every task and its state
    List,
    /// The task that comes next
    Next,
    /// What is doubtful about the file
    Lint,
    /// The order that Ralph sees: what waits for what, and for which files
    Graph,
    /// Mark a task as done: exactly the bytes of its box change
    Tick,
    /// Mark a task as open
    Untick,
    /// Write a new task into the list, with --after ID or --phase N at its place
    Add,
    /// Give a task other words
    Edit,
    /// Put a task behind another (--after ID), or to the front
    Move,
    /// Take away a task that was added
    Remove,
    /// Leave tasks out of this run: they are not done, and its end says so
    Skip,
    /// Ask for skipped tasks again
    Unskip,
}

impl TasksVerb {
    /// Whether it changes what a run works on.
    pub fn steers(self) -> bool {
        use TasksVerb::{Add, Edit, Move, Remove, Skip, Unskip};
        matches!(self, Add | Edit | Move | Remove | Skip | Unskip)
    }
}

#[derive(Debug, Args)]
pub struct StatusArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct CostArgs {
    /// Run to look at [default: all of this project]
    pub run: Option<String>,
    /// What the calls are added up by
    #[arg(long, default_value = "run", value_parser = PossibleValuesParser::new(By::VARIANTS).map(|by| by.parse::<By>().unwrap_or_default()))]
    pub by: By,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// The clients in whose sessions Ralph can sit, by their names.
fn hosts() -> impl TypedValueParser<Value = Client> {
    let names = Client::HOSTS.iter().map(Client::into_str);
    PossibleValuesParser::new(names).map(|name| Client::host(&name).unwrap_or_default())
}

/// `100/h`, or the bare number.
fn calls_per_hour(text: &str) -> Result<u32, String> {
    let number = text.strip_suffix("/h").unwrap_or(text);
    number
        .parse()
        .map_err(|_| "calls in an hour look like 100/h".to_owned())
}

#[derive(Debug, Args)]
pub struct AgentsArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct LogsArgs {
    /// Keep printing what is added
    #[arg(long, short)]
    pub follow: bool,
    /// Lines to show from the end; 0 is all
    #[arg(
        long,
        short = 'n',
        value_name = "N",
        default_value_t = 50,
        allow_negative_numbers = true
    )]
    pub lines: usize,
}

#[derive(Debug, Args)]
pub struct EventsArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Only matching events: event=promise_rejected, level>=WARN, iteration=3
    #[arg(long, value_name = "TERMS")]
    pub filter: Option<String>,
    /// Keep printing what is added
    #[arg(long, short)]
    pub follow: bool,
    /// Run to look at [default: the latest]
    #[arg(long, value_name = "ID")]
    pub run: Option<String>,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct HistoryArgs {
    #[command(subcommand)]
    pub verb: Option<HistoryVerb>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Entries to show; 0 is all
    #[arg(
        long,
        short = 'n',
        value_name = "N",
        default_value_t = 20,
        allow_negative_numbers = true
    )]
    pub limit: usize,
}

#[derive(Debug, Subcommand)]
pub enum HistoryVerb {
    /// Show one run
    Show {
        /// Run, task, or name of the folder
        id: String,
        /// Print its completion report
        #[arg(long, conflicts_with = "json")]
        report: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub struct ArchiveArgs {
    /// Run to archive [default: the latest]
    #[arg(conflicts_with = "prune")]
    pub run: Option<String>,
    /// Archive a run that is not over, too
    #[arg(long, short, conflicts_with = "prune")]
    pub yes: bool,
    /// Delete old runs instead, with their output; the newest stay
    #[arg(long)]
    pub prune: bool,
    /// Archived runs to keep [default: history.keep]
    #[arg(
        long,
        value_name = "N",
        requires = "prune",
        allow_negative_numbers = true
    )]
    pub keep: Option<usize>,
    /// Show what would be deleted, and delete nothing
    #[arg(long, requires = "prune")]
    pub dry_run: bool,
}

#[derive(Debug, Args)]
pub struct ConfigArgs {
    #[command(subcommand)]
    pub verb: ConfigVerb,
}

#[derive(Debug, Subcommand)]
pub enum ConfigVerb {
    /// Print every setting
    Show {
        /// Say where each value comes from
        #[arg(long)]
        origin: bool,
        /// Start from this preset
        #[arg(long, value_name = "NAME")]
        preset: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List every mistake in the configuration
    Check,
    /// Print the reference: every setting, its default and what it means
    Reference,
    /// Print a .ralph/config.toml made from files of other tools
    Migrate,
    /// Print the JSON Schema of a file that people write, for editors
    Schema {
        /// Of which file
        #[arg(long = "for", value_enum, default_value_t = SchemaOf::Config)]
        file: SchemaOf,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SchemaOf {
    /// .ralph/config.toml
    Config,
    /// .ralph/flows/NAME.toml
    Flow,
    /// prd.json
    Prd,
}

#[derive(Debug, Args)]
pub struct TemplatesArgs {
    #[command(subcommand)]
    pub verb: Option<TemplatesVerb>,
}

#[derive(Debug, Subcommand)]
pub enum TemplatesVerb {
    /// Every template, and what it is for
    List,
    /// Print one, in your language
    Show {
        /// spec-kit, generic, flat or plain
        name: String,
    },
    /// Write one to .ralph/prompt-template.md, where runs look for it
    Install {
        /// spec-kit, generic, flat or plain [default: what fits the task file]
        name: Option<String>,
        /// Put it in the place of a template that is there
        #[arg(long)]
        force: bool,
    },
}

#[derive(Debug, Args)]
pub struct GateArgs {
    #[command(subcommand)]
    pub verb: GateVerb,
}

#[derive(Debug, Subcommand)]
pub enum GateVerb {
    /// Run the steps (typecheck, test, build) and write the gate file if all pass
    Run {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Say everything that keeps the gate shut; exit code 7 if anything does
    Check {
        /// For which phase of a pull request
        #[arg(long, value_enum, default_value_t = GatePhase::P0)]
        phase: GatePhase,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GatePhase {
    /// Before the pull request exists
    P0,
    /// While CI judges it
    P1,
}

#[derive(Debug, Args)]
pub struct GuardArgs {
    #[command(subcommand)]
    pub verb: GuardVerb,
}

#[derive(Debug, Subcommand)]
pub enum GuardVerb {
    /// Judge a command, or a call of another tool; exit code 2 if it is blocked
    Test(GuardTestArgs),
    /// Show how a command was understood, and what every rule makes of it
    Explain {
        #[command(flatten)]
        call: GuardCallArgs,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List the built-in rules
    Rules {
        /// Print the reference, with examples
        #[arg(long, conflicts_with = "json")]
        markdown: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show how many calls the hook allowed and blocked
    Stats {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Look for dangerous commands in scripts, Makefiles, package.json and CI files
    Scan {
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Print one JSON object per line
        #[arg(long)]
        json: bool,
    },
    /// Hold your own rules to their examples
    CheckRules,
    /// Confirm what .ralph/config.toml takes away from the guard
    Trust {
        /// Confirm without asking
        #[arg(long, short)]
        yes: bool,
        /// Take the confirmation back
        #[arg(long, conflicts_with = "yes")]
        revoke: bool,
    },
}

#[derive(Debug, Args)]
pub struct GuardTestArgs {
    /// Shell command, or with --tool the input of the tool as JSON
    #[arg(required_unless_present = "batch", conflicts_with = "batch")]
    pub text: Option<String>,
    /// Tool that is called [default: Bash]
    #[arg(long, value_name = "NAME", conflicts_with = "batch")]
    pub tool: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Read one JSON object with tool, input and cwd per line, print one verdict per line
    #[arg(long)]
    pub batch: bool,
}

#[derive(Debug, Args)]
pub struct GuardCallArgs {
    /// Shell command, or with --tool the input of the tool as JSON
    pub text: String,
    /// Tool that is called [default: Bash]
    #[arg(long, value_name = "NAME")]
    pub tool: Option<String>,
}

#[derive(Debug, Args)]
pub struct HookArgs {
    /// The agent that asks [default: seen in its payload]
    #[arg(long, value_name = "HOST", value_parser = hosts())]
    pub host: Option<Client>,
    /// Say a block with exit code 2 and standard error, not with JSON
    #[arg(long)]
    pub exit_code_mode: bool,
    /// The event: pre-tool-use, post-tool-use, user-prompt-submit, stop,
    /// subagent-stop, session-start, session-end
    #[arg(value_parser = ["pre-tool-use", "post-tool-use", "user-prompt-submit", "stop", "subagent-stop", "session-start", "session-end"], hide_possible_values = true)]
    pub event: String,
}

#[derive(Debug, Args)]
pub struct VerifyArgs {
    /// Note what fails now: such a failure does not count against the work later
    #[arg(long)]
    pub baseline: bool,
    /// Forget what was noted
    #[arg(long, conflicts_with = "baseline")]
    pub forget_baseline: bool,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct HelpArgs {
    /// A verb, or a topic: tasks, presets, evidence, limits, hooks, guard, overnight, sdd
    #[arg(value_name = "VERB|TOPIC")]
    pub about: Option<String>,
}

#[derive(Debug, Args)]
pub struct CompletionsArgs {
    pub shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub struct ManArgs {
    pub dir: PathBuf,
}

//! Why a run can't begin, and what to do about it.

use std::path::PathBuf;

use ralph_core::delta::{self, DeltaError, Status};
use ralph_core::lang::{Lang, Say};
use ralph_core::machine::BudgetKind;
use ralph_core::tasks::Pick;
use ralph_core::tr;

use super::forge::WrongBranch;
use crate::agents::SplitError;
use crate::announcement::Unguarded;
use crate::flows::NoFlow;
use crate::lanes::plan::NoLanes;
use crate::prompt::{TemplateError, TemplateFault};
use crate::task_file::ReadError;

/// Why a run can't begin.
#[derive(Clone, Debug, PartialEq, Eq, Say)]
pub enum PlanError {
    #[say("{root}: no task file found (looked for specs/*/tasks.md, .specify/*/tasks.md, tasks.md, openspec/changes/*/tasks.md, prd.json, .ralph/fix_plan.md)\n  write a tasks.md with lines such as `- [ ] T001 what to do`, name a file with --tasks FILE, or give a prompt: ralph run \"…\" --verify 'CMD'", root = root.display())]
    NoTaskFile { root: PathBuf },
    #[say("tasks.source = \"delta\", and there is no {file}: `ralph run --preset delta \"…\"` begins one; for a task list, set tasks.source = \"auto\"", file = delta::PATH)]
    NoDeltaFile,
    /// It is there, and nobody may take it up just so.
    #[say(if *status == Status::InProgress, "{file} is that of a loop in progress: `ralph resume` goes on with it, and in a session \"continue\"; `ralph run --preset delta \"…\"` begins another", file = delta::PATH)]
    #[say("{file} is over ({status}): `ralph run --preset delta \"…\"` begins another; for a task list, set tasks.source = \"auto\"", file = delta::PATH, status = status.into_str())]
    TakenDeltaFile { status: Status },
    #[say("{file} can't be read: {error}; correct it, name a backup with `ralph resume --from FILE`, or begin anew with `ralph run --preset delta \"…\"`, which moves it aside", file = delta::PATH, error = _0.say(lang))]
    TornDeltaFile(DeltaError),
    /// Files are there, and the settings ask for another kind.
    #[say("no task file for tasks.source = \"{source}\"; there is {files}: name it with --tasks FILE, or set tasks.source = \"auto\"", files = files.join(", "))]
    OtherSource {
        files: Vec<String>,
        source: &'static str,
    },
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
    /// Tasks are there, and none of them is one that has to be done (LOOP-05,
    /// TASK-14).
    #[say("{file} has no task that counts: all are optional (tasks.optional_sections: {sections}); move what has to be done to another section, or change that setting", sections = sections.join(", "))]
    OnlyOptional { file: String, sections: Vec<String> },
    /// Checks and evidence of the one would be those of the other.
    #[say(
        "{file}: the id {id} stands on line {first_line} and on line {line}, so that nobody can tell these tasks apart; give one of them another id (`ralph tasks lint` shows all)"
    )]
    DoubledId {
        file: String,
        id: String,
        first_line: usize,
        line: usize,
    },
    #[say(_0.say(lang))]
    Tasks(ReadError),
    #[say(_0.say(lang))]
    Lanes(NoLanes),
    #[say("nothing to do: give a prompt (ralph run \"…\") or a task file (--tasks FILE)")]
    EmptyPrompt,
    #[say(if _0.fault == TemplateFault::Empty, "{path}: the prompt template is empty, so that the agent would be told nothing; write one, or move it away to use the built-in one", path = _0.path.display())]
    #[say(if let TemplateFault::Unreadable(message) = &_0.fault, "{path}: the prompt template can't be read ({message}); make it a readable file of UTF-8 text, or move it away to use the built-in one", path = _0.path.display())]
    #[say("{path}: there is no such prompt template; correct --prompt-template, or leave it out to use the built-in one", path = _0.path.display())]
    Template(TemplateError),
    #[say("agent \"{name}\" is not known; choose one of {known}, or run any program with --agent-cmd 'prog {{prompt_file}}'", known = crate::agents::Client::names().join(", "))]
    UnknownAgent { name: String },
    #[say(
        "the custom agent has no command; give one with --agent-cmd 'prog {{prompt_file}}' or agent.command"
    )]
    NoCommand,
    #[say("the agent's command can't be read: {why}; correct --agent-cmd or agent.command:\n  {line}", why = split_error(error, lang))]
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
        "notify.webhook is no address that could be posted to (it begins with http:// or https:// and has no spaces, and notify.form = \"telegram\" needs notify.chat), or notify.email is no single mail address"
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

impl Say for Unpickable {
    fn say(&self, lang: Lang) -> String {
        let (file, problem) = (&self.file, self.pick.problem(lang).unwrap_or_default());
        tr!(lang, "{file}: {problem}")
    }
}

fn split_error(error: &SplitError, lang: Lang) -> String {
    match error {
        SplitError::Empty => tr!(lang, "it is empty"),
        SplitError::Shell(word) => tr!(
            lang,
            "`{word}` is for a shell, and it is started without one; put all of it behind `sh -c '…'`, or what is meant for the agent in quotes"
        ),
        SplitError::OpenQuote(quote) => tr!(lang, "the quote {quote} is never closed"),
        SplitError::TrailingBackslash => {
            tr!(lang, "it ends with a backslash")
        }
    }
}

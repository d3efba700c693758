//! Why a run can't begin, and what to do about it.

use ralph_core::lang::{Lang, Say};
use ralph_core::machine::BudgetKind;
use ralph_core::{text, tr};

use super::{Announcement, PlanError, Unpickable};
use crate::agents::{self, SplitError};

impl Say for PlanError {
    fn say(&self, lang: Lang) -> String {
        match self {
            PlanError::Branch(wrong) => wrong.say(lang),
            PlanError::NoTaskFile { root } => {
                let root = root.display();
                tr!(
                    lang,
                    "{root}: no task file found (looked for specs/*/tasks.md, .specify/*/tasks.md, tasks.md, openspec/changes/*/tasks.md, prd.json, .ralph/fix_plan.md)\n  write a tasks.md with lines such as `- [ ] T001 what to do`, name a file with --tasks FILE, or give a prompt: ralph run \"…\" --verify 'CMD'"
                )
            }
            PlanError::Ambiguous { files } => {
                let list = files.iter().map(|f| format!("\n  {f}")).collect::<String>();
                tr!(
                    lang,
                    "several unfinished task files, the newest first; say which one with --tasks FILE:{list}"
                )
            }
            PlanError::NoSuchChange { id, known } if known.is_empty() => tr!(
                lang,
                "openspec/changes/{id}/tasks.md: there is no such change, and no other in openspec/changes; write this file, or leave --openspec out"
            ),
            PlanError::NoSuchChange { id, known } => {
                let known = known.join(", ");
                tr!(
                    lang,
                    "openspec/changes/{id}/tasks.md: there is no such change; name one of these with --openspec ID: {known}"
                )
            }
            PlanError::NoSuchPhase { phase, known, file } if known.is_empty() => tr!(
                lang,
                "{file}: there is no phase {phase}, the file has no phases at all; leave --phase out"
            ),
            PlanError::NoSuchPhase { phase, known, file } => {
                let known = known.join(", ");
                tr!(
                    lang,
                    "{file}: there is no phase {phase} with tasks; choose one of these with --phase N: {known}"
                )
            }
            PlanError::Tasks(error) => error.say(lang),
            PlanError::EmptyPrompt => tr!(
                lang,
                "nothing to do: give a prompt (ralph run \"…\") or a task file (--tasks FILE)"
            ),
            PlanError::Template(error) => {
                let path = error.path.display();
                match &error.message {
                    None => tr!(
                        lang,
                        "{path}: there is no such prompt template; correct --prompt-template, or leave it out to use the built-in one"
                    ),
                    Some(message) => tr!(
                        lang,
                        "{path}: the prompt template can't be read ({message}); make it a readable file of UTF-8 text, or move it away to use the built-in one"
                    ),
                }
            }
            PlanError::UnknownAgent { name } => {
                let known = agents::Client::names().join(", ");
                tr!(
                    lang,
                    "agent \"{name}\" is not known; choose one of {known}, or run any program with --agent-cmd 'prog {{prompt_file}}'"
                )
            }
            PlanError::BadWebhook => tr!(
                lang,
                "notify.webhook is no address that could be posted to; it begins with http:// or https:// and has no spaces"
            ),
            PlanError::NoCommand => tr!(
                lang,
                "the custom agent has no command; give one with --agent-cmd 'prog {{prompt_file}}' or agent.command"
            ),
            PlanError::BadCommand { line, error } => {
                let why = split_error(*error, lang);
                tr!(
                    lang,
                    "the agent's command can't be read: {why}; correct --agent-cmd or agent.command:\n  {line}"
                )
            }
            PlanError::Unguarded { agent, why } => {
                let why = why.say(lang);
                tr!(
                    lang,
                    "{agent} would work without its permission questions, and nothing of Ralph's would judge what it does: {why}; say --allow-unsafe if that is what you want, or let it ask with agent.permissions = \"default\""
                )
            }
            PlanError::Unmeasured { agent, kind } => match kind {
                BudgetKind::Cost => tr!(
                    lang,
                    "{agent} does not report what it costs, so that a budget of money can't be kept; limit --max-tokens, --max-iterations or --max-duration instead, or choose an agent that reports its cost (`ralph agents`)"
                ),
                BudgetKind::Tokens => tr!(
                    lang,
                    "{agent} does not report its tokens, so that a budget of tokens can't be kept; limit --max-iterations or --max-duration instead, or choose an agent that reports its tokens (`ralph agents`)"
                ),
            },
            PlanError::AgentNotFound { program } => tr!(
                lang,
                "{program}: command not found; install it, correct its path, or choose another agent with --agent or --agent-cmd"
            ),
            PlanError::AgentNotExecutable { program } => {
                let program = program.display();
                tr!(
                    lang,
                    "{program} is there, but can't be run; make it executable with `chmod +x {program}`, or choose another agent with --agent or --agent-cmd"
                )
            }
            PlanError::Unpickable(error) => error.say(lang),
            PlanError::Flow(error) => error.say(lang),
            PlanError::RootMissing { root } => {
                let root = root.display();
                tr!(lang, "{root}: there is no such directory; correct --root")
            }
        }
    }
}

impl Say for Unpickable {
    fn say(&self, lang: Lang) -> String {
        let (file, problem) = (&self.file, self.pick.problem(lang).unwrap_or_default());
        tr!(lang, "{file}: {problem}")
    }
}

fn split_error(error: SplitError, lang: Lang) -> String {
    match error {
        SplitError::Empty => tr!(lang, "it is empty"),
        SplitError::OpenQuote(quote) => tr!(lang, "the quote {quote} is never closed"),
        SplitError::TrailingBackslash => {
            tr!(lang, "it ends with a backslash")
        }
    }
}

impl Say for Announcement {
    fn say(&self, lang: Lang) -> String {
        match self {
            Announcement::Chosen { file, others } => {
                let others = others.join(", ");
                tr!(
                    lang,
                    "working on {file}, the newest unfinished task file (others: {others}; choose with --tasks)"
                )
            }
            Announcement::NotAGitProject { root } => {
                let root = root.display();
                tr!(
                    lang,
                    "{root} is not a Git project: progress is judged by the files alone, and nothing can be undone with git"
                )
            }
            Announcement::OnlyWords => tr!(
                lang,
                "nothing can prove that the work is done: the loop will stop when the agent says so; name a check with --verify 'CMD'"
            ),
            Announcement::NothingProves => tr!(
                lang,
                "no verification is set up (--verify 'CMD'): ticks are the agent's own claims"
            ),
            Announcement::Guarded { agent } => tr!(
                lang,
                "Ralph's guard judges each tool call of {agent} before it runs; it is a rail, not a sandbox (docs/guard.md)"
            ),
            Announcement::Unguarded { agent, why } => {
                let why = why.say(lang);
                tr!(
                    lang,
                    "{agent} works without its permission questions and without Ralph's guard: {why}"
                )
            }
            Announcement::PermissionsKept => tr!(
                lang,
                "the agent's permission questions stay on, and nobody will answer them; --allow-unsafe switches them off"
            ),
            Announcement::NotProjected { error } => {
                let error = error.say(lang);
                tr!(
                    lang,
                    "{error} (the run goes on: its journal is what counts, the checkpoint is only a copy)"
                )
            }
            Announcement::CheckpointDamaged { dir, refused } => {
                let dir = dir.display();
                let refused: Vec<String> = refused.iter().map(|r| r.say(lang)).collect();
                let refused = refused.join("; ");
                tr!(
                    lang,
                    "damaged checkpoint in {dir} ({refused}); it is written anew from the journal"
                )
            }
            Announcement::DeltaMovedAside { from, to, error } => {
                let (from, to, error) = (from.display(), to.display(), error.say(lang));
                tr!(
                    lang,
                    "{from} can't be read: {error}; it was moved to {to}, and a new one is written"
                )
            }
            Announcement::Changed {
                tasks,
                files,
                commit,
                branch,
            } => {
                let on = branch.clone().unwrap_or_default();
                let what = [
                    (branch.is_some(), tr!(lang, "the branch (now {on})")),
                    (*tasks, tr!(lang, "the task file")),
                    (*files, tr!(lang, "the files")),
                    (*commit, tr!(lang, "the commit")),
                ];
                let what: Vec<String> = what
                    .into_iter()
                    .filter(|(changed, _)| *changed)
                    .map(|(_, w)| w)
                    .collect();
                let what = what.join(&tr!(lang, ", "));
                tr!(lang, "changed since the run stopped: {what}")
            }
            Announcement::OutputLost { file, message } => {
                let file = file.display();
                tr!(
                    lang,
                    "{file}: the agent's output could not be kept ({message}); make room, the run goes on"
                )
            }
            Announcement::NotKept { error } => {
                let error = error.say(lang);
                tr!(
                    lang,
                    "{error} (the run goes on without it, since the journal has everything)"
                )
            }
            Announcement::RecordTorn => tr!(
                lang,
                "the last record of the journal was incomplete, since the process died while it wrote; the run goes on from the record before"
            ),
            Announcement::OrphansEnded { count } => {
                tr!(lang, "processes that outlived the turn were ended: {count}")
            }
            Announcement::OutputCut { file, dropped } => {
                let file = file.display();
                tr!(
                    lang,
                    "{file}: the agent said more than log.agent_output_max; {dropped} bytes between the beginning and the end were dropped"
                )
            }
            Announcement::SurvivorsEnded { count } => {
                tr!(lang, "processes that outlived the run were ended: {count}")
            }
            Announcement::StillAlive { pids } => {
                let pids: Vec<String> = pids.iter().map(ToString::to_string).collect();
                let pids = pids.join(", ");
                tr!(
                    lang,
                    "processes that could not be ended: {pids}; look at them with `ps -fp`, they may still edit files"
                )
            }
            Announcement::Reaped { run, count } => tr!(
                lang,
                "run {run} had died; processes of it that were still at work were ended: {count}"
            ),
            Announcement::Leaked => tr!(
                lang,
                "the agent left a process behind that kept its output open; it was ended"
            ),
            Announcement::Archived { to } => {
                let to = to.display();
                tr!(lang, "archived to {to}")
            }
            Announcement::ChangeStays { id, message } => tr!(
                lang,
                "the OpenSpec change {id} was not archived: {message}; archive it by hand"
            ),
            Announcement::NotArchived { message } => tr!(
                lang,
                "not archived: {message}; the run itself is saved, `ralph archive` tries again"
            ),
            Announcement::NotTold { undelivered } => {
                let (way, why) = (undelivered.way.say(lang), &undelivered.why);
                tr!(
                    lang,
                    "a notification was not delivered ({way}): {why}; see [notify] in .ralph/config.toml"
                )
            }
            Announcement::NotPruned { message } => tr!(
                lang,
                "old runs could not be deleted: {message}; `ralph archive --prune` tries again"
            ),
            Announcement::Pruned { runs } => {
                let names: Vec<&str> = runs.iter().map(|run| run.name.as_str()).collect();
                let names = names.join(", ");
                let size = megabytes(runs.iter().map(|run| run.bytes).sum());
                tr!(
                    lang,
                    "old runs deleted with their output (history.keep), {size}: {names}"
                )
            }
            Announcement::StopFile { path, stays } => {
                let path = path.display();
                match stays {
                    None => tr!(
                        lang,
                        "{path} is there: the run stops, as with `ralph stop`; the file is removed"
                    ),
                    Some(why) => tr!(
                        lang,
                        "{path} is there: the run stops, as with `ralph stop`; remove the file yourself before the next run ({why})"
                    ),
                }
            }
            Announcement::IndexLocked { path, age } => {
                let (path, age) = (path.display(), text::duration::human(lang, *age));
                tr!(
                    lang,
                    "{path} is {age} old: a git that was killed left it, and no other can commit while it is there; if no git is at work here, remove that file yourself"
                )
            }
            Announcement::RolesOutside => tr!(
                lang,
                "roles are set up, but one session is one agent: nobody reviews or tests its work here; `ralph run` plays the roles, each as a call of its own"
            ),
            Announcement::Lingered => tr!(
                lang,
                "the agent had told its result and did not exit; it was ended, and the result counts"
            ),
            Announcement::UnknownVariable { name, template } => {
                let template = template.display();
                tr!(
                    lang,
                    "{template}: {name} is no variable of Ralph's and stays as it is"
                )
            }
        }
    }
}

/// `12.3 MB`, the same in every language.
pub fn megabytes(bytes: u64) -> String {
    let tenths = bytes / 100_000;
    format!("{}.{} MB", tenths / 10, tenths % 10)
}

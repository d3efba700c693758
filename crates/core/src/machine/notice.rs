//! What the loop has to tell, as data: the line of the event log (EVNT-01),
//! the line of the log file and the text on the screen are made from it.

use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::WaitReason;
use super::say::{commands, outcome_words, place, progress_words, seconds, span, tally};
use super::{
    Bill, BreakerRule, CheckNotice, CommandResult, Denial, Detail, ErrorClass, Evidence,
    EvidenceKinds, GuardBlock, LaneNotice, Level, Limit, Missing, Now, Outcome, PauseReason, Proof,
    QuestionNotice, Refusal, SessionNotice, Sign, Steer, TaskRef, WallFacts, iso_utc,
};
use crate::flow::FlowNotice;
use crate::forge::ForgeNotice;
use crate::lang::{Lang, Say, said};
use crate::promise::Promise;
use crate::tasks::{Counts, Waiting};
use crate::text;
use crate::text::duration::plural;
use crate::tr;
use crate::wire;

/// Its fields in the event log are in the order of EVNT-01.
#[derive(Clone, Debug, PartialEq, Serialize, strum::IntoStaticStr, Say)]
#[serde(untagged)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Notice {
    #[say(if tasks.total == 0, "loop started")]
    #[say("loop started: {completed}/{total} {tasks_en} done, {pending} to do", Counts { total, completed, pending } = tasks, tasks_en = plural(*total, "task", "tasks"))]
    LoopStart { tasks: Counts },
    #[say("taken up again after iteration {iteration}")]
    Resume { iteration: u32 },
    #[say("iteration {iteration}{phase}{task}", (phase, task) = place(phase.as_deref(), task.as_ref()))]
    IterationStart {
        iteration: u32,
        #[serde(serialize_with = "phase_number")]
        phase: Option<String>,
        #[serde(serialize_with = "task_id")]
        task: Option<TaskRef>,
    },
    /// Tasks that were passed over (TASK-10).
    #[say("passed over: {tasks}", tasks = said(waiting, ", ", lang))]
    TasksWaiting {
        iteration: u32,
        #[serde(rename = "tasks")]
        waiting: Vec<Waiting>,
    },
    #[say("iteration {iteration} tries again after {class}", class = class.into_str())]
    IterationRetry {
        iteration: u32,
        #[serde(rename = "reason", serialize_with = "wire::name")]
        class: ErrorClass,
    },
    /// It is started again within the turn, and no error is counted yet.
    #[say("{message}; it is started again", message = detail.say(lang))]
    AgentNotStarted {
        iteration: u32,
        #[serde(rename = "reason", serialize_with = "wire::name")]
        class: ErrorClass,
        #[serde(rename = "message", serialize_with = "wire::english")]
        detail: Detail,
    },
    #[say("iteration {iteration} ended after {seconds} s{tasks} · {progress}", seconds = seconds(*duration_ms), progress = progress_words(evidence, lang), tasks = tally(tasks.completed, tasks.total))]
    IterationComplete {
        iteration: u32,
        #[serde(serialize_with = "phase_number")]
        phase: Option<String>,
        #[serde(rename = "subtasks_done")]
        newly_done: usize,
        #[serde(rename = "progress", serialize_with = "wire::names")]
        evidence: Vec<Evidence>,
        #[serde(serialize_with = "done_of_all")]
        tasks: Counts,
        duration_ms: u64,
    },
    #[say("promise: {promise}")]
    PromiseDetected {
        iteration: u32,
        #[serde(serialize_with = "wire::display")]
        promise: Promise,
    },
    #[say("no promise in the answer ({in_a_row} in a row)")]
    PromiseMissing {
        iteration: u32,
        #[serde(rename = "count")]
        in_a_row: u32,
    },
    #[say("rejected: the agent claims \"{claim}\", but: {missing}", missing = missing.iter().map(|m| m.say(lang)).collect::<Vec<_>>().join("; "))]
    #[serde(serialize_with = "rejected")]
    PromiseRejected {
        iteration: u32,
        claim: String,
        missing: Vec<Missing>,
    },
    #[say(if looked.tasks && looked.commit && looked.tree, "no progress ({in_a_row} in a row): nothing new in ticks, commits or files")]
    #[say(if *looked == EvidenceKinds::NONE, "no progress ({in_a_row} in a row): nothing that counts can be seen here; see progress.evidence")]
    #[say("no progress ({in_a_row} in a row): nothing new in {looked}", looked = looked.names(lang))]
    Stalled {
        iteration: u32,
        #[serde(rename = "count")]
        in_a_row: u32,
        /// What could have shown progress (BRKR-03).
        #[serde(skip)]
        looked: EvidenceKinds,
    },
    #[say("tasks were removed from the task file: {ids}; a shorter list proves nothing (where a person means it: `ralph run` begins with the list as it is)", ids = ids.join(", "))]
    TasksRemoved {
        iteration: u32,
        #[serde(rename = "tasks")]
        ids: Vec<String>,
    },
    #[say("tasks say something else than before: {ids}; until they say what they said, nothing is complete", ids = ids.join(", "))]
    TasksReworded {
        iteration: u32,
        #[serde(rename = "tasks")]
        ids: Vec<String>,
    },
    /// It may be a remark, and it may say that the work is not done.
    #[say("words were added to tasks: {tasks}", tasks = tasks.iter().map(TaskRef::name).collect::<Vec<_>>().join("; "))]
    TasksRemarked { iteration: u32, tasks: Vec<TaskRef> },
    /// They may have been notes, and they may have said what is asked for.
    #[say("lines below tasks are gone: {tasks}", tasks = tasks.iter().map(TaskRef::name).collect::<Vec<_>>().join("; "))]
    TasksThinned { iteration: u32, tasks: Vec<TaskRef> },
    #[say("tasks that were done are open again: {ids}", ids = ids.join(", "))]
    TasksUnticked {
        iteration: u32,
        #[serde(rename = "tasks")]
        ids: Vec<String>,
    },
    /// A person left them out of this run.
    #[say("left out of this run: {ids}", ids = ids.join(", "))]
    TasksSkipped {
        iteration: u32,
        #[serde(rename = "tasks")]
        ids: Vec<String>,
    },
    #[say("{class}: {message} ({in_a_row} in a row)", class = class.into_str(), message = detail.say(lang))]
    Error {
        iteration: u32,
        #[serde(rename = "reason", serialize_with = "wire::name")]
        class: ErrorClass,
        #[serde(rename = "message", serialize_with = "wire::english")]
        detail: Detail,
        #[serde(rename = "count")]
        in_a_row: u32,
    },
    /// The agent's service would not do the work; the turn is made again.
    #[say(if let Some(ms) = held_ms, "{agent}: {why} (for {held}); this turn is not counted", (why, held) = (refusal.say(lang), span(*ms, lang)))]
    #[say("{agent}: {why}; this turn is not counted", why = refusal.say(lang))]
    AgentRefused {
        iteration: u32,
        #[serde(rename = "reason", serialize_with = "wire::name")]
        refusal: Refusal,
        agent: String,
        /// When it can be called again, where that is known.
        #[serde(serialize_with = "wire::time")]
        until: Option<i64>,
        /// The same as a time from now: people read it on no clock but theirs.
        #[serde(skip)]
        held_ms: Option<u64>,
        #[serde(rename = "message")]
        words: String,
    },
    #[say("{to} takes the turn instead of {from}")]
    AgentSwitched {
        iteration: u32,
        from: String,
        to: String,
    },
    /// A call was ended because it used more than it may.
    #[say("iteration {iteration} was ended: it used more than it may")]
    OverBudget { iteration: u32 },
    /// A call was ended because its client does not ask our guard.
    #[say("iteration {iteration} was ended: {tool} ran and the guard was not asked")]
    Unguarded { iteration: u32, tool: String },
    #[say("verifying")]
    GateStart { iteration: u32 },
    #[say(if *passed, "verification passed: {commands}", commands = commands(results))]
    #[say("verification failed: {commands}", failed: Vec<_> = results.iter().filter(|r| r.exit != Some(0)).cloned().collect(), commands = commands(&failed))]
    GateResult {
        iteration: u32,
        passed: bool,
        #[serde(rename = "commands", serialize_with = "commands_run")]
        results: Vec<CommandResult>,
    },
    #[say("iteration {iteration} of {max}: {left} left after this one", left = max.saturating_sub(*iteration))]
    LimitNear {
        iteration: u32,
        #[serde(rename = "max_iterations")]
        max: u32,
    },
    #[say(if let Limit::Iterations = limit, "the limit of iterations is reached")]
    #[say(if let Limit::Duration = limit, "the limit of time is reached")]
    #[say("the limit of agent calls is reached")]
    LimitReached {
        iteration: u32,
        #[serde(rename = "reason", serialize_with = "wire::name")]
        limit: Limit,
    },
    #[say(if let Limit::Iterations = limit, "limit extended: {max} {iterations_en}", iterations_en = plural(*max as usize, "iteration", "iterations"))]
    #[say(if let Limit::Duration = limit, "limit extended: {seconds} s in all", seconds = seconds(*max))]
    #[say("limit extended: {max} agent calls")]
    #[serde(serialize_with = "extended")]
    LimitExtended {
        iteration: u32,
        limit: Limit,
        /// Iterations or milliseconds, as the limit counts.
        max: u64,
    },
    #[say(rule.opened(*count, lang))]
    BreakerOpen {
        iteration: u32,
        #[serde(rename = "reason")]
        rule: BreakerRule,
        count: u32,
        #[serde(rename = "evidence", serialize_with = "wire::all_english")]
        signs: Vec<Sign>,
    },
    /// The turn that was tried after its cooldown went well (BRKR-06).
    #[say("the circuit breaker is closed again: the turn after its cooldown went well")]
    BreakerClosed { iteration: u32 },
    #[say(if let WaitReason::Between = why, "pausing {seconds} s", seconds = seconds(*ms))]
    #[say(if let WaitReason::Backoff = why, "trying again in {seconds} s", seconds = seconds(*ms))]
    #[say(if let WaitReason::Limit = why, "at the usage limit: asks again in {span}; at once: `ralph wake`", span = span(*ms, lang))]
    #[say(if let WaitReason::Overload = why, "the agent's service is overloaded or does not answer: trying again in {span}; at once: `ralph wake`", span = span(*ms, lang))]
    #[say(if let WaitReason::Ci = why, "next look at CI in {left}", left = span(*ms, lang))]
    #[say(if let WaitReason::Answer = why, "everything that is left waits for an answer: `ralph answer`; waiting {span}", span = span(*ms, lang))]
    #[say(if let WaitReason::Cooldown = why, "the circuit breaker is open: one more turn is tried in {span}; at once: `ralph wake`", span = span(*ms, lang))]
    #[say("the hourly rate is used up: waiting {span}; at once: `ralph wake`", span = span(*ms, lang))]
    Wait {
        iteration: u32,
        #[serde(rename = "reason", serialize_with = "wire::name")]
        why: WaitReason,
        #[serde(rename = "duration_ms")]
        ms: u64,
    },
    #[say(if let PauseReason::Limit(_) = reason, "paused at a limit; everything is saved")]
    #[say(if let PauseReason::Requested = reason, "paused as asked; everything is saved")]
    #[say(if let PauseReason::Agent(need) = reason, need.say(lang))]
    #[say(if let PauseReason::Escalated(why) = reason, why.say(lang))]
    #[say(if let PauseReason::Question = reason, "everything that is left waits for an answer: `ralph answer`, then `ralph resume`")]
    #[say(if let PauseReason::Depends = reason, "no open task can be started; finish what they wait for, or correct their `depends`, then `ralph resume`")]
    #[say(if let PauseReason::Unproven = reason, "the agent says that it is done, and nothing was set up that could prove it")]
    #[say(if let PauseReason::Unguarded = reason, "the client ran a tool without asking the guard: see what took its hook away (`ralph doctor`), then `ralph resume`")]
    #[say(if let PauseReason::Forge(need) = reason, need.say(lang))]
    #[say("the disk does not take what has to be written; make room, then `ralph resume`")]
    Pause {
        iteration: u32,
        #[serde(serialize_with = "wire::name")]
        reason: PauseReason,
    },
    #[say("everything is done")]
    TaskComplete { iteration: u32 },
    #[say(if !skipped.is_empty(), "loop ended after {iterations} {iterations_en}: {name} (skipped by a person: {skipped})", iterations_en = plural(*iterations as usize, "iteration", "iterations"), name = outcome_words(outcome, lang), skipped = skipped.join(", "))]
    #[say("loop ended after {iterations} {iterations_en}: {name}", iterations_en = plural(*iterations as usize, "iteration", "iterations"), name = outcome_words(outcome, lang))]
    LoopEnd {
        #[serde(flatten, serialize_with = "ending")]
        outcome: Outcome,
        iterations: u32,
        tasks: Counts,
        duration_ms: u64,
        proven: Vec<Proof>,
        /// Tasks that a person took out: they are not done.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        skipped: Vec<String>,
        #[serde(rename = "usage")]
        bill: Bill,
    },
    /// A person steered the run.
    #[say(steer.say(lang))]
    Steered {
        iteration: u32,
        #[serde(flatten)]
        steer: Steer,
    },
    /// The guard did not let a tool call of the agent pass.
    #[say(if block.shadow, "the guard would have blocked {tool}: {detail} [{rule}] (shadow mode)", (tool, rule) = (&block.tool, &block.rule), detail = &block.detail)]
    #[say("the guard blocked {tool}: {detail} [{rule}]", (tool, rule) = (&block.tool, &block.rule), detail = &block.detail)]
    GuardBlock {
        iteration: u32,
        #[serde(flatten, serialize_with = "blocked")]
        block: GuardBlock,
    },
    /// What stands around the agent and the checks.
    #[say(wall.say(lang))]
    Sandbox {
        #[serde(flatten)]
        wall: WallFacts,
    },
    /// The wall held something back.
    #[say("the sandbox closed {target}; {setting} would allow it", (target, setting) = (&denial.target, &denial.setting))]
    SandboxDenied {
        iteration: u32,
        #[serde(flatten)]
        denial: Denial,
    },
    /// Ticks, weakened checks, end-to-end tests.
    #[say(_0.say(lang))]
    Check(CheckNotice),
    /// A question of the agent, or what became of it.
    #[say(_0.say(lang))]
    Question(QuestionNotice),
    /// The run is over and goes into the history under this name (EVNT-04).
    #[say("archived as {name}")]
    Archive { name: String },
    /// A person brought the work back, or took that back.
    #[say(if *redo, "undo taken back: the work stands as after iteration {iteration} ({files} {files_en})", files_en = plural(*files, "file", "files"))]
    #[say("undone: the work stands as after iteration {iteration} ({files} {files_en})", files_en = plural(*files, "file", "files"))]
    Undone {
        iteration: u32,
        files: usize,
        redo: bool,
    },
    /// About roles and phases.
    #[say(_0.say(lang))]
    Flow(FlowNotice),
    #[say(_0.say(lang))]
    Lane(LaneNotice),
    /// About the pull request and CI.
    #[say(notice.say(lang))]
    Forge {
        #[serde(flatten)]
        notice: ForgeNotice,
        iteration: u32,
    },
    #[say(_0.say(lang))]
    Session(SessionNotice),
}

impl Notice {
    /// The name of the event (EVNT-01, EVNT-04).
    pub fn event(&self) -> &'static str {
        match self {
            Notice::Check(notice) => notice.into_str(),
            Notice::Question(notice) => notice.into_str(),
            Notice::Flow(notice) => notice.into_str(),
            Notice::Lane(notice) => notice.into_str(),
            Notice::Forge { notice, .. } => notice.into_str(),
            Notice::Session(notice) => notice.into_str(),
            notice => notice.into_str(),
        }
    }

    /// What people read of it: what is said, and why work was sent back.
    pub fn words(&self, lang: Lang) -> String {
        let said = self.say(lang);
        match self {
            Notice::Flow(FlowNotice::Answered { why, .. }) => match why.say(lang).as_str() {
                "" => said,
                why => tr!(lang, "{said}: {why}"),
            },
            _ => said,
        }
    }

    pub fn level(&self) -> Level {
        match self {
            Notice::Error { .. } | Notice::BreakerOpen { .. } | Notice::Unguarded { .. } => {
                Level::Error
            }
            Notice::IterationRetry { .. }
            | Notice::AgentNotStarted { .. }
            | Notice::PromiseMissing { .. }
            | Notice::PromiseRejected { .. }
            | Notice::Stalled { .. }
            | Notice::TasksRemoved { .. }
            | Notice::TasksReworded { .. }
            | Notice::TasksThinned { .. }
            | Notice::TasksUnticked { .. }
            | Notice::TasksSkipped { .. }
            | Notice::AgentRefused { .. }
            | Notice::AgentSwitched { .. }
            | Notice::OverBudget { .. }
            | Notice::LimitNear { .. }
            | Notice::LimitReached { .. }
            | Notice::GuardBlock { .. }
            | Notice::SandboxDenied { .. }
            | Notice::Pause { .. } => Level::Warn,
            Notice::Sandbox { wall } => match wall.stands() {
                true => Level::Info,
                false => Level::Warn,
            },
            Notice::Flow(notice) => notice.level(),
            Notice::Lane(notice) => notice.level(),
            Notice::Check(notice) => notice.level(),
            Notice::Forge { notice, .. } => notice.level(),
            Notice::Question(notice) => notice.level(),
            Notice::GateResult { passed, .. } if !passed => Level::Warn,
            Notice::LoopEnd { outcome, .. } => match outcome {
                Outcome::Complete => Level::Info,
                Outcome::Errors | Outcome::CircuitBreak { .. } | Outcome::GateFailed { .. } => {
                    Level::Error
                }
                _ => Level::Warn,
            },
            _ => Level::Info,
        }
    }

    /// One line of the event log, in the order of keys that EVNT-01 shows.
    pub fn line(&self, at: Now) -> Value {
        let mut line = Map::new();
        line.insert("ts".into(), iso_utc(at.wall_ms).into());
        line.insert("level".into(), self.level().into_str().into());
        line.insert("event".into(), self.event().into());
        if let Ok(Value::Object(fields)) = serde_json::to_value(self) {
            line.extend(fields.into_iter().filter(|(_, v)| !v.is_null()));
        }
        let mut line = Value::Object(line);
        text::redact_values(&mut line);
        line
    }
}

/// Programs and agents read reasons in one language.
pub(super) fn english(reasons: &[impl Say]) -> Vec<String> {
    reasons.iter().map(|reason| reason.say(Lang::En)).collect()
}

/// EVNT-01 has whole numbers as phases; a key that is none stays a string.
fn phase_number<S: Serializer>(phase: &Option<String>, to: S) -> Result<S::Ok, S::Error> {
    let number = phase.as_ref().and_then(|key| key.parse::<u64>().ok());
    match number {
        Some(number) => number.serialize(to),
        None => phase.serialize(to),
    }
}

fn task_id<S: Serializer>(task: &Option<TaskRef>, to: S) -> Result<S::Ok, S::Error> {
    task.as_ref().map(|task| &task.id).serialize(to)
}

fn done_of_all<S: Serializer>(tasks: &Counts, to: S) -> Result<S::Ok, S::Error> {
    json!({"total": tasks.total, "completed": tasks.completed}).serialize(to)
}

fn rejected<S: Serializer>(
    iteration: &u32,
    claim: &str,
    missing: &[Missing],
    to: S,
) -> Result<S::Ok, S::Error> {
    let missing = english(missing);
    let reason = missing.join("; ");
    json!({"iteration": iteration, "reason": reason, "promise": claim, "missing": missing})
        .serialize(to)
}

/// The key says what the limit counts.
fn extended<S: Serializer>(
    iteration: &u32,
    limit: &Limit,
    max: &u64,
    to: S,
) -> Result<S::Ok, S::Error> {
    let key = match limit {
        Limit::Duration => "max_duration_ms",
        limit => limit.into_str(),
    };
    json!({"iteration": iteration, "reason": limit.into_str(), key: max}).serialize(to)
}

fn ending<S: Serializer>(outcome: &Outcome, to: S) -> Result<S::Ok, S::Error> {
    let reason = Some(outcome.reason()).filter(|reason| !reason.is_empty());
    json!({"outcome": outcome.into_str(), "reason": reason, "exit_code": outcome.exit_code()})
        .serialize(to)
}

fn blocked<S: Serializer>(block: &GuardBlock, to: S) -> Result<S::Ok, S::Error> {
    let shadow = block.shadow.then_some(true);
    json!({"tool": block.tool, "rule": block.rule, "detail": block.detail, "shadow": shadow})
        .serialize(to)
}

fn commands_run<S: Serializer>(results: &[CommandResult], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(results.iter().map(CommandResult::to_json))
}

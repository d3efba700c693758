//! What the machine has to know of a list of tasks.

use ralph_core::flow;
use ralph_core::machine::{FlowFacts, PhaseFacts, TaskFacts, TaskRef};
use ralph_core::tasks::{self, Changes, Pick, Scope, TaskList};
use ralph_core::text;
use sha2::{Digest, Sha256};

/// How many tasks are known that could be worked on: more than there can be
/// open questions.
const READY_SHOWN: usize = 8;
/// How many open tasks are named in messages.
pub(super) const OPEN_SHOWN: usize = 5;
/// How much of a task's text goes into the journal and into messages.
pub(super) const TEXT_COLUMNS: usize = 120;

/// What the machine needs to know of a list.
pub fn facts(list: &TaskList, scope: &Scope) -> TaskFacts {
    let counts = list.counts(scope);
    let task_ref = |task| task_ref(list, task);
    let (next, mut waiting) = match list.pick(scope) {
        Pick::Next { tasks, waiting } => (
            tasks.first().and_then(|&i| list.tasks.get(i)).map(task_ref),
            waiting,
        ),
        Pick::Blocked { waiting } => (None, waiting),
        _ => (None, Vec::new()),
    };
    waiting.truncate(OPEN_SHOWN);
    let ready = list.ready(scope, READY_SHOWN);
    let ready = ready.into_iter().filter_map(|i| list.tasks.get(i));
    TaskFacts {
        ready: match &next {
            // Tasks that wait for each other are nobody's choice.
            Some(first) => std::iter::once(first.clone())
                .chain(ready.map(task_ref).filter(|task| task != first))
                .collect(),
            None => Vec::new(),
        },
        total: counts.total,
        completed: counts.completed,
        pending: counts.pending,
        optional: list.open_optional(scope),
        phase: list
            .current_phase(scope)
            .and_then(|i| list.phases.get(i))
            .map(|p| p.key.clone()),
        phases: phase_facts(list, scope),
        next,
        waiting,
        open: list.pending(scope).take(OPEN_SHOWN).map(task_ref).collect(),
        moved: Vec::new(),
        removed: Vec::new(),
        reworded: Vec::new(),
        remarked: Vec::new(),
        thinned: Vec::new(),
        lost: Vec::new(),
        unticked: Vec::new(),
        ticked: Vec::new(),
        flow: None,
        digest: digest(list),
    }
}

/// The counts that Ralph keeps in step are no part of it.
fn digest(list: &TaskList) -> String {
    let mut hash = Sha256::new();
    for task in &list.tasks {
        let mark = if task.done { 'x' } else { ' ' };
        hash.update(format!("{mark}\t{}\t{}\n", task.id, task.text));
    }
    let digest = hash.finalize();
    digest
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// [`facts`], with what only a flow wants to know. `armed` is the list when the
/// run began.
pub(super) fn facts_for(
    list: &TaskList,
    scope: &Scope,
    follows_flow: bool,
    armed: Option<&TaskList>,
) -> TaskFacts {
    let facts = facts(list, scope);
    if !follows_flow {
        return facts;
    }
    let done = list.required(scope).filter(|task| task.done);
    let next = facts.next.as_ref().and_then(|next| list.find(&next.id));
    let next = next.and_then(|index| list.tasks.get(index));
    let then = next.and_then(|task| then(armed?, task));
    let (risk, raised) = next.map(|task| risks(task, then)).unwrap_or_default();
    TaskFacts {
        flow: Some(Box::new(FlowFacts {
            done: done.map(|task| task.id.clone()).collect(),
            risk,
            raised,
        })),
        ..facts
    }
}

/// The risk of a task as a person left it, and a higher one that it got since:
/// an agent may raise it and nothing else (C-04).
fn risks(
    task: &tasks::Task,
    then: Option<&tasks::Task>,
) -> (flow::Detected, Option<flow::Detected>) {
    let armed = match then {
        Some(then) => risk_of(then, true),
        // A task that was added since: what it says of itself lowers nothing.
        None => risk_of(task, false),
    };
    let is_reworded =
        then.is_none_or(|then| (&then.text, &then.files) != (&task.text, &task.files));
    let by_words = is_reworded.then(|| risk_of(task, false));
    let now = by_words.into_iter().chain([risk_of(task, true)]);
    let higher = now.filter(|now| now.risk > armed.risk);
    (armed.clone(), higher.max_by_key(|now| now.risk))
}

/// The task as it stood when the run began. One without an id of its own has
/// only its words, and then its place.
fn then<'a>(armed: &'a TaskList, task: &tasks::Task) -> Option<&'a tasks::Task> {
    let by_id = || armed.tasks.get(armed.find(&task.id)?);
    let mut tasks = armed.tasks.iter();
    match task.id.starts_with('#') {
        true => tasks.find(|then| then.text == task.text).or_else(by_id),
        false => by_id(),
    }
}

fn risk_of(task: &tasks::Task, is_said: bool) -> flow::Detected {
    let said = task
        .fields
        .iter()
        .find(|(key, _)| is_said && key.eq_ignore_ascii_case("risk"));
    flow::detect(
        &task.text,
        &task.files,
        said.map(|(_, value)| value.as_str()),
    )
}

/// The tasks in scope that were ticked since the reading before; every one
/// that is done, where there is none. Steps that the agent wrote below a task
/// are its own notes: the task that they belong to has to be shown.
pub(super) fn ticked(
    list: &TaskList,
    scope: &Scope,
    changes: Option<&tasks::Changes>,
    armed: Option<&TaskList>,
) -> Vec<TaskRef> {
    let was_there = |task: &tasks::Task| {
        let same = |old: &tasks::Task| {
            old.text == task.text || (!task.id.starts_with('#') && old.id == task.id)
        };
        armed.is_none_or(|armed| armed.tasks.iter().any(same))
    };
    let is_asked = |task: &&tasks::Task| task.depth == 0 || was_there(task);
    let done = list.required(scope).filter(|task| task.done);
    let done = done.filter(is_asked);
    let is_new = |task: &&tasks::Task| {
        changes.is_none_or(|c| c.newly_done.contains(&task.id) || c.added.contains(&task.id))
    };
    done.filter(is_new)
        .map(|task| task_ref(list, task))
        .collect()
}

fn phase_facts(list: &TaskList, scope: &Scope) -> Vec<PhaseFacts> {
    let counted = list.phases.iter().zip(list.counts_by_phase(scope));
    let all = counted.map(|(phase, counts)| PhaseFacts {
        key: phase.key.clone(),
        title: phase.title.clone(),
        completed: counts.completed,
        total: counts.total,
    });
    all.filter(|p| p.total > 0).collect()
}

pub(super) fn task_ref(list: &TaskList, task: &tasks::Task) -> TaskRef {
    let phase = task.phase.and_then(|phase| list.phases.get(phase));
    TaskRef {
        id: task.id.clone(),
        text: text::width::truncate(&task.text, TEXT_COLUMNS),
        phase: phase.map(|phase| phase.key.clone()),
    }
}

/// Tasks that read otherwise than at the last look, and still ask for the same.
pub(super) fn remarked(list: &TaskList, since: &Changes, last: Option<&TaskList>) -> Vec<TaskRef> {
    let is_other = |id: &String| since.replaced.iter().any(|(other, _)| other == id);
    let known = |id: &str| last.and_then(|last| last.tasks.get(last.find(id)?));
    let ids = since.reworded.iter().filter(|id| !is_other(id));
    let tasks = ids.filter_map(|id| list.tasks.get(list.find(id)?));
    let news = tasks.filter(|task| known(&task.id).is_none_or(|old| old.text != task.text));
    news.map(|task| task_ref(list, task)).collect()
}

pub(super) fn as_it_was((id, text): (String, String)) -> TaskRef {
    let phase = None;
    TaskRef { id, text, phase }
}

//! A person steers a run: the wish becomes an event, and a change of the list
//! is made by whoever holds the run.

use ralph_core::lang::Say;
use ralph_core::machine::{Kind, Outcome, State, Steer, SteeredTask};
use ralph_core::tasks::{self, ChangedList, ListChange, Scope, TaskError, TaskList};
use ralph_store::FileError;
use ralph_store::atomic::{AtomicOptions, write_atomic, write_through};
use ralph_store::layout::RunPaths;

use crate::mailbox::reply_text;
use crate::task_file::{OpenTaskFile, ReadError, TaskFile};

/// Why a wish is not followed.
#[derive(Clone, Debug, PartialEq, Eq, Say)]
pub enum SteerError {
    #[say("this run has no task list; `ralph hint` tells its agent something")]
    NoList,
    /// Its agent has a prompt and a list of its own.
    #[say("lane {lane} works on {task}; `ralph --lane {lane} stop` ends that")]
    AtWork { task: String, lane: u32 },
    #[say("{task} has landed; `ralph tasks add` asks for what is wrong with it")]
    Landed { task: String },
    #[say("lanes at work have heard it; `ralph --lane N hint --drop` takes it back in one of them")]
    HeardByLanes,
    #[say("nobody drives the lanes now; `ralph resume` first, then change their list")]
    LanesAtRest,
    #[say("the list could not be changed: {message}")]
    Failed { message: String },
    #[say("a hint has 1 to 4,000 characters")]
    NoWords,
    #[say("there is no hint {hint} that the agent would be told; `ralph hint` lists them")]
    NoHint { hint: u32 },
    #[say("the state file calls nothing open that is named {task}; open are: {open}")]
    NoPart { task: String, open: String },
    #[say("nothing would be left of this run; `ralph cancel` gives it up")]
    NothingLeft,
    #[say("{task} is not skipped; `ralph status` shows what is")]
    NotSkipped { task: String },
    #[say("{task} is done; `ralph retry {task}` lets it be worked on again")]
    Done { task: String },
    #[say("{task} was not added in this run; `ralph tasks skip {task}` leaves it out")]
    NotAdded { task: String },
    #[say("run {run} is over; `ralph run` starts a new one")]
    Over { run: String },
    #[say(_0.say(lang))]
    Task(TaskError),
    #[say(_0.say(lang))]
    Read(ReadError),
    #[say(_0.say(lang))]
    File(FileError),
}

impl From<TaskError> for SteerError {
    fn from(error: TaskError) -> Self {
        SteerError::Task(error)
    }
}

/// Whether the wish fits the run and its list.
pub fn check(steer: &Steer, state: &State, list: Option<&TaskList>) -> Result<(), SteerError> {
    if state.rules.lanes.is_some() {
        check_in_lanes(steer, state)?;
    }
    let list_of = || list.ok_or(SteerError::NoList);
    let known = |id: &String| -> Result<(), SteerError> {
        list_of()?.require(id)?;
        Ok(())
    };
    match steer {
        Steer::Hint { text, .. } => match reply_text(text) {
            Some(_) => Ok(()),
            None => Err(SteerError::NoWords),
        },
        Steer::DropHint { hint } => {
            let mut open = state.hints.iter().filter(|h| h.is_open());
            match open.any(|open| open.id == *hint) {
                true => Ok(()),
                false => Err(SteerError::NoHint { hint: *hint }),
            }
        }
        Steer::Skip { tasks } if list.is_none() => skip_parts(tasks, state),
        Steer::Skip { tasks } => {
            tasks.iter().try_for_each(known)?;
            let mut scope = Scope {
                skipped: state.tasks.skipped.clone(),
                ..Scope::default()
            };
            scope.skipped.extend(tasks.iter().cloned());
            match list_of()?.counts(&scope).total {
                0 => Err(SteerError::NothingLeft),
                _ => Ok(()),
            }
        }
        Steer::Unskip { tasks } => tasks.iter().try_for_each(|id| {
            let task = id.clone();
            let is_skipped = state.tasks.skipped.contains(id);
            is_skipped
                .then_some(())
                .ok_or(SteerError::NotSkipped { task })
        }),
        Steer::Retry { task } => known(task),
        Steer::Focus { task: Some(id) } => {
            let list = list_of()?;
            let task = list.tasks.get(list.require(id)?);
            match task.is_some_and(|task| task.done) {
                true => Err(SteerError::Done { task: id.clone() }),
                false => Ok(()),
            }
        }
        Steer::Focus { task: None } => Ok(()),
        Steer::List(ListChange::Remove { task }) => {
            known(task)?;
            let task = task.clone();
            let is_added = state.tasks.added.contains(&task);
            is_added.then_some(()).ok_or(SteerError::NotAdded { task })
        }
        Steer::List(_) => list_of().map(drop),
    }
}

/// Without a list, the state file of a delta loop tells what there is to do.
fn skip_parts(tasks: &[String], state: &State) -> Result<(), SteerError> {
    let claims = &state.claims.file;
    let parts = claims.parts();
    if parts.is_empty() {
        return Err(SteerError::NoList);
    }
    for id in tasks {
        if !parts.iter().any(|part| part.id == *id) {
            let task = id.clone();
            let open = parts.iter().map(|part| part.id.as_str());
            let open = open.collect::<Vec<_>>().join(", ");
            return Err(SteerError::NoPart { task, open });
        }
    }
    let mut skipped = state.tasks.skipped.clone();
    skipped.extend(tasks.iter().cloned());
    match claims.left(&skipped).is_empty() {
        true => Err(SteerError::NothingLeft),
        false => Ok(()),
    }
}

/// What somebody works on in a tree of their own stays as it is there, and
/// what has landed is on the branch.
fn check_in_lanes(steer: &Steer, state: &State) -> Result<(), SteerError> {
    let about: &[String] = match steer {
        Steer::Skip { tasks } => tasks,
        Steer::Retry { task }
        | Steer::List(ListChange::Edit { task, .. } | ListChange::Remove { task }) => {
            std::slice::from_ref(task)
        }
        Steer::DropHint { .. } => return Err(SteerError::HeardByLanes),
        _ => &[],
    };
    for (&lane, seat) in &state.lanes.seats {
        if let Some(task) = seat.task.ids().iter().find(|id| about.contains(id)) {
            let task = task.clone();
            return Err(SteerError::AtWork { task, lane });
        }
    }
    match steer {
        Steer::Retry { task } if state.lanes.landed.contains_key(task) => {
            Err(SteerError::Landed { task: task.clone() })
        }
        _ => Ok(()),
    }
}

/// Whether a run in this state can be steered so: what is over has only more
/// work to take up again.
pub fn can_go_on(steer: &Steer, state: &State, run: &str) -> Result<(), SteerError> {
    let over = Err(SteerError::Over { run: run.into() });
    match (state.outcome(), steer) {
        (Some(Outcome::Cancelled), _) => over,
        (Some(Outcome::Complete), Steer::Retry { .. } | Steer::Unskip { .. }) => Ok(()),
        (Some(Outcome::Complete), _) => over,
        _ => Ok(()),
    }
}

/// Makes a change of the list in its file.
pub fn change_file(file: &TaskFile, change: &ListChange) -> Result<ChangedList, SteerError> {
    let OpenTaskFile { bytes, list, .. } = file.clone().open().map_err(SteerError::Read)?;
    let read = |bytes: &[u8]| tasks::read(&file.name, bytes, &file.options);
    let changed = change.apply(&bytes, &list, read)?;
    write(file, &changed.bytes)?;
    Ok(changed)
}

/// Empties the box of a task.
pub fn untick_file(file: &TaskFile, id: &str) -> Result<(), SteerError> {
    let OpenTaskFile { bytes, list, .. } = file.clone().open().map_err(SteerError::Read)?;
    let unticked = tasks::set_mark(&bytes, &list, list.require(id)?, false)?;
    write(file, &unticked)
}

fn write(file: &TaskFile, bytes: &[u8]) -> Result<(), SteerError> {
    let options = AtomicOptions { durable: true };
    write_through(&file.path, bytes, options).map_err(SteerError::File)
}

/// What the machine has to know of the task that a change was about.
pub fn steered(changed: &ChangedList, scope: &Scope) -> SteeredTask {
    let id = &changed.task;
    SteeredTask {
        id: id.clone(),
        verify: changed.list.checks(scope).remove(id).unwrap_or_default(),
        proof: changed.list.proofs(scope).remove(id),
    }
}

/// The list as a session's hooks know it: as it began, and as it was last.
pub(crate) const TASKS_BEGUN: &str = "tasks.begun";
pub(crate) const TASKS_LAST: &str = "tasks.last";

/// Makes a person's change in what the next hook of a session compares with,
/// so that nobody misses what they took out or said otherwise.
pub fn keep_in_step(run: &RunPaths, file: &TaskFile, change: &ListChange) {
    let read = |bytes: &[u8]| tasks::read(&file.name, bytes, &file.options);
    for name in [TASKS_BEGUN, TASKS_LAST] {
        let path = run.dir.join(name);
        let Ok(bytes) = ralph_store::regular::read(&path) else {
            continue;
        };
        let changed = read(&bytes)
            .ok()
            .map(|list| change.apply(&bytes, &list, read));
        if let Some(Ok(changed)) = changed {
            let _ = write_atomic(&path, &changed.bytes, AtomicOptions { durable: false });
        }
    }
}

/// Steers a run that no process drives: the list is changed here, and the
/// event waits in the journal.
pub fn at_rest(steer: Steer, file: Option<&TaskFile>) -> Result<Kind, SteerError> {
    let file = || file.ok_or(SteerError::NoList);
    let task = match &steer {
        Steer::List(change) => {
            let changed = change_file(file()?, change)?;
            Some(Box::new(steered(&changed, &Scope::default())))
        }
        Steer::Retry { task } => {
            untick_file(file()?, task)?;
            None
        }
        _ => None,
    };
    Ok(Kind::Steered {
        steer,
        task,
        seen: None,
    })
}

#[cfg(test)]
mod tests {
    use ralph_core::machine::{Goal, LaneRules, Rules};

    use super::*;

    #[test]
    fn what_a_lane_works_on_stays() {
        let mut rules = Rules::new(Goal::Tasks { phase: None });
        rules.lanes = Some(LaneRules::default());
        let mut state = State::new(rules).unwrap();
        state.lanes.landed.insert("T002".into(), String::new());
        let hint = Steer::Hint {
            text: "mind the cache".into(),
            keep: false,
        };
        assert_eq!(check(&hint, &state, None), Ok(()));
        let again = Steer::Retry {
            task: "T002".into(),
        };
        let landed = SteerError::Landed {
            task: "T002".into(),
        };
        assert_eq!(check(&again, &state, None), Err(landed));
        let drop = Steer::DropHint { hint: 1 };
        assert_eq!(check(&drop, &state, None), Err(SteerError::HeardByLanes));
    }
}

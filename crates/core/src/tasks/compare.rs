//! What happened to a task file between two readings (TASK-17).

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::format::Format;
use super::model::{Task, TaskList};

/// Ids of the tasks that differ. A removed task is no progress, whatever the
/// counts say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    pub newly_done: Vec<String>,
    pub unticked: Vec<String>,
    /// Ids as they were before.
    pub removed: Vec<String>,
    pub added: Vec<String>,
    /// The id is the same, the description is not, or less stands below it.
    pub reworded: Vec<String>,
    /// Of these, those that ask for something else, with what they asked for;
    /// and stories without something that they asked for in detail.
    pub replaced: Vec<(String, String)>,
    /// Tasks below which lines are gone, with those lines. They may have been
    /// notes.
    pub thinned: Vec<(String, String)>,
}

/// Whether what a task asked for can't be read in it any more; a remark behind
/// its words changes nothing.
fn says_else(old: &str, new: &str) -> bool {
    !words(new).contains(&words(old))
}

/// Without marks and room between them.
fn words(text: &str) -> String {
    let marks = |c: char| c.is_whitespace() || matches!(c, '*' | '_' | '~' | '`');
    text.to_lowercase().split(marks).collect()
}

/// Everything that tasks say.
fn all_words(tasks: &[Task]) -> String {
    let said = tasks
        .iter()
        .flat_map(|task| [&task.text].into_iter().chain(&task.details));
    let said: Vec<String> = said.map(|line| words(line)).collect();
    said.join("\n")
}

impl Changes {
    pub fn is_empty(&self) -> bool {
        *self == Changes::default()
    }
}

/// A task is recognised by its own id, or by its text where it has none,
/// because positions shift when lines come and go. Equal ones are paired in
/// file order.
pub fn compare(before: &TaskList, after: &TaskList) -> Changes {
    let earlier = Earlier::paired(before, after);
    let mut changes = Changes::default();
    let mut in_list = None;
    let mut note = |changes: &mut Changes, old: &Task, new: &Task| {
        changes.note(old, new);
        if old.details == new.details {
            return;
        }
        // Of a story, its own; a line below a task may have become a task.
        let is_story = after.format == Format::PrdJson;
        let own = is_story.then(|| all_words(std::slice::from_ref(new)));
        let said = own.as_ref();
        let said = said.unwrap_or_else(|| in_list.get_or_insert_with(|| all_words(&after.tasks)));
        let lines = old.details.iter().map(String::as_str);
        let gone: Vec<&str> = lines.filter(|line| !said.contains(&words(line))).collect();
        let lines = match is_story {
            _ if gone.is_empty() => return,
            true => &mut changes.replaced,
            false => &mut changes.thinned,
        };
        lines.push((new.id.clone(), gone.join("; ")));
        if changes.reworded.last() != Some(&new.id) {
            changes.reworded.push(new.id.clone());
        }
    };
    for (task, old) in after.tasks.iter().zip(&earlier.pairs) {
        match old.and_then(|index| before.tasks.get(index)) {
            Some(old) => note(&mut changes, old, task),
            None => changes.added.push(task.id.clone()),
        }
    }
    changes.removed = earlier.removed().map(|task| task.id.clone()).collect();
    changes
}

/// A task that is known by its place, and has another one by now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moved {
    pub from: String,
    pub to: String,
}

impl Moved {
    /// What a task is called now.
    pub fn now(moved: &[Moved], id: &str) -> String {
        let found = moved.iter().find(|moved| moved.from == id);
        found.map_or_else(|| id.to_owned(), |moved| moved.to.clone())
    }
}

/// The tasks without ids whose places changed from one reading to the next.
/// What is known of one that is gone is kept below its words, until they are
/// back; `whole` has those that may be gone already.
pub fn moved(before: &TaskList, after: &TaskList, whole: Option<&TaskList>) -> Vec<Moved> {
    let earlier = Earlier::paired(before, after);
    let kept = |task: &Task| format!("#: {}", task.text);
    let gone = earlier.removed().filter(|task| !task.has_own_id);
    let mut moved: Vec<Moved> = gone
        .map(|task| Moved {
            from: task.id.clone(),
            to: kept(task),
        })
        .collect();
    for (task, old) in after.tasks.iter().zip(&earlier.pairs) {
        let was_there = |whole: &&TaskList| {
            let mut tasks = whole.tasks.iter();
            tasks.any(|old| !old.has_own_id && old.text == task.text)
        };
        let from = match old.and_then(|index| before.tasks.get(index)) {
            _ if task.has_own_id => continue,
            Some(old) => old.id.clone(),
            None if whole.as_ref().is_some_and(was_there) => kept(task),
            None => continue,
        };
        if from != task.id {
            let to = task.id.clone();
            moved.push(Moved { from, to });
        }
    }
    moved
}

impl Changes {
    fn note(&mut self, old: &Task, new: &Task) {
        let id = || new.id.clone();
        match (old.done, new.done) {
            (false, true) => self.newly_done.push(id()),
            (true, false) => self.unticked.push(id()),
            _ => {}
        }
        if old.text != new.text {
            self.reworded.push(id());
            if says_else(&old.text, &new.text) {
                self.replaced.push((id(), old.text.clone()));
            }
        }
    }
}

impl TaskList {
    /// A remark that an agent put to a task is not what the task asks for: that
    /// stays as it was before.
    pub fn keep_words(&mut self, before: &TaskList) {
        let own = before.tasks.iter().filter(|task| task.has_own_id);
        let words: HashMap<&str, &str> = own
            .map(|task| (task.id.as_str(), task.text.as_str()))
            .collect();
        for task in self.tasks.iter_mut().filter(|task| task.has_own_id) {
            match words.get(task.id.as_str()) {
                Some(words) if !says_else(words, &task.text) => {
                    (*words).clone_into(&mut task.text);
                }
                _ => {}
            }
        }
    }

    /// What a person said otherwise from one list to the next is asked for.
    pub fn take_words(&mut self, before: &TaskList, now: &TaskList) {
        for id in compare(before, now).reworded {
            let said = now.find(&id).and_then(|at| now.tasks.get(at));
            let own = self.find(&id).and_then(|at| self.tasks.get_mut(at));
            if let (Some(said), Some(own)) = (said, own) {
                own.text.clone_from(&said.text);
                own.details.clone_from(&said.details);
            }
        }
    }
}

/// The tasks of an earlier reading, as they are recognised in a later one.
struct Earlier<'a> {
    list: &'a TaskList,
    taken: Vec<bool>,
    /// Positions of equal tasks, the first one last.
    by_name: HashMap<Name<'a>, Vec<usize>>,
    /// For each task of the later reading, where it stood.
    pairs: Vec<Option<usize>>,
}

type Name<'a> = (bool, &'a str);

fn name(task: &Task) -> Name<'_> {
    if task.has_own_id {
        (true, &task.id)
    } else {
        (false, &task.text)
    }
}

impl<'a> Earlier<'a> {
    fn paired(list: &'a TaskList, after: &'a TaskList) -> Earlier<'a> {
        let mut by_name: HashMap<Name<'_>, Vec<usize>> = HashMap::new();
        for (index, task) in list.tasks.iter().enumerate().rev() {
            by_name.entry(name(task)).or_default().push(index);
        }
        let mut earlier = Earlier {
            list,
            taken: vec![false; list.tasks.len()],
            by_name,
            pairs: Vec::new(),
        };
        earlier.pairs = after.tasks.iter().map(|task| earlier.take(task)).collect();
        for (place, task) in after.tasks.iter().enumerate() {
            if earlier.pairs.get(place) == Some(&None) {
                earlier.pairs[place] = earlier.take_extended(task, place);
            }
        }
        earlier
    }

    fn removed(&self) -> impl Iterator<Item = &'a Task> {
        let tasks = self.list.tasks.iter().zip(&self.taken);
        tasks.filter(|(_, taken)| !**taken).map(|(task, _)| task)
    }

    fn take(&mut self, task: &'a Task) -> Option<usize> {
        let index = self.by_name.get_mut(&name(task))?.pop()?;
        self.take_at(index)
    }

    /// Agents like to add a remark when they tick a box, so a task without an
    /// id is still the same if it only grew and kept its position.
    fn take_extended(&mut self, task: &Task, index: usize) -> Option<usize> {
        if task.has_own_id {
            return None;
        }
        let old = self.list.tasks.get(index)?;
        let is_same = !old.has_own_id && !old.text.is_empty() && task.text.starts_with(&old.text);
        if !is_same || *self.taken.get(index)? {
            return None;
        }
        self.take_at(index)
    }

    fn take_at(&mut self, index: usize) -> Option<usize> {
        *self.taken.get_mut(index)? = true;
        Some(index)
    }
}

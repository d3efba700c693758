//! What a task file says, as plain data, and how it is counted.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::error::TaskError;
use super::finding::Finding;
use super::format::Format;
use crate::proof::level::{AskedProof, meant_by};

/// Whether the tasks of a phase are worked off one by one or side by side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Mode {
    #[default]
    Sequential,
    Parallel,
}

/// One box of a Markdown file, or one story of a `prd.json`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Task {
    /// The id in the file, or `#<position>` where the task carries none.
    pub id: String,
    /// The description without id, `[P]`, `[US1]` and `| key: value` fields.
    pub text: String,
    pub done: bool,
    /// Optional tasks are shown, but never picked and never counted.
    pub optional: bool,
    /// Index into [`TaskList::phases`].
    pub phase: Option<usize>,
    /// 1-based line of the box, or of the story's opening brace.
    pub line: usize,
    /// How many tasks this one is nested under.
    pub depth: usize,
    /// Marked `[P]`: may be worked on beside its neighbours.
    pub parallel: bool,
    /// The user story, `US1`.
    pub story: Option<String>,
    pub agent: Option<String>,
    pub files: Vec<String>,
    pub output: Option<String>,
    /// Names of tasks or phases that have to be done before.
    pub depends: Vec<String>,
    /// `priority` of a story; the lowest number comes first.
    pub priority: Option<f64>,
    /// Commands that prove this task.
    pub verify: Vec<String>,
    /// The lines that stand below it, or what a story asks for in detail.
    pub details: Vec<String>,
    /// `| key: value` fields that Ralph does not know.
    pub fields: Vec<(String, String)>,
    /// The task that this one is nested under.
    pub(super) parent: Option<usize>,
    /// Whether `id` stands in the file.
    pub(super) has_own_id: bool,
    /// The bytes to change for a tick; `None` for a story without `passes`.
    pub(super) mark: Option<Range<usize>>,
}

impl Task {
    /// The value of a `| key: value` field that is kept as it stands.
    pub fn field(&self, key: &str) -> Option<&str> {
        let mut fields = self.fields.iter();
        let found = fields.find(|(name, _)| name.eq_ignore_ascii_case(key));
        found.map(|(_, value)| value.trim())
    }

    /// A story without `passes` has no box.
    pub fn has_box(&self) -> bool {
        self.mark.is_some()
    }
}

/// A section of the file whose tasks belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phase {
    /// What `--phase` names: the number of the heading, or the position of
    /// the section among all `##` sections where headings carry no number.
    pub key: String,
    pub title: String,
    pub line: usize,
    pub mode: Mode,
    /// Keys of the phases that have to be done before.
    pub depends: Vec<String>,
    pub optional: bool,
    /// Commands that prove each of its tasks.
    pub verify: Vec<String>,
    /// The tasks of the phase, which always stand together.
    pub(super) tasks: Range<usize>,
}

/// Everything that was read from one task file.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskList {
    pub format: Format,
    pub tasks: Vec<Task>,
    pub phases: Vec<Phase>,
    /// The name that the file was read under, for messages.
    pub(super) file: String,
    /// Doubts that only the reading itself could see.
    pub(super) doubts: Vec<Finding>,
    /// Tells whether the bytes at hand are those that were read.
    pub(super) fingerprint: u64,
}

/// The part of the file that this run works on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// Key of the only phase to work on; `3` also takes `3.1` and `3.2`.
    pub phase: Option<String>,
    /// Ids of tasks that the person took out of scope (VALV-12).
    pub skipped: BTreeSet<String>,
    /// The task that a person wants done before the others.
    pub focus: Option<String>,
}

/// `total` is always `completed + pending`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Counts {
    pub total: usize,
    pub completed: usize,
    pub pending: usize,
}

impl Counts {
    fn of<'a>(tasks: impl Iterator<Item = &'a Task>) -> Counts {
        let mut counts = Counts::default();
        for task in tasks {
            counts.add(task);
        }
        counts
    }

    fn add(&mut self, task: &Task) {
        self.total += 1;
        if task.done {
            self.completed += 1;
        } else {
            self.pending += 1;
        }
    }

    /// Whole percent, rounded down, so that 100 means all; 0 for nothing.
    pub fn percent(&self) -> usize {
        (self.completed * 100).checked_div(self.total).unwrap_or(0)
    }
}

impl Phase {
    /// Whether `--phase wanted` means this phase.
    pub(super) fn answers_to(&self, wanted: &str) -> bool {
        match self.key.strip_prefix(wanted) {
            Some(rest) => rest.is_empty() || rest.starts_with('.'),
            None => false,
        }
    }
}

impl TaskList {
    /// The name that the file was read under.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Counts of what blocks completion: optional tasks, skipped tasks and
    /// other phases are left out.
    pub fn counts(&self, scope: &Scope) -> Counts {
        Counts::of(self.required(scope))
    }

    /// No task of it has to be done (TASK-14).
    pub fn is_all_optional(&self) -> bool {
        self.tasks.iter().all(|task| task.optional)
    }

    /// Counts of one phase. An optional phase has counts of its own, although
    /// it adds nothing to those of the file.
    pub fn phase_counts(&self, phase: usize) -> Counts {
        let is_optional = self.phases.get(phase).is_some_and(|phase| phase.optional);
        let tasks = self.phase_tasks(phase).iter();
        Counts::of(tasks.filter(|task| task.optional == is_optional))
    }

    /// What blocks completion, phase by phase, in the order of the phases.
    pub fn counts_by_phase(&self, scope: &Scope) -> Vec<Counts> {
        let mut counts = vec![Counts::default(); self.phases.len()];
        for task in self.required(scope) {
            if let Some(counts) = task.phase.and_then(|phase| counts.get_mut(phase)) {
                counts.add(task);
            }
        }
        counts
    }

    /// The first phase in scope that has an open task (TASK-06).
    pub fn current_phase(&self, scope: &Scope) -> Option<usize> {
        self.pending(scope).find_map(|task| task.phase)
    }

    /// The open tasks in scope, in file order.
    pub fn pending<'a>(&'a self, scope: &'a Scope) -> impl Iterator<Item = &'a Task> {
        self.required(scope).filter(|task| !task.done)
    }

    /// The commands that the tasks in scope ask for, by id: their own and
    /// those of their phase.
    pub fn checks(&self, scope: &Scope) -> BTreeMap<String, Vec<String>> {
        let of = |task: &Task| {
            let phase = task.phase.and_then(|phase| self.phases.get(phase));
            let of_phase = phase.into_iter().flat_map(|phase| &phase.verify);
            let mut commands: Vec<String> = Vec::new();
            for command in task.verify.iter().chain(of_phase) {
                if !commands.contains(command) {
                    commands.push(command.clone());
                }
            }
            (!commands.is_empty()).then(|| (task.id.clone(), commands))
        };
        self.required(scope).filter_map(of).collect()
    }

    /// How tasks want to be shown: by `| proof: …`, else by what their words
    /// say that they are about.
    pub fn proofs(&self, scope: &Scope) -> BTreeMap<String, AskedProof> {
        let of = |task: &Task| {
            let said = task.field("proof").and_then(|word| word.parse().ok());
            let asked = said.or_else(|| meant_by(&task.text))?;
            Some((task.id.clone(), asked))
        };
        self.required(scope).filter_map(of).collect()
    }

    /// Check files that tasks may change by a person's word.
    pub fn may_change(&self) -> Vec<String> {
        let said = self
            .tasks
            .iter()
            .filter_map(|task| task.field("may-change"));
        let patterns = said.flat_map(|list| list.split([',', '、', '，']));
        let patterns = patterns.map(|pattern| pattern.trim().trim_matches('`'));
        patterns
            .filter(|pattern| !pattern.is_empty())
            .map(str::to_owned)
            .collect()
    }

    /// Every `verify:` of the file, and how often it stands there.
    pub fn check_lines(&self) -> BTreeMap<String, usize> {
        let of_tasks = self.tasks.iter().flat_map(|task| &task.verify);
        let of_phases = self.phases.iter().flat_map(|phase| &phase.verify);
        let mut lines = BTreeMap::new();
        for command in of_tasks.chain(of_phases) {
            *lines.entry(command.clone()).or_insert(0) += 1;
        }
        lines
    }

    /// The first task with this id.
    pub fn find(&self, id: &str) -> Option<usize> {
        self.tasks.iter().position(|task| task.id == id)
    }

    /// The first task with this id, or the error of TASK-16.
    pub fn require(&self, id: &str) -> Result<usize, TaskError> {
        self.find(id).ok_or_else(|| TaskError::TaskNotFound {
            file: self.file.clone(),
            id: id.to_owned(),
        })
    }

    pub(super) fn phase_tasks(&self, phase: usize) -> &[Task] {
        self.phases
            .get(phase)
            .and_then(|phase| self.tasks.get(phase.tasks.clone()))
            .unwrap_or_default()
    }

    /// Whether completion in this scope needs the task.
    pub(super) fn is_required(&self, task: &Task, scope: &Scope) -> bool {
        !task.optional && !scope.skipped.contains(&task.id) && self.is_in_phase(task, scope)
    }

    /// How many tasks are open that nobody has to do.
    pub fn open_optional(&self, scope: &Scope) -> usize {
        let is_open = |task: &&Task| task.optional && !task.done && self.is_in_phase(task, scope);
        self.tasks.iter().filter(is_open).count()
    }

    fn is_in_phase(&self, task: &Task, scope: &Scope) -> bool {
        let Some(wanted) = &scope.phase else {
            return true;
        };
        task.phase
            .and_then(|phase| self.phases.get(phase))
            .is_some_and(|phase| phase.answers_to(wanted))
    }

    /// What blocks completion, done or not, in file order.
    pub fn required<'a>(&'a self, scope: &'a Scope) -> impl Iterator<Item = &'a Task> {
        self.tasks
            .iter()
            .filter(|task| self.is_required(task, scope))
    }
}

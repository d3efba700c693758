//! Looks at the world between turns: the task file, the work tree, the
//! commit. What the agent says plays no part here.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use ralph_core::lang::{Lang, Say};
use ralph_core::machine::{ErrorClass, PhaseFacts, Seen, TaskFacts, TaskRef, Tasks};
use ralph_core::tasks::{self, Pick, ReadOptions, Scope, TaskError, TaskList};
use ralph_core::text;

use crate::git;
use crate::worktree::WorkTree;

/// How many open tasks are named in messages.
const OPEN_SHOWN: usize = 5;
/// How much of a task's text goes into the journal and into messages.
const TEXT_COLUMNS: usize = 120;

/// The task file of a run.
#[derive(Clone, Debug)]
pub struct TaskFile {
    pub path: PathBuf,
    /// As people know it: relative to the project where it lies below it.
    pub name: String,
    pub options: ReadOptions,
}

impl TaskFile {
    pub fn new(root: &Path, path: PathBuf, options: ReadOptions) -> TaskFile {
        let name = path
            .strip_prefix(root)
            .unwrap_or(&path)
            .to_string_lossy()
            .into_owned();
        TaskFile {
            path,
            name,
            options,
        }
    }

    /// Reads the file whole, within the bounds of [`tasks::MAX_BYTES`].
    pub fn read(&self) -> Result<(Vec<u8>, TaskList), ReadError> {
        let bytes = read_bounded(&self.path).map_err(|error| ReadError::io(&self.name, &error))?;
        let list = tasks::read(&self.name, &bytes, &self.options).map_err(ReadError::Task)?;
        Ok((bytes, list))
    }
}

/// One byte more than is allowed is enough to know that a file is too large.
fn read_bounded(path: &Path) -> io::Result<Vec<u8>> {
    use std::io::Read;
    let file = std::fs::File::open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "not a regular file",
        ));
    }
    let limit = tasks::MAX_BYTES as u64 + 1;
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len().min(limit)).unwrap_or(0));
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Why a task file can't be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadError {
    Missing { file: String },
    Unreadable { file: String, message: String },
    Task(TaskError),
}

impl ReadError {
    fn io(file: &str, error: &io::Error) -> ReadError {
        match error.kind() {
            io::ErrorKind::NotFound => ReadError::Missing { file: file.into() },
            _ => ReadError::Unreadable {
                file: file.into(),
                message: error.to_string(),
            },
        }
    }

    fn class(&self) -> ErrorClass {
        match self {
            ReadError::Task(TaskError::TaskNotFound { .. } | TaskError::NoTasks { .. }) => {
                ErrorClass::TaskNotFound
            }
            _ => ErrorClass::FileOp,
        }
    }
}

impl Say for ReadError {
    fn say(&self, lang: Lang) -> String {
        match self {
            ReadError::Missing { file } => ralph_core::tr!(
                lang,
                "{file}: there is no such task file; name one with --tasks FILE, or write one with `- [ ] …` lines",
                "{file}：找不到任務檔案；請用 --tasks FILE 指定，或建立含有 `- [ ] …` 的檔案",
                "{file}：找不到任务文件；请用 --tasks FILE 指定，或创建含有 `- [ ] …` 的文件",
            ),
            ReadError::Unreadable { file, message } => ralph_core::tr!(
                lang,
                "{file}: can't be read ({message}); make it readable, or name another file with --tasks FILE",
                "{file}：無法讀取（{message}）；請修正檔案權限，或用 --tasks FILE 指定其他檔案",
                "{file}：无法读取（{message}）；请修正文件权限，或用 --tasks FILE 指定其他文件",
            ),
            ReadError::Task(error) => error.say(lang),
        }
    }
}

/// Keeps what was seen last, so that a look costs what changed.
#[derive(Debug)]
pub struct Looker {
    root: PathBuf,
    lang: Lang,
    tasks: Option<TaskFile>,
    pub scope: Scope,
    work_tree: WorkTree,
    last: Option<(Vec<u8>, TaskList)>,
    trees: HashMap<String, Option<String>>,
}

impl Looker {
    pub fn new(root: &Path, tasks: Option<TaskFile>, scope: Scope, lang: Lang) -> Looker {
        let excluded = tasks.iter().map(|t| t.path.clone()).collect();
        Looker {
            root: root.into(),
            lang,
            tasks,
            scope,
            work_tree: WorkTree::new(root, excluded),
            last: None,
            trees: HashMap::new(),
        }
    }

    pub fn look(&mut self) -> Seen {
        Seen {
            tasks: self.look_at_tasks(),
            tree: self
                .work_tree
                .scan()
                .ok()
                .map(|scan| scan.fingerprint.to_string()),
            commit_tree: self.commit_tree(),
        }
    }

    /// The open tasks in scope, as the file said when it was read last.
    pub fn open_tasks(&self) -> Vec<TaskRef> {
        let list = self.last.as_ref().map(|(_, list)| list);
        list.into_iter()
            .flat_map(|list| list.pending(&self.scope))
            .map(task_ref)
            .collect()
    }

    fn look_at_tasks(&mut self) -> Tasks {
        let Some(file) = &self.tasks else {
            return Tasks::None;
        };
        match file.read() {
            Ok((bytes, list)) => {
                let mut facts = facts(&list, &self.scope);
                if let Some((_, before)) = &self.last {
                    let changes = tasks::compare(before, &list);
                    facts.removed = changes.removed;
                    facts.unticked = changes.unticked;
                }
                self.last = Some((bytes, list));
                Tasks::Read(facts)
            }
            Err(error) => Tasks::Trouble {
                class: error.class(),
                message: error.say(self.lang),
            },
        }
    }

    /// The tree of `HEAD`; git is asked only about commits that are new.
    fn commit_tree(&mut self) -> Option<String> {
        let commit = git::head(&self.root).commit?;
        if let Some(tree) = self.trees.get(&commit) {
            return tree.clone();
        }
        let tree = git::tree_of_commit(&self.root, &commit);
        self.trees.insert(commit, tree.clone());
        tree
    }
}

/// What the machine needs to know of a list.
pub fn facts(list: &TaskList, scope: &Scope) -> TaskFacts {
    let counts = list.counts(scope);
    let next = match list.pick(scope) {
        Pick::Next { tasks, .. } => tasks.first().and_then(|&i| list.tasks.get(i)).map(task_ref),
        _ => None,
    };
    TaskFacts {
        total: counts.total,
        completed: counts.completed,
        pending: counts.pending,
        phase: list
            .current_phase(scope)
            .and_then(|i| list.phases.get(i))
            .map(|p| p.key.clone()),
        phases: phase_facts(list),
        next,
        open: list.pending(scope).take(OPEN_SHOWN).map(task_ref).collect(),
        removed: Vec::new(),
        unticked: Vec::new(),
    }
}

fn phase_facts(list: &TaskList) -> Vec<PhaseFacts> {
    let all = list.phases.iter().enumerate().map(|(i, phase)| {
        let counts = list.phase_counts(i);
        PhaseFacts {
            key: phase.key.clone(),
            title: phase.title.clone(),
            completed: counts.completed,
            total: counts.total,
        }
    });
    all.filter(|p| p.total > 0).collect()
}

fn task_ref(task: &tasks::Task) -> TaskRef {
    TaskRef {
        id: task.id.clone(),
        text: text::width::truncate(&task.text, TEXT_COLUMNS),
    }
}

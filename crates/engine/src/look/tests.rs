use std::fs;
use std::process::Command;

use tempfile::TempDir;

use super::facts::OPEN_SHOWN;
use super::*;
use ralph_core::machine::ErrorClass;
use ralph_core::tasks::ReadOptions;

struct Project {
    dir: TempDir,
    looker: Looker,
}

impl Project {
    fn new() -> Project {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("tasks.md");
        let file = TaskFile::new(dir.path(), path, ReadOptions::default());
        let looker = Looker::new(dir.path(), Some(file), Scope::default(), Lang::En);
        Project { dir, looker }
    }

    fn with(tasks: &str) -> Project {
        let project = Project::new();
        project.write(tasks);
        project
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("tasks.md")
    }

    fn write(&self, tasks: impl AsRef<[u8]>) {
        fs::write(self.path(), tasks).unwrap();
    }

    fn facts(&mut self) -> TaskFacts {
        match self.looker.look().tasks {
            Tasks::Read(facts) => facts,
            other => panic!("{other:?}"),
        }
    }

    fn check_trouble(&mut self, want: ErrorClass, says: &str) {
        let tasks = self.looker.look().tasks;
        let Tasks::Trouble { class, message, .. } = tasks else {
            panic!("{tasks:?}");
        };
        assert_eq!(class, want, "{message}");
        assert!(message.starts_with("tasks.md"), "{message}");
        assert!(message.contains(says), "{message}");
    }

    fn git(&self, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .current_dir(self.dir.path())
            .args(["-c", "user.name=Test", "-c", "user.email=test@example.org"])
            .args(["-c", "commit.gpgsign=false"])
            .args(arguments)
            .env("GIT_CONFIG_GLOBAL", "")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env_remove("GIT_DIR")
            .env_remove("GIT_WORK_TREE")
            .env_remove("GIT_INDEX_FILE")
            .output()
            .unwrap();
        assert!(output.status.success(), "git {arguments:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }
}

fn ids(tasks: &[TaskRef]) -> Vec<&str> {
    tasks.iter().map(|task| task.id.as_str()).collect()
}

const THREE: &str =
    "## Phase 1: One\n- [x] T001 first\n- [ ] T002 second\n## Phase 2: Two\n- [ ] T003 third\n";

#[test]
fn the_file_is_told_in_numbers_and_names() {
    let facts = Project::with(THREE).facts();
    assert_eq!((facts.total, facts.completed, facts.pending), (3, 1, 2));
    assert_eq!(facts.phase.as_deref(), Some("1"));
    assert_eq!(facts.next.unwrap().name(), "T002 second");
    assert_eq!(ids(&facts.open), ["T002", "T003"]);
    let phases: Vec<_> = facts
        .phases
        .iter()
        .map(|p| (p.key.as_str(), p.completed, p.total))
        .collect();
    assert_eq!(phases, [("1", 1, 2), ("2", 0, 1)]);
}

#[test]
fn a_run_without_a_task_file_looks_at_none() {
    let dir = TempDir::new().unwrap();
    let mut looker = Looker::new(dir.path(), None, Scope::default(), Lang::En);
    let seen = looker.look();
    assert_eq!(seen.tasks, Tasks::None);
    assert!(seen.tree.is_some());
    assert_eq!(seen.commit_tree, None);
}

#[test]
fn long_texts_and_lists_are_cut() {
    let long = "x".repeat(500);
    let mut project = Project::with(&format!("- [ ] T001 {long}\n").repeat(20));
    let facts = project.facts();
    assert_eq!(facts.total, 20);
    assert_eq!(facts.open.len(), OPEN_SHOWN);
    assert!(facts.open.iter().all(|t| t.text.len() <= TEXT_COLUMNS + 3));
}

#[test]
fn lost_tasks_and_ticks_are_told_once() {
    let mut project = Project::with(THREE);
    assert_eq!(project.facts().removed, [""; 0]);
    project.write("## Phase 1: One\n- [ ] T001 first\n- [ ] T002 second\n");
    let facts = project.facts();
    assert_eq!(facts.removed, ["T003"]);
    assert_eq!(facts.unticked, ["T001"]);
    // What is gone is not done.
    assert_eq!((facts.total, facts.pending), (3, 3));
    assert_eq!(facts.open.last().unwrap().id, "T003");

    let again = project.facts();
    assert_eq!((again.removed.len(), again.unticked.len()), (0, 0));
    project.write("## Phase 1: One\n- [x] T001 first\n- [ ] T002 second\n");
    let later = project.facts();
    assert_eq!((later.removed.len(), later.unticked.len()), (0, 0));
}

/// TASK-17: a remark is none of its business, other words are.
#[test]
fn a_task_with_other_words_is_lost_until_they_are_back() {
    let mut project = Project::with("- [ ] T001 first\n- [ ] T002 second\n");
    project.facts();
    project.write("- [x] T001 _first_\n- [x] T002 **Second** (in b.txt)\n");
    let facts = project.facts();
    assert_eq!((facts.reworded.len(), facts.lost.len()), (0, 0));
    project.write("- [x] T001 nothing to do\n- [x] T002 second, in b.txt\n");
    let facts = project.facts();
    let were: Vec<String> = facts.reworded.iter().map(TaskRef::name).collect();
    assert!(
        were[0].starts_with("T001 ") && were[0].contains("first"),
        "{were:?}"
    );
    assert_eq!(facts.lost, ["T001"]);
    assert_eq!(project.facts().reworded, []);
    project.write("- [x] T001 first\n- [x] T002 second (in b.txt)\n");
    assert_eq!(project.facts().lost, [""; 0]);
}

/// Steps that the agent wrote itself are no tasks that a person waits for.
#[test]
fn steps_of_the_agent_belong_to_their_task() {
    let mut project = Project::with("- [ ] T001 first\n  - [ ] asked\n- [ ] T002 second\n");
    project.facts();
    project.write(
        "- [x] T001 first\n  - [x] own step\n  - [x] asked\n- [x] T002 second\n- [x] more\n",
    );
    let ticked: Vec<String> = project.facts().ticked.iter().map(TaskRef::name).collect();
    assert_eq!(ticked, ["T001 first", "#3 asked", "T002 second", "#5 more"]);
}

/// What a person says otherwise is no loss, and what is gone stays counted,
/// whoever changes the list next.
#[test]
fn a_persons_words_are_asked_for_also_while_a_task_is_lost() {
    let mut project = Project::with("- [ ] T001 first\n- [ ] T002 second\n- [ ] T003 third\n");
    project.facts();
    project.write("- [x] T001 first\n- [ ] T002 second\n");
    assert_eq!(project.facts().lost, ["T003"]);
    let edit = ListChange::Edit {
        task: "T002".into(),
        text: "another thing".into(),
    };
    project.looker.change(&edit).unwrap();
    let facts = project.facts();
    assert_eq!((facts.lost, facts.total), (vec!["T003".to_owned()], 3));
    project.looker.untick(&["T001".to_owned()]).unwrap();
    assert_eq!(project.facts().total, 3);
    project.looker.scope.focus = Some("T002".into());
    assert_eq!(project.facts().total, 3);
}

#[test]
fn what_is_lost_behind_trouble_is_told_when_it_is_over() {
    let mut project = Project::with(THREE);
    project.facts();
    fs::remove_file(project.path()).unwrap();
    project.check_trouble(ErrorClass::FileOp, "no such task file");
    assert_eq!(project.looker.open_tasks().len(), 2);
    project.write("- [ ] T002 second\n");
    assert_eq!(project.facts().removed, ["T001", "T003"]);
}

#[test]
fn trouble_has_its_class_and_names_the_file() {
    let mut project = Project::new();
    project.check_trouble(ErrorClass::FileOp, "no such task file");
    project.write("# Nothing to do\n");
    project.check_trouble(ErrorClass::TaskNotFound, "");
    project.write("");
    project.check_trouble(ErrorClass::FileOp, "");
    project.write(b"- [ ] a\0b\n");
    project.check_trouble(ErrorClass::FileOp, "");
    fs::remove_file(project.path()).unwrap();
    fs::create_dir(project.path()).unwrap();
    project.check_trouble(ErrorClass::FileOp, "not a task file");
}

#[test]
fn a_huge_file_is_refused_unread_with_its_true_size() {
    let mut project = Project::new();
    let file = fs::File::create(project.path()).unwrap();
    file.set_len(50_000_000_000).unwrap();
    let error = project.looker.tasks.clone().unwrap().open().unwrap_err();
    assert_eq!(
        error,
        ReadError::Task(TaskError::TooLarge {
            file: "tasks.md".into(),
            bytes: 50_000_000_000,
            limit: tasks::MAX_BYTES,
        })
    );
    project.check_trouble(ErrorClass::FileOp, "");
}

#[cfg(unix)]
#[test]
fn a_pipe_in_the_place_of_the_file_does_not_block() {
    let mut project = Project::new();
    let made = Command::new("mkfifo").arg(project.path()).status().unwrap();
    assert!(made.success());
    project.check_trouble(ErrorClass::FileOp, "not a task file");
}

#[test]
fn trouble_is_told_in_the_person_s_language() {
    let mut project = Project::new();
    project.looker.lang = Lang::ZhTw;
    let Tasks::Trouble { said: message, .. } = project.looker.look().tasks else {
        panic!("there is no file");
    };
    assert!(message.contains("找不到任務檔案"), "{message}");
}

#[test]
fn a_file_that_did_not_change_is_not_understood_anew() {
    let mut project = Project::with(THREE);
    // What is ticked is told once.
    let facts = TaskFacts {
        ticked: Vec::new(),
        ..project.facts()
    };
    let parsed = |project: &Project| project.looker.last.as_ref().unwrap().list.tasks.as_ptr();
    let first = parsed(&project);
    // The same bytes in a new file are the same.
    fs::remove_file(project.path()).unwrap();
    project.write(THREE);
    assert_eq!(project.facts(), facts);
    assert_eq!(parsed(&project), first);
    project.write(THREE.replace("third", "other"));
    project.facts();
    assert_ne!(parsed(&project), first);
}

#[test]
fn a_new_scope_counts_anew() {
    let mut project = Project::with(THREE);
    assert_eq!(project.facts().total, 3);
    project.looker.scope.skipped.insert("T002".into());
    let facts = project.facts();
    assert_eq!((facts.total, facts.pending), (2, 1));
    assert_eq!(facts.next.unwrap().id, "T003");
}

#[test]
fn git_is_asked_once_for_the_tree_of_a_commit() {
    let mut project = Project::with(THREE);
    project.git(&["init", "-q", "-b", "main"]);
    assert_eq!(project.looker.look().commit_tree, None);
    project.git(&["add", "-A"]);
    project.git(&["commit", "-q", "-m", "First"]);
    let first = project.git(&["rev-parse", "HEAD^{tree}"]);
    assert_eq!(project.looker.look().commit_tree.as_ref(), Some(&first));

    // Nobody could answer a second time.
    let objects = project.dir.path().join(".git/objects");
    let hidden = project.dir.path().join(".git/hidden");
    fs::rename(&objects, &hidden).unwrap();
    assert_eq!(project.looker.look().commit_tree.as_ref(), Some(&first));
    fs::rename(&hidden, &objects).unwrap();

    project.git(&["commit", "-q", "--allow-empty", "-m", "Nothing"]);
    assert_eq!(project.looker.look().commit_tree.as_ref(), Some(&first));
    fs::write(project.dir.path().join("new"), "").unwrap();
    project.git(&["add", "-A"]);
    project.git(&["commit", "-q", "-m", "Second"]);
    let second = project.git(&["rev-parse", "HEAD^{tree}"]);
    assert_ne!(first, second);
    assert_eq!(project.looker.look().commit_tree, Some(second));
}

//! Signs of work that an agent gives without a word: a silent agent that
//! edits is not idle. They cost nothing until somebody asks.

use std::path::PathBuf;
use std::time::SystemTime;

use crate::worktree::WorkTree;

/// What the project looked like when a turn began, or when this was asked
/// last.
#[derive(Debug)]
pub struct Signs {
    work_tree: WorkTree,
    tree: Option<String>,
    /// The work tree does not count it.
    tasks: Option<PathBuf>,
    tasks_stamp: Option<(u64, SystemTime)>,
}

impl Signs {
    pub fn new(work_tree: WorkTree, tree: Option<String>, tasks: Option<PathBuf>) -> Signs {
        let mut signs = Signs {
            work_tree,
            tree,
            tasks,
            tasks_stamp: None,
        };
        signs.tasks_stamp = signs.stamp_of_tasks();
        signs
    }

    /// Whether a source file or the task file changed since then.
    pub fn changed(&mut self) -> bool {
        let scan = self.work_tree.scan().ok();
        let tree = scan.map(|scan| scan.fingerprint.to_string());
        let stamp = self.stamp_of_tasks();
        let changed = tree != self.tree || stamp != self.tasks_stamp;
        (self.tree, self.tasks_stamp) = (tree, stamp);
        changed
    }

    fn stamp_of_tasks(&self) -> Option<(u64, SystemTime)> {
        let metadata = std::fs::metadata(self.tasks.as_ref()?).ok()?;
        Some((metadata.len(), metadata.modified().ok()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn an_edit_is_a_sign_once() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let tasks = at("tasks.md");
        fs::write(&tasks, "- [ ] T001 a\n").unwrap();
        fs::write(at("a.txt"), "1").unwrap();
        let tree = || WorkTree::new(dir.path(), vec![tasks.clone()]);
        let before = tree().scan().unwrap().fingerprint.to_string();
        let mut signs = Signs::new(tree(), Some(before), Some(tasks.clone()));
        assert!(!signs.changed());
        fs::write(at("a.txt"), "2").unwrap();
        assert!(signs.changed());
        assert!(!signs.changed());
        fs::write(&tasks, "- [x] T001 a, and more\n").unwrap();
        assert!(signs.changed());
        fs::remove_file(at("a.txt")).unwrap();
        assert!(signs.changed());
        assert!(!signs.changed());
    }
}

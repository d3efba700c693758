//! A project of its own for each test.

use super::*;
use std::process::Command;

pub struct Project {
    pub dir: tempfile::TempDir,
    pub caps: Caps,
    excluded: Vec<PathBuf>,
    tree: WorkTree,
    pub snapshots: Snapshots,
}

pub fn caps() -> Caps {
    Caps {
        file: 1 << 20,
        total: u64::MAX,
        files: usize::MAX,
        free: 0,
    }
}

fn open(root: &Path, caps: &Caps, excluded: &[PathBuf]) -> (WorkTree, Snapshots) {
    let layout = crate::layout_in(root);
    layout.prepare().unwrap();
    let mut tree = WorkTree::new(root, excluded.to_vec());
    tree.name_contents();
    let mut snapshots = Snapshots::create(&layout, caps.clone(), false).unwrap();
    for path in excluded {
        snapshots.also(path);
    }
    (tree, snapshots)
}

impl Project {
    pub fn plain() -> Project {
        let dir = tempfile::tempdir().unwrap();
        let (tree, snapshots) = open(dir.path(), &caps(), &[]);
        Project {
            dir,
            caps: caps(),
            excluded: Vec::new(),
            tree,
            snapshots,
        }
    }

    pub fn repository() -> Project {
        let project = Project::plain();
        project.git(&["init", "-q", "-b", "main"]);
        project
    }

    pub fn at(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn git(&self, arguments: &[&str]) -> Vec<u8> {
        let output = Command::new("git")
            .current_dir(self.dir.path())
            .args(["-c", "user.name=T", "-c", "user.email=t@example.com"])
            .args(arguments)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {said}");
        output.stdout
    }

    pub fn commit(&self, message: &str) {
        self.git(&["add", "-A", "--", ".", ":(exclude).ralph"]);
        self.git(&["commit", "-q", "-m", message]);
    }

    /// As another process sees it.
    pub fn begin_anew(&mut self) {
        (self.tree, self.snapshots) = open(self.dir.path(), &self.caps, &self.excluded);
    }

    pub fn begin_with(&mut self, excluded: Vec<PathBuf>) {
        self.excluded = excluded;
        self.begin_anew();
    }

    pub fn try_take(&mut self) -> Result<Taken, SnapshotError> {
        let scan = self.tree.scan().unwrap();
        self.snapshots.take(scan.found, || self.tree.contents())
    }

    pub fn take_all(&mut self) -> Taken {
        self.try_take().unwrap()
    }

    pub fn take(&mut self) -> TreeId {
        self.take_all().tree
    }

    /// The paths in a snapshot.
    pub fn names(&self, tree: &TreeId) -> Vec<String> {
        let files = self.snapshots.files(tree).unwrap();
        files
            .iter()
            .map(|(path, _)| path.to_string_lossy().into_owned())
            .collect()
    }
}

//! One module for each promise of a plan, on small throwaway projects.

mod discover;
mod prepare;
mod say;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

pub const OPEN: &str = "## Phase 1: Work\n- [x] T001 done\n- [ ] T002 open\n";
pub const DONE: &str = "## Phase 1: Work\n- [x] T001 done\n";

pub struct Project {
    dir: TempDir,
}

impl Project {
    /// Files with their content, the oldest first.
    pub fn with(files: &[(&str, &str)]) -> Project {
        let project = Project {
            dir: TempDir::new().unwrap(),
        };
        let long_ago = SystemTime::now() - Duration::from_secs(1_000_000);
        for (age, (name, content)) in (0..).zip(files) {
            let path = project.path(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, content).unwrap();
            let file = fs::File::options().write(true).open(&path).unwrap();
            file.set_modified(long_ago + Duration::from_secs(age * 60))
                .unwrap();
        }
        project
    }

    pub fn root(&self) -> &Path {
        self.dir.path()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }
}

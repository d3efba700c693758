//! Watches what the checks of a project consist of while an agent works: test
//! files, the settings of the verification, scripts that it calls, `verify:`
//! lines. What counts as weaker is decided in `ralph_core::integrity`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use ralph_core::config::FOREIGN_FILES;
use ralph_core::integrity::{self, Snapshot, TestFile, Weakening};
use ralph_core::tasks::TaskList;
use ralph_store::FileError;
use ralph_store::atomic::{AtomicOptions, write_atomic};
use sha2::{Digest as _, Sha256};

use crate::worktree::Scan;

/// The settings of the project itself.
const OWN_SETTINGS: &str = ".ralph/config.toml";

/// What the checks consisted of when the loop was armed, and consist of now.
#[derive(Debug)]
pub struct Watch {
    root: PathBuf,
    /// The commands whose scripts are watched.
    commands: Vec<String>,
    armed: Snapshot,
    now: Snapshot,
}

impl Watch {
    /// Takes the snapshot, or takes up the one of the process before: what was
    /// weakened while it lived stays weakened.
    pub fn arm(
        root: &Path,
        commands: Vec<String>,
        list: Option<&TaskList>,
        file: &Path,
    ) -> (Watch, Result<(), FileError>) {
        let mut watch = Watch {
            root: root.into(),
            commands,
            armed: Snapshot::default(),
            now: Snapshot::default(),
        };
        watch.now.tests = watch.all_tests();
        watch.read_settings(list);
        let before = ralph_store::regular::read(file).ok();
        if let Some(armed) = before.and_then(|bytes| serde_json::from_slice(&bytes).ok()) {
            watch.armed = armed;
            return (watch, Ok(()));
        }
        watch.armed = watch.now.clone();
        let json = serde_json::to_vec(&watch.armed).unwrap_or_default();
        let kept = write_atomic(file, &json, AtomicOptions { durable: false });
        (watch, kept)
    }

    /// What is weaker now. `scan` says what changed since the last look.
    pub fn look(&mut self, scan: Option<&Scan>, list: Option<&TaskList>) -> Vec<Weakening> {
        match scan {
            Some(scan) if scan.changed_total == scan.changed.len() => {
                for change in &scan.changed {
                    self.read_again(&change.path);
                }
            }
            _ => self.now.tests = self.all_tests(),
        }
        self.read_settings(list);
        integrity::judge(&self.armed, &self.now)
    }

    fn read_again(&mut self, path: &Path) {
        let Some(name) = path.to_str().map(|name| name.replace('\\', "/")) else {
            return;
        };
        if !integrity::may_hold_tests(&name) {
            return;
        }
        match tests_in(&self.root, &name) {
            Some(tests) => self.now.tests.insert(name, tests),
            None => self.now.tests.remove(&name),
        };
    }

    fn all_tests(&self) -> std::collections::BTreeMap<String, TestFile> {
        let own = [".git", ".ralph", ".skillpack"].map(|name| self.root.join(name));
        let mut walk = ignore::WalkBuilder::new(&self.root);
        walk.hidden(false).require_git(false);
        walk.filter_entry(move |entry| !own.iter().any(|other| other == entry.path()));
        let files = walk.build().flatten();
        let names = files.filter_map(|entry| {
            let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
            let path = entry.path().strip_prefix(&self.root).ok()?;
            let name = path.to_str()?.replace('\\', "/");
            (is_file && integrity::may_hold_tests(&name)).then_some(name)
        });
        names
            .filter_map(|name| Some((name.clone(), tests_in(&self.root, &name)?)))
            .collect()
    }

    /// These are few and small: they are read at every look.
    fn read_settings(&mut self, list: Option<&TaskList>) {
        // A task file that can't be read says nothing about its lines.
        if let Some(list) = list {
            self.now.task_checks = list.check_lines();
        }
        let text = |name: &str| small_text(&self.root.join(name));
        let own = text(OWN_SETTINGS).unwrap_or_default();
        let own = digest(&integrity::settings_of(&own));
        let others = FOREIGN_FILES.iter().map(|name| (*name).to_owned());
        let scripts = self.commands.iter().flat_map(|command| scripts_in(command));
        self.now.settings = others
            .chain(scripts)
            .filter_map(|name| Some((name.clone(), digest(&text(&name)?))))
            .chain([(OWN_SETTINGS.to_owned(), own)])
            .collect();
        self.now.recipes = self.recipes();
    }

    /// The scripts and targets behind the commands that do something.
    fn recipes(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for words in self.commands.iter().flat_map(|c| simple_commands(c)) {
            let mut words = words.iter().map(String::as_str);
            let program = words.next().unwrap_or_default();
            let names: Vec<&str> = words.filter(|word| !word.starts_with('-')).collect();
            match program {
                "npm" | "pnpm" | "yarn" | "bun" => found.extend(self.package_script(&names)),
                "make" | "gmake" => found.extend(self.targets(&MAKEFILES, &names)),
                "just" => found.extend(self.targets(&JUSTFILES, &names)),
                _ => {}
            }
        }
        found
    }

    fn package_script(&self, words: &[&str]) -> Option<String> {
        let name = match words {
            ["run" | "run-script", name, ..] => name,
            ["t", ..] => "test",
            [name, ..] => name,
            [] => return None,
        };
        let package = small_text(&self.root.join("package.json"))?;
        let package: serde_json::Value = serde_json::from_str(&package).ok()?;
        let script = package["scripts"][name].as_str()?;
        (!integrity::trivial(script)).then(|| format!("package.json: {name}"))
    }

    fn targets(&self, files: &[&str], targets: &[&str]) -> Vec<String> {
        let text = |file: &&&str| small_text(&self.root.join(file));
        let Some(file) = files.iter().find(|file| text(file).is_some()) else {
            return Vec::new();
        };
        let text = text(&file).unwrap_or_default();
        let does = |target: &&&str| {
            integrity::recipe(&text, target).is_some_and(|recipe| !integrity::trivial(&recipe))
        };
        let real = targets.iter().filter(does);
        real.map(|target| format!("{file}: {target}")).collect()
    }
}

const MAKEFILES: [&str; 3] = ["GNUmakefile", "makefile", "Makefile"];
const JUSTFILES: [&str; 3] = ["justfile", "Justfile", ".justfile"];

fn tests_in(root: &Path, name: &str) -> Option<TestFile> {
    integrity::read_tests(name, &small_text(&root.join(name))?)
}

/// The text of a regular file that is not too large.
fn small_text(path: &Path) -> Option<String> {
    let found = fs::symlink_metadata(path).ok()?;
    if !found.is_file() || found.len() > integrity::MAX_BYTES {
        return None;
    }
    let bytes = ralph_store::regular::read(path).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn digest(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().take(16).map(|b| format!("{b:02x}")).collect()
}

/// The shell scripts that a command names: they are what is verified.
fn scripts_in(command: &str) -> Vec<String> {
    let words = simple_commands(command).into_iter().flatten();
    let is_script = |word: &String| {
        [".sh", ".bash", ".zsh"]
            .iter()
            .any(|end| word.ends_with(end))
    };
    words
        .map(|word| word.trim_start_matches("./").to_owned())
        .filter(is_script)
        .collect()
}

/// The words of each command of a line, without quotes.
fn simple_commands(line: &str) -> Vec<Vec<String>> {
    line.split([';', '&', '|', '\n'])
        .map(|part| {
            let words = part.split_whitespace();
            words
                .map(|w| w.trim_matches(['"', '\'']).to_owned())
                .collect()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Project {
        dir: tempfile::TempDir,
        watch: Option<Watch>,
    }

    impl Project {
        fn new(files: &[(&str, &str)], commands: &[&str]) -> Project {
            let dir = tempfile::tempdir().unwrap();
            let mut project = Project { dir, watch: None };
            for (name, text) in files {
                project.write(name, text);
            }
            project.arm(commands);
            project
        }

        fn arm(&mut self, commands: &[&str]) {
            let commands = commands.iter().map(|c| (*c).to_owned()).collect();
            let file = self.dir.path().join(".ralph").join("checks.json");
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            let (watch, kept) = Watch::arm(self.dir.path(), commands, None, &file);
            kept.unwrap();
            self.watch = Some(watch);
        }

        fn write(&self, name: &str, text: &str) {
            let path = self.dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }

        fn weaker(&mut self) -> Vec<String> {
            let found = self.watch.as_mut().unwrap().look(None, None);
            let one = |w: Weakening| format!("{} {}", w.file, w.how.into_str());
            found.into_iter().map(one).collect()
        }
    }

    const TEST: &str = "def test_a():\n    assert 1\n";

    #[test]
    fn test_files_are_found_and_followed() {
        let mut project = Project::new(
            &[
                ("tests/test_a.py", TEST),
                ("build/test_b.py", TEST),
                (".gitignore", "build\n"),
            ],
            &[],
        );
        assert_eq!(project.weaker(), [""; 0]);
        project.write("tests/test_new.py", "def test_b():\n    assert 1\n");
        project.write("build/test_b.py", "");
        assert_eq!(project.weaker(), [""; 0]);
        fs::remove_file(project.dir.path().join("tests/test_a.py")).unwrap();
        assert_eq!(project.weaker(), ["tests/test_a.py removed"]);
        // The next process goes by what the first one saw.
        project.arm(&[]);
        assert_eq!(project.weaker(), ["tests/test_a.py removed"]);
        project.write("tests/test_moved.py", TEST);
        assert_eq!(project.weaker(), [""; 0]);
    }

    #[test]
    fn verification_is_followed() {
        let mut project = Project::new(
            &[
                (
                    "package.json",
                    r#"{"scripts": {"test": "vitest", "dev": "vite"}}"#,
                ),
                ("Makefile", "check:\n\tgo vet\n"),
                ("ci/all.sh", "make check\n"),
                (".ralph/config.toml", "[log]\nkeep = 3\n"),
            ],
            &["npm test", "make check && sh ./ci/all.sh"],
        );
        assert_eq!(project.weaker(), [""; 0]);
        project.write(
            "package.json",
            r#"{"scripts": {"test": "jest", "dev": "true"}}"#,
        );
        project.write("Makefile", "check:\n\tgo vet ./...\nmore:\n\ttrue\n");
        project.write(".ralph/config.toml", "[log]\nkeep = 4\n");
        assert_eq!(project.weaker(), [""; 0]);
        project.write("package.json", r#"{"scripts": {"test": "true"}}"#);
        project.write("Makefile", "check:\n\t-true\n");
        project.write("ci/all.sh", "exit 0\n");
        project.write(".ralph/config.toml", "[verify]\ncommands = [\"true\"]\n");
        assert_eq!(
            project.weaker(),
            [
                ".ralph/config.toml settings",
                "ci/all.sh settings",
                "Makefile: check recipe",
                "package.json: test recipe",
            ]
        );
    }
}

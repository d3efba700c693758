//! A repository apart: what `git` is asked about instead of the project's own
//! `.git` (S-08).
//!
//! Whoever can write a repository's configuration, attributes or hooks can
//! have Git run a program: `core.fsmonitor`, filters, external diffs, hooks,
//! `core.sshCommand` and whatever comes next. So Git is never shown them. It
//! gets a folder of ours, with a configuration of the few keys that are data,
//! and reads only objects, index and work tree of the project.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::{fs, io};

use ralph_store::fault::{self, Deed, point};
use ralph_store::private::PrivateDir;

use super::{Head, common_dir, find_root, git_dir, head, open_regular};

/// Keys that say how files are compared, and where a forge is: none of them
/// names a program, a file or a hook. Whoever writes the configuration could
/// hide a file by its letters or a link by those that only other systems need.
#[cfg(target_os = "linux")]
const DATA_KEYS: &str = r"^(core\.(filemode|autocrlf|eol|trustctime|checkstat)|extensions\.objectformat|remote\..*\.(url|pushurl|fetch|gh-resolved|glab-resolved)|branch\..*\.(remote|merge)|http\..*\.extraheader)$";
#[cfg(not(target_os = "linux"))]
const DATA_KEYS: &str = r"^(core\.(filemode|symlinks|ignorecase|autocrlf|eol|precomposeunicode|trustctime|checkstat|longpaths)|extensions\.objectformat|remote\..*\.(url|pushurl|fetch|gh-resolved|glab-resolved)|branch\..*\.(remote|merge)|http\..*\.extraheader)$";

/// All that `git` gets of our environment where it only reads.
const KEPT_VARIABLES: [&str; 5] = ["PATH", "TMPDIR", "SystemRoot", "TEMP", "PATHEXT"];

/// No lock, no fetch, no question, no second configuration.
const STRICT: [(&str, &str); 7] = [
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("LC_ALL", "C"),
];

/// What its folders for a moment are called.
pub(crate) const TEMPORARY: &str = "git";

pub(crate) struct Apart {
    dir: PrivateDir,
    program: PathBuf,
    top: PathBuf,
    index: PathBuf,
    objects: PathBuf,
}

impl Apart {
    pub fn of(root: &Path) -> Option<Apart> {
        let top = find_root(root)?;
        let (own, common) = (git_dir(&top)?, common_dir(&top)?);
        // Git would wait for a pipe in its place, and so would we.
        if let Err(error) = ralph_store::regular::open(own.join("index"))
            && error.kind() != io::ErrorKind::NotFound
        {
            return None;
        }
        let apart = Apart {
            dir: PrivateDir::new(TEMPORARY).ok()?,
            program: program(&top, &std::env::var_os("PATH")?)?,
            index: own.join("index"),
            objects: common.join("objects"),
            top,
        };
        apart.fill(&own, &common).ok()?;
        Some(apart)
    }

    /// `git` in a folder of the project, with nothing of a person's either.
    pub fn command(&self, cwd: &Path, arguments: &[&str]) -> Command {
        let mut command = bare_command(&self.program, self.dir.path());
        command.envs(self.variables());
        command.current_dir(cwd).args(arguments);
        command
    }

    /// Where an index of our own can lie; it goes with the value.
    pub fn own_index(&self) -> PathBuf {
        self.dir.path().join("index.own")
    }

    /// What makes any `git` look here, also one that another program starts.
    pub fn variables(&self) -> [(&'static str, &OsStr); 4] {
        [
            ("GIT_DIR", self.dir.path().as_os_str()),
            ("GIT_WORK_TREE", self.top.as_os_str()),
            ("GIT_INDEX_FILE", self.index.as_os_str()),
            ("GIT_OBJECT_DIRECTORY", self.objects.as_os_str()),
        ]
    }

    fn fill(&self, own: &Path, common: &Path) -> io::Result<()> {
        let dir = self.dir.path();
        fs::create_dir_all(dir.join("refs/heads"))?;
        fs::create_dir(dir.join("info"))?;
        let Head { commit, branch } = head(&self.top);
        let at = match (&branch, &commit) {
            (Some(branch), _) => format!("ref: refs/heads/{branch}\n"),
            (None, Some(commit)) => format!("{commit}\n"),
            (None, None) => "ref: refs/heads/none\n".into(),
        };
        fs::write(dir.join("HEAD"), at)?;
        if let (Some(branch), Some(commit)) = (branch, commit) {
            let path = dir.join("refs/heads").join(branch);
            fs::create_dir_all(path.parent().unwrap_or(dir))?;
            fs::write(path, format!("{commit}\n"))?;
        }
        fs::write(dir.join("config"), self.config(own))?;
        copy(&common.join("info/exclude"), &dir.join("info/exclude"))?;
        copy(&common.join("shallow"), &dir.join("shallow"))?;
        for entry in fs::read_dir(own)?.flatten() {
            let name = entry.file_name();
            if name.as_encoded_bytes().starts_with(b"sharedindex.") {
                copy(&entry.path(), &dir.join(name))?;
            }
        }
        Ok(())
    }

    fn config(&self, own: &Path) -> String {
        let listed = self.data_keys(own).unwrap_or_default();
        let text = String::from_utf8_lossy(&listed);
        let entries = text.split('\0').filter_map(|entry| entry.split_once('\n'));
        let mut config = String::new();
        let mut version = 0;
        for (key, value) in entries {
            if key == "extensions.objectformat" {
                version = 1;
            }
            put(&mut config, key, value);
        }
        put(
            &mut config,
            "core.repositoryformatversion",
            &version.to_string(),
        );
        put(&mut config, "core.bare", "false");
        if let Some(ignored) = ignore::gitignore::gitconfig_excludes_path() {
            put(&mut config, "core.excludesfile", &ignored.to_string_lossy());
        }
        config
    }

    /// What the person and the repository configured of them; asking for it
    /// runs nothing.
    fn data_keys(&self, own: &Path) -> Option<Vec<u8>> {
        // Git would wait for whoever writes into a pipe.
        open_regular(&own.join("HEAD"))?;
        let common = common_dir(&self.top)?;
        open_regular(&common.join("config"))?;
        let files = configured(own, &common);
        // Nobody waits for the question of another.
        let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let of_these = known().clone().filter(|(of, _)| files.as_ref() == Some(of));
        if let Some((_, answer)) = of_these {
            return Some(answer);
        }
        let answer = self.ask_data_keys(own)?;
        *known() = files.map(|files| (files, answer.clone()));
        Some(answer)
    }

    fn ask_data_keys(&self, own: &Path) -> Option<Vec<u8>> {
        let mut command = bare_command(&self.program, self.dir.path());
        for name in ["HOME", "USERPROFILE", "XDG_CONFIG_HOME"] {
            match std::env::var_os(name) {
                Some(home) => command.env(name, home),
                None => command.env_remove(name),
            };
        }
        command
            .env_remove("GIT_CONFIG_NOSYSTEM")
            .current_dir(self.dir.path())
            .env("GIT_DIR", std::path::absolute(own).ok()?)
            .args(["config", "-z", "--get-regexp", DATA_KEYS]);
        super::ask::bytes_before(command, 256 * 1024)
    }
}

/// What was asked last, and of which files: a process of its own for each
/// question would cost as much as the question.
static KNOWN: Mutex<Option<(Files, Vec<u8>)>> = Mutex::new(None);

/// Paths and contents.
type Files = Vec<(PathBuf, Vec<u8>)>;

/// The files that a configuration is made of, as they are; `None` where they
/// name others.
fn configured(own: &Path, common: &Path) -> Option<Files> {
    let home = std::env::var_os("HOME").or_else(|| std::env::var_os("USERPROFILE"));
    let home = home.map(PathBuf::from).unwrap_or_default();
    let other = std::env::var_os("XDG_CONFIG_HOME").filter(|dir| !dir.is_empty());
    let other = other.map_or_else(|| home.join(".config"), PathBuf::from);
    let files = [
        common.join("config"),
        own.join("config.worktree"),
        home.join(".gitconfig"),
        other.join("git/config"),
    ];
    let mut known = Vec::new();
    for path in files {
        let text = ralph_store::regular::read(&path).unwrap_or_default();
        let names_others = |part: &[u8]| part.eq_ignore_ascii_case(b"[include");
        if text.windows(8).any(names_others) {
            return None;
        }
        known.push((path, text));
    }
    Some(known)
}

/// `git` for a repository that this program makes itself: without anybody's
/// configuration, templates and hooks.
pub fn in_own_repository(root: &Path, arguments: &[&str]) -> io::Result<std::process::Output> {
    in_own_repository_with(root, arguments, &[])
}

/// The same with variables of Git's own.
pub fn in_own_repository_with(
    root: &Path,
    arguments: &[&str],
    variables: &[(&str, &str)],
) -> io::Result<std::process::Output> {
    let missing = || io::Error::new(io::ErrorKind::NotFound, "git");
    let nobody = PrivateDir::new(TEMPORARY)?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let program = program(root, &path).ok_or_else(missing)?;
    let mut command = bare_command(&program, nobody.path());
    command.env("GIT_TEMPLATE_DIR", nobody.path());
    command.envs(variables.iter().copied());
    command.stderr(Stdio::piped());
    command.current_dir(root).args(arguments);
    fault::at(point::ENGINE_GIT, Deed::Process, || command.output())
}

/// Variables of a person that say how their Git shows things.
const SHOWING: [&str; 4] = [
    "GIT_PAGER", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM",
];

/// `git` for a store of Ralph's own: it shows things as the person has it
/// configured, and sees nothing of the project.
pub(super) fn command_for_store(store: &Path, root: &Path, arguments: &[&str]) -> Option<Command> {
    let mut command = Command::new(program(root, &std::env::var_os("PATH")?)?);
    let foreign = |name: &OsStr| {
        let name = name.to_string_lossy();
        name.starts_with("GIT_") && !SHOWING.contains(&&*name)
    };
    for (name, _) in std::env::vars_os().filter(|(name, _)| foreign(name)) {
        command.env_remove(name);
    }
    command
        .env("GIT_DIR", store)
        .current_dir(store)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    Some(command)
}

fn bare_command(program: &Path, home: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear();
    for name in KEPT_VARIABLES {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command
        .envs(STRICT)
        .env("HOME", home)
        .env("XDG_CONFIG_HOME", home)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    command
}

/// `git` for a question about the refs of the repository itself, to which no
/// configuration makes it run anything.
pub(super) fn command_for_refs(root: &Path, arguments: &[&str]) -> Option<(PrivateDir, Command)> {
    let top = find_root(root)?;
    let home = PrivateDir::new(TEMPORARY).ok()?;
    let mut command = bare_command(&program(&top, &std::env::var_os("PATH")?)?, home.path());
    command
        .env("GIT_DIR", std::path::absolute(git_dir(&top)?).ok()?)
        .current_dir(home.path())
        .args(arguments);
    Some((home, command))
}

/// The first `git` on `PATH` that the project did not bring along: a hook is
/// started with the variables that a repository's client settings name.
pub(super) fn program(top: &Path, path: &OsStr) -> Option<PathBuf> {
    let real = top.canonicalize().unwrap_or_else(|_| top.to_path_buf());
    let outside = |dir: &PathBuf| {
        let there = dir.canonicalize().unwrap_or_else(|_| dir.clone());
        dir.is_absolute() && !there.starts_with(&real)
    };
    let dirs = std::env::split_paths(path).filter(outside);
    let names = dirs.map(|dir| dir.join(format!("git{}", std::env::consts::EXE_SUFFIX)));
    let mut found = names.filter_map(|git| crate::agents::find_program(git.as_os_str(), top));
    found.next()
}

fn put(config: &mut String, key: &str, value: &str) {
    let quoted = |text: &str| {
        let text = text.replace('\\', "\\\\").replace('"', "\\\"");
        text.replace('\n', "\\n")
    };
    let Some((section, name)) = key.rsplit_once('.') else {
        return;
    };
    let head = match section.split_once('.') {
        Some((section, part)) => format!("{section} \"{}\"", quoted(part)),
        None => section.to_owned(),
    };
    let _ = writeln!(config, "[{head}]\n\t{name} = \"{}\"", quoted(value));
}

/// What is there and a file; nothing waits for a pipe.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    match open_regular(from) {
        Some(mut from) => io::copy(&mut from, &mut fs::File::create(to)?).map(drop),
        None => Ok(()),
    }
}

/// In whose name Ralph commits: the person's, as Git would do it in this
/// repository.
pub(crate) fn person(top: &Path) -> (String, String) {
    let of_repository = |key: &str| super::ask_real(top, &["config", "--get", key]);
    let own = of_person(r"^user\.(name|email)$");
    let own = |key: &str| {
        let entries = own.split('\0').filter_map(|entry| entry.split_once('\n'));
        let mut named = entries.filter(|(name, _)| *name == key);
        named.next_back().map(|(_, value)| value.to_owned())
    };
    let of = |variable: &str, key: &str, default: &str| {
        let typed = std::env::var(variable).ok().filter(|text| !text.is_empty());
        let configured = typed.or_else(|| of_repository(key)).or_else(|| own(key));
        configured.unwrap_or_else(|| default.to_owned())
    };
    (
        of("GIT_AUTHOR_NAME", "user.name", "Ralph Loop"),
        of("GIT_AUTHOR_EMAIL", "user.email", "ralph@localhost"),
    )
}

/// What the person's own configuration says of these keys, each ended by a NUL.
pub fn of_person(keys: &str) -> String {
    let mut git = Command::new("git");
    let asked = git
        .current_dir("/")
        .args(["config", "--global", "-z", "--get-regexp", keys])
        .output();
    let said = asked.map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&said).into_owned()
}

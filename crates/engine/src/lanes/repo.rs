//! Trees, merges and commits, made in the object store of the person's
//! repository and nowhere else of it: no index, no work tree and no
//! configuration of theirs takes part.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use ralph_store::fault::{self, Deed, point};
use ralph_store::private::PrivateDir;

use crate::git::{self, Apart};

/// Folders of Ralph's own in a project: no work.
const OWN: [&str; 2] = [".ralph/", ".skillpack/"];

pub(crate) struct Repo {
    apart: Apart,
    /// The project, and the top of its repository.
    pub root: PathBuf,
    pub top: PathBuf,
    /// Whose commits these are: a name and an address.
    pub person: (String, String),
}

/// What came of a merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Merge {
    Clean { tree: String },
    Conflict { tree: String, files: Vec<String> },
}

/// A folder of files, with the index that says what of them is known.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    pub dir: PathBuf,
    pub index: PathBuf,
}

impl Repo {
    pub fn open(root: &Path) -> io::Result<Repo> {
        let missing = || io::Error::new(io::ErrorKind::NotFound, "no Git repository");
        let top = git::find_root(root).ok_or_else(missing)?;
        Ok(Repo {
            apart: Apart::of(root).ok_or_else(missing)?,
            root: root.to_owned(),
            person: git::person(&top),
            top,
        })
    }

    /// Where all of its objects are.
    pub fn objects(&self) -> io::Result<PathBuf> {
        let missing = || io::Error::new(io::ErrorKind::NotFound, "no objects");
        let dir = git::common_dir(&self.top).ok_or_else(missing)?;
        dir.join("objects").canonicalize()
    }

    fn run(&self, tree: Option<&Tree>, arguments: &[&str], input: &[u8]) -> io::Result<Output> {
        let cwd = tree.map_or(self.top.as_path(), |tree| &tree.dir);
        let mut command = self.apart.command(cwd, arguments);
        if let Some(tree) = tree {
            command.env("GIT_WORK_TREE", &tree.dir);
            command.env("GIT_INDEX_FILE", &tree.index);
        } else {
            command.env("GIT_INDEX_FILE", self.apart.own_index());
        }
        command.env("GIT_OPTIONAL_LOCKS", "1");
        let (name, email) = &self.person;
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), name);
            command.env(format!("GIT_{who}_EMAIL"), email);
        }
        command.stdin(Stdio::piped()).stderr(Stdio::piped());
        let mut child = fault::at(point::ENGINE_GIT, Deed::Process, || command.spawn())?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(input)?;
        }
        child.wait_with_output()
    }

    fn ask(&self, tree: Option<&Tree>, arguments: &[&str]) -> io::Result<String> {
        let output = self.run(tree, arguments, b"")?;
        answer(&output, arguments)
    }

    /// The tree of a commit.
    pub fn tree_of(&self, commit: &str) -> io::Result<String> {
        self.ask(
            None,
            &["rev-parse", "--verify", &format!("{commit}^{{tree}}")],
        )
    }

    /// Makes the folder what a tree says. What the folder ignores stays.
    pub fn put(&self, tree: &Tree, oid: &str) -> io::Result<()> {
        std::fs::create_dir_all(&tree.dir)?;
        // What lies there is known first, so that what is too much goes.
        self.know(tree)?;
        self.ask(Some(tree), &["read-tree", "--reset", "-u", oid])?;
        Ok(())
    }

    /// Takes everything that lies there into the index, but for what is
    /// ignored, Ralph's own, or a repository within.
    fn know(&self, tree: &Tree) -> io::Result<()> {
        let list = ["ls-files", "-z", "-o", "-m", "-d", "--exclude-standard"];
        let listed = self.run(Some(tree), &list, b"")?;
        answer(&listed, &list)?;
        let inside = self.root.strip_prefix(&self.top).unwrap_or(Path::new(""));
        let own = OWN.map(|dir| inside.join(dir).to_string_lossy().into_owned());
        let is_work = |name: &&[u8]| {
            let is_own = own.iter().any(|dir| name.starts_with(dir.as_bytes()));
            !is_own && !name.ends_with(b"/") && !name.is_empty()
        };
        let names = listed.stdout.split(|&byte| byte == 0).filter(is_work);
        let names: Vec<u8> = names.flat_map(|name| [name, b"\0"].concat()).collect();
        let update = ["update-index", "-z", "--add", "--remove", "--stdin"];
        answer(&self.run(Some(tree), &update, &names)?, &update).map(drop)
    }

    /// The tree that lies in a folder, but for files that are Ralph's own:
    /// `kept` is as it was in `base`.
    pub fn take(&self, tree: &Tree, base: &str, kept: Option<&str>) -> io::Result<String> {
        self.know(tree)?;
        if let Some(path) = kept {
            let entry = self.ask(None, &["ls-tree", base, "--", path])?;
            match entry.split_once('\t') {
                Some((entry, _)) => {
                    let mut parts = entry.split_whitespace();
                    let mode = parts.next().unwrap_or_default();
                    let oid = parts.nth(1).unwrap_or_default();
                    let info = format!("{mode},{oid},{path}");
                    self.ask(Some(tree), &["update-index", "--add", "--cacheinfo", &info])?;
                }
                None => {
                    let remove = ["update-index", "--force-remove", "--", path];
                    self.ask(Some(tree), &remove)?;
                }
            }
        }
        self.ask(Some(tree), &["write-tree"])
    }

    /// The same tree with one file as it is given.
    pub fn with_file(&self, oid: &str, path: &str, bytes: &[u8]) -> io::Result<String> {
        let dir = PrivateDir::new("lane")?;
        let tree = Tree {
            dir: self.top.clone(),
            index: dir.path().join("index"),
        };
        let hash = ["hash-object", "-w", "--stdin"];
        let blob = answer(&self.run(None, &hash, bytes)?, &hash)?;
        self.ask(Some(&tree), &["read-tree", oid])?;
        let entry = self.ask(None, &["ls-tree", oid, "--", path])?;
        let mode = entry.split_whitespace().next().unwrap_or("100644");
        let info = format!("{mode},{blob},{path}");
        self.ask(
            Some(&tree),
            &["update-index", "--add", "--cacheinfo", &info],
        )?;
        self.ask(Some(&tree), &["write-tree"])
    }

    /// A file as a commit has it.
    pub fn file_of(&self, commit: &str, path: &str) -> io::Result<Vec<u8>> {
        let show = ["cat-file", "blob", &format!("{commit}:{path}")];
        let shown = self.run(None, &show, b"")?;
        answer(&shown, &show)?;
        Ok(shown.stdout)
    }

    pub fn commit(&self, tree: &str, parent: &str, message: &str) -> io::Result<String> {
        let arguments = ["commit-tree", tree, "-p", parent, "-F", "-"];
        answer(&self.run(None, &arguments, message.as_bytes())?, &arguments)
    }

    /// What a commit changed, on top of another that shares its base.
    pub fn merge(&self, tip: &str, commit: &str) -> io::Result<Merge> {
        let arguments = [
            "merge-tree", "--write-tree", "--name-only", "-z", tip, commit,
        ];
        let output = self.run(None, &arguments, b"")?;
        let text = String::from_utf8_lossy(&output.stdout);
        let mut parts = text.split('\0');
        let tree = parts.next().unwrap_or_default().trim().to_owned();
        match output.status.code() {
            Some(0) => Ok(Merge::Clean { tree }),
            Some(1) => {
                let files = parts.take_while(|part| !part.is_empty());
                Ok(Merge::Conflict {
                    files: files.map(str::to_owned).collect(),
                    tree,
                })
            }
            _ => answer(&output, &arguments).map(|tree| Merge::Clean { tree }),
        }
    }

    /// Brings the person's index and work tree from one commit to a later one;
    /// Git refuses where a file of theirs would be lost. No filter runs.
    pub fn check_out(&self, from: &str, to: &str) -> io::Result<()> {
        // What was written again as it was counts as unchanged.
        let refresh = ["update-index", "-q", "--refresh"];
        for arguments in [&refresh[..], &["read-tree", "-m", "-u", from, to]] {
            let mut command = self.apart.command(&self.top, arguments);
            command.env("GIT_OPTIONAL_LOCKS", "1");
            command.stderr(Stdio::piped());
            let output = command.output()?;
            answer(&output, arguments)?;
        }
        Ok(())
    }

    /// What of this is in a commit.
    pub fn bytes_of(&self, commit: &str, path: &str) -> Option<Vec<u8>> {
        let name = format!("{commit}:{path}");
        let output = self.run(None, &["cat-file", "blob", &name], b"").ok()?;
        output.status.success().then_some(output.stdout)
    }

    /// Files that the person wants in each tree although Git ignores them.
    pub fn included(&self, list: Option<&Path>, patterns: &[String]) -> Vec<String> {
        let list = list.map(|list| format!("--exclude-from={}", list.display()));
        let patterns = patterns
            .iter()
            .map(|pattern| format!("--exclude={pattern}"));
        let wanted: Vec<String> = list.into_iter().chain(patterns).collect();
        let mut arguments = vec!["ls-files", "-z", "--others", "--ignored"];
        arguments.extend(wanted.iter().map(String::as_str));
        let output = self.run(None, &arguments, b"");
        let text = output.map(|output| output.stdout).unwrap_or_default();
        let names = text.split(|&byte| byte == 0);
        let text = |name: &[u8]| String::from_utf8(name.to_vec()).ok();
        names
            .filter(|name| !name.is_empty())
            .filter_map(text)
            .collect()
    }

    /// Whether Git would ignore a file of the project.
    pub fn ignores(&self, path: &str) -> bool {
        let output = self.run(None, &["check-ignore", "-q", "--no-index", path], b"");
        output.is_ok_and(|output| output.status.success())
    }
}

fn answer(output: &Output, arguments: &[&str]) -> io::Result<String> {
    if output.status.success() {
        let text = String::from_utf8_lossy(&output.stdout);
        return Ok(text.trim_end().to_owned());
    }
    let verb = arguments.first().copied().unwrap_or_default();
    let words = String::from_utf8_lossy(&output.stderr);
    let words = words.lines().last().unwrap_or_default().trim();
    Err(io::Error::other(format!("git {verb}: {words}")))
}

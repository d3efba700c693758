//! Repositories of jobs: what is sent, what a worker works in, what it gives
//! back.
//!
//! A worker's `git` never obeys what an agent may have written into the
//! repository that it worked in: results are read by a repository of our own
//! that borrows its objects.

use std::path::{Path, PathBuf};
use std::{fs, io};

use ralph_engine::git;

/// In whose name work that the agent did not commit is committed.
const NAME: &str = "user.name=Ralph Loop";
const EMAIL: &str = "user.email=ralph@localhost";
/// What Ralph shows to others while a run goes on is no work.
const NOT_WORK: &str = ".ralph";

/// The branch of a job.
pub fn branch(job: &str) -> String {
    format!("ralph/{job}")
}

/// Runs `git` with nobody's configuration; gives what it printed.
pub fn git(dir: &Path, args: &[&str]) -> io::Result<String> {
    git_with(dir, args, &[])
}

fn git_with(dir: &Path, args: &[&str], env: &[(&str, &str)]) -> io::Result<String> {
    let output = git::in_own_repository_with(dir, args, env)?;
    if output.status.success() {
        let said = String::from_utf8_lossy(&output.stdout);
        return Ok(said.trim().to_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said.lines().last().unwrap_or_default();
    let verb = args.iter().find(|arg| !arg.starts_with('-'));
    let verb = verb.copied().unwrap_or_default();
    Err(io::Error::other(format!("git {verb}: {last}")))
}

/// A bare repository of our own that borrows objects from others.
pub fn borrowing(dir: &Path, from: &[PathBuf]) -> io::Result<PathBuf> {
    fs::create_dir_all(dir)?;
    git(dir, &["init", "-q", "--bare", "."])?;
    let mut lines = String::new();
    for objects in from {
        let path = objects.display().to_string();
        if path.contains('\n') {
            return Err(io::Error::other("a path with a line break"));
        }
        lines.push_str(&path);
        lines.push('\n');
    }
    fs::create_dir_all(dir.join("objects/info"))?;
    fs::write(dir.join("objects/info/alternates"), lines)?;
    Ok(dir.to_owned())
}

/// One commit with all below it, as one file.
pub fn bundle(objects: PathBuf, commit: &str, scratch: &Path) -> io::Result<PathBuf> {
    let own = borrowing(&scratch.join("own.git"), &[objects])?;
    bundle_of(&own, commit, scratch)
}

/// The same of a commit that a repository of our own has.
pub fn bundle_of(own: &Path, commit: &str, scratch: &Path) -> io::Result<PathBuf> {
    git(own, &["update-ref", "refs/heads/base", commit])?;
    let file = scratch.join("base.bundle");
    let name = file.display().to_string();
    git(own, &["bundle", "create", "-q", &name, "refs/heads/base"])?;
    Ok(file)
}

/// The files of a tree, seen by a repository of our own.
struct Seen<'a> {
    own: &'a Path,
    tree: &'a Path,
}

impl Seen<'_> {
    fn git(&self, args: &[&str]) -> io::Result<String> {
        let place = [
            format!("--git-dir={}", self.own.display()),
            format!("--work-tree={}", self.tree.display()),
        ];
        let place = place.iter().map(String::as_str);
        let all: Vec<&str> = place.chain(args.iter().copied()).collect();
        git(self.tree, &all)
    }

    /// Everything that lies there is in the index, on top of a commit.
    fn take_in(&self, head: &str) -> io::Result<()> {
        self.git(&["read-tree", head])?;
        self.git(&["add", "-A"])?;
        // Git takes it for a mistake to leave out what is ignored anyway.
        self.git(&["reset", "-q", head, "--", NOT_WORK]).map(drop)
    }
}

pub fn has_commit(repository: &Path, commit: &str) -> bool {
    let commit = format!("{commit}^{{commit}}");
    repository.is_dir() && git(repository, &["cat-file", "-e", &commit]).is_ok()
}

/// What a worker keeps of a repository that came as a bundle.
pub fn unpack(bundle: &Path, into: &Path) -> io::Result<()> {
    fs::create_dir_all(into)?;
    git(into, &["init", "-q", "--bare", "."])?;
    let bundle = bundle.display().to_string();
    let refs = "refs/heads/base:refs/heads/base";
    git(into, &["fetch", "-q", "--no-auto-gc", &bundle, refs]).map(drop)
}

/// The tree that a job is worked on in, at its commit, on its branch.
pub fn check_out(cache: &Path, tree: &Path, job: &str, commit: &str) -> io::Result<()> {
    let above = tree.parent().unwrap_or(tree);
    fs::create_dir_all(above)?;
    let (from, to) = (cache.display().to_string(), tree.display().to_string());
    let clone = ["clone", "-q", "--local", "--no-checkout", &from, &to];
    git(above, &clone)?;
    git(tree, &["remote", "remove", "origin"])?;
    git(tree, &["checkout", "-q", "-b", &branch(job), commit]).map(drop)
}

/// What a run left.
#[derive(Debug, Default)]
pub struct Left {
    pub commit: Option<String>,
    pub bundle: Option<PathBuf>,
}

/// Commits what lies in a tree, on top of what the agent committed itself, and
/// makes a bundle of all that is new.
pub fn take(
    cache: &Path,
    tree: &Path,
    scratch: &Path,
    (job, title): (&str, &str),
    base: &str,
) -> io::Result<Left> {
    let objects = [cache.join("objects"), tree.join(".git/objects")];
    let own = borrowing(&scratch.join("result.git"), &objects)?;
    let seen = Seen { own: &own, tree };
    // An agent may have gone anywhere: only what is based on the job counts.
    let head = git::head(tree).commit.filter(|head| {
        let is_name = head.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_name
            && seen
                .git(&["merge-base", "--is-ancestor", base, head])
                .is_ok()
    });
    let head = head.unwrap_or_else(|| base.to_owned());
    seen.take_in(&head)?;
    let (new, old) = (
        seen.git(&["write-tree"])?,
        seen.git(&["rev-parse", &format!("{head}^{{tree}}")])?,
    );
    let commit = match new == old {
        true => head,
        false => {
            let message = format!("{title}\n\nWork of job {job}");
            seen.git(&[
                "-c", NAME, "-c", EMAIL, "commit-tree", &new, "-p", &head, "-m", &message,
            ])?
        }
    };
    if commit == base {
        return Ok(Left::default());
    }
    let name = format!("refs/heads/{}", branch(job));
    seen.git(&["update-ref", &name, &commit])?;
    let file = scratch.join("result.bundle");
    let range = format!("^{base}");
    seen.git(&[
        "bundle",
        "create",
        "-q",
        &file.display().to_string(),
        &range,
        &name,
    ])?;
    Ok(Left {
        commit: Some(commit),
        bundle: Some(file),
    })
}

/// A commit of everything that lies in a tree, on top of what it stands on, in a
/// repository of our own; with one file as it is given.
pub fn commit_with(
    tree: &Path,
    own: &Path,
    from: &[PathBuf],
    (path, file): (&str, &Path),
) -> io::Result<String> {
    let head = see(tree, own, from)?;
    let seen = Seen { own, tree };
    let file = file.display().to_string();
    let blob = git(own, &["hash-object", "-w", "--no-filters", "--", &file])?;
    let info = format!("100644,{blob},{path}");
    seen.git(&["update-index", "--add", "--cacheinfo", &info])?;
    let tree = seen.git(&["write-tree"])?;
    let message = ["-m", "What the job began with"];
    // The same tree is the same commit, whenever it is made.
    let when = [
        ("GIT_AUTHOR_DATE", "2000-01-01T00:00:00Z"),
        ("GIT_COMMITTER_DATE", "2000-01-01T00:00:00Z"),
    ];
    let commit = ["-c", NAME, "-c", EMAIL, "commit-tree", &tree, "-p", &head];
    git_with(own, &[&commit[..], &message].concat(), &when)
}

/// A repository of our own knows everything that lies in a tree; gives the
/// commit that the tree stands on.
pub fn see(tree: &Path, own: &Path, from: &[PathBuf]) -> io::Result<String> {
    borrowing(own, from)?;
    let head = git::head(tree).commit;
    let head = head.ok_or_else(|| io::Error::other("the tree has no commit"))?;
    Seen { own, tree }.take_in(&head)?;
    Ok(head)
}

/// Takes the result of a job in: exactly that commit, and only if it is made on
/// top of what the job was given.
pub fn receive(own: &Path, bundle: &Path, job: &str, commit: &str, base: &str) -> io::Result<()> {
    let refs = format!("refs/heads/{}:refs/heads/result", branch(job));
    let bundle = bundle.display().to_string();
    git(
        own,
        &["fetch", "-q", "--no-auto-gc", "--no-tags", &bundle, &refs],
    )?;
    let came = git(own, &["rev-parse", "refs/heads/result"])?;
    if came != commit || git(own, &["merge-base", "--is-ancestor", base, commit]).is_err() {
        return Err(io::Error::other(
            "the result is not what the job says it made",
        ));
    }
    Ok(())
}

/// Makes the files of a tree those of a commit. What its own repository stands
/// on stays: all of it is work.
pub fn put(tree: &Path, own: &Path, commit: &str) -> io::Result<()> {
    let reset = ["read-tree", "--reset", "-u", commit];
    Seen { own, tree }.git(&reset).map(drop)
}

/// Its own repository says the same of a tree: its commits tell what was done.
pub fn stand_on(tree: &Path, commit: &str) -> io::Result<()> {
    git(tree, &["update-ref", "--no-deref", "HEAD", commit]).map(drop)
}

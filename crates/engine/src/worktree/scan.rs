//! The walk over the tree, and what is remembered from one walk to the next.
//!
//! The law of the memory: a scan that uses it finds the same fingerprint as
//! one that starts from nothing. A directory's listing is taken over while its
//! stamp and the rules that chose from it are the same, a file's digest while
//! its stamp is.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::{self, ErrorKind, Read};
use std::mem;
use std::path::{Path, PathBuf};

use super::contents::{Found, Naming, Standing};
use super::excludes::Excludes;
use super::fingerprint::{Content, Digest};
use super::ignores::{Chain, IGNORE_FILE, IgnoreFile};
use super::platform::DirHandle;
use super::stamp::{Horizon, Kind, Meta, Stamp};
use super::{Change, ChangeKind, MOST_CHANGES};

/// A file that grows while it is read is read to the size that it had, or to
/// this one; some file systems report no size at all.
const LEAST_READ: u64 = 1 << 20;

type Named<T> = (Box<OsStr>, T);

/// A directory as the last scan left it.
#[derive(Debug, Default)]
pub(super) struct Dir {
    /// `None` where the listing has to be read again to be sure of it.
    known: Option<Stamp>,
    has_ignore_file: bool,
    ignore_file: Option<IgnoreFile>,
    inherited: Chain,
    rules: Chain,
    unreadable: bool,
    files: Vec<Named<File>>,
    dirs: Vec<Named<Dir>>,
}

/// A file or a symbolic link as the last scan left it.
#[derive(Debug, Default)]
pub(super) struct File {
    /// `None` where the content has to be read again to be sure of it.
    known: Option<Meta>,
    /// `None` where the file was not there after all.
    digest: Option<Digest>,
    /// What a snapshot has to know of it, where somebody wants one.
    standing: Option<Standing>,
}

/// One scan under way.
#[derive(Debug)]
pub(super) struct Walk<'a> {
    pub root: &'a DirHandle,
    pub root_path: &'a Path,
    pub excludes: &'a Excludes,
    pub horizon: Horizon,
    pub buffer: &'a mut [u8],
    /// Where the walk stands, relative to the root.
    pub path: PathBuf,
    pub sum: Digest,
    pub files: usize,
    pub changes: Changes,
    /// Whether contents get the names that they have in a snapshot.
    pub naming: bool,
}

/// The first changes, and how many there were.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// The first scan has nothing to compare with.
    pub comparing: bool,
    pub first: Vec<Change>,
    pub total: usize,
    /// All of them, where contents are named.
    pub found: Vec<Found>,
}

impl Changes {
    fn record(&mut self, path: &Path, before: Option<Digest>, after: Option<Digest>) {
        let kind = match (before, after) {
            (None, Some(_)) => ChangeKind::Added,
            (Some(_), None) => ChangeKind::Removed,
            (Some(before), Some(after)) if before != after => ChangeKind::Modified,
            _ => return,
        };
        if !self.comparing {
            return;
        }
        self.total += 1;
        if self.first.len() < MOST_CHANGES {
            let path = path.to_path_buf();
            self.first.push(Change { path, kind });
        }
    }
}

impl Walk<'_> {
    /// Visits the directory at `self.path` and everything below it.
    pub fn visit(&mut self, dir: &mut Dir, inherited: &Chain) {
        if let Err(error) = self.visit_contents(dir, inherited) {
            self.forget(mem::take(dir));
            if !is_gone(&error) {
                let marker = Digest::of_bytes(Content::Unreadable, &self.path, b"");
                self.sum.add(marker);
                dir.unreadable = true;
                self.found(Some(Standing::Unreadable));
            }
        }
        for (name, child) in &mut dir.dirs {
            self.path.push(&**name);
            self.visit(child, &dir.rules);
            self.path.pop();
        }
    }

    /// Everything in the directory itself. Its handle is closed before the
    /// walk goes deeper, so that a deep tree needs no more of them.
    fn visit_contents(&mut self, dir: &mut Dir, inherited: &Chain) -> io::Result<()> {
        if self.path.as_os_str().is_empty() {
            return self.visit_opened(self.root, dir, inherited);
        }
        let handle = self.root.open_dir(&self.path)?;
        self.visit_opened(&handle, dir, inherited)
    }

    fn visit_opened(
        &mut self,
        handle: &DirHandle,
        dir: &mut Dir,
        inherited: &Chain,
    ) -> io::Result<()> {
        self.refresh_listing(handle, dir, inherited)?;
        if mem::take(&mut dir.unreadable) {
            self.found(None);
        }
        for (name, file) in &mut dir.files {
            self.visit_file(handle, name, file);
        }
        Ok(())
    }

    fn refresh_listing(
        &mut self,
        handle: &DirHandle,
        dir: &mut Dir,
        inherited: &Chain,
    ) -> io::Result<()> {
        let stamp = handle.stamp()?;
        let mut listing = None;
        if dir.known != Some(stamp) {
            let names = handle.list()?;
            dir.known = self.horizon.settled(&stamp).then_some(stamp);
            dir.has_ignore_file = names.iter().any(|(name, _)| **name == *IGNORE_FILE);
            listing = Some(names);
        }
        if self.refresh_rules(handle, dir, inherited) && listing.is_none() {
            listing = Some(handle.list()?);
        }
        if let Some(names) = listing {
            self.adopt(dir, names);
        }
        Ok(())
    }

    /// Says whether other rules hold in the directory than before.
    fn refresh_rules(&self, handle: &DirHandle, dir: &mut Dir, inherited: &Chain) -> bool {
        let own_changed = if dir.has_ignore_file {
            let base = self.root_path.join(&self.path);
            let name = OsStr::new(IGNORE_FILE);
            IgnoreFile::refresh(&mut dir.ignore_file, handle, name, &base, &self.horizon)
        } else {
            dir.ignore_file.take().is_some()
        };
        if !own_changed && dir.inherited == *inherited {
            return false;
        }
        dir.inherited = inherited.clone();
        dir.rules = inherited.with(dir.ignore_file.as_ref());
        true
    }

    /// Replaces the listing, keeping what is known about names that stay.
    fn adopt(&mut self, dir: &mut Dir, mut names: Vec<Named<Kind>>) {
        names.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        let mut old_files: BTreeMap<_, _> = mem::take(&mut dir.files).into_iter().collect();
        let mut old_dirs: BTreeMap<_, _> = mem::take(&mut dir.dirs).into_iter().collect();
        let mut absolute = self.root_path.join(&self.path);
        for (name, kind) in names {
            let counts = kind != Kind::Special || self.naming;
            if !counts || self.excludes.contains(&self.path, &name) {
                continue;
            }
            let is_dir = kind == Kind::Directory;
            absolute.push(&*name);
            let ignored = dir.rules.ignores(&absolute, is_dir);
            absolute.pop();
            if ignored {
                continue;
            }
            if is_dir {
                let child = old_dirs.remove(&name).unwrap_or_default();
                dir.dirs.push((name, child));
            } else {
                let file = old_files.remove(&name).unwrap_or_default();
                dir.files.push((name, file));
            }
        }
        dir.files.shrink_to_fit();
        dir.dirs.shrink_to_fit();
        self.forget(Dir {
            files: old_files.into_iter().collect(),
            dirs: old_dirs.into_iter().collect(),
            ..Dir::default()
        });
    }

    /// Reports what was below a directory as removed.
    fn forget(&mut self, dir: Dir) {
        for (name, file) in dir.files {
            self.path.push(&*name);
            self.changes.record(&self.path, file.digest, None);
            if file.standing.is_some() {
                self.found(None);
            }
            self.path.pop();
        }
        for (name, child) in dir.dirs {
            self.path.push(&*name);
            if child.unreadable {
                self.found(None);
            }
            self.forget(child);
            self.path.pop();
        }
    }

    /// `name` may lead through folders below the handle.
    pub fn visit_file(&mut self, handle: &DirHandle, name: &OsStr, file: &mut File) {
        match handle.lookup(name) {
            Ok(meta) if file.known == Some(meta) => {}
            found => self.examine(handle, name, file, found),
        }
        if let Some(digest) = file.digest {
            self.sum.add(digest);
            self.files += 1;
        }
    }

    fn examine(
        &mut self,
        handle: &DirHandle,
        name: &OsStr,
        file: &mut File,
        found: io::Result<Meta>,
    ) {
        self.path.push(name);
        let is_special = found.as_ref().is_ok_and(|meta| meta.kind == Kind::Special);
        let digest = found.and_then(|meta| Ok((meta, self.digest(handle, name, meta)?)));
        let (known, digest, standing) = match digest {
            Ok((meta, (digest, standing))) => (
                self.horizon.settled(&meta.stamp).then_some(meta),
                Some(digest),
                Some(standing),
            ),
            Err(error) if is_gone(&error) => (None, None, is_special.then_some(Standing::Special)),
            Err(_) => {
                let marker = Digest::of_bytes(Content::Unreadable, &self.path, b"");
                (None, Some(marker), Some(Standing::Unreadable))
            }
        };
        let standing = standing.filter(|_| self.naming);
        self.changes.record(&self.path, file.digest, digest);
        if file.standing != standing {
            self.found(standing.clone());
        }
        self.path.pop();
        *file = File {
            known,
            digest,
            standing,
        };
    }

    /// Tells whoever makes a snapshot what stands at `self.path` now.
    fn found(&mut self, now: Option<Standing>) {
        if self.naming {
            let path = self.path.clone();
            self.changes.found.push(Found { path, now });
        }
    }

    /// The digest of the file at `self.path`.
    fn digest(
        &mut self,
        handle: &DirHandle,
        name: &OsStr,
        meta: Meta,
    ) -> io::Result<(Digest, Standing)> {
        let content = match meta.kind {
            Kind::File => Content::File,
            Kind::Executable => Content::Executable,
            Kind::Symlink => {
                let target = handle.read_link(name)?;
                let digest = Digest::of_bytes(Content::Symlink, &self.path, &target);
                return Ok((digest, Standing::of_link(&target)));
            }
            // Something else took the file's place since the listing.
            Kind::Directory | Kind::Special => return Err(ErrorKind::NotFound.into()),
        };
        let size = meta.stamp.size;
        let stream = handle.open_file(name)?.take(size.max(LEAST_READ));
        let mut stream = Naming::new(stream, self.naming.then_some(size));
        let digest = Digest::of_stream(content, &self.path, &mut stream, self.buffer)?;
        Ok((digest, stream.standing(meta.kind == Kind::Executable)))
    }
}

impl File {
    /// What a scan that names contents knows of it.
    pub fn found_at(&self, path: &Path) -> Option<Found> {
        let now = Some(self.standing.clone()?);
        let path = path.to_owned();
        Some(Found { path, now })
    }
}

impl Dir {
    /// Everything that is known of a tree after a scan that named contents.
    pub fn contents(&self, path: &mut PathBuf, all: &mut Vec<Found>) {
        for (name, file) in &self.files {
            all.extend(file.found_at(&path.join(&**name)));
        }
        if self.unreadable {
            all.push(Found {
                path: path.clone(),
                now: Some(Standing::Unreadable),
            });
        }
        for (name, child) in &self.dirs {
            path.push(&**name);
            child.contents(path, all);
            path.pop();
        }
    }
}

fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

//! What Git ignores, as a chain of pattern files that is rebuilt only where
//! one of them changed.
//!
//! A file that is tracked although a pattern matches it counts as ignored
//! here: telling would need the index, and a commit of it is seen by HEAD.
//! Whoever has to know of them asks Git (`WorkTree::count_also`).

use std::ffi::OsStr;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::platform::DirHandle;
use super::stamp::{Horizon, Kind, Stamp};
use crate::git;

pub(super) const IGNORE_FILE: &str = ".gitignore";

/// Far more than any real pattern file; the rest of a larger one is not read.
const LONGEST_IGNORE_FILE: u64 = 1 << 20;

/// The patterns of one file, in front of those of the directories above.
#[derive(Debug)]
pub(super) struct Rules {
    patterns: Arc<Gitignore>,
    above: Chain,
}

/// The rules that hold in a directory. Two chains are equal only if they are
/// the same object, so that a changed pattern file is noticed further down.
#[derive(Clone, Debug, Default)]
pub(super) struct Chain(Option<Arc<Rules>>);

impl PartialEq for Chain {
    fn eq(&self, other: &Chain) -> bool {
        match (&self.0, &other.0) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (None, None) => true,
            _ => false,
        }
    }
}

impl Chain {
    pub fn with(&self, file: Option<&IgnoreFile>) -> Chain {
        match file {
            None => self.clone(),
            Some(file) => Chain(Some(Arc::new(Rules {
                patterns: Arc::clone(&file.patterns),
                above: self.clone(),
            }))),
        }
    }

    /// Whether an absolute path is ignored, given that its directory is not.
    pub fn ignores(&self, path: &Path, is_dir: bool) -> bool {
        let mut chain = self;
        while let Some(rules) = &chain.0 {
            match rules.patterns.matched(path, is_dir) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => chain = &rules.above,
            }
        }
        false
    }
}

/// A pattern file as it was last read.
#[derive(Debug)]
pub(super) struct IgnoreFile {
    /// `None` where the file has to be read again to be sure of it.
    known: Option<Stamp>,
    text: Vec<u8>,
    patterns: Arc<Gitignore>,
}

impl IgnoreFile {
    /// Brings `slot` up to date with the file `name` in `place`, whose
    /// patterns hold below `base`. Says whether the patterns changed.
    pub fn refresh(
        slot: &mut Option<IgnoreFile>,
        place: &DirHandle,
        name: &OsStr,
        base: &Path,
        horizon: &Horizon,
    ) -> bool {
        let stamp = match place.lookup(name) {
            Ok(meta) if meta.kind.is_regular() => meta.stamp,
            _ => return slot.take().is_some(),
        };
        if let Some(file) = slot
            && file.known == Some(stamp)
        {
            return false;
        }
        let Ok(text) = read_bounded(place, name) else {
            return slot.take().is_some();
        };
        let known = horizon.settled(&stamp).then_some(stamp);
        match slot {
            Some(file) if file.text == text => {
                file.known = known;
                false
            }
            _ => {
                let patterns = Arc::new(parse(&text, base));
                *slot = Some(IgnoreFile {
                    known,
                    text,
                    patterns,
                });
                true
            }
        }
    }
}

fn read_bounded(place: &DirHandle, name: &OsStr) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    place
        .open_file(name)?
        .take(LONGEST_IGNORE_FILE)
        .read_to_end(&mut text)?;
    Ok(text)
}

/// Lines that are no valid pattern are passed over, as Git does.
fn parse(text: &[u8], base: &Path) -> Gitignore {
    let text = String::from_utf8_lossy(text);
    let mut builder = GitignoreBuilder::new(base);
    for line in text.trim_start_matches('\u{feff}').lines() {
        let _ = builder.add_line(None, line);
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

/// The pattern files that lie outside the scanned tree.
#[derive(Debug)]
pub(super) struct OuterRules {
    /// The user's own excludes file.
    global: Option<PathBuf>,
    sources: Vec<Source>,
    chain: Chain,
}

#[derive(Debug)]
struct Source {
    place: Place,
    file: Option<IgnoreFile>,
}

/// Where a pattern file may be, and the directory that its patterns start at.
#[derive(Debug, PartialEq, Eq)]
struct Place {
    path: PathBuf,
    base: PathBuf,
}

impl OuterRules {
    pub fn new(global: Option<PathBuf>) -> OuterRules {
        OuterRules {
            global,
            sources: Vec::new(),
            chain: Chain::default(),
        }
    }

    pub fn refresh(&mut self, root: &Path, handle: &DirHandle, horizon: &Horizon) -> Chain {
        let wanted = self.wanted(root);
        let mut changed = false;
        if !wanted
            .iter()
            .eq(self.sources.iter().map(|source| &source.place))
        {
            changed = true;
            self.sources = wanted
                .into_iter()
                .map(|place| Source { place, file: None })
                .collect();
        }
        for source in &mut self.sources {
            changed |= source.refresh(handle, horizon);
        }
        if changed {
            self.chain = self.link(root);
        }
        self.chain.clone()
    }

    /// In rising order of precedence.
    fn wanted(&self, root: &Path) -> Vec<Place> {
        let repository = git::find_root(root);
        let top = repository.as_deref().unwrap_or(root);
        let exclude = git::common_dir(top).map(|common| common.join("info/exclude"));
        let mut wanted: Vec<Place> = (self.global.clone().into_iter())
            .chain(exclude)
            .map(|path| Place {
                path,
                base: top.to_path_buf(),
            })
            .collect();
        let above: Vec<&Path> = root
            .ancestors()
            .skip(1)
            .take_while(|directory| directory.starts_with(top))
            .collect();
        wanted.extend(above.into_iter().rev().map(|directory| Place {
            path: directory.join(IGNORE_FILE),
            base: directory.to_path_buf(),
        }));
        wanted
    }

    fn link(&self, root: &Path) -> Chain {
        let chain_of = |counts: &dyn Fn(&Place) -> bool| {
            (self.sources.iter())
                .filter(|source| counts(&source.place))
                .fold(Chain::default(), |chain, source| {
                    chain.with(source.file.as_ref())
                })
        };
        let ignored = root.ancestors().any(|directory| {
            chain_of(&|place| directory != place.base && directory.starts_with(&place.base))
                .ignores(directory, true)
        });
        if ignored {
            // A repository that ignores the project has no say within it.
            chain_of(&|place| Some(&place.path) == self.global.as_ref())
        } else {
            chain_of(&|_| true)
        }
    }
}

impl Source {
    fn refresh(&mut self, handle: &DirHandle, horizon: &Horizon) -> bool {
        let Place { path, base } = &self.place;
        let linked = match handle.lookup(path.as_os_str()) {
            Ok(meta) if meta.kind == Kind::Symlink => path.canonicalize().ok(),
            _ => None,
        };
        let path = linked.as_ref().unwrap_or(path);
        // An absolute path stands for itself, whatever directory it is asked of.
        IgnoreFile::refresh(&mut self.file, handle, path.as_os_str(), base, horizon)
    }
}

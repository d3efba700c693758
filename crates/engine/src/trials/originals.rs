//! The work tree as it lies there, with the checks as they were when the loop
//! was armed.

use std::collections::BTreeMap;
use std::path::PathBuf;

use ralph_core::lang::{Lang, Say};
use ralph_core::machine::State;
use ralph_core::proof::edits::{Changed, Edit, Side, Sight, To};
use ralph_core::proof::shadows;
use ralph_store::layout::Layout;
use ralph_store::objects::{ObjectId, ObjectKind};
use ralph_store::regular;

use super::made::{is_executable, programs, settle};
use super::names::{name_of, path_of};
use crate::clock;
use crate::past;
use crate::room::Content;
use crate::session::index;
use crate::snapshots::{Entry, Mode, Snapshots, TreeId};
use crate::worktree::{Standing, WorkTree};

/// What a loop began with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Armed {
    /// The snapshot; `None` where none are kept.
    pub tree: Option<String>,
    /// When that was.
    pub at_ms: i64,
    /// What a person lets change.
    pub may_change: Vec<String>,
    /// What a person calls check files.
    pub files: Vec<String>,
}

impl Armed {
    /// Of a loop that has begun.
    pub fn of(state: &State, files: &[String]) -> Option<Armed> {
        let ground = &state.evidence.ground;
        let has_begun = ground.armed.is_some() || ground.armed_at_ms > 0;
        has_begun.then(|| Armed {
            tree: ground.armed.clone(),
            at_ms: ground.armed_at_ms,
            may_change: state.rules.checks.may_change.clone(),
            files: files.to_vec(),
        })
    }

    /// Of the loop that is under way here, by `ralph run` or in a session.
    pub fn here(layout: &Layout, files: &[String]) -> Option<Armed> {
        let running = layout.current_run().ok().flatten();
        let sessions = index::all(layout).into_iter().map(|id| layout.run(&id));
        let mut runs = running.into_iter().chain(sessions);
        runs.find_map(|run| {
            let state = past::read(&run).ok()?.state;
            let is_over = state.outcome().is_some();
            Armed::of(&state, files).filter(|_| !is_over)
        })
    }
}

impl Armed {
    /// What tells it from another.
    pub(crate) fn name(&self) -> String {
        self.tree.clone().unwrap_or_else(|| self.at_ms.to_string())
    }

    fn id(&self) -> Result<TreeId, String> {
        let tree = self.tree.as_deref().ok_or("no snapshots are kept")?;
        TreeId::parse(tree).map_err(|error| error.say(Lang::En))
    }

    /// A file as it was, and the names of all that lay in the project's own
    /// folder.
    pub(crate) fn top(&self, layout: &Layout) -> Option<(Vec<String>, TopFiles)> {
        let snapshots = Snapshots::open(layout).ok()?;
        let files = snapshots.files(&self.id().ok()?).ok()?;
        let top = files.iter().filter(|(path, _)| path.iter().count() == 1);
        let mut texts = TopFiles::new();
        let mut names = Vec::new();
        for (path, entry) in top {
            let name = path.to_str()?.to_owned();
            if ["package.json", "pyproject.toml"].contains(&name.as_str()) {
                let text = String::from_utf8(snapshots.read(entry).ok()?).ok()?;
                texts.insert(name.clone(), text);
            }
            names.push(name);
        }
        Some((names, texts))
    }
}

/// The texts of manifests, by name.
pub(crate) type TopFiles = BTreeMap<String, String>;

/// What to put over the tree for each experiment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Originals {
    /// The checks of then, and new tests beside them; empty where no check
    /// changed.
    pub with_new: Files,
    /// The same without new tests.
    pub alone: Files,
    /// Every test with one that fails beside it, on the tree of now and on
    /// that of then; empty where there are no tests.
    pub canary: Files,
    pub armed_canary: Files,
    /// The name of the test that is put in.
    pub mark: String,
    /// The whole tree as it was then.
    pub armed: Files,
    /// Tests that say something else than they did, where nothing but that
    /// changed and they are not too many to be looked at one by one.
    pub expectations: Vec<Expectation>,
}

/// A file of tests that changed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Expectation {
    /// Nothing but this file as it was.
    pub restored: Files,
    /// Everything as it was but for this file.
    pub on_old_product: Files,
}

/// Each costs two runs.
const MOST_EXPECTATIONS: usize = 6;

pub(crate) type Files = Vec<(PathBuf, Content)>;

/// `own` is no work: the papers of a gate.
pub(crate) fn originals(
    layout: &Layout,
    armed: &Armed,
    commands: &[String],
    own: &[String],
) -> Result<Originals, String> {
    let disk = Disk::open(layout, armed)?;
    let read = |side, path: &str| disk.read(side, path);
    let then = |path: &str| String::from_utf8(read(Side::Armed, path)?).ok();
    let known: Vec<String> = disk.then.keys().cloned().collect();
    let mut judges = shadows::of_checks(commands, &known, &disk.now, &then);
    let root = layout.root();
    let built = programs(root, root, &disk.now);
    settle(&mut judges, &known, &armed.files, built);
    let sight = Sight {
        since_armed: disk.changed.clone(),
        since_base: disk.changed.clone(),
        reached: judges.files,
        by_recipe: judges.made,
        now: disk.now.clone(),
        armed: known,
        own,
        also: &armed.files,
        may_change: &armed.may_change,
        made: Vec::new(),
        strays: Vec::new(),
        read: &read,
    };
    let files = |edits: Vec<Edit>| -> Result<Files, String> {
        let content = |edit: Edit| {
            let content = disk.content(&edit);
            let content = content.ok_or_else(|| format!("{} is in no snapshot", edit.path))?;
            Ok((path_of(&edit.path), content))
        };
        edits.into_iter().map(content).collect()
    };
    let (alone, with_new) = (sight.original(false), sight.original(true));
    let singly =
        with_new.len() <= MOST_EXPECTATIONS && sight.only_expectations_changed(Side::Armed);
    let apart = with_new.iter().filter(|_| singly);
    let expectation = |edit: &Edit| {
        let (restored, on_old_product) = apart_from(edit, &alone, sight.counterfactual());
        Ok::<_, String>(Expectation {
            restored: files(restored)?,
            on_old_product: files(on_old_product)?,
        })
    };
    let mark = format!("k{:08x}", clock::random());
    Ok(Originals {
        mark: mark.clone(),
        canary: files(sight.canary(Side::Now, &mark))?,
        armed_canary: files(sight.canary(Side::Armed, &mark))?,
        armed: files(sight.back_to_armed())?,
        expectations: apart.map(expectation).collect::<Result<_, _>>()?,
        // New tests alone hide nothing.
        alone: match with_new.is_empty() {
            true => Vec::new(),
            false => files(alone)?,
        },
        with_new: files(with_new)?,
    })
}

/// One file of tests brought back in the tree of now, and left in that of
/// then; new tests stay out of both.
fn apart_from(one: &Edit, alone: &[Edit], old_product: Vec<Edit>) -> (Vec<Edit>, Vec<Edit>) {
    let new = alone.iter().filter(|edit| edit.to == To::Remove);
    let restored = new.chain([one]).cloned().collect();
    let others = alone.iter().filter(|edit| edit.path != one.path);
    let mut then: Vec<Edit> = others
        .map(|edit| Edit {
            path: edit.path.clone(),
            to: match edit.to {
                To::Remove => To::Remove,
                _ => To::Copy(Side::Armed),
            },
        })
        .collect();
    let is_other = |edit: &Edit| !then.iter().any(|known| known.path == edit.path);
    let product: Vec<Edit> = old_product.into_iter().filter(is_other).collect();
    then.extend(product);
    (restored, then)
}

/// The snapshot of then beside what lies there.
struct Disk {
    root: PathBuf,
    snapshots: Snapshots,
    then: BTreeMap<String, Entry>,
    now: Vec<String>,
    changed: Vec<Changed>,
}

impl Disk {
    fn open(layout: &Layout, armed: &Armed) -> Result<Disk, String> {
        let root = layout.root().to_owned();
        let snapshots = Snapshots::open(layout).map_err(|error| error.say(Lang::En))?;
        let then = snapshots.files(&armed.id()?).map_err(|e| e.say(Lang::En))?;
        let kept = |entry: &Entry| !matches!(entry.mode, Mode::LeftOut(_));
        let then: BTreeMap<String, Entry> = then
            .into_iter()
            .filter(|(_, entry)| kept(entry))
            .map(|(path, entry)| (name_of(&path), entry))
            .collect();
        let mut work_tree = WorkTree::new(&root, Vec::new());
        work_tree.name_contents();
        let unread = |_| "the project can't be read".to_owned();
        work_tree.scan().map_err(unread)?;
        let found = work_tree.contents().into_iter();
        let mut now: BTreeMap<String, Option<(ObjectId, bool)>> = found
            .filter_map(|found| Some((name_of(&found.path), standing(found.now.as_ref()?)?)))
            .collect();
        // What is tracked although it is ignored is seen by no scan.
        let unseen = then.keys().filter(|path| !now.contains_key(*path));
        let unseen: Vec<_> = unseen.cloned().collect();
        for path in unseen {
            if let Ok(bytes) = regular::read(root.join(path_of(&path))) {
                let id = ObjectId::of(ObjectKind::Blob, &bytes);
                let executable = is_executable(&root.join(path_of(&path)));
                now.insert(path, Some((id, executable)));
            }
        }
        let same = |path: &String, entry: &Entry| match now.get(path) {
            Some(Some((id, executable))) => {
                *id == entry.id && *executable == (entry.mode == Mode::Executable)
            }
            _ => false,
        };
        let gone_or_other =
            then.iter()
                .filter(|(path, entry)| !same(path, entry))
                .map(|(path, _)| Changed {
                    path: path.clone(),
                    was: true,
                    is: now.contains_key(path),
                });
        let new = now
            .keys()
            .filter(|path| !then.contains_key(*path))
            .map(|path| Changed {
                path: path.clone(),
                was: false,
                is: true,
            });
        Ok(Disk {
            changed: gone_or_other.chain(new).collect(),
            now: now.into_keys().collect(),
            root,
            snapshots,
            then,
        })
    }

    fn read(&self, side: Side, path: &str) -> Option<Vec<u8>> {
        match side {
            Side::Now => regular::read(self.root.join(path_of(path))).ok(),
            Side::Armed | Side::Base => {
                let entry = self.then.get(path)?;
                let is_file = matches!(entry.mode, Mode::File | Mode::Executable);
                self.snapshots.read(entry).ok().filter(|_| is_file)
            }
        }
    }

    fn content(&self, edit: &Edit) -> Option<Content> {
        let path = &edit.path;
        let here = self.root.join(path_of(path));
        match &edit.to {
            To::Remove => Some(Content::Gone),
            To::Text(bytes) => Some(Content::File {
                bytes: bytes.clone(),
                executable: is_executable(&here),
            }),
            To::Copy(Side::Now) => Some(Content::File {
                bytes: regular::read(&here).ok()?,
                executable: is_executable(&here),
            }),
            To::Copy(Side::Armed | Side::Base) => {
                let entry = self.then.get(path)?;
                let bytes = self.snapshots.read(entry).ok()?;
                Some(match entry.mode {
                    Mode::Link => Content::Link(PathBuf::from(String::from_utf8(bytes).ok()?)),
                    mode => Content::File {
                        bytes,
                        executable: mode == Mode::Executable,
                    },
                })
            }
        }
    }
}

/// `None` where nothing of the work stands there.
fn standing(now: &Standing) -> Option<Option<(ObjectId, bool)>> {
    match now {
        Standing::File { id, executable, .. } => Some(id.map(|id| (id, *executable))),
        Standing::Link { id } => Some(Some((*id, false))),
        Standing::Special | Standing::Unreadable => Some(None),
    }
}

//! What each experiment changes in the tree that it runs on. Pure: trees are
//! seen through `read`.

use std::collections::BTreeSet;

use super::canary::{nonsense, rust, spoiled};
use super::exits::only_ends;
use super::files::{FileKind, is_compared, kind_of, matches};
use super::{inline, manifest, takers};

/// Which contents are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// When the loop was armed.
    Armed,
    /// When a tick stood last: before the work that is judged.
    Base,
    Now,
}

/// A file that differs between two trees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    pub path: String,
    /// It was there before.
    pub was: bool,
    /// It is there now.
    pub is: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    pub path: String,
    pub to: To,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum To {
    Remove,
    /// As it is on that side, with its mode.
    Copy(Side),
    Text(Vec<u8>),
}

/// Everything that experiments are planned from.
#[expect(missing_debug_implementations, reason = "it holds a closure")]
pub struct Sight<'a> {
    pub since_armed: Vec<Changed>,
    pub since_base: Vec<Changed>,
    /// Every file that is there now.
    pub now: Vec<String>,
    /// Every file that was there when the loop was armed.
    pub armed: Vec<String>,
    /// Files that are no work: the task list, and what Ralph writes.
    pub own: &'a [String],
    /// Files that the checks reach by name.
    pub reached: Vec<String>,
    /// What the checks make, by recipes or of tests.
    pub by_recipe: Vec<String>,
    /// What a person calls check files, and what they let change.
    pub also: &'a [String],
    pub may_change: &'a [String],
    /// Paths that Git ignores, that a check names, and that were not there
    /// when the loop was armed.
    pub made: Vec<String>,
    /// Check files that Git ignores and that were not there when the loop was
    /// armed.
    pub strays: Vec<String>,
    pub read: &'a dyn Fn(Side, &str) -> Option<Vec<u8>>,
}

impl Sight<'_> {
    pub fn kind(&self, path: &str) -> FileKind {
        let is = |list: &[String]| list.iter().any(|pattern| matches(pattern, path));
        match kind_of(path) {
            FileKind::Own => FileKind::Own,
            _ if is(self.own) => FileKind::Own,
            FileKind::Work | FileKind::Manifest
                if self.is_made(path) || self.reached.iter().any(|name| name == path) =>
            {
                FileKind::Runner
            }
            FileKind::Work if is(self.also) => FileKind::Runner,
            kind => kind,
        }
    }

    fn is_made(&self, path: &str) -> bool {
        self.by_recipe.iter().any(|name| name == path)
    }

    fn text(&self, side: Side, path: &str) -> Option<String> {
        String::from_utf8((self.read)(side, path)?).ok()
    }

    /// Whether something beside the checks changed since a tick stood last.
    pub fn work_changed(&self) -> Vec<String> {
        let changed = self.since_base.iter();
        let work = changed.filter(|changed| match self.kind(&changed.path) {
            FileKind::Work => !self.only_tests_changed(changed),
            FileKind::Manifest => true,
            _ => false,
        });
        work.map(|changed| changed.path.clone())
            .chain(self.made.iter().cloned())
            .collect()
    }

    fn only_tests_changed(&self, changed: &Changed) -> bool {
        is_rust(&changed.path)
            && match (
                self.text(Side::Base, &changed.path),
                self.text(Side::Now, &changed.path),
            ) {
                (Some(base), Some(now)) => {
                    inline::product(&base).trim() == inline::product(&now).trim()
                }
                _ => false,
            }
    }

    /// Whether check files changed since a tick stood last.
    pub fn new_checks(&self) -> bool {
        let is_check = |changed: &Changed| {
            self.kind(&changed.path).is_check() || self.only_tests_changed(changed)
        };
        self.since_base.iter().any(is_check)
    }

    /// Check files among those that Git ignores.
    pub fn strays_in<'b>(ignored: impl Iterator<Item = &'b str>) -> Vec<String> {
        let checks = ignored.filter(|path| kind_of(path).is_check());
        checks.map(str::to_owned).collect()
    }

    pub fn checks_changed(&self) -> Vec<String> {
        let edits = self.original(false);
        edits.into_iter().map(|edit| edit.path).collect()
    }

    fn since(&self, side: Side) -> &[Changed] {
        match side {
            Side::Armed => &self.since_armed,
            Side::Base | Side::Now => &self.since_base,
        }
    }

    /// Whether the only checks that changed since then are tests that still
    /// stand there: no deleted ones, and nothing that decides how they run.
    pub fn only_expectations_changed(&self, since: Side) -> bool {
        self.since(since)
            .iter()
            .all(|changed| match self.kind(&changed.path) {
                FileKind::Test => changed.is,
                FileKind::Runner => false,
                FileKind::Manifest => self.manifest_edit(since, changed).is_none(),
                FileKind::Work | FileKind::Own => true,
            })
    }

    /// The tree with every check as it was when the loop was armed. `keep_new`
    /// leaves new tests in.
    pub fn original(&self, keep_new: bool) -> Vec<Edit> {
        let strays = self.strays.iter().map(|path| Edit {
            path: path.clone(),
            to: To::Remove,
        });
        let edits = self.checks_of(Side::Armed, keep_new);
        edits.into_iter().chain(strays).collect()
    }

    /// The same for the checks of when a tick stood last: what shows a task
    /// has to stay. Nothing where no check of then is another now.
    pub fn kept(&self, keep_new: bool) -> Vec<Edit> {
        let edits = self.checks_of(Side::Base, keep_new);
        let was_there = |edit: &Edit| edit.to != To::Remove;
        match edits.iter().any(was_there) {
            true => edits,
            false => Vec::new(),
        }
    }

    fn checks_of(&self, side: Side, keep_new: bool) -> Vec<Edit> {
        let may = |path: &str| self.may_change.iter().any(|pattern| matches(pattern, path));
        // Before there were tests, there was nothing that they could hide.
        let had_tests = side == Side::Base || self.has_tests(side);
        let counts = |changed: &&Changed| {
            let could_hide = changed.was || had_tests || self.is_made(&changed.path);
            !may(&changed.path) && could_hide
        };
        let changed = self.since(side).iter().filter(counts);
        let edit = |changed: &Changed| match self.kind(&changed.path) {
            FileKind::Own => None,
            // It is made again, of what is tried.
            _ if self.is_made(&changed.path) => Some(To::Remove),
            FileKind::Test if !changed.was => (!keep_new).then_some(To::Remove),
            FileKind::Runner if !changed.was => Some(To::Remove),
            FileKind::Test | FileKind::Runner => Some(To::Copy(side)),
            FileKind::Manifest => self.manifest_edit(side, changed),
            FileKind::Work if is_rust(&changed.path) => self.inline_edit(side, changed),
            FileKind::Work => None,
        };
        edits(changed, edit)
    }

    /// Whether that tree has tests that could be spoiled.
    pub fn has_tests(&self, on: Side) -> bool {
        let files = match on {
            Side::Armed => &self.armed,
            Side::Base | Side::Now => &self.now,
        };
        let is_test = |path: &String| match self.kind(path) {
            FileKind::Test => is_code(path),
            FileKind::Work if is_rust(path) => self
                .text(on, path)
                .is_some_and(|text| inline::has_tests(&text)),
            _ => false,
        };
        files.iter().any(is_test)
    }

    fn manifest_edit(&self, side: Side, changed: &Changed) -> Option<To> {
        let then = self.text(side, &changed.path)?;
        let Some(now) = self.text(Side::Now, &changed.path) else {
            return Some(To::Copy(side));
        };
        let Some(mixed) = manifest::mixed(&changed.path, &now, &then) else {
            return Some(To::Copy(side));
        };
        let same = manifest::mixed(&changed.path, &now, &now);
        (same.as_deref() != Some(mixed.as_str())).then(|| To::Text(mixed.into_bytes()))
    }

    fn inline_edit(&self, side: Side, changed: &Changed) -> Option<To> {
        let then = self.text(side, &changed.path);
        let now = self.text(Side::Now, &changed.path);
        match (then, now) {
            (Some(then), None) => inline::has_tests(&then).then_some(To::Copy(side)),
            (Some(then), Some(now)) => {
                let mixed = inline::with_tests_of(&now, &then);
                (mixed != now).then(|| To::Text(mixed.into_bytes()))
            }
            (None, Some(now)) => {
                inline::has_tests(&now).then(|| To::Text(inline::product(&now).into_bytes()))
            }
            (None, None) => None,
        }
    }

    /// The tree with the work taken back, and its new tests left in.
    pub fn counterfactual(&self) -> Vec<Edit> {
        let edit = |changed: &Changed| match self.kind(&changed.path) {
            FileKind::Work if is_rust(&changed.path) => Some(self.without_work(changed)),
            FileKind::Work => Some(taken_back(changed)),
            FileKind::Manifest => {
                let base = self.text(Side::Base, &changed.path);
                let now = self.text(Side::Now, &changed.path);
                let mixed = base
                    .zip(now)
                    .and_then(|(base, now)| manifest::mixed(&changed.path, &base, &now));
                Some(mixed.map_or_else(|| taken_back(changed), |text| To::Text(text.into_bytes())))
            }
            FileKind::Test | FileKind::Runner | FileKind::Own => None,
        };
        let made = self.made.iter().map(|path| Edit {
            path: path.clone(),
            to: To::Remove,
        });
        edits(self.since_base.iter(), edit)
            .into_iter()
            .chain(made)
            .collect()
    }

    fn without_work(&self, changed: &Changed) -> To {
        let (base, now) = (
            self.text(Side::Base, &changed.path),
            self.text(Side::Now, &changed.path),
        );
        match (base, now) {
            (Some(base), Some(now)) => To::Text(inline::with_tests_of(&base, &now).into_bytes()),
            _ => taken_back(changed),
        }
    }

    /// The tree with every test spoiled; `on` says of which tree.
    pub fn canary(&self, on: Side, mark: &str) -> Vec<Edit> {
        let files = match on {
            Side::Armed => &self.armed,
            Side::Base | Side::Now => &self.now,
        };
        let spoil = |path: &String| {
            let to = match self.kind(path) {
                FileKind::Test if is_code(path) => spoiled(path, &(self.read)(on, path)?, mark),
                FileKind::Work if is_rust(path) => {
                    let text = self.text(on, path).filter(|text| inline::has_tests(text))?;
                    (text + "\n" + &rust(mark)).into_bytes()
                }
                _ => return None,
            };
            Some(Edit {
                path: path.clone(),
                to: To::Text(to),
            })
        };
        self.upon(on, files.iter().filter_map(spoil))
    }

    /// Edits on top of that tree.
    fn upon(&self, on: Side, edits: impl Iterator<Item = Edit>) -> Vec<Edit> {
        match on {
            Side::Armed => self.back_to_armed().into_iter().chain(edits).collect(),
            Side::Base | Side::Now => edits.collect(),
        }
    }

    /// The tree in which every script that judges fails behind what it takes
    /// in; `on` says of which tree.
    pub fn takers(&self, on: Side, mark: &str) -> Vec<Edit> {
        let files = match on {
            Side::Armed => &self.armed,
            Side::Base | Side::Now => &self.now,
        };
        let scripts = self.reached.iter();
        let scripts = scripts.filter(|path| self.kind(path) == FileKind::Runner);
        let recipes = files.iter().filter(|path| takers::recipes::is_one(path));
        let recipes = recipes.filter(|path| !self.reached.contains(path));
        let scripts = scripts.chain(recipes.take(MOST_RECIPES));
        let spoiled = scripts.filter_map(|path| {
            let text = takers::spoiled(path, &(self.read)(on, path)?, mark)?;
            Some(Edit {
                path: path.clone(),
                to: To::Text(text),
            })
        });
        self.upon(on, spoiled)
    }

    /// The same, only in the files that hold one of these tests.
    pub fn canary_in(&self, tests: &BTreeSet<String>, mark: &str) -> Vec<Edit> {
        let names: Vec<&str> = tests.iter().map(|name| own_name(name)).collect();
        let holds = |edit: &Edit| {
            let text = self.text(Side::Now, &edit.path).unwrap_or_default();
            names.iter().any(|name| text.contains(name))
        };
        let mut edits = self.canary(Side::Now, mark);
        edits.retain(holds);
        edits
    }

    /// Files that are run as tests, or run them.
    pub fn run_as_checks(&self) -> impl Iterator<Item = &String> {
        let files = self.now.iter();
        files.filter(|path| self.kind(path).is_check() && is_code(path))
    }

    /// Check files that nobody writes while they are run: runners may write
    /// data, but none that work is compared with.
    pub fn held_still(&self) -> impl Iterator<Item = &String> {
        let files = self.now.iter();
        files.filter(|path| self.kind(path).is_check() && (is_code(path) || is_compared(path)))
    }

    /// The whole tree as it was when the loop was armed.
    pub fn back_to_armed(&self) -> Vec<Edit> {
        let is_own = |changed: &&Changed| self.kind(&changed.path) == FileKind::Own;
        let changed = self.since_armed.iter().filter(|changed| !is_own(changed));
        let back = |changed: &Changed| match changed.was {
            true => Some(To::Copy(Side::Armed)),
            false => Some(To::Remove),
        };
        edits(changed, back)
    }

    /// The tree with the changed files themselves spoiled, or taken away: for
    /// checks that read no tests.
    pub fn absence(&self, remove: bool, mark: &str) -> Vec<Edit> {
        let there = |path: &String| {
            self.made.contains(path) || self.since_base.iter().any(|c| c.path == *path && c.is)
        };
        let files = self.work_changed().into_iter();
        let files = files.filter(|path| there(path) && self.kind(path) == FileKind::Work);
        files
            .map(|path| Edit {
                path,
                to: match remove {
                    true => To::Remove,
                    false => To::Text(nonsense(mark).into_bytes()),
                },
            })
            .collect()
    }

    /// Scripts of before among the work, which may be judges that nobody knows
    /// for such.
    pub fn scripts_changed(&self) -> impl Iterator<Item = &str> {
        let changed = self.since_base.iter().filter(|changed| changed.was);
        let paths = changed.map(|changed| changed.path.as_str());
        paths.filter(|path| self.kind(path) == FileKind::Work)
    }

    /// A script of before that does nothing, or nothing but fail.
    pub fn only_ends(&self, path: &str, fails: bool) -> Option<Edit> {
        let content = (self.read)(Side::Base, path)?;
        Some(Edit {
            path: path.to_owned(),
            to: To::Text(only_ends(path, &content, fails)?),
        })
    }

    /// These files as they were before the work.
    pub fn as_before(&self, paths: &BTreeSet<String>) -> Vec<Edit> {
        let changed = self.since_base.iter();
        let changed = changed.filter(|changed| paths.contains(&changed.path));
        edits(changed, |changed| Some(taken_back(changed)))
    }

    /// The tree with only the tests that are new or changed, and with `spoil`
    /// the product spoiled.
    pub fn new_tests_only(&self, spoil: bool, mark: &str) -> Vec<Edit> {
        let is_new = |path: &str| self.since_base.iter().any(|changed| changed.path == path);
        let edit = |path: &String| {
            let to = match self.kind(path) {
                FileKind::Test if is_code(path) && !is_new(path) && !is_helper(path) => To::Remove,
                FileKind::Work if spoil && is_code(path) => To::Text(nonsense(mark).into_bytes()),
                _ => return None,
            };
            Some(Edit {
                path: path.clone(),
                to,
            })
        };
        self.now.iter().filter_map(edit).collect()
    }
}

/// More folders with recipes are not gone through.
const MOST_RECIPES: usize = 100;

/// A test's name as it stands in its file: `a.py::test_b[1]` → `test_b`.
fn own_name(name: &str) -> &str {
    let name = name.split(" (").next().unwrap_or(name);
    let name = name.split('[').next().unwrap_or(name);
    let (_, name) = name.rsplit_once("::").unwrap_or(("", name));
    let (_, name) = name.rsplit_once(" > ").unwrap_or(("", name));
    match name.contains(' ') {
        true => name,
        // go: `TestA/with_more`
        false => name.split('/').next().unwrap_or(name),
    }
}

fn taken_back(changed: &Changed) -> To {
    match changed.was {
        true => To::Copy(Side::Base),
        false => To::Remove,
    }
}

fn edits<'a>(
    changed: impl Iterator<Item = &'a Changed>,
    to: impl Fn(&Changed) -> Option<To>,
) -> Vec<Edit> {
    let edit = |changed: &Changed| {
        let path = changed.path.clone();
        Some(Edit {
            path,
            to: to(changed)?,
        })
    };
    changed.filter_map(edit).collect()
}

fn is_rust(path: &str) -> bool {
    path.ends_with(".rs")
}

/// Tests of others may need it.
fn is_helper(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    matches!(
        name,
        "__init__.py" | "mod.rs" | "common.rs" | "helpers.py" | "helpers.js" | "helper.js"
    )
}

/// Whether a file is text that is run, not data.
fn is_code(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    CODE.contains(&extension)
}

const CODE: [&str; 37] = [
    "", "py", "js", "jsx", "ts", "tsx", "mjs", "cjs", "mts", "cts", "go", "rs", "java", "kt",
    "scala", "groovy", "cs", "swift", "php", "rb", "ex", "exs", "dart", "c", "cc", "cpp", "cxx",
    "h", "hpp", "lua", "jl", "sh", "bash", "zsh", "bats", "t", "pl",
];

#[cfg(test)]
mod tests {
    use super::own_name;

    #[test]
    fn tests_are_found_by_the_name_that_stands_in_their_file() {
        for (name, want) in [
            ("tests/a.py::test_b[1-2]", "test_b"),
            ("tests/a.py::TestA::test_b", "test_b"),
            ("test_sub (test_calc.TestCalc.test_sub)", "test_sub"),
            ("a::b::subtracts", "subtracts"),
            ("src/a.test.ts > sums > adds numbers", "adds numbers"),
            ("TestSub/with_more", "TestSub"),
            ("adds a/b", "adds a/b"),
        ] {
            assert_eq!(own_name(name), want, "{name}");
        }
    }
}

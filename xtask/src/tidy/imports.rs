//! Which file of a crate needs which other, and where that goes in circles.
//!
//! A name is followed through re-exports to the file that defines it: a module
//! that only passes names on is in nobody's way.

use std::collections::{BTreeMap, BTreeSet};

use super::source::{identifier, matching, skip_space, words};

/// Three files that need each other can be read together; more can't.
const LARGEST_CIRCLE: usize = 3;
/// A name that is passed on more often than this goes in circles itself.
const MOST_HOPS: usize = 8;

type Path = Vec<String>;

/// A `use` with its tree spread out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Use {
    pub path: Path,
    /// The name it gives here; `*` for all.
    pub alias: String,
    pub is_public: bool,
}

#[derive(Debug)]
struct Module {
    file: String,
    code: String,
    uses: Vec<Use>,
}

/// The modules of one crate.
#[derive(Debug)]
struct Crate(BTreeMap<Path, Module>);

/// Groups of more than three files that need each other, of one crate.
/// `files` are paths below its `src` with their production code.
pub fn circles(files: &[(String, String)]) -> Vec<Vec<String>> {
    let modules = files.iter().map(|(file, code)| {
        let module = Module {
            file: file.clone(),
            code: code.clone(),
            uses: uses(code),
        };
        (module_path(file), module)
    });
    let modules = Crate(modules.collect());
    let needs = modules.needs();
    let mut circles = components(&needs);
    circles.retain(|circle| circle.len() > LARGEST_CIRCLE);
    circles
}

/// `a/b.rs` and `a/b/mod.rs` are both `a::b`.
fn module_path(file: &str) -> Path {
    let path = file.trim_end_matches(".rs");
    let mut path: Path = path.split('/').map(str::to_owned).collect();
    if path.last().is_some_and(|last| last == "mod") || matches!(file, "lib.rs" | "main.rs") {
        path.pop();
    }
    path
}

impl Crate {
    /// Each file with the files that it needs.
    fn needs(&self) -> BTreeMap<&str, BTreeSet<&str>> {
        let mut needs = BTreeMap::new();
        for (place, module) in &self.0 {
            let imported = module.uses.iter().filter(|used| {
                // What is only passed on is not needed.
                !used.is_public || words(&module.code, &used.alias).count() > 1
            });
            let mut paths: Vec<Path> = imported.map(|used| used.path.clone()).collect();
            paths.extend(inline_paths(&module.code, |first| {
                self.has_child(place, first)
            }));
            let found = paths.iter().filter_map(|path| {
                let path = self.absolute(place, path)?;
                self.definer(&path, MOST_HOPS)
            });
            // A module and what it is made of are one thing.
            let others = found.filter(|(of, _)| !of.starts_with(place));
            needs.insert(
                module.file.as_str(),
                others.map(|(_, other)| other.file.as_str()).collect(),
            );
        }
        needs
    }

    fn has_child(&self, place: &[String], name: &str) -> bool {
        let child = [place, &[name.to_owned()]].concat();
        self.0.contains_key(&child)
    }

    /// A path as seen from the root of the crate; none for other crates.
    fn absolute(&self, place: &[String], path: &[String]) -> Option<Path> {
        let mut base = place.to_vec();
        let mut rest = path;
        match path.first()?.as_str() {
            "crate" => (base, rest) = (Path::new(), &path[1..]),
            "self" => rest = &path[1..],
            "super" => {
                while rest.first().is_some_and(|word| word == "super") {
                    base.pop();
                    rest = &rest[1..];
                }
            }
            first if self.has_child(place, first) => {}
            _ => return None,
        }
        Some([base.as_slice(), rest].concat())
    }

    /// The module that defines what an absolute path names, and where it is.
    fn definer<'p>(&'p self, path: &[String], hops: usize) -> Option<(&'p Path, &'p Module)> {
        let depth = (0..=path.len()).rev();
        let depth = depth
            .into_iter()
            .find(|&n| self.0.contains_key(&path[..n]))?;
        let (place, rest) = path.split_at(depth);
        let (found, module) = self.0.get_key_value(place)?;
        let Some((name, rest)) = rest.split_first().filter(|_| hops > 0) else {
            return Some((found, module));
        };
        for used in &module.uses {
            let passed_on = match used.alias.as_str() {
                "*" => [&used.path[..], std::slice::from_ref(name)].concat(),
                alias if alias == name => used.path.clone(),
                _ => continue,
            };
            let Some(target) = self.absolute(place, &passed_on) else {
                continue;
            };
            if used.alias == "*" && !self.defines(&target) {
                continue;
            }
            return self.definer(&[&target[..], rest].concat(), hops - 1);
        }
        Some((found, module))
    }

    /// Whether the module of a path has an item of its last name.
    fn defines(&self, path: &[String]) -> bool {
        let Some((name, place)) = path.split_last() else {
            return false;
        };
        let Some(module) = self.0.get(place) else {
            return false;
        };
        let kinds = ["fn", "struct", "enum", "trait", "type", "const", "static"];
        words(&module.code, name).any(|at| {
            let before = module.code[..at].trim_end();
            kinds.iter().any(|kind| before.ends_with(kind))
        })
    }
}

/// Every `use` of a file, its tree spread out.
pub fn uses(code: &str) -> Vec<Use> {
    let mut uses = Vec::new();
    for at in words(code, "use") {
        let Some(length) = code[at..].find(';') else {
            continue;
        };
        let before = code[..at].trim_end();
        let is_public = before.ends_with("pub")
            || before.ends_with(')') && {
                before.rfind("pub(").is_some_and(|open| {
                    let close = matching(before.as_bytes(), open + 3);
                    close + 1 == before.len()
                })
            };
        let tree: String = code[at + 3..at + length]
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        spread(&tree, &[], is_public, &mut uses);
    }
    uses
}

fn spread(tree: &str, prefix: &[String], is_public: bool, uses: &mut Vec<Use>) {
    let tree = tree.trim();
    if let Some(open) = tree.find('{') {
        let steps = tree[..open].split("::").map(str::trim);
        let steps = steps.filter(|step| !step.is_empty()).map(str::to_owned);
        let prefix: Path = prefix.iter().cloned().chain(steps).collect();
        let inside = &tree[open + 1..matching(tree.as_bytes(), open)];
        for part in parts(inside) {
            spread(part, &prefix, is_public, uses);
        }
        return;
    }
    let (path, alias) = match tree.split_once(" as ") {
        Some((path, alias)) => (path, Some(alias.trim().to_owned())),
        None => (tree, None),
    };
    let steps = path
        .split("::")
        .map(str::trim)
        .filter(|step| !step.is_empty());
    let mut path: Path = prefix.to_vec();
    path.extend(steps.map(str::to_owned));
    if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
        path.pop();
    }
    let Some(last) = path.last().cloned() else {
        return;
    };
    if last == "*" {
        path.pop();
    }
    let alias = alias.unwrap_or(last);
    uses.push(Use {
        path,
        alias,
        is_public,
    });
}

/// Parted by the commas outside of braces.
fn parts(inside: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, byte) in inside.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            b',' if depth == 0 => {
                parts.push(&inside[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&inside[start..]);
    parts.retain(|part| !part.trim().is_empty());
    parts
}

/// Paths in the middle of code: from the root, from above, or into a child.
fn inline_paths(code: &str, is_child: impl Fn(&str) -> bool) -> Vec<Path> {
    let mut paths = Vec::new();
    for (at, _) in code.match_indices("::") {
        let bytes = code.as_bytes();
        let begin = code[..at].bytes().rposition(|b| !super::source::is_part(b));
        let begin = begin.map_or(0, |i| i + 1);
        let first = &code[begin..at];
        let is_first = !code[..begin].ends_with("::");
        let from_here = matches!(first, "crate" | "super" | "self") || is_child(first);
        if !is_first || !from_here {
            continue;
        }
        let mut path = vec![first.to_owned()];
        let mut next = at;
        while code[next..].starts_with("::") {
            let word = identifier(code, skip_space(bytes, next + 2));
            if word.is_empty() {
                break;
            }
            path.push(word.to_owned());
            next = skip_space(bytes, next + 2) + word.len();
        }
        if path.len() > 1 {
            paths.push(path);
        }
    }
    paths
}

/// Tarjan's strongly connected components.
fn components<'a>(needs: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> Vec<Vec<String>> {
    let mut search = Search {
        needs,
        index: BTreeMap::new(),
        low: BTreeMap::new(),
        stack: Vec::new(),
        found: Vec::new(),
    };
    for file in needs.keys() {
        if !search.index.contains_key(file) {
            search.visit(file);
        }
    }
    search.found
}

struct Search<'a, 'n> {
    needs: &'n BTreeMap<&'a str, BTreeSet<&'a str>>,
    index: BTreeMap<&'a str, usize>,
    low: BTreeMap<&'a str, usize>,
    stack: Vec<&'a str>,
    found: Vec<Vec<String>>,
}

impl<'a> Search<'a, '_> {
    fn visit(&mut self, file: &'a str) -> usize {
        let index = self.index.len();
        self.index.insert(file, index);
        self.stack.push(file);
        let mut low = index;
        for next in self.needs.get(file).into_iter().flatten() {
            if !self.index.contains_key(next) {
                low = low.min(self.visit(next));
            } else if self.stack.contains(next) {
                low = low.min(self.index[next]);
            }
        }
        self.low.insert(file, low);
        if low == index {
            let at = self.stack.iter().position(|other| *other == file);
            let circle = self.stack.split_off(at.unwrap_or(self.stack.len()));
            let mut circle: Vec<String> = circle.into_iter().map(str::to_owned).collect();
            circle.sort();
            self.found.push(circle);
        }
        low
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_of_imports_are_spread_out() {
        let told: Vec<String> =
            uses("pub(crate) use crate::{a::{self, b as c}, d::*};\nuse super::e;")
                .iter()
                .map(|u| format!("{} {} {}", u.path.join("::"), u.alias, u.is_public))
                .collect();
        let want = [
            "crate::a a true", "crate::a::b c true", "crate::d * true", "super::e e false",
        ];
        assert_eq!(told, want);
    }

    fn check(files: &[(&str, &str)], want: &[&[&str]]) {
        let own = |(file, code): &(&str, &str)| ((*file).to_owned(), (*code).to_owned());
        let files: Vec<(String, String)> = files.iter().map(own).collect();
        assert_eq!(circles(&files), want, "{files:?}");
    }

    #[test]
    fn a_circle_of_four_is_found_and_one_of_three_is_not() {
        let ring = [
            ("a.rs", "use crate::b::B; pub struct A;"),
            ("b.rs", "fn f() -> crate::c::C { }  pub struct B;"),
            ("c.rs", "use super::d; pub struct C;"),
            ("d.rs", "use crate::a::A;"),
            ("lib.rs", "mod a; mod b; mod c; mod d; use a::A;"),
        ];
        check(&ring, &[&["a.rs", "b.rs", "c.rs", "d.rs"]]);
        let mut three = ring;
        three[2].1 = "use super::a; pub struct C;";
        check(&three, &[]);
    }

    #[test]
    fn a_name_is_followed_to_where_it_is_defined() {
        // Everybody imports from `m`, which defines nothing: no circle.
        check(
            &[
                ("lib.rs", "mod m;"),
                (
                    "m/mod.rs",
                    "mod a; mod b; mod c; pub use a::A; pub use b::*;",
                ),
                ("m/a.rs", "use super::B; pub struct A;"),
                ("m/b.rs", "pub struct B;"),
                ("m/c.rs", "use crate::m::{A, B};"),
            ],
            &[],
        );
    }
}

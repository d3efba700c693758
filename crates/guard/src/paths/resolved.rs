//! Where directories really lead, asked of the disk once in a call: each part
//! of a path is a question, and nearly every path of a text lies in a
//! directory that stood there before.

use std::cell::RefCell;
use std::collections::HashMap;

use super::resolve;
use crate::World;

pub struct Resolved<'w> {
    world: &'w dyn World,
    directories: RefCell<HashMap<String, String>>,
}

impl std::fmt::Debug for Resolved<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Resolved").finish_non_exhaustive()
    }
}

impl<'w> Resolved<'w> {
    pub fn new(world: &'w dyn World) -> Self {
        Resolved {
            world,
            directories: RefCell::default(),
        }
    }

    /// The same as [`resolve`].
    pub fn resolve(&self, path: &str, links: &HashMap<String, String>) -> String {
        let split = path.rsplit_once('/');
        let name = |(_, name): &(&str, &str)| !matches!(*name, "" | "." | "..");
        // Links that the text itself makes change where a directory leads.
        match split.filter(|_| links.is_empty()).filter(name) {
            Some((directory, name)) => self.below(directory, name, links),
            None => resolve(path, links, self.world),
        }
    }

    fn below(&self, directory: &str, name: &str, links: &HashMap<String, String>) -> String {
        let mut known = self.directories.borrow_mut();
        let real = match known.get(directory) {
            Some(real) => real,
            None => {
                let real = resolve(directory, links, self.world);
                known.entry(directory.to_owned()).or_insert(real)
            }
        };
        let real = real.trim_end_matches('/');
        let path = format!("{real}/{name}");
        match self.world.link_target(&path) {
            Some(target) if target.starts_with('/') => resolve(&target, links, self.world),
            Some(target) => resolve(&format!("{real}/{target}"), links, self.world),
            None => path,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `/a/link` leads to `/b`, `/b/up` to `..`, `/loop` to itself.
    struct Links;

    impl World for Links {
        fn link_target(&self, path: &str) -> Option<String> {
            let target = match path {
                "/a/link" => "/b",
                "/b/up" => "..",
                "/b/near" => "x/./y",
                "/loop" => "loop",
                _ => return None,
            };
            Some(target.to_owned())
        }
    }

    #[test]
    fn what_is_remembered_is_what_is_found() {
        let resolved = Resolved::new(&Links);
        let written = HashMap::from([("/a/x".to_owned(), "/c".to_owned())]);
        let paths = [
            "/", "/a", "/a/x", "/a/x/y", "/a/link", "/a/link/", "/a/link/x", "/a/link/../x",
            "/b/up", "/b/up/z", "/a/link/up/a/x", "/b/near", "/a/link/near/z", "/a/..", "/a/.",
            "/loop", "/loop/x", "relative", "", "/a//x", "/a/link/near",
        ];
        for _ in 0..2 {
            for path in paths {
                for links in [&HashMap::new(), &written] {
                    let want = resolve(path, links, &Links);
                    assert_eq!(resolved.resolve(path, links), want, "{path}");
                }
            }
        }
    }
}

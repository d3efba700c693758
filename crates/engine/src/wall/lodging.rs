//! The home of those behind the wall: a folder of its own in the place of the
//! person's, with copies of what is small and layers over what is large.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use ralph_core::text;
use ralph_store::atomic::{AtomicOptions, write_atomic};
use ralph_store::private::{self, PrivateDir};
use ralph_store::regular;

use super::mounts::{See, View};
use super::table::{Share, place};
use crate::supervise::Overlay;

/// Nothing that is copied is larger.
const LARGEST: u64 = 4 * 1024 * 1024;

/// Where somebody lives for as long as one child does.
#[derive(Debug)]
pub struct Lodging {
    pub views: Vec<View>,
    pub overlays: Vec<Overlay>,
    /// The person's files of keys, and where new ones would stand.
    logins: Vec<(PathBuf, PathBuf)>,
    /// It goes with the lodging; `None` where it stays.
    scratch: Option<PrivateDir>,
}

/// Whose home it takes the place of, and how.
pub struct Host<'a> {
    pub home: &'a Path,
    /// A `.gitconfig` that says who somebody is and nothing more.
    pub identity: &'a str,
    /// Whether layers work here.
    pub layers: bool,
}

impl Host<'_> {
    /// A home that stays from one child to the next, in `dir`.
    pub fn lasting(&self, dir: &Path, shares: &[Share]) -> io::Result<Lodging> {
        fs::create_dir_all(dir)?;
        let caches = match forget_torn_caches(dir) {
            true => Keep::UntilRestart,
            false => Keep::Always,
        };
        self.furnish(dir, shares, caches, None)
    }

    /// One that goes with the child: what another child left in its home must
    /// not decide whether a check passes.
    pub fn passing(&self, scratch: PrivateDir, shares: &[Share]) -> io::Result<Lodging> {
        let dir = scratch.path().to_owned();
        self.furnish(&dir, shares, Keep::UntilRestart, Some(scratch))
    }

    fn furnish(
        &self,
        dir: &Path,
        shares: &[Share],
        caches: Keep,
        scratch: Option<PrivateDir>,
    ) -> io::Result<Lodging> {
        let own = dir.join("home");
        fs::create_dir_all(&own)?;
        let mut lodging = Lodging {
            views: vec![(self.home.to_owned(), See::Write(Some(own.clone())))],
            overlays: Vec::new(),
            logins: Vec::new(),
            scratch,
        };
        put(&own, Path::new(".gitconfig"), self.identity.as_bytes())?;
        for share in shares {
            match *share {
                Share::Read(name) => {
                    if let Some(found) = found(self.home, name) {
                        let place = place(self.home, name);
                        lodging.views.push((place, See::Read(Some(found))));
                    }
                }
                Share::Over(name) => lodging.over(self, &layer(dir, name), name, Keep::Always)?,
                Share::Cache(name) => lodging.over(self, &cache(dir, name), name, caches)?,
                Share::Copy(name) => copy(self.home, &own, name, without_secrets)?,
                Share::Whole(name) => copy(self.home, &own, name, str::to_owned)?,
                Share::Login(name) => {
                    let fresh = fresh_login(dir, name);
                    lodging.logins.push((place(self.home, name), fresh));
                }
            }
        }
        // What somebody behind the wall left there hides newer keys.
        lodging.take_over_logins();
        Ok(lodging)
    }
}

impl Lodging {
    fn over(&mut self, host: &Host<'_>, layer: &Path, name: &str, keep: Keep) -> io::Result<()> {
        let Some(lower) = found(host.home, name).filter(|found| found.is_dir()) else {
            return Ok(());
        };
        let see = match host.layers {
            false => See::Read(Some(lower)),
            true => {
                let (upper, work) = (layer.join("upper"), layer.join("work"));
                fs::create_dir_all(&upper)?;
                fs::create_dir_all(&work)?;
                self.overlays.push(Overlay {
                    at: lower.clone(),
                    lower: lower.clone(),
                    upper,
                    work,
                    passing: self.scratch.is_some() || keep == Keep::UntilRestart,
                });
                See::Write(Some(lower))
            }
        };
        self.views.push((place(host.home, name), see));
        Ok(())
    }

    /// Keys that a client renewed replace the person's: the old ones are worth
    /// nothing any more. Only where they look like the old ones.
    fn take_over_logins(&self) {
        for (old, fresh) in &self.logins {
            let read = |path: &Path| {
                let text = regular::read_to_string_within(path, LARGEST).ok()?;
                let value = serde_json::from_str::<serde_json::Value>(&text).ok()?;
                let keys: Vec<String> = value.as_object()?.keys().cloned().collect();
                Some((text, keys))
            };
            if let (Some((had, old_keys)), Some((has, keys))) = (read(old), read(fresh))
                && old_keys == keys
                && had != has
            {
                let _ = write_atomic(old, has.as_bytes(), AtomicOptions { durable: true });
            }
            let _ = fs::remove_file(fresh);
        }
    }
}

impl Drop for Lodging {
    fn drop(&mut self) {
        self.take_over_logins();
    }
}

/// How long what is written over a folder has to last.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keep {
    Always,
    /// Nobody waits for the disk, so that a machine which dies may tear it.
    UntilRestart,
}

fn layer(dir: &Path, name: &str) -> PathBuf {
    dir.join("over").join(name.replace('/', "%"))
}

const CACHES: &str = "caches";

fn cache(dir: &Path, name: &str) -> PathBuf {
    dir.join(CACHES).join(name.replace('/', "%"))
}

/// Takes away what lies over caches since before the machine started; false
/// where it can't be told when that was.
fn forget_torn_caches(dir: &Path) -> bool {
    let Ok(now) = regular::read(STARTED) else {
        return false;
    };
    let (caches, since) = (dir.join(CACHES), dir.join("caches-since"));
    if regular::read(&since).is_ok_and(|since| since == now) {
        return true;
    }
    private::remove(&caches);
    !caches.exists() && write_atomic(&since, &now, AtomicOptions { durable: true }).is_ok()
}

/// Another word each time that the machine starts.
const STARTED: &str = "/proc/sys/kernel/random/boot_id";

/// A file of keys lies below a layered folder.
fn fresh_login(dir: &Path, name: &str) -> PathBuf {
    let (folder, file) = name.rsplit_once('/').unwrap_or(("", name));
    layer(dir, folder).join("upper").join(file)
}

/// Where a part of the home really lies.
fn found(home: &Path, name: &str) -> Option<PathBuf> {
    place(home, name).canonicalize().ok()
}

fn copy(home: &Path, own: &Path, name: &str, change: fn(&str) -> String) -> io::Result<()> {
    let from = place(home, name);
    // Outside of the home it can be read as it is.
    let Ok(inside) = from.strip_prefix(home) else {
        return Ok(());
    };
    match regular::read_to_string_within(&from, LARGEST) {
        Ok(text) => put(own, inside, change(&text).as_bytes()),
        // What is not there, or no such file, is left out.
        Err(_) => Ok(()),
    }
}

/// Whoever lives here may have put a link in its place, or above it: it is
/// taken away, and not followed.
fn put(own: &Path, name: &Path, bytes: &[u8]) -> io::Result<()> {
    use std::io::Write;
    let mut path = own.to_owned();
    for part in name.parent().into_iter().flat_map(Path::components) {
        path.push(part);
        if !fs::symlink_metadata(&path).is_ok_and(|found| found.is_dir()) {
            let _ = fs::remove_file(&path);
            fs::create_dir(&path)?;
        }
    }
    let path = own.join(name);
    if fs::remove_file(&path).is_err() {
        let _ = fs::remove_dir_all(&path);
    }
    let mut file = private::options().write(true).create_new(true).open(path)?;
    file.write_all(bytes)
}

/// The lines that say nothing of a password.
fn without_secrets(text: &str) -> String {
    const WORDS: [&str; 5] = ["auth", "token", "password", "secret", "credential"];
    let is_harmless = |line: &&str| {
        let small = line.to_ascii_lowercase();
        let has_user = small
            .split_once("://")
            .is_some_and(|(_, rest)| rest.split('/').next().unwrap_or(rest).contains('@'));
        !WORDS.iter().any(|word| small.contains(word)) && !has_user && text::redact(line) == **line
    };
    let lines = text.lines().filter(is_harmless);
    lines.map(|line| format!("{line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_with_secrets_stay_outside() {
        let text = "registry=https://registry.npmjs.org/\n\
                    //registry.npmjs.org/:_authToken=npm_abcdefghijklmnopqrstuvwxyz0123456789\n\
                    index-url = https://me:pass@pypi.example/simple\n\
                    fund=false\n";
        assert_eq!(
            without_secrets(text),
            "registry=https://registry.npmjs.org/\nfund=false\n"
        );
    }

    #[test]
    fn caches_last_until_the_machine_starts_anew() {
        let dir = tempfile::tempdir().unwrap();
        let cache = cache(dir.path(), ".cargo/registry").join("upper/half");
        let put = || {
            fs::create_dir_all(cache.parent().unwrap()).unwrap();
            fs::write(&cache, "a crate").unwrap();
        };
        put();
        assert!(forget_torn_caches(dir.path()));
        assert!(!cache.exists(), "nobody knows of when it is");
        put();
        assert!(forget_torn_caches(dir.path()));
        assert!(cache.exists());
        fs::write(dir.path().join("caches-since"), "another start").unwrap();
        assert!(forget_torn_caches(dir.path()));
        assert!(!cache.exists());
    }
}

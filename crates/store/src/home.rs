//! Where Ralph keeps what it believes: in a folder of the person's own,
//! outside of every project, so that neither a repository nor an agent that
//! keeps to its work tree can bring or change it.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, Metadata};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use ralph_core::text::digest::hex_sha256;

use crate::error::{Action, At, FileError};
use crate::fault::{Deed, at, point};
use crate::{atomic, sys};

/// Who a project's folder belongs to: its root, and what makes that the same
/// folder after it was moved.
const OWNER: &str = "project.json";
/// More than any root needs.
const LONGEST_OWNER: u64 = 64 * 1024;
/// How much of a project's name is kept for people who look.
const LONGEST_NAME: usize = 40;

/// The folder of all projects, `$XDG_STATE_HOME/ralph`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateHome {
    dir: PathBuf,
}

/// A project that Ralph ran in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    pub root: PathBuf,
    /// Where its state is kept.
    pub dir: PathBuf,
    identity: (u64, u64),
}

impl StateHome {
    pub fn at(dir: impl Into<PathBuf>) -> StateHome {
        StateHome { dir: dir.into() }
    }

    /// The person's own; `None` where they have no home. `home` is what the
    /// system says, for whoever has no variable.
    pub fn of_person(
        variable: impl Fn(&str) -> Option<OsString>,
        home: Option<PathBuf>,
    ) -> Option<StateHome> {
        let absolute = |path: &PathBuf| path.is_absolute();
        let named = |name: &str| variable(name).map(PathBuf::from).filter(absolute);
        let state =
            named("XDG_STATE_HOME").or_else(|| platform_default(&named, home.filter(absolute)))?;
        Some(StateHome::at(state.join("ralph")))
    }

    /// Of the process that asks.
    pub fn of_process() -> Option<StateHome> {
        StateHome::of_person(|name| std::env::var_os(name), std::env::home_dir())
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    fn projects(&self) -> PathBuf {
        self.dir.join("projects")
    }

    /// The folder of a project. Links to a root lead to one folder; a work
    /// tree beside another, or a folder in it, has its own.
    pub fn of_project(&self, root: &Path) -> PathBuf {
        let real = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        let safe = |c: char| if c.is_alphanumeric() { c } else { '-' };
        let name = real.file_name().unwrap_or_default().to_string_lossy();
        let name: String = name.chars().map(safe).take(LONGEST_NAME).collect();
        let digest = hex_sha256(real.as_os_str().as_encoded_bytes());
        let digest = digest.get(..16).unwrap_or(&digest);
        self.projects().join(format!("{name}-{digest}"))
    }

    /// Creates the folder of a project, closed to everybody else, and notes
    /// whose it is.
    pub(crate) fn prepare(&self, root: &Path, dir: &Path) -> Result<(), FileError> {
        create_private(&self.dir)?;
        let projects = self.projects();
        if projects.is_file() {
            // The list of an earlier version, which the folders replace.
            fs::remove_file(&projects).at(&projects, Action::Remove)?;
        }
        create_private(&projects)?;
        create_private(dir)?;
        let real = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        let owner = owner_text(&real);
        let path = dir.join(OWNER);
        if fs::read(&path).is_ok_and(|text| text == owner) {
            return Ok(());
        }
        let options = atomic::AtomicOptions { durable: false };
        atomic::write_atomic(&path, &owner, options)
    }

    /// Every project that Ralph ran in, by the order of their folders' names.
    pub fn known(&self) -> Vec<Known> {
        let entries = fs::read_dir(self.projects())
            .into_iter()
            .flatten()
            .flatten();
        let mut known: Vec<Known> = entries.filter_map(|e| known_at(e.path())).collect();
        known.sort_by(|a, b| a.dir.cmp(&b.dir));
        known
    }

    /// The state of a project that was moved to `root`: its own place is
    /// gone, and it is the same folder.
    pub fn moved_to(&self, root: &Path) -> Option<Known> {
        let identity = identity_of(root)?;
        let is_it = |known: &Known| known.identity == identity && !known.root.exists();
        self.known().into_iter().find(is_it)
    }

    /// Gives the state of a moved project to its new root.
    pub fn take_along(&self, moved: &Known, root: &Path) -> Result<(), FileError> {
        let dir = self.of_project(root);
        fs::rename(&moved.dir, &dir).at(&dir, Action::Rename)?;
        self.prepare(root, &dir)
    }
}

#[cfg(target_os = "macos")]
fn platform_default(
    named: &dyn Fn(&str) -> Option<PathBuf>,
    home: Option<PathBuf>,
) -> Option<PathBuf> {
    let home = named("HOME").or(home)?;
    Some(home.join("Library").join("Application Support"))
}

#[cfg(windows)]
fn platform_default(
    named: &dyn Fn(&str) -> Option<PathBuf>,
    home: Option<PathBuf>,
) -> Option<PathBuf> {
    named("LOCALAPPDATA").or_else(|| Some(home?.join("AppData").join("Local")))
}

#[cfg(not(any(target_os = "macos", windows)))]
fn platform_default(
    named: &dyn Fn(&str) -> Option<PathBuf>,
    home: Option<PathBuf>,
) -> Option<PathBuf> {
    Some(named("HOME").or(home)?.join(".local").join("state"))
}

fn known_at(dir: PathBuf) -> Option<Known> {
    let path = dir.join(OWNER);
    let small = fs::symlink_metadata(&path)
        .is_ok_and(|found| found.is_file() && found.len() <= LONGEST_OWNER);
    let text = small.then(|| fs::read(&path).ok()).flatten()?;
    let owner: serde_json::Value = serde_json::from_slice(&text).ok()?;
    let number = |name: &str| owner[name].as_u64();
    Some(Known {
        root: PathBuf::from(owner["root"].as_str()?),
        identity: (number("device")?, number("inode")?),
        dir,
    })
}

fn identity_of(root: &Path) -> Option<(u64, u64)> {
    fs::metadata(root).ok().map(|found| sys::identity(&found))
}

fn owner_text(root: &Path) -> Vec<u8> {
    let (device, inode) = identity_of(root).unwrap_or_default();
    let root = root.to_string_lossy();
    let owner = serde_json::json!({"root": root, "device": device, "inode": inode});
    format!("{owner}\n").into_bytes()
}

/// A folder for this user alone. One that is there already has to be a real
/// folder and theirs; what others may do in it is taken away.
fn create_private(dir: &Path) -> Result<(), FileError> {
    let missing = |error: &io::Error| error.kind() == ErrorKind::NotFound;
    let found = match fs::symlink_metadata(dir) {
        Err(error) if missing(&error) => {
            let mut builder = DirBuilder::new();
            builder.recursive(true);
            #[cfg(unix)]
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
            let made = || builder.create(dir);
            at(point::LAYOUT_CREATE_DIR, Deed::CreateDir, made).at(dir, Action::Create)?;
            fs::symlink_metadata(dir)
        }
        found => found,
    };
    let found = found.at(dir, Action::Create)?;
    if !found.is_dir() {
        let in_the_way = io::Error::from(ErrorKind::NotADirectory);
        return Err(FileError::new(dir, Action::Create, &in_the_way));
    }
    close_to_others(dir, &found).at(dir, Action::Create)
}

#[cfg(unix)]
fn close_to_others(dir: &Path, found: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    if found.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::Error::new(
            ErrorKind::PermissionDenied,
            "it belongs to another user",
        ));
    }
    match found.mode() & 0o077 {
        0 => Ok(()),
        _ => fs::set_permissions(dir, fs::Permissions::from_mode(0o700)),
    }
}

#[cfg(not(unix))]
fn close_to_others(_dir: &Path, _found: &Metadata) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home(vars: &[(&str, &str)], system: Option<&str>) -> Option<PathBuf> {
        let variable = |name: &str| {
            let found = vars.iter().find(|(n, _)| *n == name);
            found.map(|(_, value)| OsString::from(value))
        };
        let home = StateHome::of_person(variable, system.map(PathBuf::from));
        home.map(|home| home.dir)
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn it_is_found_where_the_person_or_the_system_says() {
        for (vars, system, want) in [
            (&[("XDG_STATE_HOME", "/s")][..], None, Some("/s/ralph")),
            (&[("HOME", "/h")], None, Some("/h/.local/state/ralph")),
            (
                &[("XDG_STATE_HOME", "relative"), ("HOME", "/h")],
                None,
                Some("/h/.local/state/ralph"),
            ),
            (&[], Some("/db"), Some("/db/.local/state/ralph")),
            (&[("HOME", "")], Some("/db"), Some("/db/.local/state/ralph")),
            (&[], None, None),
        ] {
            assert_eq!(home(vars, system), want.map(PathBuf::from), "{vars:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_to_a_root_are_one_project_and_a_folder_in_it_is_another() {
        let dir = tempfile::tempdir().unwrap();
        let state = StateHome::at(dir.path().join("state"));
        let root = dir.path().join("My project");
        fs::create_dir_all(root.join("sub")).unwrap();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&root, &link).unwrap();
        let of = |path: &Path| state.of_project(path);
        assert_eq!(of(&root), of(&link));
        assert_ne!(of(&root), of(&root.join("sub")));
        let name = of(&root).file_name().unwrap().to_str().unwrap().to_owned();
        assert!(name.starts_with("My-project-"), "{name}");
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_can_look_in_and_a_folder_of_others_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let state = StateHome::at(dir.path().join("a/b/ralph"));
        let root = dir.path().join("p");
        fs::create_dir(&root).unwrap();
        let own = state.of_project(&root);
        fs::create_dir_all(&own).unwrap();
        fs::set_permissions(&own, fs::Permissions::from_mode(0o777)).unwrap();
        state.prepare(&root, &own).unwrap();
        for place in [state.dir(), &state.projects(), &own] {
            let mode = fs::metadata(place).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o700, "{place:?}");
        }
        let linked = StateHome::at(dir.path().join("linked"));
        std::os::unix::fs::symlink(state.dir(), linked.dir()).unwrap();
        let error = linked
            .prepare(&root, &linked.of_project(&root))
            .unwrap_err();
        assert_eq!(error.kind, ErrorKind::NotADirectory);
    }

    #[test]
    fn a_moved_project_is_found_again() {
        let dir = tempfile::tempdir().unwrap();
        let state = StateHome::at(dir.path().join("ralph"));
        let (old, new) = (dir.path().join("old"), dir.path().join("new"));
        fs::create_dir(&old).unwrap();
        let kept = state.of_project(&old);
        state.prepare(&old, &kept).unwrap();
        fs::write(kept.join("note"), "kept").unwrap();
        assert_eq!(state.moved_to(&old), None);
        fs::rename(&old, &new).unwrap();
        let moved = state.moved_to(&new).unwrap();
        assert_eq!(moved.dir, kept);
        state.take_along(&moved, &new).unwrap();
        assert_eq!(
            fs::read(state.of_project(&new).join("note")).unwrap(),
            b"kept"
        );
        let known: Vec<PathBuf> = state.known().into_iter().map(|k| k.root).collect();
        assert_eq!(known, [new.canonicalize().unwrap()]);
    }

    #[test]
    fn the_list_of_an_earlier_version_gives_way() {
        let dir = tempfile::tempdir().unwrap();
        let state = StateHome::at(dir.path());
        fs::write(state.projects(), "/somewhere\n").unwrap();
        let own = state.of_project(dir.path());
        state.prepare(dir.path(), &own).unwrap();
        assert!(own.is_dir());
    }
}

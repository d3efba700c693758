//! The clean room: where checks run on a tree that nobody else can change, and
//! where nothing that they do reaches the work tree.
//!
//! On Linux it is an overlay at the same path, so that absolute paths, build
//! products and virtual environments stay true and nothing is copied. Where
//! that is refused it is a copy, and says so.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime};

use ralph_store::private::PrivateDir;

use crate::supervise::{self, Ending, Overlay, Sink, Spec, Stop};

/// How a room keeps its work apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum RoomKind {
    Overlay,
    Copy,
}

/// What a file is in a room, where it is not what it is outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    Gone,
    File { bytes: Vec<u8>, executable: bool },
    Link(PathBuf),
}

/// A room that works here.
#[derive(Clone, Debug)]
pub struct Room {
    root: PathBuf,
    /// Where its layers lie.
    scratch: PathBuf,
    kind: RoomKind,
}

/// A tree in a room, with what differs from the one outside. It goes with the
/// value.
#[derive(Debug)]
pub struct Layer {
    dir: Option<PrivateDir>,
    cwd: PathBuf,
    overlay: Option<Overlay>,
}

impl Room {
    /// The best room that works for this project; `state` is a folder that is
    /// the person's alone.
    pub async fn open(root: &Path, state: &Path) -> Result<Room, String> {
        let mut refused = String::from("no room");
        for scratch in [
            state.join("rooms"),
            std::env::temp_dir(),
            PathBuf::from("/dev/shm"),
        ] {
            let made = fs::create_dir_all(&scratch);
            let room = Room {
                root: root.to_owned(),
                scratch: scratch.clone(),
                kind: RoomKind::Overlay,
            };
            match made.map(|()| room) {
                Ok(room) => match room.works().await {
                    Ok(()) => return Ok(room),
                    Err(why) => refused = why,
                },
                Err(error) => refused = error.to_string(),
            }
        }
        let copy = Room {
            root: root.to_owned(),
            scratch: state.join("rooms"),
            kind: RoomKind::Copy,
        };
        match size_of(root, MOST_COPIED) {
            Some(_) => Ok(copy),
            None => Err(format!(
                "no overlay ({refused}), and the project is too large to copy"
            )),
        }
    }

    pub fn kind(&self) -> RoomKind {
        self.kind
    }

    /// Whether a child in it sees a file that is not there outside.
    async fn works(&self) -> Result<(), String> {
        let file = Content::File {
            bytes: Vec::new(),
            executable: false,
        };
        let name = PathBuf::from(".ralph-room");
        let layer = self
            .layer(&[(name, file)])
            .map_err(|error| error.to_string())?;
        let spec = Spec {
            program: "test".into(),
            args: vec!["-f".into(), ".ralph-room".into()],
            cwd: layer.cwd.clone(),
            env: Vec::new(),
            overlay: layer.overlay.clone(),
            env_remove: Vec::new(),
            stdin: None,
            timeout: Some(Duration::from_secs(10)),
            idle: None,
            left_of_run: None,
            grace: Duration::from_secs(1),
        };
        let (_keep, stop) = tokio::sync::watch::channel(Stop::No);
        match supervise::run(spec, &mut Nobody, stop).await.ending {
            Ending::Exited(0) => Ok(()),
            Ending::SpawnFailed { message, .. } => Err(message),
            other => Err(format!("{other:?}")),
        }
    }

    /// A tree with these files in the place of others.
    pub fn layer(&self, files: &[(PathBuf, Content)]) -> io::Result<Layer> {
        let dir = PrivateDir::below(&self.scratch, "room")?;
        let (upper, work) = (dir.path().join("upper"), dir.path().join("work"));
        let mut layer = Layer {
            dir: Some(dir),
            cwd: self.root.clone(),
            overlay: None,
        };
        match self.kind {
            RoomKind::Overlay => {
                fs::create_dir(&upper)?;
                fs::create_dir(&work)?;
                for (path, content) in files {
                    put_over(&upper, path, content)?;
                }
                layer.overlay = Some(Overlay {
                    lower: self.root.clone(),
                    upper,
                    work,
                });
            }
            RoomKind::Copy => {
                copy_all(&self.root, &upper)?;
                for (path, content) in files {
                    put_in(&upper, path, content)?;
                }
                layer.cwd = upper;
            }
        }
        Ok(layer)
    }
}

impl Layer {
    pub fn cwd(&self) -> &Path {
        &self.cwd
    }

    pub fn overlay(&self) -> Option<Overlay> {
        self.overlay.clone()
    }

    /// Whether a file is another one in here than it is outside.
    pub fn differs(&self, root: &Path, path: &Path) -> bool {
        let here = match &self.overlay {
            None => self.cwd.join(path),
            Some(overlay) => {
                let folders = path.ancestors().skip(1);
                let mut above = folders.map(|folder| overlay.upper.join(folder));
                // A folder that was taken away hides what was in it.
                let is_gone =
                    |at: PathBuf| fs::symlink_metadata(at).is_ok_and(|found| !found.is_dir());
                if above.any(is_gone) {
                    return true;
                }
                overlay.upper.join(path)
            }
        };
        match fs::symlink_metadata(&here) {
            Err(_) => self.overlay.is_none(),
            Ok(found) if found.is_symlink() => {
                fs::read_link(&here).ok() != fs::read_link(root.join(path)).ok()
            }
            Ok(found) if found.is_file() => {
                let bytes = |path: &Path| ralph_store::regular::read(path).ok();
                bytes(&here) != bytes(&root.join(path))
            }
            Ok(_) => true,
        }
    }
}

impl Drop for Layer {
    fn drop(&mut self) {
        if let Some(dir) = self.dir.take() {
            remove(&dir.keep());
        }
    }
}

/// Removes what dead processes left of their rooms.
pub fn clear(state: &Path) {
    let rooms = fs::read_dir(state.join("rooms"));
    for entry in rooms.into_iter().flatten().flatten() {
        remove(&entry.path());
    }
}

/// The kernel's own folder of an overlay is closed even to its owner.
fn remove(dir: &Path) {
    open_for_owner(&dir.join("work").join("work"));
    if fs::remove_dir_all(dir).is_err() {
        for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
            open_all(&entry.path());
        }
        let _ = fs::remove_dir_all(dir);
    }
}

/// A check may have closed folders that it made.
fn open_all(dir: &Path) {
    if !fs::symlink_metadata(dir).is_ok_and(|found| found.is_dir()) {
        return;
    }
    open_for_owner(dir);
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        open_all(&entry.path());
    }
}

#[cfg(unix)]
fn open_for_owner(dir: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let _ = fs::set_permissions(dir, fs::Permissions::from_mode(0o700));
}

#[cfg(not(unix))]
fn open_for_owner(_dir: &Path) {}

/// Beyond this, a copy for each experiment costs more than it shows.
const MOST_COPIED: u64 = 2 << 30;

/// `None` where it is more than `most`.
fn size_of(dir: &Path, most: u64) -> Option<u64> {
    let mut sum: u64 = 0;
    let mut dirs = vec![dir.to_owned()];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => dirs.push(entry.path()),
                Ok(kind) if kind.is_file() => {
                    sum += entry.metadata().map_or(0, |found| found.len())
                }
                _ => {}
            }
        }
        if sum > most {
            return None;
        }
    }
    Some(sum)
}

fn copy_all(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (there, kind) = (to.join(entry.file_name()), entry.file_type()?);
        if kind.is_dir() {
            copy_all(&entry.path(), &there)?;
        } else if kind.is_symlink() {
            link(&fs::read_link(entry.path())?, &there)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), &there)?;
        }
    }
    Ok(())
}

#[cfg(unix)]
fn link(to: &Path, at: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(to, at)
}

#[cfg(not(unix))]
fn link(_to: &Path, _at: &Path) -> io::Result<()> {
    Ok(())
}

/// A path that leads out of the tree is nobody's.
fn is_within(path: &Path) -> bool {
    path.components()
        .all(|part| matches!(part, Component::Normal(_)))
}

/// Into an upper layer, which holds nothing but what we put there.
fn put_over(upper: &Path, path: &Path, content: &Content) -> io::Result<()> {
    if !is_within(path) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let at = upper.join(path);
    if let Some(dir) = at.parent() {
        fs::create_dir_all(dir)?;
    }
    match content {
        Content::Gone => whiteout(&at),
        other => write(&at, other),
    }
}

/// Into a copy, whose links lead anywhere.
fn put_in(root: &Path, path: &Path, content: &Content) -> io::Result<()> {
    if !is_within(path) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut at = root.to_owned();
    let parents = path.parent().into_iter().flat_map(Path::components);
    for part in parents {
        at.push(part);
        if fs::symlink_metadata(&at).is_ok_and(|found| !found.is_dir()) {
            fs::remove_file(&at)?;
        }
        if !at.is_dir() {
            fs::create_dir(&at)?;
        }
    }
    let at = root.join(path);
    match fs::symlink_metadata(&at) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(&at)?,
        Ok(_) => fs::remove_file(&at)?,
        Err(_) => {}
    }
    match content {
        Content::Gone => Ok(()),
        other => write(&at, other),
    }
}

fn write(at: &Path, content: &Content) -> io::Result<()> {
    match content {
        Content::Gone => Ok(()),
        Content::Link(to) => link(to, at),
        Content::File { bytes, executable } => {
            fs::write(at, bytes)?;
            #[cfg(unix)]
            if *executable {
                use std::os::unix::fs::PermissionsExt;
                fs::set_permissions(at, fs::Permissions::from_mode(0o755))?;
            }
            #[cfg(not(unix))]
            let _ = executable;
            // Build tools go by whole seconds, and what they built of the file
            // that stands here otherwise must not be taken for this one's.
            let later = SystemTime::now() + Duration::from_secs(2);
            fs::File::options()
                .write(true)
                .open(at)?
                .set_modified(later)
        }
    }
}

/// What an overlay takes for "not there".
#[cfg(target_os = "linux")]
fn whiteout(at: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    mknodat(CWD, at, FileType::CharacterDevice, Mode::empty(), 0)?;
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn whiteout(_at: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

struct Nobody;

impl Sink for Nobody {
    fn stdout(&mut self, _chunk: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn stderr(&mut self, _chunk: &[u8]) -> io::Result<()> {
        Ok(())
    }
}

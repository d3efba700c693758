//! The clean room: where checks run on a tree that nobody else can change, and
//! where nothing that they do reaches the work tree.
//!
//! On Linux it is an overlay at the same path, so that absolute paths, build
//! products and virtual environments stay true and nothing is copied. Where
//! that is refused it is a copy, and says so.

mod put;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ralph_store::private::{self, PrivateDir};

use crate::supervise::{self, Ending, Nobody, Overlay, Spec, Stop};

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

impl Content {
    pub fn is_binary(&self) -> bool {
        matches!(self, Content::File { bytes, .. } if is_binary(bytes))
    }
}

/// As far as Git looks to say so.
pub(crate) const LOOKED_AT: usize = 8000;

pub(crate) fn is_binary(bytes: &[u8]) -> bool {
    bytes.iter().take(LOOKED_AT).any(|byte| *byte == 0)
}

/// A room that works here.
#[derive(Clone, Debug)]
pub struct Room {
    root: PathBuf,
    /// Where its layers lie.
    scratch: PathBuf,
    kind: RoomKind,
    /// A copy of the tree, which stays as it was.
    frozen: Option<Arc<PrivateDir>>,
}

/// A tree in a room, with what differs from the one outside. It goes with the
/// value.
#[derive(Debug)]
pub struct Layer {
    _scratch: PrivateDir,
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
            private::clear(&scratch, NAME);
            let room = Room {
                root: root.to_owned(),
                scratch: scratch.clone(),
                kind: RoomKind::Overlay,
                frozen: None,
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
            frozen: None,
        };
        match put::size_of(root, &copy.scratch, MOST_COPIED) {
            Some(_) => Ok(copy),
            None => Err(format!(
                "no overlay ({refused}), and the project is too large to copy"
            )),
        }
    }

    pub fn kind(&self) -> RoomKind {
        self.kind
    }

    /// Where the files lie that are seen in it.
    pub fn tree(&self) -> &Path {
        self.frozen
            .as_ref()
            .map_or(&self.root, |frozen| frozen.path())
    }

    /// The same with the tree as it is now, whatever becomes of it.
    pub fn freeze(&self) -> Result<Room, String> {
        if put::size_of(&self.root, &self.scratch, MOST_FROZEN).is_none() {
            return Err("the project is too large to copy after each turn".into());
        }
        let copy = || {
            let scratch = folder_in(&self.scratch)?;
            put::copy_all(&self.root, scratch.path(), &self.scratch)?;
            Ok::<_, io::Error>(scratch)
        };
        let copy = copy().map_err(|error| error.to_string())?;
        Ok(Room {
            frozen: Some(Arc::new(copy)),
            ..self.clone()
        })
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
            args: vec!["-f".into(), ".ralph-room".into()],
            overlays: layer.overlay.clone().into_iter().collect(),
            ..Spec::plain("test".into(), &layer.cwd, Duration::from_secs(10))
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
        let scratch = folder_in(&self.scratch)?;
        let (upper, work) = (scratch.path().join("upper"), scratch.path().join("work"));
        let mut layer = Layer {
            _scratch: scratch,
            cwd: self.root.clone(),
            overlay: None,
        };
        match self.kind {
            RoomKind::Overlay => {
                fs::create_dir(&work)?;
                put::over(self.tree(), &upper, files)?;
                layer.overlay = Some(Overlay {
                    at: self.root.clone(),
                    lower: self.tree().to_owned(),
                    upper,
                    work,
                    passing: true,
                });
            }
            RoomKind::Copy => {
                put::copy_all(self.tree(), &upper, &self.scratch)?;
                put::into(&upper, files)?;
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

    /// Whether a file that was put here has become another.
    pub fn holds_other(&self, path: &Path, content: &Content) -> bool {
        let dir = self
            .overlay
            .as_ref()
            .map_or(&self.cwd, |overlay| &overlay.upper);
        let here = dir.join(path);
        match content {
            Content::Gone => false,
            Content::Link(to) => fs::read_link(here).ok().as_ref() != Some(to),
            Content::File { bytes, .. } => {
                ralph_store::regular::read(here).ok().as_ref() != Some(bytes)
            }
        }
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

const NAME: &str = "room";

/// A folder for a moment, with layers in it.
pub fn folder_of(state: &Path) -> io::Result<PrivateDir> {
    folder_in(&state.join("rooms"))
}

fn folder_in(scratch: &Path) -> io::Result<PrivateDir> {
    fs::create_dir_all(scratch)?;
    PrivateDir::below(scratch, NAME)
}

/// Removes what dead processes left of their rooms in a project's state.
pub fn clear(state: &Path) {
    private::clear(&state.join("rooms"), NAME);
}

/// Beyond this, a copy for each experiment costs more than it shows.
const MOST_COPIED: u64 = 2 << 30;
/// A turn waits for this copy: so much takes less than a second.
const MOST_FROZEN: u64 = 256 << 20;

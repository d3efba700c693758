//! Network ports for a lane, which no other lane of this machine gets while it
//! lives.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use ralph_store::home::StateHome;
use ralph_store::regular;

const FIRST: u16 = 20_000;
const LAST: u16 = 32_000;

/// A block of ports; it is free again when this goes.
#[derive(Debug)]
pub struct Ports {
    first: u16,
    count: u16,
    _held: File,
}

impl Ports {
    /// The first block of so many that nobody has, for a tree; `None` where none
    /// is wanted or left.
    pub fn take(home: &StateHome, count: u16, tree: &Path) -> Option<Ports> {
        if count == 0 {
            return None;
        }
        let dir = home.dir().join("run");
        fs::create_dir_all(&dir).ok()?;
        let blocks = (FIRST..LAST).step_by(usize::from(count));
        blocks.into_iter().find_map(|first| {
            let file = File::options()
                .create(true)
                .truncate(false)
                .write(true)
                .open(dir.join(format!("ports-{first}")))
                .ok()?;
            file.try_lock().ok()?;
            file.set_len(0).ok()?;
            write!(&file, "{count} {}", tree.display()).ok()?;
            Some(Ports {
                first,
                count,
                _held: file,
            })
        })
    }

    /// Those that somebody at work in a tree has: the first and the last.
    pub fn of(home: &StateHome, tree: &Path) -> Option<(u16, u16)> {
        let entries = fs::read_dir(home.dir().join("run")).ok()?.flatten();
        let mut blocks = entries.filter_map(|entry| {
            let name = entry.file_name();
            let first: u16 = name.to_str()?.strip_prefix("ports-")?.parse().ok()?;
            let words = regular::read_to_string(entry.path()).ok()?;
            let (count, whose) = words.split_once(' ')?;
            let last = first.checked_add(count.parse::<u16>().ok()?.checked_sub(1)?)?;
            let is_held = || File::open(entry.path()).is_ok_and(|file| file.try_lock().is_err());
            (Path::new(whose) == tree && is_held()).then_some((first, last))
        });
        blocks.next()
    }

    pub fn env(&self) -> [(String, String); 2] {
        let last = self.first + (self.count - 1);
        [
            ("RALPH_PORT".into(), self.first.to_string()),
            ("RALPH_PORTS".into(), format!("{}-{last}", self.first)),
        ]
    }
}

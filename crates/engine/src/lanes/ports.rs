//! Network ports for a lane, which no other lane of this machine gets while it
//! lives.

use std::fs::{self, File};

use ralph_store::home::StateHome;

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
    /// The first block of so many that nobody has; `None` where none is wanted
    /// or left.
    pub fn take(home: &StateHome, count: u16) -> Option<Ports> {
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
            Some(Ports {
                first,
                count,
                _held: file,
            })
        })
    }

    pub fn env(&self) -> [(String, String); 2] {
        let last = self.first + (self.count - 1);
        [
            ("RALPH_PORT".into(), self.first.to_string()),
            ("RALPH_PORTS".into(), format!("{}-{last}", self.first)),
        ]
    }
}

//! What works on which system: the one table that `ralph self-check` and the
//! manual print.
//!
//! A row says what a person can rely on. "Weaker" names what is missing, and
//! the program says the same sentence where it matters.

use crate::lang::{Lang, Say, Text};
use crate::{text, tr};

/// A system that Ralph is built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum System {
    Linux,
    Macos,
    Windows,
}

impl System {
    pub const ALL: [System; 3] = [System::Linux, System::Macos, System::Windows];

    /// The one that this program was built for; other Unixes are like macOS,
    /// which has the least of them.
    pub const HERE: System = if cfg!(target_os = "linux") {
        System::Linux
    } else if cfg!(windows) {
        System::Windows
    } else {
        System::Macos
    };

    /// As its maker writes it.
    pub fn title(self) -> &'static str {
        match self {
            System::Linux => "Linux",
            System::Macos => "macOS",
            System::Windows => "Windows",
        }
    }

    /// How it is known, which is not the same everywhere.
    pub fn known_from(self) -> Text {
        match self {
            System::Linux => text!("every test runs there"),
            System::Macos => {
                text!("compiled and linked; path rules tested on Linux; never run on a Mac")
            }
            System::Windows => text!(
                "compiled and linked; path rules tested on Linux; smoke runs under Wine, none on a real Windows"
            ),
        }
    }
}

/// How much of a capability is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    Works,
    Weaker(Text),
    Missing(Text),
}

impl Standing {
    /// For programs.
    pub fn key(self) -> &'static str {
        match self {
            Standing::Works => "works",
            Standing::Weaker(_) => "weaker",
            Standing::Missing(_) => "not_there",
        }
    }

    /// Why it is not whole, where it is not.
    pub fn note(self) -> Option<Text> {
        match self {
            Standing::Works => None,
            Standing::Weaker(note) | Standing::Missing(note) => Some(note),
        }
    }
}

impl Say for Standing {
    fn say(&self, lang: Lang) -> String {
        match self {
            Standing::Works => tr!(lang, "works"),
            Standing::Weaker(note) => {
                let note = note.say(lang);
                tr!(lang, "weaker: {note}")
            }
            Standing::Missing(note) => {
                let note = note.say(lang);
                tr!(lang, "not there: {note}")
            }
        }
    }
}

/// Something that people rely on.
#[derive(Clone, Copy, Debug)]
pub struct Capability {
    /// For programs.
    pub key: &'static str,
    pub title: Text,
    standing: [Standing; 3],
}

impl Capability {
    pub fn on(&self, system: System) -> Standing {
        self.standing[system as usize]
    }
}

use Standing::{Missing, Weaker, Works};

/// In the order of [`System::ALL`].
pub const CAPABILITIES: [Capability; 11] = [
    Capability {
        key: "loop",
        title: text!("the loop, its journal and `resume`"),
        standing: [
            Works,
            Works,
            Weaker(text!(
                "a folder can't be synced, so that a file made just before a power cut may be gone"
            )),
        ],
    },
    Capability {
        key: "state",
        title: text!("the state folder, closed to others"),
        standing: [
            Works,
            Works,
            Weaker(text!(
                "it is as closed as the profile that it lies in; Ralph sets no permissions"
            )),
        ],
    },
    Capability {
        key: "trust",
        title: text!("trust in what a project brings along"),
        standing: [Works, Works, Works],
    },
    Capability {
        key: "containment",
        title: text!("nobody outlives a turn"),
        standing: [
            Works,
            Weaker(text!(
                "the process group is ended; a daemon in a session of its own can outlive its turn"
            )),
            Weaker(text!(
                "a job holds what the agent starts and ends with Ralph; the agent is not asked first"
            )),
        ],
    },
    Capability {
        key: "control",
        title: text!("`pause`, `stop`, `cancel`, `wake` from another terminal"),
        standing: [
            Works,
            Weaker(text!(
                "whether the agent itself asks is not seen, only that it is the same user"
            )),
            Weaker(text!(
                "whether the agent itself asks is not seen, only that it is the same user"
            )),
        ],
    },
    Capability {
        key: "snapshots",
        title: text!("what every turn left, `undo`, `bisect`"),
        standing: [Works, Works, Weaker(text!("modes and links are not kept"))],
    },
    Capability {
        key: "room",
        title: text!("the clean room of experiments"),
        standing: [
            Works,
            Weaker(text!(
                "a copy of the tree in place of a layer over it: slower, and not beyond 2 GB"
            )),
            Weaker(text!(
                "a copy of the tree in place of a layer over it: slower, and not beyond 2 GB"
            )),
        ],
    },
    Capability {
        key: "sandbox",
        title: text!("the sandbox around agent and checks"),
        standing: [
            Works,
            Missing(text!("only the guard watches the agent here")),
            Missing(text!("only the guard watches the agent here")),
        ],
    },
    Capability {
        key: "guard",
        title: text!("the guard before every tool call"),
        standing: [
            Works,
            Works,
            Weaker(text!(
                "of PowerShell and cmd only the commands that matter most are understood"
            )),
        ],
    },
    Capability {
        key: "clock",
        title: text!("limits that count while the machine sleeps"),
        standing: [Works, Works, Works],
    },
    Capability {
        key: "terminal",
        title: text!("Ctrl+Z, `run --monitor` in tmux"),
        standing: [
            Works,
            Works,
            Missing(text!("open a second terminal for `ralph monitor`")),
        ],
    },
];

/// The whole table, for the manual.
pub fn markdown(lang: Lang) -> String {
    let mut page = String::from("|");
    let cells = |page: &mut String, texts: &[String]| {
        for text in texts {
            page.push_str(&format!(" {text} |"));
        }
        page.push('\n');
    };
    let titles = System::ALL.map(|system| system.title().to_owned());
    cells(&mut page, &[&[String::new()][..], &titles].concat());
    page.push_str("|---|---|---|---|\n");
    let known = System::ALL.map(|system| system.known_from().say(lang));
    page.push('|');
    cells(
        &mut page,
        &[&[tr!(lang, "how it is known")][..], &known].concat(),
    );
    for capability in CAPABILITIES {
        let standing = System::ALL.map(|system| capability.on(system).say(lang));
        page.push('|');
        cells(
            &mut page,
            &[&[capability.title.say(lang)][..], &standing].concat(),
        );
    }
    page
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Each capability has its answer on every system, under a name of its own.
    #[test]
    fn the_table_is_whole() {
        let keys: BTreeSet<&str> = CAPABILITIES.iter().map(|c| c.key).collect();
        assert_eq!(keys.len(), CAPABILITIES.len());
        for lang in Lang::ALL {
            let page = markdown(lang);
            let rows: Vec<&str> = page.lines().collect();
            assert_eq!(rows.len(), CAPABILITIES.len() + 3);
            for row in rows {
                assert_eq!(row.matches('|').count(), 5, "{row}");
                assert!(!row.contains("|  |\n"), "{row}");
            }
        }
    }
}

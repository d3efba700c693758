//! What stands around the agent and the checks of its work, and what it held
//! back.

use serde::{Deserialize, Serialize};

use crate::lang::{Lang, Say};
use crate::tr;

/// What holds the children of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WallFacts {
    pub kind: WallKind,
    pub network: Reach,
    /// The hosts of the person, and of the agents' services.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    pub limits: LimitKind,
    /// In bytes; zero is no limit.
    pub memory: u64,
    pub processes: u32,
    /// Why there is no better one; nothing where this is the best.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
}

#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum WallKind {
    /// Nothing was wanted.
    #[default]
    Off,
    /// Nothing works here.
    None,
    Landlock,
    Bubblewrap,
}

/// Where its children can go on the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reach {
    #[default]
    Everywhere,
    /// The hosts that are listed, and the registries of packages.
    Listed,
    Nowhere,
}

/// What keeps the limits of memory and processes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitKind {
    #[default]
    Nothing,
    /// For each process.
    Rlimits,
    /// For all of them together.
    Cgroup,
}

/// Something that a child wanted and did not get.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Denial {
    /// A host with its port, or a path.
    pub target: String,
    /// The setting that would allow it.
    pub setting: String,
}

impl WallFacts {
    pub fn stands(&self) -> bool {
        matches!(self.kind, WallKind::Bubblewrap | WallKind::Landlock)
    }

    /// What holds, without the word for all of it.
    pub fn short(&self, lang: Lang) -> String {
        let why = &self.why;
        let name = match self.kind {
            WallKind::Off => return tr!(lang, "off; the agent can do whatever you can"),
            WallKind::None => return tr!(lang, "none here, because {why}"),
            WallKind::Bubblewrap => "bubblewrap".to_owned(),
            WallKind::Landlock => tr!(
                lang,
                "Landlock, which holds files only: processes can be seen and may outlive the run ({why})"
            ),
        };
        let network = match self.network {
            Reach::Everywhere => tr!(lang, "network: open"),
            Reach::Nowhere => tr!(lang, "network: closed"),
            Reach::Listed => {
                let hosts = self.hosts.join(", ");
                let and = if hosts.is_empty() { "" } else { " + " };
                tr!(lang, "network: {hosts}{and}registries")
            }
        };
        let memory = (self.memory > 0).then(|| {
            let size = gigabytes(self.memory);
            match self.limits {
                LimitKind::Cgroup => tr!(lang, "memory {size}"),
                LimitKind::Rlimits | LimitKind::Nothing => {
                    tr!(lang, "memory {size} for each process")
                }
            }
        });
        let parts = [Some(name), Some(network), memory];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

impl Say for WallFacts {
    fn say(&self, lang: Lang) -> String {
        let what = self.short(lang);
        tr!(lang, "sandbox: {what}")
    }
}

fn gigabytes(bytes: u64) -> String {
    const GIGA: u64 = 1_000_000_000;
    match bytes {
        whole if whole % GIGA == 0 => format!("{} GB", whole / GIGA),
        bytes => format!("{} MB", bytes / 1_000_000),
    }
}

//! The hooks of the clients in whose sessions Ralph sits, and what they ask a
//! hook about.

/// What is known of the hooks of a client, recorded from it: see
/// `docs/hooks.md`.
#[derive(Clone, Copy, Debug)]
pub struct Hooks {
    /// The variable in which it names its session.
    pub session: Option<&'static str>,
    /// The variable in which it names its project. Several set Claude's too,
    /// and an agent inherits those of the agent that started it.
    pub project: Option<&'static str>,
    /// Where it reads the hooks of a project.
    pub place: Place,
    /// Where it reads those of a person in this project, which nobody
    /// commits. Others have one file only, which a team shares.
    pub local: Option<&'static str>,
    /// Those of a person: the variable that names the directory, the one below
    /// the home directory without it, and the file.
    pub personal: Option<(Option<&'static str>, &'static str, &'static str)>,
    /// A file of its hooks has to say which version it is.
    pub needs_version: bool,
    /// Its file may hold comments and trailing commas; others pass over a file
    /// that does, in silence.
    pub reads_comments: bool,
    /// It passes over an element without a list of hooks inside: the older
    /// shape.
    pub nests_hooks: bool,
    /// What it calls its shell.
    pub shell: &'static str,
    /// Ours.
    pub entries: &'static [Entry],
    /// Every event that it has; it passes over others in silence, which is how
    /// hooks stay dead for months. Nothing where they are not known.
    pub events: &'static str,
    /// What an entry of a hook may say, where that is known.
    pub fields: &'static str,
}

/// Where an agent reads its hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// JSON, in which entries are merged.
    Settings(&'static str),
    /// A program of the agent's own language, which is ours alone.
    Plugin(&'static str),
    /// It has none that we know of.
    Nowhere,
}

/// One hook of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// As the agent calls it.
    pub event: &'static str,
    pub matcher: Option<&'static str>,
    pub verb: Event,
}

pub(super) const fn entry(event: &'static str, matcher: &'static str, verb: Event) -> Entry {
    let matcher = Some(matcher);
    Entry {
        event,
        matcher,
        verb,
    }
}

pub(super) const fn plain(event: &'static str, verb: Event) -> Entry {
    Entry {
        event,
        matcher: None,
        verb,
    }
}

pub(super) const NONE: Hooks = Hooks {
    session: None,
    project: None,
    place: Place::Nowhere,
    local: None,
    personal: None,
    needs_version: false,
    reads_comments: false,
    nests_hooks: false,
    shell: "Bash",
    entries: &[],
    events: "",
    fields: "",
};

impl Hooks {
    /// Every file of a project in which entries are merged.
    pub fn settings(&self) -> impl Iterator<Item = &'static str> {
        let shared = match self.place {
            Place::Settings(path) => Some(path),
            Place::Plugin(_) | Place::Nowhere => None,
        };
        shared.into_iter().chain(self.local)
    }

    /// Our first entry for an event, as the client calls it.
    pub fn event_name(&self, verb: Event) -> &'static str {
        let entry = self.entries.iter().find(|entry| entry.verb == verb);
        entry.map_or("", |entry| entry.event)
    }
}

/// What the host asks about.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    strum::IntoStaticStr,
    strum::EnumString,
    strum::VariantArray,
)]
#[strum(serialize_all = "kebab-case", const_into_str)]
pub enum Event {
    #[default]
    PreToolUse,
    PostToolUse,
    UserPromptSubmit,
    Stop,
    SubagentStop,
    SessionStart,
    SessionEnd,
}

impl Event {
    pub const ALL: &[Event] = <Event as strum::VariantArray>::VARIANTS;
}

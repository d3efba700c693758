//! Where a value comes from.

use std::fmt;

/// The place that set a value. [`Origin::rank`] is the order of precedence.
#[derive(Debug, Clone, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase", const_into_str)]
pub enum Origin {
    Default,
    /// The preset's name.
    Preset(String),
    /// The file of another tool.
    Foreign(String),
    /// The own configuration file.
    File(String),
    /// The environment variable.
    Env(String),
    /// The flag, with its dashes.
    Flag(String),
}

impl Origin {
    /// Of two origins the one with the higher rank decides.
    pub fn rank(&self) -> u8 {
        match self {
            Origin::Default => 0,
            Origin::Preset(_) => 1,
            Origin::Foreign(_) => 2,
            Origin::File(_) => 3,
            Origin::Env(_) => 4,
            Origin::Flag(_) => 5,
        }
    }

    /// The preset, file, variable or flag.
    pub fn name(&self) -> Option<&str> {
        match self {
            Origin::Default => None,
            Origin::Preset(name)
            | Origin::Foreign(name)
            | Origin::File(name)
            | Origin::Env(name)
            | Origin::Flag(name) => Some(name),
        }
    }
}

/// An origin and, in a file, the line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub origin: Origin,
    pub line: Option<usize>,
}

impl Place {
    pub(super) fn new(origin: Origin, line: impl Into<Option<usize>>) -> Place {
        Place {
            origin,
            line: line.into(),
        }
    }
}

/// The short form in `ralph config show --origin`, the same in every language.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.origin {
            Origin::Default => f.write_str("default"),
            Origin::Preset(name) => write!(f, "preset {name}"),
            Origin::Env(name) => write!(f, "environment {name}"),
            Origin::Flag(name) => write!(f, "flag {name}"),
            Origin::Foreign(name) | Origin::File(name) => {
                f.write_str(name)?;
                self.line.map_or(Ok(()), |line| write!(f, ":{line}"))
            }
        }
    }
}

//! JSON with comments, edited in place.
//!
//! Settings of agents belong to people: they hold comments, odd indentation
//! and trailing commas. An edit adds or takes away exactly what was asked for
//! and changes no other byte, and taking away what was added gives the text
//! back as it was.

mod edit;
mod scan;
#[cfg(test)]
mod tests;

pub use edit::{Added, insert_member, push_element, remove, remove_added, replace};
pub use scan::{Items, Kind, Node, Problem, SyntaxError, parse};

/// One step from a container to what is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    Key(String),
    Index(usize),
}

impl From<&str> for Step {
    fn from(key: &str) -> Step {
        Step::Key(key.to_owned())
    }
}

impl From<usize> for Step {
    fn from(index: usize) -> Step {
        Step::Index(index)
    }
}

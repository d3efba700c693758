//! Lines that were judged already, so that a long text that repeats itself is
//! not judged again and again.

use super::env::Flow;

/// How many different lines are remembered.
const MAX_KNOWN: usize = 32;

/// Lines that changed nothing when they were walked: the same line does the
/// same again for as long as nothing else changed.
#[derive(Default)]
pub struct Walked<'t> {
    known: Vec<(&'t str, Flow)>,
    version: u64,
}

impl<'t> Walked<'t> {
    pub fn find(&self, line: &str, version: u64) -> Option<Flow> {
        if self.version != version {
            return None;
        }
        let known = self.known.iter().find(|(known, _)| *known == line)?;
        Some(known.1.clone())
    }

    pub fn keep(&mut self, line: &'t str, version: u64, flow: &Flow) {
        if self.version != version {
            self.known.clear();
            self.version = version;
        }
        if self.known.len() < MAX_KNOWN {
            self.known.push((line, flow.clone()));
        }
    }
}

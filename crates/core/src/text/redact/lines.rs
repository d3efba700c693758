//! Texts of which the lines come one by one: a private key has many of them.

use std::borrow::Cow;

use super::{REDACTED, keys, redact};

/// The longest key that anybody prints; what comes behind is no key, whatever
/// it looks like.
const LONGEST_KEY: usize = 200;

/// [`redact`] for one line after the other.
#[derive(Debug, Default)]
pub struct LineRedactor {
    /// How many more lines may belong to a key that has no end yet.
    of_key: usize,
}

impl LineRedactor {
    pub fn redact<'a>(&mut self, line: &'a str) -> Cow<'a, str> {
        if self.of_key > 0 && keys::may_be_line(line) {
            self.of_key -= 1;
            return match line.trim().is_empty() {
                true => Cow::Borrowed(line),
                false => Cow::Borrowed(REDACTED),
            };
        }
        self.of_key = match keys::opens(line) {
            true => LONGEST_KEY,
            false => 0,
        };
        redact(line)
    }
}

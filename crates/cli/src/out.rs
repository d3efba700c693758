//! Where this program writes for people and programs. What came from outside
//! passes here on its way to a terminal, and is made visible (S-11).

use std::io::{IsTerminal, Write};

use ralph_core::text::visible;
use serde_json::Value;

/// For a person: nothing in it is obeyed but Ralph's own colours.
pub fn people(text: &str, colors: bool) {
    bytes(visible(text, colors).as_bytes());
}

/// A text whose bytes matter to a program; a terminal gets it made visible.
pub fn data(text: &str) {
    if std::io::stdout().is_terminal() {
        people(text, false);
    } else {
        bytes(text.as_bytes());
    }
}

/// One line of JSON, as it is.
pub fn json(value: &Value) {
    bytes(format!("{value}\n").as_bytes());
}

/// As it is: for what this program made itself. A closed pipe is nobody's
/// problem.
pub fn bytes(bytes: &[u8]) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(bytes);
    let _ = out.flush();
}

/// One line of complaint.
pub fn error(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{}", visible(text, false));
}

//! Plain operations on text: how wide it is on a terminal, what must not be
//! shown or stored, what is cut when it is too long, and how numbers are said.

pub mod controls;
pub mod digest;
pub mod duration;
pub mod excerpt;
mod markup;
pub mod redact;
pub mod sanitize;
pub mod visible;
pub mod width;

pub use controls::without_controls;
pub use excerpt::excerpt;
pub(crate) use markup::escape;
pub use redact::{LineRedactor, redact, redact_values};
pub use sanitize::{one_line, sanitize};
pub use visible::visible;

/// A command of nothing but room and remarks: it passes, whatever is there.
pub fn runs_nothing(command: &str) -> bool {
    let mut lines = command.lines().map(str::trim_start);
    lines.all(|line| line.is_empty() || line.starts_with('#'))
}

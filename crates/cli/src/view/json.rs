//! One JSON event per line, for programs (EVNT-01).

use ralph_core::machine::{Notice, Now, State};
use ralph_engine::driver::Observer;

use crate::out;

#[derive(Debug)]
pub struct JsonLines;

impl Observer for JsonLines {
    fn notice(&mut self, notice: &Notice, _state: &State, at: Now) {
        // A reader that went away does not stop the run.
        out::bytes(format!("{}\n", notice.line(at)).as_bytes());
    }
}

//! One JSON event per line, for programs (EVNT-01).

use std::time::Duration;

use ralph_core::machine::{Limit, Notice, Now, State, TaskRef};
use ralph_core::promise::PromiseWarning;
use ralph_engine::announcement::Announcement;
use ralph_engine::driver::{Beginning, Choice, Observer};
use ralph_engine::turn::Echo;
use tokio::sync::oneshot;

use crate::out;

#[derive(Debug)]
pub struct JsonLines;

impl Observer for JsonLines {
    fn begin(&mut self, _run: &Beginning<'_>) {}

    fn notice(&mut self, notice: &Notice, _state: &State, at: Now) {
        // A reader that went away does not stop the run.
        out::bytes(format!("{}\n", notice.line(at)).as_bytes());
    }

    fn doubt(&mut self, _doubt: &PromiseWarning) {}

    fn announce(&mut self, _announcement: &Announcement) {}

    fn echo(&self) -> Option<Echo> {
        None
    }

    fn menu(
        &mut self,
        _: Limit,
        _: &State,
        _: Vec<TaskRef>,
        _: Option<Duration>,
    ) -> Option<oneshot::Receiver<Choice>> {
        None
    }
}

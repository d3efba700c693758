//! What the agent says, in the log for people while it is said (LOOP-13). The
//! whole stands in the output file of the turn.

use std::sync::{Arc, Mutex, PoisonError};

use ralph_core::text;
use ralph_store::log::LogLevel;

use crate::clock;
use crate::record::Log;
use crate::turn::{Echo, Echoed};
use crate::watch::Spoken;

/// More than anybody reads of one turn in a log.
const MOST_LINES: usize = 200;
const SHOWN_OF_A_LINE: usize = 400;

struct Writer {
    log: Log,
    /// Of an agent whose output is not understood.
    spoken: Spoken,
    written: usize,
    /// The name of the file that has the rest.
    output: String,
}

/// An echo that writes to the log, and hands on to whoever listens too.
pub fn echo(log: Log, output: String, other: Option<Echo>) -> Echo {
    let writer = Mutex::new(Writer {
        log,
        spoken: Spoken::by(""),
        written: 0,
        output,
    });
    Arc::new(move |echoed: Echoed<'_>| {
        let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
        writer.take(&echoed);
        if let Some(other) = &other {
            other(echoed);
        }
    })
}

impl Writer {
    fn take(&mut self, echoed: &Echoed<'_>) {
        if self.written > MOST_LINES {
            return;
        }
        let mut said = Vec::new();
        self.spoken.take(echoed, &mut |line| said.push(line));
        for line in said.iter().filter(|line| line.said.is_words()) {
            self.write(&line.text);
        }
    }

    /// A log that can't be written is told by whoever writes the notices.
    fn write(&mut self, words: &str) {
        self.written += 1;
        let words = match self.written {
            ..=MOST_LINES => text::excerpt(words, SHOWN_OF_A_LINE),
            over if over == MOST_LINES + 1 => format!("… {}", self.output).into(),
            _ => return,
        };
        let now = clock::local_time(clock::now().wall_ms);
        let line = format!("│ {words}");
        let _ = self.log.append(&now, LogLevel::Debug, &line);
    }
}

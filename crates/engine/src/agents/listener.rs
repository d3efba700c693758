//! Hears an agent's standard output: bytes in, events and the whole out.

use super::custom::PlainText;
use super::event::{AgentEvent, Heard, Tell};
use super::lines::{Lines, Take, mended};

/// What reading a line came to.
pub(super) type Parsed = Result<(), serde_json::Error>;

/// Understands the lines of one client.
pub(super) trait Reader: Send {
    /// Changes nothing where the line can't be read.
    fn line(&mut self, line: &[u8], tell: Tell<'_>) -> Parsed;
    /// A line that is too long to be kept, by its beginning.
    fn overlong(&mut self, head: &[u8]);
    /// The client said how the turn went, and nothing is under way.
    fn at_rest(&self) -> bool;
    fn finish(&mut self) -> Heard;
}

/// Hears a turn, in constant memory.
pub struct Listener {
    source: Source,
}

enum Source {
    Plain(PlainText),
    Stream {
        lines: Lines,
        reader: Box<dyn Reader>,
        /// All that was said while there was no object: a client that knows
        /// of no stream answers in plain text (LOOP-14).
        prose: Option<PlainText>,
    },
}

impl std::fmt::Debug for Listener {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Listener").finish_non_exhaustive()
    }
}

impl Listener {
    pub(super) fn plain() -> Listener {
        Listener {
            source: Source::Plain(PlainText::default()),
        }
    }

    pub(super) fn stream(reader: impl Reader + 'static) -> Listener {
        Listener {
            source: Source::Stream {
                lines: Lines::default(),
                reader: Box::new(reader),
                prose: Some(PlainText::default()),
            },
        }
    }

    pub fn hear(&mut self, chunk: &[u8], tell: Tell<'_>) {
        match &mut self.source {
            Source::Plain(text) => text.hear(chunk),
            Source::Stream {
                lines,
                reader,
                prose,
            } => {
                if let Some(prose) = prose {
                    prose.hear(chunk);
                }
                let mut reading = Reading {
                    reader: reader.as_mut(),
                    tell,
                    prose,
                };
                lines.push(chunk, &mut reading);
            }
        }
    }

    /// What it hears is not understood.
    pub fn is_plain(&self) -> bool {
        matches!(self.source, Source::Plain(_))
    }

    /// The client said how the turn went, and nothing is under way: it has no
    /// reason left to go on.
    pub fn at_rest(&self) -> bool {
        match &self.source {
            Source::Plain(_) => false,
            Source::Stream { reader, .. } => reader.at_rest(),
        }
    }

    pub fn heard(&mut self) -> Heard {
        match &mut self.source {
            Source::Plain(text) => text.heard(),
            Source::Stream {
                lines,
                reader,
                prose,
            } => {
                let mut reading = Reading {
                    reader: reader.as_mut(),
                    tell: &mut |_| {},
                    prose,
                };
                lines.finish(&mut reading);
                let heard = reader.finish();
                let plain = prose.as_mut().map(PlainText::heard);
                let plain = plain.filter(|plain| !plain.text.trim().is_empty());
                plain.unwrap_or(heard)
            }
        }
    }
}

struct Reading<'a> {
    reader: &'a mut dyn Reader,
    tell: Tell<'a>,
    prose: &'a mut Option<PlainText>,
}

impl Take for Reading<'_> {
    fn line(&mut self, line: &[u8]) {
        // Warnings and other prose stand between the objects (LOOP-13).
        if line.first() != Some(&b'{') {
            let prose = String::from_utf8_lossy(line);
            if !prose.trim().is_empty() {
                (self.tell)(AgentEvent::Prose(prose.trim_end().to_owned()));
            }
            return;
        }
        *self.prose = None;
        if self.reader.line(line, self.tell).is_err()
            && let Some(mended) = mended(line)
        {
            let _ = self.reader.line(mended.as_bytes(), self.tell);
        }
    }

    fn overlong(&mut self, head: &[u8]) {
        if head.first() == Some(&b'{') {
            *self.prose = None;
        }
        self.reader.overlong(head);
    }
}

//! What a command said, in a form in which two runs of it can be compared:
//! the tests that failed, and everything without numbers.

use std::collections::BTreeSet;

use ralph_core::proof::{Failure, failing_test, normal_line, tally};
use sha2::{Digest as _, Sha256};

/// More failing tests than this are not told apart.
const MOST_TESTS: usize = 2000;
/// A line that is longer is cut.
const LONGEST_LINE: usize = 4096;

/// Where a command says something.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stream {
    Out,
    Err,
}

/// The lines of one stream: pieces of two of them make no line.
#[derive(Clone, Debug, Default)]
struct Lines {
    /// One that has not ended yet.
    open: Vec<u8>,
    normal: Sha256,
}

#[derive(Debug, Default)]
pub(super) struct Said {
    whole: Sha256,
    streams: [Lines; 2],
    tests: BTreeSet<String>,
    ran: Option<i64>,
    /// A word that is looked for, and whether it was said.
    word: Option<String>,
    said_word: bool,
}

impl Said {
    pub fn looking_for(word: Option<&str>) -> Said {
        Said {
            word: word.map(str::to_owned),
            ..Said::default()
        }
    }

    pub fn has_said_it(&self) -> bool {
        self.said_word
    }

    pub fn push(&mut self, stream: Stream, chunk: &[u8]) {
        self.whole.update(chunk);
        for piece in chunk.split_inclusive(|byte| *byte == b'\n') {
            let open = &mut self.lines(stream).open;
            let room = LONGEST_LINE.saturating_sub(open.len());
            let taken = piece.get(..room.min(piece.len())).unwrap_or_default();
            open.extend_from_slice(taken);
            if piece.ends_with(b"\n") {
                self.end_line(stream);
            }
        }
    }

    fn lines(&mut self, stream: Stream) -> &mut Lines {
        let [out, err] = &mut self.streams;
        match stream {
            Stream::Out => out,
            Stream::Err => err,
        }
    }

    fn end_line(&mut self, stream: Stream) {
        let line = std::mem::take(&mut self.lines(stream).open);
        let line = String::from_utf8_lossy(&line);
        let plain = ralph_core::text::sanitize(&line);
        self.said_word |= self
            .word
            .as_ref()
            .is_some_and(|word| plain.contains(word.as_str()));
        if self.tests.len() < MOST_TESTS {
            self.tests.extend(failing_test(&plain));
        }
        if let Some(more) = tally::ran_by(&plain) {
            self.ran = Some(self.ran.unwrap_or(0).saturating_add(more));
        }
        let normal = &mut self.lines(stream).normal;
        normal.update(normal_line(&plain).as_bytes());
        normal.update(b"\n");
    }

    /// How many tests ran, where it was said.
    pub fn ran(&self) -> Option<u32> {
        self.ran.map(|ran| u32::try_from(ran).unwrap_or(0))
    }

    /// Digest of everything, as it came.
    pub fn digest(&self) -> String {
        hex(self.whole.clone())
    }

    pub fn failure(&mut self, exit: Option<i32>) -> Failure {
        let mut both = Sha256::new();
        for stream in [Stream::Out, Stream::Err] {
            if !self.lines(stream).open.is_empty() {
                self.end_line(stream);
            }
            both.update(self.lines(stream).normal.clone().finalize());
        }
        Failure {
            exit,
            tests: self.tests.clone(),
            output: hex(both),
        }
    }
}

fn hex(hasher: Sha256) -> String {
    let digest = hasher.finalize();
    digest.iter().take(16).map(|b| format!("{b:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_do_not_matter_and_numbers_neither() {
        let failure = |chunks: &[&str]| {
            let mut said = Said::default();
            for chunk in chunks {
                said.push(Stream::Out, chunk.as_bytes());
            }
            said.failure(Some(1))
        };
        let whole = failure(&["test a ... FAILED\nin 12 ms"]);
        assert_eq!(whole, failure(&["test a ... FAI", "LED\nin 7", "0 ms"]));
        assert_eq!(whole.tests, BTreeSet::from(["a".to_owned()]));
        assert_ne!(whole, failure(&["test b ... FAILED\nin 12 ms"]));
    }

    /// A shell writes its complaints in pieces, and a slow machine puts other
    /// words between them: a lie was believed for that.
    #[test]
    fn two_streams_that_meet_hide_no_failure() {
        use Stream::{Err, Out};
        let failure = |chunks: &[(Stream, &str)]| {
            let mut said = Said::default();
            for (stream, chunk) in chunks {
                said.push(*stream, chunk.as_bytes());
            }
            said.failure(Some(1))
        };
        let apart = failure(&[(Err, "a.sh: 2: sub: not found\n"), (Out, "FAIL: sub\n")]);
        let mixed = failure(&[
            (Err, "a.sh: 2: "),
            (Out, "FAIL: s"),
            (Err, "sub: not found\n"),
            (Out, "ub\n"),
        ]);
        assert_eq!(mixed.tests, BTreeSet::from(["sub".to_owned()]));
        assert_eq!(apart, mixed);
    }
}

//! Both pipes of a child, handed on to a sink as they fill.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, ChildStderr, ChildStdout};

use super::{Sink, platform};

/// What a pipe is read with at first, and at most. Most turns say little, and
/// clearing large buffers for each of them was 8 % of the gap between turns.
const FIRST_CHUNK: usize = 8 * 1024;
const CHUNK: usize = 256 * 1024;

pub struct Output<'a> {
    stdout: Pipe<ChildStdout>,
    stderr: Pipe<ChildStderr>,
    sink: &'a mut (dyn Sink + Send),
    sink_error: Option<io::ErrorKind>,
}

impl<'a> Output<'a> {
    pub fn of(child: &mut Child, sink: &'a mut (dyn Sink + Send)) -> Output<'a> {
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        if let Some(stdout) = &stdout {
            platform::widen(stdout);
        }
        Output {
            stdout: Pipe::new(stdout),
            stderr: Pipe::new(stderr),
            sink,
            sink_error: None,
        }
    }

    pub fn is_open(&self) -> bool {
        self.stdout.is_open() || self.stderr.is_open()
    }

    /// The first error of the sink. A sink that fails is still offered all
    /// that follows, since the child must not block on a full pipe.
    pub fn sink_error(&self) -> Option<io::ErrorKind> {
        self.sink_error
    }

    pub fn sink_shows_work(&mut self) -> bool {
        self.sink.shows_work()
    }

    /// Hands on one chunk, or notices the end of one pipe; never returns once both are
    /// closed. Dropping the future loses nothing.
    pub async fn hand_on(&mut self) {
        // Not `biased`: a flood on one pipe must not silence the other.
        let kept = tokio::select! {
            chunk = self.stdout.read() => chunk.map_or(Ok(()), |chunk| self.sink.stdout(chunk)),
            chunk = self.stderr.read() => chunk.map_or(Ok(()), |chunk| self.sink.stderr(chunk)),
        };
        if let Err(error) = kept {
            self.sink_error.get_or_insert(error.kind());
        }
    }
}

/// One end of a pipe and the buffer that it is read into.
struct Pipe<R> {
    reader: Option<R>,
    buffer: Vec<u8>,
}

impl<R: AsyncRead + Unpin> Pipe<R> {
    fn new(reader: Option<R>) -> Pipe<R> {
        Pipe {
            reader,
            buffer: vec![0; FIRST_CHUNK],
        }
    }

    fn is_open(&self) -> bool {
        self.reader.is_some()
    }

    /// What came; `None` at its end or at an error, which closes it. A closed
    /// pipe never returns anything.
    async fn read(&mut self) -> Option<&[u8]> {
        let Some(reader) = &mut self.reader else {
            return std::future::pending().await;
        };
        let read = reader.read(&mut self.buffer).await.unwrap_or(0);
        if read == 0 {
            self.reader = None;
            return None;
        }
        if read == self.buffer.len() && read < CHUNK {
            // A flood: the next read takes all that is there.
            self.buffer.resize(CHUNK, 0);
        }
        self.buffer.get(..read)
    }
}

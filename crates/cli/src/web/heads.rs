//! Connections whose request is not there yet. Anybody on this machine can open
//! them and say nothing: when there are many, the one that has been silent for
//! the longest goes, so that a browser, which speaks at once, is always heard
//! (S-15).

use std::collections::VecDeque;
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// From here on whoever is silent for longer than a moment goes.
const MANY: usize = 64;
const MOMENT: Duration = Duration::from_millis(300);
/// From here on the oldest goes at once.
const TOO_MANY: usize = 256;

#[derive(Debug, Default)]
pub struct Heads {
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    next: u64,
    silent: VecDeque<Silent>,
}

#[derive(Debug)]
struct Silent {
    number: u64,
    since: Instant,
    stream: Arc<TcpStream>,
}

impl Heads {
    /// Notes a connection; the number is for [`Heads::end`].
    pub fn begin(&self, stream: &Arc<TcpStream>) -> u64 {
        let mut waiting = self.lock();
        waiting.next += 1;
        let (number, since) = (waiting.next, Instant::now());
        let count = waiting.silent.len();
        let is_old = |oldest: &Silent| count >= TOO_MANY || oldest.since + MOMENT < since;
        if count >= MANY && waiting.silent.front().is_some_and(is_old) {
            let oldest = waiting.silent.pop_front();
            // Its thread reads an end.
            let _ = oldest.map(|oldest| oldest.stream.shutdown(Shutdown::Both));
        }
        waiting.silent.push_back(Silent {
            number,
            since,
            stream: Arc::clone(stream),
        });
        number
    }

    /// It has spoken, or is gone.
    pub fn end(&self, number: u64) {
        self.lock().silent.retain(|silent| silent.number != number);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

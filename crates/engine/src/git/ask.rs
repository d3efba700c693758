//! Starts `git` and takes its answer, within bounds.

use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use ralph_store::fault::{self, Deed, point};

use super::apart::{Apart, command_for_refs};

/// A process that has to answer one short question has hung after this.
const LONGEST_PROCESS: Duration = Duration::from_secs(10);
/// More than one short line.
const LONGEST_LINE: usize = 4096;

/// The one line that `git` answers, if it does so in time.
pub(super) fn ask_git(root: &Path, arguments: &[&str]) -> Option<String> {
    first_line(&ask_git_for_text(root, arguments)?)
}

/// The same, of the refs that only the repository itself holds.
pub(super) fn ask_real(root: &Path, arguments: &[&str]) -> Option<String> {
    let (_home, command) = command_for_refs(root, arguments)?;
    first_line(std::str::from_utf8(&bytes(command, LONGEST_LINE)?).ok()?)
}

pub(super) fn ask_git_for_text(root: &Path, arguments: &[&str]) -> Option<String> {
    String::from_utf8(ask_git_for_bytes(root, arguments, LONGEST_LINE)?).ok()
}

/// The beginning of an answer.
pub(super) fn ask_git_for_bytes(root: &Path, arguments: &[&str], most: usize) -> Option<Vec<u8>> {
    let apart = Apart::of(root)?;
    bytes(apart.command(root, arguments), most)
}

fn first_line(answer: &str) -> Option<String> {
    answer.lines().next().map(str::to_owned)
}

/// It is read while git writes it, or git would wait for ever.
pub(super) fn bytes(mut command: Command, most: usize) -> Option<Vec<u8>> {
    let spawn = || command.spawn();
    answer(|| fault::at(point::ENGINE_GIT, Deed::Process, spawn), most)
}

/// The same for a question that comes before another one: what can go wrong
/// with it goes wrong there.
pub(super) fn bytes_before(mut command: Command, most: usize) -> Option<Vec<u8>> {
    answer(|| command.spawn(), most)
}

fn answer(spawn: impl FnOnce() -> io::Result<Child>, most: usize) -> Option<Vec<u8>> {
    if lock_hung().is_some_and(|hung| hung.elapsed() < REST) {
        return None;
    }
    let mut child = spawn().ok()?;
    let mut output = child.stdout.take()?;
    let reader = thread::spawn(move || {
        let mut answer = Vec::new();
        let read = output.by_ref().take(most as u64).read_to_end(&mut answer);
        let _ = io::copy(&mut output, &mut io::sink());
        read.map(|_| answer)
    });
    let succeeded = succeeds_in_time(&mut child);
    let answer = reader.join().ok()?.ok()?;
    succeeded.then_some(answer)
}

fn succeeds_in_time(child: &mut Child) -> bool {
    let started = Instant::now();
    let mut pause = Duration::from_micros(200);
    while started.elapsed() < LONGEST_PROCESS {
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) => thread::sleep(pause),
            Err(_) => break,
        }
        pause = (pause * 2).min(Duration::from_millis(10));
    }
    let _ = child.kill();
    let _ = child.wait();
    *lock_hung() = Some(Instant::now());
    false
}

/// When `git` hung last: a pipe in the place of a `.gitignore` is enough, and
/// then it would at each question.
static HUNG: Mutex<Option<Instant>> = Mutex::new(None);
/// So long it is not asked again.
const REST: Duration = Duration::from_secs(60);

fn lock_hung() -> MutexGuard<'static, Option<Instant>> {
    HUNG.lock().unwrap_or_else(PoisonError::into_inner)
}

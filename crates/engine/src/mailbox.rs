//! How other processes of the same person tell a run what they want: a socket
//! in the person's state folder. Who speaks is asked of the system: another
//! user is not heard, and neither is whoever descends from the run's own agent
//! (C-07, C-10).

use std::io;
use std::path::PathBuf;

use ralph_core::machine::{Kind, LONGEST_REPLY, Request, State, Steer};
use ralph_core::text;
use ralph_store::layout::Layout;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

/// More than this at once is a mistake.
const MOST_ITERATIONS: u32 = 10_000;
const LONGEST_EXTENSION_MS: u64 = 30 * 24 * 60 * 60 * 1000;

/// A letter to a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Letter {
    run: String,
    wish: Wish,
}

/// What a run can be told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Wish {
    #[strum(to_string = "requested")]
    Request(Request),
    /// To sleep no longer.
    #[strum(to_string = "nudged")]
    Wake,
    /// More turns, more time; zero changes nothing.
    #[strum(to_string = "extended")]
    Extend { iterations: u32, duration_ms: u64 },
    #[strum(to_string = "replied")]
    Answer { question: u32, text: String },
    /// Tasks are done by a person's word.
    #[strum(to_string = "accepted")]
    Accept { tasks: Vec<String>, why: String },
    /// A word for the agent, tasks in or out, another order.
    #[strum(to_string = "steered")]
    Steer(Steer),
}

impl Wish {
    /// The event that it becomes; `None` where it makes no sense, or where the
    /// driver has to look first.
    pub fn accepted(self, state: &State) -> Option<Kind> {
        match self {
            Wish::Request(request) => Some(Kind::Requested { request }),
            // The driver looks, or changes the list, first.
            Wish::Wake | Wish::Steer(_) => None,
            Wish::Extend {
                iterations,
                duration_ms,
            } => {
                let sound = iterations <= MOST_ITERATIONS && duration_ms <= LONGEST_EXTENSION_MS;
                (sound && (iterations > 0 || duration_ms > 0)).then_some(Kind::Extended {
                    iterations,
                    duration_ms,
                })
            }
            Wish::Accept { tasks, why } => {
                let known = tasks.iter().all(|id| state.knows_task(id));
                known.then_some(Kind::Accepted { tasks, why })
            }
            Wish::Answer { question, text } => {
                let text = reply_text(&text)?;
                let open = state.open_questions().any(|open| open.id == question);
                open.then_some(Kind::Replied { question, text })
            }
        }
    }
}

/// An answer as it may go into journal and prompt; `None` where it says
/// nothing or too much.
pub fn reply_text(text: &str) -> Option<String> {
    let text = text::sanitize(text.trim());
    let fits = !text.is_empty() && text.chars().count() <= LONGEST_REPLY;
    fits.then(|| text::redact(&text).into_owned())
}

/// The wishes that come to a run; the socket goes with it.
#[derive(Debug)]
pub struct Mailbox {
    wishes: mpsc::UnboundedReceiver<Wish>,
    /// Where nobody can listen, nothing comes, and nobody hears that it ended.
    _sender: mpsc::UnboundedSender<Wish>,
    place: PathBuf,
}

impl Mailbox {
    /// Listens for as long as it lives; under the lock of the project.
    pub fn open(layout: &Layout, run: &str) -> (Mailbox, io::Result<()>) {
        let (sender, wishes) = mpsc::unbounded_channel();
        let place = layout.socket();
        let listens = platform::listen(&place, run.to_owned(), sender.clone());
        let mailbox = Mailbox {
            wishes,
            _sender: sender,
            place,
        };
        (mailbox, listens)
    }

    pub async fn wish(&mut self) -> Option<Wish> {
        self.wishes.recv().await
    }
}

impl Drop for Mailbox {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.place);
    }
}

/// Tells the run of a project.
pub fn tell(layout: &Layout, run: &str, wish: Wish) -> io::Result<()> {
    let run = run.to_owned();
    let letter = serde_json::to_vec(&Letter { run, wish }).unwrap_or_default();
    platform::send(&layout.socket(), &letter)
}

#[cfg(unix)]
mod platform {
    use std::io::{self, Read, Write};
    use std::net::Shutdown;
    use std::os::unix::net::UnixStream as BlockingStream;
    use std::path::Path;
    use std::time::Duration;

    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{UnixListener, UnixStream};
    use tokio::sync::mpsc;

    use super::{Letter, Wish};
    use crate::supervise;

    /// A longer letter is nobody's.
    const LONGEST_LETTER: u64 = 64 * 1024;
    /// Whoever has something to say says it at once.
    const PATIENCE: Duration = Duration::from_secs(2);
    const HEARD: &[u8] = b"heard";

    pub fn listen(place: &Path, run: String, heard: mpsc::UnboundedSender<Wish>) -> io::Result<()> {
        // The lock is ours: whoever listened here is dead.
        match std::fs::remove_file(place) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let listener = UnixListener::bind(place)?;
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                if !is_persons(&stream) {
                    continue;
                }
                let (run, heard) = (run.clone(), heard.clone());
                tokio::spawn(async move {
                    let _ = tokio::time::timeout(PATIENCE, take(stream, &run, &heard)).await;
                });
            }
        });
        Ok(())
    }

    /// Whether the same person speaks, and not the agent that is looked after.
    fn is_persons(stream: &UnixStream) -> bool {
        let Ok(peer) = stream.peer_cred() else {
            return false;
        };
        let own = std::process::id();
        let of_agent = match peer.pid().and_then(|pid| u32::try_from(pid).ok()) {
            Some(pid) => {
                pid != own && (supervise::ancestors_of(pid).contains(&own) || is_gone(pid))
            }
            None => false,
        };
        peer.uid() == rustix::process::geteuid().as_raw() && !of_agent
    }

    /// Whom a process that is gone descended from nobody can say, and whoever
    /// means well waits for the answer (C-10).
    fn is_gone(pid: u32) -> bool {
        cfg!(target_os = "linux") && !Path::new(&format!("/proc/{pid}")).exists()
    }

    async fn take(
        mut stream: UnixStream,
        run: &str,
        heard: &mpsc::UnboundedSender<Wish>,
    ) -> io::Result<()> {
        let mut bytes = Vec::new();
        let mut limited = (&mut stream).take(LONGEST_LETTER);
        limited.read_to_end(&mut bytes).await?;
        let letter = serde_json::from_slice::<Letter>(&bytes).ok();
        if let Some(letter) = letter.filter(|letter| letter.run == run) {
            let _ = heard.send(letter.wish);
            stream.write_all(HEARD).await?;
        }
        Ok(())
    }

    pub fn send(place: &Path, letter: &[u8]) -> io::Result<()> {
        let mut stream = BlockingStream::connect(place)?;
        stream.set_write_timeout(Some(PATIENCE))?;
        stream.set_read_timeout(Some(PATIENCE * 5))?;
        stream.write_all(letter)?;
        stream.shutdown(Shutdown::Write)?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer)?;
        match answer == HEARD {
            true => Ok(()),
            false => Err(io::ErrorKind::PermissionDenied.into()),
        }
    }
}

#[cfg(windows)]
mod platform {
    use std::fs::OpenOptions;
    use std::io::{self, Read, Write};
    use std::path::Path;
    use std::time::Duration;

    use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
    use tokio::net::windows::named_pipe::{NamedPipeServer, ServerOptions};
    use tokio::sync::mpsc;

    use super::{Letter, Wish};

    /// A longer letter is nobody's.
    const LONGEST_LETTER: u64 = 64 * 1024;
    const PATIENCE: Duration = Duration::from_secs(2);
    const HEARD: &[u8] = b"heard";

    /// Pipes have names of their own there. Whoever else has an account on the
    /// machine may not write into one, which the system sees to.
    fn pipe(place: &Path) -> String {
        let name = place.file_name().unwrap_or_default().to_string_lossy();
        format!(r"\\.\pipe\ralph-{name}")
    }

    pub fn listen(place: &Path, run: String, heard: mpsc::UnboundedSender<Wish>) -> io::Result<()> {
        let name = pipe(place);
        let mut next = ServerOptions::new()
            .first_pipe_instance(true)
            .create(&name)?;
        tokio::spawn(async move {
            while next.connect().await.is_ok() {
                let Ok(other) = ServerOptions::new().create(&name) else {
                    return;
                };
                let stream = std::mem::replace(&mut next, other);
                let (run, heard) = (run.clone(), heard.clone());
                tokio::spawn(async move {
                    let _ = tokio::time::timeout(PATIENCE, take(stream, &run, &heard)).await;
                });
            }
        });
        Ok(())
    }

    async fn take(
        stream: NamedPipeServer,
        run: &str,
        heard: &mpsc::UnboundedSender<Wish>,
    ) -> io::Result<()> {
        let mut stream = BufReader::new(stream);
        let mut bytes = Vec::new();
        let mut limited = (&mut stream).take(LONGEST_LETTER);
        limited.read_until(b'\n', &mut bytes).await?;
        let letter = serde_json::from_slice::<Letter>(&bytes).ok();
        if let Some(letter) = letter.filter(|letter| letter.run == run) {
            let _ = heard.send(letter.wish);
            stream.write_all(HEARD).await?;
            stream.flush().await?;
            // What was not read is lost when a pipe is closed: whoever asked
            // closes it first.
            let _ = stream.read_u8().await;
        }
        Ok(())
    }

    pub fn send(place: &Path, letter: &[u8]) -> io::Result<()> {
        let mut stream = OpenOptions::new()
            .read(true)
            .write(true)
            .open(pipe(place))?;
        stream.write_all(&[letter, b"\n"].concat())?;
        let mut answer = vec![0; HEARD.len()];
        stream.read_exact(&mut answer)?;
        match answer == HEARD {
            true => Ok(()),
            false => Err(io::ErrorKind::PermissionDenied.into()),
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::io::Write;
    use std::os::unix::net::UnixStream;
    use std::process::{Command, Stdio};
    use std::time::Duration;

    use ralph_store::home::StateHome;

    use super::*;

    const SOCKET: &str = "RALPH_TEST_SOCKET";
    const RUN: &str = "20260101-000000-0001";

    fn letter() -> Vec<u8> {
        let letter = Letter {
            run: RUN.into(),
            wish: Wish::Wake,
        };
        serde_json::to_vec(&letter).unwrap_or_default()
    }

    /// Played by a child of the test below: it speaks as an agent would.
    #[test]
    #[ignore = "a part of an_agent_is_not_heard"]
    fn speaks_and_goes() {
        let socket = std::env::var_os(SOCKET).unwrap();
        UnixStream::connect(socket)
            .unwrap()
            .write_all(&letter())
            .unwrap();
    }

    /// C-10: neither one that waits for the answer, nor one that is gone before
    /// anybody looks at it.
    #[tokio::test]
    async fn an_agent_is_not_heard() {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::new(dir.path(), &StateHome::at(dir.path().join("state")));
        layout.prepare().unwrap();
        let (mut mailbox, listens) = Mailbox::open(&layout, RUN);
        listens.unwrap();
        let agent = || {
            let mut command = Command::new(std::env::current_exe().unwrap());
            command
                .args(["--exact", "mailbox::tests::speaks_and_goes", "--ignored"])
                .env(SOCKET, layout.socket())
                // What it says of itself is no result of this run.
                .stdout(Stdio::null());
            command
        };
        // Nobody accepts before it was buried: the test has only one thread.
        assert!(agent().output().unwrap().status.success());
        let mut waits = agent().spawn().unwrap();
        let patience = Duration::from_millis(300);
        let heard = tokio::time::timeout(patience, mailbox.wish()).await;
        assert!(heard.is_err(), "{heard:?}");
        waits.wait().unwrap();
        // The person is.
        let told = tokio::task::spawn_blocking(move || tell(&layout, RUN, Wish::Wake));
        told.await.unwrap().unwrap();
        assert_eq!(mailbox.wish().await, Some(Wish::Wake));
    }
}

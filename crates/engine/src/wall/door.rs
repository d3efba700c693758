//! The one way through the wall: a socket on which our hook reports, and over
//! which those behind it reach the hosts that are open.

use std::collections::BTreeSet;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use ralph_core::machine::{Denial, Reach};
use ralph_store::guard_log::Report;
use ralph_store::layout::{Layout, RunPaths};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpStream, UnixListener, UnixStream, lookup_host};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::hosts::{Allowed, Permit, Target, is_out_there};

/// Whoever has something to say says it at once.
const PATIENCE: Duration = Duration::from_secs(10);
/// A longer head is nobody's; a hook's line may hold what was blocked.
const LONGEST_HEAD: usize = 64 * 1024;
const MOST_CONNECTIONS: usize = 512;
/// More are not told.
const MOST_DENIALS: usize = 100;

/// Who may go where.
#[derive(Debug)]
pub struct Rules {
    pub reach: Reach,
    pub allowed: Allowed,
    /// The proxy that this machine is behind.
    pub upstream: Option<Target>,
}

/// Listens for as long as it lives.
#[derive(Debug)]
pub struct Door {
    place: PathBuf,
    shared: Arc<Shared>,
    listens: tokio::task::JoinHandle<()>,
}

#[derive(Debug)]
struct Shared {
    rules: Rules,
    denied: Mutex<BTreeSet<Denial>>,
    /// Whose reports they are, once that is known.
    run: OnceLock<(Layout, RunPaths)>,
}

impl Door {
    pub fn open(dir: &Path, rules: Rules) -> io::Result<Door> {
        std::fs::create_dir_all(dir)?;
        clear(dir);
        let place = loop {
            let random = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), 0);
            let place = dir.join(format!("{PREFIX}{:08x}", random as u32));
            if !place.exists() {
                break place;
            }
        };
        let listener = UnixListener::bind(&place)?;
        let shared = Arc::new(Shared {
            rules,
            denied: Mutex::default(),
            run: OnceLock::new(),
        });
        let listens = tokio::spawn(listen(listener, Arc::clone(&shared)));
        Ok(Door {
            place,
            shared,
            listens,
        })
    }

    pub fn place(&self) -> &Path {
        &self.place
    }

    /// Whose run the reports of hooks belong to.
    pub fn belongs_to(&self, layout: Layout, run: RunPaths) {
        let _ = self.shared.run.set((layout, run));
    }

    pub fn note(&self, denial: Denial) {
        self.shared.note(denial);
    }

    /// What was held back since this was asked last.
    pub fn denied(&self) -> Vec<Denial> {
        let denied = self.shared.denied.lock();
        let mut denied = denied.unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *denied).into_iter().collect()
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.listens.abort();
        let _ = std::fs::remove_file(&self.place);
    }
}

const PREFIX: &str = "wall-";

/// Removes the doors of processes that died.
fn clear(dir: &Path) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let is_door = entry
            .file_name()
            .as_encoded_bytes()
            .starts_with(PREFIX.as_bytes());
        let nobody_listens = || {
            std::os::unix::net::UnixStream::connect(entry.path())
                .is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
        };
        if is_door && nobody_listens() {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

async fn listen(listener: UnixListener, shared: Arc<Shared>) {
    let seats = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    while let Ok((stream, _)) = listener.accept().await {
        let Ok(seat) = Arc::clone(&seats).acquire_owned().await else {
            return;
        };
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            let _ = shared.serve(stream).await;
            drop(seat);
        });
    }
}

/// What somebody behind the wall wants.
enum Wish {
    Report(Report),
    /// A port of the machine itself.
    Port(u16),
    /// A connection that it speaks over as it likes.
    Connect(Target),
    /// One request, which is passed on with this head.
    Request(Target, Vec<u8>),
}

impl Shared {
    async fn serve(&self, mut stream: UnixStream) -> io::Result<()> {
        let read = timeout(PATIENCE, read_head(&mut stream)).await;
        let (head, rest) = read.map_err(|_| io::ErrorKind::TimedOut)??;
        let Some(wish) = wish(&head) else {
            return stream
                .write_all(&answer("400 Bad Request", "not understood"))
                .await;
        };
        match wish {
            Wish::Report(report) => {
                if let Some((layout, run)) = self.run.get() {
                    report.keep(layout, Some(run));
                }
                stream.write_all(HEARD).await
            }
            Wish::Port(port) if self.is_open(port) => {
                let mut there = own_port(port).await?;
                there.write_all(&rest).await?;
                copy_bidirectional(&mut stream, &mut there).await.map(drop)
            }
            Wish::Port(port) => {
                self.deny(&format!("localhost:{port}"));
                Ok(())
            }
            Wish::Connect(target) => match self.reach(&target).await {
                Ok(mut there) => {
                    stream
                        .write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")
                        .await?;
                    there.write_all(&rest).await?;
                    copy_bidirectional(&mut stream, &mut there).await.map(drop)
                }
                Err(refusal) => stream.write_all(&refusal).await,
            },
            Wish::Request(target, head) => match self.reach(&target).await {
                Ok(mut there) => {
                    there.write_all(&head).await?;
                    there.write_all(&rest).await?;
                    copy_bidirectional(&mut stream, &mut there).await.map(drop)
                }
                Err(refusal) => stream.write_all(&refusal).await,
            },
        }
    }

    fn is_open(&self, port: u16) -> bool {
        self.rules.reach != Reach::Nowhere && self.rules.allowed.own_ports().contains(&port)
    }

    fn deny(&self, target: &str) {
        self.note(Denial {
            target: target.to_owned(),
            setting: match self.rules.reach {
                Reach::Nowhere => "sandbox.network".into(),
                Reach::Listed | Reach::Everywhere => "sandbox.hosts".into(),
            },
        });
    }

    fn note(&self, denial: Denial) {
        let denied = self.denied.lock();
        let mut denied = denied.unwrap_or_else(PoisonError::into_inner);
        if denied.len() < MOST_DENIALS {
            denied.insert(denial);
        }
    }

    /// A connection to a host that is open; else what whoever asked is told.
    async fn reach(&self, target: &Target) -> Result<TcpStream, Vec<u8>> {
        let permit = match self.rules.reach {
            Reach::Nowhere => None,
            Reach::Listed | Reach::Everywhere => self.rules.allowed.permits(target),
        };
        let Some(permit) = permit else {
            return Err(self.closed(target));
        };
        let connect = async {
            if let Some(upstream) = self
                .rules
                .upstream
                .as_ref()
                .filter(|_| !target.is_loopback())
            {
                return through(upstream, target).await.map(Some);
            }
            let found = lookup_host((target.host.as_str(), target.port)).await?;
            let fits =
                |address: &SocketAddr| permit == Permit::Anywhere || is_out_there(address.ip());
            let addresses: Vec<SocketAddr> = found.filter(fits).collect();
            if addresses.is_empty() {
                return Ok(None);
            }
            TcpStream::connect(addresses.as_slice()).await.map(Some)
        };
        match connect.await {
            Ok(Some(stream)) => Ok(stream),
            // Its name leads into the machine or its network.
            Ok(None) => Err(self.closed(target)),
            Err(error) => {
                let why = format!("{target} can't be reached: {error}");
                Err(answer("502 Bad Gateway", &why))
            }
        }
    }

    fn closed(&self, target: &Target) -> Vec<u8> {
        self.deny(&target.to_string());
        let why = format!(
            "Ralph's sandbox closed {target}; a person can open it with the setting sandbox.hosts"
        );
        answer("403 Forbidden", &why)
    }
}

pub const HEARD: &[u8] = b"heard\n";

fn answer(status: &str, why: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{why}\n",
        why.len() + 1
    )
    .into_bytes()
}

async fn own_port(port: u16) -> io::Result<TcpStream> {
    let addresses: [SocketAddr; 2] = [
        (std::net::Ipv4Addr::LOCALHOST, port).into(),
        (std::net::Ipv6Addr::LOCALHOST, port).into(),
    ];
    TcpStream::connect(addresses.as_slice()).await
}

/// A connection to a host through the proxy that this machine is behind. What
/// the name leads to is that proxy's business.
async fn through(upstream: &Target, target: &Target) -> io::Result<TcpStream> {
    let mut stream = TcpStream::connect((upstream.host.as_str(), upstream.port)).await?;
    let head = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n");
    stream.write_all(head.as_bytes()).await?;
    let mut said = Vec::new();
    while !said.ends_with(b"\r\n\r\n") && said.len() < LONGEST_HEAD {
        said.push(stream.read_u8().await?);
    }
    let first = said.split(|&byte| byte == b'\n').next().unwrap_or_default();
    match String::from_utf8_lossy(first).split(' ').nth(1) {
        Some("200") => Ok(stream),
        other => Err(io::Error::other(format!("the proxy said {other:?}"))),
    }
}

/// The head of what somebody says, and what came behind it. A request has a
/// head up to an empty line, everything else is one line.
async fn read_head(stream: &mut UnixStream) -> io::Result<(Vec<u8>, Vec<u8>)> {
    let mut bytes = Vec::with_capacity(1024);
    loop {
        if let Some(end) = head_end(&bytes) {
            let rest = bytes.split_off(end);
            return Ok((bytes, rest));
        }
        if bytes.len() > LONGEST_HEAD || stream.read_buf(&mut bytes).await? == 0 {
            return Err(io::ErrorKind::InvalidData.into());
        }
    }
}

fn head_end(bytes: &[u8]) -> Option<usize> {
    let after = |mark: &[u8]| {
        let mut windows = bytes.windows(mark.len());
        windows
            .position(|window| window == mark)
            .map(|at| at + mark.len())
    };
    match bytes.starts_with(HOOK.as_bytes()) || bytes.starts_with(PORT.as_bytes()) {
        true => after(b"\n"),
        false => after(b"\r\n\r\n"),
    }
}

pub const HOOK: &str = "HOOK ";
pub const PORT: &str = "PORT ";

fn wish(head: &[u8]) -> Option<Wish> {
    let head = std::str::from_utf8(head).ok()?;
    if let Some(report) = head.strip_prefix(HOOK) {
        let report = serde_json::from_str(report).ok()?;
        return Report::from_json(&report).map(Wish::Report);
    }
    if let Some(port) = head.strip_prefix(PORT) {
        return port.trim_end().parse().ok().map(Wish::Port);
    }
    let (first, headers) = head.split_once("\r\n")?;
    let mut words = first.split(' ');
    let (method, what, version) = (words.next()?, words.next()?, words.next()?);
    if words.next().is_some() || !version.starts_with("HTTP/1.") {
        return None;
    }
    if method == "CONNECT" {
        return Target::read(what, None).map(Wish::Connect);
    }
    let target = Target::of_url(what).filter(|_| what.starts_with("http://"))?;
    let path = what.strip_prefix("http://")?;
    let path = path.find(['/', '?']).map_or("/", |at| &path[at..]);
    let slash = if path.starts_with('/') { "" } else { "/" };
    // The next request on this connection could be for somebody else.
    let kept = headers.split("\r\n").filter(|line| {
        let name = line
            .split(':')
            .next()
            .unwrap_or_default()
            .to_ascii_lowercase();
        !line.is_empty()
            && !matches!(
                name.as_str(),
                "connection" | "proxy-connection" | "keep-alive"
            )
            && !name.starts_with("proxy-auth")
    });
    let mut passed = format!("{method} {slash}{path} {version}\r\n");
    for line in kept {
        passed.push_str(line);
        passed.push_str("\r\n");
    }
    passed.push_str("Connection: close\r\n\r\n");
    Some(Wish::Request(target, passed.into_bytes()))
}

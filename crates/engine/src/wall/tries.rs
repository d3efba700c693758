//! Attempts to break out, made behind the wall by this program itself, and
//! judged by what is seen outside.

use std::fs;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use ralph_core::config::SandboxSettings;
use ralph_core::lang::Say;
use ralph_store::regular;
use tokio::sync::watch;

use super::linux::Wall;
use super::{DOOR, INSIDE_MODE, Who};
use crate::supervise::{self, Ending, Nobody, Spec, Stop};

/// One way out.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Say,
    strum::EnumString,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[strum(serialize_all = "kebab-case", const_into_str)]
pub enum Try {
    #[say("writing to your home")]
    WriteHome,
    #[say("reading your home")]
    ReadHome,
    #[say("reading Ralph's state")]
    ReadState,
    #[say("writing to the system")]
    WriteSystem,
    #[say("a port of this machine")]
    OwnPort,
    #[say("another host, directly")]
    OtherHost,
    #[say("a host that is not open, through the proxy")]
    OtherHostByProxy,
    #[say("the abstract socket of another process")]
    AbstractSocket,
    #[say("seeing other processes")]
    SeeProcesses,
    #[say("other roots below /proc")]
    OtherRoots,
    #[say("gaining rights (setuid, capabilities)")]
    GainRights,
    #[say("mounting")]
    Mount,
    #[say("outliving the run")]
    Outlive,
    #[say("more memory than sandbox.memory")]
    Memory,
    #[say("more processes than sandbox.processes")]
    Processes,
}

impl Try {
    pub const ALL: &'static [Try] = <Try as strum::VariantArray>::VARIANTS;
}

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    Yes,
    No,
    /// Nothing of the kind is wanted, or the system does not keep it.
    NotKept,
}

/// What is there outside to be reached.
#[derive(Debug)]
struct Bait {
    /// In the home, for as long as this lives.
    file: PathBuf,
    port: TcpListener,
    socket: UnixListener,
    name: String,
    process: Child,
    state: PathBuf,
}

impl Bait {
    fn lay(home: &Path, state: &Path) -> io::Result<Bait> {
        let random = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), 0);
        let name = format!("ralph-doctor-{random:016x}");
        let file = home.join(format!(".{name}"));
        ralph_store::private::create_file(&file)?.write_all(name.as_bytes())?;
        let port = TcpListener::bind(("127.0.0.1", 0))?;
        port.set_nonblocking(true)?;
        let socket = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name)?)?;
        socket.set_nonblocking(true)?;
        let process = Command::new("sleep")
            .arg("60")
            .env("RALPH_DOCTOR", &name)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let state = state.to_owned();
        Ok(Bait {
            file,
            port,
            socket,
            name,
            process,
            state,
        })
    }

    fn own_port(&self) -> u16 {
        self.port.local_addr().map_or(0, |address| address.port())
    }
}

impl Drop for Bait {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.file);
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Wall {
    /// Tries everything, one after the other.
    pub async fn tried(&self) -> io::Result<Vec<(Try, Held)>> {
        let bait = Bait::lay(self.home(), self.state())?;
        let mut results = Vec::new();
        for &attempt in Try::ALL {
            let result = self.try_one(attempt, &bait).await?;
            results.push((attempt, result));
        }
        Ok(results)
    }

    async fn try_one(&self, attempt: Try, bait: &Bait) -> io::Result<Held> {
        let is_wanted = match attempt {
            Try::Memory => self.settings().memory > 0,
            Try::Processes => self.settings().processes > 0 && !is_root(),
            _ => true,
        };
        let is_open = self.is_network_open()
            && matches!(
                attempt,
                Try::OwnPort | Try::OtherHost | Try::OtherHostByProxy | Try::AbstractSocket
            );
        if !is_wanted || is_open {
            return Ok(Held::NotKept);
        }
        let mut spec = Spec::plain(
            self.own_program().into(),
            self.root(),
            Duration::from_secs(30),
        );
        spec.args = vec![
            INSIDE_MODE.into(),
            "try".into(),
            attempt.into_str().into(),
            bait.file.clone().into(),
            bait.own_port().to_string().into(),
            bait.name.clone().into(),
            bait.state.clone().into(),
            limit_of(attempt, self.settings()).to_string().into(),
        ];
        let (spec, _lodging) = self.dress(&Who::Check, spec)?;
        let (_keep, stop) = watch::channel(Stop::No);
        let report = supervise::run(spec, &mut Nobody, stop).await;
        let inside_says = match report.ending {
            Ending::Exited(HELD) => Held::Yes,
            Ending::Exited(_) | Ending::Signalled(_) | Ending::TimedOut => Held::No,
            Ending::Stopped | Ending::SpawnFailed { .. } => {
                return Err(io::Error::other("the attempt could not be made"));
            }
        };
        Ok(match is_reached(attempt, bait).await {
            true => Held::No,
            false => inside_says,
        })
    }
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn limit_of(attempt: Try, settings: &SandboxSettings) -> u64 {
    match attempt {
        Try::Memory => settings.memory,
        Try::Processes => settings.processes.into(),
        _ => 0,
    }
}

/// Whether something outside was touched.
async fn is_reached(attempt: Try, bait: &Bait) -> bool {
    match attempt {
        Try::WriteHome => regular::read(&bait.file).ok().as_deref() != Some(bait.name.as_bytes()),
        Try::OwnPort => bait.port.accept().is_ok(),
        Try::AbstractSocket => bait.socket.accept().is_ok(),
        Try::Outlive => {
            // The kernel needs a moment for what it has already decided.
            for _ in 0..10 {
                if !lives(&bait.name) {
                    return false;
                }
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            true
        }
        _ => false,
    }
}

/// Whether a process with this word among its arguments lives.
fn lives(word: &str) -> bool {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut lines = processes.filter_map(|entry| regular::read(entry.path().join("cmdline")).ok());
    lines.any(|line| {
        let mut words = line.split(|&byte| byte == 0);
        words.next() == Some(b"sleep") && words.any(|own| own == word.as_bytes())
    })
}

/// The exit code of an attempt that came to nothing.
const HELD: i32 = 42;

/// Makes an attempt, behind the wall; `args` are those behind the word `try`.
pub fn make(args: &[std::ffi::OsString]) -> io::Error {
    let text = |at: usize| args.get(at).map(|word| word.to_string_lossy().into_owned());
    let path = |at: usize| args.get(at).map(PathBuf::from).unwrap_or_default();
    let attempt = text(0).and_then(|name| name.parse::<Try>().ok());
    let Some(attempt) = attempt else {
        return io::Error::other("no such attempt");
    };
    let number = |at: usize| {
        text(at)
            .and_then(|text| text.parse::<u64>().ok())
            .unwrap_or(0)
    };
    let got_out = get_out(
        attempt,
        &Outside {
            file: path(1),
            port: u16::try_from(number(2)).unwrap_or(0),
            name: text(3).unwrap_or_default(),
            state: path(4),
            limit: number(5),
        },
    );
    std::process::exit(if got_out { 0 } else { HELD });
}

struct Outside {
    file: PathBuf,
    port: u16,
    name: String,
    state: PathBuf,
    limit: u64,
}

fn get_out(attempt: Try, outside: &Outside) -> bool {
    match attempt {
        // Whether it arrived is seen outside.
        Try::WriteHome => {
            let _ = fs::write(&outside.file, "gone");
            false
        }
        Try::ReadHome => regular::read(&outside.file).is_ok(),
        Try::ReadState => fs::read_dir(&outside.state).is_ok_and(|mut dir| dir.next().is_some()),
        Try::WriteSystem => [
            "/usr", "/etc", "/var/lib", "/opt", "/sys/kernel", "/proc/sys/kernel",
        ]
        .iter()
        .any(|dir| fs::write(Path::new(dir).join(".ralph-doctor"), "").is_ok()),
        Try::OwnPort | Try::OtherHost | Try::OtherHostByProxy | Try::AbstractSocket => {
            reach_out(attempt, outside)
        }
        Try::SeeProcesses => each_process().any(|process| {
            let wanted = format!("RALPH_DOCTOR={}", outside.name);
            let environment = regular::read(process.join("environ")).unwrap_or_default();
            environment
                .split(|&byte| byte == 0)
                .any(|own| own == wanted.as_bytes())
        }),
        Try::OtherRoots => each_process().any(|process| {
            let below = outside.file.strip_prefix("/").unwrap_or(&outside.file);
            process.join("root").join(below).exists()
        }),
        Try::GainRights => {
            let status = regular::read_to_string("/proc/self/status").unwrap_or_default();
            let has = |line: &str| {
                status
                    .lines()
                    .any(|own| own.split_whitespace().eq(line.split(' ')))
            };
            !has("NoNewPrivs: 1") || !has("CapEff: 0000000000000000")
        }
        Try::Mount => rustix::mount::mount(
            c"tmpfs",
            c"/mnt",
            c"tmpfs",
            rustix::mount::MountFlags::empty(),
            c"",
        )
        .is_ok(),
        // Whether it lives on is seen outside.
        Try::Outlive => {
            let _ = Command::new("setsid")
                .args(["-f", "env", "-i", "sleep", "60", &outside.name])
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status();
            false
        }
        Try::Memory => {
            let more = usize::try_from(outside.limit).unwrap_or(usize::MAX);
            Vec::<u8>::new().try_reserve_exact(more).is_ok()
        }
        Try::Processes => {
            let limit = rustix::process::getrlimit(rustix::process::Resource::Nproc);
            limit.maximum != Some(outside.limit)
        }
    }
}

fn reach_out(attempt: Try, outside: &Outside) -> bool {
    match attempt {
        Try::OwnPort => {
            TcpStream::connect(("127.0.0.1", outside.port)).is_ok() || {
                let asked = format!("PORT {}\n", outside.port);
                at_the_door(asked.as_bytes()).is_ok_and(|said| !said.is_empty())
            }
        }
        // Nothing is sent: it is only asked whether there is a way.
        Try::OtherHost => UdpSocket::bind(("0.0.0.0", 0))
            .and_then(|socket| socket.connect(("192.0.2.1", 9)))
            .is_ok(),
        Try::OtherHostByProxy => at_the_door(b"CONNECT ralph-doctor.invalid:443 HTTP/1.1\r\n\r\n")
            .is_ok_and(|said| !said.starts_with(b"HTTP/1.1 403")),
        Try::AbstractSocket => SocketAddr::from_abstract_name(&outside.name)
            .and_then(|address| UnixStream::connect_addr(&address))
            .is_ok(),
        _ => false,
    }
}

fn each_process() -> impl Iterator<Item = PathBuf> {
    let found = fs::read_dir("/proc").into_iter().flatten().flatten();
    found
        .map(|entry| entry.path())
        .filter(|path| path.join("stat").exists())
}

/// What the door says to this.
fn at_the_door(words: &[u8]) -> io::Result<Vec<u8>> {
    let mut stream = UnixStream::connect(DOOR)?;
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    stream.write_all(words)?;
    stream.shutdown(std::net::Shutdown::Write)?;
    let mut said = Vec::new();
    stream.read_to_end(&mut said)?;
    Ok(said)
}

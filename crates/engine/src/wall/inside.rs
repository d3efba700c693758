//! The first steps behind the wall, before the agent or the check takes over:
//! limits are set, and the way to the door is opened on ports of its own.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use ralph_store::guard_log::Report;
use rustix::process::{Resource, Rlimit, setrlimit};

use super::door::{HEARD, HOOK, PORT};
use super::landlock::{self, Fence};
use super::{DOOR, DOOR_VARIABLE, INSIDE_MODE, PROXY_PORT};
use crate::supervise;

/// Takes the place of this process; returns only where that fails.
pub fn run(args: &[OsString]) -> io::Error {
    if args.first().is_some_and(|word| word == "try") {
        return super::tries::make(&args[1..]);
    }
    match read(args) {
        Some(Steps::Relay(ports)) => relay(&ports),
        Some(Steps::Start(start)) => start.go(),
        None => io::Error::other("this is for Ralph itself"),
    }
}

enum Steps {
    /// Carries what comes to these ports to the door.
    Relay(Vec<u16>),
    Start(Start),
}

struct Start {
    memory: u64,
    processes: u32,
    ports: Vec<u16>,
    fence: Option<Fence>,
    command: Vec<OsString>,
}

/// `relay PORTS`, `MEMORY PROCESSES PORTS COMMAND…`, or `landlock MEMORY
/// PROCESSES PLACES… -- COMMAND…`.
fn read(args: &[OsString]) -> Option<Steps> {
    let text = |at: usize| args.get(at).and_then(|word| word.to_str());
    let ports = |text: &str| {
        let words = text.split(',').filter(|word| !word.is_empty());
        words
            .map(|word| word.parse().ok())
            .collect::<Option<Vec<u16>>>()
    };
    if text(0)? == "relay" {
        return ports(text(1)?).map(Steps::Relay);
    }
    if landlock::is_asked_for(args) {
        let (fence, command) = Fence::read(args.get(3..)?)?;
        return Some(Steps::Start(Start {
            memory: text(1)?.parse().ok()?,
            processes: text(2)?.parse().ok()?,
            ports: Vec::new(),
            fence: Some(fence),
            command: Some(command.to_vec()).filter(|command| !command.is_empty())?,
        }));
    }
    Some(Steps::Start(Start {
        fence: None,
        memory: text(0)?.parse().ok()?,
        processes: text(1)?.parse().ok()?,
        ports: ports(text(2)?)?,
        command: args
            .get(3..)
            .filter(|command| !command.is_empty())?
            .to_vec(),
    }))
}

impl Start {
    fn go(self) -> io::Error {
        supervise::hear_termination();
        let closed = || self.fence.as_ref().map_or(Ok(()), Fence::close);
        let ready = self.open_ports().and_then(|()| self.limit());
        if let Err(error) = ready.and_then(|()| closed()) {
            return error;
        }
        let (program, args) = (&self.command[0], &self.command[1..]);
        Command::new(program).args(args).exec()
    }

    /// The relay lives beside the command and goes with the wall.
    fn open_ports(&self) -> io::Result<()> {
        if self.ports.is_empty() {
            return Ok(());
        }
        let ports: Vec<String> = self.ports.iter().map(u16::to_string).collect();
        let mut relay = Command::new(std::env::current_exe()?)
            .args([INSIDE_MODE, "relay", &ports.join(",")])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        let mut said = [0; 1];
        let heard = relay.stdout.take().map(|mut out| out.read(&mut said));
        match heard {
            Some(Ok(1)) => Ok(()),
            _ => Err(io::Error::other(
                "the network behind the wall did not come up",
            )),
        }
    }

    fn limit(&self) -> io::Result<()> {
        let set = |resource, most: u64| {
            let limit = Rlimit {
                current: Some(most),
                maximum: Some(most),
            };
            setrlimit(resource, limit).map_err(io::Error::from)
        };
        if self.memory > 0 {
            set(Resource::Data, self.memory)?;
        }
        if self.processes > 0 {
            set(Resource::Nproc, self.processes.into())?;
        }
        set(Resource::Core, 0)
    }
}

fn relay(ports: &[u16]) -> io::Error {
    let mut listeners = Vec::new();
    for &port in ports {
        let addresses: [SocketAddr; 2] = [
            (Ipv4Addr::LOCALHOST, port).into(),
            (Ipv6Addr::LOCALHOST, port).into(),
        ];
        for address in addresses {
            // A machine may be without the one or the other.
            listeners.extend(TcpListener::bind(address).map(|listener| (port, listener)));
        }
    }
    if listeners.is_empty() {
        return io::ErrorKind::AddrNotAvailable.into();
    }
    let threads: Vec<_> = listeners
        .into_iter()
        .map(|(port, listener)| std::thread::spawn(move || carry_all(port, &listener)))
        .collect();
    // Whoever waits for this goes on.
    let told = io::stdout()
        .write_all(b"\n")
        .and_then(|()| io::stdout().flush());
    if let Err(error) = told {
        return error;
    }
    for thread in threads {
        let _ = thread.join();
    }
    io::ErrorKind::BrokenPipe.into()
}

fn carry_all(port: u16, listener: &TcpListener) {
    for stream in listener.incoming().flatten() {
        // Where there is no room for a thread, nobody is carried.
        let _ = std::thread::Builder::new().spawn(move || carry(port, &stream));
    }
}

fn carry(port: u16, near: &TcpStream) -> io::Result<()> {
    let mut far = UnixStream::connect(DOOR)?;
    if port != PROXY_PORT {
        far.write_all(format!("{PORT}{port}\n").as_bytes())?;
    }
    let (mut near_in, mut far_out) = (near.try_clone()?, far.try_clone()?);
    let there = std::thread::Builder::new().spawn(move || {
        let _ = io::copy(&mut near_in, &mut far_out);
        let _ = far_out.shutdown(Shutdown::Write);
    })?;
    let mut near_out = near.try_clone()?;
    let _ = io::copy(&mut far, &mut near_out);
    let _ = near.shutdown(Shutdown::Both);
    let _ = there.join();
    Ok(())
}

/// Whether this process stands behind the wall of a run.
pub fn is_around_us() -> bool {
    // Anybody can set a variable, and only who is held has given rights up.
    let is_held = || rustix::thread::no_new_privs().unwrap_or(false);
    std::path::Path::new(DOOR).exists() || (std::env::var_os(DOOR_VARIABLE).is_some() && is_held())
}

/// Where the door is for this process.
fn door() -> PathBuf {
    match std::env::var_os(DOOR_VARIABLE) {
        Some(door) if !std::path::Path::new(DOOR).exists() => door.into(),
        _ => DOOR.into(),
    }
}

/// Tells the run what a hook has to leave behind.
pub fn tell(report: &Report) -> io::Result<()> {
    let mut stream = UnixStream::connect(door())?;
    let line = report.as_json();
    stream.write_all(format!("{HOOK}{line}\n").as_bytes())?;
    let mut heard = [0; HEARD.len()];
    stream.read_exact(&mut heard)
}

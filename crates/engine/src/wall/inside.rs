//! The first process behind the wall: it sets limits, opens the way to the door
//! on ports of its own, and carries what comes to them as long as the agent or
//! the check lives.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::Command;

use ralph_store::guard_log::Report;
use rustix::process::Resource;

use super::door::{HEARD, HOOK, PORT};
use super::landlock::{self, Fence};
use super::{DOOR, DOOR_VARIABLE, PROXY_PORT};
use crate::supervise;

/// Becomes what is asked for, or ends with it; returns only where that fails.
pub fn run(args: &[OsString]) -> io::Error {
    if args.first().is_some_and(|word| word == "try") {
        return super::tries::make(&args[1..]);
    }
    match Start::read(args) {
        Some(start) => start.go(),
        None => io::Error::other("this is for Ralph itself"),
    }
}

struct Start {
    memory: u64,
    processes: u32,
    ports: Vec<u16>,
    fence: Option<Fence>,
    command: Vec<OsString>,
}

impl Start {
    /// `MEMORY PROCESSES PORTS COMMAND…`, or `landlock MEMORY PROCESSES PLACES…
    /// -- COMMAND…`.
    fn read(args: &[OsString]) -> Option<Start> {
        let text = |at: usize| args.get(at).and_then(|word| word.to_str());
        let (at, ports, fence, command) = if landlock::is_asked_for(args) {
            let (fence, command) = Fence::read(args.get(3..)?)?;
            (1, Vec::new(), Some(fence), command)
        } else {
            let words = text(2)?.split(',').filter(|word| !word.is_empty());
            let ports = words.map(|word| word.parse().ok());
            (0, ports.collect::<Option<_>>()?, None, args.get(3..)?)
        };
        Some(Start {
            memory: text(at)?.parse().ok()?,
            processes: text(at + 1)?.parse().ok()?,
            ports,
            fence,
            command: Some(command.to_vec()).filter(|command| !command.is_empty())?,
        })
    }

    fn go(self) -> io::Error {
        let closed = self.fence.as_ref().map_or(Ok(()), Fence::close);
        if let Err(error) = closed.and_then(|()| self.open_ports()) {
            return error;
        }
        let mut command = Command::new(&self.command[0]);
        command.args(&self.command[1..]);
        supervise::limit(&mut command, self.limits());
        if self.ports.is_empty() {
            return command.exec();
        }
        match command.status() {
            Ok(status) => std::process::exit(match status.code() {
                Some(code) => code,
                // As a shell says it.
                None => 128 + status.signal().unwrap_or(0),
            }),
            Err(error) => error,
        }
    }

    fn limits(&self) -> Vec<(Resource, u64)> {
        let all = [
            (Resource::Data, self.memory),
            (Resource::Nproc, self.processes.into()),
        ];
        let mut set: Vec<_> = all.into_iter().filter(|(_, most)| *most > 0).collect();
        set.push((Resource::Core, 0));
        set
    }

    /// What comes to them is carried by threads of this process.
    fn open_ports(&self) -> io::Result<()> {
        let addresses = |port: u16| -> [SocketAddr; 2] {
            [
                (Ipv4Addr::LOCALHOST, port).into(),
                (Ipv6Addr::LOCALHOST, port).into(),
            ]
        };
        let mut opened = 0;
        for &port in &self.ports {
            // A machine may be without the one or the other.
            for listener in addresses(port).into_iter().flat_map(TcpListener::bind) {
                std::thread::Builder::new().spawn(move || carry_all(port, &listener))?;
                opened += 1;
            }
        }
        if opened == 0 && !self.ports.is_empty() {
            return Err(io::ErrorKind::AddrNotAvailable.into());
        }
        Ok(())
    }
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

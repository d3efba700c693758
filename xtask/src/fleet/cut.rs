//! A line to the server that can be cut without anybody being told: what is
//! said waits on it, as behind a switch that died. No connection is closed.
//!
//! Where we may, a worker has a network of its own (a namespace with one cable),
//! and the cable is pulled; elsewhere what it says is held up on the way.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

const LOOK: Duration = Duration::from_millis(20);

#[derive(Debug)]
pub struct Line {
    pub address: String,
    is_cut: Arc<AtomicBool>,
    network: Option<Network>,
}

/// A network namespace and the cable that leads there.
#[derive(Debug)]
struct Network {
    name: String,
    cable: String,
}

impl Network {
    /// The address of our end of the cable.
    const OURS: &str = "10.231.77.1";
    const THEIRS: &str = "10.231.77.2";

    /// `None` where this user may not, or there is no `ip`.
    fn new() -> Option<Network> {
        let id = std::process::id() % 1_000_000;
        let network = Network {
            name: format!("ralph-{id}"),
            cable: format!("rl{id}a"),
        };
        let (name, cable, end) = (&network.name, &network.cable, format!("rl{id}b"));
        let (ours, theirs) = (format!("{}/30", Self::OURS), format!("{}/30", Self::THEIRS));
        let steps: [&[&str]; 7] = [
            &["netns", "add", name],
            &[
                "link", "add", cable, "type", "veth", "peer", "name", &end, "netns", name,
            ],
            &["addr", "add", &ours, "dev", cable],
            &["link", "set", cable, "up"],
            &["-n", name, "addr", "add", &theirs, "dev", &end],
            &["-n", name, "link", "set", "lo", "up"],
            &["-n", name, "link", "set", &end, "up"],
        ];
        // Whatever was made goes with it.
        steps.iter().all(|step| ip(step)).then_some(network)
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        ip(&["netns", "del", &self.name]);
    }
}

fn ip(args: &[&str]) -> bool {
    let mut command = Command::new("ip");
    command.args(args).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

impl Line {
    /// Its threads live as long as this process.
    pub fn to(server: &str) -> std::io::Result<Line> {
        let network = Network::new();
        let ours = network.as_ref().map_or("127.0.0.1", |_| Network::OURS);
        let listener = TcpListener::bind((ours, 0))?;
        let address = listener.local_addr()?.to_string();
        let is_cut = Arc::new(AtomicBool::new(false));
        let (flag, server) = (Arc::clone(&is_cut), server.to_owned());
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                // Whoever comes while it is cut is not let through either.
                let (flag, server) = (Arc::clone(&flag), server.clone());
                thread::spawn(move || join(&client, &server, &flag));
            }
        });
        Ok(Line {
            address,
            is_cut,
            network,
        })
    }

    pub fn cut(&self, is_cut: bool) {
        match &self.network {
            Some(network) => {
                let state = if is_cut { "down" } else { "up" };
                ip(&["link", "set", &network.cable, state]);
            }
            None => self.is_cut.store(is_cut, Ordering::SeqCst),
        }
    }

    /// The same program behind the line.
    pub fn behind(&self, command: Command) -> Command {
        let Some(network) = &self.network else {
            return command;
        };
        by(&["ip", "netns", "exec", &network.name], &command)
    }

    pub fn kind(&self) -> &'static str {
        match self.network {
            Some(_) => "a network of its own, unplugged",
            None => "a line that is held up",
        }
    }
}

/// The same, started by another program.
pub fn by(starter: &[&str], command: &Command) -> Command {
    let mut within = Command::new(starter[0]);
    within.stdin(Stdio::null()).args(&starter[1..]);
    within.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => within.env(name, value),
            None => within.env_remove(name),
        };
    }
    if let Some(dir) = command.get_current_dir() {
        within.current_dir(dir);
    }
    within
}

fn wait(is_cut: &AtomicBool) {
    while is_cut.load(Ordering::SeqCst) {
        thread::sleep(LOOK);
    }
}

fn join(client: &TcpStream, server: &str, is_cut: &Arc<AtomicBool>) {
    wait(is_cut);
    let Ok(server) = TcpStream::connect(server) else {
        return;
    };
    let (Ok(from_server), Ok(to_client)) = (server.try_clone(), client.try_clone()) else {
        return;
    };
    let flag = Arc::clone(is_cut);
    let back = thread::spawn(move || pass(from_server, to_client, &flag));
    if let Ok(from_client) = client.try_clone() {
        pass(from_client, server, is_cut);
    }
    let _ = back.join();
}

fn pass(mut from: TcpStream, mut to: TcpStream, is_cut: &AtomicBool) {
    let mut buffer = [0; 16 * 1024];
    while let Ok(n) = from.read(&mut buffer)
        && n > 0
    {
        wait(is_cut);
        if to.write_all(&buffer[..n]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(std::net::Shutdown::Both);
    let _ = from.shutdown(std::net::Shutdown::Both);
}

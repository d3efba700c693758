//! People who look at a run while it is measured: a monitor in a terminal, and
//! a page with many viewers, each on a line of its own.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use super::Programs;
use crate::e2e::web_stage::first_line;

const VIEWERS: usize = 20;
/// How often a viewer looks whether there is a new run, or the end.
const LOOK: Duration = Duration::from_millis(20);

pub struct Onlookers {
    page: Child,
    viewers: Vec<JoinHandle<u64>>,
    enough: Arc<AtomicBool>,
    socket: PathBuf,
}

/// Where the page is, and the key to it.
#[derive(Clone)]
struct Address {
    host: String,
    token: String,
}

impl Onlookers {
    /// They look at the next run of the project.
    pub fn start(programs: &Programs, project: &Path) -> Result<Onlookers, Vec<String>> {
        let failed = |e: std::io::Error| vec![e.to_string()];
        let mut page = Command::new(&programs.ralph)
            .current_dir(project)
            .args(["web", "--port", "0"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let url = first_line(&mut page).map_err(|e| vec![e])?;
        let mut onlookers = Onlookers {
            page,
            viewers: Vec::new(),
            enough: Arc::default(),
            socket: project.join(".git/tmux"),
        };
        let address = url
            .strip_prefix("http://")
            .and_then(|rest| rest.split_once("/?token="))
            .map(|(host, token)| Address {
                host: host.into(),
                token: token.into(),
            })
            .ok_or_else(|| vec![format!("no address: {url}")])?;
        let runs = crate::state::runs(Command::new(&programs.ralph), project);
        let known = names(&runs);
        for _ in 0..VIEWERS {
            let (runs, known) = (runs.clone(), known.clone());
            let (address, enough) = (address.clone(), Arc::clone(&onlookers.enough));
            let viewer = move || match wait_for_run(&runs, &known, &enough) {
                Some(run) => view(&address, &run, &enough).unwrap_or(0),
                None => 0,
            };
            onlookers.viewers.push(std::thread::spawn(viewer));
        }
        let monitor = format!("'{}' monitor", programs.ralph.display());
        let status = Command::new("tmux")
            .args(["-u", "-f", "/dev/null", "-S"])
            .arg(&onlookers.socket)
            .args(["new-session", "-d", "-x", "120", "-y", "40", "-c"])
            .arg(project)
            .arg(monitor)
            .status()
            .map_err(failed)?;
        match status.success() {
            true => Ok(onlookers),
            false => Err(vec!["tmux could not show the monitor".into()]),
        }
    }

    /// The news that the viewer who got the fewest got; it is no bench where
    /// somebody saw nothing.
    pub fn end(mut self) -> Result<u64, Vec<String>> {
        self.enough.store(true, Ordering::Relaxed);
        let viewers = std::mem::take(&mut self.viewers);
        let seen = viewers.into_iter().map(|v| v.join().unwrap_or(0));
        match seen.min() {
            Some(fewest) if fewest > 1 => Ok(fewest),
            _ => Err(vec!["a viewer of the page saw no news".into()]),
        }
    }
}

impl Drop for Onlookers {
    fn drop(&mut self) {
        self.enough.store(true, Ordering::Relaxed);
        let _ = self.page.kill();
        let _ = self.page.wait();
        let _ = Command::new("tmux")
            .arg("-S")
            .arg(&self.socket)
            .arg("kill-server")
            .status();
    }
}

fn names(dir: &Path) -> BTreeSet<OsString> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name()).collect()
}

fn wait_for_run(runs: &Path, known: &BTreeSet<OsString>, enough: &AtomicBool) -> Option<String> {
    while !enough.load(Ordering::Relaxed) {
        if let Some(new) = names(runs).difference(known).next() {
            return new.to_str().map(str::to_owned);
        }
        std::thread::sleep(LOOK);
    }
    None
}

/// Follows a run as a browser would; the number of news.
fn view(address: &Address, run: &str, enough: &AtomicBool) -> std::io::Result<u64> {
    let mut line = TcpStream::connect(&address.host)?;
    line.set_read_timeout(Some(LOOK))?;
    let Address { host, token } = address;
    line.write_all(
        format!("GET /api/runs/{run}/stream HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\r\n")
            .as_bytes(),
    )?;
    let mut news = 0;
    let mut last = 0;
    let mut buffer = [0; 16 * 1024];
    while !enough.load(Ordering::Relaxed) {
        let read = match line.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(_) => continue,
        };
        // An empty line ends one of the news.
        for &byte in buffer.iter().take(read) {
            news += u64::from(byte == b'\n' && last == b'\n');
            last = byte;
        }
    }
    Ok(news)
}

//! A line to the server that can be cut without anybody being told: what is
//! said waits on it, as behind a switch that died. No connection is closed.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

const LOOK: Duration = Duration::from_millis(20);

#[derive(Debug)]
pub struct Line {
    pub address: String,
    is_cut: Arc<AtomicBool>,
}

impl Line {
    /// Its threads live as long as this process.
    pub fn to(server: &str) -> std::io::Result<Line> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
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
        Ok(Line { address, is_cut })
    }

    pub fn cut(&self, is_cut: bool) {
        self.is_cut.store(is_cut, Ordering::SeqCst);
    }
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

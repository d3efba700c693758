//! `ralph web`: the page.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::process::{Command, Stdio};

use ralph_core::tr;

use super::history::keeping;
use crate::app::{App, Exit};
use crate::args::WebArgs;
use crate::web::{Server, Site};

const USUAL_PORT: u16 = 7437;

pub fn run(app: &App, args: &WebArgs) -> Exit {
    let lang = app.lang();
    let server = bind(app, args)?;
    let url = server.url();
    app.print(&tr!(lang, "{url}\nThe address holds the key: whoever has it can see and stop your runs. Ctrl+C ends the page, and no run."));
    let port = server.address().port();
    if !server.address().ip().is_loopback() {
        app.warn(&tr!(lang, "everybody on the network can reach the page, and nothing is encrypted; an SSH tunnel is safer: ssh -L {port}:127.0.0.1:{port}"));
    }
    if args.open {
        open(app, &url);
    }
    server.run();
    Ok(0)
}

/// The usual port, so that a bookmark holds; a free one where that is taken
/// and nobody asked for it.
fn bind(app: &App, args: &WebArgs) -> Result<Server, u8> {
    let at = |port| -> Result<std::io::Result<Server>, u8> {
        let site = Site {
            layout: app.layout(),
            lang: app.lang(),
            keeping: keeping(app)?,
        };
        Ok(Server::bind(site, SocketAddr::new(args.bind, port)))
    };
    let bound = match (args.port, at(args.port.unwrap_or(USUAL_PORT))?) {
        (None, Err(error)) if error.kind() == ErrorKind::AddrInUse => at(0)?,
        (_, bound) => bound,
    };
    bound.or_else(|error| {
        let (ip, port) = (args.bind, args.port.unwrap_or(USUAL_PORT));
        app.refuse(&tr!(
            app.lang(),
            "{ip}:{port} can't be listened on ({error}); choose another with --port"
        ))
    })
}

fn open(app: &App, url: &str) {
    let program = match () {
        () if cfg!(target_os = "macos") => "open",
        () if cfg!(windows) => "explorer",
        () => "xdg-open",
    };
    let started = Command::new(program)
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    match started {
        // Whoever opens a page is waited for by nobody else.
        Ok(mut child) => drop(std::thread::spawn(move || child.wait())),
        Err(error) => app.warn(&tr!(
            app.lang(),
            "{program} can't be started ({error}); open the address by hand"
        )),
    }
}

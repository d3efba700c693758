//! `ralph web`: the page.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use ralph_core::tr;
use ralph_store::private::PrivateDir;

use super::history::keeping;
use crate::app::{App, Exit};
use crate::args::WebArgs;
use crate::out;
use crate::web::{Projects, Server, Site};

const USUAL_PORT: u16 = 7437;
/// The file that leads to the page, and how long it lies there.
const LEADING: &str = "ralph.html";
const LEADS: Duration = Duration::from_secs(60);

pub fn run(app: &App, args: &WebArgs) -> Exit {
    let lang = app.lang();
    let server = bind(app, args, &Arc::new(projects(app, args)?))?;
    let url = server
        .url()
        .or_else(|error| app.refuse(&error.to_string()))?;
    app.tell(&tr!(lang, "{url}\nThe address lets one browser in, which can see and stop your runs; then the next one is printed. Ctrl+C ends the page, and no run."));
    let port = server.address().port();
    if !server.address().ip().is_loopback() {
        app.warn(&tr!(lang, "everybody on the network can reach the page, and nothing is encrypted; an SSH tunnel is safer: ssh -L {port}:127.0.0.1:{port}"));
    }
    if args.open {
        let address = server
            .url()
            .or_else(|error| app.refuse(&error.to_string()))?;
        open(app, &address);
    }
    server.run();
    Ok(0)
}

#[cfg(feature = "fleet")]
fn projects(app: &App, args: &WebArgs) -> Result<Projects, u8> {
    match args.fleet {
        true => crate::fleet::page::follow(app).map(Projects::Elsewhere),
        false => Ok(Projects::One(app.layout())),
    }
}

#[cfg(not(feature = "fleet"))]
fn projects(app: &App, _args: &WebArgs) -> Result<Projects, u8> {
    Ok(Projects::One(app.layout()))
}

/// The usual port, so that a bookmark holds; a free one where that is taken
/// and nobody asked for it.
fn bind(app: &App, args: &WebArgs, projects: &Arc<Projects>) -> Result<Server, u8> {
    let at = |port| -> Result<std::io::Result<Server>, u8> {
        let site = Site {
            projects: Arc::clone(projects),
            lang: app.lang(),
            keeping: keeping(app)?,
            opened: |url| out::people(&format!("{url}\n"), false),
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

/// A file of our own leads the browser there: everybody on the machine can see
/// the arguments of a program (S-10).
fn open(app: &App, url: &str) {
    let leading = match leading_to(url) {
        Ok(leading) => leading,
        Err(error) => return app.warn(&error.to_string()),
    };
    let program = match () {
        () if cfg!(target_os = "macos") => "open",
        () if cfg!(windows) => "explorer",
        () => "xdg-open",
    };
    let started = Command::new(program)
        .arg(leading.path().join(LEADING))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    match started {
        // Whoever opens a page is waited for by nobody else.
        Ok(mut child) => drop(std::thread::spawn(move || {
            let _ = child.wait();
            std::thread::sleep(LEADS);
            drop(leading);
        })),
        Err(error) => app.warn(&tr!(
            app.lang(),
            "{program} can't be started ({error}); open the address by hand"
        )),
    }
}

fn leading_to(url: &str) -> std::io::Result<PrivateDir> {
    let dir = PrivateDir::new("web")?;
    let page = format!(
        "<!doctype html><meta charset=utf-8><meta name=referrer content=no-referrer><meta http-equiv=refresh content=\"0;url={url}\">"
    );
    std::fs::write(dir.path().join(LEADING), page)?;
    Ok(dir)
}

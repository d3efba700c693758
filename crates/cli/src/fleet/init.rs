//! `ralph fleet init`: a configuration and keys for a server.

use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;

use ralph_core::tr;
use ralph_fleet::board::{Login, make_buckets};
use ralph_fleet::conf::{self, Role, Wishes};
use ralph_store::private;

use crate::app::{App, Exit, OrFail};
use crate::args::FleetInitArgs;

const CONFIGURATION: &str = "nats-server.conf";

pub fn files(app: &App, args: &FleetInitArgs, server: Option<&str>) -> Exit {
    let lang = app.lang();
    let listen = address(app, args, server)?;
    let refused = |error: std::io::Error, path: &Path| {
        let path = path.display();
        app.refuse::<()>(&tr!(lang, "{path} can't be written: {error}"))
    };
    let dir = std::path::absolute(&args.dir).unwrap_or_else(|_| args.dir.clone());
    let file = dir.join(CONFIGURATION);
    if file.exists() {
        let file = file.display();
        return app.refuse(&tr!(
            lang,
            "{file} is there already; delete the folder, or choose another"
        ));
    }
    if !listen.ip().is_loopback() && args.tls_cert.is_none() {
        app.warn(&tr!(lang, "{listen} can be reached from elsewhere, and nothing is encrypted: give --tls-cert and --tls-key"));
    }
    std::fs::create_dir_all(&dir).or_else(|error| refused(error, &dir))?;
    let mut keys = Vec::new();
    for role in Role::ALL {
        let Some((seed, public)) = ralph_fleet::new_key() else {
            return app.refuse(&tr!(lang, "no key could be made"));
        };
        let path = dir.join(format!("{}.nk", role.name()));
        let written = private::create_file(&path).and_then(|mut file| writeln!(file, "{seed}"));
        written.or_else(|error| refused(error, &path))?;
        keys.push((role, public));
    }
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let cert = args.tls_cert.as_deref().map(absolute);
    let key = args.tls_key.as_deref().map(absolute);
    let text = conf::server(
        &Wishes {
            listen: &listen.to_string(),
            store: &dir.join("jetstream"),
            tls: cert.as_deref().zip(key.as_deref()),
            max_store_gb: args.max_store,
            old: args.old_server,
        },
        &keys,
    );
    std::fs::write(&file, text).or_else(|error| refused(error, &file))?;
    next_steps(app, &dir, args, listen)
}

/// Where the server listens: as it was said, else where it is going to be
/// asked for.
fn address(app: &App, args: &FleetInitArgs, server: Option<&str>) -> Result<SocketAddr, u8> {
    if let Some(listen) = args.listen {
        return Ok(listen);
    }
    let url = server.unwrap_or(super::USUAL_SERVER);
    let place = url.split_once("://").map_or(url, |(_, place)| place);
    let place = place
        .trim_end_matches('/')
        .replace("localhost", "127.0.0.1");
    place
        .parse()
        .or_else(|_| format!("{place}:{USUAL_PORT}").parse())
        .or_else(|_| {
            app.refuse(&tr!(
                app.lang(),
                "{url} does not say at which address the server listens: give --listen IP:PORT"
            ))
        })
}

const USUAL_PORT: u16 = 4222;

fn next_steps(app: &App, dir: &Path, args: &FleetInitArgs, listen: SocketAddr) -> Exit {
    let lang = app.lang();
    let scheme = if args.tls_cert.is_some() {
        "tls"
    } else {
        "nats"
    };
    let url = format!("{scheme}://{listen}");
    let dir = dir.display();
    if args.old_server {
        app.warn(&tr!(lang, "a server before 2.10 syncs its files every two minutes: a power failure can lose what it said it has"));
    }
    app.done(&tr!(
        lang,
        "1. start the server:      nats-server -c {dir}/{CONFIGURATION}\n\
         2. make the buckets once: ralph fleet init --buckets --server {url} --key {dir}/operator.nk\n\
         3. on each machine:       ralph fleet worker --server {url} --key worker.nk\n\
         4. send jobs:             ralph fleet submit --server {url} --key {dir}/submitter.nk \"PROMPT\"\n\
         Give worker.nk to workers and submitter.nk to people, and nobody operator.nk. RALPH_FLEET_SERVER and RALPH_FLEET_KEY stand for the two options."
    ))
}

pub fn buckets(app: &App, login: &Login) -> Exit {
    app.block_on(make_buckets(login))?.or_fail(app)?;
    let url = login.shown();
    app.done(&tr!(app.lang(), "{url} is ready for jobs"))
}

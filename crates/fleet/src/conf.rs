//! What a server needs: its configuration, with users that may do no more
//! than they have to, and the buckets that jobs live in.

use std::fmt::Write as _;
use std::path::Path;

/// Names on the server.
pub const SPECS: &str = "ralph_specs";
pub const STATES: &str = "ralph_states";
pub const WORKERS: &str = "ralph_workers";
pub const CONTROL: &str = "ralph_control";
pub const INPUTS: &str = "ralph_inputs";
pub const RESULTS: &str = "ralph_results";
pub const EVENTS: &str = "ralph_events";
/// Events of a job have this subject and its id.
pub const EVENT: &str = "ralph.event";

/// Who somebody is on the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Makes the buckets.
    Operator,
    /// Sends jobs, looks, cancels, fetches.
    Submitter,
    Worker,
}

impl Role {
    pub const ALL: [Role; 3] = [Role::Operator, Role::Submitter, Role::Worker];

    pub fn name(self) -> &'static str {
        match self {
            Role::Operator => "operator",
            Role::Submitter => "submitter",
            Role::Worker => "worker",
        }
    }

    /// Where answers come to. Each role has its own, so that none can listen
    /// to what is answered to another.
    pub fn inbox(self) -> String {
        format!("_INBOX_{}", self.name())
    }

    /// What it may say; what it may hear are answers to itself.
    fn publishes(self) -> Vec<String> {
        let mut all = Vec::new();
        match self {
            Role::Operator => return vec![">".into()],
            Role::Submitter => {
                all.extend([SPECS, STATES].map(|bucket| format!("$KV.{bucket}.>")));
                all.push(format!("$KV.{CONTROL}.drain.>"));
                all.push(format!("$KV.{CONTROL}.word.>"));
                all.push(format!("$KV.{CONTROL}.landing.>"));
                all.push(format!("$O.{INPUTS}.>"));
            }
            Role::Worker => {
                all.extend([STATES, WORKERS].map(|bucket| format!("$KV.{bucket}.>")));
                all.push(format!("$KV.{CONTROL}.limit.>"));
                all.push(format!("$O.{RESULTS}.>"));
                all.push(format!("{EVENT}.>"));
            }
        }
        let kv = [SPECS, STATES, WORKERS, CONTROL].map(|bucket| format!("KV_{bucket}"));
        let objects = [INPUTS, RESULTS].map(|bucket| format!("OBJ_{bucket}"));
        let mut streams: Vec<String> = kv.into_iter().chain(objects).collect();
        if self == Role::Submitter {
            streams.push(EVENTS.into());
        }
        for stream in streams {
            all.extend(reading(&stream));
        }
        all.push("$JS.API.INFO".into());
        all.push("$JS.FC.>".into());
        all
    }
}

/// What it takes to read a stream.
fn reading(stream: &str) -> [String; 8] {
    [
        format!("$JS.API.STREAM.INFO.{stream}"),
        format!("$JS.API.STREAM.MSG.GET.{stream}"),
        format!("$JS.API.DIRECT.GET.{stream}.>"),
        format!("$JS.API.CONSUMER.CREATE.{stream}"),
        format!("$JS.API.CONSUMER.CREATE.{stream}.>"),
        format!("$JS.API.CONSUMER.INFO.{stream}.>"),
        format!("$JS.API.CONSUMER.MSG.NEXT.{stream}.>"),
        format!("$JS.API.CONSUMER.DELETE.{stream}.>"),
    ]
}

/// What a person decides about a server.
#[derive(Clone, Debug)]
pub struct Wishes<'a> {
    /// Host and port.
    pub listen: &'a str,
    pub store: &'a Path,
    /// Certificate and key.
    pub tls: Option<(&'a Path, &'a Path)>,
    pub max_store_gb: u32,
    /// Before 2.10: it can't be asked to sync what it says it has.
    pub old: bool,
}

fn quoted(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{text}\"")
}

/// The configuration; `keys` are the public keys of the roles. Nothing in it
/// is secret.
pub fn server(wishes: &Wishes<'_>, keys: &[(Role, String)]) -> String {
    let mut out = String::from(
        "# Written by `ralph fleet init`. Start it with: nats-server -c THIS_FILE\n\n",
    );
    let path = |path: &Path| quoted(&path.display().to_string());
    let _ = writeln!(out, "server_name: ralph_fleet");
    let _ = writeln!(out, "listen: {}", quoted(wishes.listen));
    let _ = writeln!(out, "max_payload: 1MB\nmax_connections: 4096\n");
    let _ = writeln!(out, "jetstream {{\n  store_dir: {}", path(wishes.store));
    let _ = writeln!(out, "  max_memory_store: 64MB");
    let _ = writeln!(out, "  max_file_store: {}GB", wishes.max_store_gb);
    if !wishes.old {
        out.push_str("  # What the server says it has is on the disk.\n");
        out.push_str("  sync_interval: always\n");
    }
    out.push_str("}\n\n");
    if let Some((cert, key)) = wishes.tls {
        let (cert, key) = (path(cert), path(key));
        let _ = writeln!(out, "tls {{\n  cert_file: {cert}\n  key_file: {key}\n}}\n");
    }
    out.push_str("accounts {\n  FLEET {\n    jetstream: enabled\n    users: [\n");
    for (role, key) in keys {
        let list = |all: &[String]| {
            let all: Vec<String> = all.iter().map(|subject| quoted(subject)).collect();
            all.join(", ")
        };
        let hears = match role {
            Role::Operator => vec![">".to_owned()],
            _ => vec![format!("{}.>", role.inbox())],
        };
        let _ = writeln!(out, "      # {}", role.name());
        let _ = writeln!(out, "      {{ nkey: {key}, permissions: {{");
        let _ = writeln!(out, "        publish: [{}]", list(&role.publishes()));
        let _ = writeln!(out, "        subscribe: [{}]", list(&hears));
        let _ = writeln!(out, "      }} }}");
    }
    out.push_str("    ]\n  }\n  SYS { users: [] }\n}\nsystem_account: SYS\n");
    out
}

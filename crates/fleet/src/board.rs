//! Jobs on a server: what `job` allows, done by compare-and-swap.

use std::path::{Path, PathBuf};
use std::time::Duration;

use async_nats::jetstream::consumer::{DeliverPolicy, pull};
use async_nats::jetstream::kv::{self, UpdateErrorKind};
use async_nats::jetstream::object_store::ObjectStore;
use async_nats::jetstream::stream::{self, DiscardPolicy};
use async_nats::jetstream::{self, Context};
use async_nats::{Client, ConnectOptions};
use futures_util::StreamExt;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::io::AsyncReadExt;

use crate::conf::{CONTROL, EVENT, EVENTS, INPUTS, RESULTS, Role, SPECS, STATES, WORKERS};
use crate::error::FleetError;
use crate::job::{Spec, State, is_name};

/// How long one answer may take; whoever waits longer asks again.
const ANSWER: Duration = Duration::from_secs(4);
/// A server that is gone is looked for this often at least.
const RECONNECT: Duration = Duration::from_secs(1);
const PING: Duration = Duration::from_secs(5);
const DAY: Duration = Duration::from_secs(24 * 3600);
/// Workers that were not heard of for so long are not listed.
pub const PRESENCE: Duration = Duration::from_secs(60);
/// What events may take up on the server.
const EVENT_BYTES: i64 = 1 << 30;
/// No report is longer.
const LONGEST_REPORT: u64 = 4 << 20;

/// How to get to a server.
#[derive(Clone, Debug, Default)]
pub struct Login {
    pub url: String,
    /// Of an nkey.
    pub seed: Option<Seed>,
    /// A credentials file as `nsc` makes it.
    pub creds: Option<PathBuf>,
    /// Certificates of whoever signed the server's.
    pub ca: Option<PathBuf>,
}

/// What nobody prints.
#[derive(Clone)]
pub struct Seed(pub String);

impl std::fmt::Debug for Seed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Seed")
    }
}

impl Login {
    /// The address without what is secret in it.
    pub fn shown(&self) -> String {
        match self.url.split_once('@') {
            Some((before, host)) => {
                let scheme = before.split_once("://").map_or("", |(scheme, _)| scheme);
                let sep = if scheme.is_empty() { "" } else { "://" };
                format!("{scheme}{sep}{host}")
            }
            None => self.url.clone(),
        }
    }

    async fn connect(&self, role: Role) -> Result<Client, FleetError> {
        let mut options = ConnectOptions::new()
            .name(format!("ralph {}", role.name()))
            .custom_inbox_prefix(role.inbox())
            .ping_interval(PING)
            .request_timeout(Some(ANSWER))
            .reconnect_delay_callback(|tries| {
                RECONNECT.min(Duration::from_millis(20 * tries as u64))
            });
        let file = |path: &Path, why: &std::io::Error| FleetError::File {
            path: path.to_owned(),
            why: why.to_string(),
        };
        if let Some(Seed(seed)) = &self.seed {
            options = options.nkey(seed.trim().to_owned());
        }
        if let Some(path) = &self.creds {
            let read = options.credentials_file(path).await;
            options = read.map_err(|error| file(path, &error))?;
        }
        if let Some(path) = &self.ca {
            options = options.add_root_certificates(path.clone());
        }
        let connected = options.connect(self.url.as_str()).await;
        connected.map_err(|error| FleetError::Unreachable {
            url: self.shown(),
            why: error.to_string(),
        })
    }
}

/// What became of a compare-and-swap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Swap {
    /// The new revision.
    Done(u64),
    /// Somebody was there before.
    Lost,
    /// No answer came: it may have been done, may be done later, or never.
    Unknown(String),
}

/// A worker as others see it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Presence {
    pub host: String,
    pub pid: u32,
    pub version: String,
    pub capacity: usize,
    pub labels: Vec<String>,
    pub account: Option<String>,
    pub jobs: Vec<String>,
    pub draining: bool,
    /// Its account can't be used before this time (wall clock, milliseconds).
    pub held_until_ms: Option<u64>,
}

/// One event of a job's run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobEvent {
    pub attempt: u32,
    pub worker: String,
    pub event: serde_json::Value,
}

/// A word of a person for the run of a job, as the page sends it to a run of
/// this machine. It is meant for one attempt and heard by no other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Word {
    pub attempt: u32,
    pub verb: String,
    pub body: serde_json::Value,
}

/// The account's usage limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    pub until_ms: u64,
}

#[derive(Clone)]
pub struct Board {
    client: Client,
    pub(crate) specs: kv::Store,
    pub(crate) states: kv::Store,
    pub(crate) workers: kv::Store,
    pub(crate) control: kv::Store,
    inputs: ObjectStore,
    results: ObjectStore,
    jetstream: Context,
}

impl std::fmt::Debug for Board {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Board")
    }
}

fn context(client: &Client) -> Context {
    let mut context = jetstream::new(client.clone());
    context.set_timeout(ANSWER);
    context
}

/// Makes what jobs live in; what is there stays as it is.
pub async fn make_buckets(login: &Login) -> Result<(), FleetError> {
    let client = login.connect(Role::Operator).await?;
    let context = context(&client);
    for config in streams() {
        let made = context.get_or_create_stream(config).await;
        made.map_err(FleetError::server)?;
    }
    Ok(())
}

/// Buckets are streams with subjects of a certain form. The client's own way
/// to make them asks for what a server before 2.10 does not tell.
fn streams() -> Vec<stream::Config> {
    let bucket = |max_age| stream::Config {
        max_age,
        num_replicas: 1,
        discard: DiscardPolicy::New,
        allow_rollup: true,
        allow_direct: true,
        ..stream::Config::default()
    };
    let kv = |name: &str, max_age| stream::Config {
        name: format!("KV_{name}"),
        subjects: vec![format!("$KV.{name}.>")],
        max_messages_per_subject: 1,
        deny_delete: true,
        ..bucket(max_age)
    };
    let objects = |name: &str| stream::Config {
        name: format!("OBJ_{name}"),
        subjects: vec![format!("$O.{name}.C.>"), format!("$O.{name}.M.>")],
        ..bucket(30 * DAY)
    };
    let events = stream::Config {
        name: EVENTS.into(),
        subjects: vec![format!("{EVENT}.*")],
        max_age: 7 * DAY,
        max_bytes: EVENT_BYTES,
        discard: DiscardPolicy::Old,
        ..stream::Config::default()
    };
    vec![
        kv(SPECS, Duration::ZERO),
        kv(STATES, Duration::ZERO),
        kv(WORKERS, PRESENCE),
        kv(CONTROL, 7 * DAY),
        objects(INPUTS),
        objects(RESULTS),
        events,
    ]
}

impl Board {
    pub async fn open(login: &Login, role: Role) -> Result<Board, FleetError> {
        let client = login.connect(role).await?;
        let context = context(&client);
        let missing = |name: &str| FleetError::NotSetUp { name: name.into() };
        let kv = async |name: &str| {
            let store = context.get_key_value(name).await;
            store.map_err(|_| missing(name))
        };
        let objects = async |name: &str| {
            let store = context.get_object_store(name).await;
            store.map_err(|_| missing(name))
        };
        Ok(Board {
            specs: kv(SPECS).await?,
            states: kv(STATES).await?,
            workers: kv(WORKERS).await?,
            control: kv(CONTROL).await?,
            inputs: objects(INPUTS).await?,
            results: objects(RESULTS).await?,
            jetstream: context.clone(),
            client,
        })
    }

    pub fn is_connected(&self) -> bool {
        self.client.connection_state() == async_nats::connection::State::Connected
    }

    /// What was said is on its way before we go.
    pub async fn close(&self) {
        let _ = tokio::time::timeout(ANSWER, self.client.flush()).await;
    }

    /// Puts a job there, once; gives what is there where it was already.
    pub async fn submit(
        &self,
        id: &str,
        spec: &Spec,
        now_ms: u64,
    ) -> Result<Option<State>, FleetError> {
        if !is_name(id) {
            return Err(FleetError::BadName { name: id.into() });
        }
        if !create(&self.specs, id, spec).await? && self.spec(id).await? != *spec {
            return Err(FleetError::OtherJob { id: id.into() });
        }
        // Whoever was killed in between comes back to this.
        match create(&self.states, id, &State::new(spec, now_ms)).await? {
            true => Ok(None),
            false => self.state(id).await.map(|(state, _)| Some(state)),
        }
    }

    pub async fn spec(&self, id: &str) -> Result<Spec, FleetError> {
        let value = self.specs.get(id).await.map_err(FleetError::server)?;
        let value = value.ok_or_else(|| FleetError::NoJob { id: id.into() })?;
        understood(id, &value)
    }

    pub async fn state(&self, id: &str) -> Result<(State, u64), FleetError> {
        let no_job = || FleetError::NoJob { id: id.into() };
        if !is_name(id) {
            return Err(no_job());
        }
        let entry = self.states.entry(id).await.map_err(FleetError::server)?;
        let entry = entry.ok_or_else(no_job)?;
        Ok((understood(id, &entry.value)?, entry.revision))
    }

    /// Writes a state in the place of the one with this revision.
    pub async fn swap(&self, id: &str, revision: u64, state: &State) -> Swap {
        let value = serde_json::to_vec(state).unwrap_or_default();
        match self.states.update(id, value.into(), revision).await {
            Ok(revision) => Swap::Done(revision),
            Err(error) if error.kind() == UpdateErrorKind::WrongLastRevision => Swap::Lost,
            Err(error) => Swap::Unknown(error.to_string()),
        }
    }

    /// Takes a job from everybody; gives how it stands then.
    pub async fn cancel(&self, id: &str) -> Result<State, FleetError> {
        loop {
            let (state, revision) = self.state(id).await?;
            let Some(next) = state.cancelled() else {
                return Ok(state);
            };
            match self.swap(id, revision, &next).await {
                Swap::Done(_) => return Ok(next),
                Swap::Lost => {}
                Swap::Unknown(why) => return Err(FleetError::Server { why }),
            }
        }
    }

    pub async fn states(&self) -> Result<Vec<(String, State)>, FleetError> {
        let all = everything(&self.states).await?;
        let readable = all.into_iter().filter_map(|(id, value)| {
            let state = serde_json::from_slice(&value).ok()?;
            Some((id, state))
        });
        Ok(readable.collect())
    }

    pub async fn workers(&self) -> Result<Vec<(String, Presence)>, FleetError> {
        let all = everything(&self.workers).await?;
        let readable = all.into_iter().filter_map(|(id, value)| {
            let presence = serde_json::from_slice(&value).ok()?;
            Some((id, presence))
        });
        Ok(readable.collect())
    }

    pub(crate) async fn tell_presence(&self, id: &str, presence: &Presence) {
        let value = serde_json::to_vec(presence).unwrap_or_default();
        // Nobody decides anything by it.
        let _ = self.workers.put(id, value.into()).await;
    }

    pub(crate) async fn forget_presence(&self, id: &str) {
        let _ = self.workers.delete(id).await;
    }

    /// Lets a worker take nothing more, and go when it is done.
    pub async fn drain(&self, worker: &str) -> Result<(), FleetError> {
        if !is_name(worker) {
            return Err(FleetError::BadName {
                name: worker.into(),
            });
        }
        let key = format!("drain.{worker}");
        let put = self.control.put(key, "{}".into()).await;
        put.map(drop).map_err(FleetError::server)
    }

    /// Says something to whoever works on a job. `name` is the word's own: an
    /// event of the job tells by it what came of it.
    pub async fn say(&self, job: &str, name: &str, word: &Word) -> Result<(), FleetError> {
        if let Some(name) = [job, name].into_iter().find(|name| !is_name(name)) {
            return Err(FleetError::BadName { name: name.into() });
        }
        let value = serde_json::to_vec(word).unwrap_or_default();
        let put = self.control.put(format!("word.{job}.{name}"), value.into());
        put.await.map(drop).map_err(FleetError::server)
    }

    /// Holds everybody with this account until a time on the wall clock.
    pub async fn hold(&self, account: &str, until_ms: u64) -> Result<(), FleetError> {
        let value = serde_json::to_vec(&Hold { until_ms }).unwrap_or_default();
        let put = self.control.put(format!("limit.{account}"), value.into());
        put.await.map(drop).map_err(FleetError::server)
    }

    /// Nobody waits for an event: while the server is gone, what does not fit
    /// into the buffer is lost.
    pub(crate) async fn tell(&self, job: &str, event: &JobEvent) {
        let payload = serde_json::to_vec(event).unwrap_or_default();
        let said = self
            .client
            .publish(format!("{EVENT}.{job}"), payload.into());
        let _ = tokio::time::timeout(RECONNECT, said).await;
    }

    /// The events of a job, or with `*` of all, from the first; on until
    /// `is_over` says so. Without `follow` it ends with what is there.
    pub async fn events(
        &self,
        job: &str,
        follow: bool,
        mut each: impl FnMut(&str, JobEvent),
        is_over: impl AsyncFn() -> bool,
    ) -> Result<(), FleetError> {
        let stream = self.jetstream.get_stream(EVENTS).await;
        let stream = stream.map_err(|_| FleetError::NotSetUp {
            name: EVENTS.into(),
        })?;
        let config = pull::OrderedConfig {
            filter_subject: format!("{EVENT}.{job}"),
            deliver_policy: DeliverPolicy::All,
            ..pull::OrderedConfig::default()
        };
        let made = stream.create_consumer(config).await;
        let consumer = made.map_err(FleetError::server)?;
        let mut left = consumer.cached_info().num_pending;
        let mut messages = consumer.messages().await.map_err(FleetError::server)?;
        while follow || left > 0 {
            match tokio::time::timeout(RECONNECT, messages.next()).await {
                Ok(Some(Ok(message))) => {
                    left = left.saturating_sub(1);
                    let job = message.subject.rsplit('.').next().unwrap_or_default();
                    if let Ok(event) = serde_json::from_slice(&message.payload) {
                        each(job, event);
                    }
                }
                Ok(Some(Err(error))) => return Err(FleetError::server(error)),
                Ok(None) => return Ok(()),
                // It is silent: is there anything to wait for?
                Err(_) if is_over().await => return Ok(()),
                Err(_) => {}
            }
        }
        Ok(())
    }

    /// Puts a repository there, under the name of its contents.
    pub async fn put_input(&self, name: &str, file: &Path) -> Result<(), FleetError> {
        if self.inputs.info(name).await.is_ok_and(|info| !info.deleted) {
            return Ok(());
        }
        put_file(&self.inputs, name, file).await
    }

    pub async fn get_input(&self, name: &str, into: &Path) -> Result<(), FleetError> {
        get_file(&self.inputs, name, into).await
    }

    pub(crate) async fn put_result(&self, name: &str, file: &Path) -> Result<(), FleetError> {
        put_file(&self.results, name, file).await
    }

    pub(crate) async fn put_report(&self, name: &str, report: &[u8]) -> Result<(), FleetError> {
        let mut bytes = report;
        let put = self.results.put(name, &mut bytes).await;
        put.map(drop).map_err(FleetError::server)
    }

    pub async fn get_result(&self, name: &str, into: &Path) -> Result<(), FleetError> {
        get_file(&self.results, name, into).await
    }

    pub async fn report(&self, name: &str) -> Result<Vec<u8>, FleetError> {
        let object = self.results.get(name).await.map_err(FleetError::server)?;
        let mut report = Vec::new();
        let read = object.take(LONGEST_REPORT).read_to_end(&mut report).await;
        read.map_err(FleetError::server)?;
        Ok(report)
    }
}

fn understood<T: DeserializeOwned>(id: &str, value: &[u8]) -> Result<T, FleetError> {
    serde_json::from_slice(value).map_err(|error| FleetError::Strange {
        id: id.into(),
        why: error.to_string(),
    })
}

/// Whether it was not there before.
async fn create(bucket: &kv::Store, id: &str, value: &impl Serialize) -> Result<bool, FleetError> {
    let value = serde_json::to_vec(value).unwrap_or_default();
    match bucket.create(id, value.into()).await {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == kv::CreateErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(FleetError::server(error)),
    }
}

async fn everything(bucket: &kv::Store) -> Result<Vec<(String, Vec<u8>)>, FleetError> {
    let status = bucket.status().await.map_err(FleetError::server)?;
    let mut all = Vec::new();
    if status.values() == 0 {
        return Ok(all);
    }
    let watch = bucket.watch_with_history(">").await;
    let mut watch = watch.map_err(FleetError::server)?;
    loop {
        // An entry may have gone since it was counted.
        let next = tokio::time::timeout(ANSWER, watch.next()).await;
        let Ok(Some(entry)) = next else {
            return Ok(all);
        };
        let entry = entry.map_err(FleetError::server)?;
        let is_last = entry.delta == 0;
        if entry.operation == kv::Operation::Put {
            all.push((entry.key, entry.value.to_vec()));
        }
        if is_last {
            return Ok(all);
        }
    }
}

async fn put_file(store: &ObjectStore, name: &str, file: &Path) -> Result<(), FleetError> {
    let opened = tokio::fs::File::open(file).await;
    let mut opened = opened.map_err(|error| FleetError::File {
        path: file.to_owned(),
        why: error.to_string(),
    })?;
    let put = store.put(name, &mut opened).await;
    put.map(drop).map_err(FleetError::server)
}

async fn get_file(store: &ObjectStore, name: &str, into: &Path) -> Result<(), FleetError> {
    let mut object = store.get(name).await.map_err(FleetError::server)?;
    let failed = |error: std::io::Error| FleetError::File {
        path: into.to_owned(),
        why: error.to_string(),
    };
    let mut file = tokio::fs::File::create(into).await.map_err(failed)?;
    tokio::io::copy(&mut object, &mut file)
        .await
        .map_err(failed)?;
    file.sync_all().await.map_err(failed)
}

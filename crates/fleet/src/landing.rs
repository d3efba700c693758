//! One lander at a time: who brings the results of a repository's jobs onto a
//! branch. A lease as that of a job: it is worth the revision of its entry, and
//! whoever finds it unchanged for as long as it holds takes it over.

use std::time::{Duration, Instant};

use async_nats::jetstream::kv::{self, UpdateErrorKind};
use serde::{Deserialize, Serialize};

use crate::board::{Board, Swap};
use crate::error::FleetError;
use crate::job::State;

const HOLDS: Duration = Duration::from_secs(15);
/// How often somebody else's is looked at.
const LOOK: Duration = Duration::from_millis(500);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Claim {
    who: String,
    /// Of this one landing.
    token: String,
    holds_ms: u64,
}

/// The right to land, for as long as it is renewed.
#[derive(Debug)]
pub struct Lander {
    board: Board,
    key: String,
    claim: Claim,
    revision: u64,
    /// When the server last said that it is ours.
    heard: Instant,
}

/// What came of asking for it.
#[derive(Debug)]
pub enum Turn {
    Ours(Box<Lander>),
    /// Somebody lands.
    Theirs(String),
}

impl Board {
    /// Asks for the right to land in a repository. One that nobody renews any
    /// more is waited for until it is over.
    pub async fn land_in(
        &self,
        repository: &str,
        who: &str,
        token: String,
    ) -> Result<Turn, FleetError> {
        let key = format!("landing.{repository}");
        let claim = Claim {
            who: who.into(),
            token,
            holds_ms: u64::try_from(HOLDS.as_millis()).unwrap_or(u64::MAX),
        };
        let ours = |revision| {
            Ok(Turn::Ours(Box::new(Lander {
                board: self.clone(),
                key: key.clone(),
                claim: claim.clone(),
                revision,
                heard: Instant::now(),
            })))
        };
        // What somebody else's entry was, and since when.
        let mut seen: Option<(u64, Instant)> = None;
        loop {
            let Some((theirs, revision)) = self.claimed(&key).await? else {
                match self.control.create(&key, bytes(&claim).into()).await {
                    Ok(revision) => return ours(revision),
                    Err(error) if error.kind() == kv::CreateErrorKind::AlreadyExists => continue,
                    Err(error) => return Err(FleetError::server(error)),
                }
            };
            let (first, since) = *seen.get_or_insert((revision, Instant::now()));
            if first != revision {
                return Ok(Turn::Theirs(theirs.who));
            }
            if since.elapsed() >= Duration::from_millis(theirs.holds_ms) {
                match self
                    .control
                    .update(&key, bytes(&claim).into(), revision)
                    .await
                {
                    Ok(revision) => return ours(revision),
                    Err(error) if error.kind() == UpdateErrorKind::WrongLastRevision => continue,
                    Err(error) => return Err(FleetError::server(error)),
                }
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    async fn claimed(&self, key: &str) -> Result<Option<(Claim, u64)>, FleetError> {
        let entry = self.control.entry(key).await.map_err(FleetError::server)?;
        let put = entry.filter(|entry| entry.operation == kv::Operation::Put);
        let claim = put.map(|entry| {
            let claim = serde_json::from_slice(&entry.value);
            let claim = claim.map_err(|error| FleetError::Strange {
                id: key.into(),
                why: error.to_string(),
            });
            claim.map(|claim| (claim, entry.revision))
        });
        claim.transpose()
    }

    /// Writes down that the result of a job is on a branch.
    pub async fn landed(&self, id: &str, commit: &str) -> Result<(), FleetError> {
        loop {
            let (state, revision) = self.state(id).await?;
            let landed = State {
                landed: Some(commit.into()),
                ..state
            };
            match self.swap(id, revision, &landed).await {
                Swap::Done(_) => return Ok(()),
                Swap::Lost => {}
                Swap::Unknown(why) => return Err(FleetError::Server { why }),
            }
        }
    }
}

impl Lander {
    /// How often it has to be renewed.
    pub const EVERY: Duration = Duration::from_secs(4);

    /// Whether it is still ours: others surely think so for as long as it holds.
    pub async fn renew(&mut self) -> bool {
        let claim = bytes(&self.claim).into();
        let renewed = self.board.control.update(&self.key, claim, self.revision);
        let revision = match renewed.await {
            Ok(revision) => Some(revision),
            // A word of ours may have arrived without our hearing of it.
            Err(_) => match self.board.claimed(&self.key).await {
                Ok(Some((claim, revision))) if claim == self.claim => Some(revision),
                Ok(_) => return false,
                Err(_) => None,
            },
        };
        if let Some(revision) = revision {
            self.revision = revision;
            self.heard = Instant::now();
        }
        self.heard.elapsed() < HOLDS
    }

    pub async fn leave(mut self) {
        if self.renew().await {
            let _ = self.board.control.delete(&self.key).await;
        }
    }
}

fn bytes(claim: &Claim) -> Vec<u8> {
    serde_json::to_vec(claim).unwrap_or_default()
}

//! A job in hand: the lease is renewed, and what comes of the job is written
//! only by whoever still holds it.

use std::time::{Duration, Instant};

use crate::board::{Board, Swap};
use crate::job::State;

/// After so many leases without a word from the server somebody else surely
/// has the job, or will have; an agent that works for nothing costs money.
const OUT_OF_TOUCH: u32 = 10;
/// Between two tries to be heard.
const AGAIN: Duration = Duration::from_millis(250);

#[derive(Debug)]
pub(crate) struct Holding {
    pub board: Board,
    pub id: String,
    pub token: String,
    pub state: State,
    pub revision: u64,
    pub holds: Duration,
    /// When the server last said that it is ours.
    heard: Instant,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Held {
    Ours,
    /// Nobody knows at the moment.
    Unheard,
    Lost,
}

impl Holding {
    pub fn new(
        board: Board,
        id: String,
        token: String,
        (state, revision): (State, u64),
        holds: Duration,
    ) -> Holding {
        Holding {
            board,
            id,
            token,
            state,
            revision,
            holds,
            heard: Instant::now(),
        }
    }

    pub async fn renew(&mut self) -> Held {
        match self.board.swap(&self.id, self.revision, &self.state).await {
            Swap::Done(revision) => {
                self.revision = revision;
                self.heard = Instant::now();
                Held::Ours
            }
            Swap::Lost | Swap::Unknown(_) => self.look().await,
        }
    }

    /// Reads what the server has. A word of ours may have arrived without our
    /// hearing of it: the token tells.
    async fn look(&mut self) -> Held {
        match self.board.state(&self.id).await {
            Ok((state, revision)) if state.is_held_by(&self.token) => {
                (self.state, self.revision) = (state, revision);
                self.heard = Instant::now();
                Held::Ours
            }
            Ok(_) => Held::Lost,
            Err(_) if self.heard.elapsed() > self.holds * OUT_OF_TOUCH => Held::Lost,
            Err(_) => Held::Unheard,
        }
    }

    /// Writes the end of this attempt; whether it counts.
    pub async fn finish(
        &mut self,
        next: impl Fn(&State) -> Option<State>,
        is_ours: impl Fn(&State) -> bool,
    ) -> bool {
        loop {
            let Some(state) = next(&self.state) else {
                return false;
            };
            if let Swap::Done(_) = self.board.swap(&self.id, self.revision, &state).await {
                return true;
            }
            // Whether it was written is not known, or it was not.
            match self.board.state(&self.id).await {
                Ok((state, _)) if is_ours(&state) => return true,
                Ok((state, revision)) if state.is_held_by(&self.token) => {
                    (self.state, self.revision) = (state, revision);
                    self.heard = Instant::now();
                }
                Ok(_) => return false,
                Err(_) if self.heard.elapsed() > self.holds * OUT_OF_TOUCH => return false,
                Err(_) => {}
            }
            tokio::time::sleep(AGAIN).await;
        }
    }
}

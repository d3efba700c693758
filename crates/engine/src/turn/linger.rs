//! What ends a child beside the wishes of the person: it said how the turn
//! went and does not go (pain 10), it used more than it may, or it did
//! something unseen by the guard.

use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio::time::sleep_until;

use crate::supervise::Stop;

/// How long a client may stay that has nothing left to do.
pub const LINGER: Duration = Duration::from_secs(60);

/// Since when the client has nothing left to do.
pub(super) type Rest = Option<Instant>;

/// Passes the wishes of the person on to the child, and adds one of its own
/// when the child has rested for too long or it is enough. Never ends by
/// itself.
pub(super) async fn watch_over(
    mut wishes: watch::Receiver<Stop>,
    mut rest: watch::Receiver<Rest>,
    mut enough: watch::Receiver<bool>,
    patience: Duration,
    child: &watch::Sender<Stop>,
    lingered: &AtomicBool,
) -> Infallible {
    let mut ours = Stop::No;
    loop {
        let rested = *rest.borrow_and_update();
        let deadline = rested
            .filter(|_| ours == Stop::No)
            .and_then(|since| since.checked_add(patience));
        tokio::select! {
            () = changed(&mut wishes) => {}
            () = changed(&mut rest) => {}
            () = changed(&mut enough) => {
                if *enough.borrow_and_update() {
                    ours = Stop::Gracefully;
                }
            }
            () = until(deadline) => {
                lingered.store(true, Ordering::Relaxed);
                ours = Stop::Gracefully;
            }
        }
        // A freeze is taken back, an end is not.
        let wanted = ours.max(*wishes.borrow_and_update());
        child.send_if_modified(|stop| {
            let news = *stop != wanted;
            *stop = wanted;
            news
        });
    }
}

/// Where nobody is left to change it, nothing changes.
async fn changed<T>(value: &mut watch::Receiver<T>) {
    if value.changed().await.is_err() {
        std::future::pending().await
    }
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(at) => sleep_until(at.into()).await,
        None => std::future::pending().await,
    }
}

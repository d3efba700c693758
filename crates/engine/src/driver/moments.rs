//! What the loop sleeps for: each ends at its moment, or never.

use std::future::Future;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use ralph_core::machine::{Now, WaitReason};
use ralph_store::FileError;
use ralph_store::layout::Layout;
use tokio::sync::oneshot;
use tokio::time::sleep;

use crate::clock::{self, WakeAt};

/// How often the stop file is looked for while nothing else happens.
const STOP_FILE_LOOK: Duration = Duration::from_millis(500);

/// How often a wait that is shown on a terminal is told anew.
pub(super) const COUNTDOWN: Duration = Duration::from_secs(1);

/// Ends when somebody wrote the stop file, which is looked for at once: before
/// a turn, and again and again while it runs. An error says why it stays.
pub(super) async fn stop_file(layout: &Layout, seen: bool) -> Result<(), FileError> {
    if seen {
        return std::future::pending().await;
    }
    while !layout.take_stop_file()? {
        sleep(STOP_FILE_LOOK).await;
    }
    Ok(())
}

pub(super) async fn finished<F: Future + Unpin>(child: &mut Option<F>) -> F::Output {
    match child {
        Some(child) => child.await,
        None => std::future::pending().await,
    }
}

pub(super) async fn at(moment: Option<WakeAt>) {
    match moment {
        Some(moment) => clock::sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

pub(super) async fn chosen<T>(menu: &mut Option<oneshot::Receiver<T>>) -> Option<T> {
    match menu {
        Some(menu) => menu.await.ok(),
        None => std::future::pending().await,
    }
}

/// The limits of an agent end on the wall clock; every other wait takes its
/// time, whatever the wall clock does meanwhile.
pub(super) fn wake_at(ms: u64, why: WaitReason, at: Now) -> WakeAt {
    let steady = |ms| WakeAt::Steady(at.steady_ms.saturating_add(ms));
    match why {
        WaitReason::Limit | WaitReason::Answer => WakeAt::wall_after(at, ms),
        WaitReason::Overload | WaitReason::Ci => WakeAt::wall_after(at, with_jitter(ms)),
        WaitReason::Backoff => steady(with_jitter(ms)),
        WaitReason::Between | WaitReason::Rate | WaitReason::Cooldown => steady(ms),
    }
}

/// Up to a fifth more, so that many loops do not come back at once.
fn with_jitter(ms: u64) -> u64 {
    ms + u64::from(clock::random()) % (ms / 5 + 1)
}

/// Lets the child hear what is wanted of it; gives what came of it, should it
/// be done.
pub(super) async fn polled_once<F: Future + Unpin>(child: &mut Option<F>) -> Option<F::Output> {
    std::future::poll_fn(|context| {
        Poll::Ready(match child {
            Some(child) => match Pin::new(child).poll(context) {
                Poll::Ready(done) => Some(done),
                Poll::Pending => None,
            },
            None => None,
        })
    })
    .await
}

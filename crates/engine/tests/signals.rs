//! Signals to this very process, which is why this is the only test here.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]

use std::time::Duration;

use ralph_core::machine::Request;
use ralph_engine::signals::{self, Told};
use rustix::process::{Signal, getpid, kill_process};
use tokio::sync::mpsc;

async fn check(sent: &[(Signal, Request)]) {
    let (sender, mut requests) = mpsc::unbounded_channel();
    signals::listen(sender).unwrap();
    for (signal, want) in sent {
        kill_process(getpid(), *signal).unwrap();
        let heard = tokio::time::timeout(Duration::from_secs(20), requests.recv());
        assert_eq!(heard.await.unwrap(), Some(Told::Request(*want)), "{sent:?}");
    }
}

#[tokio::test]
async fn the_first_asks_and_control_c_again_insists() {
    use Request::{Cancel, Interrupt, Kill, Pause};
    check(&[
        (Signal::INT, Interrupt),
        (Signal::INT, Kill),
        (Signal::INT, Kill),
    ])
    .await;
    check(&[(Signal::USR1, Pause), (Signal::INT, Interrupt)]).await;
    // `ralph stop --now`, and Ctrl+\\ at the terminal.
    check(&[(Signal::QUIT, Kill)]).await;
    check(&[(Signal::USR2, Cancel), (Signal::INT, Interrupt)]).await;
    // A session that ends sends both; the agent keeps its grace.
    check(&[(Signal::TERM, Interrupt), (Signal::HUP, Interrupt)]).await;
    check(&[
        (Signal::HUP, Interrupt),
        (Signal::TERM, Interrupt),
        (Signal::INT, Kill),
    ])
    .await;
}

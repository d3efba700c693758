//! Signals as requests: the first asks, the second insists (INTR-02, INTR-07).

use ralph_core::machine::Request;
use tokio::sync::mpsc;

/// Turns signals into requests for as long as somebody listens.
#[cfg(unix)]
pub fn listen(requests: mpsc::UnboundedSender<Request>) -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    tokio::spawn(async move {
        let mut request = Request::Interrupt;
        loop {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
                _ = hangup.recv() => {}
            }
            if requests.send(request).is_err() {
                return;
            }
            request = Request::Kill;
        }
    });
    Ok(())
}

#[cfg(not(unix))]
pub fn listen(requests: mpsc::UnboundedSender<Request>) -> std::io::Result<()> {
    tokio::spawn(async move {
        let mut request = Request::Interrupt;
        while tokio::signal::ctrl_c().await.is_ok() && requests.send(request).is_ok() {
            request = Request::Kill;
        }
    });
    Ok(())
}

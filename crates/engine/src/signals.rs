//! Signals as requests: the first asks, the second insists (INTR-02, INTR-07);
//! `ralph pause` and `ralph cancel` have signals of their own.

use ralph_core::machine::Request;
use tokio::sync::mpsc;

/// Turns signals into requests for as long as somebody listens.
#[cfg(unix)]
pub fn listen(requests: mpsc::UnboundedSender<Request>) -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    let mut pause = signal(SignalKind::user_defined1())?;
    let mut cancel = signal(SignalKind::user_defined2())?;
    tokio::spawn(async move {
        let mut stop = Request::Interrupt;
        loop {
            let request = tokio::select! {
                _ = interrupt.recv() => std::mem::replace(&mut stop, Request::Kill),
                _ = terminate.recv() => std::mem::replace(&mut stop, Request::Kill),
                _ = hangup.recv() => std::mem::replace(&mut stop, Request::Kill),
                _ = pause.recv() => Request::Pause,
                _ = cancel.recv() => Request::Cancel,
            };
            if requests.send(request).is_err() {
                return;
            }
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

//! Signals as requests: the first asks, Ctrl+C again insists (INTR-02,
//! INTR-07); `ralph pause` and `ralph cancel` have signals of their own.

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
        let mut asked = false;
        loop {
            let request = tokio::select! {
                _ = interrupt.recv() => if asked { Request::Kill } else { Request::Interrupt },
                // Whoever closes a session sends several of these at once,
                // and means no more by it than one.
                _ = terminate.recv() => Request::Interrupt,
                _ = hangup.recv() => Request::Interrupt,
                _ = pause.recv() => Request::Pause,
                _ = cancel.recv() => Request::Cancel,
            };
            asked |= request == Request::Interrupt;
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

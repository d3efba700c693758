//! Signals as requests: the first asks, Ctrl+C again insists (INTR-02,
//! INTR-07), `SIGUSR1` pauses, `SIGUSR2` cancels, `SIGQUIT` kills the turn, and
//! Ctrl+Z freezes.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
#[cfg(unix)]
use std::sync::atomic::Ordering;

use ralph_core::machine::Request;
use tokio::sync::mpsc;

/// How long whoever was told to go may take for it.
#[cfg(unix)]
const GRACE: std::time::Duration = std::time::Duration::from_secs(1);

/// What a person told this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    Request(Request),
    /// Stand still until the shell lets us go on.
    Freeze,
}

/// Turns signals into requests for as long as somebody listens.
#[cfg(unix)]
pub fn listen(told: mpsc::UnboundedSender<Told>) -> std::io::Result<()> {
    use rustix::process::Signal;
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    let mut kill = signal(SignalKind::quit())?;
    let mut pause = signal(SignalKind::user_defined1())?;
    let mut cancel = signal(SignalKind::user_defined2())?;
    let mut freeze = signal(SignalKind::from_raw(Signal::TSTP.as_raw()))?;
    tokio::spawn(async move {
        let mut asked = false;
        loop {
            let request = tokio::select! {
                _ = interrupt.recv() => if asked { Request::Kill } else { Request::Interrupt },
                // Whoever closes a session sends several of these at once,
                // and means no more by it than one.
                _ = terminate.recv() => Request::Interrupt,
                _ = hangup.recv() => Request::Interrupt,
                _ = kill.recv() => Request::Kill,
                _ = pause.recv() => Request::Pause,
                _ = cancel.recv() => Request::Cancel,
                _ = freeze.recv() => {
                    if crate::supervise::can_be_continued() && told.send(Told::Freeze).is_err() {
                        return;
                    }
                    continue;
                }
            };
            asked |= request == Request::Interrupt;
            if told.send(Told::Request(request)).is_err() {
                return;
            }
        }
    });
    Ok(())
}

#[cfg(not(unix))]
pub fn listen(told: mpsc::UnboundedSender<Told>) -> std::io::Result<()> {
    tokio::spawn(async move {
        let mut request = Request::Interrupt;
        while tokio::signal::ctrl_c().await.is_ok() && told.send(Told::Request(request)).is_ok() {
            request = Request::Kill;
        }
    });
    Ok(())
}

/// A flag that is up once this process was told to go by `SIGTERM` or
/// `SIGHUP`, for whoever has a terminal to give back before. `SIGINT` is not
/// for us but for the program that the terminal was lent to. Whoever does not
/// look at the flag within a second (reading from a terminal that is gone may
/// never end) is not waited for: `give_up` is called.
#[cfg(unix)]
pub fn told_to_go(give_up: impl FnOnce() + Send + 'static) -> std::io::Result<Arc<AtomicBool>> {
    use tokio::signal::unix::{SignalKind, signal};
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()?;
    let flag = Arc::new(AtomicBool::new(false));
    let (mut interrupt, mut terminate, mut hangup) = {
        let _here = runtime.enter();
        (
            signal(SignalKind::interrupt())?,
            signal(SignalKind::terminate())?,
            signal(SignalKind::hangup())?,
        )
    };
    let raised = Arc::clone(&flag);
    std::thread::spawn(move || {
        runtime.block_on(async move {
            loop {
                tokio::select! {
                    _ = interrupt.recv() => continue,
                    _ = terminate.recv() => {}
                    _ = hangup.recv() => {}
                }
                break;
            }
        });
        raised.store(true, Ordering::Relaxed);
        std::thread::sleep(GRACE);
        give_up();
    });
    Ok(flag)
}

#[cfg(not(unix))]
pub fn told_to_go(_: impl FnOnce() + Send + 'static) -> std::io::Result<Arc<AtomicBool>> {
    Ok(Arc::default())
}

//! The side of a lane's process: before each call of its agent it asks the run
//! that it belongs to.

use std::io::{BufRead, Write};
use std::sync::Arc;

use ralph_core::machine::Allowance;
use tokio::sync::{Mutex, mpsc, watch};

use super::words::{Answer, Said};
use crate::clock::{self, WakeAt};
use crate::supervise::Stop;

/// Whom a lane asks.
#[derive(Clone, Debug)]
pub struct Governor {
    answers: Arc<Mutex<mpsc::UnboundedReceiver<Answer>>>,
}

impl Governor {
    /// Hears what comes on the standard input, from here on. Its end is the
    /// end of whoever we belong to.
    pub fn listen() -> Governor {
        let (sender, answers) = mpsc::unbounded_channel();
        std::thread::spawn(move || {
            for line in std::io::stdin().lock().lines() {
                let Ok(line) = line else { break };
                if let Ok(answer) = serde_json::from_str(&line)
                    && sender.send(answer).is_err()
                {
                    break;
                }
            }
        });
        Governor {
            answers: Arc::new(Mutex::new(answers)),
        }
    }

    /// Waits until the agent may be called; `None` where it may not any more.
    pub async fn leave(&self, mut stop: watch::Receiver<Stop>) -> Option<Allowance> {
        say(&Said::Ask);
        let granted = async {
            match self.answers.lock().await.recv().await? {
                Answer::Enough => None,
                Answer::Go {
                    not_before,
                    allowance,
                } => {
                    if not_before > clock::now().wall_ms {
                        clock::sleep_until(WakeAt::Wall(not_before)).await;
                    }
                    Some(allowance)
                }
            }
        };
        let stopped =
            async { while stop.changed().await.is_ok() && *stop.borrow() < Stop::Gracefully {} };
        tokio::select! {
            biased;
            () = stopped => None,
            granted = granted => granted,
        }
    }

    /// All others are better off waiting, too.
    pub fn held(&self, until: i64) {
        say(&Said::Held { until });
    }
}

/// Says something to the run that this process belongs to.
pub fn say(said: &Said) {
    let line = serde_json::to_string(said).unwrap_or_default();
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

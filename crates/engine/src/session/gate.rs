//! The verify gate: runs what a check agent has to show before it may stop,
//! and counts its rounds (VERI-01 to VERI-16).

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ralph_core::config::{Markers, OnVerifyTimeout, Settings};
use ralph_core::machine::{VerifyReport, iso_utc};
use ralph_core::session::gate::{self, GateRules, GateState, Markers as Asked, Ruling, failure_of};
use ralph_store::atomic::{AtomicOptions, write_atomic};
use ralph_store::guard_log;
use ralph_store::layout::Layout;
use ralph_store::lock::{self, LockInfo};
use serde_json::json;
use tokio::sync::watch;

use crate::supervise::{Stop, Tag, orphans};
use crate::turn::run_env;
use crate::verify::{Order, Place, Verified, Verifier};
use crate::{clock, wall};

/// How long a round waits for another one to have counted.
const PATIENCE: Duration = Duration::from_secs(2);

/// The gate of a project.
#[derive(Clone, Debug)]
pub struct Gate<'a> {
    pub layout: &'a Layout,
    pub settings: &'a Settings,
    pub verifier: Option<Verifier>,
    /// What the commands are to stand behind.
    pub sandbox: Option<wall::Wanted>,
}

/// What a check agent was told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Passage {
    /// Nothing is configured that it could be asked for.
    NothingToAsk,
    Ruled(Ruling),
}

impl Gate<'_> {
    /// Where the whole output of the commands stands.
    pub fn output_file(&self) -> PathBuf {
        self.layout.state_dir().join("verify.log")
    }

    /// Runs the commands of the project once; `None` where there are none.
    pub fn run(&self) -> Option<VerifyReport> {
        let verifier = self.verifier.as_ref()?;
        let order = Order {
            project: verifier.commands.clone(),
            ..Order::default()
        };
        self.run_order(&order).map(|verified| verified.report)
    }

    /// Runs every command, whatever fails, so that all failures are known.
    pub fn run_all(&self) -> Option<Verified> {
        let verifier = self.verifier.as_ref()?;
        let order = Order {
            own: verifier.commands.clone(),
            ..Order::default()
        };
        self.run_order(&order)
    }

    fn run_order(&self, order: &Order) -> Option<Verified> {
        let verifier = self.verifier.as_ref()?;
        let _ = self.layout.prepare();
        let log = self.output_file();
        let _ = fs::remove_file(&log);
        let stop = watch::Sender::new(Stop::No);
        let root = self.layout.root();
        let tag = Tag::of_this_process("verify");
        let env = run_env(&tag, 0, None);
        let place = Place::at(root);
        let run = async {
            let mut verifier = verifier.clone();
            verifier.wall = wall::around_checks(self.sandbox.as_ref(), self.layout).await;
            let heard = stop.subscribe();
            verifier.run_order(order, 0, &place, &env, log, heard).await
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        Some(match runtime {
            Ok(runtime) => {
                let verified = runtime.block_on(run);
                // What a command left running must not outlive the gate.
                orphans::end_tagged(&tag);
                verified
            }
            Err(error) => Verified {
                report: VerifyReport::default(),
                failing: Default::default(),
                said: Default::default(),
                lost: Some(error.kind()),
            },
        })
    }

    /// Whether an agent that said this may stop.
    pub fn judge(&self, agent: &str, said: &str) -> Passage {
        let task = self.task();
        let failure = match self.run() {
            Some(report) => failure_of(&report),
            None => match self.markers(&task) {
                Some(asked) => asked.missing_in(said),
                None => return Passage::NothingToAsk,
            },
        };
        let ruling = self.count(failure.as_deref(), &task);
        self.record(agent, &task, &ruling, failure.as_deref());
        Passage::Ruled(ruling)
    }

    /// Rounds of agents that stop together are counted one after another.
    fn count(&self, failure: Option<&str>, task: &str) -> Ruling {
        let _ = self.layout.prepare();
        let _lock = self.lock();
        // What is counted is ours; the file of the project is what its tools
        // look at, and nobody believes it (C-05).
        let file = self.layout.state_dir().join("verify-state.json");
        let shown = self.shown_file();
        let text = ralph_store::regular::read_to_string(&file).unwrap_or_default();
        let before = GateState::read(&text, task);
        let now = local_iso();
        let ruling = gate::rule(failure, before, task, &now, self.rules());
        match &ruling {
            Ruling::Block { state, .. } => {
                let options = AtomicOptions { durable: false };
                let _ = write_atomic(&file, state.write().as_bytes(), options);
                if self.layout.refuse_links(&shown).is_ok() {
                    let options = AtomicOptions { durable: false };
                    let _ = write_atomic(&shown, state.write().as_bytes(), options);
                }
            }
            // What it counted is over (VERI-09).
            Ruling::Pass { .. } | Ruling::Unverified { .. } => {
                let _ = fs::remove_file(&file);
                if self.layout.refuse_links(&shown).is_ok() {
                    let _ = fs::remove_file(&shown);
                }
            }
        }
        ruling
    }

    fn lock(&self) -> Option<lock::Lock> {
        let info = LockInfo {
            pid: std::process::id(),
            started_at: iso_utc(clock::now().wall_ms),
            run_id: "verify".into(),
            host: None,
        };
        lock::acquire_within(
            &self.layout.state_dir().join("verify.lock"),
            &info,
            PATIENCE,
        )
        .ok()
    }

    fn rules(&self) -> GateRules {
        let verify = &self.settings.verify;
        GateRules {
            max_rounds: verify.max_rounds,
            max_minutes: verify.max_minutes,
            resets: verify.on_timeout == OnVerifyTimeout::Reset,
        }
    }

    /// The markers that are asked for where no command is set.
    fn markers(&self, task: &str) -> Option<Asked> {
        let check = self.root().join(task).join("check.jsonl");
        let asked = match ralph_store::regular::read(check) {
            _ if task.is_empty() => None,
            Ok(bytes) => Some(Asked::read(&String::from_utf8_lossy(&bytes))),
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                None
            }
            Err(error) => Some(Asked::unreadable(&error.to_string())),
        };
        match self.settings.verify.markers {
            Markers::Off => None,
            Markers::Auto => asked,
            Markers::Required => Some(asked.unwrap_or_else(|| Asked::read(""))),
        }
    }

    /// The current task; empty where none is named.
    fn task(&self) -> String {
        let named = gate::CURRENT_TASK_FILES.iter().find_map(|place| {
            let text = ralph_store::regular::read_to_string(self.root().join(place)).ok()?;
            gate::task_path(place, &text)
        });
        named.unwrap_or_default()
    }

    /// Where the tool that the project uses looks for the count (VERI-07).
    fn shown_file(&self) -> PathBuf {
        let root = self.root();
        let tools = [
            (".ideal", ".verify-state.json"),
            (".trellis", ".ralph-state.json"),
        ];
        let used = tools.iter().find(|(dir, _)| root.join(dir).is_dir());
        match used {
            Some((dir, name)) => root.join(dir).join(name),
            None => self.layout.ralph_dir().join(".verify-state.json"),
        }
    }

    fn root(&self) -> &Path {
        self.layout.root()
    }

    /// One line for each passage, so that nobody can take an agent that was
    /// let go for one that passed.
    fn record(&self, agent: &str, task: &str, ruling: &Ruling, failure: Option<&str>) {
        let (outcome, reason) = match ruling {
            Ruling::Pass { reason } => ("verified", reason),
            Ruling::Unverified { reason } => ("unverified", reason),
            Ruling::Block { reason, .. } => ("blocked", reason),
        };
        let line = json!({
            "ts": iso_utc(clock::now().wall_ms),
            "agent": agent,
            "task": task,
            "outcome": outcome,
            "reason": ralph_core::text::redact(reason),
            "failure": failure.map(ralph_core::text::redact),
        });
        let _ = guard_log::append(&self.layout.state_dir().join("verify.jsonl"), &line);
    }
}

/// As Python's `datetime.now().isoformat()` has it.
fn local_iso() -> String {
    let now = clock::now().wall_ms;
    let millis = now.rem_euclid(1000);
    let text = clock::local_time(now).replace(' ', "T");
    format!("{text}.{millis:03}000")
}

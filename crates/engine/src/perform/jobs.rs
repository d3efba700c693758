//! What takes a child process, other than a turn: verification, end-to-end
//! tests, the reproducers of a review, and the forge. A job owns all that it
//! needs, so that it can run beside its driver.

use std::pin::Pin;
use std::time::Duration;

use ralph_core::forge::{ForgeAnswer, ForgeAsk, Trouble, TroubleKind};
use ralph_core::machine::{CheckScope, CommandResult, Kind, VerifyReport};
use ralph_core::proof::EvidenceLevel;
use tokio::sync::watch;

use super::OpenRun;
use crate::announcement::Announcement;
use crate::gate::Confirms;
use crate::reproduce::Reproduction;
use crate::room::Room;
use crate::supervise::Stop;
use crate::trials::{Armed, Trials};
use crate::turn::run_env;
use crate::verify::{Order, Place, Verified, Verifier};

pub(crate) type Job = Pin<Box<dyn Future<Output = JobDone>>>;

pub(crate) type Ordered = Box<dyn FnOnce(watch::Receiver<Stop>) -> Job>;

pub(crate) enum Work {
    /// It begins as soon as its driver says how it can be stopped.
    Job(Ordered),
    /// Nothing is configured that could run: nothing passes.
    Nothing(Box<Kind>),
}

impl Work {
    fn nothing(kind: Kind) -> Work {
        Work::Nothing(Box::new(kind))
    }

    fn job<F: Future<Output = JobDone> + 'static>(
        order: impl FnOnce(watch::Receiver<Stop>) -> F + 'static,
    ) -> Work {
        Work::Job(Box::new(|stop| Box::pin(order(stop))))
    }
}

pub(crate) enum JobDone {
    Preflighted(Verified),
    Verified(Verified),
    Checked(VerifyReport),
    E2e(Verified),
    Forge(ForgeAnswer),
}

impl From<JobDone> for Kind {
    fn from(done: JobDone) -> Kind {
        match done {
            JobDone::Preflighted(verified) => Kind::Preflighted(verified.report),
            JobDone::Verified(verified) => Kind::Verified(verified.report),
            JobDone::Checked(report) => Kind::Checked(report),
            JobDone::E2e(verified) => {
                let turn = verified.report.turn;
                let result = verified.report.results.into_iter().next();
                let result = result.unwrap_or_default();
                Kind::E2eEnded { turn, result }
            }
            JobDone::Forge(answer) => Kind::Forge { answer },
        }
    }
}

impl OpenRun {
    /// `frozen`: on that, so that nobody has to wait for it.
    pub fn verification(&self, turn: u32, scope: &CheckScope, frozen: Option<Room>) -> Work {
        let Some(verifier) = self.verifier() else {
            // The configuration that the run goes on with has no command.
            return Work::nothing(Kind::Verified(VerifyReport {
                turn,
                ..VerifyReport::default()
            }));
        };
        let order = Order::new(&self.state.rules.checks, &verifier.commands, scope);
        if self.state.rules.checks.level > EvidenceLevel::Claimed {
            let tree = self.looker.tree();
            let trials = Trials {
                frozen,
                ..self.trials(verifier, order, turn)
            };
            return Work::job(move |stop| async move {
                let mut verified = trials.run(stop).await;
                verified.report.tree = tree;
                JobDone::Verified(verified)
            });
        }
        let root = self.plan.layout.root().to_owned();
        let log = self.paths.turn_verification(turn);
        let (env, tree) = (self.env(turn), self.looker.tree());
        Work::job(move |stop| async move {
            let place = Place::at(&root);
            let run = verifier.run_order(&order, turn, &place, &env, log, stop);
            let mut verified = run.await;
            verified.report.tree = tree;
            JobDone::Verified(verified)
        })
    }

    /// The tree as it is now, for checks that are run later; why not is said
    /// once.
    pub fn freeze(&mut self) -> Option<Room> {
        if self.cannot_freeze {
            return None;
        }
        let frozen = self.bench.borrow().freeze();
        match frozen {
            Ok(room) => Some(room),
            Err(why) => {
                self.cannot_freeze = true;
                self.found.push(Announcement::NotBeside { why });
                None
            }
        }
    }

    /// Where the run began without any check, a person may have added a task
    /// that has one.
    fn verifier(&self) -> Option<Verifier> {
        let own = !self.state.rules.checks.tasks.is_empty();
        let alone = || own.then(|| self.plan.reproducer.clone());
        self.plan.verifier.clone().or_else(alone)
    }

    /// Every check once, before the first turn.
    pub fn preflight(&self) -> Work {
        let turn = self.state.turn.number;
        let Some(verifier) = self.verifier() else {
            return Work::nothing(Kind::Preflighted(VerifyReport::default()));
        };
        let scope = CheckScope::Everything;
        let order = Order::new(&self.state.rules.checks, &verifier.commands, &scope);
        let trials = self.trials(verifier, order, turn);
        Work::job(move |stop| async move { JobDone::Preflighted(trials.preflight(stop).await) })
    }

    fn trials(&self, verifier: Verifier, order: Order, turn: u32) -> Trials {
        let evidence = &self.state.evidence.ground;
        Trials {
            layout: self.layout.clone(),
            order,
            checks: self.state.rules.checks.clone(),
            ground: evidence.clone(),
            own: self.own_files(),
            files: verifier.files.clone(),
            max_time: self.time_for_experiments(&verifier),
            turn,
            env: self.env(turn),
            log: self.paths.turn_verification(turn),
            bench: self.bench.clone(),
            prelude: Vec::new(),
            frozen: None,
            judges: None,
            verifier,
        }
    }

    /// In a session the client waits for its hook no longer than every check may
    /// take.
    fn time_for_experiments(&self, verifier: &Verifier) -> Duration {
        if self.state.session.is_none() {
            return verifier.max_time;
        }
        let commands = u32::try_from(verifier.commands.len()).unwrap_or(u32::MAX);
        let hook = verifier.timeout.saturating_mul(commands.max(1));
        match (verifier.max_time.is_zero(), hook.is_zero()) {
            (_, true) => verifier.max_time,
            (true, false) => hook,
            (false, false) => verifier.max_time.min(hook),
        }
    }

    /// Files in the project that are no work: the task list, and what Ralph
    /// writes for others.
    fn own_files(&self) -> Vec<String> {
        let root = self.plan.layout.root();
        let places = [
            self.plan.tasks.as_ref().map(|tasks| tasks.path.as_path()),
            Some(self.plan.checkpoint.dir.as_path()),
            Some(self.plan.keeping.history.dir()),
            Some(self.plan.log.as_path()),
        ];
        let places = places.into_iter().flatten().filter_map(|path| {
            let inside = path.strip_prefix(root).unwrap_or(path);
            inside.to_str().map(str::to_owned)
        });
        places
            .chain([self.plan.prompter.output_dir.clone()])
            .filter(|path| !path.is_empty())
            .collect()
    }

    pub fn e2e(&self, turn: u32) -> Work {
        let Some(e2e) = self.plan.e2e.clone() else {
            let result = CommandResult {
                output: "no command ran".into(),
                ..CommandResult::default()
            };
            return Work::nothing(Kind::E2eEnded { turn, result });
        };
        let root = self.plan.layout.root().to_owned();
        let log = self.paths.turn_verification(turn);
        let env = self.env(turn);
        Work::job(
            move |stop| async move { JobDone::E2e(e2e.run(turn, &root, &env, log, stop).await) },
        )
    }

    /// Runs what a review says will show its findings.
    pub fn reproduction(&self, turn: u32, commands: Vec<String>) -> Work {
        let job = Reproduction {
            verifier: self.plan.reproducer.clone(),
            permit: self.plan.permit,
            root: self.plan.layout.root().to_owned(),
            env: self.env(turn),
            log: self.paths.turn_verification(turn),
        };
        Work::job(move |stop| async move { JobDone::Checked(job.run(turn, commands, stop).await) })
    }

    pub fn question_to_forge(&self, ask: ForgeAsk) -> Work {
        let Some(mut forge) = self.plan.forge.clone() else {
            let answer = ForgeAnswer::Failed(Trouble {
                kind: TroubleKind::Strange,
                program: "ralph".into(),
                words: "no forge is configured".into(),
            });
            return Work::nothing(Kind::Forge { answer });
        };
        forge.confirms = (self.state.turn.number > 0).then(|| Confirms {
            armed: Armed::of(&self.state, &forge.check_files),
            wall: self.plan.wall.clone(),
        });
        let env = run_env(&self.tag, self.state.turn.number, None);
        Work::job(move |stop| async move { JobDone::Forge(forge.perform(&ask, &env, stop).await) })
    }
}

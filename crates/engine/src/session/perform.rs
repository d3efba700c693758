//! Feeds events to the machine and does what it decides, within one call of a
//! hook.

use std::collections::VecDeque;
use std::time::{Duration, SystemTime};

use ralph_core::forge::{ForgeAnswer, ForgeAsk, Trouble, TroubleKind};
use ralph_core::machine::{
    CheckScope, CommandResult, Effect, Event, Kind, MenuAnswer, Outcome, Request, SessionEvent,
    Stage, VerifyReport, WaitReason, step,
};
use ralph_store::atomic::{AtomicOptions, write_atomic};
use tokio::sync::watch;

use super::{Ended, SessionError, SessionLoop, StateFile, Verdict, adopt, index};
use crate::index_lock::LockWatch;
use crate::plan::Announcement;
use crate::projections::Projector;
use crate::record::Made;
use crate::reproduce::Reproduction;
use crate::supervise::{Stop, orphans};
use crate::turn::run_env;
use crate::verify::{Order, Verified, Verifier};
use crate::{archive, clock, opening};

/// More events than one call of a hook ever needs. A machine that only waits
/// gives the session back to its person.
const MOST_ROUNDS: usize = 200;
const PAUSED: Kind = Kind::Session(SessionEvent::Left {
    request: Request::Pause,
});

/// The task file as it was when the run began, and as it was seen last.
pub(super) const TASKS_BEGUN: &str = "tasks.begun";
pub(super) const TASKS_LAST: &str = "tasks.last";

impl SessionLoop {
    /// Takes events in until the machine waits for the agent, or the run has
    /// ended.
    pub(super) fn feed(&mut self, first: Vec<Kind>) -> Result<Verdict, SessionError> {
        let mut queue = VecDeque::from([first]);
        let mut verdict = None;
        let mut rounds = 0;
        while let Some(kinds) = queue.pop_front() {
            rounds += 1;
            let kinds = if rounds > MOST_ROUNDS {
                vec![PAUSED]
            } else {
                kinds
            };
            let effects = self.write_down(kinds)?;
            for effect in effects {
                match self.perform(effect, &mut queue) {
                    None => {}
                    some => verdict = some,
                }
            }
            let is_done = verdict.is_some() || self.sleep.is_some();
            if queue.is_empty() && !is_done && rounds <= MOST_ROUNDS {
                queue.extend(self.unstuck().map(|kind| vec![kind]));
            }
        }
        if let Some(Verdict::Ended(_)) = &verdict {
            self.settle();
        }
        self.keep_state_file();
        self.keep_tasks_seen();
        let troubles = self.recorder.troubles();
        let troubled = troubles.into_iter();
        self.announcements
            .extend(troubled.map(|error| Announcement::NotKept { error }));
        Ok(verdict.unwrap_or_else(|| {
            let outcome = Outcome::Interrupted;
            self.ended(outcome)
        }))
    }

    /// Journal first: one write and one sync for all of them.
    pub(super) fn write_down(&mut self, kinds: Vec<Kind>) -> Result<Vec<Effect>, SessionError> {
        let at = clock::now();
        let events: Vec<Event> = kinds.into_iter().map(|kind| Event { at, kind }).collect();
        let mut effects = Vec::new();
        for event in &events {
            effects.extend(step(&mut self.state, event));
        }
        self.recorder.events(&events)?;
        self.recorder.status(&self.state);
        if let Some(projector) = &mut self.projector {
            let looker = &self.looker;
            let troubled = projector.before(&effects, &self.state, || looker.task_marks());
            self.announcements.extend(troubled);
        }
        for effect in &effects {
            if let Effect::Emit(notice) = effect {
                self.recorder.notice(notice, at);
                self.notices.push(notice.clone());
            }
        }
        Ok(effects)
    }

    fn perform(&mut self, effect: Effect, queue: &mut VecDeque<Vec<Kind>>) -> Option<Verdict> {
        match effect {
            Effect::Emit(_) | Effect::Freeze | Effect::StopChild { .. } => {}
            Effect::RunAgent(turn) => {
                let locked = LockWatch::default().look(&self.plan.root, SystemTime::now());
                self.announcements.extend(locked);
                return Some(Verdict::GoOn(self.send_on(&turn)));
            }
            Effect::Mark { tick, untick } => {
                let marked = self.looker.mark(&tick, &untick);
                self.recorder.note(Made::Tasks, marked);
                let seen = self.looker.look();
                queue.push_back(vec![Kind::Marked { seen }]);
            }
            Effect::Check { turn, commands } => queue.push_back(vec![self.check(turn, commands)]),
            Effect::Verify { turn, scope } => queue.push_back(vec![self.verify(turn, &scope)]),
            Effect::Untick { ids } => queue.push_back(vec![self.untick(&ids)]),
            Effect::RunE2e { turn } => queue.push_back(vec![self.try_out(turn)]),
            Effect::Forge(ask) => queue.push_back(vec![self.ask_forge(&ask)]),
            // CI is waited for as long as a hook may take; then the agent is
            // told that it runs.
            Effect::Wait {
                ms,
                why: WaitReason::Ci,
            } => queue.extend(self.wait_for_ci(ms).map(|kind| vec![kind])),
            Effect::KeepInStep => {
                let kept = self.looker.keep_in_step();
                self.recorder.note(Made::Tasks, kept);
            }
            Effect::Wait {
                why: WaitReason::Answer,
                ..
            } => queue.push_back(vec![Kind::Session(SessionEvent::NobodyWaits)]),
            // Whoever sits there knows better than a limit that another
            // process ran into.
            Effect::Wait {
                why: WaitReason::Limit | WaitReason::Overload,
                ..
            } => {
                let seen = self.looker.look();
                queue.push_back(vec![Kind::Nudged { seen }]);
            }
            // A hook does not sleep: the client would think that it hangs.
            Effect::Wait { .. } => {
                let seen = self.looker.look();
                queue.push_back(vec![Kind::Woke { seen }]);
            }
            // Nobody can be asked from here; the person answers with a word.
            Effect::Ask(_) => queue.push_back(vec![Kind::Answered {
                answer: MenuAnswer::SaveAndExit,
            }]),
            Effect::Finish(outcome) => return Some(self.ended(outcome)),
        }
        None
    }

    /// What a hook that was killed did not live to do.
    pub(super) fn unstuck(&mut self) -> Option<Kind> {
        match &self.state.stage {
            Stage::Verifying { .. } => {
                let scope = self.state.verifying()?;
                Some(self.verify(self.state.turn.number, &scope))
            }
            Stage::Unticking => {
                let ids = self.state.turned_back().to_vec();
                Some(self.untick(&ids))
            }
            Stage::Trying { .. } => Some(self.try_out(self.state.turn.number)),
            Stage::Forge(ask) => {
                let ask = ask.clone();
                Some(self.ask_forge(&ask))
            }
            Stage::Waiting => Some(Kind::Woke {
                seen: self.looker.look(),
            }),
            Stage::Asking(_) => Some(Kind::Answered {
                answer: MenuAnswer::SaveAndExit,
            }),
            Stage::Marking => Some(Kind::Marked {
                seen: self.looker.look(),
            }),
            // Which commands it were is not known any more.
            Stage::Checking => Some(Kind::Checked(VerifyReport {
                turn: self.state.turn.number,
                ..VerifyReport::default()
            })),
            Stage::New => Some(Kind::Started {
                seen: self.looker.look(),
            }),
            Stage::Running | Stage::Finished(_) => None,
        }
    }

    /// Runs what a review says will show its findings.
    fn check(&mut self, turn: u32, commands: Vec<String>) -> Kind {
        let tasks = self.plan.tasks.as_ref().map(|t| t.path.as_path());
        let stop = watch::Sender::new(Stop::No);
        let job = Reproduction {
            verifier: self.plan.reproducer.clone(),
            permit: self.plan.permit,
            root: self.plan.root.clone(),
            env: run_env(self.paths.id.as_str(), turn, tasks),
            log: self.paths.turn_verification(turn),
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        Kind::Checked(match runtime {
            Ok(runtime) => runtime.block_on(job.run(turn, commands, stop.subscribe())),
            Err(_) => VerifyReport {
                turn,
                ..VerifyReport::default()
            },
        })
    }

    /// Notes how long to sleep; where there is no time for that, the machine
    /// hears of it.
    fn wait_for_ci(&mut self, ms: u64) -> Option<Kind> {
        let sleep = self.patience.min(Duration::from_millis(ms));
        if sleep.is_zero() {
            let answer = ForgeAnswer::NoTime;
            return Some(Kind::Forge { answer });
        }
        self.sleep = Some(sleep);
        None
    }

    fn ask_forge(&mut self, ask: &ForgeAsk) -> Kind {
        let failed = |words: String| {
            ForgeAnswer::Failed(Trouble {
                kind: TroubleKind::Strange,
                program: "ralph".into(),
                words,
            })
        };
        let env = run_env(self.paths.id.as_str(), self.state.turn.number, None);
        let stop = watch::Sender::new(Stop::No);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let answer = match (&self.plan.forge, runtime) {
            (Some(forge), Ok(runtime)) => {
                runtime.block_on(forge.perform(ask, &env, stop.subscribe()))
            }
            (None, _) => failed("no forge is configured".into()),
            (_, Err(error)) => failed(error.to_string()),
        };
        Kind::Forge { answer }
    }

    fn verify(&mut self, turn: u32, scope: &CheckScope) -> Kind {
        let failed = |command: &str, output: String| {
            Kind::Verified(VerifyReport {
                turn,
                tree: None,
                results: vec![CommandResult {
                    command: command.into(),
                    output,
                    ..CommandResult::default()
                }],
            })
        };
        let Some(verifier) = self.plan.verifier.clone() else {
            return failed(
                "verification",
                "no verification command is configured".into(),
            );
        };
        let order = Order::new(&self.state.rules.checks, &verifier.commands, scope);
        match self.run_commands(&verifier, &order, turn) {
            Ok(mut verified) => {
                verified.report.tree = self.looker.tree();
                Kind::Verified(verified.report)
            }
            Err(error) => failed("verification", error.to_string()),
        }
    }

    fn try_out(&mut self, turn: u32) -> Kind {
        let e2e = self.plan.e2e.clone();
        let ran = e2e.map(|e2e| {
            let order = Order {
                project: e2e.commands.clone(),
                ..Order::default()
            };
            self.run_commands(&e2e, &order, turn)
        });
        let first = ran.and_then(Result::ok);
        let result = first.and_then(|verified| verified.report.results.into_iter().next());
        let result = result.unwrap_or_default();
        Kind::E2eEnded { turn, result }
    }

    /// The only thing that takes a runtime.
    fn run_commands(
        &self,
        verifier: &Verifier,
        order: &Order,
        turn: u32,
    ) -> std::io::Result<Verified> {
        let log = self.paths.turn_verification(turn);
        let tasks = self.plan.tasks.as_ref().map(|t| t.path.as_path());
        let env = run_env(self.paths.id.as_str(), turn, tasks);
        let stop = watch::Sender::new(Stop::No);
        let root = &self.plan.root;
        let run = verifier.run_order(order, turn, root, &env, log, stop.subscribe());
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let verified = runtime.block_on(run);
        // What a command left running must not edit beside the agent.
        orphans::end_tagged(self.paths.id.as_str());
        Ok(verified)
    }

    /// Empties the boxes of ticks that were turned back.
    fn untick(&mut self, ids: &[String]) -> Kind {
        let unticked = self.looker.untick(ids);
        self.recorder.note(Made::Tasks, unticked);
        let seen = self.looker.look();
        let left = self.looker.ticked_among(ids);
        Kind::Unticked { seen, left }
    }

    pub(super) fn ended(&mut self, outcome: Outcome) -> Verdict {
        Verdict::Ended(Box::new(Ended {
            end: self.state.end_notice(outcome.clone()),
            outcome,
            notices: self.notices.clone(),
            state: self.state.clone(),
        }))
    }

    /// Everything that is made from the journal at the end of a run, as
    /// `ralph run` does it.
    fn settle(&mut self) {
        let troubled = self.projector.as_mut().and_then(Projector::finish);
        self.announcements.extend(troubled);
        let is_over = self.state.outcome().is_some_and(|o| !o.can_go_on());
        if is_over {
            index::forget(&self.layout, self.session_id());
            self.archive();
        }
        // Tells what a hook that was killed did not live to tell.
        let _ = opening::settle(&self.layout, &self.paths);
    }

    fn archive(&mut self) {
        let (recorder, state) = (&mut self.recorder, &mut self.state);
        let told = archive::at_the_end(&self.plan, &self.paths, recorder, state);
        self.announcements.extend(told);
    }

    /// The next hook compares with it what was lost or unticked (TASK-17).
    fn keep_tasks_seen(&self) {
        if let Some(bytes) = self.looker.last_bytes() {
            for (name, once) in [(TASKS_BEGUN, true), (TASKS_LAST, false)] {
                let path = self.paths.dir.join(name);
                if !(once && path.exists()) {
                    let _ = write_atomic(&path, bytes, AtomicOptions { durable: false });
                }
            }
        }
    }

    fn keep_state_file(&mut self) {
        let session = self.header.session.as_ref();
        if session.and_then(|session| session.state_file) == Some(StateFile::Plugin)
            && let Err(error) = adopt::keep_plugin_file(&self.plan.root, &self.state)
        {
            self.announcements.push(Announcement::NotKept { error });
        }
    }
}

//! Feeds events to the machine and does what it decides, within one call of a
//! hook.

use std::time::{Duration, SystemTime};

use ralph_core::forge::ForgeAnswer;
use ralph_core::machine::{
    Effect, Event, Kind, Limit, MenuAnswer, Notice, Now, Outcome, Request, SessionEvent, Stage,
    Turn, VerifyReport, WaitReason,
};
use ralph_store::atomic::{AtomicOptions, write_atomic};
use tokio::sync::watch;

use super::{Ended, SessionError, SessionLoop, StateFile, Verdict, adopt, index};
use crate::announcement::Announcement;
use crate::index_lock::LockWatch;
use crate::perform::{Host, Job, OpenRun, begin, perform, take_in};
use crate::supervise::{Stop, orphans};
use crate::{archive, clock, opening};

/// More events than one call of a hook ever needs. A machine that only waits
/// gives the session back to its person.
const MOST_ROUNDS: usize = 200;
const PAUSED: Kind = Kind::Session(SessionEvent::Left {
    request: Request::Pause,
});

/// The task file as it was when the run began, and as it was seen last.
pub(super) use crate::steer::{TASKS_BEGUN, TASKS_LAST};

impl SessionLoop {
    /// Takes events in until the machine waits for the agent, or the run has
    /// ended.
    pub(super) fn feed(&mut self, first: Vec<Kind>) -> Result<Verdict, SessionError> {
        self.verdict = None;
        self.queue.push_back(first);
        let mut rounds = 0;
        while let Some(kinds) = self.queue.pop_front() {
            rounds += 1;
            let kinds = match rounds > MOST_ROUNDS {
                true => vec![PAUSED],
                false => kinds,
            };
            let (effects, at) = self.write_down(kinds)?;
            for effect in effects {
                perform(self, effect, at);
            }
            let is_done = self.verdict.is_some() || self.sleep.is_some();
            if self.queue.is_empty() && !is_done && rounds <= MOST_ROUNDS {
                self.unstuck();
            }
        }
        if let Some(Verdict::Ended(_)) = &self.verdict {
            self.settle();
        }
        self.keep_state_file();
        self.keep_tasks_seen();
        let troubles = self.run.recorder.troubles().into_iter();
        let troubles = troubles.map(|error| Announcement::NotKept { error });
        self.announcements.extend(troubles);
        let verdict = self.verdict.take();
        Ok(verdict.unwrap_or_else(|| self.ended(Outcome::Interrupted)))
    }

    fn write_down(&mut self, kinds: Vec<Kind>) -> Result<(Vec<Effect>, Now), SessionError> {
        let at = clock::now();
        let events: Vec<Event> = kinds.into_iter().map(|kind| Event { at, kind }).collect();
        let effects = self.run.write_down(&events)?;
        let troubled = self.run.settle();
        self.announcements.extend(troubled);
        Ok((effects, at))
    }

    /// An event of which others are told, and that nobody acts on.
    pub(super) fn note(&mut self, kind: Kind) -> Result<(), SessionError> {
        let (effects, at) = self.write_down(vec![kind])?;
        for effect in effects {
            if matches!(effect, Effect::Emit(_)) {
                perform(self, effect, at);
            }
        }
        Ok(())
    }

    /// Does what a hook that was killed did not live to do; what comes of it
    /// is in the queue.
    pub(super) fn unstuck(&mut self) {
        let turn = self.run.state.turn.number;
        let work = match &self.run.state.stage {
            Stage::Verifying { .. } => {
                let scope = self.run.state.verifying();
                scope.map(|scope| self.run.verification(turn, &scope, None))
            }
            Stage::Trying { .. } => Some(self.run.e2e(turn)),
            Stage::Forge(ask) => Some(self.run.question_to_forge(ask.clone())),
            _ => None,
        };
        if let Some(work) = work {
            return begin(self, work);
        }
        let kind = match &self.run.state.stage {
            Stage::Unticking { .. } => {
                let ids = self.run.state.turned_back().to_vec();
                self.run.untick(&ids)
            }
            Stage::Waiting => Kind::Woke {
                seen: self.run.look(),
            },
            Stage::Asking(_) => Kind::Answered {
                answer: MenuAnswer::SaveAndExit,
            },
            Stage::Marking => Kind::Marked {
                seen: self.run.look(),
            },
            // Which commands it were is not known any more.
            Stage::Checking => Kind::Checked(VerifyReport {
                turn,
                ..VerifyReport::default()
            }),
            Stage::New => Kind::Started {
                seen: self.run.look(),
            },
            _ => return,
        };
        self.come_back(kind);
    }

    pub(super) fn ended(&mut self, outcome: Outcome) -> Verdict {
        Verdict::Ended(Box::new(Ended {
            end: self.run.state.end_notice(outcome.clone()),
            outcome,
            notices: self.notices.clone(),
            state: self.run.state.clone(),
        }))
    }

    /// Everything that is made from the journal at the end of a run, as
    /// `ralph run` does it.
    fn settle(&mut self) {
        let is_over = self.run.state.is_final();
        if is_over {
            index::forget(&self.run.layout, self.session_id());
            self.archive();
        }
        // Tells what a hook that was killed did not live to tell.
        let _ = opening::settle(&self.run.layout, &self.run.paths);
    }

    fn archive(&mut self) {
        let run = &mut self.run;
        let told = archive::at_the_end(&run.plan, &run.paths, &mut run.recorder, &mut run.state);
        self.announcements.extend(told);
    }

    /// The next hook compares with it what was lost or unticked (TASK-17).
    fn keep_tasks_seen(&self) {
        if let Some(bytes) = self.run.looker.last_bytes() {
            for (name, once) in [(TASKS_BEGUN, true), (TASKS_LAST, false)] {
                let path = self.run.paths.dir.join(name);
                let is_kept = once && path.exists() && !self.run.looker.is_asked_anew;
                if !is_kept {
                    let _ = write_atomic(&path, bytes, AtomicOptions { durable: false });
                }
            }
        }
    }

    fn keep_state_file(&mut self) {
        let session = self.header.session.as_ref();
        if session.and_then(|session| session.state_file) == Some(StateFile::Plugin)
            && let Err(error) =
                adopt::keep_plugin_file(self.run.plan.layout.root(), &self.run.state)
        {
            self.announcements.push(Announcement::NotKept { error });
        }
    }
}

/// A block of the stop is the turn; jobs run at once; nobody waits.
impl Host for SessionLoop {
    fn run(&mut self) -> &mut OpenRun {
        &mut self.run
    }

    fn announce(&mut self, announcement: Announcement) {
        self.announcements.push(announcement);
    }

    fn notice(&mut self, notice: Notice, _at: Now) {
        self.notices.push(notice);
    }

    fn come_back(&mut self, kind: Kind) {
        self.queue.push_back(vec![kind]);
    }

    fn start_turn(&mut self, turn: Turn) {
        let locked = LockWatch::default().look(self.run.plan.layout.root(), SystemTime::now());
        self.announcements.extend(locked);
        self.verdict = Some(Verdict::GoOn(self.send_on(&turn)));
    }

    fn fresh_stop(&mut self) -> watch::Receiver<Stop> {
        self.stop = watch::Sender::new(Stop::No);
        self.stop.subscribe()
    }

    /// The only thing that takes a runtime. Without one the agent may stop,
    /// and the next hook tries again.
    fn start_job(&mut self, job: Job) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let Ok(runtime) = runtime else {
            return;
        };
        let done = runtime.block_on(job);
        // What a command left running must not edit beside the agent.
        orphans::end_tagged(&self.run.tag);
        let kind = take_in(self, done);
        self.come_back(kind);
    }

    fn wait(&mut self, ms: u64, why: WaitReason, _at: Now) {
        let kind = match why {
            // CI is waited for as long as a hook may take; then the agent is
            // told that it runs.
            WaitReason::Ci => {
                let sleep = self.patience.min(Duration::from_millis(ms));
                if !sleep.is_zero() {
                    self.sleep = Some(sleep);
                    return;
                }
                let answer = ForgeAnswer::NoTime;
                Kind::Forge { answer }
            }
            WaitReason::Answer => Kind::Session(SessionEvent::NobodyWaits),
            // Whoever sits there knows better than a limit that another
            // process ran into.
            WaitReason::Limit | WaitReason::Overload => Kind::Nudged {
                seen: self.run.look(),
            },
            // A hook does not sleep: the client would think that it hangs.
            WaitReason::Between | WaitReason::Backoff | WaitReason::Rate | WaitReason::Cooldown => {
                Kind::Woke {
                    seen: self.run.look(),
                }
            }
        };
        self.come_back(kind);
    }

    /// Nobody can be asked from here; the person answers with a word.
    fn ask(&mut self, _limit: Limit) {
        let answer = MenuAnswer::SaveAndExit;
        self.come_back(Kind::Answered { answer });
    }

    fn finish(&mut self, outcome: Outcome) {
        self.verdict = Some(self.ended(outcome));
    }
}

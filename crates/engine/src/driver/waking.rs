//! What wakes the loop, and how that becomes an event.

use std::time::{Duration, SystemTime};

use ralph_core::lang::Say;
use ralph_core::machine::{End, Kind, MenuAnswer, Request, Stage};
use tokio::time::sleep;

use super::lanes;
use super::moments::{COUNTDOWN, at, chosen, finished, polled_once, stop_file};
use super::{ChildDone, Choice, Driver};
use crate::announcement::Announcement;
use crate::mailbox::Wish;
use crate::perform::{self, Host};
use crate::signals::Told;
use crate::supervise::{Stop, orphans, stop_ourselves};
use crate::{clock, guarded, projections};

impl Driver<'_> {
    /// A turn may take hours, in which those who read the checkpoint should
    /// see that the run lives (CKPT-08).
    pub(super) async fn wake_and_save(&mut self) -> Kind {
        loop {
            tokio::select! {
                biased;
                kind = self.wake() => return kind,
                () = sleep(Duration::from_millis(projections::LONGEST_MS)) => {}
            }
            if let Some(projector) = &mut self.run.projector {
                let marks = self.run.looker.task_marks();
                let now = clock::now().wall_ms;
                let troubled = projector.again(&self.run.state, &marks, now);
                self.announce_all(troubled);
            }
        }
    }

    pub(super) async fn wake(&mut self) -> Kind {
        loop {
            if let Some(kind) = self.sleep().await {
                return kind;
            }
        }
    }

    /// The one place where the loop sleeps; `None` where nothing happened that
    /// the machine has to know.
    pub(super) async fn sleep(&mut self) -> Option<Kind> {
        let waits = self.wake_at;
        let menu_until = self.menu_until.filter(|_| self.menu.is_some());
        let counts = waits.is_some() && self.observer.counts_down();
        let ticks = counts || self.observer.ticks();
        Some(tokio::select! {
            biased;
            Some(told) = self.requests.recv() => match told {
                Told::Request(request) => {
                    self.tell_of_stopping(request);
                    Kind::Requested { request }
                }
                Told::Freeze => Kind::Frozen,
            },
            Some(wish) = self.mailbox.wish() => match wish {
                Wish::Wake if self.wake_at.take().is_none() => return None,
                Wish::Wake => Kind::Nudged { seen: self.run.look() },
                Wish::Steer(steer) => return self.steer(steer),
                wish => return wish.accepted(&self.run.state),
            },
            taken = stop_file(&self.run.layout, self.stop_file_seen) => {
                self.stop_file_seen = true;
                self.announce(Announcement::StopFile {
                    path: self.run.layout.stop_file(),
                    stays: taken.err().map(|error| error.say(self.run.plan.lang)),
                });
                Kind::Requested { request: Request::Interrupt }
            }
            // The first look at a child starts it.
            done = finished(&mut self.child) => self.take_in(done),
            done = finished(&mut self.beside) => {
                self.beside = None;
                let done = perform::take_in(self, done);
                self.behind_what_was_held(done)
            }
            // Behind the child, so that it runs already, and before anything
            // is waited for.
            () = std::future::ready(()), if self.run.owes() => {
                self.settle();
                self.tell_troubles();
                return None;
            }
            heard = lanes::heard(&mut self.lanes) => self.take_heard(heard),
            () = at(waits) => {
                self.wake_at = None;
                Kind::Woke { seen: self.run.look() }
            }
            choice = chosen(&mut self.menu) => {
                self.menu = None;
                Kind::Answered { answer: self.answer(choice) }
            }
            () = at(menu_until) => {
                self.menu = None;
                self.observer.menu_is_over();
                Kind::Answered { answer: MenuAnswer::SaveAndExit }
            }
            undelivered = self.courier.work() => {
                self.announce(Announcement::NotTold { undelivered });
                return None;
            }
            () = sleep(COUNTDOWN), if ticks => {
                if counts {
                    let left = waits.map_or(0, |wake| wake.left_ms(clock::now()));
                    self.observer.count_down(left);
                }
                self.observer.tick();
                return None;
            }
        })
    }

    /// An agent that does not listen has its grace, and a person should not
    /// have to guess whether they were heard (INTR-02).
    fn tell_of_stopping(&mut self, request: Request) {
        if request != Request::Interrupt || self.child.is_none() || self.stop_told {
            return;
        }
        self.stop_told = true;
        let seconds = self.run.plan.grace.as_secs();
        self.announce(Announcement::Stopping { seconds });
    }

    /// What a child that is gone left to be judged, and nobody beside it.
    pub(super) fn take_in(&mut self, done: ChildDone) -> Kind {
        self.child = None;
        let ended = orphans::end_all();
        self.index_lock.turn_is_over(SystemTime::now());
        self.tell_of(&ended, |count| Announcement::OrphansEnded { count });
        let called = match done {
            ChildDone::Job(done) => {
                let done = perform::take_in(self, done);
                return self.behind_what_was_held(done);
            }
            ChildDone::NoLeave(called) => {
                let mut report = self.judge(*called);
                report.end = End::NotStarted;
                self.queue.push_back(Kind::TurnEnded(report));
                let request = Request::Pause;
                return Kind::Requested { request };
            }
            ChildDone::Turn(called) => called,
        };
        let ended = Kind::TurnEnded(self.judge(*called));
        let known = self.run.state.guard_lines;
        match guarded::blocked_since(&self.run.paths.guard_log(), known) {
            None => self.behind_what_was_held(ended),
            Some(blocked) => {
                let first = self.behind_what_was_held(blocked);
                self.queue.push_back(ended);
                first
            }
        }
    }

    /// What the wall held back comes first: the other may end the run.
    fn behind_what_was_held(&mut self, kind: Kind) -> Kind {
        let denials = self.run.plan.wall.as_ref().map(|wall| wall.denied());
        match denials.filter(|denials| !denials.is_empty()) {
            None => kind,
            Some(denials) => {
                self.queue.push_back(kind);
                Kind::Denied { denials }
            }
        }
    }

    /// Ctrl+Z: first the child stands still, then we do; it goes on with us.
    pub(super) async fn freeze(&mut self) {
        let wanted = self.stop.send_replace(Stop::Freeze);
        let beside = self.stop_beside.send_replace(Stop::Freeze);
        let done = polled_once(&mut self.child).await;
        let done_beside = polled_once(&mut self.beside).await;
        self.observer.stand_still();
        stop_ourselves();
        self.stop.send_replace(wanted);
        self.stop_beside.send_replace(beside);
        self.queue.push_back(Kind::Thawed);
        if let Some(done) = done_beside {
            self.beside = None;
            let done = perform::take_in(self, done);
            self.queue.push_back(done);
        }
        if let Some(done) = done {
            match self.take_in(done) {
                // What was held back is told before the turn is judged.
                held @ (Kind::GuardBlocked { .. } | Kind::Denied { .. }) => {
                    self.queue.push_front(held);
                }
                kind => self.queue.push_back(kind),
            }
        }
    }

    pub(super) fn answer(&mut self, choice: Option<Choice>) -> MenuAnswer {
        match choice {
            Some(Choice::Extend) => MenuAnswer::Extend,
            Some(Choice::Skip(ids)) => {
                let claims = &self.run.state.claims.file;
                let ids = claims.with_their_own(ids.into_iter().collect());
                self.run.looker.scope.skipped.extend(ids.iter().cloned());
                MenuAnswer::Simplify {
                    skipped: ids,
                    seen: Box::new(self.run.look()),
                }
            }
            Some(Choice::Abandon) => MenuAnswer::Abandon,
            Some(Choice::SaveAndExit) | None => MenuAnswer::SaveAndExit,
        }
    }

    /// An answer or a longer limit ends a wait or a menu that somebody else
    /// was to end.
    pub(super) fn forget_what_is_over(&mut self) {
        if self.run.state.stage != Stage::Waiting {
            self.wake_at = None;
        }
        if !matches!(self.run.state.stage, Stage::Asking(_)) && self.menu.take().is_some() {
            self.observer.menu_is_over();
        }
    }
}

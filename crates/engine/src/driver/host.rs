//! What the outer loop does its own way: turns and jobs are children beside
//! it, waits pass in its one sleep, and a person may be asked.

use ralph_core::machine::{
    Goal, Kind, LaneOrder, Limit, MenuAnswer, Notice, Now, Outcome, Turn, WaitReason,
};
use tokio::sync::watch;

use super::moments::wake_at;
use super::{ChildDone, Driver};
use crate::announcement::Announcement;
use crate::clock::{self, WakeAt};
use crate::perform::{Host, Job, OpenRun, Ordered};
use crate::supervise::Stop;

impl Host for Driver<'_> {
    fn run(&mut self) -> &mut OpenRun {
        &mut self.run
    }

    fn announce(&mut self, announcement: Announcement) {
        self.run.recorder.announce(&announcement);
        self.observer.announce(&announcement);
    }

    fn notice(&mut self, notice: Notice, at: Now) {
        self.observer.notice(&notice, &self.run.state, at);
        self.courier.take(&notice, &self.run.state, at);
    }

    fn come_back(&mut self, kind: Kind) {
        self.queue.push_back(kind);
    }

    fn start_turn(&mut self, turn: Turn) {
        self.call_agent(turn);
    }

    fn fresh_stop(&mut self) -> watch::Receiver<Stop> {
        self.stop = watch::Sender::new(Stop::No);
        self.stop.subscribe()
    }

    fn start_job(&mut self, job: Job) {
        self.child = Some(Box::pin(async move { ChildDone::Job(job.await) }));
    }

    fn start_beside(&mut self, order: Ordered) {
        self.stop_beside = watch::Sender::new(Stop::No);
        self.beside = Some(order(self.stop_beside.subscribe()));
    }

    fn wait(&mut self, ms: u64, why: WaitReason, at: Now) {
        let wake_at = wake_at(ms, why, at);
        self.wake_at = Some(wake_at);
        if let (Some(governor), WaitReason::Limit) = (&self.run.plan.governor, why)
            && let WakeAt::Wall(until) = wake_at
        {
            governor.held(until);
        }
    }

    fn ask(&mut self, limit: Limit) {
        let mut open = self.run.looker.open_tasks();
        if self.run.state.rules.goal == Goal::Prompt {
            let state = &self.run.state;
            open = state.claims.file.parts();
            open.retain(|part| !state.tasks.skipped.contains(&part.id));
        }
        let wait = self.run.plan.menu_wait;
        self.menu = self.observer.menu(limit, &self.run.state, open, wait);
        self.menu_until = wait.map(|wait| {
            let ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
            WakeAt::Steady(clock::now().steady_ms.saturating_add(ms))
        });
        if self.menu.is_none() {
            let answer = MenuAnswer::SaveAndExit;
            self.come_back(Kind::Answered { answer });
        }
    }

    fn finish(&mut self, outcome: Outcome) {
        self.end.get_or_insert(outcome);
    }

    fn stop_child(&mut self, kill: bool) {
        let stop = if kill { Stop::Now } else { Stop::Gracefully };
        self.stop.send_replace(stop);
        self.stop_beside.send_replace(stop);
    }

    fn lane(&mut self, order: LaneOrder) {
        if let Some(lanes) = &mut self.lanes {
            lanes.obey(order);
        }
    }

    // It takes time, so that the loop itself does it.
    fn freeze(&mut self) {
        self.freezes = true;
    }
}

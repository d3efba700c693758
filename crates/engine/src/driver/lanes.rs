//! Lanes, as the outer loop sees them: what it hears of them becomes events,
//! and their end belongs to its own.

use ralph_core::machine::{End, Kind, LaneEnd, LaneEvent, LaneTask, Outcome, Steer, TurnReport};
use ralph_core::usage::Usage;

use super::Driver;
use crate::announcement::Announcement;
use crate::lanes::{Heard, Lanes};
use crate::perform::Host;

/// Ends when something is heard; never where there are no lanes.
pub(super) async fn heard(lanes: &mut Option<Lanes>) -> Heard {
    match lanes {
        Some(lanes) => lanes.hear().await,
        None => std::future::pending().await,
    }
}

impl Driver<'_> {
    pub(super) fn take_heard(&mut self, heard: Heard) -> Kind {
        Kind::Lane(match heard {
            Heard::Told(event) => event,
            Heard::Asks { lane } => LaneEvent::Asks {
                lane,
                calls: self.calls_of(lane),
            },
            Heard::Ended { lane, end } => LaneEvent::Ended {
                lane,
                calls: self.calls_of(lane),
                end,
            },
            Heard::Broken { lane, why } => LaneEvent::Ended {
                lane,
                calls: Vec::new(),
                end: LaneEnd::Short {
                    outcome: "lane".into(),
                    reason: why,
                },
            },
            Heard::Merged {
                lane,
                task,
                tree,
                tip,
            } => {
                let ended = Kind::TurnEnded(self.landing(&task));
                self.queue.push_back(ended);
                LaneEvent::Merged { lane, tree, tip }
            }
            Heard::Landed { lane, task, commit } => {
                self.tick_in_project(&task);
                LaneEvent::Landed { lane, commit }
            }
            Heard::Moved { lane } => {
                // What is ticked next is held against what lies there now.
                self.run.look();
                LaneEvent::Moved { lane }
            }
        })
    }

    /// In lanes the list that counts is the branch's.
    pub(super) fn steer(&mut self, steer: Steer) -> Option<Kind> {
        if let (Steer::List(change), Some(lanes)) = (&steer, &self.lanes) {
            let looker = &self.run.looker;
            crate::steer::check(&steer, &self.run.state, looker.last_list()).ok()?;
            let options = &looker.task_file()?.options;
            lanes.change_list(change, options).ok()?;
        }
        self.run.steer(steer)
    }

    fn calls_of(&self, lane: u32) -> Vec<Usage> {
        let known = self.run.state.lanes.seats.get(&lane);
        let known = known.map_or(0, |seat| seat.calls);
        let lanes = self.lanes.as_ref();
        lanes.map_or(Vec::new(), |lanes| lanes.calls(lane, known))
    }

    /// What a lane brought lies in the tree; its tick is the claim that is
    /// judged now.
    fn landing(&mut self, task: &LaneTask) -> TurnReport {
        let ids = task.ids();
        let ticked = self.run.looker.mark(&ids, &[]);
        let failure = ticked.as_ref().err().map(ToString::to_string);
        let seen = self.run.look();
        TurnReport {
            turn: self.run.state.turn.number,
            attempt: self.run.state.turn.attempt,
            end: match failure {
                Some(_) => End::Unwritable,
                None => End::Exit(0),
            },
            duration_ms: 0,
            promise: None,
            mentioned: None,
            failure: failure.unwrap_or_default(),
            spent: Usage::default(),
            refusal: None,
            role: None,
            seen,
        }
    }

    /// A list that Git ignores is on no branch: it is ticked where the person
    /// has it.
    fn tick_in_project(&mut self, task: &LaneTask) {
        let Some(plan) = &self.run.plan.lanes else {
            return;
        };
        if plan.tracked.is_some() {
            return;
        }
        let ids = task.ids();
        let ticked = crate::lanes::tick(&self.run.plan, &ids);
        if let Err(error) = ticked {
            self.announce(Announcement::NotKept { error });
        }
    }

    /// The person's branch takes in what landed, where they want it.
    pub(super) fn leave_lanes(&mut self, outcome: &Outcome) {
        let Some(lanes) = &mut self.lanes else {
            return;
        };
        if !lanes.has_landed() {
            return;
        }
        let branch = lanes.branch().to_owned();
        let is_final = matches!(
            outcome,
            Outcome::Complete | Outcome::Unproven { .. } | Outcome::Blocked { .. }
        );
        let told = if self.run.plan.lands && is_final {
            match lanes.land() {
                Ok(brought) => Announcement::Brought {
                    branch: brought.branch,
                    commit: brought.commit,
                    from: branch,
                },
                Err(why) => Announcement::NotBrought { branch, why },
            }
        } else {
            Announcement::OnBranch { branch }
        };
        if *outcome == Outcome::Complete {
            lanes.clear();
        }
        self.announce(told);
    }
}

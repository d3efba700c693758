//! The loop as a pure machine: `step(state, event) -> effects`.
//!
//! Observations go in, decisions come out. Both drivers (`ralph run` from the
//! outside, hooks from the inside) feed this one function, and everything that
//! ends a run passes through one [`Effect::Finish`].

mod asked;
mod bill;
mod checks;
mod clock;
mod effect;
mod event;
mod file_claims;
mod lanes;
mod level;
mod notice;
mod outcome;
mod progress;
mod proof;
mod question;
mod refusal;
mod request;
mod rules;
mod say;
mod session;
mod state;
mod steer;
mod step;
mod wall;
mod words;

pub use asked::{Checks, Integrity, Ticks};
pub use bill::{Allowance, Bill, Budget, BudgetKind};
pub use checks::{CheckNotice, NoProof, Scope as CheckScope};
pub use clock::{Now, iso_utc};
pub use effect::{Effect, Turn, WaitReason};
pub use event::{
    BranchMove, CommandResult, End, Event, FlowFacts, GuardBlock, Kind, MenuAnswer, Observation,
    PhaseFacts, TaskFacts, TaskRef, Tasks, TurnReport, Undone, VerifyReport,
};
pub use file_claims::FileClaims;
pub use lanes::{
    Board, Doing, LaneEnd, LaneEvent, LaneHint, LaneNotice, LaneOrder, LaneRules, LaneTask, Seat,
};
pub use level::Level;
pub use notice::Notice;
pub use outcome::{BreakerRule, ErrorClass, Limit, Outcome, PauseReason};
pub use progress::Evidence;
pub use proof::Proof;
pub use question::{LONGEST_REPLY, Question, QuestionNotice, RepliedBy, Reply};
pub use refusal::{Need, Refusal};
pub use request::Request;
pub use rules::{
    EvidenceKinds, Goal, Limits, NewRules, NoLimit, OnLimit, Retry, Rules, VerifyWhen, WarnAt,
};
pub use say::span;
pub use session::{SessionEvent, SessionNotice, SessionState};
pub use state::{
    Agents, Claims, Counters, ErrorNote, EvidenceState, Failures, FlowState, Ground, Stage, State,
    TaskState, TickState, TurnState,
};
pub use steer::{Hint, Steer, SteeredTask};
pub use step::step;
pub use wall::{Denial, LimitKind, Reach, WallFacts, WallKind};
pub use words::{Detail, Missing, Sign};

#[cfg(test)]
mod tests;

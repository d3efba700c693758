//! What a run was started with: its goal, limits and proofs.
//!
//! Rules are written into the journal with the first event, so that a replay
//! decides as the run did, whatever the configuration says by then.

use serde::{Deserialize, Serialize};

use super::{Allowance, Budget, Checks, Integrity, LaneHint, LaneRules, Ticks};
use crate::flow::FlowRules;
use crate::forge::{ForgeAsk, ForgeRules, MergeWho};
use crate::lang::Lang;
use crate::tr;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rules {
    pub goal: Goal,
    pub limits: Limits,
    /// Without a promise, a finished task list is not enough.
    pub promise_required: bool,
    /// No promise was agreed on: whoever ends a turn claims that the work is
    /// done, and the checks decide.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub checks_decide: bool,
    /// Verification commands are configured, and when they run.
    pub verify: Option<VerifyWhen>,
    pub evidence: EvidenceKinds,
    pub e2e_repairs: u32,
    /// The agents to call, by name, the first choice first.
    #[serde(default)]
    pub agents: Vec<String>,
    #[serde(default)]
    pub budget: Budget,
    /// The flow that is followed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<FlowRules>,
    #[serde(default)]
    pub checks: Checks,
    /// For a goal that a forge has to prove.
    #[serde(default)]
    pub forge: Option<ForgeRules>,
    /// How long a question waits for an answer before its default is taken;
    /// `None` where an agent that asks is blocked.
    #[serde(default)]
    pub question_wait_ms: Option<u64>,
    /// Turns that another tool had made of this loop before it was ours.
    #[serde(default)]
    pub turns_before: u32,
    /// The run lands what several others work on at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lanes: Option<LaneRules>,
    /// What the agent has to know before its first turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// What a person said to the agents of all lanes before this one began.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<LaneHint>,
}

/// Rules that a person may change while a run rests (CONF-04, T-07).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewRules {
    pub limits: Limits,
    pub verify: Option<VerifyWhen>,
    pub checks: Checks,
    pub e2e_repairs: u32,
}

impl Rules {
    /// What is to change of a run with these rules, which began with `then`,
    /// where the settings say `now`. What a task asked for when the run began
    /// goes on to count: the agent can write its task file.
    pub fn changed(&self, then: &Rules, now: &Rules) -> Option<NewRules> {
        let mut checks = now.checks.clone();
        checks.tasks.extend(self.checks.tasks.clone());
        let limits = match then.limits == now.limits {
            // A person may have extended them meanwhile.
            true => self.limits.clone(),
            false => now.limits.clone(),
        };
        let new = NewRules {
            limits,
            verify: now.verify,
            checks,
            e2e_repairs: now.e2e_repairs,
        };
        let same = new.limits == self.limits
            && new.verify == self.verify
            && new.checks == self.checks
            && new.e2e_repairs == self.e2e_repairs;
        (!same).then_some(new)
    }

    /// Whether less has to be shown than these rules ask for.
    pub fn is_weakened_by(&self, new: &NewRules) -> bool {
        (self.verify.is_some() && new.verify.is_none())
            || (self.checks.e2e && !new.checks.e2e)
            || self.checks.level > new.checks.level
            || (self.checks.ticks == Ticks::Proven && new.checks.ticks != Ticks::Proven)
            || (self.checks.integrity == Integrity::Strict
                && new.checks.integrity != Integrity::Strict)
    }

    pub(super) fn take(&mut self, new: &NewRules) {
        self.limits = new.limits.clone();
        self.verify = new.verify;
        self.checks = new.checks.clone();
        self.e2e_repairs = new.e2e_repairs;
    }
}

/// What has to be reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Goal {
    /// Every task in scope of a task file; `phase` narrows the scope.
    Tasks { phase: Option<String> },
    /// A plain prompt: only verification can prove it.
    Prompt,
    /// A flow from its beginning to its end.
    Flow,
    /// p0: the quality gate is passed and the pull request exists.
    PullRequest,
    /// p1: CI of the pull request is green, and it is merged where that was
    /// asked for.
    Ci,
}

impl Goal {
    /// Whether the run ends with a pull request or with its CI.
    pub(super) fn is_on_forge(&self) -> bool {
        matches!(self, Goal::PullRequest | Goal::Ci)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VerifyWhen {
    /// After every turn.
    Each,
    /// When the work looks complete.
    Complete,
}

/// Zero switches a limit off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    pub max_iterations: u32,
    pub extend_by: u32,
    pub warn_at: WarnAt,
    /// Calls of agents in total.
    #[serde(default)]
    pub max_dispatches: u32,
    pub consecutive_errors: u32,
    pub missing_promise: u32,
    pub stalled: u32,
    pub same_error: u32,
    pub false_promise: u32,
    /// How long an open breaker waits before one more turn is tried; 0 where
    /// it stays open.
    #[serde(default)]
    pub cooldown_ms: u64,
    pub max_duration_ms: u64,
    pub iteration_timeout_ms: u64,
    pub pause_between_ms: u64,
    pub calls_per_hour: u32,
    /// The longest wait for an agent's limit to reset.
    #[serde(default)]
    pub max_wait_ms: u64,
    pub on_limit: OnLimit,
    pub retry: Retry,
}

/// From when on to warn of the last iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WarnAt {
    Never,
    Iteration(u32),
    Percent(u8),
}

impl WarnAt {
    /// The first iteration that warns, out of `max_iterations` (0 = unlimited).
    pub fn first_iteration(self, max_iterations: u32) -> Option<u32> {
        match self {
            // Zero switches the warning off, like every limit.
            WarnAt::Never | WarnAt::Iteration(0) | WarnAt::Percent(0) => None,
            WarnAt::Iteration(iteration) => Some(iteration),
            WarnAt::Percent(_) if max_iterations == 0 => None,
            WarnAt::Percent(percent) => {
                let share = (u64::from(max_iterations) * u64::from(percent)).div_ceil(100);
                u32::try_from(share).ok()
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnLimit {
    /// Ask the person who sits there; save and end where nobody does.
    Ask,
    /// Save and wait to be taken up again. Its name is that of older journals,
    /// which knew no other.
    #[serde(rename = "stop")]
    Pause,
    /// The run is over.
    End,
}

/// How often an agent that does not start is started, and the pause before a
/// turn that follows an error (ERRC-04, ERRC-06).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retry {
    /// Journals of before know of one.
    #[serde(default = "Retry::one")]
    pub attempts: u32,
    pub initial_ms: u64,
    pub factor: u32,
    pub max_ms: u64,
}

impl Retry {
    fn one() -> u32 {
        1
    }

    /// [`Retry::delay_ms`], up to a quarter shorter: loops that were refused
    /// together don't come back together. `seed` is of the event, so that a
    /// replay waits as long.
    pub fn jittered_ms(self, n: u32, seed: u64) -> u64 {
        const PARTS: u64 = 1024;
        let ms = self.delay_ms(n);
        let part = (seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) % PARTS;
        ms - ms / 4 * part / PARTS
    }

    /// The pause after the `n`th consecutive error, counted from 1.
    pub fn delay_ms(self, n: u32) -> u64 {
        let growth = u64::from(self.factor.max(1)).saturating_pow(n.saturating_sub(1));
        self.initial_ms.saturating_mul(growth).min(self.max_ms)
    }
}

/// Which kinds of evidence count as progress (BRKR-03).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvidenceKinds {
    pub tasks: bool,
    pub phase: bool,
    pub commit: bool,
    pub tree: bool,
}

impl EvidenceKinds {
    pub const NONE: EvidenceKinds = EvidenceKinds {
        tasks: false,
        phase: false,
        commit: false,
        tree: false,
    };

    /// What they are, for people.
    pub fn names(self, lang: Lang) -> String {
        let names = [
            (self.tasks, tr!(lang, "ticks")),
            (self.phase, tr!(lang, "phases")),
            (self.commit, tr!(lang, "commits")),
            (self.tree, tr!(lang, "content")),
        ];
        let names = names.into_iter().filter(|(counts, _)| *counts);
        names.map(|(_, name)| name).collect::<Vec<_>>().join(", ")
    }
}

impl Default for EvidenceKinds {
    fn default() -> Self {
        EvidenceKinds {
            tasks: true,
            phase: true,
            commit: true,
            tree: true,
        }
    }
}

/// The rules would let a run go on for ever (VALV-10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoLimit;

impl Limits {
    /// Whether any of them ends a run.
    pub(super) fn end_a_run(&self) -> bool {
        self.max_iterations > 0
            || self.max_duration_ms > 0
            || self.stalled > 0
            || self.missing_promise > 0
            || self.consecutive_errors > 0
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            max_iterations: 50,
            extend_by: 10,
            warn_at: WarnAt::Percent(75),
            max_dispatches: 0,
            consecutive_errors: 3,
            missing_promise: 5,
            stalled: 5,
            same_error: 5,
            false_promise: 5,
            cooldown_ms: 0,
            max_duration_ms: 0,
            iteration_timeout_ms: 30 * 60 * 1000,
            pause_between_ms: 0,
            calls_per_hour: 0,
            max_wait_ms: 0,
            on_limit: OnLimit::Ask,
            retry: Retry {
                attempts: 3,
                initial_ms: 1000,
                factor: 2,
                max_ms: 30_000,
            },
        }
    }
}

impl Rules {
    /// Unlimited iterations are fine while anything else ends the run, be it
    /// what it may cost: an agent that does not tell is refused (VALV-10).
    pub fn check(&self) -> Result<(), NoLimit> {
        let is_bounded = self.limits.end_a_run() || self.budget.run != Allowance::NONE;
        is_bounded.then_some(()).ok_or(NoLimit)
    }

    /// Everything that these rules let go outward.
    pub fn outward(&self) -> Vec<ForgeAsk> {
        let Some(forge) = &self.forge else {
            return Vec::new();
        };
        match self.goal {
            Goal::PullRequest if forge.create => vec![ForgeAsk::Push, ForgeAsk::Create],
            Goal::Ci => {
                let mut asks = Vec::new();
                if forge.push {
                    asks.push(ForgeAsk::Push);
                }
                if forge.bounds.reruns > 0 {
                    asks.push(ForgeAsk::Rerun { runs: Vec::new() });
                }
                if forge.merge != MergeWho::Nobody {
                    asks.push(ForgeAsk::Merge {
                        number: forge.number.unwrap_or_default(),
                        commit: "HEAD".into(),
                    });
                    if forge.delete_branch {
                        let branch = String::new();
                        asks.push(ForgeAsk::Delete { branch });
                    }
                }
                asks
            }
            _ => Vec::new(),
        }
    }

    pub fn new(goal: Goal) -> Rules {
        Rules {
            goal,
            limits: Limits::default(),
            promise_required: false,
            checks_decide: false,
            verify: None,
            evidence: EvidenceKinds::default(),
            e2e_repairs: 3,
            agents: Vec::new(),
            budget: Budget::default(),
            flow: None,
            checks: Checks::default(),
            forge: None,
            question_wait_ms: None,
            turns_before: 0,
            lanes: None,
            note: None,
            hints: Vec::new(),
        }
    }
}

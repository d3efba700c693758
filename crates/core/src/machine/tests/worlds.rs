//! Adversarial worlds: agents that fail, lie, undo and come back, task files
//! that grow, shrink and vanish, people who interrupt, clocks that jump, and
//! engines that die.

use crate::proof::{AskedProof, EvidenceLevel, Experiment, Trial, Weighed};
use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::forge::{
    Check, CheckState, ForgeAnswer, ForgeRules, GateFinding, Local, MergeWho, Pull, PullState,
    Sight, TroubleKind,
};
use crate::integrity::{How, Weakening};

/// What happens next, whatever the machine waits for.
#[derive(Clone, Debug)]
pub(super) struct Move {
    pub seen: Observation,
    pub end: End,
    pub promise: Option<Promise>,
    pub failure: &'static str,
    pub refusal: Option<Refusal>,
    pub role: Option<RoleReport>,
    pub spent: Usage,
    pub results: Vec<CommandResult>,
    pub extends: bool,
    pub took_ms: u64,
    pub wall_jump_ms: i64,
    /// The machine was booted anew: the steady clock starts from zero.
    pub reboot: bool,
    pub trouble: Trouble,
    /// What a forge would answer.
    pub forge: ForgeAnswer,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Trouble {
    None,
    /// Somebody wants the run to stop, while the child still runs.
    Request(Request),
    /// An event comes that nobody waits for.
    Stray,
    /// The engine dies, and another one takes the run up.
    Crash,
}

/// One event, what it was for, and what came of it.
#[derive(Clone, Debug)]
pub(super) struct Logged {
    pub event: Event,
    pub stray: bool,
    pub effects: Vec<Effect>,
    pub after: State,
}

impl Logged {
    pub fn acts(&self, wanted: fn(&Effect) -> bool) -> usize {
        self.effects.iter().filter(|e| wanted(e)).count()
    }
}

/// Plays the driver: answers what the machine waits for, and takes a finished
/// run up again where the next move is a crash.
pub(super) fn play(rules: Rules, start: Observation, moves: &[Move]) -> Vec<Logged> {
    let mut game = Game::new(rules);
    game.feed(Kind::Started { seen: start }, false);
    for next in moves {
        game.play(next);
    }
    game.log
}

pub(super) struct Game {
    pub state: State,
    pub now: Now,
    pub log: Vec<Logged>,
}

impl Game {
    pub fn new(rules: Rules) -> Game {
        Game {
            state: State::new(rules).unwrap(),
            now: START,
            log: Vec::new(),
        }
    }

    pub fn feed(&mut self, kind: Kind, stray: bool) {
        let event = Event { at: self.now, kind };
        let effects = step(&mut self.state, &event);
        self.log.push(Logged {
            event,
            stray,
            effects,
            after: self.state.clone(),
        });
    }

    pub fn play(&mut self, next: &Move) {
        self.now.wall_ms += next.wall_jump_ms;
        if next.reboot {
            self.now.steady_ms = 0;
        }
        self.now.steady_ms += next.took_ms;
        if let Some(until) = self.state.held_until() {
            self.now.wall_ms = self.now.wall_ms.max(until);
        }
        match next.trouble {
            Trouble::None => {}
            Trouble::Request(request) => self.feed(Kind::Requested { request }, false),
            Trouble::Stray => self.feed(self.unexpected(next), true),
            Trouble::Crash => {
                let seen = next.seen.clone();
                return self.feed(
                    Kind::Resumed {
                        seen,
                        budget: None,
                        rules: None,
                    },
                    false,
                );
            }
        }
        let beside = self.state.evidence.beside.as_ref();
        let waits = beside.filter(|beside| beside.report.is_none());
        let is_running = self.state.stage == Stage::Running;
        if let Some(turn) = waits.map(|beside| beside.turn)
            && is_running
            && next.took_ms.is_multiple_of(2)
        {
            self.feed(next.verified(turn), false);
        }
        if let Some(kind) = self.expected(next) {
            self.feed(kind, false);
        }
    }

    fn can_be_set_aside(&self) -> bool {
        let last = self.log.iter().rev().find(|logged| !logged.stray);
        last.is_some_and(|logged| {
            let mut effects = logged.effects.iter();
            effects.any(|e| matches!(e, Effect::Verify { beside: true, .. }))
        })
    }

    /// What the machine waits for.
    fn expected(&self, next: &Move) -> Option<Kind> {
        let turn = self.state.turn.number;
        let seen = next.seen.clone();
        match self.state.stage {
            Stage::Running => Some(next.turn_ended(turn, self.state.turn.attempt)),
            Stage::Preflight => Some(match next.verified(turn) {
                Kind::Verified(report) => Kind::Preflighted(report),
                other => other,
            }),
            Stage::Verifying { .. } => Some(match &self.state.evidence.beside {
                Some(beside) => next.verified(beside.turn),
                None if next.extends && self.can_be_set_aside() => Kind::SetAside { turn },
                None => next.verified(turn),
            }),
            Stage::Waiting if next.extends => Some(Kind::Nudged { seen }),
            Stage::Waiting => Some(Kind::Woke { seen }),
            Stage::Asking(_) => Some(Kind::Answered {
                answer: next.answer(),
            }),
            Stage::Marking => Some(Kind::Marked { seen }),
            Stage::Checking => Some(match next.verified(turn) {
                Kind::Verified(report) => Kind::Checked(report),
                other => other,
            }),
            Stage::Unticking { .. } => Some(Kind::Unticked {
                seen,
                left: self
                    .state
                    .ticks
                    .turned_back
                    .iter()
                    .take(next.results.len())
                    .cloned()
                    .collect(),
            }),
            Stage::Trying { .. } => Some(next.tried(turn)),
            Stage::Forge(ref ask) => Some(Kind::Forge {
                answer: next.forge_answer(ask),
            }),
            Stage::New | Stage::Landing { .. } | Stage::Closing(_) | Stage::Finished(_) => None,
        }
    }

    /// What the machine does not wait for.
    fn unexpected(&self, next: &Move) -> Kind {
        let turn = self.state.turn.number;
        let seen = next.seen.clone();
        match self.state.stage {
            Stage::Running if next.extends => next.turn_ended(turn, self.state.turn.attempt + 1),
            Stage::Running => next.turn_ended(turn + 1, 1),
            Stage::Verifying { .. } => next.verified(turn.wrapping_sub(9)),
            Stage::Trying { .. } => next.tried(turn.wrapping_sub(1)),
            Stage::Finished(_) if next.extends => Kind::Requested {
                request: Request::Cancel,
            },
            Stage::Finished(_) => Kind::Woke { seen },
            _ if next.extends => next.turn_ended(turn, self.state.turn.attempt),
            _ => Kind::Started { seen },
        }
    }
}

impl Move {
    fn turn_ended(&self, turn: u32, attempt: u32) -> Kind {
        Kind::TurnEnded(TurnReport {
            mentioned: None,
            attempt,
            spent: self.spent,
            refusal: self.refusal,
            role: self.role.clone().map(Box::new),
            turn,
            end: self.end.clone(),
            duration_ms: self.took_ms,
            promise: self.promise.clone(),
            failure: self.failure.into(),
            seen: self.seen.clone(),
        })
    }

    /// An answer that fits, or trouble.
    fn forge_answer(&self, ask: &ForgeAsk) -> ForgeAnswer {
        match (ask, &self.forge) {
            (ForgeAsk::Look { .. }, ForgeAnswer::Looked(_))
            | (ForgeAsk::Examine { .. }, ForgeAnswer::Examined { .. })
            | (_, ForgeAnswer::Failed(_)) => self.forge.clone(),
            (ForgeAsk::Look { .. }, _) => ForgeAnswer::Looked(Box::default()),
            (ForgeAsk::Examine { .. }, _) => ForgeAnswer::Examined {
                log: "assertion".into(),
                on_base: Vec::new(),
            },
            (ForgeAsk::Push, _) => ForgeAnswer::Pushed {
                commit: "bbb".into(),
            },
            (ForgeAsk::Create, _) => ForgeAnswer::Created { url: "u".into() },
            (ForgeAsk::Rerun { .. }, _) => ForgeAnswer::Rerun,
            (ForgeAsk::Merge { .. }, _) => ForgeAnswer::Merged,
            (ForgeAsk::Delete { .. }, _) => ForgeAnswer::Deleted,
        }
    }

    fn verified(&self, turn: u32) -> Kind {
        let results = self.results.clone();
        let tree = self.seen.tree.clone();
        let (trials, weighed) = self.experiments();
        Kind::Verified(VerifyReport {
            turn,
            tree,
            results,
            trials,
            weighed,
            strays: None,
        })
    }

    /// Some of them, with any results.
    fn experiments(&self) -> (Vec<Trial>, Option<Box<Weighed>>) {
        let chance = |bit: u32| self.took_ms >> bit & 1 == 1;
        let all = [
            Experiment::Canary,
            Experiment::ArmedCanary,
            Experiment::Counterfactual,
            Experiment::Original,
            Experiment::Spoiled,
        ];
        let trial = |(n, experiment): (u32, Experiment)| Trial {
            experiment,
            edits: String::new(),
            results: self
                .results
                .iter()
                .map(|result| CommandResult {
                    exit: Some(i32::from(chance(n + 5))),
                    ..result.clone()
                })
                .collect(),
            flaky: Vec::new(),
            named: Vec::new(),
            failing: Vec::new(),
        };
        let made = (0u32..).zip(all).filter(|(n, _)| chance(*n));
        let weighed = Weighed {
            work: chance(10)
                .then(|| "calc.py".to_owned())
                .into_iter()
                .collect(),
            checks: chance(11)
                .then(|| "tests.py".to_owned())
                .into_iter()
                .collect(),
            new_checks: chance(11),
            only_expectations: chance(12),
            trouble: chance(13).then(|| "no room".to_owned()),
            ..Weighed::default()
        };
        (
            made.map(trial).collect(),
            self.extends.then(|| Box::new(weighed)),
        )
    }

    fn tried(&self, turn: u32) -> Kind {
        let result = self.results.first().cloned().unwrap_or_default();
        Kind::E2eEnded { turn, result }
    }

    fn answer(&self) -> MenuAnswer {
        match (self.extends, self.promise.is_some()) {
            (true, true) => MenuAnswer::Extend,
            (true, false) => MenuAnswer::Simplify {
                skipped: vec!["T900".into()],
                seen: Box::new(self.seen.clone()),
            },
            (false, true) => MenuAnswer::SaveAndExit,
            (false, false) => MenuAnswer::Abandon,
        }
    }
}

// ---- strategies -------------------------------------------------------------

pub(super) fn any_facts() -> impl Strategy<Value = TaskFacts> {
    let phase = (0usize..=3, 0usize..=3).prop_map(|(a, b)| (a.min(b), a.max(b)));
    let some = (prop::collection::vec(phase, 1..4), any::<bool>()).prop_map(|(phases, flat)| {
        let facts = phased(&phases);
        if flat {
            list(facts.completed, facts.total)
        } else {
            facts
        }
    });
    let finished = (0usize..=4).prop_map(|n| list(n, n));
    let facts = prop_oneof![3 => some, 2 => finished];
    let ticked = prop::collection::vec(1usize..4, 0..3);
    (facts, any::<bool>(), any::<bool>(), ticked).prop_map(|(facts, removed, unticked, ticked)| {
        TaskFacts {
            removed: removed.then(|| "T900".into()).into_iter().collect(),
            unticked: unticked.then(|| "T901".into()).into_iter().collect(),
            ticked: ticked.into_iter().map(task).collect(),
            ..facts
        }
    })
}

pub(super) fn any_seen() -> impl Strategy<Value = Observation> {
    let tasks = prop_oneof![
        8 => any_facts().prop_map(Tasks::Read),
        1 => Just(unreadable()),
        1 => Just(Tasks::None),
    ];
    let name = || prop::option::weighted(0.9, select(vec!["a", "b", "c", "d"]));
    let weakened = prop::bool::weighted(0.1).prop_map(|yes| {
        let weakening = Weakening {
            file: "tests/a.rs".into(),
            how: How::Removed,
        };
        yes.then_some(weakening).into_iter().collect()
    });
    (tasks, name(), name(), weakened).prop_map(|(tasks, tree, commit, weakened)| Observation {
        tasks,
        weakened,
        tree: tree.map(str::to_owned),
        commit_tree: commit.map(str::to_owned),
        ..Observation::default()
    })
}

pub(super) fn any_end() -> impl Strategy<Value = End> {
    prop_oneof![
        12 => Just(End::Exit(0)),
        2 => (1..=3).prop_map(End::Exit),
        1 => Just(End::Signal(9)),
        1 => Just(End::ResultError),
        2 => Just(End::TimedOut),
        1 => any::<bool>().prop_map(|missing| End::SpawnFailed { missing }),
        1 => Just(End::Stopped),
        1 => Just(End::OverBudget),
        1 => Just(End::Lost),
    ]
}

pub(super) fn any_promise() -> impl Strategy<Value = Option<Promise>> {
    prop_oneof![
        4 => Just(None),
        3 => Just(Some(Promise::Continue)),
        5 => Just(Some(complete())),
        2 => Just(Some(Promise::PhaseComplete)),
        1 => Just(Some(Promise::E2ePassed)),
        1 => Just(Some(Promise::E2eFailed("e2e".into()))),
        1 => Just(Some(Promise::Unknown("perhaps".into()))),
        1 => Just(Some(Promise::Question("Which? | default: this".into()))),
    ]
}

fn any_results() -> impl Strategy<Value = Vec<CommandResult>> {
    let exit = prop_oneof![3 => Just(Some(0)), 1 => Just(Some(1)), 1 => Just(None)];
    let result = (exit, select(vec!["x", "y", "x 1"])).prop_map(|(exit, out)| ran("t", exit, out));
    prop::collection::vec(result, 0..3)
}

pub(super) fn any_trouble() -> impl Strategy<Value = Trouble> {
    prop_oneof![
        16 => Just(Trouble::None),
        3 => Just(Trouble::Stray),
        1 => Just(Trouble::Crash),
        1 => select(vec![
            Request::Pause,
            Request::Interrupt,
            Request::Kill,
            Request::Cancel,
        ])
        .prop_map(Trouble::Request),
    ]
}

/// Nobody asks for anything and nothing dies.
pub(super) fn undisturbed() -> impl Strategy<Value = Trouble> {
    prop_oneof![4 => Just(Trouble::None), 1 => Just(Trouble::Stray)]
}

pub(super) fn any_move(
    trouble: impl Strategy<Value = Trouble>,
    promise: impl Strategy<Value = Option<Promise>>,
    end: impl Strategy<Value = End>,
) -> impl Strategy<Value = Move> {
    let said = (end, promise, select(vec!["", "boom", "boom 7", "bang"]));
    let time = (
        1u64..5000,
        prop_oneof![6 => 0i64..5000, 1 => -100_000_000i64..100_000_000],
        prop::bool::weighted(0.05),
    );
    (
        any_seen(),
        said,
        any_results(),
        any::<bool>(),
        time,
        trouble,
    )
        .prop_map(
            |(seen, (end, promise, failure), results, extends, time, trouble)| Move {
                seen,
                end,
                promise,
                failure,
                refusal: None,
                role: None,
                spent: Usage::default(),
                results,
                extends,
                took_ms: time.0,
                wall_jump_ms: time.1,
                reboot: time.2,
                trouble,
                forge: ForgeAnswer::Looked(Box::default()),
            },
        )
}

pub(super) fn any_moves() -> impl Strategy<Value = Vec<Move>> {
    let blocked = Just(Some(Promise::Blocked("key".into())));
    let promise = prop_oneof![15 => any_promise(), 1 => blocked];
    let one = any_move(any_trouble(), promise, any_end());
    let more = (any_refusal(), any_spent(), any_forge());
    let one = (one, more).prop_map(|(one, (refusal, spent, forge))| Move {
        refusal,
        spent,
        forge,
        ..one
    });
    prop::collection::vec(one, 1..40)
}

fn any_refusal() -> impl Strategy<Value = Option<Refusal>> {
    let need = select(vec![
        Need::Spend,
        Need::Admin,
        Need::Login,
        Need::Plan,
        Need::Request,
    ]);
    let reset = prop::option::of(-100_000i64..10_000_000).prop_map(|ahead| Refusal::Usage {
        resets_at: ahead.map(|ahead| START.wall_ms + ahead),
    });
    let overload = prop::option::of(0u64..100_000)
        .prop_map(|retry_after_ms| Refusal::Overload { retry_after_ms });
    let refusal = prop_oneof![3 => reset, 2 => overload, 1 => need.prop_map(Refusal::Person)];
    prop::option::weighted(0.5, refusal)
}

fn any_forge() -> impl Strategy<Value = ForgeAnswer> {
    let state = select(vec![
        CheckState::Passed,
        CheckState::Failed,
        CheckState::Cancelled,
        CheckState::Pending,
        CheckState::Ignored,
    ]);
    let check = (state, 1u64..4).prop_map(|(state, run)| Check {
        name: format!("check {run}"),
        state,
        run: Some(run),
        job: Some(run * 10),
    });
    let pull = (
        select(vec![
            PullState::Open,
            PullState::Open,
            PullState::Merged,
            PullState::Closed,
        ]),
        select(vec!["aaa", "bbb"]),
    )
        .prop_map(|(state, head)| Pull {
            number: 7,
            state,
            head: head.into(),
            merged_at: (state == PullState::Merged).then(|| "now".into()),
            ..Pull::default()
        });
    let finding = Just(GateFinding {
        code: "gate_stale".into(),
        text: "gate".into(),
        said: String::new(),
    });
    let sight = (
        prop::option::weighted(0.8, pull),
        prop::collection::vec(check, 0..3),
        prop::collection::vec(finding, 0..2),
        (0usize..2, any::<bool>(), 0usize..2),
    )
        .prop_map(|(pull, checks, gate, (ahead, behind, uncommitted))| Sight {
            local: Local {
                ahead,
                behind,
                uncommitted,
                head: pull
                    .as_ref()
                    .filter(|_| ahead == 0)
                    .map(|p: &Pull| p.head.clone()),
                ..Local::default()
            },
            pull,
            checks,
            gate,
        });
    let kind = select(vec![
        TroubleKind::Network,
        TroubleKind::RateLimited,
        TroubleKind::Refused,
        TroubleKind::Login,
    ]);
    prop_oneof![
        6 => sight.prop_map(|sight| ForgeAnswer::Looked(Box::new(sight))),
        2 => any::<bool>().prop_map(|flaky| ForgeAnswer::Examined {
            log: if flaky { "flaky" } else { "assertion" }.into(),
            on_base: Vec::new(),
        }),
        1 => kind.prop_map(|kind| ForgeAnswer::Failed(crate::forge::Trouble {
            kind,
            program: "gh".into(),
            words: "conflict".into(),
        })),
    ]
}

fn any_spent() -> impl Strategy<Value = Usage> {
    let tokens = (0u64..1000, 0u64..1000).prop_map(|(input, output)| Tokens {
        input,
        output,
        ..Tokens::default()
    });
    (prop::option::of(tokens), prop::option::of(0u64..1000)).prop_map(|(tokens, micros)| Usage {
        tokens,
        cost: micros.map(Usd::from_micros),
        at_least: false,
    })
}

fn any_budget() -> impl Strategy<Value = Budget> {
    let bound = || prop_oneof![3 => Just(0u64), 1 => 1u64..20_000];
    let allowance = || {
        (bound(), bound()).prop_map(|(micros, tokens)| Allowance {
            cost: Usd::from_micros(micros),
            tokens,
        })
    };
    (allowance(), allowance()).prop_map(|(run, turn)| Budget { run, turn })
}

pub(super) fn any_limits() -> impl Strategy<Value = Limits> {
    let counted = || prop_oneof![Just(0u32), 1u32..6];
    let counters = (counted(), counted(), counted(), counted(), counted());
    let time = (
        prop_oneof![Just(0u64), 1u64..60_000],
        prop_oneof![Just(0u64), Just(1000)],
        prop_oneof![3 => Just(0u32), 1 => Just(2)],
    );
    let percent = (0u8..=100).prop_map(WarnAt::Percent);
    let menu = (
        0u32..4,
        select(vec![OnLimit::Ask, OnLimit::Pause, OnLimit::End]),
    );
    (counted(), counters, time, percent, menu).prop_map(
        |(max_iterations, counters, time, warn_at, (extend_by, on_limit))| Limits {
            max_iterations,
            extend_by,
            warn_at,
            consecutive_errors: counters.0,
            missing_promise: counters.1,
            stalled: counters.2,
            same_error: counters.3,
            false_promise: counters.4,
            max_duration_ms: time.0,
            pause_between_ms: time.1,
            calls_per_hour: time.2,
            max_wait_ms: time.1 * 5000,
            on_limit,
            ..Limits::default()
        },
    )
}

/// Rules of every kind that the machine accepts.
pub(super) fn any_rules() -> impl Strategy<Value = Rules> {
    let active = any_limits().prop_filter("some limit", Limits::end_a_run);
    any_rules_with(active)
}

pub(super) fn any_rules_with(
    limits: impl Strategy<Value = Limits>,
) -> impl Strategy<Value = Rules> {
    let goal = prop_oneof![
        4 => Just(all_tasks()),
        1 => Just(Goal::Tasks { phase: Some("1".into()) }),
        2 => Just(Goal::Prompt),
        1 => Just(Goal::PullRequest),
        2 => Just(Goal::Ci),
    ];
    let verify = select(vec![
        None,
        Some(VerifyWhen::Each),
        Some(VerifyWhen::Complete),
    ]);
    let kinds = any::<[bool; 4]>().prop_map(|[tasks, phase, commit, tree]| EvidenceKinds {
        tasks,
        phase,
        commit,
        tree,
    });
    let money = (any_budget(), 0usize..3, any_checks());
    (goal, limits, any::<bool>(), verify, kinds, 0u32..3, money).prop_map(
        |(
            goal,
            limits,
            promise_required,
            verify,
            evidence,
            e2e_repairs,
            (budget, agents, checks),
        )| Rules {
            checks_decide: false,
            turns_before: 0,
            lanes: None,
            note: None,
            hints: Vec::new(),
            goal,
            limits,
            promise_required,
            verify,
            evidence,
            e2e_repairs,
            agents: (0..agents).map(|n| format!("agent {n}")).collect(),
            budget,
            flow: None,
            checks,
            forge: Some(ForgeRules {
                push: agents < 2,
                merge: [MergeWho::Nobody, MergeWho::Ralph, MergeWho::Forge][agents],
                ..ForgeRules::default()
            }),
            question_wait_ms: promise_required.then_some(0),
        },
    )
}

fn any_checks() -> impl Strategy<Value = Checks> {
    let ticks = select(vec![Ticks::Agent, Ticks::Proven]);
    let integrity = select(vec![Integrity::Off, Integrity::Warn, Integrity::Strict]);
    let own = prop::collection::btree_map(
        select(vec!["T001".to_owned(), "T002".to_owned()]),
        Just(vec!["make".to_owned()]),
        0..2,
    );
    let level = select(vec![
        EvidenceLevel::Claimed,
        EvidenceLevel::Changed,
        EvidenceLevel::Unrefuted,
        EvidenceLevel::Proven,
    ]);
    let proof = select(vec![
        AskedProof::Person,
        AskedProof::Change,
        AskedProof::Preserved,
    ]);
    let proofs = prop::collection::btree_map(
        select(vec!["T001".to_owned(), "T002".to_owned()]),
        proof,
        0..2,
    );
    (ticks, integrity, own, any::<bool>(), level, 0u32..3, proofs).prop_map(
        |(ticks, integrity, tasks, e2e, level, asks, proofs)| Checks {
            ticks,
            integrity,
            tasks,
            e2e,
            level,
            asks,
            proofs,
            beside: asks != 1,
            ..Checks::default()
        },
    )
}

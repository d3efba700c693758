//! The machine decides as it did: hundreds of wild runs, each a digest of all
//! that came out of it. Whoever changes how the step is written changes no
//! line here; whoever changes what it decides sees which kind of run that
//! touches, and replaces the lines.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use sha2::{Digest as _, Sha256};

use super::roles::{rules_of, tasks};
use super::worlds::*;
use super::*;
use crate::flow::{Answer as Verdict, Finding, Severity};
use crate::forge::ForgeAnswer;

/// Runs in each line.
const RUNS: u64 = 40;

/// splitmix64: what is not drawn by the worlds of the laws.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % sides
    }

    /// True once in so many times.
    fn one_in(&mut self, sides: u64) -> bool {
        self.roll(sides) == 0
    }
}

/// One wild run, from a seed.
struct Run {
    game: Game,
    dice: Dice,
    /// Tasks that are done, of two, where a flow is followed.
    done: BTreeSet<usize>,
    outputs: BTreeMap<String, String>,
}

fn drawn(seed: u64) -> (Rules, Observation, Vec<Move>) {
    let mut bytes = [7; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let world = (any_rules(), any_seen(), any_moves());
    world.new_tree(&mut runner).unwrap().current()
}

fn run(kind: &str, seed: u64) -> Vec<Logged> {
    let (mut rules, start, moves) = drawn(seed);
    match kind {
        "tasks" => rules.goal = all_tasks(),
        "prompt" => rules.goal = Goal::Prompt,
        "pull" => rules.goal = Goal::PullRequest,
        "ci" => rules.goal = Goal::Ci,
        "drt" => {
            rules.goal = all_tasks();
            rules.flow = Some(rules_of("drt"));
        }
        "session" => {}
        route => {
            rules.goal = Goal::Flow;
            rules.flow = Some(rules_of(route));
        }
    }
    // It came later, and is asked for.
    rules.checks.beside = false;
    let far = rules.flow.is_some() || seed.is_multiple_of(2);
    if far {
        // Some ways are long.
        rules.limits = limited(Goal::Flow, |l| l.max_iterations = 40).limits;
        rules.checks.integrity = Integrity::Warn;
        rules.budget = Budget::default();
        rules.promise_required &= rules.flow.is_none();
    }
    let mut run = Run {
        game: Game::new(rules),
        dice: Dice(seed),
        done: BTreeSet::new(),
        outputs: BTreeMap::new(),
    };
    if kind == "session" {
        run.feed(Kind::Session(SessionEvent::Joined {
            id: "s".into(),
            host: "claude".into(),
        }));
    }
    let seen = run.see(start);
    run.feed(Kind::Started { seen });
    let times = if kind == "drt" || kind == "ci" { 4 } else { 1 };
    for next in std::iter::repeat_n(&moves, times).flatten() {
        run.disturb(kind == "session");
        let next = run.shape(next.clone());
        run.game.play(&next);
    }
    run.game.log
}

impl Run {
    fn feed(&mut self, kind: Kind) {
        self.game.feed(kind, false);
    }

    /// What a flow sees of the world.
    fn see(&mut self, seen: Observation) -> Observation {
        if self.game.state.rules.flow.is_none() {
            return seen;
        }
        let total = 2;
        let mut facts = tasks(self.done.len(), total);
        let open: Vec<_> = (1..=total).filter(|n| !self.done.contains(n)).collect();
        facts.next = open.first().map(|&n| task(n));
        facts.ready = open.iter().map(|&n| task(n)).collect();
        facts.open.clone_from(&facts.ready);
        if let Some(flow) = &mut facts.flow {
            flow.done = self.done.iter().map(|&n| task(n).id).collect();
        }
        Observation {
            tasks: Tasks::Read(facts),
            outputs: self.outputs.clone(),
            ..seen
        }
    }

    /// Does mostly what a flow expects.
    fn shape(&mut self, next: Move) -> Move {
        if self.game.state.rules.flow.is_none() {
            return next;
        }
        let last = self.game.log.last().map(|l| l.effects.clone());
        let tree = self.dice.roll(3);
        for effect in last.unwrap_or_default() {
            match effect {
                Effect::Mark { tick, untick } if !self.dice.one_in(8) => {
                    let number = |id: &String| id[1..].parse::<usize>().unwrap();
                    let off: Vec<_> = untick.iter().map(number).collect();
                    self.done.retain(|n| !off.contains(n));
                    self.done.extend(tick.iter().map(number));
                }
                Effect::RunAgent(turn) if !self.dice.one_in(6) => {
                    let output = turn.flow.and_then(|flow| flow.output);
                    let digest = format!("turn {}", turn.turn);
                    self.outputs.extend(output.map(|output| (output, digest)));
                }
                _ => {}
            }
        }
        if self.dice.one_in(12) {
            let n = 1 + self.dice.roll(2) as usize;
            self.done.insert(n);
        }
        let answers = [
            Verdict::Approve,
            Verdict::Pass,
            Verdict::Reject,
            Verdict::Fail,
            Verdict::Reject,
        ];
        let answer = match self.dice.roll(9) {
            ..3 => self.wanted(),
            n => answers.get(n as usize - 3).copied(),
        };
        let finding = Finding {
            severity: [None, Some(Severity::Critical)][self.dice.roll(2) as usize],
            text: "wrong".into(),
            reproducer: self.dice.one_in(2).then(|| "sh repro.sh".into()),
        };
        let role = RoleReport {
            answer,
            findings: vec![finding],
            score: Some(self.dice.roll(100) as u32),
            words: "words".into(),
            refused: None,
        };
        let end = if self.dice.one_in(3) {
            next.end.clone()
        } else {
            End::Exit(0)
        };
        let seen = Observation {
            tree: Some(format!("tree {tree}")),
            commit_tree: None,
            ..self.see(next.seen.clone())
        };
        let trouble = match self.dice.roll(3) {
            0 => next.trouble,
            _ => Trouble::None,
        };
        Move {
            seen,
            end,
            trouble,
            promise: next.promise.clone().filter(|_| self.dice.one_in(3)),
            role: (!self.dice.one_in(9)).then_some(role),
            ..next
        }
    }

    /// What the step that is played would like to hear.
    fn wanted(&self) -> Option<Verdict> {
        let state = &self.game.state;
        let (rules, position) = state
            .rules
            .flow
            .as_ref()
            .zip(state.flow.position.as_ref())?;
        Some(rules.flow.step(position.step)?.verdict.good())
    }

    /// What may come at any time.
    fn disturb(&mut self, session: bool) {
        let kind = match self.dice.roll(if session { 14 } else { 40 }) {
            0 => Kind::Replied {
                question: 1 + self.dice.roll(2) as u32,
                text: "that".into(),
            },
            1 => Kind::Extended {
                iterations: self.dice.roll(3) as u32,
                duration_ms: self.dice.roll(2) * 9000,
            },
            2 => Kind::Frozen,
            3 => Kind::Thawed,
            4 => Kind::GuardBlocked {
                lines: 1,
                blocks: vec![GuardBlock::default()],
            },
            5 if self.dice.one_in(4) => Kind::Abandoned,
            6 => Kind::Forge {
                answer: ForgeAnswer::NoTime,
            },
            7..=11 if session => Kind::Session(SessionEvent::Stopping {
                acted: self.dice.one_in(4),
                cap: Some(3),
            }),
            12 if session => Kind::Session(SessionEvent::NobodyWaits),
            13 if session && self.dice.one_in(4) => Kind::Session(SessionEvent::Left {
                request: Request::Pause,
            }),
            _ => return,
        };
        self.feed(kind);
    }
}

/// What is told as it is written and said: how a notice holds its fields is
/// no decision of the step.
fn outwardly(effect: &Effect) -> String {
    match effect {
        Effect::Emit(notice) => notice.line(START).to_string() + &notice.say(Lang::En),
        Effect::Verify { turn, scope, .. } => {
            format!("Verify {{ turn: {turn:?}, scope: {scope:?} }}")
        }
        effect => format!("{effect:?}"),
    }
}

#[test]
fn the_step_decides_as_it_did() {
    let kinds = [
        "tasks", "prompt", "pull", "ci", "drt", "ralph", "planned", "direct", "session",
    ];
    let mut lines = String::new();
    for (n, kind) in (1u64..).zip(kinds) {
        let (mut digest, mut events, mut complete) = (Sha256::new(), 0, 0);
        for seed in 0..RUNS {
            let log = run(kind, n * 1000 + seed);
            events += log.len();
            for l in &log {
                for effect in &l.effects {
                    digest.update(outwardly(effect));
                }
                digest.update(l.after.status("run", "tasks.md").to_string());
            }
            let is_complete = |l: &Logged| l.after.outcome() == Some(&Outcome::Complete);
            complete += usize::from(log.iter().any(is_complete));
        }
        let digest: String = digest.finalize()[..8]
            .iter()
            .map(|b| format!("{b:02x}"))
            .collect();
        lines += &format!("{kind}: {events} events, {complete} complete, {digest}\n");
    }
    insta::assert_snapshot!(lines, @r"
    tasks: 668 events, 2 complete, 43358a3e13bbbd19
    prompt: 744 events, 1 complete, 127812df6cc13f2d
    pull: 628 events, 1 complete, 1fbda25d5ef92eec
    ci: 1737 events, 0 complete, 0094e9614824a3ec
    drt: 1437 events, 10 complete, c83138ec495cd540
    ralph: 717 events, 4 complete, 78972a818e305b30
    planned: 481 events, 6 complete, 3c81e9d933d178fd
    direct: 461 events, 15 complete, c2daee5aa8f15b4f
    session: 1118 events, 6 complete, dfc8c8223edd4ee4
    ");
}

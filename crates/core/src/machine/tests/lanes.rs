//! What holds of lanes whatever their agents, the checks, the disk and the
//! people do (issue 22, point 1).

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::sample::Index;

use super::*;

/// A branch, the lanes' processes and the tree in which results are checked.
struct Branch {
    state: State,
    total: usize,
    /// Tasks on the branch, in the order in which they landed.
    tip: Vec<String>,
    /// Ticks in the tree that is checked.
    checked: BTreeSet<String>,
    /// Processes that run, and what they were granted.
    alive: BTreeMap<u32, (String, bool)>,
    waits: Vec<Wait>,
    /// Whether what is checked now was green.
    green: Option<bool>,
    finished: Option<Outcome>,
    /// The lanes were told to come to their end.
    closes: bool,
    clock: u64,
    /// What a person left out.
    skipped: BTreeSet<String>,
    /// Hints that lanes were given, by process or word.
    given: Vec<(u32, String)>,
}

#[derive(Clone, Debug, PartialEq)]
enum Wait {
    Ask(u32),
    Lane(u32),
    Land(u32, LaneTask),
    Judge,
    Untick(Vec<String>),
    Commit(u32, LaneTask),
}

#[derive(Clone, Debug)]
struct Luck {
    which: Index,
    good: bool,
    dies: bool,
    /// Git fails.
    breaks: bool,
}

#[derive(Clone, Debug)]
enum Wish {
    Skip(Index),
    Unskip(Index),
    Focus(Index),
    Retry(Index),
    Hint(bool),
    Stop(Request),
}

fn any_wish() -> impl Strategy<Value = Wish> {
    prop_oneof![
        any::<Index>().prop_map(Wish::Skip),
        any::<Index>().prop_map(Wish::Unskip),
        any::<Index>().prop_map(Wish::Focus),
        any::<Index>().prop_map(Wish::Retry),
        any::<bool>().prop_map(Wish::Hint),
        prop::sample::select(vec![
            Request::Pause,
            Request::Interrupt,
            Request::Cancel,
            Request::Kill,
        ])
        .prop_map(Wish::Stop),
    ]
}

impl Branch {
    fn new(rules: Rules, total: usize) -> Branch {
        let mut branch = Branch {
            state: State::new(rules).unwrap(),
            total,
            tip: Vec::new(),
            checked: BTreeSet::new(),
            alive: BTreeMap::new(),
            waits: Vec::new(),
            green: None,
            finished: None,
            closes: false,
            clock: 0,
            skipped: BTreeSet::new(),
            given: Vec::new(),
        };
        let seen = branch.seen();
        branch.feed(Kind::Started { seen });
        branch
    }

    fn seen(&self) -> Observation {
        let done = self.checked.len();
        let ids: Vec<TaskRef> = (1..=self.total).map(task).collect();
        let total = self.total - self.skipped.len();
        let is_done = |task: &&TaskRef| self.checked.contains(&task.id);
        let facts = TaskFacts {
            ticked: ids.iter().filter(is_done).cloned().collect(),
            unticked: Vec::new(),
            ..list(done, total)
        };
        Observation {
            tasks: Tasks::Read(facts),
            tree: Some(format!("{:?}", self.checked)),
            ..Observation::default()
        }
    }

    fn feed(&mut self, kind: Kind) {
        self.clock += 10;
        let at = Now {
            wall_ms: i64::try_from(self.clock).unwrap(),
            steady_ms: self.clock,
        };
        for effect in step(&mut self.state, &Event { at, kind }) {
            self.take(effect);
        }
        self.hold_the_laws();
    }

    fn take(&mut self, effect: Effect) {
        match effect {
            Effect::Verify { .. } => self.waits.push(Wait::Judge),
            Effect::Untick { ids } => self.waits.push(Wait::Untick(ids)),
            Effect::Finish(outcome) => {
                assert!(self.alive.is_empty(), "{:?} outlive the run", self.alive);
                self.finished = Some(outcome);
            }
            Effect::Lane(LaneOrder::Close { .. }) => {
                self.closes = true;
                for &lane in self.alive.keys() {
                    let ends = [Wait::Ask(lane), Wait::Lane(lane)];
                    if !self.waits.iter().any(|wait| ends.contains(wait)) {
                        self.waits.push(Wait::Lane(lane));
                    }
                }
            }
            Effect::RunAgent(_) => panic!("only lanes call agents"),
            Effect::Lane(LaneOrder::Tell { lane, said, .. }) => self.given.push((lane, said.text)),
            Effect::Lane(LaneOrder::Start {
                lane, task, hints, ..
            }) => {
                assert!(!self.skipped.contains(&task.id), "{} is left out", task.id);
                self.given
                    .extend(hints.into_iter().map(|hint| (lane, hint.text)));
                for id in &task.after {
                    assert!(self.tip.contains(id), "{} began before {id}", task.id);
                }
                let before = self.alive.insert(lane, (task.id, false));
                assert_eq!(before, None, "two processes in lane {lane}");
                self.waits.push(Wait::Ask(lane));
            }
            Effect::Lane(LaneOrder::Grant { lane, .. }) => {
                self.alive.get_mut(&lane).unwrap().1 = true;
                self.waits.push(Wait::Lane(lane));
            }
            Effect::Lane(LaneOrder::Land { lane, task, .. }) => {
                self.waits.push(Wait::Land(lane, task));
            }
            Effect::Lane(LaneOrder::Commit { lane, task, .. }) => {
                assert_eq!(self.green, Some(true), "{} lands unjudged", task.id);
                self.waits.push(Wait::Commit(lane, task));
            }
            _ => {}
        }
    }

    fn hold_the_laws(&self) {
        let rules = self.state.rules.lanes.as_ref().unwrap();
        let board = &self.state.lanes;
        assert!(board.working() <= rules.count as usize);
        assert!(rules.trees == 0 || board.seats.len() <= rules.trees as usize);
        let seats: Vec<&Seat> = board.seats.values().collect();
        for (n, one) in seats.iter().enumerate() {
            for other in &seats[n + 1..] {
                assert_ne!(one.task.id, other.task.id);
                let shared = one.task.files.iter().find(|f| other.task.files.contains(f));
                assert_eq!(shared, None, "two lanes on the same file");
            }
        }
        let unique: BTreeSet<&String> = self.tip.iter().collect();
        assert_eq!(unique.len(), self.tip.len(), "landed twice: {:?}", self.tip);
        if self.finished == Some(Outcome::Complete) {
            assert_eq!(self.tip.len(), self.total - self.skipped.len());
        }
    }

    /// A person steers, as far as the engine lets them: what a lane holds or
    /// what landed is not left out, and something is left.
    fn steer(&mut self, wish: &Wish) {
        if self.finished.is_some() {
            return;
        }
        let id = |which: &Index| task(which.index(self.total) + 1).id;
        let held = |id: &String| {
            let mut seats = self.state.lanes.seats.values();
            self.tip.contains(id) || seats.any(|seat| seat.task.id == *id)
        };
        let steer = match wish {
            Wish::Skip(which) => {
                let id = id(which);
                let left = self.total - self.skipped.len();
                if held(&id) || self.skipped.contains(&id) || left < 2 {
                    return;
                }
                self.skipped.insert(id.clone());
                Steer::Skip { tasks: vec![id] }
            }
            Wish::Unskip(which) => {
                let id = id(which);
                if !self.skipped.remove(&id) {
                    return;
                }
                Steer::Unskip { tasks: vec![id] }
            }
            Wish::Focus(which) => Steer::Focus {
                task: Some(id(which)).filter(|id| !self.tip.contains(id)),
            },
            Wish::Retry(which) => {
                let task = id(which);
                if held(&task) {
                    return;
                }
                self.skipped.remove(&task);
                Steer::Retry { task }
            }
            Wish::Stop(request) => {
                let request = *request;
                return self.feed(Kind::Requested { request });
            }
            Wish::Hint(keep) => Steer::Hint {
                text: format!("word {}", self.clock),
                keep: *keep,
            },
        };
        let rests = self.state.stage == Stage::Waiting;
        let seen = rests.then(|| Box::new(self.seen()));
        let task = None;
        self.feed(Kind::Steered { steer, task, seen });
    }

    fn lane(&mut self, event: LaneEvent) {
        self.feed(Kind::Lane(event));
    }

    fn go_on(&mut self, luck: &Luck) {
        if luck.dies {
            return self.die();
        }
        if self.waits.is_empty() {
            return;
        }
        let wait = self.waits.remove(luck.which.index(self.waits.len()));
        match wait {
            Wait::Ask(lane) => {
                let base = format!("{:?}", self.tip);
                self.lane(LaneEvent::Began { lane, base });
                if self.closes {
                    return self.end_lane(lane, false);
                }
                let calls = Vec::new();
                self.lane(LaneEvent::Asks { lane, calls });
            }
            Wait::Lane(lane) => self.end_lane(lane, luck.good),
            Wait::Land(lane, _) | Wait::Commit(lane, _) if luck.breaks => {
                let (calls, end) = (Vec::new(), short("git failed"));
                self.lane(LaneEvent::Ended { lane, calls, end });
            }
            Wait::Land(lane, task) => self.merge(lane, &task, luck.good),
            Wait::Judge => {
                self.green = Some(luck.good);
                self.feed(Kind::Verified(VerifyReport {
                    turn: self.state.turn.number,
                    results: match luck.good {
                        true => passing(),
                        false => failing("red together"),
                    },
                    ..VerifyReport::default()
                }));
            }
            Wait::Untick(ids) => {
                self.checked.retain(|id| !ids.contains(id));
                let seen = self.seen();
                let left = Vec::new();
                self.feed(Kind::Unticked { seen, left });
            }
            Wait::Commit(lane, task) => self.commit(lane, task, luck.good),
        }
    }

    fn end_lane(&mut self, lane: u32, good: bool) {
        self.alive.remove(&lane);
        let end = if good {
            let commit = format!("result of {lane}");
            LaneEnd::Ready { commit }
        } else if self.closes {
            LaneEnd::Stopped
        } else {
            short("stalled")
        };
        let calls = vec![Usage::default()];
        self.lane(LaneEvent::Ended { lane, calls, end });
    }

    fn merge(&mut self, lane: u32, task: &LaneTask, good: bool) {
        let (tree, tip) = ("tree".to_owned(), format!("{:?}", self.tip));
        if !good {
            let files = vec!["a".into()];
            return self.lane(LaneEvent::Conflict {
                lane,
                tree,
                tip,
                files,
            });
        }
        self.green = None;
        self.checked = self.tip.iter().cloned().collect();
        self.checked.insert(task.id.clone());
        self.lane(LaneEvent::Merged { lane, tree, tip });
        let report = TurnReport {
            seen: self.seen(),
            ..turn_report(self.state.turn.number, self.state.turn.attempt)
        };
        self.feed(Kind::TurnEnded(report));
    }

    fn commit(&mut self, lane: u32, task: LaneTask, good: bool) {
        if good {
            self.tip.push(task.id);
            let commit = "c".into();
            self.lane(LaneEvent::Landed { lane, commit });
        } else {
            self.checked = self.tip.iter().cloned().collect();
            self.lane(LaneEvent::Moved { lane });
        }
    }

    /// Everything dies, and the run is taken up again.
    fn die(&mut self) {
        if let Some(Outcome::Complete | Outcome::Cancelled) = self.finished {
            return;
        }
        self.closes = false;
        self.alive.clear();
        self.waits.clear();
        self.green = None;
        self.finished = None;
        self.checked = self.tip.iter().cloned().collect();
        let seen = self.seen();
        self.feed(Kind::Resumed {
            seen,
            budget: None,
            rules: None,
        });
    }
}

fn short(reason: &str) -> LaneEnd {
    LaneEnd::Short {
        outcome: "lane".into(),
        reason: reason.into(),
    }
}

fn turn_report(turn: u32, attempt: u32) -> TurnReport {
    TurnReport {
        turn,
        attempt,
        end: End::Exit(0),
        duration_ms: 5,
        promise: None,
        mentioned: None,
        failure: String::new(),
        spent: Usage::default(),
        refusal: None,
        role: None,
        seen: Observation::default(),
    }
}

fn any_lanes() -> impl Strategy<Value = (u32, Vec<LaneTask>)> {
    let one = (
        prop::collection::vec(any::<Index>(), 0..2),
        prop::collection::vec(0..4u8, 0..3),
    );
    let tasks = prop::collection::vec(one, 1..9).prop_map(|tasks| {
        let lane_task = |(n, (after, files)): (usize, (Vec<Index>, Vec<u8>))| LaneTask {
            id: task(n + 1).id,
            text: task(n + 1).text,
            nested: Vec::new(),
            after: match n {
                0 => Vec::new(),
                _ => after.iter().map(|i| task(i.index(n) + 1).id).collect(),
            },
            files: files.iter().map(|f| format!("f{f}")).collect(),
        };
        tasks.into_iter().enumerate().map(lane_task).collect()
    });
    (1..5u32, tasks)
}

fn any_luck(good: impl Strategy<Value = bool>, dies: bool) -> impl Strategy<Value = Luck> {
    let dies = if dies { 0.03 } else { 0.0 };
    let breaks = prop::bool::weighted(2.0 * dies);
    let one = (any::<Index>(), good, prop::bool::weighted(dies), breaks);
    one.prop_map(|(which, good, dies, breaks)| Luck {
        which,
        good,
        dies,
        breaks,
    })
}

fn rules(count: u32, tasks: Vec<LaneTask>) -> Rules {
    limited(all_tasks(), |l| l.max_iterations = 10_000).with(|r| {
        r.verify = Some(VerifyWhen::Complete);
        r.checks.ticks = Ticks::Proven;
        r.lanes = Some(LaneRules {
            count,
            // Some have room for all, some for one more than work, or for less.
            trees: match tasks.len() % 3 {
                0 => 0,
                1 => count + 1,
                _ => 1,
            },
            tasks,
            ..LaneRules::default()
        });
    })
}

proptest! {
    /// Whatever happens, the laws of `hold_the_laws` and `take` hold; and with
    /// luck from some moment on, everything that was not given up lands.
    #[test]
    fn nothing_red_lands_nothing_lands_twice_and_all_ends(
        (count, tasks) in any_lanes(),
        moves in prop::collection::vec(any_luck(prop::bool::weighted(0.8), true), 0..120),
        last in prop::collection::vec(any_luck(Just(true), false), 200),
    ) {
        let total = tasks.len();
        let mut branch = Branch::new(rules(count, tasks), total);
        for luck in &moves {
            if branch.finished.is_some() && !luck.dies {
                continue;
            }
            branch.go_on(luck);
        }
        for luck in &last {
            branch.go_on(luck);
        }
        let parked = !branch.state.lanes.parked.is_empty();
        match &branch.finished {
            Some(Outcome::Complete) => prop_assert_eq!(branch.tip.len(), total),
            Some(Outcome::Blocked { .. }) => prop_assert!(parked),
            other => prop_assert!(false, "{:?} {:?}", other, branch.waits),
        }
    }

    /// A person steers meanwhile: the laws hold, what was left out is not
    /// begun, and all ends.
    #[test]
    fn who_steers_breaks_nothing(
        (count, tasks) in any_lanes(),
        moves in prop::collection::vec(
            (any_luck(prop::bool::weighted(0.8), true), prop::option::of(any_wish())),
            0..120,
        ),
        last in prop::collection::vec(any_luck(Just(true), false), 200),
    ) {
        let total = tasks.len();
        let mut branch = Branch::new(rules(count, tasks), total);
        for (luck, wish) in &moves {
            if let Some(wish) = wish {
                branch.steer(wish);
            }
            if branch.finished.is_none() || luck.dies {
                branch.go_on(luck);
            }
        }
        for luck in &last {
            branch.go_on(luck);
        }
        prop_assert!(branch.finished.is_some(), "{:?}", branch.waits);
    }

    /// Without bad luck every task lands, and with several lanes several are
    /// worked on at once where nothing forbids it.
    #[test]
    fn all_that_can_go_side_by_side_does(
        (count, tasks) in any_lanes(),
        moves in prop::collection::vec(any_luck(Just(true), false), 200),
    ) {
        let (total, free) = (tasks.len(), tasks.iter().all(|t| t.after.is_empty() && t.files.is_empty()));
        let rules = rules(count, tasks);
        let trees = rules.lanes.as_ref().map_or(0, |lanes| lanes.trees as usize);
        let room = if trees == 0 { total } else { trees };
        let mut branch = Branch::new(rules, total);
        if free {
            prop_assert_eq!(branch.alive.len(), total.min(count as usize).min(room));
        }
        for luck in &moves {
            branch.go_on(luck);
        }
        prop_assert_eq!(&branch.finished, &Some(Outcome::Complete));
        prop_assert_eq!(branch.tip.len(), total);
    }
}

fn lane_task(n: usize) -> LaneTask {
    LaneTask {
        id: task(n).id,
        text: task(n).text,
        ..LaneTask::default()
    }
}

fn granted(effects: &[Effect]) -> Vec<(u32, i64, Allowance)> {
    let grant = |effect: &Effect| match effect {
        Effect::Lane(LaneOrder::Grant {
            lane,
            not_before,
            allowance,
        }) => Some((*lane, *not_before, *allowance)),
        _ => None,
    };
    effects.iter().filter_map(grant).collect()
}

fn paid(micros: u64) -> Usage {
    Usage {
        cost: Some(Usd::from_micros(micros)),
        ..Usage::default()
    }
}

/// One budget for all: what runs is reserved, and what is used up ends all.
#[test]
fn lanes_share_one_budget() {
    let mut rules = rules(3, (1..=3).map(lane_task).collect());
    rules.budget.run.cost = Usd::from_micros(900);
    let mut state = State::new(rules).unwrap();
    let mut at = 0;
    let mut feed = |state: &mut State, kind: Kind| {
        at += 1;
        let now = Now {
            wall_ms: 1_000 + at,
            steady_ms: at.unsigned_abs(),
        };
        step(state, &Event { at: now, kind })
    };
    let seen = seen(list(0, 3));
    feed(&mut state, Kind::Started { seen });
    let mut ask = |state: &mut State, lane, calls| {
        let effects = feed(state, Kind::Lane(LaneEvent::Asks { lane, calls }));
        (granted(&effects), effects)
    };
    // Whoever asks first does not keep the others waiting.
    for lane in 1..=3 {
        let (granted, _) = ask(&mut state, lane, Vec::new());
        assert_eq!(granted[0].2.cost, Usd::from_micros(300), "{lane}");
    }
    // What the others' calls may use is not there for anybody else.
    let (again, _) = ask(&mut state, 1, vec![paid(200)]);
    assert_eq!(again[0].2.cost, Usd::from_micros(100));
    let closes = |how| Effect::Lane(LaneOrder::Close { how });
    let (_, effects) = ask(&mut state, 2, vec![paid(700)]);
    assert_eq!(effects, [closes(Request::Interrupt)]);
    // The run ends behind its lanes, and is told what they used.
    let mut end = |state: &mut State, lane| {
        let calls = vec![paid(10)];
        let end = LaneEnd::Stopped;
        feed(state, Kind::Lane(LaneEvent::Ended { lane, calls, end }))
    };
    assert_eq!(end(&mut state, 1), []);
    assert_eq!(end(&mut state, 2), []);
    let ended = end(&mut state, 3);
    let ends = |e: &Effect| matches!(e, Effect::Finish(Outcome::Budget { .. }));
    assert!(ended.iter().any(ends), "{ended:?}");
    assert_eq!(state.agents.bill.cost, Usd::from_micros(930));
    assert_eq!(state.lanes.working(), 0);
}

/// A limit that one lane runs into holds all of them, and the rate counts
/// every call.
#[test]
fn lanes_share_limits_and_rate() {
    let mut rules = rules(3, (1..=3).map(lane_task).collect());
    rules.limits.calls_per_hour = 2;
    let mut state = State::new(rules).unwrap();
    let feed = |state: &mut State, at: i64, kind: Kind| {
        let now = Now {
            wall_ms: at,
            steady_ms: at.unsigned_abs(),
        };
        granted(&step(state, &Event { at: now, kind }))
    };
    let seen = seen(list(0, 3));
    feed(&mut state, 0, Kind::Started { seen });
    let asks = |lane| {
        let calls = Vec::new();
        Kind::Lane(LaneEvent::Asks { lane, calls })
    };
    assert_eq!(feed(&mut state, 10, asks(1))[0].1, 10);
    let held = LaneEvent::Held {
        lane: 1,
        until: 5_000,
    };
    feed(&mut state, 20, Kind::Lane(held));
    assert_eq!(feed(&mut state, 30, asks(2))[0].1, 5_000);
    // Two calls an hour: the third waits for the first to be an hour old.
    assert_eq!(feed(&mut state, 40, asks(3))[0].1, 10 + 60 * 60 * 1000);
}

/// Whoever works hears a hint, whoever begins later hears what is kept, and a
/// word for once is heard by somebody even where nobody works on anything.
#[test]
fn a_hint_reaches_every_lane() {
    let plain = |n: usize| LaneTask {
        id: task(n).id,
        text: task(n).text,
        ..LaneTask::default()
    };
    let mut branch = Branch::new(rules(2, (1..=3).map(plain).collect()), 3);
    let lanes = |branch: &Branch, text: &str| -> Vec<u32> {
        let given = branch.given.iter().filter(|(_, given)| given == text);
        given.map(|(lane, _)| *lane).collect()
    };
    for (text, keep) in [("for now", false), ("for good", true)] {
        let steer = Steer::Hint {
            text: text.into(),
            keep,
        };
        let (task, seen) = (None, None);
        branch.feed(Kind::Steered { steer, task, seen });
        assert_eq!(lanes(&branch, text), [1, 2]);
    }
    for lane in [1, 2] {
        branch.lane(LaneEvent::Heard { lane, hint: 1 });
        branch.lane(LaneEvent::Heard { lane, hint: 2 });
    }
    branch.waits.clear();
    let calls = Vec::new();
    branch.lane(LaneEvent::Asks { lane: 1, calls });
    branch.end_lane(1, false);
    assert_eq!(lanes(&branch, "for now"), [1, 2]);
    assert_eq!(lanes(&branch, "for good"), [1, 2, 1]);
}

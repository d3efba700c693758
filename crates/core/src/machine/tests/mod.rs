//! The machine from outside: events in, effects out, nothing else.
//!
//! [`Script`] plays the driver. It keeps a small world (task file, tree,
//! commit), numbers the turns, moves the clock, and collects the effects;
//! [`trace`] writes them down for whole-output snapshots.

mod beside;
mod breaker;
mod clock;
mod e2e;
mod errors;
mod forecast;
mod forge;
mod goals;
mod golden;
mod lanes;
mod laws;
mod limits;
mod progress;
mod promises;
mod questions;
mod refusals;
mod reports;
mod requests;
mod resume;
mod roles;
mod routes;
mod sessions;
mod spoken;
mod steering;
mod ticks;
mod verification;
mod worlds;

use super::*;
use crate::flow::RoleReport;
use crate::forge::ForgeAsk;
use crate::lang::{Lang, Say, Spoken};
use crate::promise::Promise;
use crate::tasks::Counts;
use crate::template::PromptNote;
use crate::usage::{Tokens, Usage, Usd};

// ---- rules ------------------------------------------------------------------

fn for_tasks() -> Rules {
    Rules::new(Goal::Tasks { phase: None })
}

fn for_prompt() -> Rules {
    Rules::new(Goal::Prompt)
}

/// Every limit is off but those that `set` switches on.
fn limited(goal: Goal, set: impl FnOnce(&mut Limits)) -> Rules {
    let mut rules = Rules::new(goal);
    rules.limits = Limits {
        max_iterations: 0,
        consecutive_errors: 0,
        missing_promise: 0,
        stalled: 0,
        same_error: 0,
        false_promise: 0,
        iteration_timeout_ms: 0,
        on_limit: OnLimit::Pause,
        retry: Retry {
            attempts: 1,
            initial_ms: 0,
            factor: 1,
            max_ms: 0,
        },
        ..Limits::default()
    };
    set(&mut rules.limits);
    rules
}

fn all_tasks() -> Goal {
    Goal::Tasks { phase: None }
}

trait With {
    fn with(self, change: impl FnOnce(&mut Self)) -> Self;
}

impl<T> With for T {
    fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}

// ---- the world --------------------------------------------------------------

fn task(n: usize) -> TaskRef {
    TaskRef {
        id: format!("T{n:03}"),
        text: format!("task {n}"),
        phase: None,
    }
}

/// A list without phases of which the first `done` tasks are ticked.
fn list(done: usize, total: usize) -> TaskFacts {
    TaskFacts {
        total,
        completed: done,
        pending: total - done,
        next: (done < total).then(|| task(done + 1)),
        open: (done + 1..=total).take(5).map(task).collect(),
        ..TaskFacts::default()
    }
}

/// A list in phases `1`, `2`, …, each given as (done, total).
fn phased(phases: &[(usize, usize)]) -> TaskFacts {
    let done = phases.iter().map(|p| p.0).sum();
    let total = phases.iter().map(|p| p.1).sum();
    let current = phases.iter().position(|(done, total)| done < total);
    TaskFacts {
        phase: current.map(|i| (i + 1).to_string()),
        phases: phases
            .iter()
            .enumerate()
            .map(|(i, &(completed, total))| PhaseFacts {
                key: (i + 1).to_string(),
                title: format!("phase {}", i + 1),
                completed,
                total,
            })
            .collect(),
        ..list(done, total)
    }
}

fn seen(facts: TaskFacts) -> Observation {
    Observation {
        tasks: Tasks::Read(facts),
        tree: Some("tree 0".into()),
        commit_tree: Some("commit 0".into()),
        branch: None,
        ..Observation::default()
    }
}

fn no_task_file() -> Observation {
    Observation {
        tasks: Tasks::None,
        ..seen(TaskFacts::default())
    }
}

fn unreadable() -> Tasks {
    Tasks::Trouble {
        said: String::new(),
        class: ErrorClass::FileOp,
        message: "tasks.md: permission denied".into(),
    }
}

// ---- a turn -----------------------------------------------------------------

/// What the agent did in a turn; what it leaves out stays as it was.
#[derive(Clone, Debug)]
struct Did {
    end: End,
    promise: Option<Promise>,
    failure: String,
    took_ms: u64,
    spent: Usage,
    refusal: Option<Refusal>,
    role: Option<RoleReport>,
    tasks: Option<Tasks>,
    tree: Option<String>,
    commit: Option<String>,
}

/// The turn went well and ended with a promise.
fn said(promise: Promise) -> Did {
    Did {
        promise: Some(promise),
        ..nothing()
    }
}

fn claimed() -> Did {
    said(complete())
}

/// The turn went well, without a promise.
fn nothing() -> Did {
    ended(End::Exit(0))
}

fn failed(message: &str) -> Did {
    Did {
        failure: message.into(),
        ..ended(End::Exit(1))
    }
}

fn ended(end: End) -> Did {
    Did {
        end,
        promise: None,
        failure: String::new(),
        took_ms: 1000,
        spent: Usage::default(),
        refusal: None,
        role: None,
        tasks: None,
        tree: None,
        commit: None,
    }
}

fn complete() -> Promise {
    Promise::Complete("COMPLETE".into())
}

impl Did {
    fn tasks(self, facts: TaskFacts) -> Did {
        self.file(Tasks::Read(facts))
    }

    fn file(mut self, tasks: Tasks) -> Did {
        self.tasks = Some(tasks);
        self
    }

    fn tree(mut self, tree: &str) -> Did {
        self.tree = Some(tree.into());
        self
    }

    fn commit(mut self, commit: &str) -> Did {
        self.commit = Some(commit.into());
        self
    }

    fn refused(mut self, refusal: Refusal) -> Did {
        self.refusal = Some(refusal);
        self
    }

    fn spent(mut self, micro_usd: Option<u64>, tokens: Option<u64>) -> Did {
        let tokens = tokens.map(|output| Tokens {
            output,
            ..Tokens::default()
        });
        let cost = micro_usd.map(Usd::from_micros);
        self.spent = Usage {
            tokens,
            cost,
            at_least: false,
        };
        self
    }

    fn took(mut self, ms: u64) -> Did {
        self.took_ms = ms;
        self
    }
}

// ---- verification -----------------------------------------------------------

fn ran(command: &str, exit: Option<i32>, output: &str) -> CommandResult {
    CommandResult {
        command: command.into(),
        exit,
        duration_ms: 70,
        output: output.into(),
        ..CommandResult::default()
    }
}

fn passing() -> Vec<CommandResult> {
    vec![ran("npm test", Some(0), "ok")]
}

fn failing(output: &str) -> Vec<CommandResult> {
    vec![ran("npm test", Some(1), output)]
}

// ---- the driver -------------------------------------------------------------

/// 2026-01-18T10:00:00Z, with a steady clock that is far from zero.
const START: Now = Now {
    wall_ms: 1_768_730_400_000,
    steady_ms: 5_000_000,
};

#[derive(Clone, Debug)]
struct Script {
    state: State,
    world: Observation,
    now: Now,
    /// Everything that came out so far.
    effects: Vec<Effect>,
    /// What came out of the last event.
    last: Vec<Effect>,
    fresh_trees: usize,
}

impl Script {
    fn new(rules: Rules, world: Observation) -> Script {
        Script {
            state: State::new(rules).unwrap(),
            world,
            now: START,
            effects: Vec::new(),
            last: Vec::new(),
            fresh_trees: 0,
        }
    }

    /// A run that has begun.
    fn begin(rules: Rules, world: Observation) -> Script {
        let mut script = Script::new(rules, world);
        let seen = script.world.clone();
        script.feed(Kind::Started { seen });
        script
    }

    fn feed(&mut self, kind: Kind) -> &mut Script {
        let event = Event { at: self.now, kind };
        self.last = step(&mut self.state, &event);
        self.effects.extend(self.last.clone());
        self
    }

    fn pass(&mut self, ms: u64) -> &mut Script {
        self.now.wall_ms += ms as i64;
        self.now.steady_ms += ms;
        self
    }

    fn turn(&mut self, did: Did) -> &mut Script {
        self.pass(did.took_ms);
        self.world.tasks = did.tasks.unwrap_or_else(|| self.world.tasks.clone());
        self.world.tree = did.tree.or_else(|| self.world.tree.clone());
        self.world.commit_tree = did.commit.or_else(|| self.world.commit_tree.clone());
        let report = TurnReport {
            mentioned: None,
            attempt: self.state.turn.attempt,
            spent: did.spent,
            refusal: did.refusal,
            role: did.role.map(Box::new),
            turn: self.state.turn.number,
            end: did.end,
            duration_ms: did.took_ms,
            promise: did.promise,
            failure: did.failure,
            seen: self.world.clone(),
        };
        self.feed(Kind::TurnEnded(report));
        if let Tasks::Read(facts) = &mut self.world.tasks {
            facts.removed.clear();
            facts.unticked.clear();
            facts.ticked.clear();
        }
        self
    }

    /// A turn that also leaves a tree that nobody saw before.
    fn work(&mut self, did: Did) -> &mut Script {
        self.fresh_trees += 1;
        let tree = format!("work {}", self.fresh_trees);
        self.turn(did.tree(&tree))
    }

    fn verified(&mut self, results: Vec<CommandResult>) -> &mut Script {
        let turn = self.state.turn.number;
        self.pass(100).feed(Kind::Verified(VerifyReport {
            turn,
            tree: Some("tree".into()),
            results,
            ..VerifyReport::default()
        }))
    }

    /// The wait is over, as long as it was asked for.
    fn wake(&mut self) -> &mut Script {
        let ms = self.last.iter().find_map(|e| match e {
            Effect::Wait { ms, .. } => Some(*ms),
            _ => None,
        });
        let seen = self.world.clone();
        self.pass(ms.unwrap_or(0)).feed(Kind::Woke { seen })
    }

    fn wake_to(&mut self, tasks: Tasks) -> &mut Script {
        self.world.tasks = tasks;
        self.wake()
    }

    fn answer(&mut self, answer: MenuAnswer) -> &mut Script {
        self.feed(Kind::Answered { answer })
    }

    fn request(&mut self, request: Request) -> &mut Script {
        self.feed(Kind::Requested { request })
    }

    fn resume(&mut self) -> &mut Script {
        let seen = self.world.clone();
        self.feed(Kind::Resumed {
            seen,
            budget: None,
            rules: None,
        })
    }

    fn outcome(&self) -> Option<Outcome> {
        self.state.outcome().cloned()
    }

    /// The names of what was told after the last event.
    fn told(&self) -> Vec<&'static str> {
        notices(&self.last).map(Notice::event).collect()
    }

    /// The call of the agent that the last event led to.
    fn call(&self) -> Option<&Turn> {
        self.last.iter().find_map(|e| match e {
            Effect::RunAgent(turn) => Some(turn),
            _ => None,
        })
    }

    fn notes(&self) -> &[PromptNote] {
        &self.call().expect("the agent is called").notes
    }

    fn waits(&self) -> Option<(u64, WaitReason)> {
        self.last.iter().find_map(|e| match e {
            Effect::Wait { ms, why } => Some((*ms, *why)),
            _ => None,
        })
    }

    /// What the last event made the driver do, in one word each.
    fn acts(&self) -> Vec<&'static str> {
        self.last
            .iter()
            .filter_map(|e| match e {
                // What the task file says of itself is checked in `goals`.
                Effect::Emit(_) | Effect::KeepInStep => None,
                Effect::RunAgent(_) => Some("run"),
                Effect::Preflight => Some("preflight"),
                Effect::Verify { .. } => Some("verify"),
                Effect::Mark { .. } => Some("mark"),
                Effect::Check { .. } => Some("check"),
                Effect::Untick { .. } => Some("untick"),
                Effect::RunE2e { .. } => Some("e2e"),
                Effect::Wait { .. } => Some("wait"),
                Effect::StopChild { kill: false } => Some("stop"),
                Effect::StopChild { kill: true } => Some("kill"),
                Effect::Freeze => Some("freeze"),
                Effect::Ask(_) => Some("ask"),
                Effect::Finish(_) => Some("finish"),
                Effect::Forge(ForgeAsk::Look { .. }) => Some("look"),
                Effect::Forge(ForgeAsk::Examine { .. }) => Some("examine"),
                Effect::Forge(ForgeAsk::Push) => Some("push"),
                Effect::Forge(ForgeAsk::Create) => Some("create"),
                Effect::Forge(ForgeAsk::Rerun { .. }) => Some("rerun"),
                Effect::Forge(ForgeAsk::Merge { .. }) => Some("merge"),
                Effect::Forge(ForgeAsk::Delete { .. }) => Some("delete"),
                Effect::Lane(_) => Some("lanes"),
            })
            .collect()
    }

    fn trace(&self) -> String {
        trace(&self.effects)
    }
}

fn notices(effects: &[Effect]) -> impl Iterator<Item = &Notice> {
    effects.iter().filter_map(|e| match e {
        Effect::Emit(notice) => Some(notice),
        _ => None,
    })
}

/// One line for each effect: what is told starts with the name of its event,
/// what has to be done with `=>`.
fn trace(effects: &[Effect]) -> String {
    let told = effects.iter().filter(|e| **e != Effect::KeepInStep);
    told.map(|e| line(e) + "\n").collect()
}

fn line(effect: &Effect) -> String {
    match effect {
        Effect::Emit(notice) => {
            let fields = notice.line(START);
            let fields = fields.as_object().unwrap().iter().skip(3);
            fields.fold(notice.event().to_string(), |text, (key, value)| {
                format!("{text} {key}={value}")
            })
        }
        Effect::RunAgent(turn) => {
            let notes: String = turn.notes.iter().map(|n| format!("\n     {n:?}")).collect();
            format!(
                "=> run turn {} for {} ms{notes}",
                turn.turn, turn.timeout_ms
            )
        }
        Effect::KeepInStep => "=> keep the task file in step".into(),
        Effect::Verify {
            turn, beside: true, ..
        } => format!("=> verify turn {turn} beside the next"),
        Effect::Verify { turn, .. } => format!("=> verify turn {turn}"),
        Effect::Untick { ids } => format!("=> untick {}", ids.join(", ")),
        Effect::RunE2e { turn } => format!("=> e2e after turn {turn}"),
        Effect::Mark { tick, untick } => format!("=> tick {tick:?}, untick {untick:?}"),
        Effect::Check { commands, .. } => format!("=> check {commands:?}"),
        Effect::Wait { ms, why } => format!("=> wait {ms} ms: {}", why.into_str()),
        Effect::StopChild { kill } => format!("=> stop the child, kill: {kill}"),
        Effect::Freeze => "=> freeze".into(),
        Effect::Ask(limit) => format!("=> ask about {}", limit.into_str()),
        Effect::Finish(outcome) => format!("=> finish {} {}", outcome.into_str(), outcome.reason())
            .trim_end()
            .into(),
        Effect::Preflight => "=> run every check once".into(),
        Effect::Forge(ask) => format!("=> ask the forge: {ask:?}"),
        Effect::Lane(order) => format!("=> lanes: {order:?}"),
    }
}

fn paused(limit: Limit) -> Option<Outcome> {
    Some(Outcome::Paused {
        reason: PauseReason::Limit(limit),
    })
}

fn broken(rule: BreakerRule) -> Option<Outcome> {
    Some(Outcome::CircuitBreak { rule })
}

fn counted(completed: usize, total: usize) -> Counts {
    Counts {
        total,
        completed,
        pending: total - completed,
    }
}

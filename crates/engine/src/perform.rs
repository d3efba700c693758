//! Does what the machine decided: the one place where an effect becomes a
//! deed. Both drivers, the loop of `ralph run` and the hooks of a session, are
//! hosts of it: what only they can do, call the agent, wait and ask, they do
//! themselves.

mod jobs;
mod steering;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use ralph_core::machine::{
    Effect, Event, Kind, LaneOrder, Limit, Notice, Now, Observation, Outcome, State, Turn,
    WaitReason, step,
};
use ralph_core::promise::Promise;
use ralph_store::layout::{Layout, RunPaths};
use tokio::sync::watch;

pub(crate) use self::jobs::{Job, JobDone, Ordered, Work};
use crate::announcement::Announcement;
use crate::driver::without_secrets;
use crate::look::Looker;
use crate::plan::Plan;
use crate::projections::{Due, Projector};
use crate::record::{Made, RecordError, Recorder};
use crate::snapshots::Snapshots;
use crate::supervise::{Stop, Tag};
use crate::touched;
use crate::trials::Bench;
use crate::turn::run_env;

/// Enough to tell many files from a few.
const MOST_CHANGED: usize = 50;

/// A run that is open: all that it takes to decide, to look and to write.
#[derive(Debug)]
pub(crate) struct OpenRun {
    pub plan: Plan,
    pub state: State,
    pub looker: Looker,
    pub recorder: Recorder,
    /// `None` where checkpoints are switched off.
    pub projector: Option<Projector>,
    pub paths: RunPaths,
    /// What its processes carry.
    pub tag: Tag,
    pub layout: Layout,
    /// What stands in the journal and not yet in the files that are made
    /// from it.
    owed: Option<Owed>,
    /// What was found out while looking, and not told yet.
    found: Vec<Announcement>,
    /// What experiments need not find out again.
    bench: Rc<RefCell<Bench>>,
    /// The project can't be copied, and that was said.
    cannot_freeze: bool,
}

#[derive(Clone, Copy, Debug)]
struct Owed {
    checkpoint: Option<Due>,
    /// An agent is to be called: it may start first, since all that it needs
    /// stands in the journal.
    can_wait: bool,
}

/// What differs between the drivers.
pub(crate) trait Host {
    fn run(&mut self) -> &mut OpenRun;
    fn announce(&mut self, announcement: Announcement);
    /// It stands in the logs; who else is told?
    fn notice(&mut self, notice: Notice, at: Now);
    /// The machine takes this in next.
    fn come_back(&mut self, kind: Kind);
    fn start_turn(&mut self, turn: Turn);
    /// A stop that was meant for one child must not reach the next.
    fn fresh_stop(&mut self) -> watch::Receiver<Stop>;
    /// Has a job done, beside the loop or at once.
    fn start_job(&mut self, job: Job);
    /// The same beside a turn; only the outer loop can.
    fn start_beside(&mut self, _order: Ordered) {}
    fn wait(&mut self, ms: u64, why: WaitReason, at: Now);
    fn ask(&mut self, limit: Limit);
    fn finish(&mut self, outcome: Outcome);
    /// Only who runs something beside itself has anything to stop.
    fn stop_child(&mut self, _kill: bool) {}
    fn freeze(&mut self) {}
    /// Only the outer loop has lanes.
    fn lane(&mut self, _order: LaneOrder) {}
}

pub(crate) fn perform(host: &mut impl Host, effect: Effect, at: Now) {
    let run = host.run();
    match effect {
        Effect::Emit(notice) => {
            run.recorder.notice(&notice, at);
            host.notice(notice, at);
        }
        Effect::KeepInStep => {
            let kept = run.looker.keep_in_step();
            run.recorder.note(Made::Tasks, kept);
        }
        Effect::Mark { tick, untick } => {
            let marked = run.mark(&tick, &untick);
            host.come_back(marked);
        }
        Effect::Untick { ids } => {
            let unticked = run.untick(&ids);
            host.come_back(unticked);
        }
        Effect::Verify {
            turn,
            scope,
            beside,
        } => {
            let frozen = beside.then(|| run.freeze()).flatten();
            let is_frozen = frozen.is_some();
            match run.verification(turn, &scope, frozen) {
                Work::Job(order) if is_frozen => {
                    host.start_beside(order);
                    host.come_back(Kind::SetAside { turn });
                }
                work => begin(host, work),
            }
        }
        Effect::Preflight => {
            let work = run.preflight();
            begin(host, work);
        }
        Effect::RunE2e { turn } => {
            let work = run.e2e(turn);
            begin(host, work);
        }
        Effect::Check { turn, commands } => {
            let work = run.reproduction(turn, commands);
            begin(host, work);
        }
        Effect::Forge(ask) => {
            let work = run.question_to_forge(ask);
            begin(host, work);
        }
        Effect::RunAgent(turn) => host.start_turn(turn),
        Effect::Wait { ms, why } => host.wait(ms, why, at),
        Effect::StopChild { kill } => host.stop_child(kill),
        Effect::Freeze => host.freeze(),
        Effect::Lane(order) => host.lane(order),
        Effect::Ask(limit) => host.ask(limit),
        Effect::Finish(outcome) => {
            let troubled = run.projector.as_mut().and_then(Projector::finish);
            troubled.into_iter().for_each(|told| host.announce(told));
            host.finish(outcome);
        }
    }
}

/// Begins what has to be begun, or takes in that nothing is there to begin.
pub(crate) fn begin(host: &mut impl Host, work: Work) {
    match work {
        Work::Nothing(kind) => host.come_back(*kind),
        Work::Job(order) => {
            let stop = host.fresh_stop();
            host.start_job(order(stop));
        }
    }
}

/// What came of a job, as the machine is told of it.
pub(crate) fn take_in(host: &mut impl Host, done: JobDone) -> Kind {
    if let JobDone::Preflighted(verified) | JobDone::Verified(verified) | JobDone::E2e(verified) =
        &done
        && let Some(kind) = verified.lost
    {
        let turn = verified.report.turn;
        let file = host.run().paths.turn_verification(turn);
        let message = kind.to_string();
        host.announce(Announcement::OutputLost { file, message });
    }
    done.into()
}

/// What can't be kept stops nothing, and is told.
fn keep_snapshots(
    looker: &mut Looker,
    plan: &Plan,
    layout: &Layout,
    told_before: bool,
) -> Vec<Announcement> {
    let Some(caps) = plan.snapshots.clone() else {
        return Vec::new();
    };
    let opened = Snapshots::create(layout, caps, told_before).and_then(|mut snapshots| {
        snapshots.tidy()?;
        Ok(snapshots)
    });
    match opened {
        Ok(snapshots) => {
            looker.keep(snapshots, told_before);
            Vec::new()
        }
        Err(_) if told_before => Vec::new(),
        Err(error) => vec![Announcement::NoSnapshot { error }],
    }
}

impl OpenRun {
    pub fn new(
        plan: Plan,
        layout: Layout,
        paths: RunPaths,
        state: State,
        mut recorder: Recorder,
        projector: Option<Projector>,
        skipped: BTreeSet<String>,
    ) -> OpenRun {
        let mut scope = plan.scope.clone();
        scope.skipped.extend(skipped);
        scope.focus.clone_from(&state.tasks.focus);
        let mut looker = Looker::new(plan.layout.root(), plan.tasks.clone(), scope, plan.lang);
        looker.exclude(plan.own_files());
        if let Some(rules) = &state.rules.flow {
            looker.follow(&rules.flow, &plan.checkpoint.dir);
        }
        let armed = looker.arm(&plan, &state.rules.checks, &paths);
        recorder.note(Made::Checks, armed);
        let ground = &state.evidence.ground;
        // A session keeps the list that it saw last beside its journal.
        let last = ground.now.as_deref().filter(|_| state.session.is_none());
        looker.recall_from(&layout, ground.armed.as_deref(), last);
        let found = keep_snapshots(&mut looker, &plan, &layout, state.turn.number > 0);
        let tag = Tag::of_run(&layout.runs_dir(), paths.id.as_str());
        OpenRun {
            tag,
            plan,
            state,
            looker,
            recorder,
            projector,
            paths,
            layout,
            owed: None,
            found,
            bench: Rc::default(),
            cannot_freeze: false,
        }
    }

    pub fn id(&self) -> &str {
        self.paths.id.as_str()
    }

    /// Journal first: one write and one sync for all of them. What is made
    /// from it is owed from then on.
    pub fn write_down(&mut self, events: &[Event]) -> Result<Vec<Effect>, RecordError> {
        let mut effects = Vec::new();
        for event in events {
            effects.extend(step(&mut self.state, event));
        }
        self.recorder.events(events)?;
        let projector = self.projector.as_ref();
        let checkpoint = projector.and_then(|projector| projector.due(&effects, &self.state));
        if let (Some(projector), Some(due)) = (&mut self.projector, checkpoint) {
            let marks = self.looker.task_marks();
            let troubled = projector.save_delta(due, &self.state, &marks);
            self.found.extend(troubled);
        }
        let calls = effects.iter().any(|e| matches!(e, Effect::RunAgent(_)));
        self.owed = Some(Owed {
            checkpoint,
            can_wait: calls && checkpoint.is_none_or(Due::is_cheap),
        });
        Ok(effects)
    }

    /// Whether something is owed that has to be written before anything is
    /// done.
    pub fn owes_first(&self) -> bool {
        self.owed.is_some_and(|owed| !owed.can_wait)
    }

    pub fn owes(&self) -> bool {
        self.owed.is_some()
    }

    /// Writes what is owed: `status.json` and the files of other tools.
    pub fn settle(&mut self) -> Vec<Announcement> {
        let mut found = std::mem::take(&mut self.found);
        let Some(owed) = self.owed.take() else {
            return found;
        };
        self.recorder.status(&self.state);
        if let (Some(projector), Some(due)) = (&mut self.projector, owed.checkpoint) {
            found.extend(projector.save(due, &self.state, &self.looker.task_marks()));
        }
        found
    }

    /// Looks at the world, and at what the state file of a delta loop says.
    pub fn look(&mut self) -> Observation {
        let changed = self.changed_files();
        let seen = self.looker.look();
        let seen = Observation {
            changed: match self.state.is_looking() {
                true => self.looker.changed(MOST_CHANGED),
                false => changed,
            },
            ..seen
        };
        self.found.extend(self.looker.told());
        let Some(projector) = &mut self.projector else {
            return seen;
        };
        self.found.extend(projector.take_delta());
        let claims = projector.claims();
        Observation { claims, ..seen }
    }

    /// The files that the task was changed in, where somebody asks.
    fn changed_files(&self) -> Vec<String> {
        if !self.state.is_judged_by_files() {
            return Vec::new();
        }
        let root = self.plan.layout.root();
        let Some(touched) = touched::since(root, &self.paths, self.state.task_base()) else {
            return Vec::new();
        };
        let outputs = format!("{}/", self.plan.prompter.output_dir);
        let own = |path: &String| {
            [outputs.as_str(), ".ralph/"]
                .iter()
                .any(|dir| path.starts_with(dir))
                || *path == self.plan.prompter.tasks_file
        };
        let all = touched.created.into_iter().chain(touched.modified);
        all.filter(|path| !own(path)).take(MOST_CHANGED).collect()
    }

    /// What the turn promised: in its answer, or inside the state file. What
    /// ends the run is obeyed wherever it stands.
    pub fn hear(&mut self, said: Option<Promise>) -> Option<Promise> {
        let projector = self.projector.as_mut();
        let claimed = projector.and_then(|projector| projector.hear(&self.plan.promise));
        match said.map(without_secrets) {
            Some(promise) if promise.stops() => Some(promise),
            said => claimed.map(without_secrets).or(said),
        }
    }

    pub fn env(&self, turn: u32) -> Vec<(String, String)> {
        let tasks = self.plan.tasks.as_ref().map(|tasks| tasks.path.as_path());
        let mut env = run_env(&self.tag, turn, tasks);
        env.extend(self.plan.env.iter().cloned());
        env
    }

    /// Ticks and unticks boxes, as a flow wants it.
    fn mark(&mut self, tick: &[String], untick: &[String]) -> Kind {
        let marked = self.looker.mark(tick, untick);
        self.recorder.note(Made::Tasks, marked);
        let seen = self.look();
        Kind::Marked { seen }
    }

    /// Empties the boxes of ticks that were turned back.
    pub fn untick(&mut self, ids: &[String]) -> Kind {
        let unticked = self.looker.untick(ids);
        self.recorder.note(Made::Tasks, unticked);
        let seen = self.look();
        let left = self.looker.ticked_among(ids);
        Kind::Unticked { seen, left }
    }
}

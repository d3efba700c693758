use std::fs;

use ralph_core::machine::{
    Effect, Event, Goal, Kind, Limits, Now, Observation, OnLimit, Outcome, PhaseFacts, Retry,
    Rules, Stage, TaskFacts, TaskRef, Tasks, Turn, WarnAt, step,
};
use ralph_store::checkpoint::Source;
use ralph_store::layout::new_run_id;

use super::*;
use crate::plan::Asked;

fn rules() -> Rules {
    Rules {
        checks_decide: false,
        turns_before: 0,
        hints: Vec::new(),
        lanes: None,
        note: None,
        forge: None,
        goal: Goal::Tasks { phase: None },
        checks: Default::default(),
        agents: Vec::new(),
        budget: Default::default(),
        flow: None,
        limits: Limits {
            max_wait_ms: 0,
            max_dispatches: 0,
            max_iterations: 20,
            extend_by: 10,
            warn_at: WarnAt::Never,
            consecutive_errors: 3,
            missing_promise: 5,
            stalled: 5,
            same_error: 5,
            cooldown_ms: 0,
            false_promise: 5,
            max_duration_ms: 0,
            iteration_timeout_ms: 0,
            pause_between_ms: 0,
            calls_per_hour: 0,
            on_limit: OnLimit::Ask,
            retry: Retry {
                attempts: 1,
                initial_ms: 0,
                factor: 2,
                max_ms: 0,
            },
        },
        promise_required: false,
        verify: None,
        evidence: ralph_core::machine::EvidenceKinds {
            tasks: true,
            phase: true,
            commit: true,
            tree: true,
        },
        e2e_repairs: 0,
        question_wait_ms: None,
    }
}

/// Six tasks in two phases, of which the first ones are done.
fn marks(done: usize) -> Vec<TaskMark> {
    let mark = |n: usize| TaskMark {
        id: format!("T{n}"),
        text: format!("do <promise>{n}</promise>"),
        done: n <= done,
        phase: Some(if n <= 2 { "1" } else { "2" }.into()),
    };
    (1..=6).map(mark).collect()
}

fn facts(done: usize) -> TaskFacts {
    let phase = |key: &str, completed, total| PhaseFacts {
        key: key.into(),
        title: format!("Part {key}"),
        completed,
        total,
    };
    TaskFacts {
        total: 6,
        completed: done,
        pending: 6 - done,
        phase: (done < 6).then(|| if done < 2 { "1" } else { "2" }.into()),
        phases: vec![
            phase("1", done.min(2), 2),
            phase("2", done.saturating_sub(2), 4),
        ],
        next: (done < 6).then(|| TaskRef {
            id: format!("T{}", done + 1),
            ..TaskRef::default()
        }),
        ..TaskFacts::default()
    }
}

struct World {
    root: tempfile::TempDir,
    projector: Projector,
    state: State,
    minute: u64,
}

impl World {
    fn new(delta: bool) -> World {
        let root = tempfile::tempdir().unwrap();
        World::again(root, delta)
    }

    /// Another process takes the same run up.
    fn again(root: tempfile::TempDir, delta: bool) -> World {
        let layout = crate::layout_in(root.path());
        let paths = layout.run(&new_run_id(1_794_708_630_000, 1));
        fs::create_dir_all(&paths.dir).unwrap();
        fs::write(paths.events(), "{}\n").unwrap();
        let header = Header {
            session: None,
            run_id: paths.id.to_string(),
            started_ms: 1_794_708_630_000,
            rules: rules(),
            asked: Asked::default(),
            tasks_file: Some("tasks.md".into()),
            commit: None,
            branch: Some("main".into()),
        };
        let projector = Projector {
            dir: CheckpointDir::new(root.path().join(".skillpack/current"), 3),
            interval: 3,
            delta: delta.then(|| DeltaFile::new(layout.delta_state())),
            run: Run {
                root: PathBuf::new(),
                lang: Default::default(),
                outputs: ".skillpack/current".into(),
                description: "tasks.md".into(),
                tasks_file: Some("tasks.md".into()),
                journal: ".ralph/runs/x/journal.jsonl".into(),
                events: paths.events(),
                header,
                paths: paths.clone(),
                history: History::new(root.path().join(".skillpack/history")),
            },
            last: None,
            last_delta: None,
            heard: false,
            completed: 0,
            phases_done: 0,
            saved_at_ms: 0,
            has_failed: false,
        };
        World {
            root,
            projector,
            state: State::new(rules()).unwrap(),
            minute: 0,
        }
    }

    /// A minute later so many tasks are done, and these effects follow.
    fn then(&mut self, done: usize, effects: &[Effect]) -> Option<Announcement> {
        self.minute += 1;
        let at = Now {
            wall_ms: 1_794_708_630_000 + i64::try_from(self.minute * 60_000).unwrap(),
            steady_ms: self.minute * 60_000,
        };
        let seen = Observation {
            tasks: Tasks::Read(facts(done)),
            ..Observation::default()
        };
        let kind = match self.state.stage {
            Stage::New => Kind::Started { seen },
            _ => Kind::Woke { seen },
        };
        step(&mut self.state, &Event { at, kind });
        self.state.tasks.facts = Some(facts(done));
        let due = self.projector.due(effects, &self.state)?;
        let told = self.projector.save_delta(due, &self.state, &marks(done));
        told.or(self.projector.save(due, &self.state, &marks(done)))
    }

    fn due(&mut self, done: usize, effects: &[Effect]) -> Option<Care> {
        let saved = self.projector.saved_at_ms;
        let backup = self.backup_time();
        assert_eq!(self.then(done, effects), None);
        match (
            self.projector.saved_at_ms == saved,
            self.backup_time() == backup,
        ) {
            (true, _) => None,
            (false, true) if saved > 0 => Some(Care::Cheap),
            (false, _) => Some(Care::Durable),
        }
    }

    fn backup_time(&self) -> Option<std::time::SystemTime> {
        let backup = self.projector.dir.dir().join("checkpoint.json.backup.1");
        fs::metadata(backup).ok()?.modified().ok()
    }

    fn checkpoint(&self) -> Checkpoint {
        let loaded = self.projector.dir.load().unwrap();
        assert_eq!(loaded.from, Source::Current);
        loaded.checkpoint
    }

    fn delta(&self) -> String {
        fs::read_to_string(crate::layout_in(self.root.path()).delta_state()).unwrap()
    }
}

fn call() -> Effect {
    Effect::RunAgent(Turn {
        attempt: 1,
        agent: 0,
        allowance: Default::default(),
        left_ms: 0,
        turn: 1,
        timeout_ms: 0,
        phase: None,
        task: None,
        notes: Vec::new(),
        flow: None,
    })
}

#[test]
fn checkpoints_are_saved_when_they_are_due() {
    let mut world = World::new(false);
    world.projector.begin();
    let (durable, cheap) = (Some(Care::Durable), Some(Care::Cheap));
    assert_eq!(world.due(0, &[call()]), durable, "the first one");
    assert_eq!(world.due(1, &[]), None, "nothing follows");
    assert_eq!(world.due(1, &[call()]), cheap, "an agent call");
    assert_eq!(world.due(2, &[call()]), durable, "a phase");
    assert_eq!(world.due(3, &[]), durable, "the third task");
    assert_eq!(world.due(4, &[]), None, "the fourth task");
    assert_eq!(world.due(5, &[]), None, "the fifth task");
    let ask = Effect::Ask(ralph_core::machine::Limit::Iterations);
    assert_eq!(world.due(5, &[ask]), durable, "before the menu");
    for minute in 1..5 {
        assert_eq!(world.due(5, &[]), None, "minute {minute}");
    }
    assert_eq!(world.due(5, &[]), durable, "five minutes");
    let finish = Effect::Finish(Outcome::Interrupted);
    assert_eq!(world.due(5, &[finish]), durable, "the end");
}

#[test]
fn a_checkpoint_says_where_the_run_stands() {
    let mut world = World::new(false);
    assert_eq!(world.projector.begin(), []);
    world.then(0, &[]);
    world.then(3, &[]);
    check_checkpoint(&world.checkpoint());
}

fn check_checkpoint(checkpoint: &Checkpoint) {
    let value = serde_json::to_value(checkpoint).unwrap();
    assert_eq!(value["execution"]["current_phase"], 2);
    assert_eq!(value["execution"]["total_phases"], 2);
    let statuses: Vec<&str> = checkpoint
        .execution
        .phases
        .iter()
        .map(|phase| phase.status.as_str())
        .collect();
    assert_eq!(statuses, ["completed", "in_progress"]);
    assert_eq!(
        value["subtasks"],
        serde_json::json!({
            "total": 6, "completed": ["T1", "T2", "T3"],
            "in_progress": "T4", "pending": ["T5", "T6"],
        })
    );
    assert_eq!(value["recovery"]["resume_point"], "phase_2_T4");
    assert_eq!(value["recovery"]["can_resume"], true);
    assert_eq!(value["context"]["run_id"], "20261115-021030-00000001");
    assert_eq!(value["timestamps"]["created"], "2026-11-15T02:10:30Z");
    assert_eq!(value["timestamps"]["updated"], "2026-11-15T02:12:30Z");
    assert_eq!(checkpoint.percent(), 50);
}

#[test]
fn what_others_added_survives_the_process() {
    let mut world = World::new(false);
    world.projector.begin();
    world.then(1, &[]);
    let mut checkpoint = world.checkpoint();
    checkpoint.context.insert("knowledge".into(), "kept".into());
    world
        .projector
        .dir
        .save(&checkpoint, Care::Durable)
        .unwrap();
    let mut world = World::again(world.root, false);
    world.projector.begin();
    world.then(2, &[]);
    let checkpoint = world.checkpoint();
    assert_eq!(checkpoint.context["knowledge"], "kept");
    assert_eq!(checkpoint.subtasks.completed.len(), 2);
}

#[test]
fn a_state_file_is_written_only_where_it_is_asked_for() {
    let mut world = World::new(false);
    world.projector.begin();
    world.then(0, &[]);
    assert!(!crate::layout_in(world.root.path()).delta_state().exists());

    let mut world = World::new(true);
    world.projector.begin();
    world.then(3, &[]);
    let text = world.delta();
    let state = DeltaState::read(text.as_bytes()).unwrap();
    assert_eq!(state.progress.completed_phases, [1]);
    assert_eq!(
        (state.progress.subtasks_done, state.progress.subtasks_total),
        (3, 6)
    );
    assert_eq!(state.pending_work, "1. Phase 2: Part 2 (3)");
    assert!(
        state
            .completed_work
            .starts_with("### Phase 1: Part 1\n- [x] T1 do &lt;promise"),
        "{text}"
    );
    assert!(!text.contains("<promise>"), "{text}");
}

/// DELT-06: the work of a state file that somebody emptied comes back item by
/// item, and what is empty says so.
#[test]
fn a_task_of_several_items_comes_back_item_by_item() {
    let mut world = World::new(true);
    world.projector.run.description = "1. Phase 3: a\n2. Phase 4: b".into();
    world.projector.begin();
    world.then(0, &[]);
    let mut emptied = DeltaState::read(world.delta().as_bytes()).unwrap();
    emptied.pending_work.clear();
    emptied.completed_work.clear();
    let emptied = emptied.write().replace("(none)\n", "");
    let path = crate::layout_in(world.root.path()).delta_state();
    fs::write(path, emptied).unwrap();
    world.state.tasks.facts = None;
    let due = Due {
        care: Care::Cheap,
        files: false,
    };
    world.projector.save_delta(due, &world.state, &[]);
    let text = world.delta();
    let want = "## Pending Work\n1. Phase 3: a\n2. Phase 4: b\n\n## Completed Work\n(none)\n";
    assert!(text.contains(want), "{text}");
}

#[test]
fn an_unreadable_state_file_is_moved_aside() {
    let mut world = World::new(true);
    let path = crate::layout_in(world.root.path()).delta_state();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, "torn").unwrap();
    let announced = world.projector.begin();
    assert!(
        matches!(announced[..], [Announcement::DeltaMovedAside { .. }]),
        "{announced:?}"
    );
    world.then(0, &[]);
    DeltaState::read(world.delta().as_bytes()).unwrap();
}

/// CKPT-10, RESM-07: progress is not lost with a file that somebody tore.
#[test]
fn a_torn_state_file_goes_on_from_its_backup() {
    let mut world = World::new(true);
    world.projector.begin();
    world.then(0, &[]);
    world.then(3, &[]);
    world.then(6, &[]);
    let path = crate::layout_in(world.root.path()).delta_state();
    fs::write(&path, "torn").unwrap();
    let mut world = World::again(world.root, true);
    let announced = world.projector.begin();
    let [
        Announcement::DeltaMovedAside {
            backup: Some(backup),
            ..
        },
    ] = &announced[..]
    else {
        panic!("{announced:?}");
    };
    assert!(backup.ends_with("ralph-delta.local.md.backup.1"));
    let state = world.projector.delta_state().unwrap();
    assert_eq!(state.progress.completed_phases, [1]);
}

#[test]
fn damage_is_told_and_written_over() {
    let mut world = World::new(false);
    world.projector.begin();
    world.then(0, &[]);
    fs::write(world.projector.dir.file(), "torn").unwrap();
    let mut world = World::again(world.root, false);
    let announced = world.projector.begin();
    assert!(
        matches!(announced[..], [Announcement::CheckpointDamaged { .. }]),
        "{announced:?}"
    );
    world.then(1, &[]);
    assert_eq!(world.checkpoint().subtasks.completed.len(), 1);
}

#[test]
fn a_place_that_can_not_be_written_is_announced_once() {
    let mut world = World::new(false);
    fs::write(world.root.path().join(".skillpack"), "a file").unwrap();
    assert_eq!(world.projector.begin().len(), 1);
    assert_eq!(world.then(0, &[]), None);
    assert_eq!(world.then(3, &[]), None);
}

/// DELT-11, EVNT-06, HIST-06: what another task left is neither written over
/// nor deleted.
#[test]
fn files_of_another_task_are_set_aside() {
    let mut world = World::new(true);
    let root = world.root.path().to_owned();
    let path = crate::layout_in(&root).delta_state();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let foreign = "# Delta Loop State\n\n## Meta\n- Task ID: abc123\n- Route: RALPH\n\n## Iteration\n- Current: 3\n- Max Allowed: 20\n- Status: IN_PROGRESS\n\n## Notes\nmine\n";
    fs::write(&path, foreign).unwrap();
    let log = world.projector.dir.events();
    fs::create_dir_all(log.parent().unwrap()).unwrap();
    fs::write(&log, "{\"timestamp\":\"t\",\"event\":\"theirs\"}\n").unwrap();
    let announced = world.projector.begin();
    let asides: Vec<PathBuf> = announced
        .iter()
        .filter_map(|announced| match announced {
            Announcement::SetAside { to, .. } => Some(to.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(asides.len(), 2, "{announced:?}");
    world.then(3, &[]);
    let kept = path.with_file_name("ralph-delta.abc123.local.md");
    assert_eq!(fs::read_to_string(&kept).unwrap(), foreign);
    assert!(!world.delta().contains("mine"), "{}", world.delta());
    let kept = log.with_file_name("execution.other.log.jsonl");
    assert!(fs::read_to_string(kept).unwrap().contains("theirs"));
    // What is its own stays where it is.
    assert_eq!(World::again(world.root, true).projector.begin(), []);
}

/// ROLE-08: a verdict is worth nothing after half an hour, except where the
/// risk is low.
#[test]
fn the_state_of_a_change_runs_out_role_08() {
    use ralph_core::flow::{Answer, FlowRules, LastAnswer, Risk, built_in};
    for (risk, stays) in [
        (Risk::Low, true),
        (Risk::Medium, false),
        (Risk::High, false),
    ] {
        let mut world = World::new(false);
        world.state.rules.flow = Some(FlowRules {
            flow: built_in("drt").unwrap(),
            risk: None,
            bypass: None,
            card: None,
        });
        assert_eq!(world.then(1, &[]), None);
        let begun = world.state.now().wall_ms;
        world.state.flow.answered = Some(LastAnswer {
            role: "reviewer".into(),
            answer: Answer::Approve,
            at_ms: begun,
            rejects: 0,
            fails: 0,
            risk,
        });
        let file = world.projector.dir.dir().join("drt-state-auto/tasks.json");
        let at = |world: &mut World, minute| {
            world.minute = minute;
            assert_eq!(world.then(1, &[]), None);
            file.exists()
        };
        // A save is due every five minutes (CKPT-08).
        assert!(at(&mut world, 6), "{risk:?}");
        assert!(at(&mut world, 29), "{risk:?}");
        assert_eq!(at(&mut world, 36), stays, "{risk:?}");
    }
}

/// CKPT-08: a turn that takes hours is no reason for an old checkpoint; the
/// driver asks for one after every five minutes in which nothing happens.
#[test]
fn a_long_turn_is_saved_again_and_again_ckpt_08() {
    let mut world = World::new(false);
    world.projector.begin();
    assert_eq!(world.then(1, &[call()]), None);
    let first = world.checkpoint().timestamps.updated;
    fs::remove_file(world.projector.dir.checkpoint()).unwrap();
    let later = world.state.now().wall_ms + 5 * 60 * 1000;
    let saved = world.projector.again(&world.state, &marks(1), later);
    assert_eq!(saved, None);
    let again = world.checkpoint().timestamps.updated;
    assert_ne!(again, first);
    assert_eq!(again, iso_utc(later));
    assert_eq!(LONGEST_MS, 5 * 60 * 1000);
}

use super::*;
use crate::lang::{Lang, Say};
use proptest::prelude::*;
use serde_json::json;

/// What Python 3.11 gave for these texts: `json.dumps(json.loads(text) without
/// checksum, sort_keys=True, ensure_ascii=False)` and its SHA-256.
const VECTORS: &str = include_str!("vectors.json");

#[derive(Deserialize)]
struct Vector {
    text: String,
    canonical: String,
    checksum: String,
}

#[test]
fn the_canonical_text_and_its_checksum_are_those_of_python() {
    let vectors: Vec<Vector> = serde_json::from_str(VECTORS).unwrap();
    assert_eq!(vectors.len(), 10);
    for vector in vectors {
        let text = &vector.text;
        let canonical = canonical::canonical_without_checksum(text).unwrap();
        assert_eq!(canonical, vector.canonical, "{text}");
        assert_eq!(checksum(text).unwrap(), vector.checksum, "{text}");
    }
}

fn example() -> Checkpoint {
    Checkpoint {
        task_id: "t-1".into(),
        task_description: "把登录写完".into(),
        route: "RALPH".into(),
        execution: Execution {
            current_phase: 2,
            total_phases: 3,
            phases: vec![Phase {
                number: 1,
                name: "Read".into(),
                status: "completed".into(),
                ..Phase::default()
            }],
            extra: Extra::new(),
        },
        subtasks: Subtasks {
            total: 3,
            completed: vec!["a".into()],
            in_progress: "b".into(),
            pending: vec!["c".into()],
            extra: Extra::new(),
        },
        ..Checkpoint::default()
    }
}

#[test]
fn a_checkpoint_is_written_in_the_order_of_its_schema() {
    insta::assert_snapshot!(example().write().text, @r#"
    {
      "version": "2.0",
      "task_id": "t-1",
      "task_description": "把登录写完",
      "route": "RALPH",
      "complexity_score": null,
      "scoring_breakdown": {},
      "execution": {
        "current_phase": 2,
        "total_phases": 3,
        "phases": [
          {
            "number": 1,
            "name": "Read",
            "status": "completed"
          }
        ]
      },
      "subtasks": {
        "total": 3,
        "completed": [
          "a"
        ],
        "in_progress": "b",
        "pending": [
          "c"
        ]
      },
      "files": {
        "created": [],
        "modified": [],
        "outputs": []
      },
      "context": {},
      "recovery": {
        "can_resume": false,
        "resume_point": "",
        "notes": "",
        "error_log": []
      },
      "timestamps": {
        "created": "",
        "updated": ""
      },
      "checksum": "sha256:4ac57611163178da1fa1150897b62b92c7846e65e1a51f5bdb402289b5797ad1"
    }
    "#);
}

/// Writes the fields with the checksum that belongs to them.
fn signed(mut fields: Value) -> Vec<u8> {
    let sum = checksum(&fields.to_string()).unwrap();
    fields["checksum"] = sum.into();
    fields.to_string().into_bytes()
}

fn check(bytes: &[u8], want: Result<Trust, &str>) {
    let shown = String::from_utf8_lossy(bytes);
    match (Checkpoint::read(bytes), want) {
        (Ok((_, trust)), Ok(want)) => assert_eq!(trust, want, "{shown}"),
        (Err(error), Err(want)) => {
            let said = error.say(Lang::En);
            assert!(said.contains(want), "{shown}: {said}");
        }
        (got, want) => panic!("{shown}: {got:?} and not {want:?}"),
    }
}

#[test]
fn versions_are_told_apart() {
    let of = |version: Value| signed(json!({"version": version, "task_id": "t"}));
    check(&of("2.0".into()), Ok(Trust::Verified));
    check(&of("3.0".into()), Ok(Trust::Verified));
    check(&of("1.0".into()), Ok(Trust::Verified));
    check(&of("3.1".into()), Err("newer"));
    check(&of("4.0".into()), Err("newer"));
    check(&of("next".into()), Err("unknown"));
    check(
        br#"{"version": "1.0", "task_id": "t"}"#,
        Ok(Trust::Unchecked),
    );
    check(br#"{"version": 1, "task_id": "t"}"#, Ok(Trust::Unchecked));
    check(br#"{"task_id": "t"}"#, Ok(Trust::Unchecked));
    check(
        br#"{"version": "2.0", "task_id": "t"}"#,
        Err("checksum is missing"),
    );
}

#[test]
fn what_is_no_checkpoint_is_refused() {
    check(b"", Err("not JSON"));
    check(b"\xff\xfe", Err("UTF-8"));
    check(b"[]", Err("not a JSON object"));
    check(b"{}", Err("no task_id"));
    check(br#"{"task_id": 5}"#, Err("not a checkpoint"));
    check(
        &signed(json!({"version": "2.0", "task_id": " "})),
        Err("no task_id"),
    );
    check(
        br#"{"version": "2.0", "task_id": "t", "checksum": 5}"#,
        Err("checksum is wrong"),
    );
    let deep = format!("{{\"task_id\": {}1{}}}", "[".repeat(2000), "]".repeat(2000));
    check(deep.as_bytes(), Err("nested too deeply"));
}

#[test]
fn a_subtask_in_progress_is_a_name_or_an_object() {
    for (in_progress, want) in [
        (json!("s3"), Some("s3")),
        (json!({"id": "s3", "step": 2}), Some("s3")),
        (json!({"name": "s3"}), Some("s3")),
        (json!(null), None),
        (json!({}), None),
    ] {
        let bytes = signed(json!({
            "version": "3.0", "task_id": "t", "subtasks": {"in_progress": in_progress},
        }));
        let (read, _) = Checkpoint::read(&bytes).unwrap();
        assert_eq!(read.subtasks.in_progress_name(), want);
        let (again, _) = Checkpoint::read(read.write().text.as_bytes()).unwrap();
        assert_eq!(again, read);
    }
}

#[test]
fn what_others_added_is_kept_on_every_level() {
    let mut fields = serde_json::to_value(example()).unwrap();
    fields["version"] = "2.0".into();
    fields["team"] = json!({"lead": "Ada", "load": 0.1});
    fields["execution"]["lane"] = json!(7);
    fields["execution"]["phases"][0]["metrics"] = json!({"tokens_used": 8});
    for part in ["subtasks", "files", "recovery", "timestamps"] {
        fields[part]["note"] = json!([1, 2]);
    }
    let (read, _) = Checkpoint::read(&signed(fields.clone())).unwrap();
    let mut written: Value = serde_json::from_str(&read.write().text).unwrap();
    written.as_object_mut().unwrap().remove("checksum");
    assert_eq!(written, fields);
}

#[test]
fn no_byte_can_change_unseen_and_no_length_panics() {
    let written = example().write();
    let bytes = written.text.as_bytes();
    let (whole, _) = Checkpoint::read(bytes).unwrap();
    for index in 0..bytes.len() {
        // Without its last line feed it is still whole.
        if index + 1 < bytes.len() {
            assert!(Checkpoint::read(&bytes[..index]).is_err(), "{index}");
        }
        for bit in 0..8 {
            let mut flipped = bytes.to_vec();
            flipped[index] ^= 1 << bit;
            if let Ok((read, _)) = Checkpoint::read(&flipped) {
                assert_eq!(read, whole, "bit {bit} of byte {index}");
            }
        }
    }
}

#[test]
fn the_name_of_a_task_is_a_uuid_that_belongs_to_its_run() {
    let id = task_id_of("20261115-021030-1a2b");
    assert_eq!(id, task_id_of("20261115-021030-1a2b"));
    assert_ne!(id, task_id_of("20261115-021030-1a2c"));
    let lengths: Vec<usize> = id.split('-').map(str::len).collect();
    assert_eq!(lengths, [8, 4, 4, 4, 12]);
    assert_eq!(&id[14..15], "4");
    assert!("89ab".contains(&id[19..20]), "{id}");
}

#[test]
fn percent_and_sameness_leave_times_out() {
    let mut later = example();
    later.timestamps.updated = "2026-03-01T08:30:00Z".into();
    assert!(later.says_the_same(&example()));
    later.subtasks.completed.push("b".into());
    assert!(!later.says_the_same(&example()));
    assert_eq!((example().percent(), later.percent()), (33, 66));
    assert_eq!(Checkpoint::default().percent(), 0);
}

/// The phases of a route; the numbers are those of the ones that are done.
fn on_route(route: &str, done: &[u32], current: u32, subtasks: (u32, u32)) -> Checkpoint {
    let flow = flow::built_in(&route.to_lowercase()).unwrap();
    let mut checkpoint = Checkpoint {
        route: route.into(),
        ..Checkpoint::default()
    };
    for (number, (_, step)) in (1..).zip(flow.phases()) {
        checkpoint.execution.phases.push(Phase {
            number,
            name: step.title.say(Lang::ZhTw).into(),
            status: if done.contains(&number) {
                "completed"
            } else {
                "pending"
            }
            .into(),
            ..Phase::default()
        });
    }
    checkpoint.execution.total_phases = u32::try_from(flow.phases().count()).unwrap();
    checkpoint.execution.current_phase = current;
    checkpoint.subtasks.total = subtasks.1;
    checkpoint.subtasks.completed = (0..subtasks.0).map(Into::into).collect();
    checkpoint
}

/// RESM-05, ROUT-07: a route counts its phases, and the subtasks only within
/// the phase that works on them.
#[test]
fn percent_is_that_of_the_phases_of_a_route() {
    for (route, done, current, subtasks, want) in [
        ("PLANNED", &[][..], 1, (0, 0), 0),
        ("PLANNED", &[1], 2, (0, 0), 30),
        ("PLANNED", &[1, 2, 3], 3, (0, 0), 100),
        ("DIRECT", &[], 1, (0, 0), 0),
        ("DIRECT", &[1], 1, (0, 0), 100),
        ("UI_FLOW", &[1, 2], 3, (0, 0), 60),
        ("RALPH", &[1], 2, (0, 5), 20),
        ("RALPH", &[1, 2], 3, (2, 5), 54),
        ("RALPH", &[1, 2, 3], 4, (5, 5), 75),
        ("RALPH", &[1, 2, 3, 4], 4, (5, 5), 100),
        ("ARCHITECT", &[1, 2, 3], 4, (1, 3), 59),
        ("ARCHITECT", &[1, 2, 3, 4], 5, (3, 3), 80),
    ] {
        let checkpoint = on_route(route, done, current, subtasks);
        assert_eq!(checkpoint.percent(), want, "{route} {done:?} {subtasks:?}");
    }
    let mut others = on_route("RALPH", &[1], 3, (2, 5));
    others.execution.phases.truncate(1);
    assert_eq!(others.percent(), 54, "others list some phases only");
    others.execution.phases[0].name = "Analysis".into();
    assert_eq!(others.percent(), 40, "a loop with phases of its own");
    others.execution.phases[0]
        .extra
        .insert("output_file".into(), "1_analysis.md".into());
    assert_eq!(others.percent(), 54);
    others.route = "OTHER".into();
    assert_eq!(others.percent(), 40);
}

proptest! {
    #[test]
    fn reading_never_panics(bytes: Vec<u8>) {
        let _ = Checkpoint::read(&bytes);
    }

    #[test]
    fn what_is_written_reads_back(id in "\\PC{1,20}[a-z]", text: String, score: f64, n: u32) {
        let mut checkpoint = example();
        checkpoint.task_id = id;
        checkpoint.task_description = text;
        checkpoint.complexity_score = json!(score);
        checkpoint.execution.current_phase = n;
        let read = Checkpoint::read(checkpoint.write().text.as_bytes());
        prop_assert_eq!(read, Ok((checkpoint, Trust::Verified)));
    }
}

use super::*;
use crate::fault::{self, Fault};
use ralph_core::lang::{Lang, Say};
use serde_json::{Value, json};
use std::fs;
use std::io::ErrorKind;

const ENOSPC: i32 = 28;

fn event(name: &str, iteration: u64) -> EventLine {
    EventLine {
        ts: "2026-11-15T02:10:30Z".to_owned(),
        event: name.to_owned(),
        iteration: Some(iteration),
        ..EventLine::default()
    }
}

fn parse(line: &str) -> Option<EventLine> {
    EventLine::parse(line.as_bytes())
}

fn fields(json: &Value) -> serde_json::Map<String, Value> {
    json.as_object().unwrap().clone()
}

#[test]
fn the_shape_that_is_written() {
    let event = EventLine {
        level: EventLevel::Warn,
        phase: Some(2),
        fields: fields(&json!({"reason": "mcp_timeout", "ts": "not this one"})),
        ..event("iteration_retry", 3)
    };
    insta::assert_snapshot!(event.to_json(), @r#"{"ts":"2026-11-15T02:10:30Z","level":"WARN","event":"iteration_retry","iteration":3,"phase":2,"reason":"mcp_timeout"}"#);
}

#[test]
fn both_shapes_are_read_as_one() {
    assert_eq!(
        parse(
            r#"{"ts":"2026-01-02T03:04:05Z","level":"INFO","event":"iteration_start","iteration":7,"phase":2,"subtasks_done":4}"#
        ),
        Some(EventLine {
            ts: "2026-01-02T03:04:05Z".to_owned(),
            level: EventLevel::Info,
            event: "iteration_start".to_owned(),
            iteration: Some(7),
            phase: Some(2),
            fields: fields(&json!({"subtasks_done": 4})),
        })
    );
    assert_eq!(
        parse(
            r#"{"timestamp":"2026-01-02T03:04:05Z","level":"warn","phase":"Phase 2/3","model":"M","event":"mcp_retry","msg":"重試","metrics":{"n":1}}"#
        ),
        Some(EventLine {
            ts: "2026-01-02T03:04:05Z".to_owned(),
            level: EventLevel::Warn,
            event: "mcp_retry".to_owned(),
            iteration: None,
            phase: Some(2),
            fields: fields(&json!({"model": "M", "msg": "重試", "metrics": {"n": 1}})),
        })
    );
}

#[test]
fn what_is_read_loses_nothing_and_reads_back() {
    for line in [
        r#"{"ts":"t","event":"e"}"#,
        r#"{"ts":"t","event":"e","phase":"planning","iteration":-1}"#,
        r#"{"ts":"t","timestamp":"u","event":"e","phase":1.5}"#,
    ] {
        let event = parse(line).unwrap();
        let written = event.to_json();
        assert_eq!(parse(&written.to_string()), Some(event), "{line}");
        let original: Value = serde_json::from_str(line).unwrap();
        for (key, value) in original.as_object().unwrap() {
            assert_eq!(&written[key], value, "{line}: {key}");
        }
    }
}

#[test]
fn phases_are_read_in_every_spelling() {
    for (phase, want) in [
        (json!(2), Some(2)),
        (json!("2"), Some(2)),
        (json!("Phase 2/3"), Some(2)),
        (json!("phase 12"), Some(12)),
        (json!("Phase"), None),
        (json!("階段二"), None),
        (json!(-2), None),
        (json!(null), None),
    ] {
        let line = json!({"ts": "t", "event": "e", "phase": phase});
        assert_eq!(parse(&line.to_string()).unwrap().phase, want, "{line}");
    }
}

#[test]
fn what_is_no_event_is_none() {
    for line in [
        "",
        "{",
        "[]",
        "null",
        r#"{"event":"no time"}"#,
        r#"{"ts":"no event"}"#,
        r#"{"ts":1,"event":"e"}"#,
        r#"{"ts":"t","event":"e","level":"LOUD"}"#,
        r#"{"ts":"t","event":"e","level":3}"#,
    ] {
        assert_eq!(parse(line), None, "{line}");
    }
}

#[test]
fn a_reader_gets_each_event_once_and_waits_for_a_line_to_end() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("execution.log.jsonl");
    let mut reader = EventReader::new(&path);
    assert_eq!(reader.poll().unwrap(), []);

    let mut log = EventLog::open(&path).unwrap();
    log.append(&event("iteration_start", 1)).unwrap();
    log.append(&event("iteration_complete", 1)).unwrap();
    assert_eq!(reader.poll().unwrap().len(), 2);
    assert_eq!(reader.poll().unwrap(), []);

    let half = event("iteration_start", 2).to_json().to_string();
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{text}{}", &half[..20])).unwrap();
    assert_eq!(reader.poll().unwrap(), []);
    fs::write(&path, format!("{text}{half}\r\n\nnoise\n")).unwrap();
    assert_eq!(reader.poll().unwrap(), [event("iteration_start", 2)]);
    assert_eq!(reader.skipped(), 1);

    // Somebody began the log anew.
    fs::write(&path, format!("\u{feff}{half}\n")).unwrap();
    assert_eq!(reader.poll().unwrap(), [event("iteration_start", 2)]);
}

#[test]
fn a_torn_last_line_does_not_swallow_the_next_event() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("execution.log.jsonl");
    let whole = event("iteration_start", 1).to_json().to_string();
    for cut in 0..=whole.len() {
        fs::write(&path, &whole[..cut]).unwrap();
        let mut log = EventLog::open(&path).unwrap();
        log.append(&event("resume", 1)).unwrap();
        let mut reader = EventReader::new(&path);
        let events = reader.poll().unwrap();
        assert_eq!(events.last(), Some(&event("resume", 1)), "cut at {cut}");
        let torn = u64::from(cut > 0 && cut < whole.len());
        assert_eq!(reader.skipped(), torn, "cut at {cut}");
    }
}

#[test]
fn a_full_disk_costs_one_event_and_not_the_next() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("execution.log.jsonl");
    let mut log = EventLog::open(&path).unwrap();
    let fault = Fault {
        os_error: ENOSPC,
        written: 11,
    };
    fault::arm(point::EVENTS_WRITE, 1, fault);
    log.append(&event("one", 1)).unwrap();
    let error = log.append(&event("lost", 1)).unwrap_err();
    assert_eq!(error.kind, ErrorKind::StorageFull);
    log.append(&event("two", 1)).unwrap();
    let mut reader = EventReader::new(&path);
    assert_eq!(reader.poll().unwrap(), [event("one", 1), event("two", 1)]);
    assert_eq!(reader.skipped(), 1);
}

#[cfg(target_os = "linux")]
#[test]
fn a_really_full_device_gives_the_clear_error() {
    let mut log = EventLog::open(Path::new("/dev/full")).unwrap();
    let error = log.append(&event("lost", 1)).unwrap_err();
    assert_eq!(error.kind, ErrorKind::StorageFull);
    assert!(error.to_string().starts_with("no space left"), "{error}");
}

#[test]
fn writers_side_by_side_lose_no_line() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("execution.log.jsonl");
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let path = &path;
            scope.spawn(move || {
                let mut log = EventLog::open(path).unwrap();
                for n in 0..250 {
                    log.append(&event(&format!("writer_{writer}"), n)).unwrap();
                }
            });
        }
    });
    let mut reader = EventReader::new(&path);
    let events = reader.poll().unwrap();
    assert_eq!(reader.skipped(), 0);
    for writer in 0..8 {
        let name = format!("writer_{writer}");
        let written: Vec<_> = events.iter().filter(|event| event.event == name).collect();
        let expected: Vec<_> = (0..250).map(|n| event(&name, n)).collect();
        assert_eq!(written, expected.iter().collect::<Vec<_>>());
    }
}

#[test]
fn filters_choose() {
    let event = EventLine {
        level: EventLevel::Warn,
        phase: Some(2),
        fields: fields(
            &json!({"reason": "mcp_timeout", "tries": 3, "final": false, "metrics": {}}),
        ),
        ..event("iteration_retry", 3)
    };
    for (filter, want) in [
        ("", true),
        ("event=iteration_retry", true),
        ("event=iteration_start", false),
        ("event!=iteration_start", true),
        ("level>=WARN", true),
        ("level>=warning", true),
        ("level>WARN", false),
        ("level=ERROR", false),
        ("level<ERROR", true),
        ("iteration=3", true),
        ("iteration<=2", false),
        ("phase=2 iteration=3", true),
        ("phase=2,iteration=4", false),
        ("ts>=2026-11-15", true),
        ("ts<2026-11-15", false),
        ("reason=mcp_timeout", true),
        ("tries>=3", true),
        ("tries=10", false),
        ("tries<10", true),
        ("final=false", true),
        ("metrics=1", false),
        ("metrics!=1", true),
        ("missing=1", false),
        ("missing>=1", false),
        ("missing!=1", true),
    ] {
        let parsed = Filter::parse(filter).unwrap();
        assert_eq!(parsed.matches(&event), want, "{filter}");
    }
}

#[test]
fn a_bad_filter_says_what_to_write() {
    let mut said = String::new();
    for filter in [
        "level", "=3", "iteration=", "level>=LOUD", "iteration=two", "a!b",
    ] {
        let error = Filter::parse(filter).unwrap_err();
        for lang in Lang::ALL {
            said += &format!("{}\n", error.say(lang));
        }
    }
    insta::assert_snapshot!(said, @"
    the filter `level` is not of the form key=value; write for example `level>=WARN` or `iteration=3`
    篩選條件 `level` 不是 key=value 的形式；請寫成例如 `level>=WARN` 或 `iteration=3`
    筛选条件 `level` 不是 key=value 的形式；请写成例如 `level>=WARN` 或 `iteration=3`
    the filter `=3` is not of the form key=value; write for example `level>=WARN` or `iteration=3`
    篩選條件 `=3` 不是 key=value 的形式；請寫成例如 `level>=WARN` 或 `iteration=3`
    筛选条件 `=3` 不是 key=value 的形式；请写成例如 `level>=WARN` 或 `iteration=3`
    the filter `iteration=` is not of the form key=value; write for example `level>=WARN` or `iteration=3`
    篩選條件 `iteration=` 不是 key=value 的形式；請寫成例如 `level>=WARN` 或 `iteration=3`
    筛选条件 `iteration=` 不是 key=value 的形式；请写成例如 `level>=WARN` 或 `iteration=3`
    there is no level `LOUD`; write TRACE, DEBUG, INFO, WARN or ERROR
    沒有等級 `LOUD`；請寫 TRACE、DEBUG、INFO、WARN 或 ERROR
    没有级别 `LOUD`；请写 TRACE、DEBUG、INFO、WARN 或 ERROR
    `iteration` is a number, not `two`; write for example `iteration=3`
    `iteration` 是數字，不是 `two`；請寫成例如 `iteration=3`
    `iteration` 是数字，不是 `two`；请写成例如 `iteration=3`
    the filter `a!b` is not of the form key=value; write for example `level>=WARN` or `iteration=3`
    篩選條件 `a!b` 不是 key=value 的形式；請寫成例如 `level>=WARN` 或 `iteration=3`
    筛选条件 `a!b` 不是 key=value 的形式；请写成例如 `level>=WARN` 或 `iteration=3`
    ");
}

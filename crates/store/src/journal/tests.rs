use super::*;
use crate::fault::{self, Fault};
use proptest::prelude::*;
use ralph_core::lang::{Lang, Say};
use serde_json::json;
use std::fs;
use std::io::ErrorKind;

const EIO: i32 = 5;
const ENOSPC: i32 = 28;

struct TestJournal {
    dir: tempfile::TempDir,
}

impl TestJournal {
    fn new() -> TestJournal {
        TestJournal {
            dir: tempfile::tempdir().unwrap(),
        }
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("journal.jsonl")
    }

    fn bytes(&self) -> Vec<u8> {
        fs::read(self.path()).unwrap()
    }

    fn put(&self, bytes: &[u8]) {
        // Overwriting in place makes some file systems flush at each close,
        // and these tests write thousands of journals.
        let _ = fs::remove_file(self.path());
        fs::write(self.path(), bytes).unwrap();
    }

    fn data(&self) -> Vec<Value> {
        data(read(&self.path()).unwrap().0)
    }
}

fn data(records: Vec<Record>) -> Vec<Value> {
    records.into_iter().map(|record| record.data).collect()
}

/// The bytes of a journal with these appends.
fn journal_of(appends: &[Vec<Value>]) -> Vec<u8> {
    let test = TestJournal::new();
    let mut journal = Journal::create(&test.path()).unwrap();
    for records in appends {
        journal.append(records, Durability::Buffered).unwrap();
    }
    test.bytes()
}

fn sample() -> Vec<Value> {
    vec![
        json!({"event": "run_started", "at": 1}),
        json!("換行\nand \"quotes\""),
        json!({"seq": 9, "crc": "00000000", "data": [null, true, -1]}),
    ]
}

#[test]
fn the_form_of_a_record() {
    let bytes = journal_of(&[sample()]);
    insta::assert_snapshot!(String::from_utf8(bytes).unwrap(), @r#"
    {"v":1,"seq":1,"crc":"87e02471","data":{"event":"run_started","at":1}}
    {"v":1,"seq":2,"crc":"8639ed1a","data":"換行\nand \"quotes\""}
    {"v":1,"seq":3,"crc":"5394dcd4","data":{"seq":9,"crc":"00000000","data":[null,true,-1]}}
    "#);
}

#[test]
fn what_was_appended_is_replayed_and_continued() {
    let test = TestJournal::new();
    let mut journal = Journal::create(&test.path()).unwrap();
    assert_eq!(journal.append(&sample(), Durability::Commit), Ok(1..4));
    assert_eq!(journal.append(&[], Durability::Commit), Ok(4..4));
    drop(journal);

    let (mut journal, records, tail) = Journal::open(&test.path()).unwrap();
    assert_eq!(tail, Tail::Clean);
    assert_eq!(records.iter().map(|r| r.seq).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(data(records), sample());
    assert_eq!(journal.next_seq(), 4);
    let more = json!("more");
    let appended = journal.append(std::slice::from_ref(&more), Durability::Buffered);
    assert_eq!(appended, Ok(4..5));
    assert_eq!(test.data().last(), Some(&more));
}

#[test]
fn a_commit_is_one_write_and_one_sync() {
    let test = TestJournal::new();
    let mut journal = Journal::create(&test.path()).unwrap();
    let before = fault::passed().len();
    journal.append(&sample(), Durability::Commit).unwrap();
    journal.append(&sample(), Durability::Buffered).unwrap();
    assert_eq!(
        fault::passed()[before..],
        [
            point::JOURNAL_WRITE,
            point::JOURNAL_SYNC,
            point::JOURNAL_WRITE
        ]
    );
}

#[test]
fn an_existing_journal_is_not_created_and_a_missing_one_not_opened() {
    let test = TestJournal::new();
    let kind = |error: JournalError| match error {
        JournalError::File(error) => error.kind,
        error => panic!("{error}"),
    };
    let missing = Journal::open(&test.path()).unwrap_err();
    assert_eq!(kind(missing), ErrorKind::NotFound);
    Journal::create(&test.path()).unwrap();
    let exists = Journal::create(&test.path()).unwrap_err();
    assert_eq!(kind(exists), ErrorKind::AlreadyExists);
    let device = Journal::open(Path::new("/dev/null")).unwrap_err();
    assert_eq!(kind(device), ErrorKind::InvalidInput);
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::hash_map("[a-z\n\"]{0,3}", inner, 0..3)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_journal_cut_anywhere_keeps_all_whole_records_and_goes_on(
        appends in prop::collection::vec(prop::collection::vec(any_json(), 1..4), 1..4),
    ) {
        let bytes = journal_of(&appends);
        let all: Vec<Value> = appends.concat();
        let test = TestJournal::new();
        for cut in 0..=bytes.len() {
            let kept = &bytes[..cut];
            test.put(kept);
            let whole = kept.iter().filter(|&&byte| byte == b'\n').count();
            let good_len = kept.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);

            let (mut journal, records, tail) = Journal::open(&test.path()).unwrap();
            prop_assert_eq!(data(records), &all[..whole]);
            let torn = (cut - good_len) as u64;
            prop_assert_eq!(tail, if torn == 0 { Tail::Clean } else { Tail::Torn { bytes: torn } });
            prop_assert_eq!(test.bytes(), kept, "opening alone changes nothing");

            let after = json!({"after": "the crash"});
            journal.append(std::slice::from_ref(&after), Durability::Buffered).unwrap();
            let mut expected = all[..whole].to_vec();
            expected.push(after);
            let (records, tail) = read(&test.path()).unwrap();
            prop_assert_eq!((data(records), tail), (expected, Tail::Clean));
        }
    }
}

/// Damage may cost the last record, and nothing else may be wrong or missing.
fn check_damaged(test: &TestJournal, damaged: &[u8], all: &[Value]) {
    test.put(damaged);
    let what = || String::from_utf8_lossy(damaged).into_owned();
    match Journal::open(&test.path()) {
        Ok((_, records, tail)) => {
            let got = data(records);
            assert!(
                got.len() + 1 >= all.len(),
                "{} lost: {}",
                all.len() - got.len(),
                what()
            );
            assert_eq!(got, all[..got.len()], "{}", what());
            assert_ne!(tail, Tail::Clean, "unnoticed: {}", what());
        }
        Err(JournalError::Corrupt { line, offset, .. }) => {
            assert!((1..=all.len() as u64).contains(&line), "{}", what());
            assert!(offset < damaged.len() as u64, "{}", what());
        }
        Err(error) => panic!("{error}: {}", what()),
    }
    assert_eq!(test.bytes(), damaged, "never repaired silently");
}

#[test]
fn every_flipped_byte_is_noticed() {
    let test = TestJournal::new();
    for records in [sample(), vec![json!({"only": "one"})]] {
        let sound = journal_of(std::slice::from_ref(&records));
        for at in 0..sound.len() {
            let flips = (0..8).map(|bit| sound[at] ^ (1 << bit));
            for byte in flips.chain([0, b'\n', b' ', b'"', b'}', b'9', 0xff]) {
                if byte == sound[at] {
                    continue;
                }
                let mut damaged = sound.clone();
                damaged[at] = byte;
                check_damaged(&test, &damaged, &records);
            }
        }
    }
}

#[test]
fn damage_before_the_last_record_is_never_skipped() {
    let test = TestJournal::new();
    let sound = journal_of(&[sample()]);
    let last_line = sound[..sound.len() - 1]
        .iter()
        .rposition(|&byte| byte == b'\n')
        .unwrap();
    for at in 0..last_line {
        let mut damaged = sound.clone();
        damaged[at] ^= 1;
        test.put(&damaged);
        let error = Journal::open(&test.path()).unwrap_err();
        assert!(
            matches!(error, JournalError::Corrupt { .. }),
            "{at}: {error}"
        );
    }
}

#[test]
fn a_place_is_given_for_the_damage() {
    let test = TestJournal::new();
    let mut bytes = journal_of(&[sample()]);
    let first = bytes.iter().position(|&byte| byte == b'\n').unwrap();
    bytes[first + 60] ^= 1;
    test.put(&bytes);
    assert_eq!(
        Journal::open(&test.path()).unwrap_err(),
        JournalError::Corrupt {
            path: test.path(),
            line: 2,
            offset: first as u64 + 1,
            reason: Flaw::BadChecksum,
        }
    );
}

#[test]
fn what_is_intact_is_kept_beside_a_copy_of_the_damage() {
    let test = TestJournal::new();
    let all = sample();
    let sound = journal_of(std::slice::from_ref(&all));
    let lines: Vec<&[u8]> = sound.split_inclusive(|&byte| byte == b'\n').collect();
    for round in 1..lines.len() - 1 {
        let mut damaged = sound.clone();
        let at: usize = lines[..round].iter().map(|line| line.len()).sum();
        damaged[at + 30] ^= 1;
        test.put(&damaged);
        let salvage = keep_intact(&test.path()).unwrap().unwrap();
        assert_eq!(salvage.records, round as u64);
        // No copy of an earlier damage is lost.
        let name = format!("journal.damaged-{round}.jsonl");
        assert_eq!(salvage.copy, test.path().with_file_name(name));
        assert_eq!(std::fs::read(&salvage.copy).unwrap(), damaged);
        let (mut journal, records, tail) = Journal::open(&test.path()).unwrap();
        assert_eq!(data(records), all[..round]);
        assert_eq!(tail, Tail::Clean);
        journal.append(&[7.into()], Durability::Commit).unwrap();
        assert_eq!(keep_intact(&test.path()).unwrap(), None);
    }
}

#[test]
fn where_nothing_is_intact_nothing_is_changed() {
    let test = TestJournal::new();
    for bytes in [&b"garbage\nand more\n"[..], &sound_line(VERSION + 1, 1)] {
        test.put(bytes);
        let error = Journal::open(&test.path()).unwrap_err();
        assert_eq!(keep_intact(&test.path()), Err(error));
        assert_eq!(test.bytes(), bytes);
    }
}

#[test]
fn garbage_is_not_taken_for_an_empty_journal() {
    let test = TestJournal::new();
    for garbage in [
        &b"\n"[..],
        b"{}",
        b"hello",
        b"hello\nworld\n",
        b"\xff\xfe\x00\x01",
        b"{\"v\":1}\n",
        b"{\"v\":0,\"seq\":1,",
        b"{\"v\":1,\"seq\":2,\"cr",
        b"{\"v\":99999999999999999999,",
        b"\0\0\0\n\0\0\0\n",
    ] {
        test.put(garbage);
        let error = Journal::open(&test.path()).unwrap_err();
        assert!(
            matches!(
                error,
                JournalError::Corrupt {
                    line: 1,
                    offset: 0,
                    ..
                }
            ),
            "{garbage:?}: {error}"
        );
    }
}

#[test]
fn zeros_that_a_crashed_machine_left_at_the_end_are_a_torn_tail() {
    let test = TestJournal::new();
    let sound = journal_of(&[sample()]);
    for torn in [&b"\0\0\0\0"[..], b"{\"v\":1,\"seq\":4,\"crc\":\"0\0\0\0"] {
        test.put(&[&sound, torn].concat());
        let (_, records, tail) = Journal::open(&test.path()).unwrap();
        let bytes = torn.len() as u64;
        assert_eq!((data(records), tail), (sample(), Tail::Torn { bytes }));
    }
}

/// A sound line of another version or number.
fn sound_line(version: u64, seq: u64) -> Vec<u8> {
    let body = "\"data\":{}}";
    let head = format!("{{\"v\":{version},\"seq\":{seq},");
    let crc = crc::crc32(&[head.as_bytes(), body.as_bytes()]);
    format!("{head}\"crc\":\"{crc:08x}\",{body}\n").into_bytes()
}

#[test]
fn a_newer_version_is_refused_and_not_taken_for_damage() {
    let test = TestJournal::new();
    let sound = journal_of(&[sample()]);
    for (bytes, line, version) in [
        (sound_line(2, 1), 1, 2),
        ([sound.as_slice(), &sound_line(3, 4)].concat(), 4, 3),
        (b"{\"v\":2,\"id\":\"another form\"}\n".to_vec(), 1, 2),
    ] {
        test.put(&bytes);
        assert_eq!(
            Journal::open(&test.path()).unwrap_err(),
            JournalError::Newer {
                path: test.path(),
                line,
                version
            }
        );
    }
}

#[test]
fn gaps_and_repetitions_are_damage_even_at_the_end() {
    let test = TestJournal::new();
    let line = |seq| sound_line(1, seq);
    for (numbers, at_line, expected, found) in [
        (vec![2], 1, 1, 2),
        (vec![1, 3], 2, 2, 3),
        (vec![1, 2, 2], 3, 3, 2),
        (vec![1, 1, 2], 2, 2, 1),
        (vec![1, 3, 2], 2, 2, 3),
    ] {
        test.put(&numbers.iter().copied().flat_map(line).collect::<Vec<u8>>());
        match Journal::open(&test.path()).unwrap_err() {
            JournalError::Corrupt { line, reason, .. } => {
                assert_eq!(line, at_line, "{numbers:?}");
                assert_eq!(reason, Flaw::WrongNumber { expected, found });
            }
            error => panic!("{error}"),
        }
    }
}

#[test]
fn after_a_failed_append_the_journal_is_as_before_and_goes_on() {
    let failing = vec![json!("fails"), json!("too")];
    let len = journal_of(std::slice::from_ref(&failing)).len();
    let mut cases: Vec<(&str, Fault)> = (0..=len)
        .map(|written| {
            let fault = Fault {
                os_error: ENOSPC,
                written,
            };
            (point::JOURNAL_WRITE, fault)
        })
        .collect();
    cases.push((point::JOURNAL_SYNC, Fault::error(EIO)));
    for (point, fault) in cases {
        // Without and with a failure to clean up at once.
        for cleanup_fails in [false, true] {
            let test = TestJournal::new();
            let mut journal = Journal::create(&test.path()).unwrap();
            journal.append(&sample(), Durability::Commit).unwrap();
            let before = test.bytes();
            fault::arm(point, 0, fault);
            if cleanup_fails {
                fault::arm(point::JOURNAL_TRUNCATE, 0, Fault::error(EIO));
            }
            let error = journal.append(&failing, Durability::Commit).unwrap_err();
            assert!(matches!(error, JournalError::File(_)), "{error}");
            if !cleanup_fails {
                assert_eq!(test.bytes(), before, "{fault:?}");
            }
            let next = json!("next");
            let appended = journal.append(std::slice::from_ref(&next), Durability::Commit);
            assert_eq!(appended, Ok(4..5), "{fault:?}");
            let expected = [sample(), vec![next]].concat();
            assert_eq!(test.data(), expected, "{fault:?}");
        }
    }
}

#[test]
fn an_append_that_cannot_clear_the_debris_writes_nothing() {
    let test = TestJournal::new();
    let sound = journal_of(&[sample()]);
    let torn = [sound.as_slice(), b"{\"v\":1,\"se"].concat();
    test.put(&torn);
    let (mut journal, ..) = Journal::open(&test.path()).unwrap();
    fault::arm(point::JOURNAL_TRUNCATE, 0, Fault::error(EIO));
    journal.append(&sample(), Durability::Commit).unwrap_err();
    assert_eq!(test.bytes(), torn);
    assert_eq!(journal.append(&sample(), Durability::Commit), Ok(4..7));
    assert_eq!(test.data(), [sample(), sample()].concat());
}

#[test]
fn what_could_not_be_read_back_is_not_written() {
    let test = TestJournal::new();
    let mut journal = Journal::create(&test.path()).unwrap();
    let nested = |depth| (0..depth).fold(json!(1), |inner, _| json!([inner]));
    let long = json!("x".repeat(crate::lines::MAX_LINE));
    for (value, reason) in [
        (nested(101), Unstorable::TooDeep),
        (long, Unstorable::TooLong),
    ] {
        let appended = journal.append(&[json!("fine"), value], Durability::Commit);
        let path = test.path();
        assert_eq!(appended, Err(JournalError::Unstorable { path, reason }));
        assert_eq!(test.bytes(), b"");
    }
    let deep = nested(100);
    let appended = journal.append(std::slice::from_ref(&deep), Durability::Commit);
    assert_eq!(appended, Ok(1..2));
    assert_eq!(test.data(), [deep]);
}

#[test]
fn a_reader_follows_record_by_record() {
    let test = TestJournal::new();
    let mut tailer = Tailer::new(&test.path());
    assert_eq!(tailer.poll(), Ok(vec![]));
    let bytes = journal_of(&[sample(), sample()]);
    let mut seen = Vec::new();
    for cut in 0..=bytes.len() {
        test.put(&bytes[..cut]);
        seen.extend(tailer.poll().unwrap());
    }
    assert_eq!(seen, read(&test.path()).unwrap().0);
    assert_eq!(seen.len(), 6);
    assert_eq!(tailer.poll(), Ok(vec![]));
}

#[test]
fn a_reader_survives_the_writer_cutting_off_a_failed_append() {
    let test = TestJournal::new();
    let mut tailer = Tailer::new(&test.path());
    let failed = journal_of(&[sample(), vec![json!("failed")]]);
    test.put(&failed);
    assert_eq!(tailer.poll().unwrap().len(), 4);
    // Cut off, and meanwhile replaced by something longer.
    test.put(&journal_of(&[
        sample(),
        vec![json!("something longer instead"), json!("and more")],
    ]));
    let new = data(tailer.poll().unwrap());
    assert_eq!(new, [json!("and more")]);
    // Cut off and not yet replaced.
    test.put(&journal_of(&[sample()]));
    assert_eq!(tailer.poll(), Ok(vec![]));
    test.put(&journal_of(&[sample(), vec![json!("again")]]));
    assert_eq!(data(tailer.poll().unwrap()), [json!("again")]);
}

#[test]
fn a_reader_reports_damage() {
    let test = TestJournal::new();
    let mut bytes = journal_of(&[sample(), sample()]);
    test.put(&bytes);
    let mut tailer = Tailer::new(&test.path());
    tailer.poll().unwrap();
    bytes[30] ^= 1;
    test.put(&bytes);
    assert_eq!(tailer.poll(), Ok(vec![]), "what was read stays read");
    let error = Tailer::new(&test.path()).poll().unwrap_err();
    assert!(matches!(error, JournalError::Corrupt { line: 1, .. }));
}

#[test]
fn problems_are_told_in_three_languages() {
    let path = PathBuf::from("runs/r/journal.jsonl");
    let reason = Flaw::WrongNumber {
        expected: 7,
        found: 9,
    };
    let errors = [
        JournalError::Corrupt {
            path: path.clone(),
            line: 7,
            offset: 640,
            reason,
        },
        JournalError::Newer {
            path,
            line: 1,
            version: 2,
        },
    ];
    let said: Vec<String> = errors
        .iter()
        .flat_map(|error| Lang::ALL.map(|lang| error.say(lang)))
        .collect();
    insta::assert_snapshot!(said.join("\n"), @"
    the journal runs/r/journal.jsonl is damaged at line 7 (byte 640): record 9 where 7 belongs; the 6 records before it are intact and nothing was changed; go on from them with `ralph resume --from-intact` (the damaged file is kept beside it), restore it from a backup, or start a new run with `ralph run`
    日誌 runs/r/journal.jsonl 第 7 行（位元組 640）損壞：應為第 7 筆，卻是第 9 筆；之前的 6 筆紀錄完好，檔案未被更動；可用 `ralph resume --from-intact` 從完好的紀錄繼續（損壞的檔案會保留在旁），從備份還原，或用 `ralph run` 開始新的執行
    日志 runs/r/journal.jsonl 第 7 行（字节 640）损坏：应为第 7 条，却是第 9 条；之前的 6 条记录完好，文件未被改动；可用 `ralph resume --from-intact` 从完好的记录继续（损坏的文件会保留在旁），从备份恢复，或用 `ralph run` 开始新的运行
    the journal runs/r/journal.jsonl was written by a newer ralph (format 2, line 1); update ralph, or finish the run with the version that began it
    日誌 runs/r/journal.jsonl 由較新的 ralph 寫入（格式 2，第 1 行）；請更新 ralph，或以原本的版本完成這次執行
    日志 runs/r/journal.jsonl 由较新的 ralph 写入（格式 2，第 1 行）；请更新 ralph，或用原来的版本完成这次运行
    ");
}

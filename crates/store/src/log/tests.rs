use super::*;
use crate::fault::{self, Fault};

const ENOSPC: i32 = 28;
const NOW: &str = "2026-01-28 10:00:00";

fn nothing_hidden(text: &str) -> Cow<'_, str> {
    Cow::Borrowed(text)
}

fn hide_tokens(text: &str) -> Cow<'_, str> {
    Cow::Owned(text.replace("tok_123", "***"))
}

fn options(max_bytes: u64, keep: u32) -> LogOptions {
    LogOptions {
        style: LogStyle::Sdd,
        max_bytes,
        keep,
        redact: nothing_hidden,
    }
}

struct TestLog {
    dir: tempfile::TempDir,
}

impl TestLog {
    fn new() -> TestLog {
        TestLog {
            dir: tempfile::tempdir().unwrap(),
        }
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("ralph-sdd.log")
    }

    fn open(&self, options: LogOptions) -> LogFile {
        LogFile::open(&self.path(), NOW, options).unwrap()
    }

    fn text(&self, n: u32) -> Option<String> {
        fs::read_to_string(numbered(&self.path(), n)).ok()
    }

    /// The messages that stand in all files, the oldest first.
    fn messages(&self) -> Vec<String> {
        (0..100)
            .rev()
            .filter_map(|n| self.text(n))
            .flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>())
            .filter_map(|line| Some(line.split_once("] [INFO] ")?.1.to_owned()))
            .collect()
    }
}

#[test]
fn a_new_log_has_a_header_and_an_old_one_is_continued() {
    let test = TestLog::new();
    let mut log = test.open(options(0, 0));
    log.append(NOW, LogLevel::Info, "初始化 Ralph SDD...")
        .unwrap();
    drop(log);
    let mut log = test.open(options(0, 0));
    log.append("2026-01-28 10:00:01", LogLevel::Loop, "  迭代 1 / 50")
        .unwrap();
    for level in [
        LogLevel::Warn,
        LogLevel::Error,
        LogLevel::Success,
        LogLevel::Debug,
    ] {
        log.append("2026-01-28 10:00:02", level, "one\ntwo")
            .unwrap();
    }
    insta::assert_snapshot!(test.text(0).unwrap(), @"
    # Ralph SDD Log
    Started: 2026-01-28 10:00:00
    ---
    [2026-01-28 10:00:00] [INFO] 初始化 Ralph SDD...
    [2026-01-28 10:00:01] [LOOP]   迭代 1 / 50
    [2026-01-28 10:00:02] [WARN] one ⏎ two
    [2026-01-28 10:00:02] [ERROR] one ⏎ two
    [2026-01-28 10:00:02] [SUCCESS] one ⏎ two
    [2026-01-28 10:00:02] [DEBUG] one ⏎ two
    ");
}

#[test]
fn the_title_follows_the_style() {
    let dir = tempfile::tempdir().unwrap();
    for (style, title) in [
        (LogStyle::Loop, "# Ralph Loop Log\n"),
        (LogStyle::Sdd, "# Ralph SDD Log\n"),
    ] {
        let path = dir.path().join(style.file_name());
        let options = LogOptions {
            style,
            ..options(0, 0)
        };
        LogFile::open(&path, NOW, options).unwrap();
        let text = fs::read_to_string(path).unwrap();
        assert!(text.starts_with(title), "{text}");
    }
}

#[test]
fn secrets_are_hidden_even_behind_colours() {
    let test = TestLog::new();
    let mut log = test.open(LogOptions {
        redact: hide_tokens,
        ..options(0, 0)
    });
    log.append(NOW, LogLevel::Info, "a tok_123 b tok_\u{1b}[0m123 c")
        .unwrap();
    assert_eq!(test.messages(), ["a *** b *** c"]);
}

#[test]
fn a_log_rotates_by_size_and_keeps_the_newest() {
    let test = TestLog::new();
    let mut log = test.open(options(300, 2));
    for n in 0..30 {
        log.append(NOW, LogLevel::Info, &format!("message {n:02}"))
            .unwrap();
    }
    for n in 0..=2 {
        let text = test.text(n).unwrap();
        assert!(text.starts_with("# Ralph SDD Log\nStarted: "), "{text}");
        assert!(text.len() <= 300, "{n}: {}", text.len());
    }
    assert_eq!(test.text(3), None);
    let messages = test.messages();
    let newest: Vec<String> = (30 - messages.len()..30)
        .map(|n| format!("message {n:02}"))
        .collect();
    assert!(messages.len() > 10, "{messages:?}");
    assert_eq!(messages, newest);
}

#[test]
fn an_overlong_log_is_rotated_when_it_is_opened() {
    let test = TestLog::new();
    fs::write(test.path(), "x".repeat(500)).unwrap();
    test.open(options(300, 1));
    assert_eq!(test.text(1).unwrap().len(), 500);
    assert!(test.text(0).unwrap().starts_with("# Ralph SDD Log"));
}

#[test]
fn a_line_longer_than_the_limit_is_written_all_the_same() {
    let test = TestLog::new();
    let mut log = test.open(options(100, 3));
    for _ in 0..2 {
        log.append(NOW, LogLevel::Info, &"y".repeat(400)).unwrap();
    }
    assert_eq!(test.messages(), vec!["y".repeat(400); 2]);
    assert_eq!(test.text(2), None);
}

#[test]
fn without_files_to_keep_the_log_starts_anew() {
    let test = TestLog::new();
    let mut log = test.open(options(200, 0));
    for n in 0..20 {
        log.append(NOW, LogLevel::Info, &format!("message {n:02}"))
            .unwrap();
    }
    assert_eq!(test.text(1), None);
    assert!(test.text(0).unwrap().ends_with("message 19\n"));
    assert!(test.text(0).unwrap().len() <= 200);
}

#[test]
fn writers_side_by_side_lose_no_line_while_the_log_rotates() {
    let test = TestLog::new();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let test = &test;
            scope.spawn(move || {
                let mut log = test.open(options(8_000, 99));
                for n in 0..200 {
                    log.append(NOW, LogLevel::Info, &format!("{writer}-{n:03}"))
                        .unwrap();
                }
            });
        }
    });
    assert!(test.text(1).is_some(), "the log has rotated");
    let mut messages = test.messages();
    messages.sort();
    let all: Vec<String> = (0..4)
        .flat_map(|writer| (0..200).map(move |n| format!("{writer}-{n:03}")))
        .collect();
    assert_eq!(messages, all);
}

#[test]
fn a_removed_log_is_begun_anew() {
    let test = TestLog::new();
    let mut log = test.open(options(0, 0));
    fs::remove_file(test.path()).unwrap();
    log.append(NOW, LogLevel::Info, "still here").unwrap();
    assert!(test.text(0).unwrap().starts_with("# Ralph SDD Log"));
    assert_eq!(test.messages(), ["still here"]);
}

#[test]
fn a_full_disk_costs_one_line_and_not_the_next() {
    let test = TestLog::new();
    let mut log = test.open(options(0, 0));
    log.append(NOW, LogLevel::Info, "before").unwrap();
    let fault = Fault {
        os_error: ENOSPC,
        written: 9,
    };
    fault::arm(point::LOG_WRITE, 0, fault);
    let error = log.append(NOW, LogLevel::Info, "lost").unwrap_err();
    assert_eq!(error.kind, ErrorKind::StorageFull);
    log.append(NOW, LogLevel::Info, "after").unwrap();
    assert_eq!(test.messages(), ["before", "after"]);
}

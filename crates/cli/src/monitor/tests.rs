use std::fs;
use std::path::Path;
use std::process::Command;

use crossterm::event::{KeyCode, KeyEvent};
use ralph_core::display::{Screen, Style};
use ralph_core::flow::{self, FlowRules};
use ralph_core::lang::Lang;
use ralph_core::machine::{
    CommandResult, End, Event, Goal, GuardBlock, Kind, Now, Observation, PhaseFacts, Rules,
    TaskFacts, TaskRef, Tasks, TurnReport, VerifyReport, VerifyWhen,
};
use ralph_core::promise::Promise;
use ralph_core::text::width;
use ralph_core::usage::{Tokens, Usage, Usd};
use ralph_engine::plan::Asked;
use ralph_engine::record::Header;
use ralph_engine::watch::Diff;
use ralph_store::home::StateHome;
use ralph_store::journal::{Durability, Journal};
use ralph_store::layout::{Layout, RunPaths, new_run_id};

use super::draw;
use super::model::{LOOKS_PER_WORD, Model, News, Overlay, Tab};

const START_MS: i64 = 1_794_708_630_000;

fn task(n: usize) -> TaskRef {
    TaskRef {
        id: format!("T00{n}"),
        text: match n {
            1 => "設定專案 Set the project up".into(),
            2 => "Write the parser 🧩".into(),
            _ => format!("Do thing {n}"),
        },
        phase: None,
    }
}

fn seen(done: usize) -> Observation {
    let phase = |key: &str, title: &str, completed, total| PhaseFacts {
        key: key.into(),
        title: title.into(),
        completed,
        total,
    };
    Observation {
        tasks: Tasks::Read(TaskFacts {
            total: 4,
            completed: done,
            pending: 4 - done,
            phase: Some("1".into()),
            phases: vec![
                phase("1", "準備 Setup", done.min(2), 2),
                phase("2", "Core 🚀", done.saturating_sub(2), 2),
            ],
            next: Some(task(done + 1)),
            ready: (done + 1..=4).map(task).collect(),
            open: (done + 1..=4).map(task).collect(),
            ..TaskFacts::default()
        }),
        tree: Some(format!("tree {done}")),
        ..Observation::default()
    }
}

fn turn(turn: u32, done: usize, seconds: u64, dollars: f64, promise: Promise) -> Kind {
    Kind::TurnEnded(TurnReport {
        turn,
        attempt: 1,
        end: End::Exit(0),
        duration_ms: seconds * 1000,
        promise: Some(promise),
        mentioned: None,
        failure: String::new(),
        spent: Usage {
            cost: Usd::from_dollars(dollars),
            tokens: Some(Tokens {
                input: 900,
                output: 100,
                ..Tokens::default()
            }),
            at_least: false,
        },
        refusal: None,
        role: None,
        seen: seen(done),
    })
}

fn story() -> Vec<Kind> {
    let question = "用哪個資料庫 Which database? | options: PostgreSQL; SQLite | default: SQLite";
    vec![
        Kind::Started { seen: seen(0) },
        turn(1, 1, 42, 0.25, Promise::Continue),
        Kind::Verified(VerifyReport {
            turn: 1,
            tree: None,
            results: vec![
                CommandResult {
                    command: "cargo fmt --check".into(),
                    exit: Some(0),
                    duration_ms: 400,
                    output: String::new(),
                    ..CommandResult::default()
                },
                CommandResult {
                    command: "cargo test".into(),
                    exit: Some(101),
                    duration_ms: 12_000,
                    output: "1 failed".into(),
                    ..CommandResult::default()
                },
            ],
            ..VerifyReport::default()
        }),
        Kind::GuardBlocked {
            lines: 1,
            blocks: vec![GuardBlock {
                tool: "Bash".into(),
                rule: "files.delete-home".into(),
                detail: "rm -rf ~/專案".into(),
                shadow: false,
            }],
        },
        turn(2, 1, 90, 0.75, Promise::Question(question.into())),
        Kind::Verified(VerifyReport {
            turn: 2,
            tree: None,
            results: vec![CommandResult {
                command: "cargo test".into(),
                exit: Some(0),
                duration_ms: 11_000,
                output: String::new(),
                ..CommandResult::default()
            }],
            ..VerifyReport::default()
        }),
    ]
}

/// A project with a run that is looked at while nobody drives it.
struct Fixture {
    dir: tempfile::TempDir,
}

impl Fixture {
    fn new() -> Fixture {
        Fixture::of(None, story())
    }

    /// The first task is with its reviewer.
    fn with_roles() -> Fixture {
        let flow = FlowRules {
            flow: flow::built_in("drt").unwrap(),
            risk: None,
            bypass: None,
            card: None,
        };
        let mut looked = seen(0);
        if let Tasks::Read(facts) = &mut looked.tasks {
            facts.flow = Some(Box::default());
        }
        let mut developed = turn(1, 0, 42, 0.25, Promise::Continue);
        if let Kind::TurnEnded(report) = &mut developed {
            report.role = Some(Box::default());
            report.seen = looked.clone();
        }
        Fixture::of(Some(flow), vec![Kind::Started { seen: looked }, developed])
    }

    fn of(flow: Option<FlowRules>, story: Vec<Kind>) -> Fixture {
        let dir = tempfile::tempdir().unwrap();
        let layout = layout_in(dir.path());
        layout.prepare().unwrap();
        let run = layout.create_run(&new_run_id(START_MS, 7)).unwrap();
        let tasks = "## Phase 1: 準備 Setup\n- [x] T001 設定專案 Set the project up\n- [ ] T002 Write the parser 🧩\n\n## Phase 2: Core 🚀\n- [ ] T003 Do thing 3\n- [ ] T004 Do thing 4\n";
        fs::write(dir.path().join("tasks.md"), tasks).unwrap();
        write_journal(dir.path(), &run, flow, story);
        let output = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"我先看看。 Let me look 👀"}]}}
{"type":"assistant","message":{"content":[{"type":"tool_use","id":"1","name":"Bash","input":{"command":"cargo test -p core"}}]}}
error: the client's own words
"#;
        fs::write(run.turn_output(3, 1), output).unwrap();
        fs::write(
            run.turn_verification(2),
            "$ cargo test\nall 12 tests pass ✓\n",
        )
        .unwrap();
        Fixture { dir }
    }

    fn model(&self, style: Style, lang: Lang) -> Model {
        let screen = Screen {
            lang,
            style,
            width: 80,
        };
        let mut model = Model::new(screen, vec![layout_in(self.dir.path())]);
        model.now_ms = START_MS + 400_000;
        model.look();
        model.diff = Some(Diff {
            text: "diff --git a/解析.rs b/解析.rs\n--- a/解析.rs\n+++ b/解析.rs\n@@ -1,2 +1,2 @@\n fn main() {\n-\told();\n+\tnew(\"新 🎉\");\n".into(),
            untracked: vec!["notes/新.md".into()],
            cut: false,
        });
        model
    }
}

fn layout_in(root: &Path) -> Layout {
    Layout::new(root, &StateHome::at(root.join(".ralph/state")))
}

fn write_journal(root: &Path, run: &RunPaths, flow: Option<FlowRules>, story: Vec<Kind>) {
    let mut rules = Rules::new(Goal::Tasks { phase: None });
    rules.verify = Some(VerifyWhen::Each);
    rules.agents = vec!["claude".into()];
    rules.question_wait_ms = Some(3_600_000);
    rules.flow = flow;
    let header = Header {
        run_id: run.id.as_str().into(),
        started_ms: START_MS,
        rules,
        asked: Asked::default(),
        tasks_file: Some(root.join("tasks.md")),
        commit: None,
        branch: Some("main".into()),
        session: None,
    };
    let mut journal = Journal::create(&run.journal()).unwrap();
    let mut records = vec![serde_json::to_value(&header).unwrap()];
    for (at, kind) in story.into_iter().enumerate() {
        let at = Now {
            wall_ms: START_MS + at as i64 * 60_000,
            steady_ms: at as u64 * 60_000,
        };
        records.push(serde_json::to_value(Event { at, kind }).unwrap());
    }
    journal.append(&records, Durability::Buffered).unwrap();
}

/// The screen as a person sees it. Every frame is as wide as the screen, so
/// that what is wide in the terminal moves no border.
fn shown(model: &mut Model, columns: u16, rows: u16) -> String {
    let out = draw::as_text(model, columns, rows);
    for line in out.lines().filter(|line| line.starts_with(['│', '╭', '╰'])) {
        assert_eq!(width::width(line), usize::from(columns), "{line}");
    }
    without_times(&out)
}

/// Local times are those of whoever runs the test.
fn without_times(text: &str) -> String {
    let digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    let chars: Vec<char> = text.chars().collect();
    let mut out = chars.clone();
    for at in 2..chars.len() {
        let parts = [
            chars.get(at - 2),
            chars.get(at - 1),
            chars.get(at + 1),
            chars.get(at + 2),
        ];
        let around = parts.iter().all(|c| digit(c.copied()));
        if chars.get(at) == Some(&':') && around {
            for near in [at - 2, at - 1, at + 1, at + 2] {
                out[near] = 'h';
            }
        }
    }
    out.into_iter().collect()
}

const STYLE: Style = Style {
    unicode: true,
    color: false,
};

fn every_tab(columns: u16, rows: u16) -> String {
    let fixture = Fixture::new();
    let mut model = fixture.model(STYLE, Lang::En);
    let mut out = String::new();
    for &tab in Tab::ALL {
        model.tab = tab;
        model.look();
        out.push_str(&shown(&mut model, columns, rows));
    }
    out
}

#[test]
fn every_tab_at_80_by_24() {
    insta::assert_snapshot!(every_tab(80, 24));
}

#[test]
fn every_tab_at_120_by_40() {
    insta::assert_snapshot!(every_tab(120, 40));
}

#[test]
fn every_tab_at_40_by_15() {
    insta::assert_snapshot!(every_tab(40, 15));
}

#[test]
fn who_has_done_their_part_of_a_task() {
    let fixture = Fixture::with_roles();
    let mut model = fixture.model(STYLE, Lang::En);
    let mut out = String::new();
    for (tab, columns, rows) in [
        (Tab::Overview, 80, 16),
        (Tab::Tasks, 80, 10),
        (Tab::Tasks, 40, 9),
    ] {
        model.tab = tab;
        model.look();
        out.push_str(&shown(&mut model, columns, rows));
    }
    insta::assert_snapshot!(out);
}

#[test]
fn other_languages_and_plain_terminals() {
    let fixture = Fixture::new();
    let ascii = Style {
        unicode: false,
        color: false,
    };
    let mut out = String::new();
    for (style, lang) in [(STYLE, Lang::ZhTw), (STYLE, Lang::ZhCn), (ascii, Lang::En)] {
        let mut model = fixture.model(style, lang);
        out.push_str(&shown(&mut model, 80, 24));
    }
    insta::assert_snapshot!(out);
}

fn press(model: &mut Model, keys: &str) {
    for key in keys.chars() {
        let code = match key {
            '\n' => KeyCode::Enter,
            '\u{1b}' => KeyCode::Esc,
            '\u{8}' => KeyCode::Backspace,
            key => KeyCode::Char(key),
        };
        model.press(KeyEvent::from(code));
    }
}

#[test]
fn what_lies_over_a_tab() {
    let fixture = Fixture::new();
    let mut model = fixture.model(STYLE, Lang::En);
    let mut out = String::new();
    for keys in ["?", "\u{1b}a2", "\u{1b}s", "ne\u{8}\u{8}25"] {
        press(&mut model, keys);
        out.push_str(&shown(&mut model, 60, 18));
    }
    insta::assert_snapshot!(out);
}

#[test]
fn long_output_is_broken_and_scrolls_by_what_is_seen() {
    let fixture = Fixture::new();
    let long = (1..=30)
        .map(|n| format!("word{n}"))
        .collect::<Vec<_>>()
        .join(" ");
    let run = layout_in(fixture.dir.path()).run(&new_run_id(START_MS, 7));
    fs::write(run.turn_output(3, 1), format!("{long}\nthe end\n")).unwrap();
    let mut model = fixture.model(STYLE, Lang::En);
    press(&mut model, "3");
    let seen = |model: &mut Model| {
        let screen = shown(model, 40, 8);
        let rows = screen.lines().filter(|line| line.starts_with('│'));
        let rows = rows.map(|line| line.trim_matches(['│', ' ']).to_owned());
        rows.collect::<Vec<_>>()
    };
    let end = seen(&mut model);
    assert!(end[1].ends_with("word30") && end[2] == "the end", "{end:?}");
    press(&mut model, "k");
    assert_eq!(seen(&mut model)[1..], end[..2], "one row up");
    press(&mut model, "g");
    let beginning = seen(&mut model);
    assert!(beginning[0].starts_with("word1 word2 "), "{beginning:?}");
    press(&mut model, "G");
    assert_eq!(seen(&mut model), end);
}

#[test]
fn what_was_said_makes_room_for_the_keys_again() {
    let fixture = Fixture::new();
    let mut model = fixture.model(STYLE, Lang::En);
    model.said = "it has heard".into();
    model.look();
    assert!(shown(&mut model, 80, 24).contains("it has heard"));
    for _ in 0..=LOOKS_PER_WORD {
        model.look();
    }
    assert!(shown(&mut model, 80, 24).contains("? help"));
}

#[test]
fn escape_takes_a_filter_away_before_it_leaves() {
    let fixture = Fixture::new();
    let mut model = fixture.model(STYLE, Lang::En);
    press(&mut model, "/question\u{1b}");
    assert_eq!((model.filter.as_str(), model.wants_out), ("", false));
    press(&mut model, "/question\n\u{1b}");
    assert_eq!((model.filter.as_str(), model.wants_out), ("", false));
    press(&mut model, "\u{1b}");
    assert!(model.wants_out);
}

#[test]
fn keys_move_and_filter_and_leave() {
    let fixture = Fixture::new();
    let mut model = fixture.model(STYLE, Lang::En);
    press(&mut model, "4");
    assert_eq!(model.tab, Tab::Events);
    let all = shown(&mut model, 80, 40);
    press(&mut model, "/question\n");
    let filtered = shown(&mut model, 80, 40);
    assert!(
        all.contains("cargo test") && !filtered.contains("loop started"),
        "{filtered}"
    );
    assert!(filtered.contains("question 1 is parked"), "{filtered}");
    press(
        &mut model,
        "/\u{8}\u{8}\u{8}\u{8}\u{8}\u{8}\u{8}\u{8}WARN\n",
    );
    assert!(shown(&mut model, 80, 40).contains("question 1 is parked"));
    // Far beyond either end is the end.
    for key in ["g", "G", "kkkk", "jjjj"] {
        press(&mut model, key);
        shown(&mut model, 80, 10);
    }
    assert_eq!(model.overlay, Overlay::None);
    press(&mut model, "l");
    assert!(model.wants_pager.take().is_some());
    press(&mut model, "q");
    assert!(model.wants_out);
}

#[test]
fn a_place_without_runs_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let screen = Screen::default();
    let mut model = Model::new(screen, vec![layout_in(dir.path())]);
    model.look();
    for &tab in Tab::ALL {
        model.tab = tab;
        assert!(shown(&mut model, 80, 24).contains("no run yet"));
    }
    press(&mut model, "pcea[],.");
    assert!(model.snapshot().is_none());
}

#[test]
fn a_wish_that_nobody_hears_is_told() {
    let fixture = Fixture::new();
    let mut model = fixture.model(STYLE, Lang::En);
    press(&mut model, "p");
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
    while !model.said.contains("No active Ralph loop") {
        assert!(std::time::Instant::now() < deadline, "{}", model.said);
        model.look();
    }
    model.news.send(News::Said("later".into())).unwrap();
    model.look();
    assert_eq!(model.said, "later");
}

#[test]
fn an_answer_is_written_into_the_journal_of_a_run_that_nobody_drives() {
    let fixture = Fixture::new();
    let mut model = fixture.model(STYLE, Lang::En);
    press(&mut model, "a2\n");
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
    while model.overview().unwrap().open_questions().next().is_some() {
        assert!(std::time::Instant::now() < deadline, "{}", model.said);
        model.look();
    }
    let reply = model.overview().unwrap().questions[0]
        .reply
        .clone()
        .unwrap();
    assert_eq!(reply.text, "SQLite");
}

#[test]
fn the_diff_comes_from_git() {
    let fixture = Fixture::new();
    let git = |args: &[&str]| {
        let done = Command::new("git")
            .current_dir(fixture.dir.path())
            .args(args)
            .output()
            .unwrap();
        assert!(done.status.success());
    };
    git(&["init", "-q"]);
    git(&["add", "tasks.md"]);
    git(&[
        "-c", "user.name=T", "-c", "user.email=t@localhost", "commit", "-qm", "Plan",
    ]);
    let mut model = fixture.model(STYLE, Lang::En);
    model.diff = None;
    fs::write(fixture.dir.path().join("tasks.md"), "- [x] T001 Other\n").unwrap();
    fs::write(fixture.dir.path().join("new.txt"), "").unwrap();
    press(&mut model, "8");
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
    while model.diff.is_none() {
        assert!(std::time::Instant::now() < deadline);
        model.look();
    }
    let screen = shown(&mut model, 80, 40);
    assert!(
        screen.contains("+- [x] T001 Other") && screen.contains("+ new.txt"),
        "{screen}"
    );
}

use ralph_core::display::{RoleView, Style};
use ralph_core::lang::Lang;
use ralph_core::machine::{Bill, CommandResult, Question};
use ralph_core::overview::CheckRun;
use ralph_core::usage::Usage;

use super::*;

fn facts() -> Facts {
    let phase = |key: &str, title: &str, done, total, state| PhaseView {
        key: key.into(),
        title: title.into(),
        done,
        total,
        state,
    };
    let role = |name: &str, state| RoleView {
        name: name.into(),
        state,
    };
    let mut bill = Bill::default();
    bill.add(Usage {
        cost: Usd::from_dollars(1.2),
        ..Usage::default()
    });
    let failed = CommandResult {
        command: "cargo test".into(),
        exit: Some(101),
        ..CommandResult::default()
    };
    let overview = Overview {
        standing: Standing::Working,
        phases: vec![
            phase("1", "準備 Setup", 3, 3, StepState::Done),
            phase("2", "Core 🚀", 1, 4, StepState::Active),
            phase("3", "Polish", 0, 2, StepState::Pending),
        ],
        completed: 4,
        total: 9,
        iteration: 7,
        max_iterations: 50,
        worked_ms: 723_000,
        max_duration_ms: 3_600_000,
        bill,
        max_cost: Usd::from_dollars(20.0).unwrap(),
        task: Some(TaskRef {
            id: "T005".into(),
            text: "解析器 Write the parser for task lists 🧩".into(),
            phase: None,
        }),
        role: Some("reviewer".into()),
        roles: vec![
            role("DEVELOPER", StepState::Done),
            role("REVIEWER", StepState::Active),
            role("TESTER", StepState::Pending),
        ],
        agent: "claude".into(),
        checks: Some(CheckRun::new(6, false, &[failed], Now::default())),
        questions: vec![Question::default()],
        ..Overview::default()
    };
    Facts {
        overview,
        doing: "Bash: cargo test -p ralph-core".into(),
        now_ms: 0,
    }
}

/// The block at the bottom of a screen of this size, and that nothing is
/// wider than it.
fn screen(columns: usize, rows: usize, screen: Screen) -> String {
    let screen = Screen {
        width: columns,
        ..screen
    };
    let lines = block(&screen, &facts(), rows / 2);
    assert!(lines.len() <= (rows / 2).max(5), "{}", lines.len());
    for line in &lines {
        assert!(width::width(line) < columns, "{line}");
    }
    format!("{columns}x{rows}\n{}\n", lines.join("\n"))
}

#[test]
fn the_block_fits_every_screen() {
    let sizes = [(80, 24), (120, 40), (40, 15)];
    let shown = sizes.map(|(columns, rows)| screen(columns, rows, Screen::default()));
    insta::assert_snapshot!(shown.join("\n"));
}

#[test]
fn the_block_is_plain_where_the_terminal_is() {
    let ascii = Screen {
        style: Style {
            unicode: false,
            color: false,
        },
        ..Screen::default()
    };
    let zh = Screen {
        lang: Lang::ZhTw,
        ..Screen::default()
    };
    let shown = [screen(80, 24, ascii), screen(80, 24, zh)].join("\n");
    insta::assert_snapshot!(shown);
}

#[test]
fn it_says_what_happens_now() {
    let said = |standing: Standing, doing: &str| {
        let mut facts = facts();
        facts.overview.standing = standing;
        facts.doing = doing.into();
        block(&Screen::default(), &facts, 20).pop().unwrap()
    };
    for (standing, doing, want) in [
        (Standing::New, "", "  starting"),
        (Standing::Working, "", "  the agent works"),
        (Standing::Working, "two\nlines\u{1b}[2J", "  two lines"),
        (Standing::Verifying, "", "  verifying"),
        (Standing::Waiting, "", "  waiting"),
        (Standing::Waiting, "resets 17:00", "  resets 17:00"),
    ] {
        assert_eq!(said(standing, doing), want);
    }
}

#[test]
fn times_are_short() {
    for (ms, want) in [
        (0, "0s"),
        (59_999, "59s"),
        (60_000, "1m 00s"),
        (3_599_000, "59m 59s"),
        (3_660_000, "1h 01m"),
        (360_000_000, "100h 00m"),
    ] {
        assert_eq!(time(Lang::En, ms), want);
    }
}

/// A terminal as far as the block needs one: text, line feeds, the cursor up,
/// and everything below the cursor gone.
#[test]
fn what_lasts_stays_and_the_block_moves_below_it() {
    let mut live = Live::new(Screen::default());
    live.hidden = false;
    live.facts = facts();
    let mut lines: Vec<String> = Vec::new();
    let mut feed = |text: String| {
        let mut rest = text.as_str();
        if let Some(moved) = rest.strip_prefix("\u{1b}[") {
            let (up, behind) = moved.split_once('A').unwrap();
            lines.truncate(lines.len() - up.parse::<usize>().unwrap());
            rest = behind.strip_prefix("\r\u{1b}[J").unwrap();
        }
        lines.extend(rest.lines().map(str::to_owned));
        lines.clone()
    };
    let first = live.erased(80) + "one\n" + &live.redrawn(80);
    let shown = feed(first);
    assert_eq!(shown.first().unwrap(), "one");
    let height = shown.len() - 1;
    for text in ["two\n", "", "three\nfour\n"] {
        let next = live.erased(80) + text + &live.redrawn(80);
        feed(next);
    }
    live.hidden = true;
    let last = live.erased(80) + "five\n" + &live.redrawn(80);
    assert_eq!(feed(last), ["one", "two", "three", "four", "five"]);
    assert!(height >= 5);
}

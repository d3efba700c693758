//! What holds for every block, whatever the outside text in it is.

use super::*;
use crate::display::*;
use crate::machine::Limit;
use crate::machine::{BreakerRule, Missing, TaskRef};
use crate::text::sanitize;
use crate::text::width::width;
use crate::usage::Usd;
use proptest::prelude::*;

/// Every block with `text` in every place that takes outside text, and whether
/// it is the end of a run.
fn blocks(screen: &Screen, text: &str) -> Vec<(String, bool)> {
    let text = || text.to_owned();
    let task = || TaskRef {
        id: text(),
        text: text(),
        phase: None,
    };
    let phase = |state| PhaseView {
        key: text(),
        title: text(),
        done: 1,
        total: 2,
        state,
    };
    let phases = vec![phase(StepState::Done), phase(StepState::Active)];
    let missing = vec![
        Missing::OpenTasks {
            count: 3,
            first: vec![task()],
        },
        Missing::Failing { command: text() },
    ];
    let progress = ProgressView {
        kind: LoopKind::OpenSpec { change: text() },
        progress: Some(Progress::new(3, 7)),
        phases: phases.clone(),
        current: Some(text()),
        roles: vec![RoleView {
            name: text(),
            state: StepState::Done,
        }],
        iteration: 4,
        max_iterations: None,
    };
    let iteration = IterationView {
        iteration: 4,
        max_iterations: Some(20),
        phase: Some(text()),
        task: Some(text()),
    };
    let limit_menu_view = LimitMenuView {
        iteration: 20,
        max_iterations: 20,
        completed: text(),
        pending: text(),
        extend_by: 10,
    };
    let resume = ResumeView {
        task: text(),
        route: Some(text()),
        phase: Some((text(), 4)),
        iteration: 5,
        interrupted_at: text(),
    };
    let complete = CompleteView {
        phases: None,
        ending: ending(),
        phase: Some(text()),
        proven: vec![
            Proof::Tasks {
                file: text(),
                done: 1,
                total: 1,
            },
            Proof::Command {
                command: text(),
                exit_code: 0,
                duration: Duration::ZERO,
            },
            Proof::Commits {
                count: 2,
                last: Some(text()),
            },
        ],
        not_proven: vec![
            Gap::NoVerifyCommand,
            Gap::SkippedTasks { ids: vec![text()] },
        ],
    };
    let errors = [ErrorView {
        class: text(),
        description: text(),
    }];
    let breaker = BreakerView {
        ending: ending(),
        rule: BreakerRule::SameError,
        count: 5,
        evidence: vec![text()],
    };
    let cost = BudgetKind::Cost {
        limit: Usd::from_micros(5_000_000),
        spent: Usd::from_micros(5_120_000),
    };
    vec![
        (phase_tree(screen, &phases), false),
        (progress_box(screen, &progress), false),
        (iteration_header(screen, &iteration), false),
        (limit_menu(screen, &limit_menu_view), false),
        (resume_menu(screen, &resume), false),
        (simplify_menu(screen, &[task()], &[text(), text()]), false),
        (rejected(screen, &text(), &missing), false),
        (complete_box(screen, &complete), true),
        (
            limit_box(
                screen,
                &Ending {
                    progress: progress.progress,
                    ..Ending::default()
                },
                None,
                Limit::Iterations,
                100,
                100,
                false,
            ),
            true,
        ),
        (error_report(screen, &errors, &ending()), true),
        (breaker_report(screen, &breaker), true),
        (
            blocked_report(screen, &ending(), &text(), Some(&text())),
            true,
        ),
        (gate_failed(screen, &missing, &ending()), true),
        (pause_box(screen, &ending()), true),
        (interrupted(screen, &ending()), true),
        (cancelled(screen, &ending()), true),
        (unproven(screen, &ending()), true),
        (budget(screen, &ending(), &cost), true),
    ]
}

fn screens() -> impl Iterator<Item = Screen> {
    Lang::ALL.into_iter().flat_map(|lang| {
        [true, false].into_iter().flat_map(move |unicode| {
            [30, 50, 80, 200].into_iter().map(move |width| Screen {
                lang,
                style: Style {
                    unicode,
                    color: false,
                },
                width,
            })
        })
    })
}

fn is_framed(screen: &Screen, line: &str) -> bool {
    if screen.style.unicode {
        line.starts_with(['╔', '║', '╠', '╚'])
    } else {
        line.starts_with("+=") || (line.starts_with('|') && !line.starts_with("|--"))
    }
}

/// All lines of a frame are equally wide, and no line is wider than the screen.
fn check_alignment(screen: &Screen, text: &str) {
    for (block, _) in blocks(screen, text) {
        let frame: Vec<&str> = block
            .lines()
            .take_while(|line| is_framed(screen, line))
            .collect();
        let widths: Vec<usize> = frame.iter().map(|line| width(line)).collect();
        assert!(
            widths.windows(2).all(|pair| pair[0] == pair[1]),
            "{widths:?}\n{block}"
        );
        let border = if screen.style.unicode { '║' } else { '|' };
        for line in frame.iter().filter(|line| line.starts_with(border)) {
            assert!(line.ends_with(border), "{line}");
        }
        for line in block.lines().filter(|_| screen.width >= 80) {
            assert!(width(line) <= screen.width, "{line}\n{block}");
        }
    }
}

#[test]
fn frames_are_aligned() {
    for screen in screens() {
        for text in [
            "",
            "short",
            &"任務名稱很長，".repeat(20),
            &"⚠️ ▶️ 👨\u{200d}👩\u{200d}👧 🇹🇼 👍🏽 ".repeat(12),
            &"e\u{301}".repeat(100),
            &"한국어 ｶﾀｶﾅ ".repeat(20),
            &"x".repeat(500),
            "two\nlines\tand \u{1b}[2J an escape",
        ] {
            check_alignment(&screen, text);
        }
    }
}

#[test]
fn the_frames_have_the_width_of_the_seeds() {
    let title = pause_box(&tw(), &ending());
    let menu = limit_menu(&cn(), &LimitMenuView::default());
    assert_eq!(title.lines().next().map(width), Some(64 + 2));
    assert_eq!(menu.lines().next().map(width), Some(60 + 2));
}

#[test]
fn ascii_style_draws_with_ascii_only() {
    let is_translated = |c: char| matches!(c, '\u{3000}'..='\u{303f}' | '\u{4e00}'..='\u{9fff}' | '\u{ff00}'..='\u{ffef}');
    let long = "a long title ".repeat(20);
    for screen in screens().filter(|screen| !screen.style.unicode) {
        for (block, _) in blocks(&screen, &long) {
            for c in block.chars().filter(|c| !c.is_ascii()) {
                assert!(
                    screen.lang != Lang::En && is_translated(c),
                    "{c:?}\n{block}"
                );
            }
        }
    }
}

#[test]
fn every_end_says_what_to_do_next() {
    for screen in screens() {
        for (block, is_end) in blocks(&screen, "text") {
            let last = block.lines().last().unwrap_or_default();
            let says_next = last.starts_with(if screen.style.unicode { "👉" } else { "=>" });
            assert_eq!(says_next, is_end, "{block}");
            if is_end {
                assert!(
                    last.contains(": ralph ") && block.ends_with('\n'),
                    "{block}"
                );
            }
        }
    }
}

#[test]
fn a_given_command_is_shown_whole() {
    let command = format!(
        "ralph run {} --yes",
        "very-long-argument ".repeat(10).trim()
    );
    let ending = Ending {
        next: Some(command.clone()),
        ..ending()
    };
    assert!(pause_box(&tw(), &ending).ends_with(&format!("👉 下一步: {command}\n")));
}

#[test]
fn secrets_are_not_shown() {
    let secret = "ghp_0123456789abcdefghij0123456789abcdef";
    for (block, _) in blocks(&en(), secret) {
        assert!(!block.contains(&secret[..8]), "{block}");
    }
}

#[test]
fn colour_changes_nothing_else() {
    for screen in screens() {
        let color = Screen {
            style: Style {
                color: true,
                ..screen.style
            },
            ..screen
        };
        for (plain, painted) in blocks(&screen, "任務 text")
            .into_iter()
            .zip(blocks(&color, "任務 text"))
        {
            assert_eq!(sanitize(&painted.0), plain.0);
        }
    }
    assert!(
        pause_box(
            &Screen {
                style: Style {
                    unicode: true,
                    color: true
                },
                ..en()
            },
            &ending()
        )
        .contains("║\u{1b}[1;33m")
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn frames_are_aligned_for_any_text(text in "(\\PC|[\u{1b}\n⚠\u{fe0f}\u{200d}👩🇹é任務]){0,120}") {
        for screen in screens() {
            check_alignment(&screen, &text);
            for (block, _) in blocks(&screen, &text) {
                let has_escape = block.contains('\u{1b}');
                prop_assert!(!has_escape);
            }
        }
    }
}

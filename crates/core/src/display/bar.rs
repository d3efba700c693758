//! How much is done, as a number and as a bar (DISP-02).

use super::screen::{Screen, Tone};

/// Finished tasks of all tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    pub done: usize,
    pub total: usize,
}

impl Progress {
    pub fn new(done: usize, total: usize) -> Self {
        Progress { done, total }
    }

    /// Rounded half up; 0 of 0 is 0. 100 is said only when everything is done:
    /// 199 of 200 is 99.
    pub fn percent(self) -> usize {
        if self.total == 0 {
            return 0;
        }
        let done = self.done.min(self.total);
        if done == self.total {
            return 100;
        }
        share(done, self.total, 100).min(99)
    }

    pub fn is_complete(self) -> bool {
        self.total > 0 && self.done >= self.total
    }
}

const CELLS: usize = 26;

/// `[███████░░░░░░░░░░░░░░░░░░░] 25%`, without a line feed.
pub fn bar(screen: &Screen, percent: usize) -> String {
    let percent = percent.min(100);
    let filled = share(percent, 100, CELLS);
    let full = screen.choose("█", "#").repeat(filled);
    let empty = screen.choose("░", "-").repeat(CELLS - filled);
    format!("[{}{empty}] {percent}%", screen.paint(Tone::Good, &full))
}

/// `[███░░░░░░░▒▒▒▒]`: what is known to be good from the left, what is known to
/// be bad from the right, and what is not known yet between them.
pub fn narrowing_bar(screen: &Screen, good: usize, bad: usize, whole: usize) -> String {
    let whole = whole.max(1);
    let good = share(good.min(whole), whole, CELLS);
    let open = share(whole.saturating_sub(bad), whole, CELLS).max(good);
    let from_left = screen.choose("█", "#").repeat(good);
    let unknown = screen.choose("░", "-").repeat(open - good);
    let from_right = screen.choose("▒", "x").repeat(CELLS - open);
    let (from_left, from_right) = (
        screen.paint(Tone::Good, &from_left),
        screen.paint(Tone::Bad, &from_right),
    );
    format!("[{from_left}{unknown}{from_right}]")
}

/// `part / whole` of `scale`, rounded half up.
fn share(part: usize, whole: usize, scale: usize) -> usize {
    let (part, whole, scale) = (part as u128, whole as u128, scale as u128);
    let rounded = (2 * part * scale + whole) / (2 * whole).max(1);
    usize::try_from(rounded).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::display::Style;

    #[test]
    fn a_narrowing_bar_closes_from_both_ends() {
        let plain = Screen {
            style: Style {
                unicode: false,
                color: false,
            },
            ..Screen::default()
        };
        for (good, bad, want) in [
            (0, 0, "[--------------------------]"),
            (4, 1, "[#############----------xxx]"),
            (4, 4, "[#############xxxxxxxxxxxxx]"),
            (8, 8, "[##########################]"),
            (1, 7, "[###xxxxxxxxxxxxxxxxxxxxxxx]"),
        ] {
            assert_eq!(narrowing_bar(&plain, good, bad, 8), want);
        }
        assert_eq!(
            narrowing_bar(&plain, 0, 0, 0),
            narrowing_bar(&plain, 0, 0, 1)
        );
    }

    #[test]
    fn percents_round_half_up() {
        for (done, total, want) in [
            (0, 0, 0),
            (5, 0, 0),
            (0, 7, 0),
            (3, 7, 43),
            (1, 8, 13),
            (1, 200, 1),
            (1, 201, 0),
            (199, 200, 99),
            (200, 200, 100),
            (9, 7, 100),
            (usize::MAX - 1, usize::MAX, 99),
        ] {
            assert_eq!(Progress::new(done, total).percent(), want, "{done}/{total}");
        }
    }

    #[test]
    fn cells_round_half_up() {
        for (percent, want) in [
            (0, 0),
            (1, 0),
            (2, 1),
            (25, 7),
            (50, 13),
            (75, 20),
            (99, 26),
            (100, 26),
            (250, 26),
        ] {
            let cells = bar(&Screen::default(), percent).matches('█').count();
            assert_eq!(cells, want, "{percent}%");
        }
    }

    #[test]
    fn bars() {
        let screen = Screen::default();
        insta::assert_snapshot!(bar(&screen, 25), @"[███████░░░░░░░░░░░░░░░░░░░] 25%");
        let ascii = Screen {
            style: Style {
                unicode: false,
                color: false,
            },
            ..screen
        };
        insta::assert_snapshot!(bar(&ascii, 75), @"[####################------] 75%");
        let color = Screen {
            style: Style {
                unicode: true,
                color: true,
            },
            ..screen
        };
        assert_eq!(
            bar(&color, 2),
            format!("[\u{1b}[32m█\u{1b}[0m{}] 2%", "░".repeat(25))
        );
    }
}

//! Frames, aligned by display width (VALV-13).

use super::screen::{Screen, Tone};
use crate::text::width;

/// Columns inside the frame of a title and of a menu, as the seeds draw them.
const TITLE_COLUMNS: usize = 64;
const MENU_COLUMNS: usize = 60;

/// The blanks in front of a title that leaves room for them.
const TITLE_INDENT: usize = 20;

struct Frame {
    top: [&'static str; 2],
    middle: [&'static str; 2],
    bottom: [&'static str; 2],
    horizontal: &'static str,
    vertical: &'static str,
}

const DOUBLE: Frame = Frame {
    top: ["╔", "╗"],
    middle: ["╠", "╣"],
    bottom: ["╚", "╝"],
    horizontal: "═",
    vertical: "║",
};

const ASCII: Frame = Frame {
    top: ["+", "+"],
    middle: ["+", "+"],
    bottom: ["+", "+"],
    horizontal: "=",
    vertical: "|",
};

impl Frame {
    fn of(screen: &Screen) -> &'static Frame {
        if screen.style.unicode {
            &DOUBLE
        } else {
            &ASCII
        }
    }

    fn rule(&self, [left, right]: [&str; 2], cols: usize) -> String {
        format!("{left}{}{right}\n", self.horizontal.repeat(cols))
    }
}

/// A title in a frame of its own.
pub(super) fn title_box(screen: &Screen, tone: Tone, title: &str) -> String {
    let cols = inner(screen, TITLE_COLUMNS);
    let frame = Frame::of(screen);
    let title = screen.fit(title, cols);
    let blanks = cols - width::width(&title);
    let indent = if TITLE_INDENT <= blanks {
        TITLE_INDENT
    } else {
        blanks / 2
    };
    let padded = width::pad_right(&format!("{:indent$}{title}", ""), cols);
    format!(
        "{}{vertical}{}{vertical}\n{}",
        frame.rule(frame.top, cols),
        screen.bold(tone, &padded),
        frame.rule(frame.bottom, cols),
        vertical = frame.vertical,
    )
}

/// A frame with a title and sections of lines below it.
pub(super) fn menu_box(screen: &Screen, title: &str, sections: &[Vec<String>]) -> String {
    let cols = inner(screen, MENU_COLUMNS);
    let frame = Frame::of(screen);
    let row = |text: &str| {
        let text = screen.fit(text, cols - 2);
        width::pad_right(&format!(" {text}"), cols)
    };
    let vertical = frame.vertical;
    let title = screen.bold(Tone::Warning, &row(title));
    let mut out = frame.rule(frame.top, cols);
    out.push_str(&format!("{vertical}{title}{vertical}\n"));
    for section in sections {
        out.push_str(&frame.rule(frame.middle, cols));
        for line in section {
            out.push_str(&format!("{vertical}{}{vertical}\n", row(line)));
        }
    }
    out.push_str(&frame.rule(frame.bottom, cols));
    out
}

/// The columns inside a frame: those of the seeds, or what the screen has.
fn inner(screen: &Screen, wanted: usize) -> usize {
    wanted.min(screen.columns() - 2)
}

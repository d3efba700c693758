//! Where a block is shown: the language, what the terminal can draw, and how
//! wide it is. Symbols, colours and outside values all pass through here, so
//! that the plain ASCII form needs no second set of blocks.

use std::borrow::Cow;

use crate::lang::Lang;
use crate::text::{one_line, redact, sanitize, width};

/// What the terminal can draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// `false`: ASCII in place of boxes, bars, symbols and emoji, for a locale
    /// that is not UTF-8 (VALV-13).
    pub unicode: bool,
    pub color: bool,
}

impl Default for Style {
    fn default() -> Self {
        Style {
            unicode: true,
            color: false,
        }
    }
}

/// The place that a block is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Screen {
    pub lang: Lang,
    pub style: Style,
    /// Columns of the terminal.
    pub width: usize,
}

impl Default for Screen {
    fn default() -> Self {
        Screen {
            lang: Lang::default(),
            style: Style::default(),
            width: 80,
        }
    }
}

/// What a colour says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    Good,
    Warning,
    Bad,
}

impl Tone {
    fn sgr(self) -> &'static str {
        match self {
            Tone::Good => "32",
            Tone::Warning => "33",
            Tone::Bad => "31",
        }
    }
}

/// A sign in front of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Symbol {
    Abandon,
    Celebrate,
    Chart,
    Check,
    Clock,
    Discard,
    Disk,
    Done,
    Extend,
    Failed,
    Folder,
    Loop,
    Next,
    Note,
    Options,
    Package,
    Pause,
    Pending,
    Play,
    Question,
    Restart,
    Running,
    Shuffle,
    Stop,
    Trend,
    Warning,
}

impl Symbol {
    fn unicode(self) -> &'static str {
        match self {
            Symbol::Abandon | Symbol::Stop => "⛔",
            Symbol::Celebrate => "🎉",
            Symbol::Chart => "📊",
            Symbol::Check => "✓",
            Symbol::Clock => "⏰",
            Symbol::Disk => "💾",
            Symbol::Done => "✅",
            Symbol::Extend => "➕",
            Symbol::Discard | Symbol::Failed => "❌",
            Symbol::Folder => "📁",
            Symbol::Package => "📦",
            Symbol::Loop => "🔁",
            Symbol::Next => "👉",
            Symbol::Note => "📝",
            Symbol::Options => "📋",
            Symbol::Pause => "⏸️",
            Symbol::Pending => "⏳",
            Symbol::Play => "▶️",
            Symbol::Question => "❓",
            Symbol::Restart | Symbol::Running => "🔄",
            Symbol::Shuffle => "🔀",
            Symbol::Trend => "📈",
            Symbol::Warning => "⚠️",
        }
    }

    /// Signs that carry a meaning keep one in ASCII, in the form of a task box;
    /// mere decoration is left out.
    fn ascii(self) -> &'static str {
        match self {
            Symbol::Done => "[x]",
            Symbol::Running => "[>]",
            Symbol::Pending => "[ ]",
            Symbol::Failed | Symbol::Stop | Symbol::Warning => "[!]",
            Symbol::Question => "[?]",
            Symbol::Check => "+",
            Symbol::Next => "=>",
            Symbol::Abandon
            | Symbol::Celebrate
            | Symbol::Chart
            | Symbol::Clock
            | Symbol::Discard
            | Symbol::Disk
            | Symbol::Extend
            | Symbol::Folder
            | Symbol::Package
            | Symbol::Loop
            | Symbol::Note
            | Symbol::Options
            | Symbol::Pause
            | Symbol::Play
            | Symbol::Restart
            | Symbol::Shuffle
            | Symbol::Trend => "",
        }
    }
}

/// No block is made narrower than this, however narrow the terminal says it is.
const NARROWEST: usize = 30;

/// An outside text that takes more lines than this is cut; the log has it all.
const MOST_LINES: usize = 6;

impl Screen {
    /// A whole text as this place can show it: the signs that Ralph's own
    /// texts use have an ASCII form too.
    pub fn in_style<'a>(&self, text: &'a str) -> Cow<'a, str> {
        const SIGNS: [(char, &str); 6] = [
            ('·', "-"),
            ('–', "-"),
            ('→', "->"),
            ('…', "..."),
            ('│', "|"),
            ('∞', "unlimited"),
        ];
        if self.style.unicode || text.is_ascii() {
            return Cow::Borrowed(text);
        }
        let ascii = |c: char| SIGNS.iter().find(|(sign, _)| *sign == c);
        let mut out = String::with_capacity(text.len());
        for c in text.chars() {
            match ascii(c) {
                Some((_, form)) => out.push_str(form),
                None => out.push(c),
            }
        }
        Cow::Owned(out)
    }

    /// The columns that a line may take.
    pub(super) fn columns(&self) -> usize {
        self.width.max(NARROWEST)
    }

    /// A bare symbol.
    pub(super) fn symbol(&self, symbol: Symbol) -> &'static str {
        self.choose(symbol.unicode(), symbol.ascii())
    }

    /// A symbol with the blank behind it, or nothing where it has no form here.
    pub(super) fn mark(&self, symbol: Symbol) -> String {
        match self.symbol(symbol) {
            "" => String::new(),
            sign => format!("{sign} "),
        }
    }

    pub(super) fn choose(&self, unicode: &'static str, ascii: &'static str) -> &'static str {
        if self.style.unicode { unicode } else { ascii }
    }

    pub(super) fn arrow(&self) -> &'static str {
        self.choose("→", "->")
    }

    pub(super) fn paint(&self, tone: Tone, text: &str) -> String {
        self.sgr(tone.sgr(), text)
    }

    pub(super) fn bold(&self, tone: Tone, text: &str) -> String {
        self.sgr(&format!("1;{}", tone.sgr()), text)
    }

    fn sgr(&self, code: &str, text: &str) -> String {
        if self.style.color && !text.is_empty() {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }

    /// An outside value as one harmless line, of any length.
    pub(super) fn value(&self, text: &str) -> String {
        one_line(&redact(&sanitize(text)))
    }

    /// `text` cut to `cols` columns.
    pub(super) fn fit(&self, text: &str, cols: usize) -> String {
        width::truncate_with(text, cols, self.choose(width::ELLIPSIS, "..."))
    }

    /// One line, cut to the width of the screen.
    pub(super) fn line(&self, text: &str) -> String {
        let mut line = self.fit(text, self.columns());
        line.push('\n');
        line
    }

    /// A paragraph behind `lead` (a bullet, a number, a word), with the
    /// following lines set in below its first word.
    pub fn paragraph(&self, lead: &str, text: &str) -> String {
        let indent = width::width(&sanitize(lead));
        let cols = self.columns().saturating_sub(indent).max(NARROWEST / 2);
        let mut lines = width::wrap(text, cols);
        if lines.len() > MOST_LINES {
            let rest = lines.split_off(MOST_LINES - 1).join(" ");
            lines.push(self.fit(&rest, cols));
        }
        if lines.is_empty() {
            lines.push(String::new());
        }
        let mut out = String::new();
        for (number, line) in lines.iter().enumerate() {
            if number == 0 {
                out.push_str(lead);
            } else {
                out.push_str(&" ".repeat(indent));
            }
            out.push_str(line);
            out.push('\n');
        }
        out
    }
}

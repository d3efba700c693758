//! A screen of a terminal as a page, cell by cell, so that a picture can be
//! made of it.

use std::fmt::Write as _;

/// How a cell looks, as far as our own screens need it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Look {
    /// A colour of the palette.
    color: Option<u8>,
    bold: bool,
    reversed: bool,
}

/// Black to white, then the bright ones.
const PALETTE: [&str; 16] = [
    "#15181c", "#e06666", "#4cb27a", "#e0a63a", "#5aa2ef", "#c977c2", "#56b6c2", "#e8e6e1",
    "#7b8794", "#f28b82", "#6fd09b", "#f0bd5f", "#8ab4f8", "#dda0d8", "#7fd3dd", "#ffffff",
];
const INK: &str = "#e8e6e1";
const PAPER: &str = "#15181c";

/// A page that shows text with the colours that `tmux capture-pane -e` tells.
pub fn page(screen: &str) -> String {
    let mut lines = String::new();
    let mut look = Look::default();
    for line in screen.trim_end().lines() {
        lines.push_str("<div>");
        add_line(line, &mut look, &mut lines);
        lines.push_str("</div>\n");
    }
    format!(
        "<!doctype html><meta charset=utf-8><style>body{{margin:0;padding:14px 16px;background:{PAPER};color:{INK};\
         font:14px/17px 'DejaVu Sans Mono','Noto Sans Mono CJK TC','Noto Color Emoji',monospace;width:max-content}}\
         div{{white-space:pre;height:17px}}i{{display:inline-block;width:2ch;font-style:normal;overflow:hidden;height:17px;vertical-align:top}}\
         </style>{lines}"
    )
}

fn add_line(line: &str, look: &mut Look, out: &mut String) {
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        if let Some((codes, behind)) = rest
            .strip_prefix("\u{1b}[")
            .and_then(|behind| behind.split_once('m'))
        {
            look.take(codes);
            rest = behind;
            continue;
        }
        let end = rest.find('\u{1b}').filter(|&at| at > 0);
        let (text, behind) = rest.split_at(end.unwrap_or(rest.len()));
        rest = behind;
        // What is no colour moves nothing here.
        if c != '\u{1b}' {
            add_text(text, *look, out);
        }
    }
}

fn add_text(text: &str, look: Look, out: &mut String) {
    let _ = write!(out, "<span style=\"{}\">", look.style());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            // A font may have its own idea of how wide it is.
            c if is_wide(c) => {
                let _ = write!(out, "<i>{c}</i>");
            }
            c => out.push(c),
        }
    }
    out.push_str("</span>");
}

impl Look {
    fn take(&mut self, codes: &str) {
        let mut codes = codes.split(';').map(|code| code.parse().unwrap_or(0));
        while let Some(code) = codes.next() {
            match code {
                // `38;5;N`: a colour by its number.
                38 => self.color = codes.nth(1),
                0 => *self = Look::default(),
                1 => self.bold = true,
                7 => self.reversed = true,
                22 => self.bold = false,
                27 => self.reversed = false,
                code @ 30..=37 => self.color = Some(code - 30),
                39 => self.color = None,
                code @ 90..=97 => self.color = Some(code - 90 + 8),
                _ => {}
            }
        }
    }

    fn style(self) -> String {
        let color = self.color.and_then(|at| PALETTE.get(usize::from(at)));
        let color = color.copied().unwrap_or(INK);
        let (ink, paper) = match self.reversed {
            true => (PAPER, color),
            false => (color, "none"),
        };
        let weight = if self.bold { "bold" } else { "normal" };
        format!("color:{ink};background:{paper};font-weight:{weight}")
    }
}

/// Takes two columns, as far as our own screens go.
fn is_wide(c: char) -> bool {
    matches!(u32::from(c),
        0x1100..=0x115f | 0x23f3 | 0x26d4 | 0x2705 | 0x274c | 0x2753 | 0x2e80..=0xa4cf
        | 0xac00..=0xd7a3 | 0xf900..=0xfaff | 0xfe30..=0xfe6f | 0xff00..=0xff60 | 0x1f300..=0x1faff)
}

#[cfg(test)]
mod tests {
    use super::page;

    #[test]
    fn colours_and_wide_characters_become_cells() {
        let shown = page("a<b \u{1b}[1m\u{1b}[38;5;2mok 購\u{1b}[0m.\n\u{1b}[7mx\u{1b}[m");
        for part in [
            "a&lt;b ",
            "color:#4cb27a;background:none;font-weight:bold\">ok <i>購</i></span>",
            "color:#e8e6e1;background:none;font-weight:normal\">.</span>",
            "color:#15181c;background:#e8e6e1;font-weight:normal\">x</span>",
        ] {
            assert!(shown.contains(part), "{part}\n{shown}");
        }
    }
}

//! What Git says has changed.

use ralph_core::tr;
use ratatui::style::{Color, Style};
use ratatui::text::{Line, Span};

use super::{Lines, nothing};
use crate::monitor::model::Model;
use crate::monitor::style::{BOLD, colored, fit};

pub fn diff(model: &Model, columns: usize) -> Lines {
    let lang = model.screen.lang;
    let Some(diff) = &model.diff else {
        return vec![nothing(model, &tr!(lang, "asking Git …"))];
    };
    let mut lines: Lines = diff
        .text
        .lines()
        .map(|line| diff_line(model, line, columns))
        .collect();
    if !diff.untracked.is_empty() {
        lines.push(Line::styled(tr!(lang, "New files:"), BOLD));
        let names = diff.untracked.iter().map(|name| format!("+ {name}"));
        lines
            .extend(names.map(|name| {
                Line::styled(fit(model, &name, columns), colored(model, Color::Green))
            }));
    }
    if diff.cut {
        lines.push(nothing(model, &tr!(lang, "… it is longer")));
    }
    if lines.is_empty() {
        lines.push(nothing(
            model,
            &tr!(
                lang,
                "nothing differs from the last commit before this turn"
            ),
        ));
    }
    lines
}

fn diff_line(model: &Model, line: &str, columns: usize) -> Line<'static> {
    let style = match line.as_bytes().first() {
        _ if line.starts_with("+++") || line.starts_with("---") => BOLD,
        Some(b'+') => colored(model, Color::Green),
        Some(b'-') => colored(model, Color::Red),
        Some(b'@') => colored(model, Color::Cyan),
        _ if line.starts_with("diff ") => BOLD,
        _ => Style::new(),
    };
    let text = line.replace('\t', "    ");
    Line::from(Span::styled(fit(model, &text, columns), style))
}

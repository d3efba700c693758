//! What the agent printed, in words and tool calls.

use ralph_core::text::width;
use ralph_core::tr;
use ralph_engine::watch::{OutputLine, Said, Snapshot};
use ratatui::style::{Color, Style};
use ratatui::text::Line;

use super::{Lines, nothing};
use crate::monitor::model::Model;
use crate::monitor::style::{colored, fit};
use crate::view::said_text;

/// The end of what the agent printed; only as much of it is broken into lines
/// as is scrolled over.
pub fn output(model: &mut Model, columns: usize, height: usize) -> Lines {
    let up = model.scrolled();
    let mut rows = Lines::new();
    let printed = model
        .output
        .as_ref()
        .map(|(_, output)| output.lines().iter());
    for line in printed.into_iter().flatten().rev() {
        let (text, style) = said(model, line);
        let broken = width::wrap(&text, columns).into_iter().rev();
        rows.extend(broken.map(|row| Line::styled(row, style)));
        if rows.len() >= up.saturating_add(height) {
            break;
        }
    }
    if rows.is_empty() {
        let words = tr!(model.screen.lang, "nothing was printed yet");
        rows.push(nothing(model, &words));
    }
    let up = up.min(rows.len().saturating_sub(height));
    model.scroll.insert(model.tab, up);
    let mut shown: Lines = rows.into_iter().skip(up).take(height).collect();
    shown.reverse();
    shown
}

pub fn said_line(model: &Model, line: &OutputLine, columns: usize) -> Line<'static> {
    let (text, style) = said(model, line);
    Line::styled(fit(model, &text, columns), style)
}

fn said(model: &Model, line: &OutputLine) -> (String, Style) {
    let style = match line.said {
        Said::Words | Said::Plain => Style::new(),
        Said::Tool => colored(model, Color::Cyan),
        Said::ToolFailed | Said::Error => colored(model, Color::Red),
        Said::Denied => colored(model, Color::Yellow),
    };
    let sign = line.said.sign(model.screen.style.unicode);
    let text = format!("{sign}{}", said_text(line, model.screen.lang));
    (model.screen.in_style(&text).into_owned(), style)
}

/// The last thing that the agent said or did, while it works.
pub fn doing(model: &Model, snapshot: &Snapshot) -> Option<String> {
    let turn = snapshot
        .last_turn()
        .filter(|turn| turn.duration_ms.is_none() && snapshot.overview.goes_on())?;
    let (of, output) = model.output.as_ref()?;
    let line = output
        .lines()
        .back()
        .filter(|_| *of == (turn.turn, turn.attempt))?;
    Some(said(model, line).0)
}

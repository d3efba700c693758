//! How the monitor looks: colours, and what fits.

use ralph_core::text::width;
use ratatui::style::{Color, Modifier, Style};

use super::model::Model;

/// Without colours nothing is coloured; bold and reverse stay.
pub fn colored(model: &Model, color: Color) -> Style {
    if model.screen.style.color {
        Style::new().fg(color)
    } else {
        Style::new()
    }
}

pub fn dim(model: &Model) -> Style {
    colored(model, Color::DarkGray)
}

pub const BOLD: Style = Style::new().add_modifier(Modifier::BOLD);
/// A text of this place, no wider than so many columns.
pub fn fit(model: &Model, text: &str, columns: usize) -> String {
    let mark = if model.screen.style.unicode {
        "…"
    } else {
        "..."
    };
    let text = model.screen.in_style(text);
    width::truncate_with(&text, columns, mark)
}

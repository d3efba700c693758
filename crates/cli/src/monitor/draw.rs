//! The screen: runs, tabs, the tab that is open, what was said, the keys.

use ratatui::backend::TestBackend;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::symbols::border;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Clear, Paragraph};
use ratatui::{Frame, Terminal};

use ralph_core::machine::Question;
use ralph_core::text::{self, width};
use ralph_core::tr;
use ralph_engine::watch::{Brief, Snapshot};

use super::model::{Model, Overlay, Tab, Typing, Wanted};
use super::style::{BOLD, colored, dim, fit};
use super::{tabs, words};
use crate::steering;

/// From so many columns on the runs stand beside the tab.
const WIDE: u16 = 100;
const RUNS_COLUMNS: u16 = 34;

pub fn draw(frame: &mut Frame<'_>, model: &mut Model) {
    let area = frame.area();
    let [head, strip, body, said] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Fill(1),
        Constraint::Length(1),
    ])
    .areas(area);
    frame.render_widget(Paragraph::new(header(model, area.width)), head);
    frame.render_widget(Paragraph::new(tab_line(model, area.width)), strip);
    let body = if area.width >= WIDE {
        let columns = [Constraint::Length(RUNS_COLUMNS), Constraint::Fill(1)];
        let [list, body] = Layout::horizontal(columns).areas(body);
        let title = tr!(model.screen.lang, "Runs");
        let inner = framed(frame, model, list, &title);
        frame.render_widget(Paragraph::new(runs(model, inner)), inner);
        body
    } else {
        body
    };
    let title = title(model);
    let inner = framed(frame, model, body, &title);
    let lines = tabs::lines(model, inner.width.into(), inner.height.into());
    frame.render_widget(Paragraph::new(lines), inner);
    frame.render_widget(Paragraph::new(footer(model, area.width)), said);
    overlay(frame, model, body);
    show_hidden(frame);
}

/// Whatever a cell holds that a terminal would obey is a mark in one column
/// (S-11).
fn show_hidden(frame: &mut Frame<'_>) {
    for cell in &mut frame.buffer_mut().content {
        let symbol = cell.symbol();
        if text::visible(symbol, false) != symbol {
            let kept = text::sanitize(symbol).into_owned();
            cell.set_symbol(if width::width(&kept) == 0 { "?" } else { &kept });
        }
    }
}

/// The screen as lines of text; a wide character takes two columns of it.
pub fn as_text(model: &mut Model, columns: u16, lines: u16) -> String {
    let Ok(mut terminal) = Terminal::new(TestBackend::new(columns, lines));
    let Ok(_) = terminal.draw(|frame| draw(frame, model));
    let buffer = terminal.backend().buffer();
    let mut out = String::new();
    for y in 0..lines {
        let mut x = 0;
        while let Some(cell) = buffer.cell((x, y)) {
            out.push_str(cell.symbol());
            x += u16::try_from(width::width(cell.symbol()).max(1)).unwrap_or(1);
        }
        out.truncate(out.trim_end_matches(' ').len());
        out.push('\n');
    }
    out
}

/// The name of the tab, and what of the run it is about.
fn title(model: &Model) -> String {
    let title = model.tab.title(model.screen.lang);
    match (model.tab, &model.output) {
        (Tab::Output, Some(((turn, _), _))) => format!("{title} #{turn}"),
        (Tab::Events, _) if !model.filter.is_empty() => format!("{title} /{}", model.filter),
        _ => title,
    }
}

/// Draws a frame and gives what is inside.
fn framed(frame: &mut Frame<'_>, model: &Model, area: Rect, title: &str) -> Rect {
    let block = bordered(model).title(format!(" {title} "));
    let inner = block.inner(area);
    frame.render_widget(block, area);
    inner
}

fn bordered(model: &Model) -> Block<'static> {
    let block = Block::bordered().border_style(dim(model));
    if model.screen.style.unicode {
        block.border_type(BorderType::Rounded)
    } else {
        block.border_set(ASCII)
    }
}

const ASCII: border::Set<'static> = border::Set {
    top_left: "+",
    top_right: "+",
    bottom_left: "+",
    bottom_right: "+",
    vertical_left: "|",
    vertical_right: "|",
    horizontal_top: "-",
    horizontal_bottom: "-",
};

const CHOSEN: Style = Style::new().add_modifier(Modifier::REVERSED);

fn header(model: &Model, columns: u16) -> Line<'static> {
    let lang = model.screen.lang;
    let text = match model.snapshot() {
        Some(Snapshot { run, overview, .. }) => {
            let state = overview.word(lang);
            format!("ralph · {state} · {} · {}", run.goal, run.id)
        }
        None => tr!(lang, "ralph · no run yet; `ralph run` starts one"),
    };
    Line::styled(fit(model, &text, columns.into()), BOLD)
}

fn tab_line(model: &Model, columns: u16) -> Line<'static> {
    let lang = model.screen.lang;
    let names: Vec<String> = Tab::ALL
        .iter()
        .enumerate()
        .map(|(at, tab)| format!(" {} {} ", at + 1, tab.title(lang)))
        .collect();
    let whole: usize = names.iter().map(|name| width::width(name)).sum();
    let spans = Tab::ALL
        .iter()
        .zip(names)
        .enumerate()
        .map(|(at, (tab, name))| {
            let is_open = *tab == model.tab;
            // Where they do not fit, only the open one is named.
            let name = match whole <= usize::from(columns) || is_open {
                true => name,
                false => format!(" {} ", at + 1),
            };
            Span::styled(name, if is_open { CHOSEN } else { dim(model) })
        });
    Line::from(spans.collect::<Vec<_>>())
}

fn runs(model: &Model, area: Rect) -> Vec<Line<'static>> {
    let height = usize::from(area.height);
    let from = model.selected.saturating_sub(height.saturating_sub(1));
    let several = model
        .runs
        .iter()
        .any(|run| Some(&run.root) != model.runs.first().map(|r| &r.root));
    let line = |(at, run): (usize, &Brief)| {
        let state = run.word(model.screen.lang);
        let name = match run.root.file_name() {
            Some(name) if several => name.to_string_lossy().into_owned(),
            _ => run.id.as_str().get(..15).unwrap_or_default().to_owned(),
        };
        let name = text::one_line(&text::sanitize(&name));
        let text = format!("{name} {}/{} {state}", run.completed, run.total);
        let style = if at == model.selected {
            CHOSEN
        } else {
            Style::new()
        };
        Line::styled(fit(model, &text, area.width.into()), style)
    };
    model
        .runs
        .iter()
        .enumerate()
        .skip(from)
        .take(height)
        .map(line)
        .collect()
}

fn footer(model: &Model, columns: u16) -> Line<'static> {
    let said = match &model.trouble {
        Some(trouble) => trouble.clone(),
        None => model.said.clone(),
    };
    if said.is_empty() {
        let keys = words::keys(model.screen.lang);
        return Line::styled(fit(model, &keys, columns.into()), dim(model));
    }
    let said = text::one_line(&said);
    Line::styled(
        fit(model, &said, columns.into()),
        colored(model, Color::Yellow),
    )
}

fn overlay(frame: &mut Frame<'_>, model: &Model, body: Rect) {
    let lang = model.screen.lang;
    let (title, lines) = match &model.overlay {
        Overlay::None => return,
        Overlay::Help => {
            let keys = words::help(lang).into_iter().map(|(key, what)| {
                let key = Span::styled(width::pad_right(key, 9), BOLD);
                Line::from(vec![key, Span::raw(what)])
            });
            let title = tr!(lang, "Keys");
            (title, keys.collect::<Vec<_>>())
        }
        Overlay::Typing { what, text } => typing(model, what, text, body.width),
        Overlay::Sure(Wanted::Undo(turn)) => {
            let question = tr!(
                lang,
                "Make the work what it was before turn {turn}? Commits stay; `ralph redo` takes it back. (y/n)"
            );
            (tr!(lang, "Undo"), vec![Line::raw(question)])
        }
        Overlay::Sure(_) => {
            let question = tr!(lang, "Stop the run now? Everything is saved. (y/n)");
            (tr!(lang, "Stop"), vec![Line::raw(question)])
        }
    };
    // What is typed has room to grow.
    let least = if matches!(model.overlay, Overlay::Typing { .. }) {
        36
    } else {
        0
    };
    let widest = lines.iter().map(Line::width).max().unwrap_or(0).max(least);
    // All keys are worth more than what stands around the tab.
    let room = match model.overlay {
        Overlay::Help => frame.area(),
        _ => body,
    };
    let area = centered(room, widest + 4, lines.len() + 2);
    clear_halves(frame, area);
    frame.render_widget(Clear, area);
    let inner = framed(frame, model, area, &title);
    frame.render_widget(Paragraph::new(lines), inner);
}

/// A wide character that would reach under the frame would cover it.
fn clear_halves(frame: &mut Frame<'_>, area: Rect) {
    let Some(left) = area.x.checked_sub(1) else {
        return;
    };
    for y in area.top()..area.bottom() {
        if let Some(cell) = frame.buffer_mut().cell_mut((left, y))
            && width::width(cell.symbol()) > 1
        {
            cell.set_symbol(" ");
        }
    }
}

fn typing(model: &Model, what: &Typing, text: &str, columns: u16) -> (String, Vec<Line<'static>>) {
    let lang = model.screen.lang;
    let room = usize::from(columns).saturating_sub(8).max(10);
    // The end is what is being typed.
    let skipped = text.chars().count().saturating_sub(room - 2);
    let typed: String = text.chars().skip(skipped).collect();
    let line = Line::from(vec![
        Span::raw(format!("> {typed}")),
        Span::styled(" ", CHOSEN),
    ]);
    match what {
        Typing::Filter => {
            let title = tr!(lang, "Filter events");
            (title, vec![line])
        }
        Typing::Hint => (tr!(lang, "A word for the next turn"), vec![line]),
        Typing::Steer => {
            let known = steering::known(lang);
            let mut lines: Vec<Line<'static>> = width::wrap(&known, room)
                .into_iter()
                .map(Line::raw)
                .collect();
            lines.push(line);
            (tr!(lang, "Steer"), lines)
        }
        Typing::Extend => {
            let title = tr!(lang, "Turns to add");
            (title, vec![line])
        }
        Typing::Answer(id) => {
            let is_it = |question: &&Question| question.id == *id;
            let open = model
                .snapshot()
                .and_then(|s| s.overview.questions.iter().find(is_it));
            let mut lines = Vec::new();
            if let Some(question) = open {
                for text in width::wrap(&question.words(lang), room) {
                    lines.push(Line::styled(text, BOLD));
                }
                for (at, option) in question.options.iter().enumerate() {
                    let text = format!("{}. {option}", at + 1);
                    lines.push(Line::raw(fit(model, &text, room)));
                }
            }
            lines.push(line);
            (tr!(lang, "Answer"), lines)
        }
    }
}

fn centered(body: Rect, columns: usize, lines: usize) -> Rect {
    let columns = u16::try_from(columns).unwrap_or(u16::MAX).min(body.width);
    let lines = u16::try_from(lines).unwrap_or(u16::MAX).min(body.height);
    Rect {
        x: body.x + (body.width - columns) / 2,
        y: body.y + (body.height - lines) / 2,
        width: columns,
        height: lines,
    }
}

//! `ralph monitor`: looks at runs and tells them what a person wants. It only
//! reads and asks: it can be closed or killed at any time, and no run notices.

mod act;
mod chart;
mod draw;
mod keys;
mod model;
mod style;
mod tabs;
#[cfg(test)]
mod tests;
mod words;

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crossterm::event::{self, Event, KeyEventKind};
use ralph_engine::{clock, signals};
use ralph_store::layout::Layout;

use self::model::Model;
use crate::app::App;

/// How often the files of the run are looked at.
const LOOK: Duration = Duration::from_millis(250);

/// What is looked at.
#[derive(Clone, Debug)]
pub struct Looking {
    /// The projects whose runs are listed, the first first.
    pub projects: Vec<Layout>,
}

/// Shows runs until the person has seen enough.
pub fn run(app: &App, looking: Looking) -> io::Result<()> {
    let mut model = Model::new(app.screen, looking.projects);
    model.look();
    let told_to_go = signals::told_to_go(|| {
        ratatui::restore();
        std::process::exit(0);
    })?;
    let mut terminal = ratatui::try_init()?;
    let shown = show(&mut terminal, &mut model, &told_to_go);
    ratatui::restore();
    shown
}

/// One screen of it as text, for whoever has no terminal.
pub fn once(app: &App, looking: Looking, lines: u16) -> io::Result<String> {
    let mut model = Model::new(app.screen, looking.projects);
    model.now_ms = clock::now().wall_ms;
    model.look();
    let columns = u16::try_from(app.screen.width).unwrap_or(u16::MAX);
    let shown = draw::as_text(&mut model, columns, lines);
    match model.trouble {
        Some(trouble) => Err(io::Error::other(trouble)),
        None => Ok(shown),
    }
}

fn show(
    terminal: &mut ratatui::DefaultTerminal,
    model: &mut Model,
    told_to_go: &AtomicBool,
) -> io::Result<()> {
    let mut looked = Instant::now();
    while !told_to_go.load(Ordering::Relaxed) {
        model.now_ms = clock::now().wall_ms;
        terminal.draw(|frame| draw::draw(frame, model))?;
        let until_look = LOOK.saturating_sub(looked.elapsed());
        if event::poll(until_look)? {
            match event::read()? {
                Event::Key(key) if key.kind != KeyEventKind::Release => {
                    model.press(key);
                }
                _ => {}
            }
            if let Some(file) = model.wants_pager.take() {
                ratatui::restore();
                act::page(&file);
                *terminal = ratatui::try_init()?;
            }
            if model.wants_out {
                return Ok(());
            }
        }
        if looked.elapsed() >= LOOK {
            looked = Instant::now();
            model.look();
        }
    }
    Ok(())
}

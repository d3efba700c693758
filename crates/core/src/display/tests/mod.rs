//! Whole-output snapshots of every block in three languages, and the laws that
//! hold for all of them.

mod complete;
mod endings;
mod laws;
mod menus;
mod problems;
mod progress;

use super::{Ending, Progress, Screen, Style};
use crate::lang::Lang;
use std::time::Duration;

fn screen(lang: Lang) -> Screen {
    Screen {
        lang,
        ..Screen::default()
    }
}

fn en() -> Screen {
    screen(Lang::En)
}

fn tw() -> Screen {
    screen(Lang::ZhTw)
}

fn cn() -> Screen {
    screen(Lang::ZhCn)
}

fn ascii(lang: Lang) -> Screen {
    Screen {
        style: Style {
            unicode: false,
            color: false,
        },
        ..screen(lang)
    }
}

fn ending() -> Ending {
    Ending {
        progress: Some(Progress::new(3, 7)),
        iterations: 12,
        duration: Duration::from_secs(7999),
        used: None,
        next: None,
        place: Default::default(),
    }
}

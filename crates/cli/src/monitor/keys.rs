//! What each key does.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ralph_core::tr;
use ralph_store::log::LogStyle;

use super::model::{Model, Overlay, Tab, Typing, Wanted};
use crate::steering;

/// A page, where the height is not known.
const PAGE: isize = 15;

impl Model {
    pub fn press(&mut self, key: KeyEvent) {
        let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        if ctrl && matches!(key.code, KeyCode::Char('c')) {
            self.wants_out = true;
            return;
        }
        match std::mem::replace(&mut self.overlay, Overlay::None) {
            Overlay::None => self.press_plain(key.code),
            // Any key closes it.
            Overlay::Help => {}
            Overlay::Typing { what, text } => self.type_key(what, text, key.code),
            Overlay::Sure(wanted) => {
                if matches!(key.code, KeyCode::Char('y' | 'Y') | KeyCode::Enter) {
                    self.want(wanted);
                }
            }
        }
    }

    fn press_plain(&mut self, code: KeyCode) {
        self.said.clear();
        match code {
            KeyCode::Esc if !self.filter.is_empty() => self.filter.clear(),
            KeyCode::Char('q') | KeyCode::Esc => self.wants_out = true,
            KeyCode::Tab | KeyCode::Right => self.go_to(self.tab.moved(1)),
            KeyCode::BackTab | KeyCode::Left => self.go_to(self.tab.moved(-1)),
            KeyCode::Char(digit @ '1'..='8') => {
                let at = digit as usize - '1' as usize;
                if let Some(tab) = Tab::ALL.get(at) {
                    self.go_to(*tab);
                }
            }
            KeyCode::Down | KeyCode::Char('j') => self.scroll_by(1),
            KeyCode::Up | KeyCode::Char('k') => self.scroll_by(-1),
            KeyCode::PageDown | KeyCode::Char(' ') => self.scroll_by(PAGE),
            KeyCode::PageUp => self.scroll_by(-PAGE),
            KeyCode::Home | KeyCode::Char('g') => self.scroll_to(false),
            KeyCode::End | KeyCode::Char('G') => self.scroll_to(true),
            KeyCode::Char('[') => self.select(-1),
            KeyCode::Char(']') => self.select(1),
            KeyCode::Char(',') => self.other_turn(-1),
            KeyCode::Char('.') => self.other_turn(1),
            KeyCode::Char('p') => self.want(Wanted::Pause),
            KeyCode::Char('c') => self.want(Wanted::Continue),
            KeyCode::Char('s') => self.overlay = Overlay::Sure(Wanted::Stop),
            KeyCode::Char('e') => self.start_typing(Typing::Extend, "10"),
            KeyCode::Char('a') => self.start_answer(),
            KeyCode::Char('t') => self.start_typing(Typing::Hint, ""),
            KeyCode::Char(':') => self.start_typing(Typing::Steer, ""),
            KeyCode::Char('l') => self.open_log(),
            KeyCode::Char('r') if self.tab == Tab::Diff => self.load_diff(),
            KeyCode::Char('u') if self.tab == Tab::Diff => {
                if let Some(turn) = self.turn_to_undo() {
                    self.overlay = Overlay::Sure(Wanted::Undo(turn));
                }
            }
            KeyCode::Char('b') if self.tab == Tab::Diff => self.want(Wanted::Bisect),
            KeyCode::Char('/' | 'f') => {
                self.go_to(Tab::Events);
                let filter = self.filter.clone();
                self.start_typing(Typing::Filter, &filter);
            }
            KeyCode::Char('?' | 'h') => self.overlay = Overlay::Help,
            _ => {}
        }
    }

    fn start_typing(&mut self, what: Typing, text: &str) {
        let text = text.to_owned();
        self.overlay = Overlay::Typing { what, text };
    }

    fn start_answer(&mut self) {
        let open = self
            .overview()
            .and_then(|overview| overview.open_questions().next());
        match open.map(|question| question.id) {
            Some(id) => self.start_typing(Typing::Answer(id), ""),
            None => {
                self.said = tr!(self.screen.lang, "no question is open");
            }
        }
    }

    fn open_log(&mut self) {
        let Some(watch) = &self.watch else {
            return;
        };
        let layout = watch.layout();
        let logs = [LogStyle::Loop, LogStyle::Sdd].map(|style| layout.log(style));
        let newest = logs.into_iter().find(|log| log.exists());
        self.wants_pager = newest.or_else(|| Some(watch.paths().events()));
    }

    fn type_key(&mut self, what: Typing, mut text: String, code: KeyCode) {
        match code {
            KeyCode::Esc => {
                if what == Typing::Filter {
                    self.filter.clear();
                }
                return;
            }
            KeyCode::Enter => return self.typed(what, &text),
            KeyCode::Backspace => {
                text.pop();
            }
            KeyCode::Char(c) if text.chars().count() < 2_000 => text.push(c),
            _ => {}
        }
        if what == Typing::Filter {
            self.filter.clone_from(&text);
        }
        self.overlay = Overlay::Typing { what, text };
    }

    fn typed(&mut self, what: Typing, text: &str) {
        match what {
            Typing::Filter => self.filter = text.into(),
            Typing::Extend => {
                if let Ok(turns) = text.trim().parse() {
                    self.want(Wanted::Extend(turns));
                }
            }
            Typing::Hint if text.trim().is_empty() => {}
            Typing::Hint => {
                let typed = ["hint", "--", text.trim()].map(str::to_owned);
                self.want(Wanted::Steer(typed.to_vec()));
            }
            Typing::Steer => match steering::typed(text) {
                Some(typed) => self.want(Wanted::Steer(typed)),
                None => self.said = steering::known(self.screen.lang),
            },
            Typing::Answer(question) => {
                let asked = self.overview().and_then(|overview| {
                    overview.open_questions().find(|open| open.id == question)
                });
                if let Some(text) = asked.map(|open| open.meant(text)) {
                    self.want(Wanted::Answer { question, text });
                }
            }
        }
    }
}

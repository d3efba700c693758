//! Tells a run what a person wants of it, beside the screen: whoever does not
//! answer holds nobody up.

use std::path::Path;
use std::process::Command;

use ralph_core::lang::{Lang, Say};
use ralph_core::machine::Request;
use ralph_core::overview::Standing;
use ralph_core::tr;
use ralph_engine::control::{self, ControlError, Wish};
use ralph_engine::mailbox::reply_text;
use ralph_store::layout::{Layout, RunPaths};

use super::model::{Model, News, Wanted};
use crate::apart::{start_apart, typed_apart};

impl Model {
    /// Does it on a thread of its own; what came of it is said below.
    pub fn want(&mut self, wanted: Wanted) {
        let Some(watch) = &self.watch else {
            return;
        };
        let overview = &watch.snapshot().overview;
        let asked = Asked {
            layout: watch.layout().clone(),
            run: watch.paths().clone(),
            is_driven: overview.pid.is_some(),
            waits: overview.standing == Standing::Waiting,
            lang: self.screen.lang,
        };
        self.said = tr!(self.screen.lang, "telling it …");
        let news = self.news.clone();
        std::thread::spawn(move || {
            let said = asked.perform(&wanted);
            let _ = news.send(News::Said(said));
        });
    }
}

struct Asked {
    layout: Layout,
    run: RunPaths,
    is_driven: bool,
    waits: bool,
    lang: Lang,
}

impl Asked {
    fn perform(&self, wanted: &Wanted) -> String {
        let lang = self.lang;
        match wanted {
            Wanted::Pause => self.tell(Wish::Request(Request::Pause), || {
                tr!(lang, "it pauses after this turn")
            }),
            Wanted::Stop => self.tell(Wish::Request(Request::Interrupt), || {
                tr!(lang, "it is being stopped; everything is saved")
            }),
            Wanted::Continue if self.is_driven && self.waits => {
                self.tell(Wish::Wake, || tr!(lang, "it waits no longer"))
            }
            Wanted::Continue if self.is_driven => {
                tr!(lang, "it works already")
            }
            Wanted::Continue => {
                let run = &self.run.id;
                let typed = ["resume", "--yes", "--quiet", run.as_str()].map(str::to_owned);
                match start_apart(&self.layout, &typed, lang, |alive| alive == run) {
                    Ok(None) => tr!(lang, "it goes on"),
                    Ok(Some(said)) => said.last_line().to_owned(),
                    Err(error) => error.to_string(),
                }
            }
            Wanted::Extend(iterations) => self.write(Wish::Extend {
                iterations: *iterations,
                duration_ms: 0,
            }),
            Wanted::Undo(turn) => self.undo(*turn),
            Wanted::Bisect => {
                let run = self.run.id.as_str();
                self.typed(&["bisect", "--run", run].map(str::to_owned))
            }
            Wanted::Steer(typed) => self.typed(typed),
            Wanted::Answer { question, text } => match reply_text(text) {
                Some(text) => self.answer(*question, &text),
                None => tr!(lang, "nothing was said"),
            },
        }
    }

    /// By the verb, which asks nobody here: somebody was asked.
    fn undo(&self, turn: u32) -> String {
        let (turn, run) = (turn.to_string(), self.run.id.to_string());
        let typed = ["undo", &turn, "--yes", "--run", &run].map(str::to_owned);
        self.typed(&typed)
    }

    fn typed(&self, typed: &[String]) -> String {
        match typed_apart(self.layout.root(), typed, self.lang) {
            Ok(said) => said.last_line().to_owned(),
            Err(error) => error.to_string(),
        }
    }

    fn tell(&self, wish: Wish, done: impl FnOnce() -> String) -> String {
        match control::tell(&self.layout, wish, false) {
            Ok(_) => done(),
            Err(error) => error.say(self.lang),
        }
    }

    fn write(&self, written: Wish) -> String {
        match control::tell(&self.layout, written, false) {
            Ok(_) => tr!(self.lang, "it has heard"),
            Err(error) => error.say(self.lang),
        }
    }

    fn answer(&self, question: u32, text: &str) -> String {
        let written = Wish::Answer {
            question,
            text: text.into(),
        };
        match control::tell(&self.layout, written, false) {
            Ok(_) => tr!(self.lang, "it has heard"),
            Err(ControlError::NothingRuns) => {
                match control::answer_later(&self.layout, &self.run, question, text) {
                    Ok(()) => tr!(self.lang, "answered; c goes on with it"),
                    Err(error) => error.say(self.lang),
                }
            }
            Err(error) => error.say(self.lang),
        }
    }
}

/// Shows a file in the person's pager, until that is closed.
pub fn page(file: &Path) {
    let pager = std::env::var_os("PAGER").filter(|pager| !pager.is_empty());
    let pager = pager.unwrap_or_else(|| "less".into());
    // What is new stands at the end.
    let mut options = std::env::var_os("LESS").unwrap_or_default();
    options.push(" +G");
    let status = Command::new("sh")
        .args(["-c", "exec $0 \"$1\""])
        .arg(pager)
        .arg(file)
        .env("LESS", options)
        .status();
    // Without a pager there is nothing to show it with.
    let _ = status;
}

//! What is left of a run whose journal is damaged or gone: nothing is started
//! over by itself, the person chooses (RESM-07, CKPT-07).

use std::path::PathBuf;

use ralph_core::display;
use ralph_core::lang::Say;
use ralph_core::tr;
use ralph_engine::plan::Asked;

use super::checkpoints::Entry;
use crate::FAILED;
use crate::app::{self, App};
use crate::args::ResumeArgs;

/// A run that can't be taken up from its journal.
#[derive(Debug)]
pub struct Left {
    /// The name to give to `ralph resume`.
    pub name: String,
    /// What is wrong with the journal.
    pub why: String,
    pub journal: Option<PathBuf>,
    pub checkpoint: Option<Entry>,
    pub history: Vec<Entry>,
}

/// What the person chose.
pub enum Way {
    StartOver(Box<Asked>),
    /// To go on from this checkpoint of the history.
    Restore(PathBuf),
}

impl Left {
    /// What to go on with; otherwise the exit code, once everything has been
    /// said.
    pub fn choose(&self, app: &App, args: &ResumeArgs) -> Result<Way, u8> {
        if args.show {
            app.tell(&self.inspect(app));
            return Err(0);
        }
        if args.restart {
            return self.start_over(app);
        }
        app.warn(&self.why);
        if args.yes || args.abandon || args.json || !app::is_interactive() {
            return app.refuse(&self.ways_out(app));
        }
        let menu = display::damaged_menu(&app.screen, &self.facts(app));
        loop {
            match app::ask(&menu).as_deref() {
                // The newest is the last.
                Some("1") => match self.usable().last() {
                    Some(entry) => return Ok(Way::Restore(entry.dir.checkpoint())),
                    None => app.tell(&self.archived(app)),
                },
                Some("2") => return self.start_over(app),
                Some("3") => {
                    app.tell(&self.inspect(app));
                    return Err(FAILED);
                }
                Some(_) => {}
                None => return Err(FAILED),
            }
        }
    }

    /// With what was asked for, as the checkpoint has it.
    fn asked(&self) -> Option<Asked> {
        let checkpoint = self.checkpoint.as_ref()?.checkpoint()?;
        let asked = checkpoint.context.get("asked")?;
        serde_json::from_value(asked.clone()).ok()
    }

    fn start_over(&self, app: &App) -> Result<Way, u8> {
        match self.asked() {
            Some(asked) => Ok(Way::StartOver(Box::new(asked))),
            None => app.refuse(&tr!(app.lang(), "nothing tells what this run was asked to do; start a new one with `ralph run`: ticked boxes count")),
        }
    }

    fn facts(&self, app: &App) -> Vec<String> {
        let lang = app.lang();
        let mut facts = vec![self.why.clone()];
        facts.extend(self.checkpoint.iter().map(|entry| entry.line(lang)));
        facts
    }

    fn ways_out(&self, app: &App) -> String {
        let name = &self.name;
        let archived = self.archived(app);
        let checkpoint = match &self.checkpoint {
            Some(entry) => entry.line(app.lang()),
            None => tr!(app.lang(), "none"),
        };
        let from = self.checkpoint.iter().filter(|entry| entry.found.is_ok());
        let from = from.filter(|entry| entry.is_current()).map(|entry| {
            let way = tr!(app.lang(), "go on from it (its ticks are claims)");
            format!("\n  {way}   {}", from_it(app, entry))
        });
        let from: String = from.collect();
        let again = match self.asked() {
            Some(_) => format!("ralph resume {name} --restart"),
            None => "ralph run".to_owned(),
        };
        let ways = tr!(
            app.lang(),
            "checkpoint: {checkpoint}\nnothing was started. What can be done:\n  restore from history   {archived}\n  start over             {again}   (ticked boxes count)\n  inspect                ralph resume {name} --show"
        );
        format!("{ways}{from}")
    }

    fn archived(&self, app: &App) -> String {
        let commands: Vec<String> = self.usable().map(|entry| from_it(app, entry)).collect();
        if commands.is_empty() {
            return tr!(app.lang(), "(the history holds no usable checkpoint)");
        }
        commands.join(" | ")
    }

    /// Of the history, the newest last; the one that was named is meant.
    fn usable(&self) -> impl Iterator<Item = &Entry> {
        let named = self.checkpoint.iter().filter(|entry| !entry.is_current());
        let all = self.history.iter().chain(named);
        all.filter(|entry| entry.checkpoint().is_some() && !entry.is_current())
    }

    fn inspect(&self, app: &App) -> String {
        let lang = app.lang();
        let mut out = format!("{}\n", self.why);
        if let Some(journal) = &self.journal {
            out.push_str(&format!("{}\n", journal.display()));
        }
        let Some(entry) = &self.checkpoint else {
            return out;
        };
        out.push_str(&format!("{}\n", entry.dir.file().display()));
        out.push_str(&format!("{}\n", entry.line(lang)));
        match (&entry.found, entry.checkpoint()) {
            (_, Some(checkpoint)) => {
                let done = checkpoint.subtasks.completed.len();
                let (total, next) = (checkpoint.subtasks.total, &checkpoint.recovery.resume_point);
                out.push_str(&format!("{done}/{total}  {next}\n"));
            }
            (Err(error), None) => out.push_str(&format!("{}\n", error.say(lang))),
            (Ok(_), None) => {}
        }
        out
    }
}

/// A journal that is gone does not come back: the checkpoint itself is what to
/// go on from.
fn from_it(app: &App, entry: &Entry) -> String {
    let file = entry.dir.checkpoint();
    let file = file.strip_prefix(&app.root).unwrap_or(&file).display();
    format!("ralph resume --from {file}")
}

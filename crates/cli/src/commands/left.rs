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

impl Left {
    /// What to start over with; otherwise the exit code, once everything has
    /// been said.
    pub fn choose(&self, app: &App, args: &ResumeArgs) -> Result<Asked, u8> {
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
                Some("1") => {
                    app.tell(&self.archived(app));
                    return Err(FAILED);
                }
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

    fn start_over(&self, app: &App) -> Result<Asked, u8> {
        self.asked().map_or_else(|| {
            app.refuse(&tr!(app.lang(), "nothing tells what this run was asked to do; start a new one with `ralph run`: ticked boxes count"))
        }, Ok)
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
        let from = from.map(|entry| {
            let file = entry.dir.checkpoint();
            let file = file.strip_prefix(&app.root).unwrap_or(&file).display();
            let way = tr!(app.lang(), "go on from it (its ticks are claims)");
            format!("\n  {way}   ralph resume --from {file}")
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
        let usable = self.history.iter().filter(|e| e.checkpoint().is_some());
        let commands: Vec<String> = usable
            .map(|entry| format!("ralph resume {}", entry.name()))
            .collect();
        if commands.is_empty() {
            return tr!(app.lang(), "(the history holds no usable checkpoint)");
        }
        commands.join(" | ")
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

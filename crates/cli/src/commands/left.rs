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
            app.print(&self.inspect(app));
            return Err(0);
        }
        if args.restart {
            return self.start_over(app);
        }
        app.warn(&self.why);
        if args.yes || args.abandon || args.json || !app::is_interactive() {
            app.warn(&self.ways_out(app));
            return Err(FAILED);
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
                    app.print(&self.inspect(app));
                    return Err(FAILED);
                }
                Some(_) => {}
                None => return Err(FAILED),
            }
        }
    }

    /// With what was asked for, as the checkpoint has it.
    fn start_over(&self, app: &App) -> Result<Asked, u8> {
        let checkpoint = self.checkpoint.as_ref().and_then(Entry::checkpoint);
        let asked = checkpoint
            .and_then(|checkpoint| checkpoint.context.get("asked"))
            .and_then(|asked| serde_json::from_value(asked.clone()).ok());
        asked.ok_or_else(|| {
            app.warn(&tr!(
                app.lang(),
                "nothing tells what this run was asked to do; start a new one with `ralph run`: ticked boxes count",
                "沒有紀錄說明這次執行的要求；請用 `ralph run` 開始新的：已勾選的任務仍算完成",
                "没有记录说明这次运行的要求；请用 `ralph run` 开始新的：已勾选的任务仍算完成",
            ));
            FAILED
        })
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
            None => tr!(app.lang(), "none", "無", "无"),
        };
        tr!(
            app.lang(),
            "checkpoint: {checkpoint}\nnothing was started. What can be done:\n  restore from history   {archived}\n  start over             ralph resume {name} --restart   (ticked boxes count)\n  inspect                ralph resume {name} --show",
            "檢查點：{checkpoint}\n尚未啟動任何執行。可以：\n  從歷史恢復   {archived}\n  從頭開始     ralph resume {name} --restart   （已勾選的任務仍算完成）\n  手動檢查     ralph resume {name} --show",
            "检查点：{checkpoint}\n尚未启动任何运行。可以：\n  从历史恢复   {archived}\n  从头开始     ralph resume {name} --restart   （已勾选的任务仍算完成）\n  手动检查     ralph resume {name} --show",
        )
    }

    fn archived(&self, app: &App) -> String {
        let usable = self.history.iter().filter(|e| e.checkpoint().is_some());
        let commands: Vec<String> = usable
            .map(|entry| format!("ralph resume {}", entry.name()))
            .collect();
        if commands.is_empty() {
            return tr!(
                app.lang(),
                "(the history holds no usable checkpoint)",
                "（歷史中沒有可用的檢查點）",
                "（历史中没有可用的检查点）",
            );
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

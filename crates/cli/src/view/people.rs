//! A run as a person watches it: plain lines that stay.

use std::io::Write;
use std::sync::Arc;

use ralph_core::display::{self, IterationView, Screen};
use ralph_core::lang::Say;
use ralph_core::machine::{Limit, Notice, Now, State, TaskRef};
use ralph_core::promise::PromiseWarning;
use ralph_core::{text, tr};
use ralph_engine::driver::{Beginning, Choice, Observer};
use ralph_engine::plan::Announcement;
use ralph_engine::turn::Echo;
use tokio::sync::oneshot;

use super::{blocks, menu};

#[derive(Debug)]
pub struct People {
    screen: Screen,
    /// Only the end is shown.
    quiet: bool,
    /// Somebody can be asked.
    interactive: bool,
    context: blocks::Context,
    /// Tasks were ticked, and the box that shows it is still to come.
    box_due: bool,
    next: Option<String>,
}

impl People {
    pub fn new(screen: Screen, quiet: bool, interactive: bool) -> People {
        People {
            screen,
            quiet,
            interactive,
            context: blocks::Context::default(),
            box_due: false,
            next: None,
        }
    }

    /// What to do after the end, where it is not the usual thing.
    pub fn with_next(mut self, next: &str) -> People {
        self.next = Some(next.into());
        self
    }

    fn show(&self, block: &str) {
        let block = self.screen.in_style(block);
        let mut out = std::io::stdout().lock();
        let _ = out.write_all(block.as_bytes());
        let _ = out.flush();
    }

    fn aside(&self, text: &str) {
        if !self.quiet {
            let text = text::sanitize(text);
            let lines = text
                .lines()
                .map(|line| format!("  {line}\n"))
                .collect::<String>();
            self.show(&lines);
        }
    }
}

impl Observer for People {
    fn begin(&mut self, run: &Beginning<'_>) {
        self.context = blocks::Context::of(run.plan).with_next(self.next.clone());
        if self.quiet {
            return;
        }
        let (id, agent) = (run.run_id, run.plan.agent.name());
        let what = match &run.plan.tasks {
            Some(file) => file.name.clone(),
            None => {
                text::width::truncate(run.plan.prompter.prompt.as_deref().unwrap_or_default(), 60)
            }
        };
        self.show(&format!("Ralph Loop · {id} · {agent} · {what}\n"));
        if let Some(dead) = run.took_over {
            let (dead, pid) = (&dead.run_id, dead.pid);
            self.aside(&tr!(
                self.screen.lang,
                "run {dead} (process {pid}) died without an end; its lock is taken over",
                "執行 {dead}（行程 {pid}）已意外終止；接管其鎖定",
                "运行 {dead}（进程 {pid}）已意外终止；接管其锁",
            ));
        }
    }

    fn notice(&mut self, notice: &Notice, state: &State, _at: Now) {
        self.context.take(notice);
        if let Notice::LoopEnd { .. } = notice {
            let ending = blocks::ending(&self.screen, &self.context, state, notice);
            // It stands apart from what came before, where something did.
            return self.show(&if self.quiet {
                ending
            } else {
                format!("\n{ending}")
            });
        }
        if self.quiet {
            return;
        }
        match notice {
            Notice::LoopStart { .. } => {
                self.aside(&notice.say(self.screen.lang));
                self.show(&display::phase_tree(&self.screen, &blocks::phases(state)));
            }
            Notice::IterationStart {
                iteration,
                phase,
                task,
            } => {
                if std::mem::take(&mut self.box_due) {
                    self.show(&format!(
                        "\n{}",
                        blocks::progress(&self.screen, &self.context, state, iteration - 1)
                    ));
                }
                let max = state.rules.limits.max_iterations;
                let view = IterationView {
                    iteration: *iteration,
                    max_iterations: Some(max).filter(|&m| m > 0),
                    phase: phase.clone(),
                    task: task.as_ref().map(|t| format!("{} {}", t.id, t.text)),
                };
                self.show(&format!(
                    "\n{}",
                    display::iteration_header(&self.screen, &view)
                ));
            }
            Notice::PromiseRejected { claim, missing, .. } => {
                let missing = blocks::missing(&self.screen, missing);
                self.show(&display::rejected(&self.screen, claim, &missing));
            }
            Notice::IterationComplete { newly_done, .. } => {
                self.aside(&notice.say(self.screen.lang));
                self.box_due |= *newly_done > 0;
            }
            Notice::Error {
                class,
                detail,
                in_a_row,
                ..
            } => {
                let class = display::error_class(self.screen.lang, class.name());
                let detail = detail.say(self.screen.lang);
                self.aside(&tr!(
                    self.screen.lang,
                    "{class} ({in_a_row} in a row): {detail}",
                    "{class}（連續 {in_a_row} 次）：{detail}",
                    "{class}（连续 {in_a_row} 次）：{detail}",
                ));
            }
            Notice::IterationRetry { .. } => {
                self.aside(&tr!(self.screen.lang, "trying again", "重試", "重试",))
            }
            // The end says it with everything that belongs to it.
            Notice::BreakerOpen { .. } | Notice::Pause { .. } | Notice::TaskComplete { .. } => {}
            _ => self.aside(&notice.say(self.screen.lang)),
        }
    }

    fn doubt(&mut self, doubt: &PromiseWarning) {
        self.aside(&doubt.say(self.screen.lang));
    }

    fn announce(&mut self, announcement: &Announcement) {
        self.aside(&announcement.say(self.screen.lang));
    }

    fn echo(&self) -> Option<Echo> {
        if self.quiet {
            return None;
        }
        let bar = if self.screen.style.unicode {
            "  │ "
        } else {
            "  | "
        };
        Some(Arc::new(move |chunk: &[u8]| echo_lines(bar, chunk)))
    }

    fn menu(
        &mut self,
        _: Limit,
        state: &State,
        open: Vec<TaskRef>,
    ) -> Option<oneshot::Receiver<Choice>> {
        self.interactive
            .then(|| menu::open(self.screen, state, open))
    }
}

/// The agent's words, set apart and unable to move the cursor.
fn echo_lines(bar: &str, chunk: &[u8]) {
    let said = String::from_utf8_lossy(chunk);
    let said = text::sanitize(&said);
    let lines: String = said
        .lines()
        .filter(|l| !l.trim().is_empty())
        .map(|l| format!("{bar}{l}\n"))
        .collect();
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(lines.as_bytes());
    let _ = out.flush();
}

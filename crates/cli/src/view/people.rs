//! A run as a person watches it: plain lines that stay, and on a terminal a
//! block below them that moves.

use std::cell::Cell;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ralph_core::display::{self, IterationView, Screen};
use ralph_core::flow::FlowNotice;
use ralph_core::forge::ForgeNotice;
use ralph_core::lang::{Lang, Say};
use ralph_core::machine::{CommandResult, Limit, Notice, Now, State, TaskRef, WaitReason, span};
use ralph_core::overview::{self, Waiting};
use ralph_core::promise::PromiseWarning;
use ralph_core::text::width;
use ralph_core::{text, tr};
use ralph_engine::announcement::Announcement;
use ralph_engine::clock;
use ralph_engine::driver::{Beginning, Choice, Observer};
use ralph_engine::turn::{Echo, Echoed};
use ralph_engine::watch::{OutputLine, Said, Spoken};
use tokio::sync::oneshot;

use super::live::Live;
use super::{blocks, menu};
use crate::{app, out};

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
    /// A line that is written anew every second stands there.
    counting: Cell<bool>,
    /// What the wait that passes is for.
    waits_for: Option<Waiting>,
    is_passing: bool,
    /// The service said when the limit resets that is waited for.
    knows_reset: bool,
    /// What was last seen of CI.
    ci: Option<ForgeNotice>,
    /// The block on a terminal; shared with whatever shows the agent's words.
    live: Option<Arc<Mutex<Live>>>,
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
            counting: Cell::new(false),
            waits_for: None,
            is_passing: false,
            knows_reset: false,
            ci: None,
            live: None,
        }
    }

    /// Shows where the run stands at the bottom of the terminal.
    pub fn live(mut self) -> People {
        self.live = Some(Arc::new(Mutex::new(Live::new(self.screen))));
        self
    }

    fn with_live(&self, change: impl FnOnce(&mut Live)) {
        if let Some(live) = &self.live {
            change(&mut live.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// Of a run that nothing is left of: no way to go on, and no archive.
    pub fn passing(mut self) -> People {
        self.is_passing = true;
        self.with_next("")
    }

    /// What to do after the end, where it is not the usual thing.
    pub fn with_next(mut self, next: &str) -> People {
        self.next = Some(next.into());
        self
    }

    fn show(&self, block: &str) {
        let block = self.screen.in_style(block);
        if self.live.is_some() {
            return self.with_live(|live| live.print(&block));
        }
        if self.counting.take() {
            out::bytes(CLEAR_LINE);
        }
        out::people(&block, self.screen.style.color);
    }

    /// Where the run stands, for those who have no live block that says it.
    fn show_standing(&self, block: impl FnOnce() -> String) {
        if self.live.is_none() {
            self.show(&block());
        }
    }

    /// When a wait ends and what it is for, where an agent is waited for.
    fn wait_words(&self, wait: Waiting, left_ms: u64, now: Now) -> String {
        let lang = self.screen.lang;
        let (left, zone) = (span(left_ms, lang), clock::zone_name());
        let until = clock::local_moment(wait.until_ms, now);
        match wait.why {
            WaitReason::Ci => {
                let ci = self.ci.as_ref().map_or_else(String::new, |ci| ci.say(lang));
                tr!(lang, "{ci} · next look in {left}, at once: `ralph wake`")
            }
            WaitReason::Limit if self.knows_reset => tr!(
                lang,
                "limit reached, resets {until} ({zone}), sleeping {left}, wake: `ralph wake`"
            ),
            WaitReason::Limit => tr!(
                lang,
                "limit reached, asks again at {until} ({zone}), sleeping {left}, wake: `ralph wake`"
            ),
            WaitReason::Rate => tr!(
                lang,
                "the hourly rate is used up, goes on at {until} ({zone}), in {left}, at once: `ralph wake`"
            ),
            WaitReason::Cooldown => tr!(
                lang,
                "the circuit breaker is open, one more turn is tried at {until} ({zone}), in {left}, at once: `ralph wake`"
            ),
            _ => tr!(
                lang,
                "the agent's service is overloaded, trying again at {until} ({zone}), in {left}, at once: `ralph wake`"
            ),
        }
    }

    /// A look at CI that shows what the last one showed is no news.
    fn tell_poll(&mut self, poll: &ForgeNotice) {
        let is_news = self
            .ci
            .as_ref()
            .is_none_or(|last| !last.shows_the_same(poll));
        if is_news {
            self.aside(&poll.say(self.screen.lang));
        }
        self.ci = Some(poll.clone());
    }

    fn aside(&self, text: &str) {
        if !self.quiet {
            self.say_lines(text);
        }
    }

    fn say_lines(&self, text: &str) {
        let text = text::sanitize(text);
        let line = |line: &str| match &self.live {
            // A terminal would break it anywhere.
            Some(_) => self.screen.paragraph("  ", line),
            None => format!("  {line}\n"),
        };
        self.show(&text.lines().map(line).collect::<String>());
    }

    /// What lasts of a notice, but for the end.
    fn tell(&mut self, notice: &Notice, state: &State, at: Now) {
        let lang = self.screen.lang;
        match notice {
            Notice::LoopStart { .. } => {
                self.aside(&notice.say(lang));
                self.show_standing(|| {
                    display::phase_tree(&self.screen, &overview::phases(state, lang))
                });
            }
            Notice::IterationStart {
                iteration,
                phase,
                task,
            } => self.tell_turn(*iteration, phase.as_deref(), task.as_ref(), state),
            Notice::Flow(FlowNotice::RoleBegins { .. }) => match state.roles() {
                roles if roles.is_empty() => self.aside(&notice.say(lang)),
                roles => self.show_standing(|| display::role_line(&self.screen, &roles)),
            },
            Notice::Flow(FlowNotice::TaskPassed { .. } | FlowNotice::PhaseDone { .. }) => {
                self.aside(&notice.say(lang));
                self.box_due = true;
            }
            Notice::PromiseRejected { claim, missing, .. } => {
                self.show(&display::rejected(&self.screen, claim, missing));
            }
            Notice::IterationComplete {
                newly_done, tasks, ..
            } => {
                self.aside(&notice.say(lang));
                self.box_due |= *newly_done > 0 && tasks.total > 0;
            }
            Notice::Error {
                class,
                detail,
                in_a_row,
                ..
            } => {
                let class = display::error_class(lang, class.into_str());
                let detail = detail.say(lang);
                self.aside(&tr!(lang, "{class} ({in_a_row} in a row): {detail}"));
            }
            Notice::GateResult {
                passed: false,
                results,
                ..
            } => {
                self.aside(&notice.say(lang));
                self.aside(&last_words(results, self.screen.style.unicode));
            }
            Notice::IterationRetry { .. } => self.aside(&tr!(lang, "trying again")),
            // When it can be called again is said by the wait.
            Notice::AgentRefused { .. } => self.aside(&without_time(notice).say(lang)),
            Notice::Wait {
                ms,
                why:
                    why @ (WaitReason::Limit
                    | WaitReason::Overload
                    | WaitReason::Rate
                    | WaitReason::Ci
                    | WaitReason::Cooldown),
                ..
            } => {
                self.knows_reset = state.limit_resets_at().is_some();
                self.tell_wait(*ms, *why, at);
            }
            Notice::Forge {
                notice: poll @ ForgeNotice::Poll { .. },
                ..
            } => self.tell_poll(poll),
            Notice::BreakerOpen { .. } if state.outcome().is_none() => {
                self.aside(&notice.say(lang));
            }
            // The end says it with everything that belongs to it.
            Notice::BreakerOpen { .. } | Notice::Pause { .. } | Notice::TaskComplete { .. } => {}
            _ => self.aside(&notice.words(lang)),
        }
    }

    /// A turn begins; what the one before it got done stands above it.
    fn tell_turn(&mut self, turn: u32, phase: Option<&str>, task: Option<&TaskRef>, state: &State) {
        if std::mem::take(&mut self.box_due) {
            self.show_standing(|| {
                let done = blocks::progress(&self.screen, &self.context, state, turn - 1);
                format!("\n{done}")
            });
        }
        let view = IterationView {
            iteration: turn,
            max_iterations: Some(state.rules.limits.max_iterations).filter(|&max| max > 0),
            phase: phase.map(str::to_owned),
            task: task.map(TaskRef::name),
        };
        let header = display::iteration_header(&self.screen, &view);
        self.show(&format!("\n{header}"));
    }

    fn tell_wait(&mut self, ms: u64, why: WaitReason, at: Now) {
        let wait = Waiting::beginning(at, ms, why);
        if why != WaitReason::Ci {
            self.aside(&self.wait_words(wait, ms, at));
        }
        self.waits_for = Some(wait);
        self.tick();
    }
}

impl Observer for People {
    fn begin(&mut self, run: &Beginning<'_>) {
        self.context = blocks::Context::of(run.plan).with_next(self.next.clone());
        if self.quiet {
            return;
        }
        let (id, agent) = (run.run_id, run.plan.agent_names());
        let what = match &run.plan.tasks {
            Some(file) => file.name.clone(),
            None => {
                let asked = run.plan.prompter.prompt.as_deref().unwrap_or_default();
                width::truncate(asked.trim().lines().next().unwrap_or_default(), 60)
            }
        };
        let title = format!("Ralph Loop · {id} · {agent} · {what}");
        self.show(&match self.live {
            Some(_) => self.screen.paragraph("", &title),
            None => format!("{title}\n"),
        });
        if let Some(dead) = run.took_over {
            let (dead, pid) = (&dead.run_id, dead.pid);
            self.aside(&tr!(
                self.screen.lang,
                "run {dead} (process {pid}) died without an end; its lock is taken over"
            ));
        }
    }

    fn notice(&mut self, notice: &Notice, state: &State, at: Now) {
        app::follow_width(&mut self.screen);
        self.context.take(notice);
        self.waits_for = None;
        self.with_live(|live| live.take(notice, state, at));
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
        self.tell(notice, state, at);
    }

    fn doubt(&mut self, doubt: &PromiseWarning) {
        self.aside(&doubt.say(self.screen.lang));
    }

    fn announce(&mut self, announcement: &Announcement) {
        let words = announcement.say(self.screen.lang);
        match announcement {
            Announcement::Archived { .. } if self.is_passing => {}
            Announcement::Archived { .. } if !self.quiet => {
                self.show(&display::archived(&self.screen, &words));
            }
            // Where the work is belongs to how it ended.
            Announcement::OnBranch { .. }
            | Announcement::Brought { .. }
            | Announcement::NotBrought { .. } => self.say_lines(&words),
            _ => self.aside(&words),
        }
    }

    fn counts_down(&self) -> bool {
        self.interactive && !self.quiet && self.waits_for.is_some() && self.live.is_none()
    }

    fn count_down(&mut self, left_ms: u64) {
        let Some(wait) = self.waits_for else {
            return;
        };
        let words = self.wait_words(wait, left_ms, clock::now());
        // A line that breaks could not be written anew.
        let width = self.screen.width.saturating_sub(3);
        let line = width::truncate(&words, width);
        let line = self.screen.in_style(&line);
        out::bytes(CLEAR_LINE);
        out::people(&format!("  {line}"), self.screen.style.color);
        self.counting.set(true);
    }

    fn ticks(&self) -> bool {
        self.live.is_some()
    }

    fn tick(&mut self) {
        let waits = self.waits_for.map(|wait| {
            let now = clock::now();
            let left = wait.until_ms.saturating_sub(now.wall_ms);
            self.wait_words(wait, u64::try_from(left).unwrap_or(0), now)
        });
        self.with_live(|live| {
            if let Some(words) = waits {
                live.facts.doing = words;
            }
            live.refresh();
        });
    }

    fn stand_still(&mut self) {
        self.with_live(Live::hide);
    }

    fn echo(&self) -> Option<Echo> {
        if self.quiet {
            return None;
        }
        let live = self.live.clone();
        let color = self.screen.style.color;
        let telling = Mutex::new(Telling::new(self.screen, live.is_some()));
        Some(Arc::new(move |echoed: Echoed<'_>| {
            let mut telling = telling.lock().unwrap_or_else(PoisonError::into_inner);
            let (lines, doing) = telling.take(&echoed);
            if lines.is_empty() && doing.is_none() {
                return;
            }
            match &live {
                Some(live) => {
                    let mut live = live.lock().unwrap_or_else(PoisonError::into_inner);
                    if let Some(doing) = doing {
                        live.facts.doing = doing;
                    }
                    live.print(&lines);
                }
                None => out::people(&lines, color),
            }
        }))
    }

    fn menu_is_over(&mut self) {
        self.show("\n");
    }

    fn menu(
        &mut self,
        _: Limit,
        state: &State,
        open: Vec<TaskRef>,
        wait: Option<Duration>,
    ) -> Option<oneshot::Receiver<Choice>> {
        self.with_live(Live::hide);
        if !self.interactive {
            return None;
        }
        if let Some(wait) = wait {
            let lang = self.screen.lang;
            let time = text::duration::human(lang, wait);
            let text = tr!(
                lang,
                "Without an answer the run is saved and ends in {time}."
            );
            self.show(&self.screen.paragraph("", &text));
        }
        Some(menu::open(self.screen, state, open))
    }
}

/// Back to the beginning of the line, and empty it.
const CLEAR_LINE: &[u8] = b"\r\x1b[2K";

fn without_time(notice: &Notice) -> Notice {
    let mut notice = notice.clone();
    if let Notice::AgentRefused { held_ms, .. } = &mut notice {
        *held_ms = None;
    }
    notice
}

/// What a line says, in the person's language where it is not the agent's own.
pub fn said_text(line: &OutputLine, lang: Lang) -> String {
    match line.said {
        Said::ToolFailed => tr!(lang, "failed"),
        _ => line.text.clone(),
    }
}

/// Puts what an agent says into lines that last, set apart and unable to move
/// the cursor, and in one line what it does now. Tool calls last only where
/// nothing else shows them.
#[derive(Debug)]
struct Telling {
    screen: Screen,
    is_live: bool,
    /// Of an agent whose output is not understood.
    spoken: Spoken,
}

impl Telling {
    fn new(screen: Screen, is_live: bool) -> Telling {
        Telling {
            screen,
            is_live,
            spoken: Spoken::by(""),
        }
    }

    fn take(&mut self, echoed: &Echoed<'_>) -> (String, Option<String>) {
        app::follow_width(&mut self.screen);
        let mut said = Vec::new();
        self.spoken.take(echoed, &mut |line| said.push(line));
        self.spoken.hurry(&mut |line| said.push(line));
        let (mut lasting, mut doing) = (String::new(), None);
        for line in &said {
            self.add(line, &mut lasting, &mut doing);
        }
        (lasting, doing)
    }

    fn add(&self, line: &OutputLine, lasting: &mut String, doing: &mut Option<String>) {
        let unicode = self.screen.style.unicode;
        let (bar, sign) = (if unicode { "│" } else { "|" }, line.said.sign(unicode));
        let words = said_text(line, self.screen.lang);
        let lasts = !self.is_live || line.said.is_words();
        if lasts {
            let lead = format!("  {bar} {sign}");
            let room = self.screen.width.saturating_sub(width::width(&lead) + 1);
            let parts = match self.is_live {
                // A terminal would break it anywhere.
                true => width::wrap(&words, room.max(10)),
                false => vec![words.clone()],
            };
            for part in parts {
                lasting.push_str(&format!("{lead}{part}\n"));
            }
        }
        // What stands above the block is not said in it once more.
        *doing = Some(if lasts { String::new() } else { words });
    }
}

/// The end of what a check said that failed: that is where it says why (U-09).
fn last_words(results: &[CommandResult], unicode: bool) -> String {
    const SHOWN: usize = 5;
    let failed = results.iter().find(|result| result.exit != Some(0));
    let output = failed.map_or("", |result| &result.output);
    let output = text::redact(output);
    let lines = output.lines().filter(|line| !line.trim().is_empty());
    let bar = if unicode { "│" } else { "|" };
    let lines: Vec<String> = lines.map(|line| format!("{bar} {line}")).collect();
    let from = lines.len().saturating_sub(SHOWN);
    lines.get(from..).unwrap_or_default().join("\n")
}

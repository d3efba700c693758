//! Loops inside a session: what the hooks and `ralph loop` share. Settings,
//! plans and texts are made here; `ralph_engine::session` drives.

pub mod cap;
mod choosing;
mod route;

use std::path::Path;

use ralph_core::config::{ConfigError, Layer, Settings};
use ralph_core::display::{self, Screen};
use ralph_core::lang::{Lang, Say};
use ralph_core::machine::{Limit, Outcome, PauseReason, Question, Request};
use ralph_core::overview::Overview;
use ralph_core::report::outcome_word;
use ralph_core::session::plugin_file;
use ralph_core::session::task::DoError;
use ralph_core::session::words::{Start, StartError};
use ralph_core::text::duration::plural;
use ralph_core::tr;
use ralph_engine::announcement::Announcement;
use ralph_engine::error::DriveError;
use ralph_engine::plan::{self, Asked, Plan, PlanError, Wanted};
use ralph_engine::session::adopt::{self, Foreign};
use ralph_engine::session::{Ended, InSession, SessionError, SessionLoop, Verdict, index};
use ralph_engine::{clock, mailbox};
use ralph_store::layout::{Layout, RunId};

use crate::app::own_program;
use crate::commands::answer::{self, GoesOn};
use crate::view::{blocks, menu};
use crate::{app, settings, trust};

/// The same `/ralph-loop` within this time is the same wish: a client may
/// hand it to the hook and to its command file.
const SAME_WISH_MS: i64 = 2 * 60 * 1000;

/// A client breaks the lines of a message itself.
const WIDE: usize = 1_000;

/// Why a loop of a session can't be started or driven.
#[derive(Debug, Say)]
pub enum Problem {
    #[say(_0.say(lang))]
    Config(Vec<ConfigError>),
    #[say(_0.say(lang))]
    Plan(PlanError),
    #[say(_0.say(lang))]
    Session(SessionError),
    #[say(_0.say(lang))]
    Start(StartError),
    #[say(_0.say(lang))]
    Do(DoError),
    #[say(_0.say(lang))]
    Foreign(adopt::Unreadable),
    /// This session has a loop already.
    #[say(
        "this session has a loop already: run {run}, iteration {iteration}; give it up with {slash}cancel-ralph first"
    )]
    Active {
        run: String,
        iteration: u32,
        slash: &'static str,
    },
}

impl From<SessionError> for Problem {
    fn from(error: SessionError) -> Self {
        Problem::Session(error)
    }
}

/// A session of a client in a project.
#[derive(Debug, Clone)]
pub struct Here {
    pub layout: Layout,
    pub session: String,
    pub host: &'static str,
}

/// Who has the loop of another tool become ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Adopts {
    /// They want it to go on.
    Person,
    /// Its agent stopped, or something is to be known of it.
    Hook,
}

/// What a person wants of the loop.
#[derive(Debug)]
pub enum Steered {
    /// There is none.
    NoLoop,
    /// The agent is told this.
    Told(String),
    /// The same where the loop was taken up, and what people should know of
    /// that.
    TakenUp(String, Option<String>),
    /// The loop rests or is over; people are shown this.
    Ended(String),
}

impl Here {
    pub fn new(layout: Layout, session: &str, host: &'static str) -> Here {
        Here {
            layout,
            session: session.to_owned(),
            host,
        }
    }

    pub fn root(&self) -> &Path {
        self.layout.root()
    }

    fn in_session(&self) -> InSession {
        InSession {
            id: self.session.clone(),
            host: self.host.into(),
            ..InSession::default()
        }
    }

    /// The run of this session, else the one that waits for any.
    pub fn run(&self) -> Option<RunId> {
        index::find(&self.layout, &self.session).or_else(|| index::find(&self.layout, ""))
    }

    /// Opens a run, which becomes this session's if it was nobody's.
    pub fn open(&self, run: &RunId) -> Result<SessionLoop, Problem> {
        let layout = self.layout.clone();
        let mut opened = SessionLoop::open(run, layout, |header| {
            self.plan_of(header.asked_again(self.layout.root()), true)
        })?;
        if opened.session_id().is_empty() {
            opened.join(&self.in_session())?;
        }
        Ok(opened)
    }

    /// `None` for a run that can't be read: nobody is held up by it again.
    fn open_sound(&self, run: &RunId) -> Result<Option<SessionLoop>, Problem> {
        match self.open(run) {
            Err(Problem::Session(SessionError::Drive(DriveError::Past(_)))) => Ok(None),
            opened => opened.map(Some),
        }
    }

    /// A hook could not do its work: that stands in the state file of the
    /// delta loop until it goes on. A run whose journal is damaged is forgotten
    /// as well; everything stays where it is (STOP-10).
    pub fn give_up(&self, run: &RunId, problem: &Problem) {
        match problem {
            // Somebody else is at work on it.
            Problem::Session(
                SessionError::DrivenFromOutside { .. }
                | SessionError::Drive(DriveError::Locked(_) | DriveError::Neighbour(_)),
            ) => return,
            Problem::Session(SessionError::Drive(DriveError::Past(_))) => {
                index::forget(&self.layout, &self.session);
            }
            _ => {}
        }
        adopt::mark_failed(&self.layout, run);
    }

    /// A plan as `ralph run` makes it, for the agent that is there.
    pub fn plan(&self, asked: Asked) -> Result<Plan, Problem> {
        self.plan_of(asked, false)
    }

    fn plan_of(&self, asked: Asked, has_begun: bool) -> Result<Plan, Problem> {
        let (settings, strange) = self.settings(&asked.flags)?;
        let lang = app::hook_lang(&settings.lang);
        let wanted = Wanted {
            asked,
            session: Some(self.host.into()),
            permit: Some(crate::guard::permit),
            has_begun,
            ..Wanted::new(self.layout.clone(), lang, own_program())
        };
        let mut plan = plan::prepare(&settings, &wanted).map_err(Problem::Plan)?;
        let checks = trust::without_strange_checks(&self.layout, &mut plan);
        let checks = (checks > 0).then(|| "verify:".to_owned());
        let keys: Vec<String> = strange.into_iter().chain(checks).collect();
        if !keys.is_empty() {
            plan.announcements.push(Announcement::Untrusted { keys });
        }
        Ok(plan)
    }

    /// Nobody can be asked in a hook: what counts is what was trusted. Gives
    /// the keys for which that made a difference.
    fn settings(&self, flags: &[plan::Flag]) -> Result<(Settings, Vec<String>), Problem> {
        let layer = |flag: &plan::Flag| Layer::flag(&flag.key, flag.value.clone(), &flag.name);
        let layers = flags.iter().map(layer).collect::<Result<_, _>>();
        let layers = layers.map_err(|error| Problem::Config(vec![error]))?;
        let loaded = trust::settings_in_hook(&self.layout, layers);
        let (loaded, strange) = loaded.map_err(|rejected| Problem::Config(rejected.errors))?;
        Ok((loaded.settings, strange))
    }

    /// Starts a loop; the verdict says what its first turn is told.
    pub fn start(&self, start: &Start) -> Result<(SessionLoop, Verdict), Problem> {
        let asked = Asked {
            flags: settings::loop_flags(self.root(), start),
            prompt: start.task.clone(),
            // Beside a list, what a person says is no task of its own.
            hints: match start.openspec.is_some() || start.tasks.is_some() {
                true => start.task.iter().cloned().collect(),
                false => Vec::new(),
            },
            openspec: start.openspec.clone(),
            template: None,
            ..Asked::default()
        };
        let asked = self.routed(asked, start.way)?;
        let own = index::find(&self.layout, &self.session);
        if let Some(run) = own
            && let Some(opened) = self.open_sound(&run)?
            && opened.state().outcome().is_none()
        {
            return match same_wish(&opened, &asked) {
                Some(verdict) => Ok((opened, verdict)),
                None => Err(Problem::Active {
                    run: run.to_string(),
                    iteration: opened.state().turn.number,
                    slash: slash(self.root(), self.host),
                }),
            };
        }
        if let Some(run) = self.resting(start, &asked) {
            let mut opened = self.open(&run)?;
            opened.join(&self.in_session())?;
            let verdict = opened.resume(None)?;
            return Ok((opened, verdict));
        }
        let plan = self.plan(asked)?;
        Ok(SessionLoop::start(plan, &self.in_session())?)
    }

    /// The run of the same change that waits to be taken up: `--openspec ID`
    /// alone goes on with it, as does the same wish said again (RESM-01).
    fn resting(&self, start: &Start, asked: &Asked) -> Option<RunId> {
        let change = start.openspec.as_ref()?;
        let alone = Start {
            openspec: Some(change.clone()),
            ..Start::default()
        };
        let is_meant = |run: &RunId| {
            let past = ralph_engine::past::read(&self.layout.run(run)).ok();
            past.is_some_and(|past| {
                let before = &past.header.asked;
                let same = before.openspec.as_ref() == Some(change);
                past.state.outcome().is_some_and(Outcome::can_go_on)
                    && same
                    && (*start == alone || before == asked)
            })
        };
        index::all(&self.layout).into_iter().find(is_meant)
    }

    /// Makes the loop of another tool a run of ours. It stands at the end of
    /// a turn that was not ours yet.
    pub fn adopt(&self, foreign: &Foreign, who: Adopts) -> Result<SessionLoop, Problem> {
        let mut plan = self.plan(foreign.asked())?;
        plan.rules.turns_before = foreign.turns_before();
        // Only a person lets a loop go on past its limit (STOP-02).
        if let (Foreign::Delta(delta), Adopts::Hook) = (foreign, who) {
            plan.rules.limits.max_iterations = delta.iteration.max_allowed;
        }
        let session = foreign.in_session(&self.session, self.host);
        let (opened, _) = SessionLoop::start(plan, &session)?;
        Ok(opened)
    }

    /// Lets the loop rest, or gives it up.
    pub fn leave(&self, request: Request) -> Result<Steered, Problem> {
        let Some(run) = self.run() else {
            return self.leave_foreign(request);
        };
        let mut opened = self.open(&run)?;
        let iteration = opened.state().turn.number;
        let verdict = opened.leave(request)?;
        Ok(match verdict {
            Some(Verdict::Ended(_)) if request == Request::Cancel => {
                Steered::Ended(cancelled(iteration, opened.plan().lang))
            }
            Some(Verdict::Ended(ended)) => Steered::Ended(ending(&opened, &ended)),
            _ => Steered::NoLoop,
        })
    }

    /// The plugin's loop before it met a hook of ours.
    fn leave_foreign(&self, request: Request) -> Result<Steered, Problem> {
        let foreign = adopt::find(&self.layout, &self.session).map_err(Problem::Foreign)?;
        match foreign {
            Some(Foreign::Plugin(file)) if request == Request::Cancel => {
                adopt::remove_plugin_file(self.root())
                    .map_err(|error| SessionError::from(DriveError::from(error)))?;
                let lang = app::environment_lang();
                Ok(Steered::Ended(cancelled(file.iteration, lang)))
            }
            Some(foreign @ Foreign::Delta(_)) => {
                let mut opened = self.adopt(&foreign, Adopts::Hook)?;
                let iteration = opened.state().turn.number;
                let verdict = opened.leave(request)?;
                Ok(match (verdict, request) {
                    (_, Request::Cancel) => {
                        Steered::Ended(cancelled(iteration, opened.plan().lang))
                    }
                    (Some(Verdict::Ended(ended)), _) => Steered::Ended(ending(&opened, &ended)),
                    _ => Steered::NoLoop,
                })
            }
            _ => Ok(Steered::NoLoop),
        }
    }

    /// Takes a loop up that rests: this session's own, else the newest of the
    /// project that rests.
    pub fn go_on(&self) -> Result<Steered, Problem> {
        let own = self.run();
        let others = index::all(&self.layout).into_iter();
        let rests = |run: &RunId| self.rests(run);
        match own.or_else(|| others.into_iter().find(rests)) {
            Some(run) => self.go_on_with(&run),
            None => self.go_on_from_file(),
        }
    }

    fn go_on_with(&self, run: &RunId) -> Result<Steered, Problem> {
        let mut opened = self.open(run)?;
        if let Some(text) = opened.remind() {
            return Ok(Steered::Told(text));
        }
        opened.join(&self.in_session())?;
        Ok(match opened.resume(None)? {
            Verdict::GoOn(go_on) => taken_up(&opened, go_on.text),
            Verdict::Ended(ended) => Steered::Ended(ending(&opened, &ended)),
        })
    }

    /// A state file is all that there is of the loop (RESM-06).
    fn go_on_from_file(&self) -> Result<Steered, Problem> {
        let found = adopt::find(&self.layout, &self.session).map_err(Problem::Foreign)?;
        match found {
            Some(foreign @ Foreign::Delta(_)) => {
                let opened = self.adopt(&foreign, Adopts::Person)?;
                Ok(opened.remind().map_or(Steered::NoLoop, Steered::Told))
            }
            _ => Ok(Steered::NoLoop),
        }
    }

    /// A person answers a question of the agent, and a loop that rests goes
    /// on with it.
    pub fn answer(&self, words: &str) -> Result<Steered, Problem> {
        let Some(run) = self.run() else {
            return Ok(Steered::NoLoop);
        };
        let mut opened = self.open(&run)?;
        if opened.state().is_final() {
            return Ok(Steered::NoLoop);
        }
        let lang = opened.plan().lang;
        let open: Vec<&Question> = opened.state().open_questions().collect();
        let chosen = answer::chosen(&open, words);
        let meant = chosen.and_then(|(question, words)| {
            let text = mailbox::reply_text(&question.meant(&words))?;
            Some((question.id, text))
        });
        let Some((id, text)) = meant else {
            let slash = slash(self.root(), self.host);
            let listed = open.iter().map(|q| blocks::question(q, lang));
            let lines = std::iter::once(how_to_answer(&open, slash, lang)).chain(listed);
            return Ok(Steered::Ended(lines.collect::<Vec<_>>().join("\n")));
        };
        Ok(match opened.reply(id, &text)? {
            Some(Verdict::GoOn(go_on)) => Steered::Told(go_on.text),
            Some(Verdict::Ended(ended)) => Steered::Ended(ending(&opened, &ended)),
            None => Steered::Ended(answer::answered(id, &text, GoesOn::Itself, lang)),
        })
    }

    /// Whether a run waits to be taken up. One that goes on belongs to its
    /// session.
    pub fn rests(&self, run: &RunId) -> bool {
        let past = ralph_engine::past::read(&self.layout.run(run));
        past.is_ok_and(|past| past.state.outcome().is_some_and(Outcome::can_go_on))
    }

    /// Whether nobody works on a run, because it rests or is over.
    pub fn is_at_rest(&self, run: &RunId) -> bool {
        let past = ralph_engine::past::read(&self.layout.run(run));
        past.is_ok_and(|past| past.state.outcome().is_some())
    }

    /// Where the loop of this session stands, in a few lines.
    pub fn status(&self) -> Result<Option<String>, Problem> {
        let Some(run) = self.run() else {
            return Ok(None);
        };
        let opened = self.open(&run)?;
        let lang = opened.plan().lang;
        let overview = Overview::of(opened.state(), lang);
        let iteration = overview.iteration;
        let max = match overview.max_iterations {
            0 => "∞".to_owned(),
            max => max.to_string(),
        };
        let what = match &overview.outcome {
            None => tr!(lang, "active"),
            Some(outcome) => outcome_word(lang, outcome.into_str()),
        };
        let tasks = overview.progress();
        let tasks = tasks.map_or_else(String::new, |t| format!(" · {}/{}", t.done, t.total));
        Ok(Some(format!(
            "🔄 Ralph {run} · {what} · {iteration}/{max}{tasks}"
        )))
    }
}

/// What the first turn was told, where this very loop was just begun.
fn same_wish(opened: &SessionLoop, asked: &Asked) -> Option<Verdict> {
    let age = clock::now().wall_ms - opened.header.started_ms;
    let same =
        opened.header.asked == *asked && opened.state().turn.number <= 1 && age < SAME_WISH_MS;
    same.then(|| opened.say_again())
}

/// The plugin's own words (INTR-03).
fn cancelled(iteration: u32, lang: Lang) -> String {
    tr!(lang, "Cancelled Ralph loop (was at iteration {iteration})")
}

pub fn no_loop(lang: Lang) -> String {
    tr!(lang, "No active Ralph loop found.")
}

/// How the loop ended, whole, for the person at the session.
pub fn ending(opened: &SessionLoop, ended: &Ended) -> String {
    let lang = opened.plan().lang;
    let screen = Screen {
        lang,
        width: WIDE,
        ..Screen::default()
    };
    // How a loop that rests is taken up: in the session, or from a terminal.
    let can_go_on = ended.outcome.can_go_on();
    let next = can_go_on.then(|| tr!(lang, "continue · ralph resume"));
    let slash = slash_in(opened);
    let mut context = blocks::Context::of(opened.plan())
        .with_next(next)
        .in_session(!slash.is_empty());
    for notice in &ended.notices {
        context.take(notice);
    }
    let block = match &ended.outcome {
        Outcome::Paused {
            reason: PauseReason::Limit(Limit::Iterations),
        } => {
            let run = &opened.paths().id;
            index::offer(
                &opened.plan().layout,
                opened.session_id(),
                &choosing::at_limit_of(run),
            );
            at_limit(&screen, ended, slash)
        }
        Outcome::Paused {
            reason: PauseReason::Question,
        } => {
            let block = blocks::ending(&screen, &context, &ended.state, &ended.end);
            asked(&block, ended, slash, lang)
        }
        _ => blocks::ending(&screen, &context, &ended.state, &ended.end),
    };
    with_announcements(&block, &opened.announcements, lang)
}

/// What the agent is told, and people where something changed meanwhile.
fn taken_up(opened: &SessionLoop, text: String) -> Steered {
    let message = with_announcements("", &opened.announcements, opened.plan().lang);
    let message = message.trim().to_owned();
    Steered::TakenUp(text, Some(message).filter(|message| !message.is_empty()))
}

/// What people are told when a loop begins: its route, and what they should
/// know beside it.
pub fn beginning(opened: &SessionLoop) -> Option<String> {
    let lang = opened.plan().lang;
    let flow = opened.state().rules.flow.as_ref();
    let card = flow.and_then(|rules| rules.card.as_ref());
    let mut route = card.map(|card| card.summary(lang)).unwrap_or_default();
    let iteration = opened.state().turn.number;
    if iteration > opened.state().rules.turns_before + 1 {
        let slash = slash_in(opened);
        route = tr!(
            lang,
            "The loop goes on where it was left, with iteration {iteration}; {slash}cancel-ralph gives it up."
        );
    }
    let text = with_announcements(&route, &opened.announcements, lang);
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// What stands in front of a command: a client that does not know it refuses
/// it with a slash, and hands it over as a word without.
fn slash(root: &Path, host: &str) -> &'static str {
    let is_there = root.join(".claude/commands/ralph-loop.md").is_file();
    if host == "claude" && is_there {
        "/"
    } else {
        ""
    }
}

fn slash_in(opened: &SessionLoop) -> &'static str {
    let session = opened.state().session.as_ref();
    slash(
        opened.plan().layout.root(),
        session.map_or("", |s| s.host.as_str()),
    )
}

fn how_to_answer(open: &[&Question], slash: &str, lang: Lang) -> String {
    match open {
        [] => answer::which(lang, open),
        [first, ..] => {
            let id = first.id;
            tr!(
                lang,
                "Answer here with {slash}ralph-answer {id} TEXT and the loop goes on, or in a terminal with `ralph answer {id} TEXT`."
            )
        }
    }
}

/// The question, and how it is answered from here.
fn asked(block: &str, ended: &Ended, slash: &str, lang: Lang) -> String {
    let open: Vec<&Question> = ended.state.open_questions().collect();
    format!(
        "{}\n{}\n",
        block.trim_end(),
        how_to_answer(&open, slash, lang)
    )
}

/// Seed 004's warning, and how each choice is made from here.
fn at_limit(screen: &Screen, ended: &Ended, slash: &str) -> String {
    let lang = screen.lang;
    let view = menu::at_limit(&ended.state, lang);
    let extend_by = view.extend_by;
    let iterations_en = plural(extend_by as usize, "iteration", "iterations");
    let notice = display::limit_notice(screen, &view);
    let words = tr!(
        lang,
        "Progress is saved. Type 1 to 4 to choose here, or say \"continue\" for {extend_by} more {iterations_en} and {slash}cancel-ralph to give the task up; in a terminal, `ralph resume` goes on."
    );
    format!("{notice}{words}\n")
}

/// What people should know beside the verdict.
pub fn with_announcements(text: &str, announcements: &[Announcement], lang: Lang) -> String {
    let line = |announcement: &Announcement| {
        let words = announcement.say(lang);
        match announcement {
            Announcement::Archived { .. } => format!("\n📦 {words}"),
            _ => format!("\n{words}"),
        }
    };
    let all: String = announcements.iter().map(line).collect();
    format!("{}{all}", text.trim_end())
}

/// Whether the plugin's state file stands in the project.
pub fn has_foreign_file(layout: &Layout) -> bool {
    layout.delta_state().exists() || layout.root().join(plugin_file::PATH).exists()
}

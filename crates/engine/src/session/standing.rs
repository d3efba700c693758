//! What the agent is told when a turn begins inside its session.

use ralph_core::flow::{Flow, FlowTurn};
use ralph_core::forge::MergeWho;
use ralph_core::lang::Say;
use ralph_core::machine::{Goal, Notice, QuestionNotice, Turn};
use ralph_core::session::reinject::{self, EndsWith, PromiseAsked, Standing};
use ralph_core::template::{PromptNote, compose};
use ralph_core::{phases, text};
use ralph_store::atomic::{AtomicOptions, write_atomic};

use super::{GoOn, SessionLoop, index, roles};
use crate::git;
use crate::look::TaskMark;

/// Some clients deliver a text twice, others cut it: what is longer is
/// pointed at.
const LONGEST: usize = 9_000;

impl SessionLoop {
    pub(super) fn send_on(&mut self, turn: &Turn) -> GoOn {
        let notes = self.notes_for(turn);
        let is_first = turn.turn <= self.run.state.rules.turns_before + 1;
        let repeats = is_first || self.repeats_the_prompt();
        let (told, notes): (Vec<_>, Vec<_>) = notes
            .into_iter()
            .partition(|note| matches!(note, PromptNote::NotPlayed { .. }));
        let own = compose(&self.prompt_of(turn), &notes, self.run.plan.lang);
        let dispatch = self.dispatch();
        let whole = match (&turn.flow, dispatch) {
            (Some(_), Some(dispatch)) => self.phase_text(dispatch, &told, turn.turn),
            (Some(_), None) if !is_first => {
                self.phase_text(self.prompt_of(turn), &notes, turn.turn)
            }
            (None, _) if !repeats => self.standing_text(&notes, turn.turn),
            _ => own.clone(),
        };
        let file = self.run.paths.turn_prompt(turn.turn, 1);
        let options = AtomicOptions { durable: false };
        // For people, for a role, and for the promise that only repeats it.
        let kept = match roles::is_played(&self.run.state) {
            true => &own,
            false => &whole,
        };
        let _ = write_atomic(&file, kept.as_bytes(), options);
        let text = match whole.chars().count() > LONGEST {
            true => {
                let place = file
                    .strip_prefix(self.run.plan.layout.root())
                    .unwrap_or(&file);
                let head = text::excerpt(&whole, LONGEST);
                format!("{head}\n\nThe whole text is in {}.", place.display())
            }
            false => whole,
        };
        if self
            .run
            .state
            .session
            .as_ref()
            .is_some_and(|s| s.host == "copilot")
        {
            index::note_told(&self.run.paths, &text);
        }
        let lang = self.run.plan.lang;
        let mut banner = match &turn.flow {
            Some(flow) if roles::is_played(&self.run.state) => {
                let ends = EndsWith::Roles(&self.run.plan.prompter.promise);
                let ends = reinject::end_line(&ends, lang);
                let line = format!("{} | {ends}", self.role_line(flow));
                reinject::phase_banner(turn.turn, &line, lang)
            }
            Some(flow) => reinject::phase_banner(turn.turn, &self.phase_of(flow), lang),
            None => reinject::banner(turn.turn, &self.ends_with(), lang),
        };
        for notice in &self.notices {
            let is_for_people = matches!(
                notice,
                Notice::LimitNear { .. } | Notice::Question(QuestionNotice::Asked { .. })
            );
            if is_for_people {
                banner.push_str(&format!("\n{}", notice.say(lang)));
            }
        }
        GoOn {
            turn: turn.turn,
            text,
            banner,
        }
    }

    fn prompt_of(&self, turn: &Turn) -> String {
        let branch = git::head(self.run.plan.layout.root())
            .branch
            .unwrap_or_default();
        let prompter = &self.run.plan.prompter;
        prompter.body(turn, &self.run.state, &branch).text
    }

    /// Where the work stands, and what the phase that begins has to do.
    pub(super) fn phase_text(&self, orders: String, notes: &[PromptNote], turn: u32) -> String {
        let standing = Standing {
            promise: PromiseAsked::InPhase(orders),
            ..self.standing(turn)
        };
        reinject::reinjection(&standing, notes, self.run.plan.lang)
    }

    /// `Phase 2/4: Planning`; of a step beside the phases only its name.
    fn phase_of(&self, turn: &FlowTurn) -> String {
        let flow = self.run.state.rules.flow.as_ref().map(|rules| &rules.flow);
        let step = flow.and_then(|flow| flow.step(flow.index_of(&turn.step)?));
        let title = step.map_or("", |step| step.title.say(self.run.plan.lang));
        let title = if title.is_empty() { &turn.step } else { title };
        let mut phases = flow.into_iter().flat_map(Flow::phases);
        let at = phases.position(|(_, step)| step.id == turn.step);
        let of = flow.map_or(0, |flow| flow.phases().count());
        match at {
            Some(at) => format!("Phase {}/{of}: {title}", at + 1),
            None => title.to_owned(),
        }
    }

    /// A loop that does not count missing promises does not ask for one after
    /// every turn.
    fn notes_for(&self, turn: &Turn) -> Vec<PromptNote> {
        let counts = self.run.state.rules.limits.missing_promise > 0;
        let has_any = !self.run.plan.prompter.promise.is_empty();
        let fits = |note: &&PromptNote| match note {
            PromptNote::NoPromise => counts,
            PromptNote::UnknownPromise { .. } => has_any,
            _ => true,
        };
        turn.notes.iter().filter(fits).cloned().collect()
    }

    /// A plain prompt is said again as it is (REIN-02), and so is what leads
    /// to a pull request or to green CI.
    fn repeats_the_prompt(&self) -> bool {
        match self.run.state.rules.goal {
            Goal::Prompt => !self.run.plan.checkpoint.delta,
            Goal::PullRequest | Goal::Ci => true,
            Goal::Tasks { .. } | Goal::Flow => false,
        }
    }

    fn asked_promise(&self) -> Option<&str> {
        let promise = self.run.plan.prompter.promise.as_str();
        let rules = &self.run.state.rules;
        let is_asked = rules.limits.missing_promise > 0
            || rules.promise_required
            || self.run.plan.prompter.is_promise_chosen
            || matches!(rules.goal, Goal::Tasks { .. });
        Some(promise).filter(|promise| is_asked && !promise.is_empty())
    }

    fn ends_with(&self) -> EndsWith<'_> {
        let rules = &self.run.state.rules;
        let merges = rules.forge.as_ref().map(|forge| forge.merge);
        match (&rules.goal, self.asked_promise()) {
            (Goal::PullRequest, _) => EndsWith::PullRequest,
            (Goal::Ci, _) if merges != Some(MergeWho::Nobody) => EndsWith::Merge,
            (_, Some(promise)) => EndsWith::Promise(promise),
            (Goal::Prompt, None) if rules.checks_decide && rules.verify.is_some() => {
                EndsWith::Checks
            }
            (_, None) => match rules.limits.max_iterations {
                0 => EndsWith::Nothing,
                max => EndsWith::Limit(max),
            },
        }
    }

    pub(super) fn standing_text(&self, notes: &[PromptNote], iteration: u32) -> String {
        let promise = match self.asked_promise() {
            None => PromiseAsked::Nowhere,
            Some(promise) if self.run.plan.checkpoint.delta => {
                PromiseAsked::InStateFile(promise.into())
            }
            Some(promise) => PromiseAsked::InReply(promise.into()),
        };
        let standing = Standing {
            promise,
            ..self.standing(iteration)
        };
        reinject::reinjection(&standing, notes, self.run.plan.lang)
    }

    fn standing(&self, iteration: u32) -> Standing {
        let delta = self.run.projector.as_ref().and_then(|p| p.delta_state());
        let standing = match delta {
            Some(delta) => Standing {
                completed: delta.completed_work.clone(),
                pending: delta.pending_work.clone(),
                route: Some(delta.meta.route.clone()),
                phase: Some(delta.progress.current_phase.to_string()),
                subtask: Some(format!(
                    "{} / {}",
                    delta.progress.subtasks_done, delta.progress.subtasks_total
                )),
                ..Standing::default()
            },
            None => self
                .standing_of_route()
                .unwrap_or_else(|| self.standing_of_tasks()),
        };
        Standing {
            iteration,
            max_iterations: self.run.state.rules.limits.max_iterations,
            ..standing
        }
    }

    /// A route without a state file: its phases.
    fn standing_of_route(&self) -> Option<Standing> {
        let state = &self.run.state;
        let (flow, _) = phases::route(state)?;
        let all = phases::of(state, self.run.plan.lang);
        let lines = |done: bool| {
            let of = all.iter().filter(|p| (p.completed == p.total) == done);
            let lines = of.map(|phase| format!("Phase {}: {}", phase.key, phase.title));
            lines.collect::<Vec<_>>().join("\n")
        };
        Some(Standing {
            completed: lines(true),
            pending: lines(false),
            route: Some(flow.name.to_uppercase()),
            phase: state.phase(),
            ..Standing::default()
        })
    }

    fn standing_of_tasks(&self) -> Standing {
        let marks = self.run.looker.task_marks();
        let lines = |done: bool| {
            let mark = if done { 'x' } else { ' ' };
            let of = marks.iter().filter(|task| task.done == done);
            let lines = of.map(|task: &TaskMark| format!("- [{mark}] {}", task.name()));
            lines.collect::<Vec<_>>()
        };
        // Of what is left, the beginning says what comes next.
        let pending: Vec<String> = lines(false).into_iter().take(30).collect();
        let facts = self.run.state.tasks.facts.clone().unwrap_or_default();
        let file = self.run.plan.tasks.as_ref().map(|tasks| tasks.name.clone());
        Standing {
            completed: lines(true).join("\n"),
            pending: pending.join("\n"),
            route: file,
            phase: self.run.state.phase(),
            subtask: Some(format!("{} / {}", facts.completed, facts.total)),
            ..Standing::default()
        }
    }
}

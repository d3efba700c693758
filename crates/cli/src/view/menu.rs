//! The menu of a limit, on a thread of its own, so that signals and the rest
//! of the loop are not held up by somebody who thinks.

use std::collections::BTreeSet;

use ralph_core::display::{self, LimitMenuView, Screen};
use ralph_core::lang::Lang;
use ralph_core::machine::{State, TaskRef};
use ralph_core::tr;
use ralph_engine::driver::Choice;
use tokio::sync::oneshot;

use crate::app::ask;

/// Everything the thread needs.
struct Menu {
    screen: Screen,
    view: LimitMenuView,
    open: Vec<TaskRef>,
}

/// Shows the menu and gives the channel on which the choice will come.
pub fn open(screen: Screen, state: &State, open: Vec<TaskRef>) -> oneshot::Receiver<Choice> {
    let menu = Menu {
        screen,
        view: at_limit(state, screen.lang),
        open,
    };
    let (sender, receiver) = oneshot::channel();
    std::thread::spawn(move || {
        // Nobody listens any more once a signal has ended the run.
        let _ = sender.send(menu.choose());
    });
    receiver
}

/// A run that has used up its iterations, as the menu shows it.
pub fn at_limit(state: &State, lang: Lang) -> LimitMenuView {
    let (completed, pending) = done_and_open(state, lang);
    LimitMenuView {
        iteration: state.turn.number,
        max_iterations: state.rules.limits.max_iterations,
        completed,
        pending: pending.join(", "),
        extend_by: state.rules.limits.extend_by,
    }
}

/// As the task file says, else the phases of a route, else the state file of a
/// delta loop (VALV-05); a prompt alone is one piece of work.
fn done_and_open(state: &State, lang: Lang) -> (String, Vec<String>) {
    let claims = &state.claims.file;
    let flow = state.rules.flow.as_ref().map(|rules| &rules.flow);
    let place = flow.zip(state.flow.position.as_ref());
    let count = |done: usize, total: usize| format!("{done}/{total}");
    if let Some(facts) = state.tasks.facts.as_ref().filter(|facts| facts.total > 0) {
        let open = facts.open.iter().map(|task| task.id.clone()).collect();
        (count(facts.completed, facts.total), open)
    } else if !claims.left(&state.tasks.skipped).is_empty() {
        let (done, total) = claims.subtasks;
        (format!("{done}/{total}"), claims.left(&state.tasks.skipped))
    } else if let Some((flow, position)) = place {
        let done = flow.phases().filter(|(index, _)| *index < position.step);
        let (done, total) = (done.count(), flow.phases().count());
        let open = (done + 1..=total).map(|number| format!("Phase {number}"));
        (count(done, total), open.collect())
    } else {
        (count(0, 1), vec![tr!(lang, "the whole work")])
    }
}

impl Menu {
    fn choose(&self) -> Choice {
        loop {
            match ask(&display::limit_menu(&self.screen, &self.view)).as_deref() {
                Some("1") => return Choice::Extend,
                Some("2") => {
                    if let Some(skipped) = self.simplify() {
                        return Choice::Skip(skipped);
                    }
                }
                Some("4") => return Choice::Abandon,
                Some("3") | None => return Choice::SaveAndExit,
                Some(_) => {}
            }
        }
    }

    /// The tasks to leave out; `None` where the person thinks again.
    fn simplify(&self) -> Option<BTreeSet<String>> {
        let phases = phases(&self.open);
        let answer = ask(&display::simplify_menu(&self.screen, &self.open, &phases))?;
        let skipped = left_out(&self.open, &answer);
        (!skipped.is_empty()).then_some(skipped)
    }
}

/// The phases of tasks, each once, in their order.
fn phases(open: &[TaskRef]) -> Vec<String> {
    let mut phases: Vec<String> = open.iter().filter_map(|task| task.phase.clone()).collect();
    phases.dedup();
    phases
}

/// What an answer leaves out: tasks by number or id, or all but one phase
/// (`p2`).
fn left_out(open: &[TaskRef], answer: &str) -> BTreeSet<String> {
    let answer = answer.trim();
    let phases = phases(open);
    let kept = phases.iter().find(|phase| {
        let key = answer.strip_prefix(['p', 'P']);
        key.is_some_and(|key| key.trim() == phase.as_str())
    });
    if let Some(kept) = kept {
        let others = open.iter().filter(|task| task.phase.as_ref() != Some(kept));
        return others.map(|task| task.id.clone()).collect();
    }
    let words = answer.split([',', ' ', '，', '、']);
    let by_name = |word: &str| {
        let number = word.parse::<usize>().ok();
        let by_number = number.and_then(|n| open.get(n.checked_sub(1)?));
        by_number
            .or_else(|| open.iter().find(|task| task.id == word))
            .map(|task| task.id.clone())
    };
    words.filter_map(by_name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_left_out_one_by_one_or_all_but_a_phase_valv_12() {
        let task = |id: &str, phase: &str| TaskRef {
            id: id.into(),
            text: String::new(),
            phase: Some(phase.into()),
        };
        let open = [task("T1", "1"), task("T2", "2"), task("T3", "2")];
        let open_without = [TaskRef::default()];
        for (answer, want) in [
            ("", &[][..]),
            ("1 T3", &["T1", "T3"]),
            ("2，3", &["T2", "T3"]),
            ("9", &[]),
            ("p2", &["T1"]),
            (" P1 ", &["T2", "T3"]),
            ("p7", &[]),
        ] {
            let left: Vec<String> = left_out(&open, answer).into_iter().collect();
            assert_eq!(left, want, "{answer}");
        }
        assert!(left_out(&open_without, "p").is_empty());
    }
}

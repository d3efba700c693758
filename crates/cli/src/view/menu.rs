//! The menu of a limit, on a thread of its own, so that signals and the rest
//! of the loop are not held up by somebody who thinks.

use std::collections::BTreeSet;

use ralph_core::display::{self, LimitMenuView, Screen};
use ralph_core::machine::{State, TaskRef};
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
        view: at_limit(state),
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
pub fn at_limit(state: &State) -> LimitMenuView {
    let (completed, pending) = done_and_open(state);
    LimitMenuView {
        iteration: state.turn.number,
        max_iterations: state.rules.limits.max_iterations,
        completed,
        pending: pending.join(", "),
        extend_by: state.rules.limits.extend_by,
    }
}

/// As the task file says, else the phases of a route, else the state file of a
/// delta loop (VALV-05).
fn done_and_open(state: &State) -> (String, Vec<String>) {
    let claims = &state.claims.file;
    let flow = state.rules.flow.as_ref().map(|rules| &rules.flow);
    let place = flow.zip(state.flow.position.as_ref());
    let count = |done: usize, total: usize| format!("{done}/{total}");
    if let Some(facts) = state.tasks.facts.as_ref().filter(|facts| facts.total > 0) {
        let open = facts.open.iter().map(|task| task.id.clone()).collect();
        (count(facts.completed, facts.total), open)
    } else if !claims.left().is_empty() {
        let (done, total) = claims.subtasks;
        (format!("{done}/{total}"), claims.left())
    } else if let Some((flow, position)) = place {
        let done = flow.phases().filter(|(index, _)| *index < position.step);
        let (done, total) = (done.count(), flow.phases().count());
        let open = (done + 1..=total).map(|number| format!("Phase {number}"));
        (count(done, total), open.collect())
    } else {
        (count(0, 0), Vec::new())
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
        let answer = ask(&display::simplify_menu(&self.screen, &self.open))?;
        let chosen = answer
            .split([',', ' ', '，', '、'])
            .filter(|word| !word.is_empty());
        let by_name = |word: &str| {
            let by_number = word
                .parse::<usize>()
                .ok()
                .and_then(|n| self.open.get(n.checked_sub(1)?));
            by_number
                .or_else(|| self.open.iter().find(|task| task.id == word))
                .map(|task| task.id.clone())
        };
        let skipped: BTreeSet<String> = chosen.filter_map(by_name).collect();
        (!skipped.is_empty()).then_some(skipped)
    }
}

//! The menu of a limit, on a thread of its own, so that signals and the rest
//! of the loop are not held up by somebody who thinks.

use std::collections::BTreeSet;

use ralph_core::display::{self, LimitMenuView, Screen};
use ralph_core::lang::{Lang, Say};
use ralph_core::machine::{FileClaims, State, TaskRef};
use ralph_core::tr;
use ralph_engine::driver::Choice;
use ralph_engine::steer::SteerError;
use tokio::sync::oneshot;

use crate::app::ask;

/// Everything the thread needs.
struct Menu {
    screen: Screen,
    view: LimitMenuView,
    open: Vec<TaskRef>,
    /// What goes with a part of a delta loop.
    claims: FileClaims,
}

/// Shows the menu and gives the channel on which the choice will come.
pub fn open(screen: Screen, state: &State, open: Vec<TaskRef>) -> oneshot::Receiver<Choice> {
    let menu = Menu {
        screen,
        view: at_limit(state, screen.lang),
        open,
        claims: state.claims.file.clone(),
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

    /// What an answer leaves out, where something stays to be done.
    fn left_out(&self, answer: &str) -> Result<BTreeSet<String>, Refused> {
        let skipped = left_out(&self.open, answer)?;
        let with_their_own = self
            .claims
            .with_their_own(skipped.iter().cloned().collect());
        let is_skipped = |task: &TaskRef| with_their_own.contains(&task.id);
        match !skipped.is_empty() && self.open.iter().all(is_skipped) {
            true => Err(Refused::NothingLeft),
            false => Ok(skipped),
        }
    }

    /// The tasks to leave out; `None` where the person thinks again.
    fn simplify(&self) -> Option<BTreeSet<String>> {
        let menu = display::simplify_menu(&self.screen, &self.open, &phases(&self.open));
        let mut question = menu.clone();
        loop {
            match self.left_out(&ask(&question)?) {
                Ok(skipped) => return (!skipped.is_empty()).then_some(skipped),
                Err(refused) => {
                    let refused = refused.say(self.screen.lang);
                    question = format!("{refused}\n{menu}");
                }
            }
        }
    }
}

/// An answer that leaves nothing out.
#[derive(Debug, PartialEq, Eq, Say)]
enum Refused {
    #[say("no open task is meant by {words}; nothing was left out: choose from the list", words = _0.join(", "))]
    Unknown(Vec<String>),
    #[say(SteerError::NothingLeft.say(lang))]
    NothingLeft,
}

/// The phases of tasks, each once, in their order.
fn phases(open: &[TaskRef]) -> Vec<String> {
    let mut phases: Vec<String> = open.iter().filter_map(|task| task.phase.clone()).collect();
    phases.dedup();
    phases
}

/// What an answer leaves out: tasks by number or id, or all but one phase
/// (`p2`).
fn left_out(open: &[TaskRef], answer: &str) -> Result<BTreeSet<String>, Refused> {
    let answer = answer.trim();
    let phases = phases(open);
    let kept = phases.iter().find(|phase| {
        let key = answer.strip_prefix(['p', 'P']);
        key.is_some_and(|key| key.trim() == phase.as_str())
    });
    let is_other = |task: &&TaskRef| task.phase.as_ref() != kept;
    let named: Vec<Result<&TaskRef, &str>> = match kept {
        Some(_) => open.iter().filter(is_other).map(Ok).collect(),
        None => {
            let words = answer.split([',', ' ', '，', '、']);
            let words = words.filter(|word| !word.is_empty());
            words.map(|word| by_name(open, word).ok_or(word)).collect()
        }
    };
    let unknown = named.iter().filter_map(|named| named.err());
    let unknown: Vec<String> = unknown.map(str::to_owned).collect();
    if !unknown.is_empty() {
        return Err(Refused::Unknown(unknown));
    }
    let named = named.into_iter().flatten();
    Ok(named.map(|task| task.id.clone()).collect())
}

fn by_name<'a>(open: &'a [TaskRef], word: &str) -> Option<&'a TaskRef> {
    let number = word.parse::<usize>().ok();
    let by_number = number.and_then(|n| open.get(n.checked_sub(1)?));
    by_number.or_else(|| open.iter().find(|task| task.id == word))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is not understood is named, and everything is not left out
    /// (VALV-12).
    #[test]
    fn tasks_are_left_out_one_by_one_or_all_but_a_phase_valv_12() {
        let task = |id: &str, phase: &str| TaskRef {
            id: id.into(),
            text: String::new(),
            phase: Some(phase.into()),
        };
        let menu = |open: &[TaskRef]| Menu {
            screen: Screen::default(),
            view: LimitMenuView::default(),
            open: open.to_vec(),
            claims: FileClaims::default(),
        };
        let three = menu(&[task("T1", "1"), task("T2", "2"), task("T3", "2")]);
        let unknown = |words: &[&str]| {
            let words = words.iter().copied().map(str::to_owned);
            Refused::Unknown(words.collect())
        };
        for (answer, want) in [
            ("", Ok(&[][..])),
            (" , ", Ok(&[])),
            ("1 T3", Ok(&["T1", "T3"])),
            ("2，3", Ok(&["T2", "T3"])),
            ("p2", Ok(&["T1"])),
            (" P1 ", Ok(&["T2", "T3"])),
            ("9", Err(unknown(&["9"]))),
            ("1 T999、0", Err(unknown(&["T999", "0"]))),
            ("p7", Err(unknown(&["p7"]))),
            ("1 2 3", Err(Refused::NothingLeft)),
            ("T3,T2,1", Err(Refused::NothingLeft)),
            ("1 2 3 4", Err(unknown(&["4"]))),
        ] {
            let want = want.map(|ids: &[&str]| ids.iter().copied().map(str::to_owned).collect());
            assert_eq!(three.left_out(answer), want, "{answer}");
        }
        let one_phase = menu(&[task("T1", "1")]);
        assert_eq!(one_phase.left_out("p1"), Ok(BTreeSet::new()));
        let no_phase = menu(&[TaskRef::default()]);
        assert_eq!(no_phase.left_out("p"), Err(unknown(&["p"])));
    }
}

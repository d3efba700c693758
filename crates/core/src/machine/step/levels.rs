//! How well work is shown: what is asked for, what the experiments say, and
//! what a person accepts.

use std::collections::{BTreeMap, BTreeSet};

use super::evidence::has_checks;
use super::next::{Next, stopped};
use super::out::Out;
use crate::machine::{
    CheckNotice, CommandResult, Goal, NoProof, Outcome, PauseReason, State, TaskRef, VerifyReport,
};
use crate::proof::{AskedProof, EvidenceLevel, Scale, Unshown, Verdict};
use crate::template::PromptNote;

/// A shell's words for "no such program" and "not executable".
const NOT_RUN: [i32; 2] = [126, 127];

/// Whether the run asks for more than a green check.
pub(super) fn weighs(state: &State) -> bool {
    state.rules.checks.level > EvidenceLevel::Claimed
}

/// A session has no time for it before the agent begins.
pub(super) fn wants_preflight(state: &State) -> bool {
    weighs(state) && has_checks(state) && state.session.is_none()
}

/// It was cut off before the first turn: nobody knows what was red then.
pub(super) fn lacks_preflight(state: &State) -> bool {
    wants_preflight(state) && state.turn.number == 0 && state.evidence.ground.checks.is_empty()
}

pub(super) fn take_preflight(state: &mut State, report: &VerifyReport, out: &mut Out) -> Next {
    if let Some(end) = stopped(state) {
        return end;
    }
    out.tell(CheckNotice::Preflight {
        results: report.results.clone(),
    });
    if let Some(result) = report.results.iter().find(|result| is_missing(result)) {
        let command = result.command.clone();
        return Next::Finish(Outcome::NoCheck { command });
    }
    let red = report
        .results
        .iter()
        .filter(|result| result.exit != Some(0));
    let all = report.results.iter().map(|result| result.command.clone());
    state.evidence.ground.checks = all.collect();
    state.evidence.ground.strays.clone_from(&report.strays);
    state.evidence.ground.red = red.map(|result| result.command.clone()).collect();
    state.evidence.ground.red_at_first = state.evidence.ground.red.clone();
    let ran = report
        .results
        .iter()
        .filter_map(|result| Some((result.command.clone(), result.ran?)));
    state.evidence.ground.ran_at_first = ran.collect();
    Next::GoOn
}

/// The shell does not know the program that the command begins with. A program
/// that it needs further on may be what the tasks are about.
fn is_missing(result: &CommandResult) -> bool {
    let is_setting = |word: &&str| word.contains('=');
    let mut words = result.command.split_whitespace().skip_while(is_setting);
    let first = words.next().unwrap_or_default();
    let says = |words: &str| result.output.contains(&format!("{first}: {words}"));
    result.exit.is_some_and(|code| NOT_RUN.contains(&code))
        && !first.is_empty()
        && (says("not found") || says("command not found") || says("Permission denied"))
}

/// A person's word is worth more than any experiment, and shown as theirs.
pub(super) fn accept(state: &mut State, tasks: &[String], why: &str, out: &mut Out) {
    for id in tasks {
        if id.is_empty() {
            let ground = &mut state.evidence.ground;
            ground.accepted_tree.clone_from(&ground.now_tree);
        }
        state
            .ticks
            .levels
            .insert(id.clone(), EvidenceLevel::Accepted);
        state.ticks.unchecked.retain(|task| task.id != *id);
        state.ticks.turned_back.retain(|turned| turned != id);
    }
    out.tell(CheckNotice::Accepted {
        tasks: tasks.to_vec(),
        why: why.to_owned(),
    });
}

/// Whether a person gave their word for it. For the whole work it covers what
/// they could look at, and nothing that was changed later.
pub(super) fn is_accepted(state: &State, id: &str) -> bool {
    let ground = &state.evidence.ground;
    let is_same = ground.now_tree.is_some() && ground.now_tree == ground.accepted_tree;
    state.ticks.levels.get(id) == Some(&EvidenceLevel::Accepted) && (is_same || !id.is_empty())
}

/// Says to the agent what is checked, and what a mark needs.
pub(super) fn note_checks(state: &mut State) {
    let checks = state.evidence.ground.checks.clone();
    if weighs(state) && !checks.is_empty() {
        state.notes.push(PromptNote::Checks { checks });
    }
}

/// A session's loop of another tool became ours when its agent stopped: nobody
/// knows what stood there before, and no work could be sent back for that.
fn was_before_us(state: &State) -> bool {
    let before = state.rules.turns_before;
    before > 0 && state.session.is_some() && state.turn.number == before + 1
}

/// What is asked of a task; of the whole work where `id` is empty.
pub(super) fn wanted(state: &State, id: &str) -> EvidenceLevel {
    let checks = &state.rules.checks;
    let is_checked = state.rules.verify.is_some() || checks.tasks.contains_key(id);
    let level = match is_checked {
        true => checks.level,
        false => checks.level.min(EvidenceLevel::Changed),
    };
    match checks.proofs.get(id) {
        Some(AskedProof::Person) => EvidenceLevel::Accepted,
        Some(AskedProof::Change) => level.min(EvidenceLevel::Changed),
        Some(AskedProof::Preserved) => level.min(EvidenceLevel::Preserved),
        Some(AskedProof::Tests) | None => level,
    }
}

/// The tasks of this run that are done, and not shown as well as was asked.
pub(super) fn unshown(state: &State) -> Vec<String> {
    if !weighs(state) || is_one_piece(state) {
        return Vec::new();
    }
    let done = state.ticks.done.difference(&state.ticks.before);
    let is_below = |id: &&String| {
        let level = state.ticks.levels.get(*id).copied();
        level.unwrap_or(EvidenceLevel::Claimed) < wanted(state, id)
    };
    done.filter(is_below).cloned().collect()
}

/// The same, with the whole work, which has no name.
pub(super) fn short_of_proof(state: &State) -> Vec<String> {
    let mut short = unshown(state);
    let whole = state.ticks.levels.get("").copied();
    let is_below = weighs(state) && whole.is_some_and(|level| level < wanted(state, ""));
    // Where nothing could check it, a person's word is all that can end it.
    let unproven = Outcome::Paused {
        reason: PauseReason::Unproven,
    };
    let rests = state.rules.goal == Goal::Prompt && state.outcome() == Some(&unproven);
    if is_below || rests && !is_accepted(state, "") {
        short.push(String::new());
    }
    short
}

/// What one verification can show: each test that goes red without the work
/// shows one task, a check that was red before shows them all.
pub(super) struct Bench<'a> {
    report: &'a VerifyReport,
    /// Tests that are left to show a task with; `None` is any number.
    left: Option<usize>,
    fresh: bool,
    /// Checks for which work was sent back.
    sent_back: BTreeSet<String>,
    /// A tick stands: the next work begins here.
    stands: bool,
    /// Tasks that a person has to be asked about, with the checks that changed.
    asked: Vec<(String, Vec<String>)>,
}

/// What becomes of a tick.
pub(super) enum Fate {
    Stands(EvidenceLevel, Option<Unshown>),
    Refused(NoProof),
}

impl<'a> Bench<'a> {
    pub fn new(report: &'a VerifyReport) -> Bench<'a> {
        Bench {
            report,
            left: Some(0),
            fresh: true,
            sent_back: BTreeSet::new(),
            stands: false,
            asked: Vec::new(),
        }
    }

    /// What only a person can tell.
    pub fn take_asked(&mut self) -> Vec<(String, Vec<String>)> {
        std::mem::take(&mut self.asked)
    }

    /// Judges one task, or the whole work where `id` is empty. Its commands
    /// are green.
    pub fn judge(&mut self, state: &mut State, id: &str, out: &mut Out) -> Fate {
        if !weighs(state) {
            return self.stand(EvidenceLevel::Claimed, None);
        }
        if is_accepted(state, id) {
            return self.stand(EvidenceLevel::Accepted, None);
        }
        let verdict = self.verdict(state, id);
        if verdict.expectations_changed && state.rules.checks.ask_about_changed {
            let weighed = self.report.weighed.as_ref();
            let files = weighed
                .map(|weighed| weighed.checks.clone())
                .unwrap_or_default();
            self.asked.push((id.to_owned(), files.clone()));
            return Fate::Refused(NoProof::Unshown(Unshown::Rewritten { files }));
        }
        if verdict.expectations_changed {
            let files = self
                .report
                .weighed
                .as_ref()
                .map(|weighed| weighed.checks.clone());
            out.tell(CheckNotice::ExpectationsChanged {
                iteration: state.turn.number,
                task: id.to_owned(),
                files: files.unwrap_or_default(),
            });
        }
        if verdict.by_name {
            out.tell(CheckNotice::BoundByName {
                iteration: state.turn.number,
                task: id.to_owned(),
            });
        }
        let wanted = wanted(state, id);
        let Some(why) = verdict.why.filter(|_| verdict.level < wanted) else {
            return match verdict.level < wanted {
                // Nothing that the agent does could help.
                true => self.stand(verdict.level, Some(Unshown::Person)),
                false => self.stand(verdict.level, None),
            };
        };
        if verdict.level == EvidenceLevel::Refuted {
            self.ask_about(state, id, &why);
            return Fate::Refused(NoProof::Unshown(why));
        }
        if wanted == EvidenceLevel::Accepted {
            return self.stand(verdict.level, Some(Unshown::Person));
        }
        if was_before_us(state) {
            return self.stand(verdict.level, Some(why));
        }
        let key = self
            .commands(state, id)
            .first()
            .cloned()
            .unwrap_or_default();
        let sent_back = state
            .evidence
            .ground
            .sent_back
            .get(&key)
            .copied()
            .unwrap_or(0);
        if sent_back >= state.rules.checks.asks {
            return self.stand(verdict.level, Some(why));
        }
        self.sent_back.insert(key);
        Fate::Refused(NoProof::Unshown(why))
    }

    /// Checks of before that fail may be what the task is about: a person is
    /// asked at once where they want it so, else where saying it did not help.
    fn ask_about(&mut self, state: &State, id: &str, why: &Unshown) {
        let (Unshown::Originals { files, .. } | Unshown::Kept { files, .. }) = why else {
            return;
        };
        let key = format!("changed checks of {id}");
        let known = state.evidence.ground.sent_back.get(&key);
        let checks = &state.rules.checks;
        if checks.ask_about_changed || known.is_some_and(|count| *count >= checks.asks) {
            self.asked.push((id.to_owned(), files.clone()));
        }
        self.sent_back.insert(key);
    }

    fn stand(&mut self, level: EvidenceLevel, why: Option<Unshown>) -> Fate {
        self.stands = true;
        Fate::Stands(level, why)
    }

    fn commands(&self, state: &State, id: &str) -> Vec<String> {
        match state.rules.checks.tasks.get(id) {
            Some(own) => own.clone(),
            None => {
                let project = self.report.results.iter().filter(|result| !result.of_task);
                project.map(|result| result.command.clone()).collect()
            }
        }
    }

    fn verdict(&mut self, state: &mut State, id: &str) -> Verdict {
        let commands = self.commands(state, id);
        if commands.is_empty() {
            return changed(state);
        }
        let ground = &state.evidence.ground;
        let scale = Scale {
            report: self.report,
            commands: &commands,
            asked: state.rules.checks.proofs.get(id).copied(),
            red_before: &ground.red,
            red_at_first: &ground.red_at_first,
            ran_at_first: ran_at_first(state),
        };
        let verdict = scale.weigh();
        let has_own = state.rules.checks.tasks.contains_key(id);
        match (verdict.level, &verdict.why) {
            // What showed a task with tests to spare shows the next as well.
            (EvidenceLevel::Claimed, Some(Unshown::NothingChanged)) if ground.spare > 0 => {
                state.evidence.ground.spare -= 1;
                Verdict {
                    level: EvidenceLevel::Proven,
                    why: None,
                    ..verdict
                }
            }
            (EvidenceLevel::Proven, _) if !has_own => {
                let was_red = commands.iter().any(|command| ground.red.contains(command));
                self.take_one(was_red, verdict)
            }
            _ => verdict,
        }
    }

    fn take_one(&mut self, was_red: bool, verdict: Verdict) -> Verdict {
        if std::mem::take(&mut self.fresh) {
            self.left = (!was_red).then(|| verdict.bound_tests.unwrap_or(1));
        }
        match &mut self.left {
            None => verdict,
            Some(0) => Verdict {
                level: EvidenceLevel::Unrefuted,
                why: Some(Unshown::TooFew),
                ..verdict
            },
            Some(left) => {
                *left -= 1;
                verdict
            }
        }
    }

    /// What this verification leaves behind.
    pub fn end(self, state: &mut State) {
        let ground = &mut state.evidence.ground;
        for key in self.sent_back {
            *ground.sent_back.entry(key).or_default() += 1;
        }
        if !self.stands {
            return;
        }
        if !self.fresh {
            ground.spare = self.left.unwrap_or(0);
        }
        ground.rebase();
        for result in &self.report.results {
            match result.exit == Some(0) {
                true => ground.red.remove(&result.command),
                false => ground.red.insert(result.command.clone()),
            };
        }
    }
}

/// What speaks against the checks themselves, on the final contents. What a
/// person accepted may have changed them.
pub(super) fn refuted(state: &State, report: &VerifyReport) -> Option<NoProof> {
    let accepted = state.ticks.levels.keys().any(|id| is_accepted(state, id));
    let commands: Vec<String> = report
        .results
        .iter()
        .map(|result| result.command.clone())
        .collect();
    let scale = Scale {
        report,
        commands: &commands,
        asked: None,
        red_before: &state.evidence.ground.red,
        red_at_first: &state.evidence.ground.red_at_first,
        ran_at_first: ran_at_first(state),
    };
    let verdict = scale.weigh();
    let is_refuted = verdict.level == EvidenceLevel::Refuted && !accepted;
    verdict.why.filter(|_| is_refuted).map(NoProof::Unshown)
}

/// Where a person lets tests change, fewer of them may run.
fn ran_at_first(state: &State) -> Option<&BTreeMap<String, u32>> {
    let may_change = !state.rules.checks.may_change.is_empty();
    (!may_change).then_some(&state.evidence.ground.ran_at_first)
}

/// Where nothing can be checked, a change is all that can be seen.
fn changed(state: &State) -> Verdict {
    let (level, why) = match state.evidence.ground.has_changed() {
        true => (EvidenceLevel::Changed, None),
        false => (EvidenceLevel::Claimed, Some(Unshown::NothingChanged)),
    };
    Verdict {
        level,
        why,
        bound_tests: None,
        expectations_changed: false,
        by_name: false,
    }
}

/// Whether the run is about the whole work, not about boxes.
pub(super) fn is_one_piece(state: &State) -> bool {
    !matches!(state.rules.goal, Goal::Tasks { .. })
}

/// Ticks that nothing checks: a change has to be there.
pub(super) fn unchecked_without_checks(state: &State) -> Vec<TaskRef> {
    let has_no_check = |task: &&TaskRef| {
        state.rules.verify.is_none() && !state.rules.checks.tasks.contains_key(&task.id)
    };
    state
        .ticks
        .unchecked
        .iter()
        .filter(has_no_check)
        .cloned()
        .collect()
}

//! Questions that don't block: parked with their task while the loop goes on
//! with what does not depend on them.

use super::levels;
use super::next::Next;
use super::out::Out;
use crate::lang::Lang;
use crate::machine::question::{ParsedQuestion, parse};
use crate::machine::{
    Outcome, PauseReason, Question, QuestionNotice, RepliedBy, Reply, Stage, State, TaskRef,
    WaitReason,
};
use crate::template::PromptNote;

/// An agent with more open questions than this is blocked. It is less than
/// the tasks that are looked at for one that can be worked on.
const MOST_OPEN: usize = 6;

/// `BLOCKED: which of the two?` asks something that can be answered.
pub(super) fn is_question(state: &State, words: &str) -> bool {
    state.rules.question_wait_ms.is_some() && parse(words).text.trim_end().ends_with(['?', '？'])
}

/// The agent asks. What it asked before is not asked again.
pub(super) fn ask(state: &mut State, words: &str, out: &mut Out) -> Next {
    state.counters.false_promise = 0;
    let Some(wait_ms) = state.rules.question_wait_ms else {
        return block(words);
    };
    let asked = parse(words);
    let task = state.turn.task.clone();
    let id = |task: &Option<TaskRef>| task.as_ref().map(|task| task.id.clone());
    let same =
        |question: &&Question| id(&question.task) == id(&task) && question.text == asked.text;
    match state.questions.iter().find(same) {
        Some(question) => {
            let again = answered(question);
            state.notes.extend(again);
            Next::Unclaimed
        }
        None if state.open_questions().count() >= MOST_OPEN => block(words),
        None => {
            let task = state.turn.task.clone();
            park(state, task, asked, Vec::new(), wait_ms, out);
            Next::Unclaimed
        }
    }
}

/// Checks of before fail, and only a person can tell whether they should.
/// What was answered once is not asked again.
pub(super) fn ask_about_checks(state: &mut State, task: &TaskRef, files: &[String], out: &mut Out) {
    let Some(wait_ms) = state.rules.question_wait_ms else {
        return;
    };
    let is_same = |question: &Question| {
        let of_task = question.task.as_ref().is_some_and(|of| of.id == task.id);
        of_task && question.changed_checks == files
    };
    let is_full = state.open_questions().count() >= MOST_OPEN;
    if is_full || files.is_empty() || state.questions.iter().any(is_same) {
        return;
    }
    let asked = ParsedQuestion {
        text: Question::about_checks(files, Lang::En),
        options: vec![ACCEPT.into()],
        default: None,
    };
    park(
        state,
        Some(task.clone()),
        asked,
        files.to_vec(),
        wait_ms,
        out,
    );
}

/// The answer by which a person takes a task as it is.
const ACCEPT: &str = "accept";

fn block(words: &str) -> Next {
    let reason = words.into();
    Next::Finish(Outcome::Blocked { reason })
}

fn park(
    state: &mut State,
    task: Option<TaskRef>,
    asked: ParsedQuestion,
    changed_checks: Vec<String>,
    wait_ms: u64,
    out: &mut Out,
) {
    let now = state.now().wall_ms;
    let ahead = i64::try_from(wait_ms).unwrap_or(i64::MAX);
    let question = Question {
        id: u32::try_from(state.questions.len()).unwrap_or(u32::MAX) + 1,
        turn: state.turn.number,
        task,
        text: asked.text,
        changed_checks,
        options: asked.options,
        default: asked.default,
        asked_ms: now,
        deadline_ms: now.saturating_add(ahead),
        reply: None,
    };
    out.tell(QuestionNotice::Asked {
        iteration: state.turn.number,
        question: question.clone(),
    });
    state.questions.push(question);
}

/// A person answers. A run that waits for nothing else goes on at once; one
/// that is paused takes the answer up when it is resumed.
pub(super) fn take_reply(state: &mut State, id: u32, text: &str, out: &mut Out) -> Next {
    let taken = reply(state, id, text, RepliedBy::Person, out);
    if taken && waits_for_answer(state) {
        Next::Decide
    } else {
        Next::Rest
    }
}

fn waits_for_answer(state: &State) -> bool {
    state.stage == Stage::Waiting && state.waits_for == Some(WaitReason::Answer)
}

/// A person wants the task tried again: its questions wait for nobody.
pub(super) fn let_go_of(state: &mut State, task: &str, out: &mut Out) {
    let of_task = |question: &&Question| question.task.as_ref().is_some_and(|t| t.id == task);
    let ids: Vec<u32> = state
        .open_questions()
        .filter(of_task)
        .map(|q| q.id)
        .collect();
    for id in ids {
        reply(state, id, "try again", RepliedBy::Person, out);
    }
}

/// `false` where there is no such open question.
fn reply(state: &mut State, id: u32, text: &str, by: RepliedBy, out: &mut Out) -> bool {
    let at_ms = state.now().wall_ms;
    let mut open = state.questions.iter_mut().filter(|q| q.is_open());
    let Some(question) = open.find(|question| question.id == id) else {
        return false;
    };
    question.reply = Some(Reply {
        text: text.into(),
        by,
        at_ms,
    });
    let question = question.clone();
    let accepts = !question.changed_checks.is_empty() && text.trim().eq_ignore_ascii_case(ACCEPT);
    if let (true, Some(task)) = (accepts, &question.task) {
        levels::accept(state, std::slice::from_ref(&task.id), "", out);
    }
    state.notes.extend(answered(&question));
    out.tell(QuestionNotice::Answered {
        iteration: state.turn.number,
        question,
    });
    true
}

fn answered(question: &Question) -> Option<PromptNote> {
    let reply = question.reply.as_ref()?;
    Some(PromptNote::Answered {
        task: question.task.as_ref().map(TaskRef::name),
        question: question.text.clone(),
        answer: reply.text.clone(),
        by_default: reply.by == RepliedBy::Default,
    })
}

/// Whether nothing is left that does not wait for an answer. Defaults whose
/// time has come are taken first.
pub(super) fn hold_everything(state: &mut State, out: &mut Out) -> bool {
    take_defaults(state, out);
    state.is_held_up()
}

fn take_defaults(state: &mut State, out: &mut Out) {
    let now = state.now().wall_ms;
    let due = |question: &Question| {
        let default = question.default.clone()?;
        (question.deadline_ms <= now).then_some((question.id, default))
    };
    let due: Vec<(u32, String)> = state.open_questions().filter_map(due).collect();
    for (id, default) in due {
        reply(state, id, &default, RepliedBy::Default, out);
    }
}

/// Sleeps until the next deadline; where all are over, only a person helps.
pub(super) fn wait_for_answer(state: &State) -> Next {
    let now = state.now().wall_ms;
    let ahead = |question: &Question| {
        let left = question.deadline_ms.saturating_sub(now);
        u64::try_from(left).ok().filter(|&ms| ms > 0)
    };
    match state.open_questions().filter_map(ahead).min() {
        Some(ms) => Next::Wait {
            ms,
            why: WaitReason::Answer,
        },
        None => Next::pause(PauseReason::Question),
    }
}

/// Nobody is there to wait for an answer: the run rests until it is resumed.
pub(super) fn let_go(state: &State) -> Next {
    if waits_for_answer(state) {
        Next::pause(PauseReason::Question)
    } else {
        Next::Rest
    }
}

/// Every prompt says what is parked, for as long as it is.
pub(super) fn remind(state: &mut State) {
    let name = |question: &Question| {
        let task = question.task.as_ref().map(|task| task.id.as_str());
        format!("{}: {}", task.unwrap_or("-"), question.text)
    };
    let waiting: Vec<String> = state.open_questions().map(name).collect();
    let notes = &mut state.notes.next;
    notes.retain(|note| !matches!(note, PromptNote::Parked { .. }));
    if !waiting.is_empty() {
        state.notes.push(PromptNote::Parked { waiting });
    }
}

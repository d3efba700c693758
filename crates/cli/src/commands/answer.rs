//! `ralph answer`: what the agent wants to know, and what a person says.

use ralph_core::lang::{Lang, Say};
use ralph_core::machine::Question;
use ralph_core::tr;
use ralph_engine::control::{self, ControlError};
use ralph_engine::mailbox::{Wish, reply_text};
use ralph_engine::past::{self, Past};
use ralph_store::layout::{Layout, RunPaths};

use crate::app::{App, Exit, OrFail};
use crate::args::AnswerArgs;
use crate::around::{client_around, only_people, refuse_agent, session_around};
use crate::view::blocks;

pub fn run(app: &App, args: &AnswerArgs) -> Exit {
    let layout = app.layout();
    let (paths, past) = latest(app, &layout)?;
    let open: Vec<&Question> = past.state.open_questions().collect();
    if args.words.is_empty() {
        return list(app, &open, args.json);
    }
    let session = past.state.session.as_ref();
    only_people(app)?;
    refuse_session(app, session.map(|session| session.id.as_str()))?;
    let Some((question, words)) = chosen(&open, &args.words.join(" ")) else {
        return app.refuse(&which(app.lang(), &open));
    };
    let Some(text) = reply_text(&question.meant(&words)) else {
        return app.refuse(&tr!(app.lang(), "an answer has 1 to 4,000 characters"));
    };
    let given = give(&layout, &paths, question.id, &text);
    let given = given.or_else(|error| app.fail(error.as_ref()))?;
    let goes_on = match (given, &past.state.session, past.state.outcome()) {
        (true, ..) | (false, Some(_), None) => GoesOn::Itself,
        (false, Some(_), Some(_)) => GoesOn::InSession,
        (false, None, _) => GoesOn::Resumed,
    };
    app.tell(&answered(question.id, &text, goes_on, app.lang()));
    Ok(0)
}

/// Whether the run goes on by itself with the answer.
fn give(
    layout: &Layout,
    paths: &RunPaths,
    question: u32,
    text: &str,
) -> Result<bool, Box<dyn Say>> {
    let wish = Wish::Answer {
        question,
        text: text.into(),
    };
    match control::tell(layout, wish, false) {
        Ok(_) => Ok(true),
        Err(ControlError::NothingRuns) => control::answer_later(layout, paths, question, text)
            .map(|()| false)
            .map_err(|error| Box::new(error) as Box<dyn Say>),
        Err(error) => Err(Box::new(error)),
    }
}

/// What has to be done so that a run goes on with an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoesOn {
    Itself,
    InSession,
    Resumed,
}

pub fn answered(id: u32, text: &str, goes_on: GoesOn, lang: Lang) -> String {
    match goes_on {
        GoesOn::Itself => tr!(lang, "question {id} is answered: {text}"),
        GoesOn::InSession => tr!(
            lang,
            "question {id} is answered: {text}; say \"continue\" in the session, or `ralph resume` goes on with it"
        ),
        GoesOn::Resumed => tr!(
            lang,
            "question {id} is answered: {text}; `ralph resume` goes on with it"
        ),
    }
}

fn latest(app: &App, layout: &Layout) -> Result<(RunPaths, Past), u8> {
    let Some(run) = layout.latest_run().or_fail(app)? else {
        return app.refuse(&no_run(app));
    };
    let past = past::read(&run).or_fail(app)?;
    Ok((run, past))
}

pub fn no_run(app: &App) -> String {
    let none = || {
        tr!(
            app.lang(),
            "no loop has run here yet; start one with `ralph run`"
        )
    };
    moved(app).unwrap_or_else(none)
}

/// Where the runs of this project lie, if it was moved since.
pub fn moved(app: &App) -> Option<String> {
    let known = app.home.moved_to(&app.root)?;
    let (from, state) = (known.root.display(), known.dir.display());
    Some(tr!(
        app.lang(),
        "no loop has run here yet; this project was {from} before, and its runs lie in {state}: `ralph where --adopt` brings them here"
    ))
}

/// `ID TEXT`, or only the text where there is only one question.
pub fn chosen<'a>(open: &[&'a Question], words: &str) -> Option<(&'a Question, String)> {
    let words = words.trim();
    let (first, rest) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
    let by_id = open.iter().find(|q| first.parse() == Ok(q.id)).copied();
    match (open, by_id) {
        (_, Some(question)) if !rest.trim().is_empty() => Some((question, rest.trim().to_owned())),
        ([only], _) => Some((*only, words.to_owned())),
        _ => None,
    }
}

pub fn which(lang: Lang, open: &[&Question]) -> String {
    if open.is_empty() {
        return tr!(lang, "no question is open; `ralph answer` lists them");
    }
    let ids: Vec<String> = open.iter().map(|q| q.id.to_string()).collect();
    let ids = ids.join(", ");
    tr!(
        lang,
        "say which question: `ralph answer ID TEXT`; open are {ids}"
    )
}

fn list(app: &App, open: &[&Question], json: bool) -> Exit {
    if json {
        let open: Vec<_> = open.iter().map(|question| question.to_json()).collect();
        app.json(&serde_json::Value::from(open));
        return Ok(0);
    }
    if open.is_empty() {
        app.tell(&tr!(app.lang(), "no question is open"));
    }
    for question in open {
        app.tell(&blocks::question(question, app.lang()));
    }
    Ok(0)
}

/// An agent must not answer its own question; nor may a command that the agent
/// of that session runs.
pub fn refuse_session(app: &App, session: Option<&str>) -> Result<(), u8> {
    let of_session = session_around(client_around());
    match session.is_some() && of_session.as_deref() == session {
        false => Ok(()),
        true => refuse_agent(app),
    }
}

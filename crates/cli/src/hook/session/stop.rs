//! The Stop hook: sends the agent on while the work is not done (STOP-01 to
//! STOP-13).

use std::time::{Duration, Instant};

use ralph_core::lang::{Lang, Say};
use ralph_core::machine::Request;
use ralph_core::promise::{self, PromiseRules};
use ralph_core::tr;
use ralph_engine::agents::Client;
use ralph_engine::session::{
    Next, SessionError, SessionLoop, Stopped, Verdict, adopt, index, transcript,
};
use ralph_store::layout::Layout;

use super::answer::Reply;
use super::heard::Heard;
use crate::app;
use crate::insession::cap::cap;
use crate::insession::{Adopts, Here, Problem, ending, has_foreign_file, with_announcements};

/// What a hook may take where its entry does not say: every client gives it
/// that.
const USUAL_TIME: Duration = Duration::from_secs(30);
/// Kept for the last look at CI, and for the answer.
const TO_ANSWER: Duration = Duration::from_secs(10);

pub fn answer(heard: &Heard, layout: Layout, within: Option<Duration>) -> Reply {
    let began = Instant::now();
    // A subagent's end is not the session's.
    if heard.agent_id.is_some() {
        return Reply::default();
    }
    let here = Here::new(layout, &heard.session, heard.host.into_str());
    let lang = app::environment_lang();
    match find(&here) {
        Ok(None) => Reply::default(),
        Ok(Some(opened)) => {
            let time = within.unwrap_or(USUAL_TIME).saturating_sub(TO_ANSWER);
            let hook = Hook { began, time };
            drive(&here, opened, heard, hook)
        }
        Err(problem) => Reply::warning(problem.say(lang)),
    }
}

/// When this hook began, and what it may take.
#[derive(Clone, Copy)]
struct Hook {
    began: Instant,
    time: Duration,
}

impl Hook {
    /// How long CI may still be waited for, of the time that `pr.hook_wait`
    /// allows.
    fn patience(self, hook_wait: Duration) -> Duration {
        hook_wait
            .min(self.time)
            .saturating_sub(self.began.elapsed())
    }
}

/// The loop of this session: its own run, one that waits for a session, or
/// what another tool began.
fn find(here: &Here) -> Result<Option<SessionLoop>, Problem> {
    if let Some(run) = here.run() {
        // Beside a loop that rests a person may have begun another one.
        if has_foreign_file(&here.layout)
            && let Ok(Some(foreign)) = adopt::find(&here.layout, &here.session)
            && here.is_at_rest(&run)
        {
            return here.adopt(&foreign, Adopts::Hook).map(Some);
        }
        let opened = here.open(&run);
        let opened = opened.inspect_err(|problem| here.give_up(&run, problem))?;
        // Another session took it up meanwhile: it is not ours any more.
        if opened.session_id() != here.session {
            index::forget(&here.layout, &here.session);
            return Ok(None);
        }
        if opened.state().outcome().is_none() || opened.is_answered() {
            return Ok(Some(opened));
        }
    }
    if !has_foreign_file(&here.layout) {
        return Ok(None);
    }
    let foreign = adopt::find(&here.layout, &here.session).map_err(Problem::Foreign)?;
    foreign
        .map(|foreign| here.adopt(&foreign, Adopts::Hook))
        .transpose()
}

fn drive(here: &Here, mut opened: SessionLoop, heard: &Heard, hook: Hook) -> Reply {
    let lang = opened.plan().lang;
    if opened.is_answered() {
        return match opened.resume(None) {
            Ok(verdict) => reply(&opened, verdict),
            Err(error) => failed(here, &opened, error),
        };
    }
    let said = match said(&opened, heard) {
        Ok(said) => said,
        Err(error) => {
            let _ = opened.leave(Request::Interrupt);
            return failed(here, &opened, error);
        }
    };
    let stopped = Stopped {
        said,
        cap: cap(heard.host),
        patience: hook.patience(opened.plan().hook_wait),
    };
    let mut next = opened.stop(&stopped);
    loop {
        match next {
            Ok(Next::Answer(verdict)) => return reply(&opened, verdict),
            Ok(Next::Sleep(sleep)) => {
                let run = opened.paths().id.clone();
                // Others may pause, cancel or take it up meanwhile.
                drop(opened);
                std::thread::sleep(sleep);
                opened = match here.open(&run) {
                    Ok(opened) => opened,
                    Err(problem) => return Reply::warning(problem.say(lang)),
                };
                if opened.session_id() != here.session {
                    return Reply::default();
                }
                next = opened.wake(hook.patience(opened.plan().hook_wait));
            }
            Err(error) => return failed(here, &opened, error),
        }
    }
}

/// The agent may stop, and is told why.
fn failed(here: &Here, opened: &SessionLoop, error: SessionError) -> Reply {
    let problem = Problem::Session(error);
    here.give_up(&opened.paths().id, &problem);
    Reply::warning(problem.say(opened.plan().lang))
}

fn reply(opened: &SessionLoop, verdict: Verdict) -> Reply {
    let lang = opened.plan().lang;
    match verdict {
        Verdict::GoOn(go_on) => Reply {
            block: Some(go_on.text),
            message: Some(with_announcements(
                &go_on.banner, &opened.announcements, lang,
            )),
            context: None,
        },
        Verdict::Ended(ended) => Reply::warning(ending(opened, &ended)),
    }
}

/// What the agent said last (PROM-16).
fn said(opened: &SessionLoop, heard: &Heard) -> Result<String, SessionError> {
    if let Some(whole) = &heard.whole_response {
        return Ok(transcript::news(&opened.paths().dir.join("heard"), whole));
    }
    if let Some(message) = &heard.last_message {
        return Ok(message.clone());
    }
    let path = heard.transcript.clone().unwrap_or_default();
    if heard.host == Client::Copilot {
        transcript::wait_for_copilot(&path, &heard.time);
    }
    match transcript::last_text(&path) {
        Ok(text) => Ok(text.unwrap_or_default()),
        Err(_) => Err(SessionError::NothingHeard { transcript: path }),
    }
}

/// `ralph run` drives this agent, and sends it on itself (LOOP-18).
pub fn is_driven_from_outside() -> bool {
    std::env::var("RALPH_MODE").is_ok_and(|mode| mode == "external")
}

/// Once, that the answer ends with a promise (STOP-05).
pub fn ask_for_the_promise(heard: &Heard) -> Reply {
    let said = match (&heard.last_message, &heard.whole_response) {
        (Some(said), _) | (None, Some(said)) => said,
        (None, None) => return Reply::default(),
    };
    let detection = promise::detect(said, &PromiseRules::default(), None);
    if heard.stop_hook_active || detection.promise.is_some() {
        return Reply::default();
    }
    Reply::block(no_promise(app::environment_lang()))
}

fn no_promise(lang: Lang) -> String {
    tr!(
        lang,
        "Your reply has no promise tag. End it with exactly one of the <promise> tags that your instructions name, on its own line at the end."
    )
}

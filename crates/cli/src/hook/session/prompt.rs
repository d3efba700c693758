//! The UserPromptSubmit hook: what a person says to the loop (INTR-01,
//! INTR-03, RESM-01).

use std::path::Path;

use ralph_core::lang::Say;
use ralph_core::machine::Request;
use ralph_core::session::words::{self, Said, Start};
use ralph_engine::session::{Verdict, index};

use super::answer::Reply;
use super::heard::Heard;
use crate::app;
use crate::insession::{Here, Problem, Steered, ending, no_loop, with_announcements};

pub fn answer(heard: &Heard, root: &Path) -> Reply {
    let here = Here::new(root, &heard.session, heard.host.name());
    let Some(said) = words::read(&heard.prompt) else {
        note_person(&here, heard);
        return Reply::default();
    };
    let lang = app::environment_lang();
    // A word of the language means something to a loop only.
    let is_word = matches!(said, Said::Pause | Said::Continue) && !heard.prompt.contains("ralph");
    match act(&here, &said) {
        Ok(Steered::Told(text)) if said == Said::Status => Reply::block(text),
        Ok(Steered::Told(text)) => Reply::context(text),
        Ok(Steered::Ended(text)) => Reply::block(text),
        Ok(Steered::NoLoop) if is_word => Reply::default(),
        Ok(Steered::NoLoop) => Reply::block(no_loop(lang)),
        Err(problem) => Reply::block(problem.say(lang)),
    }
}

fn act(here: &Here, said: &Said) -> Result<Steered, Problem> {
    match said {
        Said::Start(arguments) => {
            let start = Start::parse(arguments).map_err(Problem::Start)?;
            begin(here, &start)
        }
        Said::Cancel => here.leave(Request::Cancel),
        Said::Pause => here.leave(Request::Pause),
        Said::Continue => here.go_on(),
        Said::Answer(words) => here.answer(words),
        Said::Status => {
            let status = here.status()?;
            Ok(status.map_or(Steered::NoLoop, Steered::Told))
        }
    }
}

fn begin(here: &Here, start: &Start) -> Result<Steered, Problem> {
    let (opened, verdict) = here.start(start)?;
    let lang = opened.plan().lang;
    Ok(match verdict {
        Verdict::GoOn(go_on) => {
            let announcements = &opened.announcements;
            Steered::Told(with_announcements(&go_on.text, announcements, lang))
        }
        Verdict::Ended(ended) => Steered::Ended(ending(&opened, &ended)),
    })
}

/// A person spoke, so that the client counts its blocks anew.
fn note_person(here: &Here, heard: &Heard) {
    if let Some(run) = index::find(&here.layout, &here.session) {
        let paths = here.layout.run(&run);
        if !index::is_told(&paths, &heard.prompt) {
            index::note_acted(&paths);
        }
    }
}

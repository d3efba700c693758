//! The UserPromptSubmit hook: what a person says to the loop (INTR-01,
//! INTR-03, RESM-01).

use std::path::{Path, PathBuf};

use ralph_core::lang::{Lang, Say};
use ralph_core::machine::Request;
use ralph_core::session::task::Do;
use ralph_core::session::words::{self, Said, Start};
use ralph_engine::agents::Client;
use ralph_engine::session::{Verdict, index};
use ralph_store::layout::Layout;

use super::answer::Reply;
use super::heard::Heard;
use crate::app;
use crate::commands::resume::Choice;
use crate::insession::cap::low_cap;
use crate::insession::{Here, Problem, Steered, beginning, ending, no_loop};

pub fn answer(heard: &Heard, layout: Layout) -> Reply {
    let here = Here::new(layout, &heard.session, heard.host.into_str());
    let lang = app::environment_lang();
    if let Some(offered) = index::take_offer(&here.layout, &here.session)
        && let Some(choice) = Choice::typed(&heard.prompt)
    {
        match here.choose(&offered, choice) {
            Ok(Some(steered)) => return told(steered, lang),
            Ok(None) => {}
            Err(problem) => return Reply::block(problem.say(lang)),
        }
    }
    let Some(said) = words::read(&heard.prompt) else {
        note_person(&here, heard);
        return Reply::default();
    };
    if matches!(said, Said::Do(_) | Said::Resume) && is_anothers_command(heard, here.root()) {
        return Reply::default();
    }
    reply(&here, &said, heard).unwrap_or_else(|problem| Reply::block(problem.say(lang)))
}

fn reply(here: &Here, said: &Said, heard: &Heard) -> Result<Reply, Problem> {
    let lang = app::environment_lang();
    // A word of the language means something to a loop only.
    let is_word = matches!(said, Said::Pause | Said::Continue) && !heard.prompt.contains("ralph");
    let steered = match said {
        Said::Start(arguments) => {
            let start = Start::parse(arguments).map_err(Problem::Start)?;
            return begin(here, &start, heard.host);
        }
        Said::Do(arguments) => {
            let wish = Do::parse(arguments).map_err(Problem::Do)?;
            return match wish.explain {
                // The person sees the card; the agent has nothing to do.
                true => Ok(Reply::block(here.card(&wish)?.say(lang))),
                false => begin(here, &wish.start, heard.host),
            };
        }
        Said::Status => {
            let status = here.status()?;
            return Ok(Reply::block(status.unwrap_or_else(|| no_loop(lang))));
        }
        Said::Cancel => here.leave(Request::Cancel)?,
        Said::Pause => here.leave(Request::Pause)?,
        Said::Continue => here.go_on()?,
        Said::Resume => here.offer()?,
        Said::Answer(words) => here.answer(words)?,
    };
    Ok(match steered {
        Steered::NoLoop if is_word => Reply::default(),
        steered => told(steered, lang),
    })
}

fn told(steered: Steered, lang: Lang) -> Reply {
    match steered {
        Steered::Told(text) => Reply::context(text),
        Steered::TakenUp(text, message) => Reply {
            message,
            ..Reply::context(text)
        },
        Steered::Ended(text) => Reply::block(text),
        Steered::NoLoop => Reply::block(no_loop(lang)),
    }
}

fn begin(here: &Here, start: &Start, host: Client) -> Result<Reply, Problem> {
    let (opened, verdict) = here.start(start)?;
    Ok(match verdict {
        Verdict::GoOn(go_on) => {
            let lines: Vec<String> = beginning(&opened)
                .into_iter()
                .chain(low_cap(&opened, host))
                .collect();
            Reply {
                message: Some(lines.join("\n")).filter(|text| !text.is_empty()),
                ..Reply::context(go_on.text)
            }
        }
        Verdict::Ended(ended) => Reply::block(ending(&opened, &ended)),
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

/// Whether `/do` is a command of somebody else here, as Claude Code finds it:
/// in the project first, then the person's own.
fn is_anothers_command(heard: &Heard, root: &Path) -> bool {
    if heard.host != Client::Claude
        || ["ralph:do", "ralph-do"]
            .iter()
            .any(|n| heard.prompt.contains(n))
    {
        return false;
    }
    let own = std::env::var_os("CLAUDE_CONFIG_DIR").map(PathBuf::from);
    let own = own.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".claude")));
    let dirs = [Some(root.join(".claude")), own];
    let texts = dirs
        .into_iter()
        .flatten()
        .map(|dir| dir.join("commands/do.md"));
    let text = texts
        .filter_map(|path| ralph_store::regular::read_to_string(path).ok())
        .next();
    text.is_some_and(|text| !text.contains("Ralph's hook"))
}

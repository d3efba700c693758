//! `ralph help`: the whole, a verb, or a topic.

use ralph_core::config::nearest;
use ralph_core::lang::Lang;
use ralph_core::tr;

use crate::app::{App, Exit};
use crate::args::HelpArgs;
use crate::help::{self, topics};

pub fn run(app: &App, args: &HelpArgs) -> Exit {
    let lang = app.lang();
    let Some(name) = &args.about else {
        print(&["ralph", "--help"], lang);
        let topics = topics::list(lang);
        return app.done(&tr!(lang, "\nTopics (ralph help TOPIC):\n{topics}"));
    };
    let command = help::command();
    let topic = topics::find(name, lang);
    let is_verb = command.find_subcommand(name).is_some();
    // A name may be both, such as tasks.
    if let Some(text) = &topic {
        app.tell(text);
    }
    if is_verb {
        print(&["ralph", name, "--help"], lang);
    }
    if topic.is_some() || is_verb {
        return Ok(0);
    }
    let topics = topics::TOPICS.map(|(topic, _)| topic);
    let verbs = command.get_subcommands().map(clap::Command::get_name);
    let guess = nearest(name, topics.into_iter().chain(verbs));
    let guess = guess.map(|name| tr!(lang, " (did you mean {name}?)"));
    let guess = guess.unwrap_or_default();
    let topics = topics::list(lang);
    app.refuse(&tr!(
        lang,
        "there is no command and no topic \"{name}\"{guess}; topics are:\n{topics}\n`ralph help` lists the commands"
    ))
}

/// What the parser answers to these words, which is the help.
fn print(words: &[&str], lang: Lang) {
    if let Err(answer) = help::command_in(lang).try_get_matches_from(words) {
        let _ = answer.print();
    }
}

//! What became of the checkpoints, for people.

use ralph_core::lang::{Lang, Say};
use ralph_core::tr;

use super::{LoadError, Refused, Source, Unusable};

impl Say for Unusable {
    fn say(&self, lang: Lang) -> String {
        match self {
            Unusable::File(error) => error.say(lang),
            Unusable::Content(error) => error.say(lang),
        }
    }
}

impl Say for Source {
    fn say(&self, lang: Lang) -> String {
        match self {
            Source::Current => tr!(lang, "checkpoint"),
            Source::Backup(n) => tr!(lang, "backup {n}"),
        }
    }
}

impl Say for Refused {
    fn say(&self, lang: Lang) -> String {
        let (from, why) = (self.from.say(lang), self.why.say(lang));
        tr!(lang, "{from}: {why}")
    }
}

impl Say for LoadError {
    fn say(&self, lang: Lang) -> String {
        match self {
            LoadError::Nothing { dir } => {
                let dir = dir.display();
                tr!(lang, "there is no checkpoint in {dir}")
            }
            LoadError::AllRefused { dir, refused } => {
                let dir = dir.display();
                let refused: Vec<String> = refused.iter().map(|r| r.say(lang)).collect();
                let refused = refused.join("; ");
                tr!(lang, "no checkpoint in {dir} can be used ({refused})")
            }
        }
    }
}

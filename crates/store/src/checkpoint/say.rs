//! What became of the checkpoints, for people.

use ralph_core::lang::{Lang, Say};
use ralph_core::tr;

use super::Refused;

impl Say for Refused {
    fn say(&self, lang: Lang) -> String {
        let (from, why) = (self.from.say(lang), self.why.say(lang));
        tr!(lang, "{from}: {why}")
    }
}

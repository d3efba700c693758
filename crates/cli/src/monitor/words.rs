//! The words of the monitor, in three languages.

use ralph_core::lang::Lang;
use ralph_core::tr;

use super::model::Tab;

impl Tab {
    pub fn title(self, lang: Lang) -> String {
        match self {
            Tab::Overview => tr!(lang, "Overview"),
            Tab::Tasks => tr!(lang, "Tasks"),
            Tab::Output => tr!(lang, "Output"),
            Tab::Events => tr!(lang, "Events"),
            Tab::Verify => tr!(lang, "Verify"),
            Tab::Guard => tr!(lang, "Guard"),
            Tab::Charts => tr!(lang, "Charts"),
            Tab::Diff => tr!(lang, "Diff"),
        }
    }
}

pub fn keys(lang: Lang) -> String {
    tr!(
        lang,
        "? help  q quit  p pause  c continue  s stop  e extend  a answer"
    )
}

pub fn help(lang: Lang) -> Vec<(&'static str, String)> {
    vec![
        ("Tab 1-8", tr!(lang, "another tab")),
        ("j k g G", tr!(lang, "scroll")),
        ("[ ]", tr!(lang, "another run")),
        (", .", tr!(lang, "another turn's output or diff")),
        ("u", tr!(lang, "undo the turn whose diff is shown")),
        (
            "b",
            tr!(lang, "find the turn that broke it, beside its diff"),
        ),
        ("/", tr!(lang, "filter events")),
        ("p", tr!(lang, "pause after this turn")),
        ("c", tr!(lang, "continue: resume, or wait no longer")),
        ("s", tr!(lang, "stop now, everything is saved")),
        ("e", tr!(lang, "allow more turns")),
        ("a", tr!(lang, "answer a question")),
        ("t", tr!(lang, "tell the agent something in its next turn")),
        (":", tr!(lang, "steer: skip, retry, focus, add a task")),
        ("l", tr!(lang, "open the log")),
        ("q", tr!(lang, "quit; the run goes on")),
    ]
}

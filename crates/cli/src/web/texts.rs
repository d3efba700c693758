//! Every text of the page, by its name.

use ralph_core::lang::{Lang, Say};
use ralph_core::report::Verdict;
use ralph_core::tr;
use serde_json::{Map, Value};

/// `{0}` and `{1}` are filled in by the page.
pub fn page(lang: Lang) -> Value {
    let zero = "{0}";
    let one = "{1}";
    let texts = [
        ("runs", tr!(lang, "Runs")),
        (
            "no_runs",
            tr!(
                lang,
                "Nothing has run here yet: `ralph run` starts a run, `ralph demo` shows one."
            ),
        ),
        ("no_such_run", tr!(lang, "This run is not here any more.")),
        ("tasks", tr!(lang, "Tasks")),
        ("task", tr!(lang, "Task")),
        ("turns", tr!(lang, "Turns")),
        ("turn", tr!(lang, "Turn")),
        ("cost", tr!(lang, "Cost")),
        ("tokens", tr!(lang, "Tokens")),
        ("time", tr!(lang, "Time")),
        ("agent", tr!(lang, "Agent")),
        ("branch", tr!(lang, "Branch")),
        ("evidence", tr!(lang, "Evidence")),
        ("elapsed", tr!(lang, "Working time")),
        ("waits_until", tr!(lang, "Waits until")),
        ("verdict", tr!(lang, "Verdict")),
        ("event", tr!(lang, "Event")),
        ("text", tr!(lang, "Text")),
        ("command", tr!(lang, "Command")),
        ("result", tr!(lang, "Result")),
        ("tool", tr!(lang, "Tool")),
        ("rule", tr!(lang, "Rule")),
        ("unknown", tr!(lang, "unknown")),
        ("progress", tr!(lang, "Progress")),
        ("now", tr!(lang, "now")),
        ("open", tr!(lang, "open")),
        ("done", tr!(lang, "done")),
        ("roles", tr!(lang, "Roles")),
        ("step_done", tr!(lang, "done")),
        ("step_active", tr!(lang, "in progress")),
        ("step_pending", tr!(lang, "pending")),
        ("step_failed", tr!(lang, "failed")),
        ("details", tr!(lang, "Details")),
        ("report", tr!(lang, "Report")),
        ("pause", tr!(lang, "Pause after this turn")),
        ("continue", tr!(lang, "Continue")),
        ("stop", tr!(lang, "Stop now")),
        ("wake", tr!(lang, "Wake")),
        ("extend", tr!(lang, "More turns")),
        ("answer", tr!(lang, "Answer")),
        ("answer_label", tr!(lang, "Your answer")),
        ("forecast", tr!(lang, "Forecast")),
        ("steer", tr!(lang, "Steer")),
        (
            "steer_label",
            tr!(
                lang,
                "hint WORDS · keep WORDS · add WORDS · skip T003 · unskip T003 · retry T003 · focus T003 · edit T003 WORDS · move T003 T001"
            ),
        ),
        ("skip", tr!(lang, "Skip")),
        ("unskip", tr!(lang, "Unskip")),
        ("retry", tr!(lang, "Retry")),
        ("focus", tr!(lang, "First")),
        ("skipped", tr!(lang, "skipped")),
        ("question", tr!(lang, "The agent asks")),
        ("question_of", tr!(lang, "The agent asks about {zero}")),
        ("default_is", tr!(lang, "default: {zero}")),
        (
            "default_at",
            tr!(lang, "Without an answer, \"{zero}\" holds at {one}."),
        ),
        ("tab_output", tr!(lang, "Output")),
        ("tab_turns", tr!(lang, "Turns")),
        ("tab_events", tr!(lang, "Events")),
        ("tab_checks", tr!(lang, "Checks")),
        ("tab_guard", tr!(lang, "Guard")),
        ("tab_diff", tr!(lang, "Diff")),
        ("follow", tr!(lang, "follow")),
        ("output_of", tr!(lang, "turn {zero} · {one}")),
        ("no_output", tr!(lang, "Nothing was printed yet.")),
        ("no_turns", tr!(lang, "No turn has begun yet.")),
        ("no_tasks", tr!(lang, "There is no task list.")),
        ("nothing", tr!(lang, "Nothing.")),
        (
            "no_checks",
            tr!(
                lang,
                "No verification is set up: ticks are the agent's own claims."
            ),
        ),
        ("no_checks_yet", tr!(lang, "Not verified yet.")),
        ("no_blocks", tr!(lang, "The guard blocked nothing.")),
        ("no_diff", tr!(lang, "Nothing differs.")),
        ("diff_is", tr!(lang, "what this turn changed")),
        ("last_turn", tr!(lang, "the last turn")),
        ("bisect", tr!(lang, "Which turn broke it?")),
        ("undo", tr!(lang, "Undo")),
        (
            "undo_sure",
            tr!(
                lang,
                "Make the work what it was before turn {zero}? Commits stay where they are."
            ),
        ),
        ("new_files", tr!(lang, "new files: {zero}")),
        ("cut", tr!(lang, "The rest is left out.")),
        ("again", tr!(lang, "Look again")),
        ("newest_first", tr!(lang, "the newest first")),
        ("filter", tr!(lang, "Show")),
        ("level_INFO", tr!(lang, "everything")),
        ("level_WARN", tr!(lang, "warnings and errors")),
        ("level_ERROR", tr!(lang, "errors")),
        ("passed", tr!(lang, "passed")),
        ("failed_with", tr!(lang, "failed ({zero})")),
        ("when", tr!(lang, "Course")),
        ("time_per_turn", tr!(lang, "Time per turn")),
        ("cost_per_turn", tr!(lang, "Cost per turn")),
        ("at_most", tr!(lang, "up to {zero}")),
        ("link_live", tr!(lang, "live")),
        ("link_lost", tr!(lang, "not connected")),
        ("ms", tr!(lang, "ms")),
        ("s", tr!(lang, "s")),
        ("min", tr!(lang, "min")),
        ("h", tr!(lang, "h")),
    ];
    let verdicts = Verdict::ALL.map(|verdict| {
        let name = format!("verdict_{}", verdict.into_str());
        (name, verdict.say(lang))
    });
    let texts: Map<String, Value> = texts
        .into_iter()
        .map(|(name, text)| (name.to_owned(), text))
        .chain(verdicts)
        .map(|(name, text)| (name, text.into()))
        .collect();
    texts.into()
}

/// What stands in the page itself.
pub fn skip(lang: Lang) -> String {
    tr!(lang, "Skip to the content")
}

pub fn noscript(lang: Lang) -> String {
    tr!(
        lang,
        "This page needs its own script, which comes from this program and from nowhere else."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The page asks for texts by name; those of verdicts it puts together.
    #[test]
    fn every_text_that_the_page_asks_for_is_there() {
        let script = include_str!("assets/app.js");
        let known = page(Lang::En);
        let is_call = |at: usize| !script[..at].ends_with(|c: char| c.is_ascii_alphanumeric());
        let calls = script.match_indices("t(\"").filter(|(at, _)| is_call(*at));
        let asked = calls.filter_map(|(at, call)| {
            let (name, after) = script[at + call.len()..].split_once('"')?;
            after.starts_with([',', ')']).then_some(name)
        });
        let asked: Vec<&str> = asked.collect();
        assert!(asked.len() > 40, "{asked:?}");
        for name in asked {
            assert!(known.get(name).is_some(), "{name}");
        }
        for lang in Lang::ALL {
            let texts = page(lang);
            assert_eq!(
                texts["question_of"]
                    .as_str()
                    .unwrap()
                    .matches("{0}")
                    .count(),
                1
            );
            assert_eq!(
                texts.as_object().unwrap().len(),
                known.as_object().unwrap().len()
            );
        }
    }
}

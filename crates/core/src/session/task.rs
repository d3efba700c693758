//! `/do`: one task, and how much process it gets (ROUT-02, ROUT-05).

use super::words::{Start, StartError, words};
use crate::lang::Say;
use crate::route::Route;

/// Who chooses the route of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Its score.
    Scored,
    /// The person.
    Chosen(Route),
}

impl Way {
    /// `auto`, or the name of a route.
    pub fn from_word(word: &str) -> Option<Way> {
        match word.trim().eq_ignore_ascii_case("auto") {
            true => Some(Way::Scored),
            false => Route::from_word(word).map(Way::Chosen),
        }
    }

    /// The route that the person wants, whatever the score says.
    pub fn chosen(self) -> Option<Route> {
        match self {
            Way::Scored => None,
            Way::Chosen(route) => Some(route),
        }
    }
}

/// What `/do` was called with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Do {
    pub start: Start,
    /// Show the score card, and do nothing.
    pub explain: bool,
}

/// Why a `/do` can't be understood.
#[derive(Clone, Debug, PartialEq, Eq, Say)]
pub enum DoError {
    #[say(
        "/do needs a task: /do \"TASK\" [--quick | --deep | --route ROUTE] [--explain], or /do --resume"
    )]
    NoTask,
    /// More than one of `--quick`, `--deep` and `--route`.
    #[say("say only one of --quick, --deep and --route")]
    TwoWays,
    #[say(
        "/do does not know {flag}; it knows --quick, --deep, --route ROUTE, --explain, --resume, --max-iterations N, --preset NAME and --verify COMMAND"
    )]
    UnknownFlag { flag: String },
    #[say("{flag} needs a value: /do \"task\" {flag} VALUE")]
    Missing { flag: String },
    #[say(_0.say(lang))]
    Start(StartError),
}

impl Do {
    /// Reads what stands behind `/do`; nothing of it passes a shell.
    pub fn parse(arguments: &str) -> Result<Do, DoError> {
        let mut explain = false;
        let mut ways = Vec::new();
        let mut rest = Vec::new();
        for word in words(arguments) {
            match word.text.as_str() {
                "--quick" | "-q" if !word.quoted => ways.push(Way::Chosen(Route::Direct)),
                "--deep" | "-d" if !word.quoted => ways.push(Way::Chosen(Route::Ralph)),
                "--explain" | "-e" if !word.quoted => explain = true,
                _ => rest.push(word),
            }
        }
        let mut start = Start::of(rest).map_err(|error| match error {
            StartError::UnknownFlag { flag } => DoError::UnknownFlag { flag },
            StartError::Missing { flag } => DoError::Missing { flag },
            error => DoError::Start(error),
        })?;
        // They name another goal, and a route has its own promise.
        let foreign = [
            ("--tasks", start.tasks.is_some()),
            ("--openspec", start.openspec.is_some()),
            ("--completion-promise", start.completion_promise.is_some()),
            ("--create-pr", start.pull.create),
            ("--draft", start.pull.draft),
            ("--pr", start.pull.number.is_some()),
            ("--merge", start.pull.merge.is_some()),
        ];
        if let Some((flag, _)) = foreign.into_iter().find(|(_, given)| *given) {
            let flag = flag.to_owned();
            return Err(DoError::UnknownFlag { flag });
        }
        ways.extend(start.way);
        start.way = match ways.as_slice() {
            [] => Some(Way::Scored),
            [way] => Some(*way),
            _ => return Err(DoError::TwoWays),
        };
        match start.task.is_some() {
            true => Ok(Do { start, explain }),
            false => Err(DoError::NoTask),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, task: &str, way: Way, explain: bool) {
        let read = Do::parse(text).unwrap();
        assert_eq!(
            (read.start.task.as_deref(), read.start.way, read.explain),
            (Some(task), Some(way), explain),
            "{text:?}"
        );
    }

    #[test]
    fn the_way_is_that_of_the_person_or_of_the_score() {
        let direct = Way::Chosen(Route::Direct);
        let ralph = Way::Chosen(Route::Ralph);
        check("fix the typo", "fix the typo", Way::Scored, false);
        check("\"fix it\" --quick", "fix it", direct, false);
        check("-q fix it", "fix it", direct, false);
        check("fix it --deep", "fix it", ralph, false);
        check("fix it -d -e", "fix it", ralph, true);
        check("fix it --explain", "fix it", Way::Scored, true);
        check("fix it --route auto", "fix it", Way::Scored, false);
        check(
            "「改版 登入頁」 --route=ui-flow",
            "改版 登入頁",
            Way::Chosen(Route::UiFlow),
            false,
        );
        check(
            "\"support -q and --deep\"",
            "support -q and --deep",
            Way::Scored,
            false,
        );
    }

    #[test]
    fn what_a_loop_takes_a_task_takes_too() {
        let read = Do::parse("x --verify \"npm test -q\" --max-iterations 3").unwrap();
        assert_eq!(read.start.verify, ["npm test -q"]);
        assert_eq!(read.start.max_iterations, Some(3));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let error = |text: &str| Do::parse(text).unwrap_err().say(crate::lang::Lang::En);
        for (text, want) in [
            ("-q", "/do needs a task"),
            ("--explain \"\"", "/do needs a task"),
            ("x -q -d", "only one of"),
            ("x -q --route ralph", "only one of"),
            ("x --frob", "/do does not know --frob"),
            ("x --tasks=t.md", "/do does not know --tasks"),
            ("x --completion-promise y", "--completion-promise"),
            ("x --route nowhere", "\"nowhere\""),
            ("x --route", "--route needs a value: /do"),
        ] {
            let said = error(text);
            assert!(said.contains(want), "{text:?}: {said}");
        }
    }
}

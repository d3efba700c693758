//! What a person can do from the page: the same verbs as on the command line,
//! and by the same program, so that there is one way to do each.

use ralph_core::lang::Lang;
use ralph_core::tr;
use ralph_store::layout::{Layout, RunId};
use serde_json::{Value, json};

use super::http::Response;
use crate::apart::{Said, start_apart, typed_apart};
use crate::steering;

/// An answer is a sentence or two.
const LONGEST_ANSWER: usize = 2000;
const MOST_TURNS: u64 = 1000;

/// Something that is wanted of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    Pause,
    Stop,
    Wake,
    Resume,
    Extend {
        by: Option<u64>,
    },
    Undo {
        turn: u32,
    },
    Bisect,
    Answer {
        question: u64,
        text: String,
    },
    /// A word for the agent, tasks in or out, another order.
    Steer {
        typed: Vec<String>,
    },
}

impl Act {
    /// By its name in the address and what came with it; nothing else is an
    /// act.
    pub fn read(name: &str, body: &[u8]) -> Option<Act> {
        let body: Value = match body {
            [] => Value::Null,
            body => serde_json::from_slice(body).ok()?,
        };
        match name {
            "pause" => Some(Act::Pause),
            "stop" => Some(Act::Stop),
            "wake" => Some(Act::Wake),
            "resume" => Some(Act::Resume),
            "extend" => match &body["by"] {
                Value::Null => Some(Act::Extend { by: None }),
                by => {
                    let by = by.as_u64().filter(|by| (1..=MOST_TURNS).contains(by))?;
                    Some(Act::Extend { by: Some(by) })
                }
            },
            "bisect" => Some(Act::Bisect),
            "undo" => {
                let turn = body["turn"]
                    .as_u64()
                    .and_then(|turn| turn.try_into().ok())?;
                Some(Act::Undo { turn })
            }
            "answer" => {
                let text = body["text"].as_str()?.trim();
                let is_short = !text.is_empty() && text.chars().count() <= LONGEST_ANSWER;
                let sound = is_short && !text.contains('\0');
                sound.then_some(Act::Answer {
                    question: body["question"].as_u64()?,
                    text: text.to_owned(),
                })
            }
            "steer" => {
                let line = body["line"].as_str()?.trim();
                let sound = line.chars().count() <= LONGEST_ANSWER && !line.contains('\0');
                let typed = steering::typed(line).filter(|_| sound)?;
                Some(Act::Steer { typed })
            }
            _ => None,
        }
    }

    /// What can be said to a run of another machine.
    #[cfg(feature = "fleet")]
    pub fn is_for_the_living(&self) -> bool {
        !matches!(self, Act::Resume | Act::Undo { .. } | Act::Bisect)
    }

    /// As it is typed.
    pub fn arguments(&self, run: &RunId) -> Vec<String> {
        let typed = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        match self {
            Act::Pause => typed(&["pause"]),
            Act::Stop => typed(&["stop"]),
            Act::Wake => typed(&["wake"]),
            Act::Resume => typed(&["resume", "--yes", "--quiet", run.as_str()]),
            Act::Extend { by: None } => typed(&["extend"]),
            Act::Extend { by: Some(by) } => typed(&["extend", &by.to_string()]),
            Act::Undo { turn } => {
                typed(&["undo", &turn.to_string(), "--yes", "--run", run.as_str()])
            }
            Act::Bisect => typed(&["bisect", "--run", run.as_str()]),
            Act::Steer { typed } => typed.clone(),
            Act::Answer { question, text } => typed(&["answer", &question.to_string(), "--", text]),
        }
    }
}

/// Acts for the people who look at projects of this machine.
#[derive(Debug)]
pub struct Actor {
    pub lang: Lang,
}

impl Actor {
    pub fn perform(&self, layout: &Layout, run: &RunId, act: &Act) -> Response {
        let alive = layout.current_run().ok().flatten();
        let is_alive = alive.is_some_and(|alive| alive.id == *run);
        let fits = match act {
            Act::Resume | Act::Undo { .. } | Act::Bisect => !is_alive,
            // A run that waits for an answer may have ended meanwhile.
            Act::Answer { .. } | Act::Steer { .. } => {
                let latest = layout.latest_run().ok().flatten();
                latest.is_some_and(|latest| latest.id == *run)
            }
            Act::Pause | Act::Stop | Act::Wake | Act::Extend { .. } => is_alive,
        };
        if !fits {
            return Response::problem(409, &self.out_of_place(is_alive));
        }
        let typed = act.arguments(run);
        let done = match act {
            Act::Resume => start_apart(layout, &typed, self.lang, |alive| alive == run),
            _ => typed_apart(layout.root(), &typed, self.lang).map(Some),
        };
        match done {
            Ok(None) => Response::json(&json!({ "said": tr!(self.lang, "it goes on") })),
            Ok(Some(said)) if said.ok && *act == Act::Bisect => {
                Response::json(&json!({ "said": said.last_line() }))
            }
            Ok(Some(Said { ok: true, words })) => Response::json(&json!({ "said": words })),
            Ok(Some(said)) => Response::problem(409, &said.words),
            Err(error) => Response::problem(503, &error.to_string()),
        }
    }

    fn out_of_place(&self, is_alive: bool) -> String {
        match is_alive {
            true => tr!(self.lang, "it runs already"),
            false => tr!(self.lang, "it does not run; reload the page"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, body: &str, want: Option<&[&str]>) {
        let run = RunId::parse("20260118-100000-1a2b").unwrap();
        let act = Act::read(name, body.as_bytes());
        let typed = act.map(|act| act.arguments(&run));
        let want = want.map(|words| words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>());
        assert_eq!(typed, want, "{name} {body}");
    }

    #[test]
    fn only_what_can_be_typed_can_be_done() {
        check("pause", "", Some(&["pause"]));
        let bisect = ["bisect", "--run", "20260118-100000-1a2b"];
        check("bisect", "", Some(&bisect));
        check("stop", "{}", Some(&["stop"]));
        let resume = ["resume", "--yes", "--quiet", "20260118-100000-1a2b"];
        check("resume", "", Some(&resume));
        check("extend", "", Some(&["extend"]));
        check("extend", r#"{"by":5}"#, Some(&["extend", "5"]));
        for bad in [
            r#"{"by":0}"#, r#"{"by":-1}"#, r#"{"by":"5; rm"}"#, r#"{"by":9999}"#,
        ] {
            check("extend", bad, None);
        }
        let answer = r#"{"question":2,"text":" --yes "}"#;
        check("answer", answer, Some(&["answer", "2", "--", "--yes"]));
        for bad in [
            "",
            "{",
            r#"{"question":2}"#,
            r#"{"question":"2","text":"x"}"#,
            r#"{"question":2,"text":"  "}"#,
        ] {
            check("answer", bad, None);
        }
        for name in ["", "cancel", "run", "../pause", "Pause"] {
            check(name, "", None);
        }
        let hint = r#"{"line":"hint --keep in mind"}"#;
        check("steer", hint, Some(&["hint", "--", "--keep in mind"]));
        check(
            "steer",
            r#"{"line":"skip T003"}"#,
            Some(&["tasks", "skip", "--", "T003"]),
        );
        for bad in ["", "{}", r#"{"line":"run x"}"#, r#"{"line":"skip"}"#] {
            check("steer", bad, None);
        }
        let long = json!({"question": 1, "text": "x".repeat(LONGEST_ANSWER + 1)}).to_string();
        check("answer", &long, None);
    }
}

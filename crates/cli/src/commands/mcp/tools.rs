//! What an assistant can ask for: the same that a person can type, and nothing
//! that a person did not allow.

use serde_json::{Map, Value, json};

use crate::args::McpAct;

/// A verb that an assistant can use.
pub struct Offer {
    pub name: &'static str,
    what: &'static str,
    takes: &'static [Takes],
    /// What a person has to allow first; `None` only looks.
    pub act: Option<McpAct>,
}

struct Takes {
    name: &'static str,
    kind: Kind,
    what: &'static str,
    needed: bool,
}

#[derive(Clone, Copy)]
enum Kind {
    Text,
    Number,
    Flag,
}

const fn may(name: &'static str, kind: Kind, what: &'static str) -> Takes {
    Takes {
        name,
        kind,
        what,
        needed: false,
    }
}

const fn must(name: &'static str, kind: Kind, what: &'static str) -> Takes {
    Takes {
        name,
        kind,
        what,
        needed: true,
    }
}

const RUN: Takes = may("run", Kind::Text, "another run than the newest");

const OFFERS: &[Offer] = &[
    Offer {
        name: "status",
        what: "Where the loop of this project stands: run, turn, tasks, limits, cost, questions.",
        takes: &[],
        act: None,
    },
    Offer {
        name: "report",
        what: "What became of a run: which tasks are proven and by what, what is not, cost, and how to go on.",
        takes: &[RUN],
        act: None,
    },
    Offer {
        name: "show",
        what: "One turn in words: its task, what the agent said and called, what changed, what the checks said, its cost.",
        takes: &[
            may("turn", Kind::Number, "the turn; the last one by default"),
            RUN,
        ],
        act: None,
    },
    Offer {
        name: "diff",
        what: "What a turn changed in the work tree, new files included.",
        takes: &[
            may(
                "what",
                Kind::Text,
                "a turn, or A..B; the last turn by default",
            ),
            may("stat", Kind::Flag, "only how much changed in which file"),
            RUN,
        ],
        act: None,
    },
    Offer {
        name: "tasks",
        what: "Every task of the list, and its state.",
        takes: &[],
        act: None,
    },
    Offer {
        name: "questions",
        what: "The open questions of the agent, which a person answers.",
        takes: &[],
        act: None,
    },
    Offer {
        name: "start",
        what: "Start a run on the project's task list, with the settings of the project. It goes on by itself; `status` shows it.",
        takes: &[
            may(
                "tasks",
                Kind::Text,
                "the task file; found in the project by default",
            ),
            may("max_iterations", Kind::Number, "the most turns"),
        ],
        act: Some(McpAct::Start),
    },
    Offer {
        name: "stop",
        what: "End the run of this project, with everything saved.",
        takes: &[],
        act: Some(McpAct::Stop),
    },
    Offer {
        name: "answer",
        what: "Answer an open question of the agent in the person's name.",
        takes: &[
            must(
                "question",
                Kind::Number,
                "its number, as `questions` lists it",
            ),
            must("text", Kind::Text, "the answer"),
        ],
        act: Some(McpAct::Answer),
    },
    Offer {
        name: "hint",
        what: "Tell the agent something in its next prompt.",
        takes: &[
            must("text", Kind::Text, "what it should know"),
            may("keep", Kind::Flag, "in every prompt from now on"),
        ],
        act: Some(McpAct::Hint),
    },
];

/// What is offered where these acts are allowed.
pub fn offered(allowed: &[McpAct]) -> impl Iterator<Item = &'static Offer> {
    OFFERS
        .iter()
        .filter(|offer| offer.act.is_none_or(|act| allowed.contains(&act)))
}

pub fn find(name: &str) -> Option<&'static Offer> {
    OFFERS.iter().find(|offer| offer.name == name)
}

impl Offer {
    /// As the protocol describes a tool.
    pub fn tool(&self) -> Value {
        let properties = self.takes.iter().map(|takes| {
            let kind = match takes.kind {
                Kind::Text => "string",
                Kind::Number => "integer",
                Kind::Flag => "boolean",
            };
            let value = json!({ "type": kind, "description": takes.what });
            (takes.name.to_owned(), value)
        });
        let needed = self.takes.iter().filter(|takes| takes.needed);
        let needed: Vec<&str> = needed.map(|takes| takes.name).collect();
        json!({
            "name": self.name,
            "description": self.what,
            "inputSchema": {
                "type": "object",
                "properties": Value::Object(properties.collect()),
                "required": needed,
                "additionalProperties": false,
            },
            "annotations": {
                "readOnlyHint": self.act.is_none(),
                "openWorldHint": false,
            },
        })
    }

    /// What a person would type for it.
    pub fn typed(&self, given: &Map<String, Value>) -> Result<Vec<String>, String> {
        let words = Words::of(self, given)?;
        let mut typed: Vec<String> = Vec::new();
        match self.name {
            "questions" => typed.extend(["answer".into(), "--json".into()]),
            "tasks" => typed.extend(["tasks".into(), "list".into(), "--json".into()]),
            "status" | "report" => typed.extend([self.name.into(), "--json".into()]),
            "start" => typed.extend(["run".into(), "--quiet".into()]),
            name => typed.push(name.into()),
        }
        for (name, option) in [
            ("run", "--run"),
            ("tasks", "--tasks"),
            ("max_iterations", "--max-iterations"),
        ] {
            // The run of a report stands by itself.
            if let Some(word) = words.get(name).filter(|_| self.name != "report") {
                typed.push(format!("{option}={word}"));
            }
        }
        for name in ["stat", "keep"] {
            if words.get(name).is_some_and(|word| word == "true") {
                typed.push(format!("--{name}"));
            }
        }
        // Whatever it is, it is no option.
        typed.push("--".into());
        let rest = ["turn", "what", "question", "text"].into_iter();
        typed.extend(rest.filter_map(|name| words.get(name)));
        if self.name == "report" {
            typed.extend(words.get("run"));
        }
        if typed.last().is_some_and(|last| last == "--") {
            typed.pop();
        }
        Ok(typed)
    }
}

/// What was given, checked against what is taken.
struct Words(Vec<(&'static str, String)>);

impl Words {
    fn of(offer: &Offer, given: &Map<String, Value>) -> Result<Words, String> {
        if let Some(strange) = given
            .keys()
            .find(|key| !offer.takes.iter().any(|takes| takes.name == *key))
        {
            let (name, known) = (offer.name, offer.takes.iter().map(|takes| takes.name));
            let known: Vec<&str> = known.collect();
            return Err(format!(
                "{name} takes no \"{strange}\"; it takes: {}",
                known.join(", ")
            ));
        }
        let mut words = Vec::new();
        for takes in offer.takes {
            let name = takes.name;
            let word = match (takes.kind, given.get(name)) {
                (_, None | Some(Value::Null)) if takes.needed => {
                    return Err(format!("\"{name}\" is missing: {}", takes.what));
                }
                (_, None | Some(Value::Null)) => continue,
                (Kind::Text, Some(Value::String(text))) if !text.trim().is_empty() => text.clone(),
                (Kind::Number, Some(Value::Number(number))) if number.is_u64() => {
                    number.to_string()
                }
                (Kind::Flag, Some(Value::Bool(flag))) => flag.to_string(),
                (Kind::Text, Some(_)) => return Err(format!("\"{name}\" has to be a text")),
                (Kind::Number, Some(_)) => return Err(format!("\"{name}\" has to be a number")),
                (Kind::Flag, Some(_)) => return Err(format!("\"{name}\" has to be true or false")),
            };
            words.push((name, word));
        }
        Ok(Words(words))
    }

    fn get(&self, name: &str) -> Option<String> {
        let mut words = self.0.iter();
        let found = words.find(|(known, _)| *known == name);
        found.map(|(_, word)| word.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, given: Value, want: Result<&[&str], &str>) {
        let Value::Object(given) = given else {
            panic!("{given}")
        };
        let typed = find(name).unwrap().typed(&given);
        match want {
            Ok(want) => assert_eq!(typed.unwrap(), want, "{name}"),
            Err(part) => {
                let why = typed.unwrap_err();
                assert!(why.contains(part), "{name}: {why}");
            }
        }
    }

    #[test]
    fn an_assistant_types_what_a_person_could() {
        check("status", json!({}), Ok(&["status", "--json"]));
        check(
            "report",
            json!({"run": "r"}),
            Ok(&["report", "--json", "--", "r"]),
        );
        check("show", json!({"turn": 3}), Ok(&["show", "--", "3"]));
        let stat = json!({"what": "1..2", "stat": true, "run": "r"});
        check(
            "diff",
            stat,
            Ok(&["diff", "--run=r", "--stat", "--", "1..2"]),
        );
        check("questions", json!({}), Ok(&["answer", "--json"]));
        let answer = json!({"question": 1, "text": "yes"});
        check("answer", answer, Ok(&["answer", "--", "1", "yes"]));
        check("start", json!({"tasks": null}), Ok(&["run", "--quiet"]));
    }

    /// Neither an option in the place of a word nor one that is not offered.
    #[test]
    fn nothing_else_gets_through() {
        check(
            "hint",
            json!({"text": "--drop=1"}),
            Ok(&["hint", "--", "--drop=1"]),
        );
        check(
            "diff",
            json!({"what": "--output=/x"}),
            Ok(&["diff", "--", "--output=/x"]),
        );
        check(
            "start",
            json!({"tasks": "-x"}),
            Ok(&["run", "--quiet", "--tasks=-x"]),
        );
        check(
            "start",
            json!({"agent_cmd": "sh"}),
            Err("takes no \"agent_cmd\""),
        );
        check(
            "answer",
            json!({"text": "yes"}),
            Err("\"question\" is missing"),
        );
        check("show", json!({"turn": "3; rm"}), Err("a number"));
        check("show", json!({"turn": -1}), Err("a number"));
        check("hint", json!({"text": " "}), Err("a text"));
    }

    #[test]
    fn only_what_looks_is_offered_unless_more_is_allowed() {
        let names =
            |allowed: &[McpAct]| offered(allowed).map(|offer| offer.name).collect::<Vec<_>>();
        let looks = ["status", "report", "show", "diff", "tasks", "questions"];
        assert_eq!(names(&[]), looks);
        assert_eq!(names(&[McpAct::Hint]), [&looks[..], &["hint"]].concat());
    }
}

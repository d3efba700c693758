//! Questions of an agent: parked with their task until a person answers.
//!
//! An agent asks with `<promise>QUESTION: which? | options: a; b | default:
//! a</promise>`; only the question itself is needed.

use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};

use super::{Level, TaskRef, iso_utc};
use crate::lang::{Lang, Say};
use crate::text;
use crate::tr;

/// Something that the agent wants to know from a person.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// Counts from 1 within a run.
    pub id: u32,
    /// The turn in which it was asked.
    pub turn: u32,
    /// The task that waits for the answer; `None` where all work does.
    pub task: Option<TaskRef>,
    pub text: String,
    /// The answers that the agent offers; others may be given.
    pub options: Vec<String>,
    /// What holds where nobody answers in time.
    pub default: Option<String>,
    /// On the wall clock.
    pub asked_ms: i64,
    /// When the default is taken, on the wall clock.
    pub deadline_ms: i64,
    pub reply: Option<Reply>,
    /// Ralph asks, not the agent: checks that changed and fail as they were.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed_checks: Vec<String>,
}

/// What became of a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    pub text: String,
    pub by: RepliedBy,
    /// On the wall clock.
    pub at_ms: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum RepliedBy {
    Person,
    /// Nobody answered in time.
    Default,
}

/// Longer answers are refused.
pub const LONGEST_REPLY: usize = 4_000;

impl Question {
    pub fn is_open(&self) -> bool {
        self.reply.is_none()
    }

    /// The question as people read it.
    pub fn words(&self, lang: Lang) -> String {
        match self.changed_checks.is_empty() {
            true => self.text.clone(),
            false => Question::about_checks(&self.changed_checks, lang),
        }
    }

    pub(super) fn about_checks(files: &[String], lang: Lang) -> String {
        let files = files.join(", ");
        tr!(
            lang,
            "the checks as they were fail now (changed: {files}): is that what the task means? `accept` takes it as it is, any other answer goes to the agent (`| may-change: FILES` behind a task asks for it beforehand)"
        )
    }

    /// For programs.
    pub fn to_json(&self) -> Value {
        let reply = self.reply.as_ref();
        json!({
            "id": self.id,
            "iteration": self.turn,
            "task": self.task.as_ref().map(|task| task.id.as_str()),
            "question": self.text,
            "options": self.options,
            "default": self.default,
            "asked": iso_utc(self.asked_ms),
            "deadline": iso_utc(self.deadline_ms),
            "answer": reply.map(|reply| reply.text.as_str()),
            "answered_by": reply.map(|reply| reply.by.into_str()),
        })
    }

    /// What a person means: the number of an option, or words of their own.
    pub fn meant(&self, answer: &str) -> String {
        let answer = answer.trim();
        let by_number = answer.parse::<usize>().ok();
        let option = by_number.and_then(|n| self.options.get(n.checked_sub(1)?));
        option.map_or(answer, String::as_str).to_owned()
    }
}

/// What an agent asked, in parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ParsedQuestion {
    pub text: String,
    pub options: Vec<String>,
    pub default: Option<String>,
}

const LONGEST_TEXT: usize = 1_000;
const LONGEST_OPTION: usize = 200;
const MOST_OPTIONS: usize = 9;

/// Reads `which? | options: a; b | default: a`. What is no known field
/// belongs to the question.
pub(super) fn parse(words: &str) -> ParsedQuestion {
    let mut asked = ParsedQuestion::default();
    for part in words.split('|') {
        let part = part.trim();
        if let Some(options) = field(part, &["options", "選項", "选项"]) {
            let separator = if options.contains([';', '；']) {
                &[';', '；'][..]
            } else {
                &[',', '，', '、'][..]
            };
            let options = options.split(separator).map(str::trim);
            let options = options.filter(|option| !option.is_empty());
            asked.options = options
                .take(MOST_OPTIONS)
                .map(|option| text::excerpt(option, LONGEST_OPTION).into_owned())
                .collect();
        } else if let Some(default) = field(part, &["default", "預設", "默认"]) {
            let default = text::excerpt(default, LONGEST_OPTION).into_owned();
            asked.default = Some(default).filter(|default| !default.is_empty());
        } else {
            if !asked.text.is_empty() {
                asked.text.push_str(" | ");
            }
            asked.text.push_str(part);
        }
    }
    asked.text = text::excerpt(&asked.text, LONGEST_TEXT).into_owned();
    asked
}

fn field<'a>(part: &'a str, names: &[&str]) -> Option<&'a str> {
    let (name, value) = part.split_once([':', '：'])?;
    let name = name.trim();
    names
        .iter()
        .any(|known| name.eq_ignore_ascii_case(known))
        .then(|| value.trim())
}

/// What is told about questions.
#[derive(Clone, Debug, PartialEq, Serialize, strum::IntoStaticStr)]
#[serde(untagged)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum QuestionNotice {
    #[strum(to_string = "question_asked")]
    #[serde(serialize_with = "told")]
    Asked { iteration: u32, question: Question },
    #[strum(to_string = "question_answered")]
    #[serde(serialize_with = "told")]
    Answered { iteration: u32, question: Question },
}

/// The turn in which it is told, which may be later than that of the question.
fn told<S: Serializer>(iteration: &u32, question: &Question, to: S) -> Result<S::Ok, S::Error> {
    let mut fields = question.to_json();
    fields["iteration"] = json!(iteration);
    fields.serialize(to)
}

impl QuestionNotice {
    pub(super) fn level(&self) -> Level {
        match self {
            QuestionNotice::Answered { question, .. }
                if question
                    .reply
                    .as_ref()
                    .is_some_and(|r| r.by == RepliedBy::Person) =>
            {
                Level::Info
            }
            _ => Level::Warn,
        }
    }
}

impl Say for QuestionNotice {
    fn say(&self, lang: Lang) -> String {
        match self {
            QuestionNotice::Asked { question, .. } => {
                let (id, text) = (question.id, question.words(lang));
                let options = match question.options.as_slice() {
                    [] => String::new(),
                    options => format!(" [{}]", options.join(" / ")),
                };
                tr!(
                    lang,
                    "question {id} is parked: {text}{options}; answer: `ralph answer {id} …`"
                )
            }
            QuestionNotice::Answered { question, .. } => {
                let id = question.id;
                let reply = question.reply.as_ref();
                let text = reply.map_or("", |reply| reply.text.as_str());
                match reply.map(|reply| reply.by) {
                    Some(RepliedBy::Default) => tr!(
                        lang,
                        "nobody answered question {id} in time; its default holds: {text}"
                    ),
                    _ => tr!(lang, "question {id} was answered: {text}"),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(words: &str, text: &str, options: &[&str], default: Option<&str>) {
        let asked = parse(words);
        assert_eq!(asked.text, text, "{words}");
        assert_eq!(asked.options, options, "{words}");
        assert_eq!(asked.default.as_deref(), default, "{words}");
    }

    #[test]
    fn a_question_is_read_in_parts() {
        check("Which?", "Which?", &[], None);
        check(
            "Which database? | options: PostgreSQL; SQLite, small | default: SQLite, small",
            "Which database?",
            &["PostgreSQL", "SQLite, small"],
            Some("SQLite, small"),
        );
        check("A | B? | Options: x, y,,", "A | B?", &["x", "y"], None);
        check("用哪個？｜", "用哪個？｜", &[], None);
        check(
            "用哪個？ | 選項：甲、乙 | 預設：甲",
            "用哪個？",
            &["甲", "乙"],
            Some("甲"),
        );
        check("Which? | default:", "Which?", &[], None);
        check("", "", &[], None);
    }

    #[test]
    fn numbers_mean_options() {
        let question = Question {
            id: 1,
            turn: 1,
            task: None,
            text: "?".into(),
            options: vec!["a".into(), "b".into()],
            default: None,
            asked_ms: 0,
            deadline_ms: 0,
            reply: None,
            changed_checks: Vec::new(),
        };
        for (answer, want) in [
            ("2", "b"),
            (" 1\n", "a"),
            ("3", "3"),
            ("0", "0"),
            ("b!", "b!"),
        ] {
            assert_eq!(question.meant(answer), want);
        }
    }
}

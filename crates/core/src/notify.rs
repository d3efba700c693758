//! What a person is told who is not looking: which notices are worth it, and
//! the message that is made of one.

mod forms;

use std::time::Duration;

use serde_json::{Value, json};

pub use self::forms::Post;
use crate::config::NotifyTopic;
use crate::display::{self, UsageView};
use crate::lang::{Lang, Say};
use crate::machine::{Level, Notice, Now, Outcome, Stage, State, WaitReason, iso_utc};
use crate::report::{outcome_word, reason_words};
use crate::text::duration::{human, iterations, plural};
use crate::text::{excerpt, one_line, redact, sanitize};
use crate::tr;

/// A message is read on a telephone.
const LONGEST_TEXT: usize = 500;

/// Who tells: the run and the project, as a person knows it.
#[derive(Clone, Copy, Debug)]
pub struct Sender<'a> {
    pub run_id: &'a str,
    pub project: &'a str,
    pub lang: Lang,
    /// Where the run can be looked at, with `{run_id}` and `{project}`; empty
    /// for nowhere.
    pub link: &'a str,
}

/// One message, without secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The same for every attempt to deliver it, and for nothing else.
    pub id: String,
    pub topic: NotifyTopic,
    pub event: &'static str,
    pub level: Level,
    pub run_id: String,
    pub project: String,
    pub at: String,
    pub title: String,
    pub text: String,
    /// What there is to know before one acts, a line each.
    pub facts: Vec<String>,
    /// The command to go on with.
    pub next: Option<String>,
    pub link: Option<String>,
    /// The end in numbers, for programs.
    end: Option<Value>,
}

/// What a notice is about; nothing where nobody has to know.
pub fn topic(notice: &Notice) -> Option<NotifyTopic> {
    match notice {
        Notice::LoopStart { .. } | Notice::Resume { .. } => Some(NotifyTopic::Start),
        Notice::IterationComplete { .. } => Some(NotifyTopic::Turn),
        Notice::PromiseRejected { .. } => Some(NotifyTopic::Rejected),
        Notice::Error { .. } | Notice::BreakerOpen { .. } => Some(NotifyTopic::Error),
        Notice::Wait {
            why: WaitReason::Limit,
            ..
        } => Some(NotifyTopic::Waiting),
        Notice::LimitNear { .. } | Notice::LimitReached { .. } => Some(NotifyTopic::Limit),
        Notice::GuardBlock { .. } => Some(NotifyTopic::Guard),
        Notice::LoopEnd { .. } => Some(NotifyTopic::End),
        other if other.event().starts_with("question") => Some(NotifyTopic::Question),
        _ => None,
    }
}

impl Message {
    /// `number` counts what the run has told.
    pub fn new(
        notice: &Notice,
        topic: NotifyTopic,
        at: Now,
        number: u64,
        sender: &Sender<'_>,
        state: &State,
    ) -> Message {
        let lang = sender.lang;
        let what = match notice {
            Notice::LoopEnd { outcome, .. } => outcome_word(lang, outcome.into_str()),
            _ => topic.say(lang),
        };
        let project = plain(sender.project);
        let link = sender.link.replace("{run_id}", sender.run_id);
        let link = link.replace("{project}", &project);
        let (turns, time) = (state.turn.number, state.elapsed_ms());
        let (facts, next, end) = match notice {
            Notice::LoopEnd {
                outcome,
                iterations,
                duration_ms,
                ..
            } => (
                facts(state, Some(outcome), *iterations, *duration_ms, lang),
                display::next_command(state, outcome),
                Some(end(state, outcome, *iterations)),
            ),
            _ => (
                facts(state, None, turns, time, lang),
                next_of(topic, state),
                None,
            ),
        };
        Message {
            id: format!("{}/{number}", sender.run_id),
            topic,
            event: notice.event(),
            level: notice.level(),
            run_id: sender.run_id.to_owned(),
            title: format!("Ralph · {project} · {what}"),
            text: excerpt(&plain(&notice.say(lang)), LONGEST_TEXT).into_owned(),
            at: iso_utc(at.wall_ms),
            project,
            facts: facts.iter().map(|fact| plain(fact)).collect(),
            next: Some(next),
            link: Some(link).filter(|link| !link.is_empty()),
            end,
        }
    }

    pub fn json(&self) -> Value {
        json!({
            "version": 1,
            "id": self.id,
            "topic": self.topic.into_str(),
            "event": self.event,
            "level": self.level.into_str(),
            "run_id": self.run_id,
            "project": self.project,
            "at": self.at,
            "title": self.title,
            "text": self.text,
            "facts": self.facts,
            "next": self.next,
            "link": self.link,
            "end": self.end,
        })
    }
}

/// Whether a message is worth a look, where others are told too: of a limit
/// that comes near once, and not in the last turn, whose end says it all.
pub fn is_news(notice: &Notice, state: &State, on: &[NotifyTopic]) -> bool {
    let tells_end = on.contains(&NotifyTopic::End);
    match notice {
        Notice::LimitNear { iteration, max } => {
            let first = state.rules.limits.warn_at.first_iteration(*max);
            first == Some(*iteration) && (iteration < max || !tells_end)
        }
        _ => true,
    }
}

/// What to type where a run is not over.
fn next_of(topic: NotifyTopic, state: &State) -> String {
    let question = state.open_questions().next().map(|open| open.id);
    match (topic, question, &state.stage) {
        (NotifyTopic::Question, Some(id), _) => format!("ralph answer {id} TEXT"),
        (NotifyTopic::Waiting, ..) => "ralph wake".to_owned(),
        (NotifyTopic::Limit, _, Stage::Finished(outcome)) => display::next_command(state, outcome),
        (NotifyTopic::Limit, ..) => {
            let more = state.rules.limits.extend_by;
            format!("ralph extend {more}")
        }
        _ => "ralph status".to_owned(),
    }
}

/// How many tasks are done, and how many of these were seen to be.
fn proven(state: &State) -> usize {
    let completed = state
        .tasks
        .facts
        .as_ref()
        .map_or(0, |tasks| tasks.completed);
    state.ticks.proofs.len().min(completed)
}

/// Tasks with what is proven of them, time, cost and what is left.
fn facts(
    state: &State,
    outcome: Option<&Outcome>,
    turns: u32,
    duration_ms: u64,
    lang: Lang,
) -> Vec<String> {
    let mut facts = Vec::new();
    let reason = outcome.map_or_else(String::new, |outcome| reason_words(lang, outcome));
    if !reason.is_empty() {
        facts.push(tr!(lang, "reason: {reason}"));
    }
    if let Some(tasks) = state.tasks.facts.as_ref().filter(|tasks| tasks.total > 0) {
        let (done, total, proven) = (tasks.completed, tasks.total, proven(state));
        let tasks_en = plural(total, "task", "tasks");
        facts.push(tr!(
            lang,
            "{done}/{total} {tasks_en} done, {proven} of them proven"
        ));
        if let Some(next) = state.current_task() {
            let next = next.name();
            facts.push(tr!(lang, "open: {next}"));
        }
    }
    let time = human(lang, Duration::from_millis(duration_ms));
    let turns = iterations(lang, turns as usize);
    let used = UsageView::from(&state.agents.bill).line(lang);
    facts.push(format!("{turns} · {time} · {used}"));
    facts
}

fn end(state: &State, outcome: &Outcome, turns: u32) -> Value {
    let tasks = state.tasks.facts.as_ref();
    json!({
        "outcome": outcome.into_str(),
        "reason": outcome.reason(),
        "exit_code": outcome.exit_code(),
        "iterations": turns,
        "tasks": tasks.map(|tasks| json!({
            "total": tasks.total,
            "completed": tasks.completed,
            "proven": proven(state),
        })),
        "usage": state.agents.bill.to_json(),
    })
}

fn plain(text: &str) -> String {
    one_line(&redact(&sanitize(text)))
}

impl Say for NotifyTopic {
    fn say(&self, lang: Lang) -> String {
        match self {
            NotifyTopic::Start => tr!(lang, "started"),
            NotifyTopic::Turn => tr!(lang, "turn done"),
            NotifyTopic::Rejected => tr!(lang, "claim rejected"),
            NotifyTopic::Error => tr!(lang, "error"),
            NotifyTopic::Waiting => tr!(lang, "waiting"),
            NotifyTopic::Limit => tr!(lang, "limit"),
            NotifyTopic::Guard => tr!(lang, "blocked by the guard"),
            NotifyTopic::Question => tr!(lang, "question"),
            NotifyTopic::End => tr!(lang, "ended"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{Bill, GuardBlock};

    const AT: Now = Now {
        wall_ms: 1_768_730_400_000,
        steady_ms: 0,
    };

    fn message(notice: &Notice, lang: Lang) -> Message {
        let sender = Sender {
            run_id: "20260118-100000-1a2b",
            project: "shop",
            lang,
            link: "https://ralph.example/{project}/{run_id}",
        };
        let state = State::new(crate::machine::Rules::new(crate::machine::Goal::Prompt)).unwrap();
        Message::new(notice, topic(notice).unwrap(), AT, 7, &sender, &state)
    }

    #[test]
    fn the_end_of_a_run_says_how_it_went() {
        let end = Notice::LoopEnd {
            outcome: Outcome::Complete,
            iterations: 3,
            tasks: Default::default(),
            duration_ms: 1000,
            proven: Vec::new(),
            skipped: Vec::new(),
            bill: Bill::default(),
        };
        let english = message(&end, Lang::En);
        assert_eq!(english.title, "Ralph · shop · complete");
        let json = english.json();
        assert_eq!(json["id"], "20260118-100000-1a2b/7");
        assert_eq!(json["topic"], "end");
        assert_eq!(json["event"], "loop_end");
        assert_eq!(json["at"], "2026-01-18T10:00:00Z");
        assert_eq!(message(&end, Lang::ZhTw).title, "Ralph · shop · 完成");
    }

    /// notifications.md: whoever is told can act, whatever it is about.
    #[test]
    fn every_message_says_how_the_run_stands_and_what_to_type() {
        let wait = Notice::Wait {
            iteration: 1,
            why: WaitReason::Limit,
            ms: 60_000,
        };
        let near = Notice::LimitNear {
            iteration: 8,
            max: 10,
        };
        for (notice, next) in [(wait, "ralph wake"), (near, "ralph extend 10")] {
            let message = message(&notice, Lang::En);
            assert_eq!(message.next.as_deref(), Some(next));
            let facts = message.facts.join("\n");
            assert!(facts.contains("cost"), "{facts}");
        }
    }

    #[test]
    fn a_limit_comes_near_once() {
        let limits = |iteration, max| Notice::LimitNear { iteration, max };
        let state = State::new(crate::machine::Rules::new(crate::machine::Goal::Prompt)).unwrap();
        let first = state.rules.limits.warn_at.first_iteration(10).unwrap();
        let all = [NotifyTopic::Limit, NotifyTopic::End];
        assert!(is_news(&limits(first, 10), &state, &all));
        assert!(!is_news(&limits(first + 1, 10), &state, &all));
        assert!(!is_news(&limits(1, 1), &state, &all));
    }

    #[test]
    fn secrets_and_control_characters_stay_at_home() {
        let notice = Notice::GuardBlock {
            iteration: 1,
            block: GuardBlock {
                tool: "Bash".into(),
                rule: "net.upload".into(),
                detail: "curl -H 'Authorization: Bearer ghp_0123456789abcdefghijABCDEFGHIJ012345'\u{1b}[31m"
                    .into(),
                shadow: false,
            },
        };
        let text = message(&notice, Lang::En).json().to_string();
        assert!(!text.contains("ghp_"), "{text}");
        assert!(!text.contains("u001b"), "{text}");
    }

    /// notifications.md: what an agent said is text, whatever Slack makes of
    /// such text elsewhere; the only link is the one that a person set.
    #[test]
    fn slack_takes_nothing_of_an_agent_for_markup() {
        let sentence = "*bold* _it_ `x` <!channel> <@U1> http://evil.example :tada: & more";
        let wide = "*_".repeat(3_000);
        for (said, link, want) in [
            (
                sentence,
                "https://r.example/?a=1&b=<|>",
                Some("<https://r.example/?a=1&amp;b=&lt;%7C&gt;>"),
            ),
            (sentence, "", None),
            (
                wide.as_str(),
                "https://r.example",
                Some("<https://r.example>"),
            ),
            (sentence, &format!("https://r.example/{wide}"), None),
        ] {
            let notice = Notice::PromiseRejected {
                iteration: 1,
                claim: "COMPLETE".into(),
                missing: Vec::new(),
            };
            let mut message = message(&notice, Lang::En);
            message.text = said.into();
            message.facts = vec![format!("open: {said}")];
            message.title = format!("Ralph · {said}");
            message.link = Some(link.to_owned()).filter(|link| !link.is_empty());
            let body = message.post(crate::config::NotifyForm::Slack, "", "").body;
            let mut blocks = body["blocks"].as_array().unwrap().clone();
            let links = blocks.split_off(2);
            for (block, limit) in blocks.iter().zip([150, 3_000]) {
                let text = &block["text"];
                assert_eq!(
                    (&text["type"], &text["emoji"]),
                    (&json!("plain_text"), &json!(false))
                );
                assert!(text["text"].as_str().unwrap().chars().count() <= limit);
                assert!(
                    !text["text"].as_str().unwrap().contains("r.example"),
                    "{text}"
                );
            }
            let links: Vec<&str> = links
                .iter()
                .filter_map(|link| link["text"]["text"].as_str())
                .collect();
            assert_eq!(links, want.into_iter().collect::<Vec<_>>());
            assert_eq!(body["mrkdwn"], false);
            if said == sentence {
                assert!(
                    blocks[1]["text"]["text"]
                        .as_str()
                        .unwrap()
                        .starts_with(said),
                    "as it was said"
                );
            }
        }
    }

    #[test]
    fn a_notice_that_concerns_nobody_has_no_topic() {
        assert_eq!(topic(&Notice::GateStart { iteration: 1 }), None);
        let wait = |why| Notice::Wait {
            iteration: 1,
            ms: 5,
            why,
        };
        assert_eq!(topic(&wait(WaitReason::Between)), None);
        assert_eq!(topic(&wait(WaitReason::Limit)), Some(NotifyTopic::Waiting));
    }
}

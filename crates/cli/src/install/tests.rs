use std::time::Duration;

use proptest::prelude::*;
use ralph_core::jsonc::{self, Step};
use ralph_engine::agents::Client;
use serde_json::{Value, json};

use super::hosts::Wanted;
use super::merge::{self, MergeError};
use super::{CAP, hosts};

fn wanted() -> Wanted {
    Wanted {
        program: "ralph".into(),
        guard: true,
        shared: false,
        gate: Duration::from_secs(150),
        wait: Duration::from_secs(480),
    }
}

const HOSTS: [Client; 5] = [
    Client::Claude,
    Client::Codex,
    Client::Gemini,
    Client::Copilot,
    Client::Cursor,
];

#[test]
fn entries_are_written_as_each_agent_reads_them() {
    let merged = merge::merge(merge::EMPTY, Client::Claude, &wanted(), Some(51)).unwrap();
    let value: Value = serde_json::from_str(&merged.text).unwrap();
    let matchers = |event: &str| -> Vec<Value> {
        let list = value["hooks"][event].as_array().unwrap();
        list.iter().map(|group| group["matcher"].clone()).collect()
    };
    assert_eq!(
        matchers("PreToolUse")[..3],
        ["Bash", "Write|Edit|Read", "WebFetch"]
    );
    assert_eq!(matchers("PostToolUse")[0], "Write|Edit");
    assert_eq!(value["env"][CAP], "51");
    assert_eq!(
        value["hooks"]["Stop"],
        json!([{"hooks": [{
            "type": "command", "command": "ralph hook --host claude stop --within 630", "timeout": 630,
        }]}])
    );
    let of = |host| -> Value {
        let merged = merge::merge(merge::EMPTY, host, &wanted(), None).unwrap();
        serde_json::from_str(&merged.text).unwrap()
    };
    let gemini = of(Client::Gemini);
    assert_eq!(
        gemini["hooks"]["AfterAgent"][0]["hooks"][0]["timeout"],
        630_000
    );
    let copilot = of(Client::Copilot);
    assert_eq!(copilot["version"], 1);
    assert_eq!(copilot["hooks"]["Stop"][0]["timeoutSec"], 630);
    assert_eq!(of(Client::Cursor)["version"], 1);
    let codex = of(Client::Codex);
    assert_eq!(codex["hooks"]["SessionEnd"][0]["hooks"][0]["timeout"], 3);
}

#[test]
fn without_the_guard_no_tool_call_is_judged() {
    let wanted = Wanted {
        guard: false,
        ..wanted()
    };
    for host in HOSTS {
        let elements = wanted.elements(host);
        let judges = |(_, element): &(&str, Value)| element.to_string().contains("pre-tool-use");
        assert!(!elements.iter().any(judges), "{host:?}");
    }
}

#[test]
fn a_cap_of_a_person_is_raised_and_never_lowered() {
    for (before, needed, after) in [
        ("\"8\"", 51, "\"51\""),
        ("8", 51, "\"51\""),
        ("\"100\"", 51, "\"100\""),
        ("\"0\"", 51, "\"0\""),
        ("\"51\"", 0, "\"0\""),
        ("\"many\"", 51, "\"51\""),
    ] {
        let text = format!("{{\"env\": {{\"{CAP}\": {before} }} }}");
        let merged = merge::merge(&text, Client::Claude, &wanted(), Some(needed)).unwrap();
        let value = jsonc::parse(&merged.text).unwrap();
        let cap = value.at(&[Step::from("env"), CAP.into()]).unwrap();
        assert_eq!(cap.to_value().to_string(), after, "{before}");
        let back = merge::strip(&merged.text, Client::Claude, &merged.edits).unwrap();
        assert_eq!(back, text);
    }
}

#[test]
fn what_is_not_as_the_agent_expects_is_refused() {
    for (text, want) in [
        ("[]", ""),
        ("{\"hooks\": []}", "hooks"),
        ("{\"hooks\": {\"Stop\": {}}}", "hooks.Stop"),
        ("{\"env\": 1}", "env"),
    ] {
        let error = merge::merge(text, Client::Claude, &wanted(), Some(1)).unwrap_err();
        let want = MergeError::Shape { path: want.into() };
        assert_eq!(error, want, "{text}");
    }
    let error = merge::merge("{\n  oops", Client::Claude, &wanted(), None).unwrap_err();
    let MergeError::Syntax(error) = error else {
        panic!("{error:?}");
    };
    assert_eq!((error.line, error.column), (2, 3));
}

#[test]
fn an_entry_that_a_person_changed_goes_too_and_theirs_stay() {
    let merged = merge::merge("{}", Client::Claude, &wanted(), None).unwrap();
    let text = merged.text.replace("\"timeout\": 630", "\"timeout\": 999");
    let theirs = json!({"type": "command", "command": "notify-send done"});
    let place = [
        "hooks".into(),
        "Stop".into(),
        Step::Index(0),
        "hooks".into(),
    ];
    let text = jsonc::push_element(&text, &place, &theirs)
        .unwrap()
        .unwrap()
        .text;
    let left = merge::strip(&text, Client::Claude, &merged.edits).unwrap();
    let want = json!({"hooks": {"Stop": [{"hooks": [theirs]}]}});
    assert_eq!(jsonc::parse(&left).unwrap().to_value(), want);
}

#[test]
fn entries_are_found_without_a_manifest() {
    for host in HOSTS {
        let merged = merge::merge("{}", host, &wanted(), None).unwrap();
        let left = merge::strip(&merged.text, host, &[]).unwrap();
        assert_eq!(merge::elements(&jsonc::parse(&left).unwrap()), []);
    }
}

/// Settings as people keep them.
#[derive(Clone, Debug)]
struct Theirs {
    newline: &'static str,
    unit: &'static str,
    mark: bool,
    comments: bool,
    trailing: bool,
    hooks: Vec<(&'static str, usize)>,
    cap: Option<&'static str>,
    other: bool,
}

impl Theirs {
    fn text(&self) -> String {
        let mut members = Vec::new();
        if self.other {
            members.push(("model", "\"opus\"".to_owned()));
            members.push(("permissions", "{ \"allow\": [\"Bash(ls:*)\"] }".to_owned()));
        }
        if let Some(cap) = self.cap {
            let env = [("A", "\"1\"".to_owned()), (CAP, cap.to_owned())];
            members.push(("env", self.object(&env, 1)));
        }
        if !self.hooks.is_empty() {
            let hooks: Vec<(&str, String)> = self
                .hooks
                .iter()
                .map(|(event, count)| (*event, self.list(*count)))
                .collect();
            members.push(("hooks", self.object(&hooks, 1)));
        }
        let mark = if self.mark { "\u{feff}" } else { "" };
        let head = match self.comments {
            true => format!("// mine{}", self.newline),
            false => String::new(),
        };
        format!("{mark}{head}{}{}", self.object(&members, 0), self.newline)
    }

    fn object(&self, members: &[(&str, String)], depth: usize) -> String {
        if members.is_empty() {
            return "{}".into();
        }
        let line = format!("{}{}", self.newline, self.unit.repeat(depth + 1));
        let mut text = String::from("{");
        for (i, (key, value)) in members.iter().enumerate() {
            let comma = if i + 1 < members.len() || self.trailing {
                ","
            } else {
                ""
            };
            let comment = if self.comments {
                " // why, {\"not\" this}"
            } else {
                ""
            };
            text.push_str(&format!("{line}\"{key}\": {value}{comma}{comment}"));
        }
        let end = format!("{}{}}}", self.newline, self.unit.repeat(depth));
        text + &end
    }

    fn list(&self, count: usize) -> String {
        let theirs = "{\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"./mine.sh\"}]}";
        let comma = if self.trailing && count > 0 { "," } else { "" };
        format!("[{}{comma}]", vec![theirs; count].join(", "))
    }
}

fn theirs() -> impl Strategy<Value = Theirs> {
    let events = prop::sample::subsequence(vec!["Stop", "PreToolUse", "Notification"], 0..=3);
    (
        prop::sample::select(vec!["\n", "\r\n"]),
        prop::sample::select(vec!["  ", "    ", "\t", " ", ""]),
        any::<[bool; 4]>(),
        (events, prop::collection::vec(0..3_usize, 3)),
        prop::sample::select(vec![None, Some("\"8\""), Some("\"500\""), Some("12")]),
    )
        .prop_map(
            |(newline, unit, [mark, comments, trailing, other], (events, counts), cap)| {
                let hooks = events.into_iter().zip(counts).collect();
                Theirs {
                    newline,
                    unit,
                    mark,
                    comments,
                    trailing,
                    hooks,
                    cap,
                    other,
                }
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// INST-05: exactly what was added goes.
    #[test]
    fn what_was_merged_is_there_once_and_leaves_no_trace(
        theirs in theirs(),
        host in prop::sample::select(HOSTS.to_vec()),
    ) {
        let text = theirs.text();
        let cap = (host == Client::Claude).then_some(51);
        let merged = merge::merge(&text, host, &wanted(), cap).unwrap();
        prop_assert!(merge::is_current(&merged.text, host, &wanted(), cap).unwrap());
        prop_assert!(!merge::is_current(&text, host, &wanted(), cap).unwrap());
        let root = jsonc::parse(&merged.text).unwrap();
        let ours = merge::elements(&root);
        let ours = ours.iter().filter(|(_, e)| hosts::is_ours(e, host)).count();
        prop_assert_eq!(ours, wanted().elements(host).len());
        let back = merge::strip(&merged.text, host, &merged.edits).unwrap();
        prop_assert_eq!(back, text);
    }

    /// What a person adds in between stays, and nothing of ours does.
    #[test]
    fn later_work_of_a_person_survives(theirs in theirs(), event in "(Stop|SubagentStop|Notification)") {
        let mine = json!({"hooks": [{"type": "command", "command": "later.sh"}]});
        let add = |text: &str| -> String {
            let place = [Step::from("hooks"), event.as_str().into()];
            let mut text = text.to_owned();
            for (depth, empty) in [(0, json!({})), (1, json!([]))] {
                let key = match &place[depth] {
                    Step::Key(key) => key.clone(),
                    Step::Index(_) => String::new(),
                };
                if let Some(added) = jsonc::insert_member(&text, &place[..depth], &key, &empty).unwrap() {
                    text = added.text;
                }
            }
            let text = jsonc::push_element(&text, &place, &mine).unwrap().unwrap().text;
            jsonc::insert_member(&text, &[], "later", &json!({"a": [1]})).unwrap().unwrap().text
        };
        let text = theirs.text();
        let merged = merge::merge(&text, Client::Claude, &wanted(), Some(51)).unwrap();
        let left = merge::strip(&add(&merged.text), Client::Claude, &merged.edits).unwrap();
        let value = |text: &str| jsonc::parse(text).unwrap().to_value();
        prop_assert_eq!(value(&left), value(&add(&text)));
    }
}

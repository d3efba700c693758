//! What is heard of each client, from streams of the shapes that the real ones
//! write.

use std::fmt::Write as _;

use proptest::prelude::*;
use ralph_core::governor::ErrorClass;
use ralph_core::usage::{Tokens, Usage, Usd};

use super::super::lines::MAX_LINE;
use super::super::*;

macro_rules! fixtures {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_bytes!(concat!("../fixtures/", $name, ".jsonl")))),*]
    };
}

const FIXTURES: &[(&str, &[u8])] = fixtures![
    "claude.work", "claude.two-results", "claude.old-totals", "claude.api-error", "claude.limit",
    "claude.interrupted", "claude.max-turns", "claude.budget", "claude.cut-off", "claude.denied",
    "claude.prompt-blocked", "codex.work", "codex.limit", "codex.retry", "codex.refused",
    "codex.cut-off", "gemini.work", "gemini.quota", "gemini.turns", "opencode.work",
    "opencode.rejected", "opencode.error", "opencode.free", "copilot.work", "copilot.auth",
    "cursor.work", "amp.work",
];

fn fixture(name: &str) -> &'static [u8] {
    FIXTURES.iter().find(|(known, _)| *known == name).unwrap().1
}

fn listener(name: &str, session: Session) -> Listener {
    let client = Client::from_name(name.split('.').next().unwrap()).unwrap();
    let options = Options {
        session,
        ..Options::default()
    };
    Agent::known(client, options).listener()
}

fn heard_in<'a>(name: &str, chunks: impl IntoIterator<Item = &'a [u8]>) -> Heard {
    let mut listener = listener(name, Session::Fresh);
    for chunk in chunks {
        listener.hear(chunk, &mut |_| {});
    }
    listener.heard()
}

fn heard(name: &str) -> Heard {
    heard_in(name, [fixture(name)])
}

/// Everything that was heard, one thing per line.
fn shown(heard: &Heard) -> String {
    let mut out = format!("{:?}", heard.end_reason);
    let mut line = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            let _ = write!(out, "\n{name}: {value}");
        }
    };
    line("text", Some(heard.text.clone()).filter(|t| !t.is_empty()));
    line("session", heard.session_id.clone());
    line("model", heard.model.clone());
    let tokens = |usage: &Usage| {
        usage.tokens.map(|t| {
            let more = if usage.at_least { " or more" } else { "" };
            format!(
                "{} in, {} out, {} read, {} written{more}",
                t.input, t.output, t.cache_read, t.cache_write
            )
        })
    };
    line("tokens", tokens(&heard.usage));
    line("cost", heard.usage.cost.map(|c| c.dollars().to_string()));
    line(
        "session cost",
        heard.session_usage.cost.map(|c| c.dollars().to_string()),
    );
    line(
        "tools",
        (heard.tool_calls > 0).then(|| heard.tool_calls.to_string()),
    );
    for denial in &heard.denials {
        line(
            "denied",
            Some(format!("{} {} {}", denial.id, denial.tool, denial.reason)),
        );
    }
    line(
        "error",
        heard
            .error
            .as_ref()
            .map(|e| format!("{:?} {:?} {}", e.class, e.status, e.message)),
    );
    line("limit", heard.limit.as_ref().map(|l| format!("{l:?}")));
    out
}

fn check(name: &str, want: &[&str]) {
    assert_eq!(shown(&heard(name)), want.join("\n"), "{name}");
}

#[test]
fn claude_is_heard() {
    check(
        "claude.work",
        &[
            "Completed",
            "text: The mill has four stones.",
            "session: 5e55-10",
            "model: claude-mill-4",
            "tokens: 100 in, 20 out, 3 read, 2 written",
            "cost: 0.004",
            "session cost: 0.004",
            "tools: 2",
        ],
    );
    // The last result counts, and each tells its own cost.
    check(
        "claude.two-results",
        &[
            "Completed",
            "text: The wheel turned.",
            "session: 5e55-10",
            "model: claude-mill-4",
            "tokens: 200 in, 40 out, 6 read, 4 written",
            "cost: 0.003",
            "session cost: 0.013",
        ],
    );
    check(
        "claude.denied",
        &[
            "Completed",
            "text: I may not.",
            "session: 5e55-10",
            "model: claude-mill-4",
            "tokens: 100 in, 20 out, 3 read, 2 written",
            "cost: 0.001",
            "session cost: 0.001",
            "tools: 1",
            "denied: t2 Write nobody to ask",
            "denied: t1 Bash ",
        ],
    );
}

#[test]
fn claude_s_failures_are_failures_whatever_it_calls_them() {
    check(
        "claude.api-error",
        &[
            "Failed",
            "session: 5e55-10",
            "model: claude-mill-4",
            "tokens: 0 in, 0 out, 0 read, 0 written",
            "cost: 0",
            "session cost: 0",
            "error: Auth Some(401) Invalid API key · Fix external API key",
        ],
    );
    check(
        "claude.limit",
        &[
            "Failed",
            "session: 5e55-10",
            "model: claude-mill-4",
            "tokens: 0 in, 0 out, 0 read, 0 written",
            "cost: 0",
            "session cost: 0",
            "error: RateLimit Some(429) You've hit your 5-hour limit · resets 8:56pm (America/New_York)",
            "limit: LimitEvent { rejected: true, window: \"five_hour\", resets_at_ms: Some(1794707811000), used_percent: None }",
        ],
    );
    let failure = |name: &str| {
        let heard = heard(name);
        assert_eq!(heard.text, "", "{name}");
        let error = heard.error.unwrap();
        (heard.end_reason, error.class, error.message)
    };
    assert_eq!(
        failure("claude.interrupted"),
        (
            EndReason::Interrupted,
            ErrorClass::Interrupted,
            r#"stopped at the gate; {"code":2}"#.into()
        )
    );
    assert_eq!(
        failure("claude.max-turns"),
        (
            EndReason::MaxTurns,
            ErrorClass::MaxTurns,
            "Reached the turns (2)".into()
        )
    );
    assert_eq!(
        failure("claude.budget"),
        (
            EndReason::Budget,
            ErrorClass::Budget,
            "Reached the budget ($0.01)".into()
        )
    );
    // The echo of the prompt that was blocked is nobody's promise.
    let (end, class, message) = failure("claude.prompt-blocked");
    assert_eq!((end, class), (EndReason::Refused, ErrorClass::Refused));
    assert!(message.starts_with("UserPromptSubmit operation blocked"));
}

#[test]
fn a_stream_that_is_cut_off_tells_what_was_used_at_least() {
    check(
        "claude.cut-off",
        &[
            "CutOff",
            "session: 5e55-10",
            "model: claude-mill-4",
            "tokens: 80 in, 2 out, 14 read, 10 written or more",
            "tools: 1",
            "error: NoResult None ",
        ],
    );
    check(
        "codex.cut-off",
        &[
            "CutOff", "session: 7hread-01", "tools: 1", "error: NoResult None ",
        ],
    );
}

#[test]
fn cost_that_runs_on_over_a_resume_is_counted_once() {
    let resumed = |name: &str, used: Usage| {
        let session = Session::Resume {
            id: "s".into(),
            used,
        };
        let mut listener = listener(name, session);
        listener.hear(fixture(name), &mut |_| {});
        listener.heard().usage
    };
    let cost = |dollars| Usage {
        cost: Usd::from_dollars(dollars),
        ..Usage::default()
    };
    // Each result tells its own: what was before does not matter.
    let new = resumed("claude.two-results", Usage::default());
    assert_eq!(new.cost, Usd::from_dollars(0.003));
    // Totals only: without the old one the new one is unknown.
    assert_eq!(heard("claude.old-totals").usage.cost, cost(0.05).cost);
    let old = resumed("claude.old-totals", cost(0.03));
    assert_eq!(old.cost, Usd::from_dollars(0.02));
    assert_eq!(resumed("claude.old-totals", Usage::default()).cost, None);

    let tokens = |input, output, cache_read| Tokens {
        input,
        output,
        cache_read,
        cache_write: 0,
    };
    let before = Usage {
        tokens: Some(tokens(150, 20, 100)),
        ..Usage::default()
    };
    assert_eq!(
        resumed("codex.work", before).tokens,
        Some(tokens(50, 40, 0))
    );
    assert_eq!(resumed("codex.work", Usage::default()).tokens, None);
}

#[test]
fn codex_is_heard() {
    // Its subagents are not in its account.
    check(
        "codex.work",
        &[
            "Completed",
            "text: The stones are counted.",
            "session: 7hread-01",
            "tokens: 200 in, 60 out, 100 read, 0 written or more",
            "tools: 3",
        ],
    );
    check(
        "codex.retry",
        &[
            "Completed",
            "text: Back again.",
            "session: 7hread-01",
            "tokens: 10 in, 2 out, 0 read, 0 written",
        ],
    );
    check(
        "codex.limit",
        &[
            "Failed",
            "session: 7hread-01",
            "error: Unknown None You’ve hit your usage limit. Try again at 2:11 AM.",
        ],
    );
    check(
        "codex.refused",
        &[
            "Refused",
            "session: 7hread-01",
            "tokens: 0 in, 0 out, 0 read, 0 written",
            "error: Refused None the turn ended before the model was asked; a hook may have refused the prompt",
        ],
    );
}

#[test]
fn gemini_is_heard() {
    check(
        "gemini.work",
        &[
            "Completed",
            "text: The stones are ground.",
            "session: 9em-1",
            "model: gem-2",
            "tokens: 200 in, 60 out, 100 read, 0 written",
            "tools: 2",
            "denied: c2  Tool execution blocked: not there",
        ],
    );
    check(
        "gemini.quota",
        &[
            "Failed",
            "session: 9em-1",
            "model: gem-2",
            "tokens: 0 in, 0 out, 0 read, 0 written",
            "error: Unknown None [API Error: You have exhausted your daily quota on this model.]",
        ],
    );
    check(
        "gemini.turns",
        &[
            "MaxTurns",
            "session: 9em-1",
            "model: gem-2",
            "tokens: 20 in, 4 out, 0 read, 0 written",
            "error: MaxTurns None Reached the session turns.",
        ],
    );
}

#[test]
fn opencode_is_heard() {
    check(
        "opencode.work",
        &[
            "Completed",
            "text: The stones turn.",
            "session: ses_1",
            "tokens: 180 in, 40 out, 16 read, 4 written",
            "cost: 0.00028",
            "tools: 1",
        ],
    );
    // It ends with exit code 0, and nothing was done.
    check(
        "opencode.rejected",
        &[
            "Refused",
            "session: ses_1",
            "tokens: 90 in, 20 out, 8 read, 2 written",
            "cost: 0.00014",
            "tools: 1",
            "denied: c1 bash The user rejected permission to use this specific tool call.",
            "error: Refused None The user rejected permission to use this specific tool call.",
        ],
    );
    check(
        "opencode.error",
        &["Failed", "session: ses_1", "error: Auth Some(401) bad key"],
    );
    // A model without a known price is not free.
    assert_eq!(heard("opencode.free").usage.cost, None);
}

#[test]
fn copilot_cursor_and_amp_are_heard() {
    check(
        "copilot.work",
        &[
            "Completed",
            "text: The stones turn.",
            "session: cp-1",
            "model: gpt-mill",
            "tools: 2",
            "denied: c2  Denied by preToolUse hook: no",
        ],
    );
    check(
        "copilot.auth",
        &[
            "Failed",
            "session: cp-1",
            "error: Auth Some(401) Authentication failed (HTTP 401).",
        ],
    );
    check(
        "cursor.work",
        &[
            "Completed", "text: The stones turn.", "session: cu-1", "model: auto", "tools: 2",
            "denied: c2 shell ",
        ],
    );
    check(
        "amp.work",
        &[
            "Completed",
            "text: The stones turn.",
            "session: T-4mp",
            "tokens: 21 in, 9 out, 1 read, 0 written",
            "tools: 1",
        ],
    );
}

/// The fixtures say the promise in the prompt, in tool calls, in their results
/// and in subagents: everywhere but in the last word.
#[test]
fn a_promise_counts_in_the_final_text_only() {
    for &client in Client::ALL {
        let name = format!("{}.work", client.into_str());
        let stream = String::from_utf8_lossy(fixture(&name));
        assert!(stream.matches("<promise>DONE</promise>").count() >= 3);
        let text = heard(&name).text;
        assert!(!text.is_empty() && !text.contains("<promise>"), "{name}");
    }
}

#[test]
fn limit_words_of_tools_are_no_limit() {
    for &client in Client::ALL {
        let heard = heard(&format!("{}.work", client.into_str()));
        assert_eq!(heard.refusal("", 0, "UTC"), None, "{client:?}");
        assert_eq!(heard.limit, None, "{client:?}");
    }
}

#[test]
fn a_client_rests_when_nothing_is_under_way() {
    let mut rests = Vec::new();
    let mut listener = listener("claude.two-results", Session::Fresh);
    for line in fixture("claude.two-results").split_inclusive(|&b| b == b'\n') {
        listener.hear(line, &mut |_| {});
        rests.push(listener.at_rest());
    }
    // The first result leaves a task in the background; when that is over the
    // client goes on by itself.
    let want = [false, false, false, false, true, false, false, true];
    assert_eq!(rests, want);
}

#[test]
fn events_tell_a_turn_as_it_goes() {
    let mut events = Vec::new();
    let mut listener = listener("claude.work", Session::Fresh);
    listener.hear(fixture("claude.work"), &mut |event| {
        events.push(match event {
            AgentEvent::SessionStarted { session, .. } => format!("started {session}"),
            AgentEvent::Text { text, main } => {
                format!("{} {text}", ["sub", "main"][usize::from(main)])
            }
            AgentEvent::ToolCall { id, name, summary } => format!("call {id} {name} {summary}"),
            AgentEvent::ToolResult { id, ok, .. } => format!("result {id} {ok}"),
            AgentEvent::Usage(usage) => format!("used {}", usage.tokens.unwrap().total()),
            AgentEvent::Limit(limit) => format!("limit {:?}", limit.used_percent),
            other => format!("{other:?}"),
        });
    });
    assert_eq!(
        events,
        [
            "started 5e55-10",
            "main I look at the mill. <promise>DONE</promise>",
            "used 53",
            "call t1 Bash ls",
            "result t1 true",
            "call t2 Task ",
            "used 53",
            "sub Four stones. <promise>DONE</promise>",
            "used 53",
            "result t2 true",
            "limit Some(93)",
            "main The mill has four stones.",
            "used 53",
            "Result { ok: true }",
        ]
    );
}

/// Cut at every byte, a stream is never misread: what was heard of a part is
/// what a client would have been heard saying that stopped there.
#[test]
fn a_stream_may_end_at_every_byte() {
    for (name, stream) in FIXTURES {
        let whole_lines: Vec<usize> = (0..stream.len())
            .filter(|&at| stream[at] == b'\n')
            .collect();
        let is_object = |at: &usize| stream[*at] == b'{' && (*at == 0 || stream[*at - 1] == b'\n');
        let first_object = (0..stream.len()).find(is_object).unwrap_or(stream.len());
        // Before the first object all is prose, and a plain answer.
        for end in first_object + 1..=stream.len() {
            let cut = heard_in(name, [&stream[..end]]);
            // A line counts when its last brace is there.
            let complete = whole_lines.iter().rev().find(|&&at| at <= end);
            let lines = &stream[..complete.map_or(0, |&at| at).max(first_object + 1)];
            assert_eq!(cut, heard_in(name, [lines]), "{name} at {end}");
        }
    }
}

#[test]
fn a_stream_is_heard_the_same_byte_by_byte() {
    for (name, stream) in FIXTURES {
        assert_eq!(heard_in(name, stream.chunks(1)), heard(name), "{name}");
    }
}

/// JSON is JSON: keys in another order, and room around them.
#[test]
fn a_stream_is_heard_the_same_however_it_is_written() {
    struct Roomy;
    impl serde_json::ser::Formatter for Roomy {
        fn begin_object_value<W: ?Sized + std::io::Write>(
            &mut self,
            writer: &mut W,
        ) -> std::io::Result<()> {
            writer.write_all(b" : ")
        }
    }
    for (name, stream) in FIXTURES {
        let mut lines = Vec::new();
        for line in stream.split(|&byte| byte == b'\n') {
            match serde_json::from_slice::<serde_json::Value>(line) {
                Ok(value) => {
                    let mut writer = serde_json::Serializer::with_formatter(&mut lines, Roomy);
                    serde::Serialize::serialize(&value, &mut writer).unwrap();
                }
                Err(_) => lines.extend_from_slice(line),
            }
            lines.push(b'\n');
        }
        assert_eq!(heard_in(name, [&lines[..]]), heard(name), "{name}");
    }
}

#[test]
fn lines_may_end_as_on_windows() {
    for (name, stream) in FIXTURES {
        let text = String::from_utf8_lossy(stream).replace('\n', "\r\n");
        assert_eq!(heard_in(name, [text.as_bytes()]), heard(name), "{name}");
    }
}

/// A line that nobody can keep is let go by; only if it may have been the last
/// word does that matter.
#[test]
fn an_overlong_line_costs_nothing() {
    let long = "x".repeat(MAX_LINE);
    for (name, line) in [
        ("claude.work", r#"{"type":"user","message":{"content":""#),
        (
            "codex.work",
            r#"{"type":"item.completed","item":{"id":"i9","type":"command_execution","aggregated_output":""#,
        ),
        ("gemini.work", r#"{"type":"tool_result","output":""#),
        (
            "opencode.work",
            r#"{"type":"tool_use","part":{"state":{"output":""#,
        ),
        (
            "copilot.work",
            r#"{"type":"tool.shell_output","data":{"text":""#,
        ),
        (
            "cursor.work",
            r#"{"type":"tool_call","subtype":"completed","x":""#,
        ),
        ("amp.work", r#"{"type":"user","message":{"content":""#),
    ] {
        let before = [line, &long, "\"}}\n"].concat();
        let stream = [before.as_bytes(), fixture(name)].concat();
        assert_eq!(heard_in(name, stream.chunks(65_536)), heard(name), "{name}");
    }
    for (name, line) in [
        ("claude.work", r#"{"duration_api_ms":0,"result":""#),
        ("cursor.work", r#"{"type":"result","result":""#),
        ("copilot.work", r#"{"type":"result","x":""#),
        ("gemini.work", r#"{"type":"result","x":""#),
    ] {
        let after = [line, &long, "\"}\n"].concat();
        let stream = [fixture(name), after.as_bytes()].concat();
        let heard = heard_in(name, stream.chunks(65_536));
        assert_eq!(heard.error.unwrap().class, ErrorClass::NoResult, "{name}");
        assert_eq!(heard.text, "", "{name}");
    }
}

#[test]
fn what_json_does_not_allow_is_replaced() {
    let stream = b"{\"type\":\"result\",\"is_error\":false,\"result\":\"a\xff \\ud83d b\"}\n";
    assert_eq!(
        heard_in("claude", [stream.as_slice()]).text,
        "a\u{fffd} \u{fffd} b"
    );
}

#[test]
fn plain_text_is_all_final() {
    let mut listener = Agent::custom("prog").unwrap().listener();
    listener.hear(b"All done.\n<promise>DONE</promise>\n", &mut |_| {});
    let heard = listener.heard();
    assert_eq!(heard.text, "All done.\n<promise>DONE</promise>\n");
    assert_eq!(heard.error, None);
    assert_eq!(heard.usage, Usage::default());
}

proptest! {
    #[test]
    fn chunks_do_not_matter(at in 0..FIXTURES.len(), cuts in proptest::collection::vec(0usize..3000, 0..20)) {
        let (name, stream) = FIXTURES[at];
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(stream.len())).collect();
        cuts.sort_unstable();
        let mut chunks = Vec::new();
        let mut from = 0;
        for cut in cuts.into_iter().chain([stream.len()]) {
            chunks.push(&stream[from..cut]);
            from = cut;
        }
        prop_assert_eq!(heard_in(name, chunks), heard(name));
    }

    #[test]
    fn damage_is_survived(at in 0..FIXTURES.len(), places in proptest::collection::vec((0usize..4000, any::<u8>()), 1..8)) {
        let (name, stream) = FIXTURES[at];
        let mut damaged = stream.to_vec();
        for (place, byte) in places {
            let place = place % damaged.len();
            damaged[place] = byte;
        }
        let heard = heard_in(name, [damaged.as_slice()]);
        prop_assert!(heard.error.is_none() || heard.text.is_empty());
    }
}

/// LOOP-13: what a client says beside its stream is shown and kept, and is
/// nobody's word.
#[test]
fn prose_beside_the_stream_is_told() {
    let mut listener = Client::Claude.fresh_listener();
    let mut told = Vec::new();
    let said = b"Invalid API key\n{\"type\":\"something new\"}\n\n";
    listener.hear(said, &mut |event| told.push(event));
    assert_eq!(told, [AgentEvent::Prose("Invalid API key".into())]);
}

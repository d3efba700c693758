use serde_json::json;

use super::*;
use crate::script::{Call, Usage};

fn incoming(method: &str, target: &str) -> Incoming {
    Incoming {
        method: method.into(),
        target: target.into(),
        ..Incoming::default()
    }
}

#[test]
fn paths_say_what_is_asked() {
    let streamed = json!({"stream": true});
    for (method, target, body, want) in [
        ("HEAD", "/", &Value::Null, Asked::Alive),
        ("GET", "/v1/models?x=1", &Value::Null, Asked::Models),
        (
            "POST",
            "/v1/messages?beta=true",
            &streamed,
            Asked::Model(Api::Anthropic, Form::Events),
        ),
        (
            "POST",
            "/v1/messages",
            &Value::Null,
            Asked::Model(Api::Anthropic, Form::Whole),
        ),
        (
            "POST",
            "/v1/messages/count_tokens",
            &Value::Null,
            Asked::Count(Api::Anthropic),
        ),
        (
            "POST",
            "/v1/responses",
            &streamed,
            Asked::Model(Api::Responses, Form::Events),
        ),
        (
            "POST",
            "/v1/chat/completions",
            &streamed,
            Asked::Model(Api::Chat, Form::Events),
        ),
        (
            "POST",
            "/v1beta/models/m:streamGenerateContent?alt=sse",
            &Value::Null,
            Asked::Model(Api::Gemini, Form::Events),
        ),
        (
            "POST",
            "/v1beta/models/m:generateContent",
            &Value::Null,
            Asked::Model(Api::Gemini, Form::Whole),
        ),
        ("POST", "/v1/telemetry", &Value::Null, Asked::Unknown),
        ("GET", "/v1/messages", &Value::Null, Asked::Unknown),
    ] {
        assert_eq!(
            Asked::of(&incoming(method, target), body),
            want,
            "{method} {target}"
        );
    }
}

#[test]
fn a_conversation_opens_with_everything_before_the_first_answer() {
    let answer = json!({"role": "assistant", "content": "HERE"});
    let later = json!({"role": "user", "content": "LATER"});
    for (api, request) in [
        (
            Api::Anthropic,
            json!({"system": [{"text": "SYSTEM"}], "messages": [{"role": "user", "content": "FIRST"}, answer, later]}),
        ),
        (
            Api::Responses,
            json!({"instructions": "SYSTEM", "input": [{"role": "user", "content": [{"text": "FIRST"}]}, answer, later]}),
        ),
        (
            Api::Responses,
            json!({"instructions": "SYSTEM", "input": "FIRST"}),
        ),
        (
            Api::Chat,
            json!({"messages": [{"role": "system", "content": "SYSTEM"}, {"role": "user", "content": "FIRST"}, answer, later]}),
        ),
        (
            Api::Gemini,
            json!({"systemInstruction": {"parts": [{"text": "SYSTEM"}]}, "contents": [{"role": "user", "parts": [{"text": "FIRST"}]}, {"role": "model"}, later]}),
        ),
    ] {
        let opening = api.opening(&request);
        let found = ["SYSTEM", "FIRST", "LATER"].map(|text| opening.contains(text));
        assert_eq!(found, [true, true, false], "{api:?}: {opening}");
    }
}

#[test]
fn tools_are_found_in_every_api() {
    for (tools_of, want) in [
        (
            json!([{"name": "Bash"}, {"name": "Write"}]),
            vec!["Bash", "Write"],
        ),
        (
            json!([{"type": "function", "function": {"name": "bash"}}]),
            vec!["bash"],
        ),
        (
            json!([{"type": "custom", "name": "apply_patch"}, {"type": "web_search"}]),
            vec!["apply_patch", "web_search"],
        ),
        (
            json!([{"functionDeclarations": [{"name": "a"}, {"name": "b"}]}]),
            vec!["a", "b"],
        ),
        (Value::Null, vec![]),
    ] {
        assert_eq!(tools(&json!({"tools": tools_of})), want);
    }
}

/// The data of every event of an answer with a text and a call.
fn streamed(api: Api, input: Value) -> Vec<Value> {
    let turn = Turn {
        usage: Usage {
            input: 7,
            output: 3,
            cache_read: 5,
            cache_write: 2,
        },
        ..Turn::say("Hello").call(Call {
            name: "tool".into(),
            input,
        })
    };
    let Body::Events(events) = api.body(Form::Events, &turn, 9, &json!({"model": "m"})) else {
        panic!("no stream")
    };
    let data = events.iter().map(|event| {
        assert!(event.ends_with("\n\n"));
        event
            .lines()
            .find_map(|l| l.strip_prefix("data: "))
            .unwrap()
    });
    data.filter(|d| *d != "[DONE]")
        .map(|d| serde_json::from_str(d).unwrap())
        .collect()
}

#[test]
fn an_answer_carries_text_call_and_usage_in_each_api() {
    let input = json!({"a": 1});
    let text = input.to_string();

    let events = streamed(Api::Anthropic, input.clone());
    assert_eq!(events[0]["message"]["usage"]["cache_read_input_tokens"], 5);
    assert_eq!(events[2]["delta"]["text"], "Hello");
    assert_eq!(events[4]["content_block"]["name"], "tool");
    assert_eq!(events[5]["delta"]["partial_json"], text);
    assert_eq!(events[7]["delta"]["stop_reason"], "tool_use");
    assert_eq!(events[7]["usage"]["output_tokens"], 3);

    let events = streamed(Api::Responses, input.clone());
    let last = &events.last().unwrap()["response"];
    assert_eq!(last["output"][0]["content"][0]["text"], "Hello");
    assert_eq!(last["output"][1]["arguments"], text);
    assert_eq!(last["usage"]["input_tokens"], 12);
    let events = streamed(Api::Responses, "*** patch".into());
    let last = &events.last().unwrap()["response"];
    assert_eq!(last["output"][1]["type"], "custom_tool_call");
    assert_eq!(last["output"][1]["input"], "*** patch");

    let events = streamed(Api::Chat, input.clone());
    assert_eq!(events[1]["choices"][0]["delta"]["content"], "Hello");
    let call = &events[2]["choices"][0]["delta"]["tool_calls"][0];
    assert_eq!(call["function"]["arguments"], text);
    assert_eq!(events[3]["choices"][0]["finish_reason"], "tool_calls");
    assert_eq!(events[4]["usage"]["prompt_tokens"], 12);

    let events = streamed(Api::Gemini, input.clone());
    let parts = &events[0]["candidates"][0]["content"]["parts"];
    assert_eq!(parts[0]["text"], "Hello");
    assert_eq!(parts[1]["functionCall"]["args"], input);
    assert_eq!(events[0]["usageMetadata"]["promptTokenCount"], 12);
}

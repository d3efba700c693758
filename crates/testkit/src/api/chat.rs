//! OpenAI chat completions.

use serde_json::{Value, json};

use super::{Answer, data};

fn finish_reason(answer: &Answer) -> &'static str {
    if answer.turn.call.is_empty() {
        "stop"
    } else {
        "tool_calls"
    }
}

fn calls(answer: &Answer) -> Vec<Value> {
    let calls = answer.turn.call.iter().enumerate();
    calls
        .map(|(i, call)| {
            json!({
                "index": i,
                "id": answer.call_id(i),
                "type": "function",
                "function": {"name": call.name, "arguments": call.input.to_string()},
            })
        })
        .collect()
}

fn usage(answer: &Answer) -> Value {
    let usage = answer.turn.usage;
    let input = usage.input + usage.cache_read;
    json!({
        "prompt_tokens": input,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read},
        "completion_tokens": usage.output,
        "total_tokens": input + usage.output,
    })
}

fn envelope(answer: &Answer, object: &str, choices: &Value) -> Value {
    json!({
        "id": format!("chatcmpl-{:04}", answer.number),
        "object": object,
        "created": 0,
        "model": answer.model,
        "choices": choices,
    })
}

pub fn whole(answer: &Answer) -> Value {
    let mut message = json!({"role": "assistant", "content": answer.turn.say});
    if !answer.turn.call.is_empty() {
        message["tool_calls"] = calls(answer).into();
    }
    let choice = json!([{"index": 0, "message": message, "finish_reason": finish_reason(answer)}]);
    let mut whole = envelope(answer, "chat.completion", &choice);
    whole["usage"] = usage(answer);
    whole
}

pub fn events(answer: &Answer) -> Vec<String> {
    let chunk = |choices: Value| envelope(answer, "chat.completion.chunk", &choices);
    let delta = |delta: Value| chunk(json!([{"index": 0, "delta": delta, "finish_reason": null}]));
    let mut chunks = vec![delta(json!({"role": "assistant", "content": ""}))];
    if !answer.turn.say.is_empty() {
        chunks.push(delta(json!({"content": answer.turn.say})));
    }
    for call in calls(answer) {
        chunks.push(delta(json!({"tool_calls": [call]})));
    }
    chunks.push(chunk(
        json!([{"index": 0, "delta": {}, "finish_reason": finish_reason(answer)}]),
    ));
    let mut last = chunk(json!([]));
    last["usage"] = usage(answer);
    chunks.push(last);
    let done = "data: [DONE]\n\n".to_owned();
    chunks.iter().map(data).chain([done]).collect()
}

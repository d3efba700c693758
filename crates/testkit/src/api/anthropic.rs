//! Anthropic Messages.

use serde_json::{Value, json};

use super::{Answer, named};

fn stop_reason(answer: &Answer) -> &'static str {
    if answer.turn.call.is_empty() {
        "end_turn"
    } else {
        "tool_use"
    }
}

fn blocks(answer: &Answer) -> Vec<Value> {
    let text = &answer.turn.say;
    let text = (!text.is_empty()).then(|| json!({"type": "text", "text": text}));
    let calls = answer.turn.call.iter().enumerate().map(|(i, call)| {
        let id = format!("toolu_{}", answer.call_id(i));
        json!({"type": "tool_use", "id": id, "name": call.name, "input": call.input})
    });
    text.into_iter().chain(calls).collect()
}

pub fn whole(answer: &Answer) -> Value {
    let usage = answer.turn.usage;
    json!({
        "id": format!("msg_{:04}", answer.number),
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "content": blocks(answer),
        "stop_reason": stop_reason(answer),
        "stop_sequence": null,
        "usage": {
            "input_tokens": usage.input,
            "output_tokens": usage.output,
            "cache_read_input_tokens": usage.cache_read,
            "cache_creation_input_tokens": usage.cache_write,
        },
    })
}

pub fn events(answer: &Answer) -> Vec<String> {
    let mut start = whole(answer);
    start["content"] = json!([]);
    start["stop_reason"] = Value::Null;
    start["usage"]["output_tokens"] = 1.into();
    let mut events = vec![json!({"type": "message_start", "message": start})];
    for (index, block) in blocks(answer).into_iter().enumerate() {
        let (empty, delta) = opened(&block);
        events.push(json!({"type": "content_block_start", "index": index, "content_block": empty}));
        events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    events.push(json!({
        "type": "message_delta",
        "delta": {"stop_reason": stop_reason(answer), "stop_sequence": null},
        "usage": {"output_tokens": answer.turn.usage.output},
    }));
    events.push(json!({"type": "message_stop"}));
    events.iter().map(named).collect()
}

/// A block as it begins, and what then comes into it.
fn opened(block: &Value) -> (Value, Value) {
    let mut empty = block.clone();
    if block["type"] == "text" {
        empty["text"] = "".into();
        (empty, json!({"type": "text_delta", "text": block["text"]}))
    } else {
        empty["input"] = json!({});
        let input = block["input"].to_string();
        (
            empty,
            json!({"type": "input_json_delta", "partial_json": input}),
        )
    }
}

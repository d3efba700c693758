//! OpenAI Responses.

use serde_json::{Value, json};

use super::{Answer, named};

fn id(answer: &Answer) -> String {
    format!("resp_{:04}", answer.number)
}

fn items(answer: &Answer) -> Vec<Value> {
    let text = &answer.turn.say;
    let message = (!text.is_empty()).then(|| {
        json!({
            "type": "message",
            "id": format!("msg_{:04}", answer.number),
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}],
        })
    });
    let calls = answer.turn.call.iter().enumerate().map(|(i, call)| {
        let id = answer.call_id(i);
        match &call.input {
            Value::String(input) => json!({
                "type": "custom_tool_call", "id": format!("ctc_{id}"), "call_id": id,
                "name": call.name, "input": input, "status": "completed",
            }),
            input => {
                let mut item = json!({
                    "type": "function_call", "id": format!("fc_{id}"), "call_id": id,
                    "name": call.name, "arguments": input.to_string(), "status": "completed",
                });
                if let Some((namespace, name)) = call.name.split_once('/') {
                    item["namespace"] = namespace.into();
                    item["name"] = name.into();
                }
                item
            }
        }
    });
    message.into_iter().chain(calls).collect()
}

pub fn whole(answer: &Answer) -> Value {
    let usage = answer.turn.usage;
    let input = usage.input + usage.cache_read;
    json!({
        "id": id(answer),
        "object": "response",
        "created_at": 0,
        "model": answer.model,
        "status": "completed",
        "output": items(answer),
        "usage": {
            "input_tokens": input,
            "input_tokens_details": {"cached_tokens": usage.cache_read},
            "output_tokens": usage.output,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": input + usage.output,
        },
    })
}

pub fn events(answer: &Answer) -> Vec<String> {
    let started = json!({
        "id": id(answer), "object": "response", "created_at": 0,
        "model": answer.model, "status": "in_progress", "output": [],
    });
    let mut events = vec![json!({"type": "response.created", "response": started})];
    for (index, item) in items(answer).iter().enumerate() {
        events.push(
            json!({"type": "response.output_item.added", "output_index": index, "item": item}),
        );
        if item["type"] == "message" {
            events.push(json!({
                "type": "response.output_text.delta", "item_id": item["id"],
                "output_index": index, "content_index": 0, "delta": answer.turn.say,
            }));
        }
        events.push(
            json!({"type": "response.output_item.done", "output_index": index, "item": item}),
        );
    }
    events.push(json!({"type": "response.completed", "response": whole(answer)}));
    for (number, event) in events.iter_mut().enumerate() {
        event["sequence_number"] = number.into();
    }
    events.iter().map(named).collect()
}

//! Gemini `generateContent`: a stream has one event, which is the whole.

use serde_json::{Value, json};

use super::Answer;

pub fn whole(answer: &Answer) -> Value {
    let text = &answer.turn.say;
    let text = (!text.is_empty()).then(|| json!({"text": text}));
    let calls = answer.turn.call.iter().enumerate().map(|(i, call)| {
        json!({"functionCall": {"id": answer.call_id(i), "name": call.name, "args": call.input}})
    });
    let parts: Vec<Value> = text.into_iter().chain(calls).collect();
    let usage = answer.turn.usage;
    let input = usage.input + usage.cache_read;
    json!({
        "candidates": [{
            "index": 0,
            "content": {"role": "model", "parts": parts},
            "finishReason": "STOP",
        }],
        "usageMetadata": {
            "promptTokenCount": input,
            "cachedContentTokenCount": usage.cache_read,
            "candidatesTokenCount": usage.output,
            "totalTokenCount": input + usage.output,
        },
        "modelVersion": answer.model,
        "responseId": format!("scripted-{:04}", answer.number),
    })
}

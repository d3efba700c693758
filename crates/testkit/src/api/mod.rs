//! The streaming APIs, one file each: a turn → what goes over the wire.

mod anthropic;
mod chat;
mod gemini;
mod responses;

use serde_json::{Value, json};

use crate::http::{Body, Incoming};
use crate::script::Turn;

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// An answer of the model.
    Model(Api, Form),
    /// How many tokens a text has.
    Count(Api),
    /// Which models there are.
    Models,
    /// Whether somebody is here.
    Alive,
    /// Nothing that this server knows.
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    Anthropic,
    Responses,
    Chat,
    Gemini,
}

/// How an answer is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Whole,
    Events,
}

impl Asked {
    pub fn of(request: &Incoming, body: &Value) -> Asked {
        let path = request.target.split('?').next().unwrap_or_default();
        let form = if body["stream"] == true {
            Form::Events
        } else {
            Form::Whole
        };
        match (request.method.as_str(), path) {
            ("GET" | "HEAD", "/") => Asked::Alive,
            ("GET", "/v1/models") => Asked::Models,
            ("POST", "/v1/messages") => Asked::Model(Api::Anthropic, form),
            ("POST", "/v1/messages/count_tokens") => Asked::Count(Api::Anthropic),
            ("POST", "/v1/responses") => Asked::Model(Api::Responses, form),
            ("POST", "/v1/chat/completions") => Asked::Model(Api::Chat, form),
            ("POST", path) => match path.rsplit_once(':') {
                Some((_, "streamGenerateContent")) => Asked::Model(Api::Gemini, Form::Events),
                Some((_, "generateContent")) => Asked::Model(Api::Gemini, Form::Whole),
                Some((_, "countTokens")) => Asked::Count(Api::Gemini),
                _ => Asked::Unknown,
            },
            _ => Asked::Unknown,
        }
    }
}

/// An answer on its way: what every API has to know about it.
#[derive(Debug)]
struct Answer<'a> {
    turn: &'a Turn,
    /// Makes ids that don't repeat within a server's life.
    number: usize,
    model: &'a str,
}

impl Answer<'_> {
    fn call_id(&self, index: usize) -> String {
        format!("call_{}_{index}", self.number)
    }

    /// The events up to the one in which a turn is cut: no call may be whole
    /// before it, for a client makes each as soon as it has come.
    fn until_cut(&self, mut events: Vec<String>) -> Vec<String> {
        if self.turn.cut {
            let call = self.call_id(0);
            let has_call = |event: &String| event.contains(&call);
            let at = events.iter().position(has_call);
            events.truncate(at.unwrap_or(events.len() / 2) + 1);
        }
        events
    }
}

impl Api {
    pub fn body(self, form: Form, turn: &Turn, number: usize, request: &Value) -> Body {
        let answer = Answer {
            turn,
            number,
            model: request["model"].as_str().unwrap_or("scripted-model"),
        };
        match form {
            Form::Events => Body::Events(answer.until_cut(self.events(&answer))),
            Form::Whole => Body::Whole(self.whole(&answer).to_string()),
        }
    }

    fn events(self, answer: &Answer) -> Vec<String> {
        match self {
            Api::Anthropic => anthropic::events(answer),
            Api::Responses => responses::events(answer),
            Api::Chat => chat::events(answer),
            Api::Gemini => vec![data(&gemini::whole(answer))],
        }
    }

    fn whole(self, answer: &Answer) -> Value {
        match self {
            Api::Anthropic => anthropic::whole(answer),
            Api::Responses => responses::whole(answer),
            Api::Chat => chat::whole(answer),
            Api::Gemini => gemini::whole(answer),
        }
    }

    pub fn count(self) -> Value {
        match self {
            Api::Gemini => json!({"totalTokens": 100}),
            _ => json!({"input_tokens": 100}),
        }
    }

    /// The system prompt, and everything before the first answer: some clients
    /// send what they know as messages in front of the user's.
    pub fn opening(self, request: &Value) -> String {
        let (system, messages) = match self {
            Api::Anthropic => (&request["system"], &request["messages"]),
            Api::Responses => (&request["instructions"], &request["input"]),
            Api::Chat => (&Value::Null, &request["messages"]),
            Api::Gemini => (&request["systemInstruction"], &request["contents"]),
        };
        let mut text = String::new();
        collect_texts(system, &mut text);
        match messages.as_array() {
            Some(messages) => {
                let is_answer = |m: &&Value| m["role"] == "assistant" || m["role"] == "model";
                let before = messages.iter().take_while(|m| !is_answer(m));
                before.for_each(|m| collect_texts(m, &mut text));
            }
            None => collect_texts(messages, &mut text),
        }
        text
    }
}

/// Every text below, one per line.
fn collect_texts(value: &Value, into: &mut String) {
    match value {
        Value::String(text) => {
            into.push_str(text);
            into.push('\n');
        }
        Value::Array(values) => values.iter().for_each(|v| collect_texts(v, into)),
        Value::Object(fields) => fields.values().for_each(|v| collect_texts(v, into)),
        _ => {}
    }
}

/// The names of the tools of a request, in any of the APIs.
pub fn tools(request: &Value) -> Vec<String> {
    let listed = request["tools"].as_array().into_iter().flatten();
    let names = listed.flat_map(|tool| match tool["functionDeclarations"].as_array() {
        Some(functions) => functions.iter().filter_map(name).collect::<Vec<_>>(),
        None => name(tool)
            .or_else(|| name(&tool["function"]))
            .or_else(|| tool["type"].as_str())
            .into_iter()
            .collect(),
    });
    names.map(str::to_owned).collect()
}

fn name(tool: &Value) -> Option<&str> {
    tool["name"].as_str()
}

fn data(value: &Value) -> String {
    format!("data: {value}\n\n")
}

/// An event whose name is the `type` of its data.
fn named(value: &Value) -> String {
    let name = value["type"].as_str().unwrap_or_default();
    format!("event: {name}\n{}", data(value))
}

#[cfg(test)]
mod tests;
